//! What the tests write conversations with, and engines whose answers a test decides.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::RawEvent;
use midfold_core::log::EventLog;
use midfold_eval::prices::PriceTable;
use midfold_eval::replay::{
    OutsideEngine, Recording, ReplayError, ReplayResult, ReplaySettings, ReplayStrategy, replay,
};
use midfold_formats::{DialectKind, profile};
use midfold_testkit::quoted;

use crate::quarter::Quarter;

/// A conversation, message by message.
#[derive(Clone, Default)]
pub struct Talk(pub Vec<Bytes>);

impl Talk {
    pub fn say(mut self, role: &str, text: &str) -> Self {
        self.0.push(said(role, text));
        self
    }

    /// Text without a name in it, so many bytes.
    pub fn filler(self, role: &str, bytes: usize) -> Self {
        let text = "we went on as before and nothing came of it ".repeat(bytes / 40 + 1);
        self.say(role, &text[..bytes])
    }

    pub fn call(mut self, id: &str, tool: &str, arguments: &str) -> Self {
        let arguments = quoted(arguments);
        self.0.push(Bytes::from(format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"{tool}","arguments":{arguments}}}}}]}}"#
        )));
        self
    }

    pub fn result(mut self, id: &str, text: &str) -> Self {
        let text = quoted(text);
        self.0.push(Bytes::from(format!(
            r#"{{"role":"tool","tool_call_id":"{id}","content":{text}}}"#
        )));
        self
    }

    pub fn recording(&self) -> Recording {
        recording(DialectKind::OpenAiChat, &self.0)
    }
}

pub fn said(role: &str, text: &str) -> Bytes {
    Bytes::from(format!(r#"{{"role":"{role}","content":{}}}"#, quoted(text)))
}

pub fn log(kind: DialectKind, messages: &[Bytes]) -> EventLog {
    let events = messages.iter().map(|bytes| RawEvent::new(bytes.clone()));
    EventLog::of(kind.shared(), profile::for_dialect(kind)[0], Arc::new(Quarter), events)
}

pub fn recording(kind: DialectKind, messages: &[Bytes]) -> Recording {
    Recording::new(log(kind, messages))
}

/// An engine that does what a test says.
pub struct Does<F>(pub F);

impl<F: FnMut(&[Bytes], u64) -> Result<Vec<Bytes>, String>> OutsideEngine for Does<F> {
    fn compact(&mut self, messages: &[Bytes], window: u64) -> Result<Vec<Bytes>, String> {
        self.0(messages, window)
    }
}

/// Replays with an engine that a test writes.
pub fn outside(
    talk: &Talk,
    window: u64,
    engine: impl FnMut(&[Bytes]) -> Vec<Bytes>,
) -> ReplayResult {
    let mut engine = engine;
    let mut engine = Does(|messages: &[Bytes], _| Ok(engine(messages)));
    run(&talk.recording(), ReplayStrategy::Outside(&mut engine), window).unwrap()
}

pub fn run(
    recording: &Recording,
    strategy: ReplayStrategy<'_>,
    window: u64,
) -> Result<ReplayResult, ReplayError> {
    with(recording, strategy, window, &PriceTable::reference(), false)
}

pub fn with(
    recording: &Recording,
    strategy: ReplayStrategy<'_>,
    window: u64,
    prices: &PriceTable,
    search: bool,
) -> Result<ReplayResult, ReplayError> {
    let rules = profile::rules(recording.log().profile());
    let settings =
        ReplaySettings { window, rules: &rules, search, prices, clock: None, watch: None };
    replay(recording, strategy, &settings)
}
