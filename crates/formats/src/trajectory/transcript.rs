//! Rows made of transcripts: a conversation of any format becomes one row.

use midfold_core::jsonstr;

use super::row::TurnShape;
use crate::convert::{convert_conversation, put_system_first};
use crate::problem::ReadProblem;
use crate::read::Conversation;

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
    let problems = convert_conversation(&mut conversation, kind);
    put_system_first(&mut conversation, kind);
    let Conversation { id, events, envelope, .. } = conversation;
    let mut members: Vec<(&str, Vec<u8>)> = Vec::new();
    members.extend(id.map(|id| ("id", jsonstr::encode(&id).into_bytes())));
    members.extend(envelope.model.map(|model| ("model", jsonstr::encode(&model).into_bytes())));
    members.extend(envelope.tools.map(|tools| ("tools", tools.to_vec())));
    let turns: Vec<_> = events.iter().map(|event| &event.bytes[..]).collect();
    members.push((shape.list(), [&b"["[..], &turns.join(&b","[..]), b"]"].concat()));
    let members = members.into_iter().map(|(name, value)| {
        // A message of a file that is written over several lines has line breaks between its members, and only there.
        let value = value.into_iter().map(|byte| if byte == b'\n' { b' ' } else { byte });
        [format!("\"{name}\":").into_bytes(), value.collect()].concat()
    });
    let members = members.collect::<Vec<_>>().join(&b","[..]);
    ([&b"{"[..], &members, b"}"].concat(), problems)
}
