//! Describes on one line what a command does: its main steps, without those that only prepare something or show
//! less of the output. A script is described by its first words.

use super::purpose::CommandPurpose;
use super::script::wrote;
use super::step::{CommandDeeds, SimpleStep};
use crate::salient::shorten;
use crate::tools::shell::CommandEnd;
use crate::tools::words::file_name;

/// The label of a command, of at most `max` characters. A label that was cut ends in `…` after a whole word, because
/// half a command would read like another command.
pub(crate) fn label(command: &CommandDeeds<'_>, text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut joint = "";
    let mut skipping = false;
    // Only the steps of the most important rank are shown: real work, or else changes, or else look-ups.
    let most = command.steps.iter().map(|step| rank(step.purpose)).max().unwrap_or_default();
    for step in &command.steps {
        let shows_less = skipping && step.purpose == CommandPurpose::LookUp;
        skipping =
            step.end == CommandEnd::Pipe && (shows_less || step.purpose != CommandPurpose::LookUp);
        let own = of_step(step, max);
        // A check that runs before a change and again after it is shown once.
        if most > 0 && rank(step.purpose) == most && !shows_less && !out.ends_with(&own) {
            if !out.is_empty() {
                out.push_str(joint);
            }
            out.push_str(&own);
        }
        joint = match step.end {
            CommandEnd::And => " && ",
            CommandEnd::Or => " || ",
            CommandEnd::Pipe => " | ",
            _ => "; ",
        };
    }
    if out.is_empty() {
        out = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join("; ");
    }
    // The label is put between backticks, so it cannot hold any.
    cut_at_word(&out.replace('`', "'"), max)
}

/// How much a step says about what a command does.
fn rank(purpose: CommandPurpose) -> u8 {
    match purpose {
        CommandPurpose::Prepare => 0,
        CommandPurpose::LookUp => 1,
        CommandPurpose::Edit => 2,
        _ => 3,
    }
}

impl SimpleStep<'_> {
    /// The label of one simple command, of at most `max` characters.
    pub(crate) fn label(&self, max: usize) -> String {
        cut_at_word(&of_step(self, max).replace('`', "'"), max)
    }
}

/// The label of a program in another language, which a tool runs.
pub(crate) fn script_label(tool: &str, code: &str, max: usize) -> String {
    cut_at_word(&format!("{tool}: {}", of_script(code, max)), max)
}

/// The label of a step: its words on one line, or a description of its script or commit.
fn of_step(step: &SimpleStep<'_>, max: usize) -> String {
    if let Some(script) = step.script.as_deref() {
        let name = file_name(step.text.split_whitespace().next().unwrap_or_default());
        return format!("{name}: {}", of_script(script, max));
    }
    if step.run.key() == "git commit" && step.text.contains('\n') {
        // A commit message is shortened to its subject.
        let subject = step.text.split_once('\n').map_or("", |(_, rest)| rest);
        let written = step.text.contains("$(cat <<");
        let subject = match written {
            true => {
                subject.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
            }
            false => "",
        };
        let first = step.text.lines().next().unwrap_or_default();
        let before = first.split("\"$(cat").next().unwrap_or(first).trim_end();
        return match subject.is_empty() {
            true => format!("{before}…"),
            false => format!("{before} \"{subject}\""),
        };
    }
    let text = step.text.replace(" 2>&1", "").replace(" 2>/dev/null", "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first words of a script that say something: its first comment or docstring, the files that it writes, or
/// its first statements that import nothing.
fn of_script(script: &str, max: usize) -> String {
    const IDLE: [&str; 7] =
        ["import ", "from ", "const {", "'use strict'", "\"use strict\"", "sys.path", "require("];
    let lines = || script.lines().map(str::trim).filter(|line| !line.is_empty());
    let comment = |line: &str| {
        let text = line.strip_prefix('#').or_else(|| line.strip_prefix("//"));
        let text = text.filter(|_| !line.starts_with("#!"))?.trim_start_matches(['#', '/', '!']);
        let text = text.trim_matches(['-', '=', '*', ' ']);
        (text.split_whitespace().nth(1).is_some()).then(|| text.to_owned())
    };
    let imports = |line: &&str| {
        IDLE.iter().any(|start| line.starts_with(start))
            || line.contains("require(")
            || line.starts_with('#')
            || line.starts_with("//")
    };
    let text = lines().take_while(|line| imports(line)).find_map(comment);
    let statements = || {
        let one = lines().flat_map(|line| line.split("; ")).map(str::trim);
        one.filter(|line| !imports(line)).take(3).collect::<Vec<_>>().join("; ")
    };
    let writes = || {
        let mut paths = wrote(script).paths;
        paths.dedup();
        (!paths.is_empty()).then(|| format!("writes {}", paths.join(", ")))
    };
    let words = text.or_else(writes).unwrap_or_else(statements);
    shorten(if words.is_empty() { script } else { &words }, max)
}

/// The text on one line of at most `max` characters; a longer text is cut after a word.
pub(crate) fn cut_at_word(text: &str, max: usize) -> String {
    let whole = shorten(text, max);
    let Some(cut) = whole.strip_suffix('…').filter(|_| !text.trim_end().ends_with('…')) else {
        return whole;
    };
    match cut.rfind(' ') {
        Some(at) if at * 2 > cut.len() => format!("{} …", &cut[..at]),
        _ => format!("{cut}…"),
    }
}
