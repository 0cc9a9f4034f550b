//! The words of a command, and the meaning of flags and prefixes among them.

use std::ops::Range;

/// A word of a command, without its quotes.
#[derive(Debug)]
pub(crate) struct ShellWord {
    pub text: String,
    /// Byte range of the word in the command, with its quotes.
    pub at: Range<usize>,
    /// Whether it holds something that the shell would expand.
    pub(super) dynamic: bool,
}

impl ShellWord {
    /// The word in this range of a text, which has no quotes there.
    pub(crate) fn at(text: &str, at: Range<usize>) -> Self {
        Self { text: text[at.clone()].to_owned(), at, dynamic: false }
    }
}

/// The words that are neither flags nor the arguments of flags.
pub(super) fn without_scripts(rest: &[ShellWord]) -> Vec<&ShellWord> {
    const TAKES_ONE: [&str; 8] = ["-e", "-f", "-A", "-B", "-C", "-m", "-g", "-t"];
    let mut words = rest.iter();
    let mut files = Vec::new();
    while let Some(word) = words.next() {
        if TAKES_ONE.contains(&&*word.text) {
            words.next();
        } else if !word.text.starts_with('-') {
            files.push(word);
        }
    }
    files
}

/// Whether a flag of `sed` means editing in place: `-i`, `-i.bak`, `-ni`, `--in-place`.
pub(super) fn in_place(flag: &str) -> bool {
    let short = flag.starts_with('-') && !flag.starts_with("--");
    flag.starts_with("--in-place")
        || (short && flag.split('.').next().is_some_and(|f| f.contains('i')))
}

/// Whether a flag of `perl` or `ruby` means editing in place: `-pi`, `-i`, `-pi.bak`, `-0pi`, but not `-Mstrict`.
pub(super) fn edits_in_place(flag: &str) -> bool {
    let letters = flag.trim_start_matches(['-', '0']).split('.').next().unwrap_or_default();
    letters.contains('i') && letters.bytes().all(|b| b"pinlewa".contains(&b))
}

/// The files that `git mv`, `git rm`, `git restore` or `git checkout … -- F` changes.
pub(super) fn git(rest: &[ShellWord]) -> Vec<&ShellWord> {
    let named =
        |words: &[ShellWord]| words.iter().position(|word| word.text == "--").map(|at| at + 1);
    let at = rest.iter().position(|word| !word.text.starts_with('-')).unwrap_or_default();
    let (verb, words) = match &rest[at.min(rest.len())..] {
        [verb, words @ ..] => (&*verb.text, words),
        [] => return Vec::new(),
    };
    let words = match (verb, named(words)) {
        ("mv" | "rm" | "restore" | "checkout", Some(at)) => &words[at..],
        ("mv" | "rm", None) => words,
        // The word behind `--source` or `-s` is a commit.
        ("restore", None) if !words.iter().any(|w| w.text == "-s" || w.text == "--source") => words,
        _ => return Vec::new(),
    };
    words.iter().filter(|word| !word.text.starts_with('-')).collect()
}

/// Skips words before the program, such as `sudo`, `time`, `X=y` and `then`.
pub(super) fn skip_prefixes(mut words: &[ShellWord]) -> &[ShellWord] {
    const BEFORE: [&str; 12] =
        ["sudo", "time", "env", "command", "exec", "nohup", "then", "else", "do", "if", "!", "{"];
    while let Some((first, rest)) = words.split_first() {
        let assigned = first.text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        if first.text == "timeout" {
            // The word behind `timeout` is its duration.
            words = rest.get(1..).unwrap_or_default();
        } else if assigned || BEFORE.contains(&&*first.text) {
            words = rest;
        } else {
            break;
        }
    }
    words
}

/// Reads the count of lines of `head -n 5`, `head -5` or `tail -n +5`, and the words that are no flags. A count of bytes
/// is no count of lines.
pub(super) fn counted(rest: &[ShellWord]) -> (Option<u64>, Vec<&ShellWord>) {
    let (mut count, mut files) = (None, Vec::new());
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match &*word.text {
            "-c" | "--bytes" => {
                words.next();
            }
            flag if flag.starts_with("-c") || flag.starts_with("--bytes=") => {}
            "-n" | "--lines" => {
                count = words.next().and_then(|word| word.text.parse().ok());
            }
            flag if flag.starts_with('-') => {
                let digits = flag.trim_start_matches(|c: char| !c.is_ascii_digit());
                count = digits.parse().ok().or(count);
            }
            _ => files.push(word),
        }
    }
    (count, files)
}

/// The first line and the number of lines that `10,20p` or `10p` prints; `None` for any other script.
pub(super) fn sed_range(script: &str) -> Option<(u64, u64)> {
    let lines = script.strip_suffix('p')?;
    let (first, last) = lines.split_once(',').unwrap_or((lines, lines));
    let first: u64 = first.trim().parse().ok()?;
    let last = if last.trim() == "$" { return Some((first, u64::MAX)) } else { last.trim() };
    let last: u64 = last.parse().ok()?;
    Some((first, last.saturating_sub(first) + 1))
}

/// The path that a word names; `None` where it may be something else.
pub(super) fn path(word: ShellWord) -> Option<String> {
    let text = word.text;
    let plain = !word.dynamic && !text.is_empty() && text.len() < 512;
    let name = !text.starts_with(['-', '+', '!', '=', '@'])
        && !text.starts_with("/dev/")
        && !text.starts_with("/proc/")
        && !text.contains(|c| "\n\t|<>\"'\\^,*?$`;()".contains(c))
        && text.bytes().any(|b| b.is_ascii_alphanumeric() || b >= 0x80);
    (plain && name && !text.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}

/// The paths that the words name.
pub(super) fn paths(words: impl IntoIterator<Item = ShellWord>) -> impl Iterator<Item = String> {
    words.into_iter().filter_map(path)
}

/// A path or a program without its folder.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether a word behind a pattern looks like a single file: its last part has an extension.
pub(super) fn is_file(path: &str) -> bool {
    let name = file_name(path);
    name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty())
}
