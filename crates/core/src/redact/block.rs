//! Finds the ends of private keys in PEM and similar formats.

/// Longest private key, in bytes. A 16,384-bit RSA key in PEM has 12,600 bytes.
const LONGEST: usize = 32 * 1024;

/// Positions behind the first lines of keys that were found already. They are reused, so that the text is read only
/// once even where it has many first lines.
#[derive(Debug, Default)]
pub(super) struct KeyBlocks {
    /// The position from which the next last line of a key was searched, and that line's position; `None` where there
    /// is none.
    end: Option<(usize, Option<usize>)>,
    /// The range of lines that a key may consist of.
    body: std::ops::Range<usize>,
}

impl KeyBlocks {
    /// The end of a private key whose first line ends at byte `from`: behind its last line or, where the key was cut
    /// off, behind the last line that may belong to it.
    pub(super) fn end(&mut self, text: &str, from: usize) -> usize {
        let next = match self.end {
            // The next last line behind an earlier place is the same one, unless this place is behind it.
            Some((seen, next)) if seen <= from && next.is_none_or(|next| from <= next) => next,
            _ => next_end(text, from),
        };
        self.end = Some((from, next));
        // A last line that is farther away ends another key, and this one was cut off.
        if let Some(next) = next.filter(|next| next - from < LONGEST) {
            return next + last_line(&text[next..]);
        }
        if !(self.body.start <= from && from < self.body.end) {
            self.body = from..body_end(text, from);
        }
        text.floor_char_boundary(self.body.end.min(from + LONGEST))
    }
}

/// Byte offset of the next line that ends a key; `None` where there is none.
fn next_end(text: &str, from: usize) -> Option<usize> {
    memchr::memmem::find_iter(&text.as_bytes()[from..], b"END ").find_map(|at| {
        let before = &text[from..from + at];
        ["-----", "---- "]
            .iter()
            .find(|dashes| before.ends_with(**dashes))
            .map(|dashes| from + at - dashes.len())
    })
}

/// Length of the line that ends a key, in bytes. The line may be cut off.
fn last_line(text: &str) -> usize {
    let start = "-----END".len();
    let close = text.get(start..).and_then(|rest| rest.find("----")).filter(|close| *close < 48);
    let Some(close) = close else { return start };
    let dashes = text[start + close..].bytes().take_while(|b| *b == b'-').count();
    start + close + dashes.min(5)
}

/// The end of the lines from `from` on that may belong to a key: lines of base64 and of the key's headers.
fn body_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let is_body = |b: &u8| b.is_ascii_alphanumeric() || b"+/=\\-:,.\" \t\r\n".contains(b);
    let mut end = from;
    let mut at = from;
    while at < bytes.len() {
        // One line, or a string in which line breaks are written as escapes.
        let line = bytes[at..].iter().take_while(|b| **b != b'\n' && is_body(b)).count();
        let stops = bytes.get(at + line).is_some_and(|b| *b != b'\n');
        let text = text[at..at + line].trim_matches([' ', '\t', '\r', '-', '"']);
        let prose = text.contains(' ') && !text.contains(": ") && !text.starts_with("BEGIN");
        if prose && !text.contains('\\') {
            break;
        }
        if !text.is_empty() {
            end = at + line;
        }
        if stops {
            break;
        }
        at += line + 1;
    }
    from + text[from..end].trim_end_matches([' ', '\t', '\r', '\n', '"', '\\', ',']).len()
}
