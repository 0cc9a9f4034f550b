//! Transcripts that their clients still write, and which part of them no longer changes.

use bytes::Bytes;
use midfold_core::{Role, jsonstr};
use serde::de::IgnoredAny;

use super::{Conversation, TranscriptFormat, registry};
use crate::fields::ObjectFields;
use crate::scan;

/// The newest message of the model, in a format that writes a message in several records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewestReply {
    /// The index of the reply among the messages.
    pub at: usize,
    /// Whether the reply is complete, as far as the client says.
    pub ended: bool,
}

/// The newest reply, which may still get more blocks. `None` where the format writes every message at once, or where
/// there is no reply.
///
/// Claude Code writes a record for each block; the blocks of one message are joined at the place of the first. The
/// readers of some other clients build a reply and the results of its calls from later records: such a reply is
/// complete when each of its calls has a result.
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::read::{newest_reply, read};
///
/// let file = r#"{"type":"assistant","uuid":"a","parentUuid":null,"sessionId":"s","message":{"id":"m",
/// "role":"assistant","stop_reason":null,"content":[{"type":"text","text":"so far"}]}}"#;
/// let found = read(&Bytes::from(file.replace('\n', "")), None)?;
/// let reply = newest_reply(&found.conversations[0]).unwrap();
/// assert_eq!((reply.at, reply.ended), (0, false));
/// # Ok::<(), midfold_formats::read::ReadError>(())
/// ```
#[must_use]
pub fn newest_reply(conversation: &Conversation) -> Option<NewestReply> {
    if registry::of(conversation.format).builds_replies {
        return newest_step(conversation);
    }
    if conversation.format != TranscriptFormat::ClaudeCode {
        return None;
    }
    let field = |bytes: &[u8], name: &str| -> Option<Vec<u8>> {
        ObjectFields::of(bytes, 0..bytes.len()).raw(name).map(<[u8]>::to_vec)
    };
    let is_reply = |bytes: &[u8]| field(bytes, "role").as_deref() == Some(br#""assistant""#);
    let at = conversation.events.iter().rposition(|event| is_reply(&event.bytes))?;
    let reason = field(&conversation.events[at].bytes, "stop_reason");
    Some(NewestReply { at, ended: reason.is_none_or(|reason| reason != b"null") })
}

/// The newest reply in a format whose reader builds replies. It is complete when enough results follow it.
fn newest_step(conversation: &Conversation) -> Option<NewestReply> {
    let dialect = conversation.format.dialect().dialect();
    let views = conversation.events.iter().map(|event| dialect.view(&event.bytes));
    let mut results = 0;
    for (at, view) in views.enumerate().rev() {
        if view.role == Role::Assistant {
            let calls = view.blocks.iter().filter(|block| block.is_call()).count();
            return Some(NewestReply { at, ended: results >= calls });
        }
        results += view.blocks.iter().filter(|block| block.is_result()).count();
    }
    None
}

/// The rest of a message that has grown: `now` with only those blocks that come after the blocks of `before`. `None`
/// where `now` does not begin with `before`.
///
/// Clients that write a message in several records make it longer while they work. A log keeps what it has, so it gets
/// the rest as a message of its own.
///
/// ```
/// use midfold_formats::read::rest_of;
///
/// let before = br#"{"role":"assistant","content":[{"type":"text","text":"so far"}]}"#;
/// let now = br#"{"role":"assistant","content":[{"type":"text","text":"so far"},{"type":"text","text":"on"}]}"#;
/// let rest = br#"{"role":"assistant","content":[{"type":"text","text":"on"}]}"#;
/// assert_eq!(rest_of(before, now).as_deref(), Some(&rest[..]));
/// assert_eq!(rest_of(now, before), None);
/// ```
#[must_use]
pub fn rest_of(before: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    let fields = |message| ObjectFields::of(message, 0..message.len());
    let (old, new) = (fields(before), fields(now));
    if new.is("role", "assistant") && new.array("content").is_none() {
        return rest_of_reply(&old, &new);
    }
    let name = ["content", "parts"].into_iter().find(|name| new.array(name).is_some())?;
    let (from, list) = (old.array(name)?, new.array(name)?);
    let blocks: Vec<_> = scan::elements(now, list.clone()).collect();
    let known: Vec<_> = scan::elements(before, from).map(|at| &before[at]).collect();
    let goes_on = old.raw("role") == new.raw("role")
        && known.len() < blocks.len()
        && known.iter().zip(&blocks).all(|(known, block)| *known == &now[block.clone()]);
    let next = blocks.get(known.len()).filter(|_| goes_on)?;
    Some([&now[..list.start + 1], &now[next.start..]].concat())
}

/// The rest of a reply in Chat Completions, which has its words, its reasoning and its calls in members of their own.
fn rest_of_reply(old: &ObjectFields<'_>, new: &ObjectFields<'_>) -> Option<Vec<u8>> {
    let text = |of: &ObjectFields<'_>, name| of.text(name).unwrap_or_default().into_owned();
    let more = |name| text(new, name).strip_prefix(&*text(old, name)).map(str::to_owned);
    let calls = |of: &ObjectFields<'_>| -> Vec<Vec<u8>> {
        of.list("tool_calls").map(|at| of.bytes()[at].to_vec()).collect()
    };
    let (words, thought) = (more("content")?, more("reasoning_content")?);
    let (known, all) = (calls(old), calls(new));
    let calls = all.strip_prefix(&known[..])?;
    let grows = !words.is_empty() || !thought.is_empty() || !calls.is_empty();
    if !grows || !old.is("role", "assistant") {
        return None;
    }
    let mut out = br#"{"role":"assistant","content":"#.to_vec();
    match words.is_empty() && !calls.is_empty() {
        true => out.extend_from_slice(b"null"),
        false => jsonstr::encode_into(&words, &mut out),
    }
    if !thought.is_empty() {
        out.extend_from_slice(br#","reasoning_content":"#);
        jsonstr::encode_into(&thought, &mut out);
    }
    if !calls.is_empty() {
        out.extend_from_slice(&[br#","tool_calls":["#, &calls.join(&b',')[..], b"]"].concat());
    }
    out.push(b'}');
    Some(out)
}

/// A file of JSON lines without a last line that is not completely written yet. Any other file is returned as it is.
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::read::whole_lines;
///
/// let half = Bytes::from("{\"role\":\"user\"}\n{\"role\":\"ass");
/// assert_eq!(whole_lines(&half), "{\"role\":\"user\"}\n");
/// let whole = Bytes::from("{\"role\":\"user\"}\n{\"role\":\"user\"}");
/// assert_eq!(whole_lines(&whole), whole);
/// let document = Bytes::from("{\n  \"messages\": []\n}");
/// assert_eq!(whole_lines(&document), document);
/// ```
#[must_use]
pub fn whole_lines(bytes: &Bytes) -> Bytes {
    let is_json = |part: &[u8]| serde_json::from_slice::<IgnoredAny>(part).is_ok();
    let first = memchr::memchr(b'\n', bytes);
    let last = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    let rest = &bytes[last..];
    // The first line of a value over several lines is no JSON.
    let is_lines = first.is_none_or(|end| is_json(bytes[..end].trim_ascii()));
    if !is_lines || rest.trim_ascii().is_empty() || is_json(rest) {
        return bytes.clone();
    }
    bytes.slice(..last)
}
