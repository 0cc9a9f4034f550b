//! The text that a terminal shows for the bytes that were sent to it.

/// The text as a terminal finally shows it: without escape sequences, and of text overwritten by carriage returns only
/// the last.
pub(crate) fn shown(text: &str) -> String {
    let plain = strip_ansi(text);
    let mut out = String::with_capacity(plain.len());
    for (n, line) in plain.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        // A carriage return with nothing behind it overwrites nothing.
        out.push_str(line.rsplit('\r').find(|part| !part.is_empty()).unwrap_or(""));
    }
    out
}

/// Removes CSI, OSC and two-byte escape sequences.
fn strip_ansi(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        rest = after_escape(&rest[at + 1..]);
    }
    out.push_str(rest);
    out
}

/// The text behind an escape sequence, of which the escape character is gone already.
fn after_escape(rest: &str) -> &str {
    let mut chars = rest.chars();
    match chars.next() {
        // Neither kind of sequence holds a line break: one that was cut off ends with its line.
        Some('[') => match rest[1..].find(|c: char| !(' '..='?').contains(&c)) {
            Some(end) if ('@'..='~').contains(&char::from(rest.as_bytes()[end + 1])) => {
                &rest[end + 2..]
            }
            Some(end) => &rest[end + 1..],
            None => "",
        },
        Some(']') => match rest.find(['\u{7}', '\u{1b}', '\n']) {
            Some(end) if rest[end..].starts_with('\u{7}') => &rest[end + 1..],
            Some(end) if rest[end..].starts_with('\u{1b}') => {
                rest[end + 1..].strip_prefix('\\').unwrap_or(&rest[end..])
            }
            Some(end) => &rest[end..],
            None => "",
        },
        Some(_) => chars.as_str(),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collapses_progress_and_strips_colours() {
        assert_eq!(shown("a 10%\ra 50%\ra 100%\nok\r\n"), "a 100%\nok\n");
        assert_eq!(shown("\u{1b}[1;31merror\u{1b}[0m: no"), "error: no");
        assert_eq!(shown("\u{1b}]0;title\u{7}x\u{1b}(B"), "xB");
        assert_eq!(shown("\u{1b}]0;title\u{1b}\\x"), "x");
        assert_eq!(shown("cut \u{1b}[12"), "cut ");
    }

    #[test]
    fn a_sequence_that_was_cut_off_takes_its_line_alone() {
        assert_eq!(shown("a\u{1b}]0;title\nerror: disk full"), "a\nerror: disk full");
        assert_eq!(shown("a\u{1b}]0;title\nerror\u{1b}[31m: no"), "a\nerror: no");
        assert_eq!(shown("a\u{1b}[1;3\nok"), "a\nok");
        assert_eq!(shown("a\u{1b}[31é"), "aé");
    }
}
