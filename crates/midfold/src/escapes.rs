//! Leaves escape sequences out of a text, which colour it, move the cursor or name the window.

/// The text without escape sequences. Of one that has no end on its line, only the escape itself is left out, so that
/// no text is lost with it.
///
/// ```
/// use midfold::without_escapes;
/// assert_eq!(without_escapes("\x1b[38:2:9:9:9mred\x1b[0m \x1b]0;title\x07\x1b(Bword"), "red word");
/// assert_eq!(without_escapes("\x1b]0;words"), "]0;words");
/// ```
#[must_use]
pub fn without_escapes(text: &str) -> String {
    let begins = |c| matches!(c, '\x1b' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(begins) {
        out.push_str(&rest[..at]);
        rest = behind(&rest[at..]);
    }
    out + rest
}

/// What follows the sequence with which the text begins.
fn behind(text: &str) -> &str {
    let mut chars = text.chars();
    let (first, plain) = (chars.next(), chars.as_str());
    // A single character of the second control set says the same as an escape and a letter.
    let kind = match first {
        Some('\x1b') => chars.next(),
        first => first.and_then(|c| char::from_u32(u32::from(c) - 0x40)),
    };
    let body = chars.as_str();
    match kind {
        Some('[') => {
            let body = body.trim_start_matches(|c| matches!(c, '0'..='?'));
            let body = body.trim_start_matches(|c| matches!(c, ' '..='/'));
            body.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(body)
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let end = body.find(['\x07', '\u{9c}', '\x1b', '\n']).map_or("", |at| &body[at..]);
            let marks = ["\x07", "\u{9c}", "\x1b\\"];
            marks.iter().find_map(|mark| end.strip_prefix(mark)).unwrap_or(plain)
        }
        Some(' '..='/') => {
            let body = body.trim_start_matches(|c| matches!(c, ' '..='/'));
            body.strip_prefix(|c| matches!(c, '0'..='~')).unwrap_or(body)
        }
        _ => plain,
    }
}
