//! A scripted chat server on loopback. It gives the answers of the test, well-formed or not, and records the requests.
//!
//! It uses bare sockets, because a server library would refuse to send most of the broken answers.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

/// One scripted answer.
#[derive(Clone, Debug)]
pub enum ScriptedAnswer {
    /// A whole reply. It is streamed if the request asks for a stream.
    Text(ModelReply),
    /// A refusal, with more header lines, such as `retry-after: 1`.
    Status {
        /// The status code.
        code: u16,
        /// Header lines without line breaks.
        headers: Vec<String>,
        /// The body.
        body: String,
    },
    /// These bytes instead of an HTTP response. Then the connection is closed.
    Bytes(Vec<u8>),
    /// A well-formed response with this type and this body.
    Body {
        /// The content type.
        kind: String,
        /// The body.
        body: Vec<u8>,
    },
    /// The start of a stream. Then the connection is closed before the body ends.
    Broken(String),
    /// The start of a stream. The body ends properly, but no event says why.
    Unfinished(String),
    /// The connection is reset at once.
    Reset,
    /// No answer until the server is dropped.
    Hang,
    /// Headers and the start of a stream. Then nothing until the server is dropped.
    HangAfter(String),
    /// The answer, but only after the test called [`ModelServer::release`].
    Held(Box<Self>),
}

/// A reply of a model.
#[derive(Clone, Debug)]
pub struct ModelReply {
    /// The text of the reply.
    pub text: String,
    /// The `finish_reason`.
    pub finish: String,
    /// The tokens of the prompt.
    pub prompt_tokens: u64,
    /// The tokens of the prompt that came from the cache.
    pub cached_tokens: u64,
    /// The tokens of the reply.
    pub completion_tokens: u64,
}

impl ScriptedAnswer {
    /// A reply that ends normally.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::finished(text, "stop")
    }

    /// A reply that ends with this `finish_reason`.
    #[must_use]
    pub fn finished(text: &str, finish: &str) -> Self {
        Self::Text(ModelReply {
            text: text.to_owned(),
            finish: finish.to_owned(),
            prompt_tokens: 100,
            cached_tokens: 40,
            completion_tokens: 20,
        })
    }

    /// A refusal in the words of `OpenAI`.
    #[must_use]
    pub fn refusal(code: u16, kind: &str, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": kind, "code": kind}}).to_string();
        Self::Status { code, headers: Vec::new(), body }
    }

    /// A 429 with a `Retry-After` header.
    #[must_use]
    pub fn slow_down(retry_after: &str) -> Self {
        Self::Status {
            code: 429,
            headers: vec![format!("retry-after: {retry_after}")],
            body: json!({"error": {"message": "Rate limit reached", "type": "rate_limit"}})
                .to_string(),
        }
    }
}

/// One request as the server received it.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    /// Method and target: `POST /v1/chat/completions`.
    pub line: String,
    /// Header names in lower case, and their values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
}

impl SeenRequest {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The content of the first message with this role. Empty where there is none.
    #[must_use]
    pub fn message(&self, role: &str) -> &str {
        let messages = self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let first = messages.iter().find(|message| message["role"] == role);
        first.and_then(|message| message["content"].as_str()).unwrap_or_default()
    }
}

#[derive(Debug)]
struct ModelScript {
    answers: Mutex<VecDeque<ScriptedAnswer>>,
    /// The answer to requests after the end of the script. `None` refuses them.
    last: Mutex<Option<ScriptedAnswer>>,
    seen: Mutex<Vec<SeenRequest>>,
    arrived: Semaphore,
    releases: Semaphore,
}

/// The scripted server. Dropping it closes every connection, also those that hang.
#[derive(Debug)]
pub struct ModelServer {
    url: String,
    script: Arc<ModelScript>,
    task: JoinHandle<()>,
}

impl ModelServer {
    /// Starts a server that gives these answers, one to each request, and refuses all later requests.
    ///
    /// # Errors
    /// When no port on loopback is free.
    pub async fn start(answers: impl IntoIterator<Item = ScriptedAnswer>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let script = Arc::new(ModelScript {
            answers: Mutex::new(answers.into_iter().collect()),
            last: Mutex::new(None),
            seen: Mutex::default(),
            arrived: Semaphore::new(0),
            releases: Semaphore::new(0),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&script)));
        Ok(Self { url, script, task })
    }

    /// Starts a server that gives every request this answer.
    ///
    /// # Errors
    /// As [`ModelServer::start`].
    pub async fn always(answer: ScriptedAnswer) -> io::Result<Self> {
        let server = Self::start([]).await?;
        *lock(&server.script.last) = Some(answer);
        Ok(server)
    }

    /// `http://127.0.0.1:PORT`, without a path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Adds an answer to the end of the script.
    pub fn push(&self, answer: ScriptedAnswer) {
        lock(&self.script.answers).push_back(answer);
    }

    /// The requests so far.
    #[must_use]
    pub fn seen(&self) -> Vec<SeenRequest> {
        lock(&self.script.seen).clone()
    }

    /// Waits for the next request that no earlier call waited for.
    pub async fn arrival(&self) {
        if let Ok(permit) = self.script.arrived.acquire().await {
            permit.forget();
        }
    }

    /// Sends one of the answers that are held back.
    pub fn release(&self) {
        self.script.releases.add_permits(1);
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, script: Arc<ModelScript>) {
    // The set belongs to this task: when the task is aborted, the set is dropped, and every connection with it.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        connections.spawn(serve(stream, Arc::clone(&script)));
    }
}

/// Answers one request. Each connection gets a single one.
async fn serve(mut stream: TcpStream, script: Arc<ModelScript>) -> io::Result<()> {
    let Some(seen) = read(&mut stream).await? else { return Ok(()) };
    let streams = seen.body["stream"] == true;
    lock(&script.seen).push(seen);
    let next = lock(&script.answers).pop_front();
    let mut answer =
        next.or_else(|| lock(&script.last).clone()).unwrap_or(ScriptedAnswer::Status {
            code: 500,
            headers: Vec::new(),
            body: "the script is at its end".to_owned(),
        });
    // Only now: a test that waited for this request may look at `seen`, and push the answer to the next one.
    script.arrived.add_permits(1);
    while let ScriptedAnswer::Held(inner) = answer {
        if let Ok(permit) = script.releases.acquire().await {
            permit.forget();
        }
        answer = *inner;
    }
    write(&mut stream, answer, streams).await
}

async fn read(stream: &mut TcpStream) -> io::Result<Option<SeenRequest>> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let line = lines.next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    while bytes.len() < head + 4 + length {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
    let body = serde_json::from_slice(&bytes[head + 4..]).unwrap_or(Value::Null);
    Ok(Some(SeenRequest { line, headers, body }))
}

async fn write(stream: &mut TcpStream, answer: ScriptedAnswer, streams: bool) -> io::Result<()> {
    match answer {
        ScriptedAnswer::Text(reply) if streams => {
            let mut body = reply_start(&reply.text);
            body.push_str(&event(&json!({"choices":
                [{"index": 0, "delta": {}, "finish_reason": reply.finish}], "model": "scripted"})));
            body.push_str(&event(
                &json!({"choices": [], "usage": usage(&reply), "model": "scripted"}),
            ));
            body.push_str("data: [DONE]\n\n");
            whole(stream, "text/event-stream", body.as_bytes()).await
        }
        ScriptedAnswer::Text(reply) => {
            let body = json!({"model": "scripted", "usage": usage(&reply), "choices": [{"index": 0,
                "finish_reason": reply.finish,
                "message": {"role": "assistant", "content": reply.text}}]});
            whole(stream, "application/json", body.to_string().as_bytes()).await
        }
        ScriptedAnswer::Status { code, headers, body } => {
            let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
            let head = format!(
                "HTTP/1.1 {code} X\r\ncontent-type: application/json\r\n{lines}content-length: {}\r\n\
                 connection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(head.as_bytes()).await
        }
        ScriptedAnswer::Bytes(bytes) => stream.write_all(&bytes).await,
        ScriptedAnswer::Body { kind, body } => whole(stream, &kind, &body).await,
        ScriptedAnswer::Broken(text) => open(stream, &text).await,
        ScriptedAnswer::Unfinished(text) => {
            whole(stream, "text/event-stream", reply_start(&text).as_bytes()).await
        }
        // A socket without linger is closed with a reset.
        ScriptedAnswer::Reset => stream.set_zero_linger(),
        ScriptedAnswer::Hang => std::future::pending().await,
        ScriptedAnswer::HangAfter(text) => {
            open(stream, &text).await?;
            std::future::pending().await
        }
        // `serve` has taken the answer out before.
        ScriptedAnswer::Held(_) => Ok(()),
    }
}

/// Writes headers and the start of a chunked stream.
async fn open(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    // The last chunk is never sent, so that the client notices that the body broke off.
    let body = reply_start(text);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
         {:x}\r\n{body}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.flush().await
}

async fn whole(stream: &mut TcpStream, kind: &str, body: &[u8]) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await
}

/// The events of a text. It is cut in the middle, so that a reader has to join two parts.
fn reply_start(text: &str) -> String {
    let middle = text.floor_char_boundary(text.len() / 2);
    let delta = |part: &str| {
        event(&json!({"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": null}],
            "model": "scripted"}))
    };
    format!("{}{}", delta(&text[..middle]), delta(&text[middle..]))
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn usage(reply: &ModelReply) -> Value {
    json!({"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens,
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens}})
}
