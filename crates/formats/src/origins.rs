//! Where the text of an event comes from, without reading the whole text.

use std::borrow::Cow;

use midfold_core::{BlockKind, BlockView, Role, TextOrigin, TextRef, Voice};

use crate::recaps;
use crate::voices::split;
use crate::wrappers::{INJECTED, KnownWrapper, OBSERVATIONS, WrapperShape};

/// The bytes at each end of a text that decide whether it needs a closer look.
const GLANCE: usize = 256;

/// The origin of an event's text, judged by the first text block.
pub(crate) fn origin(role: Role, blocks: &[BlockView], bytes: &[u8]) -> TextOrigin {
    if matches!(role, Role::Tool | Role::Other) {
        return TextOrigin::Genuine;
    }
    let texts = || blocks.iter().filter(|block| block.kind == BlockKind::Text);
    let Some(first) = texts().find_map(|block| block.texts.first()) else {
        return TextOrigin::Genuine;
    };
    let head = glance(first, bytes);
    if recaps::is_recap(&head) {
        return TextOrigin::Recap;
    }
    let has_media = blocks.iter().any(|block| block.kind == BlockKind::Media);
    if role != Role::User || has_media || !may_be_foreign(first, &head, bytes) {
        return TextOrigin::Genuine;
    }
    let texts: Vec<_> = texts().map(|block| block.text(bytes)).collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    let passages = split(&texts);
    let has = |wanted: Voice| passages.iter().any(|part| part.voice == wanted);
    match (has(Voice::User) || has(Voice::Shown), has(Voice::Tool), has(Voice::Client)) {
        (true, ..) | (_, false, false) => TextOrigin::Genuine,
        (_, true, _) => TextOrigin::Observation,
        (_, _, true) => TextOrigin::Injected,
    }
}

/// Whether somebody other than the user may speak in this text, whose start is `head`. Nearly all messages begin with
/// the user's words, and those are not read any further.
fn may_be_foreign(text: &TextRef, head: &str, bytes: &[u8]) -> bool {
    let head = head.trim_start();
    let starts = |wrapper: &KnownWrapper| match wrapper.shape {
        WrapperShape::Start(start) | WrapperShape::Line(start) | WrapperShape::Span(start, _) => {
            head.starts_with(start)
        }
        WrapperShape::End(end, _) => ends(text, bytes, end),
        WrapperShape::Element(_) => false,
    };
    head.is_empty()
        || head.starts_with(['<', '['])
        || INJECTED.iter().chain(OBSERVATIONS).any(starts)
}

/// The start of a text, decoded, without decoding the rest of a long one.
fn glance<'a>(text: &TextRef, bytes: &'a [u8]) -> Cow<'a, str> {
    let long = text.token.len() > 2 * GLANCE;
    if text.nested.is_some() || !long {
        return text.decode(bytes);
    }
    let token = text.token.of(bytes);
    let inner = token.get(1..1 + GLANCE).unwrap_or_default();
    // The cut may fall inside an escape, which changes nothing but the last character.
    midfold_core::jsonstr::decode(inner)
}

fn ends(text: &TextRef, bytes: &[u8], end: &str) -> bool {
    if text.nested.is_some() {
        return text.decode(bytes).trim_end().ends_with(end);
    }
    let token = text.token.of(bytes);
    let tail = token.get(token.len().saturating_sub(GLANCE)..).unwrap_or_default();
    let tail = tail.strip_suffix(b"\"").unwrap_or(tail);
    // The search for its last byte alone is cheap and excludes most texts.
    let last = end.bytes().next_back();
    last.is_some_and(|last| memchr::memrchr(last, tail).is_some())
        && midfold_core::jsonstr::decode(tail).trim_end().ends_with(end)
}
