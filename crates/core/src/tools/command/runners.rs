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

/// The words behind programs that only run the rest.
pub(super) fn without_runners(mut words: &[String]) -> &[String] {
    let next = |words| {
        behind_runner(words).or_else(|| behind_manager(words)).or_else(|| behind_container(words))
    };
    while let Some(rest) = next(words) {
        words = rest;
    }
    words
}

/// The words behind `uv run`, `npx`, `nice -n 5`. `None` where no runner is in front.
fn behind_runner(words: &[String]) -> Option<&[String]> {
    let known = programs();
    let (first, rest) = words.split_first()?;
    let first = file_name(first);
    if !HEADS.contains(first) {
        return None;
    }
    let mut tail = match behind_flags(first, rest) {
        [second, tail @ ..] if known.runners.contains(&format!("{first} {second}")) => tail,
        _ if known.runners.contains(first) => rest,
        _ => return None,
    };
    tail = behind_flags(first, tail);
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

/// The words behind the flags of a runner, their values, and assignments.
fn behind_flags<'a>(runner: &str, mut words: &'a [String]) -> &'a [String] {
    let with_value = programs().runner_values.get(runner);
    while let [flag, rest @ ..] = words {
        if !flag.starts_with('-') && !flag.contains('=') || flag == "-m" {
            break;
        }
        words = match with_value.is_some_and(|flags| flags.contains(flag)) {
            true => rest.get(1..).unwrap_or_default(),
            false => rest,
        };
    }
    words
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
fn behind_container(words: &[String]) -> Option<&[String]> {
    #[rustfmt::skip]
    const CONTAINERS: [&str; 8] = [
        "docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "heroku",
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
    Some(&rest[at..])
}

fn is_interpreter(name: &str) -> bool {
    programs().interpreters.contains(name)
}

/// The command that a shell or another machine is given as one text: `bash -c '…'` in a container, `ssh host '…'`.
pub(super) fn given(words: &[String]) -> Option<Cow<'_, str>> {
    let (first, rest) = words.split_first()?;
    match file_name(first) {
        "bash" | "sh" | "zsh" | "dash" => {
            // `-euo pipefail -c '…'`, but not `script.sh -c`.
            let takes_word = |flag: &str| matches!(flag, "--rcfile" | "--init-file");
            let mut at = 0;
            loop {
                let flag = rest.get(at).filter(|word| word.starts_with(['-', '+']))?;
                let is_long = flag.starts_with("--");
                if !is_long && flag.ends_with('c') {
                    return rest.get(at + 1).map(|text| Cow::Borrowed(&**text));
                }
                at += if takes_word(flag) || !is_long && flag.ends_with('o') { 2 } else { 1 };
            }
        }
        "ssh" => {
            let mut at = 0;
            while let Some(flag) = rest.get(at)?.strip_prefix('-') {
                // A value may follow in the same word.
                let is_apart = flag.len() == 1 && "BbcDEeFIiJLlmOoPpQRSWw".contains(flag);
                at += if is_apart { 2 } else { 1 };
            }
            rest.get(at + 1..).filter(|rest| !rest.is_empty()).map(|rest| rest.join(" ").into())
        }
        _ => None,
    }
}
