//! What follows the head of a format, where a regex would be large: classes of all characters but
//! a few, some hundred times over, cost milliseconds to compile, in every process that folds.

use std::ops::Range;

/// Length of an assigned value, in characters. Session tokens have above a thousand.
const ASSIGNED: Range<usize> = 6..4_097;
/// Longest name of a user in a URL, in characters.
const USER: usize = 128;
/// Length of a password in a URL, in characters.
const PASSWORD: Range<usize> = 1..257;
/// How far behind the name of a command its flags are looked for, in bytes.
const COMMAND: usize = 600;

/// Where the secret stands, seen from a format's regex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the first group that matched, else the whole match.
    Matched,
    /// It is all that is around the keyword without white space; the regex has to match it.
    Around,
    /// It follows the match: in quotes, which may be escaped, or up to what ends a bare value.
    Assigned,
    /// It follows the match, after a user's name and a colon and before an `@`.
    UrlPassword,
    /// It follows a flag of the command that matched: `-p secret`, `-psecret`.
    Flag(&'static str),
    /// It follows a user's name and a colon behind `-u` or `--user` of the command that matched.
    PairFlag,
    /// It is the base64 text that the keyword is in.
    Base64,
}

/// An assigned value at the start of a text.
pub(super) fn assigned(text: &str) -> Option<Range<usize>> {
    let open = text.bytes().take(3).take_while(|b| *b == b'\\').count();
    match text.as_bytes().get(open) {
        Some(quote @ (b'"' | b'\'' | b'`')) => quoted(text, open + 1, char::from(*quote)),
        _ => {
            let value = run(text, 0, ASSIGNED, is_bare)?;
            let value = value.start..before_next_member(&text[value.clone()]);
            (value.len() >= ASSIGNED.start).then_some(value)
        }
    }
}

fn is_bare(c: char) -> bool {
    !(c.is_whitespace() || r#""'`,;<>(){}[]\"#.contains(c))
}

/// A value in a URL's query ends where the next member begins: `…&page=2`.
fn before_next_member(value: &str) -> usize {
    let named = |rest: &str| {
        let name = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        name > 0 && rest[name..].starts_with('=')
    };
    let ends = value.match_indices('&').find(|(at, _)| named(&value[at + 1..]));
    ends.map_or(value.len(), |(at, _)| at)
}

/// What is between the quote before `from` and the one that closes it.
fn quoted(text: &str, from: usize, quote: char) -> Option<Range<usize>> {
    let value = run(text, from, ASSIGNED, |c| c != quote && c != '\\' && c != '\n')?;
    text[value.end..].trim_start_matches('\\').starts_with(quote).then_some(value)
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
    let last = candidates.rfind(|end| fits(end) && starts_host(&text[end + 1..rest.end]));
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

/// What follows a flag of the command whose text this is: at once, or after a blank where the flag
/// ends in one.
pub(super) fn flag(text: &str, flag: &str) -> Option<Range<usize>> {
    let command = command(text);
    let at = flag_at(command, flag.trim_end())?;
    let rest = &command[at..];
    let skipped = rest.len() - rest.trim_start_matches([' ', '"', '\'', ',', '\\']).len();
    if flag.ends_with(' ') == (skipped == 0) {
        return None;
    }
    run(command, at + skipped, 4..257, is_bare)
}

/// The password of `-u user:password`.
pub(super) fn pair_flag(text: &str) -> Option<Range<usize>> {
    let command = command(text);
    let at = ["-u", "--user", "--proxy-user", "-a"].iter().find_map(|flag| {
        let at = flag_at(command, flag)?;
        let rest = &command[at..];
        let open =
            rest.len() - rest.trim_start_matches([' ', '=', '"', '\'', ',', '\\', '\n']).len();
        let user = run(command, at + open, 1..USER, |c| is_bare(c) && c != ':')?;
        command[user.end..].starts_with(':').then_some(user.end + 1)
    })?;
    run(command, at, PASSWORD, |c| !(c.is_whitespace() || r#""'`\"#.contains(c)))
}

/// The command that a text starts with, up to what ends it.
fn command(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(COMMAND.min(text.len()))];
    &text[..text.find(['|', ';']).unwrap_or(text.len())]
}

/// Behind the first place where the flag stands as a word of its own, or begins one.
fn flag_at(command: &str, flag: &str) -> Option<usize> {
    let opens = |at: usize| command[..at].ends_with([' ', '"', '\'', '\t', '\n']);
    command.match_indices(flag).find(|(at, _)| opens(*at)).map(|(at, _)| at + flag.len())
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
            ("\"a b c d\" x", Some("a b c d")),
            (r#"\\\"a b c d\\\","#, Some("a b c d")),
            ("\"a b c d", None),
            ("short", None),
        ] {
            assert_eq!(assigned(text).map(|range| &text[range]), wanted, "{text}");
        }
        let long = "é".repeat(5_000);
        assert_eq!(assigned(&long), Some(0..8_192));
        assert_eq!(assigned(&format!("\"{long}\"")), None);
    }

    #[test]
    fn what_follows_a_flag_of_a_command() {
        for (text, wanted) in [
            ("curl -s -u admin:s3cr/t https://x", Some("s3cr/t")),
            ("curl\",\"-u\",\"admin:s3cret\",\"x", Some("s3cret")),
            ("curl --user 'a:b c'", Some("b")),
            ("curl https://x | sort -u a:b", None),
        ] {
            assert_eq!(pair_flag(text).map(|range| &text[range]), wanted, "{text}");
        }
        assert_eq!(flag("mysql -uroot -phunter2 db", "-p"), Some(15..22));
        assert_eq!(flag("mysql -uroot -p db", "-p"), None);
        assert_eq!(flag("sshpass -p hunter2 ssh x", "-p "), Some(11..18));
    }
}
