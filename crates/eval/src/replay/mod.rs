//! Replay: runs a recorded conversation request by request, and compares each context with what the agent really did
//! next. No model is called unless a host provides one. Definitions: docs/MEASURES.md.
//!
//! A [`Recording`] is read once. [`replay`] runs one engine through it, in one window and one form, and takes a
//! fraction of the time of reading.

mod artifacts;
mod check;
mod class;
mod costs;
mod counts;
mod drive;
mod fabric;
mod host;
mod judge;
mod measures;
mod recording;
mod texts;

use midfold_core::recap::lost_names::{LostNames, NameUser};
use midfold_core::view::Role;
use rustc_hash::FxHashMap;

use crate::replay::check::ContextChecker;
use crate::replay::costs::{CostTables, PromptTokens};
use crate::replay::drive::{EngineDriver, NarrationRequest, ReplayFold, RequestMoment};
use crate::replay::fabric::FateFabric;
use crate::replay::judge::{ContextStep, HeldContext};
use crate::replay::recording::RecordedRequest;

pub use class::NameClass;
pub use fabric::FoldRow;
pub use host::{
    OutsideEngine, ReplayError, ReplayNarrator, ReplaySettings, ReplayStrategy, SentObservation,
};
pub use measures::{AgedCost, KeptShare, ReplayMeasures, TokensBy, percentile};
pub use recording::Recording;

/// The result of one replay of one conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayResult {
    /// The sums.
    pub measures: ReplayMeasures,
    /// All requests.
    pub requests: Vec<RequestRow>,
    /// All folds, with the fates of events.
    pub folds: Vec<FoldRow>,
    /// The identifiers that were missing when they were needed, the worst first.
    pub losses: Vec<LostIdentifier>,
}

/// One request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestRow {
    /// The index of the message that answered it.
    pub at: usize,
    /// The tokens of the raw history.
    pub raw: u64,
    /// The tokens that were sent.
    pub tokens: u64,
    /// The tokens at the front that were the same as in the request before.
    pub prefix: u64,
    /// The index in [`ReplayResult::folds`] of the fold that was made for it. `None` where none was made.
    pub fold: Option<usize>,
    /// Whether the request before is not the start of this one.
    pub broke: bool,
    /// Whether the cache had expired, so that nothing of the prefix was read from it.
    pub cold: bool,
    /// The identifiers at risk that its answer needed. Zero at requests where recall is not counted.
    pub at_risk: KeptShare,
}

/// An identifier that was needed while it was not in the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostIdentifier {
    /// The identifier.
    pub id: String,
    /// The kind of name that it is.
    pub class: NameClass,
    /// The index of the first message that used it while it was not in the context.
    pub at: usize,
    /// The index of the last message before that one that mentioned it.
    pub seen: usize,
    /// The number of messages that used it while it was not in the context.
    pub times: u32,
    /// Whether one search over the log brings it back every time.
    pub recalled: bool,
}

/// Replays one conversation.
///
/// # Errors
/// The events that may not be folded are larger than the window, or an engine outside fails.
pub fn replay(
    recording: &Recording,
    strategy: ReplayStrategy<'_>,
    settings: &ReplaySettings<'_>,
) -> Result<ReplayResult, ReplayError> {
    let window = settings.window;
    let driver = match strategy {
        ReplayStrategy::Raw => EngineDriver::raw(recording),
        ReplayStrategy::Stateless(policy) => {
            EngineDriver::stateless(recording, drive::DrivenEngine::Policy(policy), window)
        }
        ReplayStrategy::Session(policy) => EngineDriver::session(recording, policy, settings, None),
        ReplayStrategy::Narrated(policy, narrator) => {
            EngineDriver::session(recording, policy, settings, Some(narrator))
        }
        ReplayStrategy::Outside(engine) => {
            EngineDriver::stateless(recording, drive::DrivenEngine::Outside(engine), window)
        }
    };
    let mut run = ReplayRun {
        recording,
        settings,
        driver,
        context: HeldContext::default(),
        fabric: FateFabric::default(),
        result: ReplayResult::default(),
        losses: FxHashMap::default(),
        artifacts: std::collections::BTreeSet::new(),
        raw_sent: 0,
        lost_names: LostNames::over(recording.ids.clone()),
        searched: 0,
        checker: ContextChecker::new(settings.rules),
        costs: CostTables::new(settings.prices),
    };
    for request in &recording.requests {
        run.request(request)?;
    }
    Ok(run.finish())
}

/// The characters that one search brings back.
const BACK: usize = 2_000;

/// The state of one replay.
struct ReplayRun<'a> {
    recording: &'a Recording,
    settings: &'a ReplaySettings<'a>,
    driver: EngineDriver<'a>,
    context: HeldContext,
    fabric: FateFabric,
    result: ReplayResult,
    /// The identifiers that were missing, by number.
    losses: FxHashMap<u32, LostIdentifier>,
    /// The files that were used before the newest fold, and whether they were changed.
    artifacts: std::collections::BTreeSet<(u32, bool)>,
    /// The number of events in the raw history of the request before.
    raw_sent: usize,
    /// The names of the first events of the log.
    lost_names: LostNames,
    /// The number of those events.
    searched: usize,
    /// The validator of the context.
    checker: ContextChecker<'a>,
    costs: CostTables,
}

impl ReplayRun<'_> {
    /// Replays one request: sends it, and adds it to the measures.
    fn request(&mut self, request: &RecordedRequest) -> Result<(), ReplayError> {
        let recording = self.recording;
        let gap = self.costs.gap(request.when);
        let is_cold = self.costs.is_cold(gap);
        let moment = RequestMoment { upto: request.at, when: request.when };
        let begun = self.settings.clock.map(|clock| clock());
        let outgoing = self.driver.send(recording, moment)?;
        let time =
            self.settings.clock.zip(begun).map(|(clock, begun)| clock().saturating_sub(begun));
        // The time of the context is taken already: a narration is no part of it.
        if let Some(narration) = self.driver.ask() {
            self.note_asked(narration);
        }
        let (tokens, faulty) = (outgoing.tokens, outgoing.faulty);
        let (step, folded) = self.context.take(recording, outgoing);
        self.show(request.at, tokens);
        let folded = folded.map(|folded| self.note_fold(request.at, &folded));
        let envelope = recording.log.envelope_tokens();
        // The envelope comes before the messages, and is the same every time.
        let prefix = if self.result.requests.is_empty() { 0 } else { envelope + step.prefix };
        let raw = envelope + recording.log.tokens_in(0..request.at);
        let raw_prefix = envelope + recording.log.tokens_in(0..self.raw_sent);
        let raw_prefix = if self.result.requests.is_empty() { 0 } else { raw_prefix };
        let paid =
            (PromptTokens { tokens, prefix }, PromptTokens { tokens: raw, prefix: raw_prefix });
        self.costs.add(&mut self.result.measures, paid.0, paid.1, envelope, gap);
        self.count(tokens, &step, time.map(|time| (time, folded.is_some())));
        self.count_invalid(faulty, step.same);
        // A shorter history fits the window, so nothing had to leave the context.
        let at_risk = if recording.log.tokens_in(0..request.at) * 10 > self.settings.window * 8 {
            self.measure_recall(request)
        } else {
            KeptShare::default()
        };
        self.measure_artifacts(request.at);
        self.result.requests.push(RequestRow {
            at: request.at,
            raw,
            tokens,
            prefix,
            fold: folded,
            broke: step.broke,
            cold: is_cold,
            at_risk,
        });
        self.raw_sent = request.at;
        Ok(())
    }

    fn show(&self, at: usize, tokens: u64) {
        let Some(watch) = self.settings.watch else { return };
        let items: Vec<_> = self.context.items().collect();
        let stand_ins: Vec<usize> = (0..items.len()).filter(|at| items[*at].stands_in).collect();
        watch(&SentObservation {
            at,
            tokens,
            messages: items.iter().map(|item| &item.bytes).collect(),
            stand_in_tokens: stand_ins.iter().map(|at| u64::from(items[*at].tokens)).sum(),
            stand_ins,
        });
    }

    fn note_asked(&mut self, narration: NarrationRequest) {
        let measures = &mut self.result.measures;
        measures.summaries += 1;
        measures.accepted += u64::from(narration.accepted);
        self.costs.add_asked(measures, narration);
    }

    /// Notes a fold, and returns its index.
    fn note_fold(&mut self, at: usize, folded: &ReplayFold) -> usize {
        let uses = self.recording.uses.iter().take_while(|used| used.event < at);
        self.artifacts = uses.map(|used| (used.path, used.modified)).collect();
        let row = self.fabric.fold(at, self.context.items(), folded);
        self.result.folds.push(row);
        self.result.measures.folds += 1;
        if let Some(cause) = folded.cause {
            *self.result.measures.causes.entry(cause.name()).or_default() += 1;
        }
        self.result.folds.len() - 1
    }

    fn count(&mut self, tokens: u64, step: &ContextStep, time: Option<(u64, bool)>) {
        let recording = self.recording;
        let measures = &mut self.result.measures;
        measures.requests += 1;
        measures.tokens += tokens;
        measures.tokens_by.add(&self.context.by);
        measures.tokens_by.system += recording.log.envelope_tokens();
        measures.peak = measures.peak.max(tokens);
        measures.over += u64::from(tokens > self.settings.window);
        measures.breaks += u64::from(step.broke);
        match time {
            Some((time, true)) => measures.fold_time.push(time),
            Some((time, false)) => measures.context_time.push(time),
            None => {}
        }
    }

    /// Counts a context that violates the profile. `faulty` says that it was repaired before it was sent. `same` is the
    /// number of its messages that are those of the request before.
    fn count_invalid(&mut self, faulty: bool, same: usize) {
        let Self { checker, context, recording, .. } = self;
        let violations = checker.violations(same, |from| context.views(recording, from));
        self.result.measures.invalid += u64::from(faulty || violations > 0);
    }

    /// Counts which of the names that the answer needed are in the context. Returns the share of the identifiers at
    /// risk.
    fn measure_recall(&mut self, request: &RecordedRequest) -> KeptShare {
        let recording = self.recording;
        let mut at_risk = KeptShare::default();
        let mut missing = Vec::new();
        let measures = &mut self.result.measures;
        measures.counted += 1;
        for need in &request.need {
            let have = self.context.ids.has(need.id);
            measures.recall.take(have);
            if need.at_risk {
                at_risk.take(have);
                let class = NameClass::of(recording.ids.text(need.id));
                measures.classes[class as usize].take(have);
                if !have {
                    missing.push(*need);
                }
            }
        }
        measures.at_risk.need += at_risk.need;
        measures.at_risk.have += at_risk.have;
        request.rare.iter().for_each(|word| measures.rare.take(self.context.words.has(*word)));
        let quotes = &mut measures.classes[NameClass::Quote as usize];
        request.quotes.iter().for_each(|quote| quotes.take(self.context.quotes(recording, *quote)));
        let stated = &recording.stated[..request.stated];
        stated.iter().for_each(|rule| measures.rules.take(self.context.rules.has(*rule)));
        self.lose(request, &missing);
        at_risk
    }

    /// Notes the identifiers that were missing, and whether a search would have found them.
    fn lose(&mut self, request: &RecordedRequest, missing: &[recording::NeededName]) {
        if missing.is_empty() {
            return;
        }
        let search = self.settings.search;
        let back = if search { self.back(request.at, missing) } else { vec![false; missing.len()] };
        for (need, recalled) in missing.iter().zip(back) {
            let id = self.recording.ids.text(need.id);
            if search {
                self.result.measures.reachable.take(recalled);
            }
            let loss = self.losses.entry(need.id).or_insert_with(|| LostIdentifier {
                id: id.to_owned(),
                class: NameClass::of(id),
                at: request.at,
                seen: need.seen as usize,
                times: 0,
                recalled: true,
            });
            loss.times += 1;
            loss.recalled &= recalled;
        }
    }

    /// For each missing name, whether one search over the log brings it back. The search is made from the newest text,
    /// among the names that left the context.
    fn back(&mut self, upto: usize, missing: &[recording::NeededName]) -> Vec<bool> {
        let Self { recording, lost_names, context, .. } = self;
        let events = &recording.log.events()[self.searched..upto];
        for (event, mentions) in events.iter().zip(&recording.mentions[self.searched..upto]) {
            let by = NameUser::of(&event.view);
            mentions.ids.iter().for_each(|id| lost_names.add_known(event.seq, by, *id));
        }
        self.searched = upto;
        let back = lost_names.best(&newest(recording, upto), BACK, |id, _| context.ids.has(id));
        missing.iter().map(|need| back.contains(&recording.ids.text(need.id))).collect()
    }

    /// Counts the files that calls used before the newest fold, and the files that this request's answer reads again.
    fn measure_artifacts(&mut self, at: usize) {
        let Some(fold) = self.result.folds.last() else { return };
        let recording = self.recording;
        let measures = &mut self.result.measures;
        for (path, modified) in &self.artifacts {
            let written = self.context.writes.has(*path);
            if *modified {
                measures.modified.take(written);
            } else {
                measures.read.take(written || self.context.reads.has(*path));
            }
        }
        let uses = &recording.uses;
        let from = uses.partition_point(|used| used.event < at);
        let again = uses[from..].iter().take_while(|used| used.event == at);
        for earlier in again.filter_map(|read| uses.get(read.before?)) {
            // The result of the earlier read counts, not its call.
            let got = u32::try_from(earlier.answer.unwrap_or(earlier.event));
            let is_gone = got.is_ok_and(|event| !self.context.events.has(event));
            measures.rereads += u64::from(earlier.event < fold.at && is_gone);
        }
    }

    fn finish(mut self) -> ReplayResult {
        let mut losses: Vec<LostIdentifier> = self.losses.into_values().collect();
        losses.sort_by(|a, b| b.times.cmp(&a.times).then(a.at.cmp(&b.at)).then(a.id.cmp(&b.id)));
        self.result.losses = losses;
        let measures = &mut self.result.measures;
        for usage in self.recording.log.events().iter().filter_map(|event| event.usage) {
            measures.usages += 1;
            measures.usage.prompt += usage.prompt;
            measures.usage.output += usage.output;
            measures.usage.cache_read += usage.cache_read;
            measures.usage.cache_write += usage.cache_write;
        }
        self.result
    }
}

/// The newest user and tool text of a history, from which a search may be made.
fn newest(recording: &Recording, at: usize) -> String {
    let events = &recording.log.events()[..at];
    let results = events.iter().rev().take_while(|event| event.view.role != Role::Assistant);
    let user = events.iter().rev().find(|event| event.view.is_real_user());
    let mut texts: Vec<String> =
        results.map(|event| recording.text(&event.bytes, &event.view)).collect();
    if let Some(user) = user {
        texts.push(recording.text(&user.bytes, &user.view));
    }
    texts.join("\n")
}
