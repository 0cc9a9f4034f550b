//! Tools that the history declares. Once such a message leaves the context, the model can no longer call them.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::output::type_of;
use crate::fields::ObjectFields;
use crate::scan;

/// The tools that an item of Responses declares: `additional_tools`, or the result of a search for tools.
pub(super) fn of_item(item: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    if matches!(type_of(item), b"additional_tools" | b"tool_search_output") {
        declared(item, ObjectFields::of(item, 0..item.len()).array("tools"), "", &mut names);
    }
    names
}

/// Adds the names of the tools of a list. A tool of a namespace gets the namespace's name before its own.
fn declared(item: &[u8], tools: Option<Range<usize>>, outer: &str, names: &mut Vec<String>) {
    for tool in scan::elements(item, tools.unwrap_or(0..0)) {
        let fields = ObjectFields::of(item, tool);
        // A tool of a server has a label in place of a name; a tool that the provider runs has only a type.
        let label = ["name", "server_label", "type"].into_iter().find_map(|name| fields.text(name));
        let name = format!("{outer}{}", label.unwrap_or_default());
        // A namespace holds no namespaces, and the input must not decide how deep the recursion goes.
        match fields.array("tools").filter(|_| outer.is_empty()) {
            Some(inner) => declared(item, Some(inner), &format!("{name}."), names),
            None => names.push(name),
        }
    }
}

/// The tools that a message declares with a `tool_reference`: in the result of a search for tools, or in a
/// `tool_addition`.
pub(super) fn of_message(message: &[u8]) -> Vec<String> {
    static REFERENCE: LazyLock<Finder<'static>> =
        LazyLock::new(|| Finder::new("\"tool_reference\""));
    if REFERENCE.find(message).is_none() {
        return Vec::new();
    }
    let elements = |list: Option<Range<usize>>| scan::elements(message, list.unwrap_or(0..0));
    let mut names = Vec::new();
    for block in elements(ObjectFields::of(message, 0..message.len()).array("content")) {
        let block = ObjectFields::of(message, block);
        let nested = block.inner("content").array("tool_references");
        let lists = elements(block.array("content")).chain(elements(nested));
        let references = lists.map(|at| ObjectFields::of(message, at)).chain([block.inner("tool")]);
        let references = references.filter(|part| part.is("type", "tool_reference"));
        names.extend(references.filter_map(|part| part.label("tool_name")));
    }
    names
}
