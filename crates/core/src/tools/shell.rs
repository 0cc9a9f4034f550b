//! Finds simple reads and writes of files inside a shell command. This is conservative: a word with variables, globs
//! or substitutions gives no path.

use std::borrow::Cow;

use super::command::script;
use super::patch;
pub(crate) use super::shell_lexer::CommandEnd;
use super::shell_lexer::ShellLexer;
pub(crate) use super::words::ShellWord;
pub(super) use super::words::in_place;
use super::words::{
    SED, SOME, behind_script, edits_in_place, file_name, git_changed_files, is_file, of_head,
    of_sed, operands, paths, skip_prefixes,
};

/// The files that a command reads and writes, as far as its text proves them.
#[derive(Debug, Default)]
pub(super) struct CommandFiles {
    pub reads: Vec<String>,
    pub writes: Vec<String>,
    /// The files among `writes` that are gone afterwards.
    pub removes: Vec<String>,
    /// First line and number of lines of a partial read, [`SOME`] where reads differ.
    pub range: Option<(u64, u64)>,
}

/// Finds the files that a command reads and writes, in its words, its scripts and its patches.
pub(super) fn read(command: &str) -> CommandFiles {
    let mut touched = CommandFiles::default();
    let mut lexer = ShellLexer::of(command);
    // The numbers of the simple commands that may read a script from their input.
    let mut scripts = Vec::new();
    loop {
        let (words, writes, end) = lexer.simple_command();
        touched.writes.extend(writes);
        if !words.is_empty() {
            run(&words, end == CommandEnd::Pipe, &mut touched);
            if words.iter().any(|word| is_interpreter(&word.text)) {
                scripts.push(lexer.commands);
                inline(skip_prefixes(&words), &mut touched);
            }
        }
        if end == CommandEnd::Text {
            break;
        }
    }
    for body in lexer.bodies.iter().filter(|body| scripts.contains(&body.command)) {
        touched.scripted(script::wrote(body.text));
    }
    for body in lexer.bodies.iter().filter(|body| body.patches) {
        touched.writes.extend(patch::paths(body.text));
    }
    touched
}

impl CommandFiles {
    fn scripted(&mut self, wrote: script::ScriptWrites) {
        self.writes.extend(wrote.paths);
        self.removes.extend(wrote.removed);
    }
}

/// Adds the files that a script in an argument writes, as in `python3 -c '…'`.
fn inline(words: &[ShellWord], touched: &mut CommandFiles) {
    let at = words.iter().position(|word| is_interpreter(&word.text)).unwrap_or_default();
    let words: Vec<String> = words.iter().skip(at).map(|word| word.text.clone()).collect();
    if let Some(given) = script::given(&words) {
        touched.scripted(script::wrote(&given));
    }
}

/// Whether a program runs scripts in a language that is read here.
fn is_interpreter(word: &str) -> bool {
    let name = file_name(word).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(name, "python" | "pypy" | "node" | "bun" | "deno")
}

/// A simple command with its words and its input.
#[derive(Debug)]
pub(crate) struct SimpleCommand {
    /// The words, with prefixes such as `sudo`.
    pub words: Vec<ShellWord>,
    /// The here-string that it gets as input (`<<< word`).
    pub fed: Option<ShellWord>,
    /// Whether its output goes into the next command through a pipe.
    pub piped: bool,
    /// Byte offset of its end in the text.
    pub end: usize,
}

/// The simple commands of a text in order, with all their words.
pub(crate) fn simple(text: &str) -> Vec<SimpleCommand> {
    let mut lexer = ShellLexer::of(text);
    let mut out = Vec::new();
    loop {
        let (words, _, end) = lexer.simple_command();
        let fed = lexer.fed.take();
        out.push(SimpleCommand { words, fed, piped: end == CommandEnd::Pipe, end: lexer.at });
        if end == CommandEnd::Text {
            return out;
        }
    }
}

/// One simple command of a longer command.
#[derive(Debug)]
pub(super) struct CommandPart<'a> {
    /// The words, without prefixes such as `sudo` and `timeout`.
    pub words: Vec<String>,
    /// The same words as they are written.
    pub text: &'a str,
    /// The files that its output is redirected to.
    pub writes: Vec<String>,
    /// The heredoc that it gets as input.
    pub body: Option<&'a str>,
    /// Whether it begins a control structure, such as `if` or `for`.
    pub control: bool,
    /// How many parentheses are open around it.
    pub depth: usize,
    /// The fewest that were open since the part before it.
    pub outermost: usize,
    /// The operator behind it.
    pub end: CommandEnd,
}

impl CommandPart<'_> {
    /// Whether a word behind the first one is `word`.
    pub(super) fn holds(&self, word: &str) -> bool {
        self.words.iter().skip(1).any(|own| own == word)
    }
}

/// The simple commands of a command, in order.
pub(super) fn parts(command: &str) -> Vec<CommandPart<'_>> {
    const CONTROL: [&str; 5] = ["if", "while", "until", "for", "case"];
    const CLOSING: [&str; 4] = ["}", "fi", "done", "esac"];
    let mut lexer = ShellLexer::of(command);
    let mut parts: Vec<CommandPart<'_>> = Vec::new();
    // The number of each part among the simple commands of the text, because heredocs refer to it.
    let mut numbers = Vec::new();
    loop {
        let (depth, outermost) = (lexer.depth, lexer.outermost);
        let (words, writes, end) = lexer.simple_command();
        let first = words.first().map(|word| &*word.text).unwrap_or_default();
        let control = CONTROL.contains(&first);
        let closing = CLOSING.contains(&first);
        let words = skip_prefixes(&words);
        if words.is_empty() || closing {
            // In `( … ) | tail` or `{ …; } || true`, this operator applies to the whole group.
            let open = parts.last_mut().filter(|last| last.end == CommandEnd::Group || closing);
            if let Some(last) = open {
                last.end = end;
            }
        } else {
            let at = words.first().map_or(0, |word| word.at.start)..lexer.last_word_end(words);
            let text = lexer.text.get(at).unwrap_or_default();
            let words = words.iter().map(|word| word.text.clone()).collect();
            // The parenthesis that ends this part counts for the next one.
            lexer.outermost = lexer.depth.min(depth);
            parts.push(CommandPart {
                words,
                text,
                writes,
                body: None,
                control,
                depth,
                outermost,
                end,
            });
            numbers.push(lexer.commands);
        }
        if end == CommandEnd::Text {
            break;
        }
    }
    for body in &lexer.bodies {
        if let Ok(at) = numbers.binary_search(&body.command) {
            parts[at].body = Some(body.text);
        }
    }
    parts
}

/// The command inside `bash -lc "…"`, where the text is nothing else; otherwise the text itself.
pub(crate) fn unwrapped(command: &str) -> Cow<'_, str> {
    const SHELLS: [&str; 4] = ["bash", "sh", "zsh", "dash"];
    let first = command.split_whitespace().next().unwrap_or_default();
    let name = file_name(first);
    if SHELLS.contains(&name)
        && let [only] = parts(command).as_slice()
        && let [_, flag, script, ..] = only.words.as_slice()
        && flag.starts_with('-')
        && flag.ends_with('c')
    {
        return Cow::Owned(script.clone());
    }
    Cow::Borrowed(command)
}

/// Adds the files that one simple command reads and writes.
fn run(words: &[ShellWord], piped: bool, touched: &mut CommandFiles) {
    let words = skip_prefixes(words);
    let Some((program, rest)) = words.split_first() else { return };
    let program = file_name(&program.text);
    let copy = |word: &ShellWord| ShellWord {
        text: word.text.clone(),
        at: word.at.clone(),
        dynamic: word.dynamic,
    };
    let copied = |words: Vec<&ShellWord>| paths(words.into_iter().map(copy).collect::<Vec<_>>());
    let has = |is: &dyn Fn(&str) -> bool| rest.iter().any(|word| is(&word.text));
    let plain = || rest.iter().filter(|word| !word.text.starts_with('-')).map(copy);
    let before = touched.reads.len();
    let mut range = None;
    match program {
        "bat" if has(&|flag| flag.starts_with("-r") || flag.starts_with("--line-range")) => {
            range = Some(SOME);
            touched.reads.extend(copied(operands(rest, "r")));
        }
        "cat" | "nl" | "less" | "more" | "bat" => touched.reads.extend(paths(plain())),
        "head" | "tail" => {
            let (lines, files) = of_head(rest);
            range = Some(if program == "head" { lines } else { SOME });
            touched.reads.extend(copied(files));
        }
        "sed" if has(&in_place) => touched.writes.extend(copied(behind_script(rest, SED))),
        "sed" => {
            let (lines, files) = of_sed(rest);
            range = Some(lines);
            touched.reads.extend(copied(files));
        }
        "grep" | "egrep" | "fgrep" | "rg" | "awk" => {
            range = Some(SOME);
            let letters = if program == "awk" { "efvF" } else { "efABCmgt" };
            let files = copied(behind_script(rest, letters));
            touched.reads.extend(files.filter(|file| is_file(file)));
        }
        "perl" | "ruby" if has(&edits_in_place) => {
            touched.writes.extend(copied(behind_script(rest, "ieEMmIr")));
        }
        "git" => touched.writes.extend(copied(git_changed_files(rest))),
        "rm" | "rmdir" | "unlink" => {
            touched.removes.extend(paths(plain()));
            touched.writes.extend(paths(plain()));
        }
        "mv" => {
            let moved: Vec<String> = paths(plain()).collect();
            touched.removes.extend(moved.iter().take(moved.len().saturating_sub(1)).cloned());
            touched.writes.extend(moved);
        }
        "tee" | "touch" | "mkdir" | "truncate" => touched.writes.extend(paths(plain())),
        "cp" => touched.writes.extend(paths(plain()).last()),
        _ => {}
    }
    if touched.reads.len() > before {
        // A program behind the pipe may show only a part of the file, or nothing.
        let range = if piped { range.or(Some(SOME)) } else { range };
        // Of one file, two programs may show different parts.
        touched.range = if before > 0 && touched.range != range { Some(SOME) } else { range };
    }
}
