//! Whether a text names a file as read or as changed, whoever wrote the text.

/// How a text names a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub read: bool,
    pub modified: bool,
}

/// What says so, in a line or in the heading above it.
const MODIFIED: [&str; 9] =
    ["modif", "changed", "edited", "wrote", "written", "created", "updated", "deleted", "removed"];
const READ: [&str; 4] = ["read", "viewed", "opened", "seen"];

/// How `text` names `path`. The word that says so stands in the same line, the nearest before the
/// path winning, or in the nearest heading, tag or line with a colon at its end above.
pub(super) fn named(text: &str, path: &str) -> Named {
    let mut found = Named::default();
    for (at, _) in text.match_indices(path) {
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let longer = text[..at].ends_with(|c: char| inside(c) || c == '/')
            || text[at + path.len()..].starts_with(|c: char| inside(c) || c == '/');
        if longer {
            continue;
        }
        match said_of(text, at, path.len()) {
            Some(true) => found.modified = true,
            Some(false) => found.read = true,
            None => {}
        }
        if found.read && found.modified {
            break;
        }
    }
    found
}

/// Changed, read, or nothing said.
fn said_of(text: &str, at: usize, len: usize) -> Option<bool> {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
    last_word(&text[start..at])
        .or_else(|| first_word(&text[at + len..end]))
        .or_else(|| text[..start].lines().rev().find(|line| is_heading(line)).and_then(last_word))
}

fn is_heading(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(['#', '<']) || line.starts_with("**") || line.ends_with(':')
}

fn last_word(text: &str) -> Option<bool> {
    let lower = text.to_ascii_lowercase();
    let last = |words: &[&str]| words.iter().filter_map(|word| rfind_word(&lower, word)).max();
    nearest(last(&MODIFIED), last(&READ), |a, b| a > b)
}

fn first_word(text: &str) -> Option<bool> {
    let lower = text.to_ascii_lowercase();
    let first = |words: &[&str]| words.iter().filter_map(|word| find_word(&lower, word)).min();
    nearest(first(&MODIFIED), first(&READ), |a, b| a < b)
}

fn nearest(a: Option<usize>, b: Option<usize>, wins: fn(usize, usize) -> bool) -> Option<bool> {
    match (a, b) {
        (Some(a), Some(b)) => Some(wins(a, b)),
        (Some(_), None) => Some(true),
        (None, Some(_)) => Some(false),
        (None, None) => None,
    }
}

fn starts_a_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '.'))
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|at| starts_a_word(text, *at))
}

fn rfind_word(text: &str, word: &str) -> Option<usize> {
    text.rmatch_indices(word).map(|(at, _)| at).find(|at| starts_a_word(text, *at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &str, path: &str) -> (bool, bool) {
        let found = named(text, path);
        (found.read, found.modified)
    }

    #[test]
    fn the_nearest_word_before_or_the_heading_above_says_how() {
        let text =
            "### Files\nmodified: a/b.rs, c.rs\nread: d.rs\n### Commands\n- `cat e.rs` -> ok";
        assert_eq!(both(text, "a/b.rs"), (false, true));
        assert_eq!(both(text, "c.rs"), (false, true));
        assert_eq!(both(text, "d.rs"), (true, false));
        assert_eq!(both(text, "e.rs"), (false, false));
        assert_eq!(both(text, "b.rs"), (false, false), "a part of a path is not the path");
        let blocks = "<read-files>\nx.py\n</read-files>\n<modified-files>\ny.py\n</modified-files>";
        assert_eq!((both(blocks, "x.py"), both(blocks, "y.py")), ((true, false), (false, true)));
        assert_eq!(both("- src/z.rs (modified, #12)", "src/z.rs"), (false, true));
        assert_eq!(both("I edited z.rs after I had read q.rs", "q.rs"), (true, false));
    }
}
