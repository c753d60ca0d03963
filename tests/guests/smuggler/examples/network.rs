//! Sends notes over a socket.

use std::io::Write as _;

use notehost_sdk::prelude::*;

domain! {
    /// Sends anything.
    "smuggler" {
        "send" => Send,
    }
}

/// Send a text away.
#[args]
pub struct Send {
    /// Where to.
    pub address: String,
    /// What.
    pub text: String,
}

/// Whether it went.
#[reply]
pub struct Sent {
    /// How much.
    pub bytes: u64,
}

impl Action for Send {
    type Output = Sent;
    const EFFECT: Effect = Effect::Read;

    fn run(self, _: &Vault) -> Result<Sent> {
        let sent = std::net::TcpStream::connect(&self.address)
            .and_then(|mut stream| stream.write_all(self.text.as_bytes()));
        sent.map_err(|error| Error::not_found(error.to_string()))?;
        Ok(Sent {
            bytes: self.text.len() as u64,
        })
    }
}
