//! Private keys, from their first line on.

/// Longest private key, in bytes. A 16,384-bit RSA key in PEM has 12,600.
const LONGEST: usize = 32 * 1024;

/// What was seen of the text behind the first lines of keys: it is walked once, however many there
/// are.
#[derive(Debug, Default)]
pub(super) struct KeyBlocks {
    /// The next end of a key from here on.
    end: Option<(usize, Option<usize>)>,
    /// The end of the lines that a key can hold.
    body: std::ops::Range<usize>,
}

impl KeyBlocks {
    /// The end of a private key whose first line ends at `from`: behind its last line, or, where
    /// the key was cut off, behind the last line that can be of one.
    pub(super) fn end(&mut self, text: &str, from: usize) -> usize {
        let next = match self.end {
            Some((seen, next)) if seen <= from && next.is_none_or(|next| from <= next) => next,
            _ => next_end(text, from),
        };
        self.end = Some((from, next));
        if let Some(next) = next.filter(|next| next - from < LONGEST) {
            return next + last_line(&text[next..]);
        }
        if !(self.body.start <= from && from < self.body.end) {
            self.body = from..body_end(text, from);
        }
        text.floor_char_boundary(self.body.end.min(from + LONGEST))
    }
}

/// The next dashes of a last line.
fn next_end(text: &str, from: usize) -> Option<usize> {
    memchr::memmem::find_iter(&text.as_bytes()[from..], b"END ").find_map(|at| {
        let before = &text[from..from + at];
        ["-----", "---- "]
            .iter()
            .find(|dashes| before.ends_with(**dashes))
            .map(|dashes| from + at - dashes.len())
    })
}

/// Length of the line that ends a key, which may be cut.
fn last_line(text: &str) -> usize {
    let start = "-----END".len();
    let close = text.get(start..).and_then(|rest| rest.find("----")).filter(|close| *close < 48);
    let Some(close) = close else { return start };
    let dashes = text[start + close..].bytes().take_while(|b| *b == b'-').count();
    start + close + dashes.min(5)
}

/// The end of the lines from `from` on that a key may have: of base64, and its head's.
fn body_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let held = |b: &u8| b.is_ascii_alphanumeric() || b"+/=\\-:,.\" \t\r\n".contains(b);
    let mut end = from;
    let mut at = from;
    while at < bytes.len() {
        // A line, also of a string in which line breaks are written out.
        let line = bytes[at..].iter().take_while(|b| **b != b'\n' && held(b)).count();
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
