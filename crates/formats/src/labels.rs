//! Labels in a message of the user's role that introduce somebody else's words: `Tool output:`, `[tool_result]`.

/// Words for a speaker of a transcript or for a program's output: roles and streams of the protocols.
const LABELS: &[&str] = &[
    "assistant",
    "system",
    "human",
    "user",
    "tool",
    "function",
    "developer",
    "model",
    "ai",
    "agent",
    "bot",
    "role",
    "stdout",
    "stderr",
    "output",
    "outputs",
    "result",
    "results",
    "response",
    "responses",
    "observation",
    "observations",
    "returned",
    "returns",
    "reply",
    "log",
    "logs",
    "trace",
    "traceback",
];

/// Words for what a speaker gives, as a later word of a label: `Tool call:`, `System message:`. Other words in that
/// place are headings of the user's own wishes: `Output format:`, `User preference:`.
const GIVEN: &[&str] = &[
    "call", "calls", "error", "errors", "input", "message", "messages", "prompt", "said", "says",
    "turn",
];

/// Words for what a program tells beside its output, behind its name: `System reminder:`, `[Automated message]`.
const NOTICES: &[&str] =
    &["event", "message", "note", "notice", "notification", "notifications", "reminder", "warning"];

/// The most words of a label.
const LABEL_WORDS: usize = 5;
/// The most bytes of a label.
const LABEL: usize = 80;

/// Whether a line starts with the label of somebody else's words: `Tool output:`, `Observation 3:`, `[tool_result]`,
/// `**System:**`, `## Output`.
pub(crate) fn is_label(line: &str) -> bool {
    let near = &line[..line.floor_char_boundary(LABEL)];
    let bare = near.trim_start_matches(['#', '*', '_', ' ']);
    let heading = near.starts_with('#');
    if is_hook(bare) || is_exit(bare) {
        return true;
    }
    if let Some(inner) = bare.strip_prefix('[') {
        let Some((label, behind)) = inner.split_once(']') else { return false };
        let alone = behind.trim_matches([':', ' ', '*', '\n']).is_empty();
        let coded = label.contains('_') || !label.bytes().any(|b| b.is_ascii_lowercase());
        let linked = behind.starts_with(['(', '[']);
        return !linked
            && (alone
                || coded
                || names_speaker(label)
                || speaks(Some(word(label)))
                || is_notice(label))
            && label.bytes().any(|b| b.is_ascii_alphabetic())
            && label.len() > 1
            && !label.contains(". ");
    }
    match bare.split_once(':') {
        Some((label, behind)) if !behind.starts_with("//") => {
            names_speaker(label) || behind.trim().is_empty() && heads_output(label)
        }
        _ => heading && names_speaker(bare),
    }
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

/// Whether a line tells how a program ended: `Exit code: 1`, `exitcode: 0 (execution succeeded)`.
fn is_exit(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let rest =
        ["exit code", "exitcode", "exit status"].iter().find_map(|name| lower.strip_prefix(name));
    rest.is_some_and(|rest| {
        rest.trim_start_matches([':', '*', '`', ' ', '-']).starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Whether the last of two or three words is one for what a program tells.
fn is_notice(label: &str) -> bool {
    let words = label.split_whitespace().count();
    let last = label.split_whitespace().next_back().unwrap_or_default();
    (2..=3).contains(&words) && NOTICES.iter().any(|notice| notice.eq_ignore_ascii_case(last))
}

/// Whether a label that is alone on its line names the source of what follows: `Results from search:`.
fn heads_output(label: &str) -> bool {
    let words = label.split_whitespace().count();
    (3..=LABEL_WORDS).contains(&words) && speaks(Some(word(label)))
}

/// Whether a short label names a speaker or an output.
pub(crate) fn names_speaker(label: &str) -> bool {
    let words = || label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let plain = label.chars().all(|c| c.is_alphanumeric() || " _-()/.#*`'\"".contains(c));
    // `Here is the log:` is a sentence and no label: its last word counts.
    let last = words().rfind(|word| !word.bytes().all(|b| b.is_ascii_digit()));
    let count = words().count();
    let gives = |word: &str| {
        speaks(Some(word))
            || GIVEN.iter().any(|given| given.eq_ignore_ascii_case(word))
            || !word.chars().all(char::is_alphabetic)
    };
    // Where a label has several words, a later one has to name a speaker or an output too.
    let opens = speaks(words().next())
        && (!label.contains(' ') || words().skip(1).any(gives) || is_notice(label));
    plain
        && count <= LABEL_WORDS
        && (opens
            || count <= 3
                && words().any(|word| speaks(Some(word)))
                && (speaks(last) || count == 3 && last.is_some_and(gives)))
}

/// Whether a word names a speaker or an output.
fn speaks(word: Option<&str>) -> bool {
    word.is_some_and(|word| LABELS.iter().any(|label| label.eq_ignore_ascii_case(word)))
}

/// The first word of a label.
pub(crate) fn word(label: &str) -> &str {
    let end = label.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    &label[..end.unwrap_or(label.len())]
}
