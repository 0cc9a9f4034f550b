//! Finds the files that a Python or JavaScript script inside a command writes, and the texts that it replaces. The
//! script is read as tokens. A path is known where it is a literal, or a variable that was set to a literal.

mod tokens;

use crate::tools::words::file_name;
use std::borrow::Cow;

use rustc_hash::FxHashMap;

use tokens::{ScriptToken, tokens};

/// At most this many bytes of a script are read.
const LONGEST: usize = 64 * 1024;

/// The changes that a script makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScriptWrites {
    /// The files that it writes, moves or removes.
    pub paths: Vec<String>,
    /// The files among `paths` that it removes.
    pub removed: Vec<String>,
    /// Pairs of a text and its replacement.
    pub edits: Vec<(String, String)>,
    /// Whole texts that it writes.
    pub wholes: Vec<String>,
}

/// The script in the arguments of an interpreter, as in `python3 -c '…'` and `node -e "…"`. `None` where there is
/// none.
pub(crate) fn given<'a>(words: &[String]) -> Option<Cow<'a, str>> {
    let (first, rest) = words.split_first()?;
    let name = file_name(first);
    let flags: &[&str] = match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "python" | "pypy" => &["-c"],
        "node" | "bun" | "deno" => &["-e", "--eval", "-p", "--print", "eval"],
        "ruby" | "perl" => &["-e", "-ne", "-pe"],
        _ => return None,
    };
    let at = rest.iter().position(|word| flags.contains(&&**word))?;
    rest.get(at + 1).map(|script| Cow::Owned(script.clone()))
}

/// The changes that a script makes, as far as its text proves them.
pub(crate) fn wrote(script: &str) -> ScriptWrites {
    // Most scripts write nothing, so a search for a few words saves reading them.
    const SIGNS: [&str; 6] = ["open(", "write", "unlink", "remove(", "rename", "shutil"];
    if !SIGNS.iter().any(|sign| script.contains(sign)) {
        return ScriptWrites::default();
    }
    let tokens = tokens(&script[..script.floor_char_boundary(LONGEST)]);
    let mut reader = ScriptReader { tokens: &tokens, ..ScriptReader::default() };
    for at in 0..tokens.len() {
        reader.look(at);
    }
    // The functions that write a file given as an argument are all known only after the first pass.
    if !reader.writers.is_empty() {
        (0..tokens.len()).for_each(|at| reader.call(at));
    }
    reader.wrote
}

/// Reads the tokens of a script, and collects the changes that it makes.
#[derive(Default)]
struct ScriptReader<'t> {
    tokens: &'t [ScriptToken<'t>],
    /// The literals that each variable was set to.
    named: FxHashMap<&'t str, Vec<String>>,
    /// The function that is being read, and its parameters.
    function: Option<(&'t str, Vec<&'t str>)>,
    /// Functions that write a file given as an argument, with the index of that argument.
    writers: FxHashMap<&'t str, usize>,
    /// The changes found so far.
    wrote: ScriptWrites,
}

impl<'t> ScriptReader<'t> {
    fn name(&self, at: usize) -> Option<&'t str> {
        match self.tokens.get(at) {
            Some(ScriptToken::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn is(&self, at: usize, mark: char) -> bool {
        matches!(self.tokens.get(at), Some(ScriptToken::Mark(own)) if *own == mark)
    }

    /// Reads the statement that begins with this token, if it writes or assigns anything.
    fn look(&mut self, at: usize) {
        let Some(name) = self.name(at) else { return };
        match name {
            "def" | "function" => self.defines(at),
            "for" => self.loops(at),
            // At the first token, `wrapping_sub` gives an index that no token has.
            "open" if self.is(at + 1, '(') && !self.is(at.wrapping_sub(1), '.') => {
                self.opens(at + 2)
            }
            "write_text" | "write_bytes" | "touch" => self.of_path(at, false),
            "unlink" if self.is(at.wrapping_sub(1), '.') => self.of_path(at, true),
            "writeFileSync" | "writeFile" | "appendFileSync" | "appendFile" | "writeTextFile"
                if self.is(at + 1, '(') =>
            {
                self.takes(at + 2, false);
                self.whole(at + 4);
            }
            // Lists have a method `remove`, too, so only `os.remove` counts.
            "remove" if self.name(at.wrapping_sub(2)) == Some("os") && self.is(at + 1, '(') => {
                self.takes(at + 2, true);
            }
            "unlinkSync" | "rmSync" | "rmtree" if self.is(at + 1, '(') => {
                self.takes(at + 2, true);
            }
            "rename" | "renameSync" | "move" | "copy" | "copyfile" | "copyFileSync" | "copy2"
                if self.is(at.wrapping_sub(1), '.')
                    && self.is(at + 1, '(')
                    && self.is(at + 3, ',') =>
            {
                if !name.starts_with("copy") {
                    self.takes(at + 2, true);
                }
                self.takes(at + 4, false);
            }
            "write" if self.is(at.wrapping_sub(1), '.') && self.is(at + 1, '(') => {
                self.whole(at + 2)
            }
            "replace" if self.is(at + 1, '(') && self.is(at + 3, ',') => {
                let text = |at| self.literals(at).and_then(|texts| texts.first().cloned());
                if let (Some(old), Some(new)) = (text(at + 2), text(at + 4)) {
                    self.wrote.edits.push((old, new));
                }
            }
            _ => self.assigns(name, at + 1),
        }
    }

    /// Reads assignments: `p = "a.py"`, `p = Path("a.py")`, `const p = 'a.js'`.
    fn assigns(&mut self, name: &'t str, at: usize) {
        if !self.is(at, '=') || self.is(at + 1, '=') {
            return;
        }
        let mut from = at + 1;
        if self.name(from) == Some("pathlib") {
            from += 2;
        }
        if self.name(from) == Some("Path") && self.is(from + 1, '(') {
            from += 2;
        }
        if let Some(ScriptToken::Text(text)) = self.tokens.get(from)
            && self.ends(from + 1)
        {
            self.named.insert(name, vec![text.to_string()]);
        }
    }

    /// Whether an expression ends before the token at `at`.
    fn ends(&self, at: usize) -> bool {
        match self.tokens.get(at) {
            None | Some(ScriptToken::Line) => true,
            Some(ScriptToken::Mark(mark)) => matches!(mark, ')' | ';' | ',' | ']' | '}'),
            _ => false,
        }
    }

    /// Reads loops over literals: `for p in ["a.py", "b.py"]:`.
    fn loops(&mut self, at: usize) {
        let (Some(name), Some("in" | "of")) = (self.name(at + 1), self.name(at + 2)) else {
            return;
        };
        if !self.is(at + 3, '[') && !self.is(at + 3, '(') {
            return;
        }
        let mut texts = Vec::new();
        for token in self.tokens.get(at + 4..).unwrap_or_default() {
            match token {
                ScriptToken::Text(text) => texts.push(text.to_string()),
                ScriptToken::Mark(',') | ScriptToken::Line => {}
                ScriptToken::Mark(']' | ')') => {
                    self.named.insert(name, texts);
                    return;
                }
                _ => return,
            }
        }
    }

    /// Reads the head of a function: `def sub(path, old, new):`.
    fn defines(&mut self, at: usize) {
        let Some(name) = self.name(at + 1).filter(|_| self.is(at + 2, '(')) else { return };
        let inside = self.tokens.get(at + 3..).unwrap_or_default().iter();
        let inside = inside.take_while(|token| !matches!(token, ScriptToken::Mark(')')));
        let names = inside.filter_map(|token| match token {
            ScriptToken::Name(name) => Some(*name),
            _ => None,
        });
        self.function = Some((name, names.collect()));
    }

    /// Reads `open(p, "w")`; `at` is the first argument.
    fn opens(&mut self, at: usize) {
        let mode = match self.name(at + 2) {
            Some("mode") => at + 4,
            _ => at + 2,
        };
        // A longer text is no mode but another argument, such as an encoding.
        let writes = |mode: &str| mode.len() <= 3 && mode.contains(['w', 'a', 'x', '+']);
        let mode = match self.tokens.get(mode) {
            Some(ScriptToken::Text(mode)) if self.is(at + 1, ',') => mode,
            _ => return,
        };
        if writes(mode) {
            self.takes(at, false);
        }
    }

    /// Reads `Path("a.py").write_text(…)` and `p.write_text(…)`; `at` is the method.
    fn of_path(&mut self, at: usize, removes: bool) {
        if !self.is(at + 1, '(') {
            return;
        }
        self.whole(at + 2);
        match at.checked_sub(2) {
            Some(owner) if self.is(owner, ')') && owner >= 1 => self.takes(owner - 1, removes),
            Some(owner) if self.name(owner).is_some() => self.takes_as(owner, removes),
            _ => {}
        }
    }

    /// Notes the file that the argument at `at` names. The argument has to be that one token.
    fn takes(&mut self, at: usize, removes: bool) {
        if self.ends(at + 1) {
            self.takes_as(at, removes);
        }
    }

    /// Notes the files that a token names. A parameter makes its function a writer of that argument.
    fn takes_as(&mut self, at: usize, removes: bool) {
        if let Some(paths) = self.literals(at) {
            for path in paths.into_iter().filter(|path| is_path(path)) {
                if removes {
                    self.wrote.removed.push(path.clone());
                }
                self.wrote.paths.push(path);
            }
        } else if let (Some(name), Some((function, parameters))) = (self.name(at), &self.function)
            && let Some(number) = parameters.iter().position(|own| *own == name)
        {
            self.writers.insert(function, number);
        }
    }

    /// Reads a call of a function that writes a file given as an argument.
    fn call(&mut self, at: usize) {
        let Some(&number) = self.name(at).and_then(|name| self.writers.get(name)) else { return };
        let defined = matches!(self.name(at.wrapping_sub(1)), Some("def" | "function"));
        if defined || !self.is(at + 1, '(') {
            return;
        }
        let mut arguments = Vec::new();
        let mut from = at + 2;
        // Arguments of one token each are read; a longer argument ends the list.
        while let Some(token) = self.tokens.get(from) {
            match token {
                ScriptToken::Line => from += 1,
                _ if self.ends(from + 1)
                    || matches!(self.tokens.get(from + 1), Some(ScriptToken::Line)) =>
                {
                    arguments.push(from);
                    from += 1;
                    while matches!(self.tokens.get(from), Some(ScriptToken::Line)) {
                        from += 1;
                    }
                    if !self.is(from, ',') {
                        break;
                    }
                    from += 1;
                }
                _ => break,
            }
        }
        let text = |number: usize| {
            let at = arguments.get(number)?;
            self.literals(*at)?.first().cloned()
        };
        let Some(path) = text(number).filter(|path| is_path(path)) else { return };
        if let (Some(old), Some(new)) = (text(number + 1), text(number + 2)) {
            self.wrote.edits.push((old, new));
        }
        self.wrote.paths.push(path);
    }

    /// Notes a text that is written whole, where it is a literal.
    fn whole(&mut self, at: usize) {
        if let Some(text) = self.literals(at).and_then(|texts| texts.first().cloned())
            && self.ends(at + 1)
            && text.contains('\n')
        {
            self.wrote.wholes.push(text);
        }
    }

    /// The literals that a token may stand for; `None` where they are unknown.
    fn literals(&self, at: usize) -> Option<Vec<String>> {
        match self.tokens.get(at)? {
            ScriptToken::Text(text) => Some(vec![text.to_string()]),
            ScriptToken::Name(name) => self.named.get(name).cloned(),
            _ => None,
        }
    }
}

/// Whether a text can be the path of a file.
fn is_path(text: &str) -> bool {
    !text.is_empty()
        && text.len() < 300
        && !text.starts_with("/dev/")
        && !text.contains(|c: char| c.is_control() || "*?<>|\"{}$".contains(c))
        && text.bytes().any(|b| b.is_ascii_alphanumeric() || b >= 0x80)
}
