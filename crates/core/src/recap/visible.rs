//! The text as a reader sees it, and the tokens in it that have a meaning to a model or a client.

use std::borrow::Cow;

use crate::hidden::{is_hidden_at, is_joiner};

/// The start of the line that opens a fence in a prompt.
pub(crate) const FENCE_OPEN: &str = "<<data:";

/// The start of the line that ends a fence.
pub(crate) const FENCE_CLOSE: &str = "<<end:";

/// Beginnings of template tokens, markers and fences, beside the tags and markers of `escape::neutralise`, which
/// replaces the first character of each.
const TOKENS: &[&str] = &[
    FENCE_OPEN,
    FENCE_CLOSE,
    "<s>",
    "</s>",
    "<<sys>>",
    "<</sys>>",
    "<bos>",
    "<eos>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<function=",
    "</function>",
    "<developer>",
    "</developer>",
    "[tool_calls]",
    "[available_tools]",
    "[tool_results]",
    "[system_prompt]",
    "[/system_prompt]",
    "[system message",
    "[result expired]",
    "[cleared for context",
    "[note: some earlier",
    "[image elided",
];

/// The text as a reader sees it: without invisible characters, with one kind of line break, and with full-width
/// letters, digits and brackets in their usual form, so that nobody hides a token in look-alikes. Punctuation of
/// Chinese and Japanese prose stays. Letters of other scripts that look Latin stay, too, because they form no token.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && text.bytes().all(|b| b >= 0x20 || b == b'\n' || b == b'\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        let shown = match c {
            '\r' if chars.peek() == Some(&'\n') => continue,
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
            c if is_hidden_at(before, c, chars.peek().copied()) => continue,
            c if is_joiner(c) => {
                out.push(c);
                continue;
            }
            c => plain_form(c),
        };
        out.push(shown);
        before = Some(shown);
    }
    Cow::Owned(out)
}

/// The form in which a look-alike character is written in tokens.
fn plain_form(c: char) -> char {
    match c {
        '０'..='９'
        | 'Ａ'..='Ｚ'
        | 'ａ'..='ｚ'
        | '＃'
        | '／'
        | '＜'
        | '＞'
        | '［'
        | '］'
        | '＿'
        | '｜' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '﹤' => '<',
        '﹥' => '>',
        '\u{a0}' | '\u{3000}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{2800}' => ' ',
        c => c,
    }
}

/// Whether the text starts with one of [`TOKENS`], or with a template token such as `<|im_start|>` or `<｜User｜>`.
pub(crate) fn opens_token(text: &str) -> bool {
    text.starts_with("<|")
        || text.starts_with("<｜")
        || TOKENS.iter().any(|token| starts(text, token))
}

/// Byte offset of the first token of [`TOKENS`]; `None` where there is no token.
pub(crate) fn token(text: &str) -> Option<usize> {
    let opens = text.bytes().enumerate().filter(|(_, b)| matches!(b, b'<' | b'['));
    opens.map(|(at, _)| at).find(|at| opens_token(&text[*at..]))
}

/// Whether `text` starts with `start`; ASCII letters match in either case.
pub(crate) fn starts(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_begins_with_a_bracket() {
        assert!(TOKENS.iter().all(|token| token.starts_with(['<', '['])));
    }

    #[test]
    fn prose_in_other_scripts_stays() {
        let text = "请修复，谢谢！👩\u{200d}👩\u{200d}👧 می\u{200c}خواهم a < b ❤\u{fe0f} you 1\u{fe0f}\u{20e3}";
        assert_eq!(visible(text), text);
    }

    #[test]
    fn nothing_unseen_parts_a_token() {
        for (hidden, wanted) in [
            ("＜ｓ\u{200d}ｙｓ＞", "<sys>"),
            ("＜\u{200d}／ｓｙｓ＞", "</sys>"),
            ("<s\u{200d}\u{200b}ys\u{fe0f}>", "<sys>"),
            ("<s\u{3164}y\u{ffa0}s>", "<sys>"),
            ("<s\u{2800}ys>", "<s ys>"),
        ] {
            assert_eq!(visible(hidden), wanted);
        }
    }
}
