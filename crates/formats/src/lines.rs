//! Positions of lines and paragraphs in a text.

/// The end of the line at `at`, after its line break.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at.min(text.len()));
    text[at..].find('\n').map_or(text.len(), |n| at + n + 1)
}

/// The end of the paragraph at `at`: the next blank line, or the end of the text.
pub(crate) fn paragraph_end(text: &str, at: usize) -> usize {
    while_lines(text, at, |line| !line.trim().is_empty())
}

/// The end of the lines from `at` on for which `belongs` is true.
pub(crate) fn while_lines(text: &str, at: usize, belongs: impl Fn(&str) -> bool) -> usize {
    let lines = text[at..]
        .split_inclusive('\n')
        .take_while(|line| belongs(line.trim_end_matches(['\n', '\r'])));
    at + lines.map(str::len).sum::<usize>()
}
