//! Labels in a message of the user's role that introduce somebody else's words: `Tool output:`, `[tool_result]`.

/// The speakers of a conversation.
#[rustfmt::skip]
const SPEAKERS: &[&str] = &[
    "assistant", "system", "human", "user", "tool", "function", "developer", "model", "ai", "agent", "bot",
];

/// Words for a program's output, and for who speaks: streams and members of the protocols.
#[rustfmt::skip]
const OUTPUTS: &[&str] = &[
    "role", "stdout", "stderr", "output", "outputs", "result", "results", "response", "responses", "observation",
    "observations", "returned", "returns", "reply", "log", "logs", "trace", "traceback",
];

/// Words for what a speaker gives, as a later word of a label: `Tool call:`, `System message:`. Other words in that
/// place are headings of the user's own wishes: `Output format:`, `User preference:`.
const GIVEN: &[&str] = &[
    "call", "calls", "error", "errors", "input", "message", "messages", "prompt", "said", "says",
    "turn",
];

/// Words for what a system tells beside its output: `System reminder:`, `[Automated message]`.
const NOTICES: &[&str] = &["note", "notice", "notification", "notifications", "reminder"];

/// The most words of a label.
const LABEL_WORDS: usize = 5;
/// The most bytes of a label.
const LABEL: usize = 80;

/// What a label at the start of a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelForm<'a> {
    /// The words behind it are somebody else's: it is alone on its line, or of a form that people do not write.
    Foreign,
    /// Words follow on the line, as behind a user's own `AI: use port 8123`. This is the name in the label.
    Named(&'a str),
}

/// The form of the label that a line starts with: `Tool output:`, `Observation 3:`, `[tool_result]`, `**System:**`,
/// `## Output`. `None` where there is none.
pub(crate) fn label_form(line: &str) -> Option<LabelForm<'_>> {
    let near_start = &line[..line.floor_char_boundary(LABEL)];
    let unmarked = near_start.trim_start_matches(['#', '*', '_', ' ']);
    if is_hook(unmarked) || is_exit(unmarked) {
        return Some(LabelForm::Foreign);
    }
    if let Some(inner) = unmarked.strip_prefix('[') {
        return bracketed_form(inner);
    }
    let Some((label, behind)) = unmarked.split_once(':') else {
        let is_heading = near_start.starts_with('#') && names_speaker(unmarked);
        return is_heading.then_some(LabelForm::Foreign);
    };
    let behind = behind.trim_matches(['*', '_', ' ', '\n', '\r']);
    if behind.starts_with("//") {
        None
    } else if behind.is_empty() {
        (names_speaker(label) || heads_output(label)).then_some(LabelForm::Foreign)
    } else if is_notice(label) || label.eq_ignore_ascii_case("role") && is_speaker(behind) {
        Some(LabelForm::Foreign)
    } else {
        names_speaker(label).then(|| LabelForm::Named(first_word(label)))
    }
}

/// The form of a label in brackets; `inner` is behind the first one: `tool_result]`, `bash]`, `INST] … [/INST]`.
fn bracketed_form(inner: &str) -> Option<LabelForm<'_>> {
    let (label, behind) = inner.split_once(']')?;
    let is_link = behind.starts_with(['(', '[']);
    let has_letters = label.len() > 1 && label.bytes().any(|b| b.is_ascii_alphabetic());
    if is_link || !has_letters || label.contains(". ") {
        return None;
    }
    let is_alone = behind.trim_matches([':', ' ', '*', '\n', '\r']).is_empty();
    let name = first_word(label);
    let is_named = names_speaker(label) || is_speaker_word(name);
    // `[URGENT]` is what a user writes, also on a line of its own. A tool's name is in small letters.
    let is_tool = label.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let is_told = label.strip_suffix("message").or_else(|| label.strip_suffix("Message"));
    let is_foreign = label.contains('_')
        || is_alone && (is_named || is_tool)
        || is_notice(label)
        || is_told.is_some_and(|name| is_system(name.trim_end()))
        || behind.contains(&*format!("[/{label}]"));
    match (is_foreign, is_named) {
        (true, _) => Some(LabelForm::Foreign),
        (_, true) => Some(LabelForm::Named(name)),
        _ => None,
    }
}

/// Whether labels with words behind them make a text a conversation: one comes twice, or two speakers have one each.
pub(crate) fn is_conversation<'a>(labels: impl Iterator<Item = LabelForm<'a>>) -> bool {
    let mut names: Vec<String> = Vec::new();
    for label in labels {
        let LabelForm::Named(name) = label else { return true };
        let name = name.to_ascii_lowercase();
        let is_another = |known: &String| is_speaker(known) && is_speaker(&name);
        if names.iter().any(|known| *known == name || is_another(known)) {
            return true;
        }
        names.push(name);
    }
    false
}

/// Whether a line is what a client says of a hook, with the name of the event: `UserPromptSubmit hook success: …`,
/// `SessionStart:startup hook additional context: …`, `Stop hook feedback:`.
fn is_hook(line: &str) -> bool {
    let Some((event, rest)) = line.split_once(" hook ") else { return false };
    let Some((says, behind)) = rest.split_once(':') else { return false };
    let name = event.split(':').next().unwrap_or_default();
    // A sentence may begin with one capital, and names of events with several parts have more.
    let capitals = name.bytes().filter(u8::is_ascii_uppercase).count();
    event.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:-".contains(&b))
        && says.split(' ').count() <= 3
        && says.bytes().all(|b| b.is_ascii_lowercase() || b == b' ')
        && (capitals > 1 || capitals == 1 && behind.trim().is_empty())
}

/// Whether a line tells how a program ended, and nothing else: `Exit code: 1`, `exitcode: 0 (execution succeeded)`.
fn is_exit(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let rest =
        ["exit code", "exitcode", "exit status"].iter().find_map(|name| lower.strip_prefix(name));
    rest.is_some_and(|rest| {
        let number = rest.trim_start_matches([':', '*', '`', ' ', '-']);
        let behind = number.trim_start_matches(|c: char| c.is_ascii_digit());
        let behind_marks = behind.trim_start_matches(['*', '`', '.', ' ']);
        behind.len() < number.len() && (behind_marks.is_empty() || behind_marks.starts_with('('))
    })
}

/// Whether a label is for what a system tells: `System reminder`, `system note`.
fn is_notice(label: &str) -> bool {
    label.rsplit_once(' ').is_some_and(|(name, last)| {
        is_system(name) && NOTICES.iter().any(|notice| notice.eq_ignore_ascii_case(last))
    })
}

fn is_system(name: &str) -> bool {
    ["system", "automated"].iter().any(|system| system.eq_ignore_ascii_case(name))
}

/// Whether a name is that of a speaker in a conversation.
fn is_speaker(name: &str) -> bool {
    SPEAKERS.iter().any(|speaker| speaker.eq_ignore_ascii_case(name))
}

/// Whether a label that is alone on its line names the source of what follows: `Results from search:`.
fn heads_output(label: &str) -> bool {
    let words = label.split_whitespace().count();
    (3..=LABEL_WORDS).contains(&words) && is_speaker_word(first_word(label))
}

/// Whether a short label names a speaker or an output.
pub(crate) fn names_speaker(label: &str) -> bool {
    let words = || label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let plain = label.chars().all(|c| c.is_alphanumeric() || " _-()/.#*`'\"".contains(c));
    // `Here is the log:` is a sentence and no label: its last word counts.
    let last = words().rfind(|word| !word.bytes().all(|b| b.is_ascii_digit()));
    let count = words().count();
    let names_given = |word: &str| {
        is_speaker_word(word)
            || GIVEN.iter().any(|given| given.eq_ignore_ascii_case(word))
            || !word.chars().all(char::is_alphabetic)
    };
    // Where a label has several words, a later one has to name a speaker or an output too.
    let opens_as_speaker = words().next().is_some_and(is_speaker_word)
        && (!label.contains(' ') || words().skip(1).any(names_given) || is_notice(label));
    let ends_as_speaker = words().any(is_speaker_word)
        && last.is_some_and(|last| is_speaker_word(last) || count == 3 && names_given(last));
    plain && count <= LABEL_WORDS && (opens_as_speaker || count <= 3 && ends_as_speaker)
}

/// Whether a word names a speaker or an output.
fn is_speaker_word(word: &str) -> bool {
    is_speaker(word) || OUTPUTS.iter().any(|output| output.eq_ignore_ascii_case(word))
}

/// The first word of a label.
pub(crate) fn first_word(label: &str) -> &str {
    let end = label.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    &label[..end.unwrap_or(label.len())]
}
