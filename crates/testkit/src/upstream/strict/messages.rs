//! The rules of Anthropic Messages.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::upstream::errors::BrokenRule;
use crate::upstream::request_parts::{AskedParts, array, parts};
use crate::upstream::stream::messages::{bound, signature, signed};

/// The most cache marks in a request.
const MAX_MARKS: usize = 4;

/// The most characters of a call's id.
const MAX_ID: usize = 64;

pub(super) fn check(request: &AskedParts) -> Result<(), BrokenRule> {
    if request.max_tokens().is_none() {
        return Err(BrokenRule::new("max_tokens: Field required"));
    }
    if request.items.is_empty() {
        return Err(BrokenRule::new("messages: at least one message is required"));
    }
    let marks = marks(&request.tools)
        + marks(&request.system)
        + request.items.iter().map(marks).sum::<usize>();
    if marks > MAX_MARKS {
        return Err(BrokenRule::new(format!(
            "A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {marks}."
        )));
    }
    blocks(request)?;
    let turns = turns(&request.items);
    check_ends(&turns)?;
    paired(&turns)?;
    instructed(&turns)?;
    thought(request, &turns)
}

/// Neighbouring messages of the same role, as one turn: the index of the first, the role, the blocks.
struct RoleTurn {
    at: usize,
    role: String,
    blocks: Vec<Value>,
}

fn turns(items: &[Value]) -> Vec<RoleTurn> {
    let mut turns: Vec<RoleTurn> = Vec::new();
    for (at, message) in items.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let blocks = parts(&message["content"]);
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.blocks.extend(blocks),
            _ => turns.push(RoleTurn { at, role: role.to_owned(), blocks }),
        }
    }
    turns
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(map) => {
            usize::from(map.get("cache_control").is_some_and(|mark| !mark.is_null()))
                + map.values().map(marks).sum::<usize>()
        }
        Value::Array(list) => list.iter().map(marks).sum(),
        _ => 0,
    }
}

/// Checks the rules for single messages.
fn blocks(request: &AskedParts) -> Result<(), BrokenRule> {
    let last = request.items.len() - 1;
    for (at, message) in request.items.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if !matches!(role, "user" | "assistant" | "system") {
            return Err(BrokenRule::new(format!(
                "messages.{at}.role: Input should be 'user', 'assistant' or 'system'"
            )));
        }
        let blocks = parts(&message["content"]);
        if blocks.is_empty() && role != "system" && !(role == "assistant" && at == last) {
            return Err(BrokenRule::new(format!(
                "messages.{at}: all messages must have non-empty content except for the optional \
                 final assistant message"
            )));
        }
        let inner = blocks.iter().flat_map(|block| array(&block["content"]));
        if blocks.iter().chain(inner).any(|b| b["type"] == "text" && b["text"] == "") {
            return Err(BrokenRule::new("messages: text content blocks must be non-empty"));
        }
        for (index, block) in blocks.iter().enumerate() {
            let id = match block["type"].as_str() {
                Some("tool_use") => &block["id"],
                Some("tool_result") => &block["tool_use_id"],
                _ => continue,
            };
            let id = id.as_str().unwrap_or_default();
            let plain = id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            if id.is_empty() || id.len() > MAX_ID || !plain {
                return Err(BrokenRule::new(format!(
                    "messages.{at}.content.{index}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                )));
            }
        }
    }
    Ok(())
}

/// Checks that the first turn is the user's, or begins with a summary, and that the last one is not the model's.
fn check_ends(turns: &[RoleTurn]) -> Result<(), BrokenRule> {
    let summary = turns[0].blocks.first().is_some_and(|block| block["type"] == "compaction");
    if turns[0].role != "user" && !summary {
        return Err(BrokenRule::new("messages: first message must use the \"user\" role"));
    }
    // The last message may be an empty system message, but not one of the assistant.
    if turns.last().is_some_and(|turn| turn.role == "assistant") {
        return Err(BrokenRule::new(
            "This model does not support assistant message prefill. The conversation must end with a \
             user message.",
        ));
    }
    Ok(())
}

fn ids<'a>(turn: &'a RoleTurn, kind: &str, key: &str) -> Vec<(usize, &'a str)> {
    let of = turn.blocks.iter().enumerate().filter(|(_, block)| block["type"] == kind);
    of.map(|(at, block)| (at, block[key].as_str().unwrap_or_default())).collect()
}

/// Checks that system messages follow a turn of the user, and that a turn of the assistant or nothing follows them.
fn instructed(turns: &[RoleTurn]) -> Result<(), BrokenRule> {
    for (at, turn) in turns.iter().enumerate().filter(|(_, turn)| turn.role == "system") {
        let follows = at > 0 && turns[at - 1].role == "user";
        let precedes = turns.get(at + 1).is_none_or(|next| next.role == "assistant");
        if !follows || !precedes {
            return Err(BrokenRule::new(format!(
                "messages.{}: `system` messages must follow a `user` message and precede an \
                 `assistant` message or end the conversation",
                turn.at
            )));
        }
    }
    Ok(())
}

/// Checks that results are in the message after their calls, before any other block of it.
fn paired(turns: &[RoleTurn]) -> Result<(), BrokenRule> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        let mut single = BTreeSet::new();
        for (index, id) in ids(turn, "tool_result", "tool_use_id") {
            if !open.contains(&id) || turn.role != "user" {
                return Err(BrokenRule::new(format!(
                    "messages.{}.content.{index}: unexpected `tool_use_id` found in `tool_result` \
                     blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block \
                     in the previous message.",
                    turn.at
                )));
            }
            if !single.insert(id) {
                return Err(BrokenRule::new(format!(
                    "messages.{}.content.{index}: each tool_use must have a single result. Found \
                     multiple `tool_result` blocks with id: {id}",
                    turn.at
                )));
            }
        }
        let results = turn.blocks.iter().take_while(|block| block["type"] == "tool_result");
        let leading: BTreeSet<_> =
            results.filter_map(|block| block["tool_use_id"].as_str()).collect();
        unanswered(&turns[at.saturating_sub(1)], &open, &leading)?;
        open.clear();
        for (index, id) in ids(turn, "tool_use", "id") {
            if !seen.insert(id) {
                return Err(BrokenRule::new(format!(
                    "messages.{}.content.{index}: `tool_use` ids must be unique",
                    turn.at
                )));
            }
            open.push(id);
        }
    }
    match turns.last() {
        Some(turn) => unanswered(turn, &open, &BTreeSet::new()),
        None => Ok(()),
    }
}

fn unanswered(turn: &RoleTurn, open: &[&str], answered: &BTreeSet<&str>) -> Result<(), BrokenRule> {
    let missing: Vec<&str> = open.iter().copied().filter(|id| !answered.contains(id)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(BrokenRule::new(format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. \
         Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        turn.at,
        missing.join(", ")
    )))
}

/// Checks that thinking is unchanged, and that it comes before the calls of the last turn.
fn thought(request: &AskedParts, turns: &[RoleTurn]) -> Result<(), BrokenRule> {
    for (at, message) in request.items.iter().enumerate() {
        for (index, block) in parts(&message["content"]).iter().enumerate() {
            if block["type"] != "thinking" {
                continue;
            }
            let given = block["signature"].as_str().unwrap_or_default();
            if !signed(given, block["thinking"].as_str().unwrap_or_default()) {
                return Err(BrokenRule::new(format!(
                    "messages.{at}.content.{index}: Invalid `signature` in `thinking` block"
                )));
            }
            if bound(given) && given != signature(request, at, block, true) {
                return Err(BrokenRule::new(format!(
                    "messages.{at}.content.{index}: Invalid `signature` in `thinking` block. The block \
                     is bound to a different conversation."
                )));
            }
        }
    }
    if !thinks(request) {
        return Ok(());
    }
    let Some(last) = turns.iter().rev().find(|turn| turn.role == "assistant") else {
        return Ok(());
    };
    let starts = last.blocks.first().map(|block| block["type"].as_str().unwrap_or_default());
    let calls = last.blocks.iter().any(|block| block["type"] == "tool_use");
    if calls && !matches!(starts, Some("thinking" | "redacted_thinking")) {
        return Err(BrokenRule::new(format!(
            "messages.{}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. \
             When `thinking` is enabled, a final `assistant` message must start with a thinking block \
             (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
            last.at,
            starts.unwrap_or_default()
        )));
    }
    Ok(())
}

/// Whether the request asks for thinking with a budget. With `adaptive` thinking the model may leave it out.
fn thinks(request: &AskedParts) -> bool {
    request.body["thinking"]["type"] == "enabled"
}
