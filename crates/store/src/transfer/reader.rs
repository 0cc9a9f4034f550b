//! Reads an export as parts, and checks the order and the hashes of each.

use std::collections::{HashSet, VecDeque};
use std::io::{BufRead, Lines};

use midfold_core::Hash;
use midfold_core::event::Usage;
use midfold_core::fold::Fold;
use midfold_core::ledger::ReportedCost;
use midfold_core::log::EventLog;

use super::line::{FoldLine, PAGE, TransferCounts, TransferError, TransferLine, VERSION};
use crate::error::StoreError;
use crate::fsck::{empty_log, is_call_sound, of_fold, wrong_figure};
use crate::live::rows;
use crate::types::{NewCall, NewEvent, NewFold, SessionRow, TransferPart};

/// Reads the parts of an export from its lines. After an error it ends; [`PartReader::why`] returns the error.
pub(super) struct PartReader<R> {
    lines: Lines<R>,
    /// The number of the last line that was read.
    line: u64,
    moved: TransferCounts,
    /// The session that is being read.
    open: Option<OpenTransfer>,
    /// Parts that were checked and not passed on yet.
    ready: VecDeque<TransferPart>,
    /// Whether the last line of the export was read.
    ended: bool,
    /// The fault that was found in the file.
    failed: Option<TransferError>,
}

/// The session that is being read.
struct OpenTransfer {
    id: String,
    /// The number of events that the session's line states.
    promised: u64,
    active: Option<Hash>,
    state: String,
    /// The chain hash before each event, and after the last one.
    hashes: Vec<Hash>,
    /// Events that were checked and not passed on yet.
    waiting: Vec<NewEvent>,
    /// The ids of the folds read so far.
    folds: HashSet<Hash>,
    calls: u64,
    /// The hash of the last call, from which the chain continues.
    last_call: Hash,
    /// The log of the events, read again for comparison.
    replay: Option<EventLog>,
}

impl OpenTransfer {
    fn head(&self) -> u64 {
        self.hashes.len() as u64 - 1
    }
}

impl<R: BufRead> PartReader<R> {
    pub fn new(file: R) -> Self {
        Self {
            lines: file.lines(),
            line: 0,
            moved: TransferCounts::default(),
            open: None,
            ready: VecDeque::new(),
            ended: false,
            failed: None,
        }
    }

    /// How many records were read so far.
    pub fn counts(&self) -> TransferCounts {
        self.moved
    }

    /// The error of the import: the file's fault where it had one, or else the store's error.
    pub fn why<T>(&mut self, error: StoreError) -> Result<T, TransferError> {
        Err(self.failed.take().unwrap_or(TransferError::Store(error)))
    }

    /// Reads one line. Returns false at the end of the file.
    fn advance(&mut self) -> Result<bool, TransferError> {
        self.line += 1;
        let Some(text) = self.lines.next() else {
            // The error names the last line that the file has.
            self.line -= 1;
            return if self.ended {
                Ok(false)
            } else {
                Err(self.bad("the file ends too early: it was cut off"))
            };
        };
        if self.ended {
            return Err(self.bad("the file goes on after its end"));
        }
        let record = serde_json::from_str(&text?).map_err(|error| self.bad(&error.to_string()))?;
        self.take(record)?;
        Ok(true)
    }

    /// The error for the last line that was read.
    fn bad(&self, problem: &str) -> TransferError {
        TransferError::Line { line: self.line, problem: problem.to_owned() }
    }

    /// The open session. Fails where the file has none yet.
    fn session(&mut self) -> Result<&mut OpenTransfer, TransferError> {
        let line = self.line;
        let problem = "a record before the first session".to_owned();
        self.open.as_mut().ok_or(TransferError::Line { line, problem })
    }

    /// Checks a record against those before it, and makes parts of it.
    fn take(&mut self, record: TransferLine) -> Result<(), TransferError> {
        match record {
            TransferLine::Midfold { version } if self.line == 1 && version == VERSION => Ok(()),
            TransferLine::Midfold { version } if self.line == 1 => {
                Err(self.bad(&format!("version {version}; this midfold reads {VERSION}")))
            }
            _ if self.line == 1 => Err(self.bad("not an export of midfold")),
            TransferLine::Midfold { .. } => Err(self.bad("a second beginning")),
            TransferLine::Session { new, head, active, state } => {
                self.close()?;
                let row = SessionRow { new, state, ..SessionRow::default() };
                rows::check(&row).map_err(|error| self.bad(&error.to_string()))?;
                let SessionRow { new, state, .. } = row;
                let (id, replay) = (new.id.clone(), empty_log(&new));
                self.ready.push_back(TransferPart::Session(new));
                self.moved.sessions += 1;
                self.open = Some(OpenTransfer {
                    id,
                    promised: head,
                    active,
                    state,
                    hashes: vec![Hash::ROOT],
                    waiting: Vec::new(),
                    folds: HashSet::new(),
                    calls: 0,
                    last_call: Hash::ROOT,
                    replay,
                });
                Ok(())
            }
            TransferLine::Event { bytes, hash, turn, tokens, usage, origin } => {
                let bytes = bytes.bytes().map_err(|problem| self.bad(&problem))?;
                self.event(NewEvent { bytes, hash, turn, tokens, usage, origin })
            }
            TransferLine::Fold(fold) => self.fold(*fold),
            TransferLine::Call { number, head, fold, hash, body, now, usage } => {
                self.call(NewCall { number, head, fold, hash, body, now }, usage)
            }
            TransferLine::End(promised) => {
                self.close()?;
                self.ended = true;
                if promised == self.moved { Ok(()) } else { Err(self.bad("records are missing")) }
            }
        }
    }

    /// Checks the hash and the figures of an event.
    fn event(&mut self, event: NewEvent) -> Result<(), TransferError> {
        let line = self.line;
        let open = self.session()?;
        let before = open.hashes.last().copied().unwrap_or(Hash::ROOT);
        let seq = open.head();
        if before.chain(&event.bytes) != event.hash {
            let problem = "is not what its hash says: it was changed, or stands in another place";
            return Err(self.bad(&format!("event {seq} {problem}")));
        }
        rows::check_usage::<Usage>(&open.id, event.usage.as_deref())
            .map_err(|error| TransferError::Line { line, problem: error.to_string() })?;
        if let Some(problem) = open.replay.as_mut().and_then(|log| wrong_figure(log, &event)) {
            return Err(self.bad(&format!("event {seq}: {problem}")));
        }
        open.hashes.push(event.hash);
        open.waiting.push(event);
        let full = open.waiting.len() >= PAGE;
        self.moved.events += 1;
        if full {
            self.flush();
        }
        Ok(())
    }

    /// Checks the record of a fold.
    fn fold(&mut self, line: FoldLine) -> Result<(), TransferError> {
        // Stores take the events of a session before the folds over them.
        self.flush();
        let new = NewFold::from(line);
        let open = self.session()?;
        let record: Result<Fold, _> = serde_json::from_str(&new.body);
        let problem = match &record {
            Err(error) => Some(format!("has no record: {error}")),
            Ok(fold) => {
                let at = |seq: u64| {
                    let at = usize::try_from(seq).ok();
                    at.and_then(|at| open.hashes.get(at)).copied().or(Some(Hash::ROOT))
                };
                let wrong = of_fold(&new, fold, open.head(), at).next();
                let known = fold.prev.is_none_or(|prev| open.folds.contains(&prev));
                let missing = (!known).then_some("the fold before it is not there");
                wrong.or(missing).map(|problem| format!("cannot be trusted: {problem}"))
            }
        };
        if let Some(problem) = problem {
            return Err(self.bad(&format!("fold {:?} {problem}", new.id)));
        }
        open.folds.insert(new.id);
        self.ready.push_back(TransferPart::Fold(Box::new(new)));
        self.moved.folds += 1;
        Ok(())
    }

    /// Checks the record of a call, and makes a part of it.
    fn call(&mut self, call: NewCall, usage: Option<String>) -> Result<(), TransferError> {
        self.flush();
        let line = self.line;
        let open = self.session()?;
        rows::check_usage::<ReportedCost>(&open.id, usage.as_deref())
            .map_err(|error| TransferError::Line { line, problem: error.to_string() })?;
        let in_order = call.number == open.calls + 1 && call.head <= open.head();
        if !in_order || !is_call_sound(&call, open.last_call) {
            let problem = "is not what its hash says, or stands in another place";
            return Err(self.bad(&format!("call {} {problem}", call.number)));
        }
        open.calls += 1;
        open.last_call = call.hash;
        self.ready.push_back(TransferPart::Call(Box::new(call), usage));
        self.moved.calls += 1;
        Ok(())
    }

    /// Passes on the events that were collected, as one part.
    fn flush(&mut self) {
        let waiting = self.open.as_mut().map(|open| std::mem::take(&mut open.waiting));
        if let Some(events) = waiting.filter(|events| !events.is_empty()) {
            self.ready.push_back(TransferPart::Events(events));
        }
    }

    /// Ends the open session, and checks that it is complete.
    fn close(&mut self) -> Result<(), TransferError> {
        self.flush();
        let Some(open) = self.open.take() else { return Ok(()) };
        if open.head() != open.promised {
            let (is, promised) = (open.head(), open.promised);
            return Err(self.bad(&format!("the session before has {is} events, not {promised}")));
        }
        if open.active.is_some_and(|active| !open.folds.contains(&active)) {
            return Err(self.bad("the active fold of the session before is missing"));
        }
        self.ready.push_back(TransferPart::Done(open.active, open.state));
        Ok(())
    }
}

impl<R: BufRead> Iterator for PartReader<R> {
    type Item = Result<TransferPart, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(part) = self.ready.pop_front() {
                return Some(Ok(part));
            }
            if self.failed.is_some() {
                return None;
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    let text = error.to_string();
                    self.failed = Some(error);
                    return Some(Err(StoreError::Damaged(text)));
                }
            }
        }
    }
}
