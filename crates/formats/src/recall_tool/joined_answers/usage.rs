//! The usage of several answers that the client gets as one: the prompt of the last, and the output of all.

use crate::fields::ObjectFields;
use crate::vendor::rewrite::Splices;

/// The tokens of the output that an answer reports.
pub(super) fn written(body: &[u8], usage: &str, name: &str) -> u64 {
    ObjectFields::of(body, 0..body.len()).inner(usage).number(name)
}

/// The same, where the counts are beside the message.
pub(super) fn written_beside(body: &[u8], name: &str) -> u64 {
    ObjectFields::of(body, 0..body.len()).number(name)
}

/// The usage with these counts added, by name.
fn more(usage: &[u8], add: &[(&str, u64)]) -> Vec<u8> {
    let fields = ObjectFields::of(usage, 0..usage.len());
    let mut splices = Splices::default();
    for (name, more) in add.iter().filter(|(_, more)| *more > 0) {
        splices.shift(&fields, name, *more);
    }
    splices.apply(usage)
}

/// The usage for Messages. Where the end of a stream has no counts of the prompt, those from its start are added,
/// because the client saw only the start of the first answer.
pub(in crate::recall_tool) fn anthropic(
    usage: &[u8],
    start: Option<&[u8]>,
    output: u64,
) -> Vec<u8> {
    const PROMPT: [&str; 3] =
        ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let mut usage = more(usage, &[("output_tokens", output)]);
    let Some(start) = start else { return usage };
    let start = ObjectFields::of(start, 0..start.len());
    for name in PROMPT {
        let is_told = ObjectFields::of(&usage, 0..usage.len()).count(name).is_some();
        if let Some(count) = start.raw(name).filter(|_| !is_told) {
            let mut splices = Splices::default();
            splices.set(&usage, 0..usage.len(), name, count);
            usage = splices.apply(&usage);
        }
    }
    usage
}

/// The usage for Chat Completions.
pub(in crate::recall_tool) fn chat(usage: &[u8], output: u64) -> Vec<u8> {
    more(usage, &[("completion_tokens", output), ("total_tokens", output)])
}

/// A whole answer of Ollama with the output of all answers.
pub(super) fn ollama(answer: &[u8], output: u64) -> Vec<u8> {
    more(answer, &[("eval_count", output)])
}

/// The usage for Responses.
pub(in crate::recall_tool) fn responses(usage: &[u8], output: u64) -> Vec<u8> {
    more(usage, &[("output_tokens", output), ("total_tokens", output)])
}

/// The usage for Gemini, which counts reply and reasoning apart.
pub(in crate::recall_tool) fn gemini(usage: &[u8], (reply, thoughts): (u64, u64)) -> Vec<u8> {
    let all = reply + thoughts;
    let fields = [("candidatesTokenCount", reply), ("thoughtsTokenCount", thoughts)];
    more(usage, &[fields[0], fields[1], ("totalTokenCount", all)])
}
