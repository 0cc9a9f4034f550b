//! Connections to an upstream that are kept for the next request, and closed before they answer it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::Method;
use midfold_serve::UpstreamTable;
use midfold_testkit::upstream::UpstreamSettings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::raw::Raw;
use crate::setting::Setting;

/// What a connection does with a request.
#[derive(Clone, Copy)]
enum Reply {
    Answers,
    Closes,
    ClosesLate,
    /// The first bytes of an answer come.
    BreaksOff,
}

/// An upstream whose connections reply to their first, second, … request in this way. Returns its address, and the
/// number of the connection on which each request came.
async fn upstream(connections: Vec<Vec<Reply>>) -> (String, Arc<Mutex<Vec<usize>>>) {
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", tcp.local_addr().unwrap());
    let seen: Arc<Mutex<Vec<usize>>> = Arc::default();
    let noted = Arc::clone(&seen);
    tokio::spawn(async move {
        for (number, replies) in connections.into_iter().enumerate() {
            let (mut stream, _) = tcp.accept().await.unwrap();
            for reply in replies {
                read_request(&mut stream).await;
                noted.lock().unwrap().push(number);
                match reply {
                    Reply::Answers => {
                        let text = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
                        stream.write_all(text.as_bytes()).await.unwrap();
                    }
                    Reply::Closes => break,
                    Reply::ClosesLate => {
                        tokio::time::sleep(Duration::from_millis(1_300)).await;
                        break;
                    }
                    Reply::BreaksOff => {
                        stream.write_all(b"HTTP/1.1 200").await.unwrap();
                        break;
                    }
                }
            }
        }
    });
    (url, seen)
}

/// Reads one request with a short body.
async fn read_request(stream: &mut TcpStream) {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4_096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return;
            }
        }
        match stream.read(&mut buffer).await.unwrap() {
            0 => return,
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// The statuses of two requests, one after the other, and the connections on which they came.
async fn two(method: Method, connections: Vec<Vec<Reply>>) -> ([String; 2], Vec<usize>) {
    let (url, seen) = upstream(connections).await;
    let setting = Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&url).unwrap();
        config.upstreams = upstreams;
        config.rules = crate::setting::rules().window(8_000);
    })
    .await;
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    let request = match method {
        Method::GET => {
            "GET /v1/files/a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".to_owned()
        }
        method => {
            let path = if method == Method::POST { "/v1/chat/completions" } else { "/v1/files/a" };
            format!(
                "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
        }
    };
    let mut statuses = [String::new(), String::new()];
    for status in &mut statuses {
        let mut client = Raw::to(setting.proxy.address()).await;
        client.write(&request).await;
        client.rest().await[9..12].clone_into(status);
    }
    let seen = seen.lock().unwrap().clone();
    (statuses, seen)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_connection_that_closes_without_a_word_costs_no_request() {
    use Reply::{Answers, BreaksOff, Closes, ClosesLate};
    let ok = ["200".to_owned(), "200".to_owned()];
    let lost = ["200".to_owned(), "502".to_owned()];
    for method in [Method::POST, Method::GET] {
        let closed = vec![vec![Answers, Closes], vec![Answers]];
        assert_eq!(two(method.clone(), closed).await, (ok.clone(), vec![0, 0, 1]), "{method}");
        // Once: the new connection says nothing either.
        let twice = vec![vec![Answers, Closes], vec![Closes], vec![Answers]];
        assert_eq!(two(method.clone(), twice).await, (lost.clone(), vec![0, 0, 1]), "{method}");
        // The upstream may have worked on these.
        for reply in [BreaksOff, ClosesLate] {
            let begun = vec![vec![Answers, reply], vec![Answers]];
            assert_eq!(two(method.clone(), begun).await, (lost.clone(), vec![0, 0]), "{method}");
        }
    }
    // A new connection that closes was not closed before the request came.
    let new = vec![vec![Closes], vec![Answers], vec![Answers]];
    let first = ["502".to_owned(), "200".to_owned()];
    assert_eq!(two(Method::POST, new).await, (first, vec![0, 1]));
    // A change that passes unread may be made twice.
    let change = vec![vec![Answers, Closes], vec![Answers]];
    assert_eq!(two(Method::DELETE, change).await, (lost, vec![0, 0]));
}
