//! Finds the end of a value, without regexes. Such regexes would have classes of nearly all characters with a few
//! hundred repetitions, which take milliseconds to compile in every process that folds.

use std::ops::Range;

/// Length of a value without quotes, in bytes. Session tokens may have more than a thousand.
const BARE: Range<usize> = 4..4_097;
/// Length of a value in quotes, in bytes.
const QUOTED: Range<usize> = 3..8_193;
/// Longest user name in a URL, in characters.
const USER: usize = 128;
/// Length of a password in a URL, in characters.
const PASSWORD: Range<usize> = 1..257;

/// Where the secret is, relative to the match of a format's regex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretPlace {
    /// It is the first group that matched, or else the whole match.
    Matched,
    /// It is the whole text around the keyword without white space, and the regex has to match that text.
    Around,
    /// It follows the match, between a user name with a colon and an `@`.
    UrlPassword,
    /// It is an argument of a call, with this many arguments before it.
    Argument(usize),
    /// It is the base64 text around the keyword.
    Base64,
    /// It is a private key, from the match to the key's end.
    Block,
}

/// The ends of runs that were found before, so that each byte is read once, however many names the text holds.
#[derive(Debug, Default)]
pub(super) struct ValueRuns {
    /// The range of the last value without quotes.
    bare: Range<usize>,
    /// The range of the last `wide` value, which ends only at white space and quotes.
    wide: Range<usize>,
    /// The range from the last start to the next `"`, `'`, `` ` ``, `\` or line break.
    stop: Range<usize>,
    /// The range from the last start to the byte that was searched for: see [`Self::until`].
    tag: Range<usize>,
}

impl ValueRuns {
    /// The end of the run at `at`. `stop` finds it, unless the last run of this kind reaches beyond `at`.
    fn end(memo: &mut Range<usize>, at: usize, stop: impl FnOnce() -> usize) -> usize {
        if !(memo.contains(&at) || memo.end == at && memo.start < at) {
            *memo = at..stop();
        }
        memo.end
    }

    /// The range up to `byte` or the end of the line; `None` where it is too long for a value.
    pub(super) fn until(&mut self, text: &str, at: usize, byte: u8) -> Option<Range<usize>> {
        let rest = &text.as_bytes()[at..];
        let end = Self::end(&mut self.tag, at, || {
            at + memchr::memchr2(byte, b'\n', rest).unwrap_or(rest.len())
        });
        (end - at < BARE.end).then_some(at..end)
    }
}

/// The value without quotes at `at`. A `wide` value ends only at white space and quotes. `None` where it is too short.
pub(super) fn bare(
    text: &str,
    at: usize,
    wide: bool,
    runs: &mut ValueRuns,
) -> Option<Range<usize>> {
    let (memo, belongs): (_, fn(char) -> bool) =
        if wide { (&mut runs.wide, is_wide) } else { (&mut runs.bare, is_bare) };
    let end = ValueRuns::end(memo, at, || {
        at + text[at..].find(|c| !belongs(c)).unwrap_or(text.len() - at)
    });
    let end = end.min(text.floor_char_boundary(at + BARE.end));
    let run = &text[at..end];
    let value = if wide {
        run.trim_end_matches([',', ';', '.', ')', ':'])
    } else {
        trimmed(&run[..before_next_member(run)])
    };
    (value.len() >= BARE.start).then_some(at..at + value.len())
}

/// Removes the marks that end a sentence, because they are no part of a value.
fn trimmed(value: &str) -> &str {
    value.trim_end_matches(['.', ':', '|'])
}

/// Whether a value without quotes may hold this character.
fn is_bare(c: char) -> bool {
    !(c.is_whitespace() || r#""'`,;<>(){}[]\#"#.contains(c))
}

/// Whether a `wide` value may hold this character.
fn is_wide(c: char) -> bool {
    !(c.is_whitespace() || "\"'`".contains(c))
}

/// The length up to the next member of a URL's query, as in `…&page=2`.
fn before_next_member(value: &str) -> usize {
    let named = |rest: &str| {
        let name = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        name > 0 && rest[name..].starts_with('=')
    };
    let mut ends = value.match_indices('&').filter(|(at, _)| named(&value[at + 1..]));
    ends.next().map_or(value.len(), |(at, _)| at)
}

/// The range between the quote at `at`, which may be escaped, and its closing quote. `None` where there is no such
/// quote, or the value is too long or too short.
pub(super) fn quoted(text: &str, at: usize, runs: &mut ValueRuns) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let depth = bytes[at..].iter().take(7).take_while(|b| **b == b'\\').count();
    let quote = *bytes.get(at + depth).filter(|b| b"\"'`".contains(b))?;
    let from = at + depth + 1;
    // Skips the rest of `'''` or `"""`.
    let from = from + if bytes[from..].starts_with(&[quote, quote]) { 2 } else { 0 };
    let mut end = from;
    while end - from < QUOTED.end {
        end = ValueRuns::end(&mut runs.stop, end, || {
            let rest = &bytes[end..];
            end + rest.iter().position(|b| b"\"'`\\\n".contains(b)).unwrap_or(rest.len())
        });
        match bytes.get(end)? {
            b'\n' => return None,
            b'\\' => {
                let escapes = bytes[end..].iter().take_while(|b| **b == b'\\').count();
                // In plain text, an even number of backslashes is part of the value. In escaped text, a quote closes
                // the value if it has no more backslashes than the opening one.
                let closes = if depth == 0 { escapes % 2 == 0 } else { escapes <= depth };
                let at_quote = bytes.get(end + escapes) == Some(&quote);
                if at_quote && closes {
                    let end = if depth == 0 { end + escapes } else { end };
                    return (end - from >= QUOTED.start).then_some(from..end);
                }
                end += escapes + usize::from(at_quote);
            }
            b if *b == quote => return (end - from >= QUOTED.start).then_some(from..end),
            _ => end += 1,
        }
    }
    None
}

/// The argument with this index, where it is in quotes. `text` starts behind the parenthesis of the call.
pub(super) fn argument(text: &str, before: usize, runs: &mut ValueRuns) -> Option<Range<usize>> {
    let mut at = 0;
    for _ in 0..before {
        let limit = text.floor_char_boundary(at + 200);
        at += text[at..limit].find(|c: char| !c.is_whitespace())?;
        at = match quoted(text, at, runs) {
            Some(value) => value.end + text[value.end..].find([',', ')'])? + 1,
            None => {
                at + text[at..limit]
                    .find([',', '(', ')', '\n'])
                    .filter(|end| text[at + end..].starts_with(','))?
                    + 1
            }
        };
    }
    let limit = text.floor_char_boundary(at + 32);
    at += text[at..limit]
        .find(|c: char| !(c.is_whitespace() || c.is_ascii_alphanumeric() || c == '='))?;
    quoted(text, at, runs)
}

/// The password of a URL, given the text behind `://`. A password may hold `/` and `@`, because people write them
/// unescaped. The text before a `/` must not look like a port.
pub(super) fn url_password(text: &str) -> Option<Range<usize>> {
    let plain = |c: char| !(c.is_whitespace() || r#"/@"'<>\"#.contains(c));
    let user = run(text, 0, 0..USER + 1, |c| plain(c) && c != ':')?;
    let colon = text[user.end..].starts_with(':').then_some(user.end + 1)?;
    let rest = run(text, colon, PASSWORD, |c| !(c.is_whitespace() || r#""'<>\`"#.contains(c)))?;
    let mut candidates = text[rest.clone()].match_indices('@').map(|(at, _)| colon + at);
    let fits = |end: &usize| {
        let password = &text[colon..*end];
        let path = password.contains('/');
        // `host:8080/@scope/name` has a port and `host/x/@scope` a path, but no password.
        let port =
            password.split('/').next().unwrap_or_default().bytes().all(|b| b.is_ascii_digit());
        let chosen = password.bytes().any(|b| b.is_ascii_digit() || b"!#$%^&*+?~=@".contains(&b));
        !password.is_empty() && !(path && (port || !chosen || password.ends_with('/')))
    };
    // A password may hold an `@`, so the last one before a host ends it.
    let first = candidates.clone().next().filter(|end| fits(end));
    let last = candidates.rfind(|end| starts_host(&text[end + 1..rest.end]) && fits(end));
    Some(colon..last.or(first)?)
}

/// Whether a text starts with a host: its name, followed by a port, a path or nothing.
fn starts_host(text: &str) -> bool {
    let name = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"-._".contains(b)).count();
    let rest = &text[name..];
    let bracketed = text.starts_with('[');
    (name > 0
        && !text.starts_with('.')
        && (rest.is_empty() || rest.starts_with([':', '/', '?', ',', ')', ']'])))
        || bracketed
}

/// The range of the base64 text around `hit`, with its padding.
pub(super) fn base64(text: &str, hit: Range<usize>) -> Range<usize> {
    let run = around(text, hit, WRAPPED, |b| b"+/_-".contains(&b));
    let padding = text.as_bytes()[run.end..].iter().take(2).take_while(|b| **b == b'=').count();
    run.start..run.end + padding
}

/// Base64 is read at most this many bytes to either side of a keyword.
const WRAPPED: usize = 8 * 1024;

/// The range around `hit` of letters, digits and bytes for which `belongs` is true, at most `reach` bytes to either side.
pub(super) fn around(
    text: &str,
    hit: Range<usize>,
    reach: usize,
    belongs: impl Fn(u8) -> bool,
) -> Range<usize> {
    let of = |b: &&u8| b.is_ascii_alphanumeric() || belongs(**b);
    let (before, after) = (&text.as_bytes()[..hit.start], &text.as_bytes()[hit.end..]);
    let before = before.iter().rev().take(reach).take_while(of).count();
    let after = after.iter().take(reach).take_while(of).count();
    hit.start - before..hit.end + after
}

/// The range of characters from `from` on for which `belongs` is true, as many as `length` allows. `None` where there are
/// too few.
fn run(
    text: &str,
    from: usize,
    length: Range<usize>,
    belongs: impl Fn(char) -> bool,
) -> Option<Range<usize>> {
    let most = length.end.saturating_sub(1);
    let chars = text[from..].chars().take(most).take_while(|c| belongs(*c));
    let (count, bytes) = chars.fold((0, 0), |(count, bytes), c| (count + 1, bytes + c.len_utf8()));
    (count >= length.start).then_some(from..from + bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(url: &str) -> Option<&str> {
        let text = &url[url.find("://").unwrap() + 3..];
        url_password(text).map(|range| &text[range])
    }

    #[test]
    fn the_password_of_a_url_may_hold_what_parts_a_url() {
        for (url, wanted) in [
            ("postgres://app:s3cret@db:5432/x", Some("s3cret")),
            ("postgres://app:p@ss/w0rd@db:5432/x", Some("p@ss/w0rd")),
            ("redis://:pw@cache/0", Some("pw")),
            ("https://u:p@host/node/@scope/pkg", Some("p")),
            ("http://host:80/@scope/pkg", None),
            ("https://host:8080/x/y@1.2", None),
            ("https://user@example.com:8080/x", None),
            ("file://C:/x1@y", None),
            ("https://example.com/a:b@c", None),
        ] {
            assert_eq!(password(url), wanted, "{url}");
        }
    }

    #[test]
    fn a_value_ends_where_it_ends() {
        for (text, wanted) in [
            ("abc123DEF&page=2", Some("abc123DEF")),
            ("abc&123DEF", Some("abc&123DEF")),
            ("abc123, d", Some("abc123")),
            ("shr", None),
        ] {
            let value = bare(text, 0, false, &mut ValueRuns::default());
            assert_eq!(value.map(|range| &text[range]), wanted, "{text}");
        }
        for (text, wanted) in [
            ("\"a b c d\" x", Some("a b c d")),
            (r#"\\\"a b c d\\\","#, Some("a b c d")),
            (r#""a\"b c" x"#, Some(r#"a\"b c"#)),
            (r#"\"a\\\"b c\" x"#, Some(r#"a\\\"b c"#)),
            (r#""a b c\\" x"#, Some(r"a b c\\")),
            ("\"a b c d", None),
            ("\"a b\nc d\"", None),
        ] {
            let value = quoted(text, 0, &mut ValueRuns::default());
            assert_eq!(value.map(|range| &text[range]), wanted, "{text}");
        }
        assert_eq!(bare(&"é".repeat(5_000), 0, false, &mut ValueRuns::default()), Some(0..4_096));
    }

    #[test]
    fn an_argument_by_its_place() {
        for (text, before, wanted) in [
            ("url, \"app\", \"s3cret\")", 2, Some("s3cret")),
            ("'a', 'bcd')", 1, Some("bcd")),
            ("'a'))", 1, None),
            ("url, user, password)", 2, None),
        ] {
            let value = argument(text, before, &mut ValueRuns::default());
            assert_eq!(value.map(|range| &text[range]), wanted, "{text}");
        }
    }
}
