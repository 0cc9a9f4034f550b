//! Reads a row: finds where its turns are. Nothing is copied.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::{Role, jsonstr};
use serde::de::IgnoredAny;

use super::flaw::RowFlaw;
use crate::dialect::sharegpt::role_named;
use crate::dialect::{DialectKind, EventWalk};
use crate::scan::inside;

/// The form of a row's turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnShape {
    /// Turns with `from` and `value`, and with tags in the text.
    ShareGpt,
    /// Turns with `role` and `content`, and with calls beside the content.
    Messages,
}

impl TurnShape {
    /// Every shape.
    pub const ALL: [Self; 2] = [Self::ShareGpt, Self::Messages];

    /// Its name in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ShareGpt => "sharegpt",
            Self::Messages => "messages",
        }
    }

    /// The shape with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.name() == name)
    }

    /// The member of a row that holds turns of this shape.
    #[must_use]
    pub fn list(self) -> &'static str {
        match self {
            Self::ShareGpt => "conversations",
            Self::Messages => "messages",
        }
    }

    /// The dialect of its turns.
    #[must_use]
    pub fn dialect(self) -> DialectKind {
        match self {
            Self::ShareGpt => DialectKind::ShareGpt,
            Self::Messages => DialectKind::OpenAiChat,
        }
    }
}

/// The reason why a row cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// Some bytes are no UTF-8.
    #[error("not text: byte {0} belongs to no UTF-8 text")]
    NotUtf8(usize),
    /// The bytes are no JSON, or more than one value.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// The value is JSON, but no object.
    #[error("no JSON object")]
    NotAnObject,
    /// The turns are no list.
    #[error("`{0}` is no list of turns")]
    NotAList(&'static str),
    /// A turn is no object, or has no speaker or no content.
    #[error("turn {turn}: {what}")]
    BadTurn {
        /// The index of the turn, from 0.
        turn: usize,
        /// The defect.
        what: &'static str,
    },
    /// A trainer would drop the row, or learn something wrong from it.
    #[error("{0}")]
    Flawed(RowFlaw),
}

impl RowError {
    /// A short name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotUtf8(_) => "not-utf8",
            Self::NotJson(_) => "not-json",
            Self::NotAnObject => "not-an-object",
            Self::NotAList(_) => "not-a-list",
            Self::BadTurn { .. } => "bad-turn",
            Self::Flawed(flaw) => flaw.code,
        }
    }
}

/// A turn of a row. Ranges are into [`TrajectoryRow::text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnAt {
    /// The range of the whole turn.
    pub range: Range<usize>,
    /// The speaker.
    pub role: Role,
    /// The range of the content: a string, a list of parts, or `null`. `None` where the member is missing.
    pub value: Option<Range<usize>>,
}

/// A row, with the positions of its turns.
#[derive(Clone, Debug)]
pub struct TrajectoryRow<'a> {
    pub(super) bytes: &'a [u8],
    /// The end of the object, after its brace.
    pub(super) end: usize,
    pub(super) text: Cow<'a, [u8]>,
    /// The range of the string token in which the list of turns is encoded. `None` for a plain list.
    pub(super) token: Option<Range<usize>>,
    pub(super) shape: TurnShape,
    pub(super) turns: Vec<TurnAt>,
    /// The range of the row's tools.
    pub(super) tools: Option<Range<usize>>,
    /// All members except the list of turns, in order: their names, and the ranges of their values in the bytes.
    pub(super) members: Vec<(Cow<'a, str>, Range<usize>)>,
    /// Whether the row has a list of turns.
    pub(super) has_turns: bool,
}

/// The members that may hold the list of turns. The first one that a row has counts.
const LISTS: [&str; 2] = ["conversations", "messages"];

impl<'a> TrajectoryRow<'a> {
    /// Reads a row in two passes: one checks it, one finds the turns.
    pub(super) fn read_slowly(bytes: &'a [u8]) -> Result<Self, RowError> {
        check(bytes)?;
        let mut lists: [Option<FoundTurns>; 2] = [None, None];
        let mut tools = None;
        let mut members = Vec::new();
        let mut walk = EventWalk::new(bytes);
        if walk.peek() != Some(b'{') {
            return Err(RowError::NotAnObject);
        }
        let whole = walk.object(|walk, key| {
            let value = match LISTS.iter().position(|list| *list == key.name()) {
                Some(at) => {
                    let (list, value) = read_list(walk);
                    lists[at] = Some(list);
                    value
                }
                None => walk.value(),
            };
            if key.name() == "tools" {
                tools = Some(value.clone());
            }
            members.push((Cow::Owned(key.name().to_owned()), value));
        });
        let none = TrajectoryRow {
            bytes,
            end: whole.end,
            text: Cow::Borrowed(bytes),
            token: None,
            shape: TurnShape::Messages,
            turns: Vec::new(),
            tools,
            members,
            has_turns: false,
        };
        let Some((at, list)) =
            lists.into_iter().enumerate().find_map(|(at, list)| Some((at, list?)))
        else {
            return Ok(none);
        };
        let mut row = TrajectoryRow { has_turns: true, ..none };
        // The list that does not count stays an ordinary member.
        row.members.retain(|(name, _)| name != LISTS[at]);
        match list {
            FoundTurns::List(list) => list.finish(row),
            FoundTurns::Other(token) if bytes.get(token.start) == Some(&b'"') => {
                encoded(row, token, LISTS[at])
            }
            FoundTurns::Other(_) => Err(RowError::NotAList(LISTS[at])),
        }
    }

    /// Whether the row has a list of turns.
    #[must_use]
    pub fn has_turns(&self) -> bool {
        self.has_turns
    }

    /// The form of the turns.
    #[must_use]
    pub fn shape(&self) -> TurnShape {
        self.shape
    }

    /// The turns.
    #[must_use]
    pub fn turns(&self) -> &[TurnAt] {
        &self.turns
    }

    /// The text in which the ranges of turns are: the row, or the list that a string of the row encodes.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The bytes of a turn. Empty where there is no such turn.
    #[must_use]
    pub fn turn_bytes(&self, at: usize) -> &[u8] {
        self.turns.get(at).map_or(&[], |turn| &self.text[turn.range.clone()])
    }
}

/// Whether these bytes are one JSON value.
fn check(bytes: &[u8]) -> Result<(), RowError> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| RowError::NotUtf8(error.valid_up_to()))?;
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(RowError::NotJson(error.to_string())),
    }
}

/// The value of the member that should hold the turns.
enum FoundTurns {
    List(TurnList),
    Other(Range<usize>),
}

/// A list of turns while it is read.
#[derive(Default)]
struct TurnList {
    turns: Vec<TurnAt>,
    shape: Option<TurnShape>,
    /// The index and the defect of the first turn that is not valid.
    bad: Option<(usize, &'static str)>,
}

/// Reads a list of turns, and returns its range.
fn read_list(walk: &mut EventWalk<'_>) -> (FoundTurns, Range<usize>) {
    if walk.peek() != Some(b'[') {
        let value = walk.value();
        return (FoundTurns::Other(value.clone()), value);
    }
    let mut list = TurnList::default();
    let value = walk.array(|walk| list.turn(walk));
    (FoundTurns::List(list), value)
}

impl TurnList {
    /// Reads one turn, and notes the first one that is not valid.
    fn turn(&mut self, walk: &mut EventWalk<'_>) {
        let is_object = walk.peek() == Some(b'{');
        let (mut from, mut value, mut shape) = (None, None, TurnShape::Messages);
        let range = walk.object(|walk, key| match key.name() {
            "from" => {
                from = walk.string();
                shape = TurnShape::ShareGpt;
            }
            "role" => from = walk.string(),
            "value" | "content" => value = Some(walk.value()),
            _ => {}
        });
        let role = from.map_or(Role::Other, |from| role(inside(from.of(walk.bytes))));
        let shape = *self.shape.get_or_insert(shape);
        let is_text = |value: &Range<usize>| walk.bytes.get(value.start) == Some(&b'"');
        let bad = match () {
            () if !is_object => Some("no JSON object"),
            () if from.is_none() => Some("it does not say who speaks"),
            () if shape == TurnShape::ShareGpt && !value.as_ref().is_some_and(is_text) => {
                Some("its `value` is no text")
            }
            () => None,
        };
        // A bad turn is no error yet: the row may have another list, which is the one that counts.
        self.bad = self.bad.or(bad.map(|defect| (self.turns.len(), defect)));
        self.turns.push(TurnAt { range, role, value });
    }

    fn finish(self, row: TrajectoryRow<'_>) -> Result<TrajectoryRow<'_>, RowError> {
        if let Some((turn, what)) = self.bad {
            return Err(RowError::BadTurn { turn, what });
        }
        Ok(TrajectoryRow {
            turns: self.turns,
            shape: self.shape.unwrap_or(TurnShape::Messages),
            ..row
        })
    }
}

/// Reads a list of turns that is written as JSON in a string.
fn encoded<'a>(
    row: TrajectoryRow<'a>,
    token: Range<usize>,
    name: &'static str,
) -> Result<TrajectoryRow<'a>, RowError> {
    let text = jsonstr::decode(&row.bytes[token.clone()]).into_owned().into_bytes();
    if check(&text).is_err() {
        return Err(RowError::NotAList(name));
    }
    let (FoundTurns::List(list), _) = read_list(&mut EventWalk::new(&text)) else {
        return Err(RowError::NotAList(name));
    };
    list.finish(TrajectoryRow { text: Cow::Owned(text), token: Some(token), ..row })
}

/// The role of a name of ShareGPT or of an OpenAI message.
pub(super) fn role(name: &[u8]) -> Role {
    match name {
        b"developer" => Role::Developer,
        name => role_named(name),
    }
}
