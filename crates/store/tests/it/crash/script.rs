//! A scripted agent over a stored session. What it does depends on nothing but the script and how
//! far the log is, so that a run that was disturbed can be compared with one that was not.

use std::sync::Arc;

use midfold_core::Usage;
use midfold_core::budget::Budget;
use midfold_core::event::RawEvent;
use midfold_core::narrate::{FinishReason, SummaryFailure, SummaryReply, SummaryRequest};
use midfold_core::policy::Policy;
use midfold_store::worker::JobWorker;
use midfold_store::{NewSession, NumberedContext, SessionMeta, Store, StoredError, StoredSession};
use midfold_testkit::emit;

/// The one session.
pub const ID: &str = "s";
/// Small, so that a fold comes every few steps.
const WINDOW: u64 = 6_000;
/// Events of a step, in turns.
const SIZES: [usize; 8] = [1, 1, 2, 1, 5, 1, 1, 3];

/// What the agent appends, step by step.
pub struct Script {
    events: Vec<RawEvent>,
    /// How long the log is after each step.
    ends: Vec<usize>,
}

impl Script {
    pub fn new(seed: u64, turns: usize) -> Self {
        let lines = emit::openai_chat(&midfold_testkit::session(seed, turns));
        let events: Vec<_> = lines.into_iter().map(|line| RawEvent::new(line.into())).collect();
        let sizes = SIZES.iter().cycle().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        let ends = sizes.take_while(|end| *end <= events.len()).collect();
        Self { events, ends }
    }

    pub fn steps(&self) -> usize {
        self.ends.len()
    }

    pub fn end(&self, step: usize) -> u64 {
        self.ends[step] as u64
    }

    /// The event that belongs at this place.
    pub fn event(&self, seq: usize) -> &RawEvent {
        &self.events[seq]
    }

    /// The first step that the log does not hold yet. A log that ends inside a step holds half of
    /// an append.
    pub fn next(&self, head: u64) -> usize {
        if head == 0 {
            return 0;
        }
        let step = self.ends.binary_search(&(head as usize));
        step.unwrap_or_else(|_| panic!("the log ends at {head}, inside an append")) + 1
    }

    pub fn step_events(&self, step: usize) -> Vec<RawEvent> {
        let start = if step == 0 { 0 } else { self.ends[step - 1] };
        self.events[start..self.ends[step]].to_vec()
    }

    /// Two of three appends have a key.
    pub fn key(&self, step: usize) -> Option<String> {
        (!step.is_multiple_of(3)).then(|| format!("step {step}"))
    }

    /// Steps are far enough apart for a cooldown to pass.
    pub fn now(&self, step: usize) -> u64 {
        1_000_000 + step as u64 * 20_000
    }
}

pub fn new_session() -> NewSession {
    let mut policy = Policy::preset("default").unwrap();
    policy.narration.on = true;
    let meta = SessionMeta {
        budget: Budget::new(WINDOW),
        envelope: Vec::new(),
        parent: None,
        source: None,
        owner: None,
        model: None,
        client: None,
        cache_lifetime: None,
    };
    NewSession {
        id: ID.into(),
        dialect: "openai-chat".into(),
        profile: "openai".into(),
        counter: "chars:4".into(),
        policy: policy.to_toml(),
        meta: serde_json::to_string(&meta).unwrap(),
        created: 1,
    }
}

/// A worker of the life that this is: leases of earlier ones have run out.
pub fn worker(store: Arc<dyn Store>, life: u64) -> JobWorker {
    let now = (life + 1) * 1_000_000_000;
    JobWorker::new(store, &format!("life {life}"), Arc::new(move || now))
}

/// The same answer to the same request: every third span gets one that is made up.
pub async fn answer(request: SummaryRequest) -> Result<SummaryReply, SummaryFailure> {
    let invented = request.span.end.is_multiple_of(3);
    let mut text = format!("{}\n", request.header);
    for (section, at) in request.sections.iter().zip(1..) {
        if invented {
            let span = request.span.end;
            text.push_str(&format!("- **{section}:** see /srv/made/up/{span}/{at}.rs\n"));
        } else {
            text.push_str(&format!("- **{section}:** work went on as planned\n"));
        }
    }
    Ok(SummaryReply {
        text,
        finish: FinishReason::Stop,
        model: "script".into(),
        usage: None,
        calls: 1,
    })
}

/// What was just done, and is durable.
pub enum Said {
    Append { step: usize },
    Call { number: u64 },
    Fold { id: String },
    Observed,
    Job { id: u64, code: String, folded: bool },
}

/// Appends a step.
pub async fn append(
    stored: &mut StoredSession,
    script: &Script,
    step: usize,
) -> Result<(), StoredError> {
    let (events, key) = (script.step_events(step), script.key(step));
    stored.append(events, key, script.now(step)).await.map(drop)
}

/// All that follows the append of a step. Done twice it does the same.
pub async fn after_append(
    stored: &mut StoredSession,
    worker: &JobWorker,
    script: &Script,
    step: usize,
    mut say: impl FnMut(Said),
) -> Result<NumberedContext, StoredError> {
    let now = script.now(step);
    let sent = stored.context(true, now).await?;
    if let Some(number) = sent.call {
        say(Said::Call { number });
    }
    if let Some(fold) = sent.folded {
        say(Said::Fold { id: fold.to_hex() });
    }
    let prompt = sent.context.tokens() + 50;
    stored.observe(Usage { prompt, output: 5, ..Usage::default() }, sent.call, now).await?;
    say(Said::Observed);
    while let Some(report) = worker.step(answer).await? {
        say(Said::Job { id: report.job, code: report.code.to_string(), folded: report.folded });
    }
    // What a worker did is learned in this step, whether or not it is done twice: a cooldown
    // starts when a session hears of a failure.
    stored.reload().await?;
    stored.status(now).await?;
    Ok(sent)
}
