//! `ShareGPT` rows as Hermes writes them: one string with tags in it.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::{
    BlockKind, BlockView, ByteRange, ClientWords, Dialect, EventView, Role, TextCoding, TextRef,
    jsonstr,
};

use super::unread;
use super::walk::EventWalk;
use crate::client_words::KnownClients;
use crate::origins;
use crate::render::{Json, flags, result_text, splice};
use crate::scan::{self, inside};

/// The dialect `sharegpt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareGpt;

/// A row: the speaker, and the token of the spoken text.
#[derive(Default)]
struct ShareRow {
    from: Option<ByteRange>,
    /// The range of the value's string token, for a view and for a slice.
    value: Option<(ByteRange, Range<usize>)>,
}

/// A piece of a decoded value: a tagged part, or the text between two of them.
#[derive(Debug, PartialEq, Eq)]
struct Segment {
    tag: ShareTag,
    /// The range with its tags.
    whole: Range<usize>,
    /// The range between the tags, without white space around it.
    inside: Range<usize>,
}

/// The tags that Hermes writes into a value, and text without a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShareTag {
    Text,
    Think,
    Call,
    Response,
}

impl ShareTag {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "",
            Self::Think => "think",
            Self::Call => "tool_call",
            Self::Response => "tool_response",
        }
    }
}

impl Dialect for ShareGpt {
    fn client_words(&self) -> &dyn ClientWords {
        &KnownClients
    }

    fn name(&self) -> &'static str {
        "sharegpt"
    }

    fn view(&self, bytes: &[u8]) -> EventView {
        let mut walk = EventWalk::new(bytes);
        let row = read_row(&mut walk);
        if walk.broken {
            return super::opaque_view(bytes);
        }
        let role = role(bytes, row.from);
        let mut blocks = Vec::new();
        if let Some((outer, value)) = row.value {
            let token = ByteRange::new(value.start, value.end);
            if bytes.get(value.start) == Some(&b'"') {
                read_value(bytes, role, outer, token, &mut blocks);
            } else if token.of(bytes) != b"null" {
                blocks.push(BlockView::opaque(outer));
            }
        }
        unread::view(role, blocks, bytes, &["value"])
    }

    fn made_message(&self, role: Role, text: &str) -> Bytes {
        let from = match role {
            Role::System | Role::Developer => "system",
            Role::Assistant => "gpt",
            Role::User | Role::Tool | Role::Other => "human",
        };
        Json::default()
            .raw(r#"{"from":""#)
            .raw(from)
            .raw(r#"","value":"#)
            .text(text)
            .raw("}")
            .finish()
    }

    fn made_result(&self, _like: &[u8], id: &str, name: &str, text: &str) -> Bytes {
        results_turn(&response(id, name, text))
    }

    fn results_as_text(&self, bytes: &[u8], view: &EventView, blocks: &[usize]) -> Bytes {
        let chosen = flags(blocks, view.blocks.len());
        let named = |at: &usize| chosen[*at];
        let results = (0..view.blocks.len()).filter(|&at| view.blocks[at].is_result());
        let all = results.clone().all(|at| named(&at));
        let Some((_, value)) = read_row(&mut EventWalk::new(bytes)).value else {
            return Bytes::copy_from_slice(bytes);
        };
        // The results lose their tags. Their inside stays in the same string.
        let token = ByteRange::new(value.start, value.end);
        let text = jsonstr::decode(token.of(bytes));
        let segments = segments(&text, &[ShareTag::Response]);
        let tagged = segments.iter().filter(|segment| segment.tag == ShareTag::Response);
        let (mut out, mut from) = (String::with_capacity(text.len()), 0);
        for (at, segment) in results.zip(tagged).filter(|(at, _)| named(at)) {
            out.push_str(&text[from..segment.whole.start]);
            out.push_str(&result_text(bytes, view, at));
            from = segment.whole.end;
        }
        out.push_str(&text[from..]);
        // Without a result the message is no tool's any more.
        if all {
            return self.made_message(Role::User, &out);
        }
        Bytes::from(splice(bytes, &[(token, jsonstr::encode(&out).as_bytes())]))
    }
}

/// A turn of the tools with these responses.
pub(crate) fn results_turn(responses: &str) -> Bytes {
    Json::default().raw(r#"{"from":"tool","value":"#).text(responses).raw("}").finish()
}

/// The result of a call, in its tags.
pub(crate) fn response(id: &str, name: &str, text: &str) -> String {
    let [id, name, text] = [id, name, text].map(jsonstr::encode);
    format!(
        "<tool_response>\n{{\"tool_call_id\": {id}, \"name\": {name}, \"content\": {text}}}\n\
         </tool_response>"
    )
}

fn read_row(walk: &mut EventWalk<'_>) -> ShareRow {
    let mut row = ShareRow::default();
    walk.message(|walk, key| match key.name() {
        "from" | "role" => row.from = walk.string(),
        "value" | "content" => {
            let value = walk.value();
            row.value = Some((key.member(&value), value));
        }
        _ => {}
    });
    row
}

fn role(bytes: &[u8], from: Option<ByteRange>) -> Role {
    role_named(from.map_or(&b""[..], |from| inside(from.of(bytes))))
}

/// The role of a speaker's name, in any of the spellings that data sets use.
pub(crate) fn role_named(name: &[u8]) -> Role {
    match name {
        b"system" => Role::System,
        b"human" | b"user" => Role::User,
        b"gpt" | b"assistant" | b"model" | b"bot" | b"chatgpt" | b"function_call" => {
            Role::Assistant
        }
        b"tool" | b"observation" | b"function" | b"function_response" | b"ipython" => Role::Tool,
        _ => Role::Other,
    }
}

fn read_value(
    bytes: &[u8],
    role: Role,
    outer: ByteRange,
    token: ByteRange,
    out: &mut Vec<BlockView>,
) {
    let written = token.of(bytes);
    // A writer may escape `<` as `\u003c`.
    let may_have_tags = !tags(role).is_empty()
        && (memchr::memchr(b'<', written).is_some()
            || memchr::memmem::find(written, br"\u003").is_some());
    let text = if may_have_tags { jsonstr::decode(written) } else { Cow::Borrowed("") };
    let place = |range: &Range<usize>, coding| {
        TextRef::nested(token, ByteRange::new(range.start, range.end), coding)
    };
    read_tags(&text, role, token, &place, out);
    if out.is_empty() {
        out.push(BlockView::new(untagged(role), outer, TextRef::string(token)));
    }
}

/// The view of a turn whose value is in `bytes` from `from` on, already decoded: no part of it has to be decoded again.
pub(crate) fn decoded_view(bytes: &[u8], from: usize, role: Role) -> EventView {
    let whole = ByteRange::new(from, bytes.len());
    let text = std::str::from_utf8(whole.of(bytes)).unwrap_or_default();
    let place = |range: &Range<usize>, coding| {
        let range = ByteRange::new(from + range.start, from + range.end);
        match coding {
            TextCoding::Str => TextRef::string(range),
            TextCoding::Raw => TextRef::raw(range),
        }
    };
    let mut blocks = Vec::new();
    read_tags(text, role, whole, &place, &mut blocks);
    if blocks.is_empty() {
        blocks.push(BlockView::new(untagged(role), whole, TextRef::raw(whole)));
    }
    let origin = origins::origin(role, &blocks, bytes);
    EventView { role, origin, blocks }
}

fn tags(role: Role) -> &'static [ShareTag] {
    match role {
        Role::Assistant => &[ShareTag::Think, ShareTag::Call],
        Role::Tool => &[ShareTag::Response],
        _ => &[],
    }
}

/// Whether a reader takes a part of this text for more than text.
pub(crate) fn has_tags(role: Role, text: &str) -> bool {
    segments(text, tags(role)).iter().any(|segment| segment.tag != ShareTag::Text)
}

/// The kind of a value without tags.
fn untagged(role: Role) -> BlockKind {
    match role {
        Role::Tool => BlockKind::Result { id: None, name: None, error: None },
        _ => BlockKind::Text,
    }
}

/// Adds the blocks of a decoded value; none where it has no tags. `place` turns a range of `text` into a reference.
fn read_tags(
    text: &str,
    role: Role,
    outer: ByteRange,
    place: &impl Fn(&Range<usize>, TextCoding) -> TextRef,
    out: &mut Vec<BlockView>,
) {
    let tags = tags(role);
    if tags.is_empty() {
        return;
    }
    let segments = segments(text, tags);
    if segments.iter().all(|segment| segment.tag == ShareTag::Text) {
        return;
    }
    for segment in segments {
        let whole = place(&segment.inside, TextCoding::Raw);
        out.push(match segment.tag {
            ShareTag::Text => BlockView::new(BlockKind::Text, outer, whole),
            ShareTag::Think => BlockView::new(BlockKind::Reasoning { bound: false }, outer, whole),
            ShareTag::Call => {
                let fields = CallFields::read(text, segment.inside, "arguments");
                let kind = BlockKind::Call {
                    id: fields.id.map(|range| place(&range, TextCoding::Str)),
                    name: fields.name.map(|range| place(&range, TextCoding::Str)),
                };
                BlockView::new(kind, outer, body(text, fields.body, whole, place))
            }
            ShareTag::Response => {
                let fields = CallFields::read(text, segment.inside, "content");
                let kind = BlockKind::Result {
                    id: fields.id.map(|range| place(&range, TextCoding::Str)),
                    name: fields.name.map(|range| place(&range, TextCoding::Str)),
                    error: None,
                };
                BlockView::new(kind, outer, body(text, fields.body, whole, place))
            }
        });
    }
}

fn body(
    text: &str,
    member: Option<Range<usize>>,
    whole: TextRef,
    place: &impl Fn(&Range<usize>, TextCoding) -> TextRef,
) -> TextRef {
    match member {
        Some(range) if text.as_bytes().get(range.start) == Some(&b'"') => {
            place(&range, TextCoding::Str)
        }
        Some(range) => place(&range, TextCoding::Raw),
        None => whole,
    }
}

/// The members of a call or response. All are `None` unless its inside is valid JSON.
#[derive(Default)]
struct CallFields {
    id: Option<Range<usize>>,
    name: Option<Range<usize>>,
    body: Option<Range<usize>>,
}

impl CallFields {
    fn read(text: &str, inside: Range<usize>, body: &str) -> Self {
        let mut tagged = Self::default();
        let source = text.get(inside.clone()).unwrap_or_default();
        if serde_json::from_str::<&serde_json::value::RawValue>(source).is_err() {
            return tagged;
        }
        let bytes = text.as_bytes();
        let string = |value: &Range<usize>| {
            // A length of two is that of the quotes: an empty id or name is as good as no id or name.
            (bytes[value.start] == b'"' && value.len() > 2).then(|| value.clone())
        };
        for member in scan::members(bytes, inside) {
            if member.is(bytes, body) {
                tagged.body = Some(member.value);
            } else if member.is(bytes, "name") {
                tagged.name = string(&member.value);
            } else if member.is(bytes, "tool_call_id") || member.is(bytes, "id") {
                tagged.id = string(&member.value);
            }
        }
        tagged
    }
}

/// Cuts a decoded value at these tags. A tag that never closes is text. White space alone makes no segment.
fn segments(text: &str, tags: &[ShareTag]) -> Vec<Segment> {
    let mut out = Vec::new();
    let (mut text_from, mut at) = (0, 0);
    // The kinds of tag that do not close any more: looking for one again would scan the rest each time.
    let mut dead = [false; 4];
    let mut patience = 8;
    while let Some(hit) = memchr::memchr(b'<', &text.as_bytes()[at..]).map(|hit| at + hit) {
        let opened =
            tags.iter().copied().find(|&tag| !dead[tag as usize] && opens(&text[hit..], tag));
        let Some(tag) = opened else {
            at = hit + 1;
            continue;
        };
        let from = hit + tag.name().len() + 2;
        let Some(end) = closing(text, from, tag, &mut patience) else {
            dead[tag as usize] = true;
            at = from;
            continue;
        };
        push_text(&mut out, text, text_from..hit);
        let whole = hit..end + tag.name().len() + 3;
        at = whole.end;
        text_from = at;
        out.push(Segment { tag, whole, inside: trim(text, from..end) });
    }
    push_text(&mut out, text, text_from..text.len());
    out
}

fn opens(text: &str, tag: ShareTag) -> bool {
    text[1..].strip_prefix(tag.name()).is_some_and(|rest| rest.starts_with('>'))
}

/// Where the closing tag of `tag` starts. JSON may contain the closing tag in a string, so a JSON value is skipped
/// first. Each failure to do so can scan the whole rest, and `patience` bounds how often that happens in one value.
fn closing(text: &str, from: usize, tag: ShareTag, patience: &mut u32) -> Option<usize> {
    let close = format!("</{}>", tag.name());
    let start = scan::skip_space(text.as_bytes(), from);
    if tag != ShareTag::Think && *patience > 0 && text.as_bytes().get(start) == Some(&b'{') {
        let end = scan::value(text.as_bytes(), start)
            .map(|value| scan::skip_space(text.as_bytes(), value.end));
        if let Some(end) = end.filter(|&end| text[end..].starts_with(&close)) {
            return Some(end);
        }
        *patience -= 1;
    }
    memchr::memmem::find(&text.as_bytes()[from..], close.as_bytes()).map(|at| from + at)
}

fn push_text(out: &mut Vec<Segment>, text: &str, range: Range<usize>) {
    let inside = trim(text, range.clone());
    if !inside.is_empty() {
        out.push(Segment { tag: ShareTag::Text, whole: range, inside });
    }
}

/// The range without ASCII white space at its ends.
fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let front = slice.len() - slice.trim_ascii_start().len();
    let start = range.start + front;
    start..start + slice.trim_ascii().len()
}
