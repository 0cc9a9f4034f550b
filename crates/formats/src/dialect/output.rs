//! Calls and outputs of the Responses dialect: which output answers which call, and how an output is written.

use bytes::Bytes;

use crate::render::Json;
use crate::scan::{self, inside};

/// One transparent pixel: the smallest valid screenshot.
const BLANK: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The type of an item; empty where it has none. The type mostly comes first, so the rest of a long item is not read.
pub(super) fn type_of(item: &[u8]) -> &[u8] {
    let mut members = scan::members(item, 0..item.len());
    let type_member = members.find(|member| member.is(item, "type"));
    type_member.and_then(|member| item.get(member.value)).map_or(b"", inside)
}

/// Who answers a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallAnswerer {
    /// The client, with a later item.
    Client,
    /// The provider, within the same response.
    Provider,
}

/// Who answers an item of this type; `None` for an item that is no call. `is_servers` says whether its `execution` is
/// `server`. A call of an unknown type is the client's: a call too many in front of the client does less harm than one
/// that nobody answers.
pub(crate) fn answerer(kind: &[u8], is_servers: bool) -> Option<CallAnswerer> {
    match kind {
        b"web_search_call"
        | b"file_search_call"
        | b"code_interpreter_call"
        | b"image_generation_call"
        | b"mcp_call"
        | b"program" => Some(CallAnswerer::Provider),
        b"tool_search_call" if is_servers => Some(CallAnswerer::Provider),
        b"mcp_approval_request" => Some(CallAnswerer::Client),
        _ => kind.ends_with(b"_call").then_some(CallAnswerer::Client),
    }
}

/// Whether an item of this type can be a call that another item answers.
pub(super) fn is_call(kind: &[u8]) -> bool {
    answerer(kind, false).is_some()
}

/// Whether an item of this type can be an output, which answers a call.
pub(crate) fn is_output(kind: &[u8]) -> bool {
    kind.ends_with(b"_output") || kind == b"mcp_approval_response"
}

/// Whether an item of this type pairs by its own `id` where it has no `call_id`.
pub(super) fn pairs_by_item(kind: &[u8]) -> bool {
    kind.starts_with(b"mcp_approval_") || kind.starts_with(b"local_shell_call")
}

/// Whether an output of this type is more than a text, so that no text can replace it.
pub(super) fn is_structured(kind: &[u8]) -> bool {
    matches!(
        kind,
        b"computer_call_output"
            | b"shell_call_output"
            | b"tool_search_output"
            | b"mcp_approval_response"
    )
}

/// Whether an output of type `output` answers a call of type `call`. A call of an unknown type takes any output. So
/// does the older shell call, to which Codex sends the output of a function.
pub(super) fn answers(call: &[u8], output: &[u8]) -> bool {
    let wanted: &[u8] = match call {
        b"function_call" => b"function_call_output",
        b"custom_tool_call" => b"custom_tool_call_output",
        b"shell_call" => b"shell_call_output",
        b"apply_patch_call" => b"apply_patch_call_output",
        b"computer_call" => b"computer_call_output",
        b"tool_search_call" => b"tool_search_output",
        b"mcp_approval_request" => b"mcp_approval_response",
        _ => return true,
    };
    wanted == output
}

/// Writes `text` as the output of the call `id`. `kind` is the type of the call, or that of another output of the same
/// call.
pub(super) fn made_output(kind: &[u8], id: &str, text: &str) -> Bytes {
    let kind = std::str::from_utf8(kind).unwrap_or_default();
    let (kind, id_name) = match kind {
        "mcp_approval_request" | "mcp_approval_response" => {
            ("mcp_approval_response".to_owned(), "approval_request_id")
        }
        "local_shell_call" | "local_shell_call_output" => {
            ("local_shell_call_output".to_owned(), "id")
        }
        "tool_search_call" | "tool_search_output" => ("tool_search_output".to_owned(), "call_id"),
        "" | "message" => ("function_call_output".to_owned(), "call_id"),
        output if output.ends_with("_output") => (output.to_owned(), "call_id"),
        call => (format!("{call}_output"), "call_id"),
    };
    let json = Json::default().raw(r#"{"type":"#).text(&kind).raw(r#",""#).raw(id_name);
    let json = json.raw(r#"":"#).text(id);
    let json = match kind.as_str() {
        "computer_call_output" => {
            // This output has no place for a text.
            let json = json.raw(r#","output":{"type":"computer_screenshot","image_url":"#);
            json.text(BLANK).raw("}")
        }
        "shell_call_output" => {
            // The output is made up for a call that got none, so it must not look like a success.
            let json = json.raw(r#","output":[{"stdout":"","stderr":"#).text(text);
            json.raw(r#","outcome":{"type":"exit","exit_code":1}}]"#)
        }
        "tool_search_output" => {
            json.raw(r#","execution":"client","status":"completed","tools":[]"#)
        }
        "mcp_approval_response" => json.raw(r#","approve":false,"reason":"#).text(text),
        "apply_patch_call_output" => json.raw(r#","status":"failed","output":"#).text(text),
        _ => json.raw(r#","output":"#).text(text),
    };
    json.raw("}").finish()
}

#[cfg(test)]
mod tests {
    use super::super::OpenAiResponses;
    use midfold_core::{BlockKind, Dialect};

    #[test]
    fn every_call_has_an_output_of_its_own_type() {
        for (call, output) in [
            (
                r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#,
                "function_call_output",
            ),
            (
                r#"{"type":"custom_tool_call","call_id":"c","name":"f","input":"x"}"#,
                "custom_tool_call_output",
            ),
            (
                r#"{"type":"local_shell_call","id":"c","action":{"command":["ls"]}}"#,
                "local_shell_call_output",
            ),
            (
                r#"{"type":"shell_call","call_id":"c","action":{"commands":["ls"]}}"#,
                "shell_call_output",
            ),
            (
                r#"{"type":"computer_call","call_id":"c","action":{"type":"click"}}"#,
                "computer_call_output",
            ),
            (
                r#"{"type":"apply_patch_call","call_id":"c","operation":{}}"#,
                "apply_patch_call_output",
            ),
            (
                r#"{"type":"tool_search_call","call_id":"c","arguments":{"q":"x"}}"#,
                "tool_search_output",
            ),
            (
                r#"{"type":"mcp_approval_request","id":"c","name":"f","arguments":"{}"}"#,
                "mcp_approval_response",
            ),
            (r#"{"type":"new_kind_call","call_id":"c"}"#, "new_kind_call_output"),
        ] {
            let view = OpenAiResponses.view(call.as_bytes());
            let BlockKind::Call { id: Some(id), .. } = view.blocks[0].kind else {
                panic!("{call} is a call")
            };
            let id = id.decode(call.as_bytes());
            let message = OpenAiResponses.made_result(call.as_bytes(), &id, "", "none");
            let text = std::str::from_utf8(&message).unwrap();
            assert!(text.starts_with(&format!(r#"{{"type":"{output}""#)), "{text}");
            let view = OpenAiResponses.view(&message);
            let BlockKind::Result { id: Some(answers), .. } = view.blocks[0].kind else {
                panic!("{text} is a result")
            };
            assert_eq!(answers.decode(&message), id, "{text}");
            // The type of an output leads to itself again.
            assert_eq!(OpenAiResponses.made_result(&message, &id, "", "none"), message);
            assert!(
                message.len() < 300
                    && crate::scan::get(&message, 0..message.len(), "type").is_some()
            );
        }
    }

    #[test]
    fn what_a_provider_runs_itself_stays_in_its_response() {
        for item in [
            r#"{"type":"tool_search_call","id":"t","call_id":null,"execution":"server"}"#,
            r#"{"type":"tool_search_output","id":"u","call_id":null,"execution":"server","tools":[]}"#,
            r#"{"type":"web_search_call","id":"w","status":"completed"}"#,
            r#"{"type":"mcp_call","id":"m","name":"f","arguments":"{}","output":"x"}"#,
        ] {
            let view = OpenAiResponses.view(item.as_bytes());
            assert_eq!(view.role, midfold_core::Role::Assistant, "{item}");
            assert_eq!(view.blocks[0].kind, BlockKind::Opaque, "{item}");
        }
    }
}
