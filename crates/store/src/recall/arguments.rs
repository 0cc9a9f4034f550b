//! Formats the arguments of a call for a person: one `key: value` on each line, and edits as diffs.

use std::fmt;

use midfold_core::tools::{CallFacts, ToolKind};
use midfold_core::view::plain_arguments;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::diff;

/// The argument names for a replaced text and its replacement, in tools that edit files.
const PAIRS: [(&str, &str); 8] = [
    ("old_string", "new_string"),
    ("oldText", "newText"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("oldString", "newString"),
    ("old_content", "new_content"),
    ("search", "replace"),
    ("old", "new"),
];
/// The first pairs in `PAIRS` mean an edit in any tool. The others are plain words, so they count only in tools that
/// edit.
const CERTAIN: usize = 6;
/// Arguments that name the file of an edit.
const PATHS: [&str; 7] =
    ["file_path", "path", "filePath", "target_file", "filename", "file", "notebook_path"];

/// A JSON value whose members keep the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ArgumentNode {
    Text(String),
    /// A number, `true`, `false` or `null`.
    Bare(String),
    List(Vec<ArgumentNode>),
    Object(Vec<(String, ArgumentNode)>),
}

impl ArgumentNode {
    /// Reads the arguments of a call: a JSON value, or a string that holds an object. `None` where they are not JSON.
    pub(super) fn read(arguments: &str) -> Option<Self> {
        match serde_json::from_str(arguments).ok()? {
            Self::Text(inner) => match serde_json::from_str(&inner) {
                Ok(object @ Self::Object(_)) => Some(object),
                _ => Some(Self::Text(inner)),
            },
            node => Some(node),
        }
    }

    fn member(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, v)| v),
            _ => None,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Bare(text) => Some(text),
            _ => None,
        }
    }

    /// The value as text, without quotes and escapes, and without line breaks of its own.
    fn inline(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match self {
            Self::Text(text) | Self::Bare(text) => text.clone(),
            Self::List(items) => format!("[{}]", joined(items.iter().map(Self::inline).collect())),
            Self::Object(members) => joined(
                members.iter().map(|(key, value)| format!("{key}: {}", value.inline())).collect(),
            ),
        }
    }

    /// The first string in the value. For a call of an unknown tool, it says what the call is about.
    pub(super) fn first_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bare(_) => None,
            Self::List(items) => items.iter().find_map(Self::first_text),
            Self::Object(members) => members.iter().find_map(|(_, value)| value.first_text()),
        }
    }
}

/// The arguments of a call in readable form. Arguments that are not JSON, such as a patch or a script, stay as they
/// are.
pub fn readable(arguments: &str, facts: &CallFacts) -> String {
    let Some(node) = ArgumentNode::read(arguments) else {
        return plain_arguments(arguments).trim_end_matches('\n').to_owned();
    };
    match &node {
        ArgumentNode::Object(members) => object(&node, members, facts),
        other => other.inline(),
    }
}

/// Formats an object: short values first, then long ones, then edits as diffs.
fn object(node: &ArgumentNode, members: &[(String, ArgumentNode)], facts: &CallFacts) -> String {
    let edits = edits(node, facts);
    let of_edit = |key: &str| {
        !edits.is_empty()
            && (PATHS.contains(&key) || PAIRS.iter().any(|(a, b)| *a == key || *b == key))
    };
    let (mut short, mut long) = (Vec::new(), Vec::new());
    for (key, value) in members {
        if of_edit(key) || (!edits.is_empty() && !pairs_of(value, facts).is_empty()) {
            continue;
        }
        match value {
            ArgumentNode::List(items)
                if items.iter().any(|item| matches!(item, ArgumentNode::Object(_))) =>
            {
                let lines = items.iter().map(|item| format!("- {}", item.inline()));
                long.push(format!("{key}:\n{}", lines.collect::<Vec<_>>().join("\n")));
            }
            value => {
                let value = value.inline();
                let value = value.trim_end_matches('\n');
                match value.contains('\n') {
                    true => long.push(format!("{key}:\n{value}")),
                    false => short.push(format!("{key}: {value}")),
                }
            }
        }
    }
    // Values of several lines come last, so that no other line looks like a part of them.
    short.append(&mut long);
    if !edits.is_empty() {
        short.push(format!("--- {}", path_of(node, facts)));
        short.extend(edits.iter().map(|(old, new)| diff::lines(old, new)));
    }
    short.join("\n")
}

/// The file of an edit; empty where the arguments name none.
fn path_of(node: &ArgumentNode, facts: &CallFacts) -> String {
    let named = PATHS.iter().find_map(|key| node.member(key)?.text());
    named.map(str::to_owned).or_else(|| facts.writes.first().cloned()).unwrap_or_default()
}

/// The replaced texts of a call and their replacements, in order.
fn edits<'a>(node: &'a ArgumentNode, facts: &CallFacts) -> Vec<(&'a str, &'a str)> {
    let mut pairs = pairs_of(node, facts);
    if let ArgumentNode::Object(members) = node {
        for (_, value) in members {
            pairs.extend(pairs_of(value, facts));
        }
    }
    pairs
}

/// The pairs in an object, or in a list of objects that have one pair each.
fn pairs_of<'a>(node: &'a ArgumentNode, facts: &CallFacts) -> Vec<(&'a str, &'a str)> {
    let known = if facts.kind == ToolKind::Edit { &PAIRS[..] } else { &PAIRS[..CERTAIN] };
    let pair = |node: &'a ArgumentNode| {
        known.iter().find_map(|(old, new)| {
            let old = node.member(old)?.text()?;
            Some((old, node.member(new).and_then(ArgumentNode::text).unwrap_or_default()))
        })
    };
    match node {
        ArgumentNode::Object(_) => pair(node).into_iter().collect(),
        ArgumentNode::List(items) => {
            // One item without a pair means a list of something else, which is then shown as it is.
            items.iter().map(pair).collect::<Option<Vec<_>>>().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

impl<'de> Deserialize<'de> for ArgumentNode {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NodeReader)
    }
}

struct NodeReader;

impl<'de> Visitor<'de> for NodeReader {
    type Value = ArgumentNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<ArgumentNode, E> {
        Ok(ArgumentNode::Bare(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<ArgumentNode, E> {
        Ok(ArgumentNode::Bare(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<ArgumentNode, E> {
        Ok(ArgumentNode::Bare(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<ArgumentNode, E> {
        Ok(ArgumentNode::Bare(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<ArgumentNode, E> {
        Ok(ArgumentNode::Text(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<ArgumentNode, E> {
        Ok(ArgumentNode::Bare("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ArgumentNode, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(ArgumentNode::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ArgumentNode, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(ArgumentNode::Object(members))
    }
}
