//! Leaves escape sequences out of a text, which colour it, move the cursor or name the window.

/// The text without escape sequences. One that has no end on its line stays, so that no text is lost with it. Other
/// control characters stay, too.
///
/// ```
/// use midfold::without_escapes;
/// assert_eq!(without_escapes("\x1b[38:2:9:9:9mred\x1b[0m \x1b]0;title\x07\x1b(Bword"), "red word");
/// assert_eq!(without_escapes("\x1b]0;words"), "\x1b]0;words");
/// ```
#[must_use]
pub fn without_escapes(text: &str) -> String {
    let begins = |c| matches!(c, '\x1b' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(begins) {
        out.push_str(&rest[..at]);
        let mut chars = rest[at..].chars();
        let first = chars.next();
        rest = behind(&rest[at..]).unwrap_or_else(|| {
            out.extend(first);
            chars.as_str()
        });
    }
    out + rest
}

/// What follows the sequence with which the text begins. `None` where it is no whole sequence.
fn behind(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    // A single character of the second control set says the same as an escape and a letter.
    let kind = match chars.next()? {
        '\x1b' => chars.next()?,
        single => char::from_u32(u32::from(single) - 0x40)?,
    };
    let body = chars.as_str();
    match kind {
        '[' => {
            let body = body.trim_start_matches(|c| matches!(c, '0'..='?'));
            let body = body.trim_start_matches(|c| matches!(c, ' '..='/'));
            Some(body.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(body))
        }
        ']' | 'P' | 'X' | '^' | '_' => {
            let end = &body[body.find(['\x07', '\u{9c}', '\x1b', '\n'])?..];
            ["\x07", "\u{9c}", "\x1b\\"].iter().find_map(|mark| end.strip_prefix(mark))
        }
        ' '..='/' => {
            let body = body.trim_start_matches(|c| matches!(c, ' '..='/'));
            Some(body.strip_prefix(|c| matches!(c, '0'..='~')).unwrap_or(body))
        }
        _ => None,
    }
}
