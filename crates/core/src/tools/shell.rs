//! Finds simple reads and writes of files inside a shell command. This is conservative: a word with variables, globs
//! or substitutions gives no path.

use std::borrow::Cow;

use super::command::script;
use super::patch;
pub(crate) use super::words::ShellWord;
pub(super) use super::words::in_place;
use super::words::{
    SED, SOME, behind_script, edits_in_place, file_name, git_changed_files, is_file, of_head,
    of_sed, operands, paths, plain_path, skip_prefixes,
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

/// At most this many bytes of a command are read. A longer command holds data.
const LONGEST: usize = 256 * 1024;

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

/// The operator that ends a simple command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandEnd {
    /// `|`
    Pipe,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `&`
    Background,
    /// `;` or the end of a line.
    Then,
    /// A parenthesis. The operator behind the group ends the command, too.
    Group,
    /// The end of the text.
    Text,
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
            parts.push(CommandPart { words, text, writes, body: None, control, end });
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

/// The body of a heredoc.
struct HeredocBody<'a> {
    text: &'a str,
    /// The number of the simple command that gets it, counted from 1.
    command: usize,
    /// Whether that command applies patches.
    patches: bool,
}

/// Splits a command into words and simple commands.
struct ShellLexer<'a> {
    text: &'a str,
    at: usize,
    /// Heredocs whose bodies start at the next line: the end word, the number of the command, and whether the command
    /// applies patches.
    heredocs: Vec<(String, usize, bool)>,
    /// The bodies read so far.
    bodies: Vec<HeredocBody<'a>>,
    /// How many simple commands were begun.
    commands: usize,
    /// The last here-string that no command has taken yet.
    fed: Option<ShellWord>,
}

impl<'a> ShellLexer<'a> {
    fn of(command: &'a str) -> Self {
        let end = command.floor_char_boundary(LONGEST);
        let (heredocs, bodies) = (Vec::new(), Vec::new());
        Self { text: &command[..end], at: 0, heredocs, bodies, commands: 0, fed: None }
    }

    /// Byte offset of the end of the last of these words.
    fn last_word_end(&self, words: &[ShellWord]) -> usize {
        words.last().map_or(self.at, |word| word.at.end)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Reads one simple command: its words, the files that its output goes to, and the operator that ends it.
    fn simple_command(&mut self) -> (Vec<ShellWord>, Vec<String>, CommandEnd) {
        let (mut words, mut writes) = (Vec::new(), Vec::new());
        self.commands += 1;
        let end = loop {
            let Some(byte) = self.peek() else { break CommandEnd::Text };
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.heredoc_bodies();
                    break CommandEnd::Then;
                }
                // A `#` inside a word is read with the word, so this one begins a comment.
                b'#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                b'|' => {
                    let or = self.rest().starts_with("||");
                    self.at += if or { 2 } else { 1 };
                    break if or { CommandEnd::Or } else { CommandEnd::Pipe };
                }
                b'&' if !self.rest().starts_with("&>") => {
                    let and = self.rest().starts_with("&&");
                    self.at += if and { 2 } else { 1 };
                    break if and { CommandEnd::And } else { CommandEnd::Background };
                }
                b';' => {
                    self.at += 1;
                    break CommandEnd::Then;
                }
                b'(' | b')' => {
                    self.at += 1;
                    break CommandEnd::Group;
                }
                b'<' => self.input(&words),
                b'>' | b'&' => self.output(&mut writes),
                _ => words.extend(self.word()),
            }
        };
        (words, writes, end)
    }

    /// Reads a redirection of input: a file, a here-string, or the start of a heredoc.
    fn input(&mut self, words: &[ShellWord]) {
        let (here, strip) = (self.rest().starts_with("<<"), self.rest().starts_with("<<-"));
        if self.rest().starts_with("<<<") || !here {
            self.at += if here { 3 } else { 1 };
            self.blank();
            let word = self.word();
            if here {
                self.fed = word;
            }
            return;
        }
        self.at += if strip { 3 } else { 2 };
        self.blank();
        let patches =
            words.iter().any(|word| matches!(&*word.text, "apply_patch" | "apply" | "patch"));
        if let Some(end) = self.word() {
            self.heredocs.push((end.text, self.commands, patches));
        }
    }

    /// Reads a redirection of output: `> F`, `>> F`, `>| F`, `&> F`. `>&2` names no file.
    fn output(&mut self, writes: &mut Vec<String>) {
        while self.peek().is_some_and(|b| matches!(b, b'>' | b'&' | b'|')) {
            self.at += 1;
            if self.rest().starts_with('(') {
                return; // process substitution
            }
        }
        let descriptor = self.text.as_bytes().get(self.at - 1) == Some(&b'&');
        self.blank();
        let target = self.word();
        if !descriptor
            || target
                .as_ref()
                .is_some_and(|word| !word.text.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
        {
            writes.extend(target.and_then(plain_path));
        }
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Reads the next word. `None` at a separator, and for the number of a file descriptor (`2>`).
    fn word(&mut self) -> Option<ShellWord> {
        let start = self.at;
        let mut word = ShellWord { text: String::new(), at: start..start, dynamic: false };
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>' => {
                    break;
                }
                b'\'' => self.quoted(&mut word, '\''),
                b'"' => self.quoted(&mut word, '"'),
                b'\\' => {
                    self.at += 1;
                    let next = self.rest().chars().next();
                    // A backslash before a line break joins two lines and leaves no character.
                    word.text.extend(next.filter(|&c| c != '\n'));
                    self.at += next.map_or(0, char::len_utf8);
                }
                b'$' | b'`' | b'*' | b'?' | b'{' | b'}' | b'[' => {
                    word.dynamic = true;
                    self.expansion(byte, &mut word);
                }
                _ => {
                    let next = self.rest().chars().next()?;
                    word.text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
        word.at.end = self.at;
        let number = !word.text.is_empty() && word.text.bytes().all(|b| b.is_ascii_digit());
        let descriptor = number && matches!(self.peek(), Some(b'>' | b'<'));
        (self.at > start && !descriptor).then_some(word)
    }

    /// Adds something that the shell would expand to a word, such as `$(…)`, as it is written.
    fn expansion(&mut self, byte: u8, word: &mut ShellWord) {
        let rest = self.rest();
        let inside = if rest.starts_with("$(") {
            let mut open = 0_usize;
            rest.char_indices()
                .find(|&(_, c)| {
                    open += usize::from(c == '(');
                    open -= usize::from(c == ')' && open > 0);
                    c == ')' && open == 0
                })
                .map_or(rest.len(), |(at, _)| at + 1)
        } else if byte == b'`' {
            rest[1..].find('`').map_or(rest.len(), |at| at + 2)
        } else {
            1
        };
        word.text.push_str(&rest[..inside]);
        self.at += inside;
    }

    /// Adds the text inside quotes to a word.
    fn quoted(&mut self, word: &mut ShellWord, quote: char) {
        self.at += 1;
        let mut escaped = false;
        for (at, c) in self.rest().char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' && quote == '"' {
                escaped = true;
                continue;
            } else if c == quote {
                self.at += at + 1;
                return;
            }
            word.dynamic |= quote == '"' && (c == '$' || c == '`');
            word.text.push(c);
        }
        word.dynamic = true; // never closed
        self.at = self.text.len();
    }

    /// Reads the bodies of the heredocs that began on the line before.
    fn heredoc_bodies(&mut self) {
        for (end, command, patches) in std::mem::take(&mut self.heredocs) {
            let start = self.at;
            let mut body_end = self.text.len();
            while self.at < self.text.len() {
                let line = self.rest().split_inclusive('\n').next().unwrap_or_default();
                let at = self.at;
                self.at += line.len();
                if line.trim() == end {
                    body_end = at;
                    break;
                }
            }
            self.bodies.push(HeredocBody { text: &self.text[start..body_end], command, patches });
        }
    }
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
