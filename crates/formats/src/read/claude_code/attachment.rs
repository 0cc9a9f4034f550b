//! Reads records of type `attachment`: what a person typed while the agent worked, and what the client adds by itself.
//! Only the kinds that are sent to the model are read.

use std::ops::Range;

use midfold_core::jsonstr;
use midfold_core::view::TextOrigin;

use super::record::{RecordMessage, is_clients};
use crate::fields::ObjectFields;
use crate::scan;

/// The attachments that the client adds, by type: the words that introduce it, the member that names its subject, and
/// the members with its content.
const ADDED: &[(&str, &str, &str, &[&str])] = &[
    ("hook_additional_context", "A hook adds", "hookName", &["content"]),
    ("hook_blocking_error", "A hook objects", "hookName", &["blockingError"]),
    ("edited_text_file", "A file changed meanwhile", "filename", &["snippet"]),
    ("selected_lines_in_ide", "Lines selected in the editor", "filename", &["content"]),
    ("opened_file_in_ide", "Opened in the editor", "filename", &[]),
    ("nested_memory", "Standing notes", "path", &["content"]),
    ("file", "A file that was mentioned", "filename", &["content"]),
    ("directory", "A folder that was mentioned", "path", &["content"]),
    ("diagnostics", "New diagnostics", "", &["files"]),
    ("todo_reminder", "The to-do list", "", &["content"]),
    ("task_reminder", "The list of tasks", "", &["content"]),
];

/// The message that the client sends for an attachment, and its origin. `None` for an attachment that is not sent.
pub(super) fn read(
    input: &[u8],
    record: &ObjectFields<'_>,
) -> Option<(Option<TextOrigin>, RecordMessage)> {
    let attachment = record.inner("attachment");
    let kind = attachment.text("type")?;
    if kind == "queued_command" {
        return queued(input, record, &attachment);
    }
    let (_, lead, about, holds) = ADDED.iter().find(|(name, ..)| *name == kind)?;
    let about = attachment.text(about).filter(|about| !about.is_empty());
    let mut text = String::new();
    for range in holds.iter().filter_map(|name| attachment.get(name)) {
        strings(input, range, DEPTH, &mut text);
    }
    // Only a kind without members for content, such as an opened file, says something by its subject alone.
    if text.is_empty() && (about.is_none() || !holds.is_empty()) {
        return None;
    }
    let about = about.map_or_else(String::new, |about| format!(" ({about})"));
    let text = format!("<system-reminder>\n{lead}{about}:\n{}\n</system-reminder>", text.trim());
    let mut bytes = br#"{"role":"user","content":"#.to_vec();
    jsonstr::encode_into(&text, &mut bytes);
    bytes.push(b'}');
    let range = record.object("attachment")?;
    Some((Some(TextOrigin::Injected), RecordMessage::built(range, bytes)))
}

/// A message that waited in the client's queue until the agent had time. Mostly it holds a person's words, sometimes
/// the client's news about a task.
fn queued(
    input: &[u8],
    record: &ObjectFields<'_>,
    attachment: &ObjectFields<'_>,
) -> Option<(Option<TextOrigin>, RecordMessage)> {
    let message = user_message(input, attachment, "prompt")?;
    let is_prompt = attachment.text("commandMode").is_none_or(|mode| mode == "prompt");
    let is_persons = is_prompt && !is_clients(attachment) && !is_clients(record);
    Some(((!is_persons).then_some(TextOrigin::Injected), message))
}

/// A user message with the content of a member, which is a text or blocks and is copied as it is. `None` where it is
/// empty.
pub(super) fn user_message(
    input: &[u8],
    fields: &ObjectFields<'_>,
    name: &str,
) -> Option<RecordMessage> {
    let content = fields.string(name).or_else(|| fields.array(name)).filter(|at| at.len() > 2)?;
    let bytes = [br#"{"role":"user","content":"#, &input[content.clone()], b"}"].concat();
    Some(RecordMessage::built(content, bytes))
}

/// The most levels of an attachment in which texts are searched.
const DEPTH: u32 = 6;

/// Adds all texts of a value, one per line.
pub(super) fn strings(input: &[u8], range: Range<usize>, depth: u32, out: &mut String) {
    match input.get(range.start) {
        Some(b'"') => {
            out.push_str(&jsonstr::decode(&input[range]));
            out.push('\n');
        }
        Some(b'[') if depth > 0 => {
            for element in scan::elements(input, range) {
                strings(input, element, depth - 1, out);
            }
        }
        Some(b'{') if depth > 0 => {
            // The type of a block is no text of its own.
            for member in scan::members(input, range).filter(|m| !m.is(input, "type")) {
                strings(input, member.value, depth - 1, out);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::ADDED;
    use crate::wrappers::PASSING;

    #[test]
    fn what_a_client_adds_passes_but_for_hooks_and_notes() {
        let holds = ADDED
            .iter()
            .filter(|(_, lead, ..)| !PASSING.iter().any(|start| lead.starts_with(start)));
        let holds: Vec<&str> = holds.map(|(name, ..)| *name).collect();
        assert_eq!(holds, ["hook_additional_context", "hook_blocking_error", "nested_memory"]);
    }
}
