//! Small words for people: counts, times, estimates.

use midfold::core::Hash;
use midfold::store::Millis;
use midfold::store::worker::date;

use crate::report::number;

/// `1 message`, `2,000 messages`.
pub fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{} {what}s", number(count)) }
}

/// A count of tokens; an estimate says that it is one.
pub fn about(tokens: u64, exact: bool) -> String {
    if exact { number(tokens) } else { format!("about {}", number(tokens)) }
}

/// `2026-11-22 02:40:11 UTC`.
pub fn time(at: Millis) -> String {
    let seconds = at / 1_000 % 86_400;
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{} {hours:02}:{minutes:02}:{:02} UTC", date(at), seconds % 60)
}

/// How one fold is named: `fold 2 (1a2b3c4d5e6f)`.
pub fn fold(number: u64, id: Hash) -> String {
    format!("fold {number} ({id:?})")
}

/// A text on one line, at most `most` characters, without anything that moves the cursor.
pub fn line(text: &str, most: usize) -> String {
    let flat: String =
        text.chars().take(most * 8).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= most && text.chars().count() <= most * 8 {
        return words;
    }
    let short: String = words.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", short.trim_end())
}

/// The same text, safe to print: line breaks and tabs stay, escapes do not.
pub fn printable(text: &str) -> String {
    let safe = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c };
    text.chars().map(safe).collect()
}
