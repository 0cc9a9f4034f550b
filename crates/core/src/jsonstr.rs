//! The JSON string codec: from the bytes of a string token to its text and back.
//!
//! Decoding is lenient and total, because it is used to count, search and quote foreign data and
//! never to forward it: a lone surrogate or a broken escape becomes U+FFFD, invalid UTF-8 is
//! replaced. Encoding writes the shortest valid token.

use std::borrow::Cow;

/// Decodes a JSON string token, with or without its quotes. Borrows when nothing is escaped.
///
/// ```
/// use midfold_core::jsonstr::decode;
/// assert_eq!(decode(br#""a\nb""#), "a\nb");
/// assert_eq!(decode(br#""\ud800""#), "\u{FFFD}"); // a lone surrogate
/// ```
#[must_use]
pub fn decode(token: &[u8]) -> Cow<'_, str> {
    let inner = strip_quotes(token);
    // The strict check is several times faster than the lossy one, and nearly always enough.
    let text = match std::str::from_utf8(inner) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(inner),
    };
    match memchr::memchr(b'\\', text.as_bytes()) {
        None => text,
        Some(first) => {
            let mut out = String::with_capacity(text.len());
            decode_escaped(&text, first, &mut out);
            Cow::Owned(out)
        }
    }
}

/// As [`decode`], with `scratch` as the place for text that had to be decoded: whoever reads many
/// tokens allocates once.
pub fn decode_with<'a>(token: &'a [u8], scratch: &'a mut String) -> &'a str {
    let inner = strip_quotes(token);
    let Ok(text) = std::str::from_utf8(inner) else {
        *scratch = decode(token).into_owned();
        return scratch;
    };
    let Some(first) = memchr::memchr(b'\\', inner) else { return text };
    scratch.clear();
    decode_escaped(text, first, scratch);
    scratch
}

/// The bytes inside a JSON string token, where nothing is escaped: they are the text.
///
/// ```
/// use midfold_core::jsonstr::plain;
/// assert_eq!(plain(br#""call_1""#), Some(&b"call_1"[..]));
/// assert_eq!(plain(br#""a\nb""#), None);
/// ```
#[must_use]
pub fn plain(token: &[u8]) -> Option<&[u8]> {
    let inner = strip_quotes(token);
    memchr::memchr(b'\\', inner).is_none().then_some(inner)
}

fn strip_quotes(token: &[u8]) -> &[u8] {
    match token {
        [b'"', inner @ .., b'"'] => inner,
        _ => token,
    }
}

/// `first` is the position of the first backslash.
fn decode_escaped(text: &str, first: usize, out: &mut String) {
    let mut rest = text;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        rest = decode_escape(&rest[at + 1..], out);
        next = find_backslash(rest.as_bytes());
    }
    out.push_str(rest);
}

/// Escapes come in lines: the next one is mostly near, where a plain loop beats a search.
fn find_backslash(bytes: &[u8]) -> Option<usize> {
    const NEAR: usize = 16;
    let near = bytes.len().min(NEAR);
    let found = bytes[..near].iter().position(|byte| *byte == b'\\');
    found.or_else(|| memchr::memchr(b'\\', &bytes[near..]).map(|at| near + at))
}

/// Decodes what follows a backslash and returns what is left.
fn decode_escape<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let mut chars = rest.chars();
    match chars.next() {
        Some('n') => out.push('\n'),
        Some('t') => out.push('\t'),
        Some('r') => out.push('\r'),
        Some('b') => out.push('\u{8}'),
        Some('f') => out.push('\u{c}'),
        Some(kind @ ('"' | '\\' | '/')) => out.push(kind),
        Some('u') => return decode_unicode(chars.as_str(), out),
        _ => out.push(char::REPLACEMENT_CHARACTER),
    }
    chars.as_str()
}

fn decode_unicode<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let Some(first) = hex4(rest.as_bytes()) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return rest;
    };
    let rest = &rest[4..];
    if (0xD800..0xDC00).contains(&first)
        && let Some(low) = rest.strip_prefix("\\u")
        && let Some(second) = hex4(low.as_bytes())
        && (0xDC00..0xE000).contains(&second)
    {
        let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return &low[4..];
    }
    out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

fn hex4(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.get(..4)?;
    digits.iter().try_fold(0, |code, &digit| Some(code * 16 + (digit as char).to_digit(16)?))
}

/// Appends `text` to `out` as a JSON string token, quotes included.
///
/// ```
/// let mut out = Vec::new();
/// midfold_core::jsonstr::encode_into("say \"hi\"\n", &mut out);
/// assert_eq!(out, br#""say \"hi\"\n""#);
/// ```
pub fn encode_into(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(text.len() + 2);
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

/// `text` as a JSON string token.
#[must_use]
pub fn encode(text: &str) -> String {
    let mut out = Vec::new();
    encode_into(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn decodes_what_it_encodes(text in "[\\PC\n\t\"\\\\\u{0}-\u{1f}é漢🦀]{0,60}") {
            let token = encode(&text);
            proptest::prop_assert_eq!(decode(token.as_bytes()), text.as_str());
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&token).unwrap(), text);
        }

        #[test]
        fn decodes_any_bytes(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60)) {
            let mut scratch = String::from("what was there");
            proptest::prop_assert_eq!(decode(&bytes), decode_with(&bytes, &mut scratch));
        }

        #[test]
        fn agrees_with_serde_json(text in "\\PC{0,60}") {
            let token = serde_json::to_string(&text).unwrap();
            proptest::prop_assert_eq!(decode(token.as_bytes()), text.as_str());
        }
    }

    #[test]
    fn odd_escapes_are_replaced() {
        assert_eq!(decode(br#""\ud83e\udd80""#), "🦀");
        assert_eq!(decode(br#""\ud83e x""#), "\u{FFFD} x");
        assert_eq!(decode(br#""\ud83e\u0041""#), "\u{FFFD}A");
        assert_eq!(decode(br#""\q""#), "\u{FFFD}");
        assert_eq!(decode(br#""a\u12""#), "a\u{FFFD}12");
        assert_eq!(decode(b"\"a\xff\\n\""), "a\u{FFFD}\n");
    }
}
