//! A provider that writes bytes, and then does what it is told: for answers that no server would give.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What comes after the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The connection is closed.
    Closed,
    /// The connection is reset.
    Reset,
    /// Nothing.
    Open,
    /// The last piece again, for ever.
    Endless,
}

/// The provider. Its answers are given in turn, the last one again and again.
pub struct Wire {
    pub url: String,
}

impl Wire {
    pub async fn start(answers: Vec<(String, End)>) -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", tcp.local_addr().unwrap());
        let answers = Arc::new(answers);
        tokio::spawn(async move {
            let mut number = 0;
            while let Ok((stream, _)) = tcp.accept().await {
                let answer = answers[number.min(answers.len() - 1)].clone();
                number += 1;
                tokio::spawn(answered(stream, answer));
            }
        });
        Self { url }
    }
}

async fn answered(mut stream: TcpStream, (text, end): (String, End)) {
    asked(&mut stream).await;
    let _ = stream.write_all(text.as_bytes()).await;
    match end {
        End::Closed => {}
        End::Reset => stream.set_zero_linger().unwrap(),
        // Until the other side has enough.
        End::Open => drop(stream.read_u8().await),
        End::Endless => {
            let piece = chunk(&"x".repeat(64 << 10));
            while stream.write_all(piece.as_bytes()).await.is_ok() {}
        }
    }
}

/// Reads a request to its end.
async fn asked(stream: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
}

/// A piece of a body whose length nobody said.
pub fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// The head of such an answer.
pub fn head(status: &str, kind: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
    )
}
