//! Finds out whether a text mentions a file as read or as changed, whoever wrote the text.

use memchr::memmem;
use rustc_hash::FxHashSet;

/// How a text mentions a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedFile {
    pub read: bool,
    pub modified: bool,
}

/// The only entry that is the start of a word: modified, modifies, modifications.
const STEM: &str = "modif";
/// The words for a changed file, in a line or in the heading above it.
const MODIFIED: [&str; 10] = [
    STEM, "changed", "edited", "wrote", "written", "created", "updated", "deleted", "removed",
    "scratch",
];
/// The words for a file that was read.
const READ: [&str; 4] = ["read", "viewed", "opened", "seen"];

/// The mentions of files in a text, which is scanned once for all paths.
pub(super) struct FileMentions<'a> {
    text: &'a str,
    /// The positions of the words of both kinds, in order. `true` is a word for a changed file.
    words: Vec<(usize, bool)>,
    /// The start of each line, with the kind of word in the nearest heading, tag or line with a colon at its end above
    /// it.
    lines: Vec<(usize, Option<bool>)>,
    /// The folders that the text names, with a slash at the end: paths below them may be written without.
    folders: FxHashSet<&'a str>,
}

impl<'a> FileMentions<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let lower = text.to_ascii_lowercase();
        let all = |of: &'static [&str], changed: bool| {
            let at = |word: &'static str| {
                memmem::find_iter(lower.as_bytes(), word).filter(|at| is_a_word(&lower, *at, word))
            };
            of.iter().flat_map(|word| at(word)).map(|at| (at, changed)).collect::<Vec<_>>()
        };
        let mut words = all(&MODIFIED, true);
        words.extend(all(&READ, false));
        words.sort_unstable();
        let folders =
            text.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ')', '`']));
        let folders =
            folders.filter(|word| word.len() > 1 && word.starts_with('/') && word.ends_with('/'));
        let mut mentions = Self { text, words, lines: Vec::new(), folders: folders.collect() };
        let (mut start, mut above) = (0, None);
        for line in text.split_inclusive('\n') {
            mentions.lines.push((start, above));
            if is_heading(line) {
                above = mentions.last_word_in(start, start + line.len());
            }
            start += line.len();
        }
        mentions
    }

    /// How the text mentions `path`. The word that decides is in the same line: the nearest one before the path, or
    /// else the first one after it. Otherwise the heading above decides.
    pub(super) fn mention_of(&self, path: &str) -> NamedFile {
        let below = self.folders.iter().filter_map(|folder| path.strip_prefix(folder));
        // Nothing is left where the path is one of these folders.
        let below = below.filter(|name| !name.is_empty());
        let mut all_names = NamedFile::default();
        for name in std::iter::once(path).chain(below) {
            let named = self.mention_by_name(name);
            all_names.read |= named.read;
            all_names.modified |= named.modified;
        }
        all_names
    }

    /// How the text mentions a file by this name.
    fn mention_by_name(&self, path: &str) -> NamedFile {
        let mut named = NamedFile::default();
        for at in memmem::find_iter(self.text.as_bytes(), path) {
            let end = at + path.len();
            let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
            if self.text[..at].ends_with(inside) || self.text[end..].starts_with(inside) {
                continue;
            }
            match self.deciding_word(at, end) {
                Some(true) => named.modified = true,
                Some(false) => named.read = true,
                None => {}
            }
            if named.read && named.modified {
                break;
            }
        }
        named
    }

    /// The word that decides about the mention at `at..end`: `Some(true)` for changed, `Some(false)` for read, `None` where
    /// there is none.
    fn deciding_word(&self, at: usize, end: usize) -> Option<bool> {
        // This is the first line behind the mention; the one before it holds the mention.
        let line = self.lines.partition_point(|(start, _)| *start <= at);
        let next = self.lines.get(line).map_or(self.text.len(), |(start, _)| *start);
        let (start, above) = *self.lines.get(line.checked_sub(1)?)?;
        self.last_word_in(start, at).or_else(|| self.first_word_in(end, next)).or(above)
    }

    /// The kind of the last deciding word in this range of the text.
    fn last_word_in(&self, from: usize, to: usize) -> Option<bool> {
        let last = self.words.partition_point(|(at, _)| *at < to).checked_sub(1)?;
        self.words.get(last).filter(|(at, _)| *at >= from).map(|(_, changed)| *changed)
    }

    /// The kind of the first deciding word in this range of the text.
    fn first_word_in(&self, from: usize, to: usize) -> Option<bool> {
        let first = self.words.partition_point(|(at, _)| *at < from);
        self.words.get(first).filter(|(at, _)| *at < to).map(|(_, changed)| *changed)
    }
}

fn is_heading(line: &str) -> bool {
    let line = line.trim();
    let is_tag = line.starts_with('<') && line.ends_with('>');
    is_tag || line.starts_with('#') || line.starts_with("**") || line.ends_with(':')
}

/// Whether the word is not part of a name: `README.md`, `created/a.rs`, `read_all` and `removed-y.rs` do not count, and
/// the tag `<read-files>` does.
fn is_a_word(text: &str, at: usize, word: &str) -> bool {
    let in_tag = text[..at].trim_end_matches('/').ends_with('<');
    let of_a_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/') || c == '-' && !in_tag;
    let mut after = text[at + word.len()..].chars();
    let mut next = after.next();
    while word == STEM && next.is_some_and(char::is_alphabetic) {
        next = after.next();
    }
    let goes_on = match next {
        Some('.') => after.next().is_some_and(char::is_alphanumeric),
        next => next.is_some_and(of_a_name),
    };
    let begins = in_tag || !text[..at].ends_with(|c: char| of_a_name(c) || c == '.');
    begins && !goes_on
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &str, path: &str) -> (bool, bool) {
        let named = FileMentions::new(text).mention_of(path);
        (named.read, named.modified)
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

    #[test]
    fn a_path_is_named_below_a_folder_that_the_text_names() {
        let text = "Paths of files are below /srv/app/. Read again.\nchanged: src/a.rs @3, b.rs @2";
        assert_eq!(both(text, "/srv/app/src/a.rs"), (false, true));
        assert_eq!(both(text, "/srv/other/src/a.rs"), (false, false), "below another folder");
        // A path may be such a folder itself.
        let text = "Paths of files are below /srv/app/. … read: /srv/app/ @4, é.rs";
        assert_eq!(both(text, "/srv/app/"), (true, false));
    }

    #[test]
    fn a_name_in_the_list_says_nothing_of_the_next() {
        let list = "modified: README.md @3, read_all.py @2, created/x.rs @2, removed-y.rs, c.rs @1";
        for path in ["README.md", "read_all.py", "created/x.rs", "removed-y.rs", "c.rs"] {
            assert_eq!(both(list, path), (false, true), "{path}");
        }
        assert_eq!(both("read: removed-y.rs, d.rs", "d.rs"), (true, false));
        assert_eq!(both("changed: read-me.txt @1, d.rs @2", "d.rs"), (false, true));
        assert_eq!(both("read: updated.txt, deleted_at.sql, d.rs", "d.rs"), (true, false));
        assert_eq!(both("What I read. Then I modified this: d.rs", "d.rs"), (false, true));
        assert_eq!(both("Modifications: d.rs", "d.rs"), (false, true));
        let block = "<modified-files>\n<path> - the file\na.rs\n</modified-files>";
        assert_eq!(both(block, "a.rs"), (false, true), "a name is no tag");
    }
}
