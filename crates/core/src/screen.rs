//! The text that a terminal shows for the bytes that were sent to it.

/// The text as a terminal finally shows it: without escape sequences, and of text overwritten by carriage returns only
/// the last.
///
/// ```
/// use midfold_core::screen::shown;
/// assert_eq!(shown("a 10%\ra 100%\nok\r\r\n"), "a 100%\nok\n");
/// ```
#[must_use]
pub fn shown(text: &str) -> String {
    without_overwritten(&without(text, OpenSequence::TakesItsLine))
}

/// Each line as carriage returns leave it: of what was overwritten only the last. A carriage return with nothing behind
/// it overwrites nothing.
#[must_use]
pub fn without_overwritten(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
        }
        out.push_str(line.rsplit('\r').find(|part| !part.is_empty()).unwrap_or(""));
    }
    out
}

/// The text without escape sequences, which colour it, move the cursor or name the window. One that has no end on its
/// line stays, so that no text is lost with it. Other control characters stay, too.
///
/// ```
/// use midfold_core::screen::without_escapes;
/// assert_eq!(without_escapes("\x1b[38:2:9:9:9mred\x1b[0m \x1b]0;title\x07\x1b(Bword"), "red word");
/// assert_eq!(without_escapes("\x1b]0;words"), "\x1b]0;words");
/// ```
#[must_use]
pub fn without_escapes(text: &str) -> String {
    without(text, OpenSequence::Stays)
}

/// What becomes of a sequence that has no end on its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenSequence {
    /// A terminal waits for its end and shows nothing of it.
    TakesItsLine,
    /// It may be no sequence at all.
    Stays,
}

fn without(text: &str, open: OpenSequence) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = next_escape(rest) {
        out.push_str(&rest[..at]);
        let mut chars = rest[at..].chars();
        let introducer = chars.next().unwrap_or('\x1b');
        rest = chars.as_str();
        match (behind(introducer, rest), open) {
            (Ok(behind), _) | (Err(behind), OpenSequence::TakesItsLine) => rest = behind,
            (Err(_), OpenSequence::Stays) => out.push(introducer),
        }
    }
    out.push_str(rest);
    out
}

/// The place of the next character that begins a sequence: an escape, or one of the second control set that says the
/// same as an escape and a letter.
fn next_escape(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let single = |byte: &u8| matches!(byte, 0x90 | 0x98 | 0x9b | 0x9d..=0x9f);
    let mut places = memchr::memchr2_iter(0x1b, 0xc2, bytes);
    places.find(|at| bytes[*at] == 0x1b || bytes.get(at + 1).is_some_and(single))
}

/// The text behind the sequence of this introducer. `Err` where the sequence has no end, with what a terminal shows next.
/// A string such as a title reaches to the end of its line or to the next sequence, and any other is one character.
fn behind(introducer: char, rest: &str) -> Result<&str, &str> {
    let mut chars = rest.chars();
    let kind = match introducer {
        '\x1b' => chars.next().unwrap_or('\n'),
        single => char::from_u32(u32::from(single) - 0x40).unwrap_or('\n'),
    };
    let body = chars.as_str();
    match kind {
        '[' => {
            let body = body.trim_start_matches(|c| matches!(c, '0'..='?'));
            let body = body.trim_start_matches(|c| matches!(c, ' '..='/'));
            Ok(body.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(body))
        }
        ']' | 'P' | 'X' | '^' | '_' => {
            let end = body.find(['\x07', '\u{9c}', '\x1b', '\n']).map_or("", |end| &body[end..]);
            let mut marks = ["\x07", "\u{9c}", "\x1b\\"].iter();
            marks.find_map(|mark| end.strip_prefix(mark)).ok_or(end)
        }
        ' '..='/' => {
            let body = body.trim_start_matches(|c| matches!(c, ' '..='/'));
            Ok(body.strip_prefix(|c| matches!(c, '0'..='~')).unwrap_or(body))
        }
        '\n' => Err(rest),
        _ => Err(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collapses_progress_and_strips_colours() {
        assert_eq!(shown("a 10%\ra 50%\ra 100%\nok\r\n"), "a 100%\nok\n");
        assert_eq!(shown("\u{1b}[1;31merror\u{1b}[0m: no"), "error: no");
        assert_eq!(shown("\u{1b}[38:2:255:0:0mred\u{1b}[>4;2m"), "red");
        assert_eq!(shown("\u{1b}]0;title\u{7}x\u{1b}(B\u{1b}7y"), "xy");
        assert_eq!(shown("\u{1b}]0;title\u{1b}\\x"), "x");
        assert_eq!(
            shown("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\ \u{9b}31mred"),
            "link red"
        );
        assert_eq!(shown("cut \u{1b}[12"), "cut ");
    }

    #[test]
    fn a_sequence_that_was_cut_off_takes_its_line_alone() {
        assert_eq!(shown("a\u{1b}]0;title\nerror: disk full"), "a\nerror: disk full");
        assert_eq!(shown("a\u{1b}]0;title\nerror\u{1b}[31m: no"), "a\nerror: no");
        assert_eq!(shown("a\u{1b}[1;3\nok"), "a\nok");
        assert_eq!(shown("a\u{1b}[31é"), "aé");
        assert_eq!(shown("a\u{1b}\nb"), "a\nb");
    }

    #[test]
    fn a_carriage_return_with_nothing_behind_it_overwrites_nothing() {
        assert_eq!(shown("one\r\r\ntwo\r\r\nthree\r"), "one\ntwo\nthree");
        assert_eq!(shown("\u{1b}[31mred\u{1b}[0m\r\u{1b}[0m\n"), "red\n");
    }
}
