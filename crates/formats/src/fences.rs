//! Code in Markdown: fenced blocks, the lines between two lines of backticks or tildes, and spans between backticks.

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

/// The positions of `<` in a line that are not in a code span.
pub(crate) fn tags_outside_code(line: &str) -> impl Iterator<Item = usize> {
    let bytes = line.as_bytes();
    let mut at = 0;
    // The lengths of backticks that the rest of the line does not close. Each is searched once.
    let mut unclosed = 0_u64;
    std::iter::from_fn(move || {
        loop {
            at += memchr::memchr2(b'<', b'`', &bytes[at..])?;
            let length = backticks(bytes, at);
            at += length.max(1);
            if length == 0 {
                return Some(at - 1);
            }
            let mark = 1_u64 << length.min(63);
            if unclosed & mark == 0 {
                match code_end(bytes, at, length) {
                    Some(end) => at = end,
                    None => unclosed |= mark,
                }
            }
        }
    })
}

/// The number of backticks at `at`.
fn backticks(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| **byte == b'`').count()
}

/// The position after the next run of exactly `length` backticks.
fn code_end(bytes: &[u8], from: usize, length: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr(b'`', &bytes[at..])?;
        let closing = backticks(bytes, at);
        at += closing;
        if closing == length {
            return Some(at);
        }
    }
}
