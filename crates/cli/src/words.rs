//! Short texts for people: counts, times, estimates, lines.

use midfold::Policy;
use midfold::core::Hash;
use midfold::core::calendar::date;
use midfold::core::screen::without_escapes;
pub use midfold::{grouped, number, plural};
use unicode_width::UnicodeWidthStr;

use crate::output::{Output, OutputColor};

/// The text in lines of whole words. A line has at most `width` columns, unless a single word is longer.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { continue };
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// A word with the quotes that a shell needs.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=/.,:@+%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A count of tokens. An estimate gets "about" before it.
pub fn about(tokens: u64, exact: bool) -> String {
    if exact { number(tokens) } else { format!("about {}", number(tokens)) }
}

/// A time in milliseconds since 1970, as in `2026-11-22 02:40:11 UTC`.
pub fn time(at: u64) -> String {
    let seconds = at / 1_000 % 86_400;
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{} {hours:02}:{minutes:02}:{:02} UTC", date(at), seconds % 60)
}

/// The name of a fold in texts: `fold 2 (1a2b3c4d5e6f)`.
pub fn fold(number: u64, id: Hash) -> String {
    format!("fold {number} ({id:?})")
}

/// The text on one line of at most `most` characters, without control characters.
pub fn line(text: &str, most: usize) -> String {
    let text = &without_escapes(text);
    let flat: String =
        text.chars().take(most * 8).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= most && text.chars().count() <= most * 8 {
        return words;
    }
    let short: String = words.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", short.trim_end())
}

/// The text without escape sequences and control characters. Line breaks and tabs stay.
pub fn printable(text: &str) -> String {
    let safe = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c };
    without_escapes(text).chars().map(safe).collect()
}

/// Warns that `--focus` has no effect, where this policy neither computes a recap nor asks a model.
pub fn unheeded(policy: &Policy, output: &Output) {
    if !policy.heeds_focus() {
        let text = format!(
            "warning: --focus has no effect: {} computes no recap, and no model is asked",
            policy.name
        );
        output.stderr(&format!("{}\n", output.stderr_style().paint(OutputColor::Yellow, &text)));
    }
}
