//! The rules of Chat Completions.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::upstream::errors::BrokenRule;
use crate::upstream::request_parts::{AskedParts, array};

/// The most characters of a call's id.
const MAX_ID: usize = 40;

pub(super) fn check(request: &AskedParts) -> Result<(), BrokenRule> {
    if request.items.is_empty() {
        let text = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got \
                    an empty array instead.";
        return Err(BrokenRule::at(text, "messages".to_owned()));
    }
    if request.tools.as_array().is_some_and(Vec::is_empty) {
        let text = "[] is too short - 'tools'";
        return Err(BrokenRule::at(text, "tools".to_owned()));
    }
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in request.items.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            answers(message, at, &mut open)?;
            continue;
        }
        answered(&open)?;
        match role {
            "system" | "developer" | "user" | "function" => filled(message, at)?,
            "assistant" => open = calls(message, at, &mut seen)?,
            _ => {
                let text = format!(
                    "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', \
                     'function', 'tool', and 'developer'."
                );
                return Err(BrokenRule::at(text, format!("messages[{at}].role")));
            }
        }
    }
    answered(&open)
}

/// The ids of a message's calls. Each has to be new.
fn calls<'a>(
    message: &'a Value,
    at: usize,
    seen: &mut BTreeSet<&'a str>,
) -> Result<Vec<&'a str>, BrokenRule> {
    let calls = array(&message["tool_calls"]);
    if message["tool_calls"].is_array() && calls.is_empty() {
        let text = format!(
            "Invalid 'messages[{at}].tool_calls': empty array. Expected an array with minimum length \
             1, but got an empty array instead."
        );
        return Err(BrokenRule::at(text, format!("messages[{at}].tool_calls")));
    }
    if calls.is_empty()
        && message["function_call"].is_null()
        && message["audio"].is_null()
        && message["refusal"].is_null()
    {
        filled(message, at)?;
    }
    let mut ids = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let param = |name: &str| format!("messages[{at}].tool_calls[{index}].{name}");
        let id = call["id"].as_str().unwrap_or_default();
        if id.is_empty() || id.len() > MAX_ID {
            let text = format!(
                "Invalid '{}': string too long. Expected a string with maximum length {MAX_ID}, but \
                 got a string with length {} instead.",
                param("id"),
                id.len()
            );
            return Err(BrokenRule::at(text, param("id")));
        }
        if call["type"] == "function" && !call["function"]["arguments"].is_string() {
            let text =
                format!("Invalid type for '{}': expected a string.", param("function.arguments"));
            return Err(BrokenRule::at(text, param("function.arguments")));
        }
        if !seen.insert(id) {
            let text = format!("Duplicate value for 'tool_call_id' of '{id}' in message[{at}]");
            return Err(BrokenRule::at(text, param("id")));
        }
        ids.push(id);
    }
    Ok(ids)
}

fn answers<'a>(message: &'a Value, at: usize, open: &mut Vec<&'a str>) -> Result<(), BrokenRule> {
    let id = message["tool_call_id"].as_str().unwrap_or_default();
    let Some(index) = open.iter().position(|known| *known == id) else {
        let text = "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
                    message with 'tool_calls'.";
        return Err(BrokenRule::at(text, format!("messages.[{at}].role")));
    };
    open.remove(index);
    filled(message, at)
}

fn answered(open: &[&str]) -> Result<(), BrokenRule> {
    if open.is_empty() {
        return Ok(());
    }
    let text = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
         'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        open.join(", ")
    );
    Err(BrokenRule::at(text, "messages".to_owned()))
}

fn filled(message: &Value, at: usize) -> Result<(), BrokenRule> {
    match &message["content"] {
        Value::String(_) => Ok(()),
        Value::Array(parts) if !parts.is_empty() => Ok(()),
        _ => {
            let text = format!(
                "Invalid value for 'content': expected a string, got null. (messages[{at}])"
            );
            Err(BrokenRule::at(text, format!("messages.[{at}].content")))
        }
    }
}

/// The rules of chat templates of open models: roles alternate, and either all messages of the assistant have reasoning
/// or none has.
pub(super) fn alternates(request: &AskedParts) -> Result<(), BrokenRule> {
    let messages = || request.items.iter().enumerate().filter(|(_, m)| m["role"] == "assistant");
    let thinks = messages().any(|(_, message)| message["reasoning_content"].is_string());
    let mute = messages().find(|(_, message)| !message["reasoning_content"].is_string());
    if let Some((at, _)) = mute.filter(|_| thinks) {
        return Err(BrokenRule::new(format!(
            "Missing `reasoning_content` field in the assistant message at message index {at}"
        )));
    }
    let roles = request.items.iter().map(|message| message["role"].as_str().unwrap_or_default());
    let mut last = "";
    for (at, role) in roles.enumerate() {
        let wrong = match (last, role) {
            (_, "system" | "developer") => at > 0,
            ("", "user") | ("system" | "developer", "user") => false,
            ("user" | "tool", "assistant") | ("assistant" | "tool", "tool") => false,
            ("assistant", "user") => false,
            _ => true,
        };
        if wrong && matches!(last, "tool" | "user") {
            return Err(BrokenRule {
                code: Some("3230"),
                ..BrokenRule::new(format!("Unexpected role '{role}' after role '{last}'"))
            });
        }
        if wrong {
            return Err(BrokenRule::new(
                "After the optional system message, conversation roles must alternate user and \
                 assistant roles except for tool calls and results.",
            ));
        }
        last = role;
    }
    Ok(())
}
