//! Where a value ends, without regexes: classes of all characters but a few, some hundred times
//! over, cost milliseconds to compile, in every process that folds.

use std::ops::Range;

/// Length of a bare value, in characters. Session tokens have above a thousand.
const BARE: Range<usize> = 4..4_097;
/// Length of a quoted value, in bytes.
const QUOTED: Range<usize> = 3..8_193;
/// Longest name of a user in a URL, in characters.
const USER: usize = 128;
/// Length of a password in a URL, in characters.
const PASSWORD: Range<usize> = 1..257;

/// Where the secret stands, seen from a format's regex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretPlace {
    /// It is the first group that matched, else the whole match.
    Matched,
    /// It is all that is around the keyword without white space; the regex has to match it.
    Around,
    /// It follows the match, after a user's name and a colon and before an `@`.
    UrlPassword,
    /// It is the argument of a call with so many before it.
    Argument(usize),
    /// It is the base64 text that the keyword is in.
    Base64,
    /// It is the rest of a private key.
    Block,
}

/// Where runs end that were walked before: each byte is walked once, however many names it holds.
#[derive(Debug, Default)]
pub(super) struct ValueRuns {
    bare: Range<usize>,
    wide: Range<usize>,
    /// The next `"`, `'`, `` ` ``, `\` or line break, seen from the start.
    stop: Range<usize>,
    tag: Range<usize>,
}

impl ValueRuns {
    /// The end of the run at `at` that `stop` finds the end of.
    fn end(memo: &mut Range<usize>, at: usize, stop: impl FnOnce() -> usize) -> usize {
        if !(memo.contains(&at) || memo.end == at && memo.start < at) {
            *memo = at..stop();
        }
        memo.end
    }

    /// What is up to `byte` or the end of the line.
    pub(super) fn until(&mut self, text: &str, at: usize, byte: u8) -> Option<Range<usize>> {
        let rest = &text.as_bytes()[at..];
        let end = Self::end(&mut self.tag, at, || {
            at + memchr::memchr2(byte, b'\n', rest).unwrap_or(rest.len())
        });
        (end - at < BARE.end).then_some(at..end)
    }
}

/// A bare value at `at`. A `wide` one ends at white space and quotes alone.
pub(super) fn bare(
    text: &str,
    at: usize,
    wide: bool,
    runs: &mut ValueRuns,
) -> Option<Range<usize>> {
    let (memo, held): (_, fn(char) -> bool) =
        if wide { (&mut runs.wide, is_wide) } else { (&mut runs.bare, is_bare) };
    let end =
        ValueRuns::end(memo, at, || at + text[at..].find(|c| !held(c)).unwrap_or(text.len() - at));
    let end = end.min(text.floor_char_boundary(at + BARE.end));
    let run = &text[at..end];
    let value = if wide {
        run.trim_end_matches([',', ';', '.', ')', ':'])
    } else {
        trimmed(&run[..before_next_member(run)])
    };
    (value.len() >= BARE.start).then_some(at..at + value.len())
}

/// What ends a sentence is no part of a value.
fn trimmed(value: &str) -> &str {
    value.trim_end_matches(['.', ':', '|'])
}

fn is_bare(c: char) -> bool {
    !(c.is_whitespace() || r#""'`,;<>(){}[]\#"#.contains(c))
}

fn is_wide(c: char) -> bool {
    !(c.is_whitespace() || "\"'`".contains(c))
}

/// A value in a URL's query ends where the next member begins: `…&page=2`.
fn before_next_member(value: &str) -> usize {
    let named = |rest: &str| {
        let name = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        name > 0 && rest[name..].starts_with('=')
    };
    let mut ends = value.match_indices('&').filter(|(at, _)| named(&value[at + 1..]));
    ends.next().map_or(value.len(), |(at, _)| at)
}

/// What is between the quote at `at`, which may be escaped, and the one that closes it.
pub(super) fn quoted(text: &str, at: usize, runs: &mut ValueRuns) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let depth = bytes[at..].iter().take(7).take_while(|b| **b == b'\\').count();
    let quote = *bytes.get(at + depth).filter(|b| b"\"'`".contains(b))?;
    let from = at + depth + 1;
    // A call to get `'''` and `"""` over with.
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

/// The argument with so many before it of the call whose parenthesis a text is behind, where it is
/// in quotes.
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

/// The password of a URL whose text after `://` this is. It may hold `/` and `@`, as people write
/// them; what it may not do is end in a port.
pub(super) fn url_password(text: &str) -> Option<Range<usize>> {
    let plain = |c: char| !(c.is_whitespace() || r#"/@"'<>\"#.contains(c));
    let user = run(text, 0, 0..USER + 1, |c| plain(c) && c != ':')?;
    let colon = text[user.end..].starts_with(':').then_some(user.end + 1)?;
    let rest = run(text, colon, PASSWORD, |c| !(c.is_whitespace() || r#""'<>\`"#.contains(c)))?;
    let mut candidates = text[rest.clone()].match_indices('@').map(|(at, _)| colon + at);
    let fits = |end: &usize| {
        let password = &text[colon..*end];
        let path = password.contains('/');
        // `host:8080/@scope/name` and `host/x/@scope`.
        let port =
            password.split('/').next().unwrap_or_default().bytes().all(|b| b.is_ascii_digit());
        let chosen = password.bytes().any(|b| b.is_ascii_digit() || b"!#$%^&*+?~=@".contains(&b));
        !password.is_empty() && !(path && (port || !chosen || password.ends_with('/')))
    };
    let first = candidates.clone().next().filter(|end| fits(end));
    let last = candidates.rfind(|end| starts_host(&text[end + 1..rest.end]) && fits(end));
    Some(colon..last.or(first)?)
}

/// A host: its name, and then a port, a path or nothing.
fn starts_host(text: &str) -> bool {
    let name = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"-._".contains(b)).count();
    let rest = &text[name..];
    let bracketed = text.starts_with('[');
    (name > 0
        && !text.starts_with('.')
        && (rest.is_empty() || rest.starts_with([':', '/', '?', ',', ')', ']'])))
        || bracketed
}

/// The base64 text around `hit`, its padding included.
pub(super) fn base64(text: &str, hit: Range<usize>) -> Range<usize> {
    let run = around(text, hit, WRAPPED, |b| b"+/_-".contains(&b));
    let padding = text.as_bytes()[run.end..].iter().take(2).take_while(|b| **b == b'=').count();
    run.start..run.end + padding
}

/// Longest base64 text that is looked into, in bytes, on either side of what is known of it.
const WRAPPED: usize = 8 * 1024;

/// The letters, digits and other bytes that are `held` around `hit`, at most `reach` on either side.
pub(super) fn around(
    text: &str,
    hit: Range<usize>,
    reach: usize,
    held: impl Fn(u8) -> bool,
) -> Range<usize> {
    let of = |b: &&u8| b.is_ascii_alphanumeric() || held(**b);
    let (before, after) = (&text.as_bytes()[..hit.start], &text.as_bytes()[hit.end..]);
    let before = before.iter().rev().take(reach).take_while(of).count();
    let after = after.iter().take(reach).take_while(of).count();
    hit.start - before..hit.end + after
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
            let found = bare(text, 0, false, &mut ValueRuns::default());
            assert_eq!(found.map(|range| &text[range]), wanted, "{text}");
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
            let found = quoted(text, 0, &mut ValueRuns::default());
            assert_eq!(found.map(|range| &text[range]), wanted, "{text}");
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
            let found = argument(text, before, &mut ValueRuns::default());
            assert_eq!(found.map(|range| &text[range]), wanted, "{text}");
        }
    }
}
