//! The rules of Gemini.

use serde_json::Value;

use crate::upstream::errors::BrokenRule;
use crate::upstream::request_parts::{AskedParts, array};

pub(super) fn check(request: &AskedParts) -> Result<(), BrokenRule> {
    let items = &request.items;
    let Some(first) = items.first() else {
        return Err(BrokenRule::new(
            "* GenerateContentRequest.contents: contents is not specified",
        ));
    };
    if side(first) != "user" {
        return Err(BrokenRule::new(
            "Please ensure that multiturn requests start with a user turn and alternate between user \
             and model.",
        ));
    }
    for (at, content) in items.iter().enumerate() {
        if array(&content["parts"]).is_empty() {
            return Err(BrokenRule::new(format!(
                "* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty."
            )));
        }
        let before = at.checked_sub(1).map(|at| &items[at]);
        let (calls, results) = (count(content, "functionCall"), count(content, "functionResponse"));
        let called = before.map_or(0, |content| count(content, "functionCall"));
        if results > 0 && called == 0 {
            return Err(BrokenRule::new(
                "Please ensure that function response turn comes immediately after a function call \
                 turn.",
            ));
        }
        if (results > 0 || called > 0) && results != called {
            return Err(BrokenRule::new(
                "Please ensure that the number of function response parts is equal to the number of \
                 function call parts of the function call turn.",
            ));
        }
        if results > 0 {
            named(before, content)?;
        }
        if calls > 0 && before.is_none_or(|content| side(content) != "user") {
            return Err(BrokenRule::new(
                "Please ensure that function call turn comes immediately after a user turn or after a \
                 function response turn.",
            ));
        }
    }
    if items.last().is_some_and(|content| count(content, "functionCall") > 0) {
        return Err(BrokenRule::new(
            "Please ensure that function call turn is followed by a function response turn.",
        ));
    }
    signatures(items)
}

/// Checks that roles alternate. Google required that once; now its own CLI sends two contents of the user in a row.
pub(super) fn alternates(request: &AskedParts) -> Result<(), BrokenRule> {
    if request.items.windows(2).all(|pair| side(&pair[0]) != side(&pair[1])) {
        return Ok(());
    }
    Err(BrokenRule::new("Please ensure that multiturn requests alternate between user and model."))
}

fn side(content: &Value) -> &str {
    match content["role"].as_str() {
        Some("model") => "model",
        _ => "user",
    }
}

fn count(content: &Value, kind: &str) -> usize {
    array(&content["parts"]).iter().filter(|part| !part[kind].is_null()).count()
}

/// Checks that the responses are for the functions that were called.
fn named(before: Option<&Value>, content: &Value) -> Result<(), BrokenRule> {
    let names = |content: &Value, kind: &str| {
        let mut names: Vec<String> = array(&content["parts"])
            .iter()
            .filter_map(|part| part[kind]["name"].as_str().map(str::to_owned))
            .collect();
        names.sort();
        names
    };
    let called = before.map(|before| names(before, "functionCall")).unwrap_or_default();
    if called == names(content, "functionResponse") {
        return Ok(());
    }
    Err(BrokenRule::new(
        "Please ensure that the function response names match the function call names of the function \
         call turn.",
    ))
}

/// Checks that the first call of each step has a signature, since the user's last text.
fn signatures(items: &[Value]) -> Result<(), BrokenRule> {
    let spoken =
        |content: &Value| side(content) == "user" && count(content, "functionResponse") == 0;
    let start = items.iter().rposition(spoken).unwrap_or(0);
    for content in &items[start..] {
        let mut parts = array(&content["parts"]).iter().enumerate();
        let Some((at, part)) = parts.find(|(_, part)| !part["functionCall"].is_null()) else {
            continue;
        };
        let signature = part["thoughtSignature"].as_str().or(part["thought_signature"].as_str());
        match signature {
            None => {
                return Err(BrokenRule::new(format!(
                    "Function call is missing a thought_signature in functionCall parts. This is \
                     required for tools to work correctly. Additional data, function call \
                     `default_api:{}`, position {at}.",
                    part["functionCall"]["name"].as_str().unwrap_or_default()
                )));
            }
            Some(text) if !known(text) => {
                return Err(BrokenRule::new("Corrupted thought signature."));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn known(signature: &str) -> bool {
    signature.starts_with(crate::upstream::stream::gemini::SIGNATURE)
        || signature == "skip_thought_signature_validator"
}
