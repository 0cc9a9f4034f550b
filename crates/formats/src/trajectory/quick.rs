//! Reads the usual kind of row in one pass, which checks the JSON and finds the turns. For any other row (escaped keys,
//! lists in strings, defects) it returns `None`, and two slower passes read it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::row::{RowError, TrajectoryRow, TurnAt, TurnShape, role};
use crate::scan::inside;

impl<'a> TrajectoryRow<'a> {
    /// Reads a row: one JSON object, possibly with white space around it.
    ///
    /// # Errors
    /// [`RowError`]: the bytes are no JSON or no object, or the turns are not valid.
    pub fn read(bytes: &'a [u8]) -> Result<Self, RowError> {
        match read(bytes) {
            Some(row) => Ok(row),
            None => Self::read_slowly(bytes),
        }
    }
}

/// Reads a row of the usual kind. `None` leaves it to the slower passes.
fn read(bytes: &[u8]) -> Option<TrajectoryRow<'_>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let row = WholeRow { text }.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    let (has_turns, list) = match row.lists {
        // Which of two lists counts is decided in the slower reader alone.
        [Some(_), Some(_)] => return None,
        [Some(list), None] | [None, Some(list)] => (true, list),
        [None, None] => (false, QuickList::default()),
    };
    Some(TrajectoryRow {
        bytes,
        end: bytes.trim_ascii_end().len(),
        text: Cow::Borrowed(bytes),
        token: None,
        shape: list.shape.unwrap_or(TurnShape::Messages),
        turns: list.turns,
        tools: row.tools,
        members: row.members,
        has_turns,
    })
}

/// The name of a member that is written without escapes.
struct PlainKey<'a>(&'a str);

impl<'de> Deserialize<'de> for PlainKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A name with escapes cannot be borrowed. The error leaves the row to the slower passes.
        <&str>::deserialize(deserializer).map(Self)
    }
}

/// The range of `part`, which was borrowed from `text`.
fn place(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// Reads a row.
struct WholeRow<'a> {
    text: &'a str,
}

/// The parts of a row that were found.
#[derive(Default)]
struct QuickFind<'a> {
    lists: [Option<QuickList>; 2],
    tools: Option<Range<usize>>,
    members: Vec<(Cow<'a, str>, Range<usize>)>,
}

/// A list of turns that was found.
#[derive(Default)]
struct QuickList {
    turns: Vec<TurnAt>,
    shape: Option<TurnShape>,
}

impl<'de> DeserializeSeed<'de> for WholeRow<'de> {
    type Value = QuickFind<'de>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<QuickFind<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for WholeRow<'de> {
    type Value = QuickFind<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<QuickFind<'de>, A::Error> {
        let mut row = QuickFind::default();
        while let Some(PlainKey(name)) = map.next_key()? {
            let list = QuickTurns { text: self.text };
            match name {
                "conversations" => row.lists[0] = Some(map.next_value_seed(list)?),
                "messages" => row.lists[1] = Some(map.next_value_seed(list)?),
                _ => {
                    let value: &RawValue = map.next_value()?;
                    let value = place(self.text, value.get());
                    if name == "tools" {
                        row.tools = Some(value.clone());
                    }
                    row.members.push((Cow::Borrowed(name), value));
                }
            }
        }
        Ok(row)
    }
}

/// Reads a list of turns.
struct QuickTurns<'a> {
    text: &'a str,
}

impl<'de> DeserializeSeed<'de> for QuickTurns<'de> {
    type Value = QuickList;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<QuickList, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for QuickTurns<'de> {
    type Value = QuickList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of turns")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<QuickList, A::Error> {
        let mut list = QuickList::default();
        while let Some((turn, shape)) = seq.next_element_seed(QuickTurn { text: self.text })? {
            let shape = *list.shape.get_or_insert(shape);
            let is_text = |value: &Range<usize>| self.text.as_bytes()[value.start] == b'"';
            if shape == TurnShape::ShareGpt && !turn.value.as_ref().is_some_and(is_text) {
                return Err(A::Error::custom("a turn without text"));
            }
            list.turns.push(turn);
        }
        Ok(list)
    }
}

/// Reads one turn.
struct QuickTurn<'a> {
    text: &'a str,
}

impl<'de> DeserializeSeed<'de> for QuickTurn<'de> {
    type Value = (TurnAt, TurnShape);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for QuickTurn<'de> {
    type Value = (TurnAt, TurnShape);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a turn")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut who, mut value, mut shape) = (None, None, TurnShape::Messages);
        let (mut first, mut last) = (None, 0);
        while let Some(PlainKey(name)) = map.next_key()? {
            first = first.or(Some(place(self.text, name).start));
            let raw: &RawValue = map.next_value()?;
            let at = place(self.text, raw.get());
            last = at.end;
            match name {
                "from" | "role" => {
                    shape = if name == "from" { TurnShape::ShareGpt } else { shape };
                    who = raw.get().starts_with('"').then_some(raw.get());
                }
                "value" | "content" => value = Some(at),
                _ => {}
            }
        }
        let bad = || A::Error::custom("no turn");
        let (who, first) = (who.ok_or_else(bad)?, first.ok_or_else(bad)?);
        let bytes = self.text.as_bytes();
        // Only a quote, white space and the brace are before the first name.
        let start = memchr::memrchr(b'{', &bytes[..first]).ok_or_else(bad)?;
        let end = crate::scan::skip_space(bytes, last) + 1;
        let turn = TurnAt { range: start..end, role: role(inside(who.as_bytes())), value };
        Ok((turn, shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_slower_way_reads() {
        let turn = r#"{ "value" : "a {\"b\"}\n" , "from":"gpt","weight":{"a":[1,"}"]} }"#;
        let rows = [
            format!(" {{\"a\":{{}},\"conversations\" : [ {turn} ,{turn}] , \"tools\": [{{}}]}} \r"),
            r#"{"messages":[{"role":"user","content":[1]},{"role":"assistant"}],"x":1}"#.to_owned(),
            r#"{"messages":[{"role":"user","content":"a"}],"conversations":[]}"#.to_owned(),
            r#"{"messages":3,"messages":[{"role":"user","role":"tool"}]}"#.to_owned(),
            r#"{"messages":[{"role":"user"}],"messages":[]}"#.to_owned(),
            r#"{"nothing":[]}"#.to_owned(),
        ];
        let mut quick = 0;
        for row in &rows {
            let slow = TrajectoryRow::read_slowly(row.as_bytes()).unwrap();
            let Some(quick_row) = read(row.as_bytes()) else { continue };
            quick += 1;
            assert_eq!(format!("{quick_row:?}"), format!("{slow:?}"), "{row}");
        }
        assert_eq!(quick, 4);
    }

    #[test]
    fn leaves_what_is_not_common_to_the_slower_way() {
        for row in [
            "",
            "[]",
            "{} {}",
            r#"{"conv\u0065rsations":[]}"#,
            r#"{"conversations":"[]"}"#,
            r#"{"conversations":[],"messages":[]}"#,
            r#"{"conversations":[{}]}"#,
            r#"{"conversations":[{"from":1,"value":""}]}"#,
            r#"{"conversations":[{"from":"gpt","value":null}]}"#,
            r#"{"conversations":[{"fr\u006fm":"gpt","value":""}]}"#,
        ] {
            assert!(read(row.as_bytes()).is_none(), "{row}");
        }
    }
}
