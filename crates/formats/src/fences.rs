//! Fenced blocks of Markdown: the lines between two lines of backticks or tildes.

/// The character and the length of the fence that a line opens. `None` where it opens none.
pub(crate) fn fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.bytes().take_while(|byte| *byte == mark as u8).count();
    // Three backticks around text on one line are a code span.
    let opens = length >= 3 && !(mark == '`' && line[length..].contains('`'));
    opens.then_some((mark, length))
}

pub(crate) fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    line.len() >= length && line.chars().all(|c| c == mark)
}
