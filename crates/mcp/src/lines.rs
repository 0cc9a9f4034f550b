//! Reads and writes messages as lines of JSON. Every line gets an answer, also an invalid one, and the next one is
//! read.

use std::io;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// The most bytes of a line. Calls of tools have a thousandth of that.
const LONGEST: usize = 16 << 20;
/// How many answers may wait to be written before no further line is read.
const WAITING: usize = 16;

/// An answer, and a channel that reports when it is written.
type PendingLine = (Vec<u8>, Option<oneshot::Sender<io::Result<()>>>);

/// The connection to a client: its lines, and the queue of answers.
pub(crate) struct ClientLines<R> {
    read: BufReader<R>,
    /// The bytes so far of an incomplete line. They are kept here because reading may be cancelled and continued later.
    line: Vec<u8>,
    /// The line is too long; the rest of it is skipped.
    is_long: bool,
    /// A request has come. Before that, other messages are ignored, because they may come from a client of another
    /// protocol.
    is_begun: bool,
    answers: Option<mpsc::Sender<PendingLine>>,
}

impl<R: AsyncRead + Send + Unpin> ClientLines<R> {
    /// Makes the connection. The task that it returns ends when all answers are written.
    pub fn new<W: AsyncWrite + Send + Unpin + 'static>(
        read: R,
        write: W,
    ) -> (Self, JoinHandle<()>) {
        let (answers, waiting) = mpsc::channel(WAITING);
        let writing = tokio::spawn(written(write, waiting));
        let read = BufReader::new(read);
        let (line, answers) = (Vec::new(), Some(answers));
        (Self { read, line, is_long: false, is_begun: false, answers }, writing)
    }

    /// Reads a line to its end; `None` at the end of the stream. A line that is too long is not kept. The last line may
    /// have no break: whoever closes the stream has written it whole.
    async fn next(&mut self) -> io::Result<Option<LineEnd>> {
        loop {
            let part = self.read.fill_buf().await?;
            if part.is_empty() {
                let is_there = self.is_long || !self.line.is_empty();
                return Ok(is_there.then(|| self.take()));
            }
            let end = part.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(part.len(), |end| end + 1);
            // Kept until the line ends: the rest of a long line must not be read as a line of its own.
            self.is_long |= self.line.len() + length > LONGEST;
            if self.is_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(&part[..length]);
            }
            self.read.consume(length);
            if end.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    /// The line whose end was read.
    fn take(&mut self) -> LineEnd {
        match std::mem::take(&mut self.is_long) {
            true => LineEnd::Long,
            false => LineEnd::Text(std::mem::take(&mut self.line)),
        }
    }

    /// Turns a line into a message for the server, an error for the client, or `None` if it needs no answer.
    fn judge(&mut self, line: LineEnd) -> Result<Option<RxJsonRpcMessage<RoleServer>>, ErrorFor> {
        let LineEnd::Text(text) = line else {
            let text = format!("a line is longer than {} MiB", LONGEST >> 20);
            return Err((ErrorCode::INVALID_REQUEST, text, None));
        };
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        // Some editors and shells put a byte order mark in front of the first line.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        let value: Value = serde_json::from_slice(text)
            .map_err(|error| (ErrorCode::PARSE_ERROR, format!("no JSON: {error}"), None))?;
        let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
        let is_note =
            value.get("method").is_some_and(Value::is_string) && value.get("id").is_none();
        let message = match serde_json::from_value::<RxJsonRpcMessage<RoleServer>>(value) {
            Ok(message) => message,
            // Notifications get no answer, not even invalid ones.
            Err(_) if is_note => return Ok(None),
            Err(error) => {
                let text = format!("no request of JSON-RPC 2.0: {error}");
                return Err((ErrorCode::INVALID_REQUEST, text, id));
            }
        };
        self.is_begun |= matches!(message, JsonRpcMessage::Request(_));
        Ok(Some(message).filter(|_| self.is_begun))
    }
}

/// A complete line.
enum LineEnd {
    Text(Vec<u8>),
    Long,
}

/// A JSON-RPC error, and the id of its request if that is known.
type ErrorFor = (ErrorCode, String, Option<RequestId>);

/// The bytes of an error. Its id is null if the request is not known.
fn error((code, text, id): ErrorFor) -> Vec<u8> {
    let error = ErrorData::new(code, text, None);
    let body = serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error });
    line(body.to_string().into_bytes())
}

fn line(mut json: Vec<u8>) -> Vec<u8> {
    json.push(b'\n');
    json
}

/// Writes answers one after another.
async fn written<W: AsyncWrite + Unpin>(mut write: W, mut waiting: mpsc::Receiver<PendingLine>) {
    while let Some((bytes, receipt)) = waiting.recv().await {
        let mut outcome = write.write_all(&bytes).await;
        if outcome.is_ok() {
            outcome = write.flush().await;
        }
        let is_gone = outcome.is_err();
        if let Some(receipt) = receipt {
            // The sender may have given up waiting.
            let _ = receipt.send(outcome);
        }
        if is_gone {
            return;
        }
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the client has closed its end")
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for ClientLines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answers = self.answers.clone();
        async move {
            let bytes = line(serde_json::to_vec(&item)?);
            let (receipt, is_written) = oneshot::channel();
            let answers = answers.ok_or_else(closed)?;
            answers.send((bytes, Some(receipt))).await.map_err(|_| closed())?;
            is_written.await.map_err(|_| closed())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // This future may be dropped at each `await`. The bytes that were read stay in `line`, so none are lost.
        loop {
            let room = self.answers.clone()?.reserve_owned().await.ok()?;
            let line = match self.next().await {
                Ok(line) => line?,
                Err(error) => {
                    tracing::warn!(%error, "the client cannot be read");
                    return None;
                }
            };
            match self.judge(line) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(wrong) => drop(room.send((error(wrong), None))),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.answers = None;
        Ok(())
    }
}
