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
    if memchr::memchr(b'\\', inner).is_none() {
        return String::from_utf8_lossy(inner);
    }
    Cow::Owned(decode_escaped(inner))
}

fn strip_quotes(token: &[u8]) -> &[u8] {
    match token {
        [b'"', inner @ .., b'"'] => inner,
        _ => token,
    }
}

fn decode_escaped(mut rest: &[u8]) -> String {
    let mut out = String::with_capacity(rest.len());
    while let Some(at) = memchr::memchr(b'\\', rest) {
        push_lossy(&mut out, &rest[..at]);
        rest = decode_escape(&rest[at + 1..], &mut out);
    }
    push_lossy(&mut out, rest);
    out
}

fn push_lossy(out: &mut String, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(bytes)),
    }
}

/// Decodes what follows a backslash and returns what is left.
fn decode_escape<'a>(rest: &'a [u8], out: &mut String) -> &'a [u8] {
    let Some((&kind, rest)) = rest.split_first() else {
        out.push(char::REPLACEMENT_CHARACTER);
        return rest;
    };
    match kind {
        b'n' => out.push('\n'),
        b't' => out.push('\t'),
        b'r' => out.push('\r'),
        b'b' => out.push('\u{8}'),
        b'f' => out.push('\u{c}'),
        b'"' | b'\\' | b'/' => out.push(kind as char),
        b'u' => return decode_unicode(rest, out),
        _ => out.push(char::REPLACEMENT_CHARACTER),
    }
    rest
}

fn decode_unicode<'a>(rest: &'a [u8], out: &mut String) -> &'a [u8] {
    let Some(first) = hex4(rest) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return rest;
    };
    let rest = &rest[4..];
    if (0xD800..0xDC00).contains(&first)
        && let [b'\\', b'u', low @ ..] = rest
        && let Some(second) = hex4(low)
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
