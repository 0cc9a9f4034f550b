//! A provider of a few lines: it reads a body, and answers at once or in a slow stream.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

const ANSWER: &str = r#"{"id":"c1","object":"chat.completion","model":"gpt-5","choices":[{"index":0,"message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}]}"#;
const EVENT: &str = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n";

/// Bytes of a stream.
pub fn stream_bytes(events: usize) -> usize {
    EVENT.len() * events
}

/// Starts it on a free port.
pub async fn start(events: usize, pause: Duration) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let service = service_fn(move |request| answer(request, events, pause));
            let http = hyper::server::conn::http1::Builder::new();
            tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
        }
    });
    Ok(address)
}

type Body = Either<Full<Bytes>, Channel<Bytes>>;

/// Events one after the other, until the client leaves.
fn slow(events: usize, pause: Duration) -> Channel<Bytes> {
    let (mut sender, body) = Channel::new(1);
    tokio::spawn(async move {
        for _ in 0..events {
            tokio::time::sleep(pause).await;
            if sender.send_data(Bytes::from_static(EVENT.as_bytes())).await.is_err() {
                return;
            }
        }
    });
    body
}

async fn answer(
    request: Request<Incoming>,
    events: usize,
    pause: Duration,
) -> Result<Response<Body>, hyper::Error> {
    let mut body = request.into_body();
    let mut is_stream = None;
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            // It is in the first bytes: nothing is read that the bench would pay for.
            let first = &data[..data.len().min(200)];
            is_stream
                .get_or_insert_with(|| memchr::memmem::find(first, b"\"stream\":true").is_some());
        }
    }
    let (kind, body) = if is_stream == Some(true) {
        ("text/event-stream", Either::Right(slow(events, pause)))
    } else {
        ("application/json", Either::Left(Full::new(Bytes::from_static(ANSWER.as_bytes()))))
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    Ok(response)
}
