//! How much a document holds: the pages of a PDF, or the bytes of a text.

use std::ops::Range;

use memchr::memmem;
use midfold_core::{ByteRange, MediaExtent, TextRef};
use smallvec::SmallVec;

use super::base64::decode;
use crate::scan;

/// The bytes that are searched at each end of a document.
const REACH: usize = 2 * 1024 * 1024;
/// A PDF that reports more pages than this is broken.
const MOST_PAGES: u32 = 100_000;

/// The extent of the document in this base64 text, whose decoded length is `size` bytes. `None` for other files, and
/// for a PDF whose pages cannot be counted.
pub(super) fn extent(base64: &[u8], size: u32) -> Option<MediaExtent> {
    let head = decode(base64, REACH);
    if head.starts_with(b"%PDF") {
        let rest = &base64[(REACH / 3 * 4).min(base64.len())..];
        // The tail starts at a whole group of four digits, as long as nothing in the base64 is escaped.
        let from = rest.len().saturating_sub(REACH / 3 * 4) / 4 * 4;
        let parts = [head, decode(&rest[from..], REACH)];
        return pages(&parts).map(MediaExtent::Pages);
    }
    let is_text = |bytes: &[u8]| {
        let control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x0C);
        // The head may end inside a character.
        let text = std::str::from_utf8(bytes);
        let whole = text.is_ok() || text.is_err_and(|error| error.error_len().is_none());
        whole && !bytes.is_empty() && !bytes.iter().any(control)
    };
    is_text(&head).then_some(MediaExtent::Text(size))
}

/// The number of pages of a PDF: the largest count of a page tree, or the count in the header of a linearized file, or
/// the number of page objects. `None` where all of these are compressed.
fn pages(parts: &[Vec<u8>]) -> Option<u32> {
    let trees = parts.iter().flat_map(|part| counts(part));
    // An inner node counts its own branch, so the largest count is that of the root.
    let largest = trees.max().or_else(|| parts.iter().find_map(|part| linear(part)));
    let own = || parts.iter().map(|part| leaves(part)).sum();
    let page_count = largest.unwrap_or_else(own);
    (1..=MOST_PAGES).contains(&page_count).then_some(page_count)
}

/// The `/Count` of each object that is a page tree.
fn counts(bytes: &[u8]) -> Vec<u32> {
    let objects = memmem::find_iter(bytes, b"/Pages").filter_map(|at| object(bytes, at));
    objects.filter_map(|object| number(bytes, object, b"/Count")).collect()
}

/// The page count `/N` of a linearized file.
fn linear(bytes: &[u8]) -> Option<u32> {
    let at = memmem::find(bytes.get(..1024).unwrap_or(bytes), b"/Linearized")?;
    number(bytes, object(bytes, at)?, b"/N")
}

/// The number of objects whose type is a page.
fn leaves(bytes: &[u8]) -> u32 {
    let is_page = |at: &usize| {
        let rest = bytes[at + b"/Type".len()..].trim_ascii_start();
        rest.strip_prefix(b"/Page")
            .is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_alphanumeric))
    };
    u32::try_from(memmem::find_iter(bytes, b"/Type").filter(is_page).count()).unwrap_or(u32::MAX)
}

/// The range of the object around the position `at`, found by its `obj` and `endobj`.
fn object(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    /// The farthest that the ends may be from `at`, in bytes. Only an object with a list of pages is long.
    const LONGEST: usize = 256 * 1024;
    let start =
        memmem::rfind(&bytes[at.saturating_sub(LONGEST)..at], b"obj")? + at.saturating_sub(LONGEST);
    let end = memmem::find(&bytes[at..(at + LONGEST).min(bytes.len())], b"endobj")? + at;
    Some(start..end)
}

fn number(bytes: &[u8], object: Range<usize>, name: &[u8]) -> Option<u32> {
    let object = &bytes[object];
    memmem::find_iter(object, name).find_map(|at| {
        let rest = object[at + name.len()..].trim_ascii_start();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
    })
}

/// The texts of a document that is sent as text: `{type: text, data}`, `{type: content, content}`, `{text}`, or
/// `{content: [{text}]}`.
pub(crate) fn readable(bytes: &[u8], source: Range<usize>) -> SmallVec<[TextRef; 1]> {
    let string = |name: &str| {
        let value = scan::get(bytes, source.clone(), name)?;
        (bytes.get(value.start) == Some(&b'"'))
            .then(|| TextRef::string(ByteRange::new(value.start, value.end)))
    };
    let is_text =
        scan::get(bytes, source.clone(), "type").is_some_and(|at| &bytes[at] == br#""text""#);
    if let Some(text) = string("text").or_else(|| string("data").filter(|_| is_text)) {
        return SmallVec::from_elem(text, 1);
    }
    let content = scan::get(bytes, source.clone(), "content");
    if let Some(text) = string("content") {
        return SmallVec::from_elem(text, 1);
    }
    let parts = scan::elements(bytes, content.unwrap_or(0..0));
    let texts = parts.filter_map(|part| scan::get(bytes, part, "text"));
    let texts = texts.filter(|at| bytes.get(at.start) == Some(&b'"'));
    texts.map(|at| TextRef::string(ByteRange::new(at.start, at.end))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::base64::encode;
    use super::*;

    fn of(bytes: &[u8]) -> Option<MediaExtent> {
        let base64 = encode(bytes);
        extent(&base64, u32::try_from(bytes.len()).unwrap())
    }

    #[test]
    fn a_document_tells_its_pages() {
        let tree = "%PDF-1.4\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 12 >>\nendobj\n3 0 obj\n<</Type/Pages/Count 5>>\nendobj";
        assert_eq!(of(tree.as_bytes()), Some(MediaExtent::Pages(12)));
        let first =
            "%PDF-1.5\n1 0 obj\n<</Linearized 1/L 9000/N 31/O 7>>\nendobj\n<</Type/ObjStm>>";
        assert_eq!(of(first.as_bytes()), Some(MediaExtent::Pages(31)));
        let leaves = "%PDF-1.4\n4 0 obj <</Type /Page>> endobj 5 0 obj <</Type/Page/Parent 2 0 R>> endobj <</Type /PageLabel>>";
        assert_eq!(of(leaves.as_bytes()), Some(MediaExtent::Pages(2)));
        let distant_pages = [
            &b"%PDF-1.4\n"[..],
            &vec![b'x'; 3 * REACH + 1],
            b"\n2 0 obj <</Type/Pages/Count 77>> endobj",
        ]
        .concat();
        assert_eq!(of(&distant_pages), Some(MediaExtent::Pages(77)));
        for none in [
            "%PDF-1.7 all of it is packed",
            "%PDF-1.4 1 0 obj <</Type/Pages/Count 99999999>> endobj",
        ] {
            assert_eq!(of(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn a_text_tells_its_bytes() {
        let text = "Ein Vertrag über drei Jahre.\n".repeat(20);
        assert_eq!(
            of(text.as_bytes()),
            Some(MediaExtent::Text(u32::try_from(text.len()).unwrap()))
        );
        assert_eq!(of(b"PK\x03\x04 a sheet"), None);
        assert_eq!(of(b""), None);
    }
}
