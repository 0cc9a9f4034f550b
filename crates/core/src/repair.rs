//! Repairs: what a provider would reject in the log itself, made valid by extra pieces and
//! recorded edits. One state machine, fed piece by piece, so that a context which grows and one
//! which is built from scratch are the same.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use crate::counter::Counter;
use crate::dialect::Dialect;
use crate::edit::{self, Change};
use crate::log::measure;
pub use crate::piece::Repair;
use crate::piece::{Fate, Piece};
use crate::profile::Profile;
use crate::unit::{Call, Pairs};
use crate::view::{Block, BlockKind, Role, View};

pub(crate) const NO_RESULT: &str = "[no result was recorded for this call]";
pub(crate) const EMPTY: &str = "[empty message]";
pub(crate) const NO_REPLY: &str = "[no reply was recorded]";
pub(crate) const OPENING: &str = "[start of the conversation]";
pub(crate) const CONTINUE_USER: &str = "[continue]";
pub(crate) const CONTINUE_ASSISTANT: &str = "[noted]";
pub(crate) const NO_REASONING: &str = "[reasoning removed]";

/// The state machine.
#[derive(Clone)]
pub(crate) struct Repairer {
    profile: Profile,
    dialect: Arc<dyn Dialect>,
    counter: Arc<dyn Counter>,
    pairs: Pairs,
    /// The last turn that an alternation rule sees: calls and results are invisible to it.
    visible: Option<Role>,
    after_tool: bool,
    /// Who spoke last, whatever the alternation rule makes of it.
    last: Option<Role>,
    started: bool,
    lone_reasoning: bool,
    strip_bound: bool,
}

impl Repairer {
    /// `folded`: something before the pieces changed, so bound reasoning is void.
    pub fn new(
        profile: Profile,
        dialect: Arc<dyn Dialect>,
        counter: Arc<dyn Counter>,
        folded: bool,
    ) -> Self {
        Self {
            pairs: Pairs::new(profile.joins_assistant()),
            strip_bound: folded && profile.reasoning_bound,
            profile,
            dialect,
            counter,
            visible: None,
            after_tool: false,
            last: None,
            started: false,
            lone_reasoning: false,
        }
    }

    /// Passes one piece on, with whatever has to stand before it or instead of it.
    pub fn push(&mut self, piece: Piece, view: &View, out: &mut Vec<Piece>) {
        let (piece, owned) = self.rewrite(piece, view);
        let view = owned.as_ref().unwrap_or(view);
        let paired = self.pairs.push(view, &piece.bytes);
        for call in &paired.unanswered {
            self.answer(call, out);
        }
        if paired.orphans.is_empty() {
            self.emit(piece, view, out);
        } else {
            let bytes = self.dialect.results_as_text(&piece.bytes, view, &paired.orphans);
            let (piece, view) = self.rewritten(&piece, bytes, Repair::OrphanResult);
            self.emit(piece, &view, out);
        }
    }

    fn answer(&mut self, call: &Call, out: &mut Vec<Piece>) {
        let bytes = self.dialect.made_result(&call.id(), &call.name(), NO_RESULT);
        let (piece, view) = self.made(bytes, Repair::UnansweredCall);
        self.emit(piece, &view, out);
    }

    /// Makes the event itself legal: role, content, reasoning.
    fn rewrite(&self, piece: Piece, view: &View) -> (Piece, Option<View>) {
        // Items of other kinds are the provider's own; only whole messages have roles.
        if view.role == Role::Other && !self.profile.has_items {
            let text = plain_text(view, &piece.bytes);
            return some(self.as_message(&piece, Role::User, &text, Repair::UnknownRole));
        }
        if view.role.is_system() && self.no_place_for_system() {
            let text = plain_text(view, &piece.bytes);
            return some(self.as_message(&piece, Role::User, &text, Repair::SystemInside));
        }
        if self.strip_bound && self.started && view.blocks.iter().any(is_bound) {
            return some(self.without_bound(&piece, view));
        }
        if let Some(fixed) = self.without_empties(&piece, view) {
            return some(fixed);
        }
        (piece, None)
    }

    /// Some providers take system messages at the start alone; one that merges roles has their place
    /// beside the messages, and takes one inside only right after the user.
    fn no_place_for_system(&self) -> bool {
        (self.started && self.profile.system_leading)
            || (self.profile.merges_roles && matches!(self.last, None | Some(Role::Assistant)))
    }

    fn without_bound(&self, piece: &Piece, view: &View) -> (Piece, View) {
        let bound: Vec<_> = view.blocks.iter().filter(|b| is_bound(b)).collect();
        if bound.len() == view.blocks.len() {
            return self.as_message(piece, view.role, NO_REASONING, Repair::BoundReasoning);
        }
        let changes: Vec<_> = bound.into_iter().map(|block| (block, &Change::Remove)).collect();
        self.rewritten(piece, edit::apply(&piece.bytes, &changes), Repair::BoundReasoning)
    }

    fn without_empties(&self, piece: &Piece, view: &View) -> Option<(Piece, View)> {
        let empty = |block: &&Block| is_empty(block, &piece.bytes);
        let empties: Vec<&Block> = view.blocks.iter().filter(empty).collect();
        let nothing = empties.len() == view.blocks.len();
        if nothing
            && (!self.profile.empty_text
                || (view.role == Role::Assistant && view.blocks.is_empty()))
        {
            return Some(self.as_message(piece, view.role, EMPTY, Repair::EmptyMessage));
        }
        if empties.is_empty() || self.profile.empty_text {
            return None;
        }
        let change = Change::Replace(EMPTY.to_owned());
        let changes: Vec<_> = empties.into_iter().map(|block| (block, &change)).collect();
        Some(self.rewritten(piece, edit::apply(&piece.bytes, &changes), Repair::EmptyMessage))
    }

    fn emit(&mut self, piece: Piece, view: &View, out: &mut Vec<Piece>) {
        if self.lone_reasoning && view.role != Role::Assistant {
            self.bridge(Role::Assistant, NO_REPLY, Repair::LoneReasoning, out);
        }
        if !view.role.is_system() {
            self.bridge_to(view, out);
            self.started = true;
        }
        self.note(view);
        out.push(piece);
    }

    /// Puts the bridge before an event that alternation asks for.
    fn bridge_to(&mut self, view: &View, out: &mut Vec<Piece>) {
        if !self.started && self.profile.user_first && view.role != Role::User {
            self.bridge(Role::User, OPENING, Repair::Bridge, out);
        }
        // A provider that merges roles takes a system message inside only where the model speaks
        // next.
        let after_system = self.last.is_some_and(Role::is_system);
        if view.role == Role::User && after_system && self.profile.merges_roles {
            self.bridge(Role::Assistant, CONTINUE_ASSISTANT, Repair::Bridge, out);
        }
        let user = view.role == Role::User && !view.has_results();
        if user && self.after_tool && !self.profile.user_after_tool {
            self.bridge(Role::Assistant, CONTINUE_ASSISTANT, Repair::Bridge, out);
        }
        if !self.profile.alternates {
            return;
        }
        if user && self.visible == Some(Role::User) {
            self.bridge(Role::Assistant, CONTINUE_ASSISTANT, Repair::Bridge, out);
        } else if view.role == Role::Assistant
            && self.visible == Some(Role::Assistant)
            && !self.after_tool
        {
            self.bridge(Role::User, CONTINUE_USER, Repair::Bridge, out);
        }
    }

    fn bridge(&mut self, role: Role, text: &str, why: Repair, out: &mut Vec<Piece>) {
        let (piece, view) = self.made(self.dialect.made_message(role, text), why);
        self.note(&view);
        self.started = true;
        out.push(piece);
    }

    /// Remembers what the next event has to fit to.
    fn note(&mut self, view: &View) {
        self.after_tool = view.has_results();
        self.last = Some(view.role);
        self.lone_reasoning = !view.blocks.is_empty()
            && self.profile.has_items
            && view.blocks.iter().all(|b| matches!(b.kind, BlockKind::Reasoning { .. }));
        match view.role {
            Role::User if !view.has_results() => self.visible = Some(Role::User),
            Role::Assistant if !view.has_calls() => self.visible = Some(Role::Assistant),
            _ => {}
        }
    }

    fn as_message(&self, piece: &Piece, role: Role, text: &str, why: Repair) -> (Piece, View) {
        self.rewritten(piece, self.dialect.made_message(role, text), why)
    }

    fn rewritten(&self, piece: &Piece, bytes: Bytes, why: Repair) -> (Piece, View) {
        let view = self.dialect.view(&bytes);
        let tokens = measure(&*self.counter, &bytes, &view).total;
        let fate = match piece.fate {
            Fate::Verbatim(seq) | Fate::Edited(seq) | Fate::Repaired(seq, _) => {
                Fate::Repaired(seq, why)
            }
            _ => Fate::Added(why),
        };
        (Piece { bytes, tokens, fate }, view)
    }

    fn made(&self, bytes: Bytes, why: Repair) -> (Piece, View) {
        let view = self.dialect.view(&bytes);
        let tokens = measure(&*self.counter, &bytes, &view).total;
        (Piece { bytes, tokens, fate: Fate::Added(why) }, view)
    }
}

/// A message as plain text: what can be read of it, or its source where it holds what no view
/// reads (line breaks, which only format it, as spaces). Nothing is lost by a repair.
pub(crate) fn plain_text<'a>(view: &View, bytes: &'a [u8]) -> Cow<'a, str> {
    if view.blocks.iter().any(|block| block.kind == BlockKind::Opaque) {
        return Cow::Owned(String::from_utf8_lossy(bytes).replace(['\n', '\r'], " "));
    }
    let text = view.text_of(bytes, |_| true);
    if text.trim().is_empty() { Cow::Borrowed(EMPTY) } else { text }
}

fn some((piece, view): (Piece, View)) -> (Piece, Option<View>) {
    (piece, Some(view))
}

fn is_bound(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Reasoning { bound: true })
}

/// Text without anything but white space.
fn is_empty(block: &Block, bytes: &[u8]) -> bool {
    matches!(block.kind, BlockKind::Text)
        && block.body.token.len() < 256
        && block.text(bytes).trim().is_empty()
}
