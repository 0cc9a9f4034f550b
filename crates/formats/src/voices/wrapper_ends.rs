//! Finds where the wrappers of [`crate::wrappers`] end.

use memchr::memmem;

use crate::elements::{attributes, element_end};
use crate::wrappers::{FRAMES, INJECTED, WrapperShape};

/// Where a wrapper may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrapperPlace {
    /// No words of the user are before it in its text.
    TextStart,
    LineStart,
    /// Behind words of the user in the same line.
    InLine,
}

/// Looks for wrappers at one position of a text after another.
#[derive(Debug, Default)]
pub(super) struct WrapperMarks {
    /// The wrappers, by index in the table, whose closing text does not occur in the rest. Each is searched once, so
    /// that a text full of open tags costs no more than any other.
    unclosed: u128,
}

const _: () = assert!(INJECTED.len() <= 128);

impl WrapperMarks {
    /// The end of a client's wrapper that opens at `at`. `None` where none opens.
    pub(super) fn end(&mut self, text: &str, at: usize, place: WrapperPlace) -> Option<usize> {
        let rest = &text[at..];
        if let Some(tag) = FRAMES.iter().find(|tag| rest.starts_with(**tag)) {
            return Some(at + tag.len());
        }
        let mut wrappers = INJECTED.iter().enumerate();
        wrappers.find_map(|(index, wrapper)| match wrapper.shape {
            WrapperShape::Start(start) => {
                let opens = place == WrapperPlace::TextStart && rest.starts_with(start);
                opens.then_some(text.len())
            }
            WrapperShape::Span(open, close) => {
                let opens = rest.starts_with(open);
                opens.then(|| Some(at + self.close(index, rest, close)?)).flatten()
            }
            WrapperShape::Element(name) => self.element(index, text, at, name, place),
            WrapperShape::Line(_) | WrapperShape::End(..) => None,
        })
    }

    fn element(
        &mut self,
        index: usize,
        text: &str,
        at: usize,
        name: &str,
        place: WrapperPlace,
    ) -> Option<usize> {
        let rest = &text[at..];
        let body = name.len() + 1;
        let behind = rest.strip_prefix('<')?.strip_prefix(name)?;
        if !opens(name, behind, place) {
            return None;
        }
        if let Some(inside) = attributes(behind).filter(|inside| inside.ends_with('/')) {
            return Some(at + body + inside.len() + 1);
        }
        let close = format!("</{name}>");
        let end = self.close(index, rest, &close)?;
        // Elements of the same name may be inside; if they are not balanced, the last closing tag counts.
        if !rest[body..end - close.len()].contains(&rest[..body]) {
            return Some(at + end);
        }
        let last =
            || memmem::rfind(rest.as_bytes(), close.as_bytes()).map(|n| at + n + close.len());
        element_end(text, at + body, name).or_else(last)
    }

    /// The end of the closing text in the rest.
    fn close(&mut self, index: usize, rest: &str, close: &str) -> Option<usize> {
        let mark = 1 << index;
        if self.unclosed & mark != 0 {
            return None;
        }
        let end = memmem::find(rest.as_bytes(), close.as_bytes()).map(|n| n + close.len());
        if end.is_none() {
            self.unclosed |= mark;
        }
        end
    }
}

/// Whether a tag with this name opens a client's element, given the text behind the name.
fn opens(name: &str, behind: &str, place: WrapperPlace) -> bool {
    if !behind.starts_with(['>', ' ', '\r', '\n']) && !behind.starts_with("/>") {
        return false;
    }
    if !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return true;
    }
    // A name that is a plain word may be in a sentence of the user's about an element: `the <file> tag is missing`.
    let Some(attributes) = attributes(behind) else { return false };
    let has_attribute = attributes.contains('=');
    let content = behind[attributes.len() + 1..].trim_start_matches([' ', '\t', '\r']);
    let ends_line = content.is_empty() || content.starts_with('\n');
    match place {
        WrapperPlace::InLine => has_attribute && ends_line,
        _ => has_attribute || ends_line,
    }
}
