//! Servers on this machine: recognises their addresses, and whether one is midfold.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The socket address of an `http://` URL on the loopback interface. `None` for any other URL.
pub fn local(url: &str) -> Option<SocketAddr> {
    let host = url.strip_prefix("http://")?.split(['/', '?']).next()?;
    let host = host.replace("localhost", "127.0.0.1");
    host.parse::<SocketAddr>().ok().filter(|address| address.ip().is_loopback())
}

/// Whether a midfold server answers at this address within one second.
pub async fn is_midfold(address: SocketAddr) -> bool {
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        let text = format!("GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(text.as_bytes()).await?;
        let mut answer = Vec::new();
        (&mut stream).take(16 << 10).read_to_end(&mut answer).await?;
        std::io::Result::Ok(String::from_utf8_lossy(&answer).to_ascii_lowercase())
    };
    let answer = tokio::time::timeout(Duration::from_secs(1), ask).await;
    answer.is_ok_and(|answer| answer.is_ok_and(|answer| answer.contains("server: midfold")))
}
