//! Replay: a recorded conversation, request by request, against what the agent really did next.
//! No model is called. Definitions: docs/MEASURES.md.

mod texts;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::Budget;
use crate::event::RawEvent;
use crate::ids::identifiers;
use crate::log::Log;
use crate::meter::Meter;
use crate::plan::{Outcome, Plan, PlanError, plan};
use crate::policy::Policy;
use crate::project::{Context, Piece, project};
use crate::recap::gather::rules;
use crate::view::Role;

pub use texts::message_text;

/// How to replay.
pub struct Replay<'a> {
    /// Makes an empty log: dialect, profile, counter.
    pub empty: &'a dyn Fn() -> Log,
    /// The policy; `None` sends the raw history.
    pub policy: Option<&'a Policy>,
    /// The window, in counted tokens.
    pub window: u64,
    /// Counts violations of a context.
    pub violations: &'a dyn Fn(&Context) -> usize,
}

/// What was measured, summed over requests. Add several with [`Measures::add`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Requests.
    pub requests: u64,
    /// Requests at which the raw history exceeded 0.8 windows: recall is counted from there on.
    pub counted: u64,
    /// Identifiers needed next that history holds.
    pub need: u64,
    /// Of them, in the context.
    pub have: u64,
    /// Needed, and not in the newest 12,000 characters of history.
    pub risk_need: u64,
    /// Of them, in the context.
    pub risk_have: u64,
    /// Tokens over all requests.
    pub tokens: u64,
    /// Largest context.
    pub peak: u64,
    /// Requests above the window.
    pub over: u64,
    /// Violations.
    pub invalid: u64,
    /// Cache-priced cost, in hundredths of a token.
    pub cost: u64,
    /// The same for the raw history.
    pub raw_cost: u64,
    /// Requests whose prefix is shorter than the request before.
    pub breaks: u64,
    /// Folds.
    pub folds: u64,
    /// Rules that the user stated, summed over counted requests.
    pub rules: u64,
    /// Of them, verbatim in the context.
    pub rules_kept: u64,
    /// Identifiers lost when needed, with how often.
    pub losses: FxHashMap<String, u32>,
}

impl Measures {
    /// Adds another conversation's figures.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.counted += other.counted;
        self.need += other.need;
        self.have += other.have;
        self.risk_need += other.risk_need;
        self.risk_have += other.risk_have;
        self.tokens += other.tokens;
        self.peak = self.peak.max(other.peak);
        self.over += other.over;
        self.invalid += other.invalid;
        self.cost += other.cost;
        self.raw_cost += other.raw_cost;
        self.breaks += other.breaks;
        self.folds += other.folds;
        self.rules += other.rules;
        self.rules_kept += other.rules_kept;
        for (id, count) in &other.losses {
            *self.losses.entry(id.clone()).or_default() += count;
        }
    }

    /// Share of needed identifiers that the context held.
    #[must_use]
    pub fn recall(&self) -> f64 {
        ratio(self.have, self.need)
    }

    /// The same for those at risk.
    #[must_use]
    pub fn risk_recall(&self) -> f64 {
        ratio(self.risk_have, self.risk_need)
    }

    /// Mean context, in tokens.
    #[must_use]
    pub fn mean_context(&self) -> f64 {
        ratio(self.tokens, self.requests)
    }

    /// Cost against the raw history.
    #[must_use]
    pub fn cost_ratio(&self) -> f64 {
        ratio(self.cost, self.raw_cost)
    }

    /// Share of the user's rules that stood verbatim in the context.
    #[must_use]
    pub fn rule_survival(&self) -> f64 {
        ratio(self.rules_kept, self.rules)
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The newest messages of history that together reach this many characters are not at risk.
const RECENT_CHARS: usize = 12_000;

/// Replays one conversation in the stateless form: the engine's own previous output plus the new
/// messages, compacted when it exceeds the trigger.
///
/// # Errors
/// When what may not be folded is larger than the window.
pub fn stateless(replay: &Replay<'_>, events: &[RawEvent]) -> Result<Measures, PlanError> {
    let mut run = Run::new(replay);
    for event in events {
        run.step(event)?;
    }
    Ok(run.measures)
}

struct Run<'a> {
    replay: &'a Replay<'a>,
    /// What the engine holds: its last output and what came since.
    current: Log,
    /// What really happened.
    raw: Log,
    measures: Measures,
    sent: Vec<Piece>,
    raw_sent: usize,
    history_ids: FxHashSet<String>,
    rules: Vec<String>,
    recent: std::collections::VecDeque<String>,
}

impl<'a> Run<'a> {
    fn new(replay: &'a Replay<'a>) -> Self {
        Self {
            replay,
            current: (replay.empty)(),
            raw: (replay.empty)(),
            measures: Measures::default(),
            sent: Vec::new(),
            raw_sent: 0,
            history_ids: FxHashSet::default(),
            rules: Vec::new(),
            recent: std::collections::VecDeque::new(),
        }
    }

    fn step(&mut self, event: &RawEvent) -> Result<(), PlanError> {
        let at = self.raw.append(event.clone()) as usize;
        let view = self.raw.events()[at].view.clone();
        let text = message_text(&event.bytes, &view);
        if view.role == Role::Assistant && at > 0 && !view.has_results() {
            self.request(&text, at)?;
        }
        self.current.append(event.clone());
        for id in identifiers(&text) {
            if !self.history_ids.contains(id) {
                self.history_ids.insert(id.to_owned());
            }
        }
        if view.is_real_user() {
            self.rules.extend(rules(&text).into_iter().map(|rule| fold_space(&rule)));
        }
        self.recent.push_back(text);
        let chars = |texts: &std::collections::VecDeque<String>| -> usize {
            texts.iter().skip(1).map(|t| t.chars().count()).sum()
        };
        while self.recent.len() > 1 && chars(&self.recent) >= RECENT_CHARS {
            self.recent.pop_front();
        }
        Ok(())
    }

    /// The request that message `at` answered: what would have been sent?
    fn request(&mut self, said: &str, at: usize) -> Result<(), PlanError> {
        let context = self.context()?;
        let pieces: Vec<Piece> = context.pieces().cloned().collect();
        let measures = &mut self.measures;
        measures.requests += 1;
        measures.tokens += context.tokens();
        measures.peak = measures.peak.max(context.tokens());
        measures.over += u64::from(context.tokens() > self.replay.window);
        measures.invalid += (self.replay.violations)(&context) as u64;
        let (cost, broke) = price(&self.sent, &pieces);
        measures.cost += cost;
        measures.breaks += u64::from(broke);
        let raw_tokens = self.raw.tokens_in(0..at);
        let raw_prefix = self.raw.tokens_in(0..self.raw_sent);
        measures.raw_cost += 10 * raw_prefix + 125 * (raw_tokens - raw_prefix);
        self.raw_sent = at;
        self.sent = pieces;
        if raw_tokens * 10 > self.replay.window * 8 {
            self.recall(said);
        }
        Ok(())
    }

    fn context(&mut self) -> Result<Context, PlanError> {
        let Some(policy) = self.replay.policy else { return Ok(project(&self.current, None)) };
        let budget = Budget::new(self.replay.window);
        let outcome = plan(&Plan::new(&self.current, policy, &budget, Meter::exact()))?;
        let Outcome::Folded(fold) = outcome else { return Ok(project(&self.current, None)) };
        self.measures.folds += 1;
        let context = project(&self.current, Some(&fold));
        let mut next = (self.replay.empty)();
        for piece in context.pieces() {
            next.append(RawEvent::new(piece.bytes.clone()));
        }
        self.current = next;
        Ok(context)
    }

    fn recall(&mut self, said: &str) {
        let texts: Vec<String> = self
            .sent
            .iter()
            .map(|piece| message_text(&piece.bytes, &self.current.dialect().view(&piece.bytes)))
            .collect();
        let here: FxHashSet<&str> = texts.iter().flat_map(|text| identifiers(text)).collect();
        let recent: FxHashSet<&str> =
            self.recent.iter().flat_map(|text| identifiers(text)).collect();
        let needed: FxHashSet<&str> =
            identifiers(said).filter(|id| self.history_ids.contains(*id)).collect();
        let measures = &mut self.measures;
        measures.counted += 1;
        for id in needed {
            let have = u64::from(here.contains(id));
            measures.need += 1;
            measures.have += have;
            if !recent.contains(id) {
                measures.risk_need += 1;
                measures.risk_have += have;
                if have == 0 {
                    *measures.losses.entry(id.to_owned()).or_default() += 1;
                }
            }
        }
        if !self.rules.is_empty() {
            let folded: String = texts.iter().map(|text| fold_space(text) + "\n").collect();
            measures.rules += self.rules.len() as u64;
            measures.rules_kept +=
                self.rules.iter().filter(|rule| folded.contains(*rule)).count() as u64;
        }
    }
}

/// White space folded, so that line breaks do not matter.
fn fold_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cost of a request after the one before it, in hundredths of a token: 0.1 for the prefix that
/// is the same, 1.25 for the rest; and whether the prefix broke.
fn price(before: &[Piece], now: &[Piece]) -> (u64, bool) {
    let same = before.iter().zip(now).take_while(|(a, b)| a.bytes == b.bytes).count();
    let prefix: u64 = now[..same].iter().map(|piece| u64::from(piece.tokens)).sum();
    let rest: u64 = now[same..].iter().map(|piece| u64::from(piece.tokens)).sum();
    (10 * prefix + 125 * rest, same < before.len())
}
