//! Writes a neutral message as one of Bedrock Converse.

use bytes::Bytes;
use midfold_core::Role;

use super::neutral::{NeutralMessage, NeutralPiece};
use super::write::{in_order, list, object, plain_name};
use crate::media::PictureSource;
use crate::problem::ReadProblem;
use crate::render::{EMPTY, Json};

/// Writes a message as content blocks: results first, blank texts left out.
pub(super) fn bedrock(
    message: &NeutralMessage,
    out: &mut Vec<Bytes>,
    problems: &mut Vec<ReadProblem>,
) {
    let is_model = message.role == Role::Assistant;
    let mut blocks: Vec<_> = in_order(message).filter_map(|piece| block(piece, problems)).collect();
    if blocks.is_empty() {
        if is_model {
            return;
        }
        blocks.push(text_block(EMPTY));
    }
    let role = if is_model { "assistant" } else { "user" };
    let json = Json::default().raw(r#"{"role":""#).raw(role).raw(r#"","content":"#);
    out.push(list(json, blocks.into_iter()).raw("}").finish());
}

fn text_block(text: &str) -> Bytes {
    Json::default().raw(r#"{"text":"#).text(text).raw("}").finish()
}

/// Writes one piece as a content block. `None` for a piece that Bedrock cannot take.
fn block(piece: &NeutralPiece, problems: &mut Vec<ReadProblem>) -> Option<Bytes> {
    Some(match piece {
        NeutralPiece::Text(text) | NeutralPiece::Refusal(text) => {
            if text.trim().is_empty() {
                return None;
            }
            text_block(text)
        }
        NeutralPiece::Reasoning(_) => {
            let detail = "reasoning without a signature was left out";
            problems.push(ReadProblem::new("unsigned-reasoning", detail));
            return None;
        }
        NeutralPiece::Image(source) => return image(source, problems),
        NeutralPiece::Call { id, name, arguments } => {
            let json = Json::default().raw(r#"{"toolUse":{"toolUseId":"#);
            let json = json.text(&plain_name(id, "-_.:")).raw(r#","name":"#);
            let json = json.text(&plain_name(name, "-_")).raw(r#","input":"#);
            object(json, arguments, problems).raw("}}").finish()
        }
        NeutralPiece::Result { id, text, images, error, .. } => {
            let json = Json::default().raw(r#"{"toolResult":{"toolUseId":"#);
            let json = json.text(&plain_name(id, "-_.:")).raw(r#","content":"#);
            let images: Vec<_> =
                images.iter().filter_map(|source| image(source, problems)).collect();
            // Bedrock refuses a blank text, and a result without content.
            let words = match text.trim() {
                "" if images.is_empty() => Some(text_block(EMPTY)),
                "" => None,
                _ => Some(text_block(text)),
            };
            let json = list(json, words.into_iter().chain(images));
            if *error { json.raw(r#","status":"error"}}"#) } else { json.raw("}}") }.finish()
        }
    })
}

/// Writes an image. Bedrock takes the bytes of four formats and no URL; `None` and a problem for any other image.
fn image(source: &PictureSource, problems: &mut Vec<ReadProblem>) -> Option<Bytes> {
    let known = match source {
        PictureSource::Base64 { mime, data } => {
            let format = mime.strip_prefix("image/");
            let format = format.filter(|name| ["png", "jpeg", "gif", "webp"].contains(name));
            format.map(|format| (format, data))
        }
        PictureSource::Url(_) => None,
    };
    let Some((format, data)) = known else {
        let detail = "an image that is no base64 of PNG, JPEG, GIF or WebP was left out";
        problems.push(ReadProblem::new("media", detail));
        return None;
    };
    let json = Json::default().raw(r#"{"image":{"format":""#).raw(format);
    Some(json.raw(r#"","source":{"bytes":"#).text(data).raw("}}}").finish())
}
