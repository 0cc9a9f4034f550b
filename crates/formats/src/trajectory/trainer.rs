//! The demands of a trainer on a row. A trainer drops a row that violates them without an error, or learns something
//! wrong from it. Here it is an error with a name.

use midfold_core::{BlockKind, BlockView, Role, TextCoding, TextRef};

use super::aligned;
use super::flaw::{RowFlaw, flaw};
use super::reading::{self, ReadTurn};
use super::row::{TrajectoryRow, TurnShape};
use crate::fields::ObjectFields;

/// The trainer whose rules a row has to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trainer {
    /// LLaMA-Factory: after the system turn, a turn of the user or a tool and one of the assistant alternate, in pairs.
    /// It drops any other row.
    LlamaFactory,
    /// TRL: a system turn is only at the front, then the user comes, and no role but tools comes twice in a row.
    Trl,
}

impl Trainer {
    /// All trainers.
    pub const ALL: [Self; 2] = [Self::LlamaFactory, Self::Trl];

    /// The name: `llamafactory` or `trl`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LlamaFactory => "llamafactory",
            Self::Trl => "trl",
        }
    }

    /// The trainer of this name. `None` for an unknown name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trainer| trainer.name() == name)
    }

    /// Checks a row. `turns_before` is the number of turns before any was replaced: a mask of that length was not
    /// shortened with the turns. `aligned` names further lists beside [`super::ALIGNED`].
    ///
    /// # Errors
    /// The first [`RowFlaw`] that is found.
    pub fn check(
        self,
        row: &TrajectoryRow<'_>,
        aligned: &[String],
        turns_before: usize,
    ) -> Result<(), RowFlaw> {
        let turns = row.turns();
        let Some(last) = turns.last() else {
            return flaw("no-turns", 0, "there are no turns");
        };
        if last.role != Role::Assistant {
            let at = turns.len() - 1;
            let name = name_of(row, at);
            return flaw(
                "last-turn",
                at,
                format!("it is `{name}`, and the last turn must be the assistant's"),
            );
        }
        self.order(row)?;
        let mut pairs = TrainerPairs::default();
        for at in 0..turns.len() {
            let turn = reading::turn(row, at);
            content(row, at, &turn)?;
            pairs.step(row, at, &turn)?;
        }
        if let Some((name, elements)) = aligned::misfit(row, aligned) {
            let why = format!("`{name}` has {elements} elements for {} turns", turns.len());
            return flaw("misaligned", 0, why);
        }
        let forgotten = aligned::lists(row, turns_before, aligned).next().is_some();
        if forgotten && turns_before != turns.len() {
            return flaw("misaligned", 0, "a list beside the turns has elements for other turns");
        }
        Ok(())
    }

    /// Checks the order of roles.
    fn order(self, row: &TrajectoryRow<'_>) -> Result<(), RowFlaw> {
        let turns = row.turns();
        let first = usize::from(turns.first().is_some_and(|turn| turn.role.is_system()));
        let mut before: Option<Role> = None;
        for (at, turn) in turns.iter().enumerate().skip(first) {
            let joined = turn.role == Role::Tool && before == Some(Role::Tool);
            let fits = match (self, turn.role) {
                (_, Role::System | Role::Developer | Role::Other) => false,
                // Parallel results in messages are merged before the rule is applied. Two turns of `ShareGPT` are not.
                (Self::LlamaFactory, Role::Tool) if joined => row.shape() == TurnShape::Messages,
                (Self::Trl, Role::Tool) if joined => true,
                (Self::LlamaFactory, Role::User | Role::Tool) => {
                    matches!(before, None | Some(Role::Assistant))
                }
                (Self::Trl, Role::User) => before != Some(Role::User),
                (Self::Trl, Role::Tool) => before == Some(Role::Assistant),
                (_, Role::Assistant) => matches!(before, Some(Role::User | Role::Tool)),
            };
            if !fits {
                let name = name_of(row, at);
                let due = match (before, self) {
                    (None, _) if matches!(turn.role, Role::Assistant | Role::Tool) => {
                        return flaw(
                            "first-turn",
                            at,
                            format!("it is `{name}`, and a user's turn must come first"),
                        );
                    }
                    (None, _) => "a user's",
                    (Some(Role::Assistant), _) => "a user's or a tool's",
                    (Some(Role::Tool), Self::Trl) => "the assistant's, a tool's or a user's",
                    (Some(_), _) => "the assistant's",
                };
                return flaw("alternation", at, format!("it is `{name}`, where {due} turn is due"));
            }
            before = Some(turn.role);
        }
        Ok(())
    }
}

/// The role of a turn, as the row writes it.
fn name_of(row: &TrajectoryRow<'_>, at: usize) -> String {
    let bytes = row.turn_bytes(at);
    let fields = ObjectFields::of(bytes, 0..bytes.len());
    let name = fields.text("from").or_else(|| fields.text("role"));
    name.map(|name| name.into_owned()).unwrap_or_default()
}

/// Checks that a turn has content, and that its tags open and close.
fn content(row: &TrajectoryRow<'_>, at: usize, read: &ReadTurn<'_>) -> Result<(), RowFlaw> {
    let ReadTurn { bytes, view } = read;
    let says = |block: &BlockView| {
        !block.media.is_empty() || block.texts.iter().any(|text| says_something(text, bytes))
    };
    let says = match (row.shape(), row.turns()[at].role) {
        (TurnShape::ShareGpt, _) => !text_of(bytes).trim().is_empty(),
        // The result of a command may be empty.
        (TurnShape::Messages, Role::Tool) => true,
        (TurnShape::Messages, Role::Assistant) if view.has_calls() => true,
        (TurnShape::Messages, _) => view.blocks.iter().any(says),
    };
    if !says {
        return flaw("empty-content", at, "nothing is said");
    }
    let tag = match (row.shape(), row.turns()[at].role) {
        (TurnShape::ShareGpt, Role::Assistant) => ["<tool_call>", "</tool_call>"],
        (TurnShape::ShareGpt, Role::Tool) => ["<tool_response>", "</tool_response>"],
        _ => return Ok(()),
    };
    // A tag that opens and closes makes a block. A single tag is left in a text.
    let outside = |block: &BlockView| match block.kind {
        BlockKind::Text => true,
        BlockKind::Result { id: None, name: None, .. } => view.blocks.len() == 1,
        _ => false,
    };
    for block in view.blocks.iter().filter(|block| outside(block)) {
        let text = block.text(bytes);
        if tag.iter().any(|tag| memchr::memmem::find(text.as_bytes(), tag.as_bytes()).is_some()) {
            return flaw("tags", at, "a tag is not closed, or not opened");
        }
    }
    Ok(())
}

/// The value of a `ShareGPT` turn, after the byte for the speaker.
fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes.get(1..).unwrap_or_default()).unwrap_or_default()
}

/// Whether a text has anything besides white space. Its first character mostly decides, without decoding.
fn says_something(text: &TextRef, bytes: &[u8]) -> bool {
    let plain = text.nested.is_none() && text.coding == TextCoding::Str;
    match text.token.of(bytes) {
        [b'"', first, _, ..] if plain && first.is_ascii_graphic() && *first != b'\\' => true,
        _ => !text.decode(bytes).trim().is_empty(),
    }
}

/// The check that every call is answered directly after it, except those of the last turn, and that nothing else is
/// answered.
#[derive(Default)]
struct TrainerPairs {
    /// The ids of calls without a result so far.
    open: Vec<String>,
    /// Whether the assistant's last turn had a call.
    called: bool,
}

impl TrainerPairs {
    /// Checks the calls or the results of the next turn.
    fn step(
        &mut self,
        row: &TrajectoryRow<'_>,
        at: usize,
        read: &ReadTurn<'_>,
    ) -> Result<(), RowFlaw> {
        let ReadTurn { bytes, view } = read;
        let id =
            |id: &Option<TextRef>| id.map(|id| id.decode(bytes).into_owned()).unwrap_or_default();
        if row.turns()[at].role != Role::Tool {
            if !self.open.is_empty() {
                return flaw("unpaired-call", at, "a call before it has no result");
            }
            let calls = view.blocks.iter().filter_map(|block| match &block.kind {
                BlockKind::Call { id: call, .. } => Some(id(call)),
                _ => None,
            });
            self.open = calls.collect();
            self.called = !self.open.is_empty();
            return Ok(());
        }
        let before = at.checked_sub(1).map(|at| row.turns()[at].role);
        let follows = matches!(before, Some(Role::Assistant | Role::Tool));
        if !follows || (row.shape() == TurnShape::Messages && !self.called) {
            return flaw("orphan-result", at, "a result without a call");
        }
        for block in &view.blocks {
            let BlockKind::Result { id: result, .. } = &block.kind else { continue };
            let id = id(result);
            let open = &mut self.open;
            let named = open.iter().position(|call| *call == id);
            // Some sets write no ids: then any open call is answered.
            let position =
                named.or_else(|| open.iter().position(|call| call.is_empty() || id.is_empty()));
            match position {
                Some(position) => drop(open.remove(position)),
                None if self.called => {
                    return flaw("orphan-result", at, "a result without a call");
                }
                None => {}
            }
        }
        Ok(())
    }
}
