//! The identity of a message, by which it is recognised when a client sends it again.
//!
//! Clients change some things between requests that the model never reads: they move the marks for the cache, give
//! items other ids and states, and drop the punctuation of call ids. Messages that differ in nothing else are the same
//! message.

use std::ops::Range;

use bytes::Bytes;
use midfold_core::Hash;

use crate::DialectKind;
use crate::scan;

/// The version of the rules below. It is part of every identity, because a change of the rules changes all identities.
const RULES: u8 = 1;

/// Members by which clients mark what is to be cached.
const MARKS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// The only member of a block that is nothing but such a mark (Bedrock).
const MARK_BLOCK: &str = "cachePoint";

/// The members that hold the id of a call.
const CALL_IDS: [&str; 4] = ["id", "call_id", "tool_call_id", "tool_use_id"];

/// Members that a tool or its caller wrote. No rule changes their content.
const DATA: [&str; 6] = ["input", "arguments", "args", "response", "output", "parameters"];

/// The identity of a message. Two messages with the same identity are the same message.
///
/// ```
/// use midfold_formats::{DialectKind, request::identity};
/// let of = |json: &str| identity(DialectKind::Anthropic, json.as_bytes());
/// let plain = of(r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#);
/// let marked = r#"{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#;
/// assert_eq!(plain, of(marked));
/// assert_ne!(plain, of(r#"{"role":"user","content":[{"type":"text","text":"b"}]}"#));
/// ```
#[must_use]
pub fn identity(kind: DialectKind, message: &[u8]) -> Hash {
    let mut out = Vec::with_capacity(message.len() + 2);
    out.push(RULES);
    let walk = IdentityWalk { bytes: message, items: kind == DialectKind::OpenAiResponses };
    walk.value(scan::value(message, 0).unwrap_or(0..message.len()), Depth::default(), &mut out);
    Hash::ROOT.chain(&out)
}

/// The message without its marks for the cache. The bytes are shared where it has none.
#[must_use]
pub fn without_marks(message: &Bytes) -> Bytes {
    if !MARKS.iter().chain([&MARK_BLOCK]).any(|mark| holds(message, mark)) {
        return message.clone();
    }
    let mut cuts = Vec::new();
    marks(message, 0..message.len(), Depth::default(), &mut cuts);
    let mut out = Vec::with_capacity(message.len());
    let mut from = 0;
    for cut in cuts {
        out.extend_from_slice(&message[from..cut.start]);
        from = cut.end;
    }
    out.extend_from_slice(&message[from..]);
    Bytes::from(out)
}

fn holds(bytes: &[u8], name: &str) -> bool {
    memchr::memmem::find(bytes, name.as_bytes()).is_some()
}

/// The objects and arrays around a value. Arrays count as well, because the stack must not grow with the input.
#[derive(Clone, Copy, Default)]
struct Depth {
    objects: usize,
    arrays: usize,
}

impl Depth {
    /// The deepest objects that can have marks: a message, its blocks, the blocks of a result.
    const MOST_OBJECTS: usize = 3;

    /// No block of any provider is in more arrays than these.
    const MOST_ARRAYS: usize = 8;

    /// The depth inside one more object. `None` where the rules do not look into it.
    fn in_object(self) -> Option<Self> {
        (self.objects < Self::MOST_OBJECTS).then_some(Self { objects: self.objects + 1, ..self })
    }

    /// The depth inside one more array. `None` where the rules do not look into it.
    fn in_array(self) -> Option<Self> {
        (self.arrays < Self::MOST_ARRAYS).then_some(Self { arrays: self.arrays + 1, ..self })
    }
}

/// Adds the ranges to cut: each mark with the comma that belongs to it.
fn marks(bytes: &[u8], at: Range<usize>, depth: Depth, cuts: &mut Vec<Range<usize>>) {
    let first = bytes.get(scan::skip_space(bytes, at.start));
    match (first, depth.in_array(), depth.in_object()) {
        (Some(b'['), Some(depth), _) => {
            let elements: Vec<_> = scan::elements(bytes, at).collect();
            let mut kept_before = None;
            for (n, element) in elements.iter().enumerate() {
                if is_mark_block(bytes, element) {
                    let next = elements.get(n + 1).map(|next| next.start);
                    cuts.push(cut(element.clone(), &mut kept_before, next));
                } else {
                    kept_before = Some(element.end);
                    marks(bytes, element.clone(), depth, cuts);
                }
            }
        }
        (Some(b'{'), _, Some(depth)) => {
            let members: Vec<_> = scan::members(bytes, at).collect();
            let is_mark = |member: &scan::Member| MARKS.iter().any(|mark| member.is(bytes, mark));
            let mut kept_before = None;
            for (n, member) in members.iter().enumerate() {
                if is_mark(member) {
                    let next = members.get(n + 1).map(|next| next.key.start);
                    cuts.push(cut(member.whole(), &mut kept_before, next));
                } else {
                    kept_before = Some(member.value.end);
                    if !DATA.iter().any(|name| member.is(bytes, name)) {
                        marks(bytes, member.value.clone(), depth, cuts);
                    }
                }
            }
        }
        _ => {}
    }
}

/// The range to cut for a mark: with the comma before it, or the one after it where nothing stays before it.
/// `kept_before` is the end of what stays, `next` the start of what follows.
fn cut(mark: Range<usize>, kept_before: &mut Option<usize>, next: Option<usize>) -> Range<usize> {
    match (*kept_before, next) {
        (Some(end), _) => {
            // A second mark in a row is cut from the end of the first one, so that the cuts do not overlap.
            *kept_before = Some(mark.end);
            end..mark.end
        }
        (None, Some(next)) => mark.start..next,
        (None, None) => mark,
    }
}

/// Whether an element of a list is a block that only marks what is to be cached.
fn is_mark_block(bytes: &[u8], element: &Range<usize>) -> bool {
    let mut members = scan::members(bytes, element.clone());
    bytes.get(element.start) == Some(&b'{')
        && members.next().is_some_and(|member| member.is(bytes, MARK_BLOCK))
        && members.next().is_none()
}

/// Writes the normal form of a message, which its identity hashes.
struct IdentityWalk<'a> {
    bytes: &'a [u8],
    /// Whether each message is an item with an id and a state of its own.
    items: bool,
}

impl IdentityWalk<'_> {
    /// Writes a value in its normal form.
    fn value(&self, at: Range<usize>, depth: Depth, out: &mut Vec<u8>) {
        match (self.bytes.get(at.start), depth.in_array(), depth.in_object()) {
            (Some(b'['), Some(depth), _) => {
                out.push(b'[');
                let elements = scan::elements(self.bytes, at);
                for element in elements.filter(|element| !is_mark_block(self.bytes, element)) {
                    self.value(element, depth, out);
                    out.push(b',');
                }
                out.push(b']');
            }
            (Some(b'{'), _, Some(depth)) => self.object(at, depth, out),
            _ => out.extend_from_slice(&self.bytes[at]),
        }
    }

    /// Writes an object at this depth: 1 for the message itself.
    fn object(&self, at: Range<usize>, depth: Depth, out: &mut Vec<u8>) {
        out.push(b'{');
        for member in scan::members(self.bytes, at) {
            let is = |names: &[&str]| names.iter().any(|name| member.is(self.bytes, name));
            if is(&MARKS) || (self.items && depth.objects == 1 && is(&["id", "status"])) {
                continue;
            }
            out.extend_from_slice(&self.bytes[member.key.clone()]);
            out.push(b':');
            let value = member.value.clone();
            if is(&CALL_IDS) && self.bytes.get(value.start) == Some(&b'"') {
                out.extend(self.bytes[value].iter().filter(|byte| byte.is_ascii_alphanumeric()));
            } else if is(&DATA) {
                out.extend_from_slice(&self.bytes[value]);
            } else {
                self.value(value, depth, out);
            }
            out.push(b',');
        }
        out.push(b'}');
    }
}
