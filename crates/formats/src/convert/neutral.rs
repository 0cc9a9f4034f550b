//! A message without a dialect: conversion reads it from a view and writes it in the target's dialect.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use midfold_core::{BlockKind, BlockView, EventView, MediaKind, Role, TextRef};

use crate::dialect::DialectKind;
use crate::fields::ObjectFields;
use crate::media::{self, PictureSource};
use crate::problem::ReadProblem;
use crate::scan::inside;

/// The value in place of the signature of a call that Gemini did not make. Gemini 3 refuses the first call of a step
/// without a signature; its documentation names this value for such calls.
pub(crate) const UNSIGNED: &str = "skip_thought_signature_validator";

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
    /// The calls, and the results, without an id so far. They are counted apart, since a single event holds only one of
    /// the two and still has to get a number.
    calls: usize,
    results: usize,
    /// The ids that were made up for calls without a result so far, with the names of their tools.
    open: VecDeque<(String, String)>,
    /// How often each id of the source belongs to a call without a result so far.
    own: HashMap<String, usize>,
    /// The same ids in order, with the names of their tools.
    own_in_order: VecDeque<(String, String)>,
    /// The tool name of each id.
    names: HashMap<String, String>,
}

impl ConversationIds {
    fn call(&mut self, own: Option<Cow<'_, str>>, name: &str) -> String {
        let id = if let Some(id) = own {
            let id = id.into_owned();
            *self.own.entry(id.clone()).or_default() += 1;
            self.own_in_order.push_back((id.clone(), name.to_owned()));
            id
        } else {
            let id = format!("call_{}", self.calls);
            self.calls += 1;
            self.open.push_back((id.clone(), name.to_owned()));
            id
        };
        self.names.insert(id.clone(), name.to_owned());
        id
    }

    fn name(&self, id: &str) -> String {
        self.names.get(id).cloned().unwrap_or_default()
    }

    /// The id of the call that a result answers. `own` is the result's id in the source, `name` the tool that it names.
    /// A result without an id of an open call pairs with the oldest open call, if possible of the same tool.
    fn result(&mut self, own: Option<Cow<'_, str>>, name: Option<&str>) -> String {
        if let Some(id) = own.as_deref()
            && let Some(open) = self.own.get_mut(id)
            && *open > 0
        {
            *open -= 1;
            // The same id may be open twice; the oldest call with it is answered first.
            let at = self.own_in_order.iter().position(|(open, _)| open == id);
            at.and_then(|at| self.own_in_order.remove(at));
            return id.to_owned();
        }
        if let Some((given, _)) = take(&mut self.open, name) {
            self.results += 1;
            return given;
        }
        if let Some(own) = own {
            return own.into_owned();
        }
        if let Some(id) = self.unnamed_result(name) {
            return id;
        }
        let id = format!("call_{}", self.results);
        self.results += 1;
        id
    }

    /// The oldest open call that a result without an id answers. Clients of Ollama drop the ids of results.
    fn unnamed_result(&mut self, name: Option<&str>) -> Option<String> {
        let (id, _) = take(&mut self.own_in_order, name)?;
        if let Some(open) = self.own.get_mut(&id) {
            *open -= 1;
        }
        Some(id)
    }
}

/// Removes and returns the oldest call of this tool, or else the oldest of any tool.
fn take(open: &mut VecDeque<(String, String)>, name: Option<&str>) -> Option<(String, String)> {
    let same = open.iter().position(|(_, tool)| Some(tool.as_str()) == name);
    open.remove(same.unwrap_or(0))
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
        let says_which = !view.blocks.is_empty() && view.blocks.iter().all(is_opaque);
        // Opaque blocks report their first characters below, which says more than an unknown role.
        if view.role == Role::Other && !says_which {
            let detail = "a message of an unknown role was left out";
            problems.push(ReadProblem::new("unknown-role", detail));
            return None;
        }
        let mut pieces = Vec::with_capacity(view.blocks.len());
        for block in &view.blocks {
            read_block(bytes, block, ids, &mut pieces, problems);
        }
        // An item of which every block was lost leaves no empty message behind.
        let lost = pieces.is_empty() && !view.blocks.is_empty();
        (!lost).then_some(Self { role: view.role, pieces })
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
    pub(super) fn takes(&self, next: &Self, from: DialectKind, to: DialectKind) -> bool {
        let items = from == DialectKind::OpenAiResponses;
        if matches!(to, DialectKind::Gemini | DialectKind::Bedrock) {
            return (self.role == Role::Assistant) == (next.role == Role::Assistant);
        }
        match (self.role, next.role) {
            (Role::Assistant, Role::Assistant) => items || from == DialectKind::Anthropic,
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
                let lost = if text.is_empty() { "encrypted reasoning" } else { "a signature" };
                let detail = format!("{lost} is bound to its provider and was left out");
                problems.push(ReadProblem::new("encrypted-reasoning", detail));
            }
            if !text.is_empty() {
                pieces.push(NeutralPiece::Reasoning(text));
            }
        }
        BlockKind::Call { id, name } => {
            // Each target refuses a call without a name.
            let name = label(name).map_or_else(|| "unknown_tool".to_owned(), Cow::into_owned);
            let id = ids.call(label(id), &name);
            pieces.push(NeutralPiece::Call { id, name, arguments: text() });
        }
        BlockKind::Result { id, name, error } => {
            let mut images = Vec::new();
            read_media(bytes, block, problems, |image| images.push(image));
            let name = label(name).filter(|_| block.body.nested.is_none());
            let id = ids.result(label(id), name.as_deref());
            let name = name.map_or_else(|| ids.name(&id), Cow::into_owned);
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
