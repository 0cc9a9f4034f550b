//! Writes a neutral message in a dialect.

use std::borrow::Cow;

use bytes::Bytes;
use midfold_core::Role;
use midfold_core::arguments::as_object;

use super::neutral::{NeutralMessage, NeutralPiece};
use crate::media::PictureSource;
use crate::problem::ReadProblem;
use crate::render::{EMPTY, Json};

/// A function that appends the messages of the target dialect that one neutral message becomes.
pub(super) type NeutralWriter = fn(&NeutralMessage, &mut Vec<Bytes>, &mut Vec<ReadProblem>);

/// The longest call id that Chat Completions takes, in characters.
const CHAT_ID: usize = 40;
/// The longest call id and tool name that Anthropic, Gemini and Bedrock take, in characters.
const LONGEST_NAME: usize = 64;

/// Writes tool messages for the results; the user's other content follows them.
pub(super) fn openai_chat(
    message: &NeutralMessage,
    out: &mut Vec<Bytes>,
    problems: &mut Vec<ReadProblem>,
) {
    // Tool messages have to follow the model's message directly, so they come before what the user says.
    for piece in &message.pieces {
        if let NeutralPiece::Result { id, text, images, .. } = piece {
            if !images.is_empty() {
                problems.push(ReadProblem::new("media", "an image in a tool result was left out"));
            }
            let json = Json::default().raw(r#"{"role":"tool","tool_call_id":"#);
            let json = json.text(last_chars(id, CHAT_ID)).raw(r#","content":"#).text(text);
            out.push(json.raw("}").finish());
        }
    }
    match message.role {
        Role::Assistant => out.push(chat_assistant(message)),
        Role::System | Role::Developer => {
            let json = Json::default().raw(r#"{"role":""#).raw(message.role.name());
            out.push(json.raw(r#"","content":"#).text(&message.text()).raw("}").finish());
        }
        _ => {
            let spoken: Vec<_> = message.pieces.iter().filter(|p| !is_result(p)).collect();
            // A message of results alone is written by now. An empty message still takes its turn.
            if !spoken.is_empty() || message.pieces.is_empty() {
                out.push(chat_user(&spoken));
            }
        }
    }
}

pub(super) fn is_result(piece: &NeutralPiece) -> bool {
    matches!(piece, NeutralPiece::Result { .. })
}

fn chat_user(pieces: &[&NeutralPiece]) -> Bytes {
    let json = Json::default().raw(r#"{"role":"user","content":"#);
    // Providers refuse a message without content, and a blank part beside others.
    let is_blank = |piece: &&NeutralPiece| match piece {
        NeutralPiece::Text(text) | NeutralPiece::Refusal(text) | NeutralPiece::Reasoning(text) => {
            text.trim().is_empty()
        }
        _ => false,
    };
    let pieces: Vec<_> = pieces.iter().copied().filter(|piece| !is_blank(piece)).collect();
    let json = match pieces[..] {
        [] => json.text(EMPTY),
        [NeutralPiece::Text(text)] => json.text(text),
        _ => {
            let parts = pieces.iter().filter_map(|piece| match piece {
                NeutralPiece::Text(text)
                | NeutralPiece::Refusal(text)
                | NeutralPiece::Reasoning(text) => Some(text_part(text)),
                NeutralPiece::Image(source) => {
                    let start = Json::default().raw(r#"{"type":"image_url","image_url":{"url":"#);
                    Some(start.text(&source.to_url()).raw("}}").finish())
                }
                NeutralPiece::Call { .. } | NeutralPiece::Result { .. } => None,
            });
            list(json, parts)
        }
    };
    json.raw("}").finish()
}

fn text_part(text: &str) -> Bytes {
    Json::default().raw(r#"{"type":"text","text":"#).text(text).raw("}").finish()
}

pub(super) fn list(json: Json, elements: impl Iterator<Item = Bytes>) -> Json {
    let mut json = json.raw("[");
    for (at, element) in elements.enumerate() {
        json = if at > 0 { json.raw(",") } else { json }.raw(element);
    }
    json.raw("]")
}

/// Writes an assistant message. Its texts are joined to one string, because Chat Completions has one place for them.
/// The content is `null` beside calls or a refusal where there is no text.
fn chat_assistant(message: &NeutralMessage) -> Bytes {
    let (mut texts, mut reasoning, mut refusals, mut calls) = (vec![], vec![], vec![], vec![]);
    for piece in &message.pieces {
        match piece {
            NeutralPiece::Text(text) => texts.push(text.as_str()),
            NeutralPiece::Reasoning(text) => reasoning.push(text.as_str()),
            NeutralPiece::Refusal(text) => refusals.push(text.as_str()),
            NeutralPiece::Call { id, name, arguments } => {
                calls.push(chat_call(id, name, arguments))
            }
            NeutralPiece::Image(_) | NeutralPiece::Result { .. } => {}
        }
    }
    let json = Json::default().raw(r#"{"role":"assistant","content":"#);
    let mut json = if texts.is_empty() && !(calls.is_empty() && refusals.is_empty()) {
        json.raw("null")
    } else {
        json.text(&texts.join("\n"))
    };
    if !reasoning.is_empty() {
        json = json.raw(r#","reasoning_content":"#).text(&reasoning.join("\n"));
    }
    if !refusals.is_empty() {
        json = json.raw(r#","refusal":"#).text(&refusals.join("\n"));
    }
    if !calls.is_empty() {
        json = list(json.raw(r#","tool_calls":"#), calls.into_iter());
    }
    json.raw("}").finish()
}

fn chat_call(id: &str, name: &str, arguments: &str) -> Bytes {
    let arguments = if arguments.is_empty() { "{}" } else { arguments };
    Json::default()
        .raw(r#"{"id":"#)
        .text(last_chars(id, CHAT_ID))
        .raw(r#","type":"function","function":{"name":"#)
        .text(name)
        .raw(r#","arguments":"#)
        .text(arguments)
        .raw("}}")
        .finish()
}

/// The last `limit` characters of an id: ids of one provider begin alike and differ at the end.
fn last_chars(id: &str, limit: usize) -> &str {
    let excess = id.chars().count().saturating_sub(limit);
    id.char_indices().nth(excess).map_or(id, |(at, _)| &id[at..])
}

/// Writes a message as content blocks: results first, blank texts left out.
pub(super) fn anthropic(
    message: &NeutralMessage,
    out: &mut Vec<Bytes>,
    problems: &mut Vec<ReadProblem>,
) {
    let role = if message.role == Role::Assistant { "assistant" } else { "user" };
    let mut blocks: Vec<_> =
        in_order(message).filter_map(|piece| anthropic_block(piece, problems)).collect();
    if blocks.is_empty() {
        if role == "assistant" {
            return;
        }
        blocks.push(text_part(EMPTY));
    }
    let json = Json::default().raw(r#"{"role":""#).raw(role).raw(r#"","content":"#);
    out.push(list(json, blocks.into_iter()).raw("}").finish());
}

/// Writes one piece as a content block. `None` for a piece that Anthropic cannot take.
fn anthropic_block(piece: &NeutralPiece, problems: &mut Vec<ReadProblem>) -> Option<Bytes> {
    Some(match piece {
        NeutralPiece::Text(text) | NeutralPiece::Refusal(text) => {
            if text.trim().is_empty() {
                return None;
            }
            text_part(text)
        }
        NeutralPiece::Reasoning(_) => {
            let detail = "reasoning without a signature was left out";
            problems.push(ReadProblem::new("unsigned-reasoning", detail));
            return None;
        }
        NeutralPiece::Image(source) => anthropic_image(source),
        NeutralPiece::Call { id, name, arguments } => {
            let json =
                Json::default().raw(r#"{"type":"tool_use","id":"#).text(&plain_name(id, "-_"));
            let json = json.raw(r#","name":"#).text(&plain_name(name, "-_")).raw(r#","input":"#);
            object(json, arguments, problems).raw("}").finish()
        }
        NeutralPiece::Result { id, text, images, error, .. } => {
            let json = Json::default().raw(r#"{"type":"tool_result","tool_use_id":"#);
            let json = json.text(&plain_name(id, "-_")).raw(r#","content":"#);
            let json = if images.is_empty() {
                json.text(text)
            } else {
                let text = (!text.trim().is_empty()).then(|| text_part(text));
                list(json, text.into_iter().chain(images.iter().map(anthropic_image)))
            };
            if *error { json.raw(r#","is_error":true}"#) } else { json.raw("}") }.finish()
        }
    })
}

/// Writes arguments where the provider wants an object. Other arguments are wrapped in one, with a problem.
pub(super) fn object(json: Json, arguments: &str, problems: &mut Vec<ReadProblem>) -> Json {
    let object = as_object(arguments);
    if matches!(object, Cow::Owned(_)) {
        let detail = "arguments that are no object were wrapped in one";
        problems.push(ReadProblem::new("arguments", detail));
    }
    json.raw(object.as_bytes())
}

/// The pieces of a message, results first.
pub(super) fn in_order(message: &NeutralMessage) -> impl Iterator<Item = &NeutralPiece> {
    // The providers want the results at the start of the message that follows the calls.
    let results = message.pieces.iter().filter(|piece| is_result(piece));
    results.chain(message.pieces.iter().filter(|piece| !is_result(piece)))
}

fn anthropic_image(source: &PictureSource) -> Bytes {
    let json = Json::default().raw(r#"{"type":"image","source":{"type":""#);
    match source {
        PictureSource::Base64 { mime, data } => {
            json.raw(r#"base64","media_type":"#).text(mime).raw(r#","data":"#).text(data)
        }
        PictureSource::Url(url) => json.raw(r#"url","url":"#).text(url),
    }
    .raw("}}")
    .finish()
}

/// An id or name in the characters that a provider takes: ASCII letters, digits and `signs`. Any other becomes `_`.
pub(super) fn plain_name<'a>(name: &'a str, signs: &str) -> Cow<'a, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
    let name = last_chars(name, LONGEST_NAME);
    // Providers refuse an empty id or name.
    if name.is_empty() {
        return Cow::Borrowed("unknown");
    }
    if name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect())
}
