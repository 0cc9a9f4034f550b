//! The JSON string codec: from the bytes of a string token to its text and back.
//!
//! Decoding is lenient and total, because it is used to count, search and quote foreign data and
//! never to forward it: a lone surrogate or a broken escape becomes U+FFFD, invalid UTF-8 is
//! replaced. Encoding writes the shortest valid token.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

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
    let Some(first) = memchr::memchr(b'\\', inner) else {
        // The strict check is several times faster than the lossy one, and nearly always enough.
        return match std::str::from_utf8(inner) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(inner),
        };
    };
    let mut out = Vec::new();
    unescape(inner, first, &mut out);
    Cow::Owned(checked(out, inner))
}

/// As [`decode`], with `scratch` as the place for text that had to be decoded: whoever reads many
/// tokens allocates once.
pub fn decode_with<'a>(token: &'a [u8], scratch: &'a mut String) -> &'a str {
    let inner = strip_quotes(token);
    let Some(first) = memchr::memchr(b'\\', inner) else {
        if let Ok(text) = std::str::from_utf8(inner) {
            return text;
        }
        *scratch = String::from_utf8_lossy(inner).into_owned();
        return scratch;
    };
    let mut out = std::mem::take(scratch).into_bytes();
    unescape(inner, first, &mut out);
    *scratch = checked(out, inner);
    scratch
}

/// What [`unescape`] made of `inner`, as text. It is valid where `inner` is: every escape becomes
/// whole characters.
fn checked(out: Vec<u8>, inner: &[u8]) -> String {
    String::from_utf8(out).unwrap_or_else(|invalid| {
        let mut out = invalid.into_bytes();
        let inner = String::from_utf8_lossy(inner);
        unescape(inner.as_bytes(), 0, &mut out);
        String::from_utf8(out).unwrap_or_default()
    })
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

/// The JSON with `\ufffd` for each half of a character that its strings escape alone: many servers refuse the
/// whole request for one. Nothing where there is none. It is as long as before, so places stay.
///
/// ```
/// use midfold_core::jsonstr::without_halves;
/// let whole = without_halves(br#"["\ud83d\ude00 \ud83d", "\\ud83d"]"#);
/// assert_eq!(whole.as_deref(), Some(&br#"["\ud83d\ude00 \ufffd", "\\ud83d"]"#[..]));
/// assert_eq!(without_halves(br#""\ud83d\ude00""#), None);
/// ```
#[must_use]
pub fn without_halves(json: &[u8]) -> Option<Vec<u8>> {
    static ESCAPES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br"\u"));
    let mut out: Option<Vec<u8>> = None;
    let mut end = 0;
    for at in ESCAPES.find_iter(json) {
        let escaped = json[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
        let (true, Some(half)) = (at >= end && !escaped, half(json, at)) else { continue };
        end = at + ESCAPE;
        let second = half_of(json, end, b"cdef");
        if half == SurrogateHalf::First && second {
            end += ESCAPE;
            continue;
        }
        let out = out.get_or_insert_with(|| json.to_vec());
        out[at..at + ESCAPE].copy_from_slice(br"\ufffd");
    }
    out
}

/// Bytes of `\uXXXX`.
const ESCAPE: usize = 6;

#[derive(PartialEq, Eq)]
enum SurrogateHalf {
    First,
    Second,
}

/// The half of a character that the escape at `at` is.
fn half(json: &[u8], at: usize) -> Option<SurrogateHalf> {
    if half_of(json, at, b"89ab") {
        Some(SurrogateHalf::First)
    } else {
        half_of(json, at, b"cdef").then_some(SurrogateHalf::Second)
    }
}

/// Whether an escape at `at` is `\udXYY` with X one of these digits.
fn half_of(json: &[u8], at: usize, digits: &[u8]) -> bool {
    json.get(at..at + ESCAPE).is_some_and(|escape| {
        escape.starts_with(br"\u")
            && escape[2].eq_ignore_ascii_case(&b'd')
            && digits.contains(&escape[3].to_ascii_lowercase())
            && escape[4..].iter().all(u8::is_ascii_hexdigit)
    })
}

fn strip_quotes(token: &[u8]) -> &[u8] {
    match token {
        [b'"', inner @ .., b'"'] => inner,
        _ => token,
    }
}

/// Decodes `bytes` into `out`; before `first` there is no backslash.
fn unescape(bytes: &[u8], first: usize, out: &mut Vec<u8>) {
    out.clear();
    out.reserve(bytes.len() + CHUNK);
    out.extend_from_slice(&bytes[..first]);
    let mut rest = &bytes[first..];
    while let Some(escape) = copy_plain(rest, out) {
        rest = decode_escape(escape, out);
    }
}

/// Bytes that are looked at together: escapes come in lines, and the next one is mostly near.
const CHUNK: usize = 16;

/// Copies what is before the next backslash, and returns what follows that.
fn copy_plain<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    while let Some((chunk, after)) = rest.split_first_chunk::<CHUNK>() {
        out.extend_from_slice(chunk);
        let plain = before_backslash(chunk);
        if plain < CHUNK {
            out.truncate(out.len() - (CHUNK - plain));
            return rest.get(plain + 1..);
        }
        rest = after;
    }
    let plain = rest.iter().position(|byte| *byte == b'\\');
    out.extend_from_slice(&rest[..plain.unwrap_or(rest.len())]);
    rest.get(plain? + 1..)
}

/// How many bytes are before the first backslash, all of them where there is none.
fn before_backslash(chunk: &[u8; CHUNK]) -> usize {
    const ONES: u128 = u128::from_le_bytes([0x01; CHUNK]);
    const TOPS: u128 = u128::from_le_bytes([0x80; CHUNK]);
    // A byte that is a backslash is zero now; of the zero bytes the lowest is marked, and no byte
    // below it.
    let bytes = u128::from_le_bytes(*chunk) ^ u128::from_le_bytes([b'\\'; CHUNK]);
    let zeros = bytes.wrapping_sub(ONES) & !bytes & TOPS;
    zeros.trailing_zeros() as usize / 8
}

/// Decodes what follows a backslash and returns what is left.
fn decode_escape<'a>(rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let Some((kind, after)) = rest.split_first() else {
        push(char::REPLACEMENT_CHARACTER, out);
        return rest;
    };
    match kind {
        b'n' => out.push(b'\n'),
        b't' => out.push(b'\t'),
        b'r' => out.push(b'\r'),
        b'b' => out.push(0x8),
        b'f' => out.push(0xc),
        b'"' | b'\\' | b'/' => out.push(*kind),
        b'u' => return decode_unicode(after, out),
        _ => {
            push(char::REPLACEMENT_CHARACTER, out);
            return after_char(rest);
        }
    }
    after
}

/// What follows the first character.
fn after_char(rest: &[u8]) -> &[u8] {
    let more = rest.iter().skip(1).take_while(|byte| **byte & 0xC0 == 0x80).count();
    &rest[1 + more..]
}

fn decode_unicode<'a>(rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let Some(first) = hex4(rest) else {
        push(char::REPLACEMENT_CHARACTER, out);
        return rest;
    };
    let rest = &rest[4..];
    if (0xD800..0xDC00).contains(&first)
        && let Some(low) = rest.strip_prefix(b"\\u")
        && let Some(second) = hex4(low)
        && (0xDC00..0xE000).contains(&second)
    {
        let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), out);
        return &low[4..];
    }
    push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), out);
    rest
}

fn push(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
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
        fn agrees_with_serde_json(
            pieces in proptest::collection::vec(
                r#"[a-z é漢]{0,40}|\\[nrtbf"/\\]|\\u00[0-9a-f]{2}|\\u[4-9a-c][0-9A-F]{3}|\\ud83e\\udd80"#, 0..12),
        ) {
            let token = format!("\"{}\"", pieces.concat());
            let wanted: String = serde_json::from_str(&token).unwrap();
            proptest::prop_assert_eq!(decode(token.as_bytes()), wanted.as_str());
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
        assert_eq!(decode("\"a\\éb\"".as_bytes()), "a\u{FFFD}b");
        assert_eq!(decode(b"\"ends in \\\""), "ends in \u{FFFD}");
    }
}
