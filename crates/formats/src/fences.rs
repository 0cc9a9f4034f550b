//! Fenced blocks of Markdown: what is between two lines of backticks or tildes is shown.

/// The mark of the fence that a line opens, and its length.
pub(crate) fn fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.bytes().take_while(|byte| *byte == mark as u8).count();
    // `a` in three backticks on one line is a code span.
    let opens = length >= 3 && !(mark == '`' && line[length..].contains('`'));
    opens.then_some((mark, length))
}

pub(crate) fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    line.len() >= length && line.chars().all(|c| c == mark)
}
