//! The messages of a client that writes one a line. Whatever a line is, it is answered, and the next one is read.

use std::io;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Bytes of a line that is read. The texts that tools are asked with are a thousandth of that.
const LONGEST: usize = 16 << 20;
/// Answers that wait to be written before no further line is read.
const WAITING: usize = 16;

/// An answer, and who waits until it is written.
type PendingLine = (Vec<u8>, Option<oneshot::Sender<io::Result<()>>>);

/// The two ends of a client.
pub(crate) struct ClientLines<R> {
    read: BufReader<R>,
    /// What came of a line: a reading that is given up goes on where it was.
    line: Vec<u8>,
    /// The line is too long, and is read to its end.
    is_long: bool,
    /// A request came: what answers none was sent before may not be a message at all.
    is_begun: bool,
    answers: Option<mpsc::Sender<PendingLine>>,
}

impl<R: AsyncRead + Send + Unpin> ClientLines<R> {
    /// The ends of a client, and the task that ends when all is written.
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

    /// Reads a line to its end: nothing where there is none any more. Of one that is too long nothing is kept.
    async fn next(&mut self) -> io::Result<Option<LineEnd>> {
        loop {
            let part = self.read.fill_buf().await?;
            if part.is_empty() {
                return Ok(None);
            }
            let end = part.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(part.len(), |end| end + 1);
            self.is_long |= self.line.len() + taken > LONGEST;
            if self.is_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(&part[..taken]);
            }
            self.read.consume(taken);
            if end.is_some() {
                let is_long = std::mem::take(&mut self.is_long);
                return Ok(Some(match is_long {
                    true => LineEnd::Long,
                    false => LineEnd::Text(std::mem::take(&mut self.line)),
                }));
            }
        }
    }

    /// What a line is: a message for the server, an error for the client, or nothing.
    fn judge(&mut self, line: LineEnd) -> Result<Option<RxJsonRpcMessage<RoleServer>>, ErrorFor> {
        let LineEnd::Text(text) = line else {
            let text = format!("a line is longer than {} MiB", LONGEST >> 20);
            return Err((ErrorCode::INVALID_REQUEST, text, None));
        };
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        let value: Value = serde_json::from_slice(text)
            .map_err(|error| (ErrorCode::PARSE_ERROR, format!("no JSON: {error}"), None))?;
        let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
        let is_note =
            value.get("method").is_some_and(Value::is_string) && value.get("id").is_none();
        let message = match serde_json::from_value::<RxJsonRpcMessage<RoleServer>>(value) {
            Ok(message) => message,
            // Nobody waits for an answer to a notification.
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

/// A line that came to its end.
enum LineEnd {
    Text(Vec<u8>),
    Long,
}

/// An error of JSON-RPC, and the request that it is about where that is known.
type ErrorFor = (ErrorCode, String, Option<RequestId>);

/// The bytes of an error. Where nobody knows what it is about, its id is null.
fn error((code, text, id): ErrorFor) -> Vec<u8> {
    let error = ErrorData::new(code, text, None);
    let body = serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error });
    line(body.to_string().into_bytes())
}

fn line(mut json: Vec<u8>) -> Vec<u8> {
    json.push(b'\n');
    json
}

/// Writes answers, one after another.
async fn written<W: AsyncWrite + Unpin>(mut write: W, mut waiting: mpsc::Receiver<PendingLine>) {
    while let Some((bytes, told)) = waiting.recv().await {
        let mut done = write.write_all(&bytes).await;
        if done.is_ok() {
            done = write.flush().await;
        }
        let is_gone = done.is_err();
        if let Some(told) = told {
            // Whoever waited may have left.
            let _ = told.send(done);
        }
        if is_gone {
            return;
        }
    }
}

fn gone() -> io::Error {
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
            let (told, is_written) = oneshot::channel();
            let answers = answers.ok_or_else(gone)?;
            answers.send((bytes, Some(told))).await.map_err(|_| gone())?;
            is_written.await.map_err(|_| gone())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // This may be given up at each `await`: nothing that was read is lost by it.
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
