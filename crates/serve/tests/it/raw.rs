//! A client that writes what it likes into a connection.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection.
pub struct Raw(pub TcpStream);

impl Raw {
    pub async fn to(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.0.write_all(bytes.as_ref()).await.unwrap();
        self
    }

    /// All that comes until the server closes.
    pub async fn rest(mut self) -> String {
        let mut bytes = Vec::new();
        // A server that closes what it has not read to the end resets the connection.
        let _ = self.0.read_to_end(&mut bytes).await;
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// One answer without a body.
    pub async fn answer(&mut self) -> String {
        self.until("").await
    }

    /// What comes up to these words.
    pub async fn more_until(&mut self, words: &str) -> String {
        let mut bytes = Vec::new();
        while !String::from_utf8_lossy(&bytes).contains(words) {
            bytes.push(self.0.read_u8().await.unwrap());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The head of an answer, and what comes up to these words.
    pub async fn until(&mut self, words: &str) -> String {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            bytes.push(self.0.read_u8().await.unwrap());
        }
        let head = bytes.len();
        while !String::from_utf8_lossy(&bytes[head..]).contains(words) {
            bytes.push(self.0.read_u8().await.unwrap());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
