//! What a conversation says, whatever it is written in: to compare it with what a conversion made.

use bytes::Bytes;
use midfold_core::{BlockKind, Role, TextRef};
use midfold_formats::{DialectKind, convert};
use serde_json::Value;

/// All that one side says in a row.
#[derive(Debug, Default, PartialEq)]
pub struct Turn {
    model: bool,
    reasoning: Vec<String>,
    text: String,
    calls: Vec<(String, String, Value)>,
    results: Vec<(String, String, bool)>,
    /// Sizes of what can be seen.
    media: Vec<u32>,
}

impl Turn {
    /// Without texts that hold nothing.
    pub fn without_blanks(&mut self) {
        self.reasoning.retain(|text| !text.is_empty());
    }
}

/// The leading system text, and the turns.
pub fn said(kind: DialectKind, messages: &[Bytes]) -> (String, Vec<Turn>) {
    let (mut system, mut turns) = (Vec::new(), Vec::<Turn>::new());
    for bytes in messages {
        let view = kind.dialect().view(bytes);
        // A role that no provider knows is left out, and told of.
        if view.role == Role::Other {
            continue;
        }
        if view.role.is_system() && turns.is_empty() {
            system.push(view.plain(bytes).into_owned());
            continue;
        }
        let model = view.role == Role::Assistant;
        if turns.last().is_none_or(|turn| turn.model != model) {
            turns.push(Turn { model, ..Turn::default() });
        }
        let Some(turn) = turns.last_mut() else { continue };
        for block in &view.blocks {
            let text = block.text(bytes).into_owned();
            let label = |label: &Option<TextRef>| {
                label.map(|l| l.decode(bytes).into_owned()).unwrap_or_default()
            };
            turn.media.extend(block.media.iter().map(|media| media.size));
            match &block.kind {
                BlockKind::Call { id, name } => {
                    turn.calls.push((label(id), label(name), object(&text)));
                }
                BlockKind::Result { id, error, .. } => {
                    turn.results.push((label(id), text, *error == Some(true)));
                }
                BlockKind::Reasoning { .. } => turn.reasoning.push(text),
                _ if text.trim().is_empty() => {}
                _ if turn.text.is_empty() => turn.text = text,
                _ => turn.text += &format!("\n{text}"),
            }
        }
    }
    (system.join("\n\n"), turns)
}

/// Arguments that are no object are wrapped in one.
fn object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ if arguments.trim().is_empty() => serde_json::json!({}),
        _ => serde_json::json!({ "arguments": arguments }),
    }
}

/// Converts a conversation to a dialect and back to Chat Completions, and compares it with what it was.
/// What the dialect cannot say is left out on both sides.
pub fn there_and_back(from: DialectKind, messages: &[Bytes], to: DialectKind) {
    let chat = DialectKind::OpenAiChat;
    let convert = |messages: &[Bytes], from: DialectKind, to: DialectKind| {
        let views: Vec<_> = messages.iter().map(|bytes| from.dialect().view(bytes)).collect();
        let pairs: Vec<_> = messages.iter().map(|bytes| &bytes[..]).zip(&views).collect();
        convert::convert_all(&pairs, from, to)
    };
    let there = convert(messages, from, to);
    let back = convert(&there.messages, to, chat);
    let (system, mut before) = said(chat, &convert(messages, from, chat).messages);
    let (none, after) = said(chat, &back.messages);
    assert_eq!(there.system.unwrap_or_default(), system, "{to}");
    assert_eq!(none, "");
    for turn in &mut before {
        sayable(turn, to);
    }
    before.retain(|turn| *turn != Turn { model: turn.model, ..Turn::default() });
    let before = joined(before);
    assert_eq!(before.len(), after.len(), "{to}");
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after, "{to}");
    }
}

/// Turns of one side that came together.
fn joined(turns: Vec<Turn>) -> Vec<Turn> {
    let mut out = Vec::<Turn>::new();
    for turn in turns {
        match out.last_mut() {
            Some(last) if last.model == turn.model => {
                let texts = [std::mem::take(&mut last.text), turn.text];
                last.text =
                    texts.into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join("\n");
                last.reasoning.extend(turn.reasoning);
                last.calls.extend(turn.calls);
                last.results.extend(turn.results);
                last.media.extend(turn.media);
            }
            _ => out.push(turn),
        }
    }
    out
}

/// A turn without what the dialect has no words for.
fn sayable(turn: &mut Turn, to: DialectKind) {
    turn.reasoning.retain(|text| to == DialectKind::Gemini && !text.trim().is_empty());
    // Chat Completions has one member for all of it.
    let reasoning = turn.reasoning.join("\n");
    turn.reasoning = Some(reasoning).filter(|text| !text.is_empty()).into_iter().collect();
    for (_, text, error) in &mut turn.results {
        // Chat Completions has no mark for an error.
        *error = false;
        if to == DialectKind::Bedrock && text.trim().is_empty() {
            "(empty)".clone_into(text);
        }
    }
}
