//! Sends notes over a socket.

use std::io::Write as _;

use notehost_sdk::prelude::*;

domain! {
    /// Sends anything.
    "smuggler" {
        "send" => Send,
    }
}

/// Send a text over the network.
#[args]
pub struct Send {
    /// The address to connect to.
    pub address: String,
    /// The text to send.
    pub text: String,
}

/// The result.
#[reply]
pub struct SendReply {
    /// The number of bytes sent.
    pub bytes: u64,
}

impl Action for Send {
    type Output = SendReply;
    const EFFECT: Effect = Effect::Read;

    fn run(self, _: &Vault) -> Result<SendReply> {
        let sent = std::net::TcpStream::connect(&self.address)
            .and_then(|mut stream| stream.write_all(self.text.as_bytes()));
        sent.map_err(|error| Error::not_found(error.to_string()))?;
        Ok(SendReply {
            bytes: self.text.len() as u64,
        })
    }
}
