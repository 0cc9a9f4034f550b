//! Decodes base64 as far as a header needs it.

/// Decodes base64 up to `limit` bytes. Both alphabets are taken; JSON escapes and line breaks are skipped.
pub(super) fn decode(base64: &[u8], limit: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(limit.min(base64.len() / 4 * 3 + 3));
    let (mut bits, mut bit_count) = (0u32, 0u32);
    let mut input = base64.iter();
    while let Some(&byte) = input.next() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            b'\\' => {
                // Some writers escape a slash as `\/`. `\n` is a line break.
                if input.next() != Some(&b'/') {
                    continue;
                }
                63
            }
            _ => continue,
        };
        bits = bits << 6 | u32::from(digit);
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            out.push((bits >> bit_count) as u8);
            // Only bits that are not written yet stay, so that the next digits shift nothing out.
            bits &= (1 << bit_count) - 1;
            if out.len() >= limit {
                break;
            }
        }
    }
    out
}

#[cfg(test)]
pub(super) fn encode(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0u32, |word, &b| word << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            out.push(DIGITS[(word >> (18 - 6 * digit) & 63) as usize]);
        }
        out.resize(out.len().div_ceil(4) * 4, b'=');
    }
    out
}
