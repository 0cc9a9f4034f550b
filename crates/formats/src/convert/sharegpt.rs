//! Writes a neutral message as turns of `ShareGPT`, in the tags that Hermes writes.

use bytes::Bytes;
use midfold_core::{Dialect, Role, jsonstr};

use super::neutral::{NeutralMessage, NeutralPiece};
use super::write::is_result;
use crate::dialect::ShareGpt;
use crate::dialect::sharegpt::{has_tags, response, results_turn};
use crate::problem::ReadProblem;

/// Writes one turn with all results, and then one with the other content.
pub(super) fn sharegpt(
    message: &NeutralMessage,
    out: &mut Vec<Bytes>,
    problems: &mut Vec<ReadProblem>,
) {
    let (results, spoken): (Vec<_>, Vec<_>) =
        message.pieces.iter().partition(|piece| is_result(piece));
    if !results.is_empty() {
        let results: Vec<_> =
            results.into_iter().filter_map(|piece| result(piece, problems)).collect();
        out.push(results_turn(&results.join("\n")));
    }
    // A message of results alone is written by now. An empty message still takes its turn.
    if spoken.is_empty() && !message.pieces.is_empty() {
        return;
    }
    let parts = spoken.into_iter().filter_map(|piece| part(message.role, piece, problems));
    let text = parts.collect::<Vec<_>>().join("\n");
    out.push(ShareGpt.made_message(message.role, &text));
}

fn result(piece: &NeutralPiece, problems: &mut Vec<ReadProblem>) -> Option<String> {
    let NeutralPiece::Result { id, name, text, images, .. } = piece else { return None };
    if !images.is_empty() {
        problems.push(ReadProblem::new("media", "an image in a tool result was left out"));
    }
    Some(response(id, name, text))
}

/// The text of a piece. `None` for one that a turn cannot have.
fn part(role: Role, piece: &NeutralPiece, problems: &mut Vec<ReadProblem>) -> Option<String> {
    match piece {
        NeutralPiece::Text(text) | NeutralPiece::Refusal(text) => {
            if has_tags(role, text) {
                let detail = "a text holds tags by which a reader takes it for a call or a thought";
                problems.push(ReadProblem::new("tags", detail));
            }
            (!text.trim().is_empty()).then(|| text.clone())
        }
        NeutralPiece::Reasoning(text) => Some(format!("<think>\n{text}\n</think>")),
        NeutralPiece::Call { name, arguments, .. } => {
            let is_json = serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
            let arguments = match arguments.trim() {
                "" => "{}".to_owned(),
                json if is_json => json.to_owned(),
                text => jsonstr::encode(text),
            };
            let name = jsonstr::encode(name);
            Some(format!(
                "<tool_call>\n{{\"name\": {name}, \"arguments\": {arguments}}}\n</tool_call>"
            ))
        }
        NeutralPiece::Image(_) => {
            problems.push(ReadProblem::new("media", "an image was left out"));
            None
        }
        NeutralPiece::Result { .. } => None,
    }
}
