//! A message without a dialect: conversion reads it from a view and writes it in the target's dialect.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use midfold_core::{BlockKind, BlockView, EventView, MediaKind, Role, TextRef};

use crate::dialect::DialectKind;
use crate::fields::ObjectFields;
use crate::media::{self, PictureSource};
use crate::problem::ReadProblem;
use crate::profile;
use crate::scan::inside;

/// The value in place of the signature of a call that Gemini did not make. Gemini 3 refuses the first call of a step
/// without a signature; its documentation names this value for such calls.
pub(crate) const UNSIGNED: &str = "skip_thought_signature_validator";

/// The start of ids that are made up.
const MADE_UP: &str = "call_";

/// One message, without a dialect.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NeutralMessage {
    pub(super) role: Role,
    pub(super) pieces: Vec<NeutralPiece>,
}

/// One part of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NeutralPiece {
    Text(String),
    Refusal(String),
    Reasoning(String),
    Image(PictureSource),
    Call { id: String, name: String, arguments: String },
    Result { id: String, name: String, text: String, images: Vec<PictureSource>, error: bool },
}

/// The ids of a conversation's calls: made up where the source has none, and looked up for the results.
#[derive(Default)]
pub(super) struct ConversationIds {
    /// The number of the next id that is made up: `call_<n>`. Calls and results without a call share the numbers.
    next: u64,
    /// The numbers of ids of this form that the source has itself.
    in_source: HashSet<u64>,
    /// Whether the target wants ids that are unique over the request.
    are_unique: bool,
    /// The calls without a result so far, oldest first.
    unanswered: VecDeque<UnansweredCall>,
    /// The tool name of the last call with each id.
    names: HashMap<String, String>,
}

struct UnansweredCall {
    /// Its id in the source; `None` where it has none there.
    source_id: Option<String>,
    id: String,
    tool: String,
}

impl ConversationIds {
    /// No calls yet. The ids of these events are not made up for other calls.
    pub(super) fn of(events: &[(&[u8], &EventView)], to: DialectKind) -> Self {
        let ids = events.iter().flat_map(|(bytes, view)| {
            view.blocks.iter().filter_map(|block| match &block.kind {
                BlockKind::Call { id: Some(id), .. } | BlockKind::Result { id: Some(id), .. } => {
                    id.decode(bytes).strip_prefix(MADE_UP)?.parse().ok()
                }
                _ => None,
            })
        });
        let are_unique = profile::for_dialect(to).first().is_some_and(|rules| rules.unique_ids);
        Self { in_source: ids.collect(), are_unique, ..Self::default() }
    }

    fn make_up(&mut self) -> String {
        while self.in_source.contains(&self.next) {
            self.next += 1;
        }
        let id = format!("{MADE_UP}{}", self.next);
        self.next += 1;
        id
    }

    /// The id of a call. One that an earlier call has gives way to a new one where the target wants that.
    fn call(&mut self, source_id: Option<Cow<'_, str>>, tool: &str) -> String {
        let source_id = source_id.map(Cow::into_owned);
        let is_free = |id: &String| !self.are_unique || !self.names.contains_key(id);
        let id = source_id.clone().filter(is_free).unwrap_or_else(|| self.make_up());
        let tool = tool.to_owned();
        self.names.insert(id.clone(), tool.clone());
        self.unanswered.push_back(UnansweredCall { source_id, id: id.clone(), tool });
        id
    }

    /// The id and the tool of the call that a result answers; `None` for the tool where there is no such call. `tool` is
    /// the one that the result names. A result without an id of an unanswered call pairs with the oldest unanswered
    /// call, if possible of the same tool.
    fn result(
        &mut self,
        source_id: Option<Cow<'_, str>>,
        tool: Option<&str>,
    ) -> (String, Option<String>) {
        // The same id may be unanswered twice; the oldest call with it is answered first.
        let with_its_id = source_id
            .as_deref()
            .and_then(|id| self.oldest(|call| call.source_id.as_deref() == Some(id)));
        let at = with_its_id.or_else(|| self.call_without_id(tool, source_id.is_some()));
        if let Some(call) = at.and_then(|at| self.unanswered.remove(at)) {
            return (call.id, Some(call.tool));
        }
        let id = source_id.map_or_else(|| self.make_up(), Cow::into_owned);
        let tool = self.names.get(&id).cloned();
        (id, tool)
    }

    /// The place of the call that a result answers whose id belongs to no call. Clients of Ollama drop the ids of
    /// results, so such a result may also answer a call with an id. A result that `has_id` cannot.
    fn call_without_id(&self, tool: Option<&str>, has_id: bool) -> Option<usize> {
        let is_of_tool = |call: &UnansweredCall| tool == Some(&call.tool);
        self.oldest(|call| call.source_id.is_none() && is_of_tool(call))
            .or_else(|| self.oldest(|call| !has_id && is_of_tool(call)))
            .or_else(|| self.oldest(|call| call.source_id.is_none()))
            .or_else(|| self.oldest(|_| !has_id))
    }

    fn oldest(&self, is_meant: impl Fn(&UnansweredCall) -> bool) -> Option<usize> {
        self.unanswered.iter().position(is_meant)
    }
}

impl NeutralMessage {
    /// Reads an event. `None` where no part of it can be carried over.
    pub(super) fn read(
        bytes: &[u8],
        view: &EventView,
        ids: &mut ConversationIds,
        problems: &mut Vec<ReadProblem>,
    ) -> Option<Self> {
        let is_opaque = |block: &BlockView| block.kind == BlockKind::Opaque;
        let is_all_opaque = !view.blocks.is_empty() && view.blocks.iter().all(is_opaque);
        // Opaque blocks report their first characters below, which says more than an unknown role.
        if view.role == Role::Other && !is_all_opaque {
            let detail = "a message of an unknown role was left out";
            problems.push(ReadProblem::new("unknown-role", detail));
            return None;
        }
        let mut pieces = Vec::with_capacity(view.blocks.len());
        for block in &view.blocks {
            read_block(bytes, block, ids, &mut pieces, problems);
        }
        // An item of which every block was lost leaves no empty message behind.
        let is_lost = pieces.is_empty() && !view.blocks.is_empty();
        (!is_lost).then_some(Self { role: view.role, pieces })
    }

    /// The message without the pieces that the target does not take in this role, and a problem for each of them.
    /// `None` where nothing is left.
    pub(super) fn fit(mut self, to: DialectKind, problems: &mut Vec<ReadProblem>) -> Option<Self> {
        let before = self.pieces.len();
        let (is_model, is_system) = (self.role == Role::Assistant, self.role.is_system());
        self.pieces.retain(|piece| {
            let problem = match piece {
                NeutralPiece::Image(_) if is_model && to != DialectKind::Gemini => {
                    ReadProblem::new("media", "an image that the model made was left out")
                }
                NeutralPiece::Image(_) if is_system && !keeps_system_outside(to) => {
                    ReadProblem::new("media", "an image in a system message was left out")
                }
                NeutralPiece::Call { .. } if !is_model => {
                    let detail = "a call that is not the model's was left out";
                    ReadProblem::new("unsupported-conversion", detail)
                }
                _ => return true,
            };
            problems.push(problem);
            false
        });
        (before == 0 || !self.pieces.is_empty()).then_some(self)
    }

    /// All text, joined by newlines.
    pub(super) fn text(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            NeutralPiece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Whether the target can express any part of the message.
    pub(super) fn can_be_said(&self, to: DialectKind) -> bool {
        self.pieces.iter().any(|piece| match piece {
            NeutralPiece::Text(text) | NeutralPiece::Refusal(text) => !text.trim().is_empty(),
            NeutralPiece::Reasoning(text) => to == DialectKind::Gemini && !text.trim().is_empty(),
            NeutralPiece::Image(_) | NeutralPiece::Call { .. } | NeutralPiece::Result { .. } => {
                true
            }
        })
    }

    fn only_results(&self) -> bool {
        !self.pieces.is_empty()
            && self.pieces.iter().all(|p| matches!(p, NeutralPiece::Result { .. }))
    }

    /// Whether the target writes this message and the next one as one.
    pub(super) fn joins_with(&self, next: &Self, from: DialectKind, to: DialectKind) -> bool {
        let from_items = from == DialectKind::OpenAiResponses;
        if matches!(to, DialectKind::Gemini | DialectKind::Bedrock) {
            return (self.role == Role::Assistant) == (next.role == Role::Assistant);
        }
        if to == DialectKind::ShareGpt {
            // Trainers want the speakers in turn.
            let is_same = self.role == next.role && !self.role.is_system();
            return is_same && self.only_results() == next.only_results();
        }
        match (self.role, next.role) {
            (Role::Assistant, Role::Assistant) => from_items || from == DialectKind::Anthropic,
            (Role::Tool | Role::User, Role::Tool | Role::User) => {
                to == DialectKind::Anthropic && self.only_results() && next.only_results()
            }
            _ => false,
        }
    }

    pub(super) fn append(&mut self, next: Self) {
        self.pieces.extend(next.pieces);
    }
}

/// Reads one block into pieces, and reports a problem for each part that cannot be carried over.
fn read_block(
    bytes: &[u8],
    block: &BlockView,
    ids: &mut ConversationIds,
    pieces: &mut Vec<NeutralPiece>,
    problems: &mut Vec<ReadProblem>,
) {
    let text = || block.text(bytes).into_owned();
    let label = |label: &Option<TextRef>| label.map(|label| label.decode(bytes));
    // A server that gives no ids may write empty ones, which tell no calls apart.
    let id_of = |id: &Option<TextRef>| label(id).filter(|id| !id.is_empty());
    if is_signed(bytes, block) {
        let detail = "a thought signature is bound to its provider and was left out";
        problems.push(ReadProblem::new("encrypted-reasoning", detail));
    }
    match &block.kind {
        BlockKind::Text => pieces.push(NeutralPiece::Text(text())),
        BlockKind::Refusal => pieces.push(NeutralPiece::Refusal(text())),
        BlockKind::Reasoning { bound } => {
            let text = text();
            if *bound {
                let lost_part = if text.is_empty() { "encrypted reasoning" } else { "a signature" };
                let detail = format!("{lost_part} is bound to its provider and was left out");
                problems.push(ReadProblem::new("encrypted-reasoning", detail));
            }
            if !text.is_empty() {
                pieces.push(NeutralPiece::Reasoning(text));
            }
        }
        BlockKind::Call { id, name } => {
            // Each target refuses a call without a name.
            let name = label(name).map_or_else(|| "unknown_tool".to_owned(), Cow::into_owned);
            let id = ids.call(id_of(id), &name);
            pieces.push(NeutralPiece::Call { id, name, arguments: text() });
        }
        BlockKind::Result { id, name, error } => {
            let mut images = Vec::new();
            read_media(bytes, block, problems, |image| images.push(image));
            // Results in a string (ShareGPT) pair by order alone, as they do where messages are cut into steps. Such a
            // result takes its tool's name from the call, so that the two agree.
            let is_in_string = block.body.nested.is_some();
            let own = label(name);
            let (id, of_call) = ids.result(id_of(id), own.as_deref().filter(|_| !is_in_string));
            let of_call = of_call.map(Cow::Owned);
            let name = if is_in_string { of_call.or(own) } else { own.or(of_call) };
            let name = name.unwrap_or_default().into_owned();
            let error = *error == Some(true);
            pieces.push(NeutralPiece::Result { id, name, text: text(), images, error });
        }
        BlockKind::Media => {
            read_media(bytes, block, problems, |image| pieces.push(NeutralPiece::Image(image)));
        }
        BlockKind::Opaque => {
            let start = String::from_utf8_lossy(block.outer.of(bytes));
            let start: String = start.chars().take(60).collect();
            problems.push(ReadProblem::new("opaque-block", format!("left out: {start}")));
        }
    }
}

/// Whether the dialect keeps the system prompt outside the messages.
pub(super) fn keeps_system_outside(kind: DialectKind) -> bool {
    matches!(kind, DialectKind::Anthropic | DialectKind::Gemini | DialectKind::Bedrock)
}

/// Whether a Gemini part other than reasoning carries a thought signature of the provider.
fn is_signed(bytes: &[u8], block: &BlockView) -> bool {
    let outer = block.outer.to_usize();
    let part = ObjectFields::of(bytes, outer).in_either_spelling();
    let token = part.raw("thoughtSignature").unwrap_or_default();
    !block.is_reasoning() && token.len() > 2 && inside(token) != UNSIGNED.as_bytes()
}

fn read_media(
    bytes: &[u8],
    block: &BlockView,
    problems: &mut Vec<ReadProblem>,
    mut each: impl FnMut(PictureSource),
) {
    for media in &block.media {
        let source =
            (media.kind == MediaKind::Image).then(|| media::source(bytes, media)).flatten();
        match source {
            Some(source) => each(source),
            None => {
                let detail = format!("{:?} was left out", media.kind).to_lowercase();
                problems.push(ReadProblem::new("media", detail));
            }
        }
    }
}
