//! Edits of an event: splices at the ranges of its view. All other bytes stay, except in a string around an edited block,
//! whose escapes are written anew.

use bytes::Bytes;

use crate::jsonstr;
use crate::view::{BlockKind, BlockView, ByteRange, TextCoding};

/// A change of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockChange {
    /// The block's body becomes this text.
    Replace(String),
    /// The block is cut out with one neighbouring comma.
    Remove,
}

/// Applies changes to blocks of one event and returns the new bytes.
#[must_use]
pub fn apply(bytes: &[u8], changes: &[(&BlockView, &BlockChange)]) -> Bytes {
    // A splice without bytes removes a block.
    let mut splices: Vec<(ByteRange, Option<Vec<u8>>)> = Vec::with_capacity(changes.len());
    let (nested, plain): (Vec<_>, Vec<_>) =
        changes.iter().partition(|(block, _)| block.body.nested.is_some());
    for (block, change) in plain {
        splices.push(match change {
            BlockChange::Remove => (block.outer, None),
            BlockChange::Replace(text) => (block.body.token, Some(replacement(block, text))),
        });
    }
    splices.extend(nested_splices(bytes, &nested).into_iter().map(|(at, with)| (at, Some(with))));
    // Splices are applied from the back, so that the positions of earlier ones stay right. A removal looks for its
    // comma in the bytes that are left, because its neighbour may be removed, too.
    splices.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
    let mut out = bytes.to_vec();
    for (at, with) in splices {
        let at = if with.is_some() { at } else { with_comma(&out, at) };
        out.splice(at.to_usize(), with.unwrap_or_default());
    }
    Bytes::from(out)
}

/// The bytes of `text` as the body of a block: raw JSON where the body is JSON, else a JSON string in the block's
/// frame.
fn replacement(block: &BlockView, text: &str) -> Vec<u8> {
    let as_json =
        block.body.coding == TextCoding::Raw && !matches!(block.kind, BlockKind::Result { .. });
    if as_json {
        return text.as_bytes().to_vec();
    }
    let (before, after) = block.frame.map_or(("", ""), |frame| (frame.before, frame.after));
    let mut out = before.as_bytes().to_vec();
    jsonstr::encode_into(text, &mut out);
    out.extend_from_slice(after.as_bytes());
    out
}

/// Splices for blocks that lie inside a JSON string, such as calls in a text. All changes inside one string become one
/// splice of it.
fn nested_splices(
    bytes: &[u8],
    changes: &[(&BlockView, &BlockChange)],
) -> Vec<(ByteRange, Vec<u8>)> {
    let mut tokens: Vec<ByteRange> = changes.iter().map(|(block, _)| block.body.token).collect();
    tokens.sort_by_key(|token| token.start);
    tokens.dedup();
    let rewrite = |token: ByteRange| {
        let mut text = jsonstr::decode(token.of(bytes)).into_owned();
        let mut inner: Vec<_> = changes
            .iter()
            .filter(|(block, _)| block.body.token == token)
            .filter_map(|(block, change)| Some((block.body.nested?, block.is_result(), *change)))
            .collect();
        inner.sort_by_key(|((at, _), ..)| std::cmp::Reverse(at.start));
        for ((at, coding), is_result, change) in inner {
            let before = text.get(..at.start as usize).unwrap_or_default();
            // The value of an object's member (`"content": {…}`) has to stay JSON: text is written as a JSON string.
            let is_member = is_result && before.trim_end().ends_with(':');
            let coding = if is_member { TextCoding::Str } else { coding };
            let with = match (change, coding) {
                // A block inside a string has no comma of its own to go with it, so it becomes empty.
                (BlockChange::Remove, TextCoding::Str) => "\"\"".to_owned(),
                (BlockChange::Remove, TextCoding::Raw) => String::new(),
                (BlockChange::Replace(text), TextCoding::Str) => jsonstr::encode(text),
                (BlockChange::Replace(text), TextCoding::Raw) => text.clone(),
            };
            if text.get(at.to_usize()).is_some() {
                text.replace_range(at.to_usize(), &with);
            }
        }
        let mut token_bytes = Vec::new();
        jsonstr::encode_into(&text, &mut token_bytes);
        (token, token_bytes)
    };
    tokens.into_iter().map(rewrite).collect()
}

/// The range extended by the comma after it, or else by the one before it, with the space between.
fn with_comma(bytes: &[u8], at: ByteRange) -> ByteRange {
    let space = |b: &u8| b.is_ascii_whitespace();
    let range = at.to_usize();
    let after = range.end
        + bytes.get(range.end..).map_or(0, |rest| rest.iter().take_while(|b| space(b)).count());
    if bytes.get(after) == Some(&b',') {
        let rest = bytes[after + 1..].iter().take_while(|b| space(b)).count();
        return ByteRange::new(range.start, after + 1 + rest);
    }
    let before = bytes[..range.start].iter().rev().take_while(|b| space(b)).count();
    let before = range.start - before;
    if before > 0 && bytes[before - 1] == b',' {
        return ByteRange::new(before - 1, range.end);
    }
    at
}
