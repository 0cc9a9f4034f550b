//! A process that answers a line with a line, within a time limit.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// A process that reads lines and writes lines. It is expected to end when its input ends.
#[derive(Debug)]
pub struct ChildProcess {
    child: Child,
    /// The lines for its input. A thread of their own writes them: the process may answer before it has read the whole
    /// question, and with full pipes both sides would wait for each other.
    lines: Option<Sender<Vec<u8>>>,
    written: Receiver<std::io::Result<()>>,
    /// The lines of its output. An empty line says that it has ended.
    answers: Receiver<std::io::Result<Vec<u8>>>,
    /// Whether it missed a time limit. It is then not waited for again.
    hangs: bool,
}

/// The time that a process may take to end after its input has ended, for it may have to clean up.
const ENDING: Duration = Duration::from_secs(1);

impl ChildProcess {
    /// Starts a program with its arguments.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(words: &[String]) -> Result<Self, String> {
        let (program, rest) = words.split_first().ok_or("there is no command")?;
        let mut child = Command::new(program)
            .args(rest)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                format!("the engine `{program}` cannot be started: {}", reason(&error))
            })?;
        let (input, output) =
            child.stdin.take().zip(child.stdout.take()).ok_or("it has no pipes")?;
        let (lines, to_write) = channel();
        let (results, written) = channel();
        let (answered, answers) = channel();
        // The threads end with the pipes. A pipe may stay open in a process that this one left behind; its thread then
        // stays, and nothing waits for it.
        std::thread::spawn(move || write(input, &to_write, &results));
        std::thread::spawn(move || read(output, &answered));
        Ok(Self { child, lines: Some(lines), written, answers, hangs: false })
    }

    /// The answer to a line, within the time limit.
    ///
    /// # Errors
    /// The process has ended, does not read, or misses the limit.
    pub fn ask(&mut self, line: Vec<u8>, limit: Duration) -> Result<Vec<u8>, String> {
        let begun = Instant::now();
        let lines = self.lines.as_ref().ok_or("it has ended")?;
        // Where the writing thread has ended, its error was received with the last question.
        lines.send(line).map_err(|_| "it does not read")?;
        let late = || format!("it did not answer within {}", seconds(limit));
        let answer = match self.answers.recv_timeout(limit) {
            Ok(Ok(answer)) if answer.is_empty() => return Err(self.wait_for_end()),
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(format!("it does not write: {}", reason(&error))),
            Err(RecvTimeoutError::Disconnected) => return Err(self.wait_for_end()),
            Err(RecvTimeoutError::Timeout) => {
                self.hangs = true;
                return Err(late());
            }
        };
        // The question has to be written completely: an answer that came before was given without reading all of it.
        match self.written.recv_timeout(limit.saturating_sub(begun.elapsed())) {
            Ok(Ok(())) => Ok(answer),
            Ok(Err(error)) => Err(format!("it does not read: {}", reason(&error))),
            Err(RecvTimeoutError::Disconnected) => Err("it does not read".to_owned()),
            Err(RecvTimeoutError::Timeout) => {
                self.hangs = true;
                Err(format!("it answered without reading the question within {}", seconds(limit)))
            }
        }
    }

    /// Whether the process missed a time limit.
    #[must_use]
    pub fn hangs(&self) -> bool {
        self.hangs
    }

    /// The error for a process that closed its output, with its exit status where it has ended.
    fn wait_for_end(&mut self) -> String {
        let Some(status) = self.end() else {
            self.hangs = true;
            return "it closed its output without an answer".to_owned();
        };
        format!("it ended without an answer ({status})")
    }

    /// Closes the input and waits for the process to end, for a limited time. `None` where it does not end.
    fn end(&mut self) -> Option<ExitStatus> {
        drop(self.lines.take());
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if begun.elapsed() < ENDING => std::thread::sleep(ENDING / 100),
                ended => return ended.ok().flatten(),
            }
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // A process that does not end with its input is killed.
        if self.hangs || self.end().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn write(mut input: ChildStdin, lines: &Receiver<Vec<u8>>, results: &Sender<std::io::Result<()>>) {
    for line in lines {
        let written = input.write_all(&line).and_then(|()| input.flush());
        let failed = written.is_err();
        if results.send(written).is_err() || failed {
            return;
        }
    }
}

fn read(output: ChildStdout, answered: &Sender<std::io::Result<Vec<u8>>>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let answer = output.read_until(b'\n', &mut line).map(|_| line);
        let last = !matches!(&answer, Ok(line) if !line.is_empty());
        if answered.send(answer).is_err() || last {
            return;
        }
    }
}

fn seconds(limit: Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}

/// The error's text, without the number of the system's error.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.find(" (os error").map_or(text.clone(), |at| text[..at].to_lowercase())
}
