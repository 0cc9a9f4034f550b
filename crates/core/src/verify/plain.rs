//! The checks of a compaction without a record: they use only the messages before and after it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{ProofChecker, ReadMessage, rule};
use crate::recap::read_line::number_in;
use crate::recap::{MARKER, NOTE_START};
use crate::repair::without_blank;
use crate::view::{BlockKind, Role};

/// The source of a message of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageSource {
    /// This message of the log, byte for byte.
    Exact(usize),
    /// This message of the log, edited.
    Edited(usize),
    /// This message of the log, in another form because the provider would refuse the original.
    Rendered(usize),
    /// A recap or a marker.
    StandIn,
    /// A message that a repair added.
    Added,
    /// None was found.
    Unknown,
}

impl MessageSource {
    /// The message of the log; `None` for the other sources.
    fn event(self) -> Option<usize> {
        match self {
            Self::Exact(at) | Self::Edited(at) | Self::Rendered(at) => Some(at),
            _ => None,
        }
    }
}

impl ProofChecker<'_> {
    /// Runs all checks that need no record.
    pub(super) fn check_without_record(&mut self) {
        let sources = self.check_sources();
        self.check_stand_ins(&sources);
        self.check_losses(&sources);
        self.check_ends(&sources);
    }

    /// Finds each message of the context in the log: the earliest position that keeps the order. An early position
    /// leaves the most positions for the messages that follow.
    fn check_sources(&mut self) -> Vec<MessageSource> {
        let mut places: FxHashMap<Vec<u8>, Vec<usize>> = FxHashMap::default();
        for (at, message) in self.before.iter().enumerate() {
            let name = blake3::hash(&message.bytes).as_bytes().to_vec();
            places.entry(name).or_default().push(at);
        }
        let mut next = 0;
        let mut sources = Vec::with_capacity(self.after.len());
        for at in 0..self.after.len() {
            let hash = blake3::hash(&self.after[at].bytes);
            let same = places.get(hash.as_bytes().as_slice());
            let ahead = same.and_then(|same| same.get(same.partition_point(|p| *p < next)));
            let source = match ahead {
                // Messages may be alike but for what an edit takes: then the edited one comes first.
                Some(exact) => {
                    self.edited_in(at, next..*exact).unwrap_or(MessageSource::Exact(*exact))
                }
                None => self.other_source(at, next, same.is_some()),
            };
            if let Some(event) = source.event() {
                next = event + 1;
            }
            sources.push(source);
        }
        sources
    }

    /// The source of a message that is not in the log unchanged from position `next` on. `is_behind` says that it is
    /// there unchanged before `next`.
    fn other_source(&mut self, at: usize, next: usize, is_behind: bool) -> MessageSource {
        let message = &self.after[at];
        if self.addition(message).is_some() {
            return MessageSource::Added;
        }
        // A message that the log has already is no new recap.
        if !is_behind && self.is_stand_in(at) {
            return MessageSource::StandIn;
        }
        if is_behind {
            if let Some(edited) = self.edited_in(at, next..self.before.len()) {
                return edited;
            }
            self.fail(rule::ORDER, Some(at), "stands earlier in the log, or once only".to_owned());
            return MessageSource::Unknown;
        }
        for (event, original) in self.before.iter().enumerate().skip(next) {
            if self.rendering(original, message).is_some() {
                return MessageSource::Rendered(event);
            }
            if self.is_edited(original, message) {
                return MessageSource::Edited(event);
            }
        }
        if self.is_edited_result_as_text(at) {
            return MessageSource::Added;
        }
        let detail = "no message of the log, nor an edited form of one".to_owned();
        self.fail(rule::IDENTITY, Some(at), detail);
        MessageSource::Unknown
    }

    /// The first message in this range of the log that the message of the context is an edited form of.
    fn edited_in(&self, at: usize, range: std::ops::Range<usize>) -> Option<MessageSource> {
        let mut range = range;
        let origin = range.find(|event| self.is_edited(&self.before[*event], &self.after[at]));
        origin.map(MessageSource::Edited)
    }

    /// Whether a message is an edited form of one of the log, as some reducer would make it, perhaps with blank
    /// reasoning on top.
    fn is_edited(&self, original: &ReadMessage<'_>, message: &ReadMessage<'_>) -> bool {
        let is_form = |form: &ReadMessage<'_>| {
            let changes = super::forms::changes(original, form);
            changes.is_some_and(|changes| self.is_usual(original, &changes))
        };
        let dialect = self.case.dialect;
        let bare = || without_blank(&message.bytes, dialect);
        is_form(message) || bare().is_some_and(|bare| is_form(&ReadMessage::new(dialect, &bare)))
    }

    /// Whether a message is a result that became text. If it was also edited first, only its label still shows that.
    fn is_edited_result_as_text(&self, at: usize) -> bool {
        let message = &self.after[at];
        message.view.role == Role::User && message.text().starts_with("[result of ")
    }

    /// Checks the recap or marker, that there is at most one, and that no new system message appears.
    fn check_stand_ins(&mut self, sources: &[MessageSource]) {
        let stand_ins: Vec<usize> =
            (0..sources.len()).filter(|at| sources[*at] == MessageSource::StandIn).collect();
        for at in &stand_ins {
            self.check_stand_in(*at);
        }
        self.expect(rule::AUTHORITY, stand_ins.len() <= 1, || {
            format!("{} new recaps or markers, at {stand_ins:?}", stand_ins.len())
        });
        for (at, source) in sources.iter().enumerate() {
            self.check(rule::IDENTITY);
            // A system message of the log may stay one in another form.
            let is_of_system = |event: &usize| self.before[*event].view.role.is_system();
            let is_known = match source {
                MessageSource::Exact(_) => true,
                MessageSource::Rendered(event) => is_of_system(event),
                _ => false,
            };
            if !is_known {
                self.check_no_new_system(at);
            }
        }
    }

    /// Checks that missing messages are covered: they come after the messages in front of a recap or marker, and where
    /// it is a computed recap, they are no more than it says.
    fn check_losses(&mut self, sources: &[MessageSource]) {
        let mut seen = vec![false; self.before.len()];
        for event in sources.iter().filter_map(|source| source.event()) {
            seen[event] = true;
        }
        let stand_in = sources.iter().position(|source| *source == MessageSource::StandIn);
        let covered_from = stand_in.map(|at| {
            sources[..at]
                .iter()
                .rev()
                .find_map(|source| source.event())
                .map_or(0, |event| event + 1)
        });
        if let Some((at, from)) = stand_in.zip(covered_from) {
            // A message of unknown source is reported as changed. The message of the log that it replaces must not be
            // counted as lost, too.
            let unknown =
                sources.iter().filter(|source| **source == MessageSource::Unknown).count();
            let missing = seen.iter().skip(from).filter(|is_kept| !**is_kept).count();
            let missing = missing.saturating_sub(unknown);
            self.check_covered(at, missing);
        }
        for (event, is_kept) in seen.into_iter().enumerate() {
            let fine = is_kept || covered_from.is_some_and(|from| event >= from);
            self.expect_at(rule::LOSS, fine, None, || {
                format!("message {event} of the log is gone, and no recap or marker covers it")
            });
        }
    }

    /// Checks that no more messages are missing than the recap says that it covers.
    fn check_covered(&mut self, at: usize, missing: usize) {
        let text = self.after[at].text();
        let Some((_, note)) = text.split_once(NOTE_START) else { return };
        let Some(stated) = number_in(note.lines().next().unwrap_or_default()) else { return };
        self.expect_at(rule::LOSS, missing <= stated as usize, Some(at), || {
            format!("{missing} messages of the log are gone, and the recap stands for {stated}")
        });
    }

    /// Checks that system prompt, first task and newest unit are there.
    fn check_ends(&mut self, sources: &[MessageSource]) {
        let mut place = vec![None; self.before.len()];
        for (at, source) in sources.iter().enumerate() {
            if let MessageSource::Exact(event) | MessageSource::Rendered(event) = source {
                place[*event] = Some(at);
            }
        }
        let leading = self.before.iter().take_while(|m| m.view.role.is_system()).count();
        for (event, place) in place.iter().enumerate().take(leading) {
            self.expect_at(rule::HEAD, place.is_some(), None, || {
                format!("message {event} of the log, a system message, is not verbatim")
            });
        }
        let first = sources.iter().position(|source| {
            source.event().is_none_or(|event| event >= leading) && *source != MessageSource::Added
        });
        // A policy may keep the system prompt alone; then a recap that covers the first task comes first. A marker does
        // not say how many messages it covers, so it does not count here.
        let marked = |at: usize| self.after[at].text().trim() == MARKER;
        let recap_first =
            first.is_some_and(|at| sources[at] == MessageSource::StandIn && !marked(at));
        if self.before.get(leading).is_some_and(|m| m.view.is_real_user()) && !recap_first {
            self.expect_at(rule::HEAD, place[leading].is_some(), None, || {
                format!(
                    "message {leading} of the log, the first task, is not verbatim; if the policy \
                     keeps the system prompt alone, give the record"
                )
            });
        }
        self.check_newest();
    }

    /// Checks that the context ends with the newest unit, as the log does.
    fn check_newest(&mut self) {
        for (event, at, is_there) in self.end_from(self.newest_unit()) {
            self.expect_at(rule::TAIL, is_there, Some(at), || {
                format!("message {event} of the log, in its newest unit, is not here")
            });
        }
    }

    /// Compares the ends of context and log. Returns each message of the log from `start` on, newest first: its index,
    /// its place in the context if both end alike, and whether it is there.
    fn end_from(&self, start: usize) -> Vec<(usize, usize, bool)> {
        let mut at = self.after.len();
        let mut places = Vec::new();
        for event in (start..self.before.len()).rev() {
            while at > 0
                && !self.is_at(event, at - 1)
                && self.addition(&self.after[at - 1]).is_some()
            {
                at -= 1;
            }
            let is_there = at > 0 && self.is_at(event, at - 1);
            at = at.saturating_sub(1);
            places.push((event, at, is_there));
        }
        places
    }

    /// Whether this message of the context is that of the log, verbatim or as a repair changes it.
    fn is_at(&self, event: usize, at: usize) -> bool {
        let (original, message) = (&self.before[event], &self.after[at]);
        original.bytes == message.bytes || self.rendering(original, message).is_some()
    }

    /// The start of the newest unit: the message with the call that the last results answer, or the last message.
    fn newest_unit(&self) -> usize {
        let results =
            self.before.iter().rev().take_while(|message| message.view.has_results()).count();
        let at = self.before.len() - results;
        match at.checked_sub(1) {
            Some(call) if results > 0 && self.before[call].view.has_calls() => call,
            Some(last) if results == 0 => last,
            _ => at,
        }
    }

    /// The start of the newest step, which may make its calls in several messages.
    fn newest_step(&self) -> usize {
        let start = self.newest_unit();
        let calls = self.before[..start].iter().rev();
        let of_step =
            |m: &&ReadMessage<'_>| m.view.role == Role::Assistant && !m.view.has_results();
        start - calls.take_while(of_step).count()
    }

    /// Checks that every result answers a call before it, and that only calls of the newest step are open.
    pub(super) fn check_pairs(&mut self) {
        let mut open: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        let mut wrong = Vec::new();
        let mut closed = 0;
        for (at, message) in self.after.iter().enumerate() {
            for block in &message.view.blocks {
                match &block.kind {
                    BlockKind::Call { id, .. } => {
                        let id = id.map(|id| id.decode(&message.bytes).into_owned());
                        open.entry(id.unwrap_or_default()).or_default().push(at);
                    }
                    BlockKind::Result { id, .. } => {
                        let id = id.map(|id| id.decode(&message.bytes).into_owned());
                        if !take(&mut open, &id.unwrap_or_default()) {
                            wrong.push((at, "a result without its call"));
                        }
                    }
                    _ => {}
                }
            }
            // Once the user has written, a call before that message waits no more.
            if message.view.role == Role::User && !message.view.has_results() {
                closed = at;
            }
        }
        let waiting: Vec<usize> = open.into_values().flatten().collect();
        if !waiting.is_empty() {
            let step = self.end_from(self.newest_step()).into_iter();
            let may_wait: FxHashSet<usize> =
                step.filter(|(_, _, is_there)| *is_there).map(|(_, at, _)| at).collect();
            let waiting = waiting.into_iter().filter(|at| *at < closed || !may_wait.contains(at));
            wrong.extend(waiting.map(|at| (at, "a call without its result")));
        }
        wrong.sort_unstable();
        self.check(rule::PAIRS);
        for (at, detail) in wrong {
            self.fail(rule::PAIRS, Some(at), detail.to_owned());
        }
    }
}

/// Closes the call that a result answers: by id, else by order where one of the two has no id. False where there is no
/// such call.
fn take(open: &mut FxHashMap<String, Vec<usize>>, id: &str) -> bool {
    if open.get_mut(id).is_some_and(|calls| calls.pop().is_some()) {
        return true;
    }
    if id.is_empty() {
        let oldest = open
            .values_mut()
            .filter(|calls| !calls.is_empty())
            .min_by_key(|calls| calls.first().copied());
        return oldest.is_some_and(|calls| {
            !calls.is_empty() && {
                calls.remove(0);
                true
            }
        });
    }
    open.get_mut("").is_some_and(|calls| calls.pop().is_some())
}
