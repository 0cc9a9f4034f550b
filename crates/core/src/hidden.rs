//! Characters that a reader does not see, or that change the order in which text is read. Others can hide words with
//! them: from a person who reads a terminal, or from a check of what a text says.

/// Whether a character is invisible, or changes the direction of text. [Joiners](is_joiner) do not count.
///
/// The list is `Default_Ignorable_Code_Point` of Unicode 16, with the two line separators and the marks of interlinear
/// notes.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character joins two others or chooses the form of one: emoji and letters of several scripts need these.
#[must_use]
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0f}')
}

/// Whether a character is hidden in its place. A joiner behind an ASCII character, or at the start, joins nothing, so
/// that it only hides something, unless it makes a keycap of a digit.
///
/// ```
/// use midfold_core::hidden::is_hidden_at;
/// assert!(is_hidden_at(Some('a'), '\u{200b}', None) && is_hidden_at(Some('a'), '\u{200d}', Some('b')));
/// assert!(!is_hidden_at(Some('👩'), '\u{200d}', Some('👧')) && !is_hidden_at(Some('1'), '\u{fe0f}', Some('\u{20e3}')));
/// ```
#[must_use]
pub fn is_hidden_at(before: Option<char>, c: char, next: Option<char>) -> bool {
    match is_joiner(c) {
        true => before.is_none_or(|before| before.is_ascii()) && next != Some('\u{20e3}'),
        false => is_hidden(c),
    }
}
