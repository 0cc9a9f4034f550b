//! A process that answers a line with a line, in time.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// A process. Ends when its input ends.
#[derive(Debug)]
pub struct ChildProcess {
    child: Child,
    /// Lines for its input. Written beside reading: it may answer before it has read the whole
    /// question, and both would wait for each other with full pipes.
    lines: Option<Sender<Vec<u8>>>,
    written: Receiver<std::io::Result<()>>,
    /// Lines of its output; an empty one where it ended.
    answers: Receiver<std::io::Result<Vec<u8>>>,
    /// It did not do in time what it should: nobody waits for it again.
    hangs: bool,
}

/// How long a process may take to end after its input: it may have to clean up.
const ENDING: Duration = Duration::from_secs(1);

impl ChildProcess {
    /// Starts a program with its arguments.
    ///
    /// # Errors
    /// When it cannot be started.
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
        let (done, written) = channel();
        let (answered, answers) = channel();
        // They end with the pipes. One that a process left behind holds open keeps its thread, and
        // nobody waits for that.
        std::thread::spawn(move || write(input, &to_write, &done));
        std::thread::spawn(move || read(output, &answered));
        Ok(Self { child, lines: Some(lines), written, answers, hangs: false })
    }

    /// The answer to a line, within this time.
    ///
    /// # Errors
    /// When it ended, does not read, or takes longer.
    pub fn ask(&mut self, line: Vec<u8>, limit: Duration) -> Result<Vec<u8>, String> {
        let begun = Instant::now();
        let lines = self.lines.as_ref().ok_or("it has ended")?;
        // Where the writer is gone, its last word was received with the question before.
        lines.send(line).map_err(|_| "it does not read")?;
        let late = || format!("it did not answer within {}", seconds(limit));
        let answer = match self.answers.recv_timeout(limit) {
            Ok(Ok(answer)) if answer.is_empty() => return Err(self.ended()),
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(format!("it does not write: {}", reason(&error))),
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                self.hangs = true;
                return Err(late());
            }
        };
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

    /// Whether it did not do in time what it should.
    #[must_use]
    pub fn hangs(&self) -> bool {
        self.hangs
    }

    /// It closed its output: how it ended, where it did.
    fn ended(&mut self) -> String {
        let Some(status) = self.end() else {
            self.hangs = true;
            return "it closed its output without an answer".to_owned();
        };
        format!("it ended without an answer ({status})")
    }

    /// Ends its input, and waits for it to end, for a while.
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
        // An engine that does not end with its input is ended.
        if self.hangs || self.end().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn write(mut input: ChildStdin, lines: &Receiver<Vec<u8>>, done: &Sender<std::io::Result<()>>) {
    for line in lines {
        let written = input.write_all(&line).and_then(|()| input.flush());
        let failed = written.is_err();
        if done.send(written).is_err() || failed {
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

/// Why, without the number of the system's error.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.find(" (os error").map_or(text.clone(), |at| text[..at].to_lowercase())
}
