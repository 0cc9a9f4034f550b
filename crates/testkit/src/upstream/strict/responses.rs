//! The rules of Responses.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::upstream::errors::BrokenRule;
use crate::upstream::request_parts::AskedParts;
use crate::upstream::stream::responses::{reasoning_of, sealed};

/// The most characters of a call's id.
const MAX_ID: usize = 64;

pub(super) fn check(request: &AskedParts) -> Result<(), BrokenRule> {
    let items = &request.items;
    if items.is_empty() {
        return Err(BrokenRule::at("Missing required parameter: 'input'.", "input".to_owned()));
    }
    let added = items.iter().any(|item| item["type"] == "additional_tools");
    if request.tools.as_array().is_some_and(Vec::is_empty) && !added {
        return Err(BrokenRule::at("[] is too short - 'tools'", "tools".to_owned()));
    }
    let mut ids = BTreeSet::new();
    let mut calls = BTreeSet::new();
    let mut answered = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        identified(request, item, kind, at, &mut ids)?;
        let call = item["call_id"].as_str().unwrap_or_default();
        if kind == "reasoning" {
            followed(items, at)?;
        } else if is_call(kind) {
            if call.is_empty() || call.len() > MAX_ID {
                return Err(BrokenRule::at(
                    format!(
                        "Invalid 'input[{at}].call_id': string too long. Expected a string with \
                             maximum length {MAX_ID}, but got a string with length {} instead.",
                        call.len()
                    ),
                    format!("input[{at}].call_id"),
                ));
            }
            if !calls.insert(call) {
                return Err(input(format!("Duplicate function call with call_id {call}.")));
            }
        } else if kind.ends_with("_call_output") {
            if !calls.contains(call) {
                return Err(input(format!(
                    "No tool call found for function call output with call_id {call}."
                )));
            }
            if !answered.insert(call) {
                return Err(input(format!("Duplicate function call output with call_id {call}.")));
            }
        } else if kind == "message" {
            spoken(item, at)?;
        }
    }
    match calls.iter().find(|call| !answered.contains(*call)) {
        Some(call) => Err(input(format!("No tool output found for function call {call}."))),
        None => Ok(()),
    }
}

fn input(message: String) -> BrokenRule {
    BrokenRule::at(message, "input".to_owned())
}

fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "shell_call"
            | "apply_patch_call"
            | "computer_call"
    )
}

/// Checks that an id begins as its kind requires, is unique, and comes after the reasoning item that it was made with.
fn identified<'a>(
    request: &AskedParts,
    item: &'a Value,
    kind: &str,
    at: usize,
    ids: &mut BTreeSet<&'a str>,
) -> Result<(), BrokenRule> {
    let Some(id) = item["id"].as_str() else { return Ok(()) };
    let start = match kind {
        "function_call" => "fc",
        "reasoning" => "rs",
        "custom_tool_call" => "ctc",
        "message" if item["role"] == "assistant" => "msg",
        _ => "",
    };
    if !id.starts_with(start) {
        return Err(BrokenRule::at(
            format!("Invalid 'input[{at}].id': '{id}'. Expected an ID that begins with '{start}'."),
            format!("input[{at}].id"),
        ));
    }
    if kind == "reasoning" {
        match item["encrypted_content"].as_str() {
            Some(sealed_content) if id.starts_with("rs_") && sealed_content != sealed(id) => {
                return Err(input(format!(
                    "The encrypted content for item {id} could not be verified. Reason: Encrypted \
                     content item_id did not match the target item id."
                )));
            }
            None if request.body["store"] == false => {
                return Err(input(format!(
                    "Item with id '{id}' not found. Items are not persisted when `store` is set to \
                     false. Try again with `store` set to true, or remove this item from your input."
                )));
            }
            _ => {}
        }
    }
    if !ids.insert(id) {
        return Err(input(format!(
            "Duplicate item found with id {id}. Remove duplicate items from your input and try again."
        )));
    }
    if let Some(reasoning) = reasoning_of(id)
        && !ids.contains(reasoning.as_str())
    {
        return Err(input(format!(
            "Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: \
             '{reasoning}'."
        )));
    }
    Ok(())
}

/// Checks that the item after a reasoning item is one that the model made with it.
fn followed(items: &[Value], at: usize) -> Result<(), BrokenRule> {
    // This server makes one reasoning item for each reply, so two in a row mean that the items between them are lost.
    let is_followed = items.get(at + 1).is_some_and(|item| {
        let kind = item["type"].as_str().unwrap_or("message");
        is_call(kind)
            || kind == "message" && item["role"] == "assistant"
            || kind.ends_with("_search_call")
    });
    if is_followed {
        return Ok(());
    }
    Err(input(format!(
        "Item '{}' of type 'reasoning' was provided without its required following item.",
        items[at]["id"].as_str().unwrap_or_default()
    )))
}

/// Checks that users send `input_text` and assistants `output_text`.
fn spoken(item: &Value, at: usize) -> Result<(), BrokenRule> {
    let assistant = item["role"] == "assistant";
    let Some(parts) = item["content"].as_array() else {
        if item["content"].is_string() {
            return Ok(());
        }
        return Err(BrokenRule::at(
            format!("Missing required parameter: 'input[{at}].content'."),
            format!("input[{at}].content"),
        ));
    };
    for (index, part) in parts.iter().enumerate() {
        let kind = part["type"].as_str().unwrap_or_default();
        if assistant != matches!(kind, "output_text" | "refusal") {
            let supported = if assistant {
                "'output_text' and 'refusal'"
            } else {
                "'input_text', 'input_image', and 'input_file'"
            };
            let param = format!("input[{at}].content[{index}]");
            return Err(BrokenRule::at(
                format!("Invalid value: '{kind}'. Supported values are: {supported}."),
                param,
            ));
        }
    }
    Ok(())
}

/// Checks that results follow their calls without other items between.
pub(super) fn adjacent(request: &AskedParts) -> Result<(), BrokenRule> {
    let mut open: Vec<&str> = Vec::new();
    for item in &request.items {
        let kind = item["type"].as_str().unwrap_or("message");
        let call = item["call_id"].as_str().unwrap_or_default();
        if is_call(kind) {
            open.push(call);
        } else if kind.ends_with("_call_output") {
            open.retain(|known| *known != call);
        } else if let Some(call) = open.first() {
            return Err(input(format!("No tool output found for function call {call}.")));
        }
    }
    Ok(())
}
