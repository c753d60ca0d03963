//! A cache of folder listings, valid as long as the folder's timestamps are unchanged.
//!
//! Access rules are not applied here: the cache is shared by all callers and filtered on use.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::SystemTime,
};

use super::{
    disk::{Folder, Node, Signature},
    path::{folded, is_speakable},
};

/// The names of one folder, sorted.
#[derive(Debug)]
pub(super) struct Listing {
    signature: Signature,
    read: SystemTime,
    pub(super) names: Vec<(String, Node)>,
    twins: OnceLock<HashMap<String, Vec<u32>>>,
}

impl Listing {
    fn read(folder: &Folder) -> io::Result<Listing> {
        // The signature is taken first: a change while reading shows as a difference the next time.
        let read = SystemTime::now();
        let signature = folder.own_status()?.signature;
        let mut names = folder.names()?;
        names.retain(|(name, _)| is_speakable(name));
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(Listing {
            signature,
            read,
            names,
            twins: OnceLock::new(),
        })
    }

    /// The names that differ from this one at most in case and normal form.
    pub(super) fn twins<'listing>(
        &'listing self,
        name: &str,
    ) -> impl Iterator<Item = &'listing (String, Node)> {
        let twins = self.twins.get_or_init(|| {
            let mut twins: HashMap<String, Vec<u32>> = HashMap::with_capacity(self.names.len());
            for (index, (name, _)) in (0u32..).zip(&self.names) {
                twins.entry(folded(name)).or_default().push(index);
            }
            twins
        });
        twins
            .get(&folded(name))
            .into_iter()
            .flatten()
            .map(|index| &self.names[*index as usize])
    }
}

/// The listings that were read so far, by folder.
#[derive(Default)]
pub(super) struct Listings {
    known: Mutex<HashMap<String, Arc<Listing>>>,
}

impl Listings {
    /// What is in an open folder; read again only if the folder changed, or might have.
    pub(super) fn of(&self, path: &str, folder: &Folder) -> io::Result<Arc<Listing>> {
        let known = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(path)
            .cloned();
        if let Some(known) = known
            && !known.signature.is_racy(known.read)
            && folder.own_status()?.signature == known.signature
        {
            return Ok(known);
        }
        let fresh = Arc::new(Listing::read(folder)?);
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(path.to_owned(), Arc::clone(&fresh));
        Ok(fresh)
    }

    /// How many names a folder had when it was read last, if it ever was.
    pub(super) fn len_of(&self, path: &str) -> Option<usize> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(path).map(|listing| listing.names.len())
    }

    /// Forgets folders that are no longer there.
    pub(super) fn forget(&self, path: &str) {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(path);
    }
}
