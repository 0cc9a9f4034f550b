//! A list of turns that is written as JSON in a string: converts positions in the list to positions in the string
//! token. Text that stays keeps its escapes.

use midfold_core::jsonstr;

/// The positions in `token` (a string token with its quotes) of these offsets into its decoded text. `offsets` have to
/// be in order.
pub(super) fn places(token: &[u8], offsets: &[usize]) -> Vec<usize> {
    let end = token.len().saturating_sub(1);
    let (mut at, mut decoded) = (1, 0);
    let mut positions = Vec::with_capacity(offsets.len());
    for &offset in offsets {
        while decoded < offset && at < end {
            // Up to the next backslash, a byte of the token is a byte of the text.
            let plain = memchr::memchr(b'\\', &token[at..end]).unwrap_or(end - at);
            let step = plain.min(offset - decoded);
            if step > 0 {
                (at, decoded) = (at + step, decoded + step);
                continue;
            }
            let escape = escape_len(&token[at..end]);
            decoded += jsonstr::decode(&token[at..at + escape]).len();
            at += escape;
        }
        positions.push(at);
    }
    positions
}

/// The length of the escape with which `rest` starts. A pair of surrogates is one escape.
fn escape_len(rest: &[u8]) -> usize {
    let unit = |at: usize| {
        let digits = rest.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
        (Some(_), _) => 6,
        (None, _) => rest.len().min(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_decodes_to_what_stands_before_it() {
        let token = br#""ab\n\"x\u00e9 \ud83e\udd80 \ud83e z\u0041""#;
        let text = jsonstr::decode(token).into_owned();
        let offsets: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        for (offset, place) in offsets.iter().zip(places(token, &offsets)) {
            assert_eq!(jsonstr::decode(&token[1..place]), &text[..*offset], "{offset}");
        }
    }
}
