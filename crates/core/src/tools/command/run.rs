//! The run of a simple command, in a form in which two can be compared: program, subcommand, and the files it runs
//! over. Flags that only change the output do not count, nor do runners such as `uv run` and `npx`.

use std::collections::BTreeSet;

use super::purpose::CheckKind;
use crate::tools::programs::programs;
use crate::tools::words::file_name;

/// Program and subcommand, the folder, and what it runs over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandRun {
    /// The folder in which it runs; `None` where the command names none.
    folder: Option<String>,
    /// The words that name the program: its name and its subcommand.
    program: Vec<String>,
    /// Program and subcommand, such as `cargo test`, as tables name them.
    key: String,
    /// The files, folders and other words that it runs over. Empty means everything.
    over: BTreeSet<String>,
    /// Flags that narrow what it runs over, such as `-k parser`.
    narrowed: BTreeSet<String>,
    /// What it checks; `None` for a run that is no check.
    kind: Option<CheckKind>,
}

impl CommandRun {
    /// Reads the words of a simple command, without runners.
    pub(super) fn of(words: &[String], folder: Option<&str>) -> Self {
        let known = programs();
        let mut words = words.iter().map(String::as_str).peekable();
        let folder = folder.filter(|folder| *folder != ".").map(str::to_owned);
        let mut run = Self { folder, ..Self::default() };
        let Some(first) = words.next() else { return run };
        let first = plain_name(first);
        let mut rest: Vec<&str> = words.collect();
        if first == "node" && rest.contains(&"--test") {
            rest.retain(|word| *word != "--test");
            run.program.extend([first.to_owned(), "--test".to_owned()]);
        } else if interprets(first) {
            run.interpreted(first, &mut rest);
        } else {
            run.program.push(first.to_owned());
            if known.managers.contains(first) {
                rest.retain(|word| !matches!(*word, "run" | "run-script"));
            }
            if known.targets.contains(first) && !matches!(first, "tox" | "nox" | "invoke") {
                let targets = rest.iter().filter(|word| is_target(word));
                let targets: BTreeSet<String> = targets.map(|word| (*word).to_owned()).collect();
                rest.retain(|word| !is_target(word));
                run.program.extend(targets);
            } else if known.managers.contains(first) || known.subcommands.contains(first) {
                run.subcommand(&mut rest);
            }
        }
        run.key = run.program.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
        // Look-ups and preparations are never compared with another run, so their words are not needed.
        if !known.shows.contains(first) && !known.prepares.contains(first) {
            run.take_words(&rest);
        }
        run
    }

    /// Reads a program behind an interpreter. `python -m pytest a.py` runs `pytest` over a file, and so does
    /// `node node_modules/.bin/jest`; frameworks run tests by a script of their own, as in `python manage.py test`.
    fn interpreted(&mut self, first: &str, rest: &mut Vec<&str>) {
        let unversioned = first.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_file = |word: &str| !word.starts_with('-') && !word.contains('=');
        let at = rest.iter().position(|word| is_file(word) || *word == "-m" || *word == "-");
        match at.map(|at| rest.drain(..=at).next_back().unwrap_or_default()) {
            Some("-m") if !rest.is_empty() => {
                let module = rest.remove(0);
                self.program.push(module.to_owned());
                if programs().subcommands.contains(module) {
                    self.subcommand(rest);
                }
            }
            Some("-") | None => self.program.push(unversioned.to_owned()),
            Some(file) if matches!(plain_name(file), "manage.py" | "artisan" | "console") => {
                self.program.push(plain_name(file).to_owned());
                self.subcommand(rest);
            }
            Some(file) if programs().checks.of(plain_name(file)).is_some() => {
                self.program.push(plain_name(file).to_owned());
            }
            Some(file) => self.program.extend([unversioned.to_owned(), file.to_owned()]),
        }
    }

    /// Moves the first word that is neither a flag nor the argument of one from `rest` to the program.
    fn subcommand(&mut self, rest: &mut Vec<&str>) {
        if let Some(at) = first_word(rest) {
            self.program.push(rest.remove(at).to_owned());
        }
    }

    /// Sorts the words behind program and subcommand: neutral flags, narrowing flags, and the files it runs over.
    fn take_words(&mut self, rest: &[&str]) {
        let known = programs();
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            match neutral(word) {
                Some(takes_one) => {
                    if takes_one {
                        words.next();
                    }
                }
                None if known.narrowing.contains(*word) => {
                    let value = words.next().copied().unwrap_or_default();
                    self.narrowed.insert(format!("{word} {value}"));
                }
                None if word.starts_with('-') => {
                    self.narrowed.insert((*word).to_owned());
                }
                // A number is the value of a flag, so it narrows nothing.
                None if word.bytes().all(|b| b.is_ascii_digit()) => {}
                None => {
                    let path = word.trim_start_matches("./").trim_end_matches("/...");
                    let path = path.trim_end_matches('/');
                    if !matches!(path, "" | "." | "...") {
                        self.over.insert(path.to_owned());
                    }
                }
            }
        }
    }

    /// Whether a run of this proves something about the other: it is the same program in the same folder, over at
    /// least as much.
    pub(crate) fn covers(&self, part: &Self) -> bool {
        let within = |path: &str, whole: &str| {
            // Within a path are its files, the tests of a file (`a.py::test_it`) and the parts of a module (`a.b`).
            path.strip_prefix(whole).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(['/', ':', '.']) || whole.ends_with("::")
            })
        };
        let has = |path: &String| self.over.iter().any(|whole| within(path, whole));
        if self.runs_all() && self.kind == part.kind && !part.is_named_by_project() {
            return same_folder(self.folder.as_deref(), part.folder.as_deref());
        }
        !self.program.is_empty()
            && self.program == part.program
            && same_folder(self.folder.as_deref(), part.folder.as_deref())
            // The run with fewer narrowing flags runs over more.
            && self.narrowed.is_subset(&part.narrowed)
            && (self.over.is_empty() || !part.over.is_empty() && part.over.iter().all(has))
    }

    /// Whether the project's own command runs all checks of a kind: `npm test`, `make lint`.
    fn runs_all(&self) -> bool {
        const ALL: [&str; 8] =
            ["test", "tests", "lint", "types", "typecheck", "all", "run_tests.sh", "test.sh"];
        let names = || self.program.iter().skip(usize::from(self.program.len() > 1));
        self.kind.is_some()
            && (self.is_named_by_project() || self.program().ends_with(".sh"))
            && self.over.is_empty()
            && self.narrowed.is_empty()
            && names().all(|name| ALL.contains(&file_name(name)))
    }

    /// Notes what it checks.
    pub(super) fn set_kind(&mut self, kind: Option<CheckKind>) {
        self.kind = kind;
    }

    /// The same run in `folder`, unless it names a folder itself.
    pub(crate) fn within(mut self, folder: Option<&str>) -> Self {
        self.folder = self.folder.or_else(|| folder.map(str::to_owned));
        self
    }

    /// The files, folders and other words that it runs over.
    pub(crate) fn over(&self) -> impl Iterator<Item = &str> {
        self.over.iter().map(String::as_str)
    }

    /// The interpreter and the file of a script; `None` where the program is not an interpreter.
    pub(crate) fn script(&self) -> Option<(&str, Option<&str>)> {
        self.interprets().then(|| (self.program(), self.program.get(1).map(String::as_str)))
    }

    /// Whether a file of the project says what it runs, as for `npm run x` and `make x`.
    pub(crate) fn is_named_by_project(&self) -> bool {
        programs().managers.contains(self.program()) || self.names_target()
    }

    /// Whether it makes a target. Such programs write each command into the output before they run it.
    pub(crate) fn names_target(&self) -> bool {
        programs().targets.contains(self.program())
    }

    /// The folder that it runs in, where the command names one.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// The name of the program; for a script of the project, its path.
    pub(crate) fn program(&self) -> &str {
        self.program.first().map_or("", String::as_str)
    }

    /// Program and subcommand, such as `cargo test`, as tables name them.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn interprets(&self) -> bool {
        interprets(self.program())
    }

    /// Whether an interpreter reads its program from the input, because no file is named.
    pub(super) fn names_no_file(&self) -> bool {
        self.program.len() == 1
    }

    /// The kind of check that the name of a script or target suggests, such as `npm run lint`. `None` where the name
    /// suggests no check.
    pub(super) fn named(&self) -> Option<CheckKind> {
        let known = programs();
        let first = self.program();
        let scratch = known.places.is_scratch(first);
        let path = !scratch && (first.contains('/') || first.starts_with("test"));
        let name = if known.managers.contains(first) || self.interprets() {
            let name = self.program.get(1)?;
            // `python test_it.py` and `python final_test.py` are usually scripts for one look.
            let file = file_name(name);
            let once = file.starts_with("test_") || !name.contains('/') && !file.starts_with("run");
            let scratch = known.places.is_scratch(name);
            if scratch || self.interprets() && once && first != "bash" && first != "sh" {
                return None;
            }
            name
        } else if known.targets.contains(first) {
            return self.program.iter().skip(1).find_map(|name| of_name(name));
        } else if path || first.ends_with(".sh") {
            first
        } else {
            return None;
        };
        of_name(name)
    }

    /// Whether its targets check nothing, as in `make deploy`.
    pub(super) fn is_no_check(&self) -> bool {
        const ALL: [&str; 2] = ["all", "default"];
        let mut targets = self.program.iter().skip(1).peekable();
        targets.peek().is_some()
            && targets.all(|target| of_name(target).is_none() && !ALL.contains(&&**target))
    }

    /// Whether it only shows something, such as `git log`. Some subcommands change something with certain flags.
    pub(super) fn is_lookup(&self, words: &[String]) -> bool {
        let known = programs();
        let first = self.program();
        let sub = self.program.get(1).map_or("", String::as_str);
        let has = |flags: &[&str]| words.iter().any(|word| flags.contains(&&**word));
        let changes = match (first, sub) {
            ("git", "branch") => has(&["-d", "-D", "-m", "-M", "-f"]),
            ("git", "tag") => words.len() > 2 && !has(&["-l", "--list", "-n"]),
            ("git", "remote") => has(&["add", "remove", "rm", "set-url"]),
            ("gh" | "glab", _) => has(&[
                "create", "merge", "close", "edit", "comment", "review", "reopen", "delete",
                "upload", "ready", "fork", "cancel", "rerun", "-X", "--method",
            ]),
            _ => false,
        };
        let shows = known.showing.get(first).is_some_and(|words| words.contains(sub));
        !changes && (shows || known.shows.contains(first) || known.answers.contains(first))
    }
}

/// The index of the first word that is neither a flag nor the argument of one.
pub(super) fn first_word(words: &[impl AsRef<str>]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at).map(AsRef::as_ref) {
        match word {
            "-C" | "-c" | "--prefix" | "--filter" | "-F" | "-w" | "--workspace" | "--project"
            | "--directory" | "--cwd" | "-n" | "--namespace" => at += 2,
            _ if word.starts_with(['-', '+']) => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// The kind of check that a word of a name suggests, as in `test:unit` or `run_tests.sh`.
fn of_name(name: &str) -> Option<CheckKind> {
    let name = file_name(name);
    let mut words =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.find_map(|word| programs().names.of(&word.to_ascii_lowercase()))
}

/// Whether two folders may be the same. An unknown folder may be any.
fn same_folder(one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(one, other) || ends(other, one)
}

/// Whether a flag leaves unchanged what is checked: `Some(true)` where the next word is its value, `Some(false)` where
/// it has no value, `None` for any other word.
fn neutral(word: &str) -> Option<bool> {
    if !word.starts_with('-') {
        return None;
    }
    programs().neutral.iter().find_map(|flag| match flag.strip_suffix('*') {
        Some(start) => word.starts_with(start).then_some(false),
        None => match flag.strip_suffix('+') {
            Some(name) => (word == name).then_some(true),
            None => (word == flag).then_some(false),
        },
    })
}

fn is_target(word: &str) -> bool {
    !word.starts_with('-') && !word.contains('=') && !word.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a program runs scripts, also under a name with a version, such as `python3.12`.
fn interprets(program: &str) -> bool {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    programs().interpreters.contains(program) || programs().interpreters.contains(name)
}

/// The name of a program without its folder. A script of the project keeps its path.
pub(super) fn plain_name(word: &str) -> &str {
    let name = file_name(word);
    let scratch = programs().places.is_scratch(word);
    let installed = word.starts_with('/') && !scratch && !word.ends_with(".sh")
        || word.contains("/bin/")
        || word.starts_with("bin/")
        || word.contains("node_modules");
    // `tsgo` is TypeScript's new compiler, with the same checks.
    let name = if name == "tsgo" { "tsc" } else { name };
    let known = interprets(name)
        || programs().subcommands.contains(name)
        || programs().checks.of(name).is_some();
    if installed || known { name } else { word.trim_start_matches("./") }
}
