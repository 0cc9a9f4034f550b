//! Reads turns. A `ShareGPT` value has many parts, and finding each of them would decode the whole value again; here it
//! is decoded once.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use midfold_core::log::EventLog;
use midfold_core::{ClientWords, Dialect, EventView, RawEvent, Role, jsonstr};

use super::row::{TrajectoryRow, TurnShape};
use super::weigh::Bytes4;
use crate::client_words::KnownClients;
use crate::dialect::ShareGpt;
use crate::dialect::sharegpt::decoded_view;
use crate::profile;

/// A turn with its view.
pub(super) struct ReadTurn<'a> {
    /// The bytes that the view refers to. They are not the turn's own bytes.
    pub bytes: Cow<'a, [u8]>,
    pub view: EventView,
}

/// Reads a turn.
pub(super) fn turn<'a>(row: &'a TrajectoryRow<'_>, at: usize) -> ReadTurn<'a> {
    match bytes_of(row, at) {
        (bytes, true) => ReadTurn { view: SpokenTurns.view(&bytes), bytes },
        (bytes, false) => ReadTurn { view: row.shape().dialect().dialect().view(&bytes), bytes },
    }
}

/// The bytes to read, and whether they are in the form of [`SpokenTurns`].
fn bytes_of<'a>(row: &'a TrajectoryRow<'_>, at: usize) -> (Cow<'a, [u8]>, bool) {
    let turn = &row.turns()[at];
    match (row.shape(), &turn.value) {
        (TurnShape::ShareGpt, Some(value)) => {
            (Cow::Owned(SpokenTurns::event(turn.role, &row.text()[value.clone()])), true)
        }
        (TurnShape::ShareGpt, None) => (Cow::Owned(SpokenTurns::event(turn.role, b"")), true),
        (TurnShape::Messages, _) => (Cow::Borrowed(row.turn_bytes(at)), false),
    }
}

/// The turns as events that can be read. Their token counts are estimates, which no caller uses.
pub(super) fn log(row: &TrajectoryRow<'_>, turns: Range<usize>) -> EventLog {
    let kind = row.shape().dialect();
    let profile = profile::for_dialect(kind).first().copied().unwrap_or(profile::OPENAI);
    let dialect: Arc<dyn Dialect> = match row.shape() {
        TurnShape::ShareGpt => Arc::new(SpokenTurns),
        TurnShape::Messages => kind.shared(),
    };
    let event = |at: usize| Bytes::from(bytes_of(row, at).0.into_owned());
    let events = turns.map(|at| RawEvent::new(event(at)));
    EventLog::of(dialect, profile, Arc::new(Bytes4), events)
}

/// Turns of `ShareGPT`, for reading only: one byte for the speaker, and then the decoded value.
#[derive(Clone, Copy, Debug)]
struct SpokenTurns;

/// The roles; the first byte of a turn is an index in this list.
const SPEAKERS: [Role; 6] =
    [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool, Role::Other];

impl SpokenTurns {
    fn event(role: Role, value: &[u8]) -> Vec<u8> {
        let text = jsonstr::decode(value);
        let mut bytes = Vec::with_capacity(text.len() + 1);
        let speaker = SPEAKERS.iter().position(|known| *known == role).unwrap_or_default();
        bytes.push(u8::try_from(speaker).unwrap_or_default());
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }
}

impl Dialect for SpokenTurns {
    fn client_words(&self) -> &dyn ClientWords {
        &KnownClients
    }

    fn name(&self) -> &'static str {
        ShareGpt.name()
    }

    fn view(&self, bytes: &[u8]) -> EventView {
        let speaker = bytes.first().map_or(usize::MAX, |byte| usize::from(*byte));
        let role = SPEAKERS.get(speaker).copied().unwrap_or(Role::Other);
        decoded_view(bytes, bytes.len().min(1), role)
    }

    fn made_message(&self, role: Role, text: &str) -> Bytes {
        ShareGpt.made_message(role, text)
    }

    fn made_result(&self, like: &[u8], id: &str, name: &str, text: &str) -> Bytes {
        ShareGpt.made_result(like, id, name, text)
    }

    fn results_as_text(&self, bytes: &[u8], _: &EventView, _: &[usize]) -> Bytes {
        // Turns in this form are only read, so nobody asks for a changed one.
        Bytes::copy_from_slice(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoded_turn_reads_as_the_turn_does() {
        let values = [
            (
                "gpt",
                r#"<think>\nhm \"x\"\n</think>\nLook.\n<tool_call>\n{\"name\": \"ba\\u0073h\", \"arguments\": {\"command\": \"ls \\\"a\\\" caf\u00e9\"}}\n</tool_call>\n<tool_call>\nnot json\n</tool_call>"#,
            ),
            (
                "tool",
                r#"<tool_response>\n{\"tool_call_id\": \"1\", \"name\": \"bash\", \"content\": \"one\\ntwo\"}\n</tool_response>\n<tool_response>\n{\"content\": {\"a\": [1]}}\n</tool_response>"#,
            ),
            ("tool", "plain"),
            ("human", r#"Fix <b>it</b>\n\u003ctool_call\u003e"#),
            ("gpt", r#"\u003cthink\u003ex\u003c/think\u003e"#),
            ("system", ""),
        ];
        for (from, value) in values {
            let turn = format!(r#"{{"from":"{from}","value":"{value}"}}"#);
            let row = format!(r#"{{"conversations":[{turn}]}}"#);
            let row = TrajectoryRow::read(row.as_bytes()).unwrap();
            let log = log(&row, 0..1);
            let (event, view) = (&log.events()[0], ShareGpt.view(turn.as_bytes()));
            assert_eq!((event.view.role, event.view.origin), (view.role, view.origin));
            assert_eq!(event.view.blocks.len(), view.blocks.len(), "{value}");
            for (own, block) in event.view.blocks.iter().zip(&view.blocks) {
                assert_eq!(own.text(&event.bytes), block.text(turn.as_bytes()));
                assert_eq!(format!("{:.5?}", own.kind)[..4], format!("{:.5?}", block.kind)[..4]);
                let name = |kind: &midfold_core::BlockKind, bytes: &[u8]| match kind {
                    midfold_core::BlockKind::Call { name, .. }
                    | midfold_core::BlockKind::Result { name, .. } => {
                        name.map(|name| name.decode(bytes).into_owned())
                    }
                    _ => None,
                };
                assert_eq!(name(&own.kind, &event.bytes), name(&block.kind, turn.as_bytes()));
            }
        }
    }
}
