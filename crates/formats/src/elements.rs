//! Elements in a text: their tags, and where they end.

use rustc_hash::FxHashMap;

use crate::labels::names_speaker;
use crate::lines::line_end;

/// The most bytes of a tag behind its name.
const TAG: usize = 400;

/// A tag that opens an element.
pub(crate) struct OpeningTag<'a> {
    pub name: &'a str,
    /// The position after the tag.
    pub body: usize,
    /// Whether the element ends with the tag: `<br/>`.
    pub is_self_closing: bool,
}

/// The tag that opens at `at`. `None` where there is none.
pub(crate) fn opening_tag(text: &str, at: usize) -> Option<OpeningTag<'_>> {
    let inner = text[at..].strip_prefix('<')?;
    let (name, behind) = inner.split_at(name_length(inner));
    let has_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let attributes = attributes(behind).filter(|attributes| !attributes.contains('\n'))?;
    let is_parted = attributes.is_empty() || attributes.starts_with([' ', '/']);
    (has_name && is_parted).then(|| OpeningTag {
        name,
        body: at + 1 + name.len() + attributes.len() + 1,
        is_self_closing: attributes.ends_with('/'),
    })
}

/// The text between the name of a tag and its `>`. `None` where the tag does not end, or is too long.
pub(crate) fn attributes(behind: &str) -> Option<&str> {
    let near = &behind[..behind.floor_char_boundary(TAG)];
    let end = near.find(['>', '<'])?;
    near[end..].starts_with('>').then(|| &near[..end])
}

/// Whether a text is an element whose name is not that of a speaker or an output.
pub(crate) fn is_plain_element(text: &str) -> bool {
    let tag = opening_tag(text.trim_start(), 0);
    tag.is_some_and(|tag| !names_speaker(&tag.name.replace(['-', '.', ':'], "_")))
}

/// The length of the name with which a tag's inside starts.
fn name_length(inner: &str) -> usize {
    inner.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_-:.".contains(b)).count()
}

/// The position of the last closing tag of each element.
pub(crate) fn last_closes(text: &str) -> FxHashMap<&str, usize> {
    let mut closes = FxHashMap::default();
    for (at, _) in text.match_indices("</") {
        let inner = &text[at + 2..];
        closes.insert(&inner[..name_length(inner)], at);
    }
    closes
}

/// The end of the element whose content starts at `from`. Elements of the same name inside it are counted.
pub(crate) fn element_end(text: &str, from: usize, name: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for at in memchr::memchr_iter(b'<', &text.as_bytes()[from..]) {
        let rest = &text[from + at + 1..];
        let (closes, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
        let Some(behind) = rest.strip_prefix(name) else { continue };
        if closes && behind.trim_start().starts_with('>') {
            depth -= 1;
            if depth == 0 {
                return Some(from + at + 2 + name.len() + behind.find('>')? + 1);
            }
        } else if !closes && behind.starts_with(['>', ' ', '\r', '\n']) {
            depth += usize::from(!attributes(behind).is_some_and(|inside| inside.ends_with('/')));
        }
    }
    None
}

/// The end of the tag at `at`, or of its line where it has no `>`.
pub(crate) fn tag_end(text: &str, at: usize) -> usize {
    let line = line_end(text, at);
    text[at..line].find('>').map_or(line, |end| at + end + 1)
}
