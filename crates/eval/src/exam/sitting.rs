//! Replays a conversation with a strategy, and scores the contexts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use midfold::core::policy::EngineName;
use midfold::formats::profile;
use midfold::{DialectKind, Policy, TextKind};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::exam::engine::{EngineProcess, ExamEngine, NoEngine};
use crate::exam::error::{ErrorPlace as _, ExamError, ExamResult};
use crate::exam::narrator::ExamNarrator;
use crate::exam::reading::read;
use crate::exam::score::{ReadingExam, Scorer};
use crate::prices::PriceTable;
use crate::replay::{Recording, ReplaySettings, ReplayStrategy, SentObservation, replay};

/// The share of the way to the cut, in tenths, from which on contexts are scored. The mean over many requests removes
/// the effect of where a fold fell.
const FROM_TENTHS: usize = 7;

/// The sections of a recap that are lists of names.
const LISTS: [&str; 3] = ["Index", "Identifiers", "Other words"];

/// An exam with its conversation, which is read once for all strategies.
pub struct Sitting {
    /// The name of the exam, which is that of its files.
    pub name: String,
    /// The questions, with the window and the cut.
    pub exam: ReadingExam,
    recording: Recording,
    scorer: RefCell<Scorer>,
}

/// The strategy that compacts.
#[derive(Clone, Debug)]
pub enum ExamCandidate {
    /// No compaction: everything is sent.
    Raw,
    /// A preset, a baseline or a policy file.
    Policy(Box<Policy>),
    /// An engine outside of midfold.
    Engine(Arc<ExamEngine>),
}

impl ExamCandidate {
    /// A policy, or the engine whose process it names. `None` sends everything.
    ///
    /// # Errors
    /// The process does not start.
    pub fn of(policy: Option<Policy>, limit: Duration) -> Result<Self, NoEngine> {
        Ok(match policy {
            None => Self::Raw,
            Some(Policy { engine: EngineName::Command { command }, .. }) => {
                Self::Engine(Arc::new(ExamEngine::of(command, limit)?))
            }
            Some(policy) => Self::Policy(Box::new(policy)),
        })
    }
}

/// The result of one strategy in one exam.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SittingRow {
    /// The mean score over the requests.
    pub score: f64,
    /// The mean score by kind of question.
    pub kinds: BTreeMap<String, f64>,
    /// The mean score of each question, in the exam's order.
    pub questions: Vec<f64>,
    /// The mean tokens of the context, as a share of the window.
    pub context: f64,
    /// The mean tokens of the text in place of folded messages.
    pub recap: f64,
    /// The share of those tokens in lists of names.
    pub lists: f64,
    /// The cost of all requests with prompt caching, as a share of the cost of sending everything.
    pub cost: f64,
    /// The number of requests for which the context was folded anew.
    pub folds: u64,
    /// The number of requests above the window.
    pub over: u64,
    /// The number of requests that no provider would take.
    pub invalid: u64,
    /// The share of identifiers at risk that were held.
    pub at_risk: f64,
    /// The share of rules that were held.
    pub rules: f64,
    /// The messages that were sent at the cut.
    #[serde(skip)]
    pub last: Vec<Bytes>,
}

/// The sums over the scored requests of one strategy. A pair is a sum and the number of its terms.
#[derive(Default)]
struct SittingSums {
    /// The number of scored requests.
    requests: f64,
    score: f64,
    kinds: BTreeMap<String, (f64, f64)>,
    questions: Vec<(f64, f64)>,
    /// The tokens of all contexts.
    tokens: f64,
    /// The tokens of all recaps and markers.
    recap: f64,
    /// The number of requests with a recap or a marker.
    recaps: f64,
    /// The tokens of the lists of names in them.
    list: f64,
    /// The tokens of all of their text, to which the lists are compared.
    listed: f64,
    /// The messages that were sent at the cut.
    last: Vec<Bytes>,
}

impl Sitting {
    /// An exam from its questions and its conversation, which is a JSON list of messages or one message per line.
    ///
    /// # Errors
    /// One of the texts is not valid.
    pub fn of(name: &str, questions: &[u8], messages: &[u8]) -> ExamResult<Self> {
        let exam: ReadingExam = serde_json::from_slice(questions).at("the questions")?;
        let messages = list(messages).at("the conversation")?;
        if exam.cut >= messages.len() {
            let message = format!("`cut` is {} of {} messages", exam.cut, messages.len());
            return Err(ExamError(message));
        }
        // The history up to the cut, and the message that answers it.
        let history = serde_json::to_vec(&messages[..=exam.cut]).at("the conversation")?;
        let log = read(&Bytes::from(history)).at("the conversation")?;
        let scorer = RefCell::new(Scorer::new(&exam)?);
        Ok(Self { name: name.to_owned(), exam, recording: Recording::new(log), scorer })
    }

    /// Replays the conversation.
    ///
    /// # Errors
    /// The events that may not be folded do not fit, or an engine outside fails.
    pub fn walk(&self, candidate: &ExamCandidate, session: bool) -> ExamResult<SittingRow> {
        match candidate {
            ExamCandidate::Raw => self.walked(ReplayStrategy::Raw),
            ExamCandidate::Policy(policy) if session => {
                self.walked(ReplayStrategy::Session(policy))
            }
            ExamCandidate::Policy(policy) => self.walked(ReplayStrategy::Stateless(policy)),
            ExamCandidate::Engine(engine) => {
                let mut asking = EngineProcess::new(Arc::clone(engine), DialectKind::OpenAiChat);
                self.walked(ReplayStrategy::Outside(&mut asking))
            }
        }
    }

    /// Replays the conversation with a policy in a session, and with a model that narrates.
    ///
    /// # Errors
    /// The events that may not be folded do not fit.
    pub fn walk_narrated(
        &self,
        policy: &Policy,
        narrator: &ExamNarrator,
    ) -> ExamResult<SittingRow> {
        let mut policy = policy.clone();
        policy.narration.on = true;
        self.walked(ReplayStrategy::Narrated(&policy, narrator))
    }

    /// Replays the conversation and returns the result.
    fn walked(&self, strategy: ReplayStrategy<'_>) -> ExamResult<SittingRow> {
        let sums = RefCell::new(SittingSums {
            questions: vec![(0.0, 0.0); self.exam.questions.len()],
            ..SittingSums::default()
        });
        let watch = |sending: &SentObservation<'_>| self.look(sending, &mut sums.borrow_mut());
        let (rules, prices) =
            (profile::rules(self.recording.log().profile()), PriceTable::reference());
        let window = self.exam.window;
        let settings = ReplaySettings {
            window,
            rules: &rules,
            search: false,
            prices: &prices,
            clock: None,
            watch: Some(&watch),
        };
        let measures = replay(&self.recording, strategy, &settings).at(&self.name)?.measures;
        let mut row = sums.into_inner().row(window as f64);
        row.cost = measures.cost as f64 / measures.raw_cost.max(1) as f64;
        (row.folds, row.over, row.invalid) = (measures.folds, measures.over, measures.invalid);
        (row.at_risk, row.rules) = (measures.at_risk.ratio(), measures.rules.ratio());
        Ok(row)
    }

    /// Scores one request, if it is in the scored part of the way to the cut.
    fn look(&self, sending: &SentObservation<'_>, sums: &mut SittingSums) {
        if sending.at * 10 < self.exam.cut * FROM_TENTHS || sending.at > self.exam.cut {
            return;
        }
        let messages = sending.messages.iter().map(|bytes| &bytes[..]);
        let hits = self.scorer.borrow_mut().score(messages);
        let (mut score, mut count) = (0.0, 0.0);
        for (at, (question, share)) in self.exam.questions.iter().zip(hits).enumerate() {
            // A fact that comes later cannot be known yet.
            if question.evidence.iter().any(|seq| *seq >= sending.at) {
                continue;
            }
            (score, count) = (score + share, count + 1.0);
            let kind = sums.kinds.entry(question.kind.clone()).or_default();
            *kind = (kind.0 + share, kind.1 + 1.0);
            sums.questions[at] = (sums.questions[at].0 + share, sums.questions[at].1 + 1.0);
        }
        sums.requests += 1.0;
        // Each request counts the same, however many of the questions can be asked of it.
        sums.score += score / f64::max(count, 1.0);
        sums.tokens += sending.tokens as f64;
        if sending.stand_in_tokens > 0 {
            sums.recaps += 1.0;
            sums.recap += sending.stand_in_tokens as f64;
            let log = self.recording.log();
            for place in &sending.stand_ins {
                let view = log.dialect().view(sending.messages[*place]);
                let text = view.plain(sending.messages[*place]);
                sums.list += f64::from(log.counter().count(&lists(&text), TextKind::Prose));
                sums.listed += f64::from(log.counter().count(&text, TextKind::Prose));
            }
        }
        if sending.at == self.exam.cut {
            sums.last = sending.messages.iter().map(|bytes| (*bytes).clone()).collect();
        }
    }
}

/// The messages of a conversation: a JSON list, or one message per line.
fn list(messages: &[u8]) -> serde_json::Result<Vec<Box<RawValue>>> {
    match messages.trim_ascii_start().first() {
        Some(b'[') => serde_json::from_slice(messages),
        _ => serde_json::Deserializer::from_slice(messages).into_iter().collect(),
    }
}

/// The lines of a recap that are in lists of names.
fn lists(recap: &str) -> String {
    let mut listing = false;
    let mut out = String::new();
    for line in recap.lines() {
        if let Some(name) = line.strip_prefix("### ") {
            listing = LISTS.iter().any(|list| name.starts_with(list));
        }
        if listing {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

impl SittingSums {
    fn row(self, window: f64) -> SittingRow {
        let mean = |(sum, n): (f64, f64)| sum / f64::max(n, 1.0);
        SittingRow {
            score: mean((self.score, self.requests)),
            kinds: self.kinds.into_iter().map(|(kind, of)| (kind, mean(of))).collect(),
            questions: self.questions.into_iter().map(mean).collect(),
            context: mean((self.tokens, self.requests)) / window,
            recap: mean((self.recap, self.recaps)),
            lists: self.list / f64::max(self.listed, 1.0),
            last: self.last,
            ..SittingRow::default()
        }
    }
}

/// The results of one strategy, one row per exam, in the order of the exams.
pub struct StrategyOutcome {
    /// The name in tables.
    pub name: String,
    /// One row per exam.
    pub rows: Vec<SittingRow>,
}
