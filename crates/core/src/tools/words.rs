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

/// The range of a partial read whose extent is unknown.
pub(super) const SOME: (u64, u64) = (0, 0);

/// The first of these letters in a cluster of short flags, and the text behind it, which may be its value.
fn flag_among<'a>(flag: &'a str, letters: &str) -> Option<(char, &'a str)> {
    let cluster = flag.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let at = cluster.find(|c| letters.contains(c))?;
    let letter = cluster[at..].chars().next()?;
    Some((letter, &cluster[at + letter.len_utf8()..]))
}

/// The flags of `sed` with a value. That of `-i`, a suffix, is always in the same word.
pub(super) const SED: &str = "iefl";

/// The words that are neither flags nor the values of flags. `letters` are the short flags with a value.
pub(super) fn operands<'a>(rest: &'a [ShellWord], letters: &str) -> Vec<&'a ShellWord> {
    let mut words = rest.iter();
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        let flag = flag_among(&word.text, letters);
        let is_split = matches!(flag, Some((letter, "")) if letter != 'i');
        if is_split || SCRIPTS.contains(&&*word.text) {
            words.next();
        } else if !word.text.starts_with('-') {
            operands.push(word);
        }
    }
    operands
}

/// The words behind the script or the pattern, which is the first operand where no flag has it.
pub(super) fn behind_script<'a>(rest: &'a [ShellWord], letters: &str) -> Vec<&'a ShellWord> {
    let mut files = operands(rest, letters);
    // `sed -i ''` of BSD.
    files.retain(|word| letters != SED || !word.text.is_empty());
    if !has_script(rest, letters) && !files.is_empty() {
        files.remove(0);
    }
    files
}

/// The long flags that have a script or a pattern, or name its file.
const SCRIPTS: [&str; 3] = ["--expression", "--regexp", "--file"];

/// Whether a flag has the script or the pattern, or names its file: `-e`, `-ne`, `--expression=…`.
fn has_script(rest: &[ShellWord], letters: &str) -> bool {
    rest.iter().any(|word| {
        matches!(flag_among(&word.text, letters), Some(('e' | 'E' | 'f', _)))
            || SCRIPTS.iter().any(|name| word.text.starts_with(name))
    })
}

/// Whether a flag of `sed` means editing in place: `-i`, `-i.bak`, `-ni`, `--in-place`.
pub(super) fn in_place(flag: &str) -> bool {
    flag.starts_with("--in-place") || matches!(flag_among(flag, SED), Some(('i', _)))
}

/// Whether a flag of `perl` or `ruby` means editing in place: `-pi`, `-i`, `-pi.bak`, `-0777pi`, but not `-Mstrict`.
pub(super) fn edits_in_place(flag: &str) -> bool {
    // Behind the `i` is the suffix of the copy, and before it are flags without a value, or with digits.
    let before = flag.strip_prefix('-').and_then(|letters| letters.split_once('i'));
    before.is_some_and(|(before, _)| {
        before.bytes().all(|b| b.is_ascii_digit() || b"pnlaswtTuUW".contains(&b))
    })
}

/// The files that `git mv`, `git rm`, `git restore` or `git checkout … -- F` changes.
pub(super) fn git_changed_files(rest: &[ShellWord]) -> Vec<&ShellWord> {
    let at = rest.iter().position(|word| !word.text.starts_with('-')).unwrap_or_default();
    let [verb, words @ ..] = &rest[at.min(rest.len())..] else { return Vec::new() };
    let dashes = words.iter().position(|word| word.text == "--");
    let (flags, named) = dashes.map_or((words, None), |at| (&words[..at], Some(&words[at + 1..])));
    let has = |names: &[&str]| flags.iter().any(|word| names.contains(&&*word.text));
    // These change the index, and leave the file as it is.
    let is_index_only = match &*verb.text {
        "rm" => has(&["--cached"]),
        "restore" => has(&["-S", "--staged"]) && !has(&["-W", "--worktree"]),
        _ => false,
    };
    let files = match (&*verb.text, named) {
        _ if is_index_only => return Vec::new(),
        ("mv" | "rm" | "restore" | "checkout", Some(named)) => named,
        ("mv" | "rm" | "restore", None) => words,
        _ => return Vec::new(),
    };
    // `git restore` takes a commit behind `--source` or `-s`.
    let takes_commit = |word: &ShellWord| matches!(&*word.text, "-s" | "--source");
    let is_commit = |at: usize| {
        verb.text == "restore" && at.checked_sub(1).is_some_and(|at| takes_commit(&files[at]))
    };
    let words = files.iter().enumerate();
    let files = words.filter(|(at, word)| !word.text.starts_with('-') && !is_commit(*at));
    files.map(|(_, word)| word).collect()
}

/// The words before a program: for each its short flags that take a value.
const PREFIXES: [(&str, &str); 23] = [
    ("sudo", "ugpChDrRtTU"),
    ("doas", "uC"),
    ("env", "uCP"),
    ("time", "fo"),
    ("gtime", "fo"),
    ("timeout", "ks"),
    ("gtimeout", "ks"),
    ("nice", "n"),
    ("ionice", "cn"),
    ("stdbuf", "ioe"),
    ("exec", "a"),
    ("command", ""),
    ("nohup", ""),
    ("setsid", ""),
    ("if", ""),
    ("then", ""),
    ("elif", ""),
    ("else", ""),
    ("while", ""),
    ("until", ""),
    ("do", ""),
    ("!", ""),
    ("{", ""),
];

/// Skips words before the program, such as `sudo -u bob`, `time`, `X=y` and `then`.
pub(super) fn skip_prefixes(mut words: &[ShellWord]) -> &[ShellWord] {
    const NAMES: [&str; 9] = [
        "--user",
        "--group",
        "--host",
        "--unset",
        "--chdir",
        "--signal",
        "--kill-after",
        "--adjustment",
        "--output",
    ];
    while let Some((first, mut rest)) = words.split_first() {
        let assigned = first.text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        if assigned {
            words = rest;
            continue;
        }
        let name = if first.text.starts_with('/') { file_name(&first.text) } else { &first.text };
        let Some((_, letters)) = PREFIXES.iter().find(|(prefix, _)| *prefix == name) else { break };
        // `command -v` shows where a program is.
        let shows = |flag: &ShellWord| matches!(&*flag.text, "-v" | "-V");
        if name == "command" && rest.first().is_some_and(shows) {
            break;
        }
        while let Some((flag, behind)) = rest.split_first()
            && flag.text.starts_with('-')
        {
            let is_split = matches!(flag_among(&flag.text, letters), Some((_, "")));
            let value = usize::from(is_split || NAMES.contains(&&*flag.text));
            rest = behind.get(value..).unwrap_or_default();
        }
        if matches!(name, "timeout" | "gtimeout") {
            // The word behind the flags is the duration.
            rest = rest.get(1..).unwrap_or_default();
        }
        words = rest;
    }
    words
}

/// The lines that `head` shows, and the words that are no flags. The range is unknown where bytes are counted, or from
/// the end, as in `head -n -5`.
pub(super) fn of_head(rest: &[ShellWord]) -> ((u64, u64), Vec<&ShellWord>) {
    let (mut range, mut files) = ((1, 10), Vec::new());
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let count = match &*word.text {
            "-q" | "-v" | "--quiet" | "--silent" | "--verbose" => continue,
            "-n" | "--lines" => words.next().map_or("", |word| &word.text),
            "-c" | "--bytes" => {
                words.next();
                ""
            }
            flag if flag.starts_with('-') => ["--lines=", "-n", "-"]
                .iter()
                .find_map(|start| flag.strip_prefix(start))
                .unwrap_or_default(),
            _ => {
                files.push(word);
                continue;
            }
        };
        range = number(count).map_or(SOME, |lines| (1, lines));
    }
    (range, files)
}

/// The lines that `sed` shows, and the files. The range is known only of one file, one script and `-n`.
pub(super) fn of_sed(rest: &[ShellWord]) -> ((u64, u64), Vec<&ShellWord>) {
    let files = behind_script(rest, SED);
    let is_quiet = |word: &ShellWord| {
        matches!(&*word.text, "--quiet" | "--silent")
            || matches!(flag_among(&word.text, "nief"), Some(('n', _)))
    };
    let script = operands(rest, SED).first().filter(|_| !has_script(rest, SED)).copied();
    let is_known = files.len() == 1 && rest.iter().any(is_quiet);
    let range = script.filter(|_| is_known).and_then(|script| sed_range(&script.text));
    (range.unwrap_or(SOME), files)
}

/// The first line and the number of lines that `10,20p`, `10,+5p` or `10p` prints; `None` for any other script.
fn sed_range(script: &str) -> Option<(u64, u64)> {
    let lines = script.strip_suffix('p')?;
    let (first, last) = lines.split_once(',').unwrap_or((lines, lines));
    let (first, last) = (number(first.trim())?, last.trim());
    let more = match last.strip_prefix('+') {
        _ if last == "$" => return Some((first, u64::MAX)),
        Some(more) => number(more)?,
        None => number(last)?.saturating_sub(first),
    };
    Some((first, more.saturating_add(1)))
}

/// A number above zero that has digits alone. A sign has a meaning of its own.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|&number| plain && number > 0)
}

/// The path that a word names; `None` where it may be something else.
pub(super) fn plain_path(word: ShellWord) -> Option<String> {
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
    words.into_iter().filter_map(plain_path)
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
