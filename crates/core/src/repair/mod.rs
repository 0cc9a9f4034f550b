//! Repairs: added messages and recorded edits that make a log valid for a provider which would refuse it. A state
//! machine that is fed piece by piece, so a context that grows is the same as one that is built anew.

mod fixed_texts;
mod kinds;
mod order;
mod plain;
mod server_tools;
mod taking;
mod thoughts;
mod twins;

use std::sync::Arc;

use bytes::Bytes;

use crate::arguments::with_form;
use crate::counter::Counter;
use crate::dialect::Dialect;
use crate::edit::{self, BlockChange};
use crate::jsonstr::without_halves;
use crate::measure::measure;
pub use crate::piece::RepairReason;
use crate::piece::{ContextPiece, PieceFate};
use crate::profile::ProviderProfile;
use crate::profile::VoidReasoning;
use crate::repair::kinds::StepCalls;
use crate::repair::server_tools::ServerCalls;
use crate::repair::taking::LastTurn;
pub(crate) use crate::repair::taking::takes_turns;
use crate::repair::thoughts::ThoughtWalk;
use crate::repair::twins::{StepIds, given_ids, logged_id};
use crate::unit::{CallPairs, WaitingCall};
use crate::view::{BlockKind, BlockView, EventView, Role};
pub(crate) use fixed_texts::{
    CONTINUE_ASSISTANT, CONTINUE_USER, EMPTY, NO_CALL, NO_REASONING, NO_REPLY, NO_RESULT, OPENING,
};
pub use fixed_texts::{OF_OTHER, OF_RESULT, OF_SYSTEM};
pub(crate) use order::results_first;
pub(crate) use plain::{is_of_other_shape, labelled, plain_text, text_with_calls, without};
pub(crate) use thoughts::{asks_for_reasoning, with_blank, without_blank};
pub(crate) use twins::{is_given, is_renamed, with_ids};

/// The state machine that repairs a context.
#[derive(Clone)]
pub(crate) struct ContextRepairer {
    profile: ProviderProfile,
    dialect: Arc<dyn Dialect>,
    counter: Arc<dyn Counter>,
    pairs: CallPairs,
    twins: StepIds,
    kinds: StepCalls,
    thoughts: ThoughtWalk,
    server_calls: ServerCalls,
    turn: LastTurn,
    /// The role of the last message, whether or not it counts for taking turns.
    last: Option<Role>,
    started: bool,
    lone_reasoning: bool,
    void: VoidReasoning,
    /// Whether the next pieces were put together by a fold that keeps user and assistant taking turns.
    keeps_turns: bool,
    /// The event that the last piece shows; `None` for a recap, a marker and an added piece.
    seq: Option<u32>,
}

impl ContextRepairer {
    pub fn new(
        profile: ProviderProfile,
        dialect: Arc<dyn Dialect>,
        counter: Arc<dyn Counter>,
        void: VoidReasoning,
    ) -> Self {
        Self {
            pairs: CallPairs::new(&profile),
            twins: StepIds::new(&profile),
            kinds: StepCalls::new(&profile),
            thoughts: ThoughtWalk::new(profile.reasoning_text),
            server_calls: ServerCalls::default(),
            void,
            profile,
            dialect,
            counter,
            turn: LastTurn::default(),
            last: None,
            started: false,
            lone_reasoning: false,
            keeps_turns: false,
            seq: None,
        }
    }

    /// Sets whether user and assistant have to take turns from here on, even if the provider does not require it.
    pub fn keep_turns(&mut self, keeps_turns: bool) {
        self.keeps_turns = keeps_turns;
    }

    /// Notes whether a message that the fold has put away had reasoning. The recap may come before all others.
    pub fn note_reasoning(&mut self, had_reasoning: bool) {
        self.thoughts.note(had_reasoning);
    }

    /// Whether a call waits for its result.
    pub fn is_open(&self) -> bool {
        self.pairs.is_open()
    }

    /// Takes one piece and appends it to `out`, repaired where necessary, after the messages that have to come before
    /// it.
    pub fn push(&mut self, piece: ContextPiece, view: &EventView, out: &mut Vec<ContextPiece>) {
        // The order matters: each repair reads the bytes that the one before it made.
        self.end_step_at_fold(&piece, out);
        let (piece, whole) = match without_halves(&piece.bytes) {
            Some(bytes) => some(self.rewritten(&piece, bytes.into(), RepairReason::HalfCharacter)),
            None => (piece, None),
        };
        let view = whole.as_ref().unwrap_or(view);
        let (piece, formed) = match with_form(&piece.bytes, view, self.profile.arguments) {
            Some(bytes) => some(self.rewritten(&piece, bytes, RepairReason::Arguments)),
            None => (piece, None),
        };
        let view = formed.as_ref().unwrap_or(view);
        let alone = self.server_calls.push(view, &piece.bytes, &*self.dialect);
        let (piece, paired_tools) = if alone.is_empty() {
            (piece, None)
        } else {
            let bytes = without(&piece.bytes, view, &alone, NO_CALL, &*self.dialect);
            some(self.rewritten(&piece, bytes, RepairReason::LoneServerResult))
        };
        let view = paired_tools.as_ref().unwrap_or(view);
        let (piece, owned) = self.rewrite(piece, view);
        let view = owned.as_ref().unwrap_or(view);
        let asks_order = self.profile.merges_roles && self.pairs.is_open();
        let (piece, sorted) = match results_first(&piece.bytes, view).filter(|_| asks_order) {
            Some(bytes) => some(self.rewritten(&piece, bytes, RepairReason::ResultsBehind)),
            None => (piece, None),
        };
        let view = sorted.as_ref().unwrap_or(view);
        let (piece, owned, given) = match self.twins.push(view, &piece.bytes) {
            Some(bytes) => {
                let (named, own) = self.rewritten(&piece, bytes, RepairReason::DuplicateId);
                let given = given_ids((view, &piece.bytes), (&own, &named.bytes));
                (named, Some(own), given)
            }
            None => (piece, None, Vec::new()),
        };
        let own = owned.as_ref().unwrap_or(view);
        let (piece, owned) = match self.as_text_of_kind(&piece, own, &given) {
            Some(text_piece) => some(text_piece),
            None => (piece, owned),
        };
        let view = owned.as_ref().unwrap_or(view);
        let mut paired = self.pairs.push(view, &piece.bytes);
        let results = view.blocks.iter().filter(|block| block.is_result()).count();
        let answers = results > paired.orphans.len();
        // All results of a step have to be in this one message, so no later message can answer the rest.
        if answers && self.profile.whole_turns {
            paired.unanswered.extend(self.pairs.end_step());
        }
        let (piece, owned) = if paired.orphans.is_empty() {
            (piece, None)
        } else {
            let bytes = self.as_text(&piece.bytes, view, &paired.orphans, &given);
            some(self.rewritten(&piece, bytes, RepairReason::OrphanResult))
        };
        let view = owned.as_ref().unwrap_or(view);
        let missing = paired.unanswered;
        if self.profile.whole_turns && answers && !missing.is_empty() {
            let bytes = self.with_results(piece.bytes.clone(), view, &missing);
            let (piece, view) = self.rewritten(&piece, bytes, RepairReason::UnansweredCall);
            return self.emit(piece, &view, out);
        }
        self.answer(&missing, out);
        self.emit(piece, view, out);
        // The client answered what it took for one call, so no result of it will come for a copy.
        let by_order = self.profile.pairs_by_order();
        if answers && !by_order && self.pairs.is_open() && self.twins.has_passed_copies() {
            let copies = self.pairs.end_step();
            self.answer(&copies, out);
        }
    }

    /// The event with results of the wrong kind as text; `None` where it has no such result.
    fn as_text_of_kind(
        &mut self,
        piece: &ContextPiece,
        view: &EventView,
        given: &[(String, String)],
    ) -> Option<(ContextPiece, EventView)> {
        let others = self.kinds.push(view, &piece.bytes, &*self.dialect);
        (!others.is_empty()).then(|| {
            let bytes = self.as_text(&piece.bytes, view, &others, given);
            self.rewritten(piece, bytes, RepairReason::OrphanResult)
        })
    }

    /// The event with these results as text, under the ids of the log. A reader of the text sees no call with an id
    /// that a repair made up.
    fn as_text(
        &self,
        bytes: &Bytes,
        view: &EventView,
        results: &[usize],
        given: &[(String, String)],
    ) -> Bytes {
        let old = |at: &usize| logged_id(view.blocks.get(*at)?, bytes, given);
        let ids: Vec<_> = results.iter().filter_map(old).collect();
        if ids.is_empty() {
            return self.dialect.results_as_text(bytes, view, results);
        }
        let bytes = with_ids(bytes, &ids);
        self.dialect.results_as_text(&bytes, &self.dialect.view(&bytes), results)
    }

    /// Ends the step where the fold removed events, even if the recap is in the assistant's role. Calls that are still
    /// open there can get no result any more, so each gets a made one.
    fn end_step_at_fold(&mut self, piece: &ContextPiece, out: &mut Vec<ContextPiece>) {
        let before = std::mem::replace(&mut self.seq, piece.seq());
        if before.is_some_and(|seq| piece.seq() == Some(seq + 1)) {
            return;
        }
        self.twins.end_step();
        self.kinds.end_step();
        let missing = self.pairs.end_step();
        self.answer(&missing, out);
    }

    /// Adds a result for each of these unanswered calls.
    fn answer(&mut self, missing: &[WaitingCall], out: &mut Vec<ContextPiece>) {
        if !self.profile.whole_turns {
            // The id of a call that the provider stores is not in the log, so no result can be made for it.
            let has_id = |call: &&WaitingCall| !self.profile.has_items || !call.id().is_empty();
            for call in missing.iter().filter(has_id).collect::<Vec<_>>() {
                self.emit_made(self.no_result(call), RepairReason::UnansweredCall, out);
            }
        } else if let Some((last, rest)) = missing.split_last() {
            let bytes = self.no_result(last);
            let bytes = self.with_results(bytes.clone(), &self.dialect.view(&bytes), rest);
            self.emit_made(bytes, RepairReason::UnansweredCall, out);
        }
    }

    /// Makes the result of a call that has none.
    fn no_result(&self, call: &WaitingCall) -> Bytes {
        self.dialect.made_result(call.bytes(), &call.id(), &call.name(), NO_RESULT)
    }

    /// The message with made results for these calls in front of its own blocks.
    fn with_results(&self, message: Bytes, view: &EventView, missing: &[WaitingCall]) -> Bytes {
        let Some(first) = view.blocks.first().filter(|_| !missing.is_empty()) else {
            return message;
        };
        let (before, rest) = message.split_at(first.outer.start as usize);
        let mut out = before.to_vec();
        for call in missing {
            let result = self.no_result(call);
            for block in &self.dialect.view(&result).blocks {
                out.extend_from_slice(block.outer.of(&result));
                out.push(b',');
            }
        }
        out.extend_from_slice(rest);
        out.into()
    }

    /// Appends a made message.
    fn emit_made(&mut self, bytes: Bytes, why: RepairReason, out: &mut Vec<ContextPiece>) {
        let (piece, view) = self.added_piece(bytes, why);
        self.emit(piece, &view, out);
    }

    /// Makes the event itself valid: its role, its content, its reasoning.
    fn rewrite(&self, piece: ContextPiece, view: &EventView) -> (ContextPiece, Option<EventView>) {
        // Items of unknown kinds are the provider's own; only whole messages have roles.
        if view.role == Role::Other && !self.profile.has_items {
            let text = labelled(OF_OTHER, view, &piece.bytes);
            return some(self.as_message(&piece, Role::User, &text, RepairReason::UnknownRole));
        }
        if view.role.is_system() && self.no_place_for_system() {
            let text = labelled(OF_SYSTEM, view, &piece.bytes);
            return some(self.as_message(&piece, Role::User, &text, RepairReason::SystemInside));
        }
        let void = piece.seq().filter(|seq| self.started && *seq < self.void.before);
        if let Some(seq) = void {
            let is_told = self.void.told_round.is_some_and(|round| seq >= round);
            if is_told && view.role == Role::Assistant && view.has_calls() {
                let text = text_with_calls(view, &piece.bytes);
                return some(self.as_message(
                    &piece,
                    Role::Assistant,
                    &text,
                    RepairReason::ToldCall,
                ));
            }
            if view.blocks.iter().any(is_bound) {
                return some(self.without_bound(&piece, view));
            }
        }
        if !self.profile.has_items && is_of_other_shape(view, &piece.bytes) {
            let text = plain_text(view, &piece.bytes);
            return some(self.as_message(&piece, view.role, &text, RepairReason::OtherShape));
        }
        if let Some(bytes) = self.dialect.filled_result(&piece.bytes, view, EMPTY) {
            return some(self.rewritten(&piece, bytes, RepairReason::EmptyMessage));
        }
        if let Some(fixed) = self.without_empties(&piece, view) {
            return some(fixed);
        }
        (piece, None)
    }

    /// Whether a system message is not allowed here. Some providers allow system messages at the start only, and some
    /// only outside the list. A provider that merges roles allows one inside the list only right after a user message.
    fn no_place_for_system(&self) -> bool {
        (self.started && self.profile.system_leading)
            || self.profile.whole_turns
            || (self.profile.merges_roles && matches!(self.last, None | Some(Role::Assistant)))
    }

    /// The message without its signed reasoning; a fixed text where nothing else is in it.
    fn without_bound(&self, piece: &ContextPiece, view: &EventView) -> (ContextPiece, EventView) {
        let bound: Vec<_> =
            (0..view.blocks.len()).filter(|at| is_bound(&view.blocks[*at])).collect();
        let bytes = without(&piece.bytes, view, &bound, NO_REASONING, &*self.dialect);
        self.rewritten(piece, bytes, RepairReason::BoundReasoning)
    }

    /// The message with a fixed text for empty ones; `None` where nothing has to change.
    fn without_empties(
        &self,
        piece: &ContextPiece,
        view: &EventView,
    ) -> Option<(ContextPiece, EventView)> {
        let empty = |block: &&BlockView| is_empty(block, &piece.bytes);
        let empties: Vec<&BlockView> = view.blocks.iter().filter(empty).collect();
        let nothing = empties.len() == view.blocks.len();
        // Some providers allow empty text, but none allows a message without content or with an empty list of parts.
        let bare = view.blocks.is_empty() && !matches!(view.role, Role::Tool | Role::Other);
        if nothing && (!self.profile.empty_text || bare) {
            return Some(self.as_message(piece, view.role, EMPTY, RepairReason::EmptyMessage));
        }
        if empties.is_empty() || self.profile.empty_text {
            return None;
        }
        let change = BlockChange::Replace(EMPTY.to_owned());
        let changes: Vec<_> = empties.into_iter().map(|block| (block, &change)).collect();
        Some(self.rewritten(piece, edit::apply(&piece.bytes, &changes), RepairReason::EmptyMessage))
    }

    /// Appends a piece, after the bridges that it needs.
    fn emit(&mut self, piece: ContextPiece, view: &EventView, out: &mut Vec<ContextPiece>) {
        // Responses refuses reasoning that no item of the model follows.
        if self.lone_reasoning && view.role != Role::Assistant {
            self.bridge(Role::Assistant, NO_REPLY, RepairReason::LoneReasoning, out);
        }
        // A system message takes no turn and begins no conversation.
        if !view.role.is_system() {
            self.bridge_to(view, out);
            self.started = true;
        }
        self.put(piece, view, out);
    }

    /// Appends a piece, with reasoning where the model wants some.
    fn put(&mut self, piece: ContextPiece, view: &EventView, out: &mut Vec<ContextPiece>) {
        self.note(view);
        let lacks = self.thoughts.push(view);
        let filled = lacks.then(|| with_blank(&piece.bytes, &*self.dialect)).flatten();
        out.push(match filled {
            Some(bytes) => {
                let (filled, _) = self.rewritten(&piece, bytes, RepairReason::BlankReasoning);
                // Another repair says more, and a recap stays one.
                let fate = match piece.fate {
                    PieceFate::Verbatim(_) | PieceFate::Edited(_) => filled.fate,
                    known => known,
                };
                ContextPiece { fate, ..filled }
            }
            None => piece,
        });
    }

    /// Appends the bridge that has to come before an event, if roles must alternate.
    fn bridge_to(&mut self, view: &EventView, out: &mut Vec<ContextPiece>) {
        if !self.started && self.profile.user_first && view.role != Role::User {
            self.bridge(Role::User, OPENING, RepairReason::Bridge, out);
        }
        // A provider that merges roles allows a system message inside the list only where the model speaks next.
        let after_system = self.last.is_some_and(Role::is_system);
        if view.role == Role::User && after_system && self.profile.merges_roles {
            self.bridge(Role::Assistant, CONTINUE_ASSISTANT, RepairReason::Bridge, out);
        }
        let may_follow = self.profile.user_after_tool && !self.keeps_turns;
        if self.turn.is_result_before(view) && !may_follow {
            self.bridge(Role::Assistant, CONTINUE_ASSISTANT, RepairReason::Bridge, out);
        }
        if (self.keeps_turns || self.profile.alternates) && self.turn.is_same_before(view) {
            let (between, text) = match view.role {
                Role::User => (Role::Assistant, CONTINUE_ASSISTANT),
                _ => (Role::User, CONTINUE_USER),
            };
            self.bridge(between, text, RepairReason::Bridge, out);
        }
    }

    /// Appends a made message that separates two others.
    fn bridge(&mut self, role: Role, text: &str, why: RepairReason, out: &mut Vec<ContextPiece>) {
        let (piece, view) = self.added_piece(self.dialect.made_message(role, text), why);
        self.put(piece, &view, out);
        self.started = true;
    }

    /// Updates the state that decides what may come next.
    fn note(&mut self, view: &EventView) {
        self.turn.note(view);
        self.last = Some(view.role);
        self.lone_reasoning = !view.blocks.is_empty()
            && self.profile.has_items
            && view.blocks.iter().all(|b| matches!(b.kind, BlockKind::Reasoning { .. }));
    }

    /// The piece as a message with this role and text.
    fn as_message(
        &self,
        piece: &ContextPiece,
        role: Role,
        text: &str,
        why: RepairReason,
    ) -> (ContextPiece, EventView) {
        self.rewritten(piece, self.dialect.made_message(role, text), why)
    }

    /// The piece with new bytes, counted again and with the repair as its fate.
    fn rewritten(
        &self,
        piece: &ContextPiece,
        bytes: Bytes,
        why: RepairReason,
    ) -> (ContextPiece, EventView) {
        let view = self.dialect.view(&bytes);
        let tokens = measure(&*self.counter, &bytes, &view).total;
        let fate = match piece.fate {
            PieceFate::Verbatim(seq) | PieceFate::Edited(seq) | PieceFate::Repaired(seq, _) => {
                PieceFate::Repaired(seq, why)
            }
            _ => PieceFate::Added(why),
        };
        (ContextPiece { bytes, tokens, fate }, view)
    }

    /// An added piece with these bytes.
    fn added_piece(&self, bytes: Bytes, why: RepairReason) -> (ContextPiece, EventView) {
        let view = self.dialect.view(&bytes);
        let tokens = measure(&*self.counter, &bytes, &view).total;
        (ContextPiece { bytes, tokens, fate: PieceFate::Added(why) }, view)
    }
}

fn some((piece, view): (ContextPiece, EventView)) -> (ContextPiece, Option<EventView>) {
    (piece, Some(view))
}

fn is_bound(block: &BlockView) -> bool {
    matches!(block.kind, BlockKind::Reasoning { bound: true })
}

/// Whether a block is text of nothing but white space.
fn is_empty(block: &BlockView, bytes: &[u8]) -> bool {
    matches!(block.kind, BlockKind::Text)
        // A long text is hardly blank; it is not decoded just to find out.
        && block.body.token.len() < 256
        && block.text(bytes).trim().is_empty()
}
