//! The sessions of other programs of this user: each brought permissions, a tool surface and confirmations of its own, which
//! apply to its caller in place of those of this process. Everything else is decided by the settings of this process.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use notehost_config::{SessionSettings, Settings};
use notehost_policy::auth::SessionId;
use parking_lot::RwLock;

use super::host::Host;
use super::rights::{BadRights, RightsBySettings};

/// The sessions that are open.
#[derive(Default)]
pub(crate) struct Sessions(RwLock<HashMap<SessionId, Session>>);

struct Session {
    own: SessionSettings,
    /// Its own settings over those of this process.
    merged: Arc<RightsBySettings>,
}

impl Sessions {
    /// The settings in force in a session; `None` once it is over.
    pub(crate) fn settings(&self, id: SessionId) -> Option<Arc<RightsBySettings>> {
        self.0.read().get(&id).map(|session| session.merged.clone())
    }

    /// Applies other settings of this process to every session.
    pub(crate) fn renew(&self, settings: &Settings) {
        for session in self.0.write().values_mut() {
            // The rules of the session were parsed before, and those of the process are not used.
            if let Ok(merged) = RightsBySettings::new(session.own.over(settings)) {
                session.merged = Arc::new(merged);
            }
        }
    }

    fn put(
        &self,
        id: SessionId,
        own: SessionSettings,
        settings: &Settings,
    ) -> Result<(), BadRights> {
        let merged = Arc::new(RightsBySettings::new(own.over(settings))?);
        self.0.write().insert(id, Session { own, merged });
        Ok(())
    }
}

/// A session, which is over when this is dropped: its caller has no rights then.
pub struct OpenSession {
    host: Weak<Host>,
    id: SessionId,
}

impl OpenSession {
    /// Its id.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Applies other settings of its program. Calls that run notice at their next step what they may no longer do.
    pub fn update(&self, own: SessionSettings) -> Result<(), BadRights> {
        let Some(host) = self.host.upgrade() else {
            return Ok(());
        };
        host.sessions.put(self.id, own, &host.settings())?;
        host.registry().advance_generation();
        Ok(())
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        if let Some(host) = self.host.upgrade() {
            host.sessions.0.write().remove(&self.id);
        }
    }
}

impl Host {
    /// Opens a session with settings of its own.
    pub fn open_session(&self, own: SessionSettings) -> Result<OpenSession, BadRights> {
        let session = OpenSession {
            host: self.shared(),
            id: SessionId::next(),
        };
        self.sessions.put(session.id, own, &self.settings())?;
        Ok(session)
    }
}
