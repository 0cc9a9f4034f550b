//! Finds the program that a command runs in the end: behind `uv run` and `npx`, behind a package manager
//! (`yarn vitest`), in a container (`docker compose run web pytest`), on another machine.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::run::{first_word, plain_name};
use crate::tools::programs::programs;
use crate::tools::words::file_name;

/// The first words of the known runners.
static HEADS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    programs().runners.iter().filter_map(|runner| runner.split(' ').next()).collect()
});

/// Flags of runners that take a word.
const WITH_VALUE: [&str; 13] = [
    "-f",
    "--with",
    "--extra",
    "--group",
    "--python",
    "-p",
    "--package",
    "--directory",
    "--project",
    "-n",
    "-a",
    "-s",
    "-k",
];

/// The words behind programs that only run the rest.
pub(super) fn without_runners(mut words: &[String]) -> &[String] {
    while let Some(rest) = behind_runner(words).or_else(|| behind_manager(words)) {
        words = rest;
    }
    elsewhere(words).unwrap_or(words)
}

/// The words behind `uv run`, `npx`, `nice -n 5`. `None` where no runner is in front.
fn behind_runner(words: &[String]) -> Option<&[String]> {
    let known = programs();
    let (first, rest) = words.split_first()?;
    let first = file_name(first);
    if !HEADS.contains(first) {
        return None;
    }
    let second = rest.iter().position(|word| !word.starts_with('-'));
    let pair = second.map(|at| (at, format!("{first} {}", rest[at])));
    let mut tail = match pair {
        Some((at, pair)) if known.runners.contains(&pair) => &rest[at + 1..],
        _ if known.runners.contains(first) => rest,
        _ => return None,
    };
    while let [flag, more @ ..] = tail {
        if !flag.starts_with('-') && !flag.contains('=') || flag == "-m" {
            break;
        }
        tail = match WITH_VALUE.contains(&&**flag) {
            true => more.get(1..).unwrap_or_default(),
            false => more,
        };
    }
    // `coverage run -m pytest`.
    if let [flag, _, ..] = tail
        && flag == "-m"
    {
        tail = &tail[1..];
    }
    let named = tail.first()?;
    // `pdm run test` runs a script of the project, and not the program `test`.
    let is_script = known.names.of(named).is_some() && known.checks.of(named).is_none();
    (!is_script || known.runners.contains(first)).then_some(tail)
}

/// The words from the check on that a package manager runs by its own name, as in `yarn vitest run`. `None` where it
/// runs a script of the project.
fn behind_manager(words: &[String]) -> Option<&[String]> {
    let known = programs();
    let (first, mut rest) = words.split_first()?;
    if !known.managers.contains(file_name(first)) {
        return None;
    }
    loop {
        let at = first_word(rest)?;
        match &*rest[at] {
            "run" | "exec" | "--" => rest = &rest[at + 1..],
            "workspace" => rest = rest.get(at + 2..)?,
            name if known.checks.of(name).is_some() => return Some(&rest[at..]),
            _ => return None,
        }
    }
}

/// The words from the check on that runs in a container or behind `--`. `None` where there is none.
fn elsewhere(words: &[String]) -> Option<&[String]> {
    const CONTAINERS: [&str; 8] = [
        "docker",
        "podman",
        "nerdctl",
        "docker-compose",
        "podman-compose",
        "kubectl",
        "oc",
        "heroku",
    ];
    let first = file_name(words.first()?);
    let from = match CONTAINERS.contains(&first) {
        // Behind the verb come flags and the name of the container.
        true => words.iter().position(|word| matches!(&**word, "run" | "exec"))? + 2,
        false if programs().subcommands.contains(first) => return None,
        false => words.iter().position(|word| word == "--")? + 1,
    };
    let rest = words.get(from..)?;
    let is_check = |at: &usize| {
        let name = plain_name(&rest[*at]);
        let pair = rest.get(at + 1).map(|next| format!("{name} {next}"));
        let known = &programs().checks;
        known.of(name).or_else(|| known.of(&pair?)).is_some()
    };
    let runs = |at: &usize| {
        let name = file_name(&rest[*at]);
        is_check(at) || programs().managers.contains(name) || is_interpreter(name)
    };
    let at = (0..rest.len()).find(runs)?;
    Some(without_runners(&rest[at..]))
}

fn is_interpreter(name: &str) -> bool {
    programs().interpreters.contains(name)
}

/// The command that a shell or another machine is given as one text: `bash -c '…'` in a container, `ssh host '…'`.
pub(super) fn given(words: &[String]) -> Option<Cow<'_, str>> {
    let (first, rest) = words.split_first()?;
    match file_name(first) {
        "bash" | "sh" | "zsh" | "dash" => {
            let at = rest.iter().position(|word| word.starts_with('-') && word.ends_with('c'))?;
            rest.get(at + 1).map(|text| Cow::Borrowed(&**text))
        }
        "ssh" => {
            let with_value = |word: &str| matches!(word, "-p" | "-i" | "-o" | "-l" | "-J" | "-F");
            let mut at = 0;
            while rest.get(at)?.starts_with('-') {
                at += if with_value(&rest[at]) { 2 } else { 1 };
            }
            rest.get(at + 1..).filter(|rest| !rest.is_empty()).map(|rest| rest.join(" ").into())
        }
        _ => None,
    }
}
