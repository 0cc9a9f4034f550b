//! Labels in a message of the user's role by which somebody else's words begin: `Tool output:`, `[tool_result]`.

/// Who speaks in a transcript, and what a program gives: roles and streams of the protocols.
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

/// What one of them gives, as a later word of a label: `Tool call:`, `System message:`. With other words
/// people head what they want: `Output format:`, `User preference:`.
const GIVEN: &[&str] = &[
    "call", "calls", "error", "errors", "input", "message", "messages", "prompt", "said", "says",
    "turn",
];

/// Most words of a label.
const LABEL_WORDS: usize = 5;
/// Longest label, in bytes.
const LABEL: usize = 80;

/// Whether a line starts with the label of somebody else's words: `Tool output:`, `Observation 3:`,
/// `[tool_result]`, `**System:**`, `## Output`.
pub(crate) fn is_label(line: &str) -> bool {
    let near = &line[..line.floor_char_boundary(LABEL)];
    let bare = near.trim_start_matches(['#', '*', '_', ' ']);
    let heading = near.starts_with('#');
    if let Some(inner) = bare.strip_prefix('[') {
        let Some((label, behind)) = inner.split_once(']') else { return false };
        let alone = behind.trim_matches([':', ' ', '*', '\n']).is_empty();
        let coded = label.contains('_') || !label.bytes().any(|b| b.is_ascii_lowercase());
        let linked = behind.starts_with(['(', '[']);
        return !linked
            && (alone || coded || names_speaker(label) || speaks(Some(word(label))))
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

/// Whether a label that is alone on its line says where from what follows is: `Results from search:`.
fn heads_output(label: &str) -> bool {
    let words = label.split_whitespace().count();
    (3..=LABEL_WORDS).contains(&words) && speaks(Some(word(label)))
}

/// Whether a short label has one of the words by which others speak.
pub(crate) fn names_speaker(label: &str) -> bool {
    let words = || label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let plain = label.chars().all(|c| c.is_alphanumeric() || " _-()/.#*`'\"".contains(c));
    // `Here is the log:` is a sentence.
    let last = words().rfind(|word| !word.bytes().all(|b| b.is_ascii_digit()));
    let count = words().count();
    let gives = |word: &str| {
        speaks(Some(word))
            || GIVEN.iter().any(|given| given.eq_ignore_ascii_case(word))
            || !word.chars().all(char::is_alphabetic)
    };
    // Of several words a later one has to say it, too.
    let opens = speaks(words().next()) && (!label.contains(' ') || words().skip(1).any(gives));
    plain
        && count <= LABEL_WORDS
        && (opens
            || count <= 3
                && words().any(|word| speaks(Some(word)))
                && (speaks(last) || count == 3 && last.is_some_and(gives)))
}

/// Whether a word is one by which others speak.
fn speaks(word: Option<&str>) -> bool {
    word.is_some_and(|word| LABELS.iter().any(|label| label.eq_ignore_ascii_case(word)))
}

/// The word that a label starts with.
pub(crate) fn word(label: &str) -> &str {
    let end = label.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    &label[..end.unwrap_or(label.len())]
}
