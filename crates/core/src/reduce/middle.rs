//! The middle: the part of a conversation that reducers can edit.

use std::borrow::Cow;
use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use crate::budget::TierName;
use crate::calls::{CallIndex, CallSite, tool_of};
use crate::counter::{Counter, TextKind};
use crate::log::{Event, content_of};
use crate::policy::ReducerName;
use crate::redact::KnownSecrets;
use crate::tools::{CallFacts, CallResult, ToolTable};
use crate::view::{BlockKind, BlockView, TextCoding};

pub use crate::edit::BlockChange;

/// A block that may be edited. Only a [`Middle`] makes these, so a reducer cannot reach other blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockRef {
    event: u32,
    block: u32,
}

/// An edit of one block, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MiddleEdit {
    /// The change.
    pub change: BlockChange,
    /// The reducer that made it.
    pub reducer: ReducerName,
    /// Its reason code.
    pub reason: &'static str,
    /// Tokens of the block before.
    pub tokens_before: u32,
    /// Tokens of the block after.
    pub tokens_after: u32,
}

/// A tool result, with its place in the middle.
#[derive(Clone, Debug)]
pub struct ResultRef<'a> {
    /// The result's block; `None` where it may not be edited (it lies in the tail or is pinned).
    pub block: Option<BlockRef>,
    /// The event that holds it.
    pub event: &'a Event,
    /// The block itself.
    pub view: &'a BlockView,
    /// Assistant messages after the result.
    pub steps_after: u32,
    /// Real user messages after the result.
    pub turns_after: u32,
}

impl ResultRef<'_> {
    /// The error flag of the result; `None` where it has none.
    pub(super) fn error_flag(&self) -> Option<bool> {
        match self.view.kind {
            BlockKind::Result { error, .. } => error,
            _ => None,
        }
    }

    /// How the call ended, read from the result before any edit. `facts` are those of the call.
    pub(super) fn outcome(&self, facts: &CallFacts, tools: &ToolTable) -> CallResult {
        tools.outcome(facts, &self.view.text(&self.event.bytes), self.error_flag())
    }

    /// Whether its text has fewer than `chars` characters.
    pub(super) fn is_shorter_than(&self, chars: usize) -> bool {
        // A text has at most as many characters as its JSON has bytes, so most short ones need no decoding.
        let bytes = self.view.body.token.of(&self.event.bytes).len();
        bytes < chars || self.view.text(&self.event.bytes).chars().take(chars).count() < chars
    }
}

/// The middle of a conversation: closed, unpinned events that may be edited, and read access to the events after them.
pub struct Middle<'a> {
    events: &'a [Event],
    first: usize,
    end: usize,
    editable: Vec<bool>,
    edits: FxHashMap<BlockRef, MiddleEdit>,
    tokens: u64,
    counter: &'a dyn Counter,
    /// The last replacement with its tokens: a cache of one entry, because stubs are often equal.
    counted: Option<(String, TextKind, u32)>,
    results: Vec<ResultRef<'a>>,
    tools: &'a ToolTable,
    /// The pairs of calls and results, once a rule needs them.
    calls: OnceCell<CallIndex<'a>>,
}

impl<'a> Middle<'a> {
    /// The middle `range` of `events`. `editable` says for each of its events whether it is closed and unpinned.
    pub(crate) fn new(
        events: &'a [Event],
        range: std::ops::Range<usize>,
        editable: Vec<bool>,
        counter: &'a dyn Counter,
        tools: &'a ToolTable,
    ) -> Self {
        let tokens = events[range.clone()].iter().map(|e| u64::from(e.tokens.total)).sum();
        let mut middle = Self {
            events,
            first: range.start,
            end: range.end,
            editable,
            edits: FxHashMap::default(),
            tokens,
            counter,
            counted: None,
            results: Vec::new(),
            tools,
            calls: OnceCell::new(),
        };
        middle.results = middle.find_results();
        middle
    }

    /// Tokens of the middle with all edits so far.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Whether anything was edited.
    #[must_use]
    pub fn has_edits(&self) -> bool {
        !self.edits.is_empty()
    }

    /// Tokens of one event with all edits so far.
    #[must_use]
    pub fn tokens_of(&self, event: usize) -> u64 {
        let saved = |block: usize| {
            let at = BlockRef { event: event as u32, block: block as u32 };
            self.edits.get(&at).map_or(0, |e| e.tokens_before.saturating_sub(e.tokens_after))
        };
        let event = &self.events[event];
        let saved: u32 = (0..event.view.blocks.len()).map(saved).sum();
        u64::from(event.tokens.total.saturating_sub(saved))
    }

    /// Tokens of one block before any edit.
    #[must_use]
    pub fn tokens_at(&self, at: BlockRef) -> u64 {
        let (event, _) = self.at(at);
        event.tokens.blocks.get(at.block as usize).copied().map_or(0, u64::from)
    }

    /// Tokens of a class of content in the whole conversation, with all edits so far.
    #[must_use]
    pub fn context_tokens(&self, tier: TierName) -> u64 {
        let all = self.events.iter().map(|event| tier.tokens(event)).sum::<u64>();
        let saved = self.edits.iter().filter(|(at, _)| {
            let (event, block) = self.at(**at);
            TierName::of(event, block) == Some(tier)
        });
        let saved = saved.map(|(_, e)| u64::from(e.tokens_before.saturating_sub(e.tokens_after)));
        all.saturating_sub(saved.sum())
    }

    /// The events after the middle.
    pub fn after(&self) -> impl Iterator<Item = &'a Event> + use<'a> {
        self.events[self.end..].iter()
    }

    /// The turn of the newest event.
    #[must_use]
    pub fn newest_turn(&self) -> u32 {
        self.events.last().map_or(0, |event| event.turn)
    }

    /// The blocks that may be edited, oldest first.
    pub fn blocks(
        &self,
    ) -> impl Iterator<Item = (BlockRef, &'a Event, &'a BlockView)> + use<'a, '_> {
        let events = self.events;
        (self.first..self.end).filter(|at| self.editable[at - self.first]).flat_map(move |at| {
            let event = &events[at];
            let blocks = event.view.blocks.iter().enumerate();
            // A call without arguments or a result without content has nothing to edit.
            blocks.filter(|(_, block)| !block.body.token.is_empty()).map(move |(index, block)| {
                (BlockRef { event: at as u32, block: index as u32 }, event, block)
            })
        })
    }

    /// All results from the start of the middle to the end of the log, oldest first. Those that may not be edited have
    /// no [`BlockRef`].
    #[must_use]
    pub fn results(&self) -> &[ResultRef<'a>] {
        &self.results
    }

    /// The name of the tool that the result at this index came from; empty where it is not known.
    #[must_use]
    pub fn tool(&self, index: usize) -> Cow<'a, str> {
        let Some(result) = self.results.get(index) else { return Cow::Borrowed("") };
        tool_of(self.call(index).as_ref(), result.event, result.view)
    }

    /// The facts of the call behind the result at this index. They are read from its arguments at each call of this
    /// function.
    #[must_use]
    pub fn facts(&self, index: usize) -> CallFacts {
        self.call(index).map(|call| call.facts(self.tools)).unwrap_or_default()
    }

    /// The call of the result at this index. Calls and results are paired at the first use.
    fn call(&self, index: usize) -> Option<CallSite<'a>> {
        let range = self.first..self.events.len();
        let calls = self.calls.get_or_init(|| CallIndex::find(self.events, range));
        calls.results.get(index).and_then(|site| calls.call_of(site))
    }

    /// The results that may be edited and were not edited yet, each with its index into [`Middle::results`].
    #[must_use]
    pub fn open_results(&self) -> Vec<(BlockRef, usize)> {
        let open = |(index, result): (usize, &ResultRef<'_>)| Some((result.block?, index));
        let untouched = |(block, _): &(BlockRef, usize)| !self.edits.contains_key(block);
        self.results.iter().enumerate().filter_map(open).filter(untouched).collect()
    }

    /// The text of a block with its edit, if it has one.
    #[must_use]
    pub fn text(&self, at: BlockRef) -> String {
        match self.edits.get(&at).map(|edited| &edited.change) {
            Some(BlockChange::Replace(text)) => text.clone(),
            Some(BlockChange::Remove) => String::new(),
            None => {
                let event = &self.events[at.event as usize];
                event.view.blocks[at.block as usize].text(&event.bytes).into_owned()
            }
        }
    }

    /// Whether a reducer edited this block already.
    #[must_use]
    pub fn is_edited(&self, at: BlockRef) -> bool {
        self.edits.contains_key(&at)
    }

    /// Replaces the text of a block; secrets in the new text are replaced, too. Returns false and does nothing if the
    /// new text would not have fewer tokens than the block has now.
    pub fn replace(
        &mut self,
        at: BlockRef,
        text: String,
        reducer: ReducerName,
        reason: &'static str,
    ) -> bool {
        // Equal text would seem to free tokens, since the block's count includes the name of its call.
        if self.text(at) == text {
            return false;
        }
        let (event, block) = self.at(at);
        let text = match KnownSecrets::default().text(&block.kind, &text) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => text,
        };
        let tokens = self.count(&text, content_of(event.view.role, &block.kind));
        self.change(at, BlockChange::Replace(text), tokens, reducer, reason)
    }

    /// Tokens of a text in the place of this block's.
    pub(super) fn tokens_as(&self, at: BlockRef, text: &str) -> u64 {
        let (event, block) = self.at(at);
        u64::from(self.counter.count(text, content_of(event.view.role, &block.kind)))
    }

    /// How the text of a call is written where this block is a call.
    pub(super) fn call_coding(&self, at: BlockRef) -> Option<TextCoding> {
        let (_, block) = self.at(at);
        block.is_call().then_some(block.body.coding)
    }

    /// Tokens of a replacement.
    fn count(&mut self, text: &str, content: TextKind) -> u32 {
        match &self.counted {
            Some((last, kind, tokens)) if last == text && *kind == content => *tokens,
            _ => {
                let tokens = self.counter.count(text, content);
                self.counted = Some((text.to_owned(), content, tokens));
                tokens
            }
        }
    }

    /// Cuts a block out. Returns false and does nothing for the last block of a message, because a message must not be
    /// empty.
    pub fn remove(&mut self, at: BlockRef, reducer: ReducerName, reason: &'static str) -> bool {
        let (event, _) = self.at(at);
        let others = (0..event.view.blocks.len() as u32).filter(|block| *block != at.block);
        let remaining = others
            .filter(|block| {
                let other = BlockRef { event: at.event, block: *block };
                self.edits.get(&other).is_none_or(|edited| edited.change != BlockChange::Remove)
            })
            .count();
        remaining > 0 && self.change(at, BlockChange::Remove, 0, reducer, reason)
    }

    fn at(&self, at: BlockRef) -> (&'a Event, &'a BlockView) {
        let event = &self.events[at.event as usize];
        (event, &event.view.blocks[at.block as usize])
    }

    /// Records an edit, unless it frees nothing.
    fn change(
        &mut self,
        at: BlockRef,
        change: BlockChange,
        tokens_after: u32,
        reducer: ReducerName,
        reason: &'static str,
    ) -> bool {
        let (event, _) = self.at(at);
        let original = event.tokens.blocks.get(at.block as usize).copied().unwrap_or(0);
        let now = self.edits.get(&at).map_or(original, |edited| edited.tokens_after);
        if tokens_after >= now {
            return false;
        }
        self.tokens = self.tokens.saturating_sub(u64::from(now - tokens_after));
        // An edit of an edited block replaces the first one, so it is measured from the original.
        let edited = MiddleEdit { change, reducer, reason, tokens_before: original, tokens_after };
        self.edits.insert(at, edited);
        true
    }

    /// The edits by event, ordered by block.
    pub(crate) fn into_edits(self) -> FxHashMap<usize, Vec<(usize, MiddleEdit)>> {
        let mut by_event: FxHashMap<usize, Vec<(usize, MiddleEdit)>> = FxHashMap::default();
        for (at, edited) in self.edits {
            by_event.entry(at.event as usize).or_default().push((at.block as usize, edited));
        }
        for edits in by_event.values_mut() {
            // The hash map has no order, and equal plans must have equal records.
            edits.sort_by_key(|(block, _)| *block);
        }
        by_event
    }

    /// All results from the start of the middle on, with their distance from the end of the log.
    fn find_results(&self) -> Vec<ResultRef<'a>> {
        let events = self.events;
        let (last_step, last_turn) = events.last().map_or((0, 0), |last| (last.step, last.turn));
        let mut refs = Vec::new();
        for (at, event) in events.iter().enumerate().skip(self.first) {
            let editable = at < self.end && self.editable[at - self.first];
            let results = event.view.blocks.iter().enumerate().filter(|(_, b)| b.is_result());
            refs.extend(results.map(|(index, view)| {
                ResultRef {
                    // A result without content has nothing to edit.
                    block: (editable && !view.body.token.is_empty())
                        .then_some(BlockRef { event: event.seq, block: index as u32 }),
                    event,
                    view,
                    steps_after: last_step - event.step,
                    turns_after: last_turn - event.turn,
                }
            }));
        }
        refs
    }
}
