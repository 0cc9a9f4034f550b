//! Explains whether the model saw a text at some moment. If not: when did it leave the context, by which rule, does the
//! recap still name it, can recall return it, and was it used again?
//!
//! Compaction is lossy. When an agent "forgot" something, this shows from log, folds and ledger whether it was folded
//! away, or whether the model just did not use it.

mod answer;
mod find;
mod newest;
mod render;

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::codes::StandIn;
use crate::event::Hash;
use crate::fold::{Fold, FoldEntry};
use crate::ids::identifiers;
use crate::ledger::CallRecord;
use crate::log::{Event, EventLog};
use crate::piece::PieceFate;
use crate::project::{Context, project};
use crate::redact::KnownSecrets;
use crate::view::Role;

pub use answer::{
    AskedAgain, ContextReader, Explanation, FoldRef, NearMessage, Occurrence, Sight, SightAnswer,
    TextUse, VerbatimPlace, WhenLeft,
};
use find::SearchText;
pub use find::event_number;
use newest::NewestEvents;

/// The most messages that are named where no message has the text.
const NEAR: usize = 3;

/// The moment that a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedMoment {
    /// The call with this number.
    Call(u64),
    /// The same, in a session whose client sends its own history: what is behind the newest answer of a request is
    /// appended with the next one, and was in the prompt all the same.
    ClientCall(u64),
    /// The present context, read through the active fold.
    Now(Option<Hash>),
}

/// Answers for one moment. `folds` is all folds of the session in order, undone ones included; `calls` is its ledger.
///
/// The text is searched as whole words, and inside words where the log has no such word; where it is in no message, with
/// letters in either case. `@12` asks about the whole message with that number; the recap has it where a line begins with
/// the number.
///
/// # Errors
/// When the text is empty, there is no such call or message, or a fold that the call needs is missing.
pub fn explain(
    log: &EventLog,
    folds: &[Fold],
    calls: &[CallRecord],
    text: &str,
    moment: AskedMoment,
) -> Result<Explanation, ExplainError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ExplainError::Empty);
    }
    let of = |number: u64| {
        let call_record = calls.iter().find(|call| call.number == number);
        call_record.ok_or(ExplainError::NoCall { number, count: calls.len() as u64 })
    };
    let (call, newest, active) = match moment {
        AskedMoment::Now(active) => (None, NewestEvents::none(log.len()), active),
        AskedMoment::Call(number) => {
            let call = of(number)?;
            (Some(number), NewestEvents::none(call.events as usize), call.fold)
        }
        AskedMoment::ClientCall(number) => {
            let call = of(number)?;
            (Some(number), NewestEvents::of(log, call), call.fold)
        }
    };
    let chain = chain(folds, active)?;
    let needle = SearchText::new(log, text);
    if let Some(seq) = needle.missing_event() {
        return Err(ExplainError::NoEvent { seq, count: log.len() as u64 });
    }
    let secrets = KnownSecrets::of(log.events());
    let question = TextQuestion { log, chain: &chain, newest, needle, secrets };
    Ok(question.answer(text, call))
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExplainError {
    /// The text is empty.
    #[error("give the text to look for")]
    Empty,
    /// No call has this number.
    #[error("there is no call {number}: {}", match count { 0 => "there is none yet".to_owned(), count => format!("they are numbered from 1 to {count}") })]
    NoCall {
        /// The number that was asked for.
        number: u64,
        /// How many calls there are.
        count: u64,
    },
    /// No message has this number, and no text says it.
    #[error("there is no message {seq}: {}", match count { 0 => "there is none yet".to_owned(), count => format!("the last one is {}", count - 1) })]
    NoEvent {
        /// The number that was asked for.
        seq: u64,
        /// How many messages there are.
        count: u64,
    },
    /// A fold of the chain is missing.
    #[error("the fold {0:?} is not among the folds of the session")]
    NoFold(Hash),
}

/// The active fold and those it builds on, oldest first, with their numbers.
fn chain(folds: &[Fold], active: Option<Hash>) -> Result<Vec<(FoldRef, &Fold)>, ExplainError> {
    let (mut chain, mut next) = (Vec::new(), active);
    while let Some(id) = next {
        let at = folds.iter().rposition(|fold| fold.id == id).ok_or(ExplainError::NoFold(id))?;
        let fold = &folds[at];
        // A chain longer than the list of folds has a cycle.
        if chain.len() > folds.len() {
            return Err(ExplainError::NoFold(id));
        }
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        chain.push((FoldRef { number, id, events: fold.accounts.events }, fold));
        next = fold.prev;
    }
    chain.reverse();
    Ok(chain)
}

/// Who wrote the event. Some dialects put results into the user's role.
fn speaker(event: &Event) -> Role {
    if event.view.has_results() { Role::Tool } else { event.view.role }
}

struct TextQuestion<'a> {
    log: &'a EventLog,
    chain: &'a [(FoldRef, &'a Fold)],
    newest: NewestEvents,
    needle: SearchText,
    secrets: KnownSecrets,
}

impl TextQuestion<'_> {
    fn answer(&self, text: &str, call: Option<u64>) -> Explanation {
        let matching: Vec<&Event> =
            self.log.events().iter().filter(|event| self.needle.is_of(event)).collect();
        let context = self.context();
        let recap = self.active().and_then(|fold| fold.recap.as_ref());
        let in_recap = recap.is_some_and(|recap| self.needle.is_in_recap(&recap.text));
        let mut occurrences: Vec<_> = matching
            .iter()
            .map(|event| self.occurrence(event, &matching, &context, in_recap))
            .collect();
        // What proves the answer comes first; of equals, the older one.
        occurrences.sort_by_key(|occurrence| Reverse(worth(&occurrence.sight)));
        let best = occurrences.first().map(|occurrence| worth(&occurrence.sight));
        let answer = match best.unwrap_or(SightAnswer::NeverSaid) {
            // The recap may repeat what an earlier recap covered, or name it in lines that were put back.
            SightAnswer::Gone | SightAnswer::NeverSaid if in_recap => SightAnswer::InRecap,
            best => best,
        };
        let is_gone = answer == SightAnswer::Gone;
        let near = if matching.is_empty() { self.near(text) } else { Vec::new() };
        let explanation = Explanation {
            text: text.to_owned(),
            call,
            events: u32::try_from(self.newest.end).unwrap_or(u32::MAX),
            fold: self.chain.last().map(|(name, _)| name.clone()),
            answer,
            reader: ContextReader::Midfold,
            verdict: String::new(),
            lost_with: if is_gone { self.lost_with(&matching) } else { None },
            in_recap,
            asked_again: self.asked_again(text),
            occurrences,
            near,
        };
        explanation.read_by(ContextReader::Midfold)
    }

    /// The newest events with most of the words, each of them a part of a word at least.
    fn near(&self, text: &str) -> Vec<NearMessage> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let events = &self.log.events()[..self.newest.end.min(self.log.len())];
        let score = |event: &Event| {
            let text = event.text().to_lowercase();
            words.iter().filter(|word| text.contains(word.as_str())).count()
        };
        let scored: Vec<(usize, &Event)> =
            events.iter().map(|event| (score(event), event)).collect();
        let best = scored.iter().map(|(score, _)| *score).max().unwrap_or(0);
        // Fewer than half of the words are in nearly every message.
        if best == 0 || best * 2 < words.len() {
            return Vec::new();
        }
        let nearest = scored.iter().rev().filter(|(score, _)| *score == best).take(NEAR);
        let near = |(_, event): &(usize, &Event)| {
            let snippet = find::line_with(&event.text(), &words, &self.secrets);
            NearMessage { seq: event.seq, role: speaker(event), snippet }
        };
        nearest.map(near).collect()
    }

    /// The names in the text that a fold lost and that later events used again.
    fn asked_again(&self, text: &str) -> Vec<AskedAgain> {
        let names: FxHashSet<&str> = identifiers(text).chain([text]).collect();
        let later = &self.log.events()[..self.newest.end.min(self.log.len())];
        let of = |(fold, record): &(FoldRef, &Fold)| {
            let references = record.references(later).into_iter();
            let references = references.filter(|reference| names.contains(reference.name.as_str()));
            references
                .map(|reference| AskedAgain { fold: fold.clone(), reference })
                .collect::<Vec<_>>()
        };
        self.chain.iter().flat_map(of).collect()
    }

    fn active(&self) -> Option<&Fold> {
        self.chain.last().map(|(_, fold)| *fold)
    }

    /// The context of the moment: the log of that time, read through the fold of that time.
    fn context(&self) -> Context {
        if self.newest.end >= self.log.len() {
            return project(self.log, self.active());
        }
        project(&self.log.prefix(self.newest.end), self.active())
    }

    fn occurrence(
        &self,
        event: &Event,
        matching: &[&Event],
        context: &Context,
        in_recap: bool,
    ) -> Occurrence {
        let there = (event.seq as usize) < self.newest.end;
        let loss = self.loss_of(event);
        let by_people = |later: &&&Event| {
            later.seq > event.seq
                && !later.view.has_results()
                && matches!(later.view.role, Role::Assistant | Role::User)
        };
        let used = matching.iter().find(by_people).map(|later| TextUse {
            seq: later.seq,
            by: later.view.role,
            after_left: loss.as_ref().is_some_and(|loss| later.seq >= loss.fold.events),
        });
        Occurrence {
            seq: event.seq,
            role: speaker(event),
            snippet: self.needle.snippet(&event.text(), &self.secrets),
            sight: if there { self.sight(event, context, in_recap) } else { Sight::NotYet },
            left: loss.filter(|_| there),
            recall: there,
            used,
        }
    }

    /// The form in which the model saw an event of its context.
    fn sight(&self, event: &Event, context: &Context, in_recap: bool) -> Sight {
        let of_event = |fate: PieceFate| match fate {
            PieceFate::Verbatim(seq) | PieceFate::Edited(seq) | PieceFate::Repaired(seq, _) => {
                seq == event.seq
            }
            _ => false,
        };
        let Some(piece) = context.pieces().find(|piece| of_event(piece.fate)) else {
            let is_behind = |fold: &Fold| fold.marker_from().is_some_and(|from| event.seq >= from);
            return match self.active() {
                Some(fold) if is_behind(fold) => Sight::Marker,
                _ => Sight::Recap { named: in_recap },
            };
        };
        let is_named = |bytes: &[u8]| {
            let view = self.log.dialect().view(bytes);
            self.needle.is_in(&view.plain(bytes))
        };
        if let Some(cut) = self.newest.cut(event.seq) {
            return Sight::Cut { named: is_named(cut) };
        }
        let named = is_named(&piece.bytes);
        match piece.fate {
            PieceFate::Repaired(_, why) => Sight::Repaired { named, why },
            PieceFate::Edited(_) => {
                let (reducer, reason) = self.active().map_or_else(
                    || (String::new(), String::new()),
                    |fold| edit_of(fold, event.seq),
                );
                Sight::Edited { named, reducer, reason }
            }
            _ => Sight::Verbatim { place: self.place(event.seq) },
        }
    }

    fn place(&self, seq: u32) -> VerbatimPlace {
        let Some(fold) = self.active() else { return VerbatimPlace::Tail };
        if seq < fold.span.start {
            VerbatimPlace::Head
        } else if seq >= fold.span.end {
            VerbatimPlace::Tail
        } else if fold.layout.pinned.contains(&seq) || fold.layout.carried_user == Some(seq) {
            VerbatimPlace::Pinned
        } else if seq >= fold.layout.tail.start {
            VerbatimPlace::Tail
        } else {
            VerbatimPlace::Kept
        }
    }

    /// The fold since which the event has not shown the text; `None` while it shows it.
    fn loss_of(&self, event: &Event) -> Option<WhenLeft> {
        let mut loss = None;
        for (name, fold) in self.chain {
            let rule = self.rule(fold, event);
            loss = match (loss, rule) {
                // The text came back with this fold, so an earlier loss does not count.
                (_, None) => None,
                (Some(first), Some(_)) => Some(first),
                (None, Some((rule, reason))) => Some(WhenLeft { fold: name.clone(), rule, reason }),
            };
        }
        loss
    }

    /// The rule and reason by which the event lacks the text under this fold; `None` where it has it.
    fn rule(&self, fold: &Fold, event: &Event) -> Option<(String, String)> {
        if event.seq < fold.span.start || event.seq >= fold.span.end {
            return None;
        }
        for entry in &fold.entries {
            match entry {
                FoldEntry::Verbatim { from, to } if (*from..*to).contains(&event.seq) => {
                    return None;
                }
                FoldEntry::Edited { seq, bytes } if *seq == event.seq => {
                    let view = self.log.dialect().view(bytes.as_bytes());
                    let named = self.needle.is_in(&view.plain(bytes.as_bytes()));
                    return (!named).then(|| edit_of(fold, event.seq));
                }
                _ => {}
            }
        }
        if fold.marker_from().is_some_and(|from| event.seq >= from) {
            return Some(("marker".to_owned(), "says nothing of it".to_owned()));
        }
        let origin = match (&fold.narrated, &fold.fallback) {
            (Some(_), _) => "written by a model",
            (None, Some(StandIn::Computed)) => "computed from the messages",
            (None, Some(StandIn::Marker | StandIn::Static)) => "a fixed text",
            (None, Some(StandIn::Host)) => "written by the host",
            (None, None) => "without a text",
        };
        Some(("recap".to_owned(), origin.to_owned()))
    }

    /// The fold since which neither an event nor the recap names the text.
    fn lost_with(&self, matching: &[&Event]) -> Option<FoldRef> {
        let mut loss: Option<&FoldRef> = None;
        for (name, fold) in self.chain {
            let there = matching.iter().filter(|event| event.seq < name.events);
            let is_said = there.clone().next().is_some();
            let carried = there.clone().any(|event| self.rule(fold, event).is_none());
            let recap = fold.recap.as_ref();
            let named = recap.is_some_and(|recap| self.needle.is_in_recap(&recap.text));
            loss = if carried || named || !is_said { None } else { loss.or(Some(name)) };
        }
        loss.cloned()
    }
}

fn worth(sight: &Sight) -> SightAnswer {
    match sight {
        Sight::NotYet => SightAnswer::NotYet,
        Sight::Verbatim { .. } | Sight::Transcript => SightAnswer::Verbatim,
        Sight::Edited { named: true, .. }
        | Sight::Repaired { named: true, .. }
        | Sight::Cut { named: true } => SightAnswer::Edited,
        Sight::Recap { named: true } => SightAnswer::InRecap,
        _ => SightAnswer::Gone,
    }
}

/// Reducer and reason of an event's edit; of several edits, the one that freed most tokens.
fn edit_of(fold: &Fold, seq: u32) -> (String, String) {
    let edits = fold.edits.iter().filter(|edit| edit.seq == seq);
    edits
        .max_by_key(|edit| edit.tokens_before.saturating_sub(edit.tokens_after))
        .map_or_else(Default::default, |edit| (edit.reducer.to_string(), edit.reason.clone()))
}
