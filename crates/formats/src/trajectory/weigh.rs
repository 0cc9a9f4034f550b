//! What each turn of a row costs.

use midfold_core::log::measure;
use midfold_core::trajectory::PlannedTurn;
use midfold_core::view::MediaRef;
use midfold_core::{Counter, TextKind, jsonstr};

use super::row::{TrajectoryRow, TurnShape};

/// Turns with their tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnWeights {
    /// One a turn.
    pub turns: Vec<PlannedTurn>,
    /// Tokens of the tool schemas beside them.
    pub envelope: u64,
}

impl TurnWeights {
    /// Tokens of everything.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.envelope + self.turns.iter().map(|turn| turn.tokens).sum::<u64>()
    }
}

/// Counts every turn. Of a `ShareGPT` turn its `value` counts, as Hermes counts it; of a message
/// its texts, its calls with their arguments, and its images. What a chat template puts around
/// them does not.
#[must_use]
pub fn weigh(row: &TrajectoryRow<'_>, counter: &dyn Counter) -> TurnWeights {
    let mut scratch = String::new();
    let turns = (0..row.turns.len())
        .map(|at| {
            let tokens = turn_tokens(row, at, counter, &mut scratch);
            PlannedTurn { role: row.turns[at].role, tokens }
        })
        .collect();
    let tools = row.tools.clone().map_or(&b""[..], |tools| &row.bytes[tools]);
    let envelope = match tools {
        b"" | b"null" | b"[]" | b"\"\"" => 0,
        [b'"', ..] => u64::from(counter.count(&jsonstr::decode(tools), TextKind::Json)),
        _ => u64::from(counter.count(&String::from_utf8_lossy(tools), TextKind::Json)),
    };
    TurnWeights { turns, envelope }
}

/// Tokens of one turn. `scratch` is the place for a text that has to be decoded.
pub(super) fn turn_tokens(
    row: &TrajectoryRow<'_>,
    at: usize,
    counter: &dyn Counter,
    scratch: &mut String,
) -> u64 {
    let turn = &row.turns[at];
    match (row.shape, &turn.value) {
        (TurnShape::ShareGpt, Some(value)) => {
            let text = jsonstr::decode_with(&row.text[value.clone()], scratch);
            u64::from(counter.count(text, TextKind::Prose))
        }
        (TurnShape::ShareGpt, None) => 0,
        (TurnShape::Messages, _) => {
            let bytes = row.turn_bytes(at);
            let view = row.shape.dialect().dialect().view(bytes);
            measure(counter, bytes, &view).blocks.iter().map(|tokens| u64::from(*tokens)).sum()
        }
    }
}

/// Four bytes a token, rounded up: for examples, and where only the order of size matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes4;

impl Counter for Bytes4 {
    fn name(&self) -> &'static str {
        "bytes:4"
    }

    fn count(&self, text: &str, _: TextKind) -> u32 {
        u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX)
    }

    fn media(&self, _: &MediaRef) -> u32 {
        0
    }
}
