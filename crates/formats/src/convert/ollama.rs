//! Writing a neutral message as those of Ollama's `/api/chat`.

use bytes::Bytes;
use midfold_core::Role;

use super::neutral::{Neutral, Piece};
use super::write::{is_result, list, object};
use crate::dialect::ollama::{message as said, result};
use crate::media::Source;
use crate::problem::Problem;
use crate::render::Json;

/// Results become tool messages; what else a user said follows them.
pub(super) fn ollama(message: &Neutral, out: &mut Vec<Bytes>, problems: &mut Vec<Problem>) {
    for piece in &message.pieces {
        if let Piece::Result { id, name, text, images, .. } = piece {
            let json = result(id, name, text);
            out.push(with_images(json, images.iter(), problems).raw("}").done());
        }
    }
    match message.role {
        Role::Assistant => out.push(assistant(message, problems)),
        Role::System | Role::Developer => {
            out.push(said(Role::System.name(), &message.text()).raw("}").done());
        }
        _ if message.pieces.is_empty() || !message.pieces.iter().all(is_result) => {
            out.push(user(message, problems));
        }
        _ => {}
    }
}

fn user(message: &Neutral, problems: &mut Vec<Problem>) -> Bytes {
    let texts = texts(message, |piece| match piece {
        Piece::Text(text) | Piece::Refusal(text) | Piece::Reasoning(text) => Some(text),
        _ => None,
    });
    let images = message.pieces.iter().filter_map(|piece| match piece {
        Piece::Image(source) => Some(source),
        _ => None,
    });
    with_images(said(Role::User.name(), &texts), images, problems).raw("}").done()
}

fn assistant(message: &Neutral, problems: &mut Vec<Problem>) -> Bytes {
    let content = texts(message, |piece| match piece {
        Piece::Text(text) | Piece::Refusal(text) => Some(text),
        _ => None,
    });
    let thinking = texts(message, |piece| match piece {
        Piece::Reasoning(text) => Some(text),
        _ => None,
    });
    let mut json = said(Role::Assistant.name(), &content);
    if !thinking.is_empty() {
        json = json.raw(r#","thinking":"#).text(&thinking);
    }
    let calls: Vec<_> = message.pieces.iter().filter_map(|piece| call(piece, problems)).collect();
    if !calls.is_empty() {
        json = list(json.raw(r#","tool_calls":"#), calls.into_iter());
    }
    json.raw("}").done()
}

fn call(piece: &Piece, problems: &mut Vec<Problem>) -> Option<Bytes> {
    let Piece::Call { id, name, arguments } = piece else { return None };
    let json = Json::default().raw(r#"{"id":"#).text(id).raw(r#","function":{"name":"#).text(name);
    Some(object(json.raw(r#","arguments":"#), arguments, problems).raw("}}").done())
}

/// These texts of a message, a line each: it has one place for them.
fn texts(message: &Neutral, wanted: impl Fn(&Piece) -> Option<&String>) -> String {
    let texts: Vec<_> = message.pieces.iter().filter_map(wanted).map(String::as_str).collect();
    texts.join("\n")
}

/// Ollama takes the bytes of a picture, and no address.
fn with_images<'a>(
    json: Json,
    images: impl Iterator<Item = &'a Source>,
    problems: &mut Vec<Problem>,
) -> Json {
    let mut data = Vec::new();
    for image in images {
        match image {
            Source::Base64 { data: base64, .. } => {
                data.push(Json::default().text(base64).done());
            }
            Source::Url(_) => {
                let detail = "an image that is no base64 was left out";
                problems.push(Problem::new("media", detail));
            }
        }
    }
    if data.is_empty() { json } else { list(json.raw(r#","images":"#), data.into_iter()) }
}
