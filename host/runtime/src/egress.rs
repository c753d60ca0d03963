//! The policy for outgoing HTTP requests of a guest, implemented by the caller of the runtime. Requests are sent in
//! `http`.

use notehost_config::Destination;

/// Decides about each request of one call, at the moment when it is to be sent.
pub trait EgressPolicy: Send + Sync {
    /// Whether a request with this method may go there now.
    fn decide(&self, method: &str, to: &Destination) -> Result<Permit, Denial>;

    /// Something was refused: by the above, or because of where the name led.
    fn denied(&self, to: Option<&Destination>, why: Denial);
}

/// Denies all requests.
pub struct DenyEgress;

impl EgressPolicy for DenyEgress {
    fn decide(&self, _: &str, _: &Destination) -> Result<Permit, Denial> {
        Err(Denial::NotGranted)
    }

    fn denied(&self, _: Option<&Destination>, _: Denial) {}
}

/// A request that may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permit {
    /// It may go to an address that is not public.
    pub may_be_private: bool,
}

/// Why a request is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The host is not granted.
    #[error("the host is not granted")]
    NotGranted,
    /// The action is declared as reading, or this is a dry run, and the request may change something.
    #[error("the call is read-only, but the request method can change data")]
    OnlyReading,
    /// The name leads to an address that is not public.
    #[error("the address is not public")]
    NotPublic,
    /// Components may not send this kind of request.
    #[error("this kind of request is not allowed for components")]
    NoRequest,
    /// The call has sent as many as it may.
    #[error("the call has reached its limit of requests")]
    TooMany,
}
