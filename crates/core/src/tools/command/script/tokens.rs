//! Splits a script into tokens, by the rules that Python and JavaScript share.

use std::borrow::Cow;

/// A token of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScriptToken<'a> {
    /// A name or a number.
    Name(&'a str),
    /// A string without inserted values, so its text is known.
    Text(Cow<'a, str>),
    /// A string with inserted values, whose text is unknown.
    Built,
    /// Any other character, such as a bracket or an operator.
    Mark(char),
    /// The end of a line.
    Line,
}

/// The tokens of a script, without comments.
pub(super) fn tokens(script: &str) -> Vec<ScriptToken<'_>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = script[at..].chars().next() {
        let rest = &script[at..];
        if c == '\n' {
            out.push(ScriptToken::Line);
            at += 1;
        } else if c == '#' || rest.starts_with("//") {
            // `a // b` of Python and `#x` of JavaScript pass for comments, too: a write may be missed, none invented.
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if c.is_whitespace() || c == '\\' {
            at += c.len_utf8();
        } else if c.is_alphanumeric() || c == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let quoted = rest[end..].starts_with(['"', '\'']);
            if quoted && end <= 2 && rest[..end].bytes().all(|b| b"rRbBfFuU".contains(&b)) {
                at += end + string(&rest[end..], &rest[..end], &mut out);
            } else {
                out.push(ScriptToken::Name(&rest[..end]));
                at += end;
            }
        } else if matches!(c, '"' | '\'' | '`') {
            at += string(rest, "", &mut out);
        } else {
            out.push(ScriptToken::Mark(c));
            at += c.len_utf8();
        }
    }
    out
}

/// Reads a string, and returns its length in bytes.
fn string<'a>(text: &'a str, prefix: &str, out: &mut Vec<ScriptToken<'a>>) -> usize {
    let quote = &text[..1];
    let three = quote.repeat(3);
    let quote = if text.starts_with(&three) && quote != "`" { three.as_str() } else { quote };
    // A raw string keeps its backslashes, but they hide a quotation mark all the same.
    let raw = prefix.contains(['r', 'R']);
    let start = quote.len();
    let mut end = start;
    let mut escaped = false;
    loop {
        let Some(offset) = text[end..].find(|c| c == '\\' || quote.starts_with(c)) else {
            out.push(ScriptToken::Built); // never closed
            return text.len();
        };
        end += offset;
        if text[end..].starts_with('\\') {
            escaped = true;
            end += 1;
            end += text[end..].chars().next().map_or(0, char::len_utf8);
        } else if text[end..].starts_with(quote) {
            break;
        } else {
            end += 1;
        }
    }
    let inner = &text[start..end];
    let built =
        prefix.contains(['f', 'F']) && inner.contains('{') || quote == "`" && inner.contains("${");
    out.push(match (built, escaped && !raw) {
        (true, _) => ScriptToken::Built,
        (false, false) => ScriptToken::Text(Cow::Borrowed(inner)),
        (false, true) => ScriptToken::Text(Cow::Owned(unescaped(inner))),
    });
    end + quote.len()
}

/// Replaces the escapes of a string by the characters that they mean.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('\n') | None => {}
            Some(c @ ('\\' | '\'' | '"' | '`')) => out.push(c),
            Some(other) => out.extend(['\\', other]),
        }
    }
    out
}
