//! Edits: splices at the ranges of a view. Every byte outside them stays.

use bytes::Bytes;

use crate::jsonstr;
use crate::view::{BlockKind, BlockView, ByteRange, TextCoding};

/// What happens to one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockChange {
    /// Its body becomes this text.
    Replace(String),
    /// It is cut out, with one neighbouring comma.
    Remove,
}

/// Applies changes to blocks of one event and returns the new bytes.
#[must_use]
pub fn apply(bytes: &[u8], changes: &[(&BlockView, &BlockChange)]) -> Bytes {
    let mut splices: Vec<(ByteRange, Vec<u8>)> = Vec::with_capacity(changes.len());
    let (nested, plain): (Vec<_>, Vec<_>) =
        changes.iter().partition(|(block, _)| block.body.nested.is_some());
    for (block, change) in plain {
        splices.push(match change {
            BlockChange::Remove => (block.outer, Vec::new()),
            BlockChange::Replace(text) => (block.body.token, replacement(block, text)),
        });
    }
    splices.extend(nested_splices(bytes, &nested));
    // From the back, so that earlier positions hold. A removal looks for its comma in what is
    // left, because its neighbour may be gone.
    splices.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
    let mut out = bytes.to_vec();
    for (at, with) in splices {
        let at = if with.is_empty() { with_comma(&out, at) } else { at };
        out.splice(at.to_usize(), with);
    }
    Bytes::from(out)
}

/// How `text` is written in the place of a block's body.
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

/// Changes inside decoded strings: all changes of one string token become one splice of it.
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
            // A member of an object (`"content": {…}`): plain text there would break its JSON.
            let is_member = is_result && before.trim_end().ends_with(':');
            let coding = if is_member { TextCoding::Str } else { coding };
            let with = match (change, coding) {
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

/// `at` with the comma after it, or else the one before it, and the space between.
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
