//! Rows made of transcripts: a conversation of any format becomes one row.

use midfold_core::{RawEvent, jsonstr};

use super::row::TurnShape;
use crate::convert::{convert_conversation, put_system_first};
use crate::problem::ReadProblem;
use crate::read::{Conversation, TranscriptFormat};
use crate::scan;

/// The row of a conversation, and what it could not carry over: `id`, `model` and `tools` where the conversation has
/// them, and its messages as turns of this shape.
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::read::read;
/// use midfold_formats::trajectory::{TurnShape, row_of};
///
/// let request = br#"{"system":"Be brief.","messages":[{"role":"user","content":"hi"}]}"#;
/// let conversation = read(&Bytes::from_static(request), None)?.conversations.remove(0);
/// let (row, problems) = row_of(conversation, TurnShape::ShareGpt);
/// let turns = r#"[{"from":"system","value":"Be brief."},{"from":"human","value":"hi"}]"#;
/// assert_eq!(String::from_utf8_lossy(&row), format!(r#"{{"conversations":{turns}}}"#));
/// assert!(problems.is_empty());
/// # Ok::<(), midfold_formats::read::ReadError>(())
/// ```
#[must_use]
pub fn row_of(mut conversation: Conversation, shape: TurnShape) -> (Vec<u8>, Vec<ReadProblem>) {
    let kind = shape.dialect();
    let ends = without_ends(&mut conversation);
    let mut problems = convert_conversation(&mut conversation, kind);
    problems.extend(ends);
    put_system_first(&mut conversation, kind);
    let Conversation { id, events, envelope, .. } = conversation;
    let mut members: Vec<(&str, Vec<u8>)> = Vec::new();
    members.extend(id.map(|id| ("id", jsonstr::encode(&id).into_bytes())));
    members.extend(envelope.model.map(|model| ("model", jsonstr::encode(&model).into_bytes())));
    members.extend(envelope.tools.map(|tools| ("tools", tools.to_vec())));
    let turns: Vec<_> = events.iter().map(|event| &event.bytes[..]).collect();
    members.push((shape.list(), [&b"["[..], &turns.join(&b","[..]), b"]"].concat()));
    let member =
        |(name, value): (&str, Vec<u8>)| [format!("\"{name}\":").into_bytes(), value].concat();
    let members: Vec<_> = members.into_iter().map(member).collect();
    let row = [&b"{"[..], &members.join(&b","[..]), b"}"].concat();
    (on_one_line(&row), problems)
}

/// Takes out the messages with which mini-swe-agent notes how a run ended: nobody sent them, and no trainer has their
/// role.
fn without_ends(conversation: &mut Conversation) -> Option<ReadProblem> {
    let is_end = |event: &RawEvent| {
        scan::get(&event.bytes, 0..event.bytes.len(), "role")
            .is_some_and(|at| &event.bytes[at] == br#""exit""#)
    };
    let all = conversation.events.len();
    if conversation.format == TranscriptFormat::MiniSweAgent {
        conversation.events.retain(|event| !is_end(event));
    }
    let left_out = all - conversation.events.len();
    let detail = "left out: how the run ended, a message of the role `exit`";
    (left_out > 0).then(|| ReadProblem::new("run-end", detail))
}

/// The same JSON on one line. A line break of JSON is between its values, never in a string.
///
/// ```
/// use midfold_formats::trajectory::on_one_line;
/// assert_eq!(on_one_line(b"{\n \"id\": \"a\\nb\"\n}"), b"{  \"id\": \"a\\nb\" }");
/// ```
#[must_use]
pub fn on_one_line(json: &[u8]) -> Vec<u8> {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    json.iter().map(|byte| if is_break(byte) { b' ' } else { *byte }).collect()
}
