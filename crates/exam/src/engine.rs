//! An engine outside: a process that answers `{"messages": […], "window": N}` with
//! `{"messages": […]}`, a line each (the protocol of `midfold replay --engine`).

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use bytes::Bytes;
use midfold::core::replay::Outside;
use serde_json::{Value, json};

use crate::error::{At as _, Error, Result};

/// A running engine. It ends when it is dropped: its input is closed.
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a program with its arguments, which are separated by spaces.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(command: &str) -> Result<Self> {
        let mut words = command.split_whitespace();
        let program = words.next().unwrap_or_default();
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .at(format!("{program} does not start"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = output.ok_or_else(|| Error("no output".to_owned()))?;
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    fn ask(&mut self, question: &Value) -> std::result::Result<Value, String> {
        let input = self.input.as_mut().ok_or("it has ended")?;
        let mut line = question.to_string();
        line.push('\n');
        input.write_all(line.as_bytes()).map_err(|error| error.to_string())?;
        let mut answer = String::new();
        self.output.read_line(&mut answer).map_err(|error| error.to_string())?;
        serde_json::from_str(&answer).map_err(|error| format!("{error}: {answer}"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

impl Outside for Process {
    fn compact(
        &mut self,
        messages: &[Bytes],
        window: u64,
    ) -> std::result::Result<Vec<Bytes>, String> {
        let sent: Vec<Value> = messages
            .iter()
            .map(|bytes| serde_json::from_slice(bytes).map_err(|error| error.to_string()))
            .collect::<std::result::Result<_, _>>()?;
        let answer = self.ask(&json!({ "messages": sent, "window": window }))?;
        if let Some(error) = answer.get("error") {
            return Err(error.to_string());
        }
        let Some(Value::Array(written)) = answer.get("messages") else {
            return Err("its answer has no list `messages`".to_owned());
        };
        // What says the same as one that was sent is that one, byte for byte.
        let mut from = 0;
        let one = |value: &Value| match sent[from..].iter().position(|known| known == value) {
            Some(skip) => {
                from += skip + 1;
                messages[from - 1].clone()
            }
            None => Bytes::from(value.to_string()),
        };
        Ok(written.iter().map(one).collect())
    }
}
