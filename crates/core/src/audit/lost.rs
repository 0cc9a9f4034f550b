//! The contents that a fold lost, in the order of weight: words of people first, then things that can be read again.

use std::ops::Range;

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::fold::Fold;
use crate::log::EventLog;
use crate::recap::deed::{CallEnding, Deed, DeedKind, Speaker};
use crate::recap::escape::neutralise;
use crate::recap::gather::{GatheredFacts, LogReading};
use crate::recap::print;
use crate::salient::shorten;
use crate::tools::ToolTable;

/// The most items that are listed per kind; names are limited by the fold's record.
const LISTED: usize = 20;
/// The most characters of an item.
const CHARS: usize = 400;
/// If the recap contains this many characters of a sentence's beginning, the sentence counts as kept.
const BEGINNING: usize = 60;

/// The kinds of content that a fold can lose. The order is that of their weight, heaviest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LostKind {
    /// Words of the user, which nobody can look up elsewhere.
    Said,
    /// Answers and decisions of the assistant.
    Decided,
    /// Failures, with their errors.
    Failed,
    /// Files and values that the user or the assistant used again after the fold.
    Used,
    /// Other names: paths, ids, symbols.
    Name,
}

impl LostKind {
    /// All kinds, heaviest first.
    pub const ALL: [Self; 5] = [Self::Said, Self::Decided, Self::Failed, Self::Used, Self::Name];

    /// The kind in words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Said => "what the user said",
            Self::Decided => "what the agent answered and decided",
            Self::Failed => "what failed",
            Self::Used => "files and values that were used again",
            Self::Name => "other names",
        }
    }

    /// The kind of a deed; `None` for deeds whose loss does not count.
    fn of(deed: &Deed) -> Option<Self> {
        match &deed.kind {
            DeedKind::Words(Speaker::User | Speaker::Application) => Some(Self::Said),
            DeedKind::Words(_) => Some(Self::Decided),
            DeedKind::Change(_) => None,
            DeedKind::Call(call) => match call.ending {
                CallEnding::Rejected => Some(Self::Said),
                CallEnding::Failed | CallEnding::Stopped => Some(Self::Failed),
                CallEnding::Shown | CallEnding::Ended | CallEnding::Settled(_) => None,
            },
        }
    }
}

/// An item that the context no longer has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostItem {
    /// The words, the error or the name; shortened where it is long.
    pub text: String,
    /// The number of the message that says it; for the kind `used`, of the first message that used the name again. Null
    /// for the kind `name`.
    pub seq: Option<u32>,
}

/// The losses of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostGroup {
    /// The kind.
    pub kind: LostKind,
    /// A heading for the kind, for people.
    pub title: &'static str,
    /// The number of losses of this kind.
    pub count: u32,
    /// Some of them: the newest words and errors, the names that matter most.
    pub first: Vec<LostItem>,
}

impl Fold {
    /// The contents of covered messages that the recap lacks, by kind and heaviest first. Kinds without a loss are left
    /// out. Content that a message in the context repeats is counted all the same.
    #[must_use]
    pub fn lost_groups(&self, log: &EventLog, tools: &ToolTable) -> Vec<LostGroup> {
        let runs = self.covered_runs();
        let gathered = GatheredFacts::over(None, log.events(), &runs, LogReading::of(log, tools));
        let words = ContextWords::of(self);
        let mut groups: Vec<LostGroup> = LostKind::ALL.map(LostGroup::empty).into();
        // The newest first, because only the first ones of each kind are listed.
        for deed in gathered.deeds.iter().rev() {
            let Some(kind) = LostKind::of(deed) else { continue };
            if let Some(text) = words.untold(deed) {
                groups[kind as usize].add(LostItem { text, seq: Some(deed.message) });
            }
        }
        let used = self.references(log.events());
        let again: FxHashSet<&str> = used.iter().map(|one| &*one.name).collect();
        for one in &used {
            let (text, seq) = (one.name.clone(), Some(one.seq));
            groups[LostKind::Used as usize].add(LostItem { text, seq });
        }
        let names = &mut groups[LostKind::Name as usize];
        let rest = self.lost_ids.first.iter().filter(|name| !again.contains(&***name));
        names.first = rest.map(|name| LostItem { text: name.clone(), seq: None }).collect();
        names.count = self.lost_ids.count.saturating_sub(used.len().try_into().unwrap_or(u32::MAX));
        groups.retain(|group| group.count > 0);
        groups
    }

    /// The runs of events that a recap or a marker replaces.
    fn covered_runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for seq in self.covered() {
            let seq = seq as usize;
            match runs.last_mut() {
                Some(run) if run.end == seq => run.end += 1,
                _ => runs.push(seq..seq + 1),
            }
        }
        runs
    }
}

impl LostGroup {
    fn empty(kind: LostKind) -> Self {
        Self { kind, title: kind.title(), count: 0, first: Vec::new() }
    }

    fn add(&mut self, item: LostItem) {
        self.count += 1;
        if self.first.len() < LISTED {
            self.first.push(item);
        }
    }
}

/// The text in the context that replaces the covered messages.
struct ContextWords<'a>(&'a str);

impl<'a> ContextWords<'a> {
    fn of(fold: &'a Fold) -> Self {
        Self(fold.recap.as_ref().map_or("", |recap| &recap.text))
    }

    /// The part of a deed that the recap lacks; `None` where it has all of it. Output does not count.
    fn untold(&self, deed: &Deed) -> Option<String> {
        let counts = deed.parts.iter().enumerate().filter(|(_, part)| !part.kind.is_shown());
        let untold = counts.filter(|(_, part)| !self.says(&part.text));
        let untold: Vec<usize> = untold.map(|(at, _)| at).collect();
        let is_bare = deed.parts.is_empty() && !self.says(&print::bare(deed, &[]));
        (!untold.is_empty() || is_bare).then(|| shorten(&print::bare(deed, &untold), CHARS))
    }

    fn says(&self, text: &str) -> bool {
        let text = neutralise(text);
        let end = text.char_indices().nth(BEGINNING).map_or(text.len(), |(at, _)| at);
        self.0.contains(&text[..end])
    }
}
