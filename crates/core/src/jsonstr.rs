//! The codec for JSON strings: from the bytes of a string token to its text and back.
//!
//! Decoding is lenient and total, because its results are counted, searched and quoted but never forwarded. A lone
//! surrogate, a broken escape and invalid UTF-8 become U+FFFD. Encoding writes the shortest valid token.

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
        // The strict check is several times faster than the lossy one, and most text passes it.
        return match std::str::from_utf8(inner) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(inner),
        };
    };
    let mut out = Vec::new();
    unescape(inner, first, &mut out);
    Cow::Owned(checked(out, inner))
}

/// As [`decode`], with `scratch` as the buffer for decoded text, so that a caller that reads many tokens allocates
/// once.
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

/// The output of [`unescape`] as text. Escapes become whole characters, so the output is valid UTF-8 if `inner` is;
/// otherwise `inner` is made valid first and decoded again.
fn checked(out: Vec<u8>, inner: &[u8]) -> String {
    String::from_utf8(out).unwrap_or_else(|invalid| {
        let mut out = invalid.into_bytes();
        let inner = String::from_utf8_lossy(inner);
        unescape(inner.as_bytes(), 0, &mut out);
        String::from_utf8(out).unwrap_or_default()
    })
}

/// The bytes inside a JSON string token if it has no escapes: they are its text. `None` where it has escapes.
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

/// The JSON with `\ufffd` in place of each escaped lone surrogate, for which many servers refuse the whole request.
/// `None` where there is none. The length stays the same, so byte positions stay valid.
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
        // An odd number of backslashes before it means that this backslash is text, not the start of an escape.
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

/// The length of `\uXXXX` in bytes.
const ESCAPE: usize = 6;

/// Which half of a surrogate pair an escape is.
#[derive(PartialEq, Eq)]
enum SurrogateHalf {
    First,
    Second,
}

/// The half of a surrogate pair that the escape at `at` is; `None` for any other text.
fn half(json: &[u8], at: usize) -> Option<SurrogateHalf> {
    if half_of(json, at, b"89ab") {
        Some(SurrogateHalf::First)
    } else {
        half_of(json, at, b"cdef").then_some(SurrogateHalf::Second)
    }
}

/// Whether the escape at `at` is `\udXYY` where X is one of `digits`.
fn half_of(json: &[u8], at: usize, digits: &[u8]) -> bool {
    json.get(at..at + ESCAPE).is_some_and(|escape| {
        escape.starts_with(br"\u")
            && escape[2].eq_ignore_ascii_case(&b'd')
            && digits.contains(&escape[3].to_ascii_lowercase())
            && escape[4..].iter().all(u8::is_ascii_hexdigit)
    })
}

/// The bytes between the quotes; all bytes where there are none.
fn strip_quotes(token: &[u8]) -> &[u8] {
    match token {
        [b'"', inner @ .., b'"'] => inner,
        _ => token,
    }
}

/// Decodes `bytes` into `out`. `first` is the position of the first backslash.
fn unescape(bytes: &[u8], first: usize, out: &mut Vec<u8>) {
    out.clear();
    // One chunk more, because whole chunks are copied before they are cut.
    out.reserve(bytes.len() + CHUNK);
    out.extend_from_slice(&bytes[..first]);
    let mut rest = &bytes[first..];
    while let Some(escape) = copy_plain(rest, out) {
        rest = decode_escape(escape, out);
    }
}

/// Bytes that are examined at once. Small, because where there are escapes the next one is mostly near.
const CHUNK: usize = 16;

/// Copies the bytes before the next backslash into `out`, and returns those after it. `None` where no backslash is
/// left.
fn copy_plain<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    while let Some((chunk, after)) = rest.split_first_chunk::<CHUNK>() {
        // Copying the whole chunk and truncating is faster than copying a part of unknown length.
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

/// The number of bytes before the first backslash; all of them where there is none.
fn before_backslash(chunk: &[u8; CHUNK]) -> usize {
    const ONES: u128 = u128::from_le_bytes([0x01; CHUNK]);
    const TOPS: u128 = u128::from_le_bytes([0x80; CHUNK]);
    // XOR makes each backslash a zero byte. The subtraction then sets the top bit of the lowest zero byte, and of no
    // byte below it.
    let bytes = u128::from_le_bytes(*chunk) ^ u128::from_le_bytes([b'\\'; CHUNK]);
    let zeros = bytes.wrapping_sub(ONES) & !bytes & TOPS;
    zeros.trailing_zeros() as usize / 8
}

/// Decodes the escape after a backslash into `out`, and returns the bytes after it.
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

/// The bytes after the first character.
fn after_char(rest: &[u8]) -> &[u8] {
    let more = rest.iter().skip(1).take_while(|byte| **byte & 0xC0 == 0x80).count();
    &rest[1 + more..]
}

/// Decodes the digits of a `\u` escape, with the second half of a surrogate pair, and returns the bytes after it.
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

/// The value of four hex digits; `None` where there are none.
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
    // Bytes are enough: no byte of a longer UTF-8 character is one that has to be escaped.
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
