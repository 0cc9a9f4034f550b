//! What follows the head of a format, where a regex would be large: classes of all characters but
//! a few, some hundred times over, cost milliseconds to compile, in every process that folds.

use std::ops::Range;

/// Length of an assigned value, in characters.
const ASSIGNED: Range<usize> = 6..257;
/// Longest name of a user in a URL, in characters.
const USER: usize = 128;
/// Length of a password in a URL, in characters.
const PASSWORD: Range<usize> = 1..257;

/// Where the secret stands, seen from a format's regex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the first group that matched, else the whole match.
    Matched,
    /// It follows the match: in quotes, which may be escaped, or up to what ends a bare value.
    Assigned,
    /// It follows the match, after a user's name and a colon and before an `@`.
    UrlPassword,
}

/// An assigned value at the start of a text.
pub(super) fn assigned(text: &str) -> Option<Range<usize>> {
    let open = usize::from(text.starts_with('\\'));
    match text.as_bytes().get(open) {
        Some(quote @ (b'"' | b'\'')) => quoted(text, open + 1, char::from(*quote)),
        _ => run(text, 0, ASSIGNED, |c| !(c.is_whitespace() || r#""'`,;<>(){}[]\"#.contains(c))),
    }
}

/// What stands between the quote before `from` and the one that closes it.
fn quoted(text: &str, from: usize, quote: char) -> Option<Range<usize>> {
    let value = run(text, from, ASSIGNED, |c| c != quote && c != '\\' && c != '\n')?;
    let close = &text[value.end..];
    close.strip_prefix('\\').unwrap_or(close).starts_with(quote).then_some(value)
}

/// The password of a URL whose text after `://` this is.
pub(super) fn url_password(text: &str) -> Option<Range<usize>> {
    let plain = |c: char| !(c.is_whitespace() || r#"/@"'<>\"#.contains(c));
    let user = run(text, 0, 0..USER + 1, |c| plain(c) && c != ':')?;
    let colon = text[user.end..].starts_with(':').then_some(user.end + 1)?;
    let password = run(text, colon, PASSWORD, plain)?;
    text[password.end..].starts_with('@').then_some(password)
}

/// The characters from `from` on that are `held`, as many as `length` allows, where it has them.
fn run(
    text: &str,
    from: usize,
    length: Range<usize>,
    held: impl Fn(char) -> bool,
) -> Option<Range<usize>> {
    let most = length.end.saturating_sub(1);
    let held = text[from..].chars().take(most).take_while(|c| held(*c));
    let (count, bytes) = held.fold((0, 0), |(count, bytes), c| (count + 1, bytes + c.len_utf8()));
    (count >= length.start).then_some(from..from + bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    fn matched(pattern: &str, text: &str) -> Option<Range<usize>> {
        let captures = Regex::new(pattern).unwrap().captures(text)?;
        Some(captures.iter().skip(1).flatten().next()?.range())
    }

    proptest! {
        /// The regexes that these stand for.
        #[test]
        fn as_the_regex(text in "[\"'\\\\]{0,2}[a-f:@ /=\u{3000}é,\n]{0,12}[a-z]{0,9}[\"'\\\\@:]{0,3}[a-z@]{0,4}") {
            let of_value = r#"^(?:\\?"([^"\\\n]{6,256})\\?"|\\?'([^'\\\n]{6,256})\\?'|([^\s"'`,;<>(){}\[\]\\]{6,256}))"#;
            prop_assert_eq!(assigned(&text), matched(of_value, &text));
            let of_url = r#"^[^\s:/@"'<>\\]{0,128}:([^\s@/"'<>\\]{1,256})@"#;
            prop_assert_eq!(url_password(&text), matched(of_url, &text));
        }
    }

    #[test]
    fn lengths_end_where_the_regexes_end() {
        let long = "é".repeat(300);
        assert_eq!(assigned(&long), Some(0..512));
        assert_eq!(assigned(&format!("\"{long}\"")), None);
        assert_eq!(url_password(&format!("{}:x@", &long[..256])), Some(257..258));
        assert_eq!(url_password(&format!("{}:x@", &long[..258])), None);
        assert_eq!(url_password(&format!(":{long}@")), None);
    }
}
