//! Writing a neutral message as one element of Gemini's `contents`.

use bytes::Bytes;
use midfold_core::Role;

use super::neutral::{Neutral, Piece, UNSIGNED};
use super::write::{in_order, list, object, plain_name};
use crate::dialect::gemini::response;
use crate::media::Source;
use crate::problem::Problem;
use crate::render::{EMPTY, Json};

/// Parts; results first, blank texts left out.
pub(super) fn gemini(message: &Neutral, out: &mut Vec<Bytes>, problems: &mut Vec<Problem>) {
    let is_model = message.role == Role::Assistant;
    let mut calls = 0;
    let mut parts = Vec::with_capacity(message.pieces.len());
    for piece in in_order(message, problems) {
        calls += usize::from(matches!(piece, Piece::Call { .. }));
        parts.extend(part(piece, calls == 1, problems));
    }
    if parts.is_empty() {
        if is_model {
            return;
        }
        parts.push(text_part(EMPTY));
    }
    let role = if is_model { "model" } else { "user" };
    let json = Json::default().raw(r#"{"role":""#).raw(role).raw(r#"","parts":"#);
    out.push(list(json, parts.into_iter()).raw("}").done());
}

fn text_part(text: &str) -> Bytes {
    Json::default().raw(r#"{"text":"#).text(text).raw("}").done()
}

fn part(piece: &Piece, first_call: bool, problems: &mut Vec<Problem>) -> Option<Bytes> {
    Some(match piece {
        Piece::Text(text) | Piece::Refusal(text) | Piece::Reasoning(text)
            if text.trim().is_empty() =>
        {
            return None;
        }
        Piece::Text(text) | Piece::Refusal(text) => text_part(text),
        Piece::Reasoning(text) => {
            Json::default().raw(r#"{"text":"#).text(text).raw(r#","thought":true}"#).done()
        }
        Piece::Image(source) => image(source),
        Piece::Call { id, name, arguments } => {
            let json = Json::default().raw(r#"{"functionCall":{"id":"#).text(id);
            let json = json.raw(r#","name":"#).text(&plain_name(name, "-_.:")).raw(r#","args":"#);
            let json = object(json, arguments, problems).raw("}");
            if first_call {
                json.raw(r#","thoughtSignature":"#).text(UNSIGNED).raw("}").done()
            } else {
                json.raw("}").done()
            }
        }
        Piece::Result { id, name, text, images, error } => {
            let key = if *error { "error" } else { "output" };
            let name = plain_name(name, "-_.:");
            let json = response(Json::default(), id, &name, key, text);
            let json = if images.is_empty() {
                json
            } else {
                list(json.raw(r#","parts":"#), images.iter().map(image))
            };
            json.raw("}}").done()
        }
    })
}

fn image(source: &Source) -> Bytes {
    match source {
        Source::Base64 { mime, data } => {
            let json = Json::default().raw(r#"{"inlineData":{"mimeType":"#).text(mime);
            json.raw(r#","data":"#).text(data).raw("}}").done()
        }
        Source::Url(url) => {
            let json = Json::default().raw(r#"{"fileData":{"mimeType":"image/*","fileUri":"#);
            json.text(url).raw("}}").done()
        }
    }
}
