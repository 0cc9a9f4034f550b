//! Writes a neutral message as messages of Ollama's `/api/chat`.

use bytes::Bytes;
use midfold_core::Role;

use super::neutral::{NeutralMessage, NeutralPiece};
use super::write::{is_result, list, object};
use crate::dialect::ollama::{message as open_message, result};
use crate::media::PictureSource;
use crate::problem::ReadProblem;
use crate::render::Json;

/// Writes tool messages for the results; the user's other content follows them.
pub(super) fn ollama(
    message: &NeutralMessage,
    out: &mut Vec<Bytes>,
    problems: &mut Vec<ReadProblem>,
) {
    for piece in &message.pieces {
        if let NeutralPiece::Result { id, name, text, images, .. } = piece {
            let json = result(id, name, text);
            out.push(with_images(json, images.iter(), problems).raw("}").finish());
        }
    }
    match message.role {
        Role::Assistant => out.push(assistant(message, problems)),
        Role::System | Role::Developer => {
            out.push(open_message(Role::System.name(), &message.text()).raw("}").finish());
        }
        // A message of results alone is written above. An empty message still takes its turn.
        _ if message.pieces.is_empty() || !message.pieces.iter().all(is_result) => {
            out.push(user(message, problems));
        }
        _ => {}
    }
}

fn user(message: &NeutralMessage, problems: &mut Vec<ReadProblem>) -> Bytes {
    let texts = texts(message, |piece| match piece {
        NeutralPiece::Text(text) | NeutralPiece::Refusal(text) | NeutralPiece::Reasoning(text) => {
            Some(text)
        }
        _ => None,
    });
    let images = message.pieces.iter().filter_map(|piece| match piece {
        NeutralPiece::Image(source) => Some(source),
        _ => None,
    });
    with_images(open_message(Role::User.name(), &texts), images, problems).raw("}").finish()
}

fn assistant(message: &NeutralMessage, problems: &mut Vec<ReadProblem>) -> Bytes {
    let content = texts(message, |piece| match piece {
        NeutralPiece::Text(text) | NeutralPiece::Refusal(text) => Some(text),
        _ => None,
    });
    let thinking = texts(message, |piece| match piece {
        NeutralPiece::Reasoning(text) => Some(text),
        _ => None,
    });
    let mut json = open_message(Role::Assistant.name(), &content);
    if !thinking.is_empty() {
        json = json.raw(r#","thinking":"#).text(&thinking);
    }
    let calls: Vec<_> = message.pieces.iter().filter_map(|piece| call(piece, problems)).collect();
    if !calls.is_empty() {
        json = list(json.raw(r#","tool_calls":"#), calls.into_iter());
    }
    json.raw("}").finish()
}

fn call(piece: &NeutralPiece, problems: &mut Vec<ReadProblem>) -> Option<Bytes> {
    let NeutralPiece::Call { id, name, arguments } = piece else { return None };
    let json = Json::default().raw(r#"{"id":"#).text(id).raw(r#","function":{"name":"#).text(name);
    Some(object(json.raw(r#","arguments":"#), arguments, problems).raw("}}").finish())
}

/// The wanted texts of a message, one per line: Ollama has one string for them.
fn texts(message: &NeutralMessage, wanted: impl Fn(&NeutralPiece) -> Option<&String>) -> String {
    let texts: Vec<_> = message.pieces.iter().filter_map(wanted).map(String::as_str).collect();
    texts.join("\n")
}

/// Adds the images. Ollama takes the bytes of an image and no URL.
fn with_images<'a>(
    json: Json,
    images: impl Iterator<Item = &'a PictureSource>,
    problems: &mut Vec<ReadProblem>,
) -> Json {
    let mut data = Vec::new();
    for image in images {
        match image {
            PictureSource::Base64 { data: base64, .. } => {
                data.push(Json::default().text(base64).finish());
            }
            PictureSource::Url(_) => {
                let detail = "an image that is no base64 was left out";
                problems.push(ReadProblem::new("media", detail));
            }
        }
    }
    if data.is_empty() { json } else { list(json.raw(r#","images":"#), data.into_iter()) }
}
