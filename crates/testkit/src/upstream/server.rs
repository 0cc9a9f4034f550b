//! The server's connections: reads requests, sends answers, and plays faults on the way.

use std::io;
use std::net::TcpStream as StdStream;
use std::sync::Arc;

use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::answer::{ServerAnswer, ServerBody, answer, failure_event};
use super::endpoint::Endpoint;
use super::fault::PlannedFault;
use super::request_parts::WireDialect;
use super::shared::{RecordedCall, SharedState};

type SentBody = UnsyncBoxBody<Bytes, io::Error>;

pub(crate) async fn accept(listener: TcpListener, shared: Arc<SharedState>) {
    // The set belongs to this task: when the task is aborted, the set is dropped, and every connection with it.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        connections.spawn(connection(stream, Arc::clone(&shared)));
    }
}

async fn connection(stream: TcpStream, shared: Arc<SharedState>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let stream = stream.into_std()?;
    // A second handle of the same socket, which a fault needs to reset the connection.
    let second = Arc::new(stream.try_clone()?);
    let io = TokioIo::new(TcpStream::from_std(stream)?);
    let service = service_fn(move |request| {
        let (shared, second) = (Arc::clone(&shared), Arc::clone(&second));
        async move { serve(request, &shared, &second).await }
    });
    let builder = Builder::new(TokioExecutor::new());
    builder.serve_connection(io, service).await.map_err(io::Error::other)
}

/// Answers one request. An error closes the connection without an answer.
async fn serve(
    request: Request<Incoming>,
    shared: &Arc<SharedState>,
    socket: &StdStream,
) -> io::Result<Response<SentBody>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
    let headers = head.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let recorded = RecordedCall {
        method: head.method.to_string(),
        target,
        headers: headers.collect(),
        body: body.to_vec(),
        status: 0,
    };
    let answer = answer(shared, &recorded);
    if !recorded.target.starts_with("/__") {
        shared.arrived.add_permits(1);
    }
    if matches!(answer.fault, Some(PlannedFault::Reset)) {
        TcpStream::from_std(socket.try_clone()?)?.set_zero_linger()?;
        return Err(io::Error::from(io::ErrorKind::ConnectionReset));
    }
    let path = recorded.target.split('?').next().unwrap_or_default();
    let dialect = match Endpoint::of(&recorded.method, path, "") {
        Endpoint::Model { dialect, .. } | Endpoint::Unknown(dialect) => dialect,
        _ => WireDialect::Chat,
    };
    response(answer, dialect, shared).map_err(io::Error::other)
}

fn response(
    answer: ServerAnswer,
    dialect: WireDialect,
    shared: &Arc<SharedState>,
) -> hyper::http::Result<Response<SentBody>> {
    let kind = match &answer.body {
        ServerBody::Whole(_) => "application/json",
        ServerBody::Pieces(kind, _) => kind,
    };
    let mut response = Response::builder().status(answer.status).header("content-type", kind);
    for (name, value) in &answer.headers {
        response = response.header(name, value);
    }
    let (pieces, fault) = match (answer.body, answer.fault) {
        (ServerBody::Whole(text), None) => {
            let body = Full::new(Bytes::from(text)).map_err(|never| match never {});
            return response.body(body.boxed_unsync());
        }
        (ServerBody::Whole(text), fault) => {
            let middle = text.floor_char_boundary(text.len() / 2);
            let halves = vec![text[..middle].to_owned(), text[middle..].to_owned()];
            // The header with the length lets the client notice that a cut body is incomplete.
            response = response.header("content-length", text.len());
            (halves, fault.map(halved))
        }
        (ServerBody::Pieces(_, events), fault) => (events, fault),
    };
    let (sender, channel) = Channel::new(1);
    tokio::spawn(send(sender, pieces, fault, dialect, Arc::clone(shared)));
    response.body(channel.boxed_unsync())
}

/// The fault for an answer without events, which is sent in two halves: the fault is between them.
fn halved(fault: PlannedFault) -> PlannedFault {
    match fault {
        PlannedFault::Cut { .. } => PlannedFault::Cut { after: 1 },
        PlannedFault::Hang { .. } => PlannedFault::Hang { after: 0 },
        other => other,
    }
}

/// Sends the pieces, and plays the fault at its place. If the client has closed the connection, sending just ends.
async fn send(
    mut sender: Sender<Bytes, io::Error>,
    pieces: Vec<String>,
    fault: Option<PlannedFault>,
    dialect: WireDialect,
    shared: Arc<SharedState>,
) {
    let wait =
        async || shared.releases.acquire().await.map(tokio::sync::SemaphorePermit::forget).is_ok();
    for (at, piece) in pieces.into_iter().enumerate() {
        let goes_on = match &fault {
            Some(PlannedFault::Held) => wait().await,
            Some(PlannedFault::Hang { after }) if *after == at => wait().await,
            Some(PlannedFault::Cut { after }) if *after == at => {
                sender.abort(io::Error::from(io::ErrorKind::ConnectionAborted));
                return;
            }
            Some(PlannedFault::StreamError { after }) if *after == at => {
                let _ = sender.send_data(Bytes::from(failure_event(dialect))).await;
                return;
            }
            _ => true,
        };
        if !goes_on || sender.send_data(Bytes::from(piece)).await.is_err() {
            return;
        }
    }
}
