//! Tools that the history declares: with them gone, the model cannot call what it called before.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::output::type_of;
use crate::fields::ObjectFields;
use crate::scan;

/// Responses: `additional_tools`, and what a search for tools found.
pub(super) fn of_item(item: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    if matches!(type_of(item), b"additional_tools" | b"tool_search_output") {
        declared(item, ObjectFields::of(item, 0..item.len()).array("tools"), "", &mut names);
    }
    names
}

/// The tools of a list, those of its namespaces with the name of theirs.
fn declared(item: &[u8], tools: Option<Range<usize>>, outer: &str, names: &mut Vec<String>) {
    for tool in scan::elements(item, tools.unwrap_or(0..0)) {
        let fields = ObjectFields::of(item, tool);
        // What a server offers has its label in place of a name, what the provider runs its type.
        let label = ["name", "server_label", "type"].into_iter().find_map(|name| fields.text(name));
        let name = format!("{outer}{}", label.unwrap_or_default());
        match fields.array("tools").filter(|_| outer.is_empty()) {
            Some(inner) => declared(item, Some(inner), &format!("{name}."), names),
            None => names.push(name),
        }
    }
}

/// Messages: `tool_reference`, in what the provider's search or a client's own found, or in a `tool_addition`.
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
        let found = block.inner("content").array("tool_references");
        let lists = elements(block.array("content")).chain(elements(found));
        let references = lists.map(|at| ObjectFields::of(message, at)).chain([block.inner("tool")]);
        let references = references.filter(|part| part.is("type", "tool_reference"));
        names.extend(references.filter_map(|part| part.label("tool_name")));
    }
    names
}
