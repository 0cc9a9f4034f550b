//! Where the agent works: the folder, the worktrees, the branch, the virtual environment.

use super::ended_call::{EndedCall, inside, numbered};
use crate::recap::numbers::MessageNumbers;
use crate::recap::{escape, state};
use crate::tools::ToolKind;
use crate::tools::command::SimpleStep;

/// A folder that this many commands ran in is where the agent works.
const USES: u32 = 3;
/// At most this many worktrees are kept.
const TREES: usize = 4;
/// Longest path, in characters.
const PATH: usize = 200;

/// A part of the place, and the message that showed it last.
type ShownPart = (String, u32);

/// The place of the work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkPlace {
    folder: Option<ShownPart>,
    /// The folder of the newest commands, and how many of them ran there.
    candidate: Option<(String, u32)>,
    branch: Option<ShownPart>,
    venv: Option<ShownPart>,
    /// The worktrees that were added and not removed.
    trees: Vec<ShownPart>,
}

impl WorkPlace {
    pub(super) fn note_call(&mut self, call: &EndedCall<'_>) {
        let at = call.message;
        if call.is_named(&["enterworktree", "createworktree"]) && call.went_well() {
            let paths = call
                .text
                .split_whitespace()
                .map(|word| word.trim_matches(['\'', '"', '`', '.', ',']));
            let path = paths.into_iter().find(|word| word.starts_with('/'));
            path.into_iter().for_each(|path| self.add_tree(path, at));
            return;
        }
        if call.is_named(&["exitworktree", "removeworktree"]) && call.went_well() {
            self.trees.pop();
            self.folder = None;
            return;
        }
        if call.facts.kind != ToolKind::Shell {
            return;
        }
        let given = call.arguments(&["workdir", "cwd", "working_directory", "directory"]);
        let own = call.command.steps.last().and_then(|step| step.run.folder());
        let absolute = |folder: &&str| folder.starts_with(['/', '~']);
        if let Some(folder) = own.or(given.first().map(String::as_str)).filter(absolute) {
            self.note_folder(folder, at);
        }
        for step in &call.command.steps {
            self.note_step(step, call);
        }
    }

    /// Notes the folder of a command. A single look elsewhere does not move the agent.
    fn note_folder(&mut self, folder: &str, at: u32) {
        if self.folder.as_ref().is_some_and(|(known, _)| known == folder) {
            self.candidate = None;
            return;
        }
        match &mut self.candidate {
            Some((known, uses)) if known == folder => *uses += 1,
            _ => self.candidate = Some((folder.to_owned(), 1)),
        }
        if self.candidate.as_ref().is_some_and(|(_, uses)| *uses >= USES) {
            self.candidate = None;
            self.folder = Some((folder.to_owned(), at));
        }
    }

    fn note_step(&mut self, step: &SimpleStep<'_>, call: &EndedCall<'_>) {
        if !call.went_well() {
            return;
        }
        let words: Vec<&str> = step.text.split_whitespace().collect();
        match step.run.key() {
            "git worktree" if words.contains(&"add") => {
                added(&words).into_iter().for_each(|path| self.add_tree(path, call.message));
            }
            "git worktree" if words.contains(&"remove") => {
                self.trees.retain(|(path, _)| !words.contains(&&**path));
            }
            "git checkout" | "git switch" => {
                let branch = switched(call.text, &words).map(|branch| (branch, call.message));
                self.branch = branch.or(self.branch.take());
            }
            _ => {
                let venv = environment(&words).map(|venv| (venv.to_owned(), call.message));
                self.venv = venv.or(self.venv.take());
            }
        }
    }

    fn add_tree(&mut self, path: &str, at: u32) {
        let path = path.trim_matches(['\'', '"']).to_owned();
        self.trees.retain(|(known, _)| *known != path);
        self.trees.push((path, at));
        let over = self.trees.len().saturating_sub(TREES);
        self.trees.drain(..over);
    }

    /// Notes the context that a client sends when the folder changes.
    pub(super) fn note_client(&mut self, message: u32, text: &str) {
        if let Some(folder) =
            inside(text, "cwd").or_else(|| inside(text, "current_working_directory"))
        {
            self.folder = Some((folder.to_owned(), message));
            self.candidate = None;
        }
    }

    pub(super) fn lines(&self, later: Option<&Self>, numbers: MessageNumbers) -> Vec<String> {
        let own = [&self.folder, &self.branch, &self.venv];
        let newer = later.map(|later| [&later.folder, &later.branch, &later.venv]);
        let single = ["folder", "branch", "environment"].into_iter().zip(own).enumerate();
        let single = single.filter(|(at, (_, shown))| newer.is_none_or(|all| all[*at] == *shown));
        let single = single.filter_map(|(_, (label, shown))| Some((label, shown.as_ref()?)));
        let stands = |tree: &&ShownPart| later.is_none_or(|later| later.trees.contains(tree));
        let trees = self.trees.iter().filter(stands).map(|tree| ("worktree", tree));
        let parts = single.chain(trees).map(|(label, (value, at))| {
            format!("{label} {}{}", escape::inline(value, PATH), numbers.after(*at))
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        if parts.is_empty() { Vec::new() } else { vec![format!("{}{parts}\n", state::PLACE)] }
    }

    /// Reads the line of an earlier recap.
    pub(super) fn read(&mut self, text: &str) {
        for (part, at) in text.split(", ").filter_map(numbered) {
            let Some((label, value)) = part.split_once(' ') else { continue };
            let shown = Some((value.to_owned(), at));
            match label {
                "folder" => self.folder = shown,
                "branch" => self.branch = shown,
                "environment" => self.venv = shown,
                "worktree" => self.trees.extend(shown),
                _ => {}
            }
        }
    }
}

/// The path of the worktree that `git worktree add` makes.
fn added<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut rest = words.iter().skip_while(|word| **word != "add").skip(1);
    loop {
        match *rest.next()? {
            "-b" | "-B" | "--reason" => drop(rest.next()),
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
}

/// The branch that a command switched to, by what git printed, or else by the name of a new branch.
fn switched(printed: &str, words: &[&str]) -> Option<String> {
    let named = printed.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("Switched to ")?;
        rest.split('\'').nth(1)
    });
    let new_branch = || {
        let at = words.iter().position(|word| matches!(*word, "-b" | "-B" | "-c" | "-C"))?;
        words.get(at + 1).map(|word| word.trim_matches(['\'', '"']))
    };
    named.or_else(new_branch).map(str::to_owned)
}

/// The environment that a step activates, or whose program it runs.
fn environment<'a>(words: &[&'a str]) -> Option<&'a str> {
    let activated = words.iter().find_map(|word| word.strip_suffix("/bin/activate"));
    let program = words.first().and_then(|word| word.split_once("/bin/"));
    let used = program.map(|(folder, _)| folder).filter(|folder| folder.contains("venv"));
    let conda = words.starts_with(&["conda", "activate"]).then(|| words.get(2).copied());
    activated.or(used).or(conda.flatten())
}
