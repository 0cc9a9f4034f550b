//! Writes a neutral message as one element of Gemini's `contents`.

use bytes::Bytes;
use midfold_core::Role;

use super::neutral::{NeutralMessage, NeutralPiece, UNSIGNED};
use super::write::{in_order, list, object, plain_name};
use crate::dialect::gemini::response;
use crate::media::PictureSource;
use crate::problem::ReadProblem;
use crate::render::{EMPTY, Json};

/// Writes a message as parts: results first, blank texts left out.
pub(super) fn gemini(
    message: &NeutralMessage,
    out: &mut Vec<Bytes>,
    problems: &mut Vec<ReadProblem>,
) {
    let is_model = message.role == Role::Assistant;
    let mut calls = 0;
    let mut parts = Vec::with_capacity(message.pieces.len());
    for piece in in_order(message) {
        calls += usize::from(matches!(piece, NeutralPiece::Call { .. }));
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
    out.push(list(json, parts.into_iter()).raw("}").finish());
}

fn text_part(text: &str) -> Bytes {
    Json::default().raw(r#"{"text":"#).text(text).raw("}").finish()
}

/// Writes one piece as a part. `None` for a blank text.
fn part(piece: &NeutralPiece, first_call: bool, problems: &mut Vec<ReadProblem>) -> Option<Bytes> {
    Some(match piece {
        NeutralPiece::Text(text) | NeutralPiece::Refusal(text) | NeutralPiece::Reasoning(text)
            if text.trim().is_empty() =>
        {
            return None;
        }
        NeutralPiece::Text(text) | NeutralPiece::Refusal(text) => text_part(text),
        NeutralPiece::Reasoning(text) => {
            Json::default().raw(r#"{"text":"#).text(text).raw(r#","thought":true}"#).finish()
        }
        NeutralPiece::Image(source) => image(source),
        NeutralPiece::Call { id, name, arguments } => {
            let json = Json::default().raw(r#"{"functionCall":{"id":"#).text(id);
            let json = json.raw(r#","name":"#).text(&plain_name(name, "-_.:")).raw(r#","args":"#);
            let json = object(json, arguments, problems).raw("}");
            if first_call {
                json.raw(r#","thoughtSignature":"#).text(UNSIGNED).raw("}").finish()
            } else {
                json.raw("}").finish()
            }
        }
        NeutralPiece::Result { id, name, text, images, error } => {
            let key = if *error { "error" } else { "output" };
            let name = plain_name(name, "-_.:");
            let json = response(Json::default(), id, &name, key, text);
            let json = if images.is_empty() {
                json
            } else {
                list(json.raw(r#","parts":"#), images.iter().map(image))
            };
            json.raw("}}").finish()
        }
    })
}

fn image(source: &PictureSource) -> Bytes {
    match source {
        PictureSource::Base64 { mime, data } => {
            let json = Json::default().raw(r#"{"inlineData":{"mimeType":"#).text(mime);
            json.raw(r#","data":"#).text(data).raw("}}").finish()
        }
        PictureSource::Url(url) => {
            // Gemini wants a type, and a URL does not name one.
            let json = Json::default().raw(r#"{"fileData":{"mimeType":"image/*","fileUri":"#);
            json.text(url).raw("}}").finish()
        }
    }
}
