//! Decodes base64, because a secret may be hidden in it.

/// The ASCII text that `coded` encodes, in the usual or the URL-safe alphabet. `None` where it is not base64 or
/// encodes anything but text.
pub(super) fn text(coded: &str) -> Option<String> {
    let coded = coded.trim_end_matches('=');
    if coded.len() < 8 || coded.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(coded.len() * 3 / 4);
    let (mut bits, mut bit_count) = (0_u32, 0);
    for byte in coded.bytes() {
        bits = (bits << 6 | sextet(byte)?) & 0xFFFF;
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            // Decoding stops at the first byte that is no text, because most base64 is not text.
            out.push(u8::try_from(bits >> bit_count & 0xFF).ok().filter(is_shown)?);
        }
    }
    String::from_utf8(out).ok()
}

fn is_shown(byte: &u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

/// The six bits of a base64 digit; `None` for any other byte.
fn sextet(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn only_text_is_text() {
        assert_eq!(text("YWRtaW46aHVudGVyMg==").as_deref(), Some("admin:hunter2"));
        assert_eq!(text("YWRtaW46aHVudGVyMg").as_deref(), Some("admin:hunter2"));
        assert_eq!(text("3q2+78r+ur4="), None, "bytes");
        assert_eq!(text("not base64!"), None);
    }
}
