//! Splits a command into words and simple commands.

use super::words::{ShellWord, plain_path};

/// At most this many bytes of a command are read. A longer command holds data.
const LONGEST: usize = 256 * 1024;

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

/// The body of a heredoc.
pub(super) struct HeredocBody<'a> {
    pub text: &'a str,
    /// The number of the simple command that gets it, counted from 1.
    pub command: usize,
    /// Whether that command applies patches.
    pub patches: bool,
}

/// Splits a command into words and simple commands.
pub(super) struct ShellLexer<'a> {
    pub text: &'a str,
    pub at: usize,
    /// Heredocs whose bodies start at the next line: the end word, the number of the command, and whether the command
    /// applies patches.
    heredocs: Vec<(String, usize, bool)>,
    /// The bodies read so far.
    pub bodies: Vec<HeredocBody<'a>>,
    /// How many simple commands were begun.
    pub commands: usize,
    /// The last here-string that no command has taken yet.
    pub fed: Option<ShellWord>,
    /// How many parentheses are open.
    pub depth: usize,
    /// The fewest that were open since the last command with words.
    pub outermost: usize,
}

impl<'a> ShellLexer<'a> {
    pub fn of(command: &'a str) -> Self {
        let end = command.floor_char_boundary(LONGEST);
        let (heredocs, bodies) = (Vec::new(), Vec::new());
        Self {
            text: &command[..end],
            at: 0,
            heredocs,
            bodies,
            commands: 0,
            fed: None,
            depth: 0,
            outermost: 0,
        }
    }

    /// Byte offset of the end of the last of these words.
    pub fn last_word_end(&self, words: &[ShellWord]) -> usize {
        words.last().map_or(self.at, |word| word.at.end)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Reads one simple command: its words, the files that its output goes to, and the operator that ends it.
    pub fn simple_command(&mut self) -> (Vec<ShellWord>, Vec<String>, CommandEnd) {
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
                    self.depth =
                        if byte == b'(' { self.depth + 1 } else { self.depth.saturating_sub(1) };
                    self.outermost = self.outermost.min(self.depth);
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
