//! Requirements of a request on its answer.

use crate::fields::ObjectFields;

/// The requirements of a request on its answer, beside its tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AnswerWishes {
    /// Whether one of the tools has to be called.
    pub is_forced: bool,
    /// Whether the text has to have a form that the request names.
    pub is_formed: bool,
}

impl AnswerWishes {
    pub(super) fn of(fields: &ObjectFields<'_>) -> Self {
        Self { is_forced: is_forced(fields), is_formed: is_formed(fields) }
    }
}

fn is_forced(fields: &ObjectFields<'_>) -> bool {
    let choice = fields.inner("tool_choice");
    // Gemini and Bedrock both call it so.
    let config = fields.inner("toolConfig");
    let bedrock = config.inner("toolChoice");
    // The choice is limited to some tools, of which one has to be called.
    let is_limited = choice.is("mode", "required")
        || choice.inner("allowed_tools").is("mode", "required")
        || fields.inner("function_call").has("name");
    fields.is("tool_choice", "required")
        || is_limited
        || ["any", "tool", "function", "custom"].iter().any(|kind| choice.is("type", kind))
        || config.inner("functionCallingConfig").is("mode", "ANY")
        || bedrock.has("any")
        || bedrock.has("tool")
}

fn is_formed(fields: &ObjectFields<'_>) -> bool {
    let is_json = |format: &ObjectFields<'_>| {
        ["json_schema", "json_object"].iter().any(|kind| format.is("type", kind))
    };
    let gemini = fields.inner("generationConfig");
    // Ollama: a schema, or the word `json`.
    let ollama = fields.is("format", "json") || fields.object("format").is_some();
    ollama
        || is_json(&fields.inner("response_format"))
        || is_json(&fields.inner("text").inner("format"))
        || is_json(&fields.inner("output_config").inner("format"))
        || is_json(&fields.inner("output_format"))
        || gemini.is("responseMimeType", "application/json")
        || ["responseSchema", "responseJsonSchema"].iter().any(|name| gemini.has(name))
}
