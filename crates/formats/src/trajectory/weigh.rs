//! The number of tokens of each turn of a row.

use midfold_core::log::measure;
use midfold_core::trajectory::PlannedTurn;
use midfold_core::view::MediaRef;
use midfold_core::{Counter, TextKind, jsonstr};

use super::row::{TrajectoryRow, TurnShape};

/// The turns of a row with their tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnWeights {
    /// One element per turn.
    pub turns: Vec<PlannedTurn>,
    /// The tokens of the tool schemas beside the turns.
    pub envelope: u64,
}

impl TurnWeights {
    /// The tokens of the whole row.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.envelope + self.turns.iter().map(|turn| turn.tokens).sum::<u64>()
    }
}

/// Counts the tokens of every turn. For a `ShareGPT` turn, its `value` is counted, as Hermes counts it. For a message,
/// its texts, its calls with their arguments, and its images are counted. The text that a chat template adds is not
/// counted.
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

/// The tokens of one turn. `scratch` is reused for texts that have to be decoded.
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

/// A counter with four bytes per token, rounded up: for examples, and where an estimate is enough.
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
