//! Merges many small objects into one, as the deltas of Chat Completions need it.

use std::ops::Range;

use super::notes::{PART_COST, inside};
use crate::fields::ObjectFields;
use crate::scan;

/// The deepest level that is merged. Deltas have three levels; an object below this depth is taken whole.
const DEPTH: usize = 8;
/// The most members of one object, and the most elements of a list that one piece is compared with.
const LIMIT: usize = 64;

/// An object that grows piece by piece. Its members keep the order in which they arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct MergedObject {
    /// The members: the key as a JSON string token, and the value so far.
    members: Vec<(Vec<u8>, MergedNode)>,
}

/// A value that grows piece by piece.
#[derive(Clone, Debug)]
enum MergedNode {
    /// Any other value, as it arrived.
    Raw(Vec<u8>),
    /// The inside of a string token, still escaped.
    Text(Vec<u8>),
    Object(MergedObject),
    List(Vec<MergedNode>),
}

/// How pieces are merged, and what they cost.
pub(super) struct MergeRules {
    /// Whether each element of a list is whole. If not, an element may continue an earlier one.
    pub whole_elements: bool,
    /// The bytes that were added.
    pub added: usize,
    /// Whether an object had more members than `LIMIT`.
    pub overrun: bool,
}

/// The keys of strings that arrive whole. Some providers repeat them in every piece, so they must not be joined.
const WHOLE: [&[u8]; 9] = [
    b"\"role\"",
    b"\"id\"",
    b"\"type\"",
    b"\"name\"",
    b"\"format\"",
    b"\"signature\"",
    b"\"thought_signature\"",
    b"\"call_id\"",
    b"\"status\"",
];

impl MergedObject {
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Merges the object in `range` of `bytes` into this one.
    pub(super) fn add(&mut self, bytes: &[u8], range: Range<usize>, how: &mut MergeRules) {
        self.add_at(bytes, range, how, 0);
    }

    fn add_at(&mut self, bytes: &[u8], range: Range<usize>, how: &mut MergeRules, depth: usize) {
        for member in scan::members(bytes, range) {
            let key = &bytes[member.key.clone()];
            let value = &bytes[member.value.clone()];
            // A delta has null for what it does not bring. That must not replace what came before.
            if value == b"null" {
                continue;
            }
            let position = self.members.iter().position(|(known, _)| known == key);
            let at = position.unwrap_or(self.members.len());
            if at == self.members.len() {
                if at >= LIMIT {
                    how.overrun = true;
                    return;
                }
                how.added += key.len() + PART_COST;
                self.members.push((key.to_vec(), MergedNode::empty(value, depth)));
            }
            if let Some((key, node)) = self.members.get_mut(at) {
                node.add(key, bytes, member.value, how, depth);
            }
        }
    }

    /// Writes the object as JSON, without the members named in `without`.
    pub(super) fn write(&self, without: &[&[u8]], out: &mut Vec<u8>) {
        out.push(b'{');
        for (key, node) in &self.members {
            if !without.contains(&&key[..]) {
                comma(out);
                out.extend_from_slice(key);
                out.push(b':');
                node.write(key, out);
            }
        }
        out.push(b'}');
    }

    fn get(&self, key: &[u8]) -> Option<&MergedNode> {
        self.members.iter().find(|(known, _)| known == key).map(|(_, node)| node)
    }

    /// Whether the object in `range` continues this element of a list: nothing in their index, id or type differs.
    fn continues(&self, piece: &ObjectFields<'_>) -> bool {
        let same = |name: &str, quoted: &[u8]| {
            let received = piece.raw(name).filter(|raw| *raw != b"null" && *raw != b"\"\"");
            match (self.get(quoted), received) {
                (Some(MergedNode::Raw(known)), Some(received)) => known == received,
                (Some(MergedNode::Text(known)), Some(received)) => {
                    inside(received, 0..received.len()) == Some(known)
                }
                (Some(_), Some(_)) => false,
                // The first piece names the element; the pieces after it may leave these members out.
                (_, None) | (None, Some(_)) => true,
            }
        };
        same("index", b"\"index\"") && same("id", b"\"id\"") && same("type", b"\"type\"")
    }
}

impl MergedNode {
    /// The empty node to which the first piece of a value is added.
    fn empty(value: &[u8], depth: usize) -> Self {
        match value.first() {
            Some(b'"') => Self::Text(Vec::new()),
            Some(b'{') if depth < DEPTH => Self::Object(MergedObject::default()),
            Some(b'[') => Self::List(Vec::new()),
            _ => Self::Raw(Vec::new()),
        }
    }

    /// Adds a piece of the value, which is at `at` in `bytes`.
    fn add(
        &mut self,
        key: &[u8],
        bytes: &[u8],
        at: Range<usize>,
        how: &mut MergeRules,
        depth: usize,
    ) {
        let value = &bytes[at.clone()];
        match (&mut *self, value.first()) {
            (Self::Text(text), Some(b'"')) => {
                let more = inside(bytes, at).unwrap_or_default();
                if !WHOLE.contains(&key) {
                    text.extend_from_slice(more);
                } else if !more.is_empty() {
                    // Some providers repeat the member as an empty string in later pieces.
                    *text = more.to_vec();
                }
                how.added += more.len();
            }
            (Self::Object(object), Some(b'{')) => object.add_at(bytes, at, how, depth + 1),
            (Self::List(list), Some(b'[')) => {
                for element in scan::elements(bytes, at) {
                    add_element(list, bytes, element, how, depth);
                }
            }
            (Self::Raw(raw), _) => {
                how.added += value.len();
                *raw = value.to_vec();
            }
            // The value changed its kind: the newest one counts.
            _ => {
                *self = Self::Raw(value.to_vec());
                how.added += value.len();
            }
        }
    }

    /// Writes the value of the member `key` as JSON.
    fn write(&self, key: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Raw(raw) => out.extend_from_slice(raw),
            Self::Text(text) => {
                out.push(b'"');
                out.extend_from_slice(text);
                out.push(b'"');
            }
            Self::Object(object) => object.write(&[], out),
            Self::List(list) => {
                // The index of a call belongs to the stream and not to the message.
                let without: &[&[u8]] =
                    if key == b"\"tool_calls\"" { &[b"\"index\""] } else { &[] };
                out.push(b'[');
                for node in list {
                    comma(out);
                    match node {
                        Self::Object(object) => object.write(without, out),
                        other => other.write(b"", out),
                    }
                }
                out.push(b']');
            }
        }
    }
}

/// Adds an element of a piece to a list: merges it into the element that it continues, or appends it.
fn add_element(
    list: &mut Vec<MergedNode>,
    bytes: &[u8],
    at: Range<usize>,
    how: &mut MergeRules,
    depth: usize,
) {
    let value = &bytes[at.clone()];
    // Ollama sends each call whole, so that two equal ones are two calls.
    if how.whole_elements || value.first() != Some(&b'{') || depth >= DEPTH {
        how.added += value.len() + PART_COST;
        list.push(MergedNode::Raw(value.to_vec()));
        return;
    }
    let piece = ObjectFields::of(bytes, at.clone());
    // A delta mostly continues the last element, so the search starts at the end.
    let known = list.iter_mut().rev().take(LIMIT).find_map(|node| match node {
        MergedNode::Object(object) if object.continues(&piece) => Some(object),
        _ => None,
    });
    if let Some(known) = known {
        known.add_at(bytes, at, how, depth + 1);
        return;
    }
    let mut object = MergedObject::default();
    object.add_at(bytes, at, how, depth + 1);
    how.added += PART_COST;
    list.push(MergedNode::Object(object));
}

/// Writes a comma, unless the output has just opened a list or an object.
pub(super) fn comma(out: &mut Vec<u8>) {
    if !matches!(out.last(), Some(b'{' | b'[')) {
        out.push(b',');
    }
}
