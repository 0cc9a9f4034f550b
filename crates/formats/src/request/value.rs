//! Recognises a client that asks the model about its conversation: whether it goes in circles, who speaks next, what
//! its title is. Such a request has a part of the history and wants a value of a given form, and no work.

use std::ops::Range;

use midfold_core::view::BlockKind;

use super::Request;
use super::answer_wishes::AnswerWishes;
use crate::fields::ObjectFields;
use crate::own_tools::OwnTool;
use crate::scan;

impl Request {
    /// Whether the answer can only be a value of a form that the request names: text by a schema, without tools (Gemini
    /// CLI), or the call of the only tool (Qwen Code).
    ///
    /// ```
    /// use midfold_formats::{DialectKind, request::Request};
    /// let body = r#"{"contents":[],"generationConfig":{"responseMimeType":"application/json"}}"#;
    /// assert!(Request::read(DialectKind::Gemini, body.into())?.asks_for_a_value());
    /// # Ok::<(), midfold_formats::request::RequestError>(())
    /// ```
    #[must_use]
    pub fn asks_for_a_value(&self) -> bool {
        let AnswerWishes { is_forced, is_formed } = self.wanted;
        (is_forced || is_formed)
            && match self.tool_names().len() {
                0 => is_formed && !self.loads_tools(),
                1 => is_forced,
                // Of two or more tools the model has the choice, so such a request may be work.
                _ => false,
            }
    }

    /// Whether the history declares tools (Codex sends its tools so).
    fn loads_tools(&self) -> bool {
        let dialect = self.kind().dialect();
        self.messages().any(|message| dialect.loads_tools(&message))
    }

    /// Whether the model has to call one of its tools.
    pub(crate) fn has_to_call(&self) -> bool {
        self.wanted.is_forced
    }

    /// Whether the request offers any tool.
    #[must_use]
    pub fn has_tools(&self) -> bool {
        !self.tool_names().is_empty()
    }

    /// Whether the history has calls of tools that the request does not offer: those calls are of another conversation.
    /// Calls of midfold's own tools do not count, since no client offers these.
    #[must_use]
    pub fn has_foreign_calls(&self) -> bool {
        let (dialect, offered) = (self.kind().dialect(), self.tool_names());
        self.messages().any(|message| {
            dialect.view(&message).blocks.iter().any(|block| match &block.kind {
                BlockKind::Call { name: Some(name), .. } => {
                    let name = name.decode(&message);
                    OwnTool::named(&name).is_none()
                        && !offered.iter().any(|offered| *offered == name)
                }
                _ => false,
            })
        })
    }

    /// The names of the request's tools. A tool without a name, which the provider runs itself, has an empty one.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        let json = self.tools.as_deref().unwrap_or_default();
        let list = match json.first() {
            Some(b'[') => Some(0..json.len()),
            // Bedrock has the tools in an object.
            _ => ObjectFields::of(json, 0..json.len()).array("tools"),
        };
        let mut names = Vec::new();
        for tool in list.into_iter().flat_map(|list| each(json, list)) {
            let tool = ObjectFields::of(json, tool).in_either_spelling();
            // Gemini has several functions in one tool, Responses in a namespace.
            match tool.array("functionDeclarations").or(tool.array("tools")) {
                Some(declared) => {
                    let declared = each(json, declared).into_iter();
                    names.extend(
                        declared.map(|function| own_name(&ObjectFields::of(json, function))),
                    );
                }
                None => names.push(own_name(&tool)),
            }
        }
        names
    }
}

/// The name of one tool. Empty where it has none.
fn own_name(tool: &ObjectFields<'_>) -> String {
    let inside = ["function", "custom", "toolSpec"];
    let named = inside.into_iter().find_map(|kind| tool.inner(kind).label("name"));
    named.or_else(|| tool.label("name")).unwrap_or_default()
}

/// The elements of a list.
fn each(json: &[u8], list: Range<usize>) -> Vec<Range<usize>> {
    scan::list(json, list.start, |at| scan::value(json, at))
        .map(|(each, _)| each)
        .unwrap_or_default()
}
