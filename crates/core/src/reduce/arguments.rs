//! `arguments`: clips long call arguments. In JSON only string values are cut, so it stays valid; other arguments are
//! clipped as text.

use super::{Middle, MiddleBudget, Reducer, ReducerState};
use crate::jsonstr;
use crate::policy::ReducerName;
use crate::view::TextCoding;

/// The reducer `arguments`.
pub struct ArgumentsReducer;

impl Reducer for ArgumentsReducer {
    fn name(&self) -> ReducerName {
        ReducerName::Arguments
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        _: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a> {
        let settings = &state.policy.arguments;
        let long: Vec<_> = middle
            .blocks()
            .filter(|(_, _, block)| block.is_call() && block.body.token.len() > settings.max_chars)
            .filter_map(|(at, event, block)| {
                let text = block.text(&event.bytes);
                let is_long = text.chars().nth(settings.max_chars).is_some();
                let number = settings.numbers.then_some(event.seq);
                let clipping = ArgumentClipping { leaf: settings.leaf_chars, number };
                let clip = || clipping.clip(&text, settings.max_chars, block.body.coding);
                is_long.then(|| (at, clip()))
            })
            .collect();
        for (at, clipped) in long {
            middle.replace(at, clipped, ReducerName::Arguments, "arguments-clipped");
        }
        state
    }
}

/// How strings of arguments are cut.
struct ArgumentClipping {
    /// The characters that stay.
    leaf: usize,
    /// The number of the message, where a cut string names it.
    number: Option<u32>,
}

impl ArgumentClipping {
    /// Clips the string values of JSON `text`; other text is cut as a whole. JSON that is still longer than four times
    /// `max` characters (a huge list of numbers) becomes one object that quotes its start.
    fn clip(&self, text: &str, max: usize, coding: TextCoding) -> String {
        let cut = |value: &str| self.cut(value);
        match with_strings(text, self.leaf, cut) {
            Some(clipped) if clipped.chars().count() <= max * 4 => clipped,
            None if coding == TextCoding::Str => self.cut(text),
            _ => quoted(&self.cut(text)),
        }
    }

    /// The first characters, and a note of how many are missing.
    fn cut(&self, text: &str) -> String {
        let Some((at, _)) = text.char_indices().nth(self.leaf) else { return text.to_owned() };
        let missing = text[at..].chars().count();
        let place = self.number.map_or_else(String::new, |number| format!(", @{number}"));
        format!("{}{}{missing}{}{place}]", &text[..at], MARK.0, MARK.1)
    }
}

/// The JSON `text` with each string value of more than `leaf` bytes changed. `None` when a string does not end, or when
/// the text is no JSON.
pub(super) fn with_strings(
    text: &str,
    leaf: usize,
    mut change: impl FnMut(&str) -> String,
) -> Option<String> {
    matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'[')).then_some(())?;
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len().min(4096));
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'"', &bytes[at..]).map(|n| at + n) {
        let end = string_end(bytes, start)?;
        out.push_str(&text[at..start]);
        let token = &text[start..end];
        // Keys stay whole: a clipped one would be another argument.
        let is_key = bytes[end..].iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':');
        if is_key || token.len() <= leaf + 2 {
            out.push_str(token);
        } else {
            let value = jsonstr::decode(token.as_bytes());
            out.push_str(&jsonstr::encode(&change(&value)));
        }
        at = end;
    }
    out.push_str(&text[at..]);
    Some(out)
}

/// Arguments that are one object with a quotation of `text`.
pub(super) fn quoted(text: &str) -> String {
    format!("{{\"clipped\":{}}}", jsonstr::encode(text))
}

/// The end of the string token that begins at `start`; `None` where it does not end.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        let hit = at + memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[hit] == b'"' {
            return Some(hit + 1);
        }
        at = hit + 2;
    }
}

/// The words of the mark behind the start of a cut text, around the number of characters that are missing. The number of
/// the message may follow.
const MARK: (&str, &str) = ("… [", " more characters");

/// The mark at the end of a text that was cut. `None` for a text without one.
pub(crate) fn cut_end(text: &str) -> Option<&str> {
    let inside = text.strip_suffix(']')?;
    let start = inside.rfind(MARK.0)?;
    let (missing, place) = inside[start + MARK.0.len()..].split_once(MARK.1)?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_place = place.is_empty() || place.strip_prefix(", @").is_some_and(is_number);
    (is_number(missing) && is_place).then_some(&text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ArgumentClipping = ArgumentClipping { leaf: 200, number: None };

    #[test]
    fn json_stays_json() {
        let long = "x\"\n".repeat(400);
        let text =
            serde_json::json!({"path": "a.py", "edits": [{"new": long, "n": 1.0}]}).to_string();
        let clipped = PLAIN.clip(&text, 500, TextCoding::Str);
        let value: serde_json::Value = serde_json::from_str(&clipped).unwrap();
        assert_eq!(value["path"], "a.py");
        assert!(value["edits"][0]["new"].as_str().unwrap().ends_with("more characters]"));
        assert!(clipped.len() < 700);
    }

    #[test]
    fn text_is_cut_as_text() {
        let text = "*** Begin Patch\n".repeat(100);
        assert!(PLAIN.clip(&text, 500, TextCoding::Str).ends_with("[1400 more characters]"));
        let numbered = ArgumentClipping { number: Some(12), ..PLAIN };
        let clipped = numbered.clip(&text, 500, TextCoding::Str);
        assert!(clipped.ends_with("[1400 more characters, @12]"));
        assert_eq!(cut_end(&clipped), Some("… [1400 more characters, @12]"));
        for no_mark in
            ["a [9 more characters]", "… [x more characters]", "… [9 more characters, @]"]
        {
            assert_eq!(cut_end(no_mark), None);
        }
        let broken = format!("{{\"a\": \"{}", "b".repeat(900));
        assert!(PLAIN.clip(&broken, 500, TextCoding::Str).starts_with("{\"a\": \"bbb"));
    }

    #[test]
    fn long_lists_of_numbers_become_one_quote() {
        let text = format!("{{\"n\":[{}]}}", vec!["123456"; 2000].join(","));
        let clipped = PLAIN.clip(&text, 500, TextCoding::Raw);
        assert!(serde_json::from_str::<serde_json::Value>(&clipped).is_ok());
        assert!(clipped.len() < 400);
    }
}
