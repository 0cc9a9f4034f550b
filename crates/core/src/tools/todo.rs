//! The to-do list of an agent, as its newest call wrote it.

use super::ToolTable;
use super::args::CallArguments;

/// The arguments that hold the text of an item, in the tools of Claude Code, Codex, Hermes, opencode, Gemini CLI,
/// Cursor and Roo.
const ITEM: &[&str] = &["content", "step", "title", "text", "description", "task", "name"];
/// The arguments that hold the state of an item.
const STATE: &[&str] = &["status", "state"];
/// Arguments that hold the whole list as text.
const LIST: &[&str] = &["todos", "plan", "items", "tasks", PROGRESS];
/// The argument with a to-do list in Cline's tools for other work.
const PROGRESS: &str = "task_progress";

/// One item of a to-do list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoItem {
    /// `completed`, `in_progress` or `pending`, as the agent wrote it; empty where the call does not say.
    pub state: String,
    /// The task itself.
    pub text: String,
}

impl TodoItem {
    /// Whether the state means that the item is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.state.as_str(), "completed" | "complete" | "done")
    }
}

/// The change that a call makes to the to-do list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TodoChange {
    /// The call writes the whole list.
    Whole(Vec<TodoItem>),
    /// The call adds an item. The number comes from the result; `None` where the result has none.
    Add(Option<u32>, TodoItem),
    /// The call changes the item with this number. An empty field stays as it was.
    Update(u32, TodoItem),
}

impl ToolTable {
    /// The change that a call makes to the to-do list. Claude Code's newer tools write one item at a time: a call with
    /// a `subject` adds an item, and one with a `taskId` changes an item.
    #[must_use]
    pub fn todo_change(&self, args: &str, result: &str) -> TodoChange {
        let arguments = CallArguments::read(args);
        let text = |names: &[&str]| arguments.first(&owned(names)).unwrap_or_default();
        let number = arguments.number(&owned(&["taskId", "task_id"]));
        let item = TodoItem { state: text(STATE), text: text(&["subject"]) };
        match number.and_then(|number| u32::try_from(number).ok()) {
            Some(number) => TodoChange::Update(number, item),
            None if !item.text.is_empty() => {
                let digits = result.split_once('#').map(|(_, rest)| rest).unwrap_or_default();
                let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                TodoChange::Add(digits[..end].parse().ok(), item)
            }
            None => {
                // Hermes Agent merges a few items into the list, by their ids. The result holds the whole list, so it
                // is read instead.
                let whole = if args.contains("\"merge\"") { self.todo(result) } else { Vec::new() };
                TodoChange::Whole(if whole.is_empty() { self.todo(args) } else { whole })
            }
        }
    }

    /// The to-do list that a call of another tool updates on the side; `None` where it holds none.
    #[must_use]
    pub fn todo_beside(&self, args: &str) -> Option<TodoChange> {
        if !args.contains(PROGRESS) {
            return None;
        }
        let list = CallArguments::read(args).first(&owned(&[PROGRESS]))?;
        let items: Vec<TodoItem> = list.lines().filter_map(item).collect();
        (!items.is_empty()).then_some(TodoChange::Whole(items))
    }

    /// The items of a to-do list in the arguments of a call; empty where there is no list.
    #[must_use]
    pub fn todo(&self, args: &str) -> Vec<TodoItem> {
        let arguments = CallArguments::read(args);
        let all = |name: &str| arguments.all(&[name.to_owned()]);
        let find = |names: &[&str]| names.iter().map(|name| all(name)).find(|all| !all.is_empty());
        if let Some(texts) = find(ITEM) {
            if let [list] = &texts[..]
                && list.lines().count() > 1
            {
                return list.lines().filter_map(item).collect();
            }
            let states = find(STATE).filter(|states| states.len() == texts.len());
            let states = states.unwrap_or_else(|| vec![String::new(); texts.len()]);
            return texts
                .into_iter()
                .zip(states)
                .map(|(text, state)| TodoItem { state, text })
                .collect();
        }
        let lists = find(LIST).unwrap_or_default();
        lists.iter().flat_map(|list| list.lines()).filter_map(item).collect()
    }
}

/// Reads a line of a list. A box in front of it, such as `[x]`, gives the state.
fn item(line: &str) -> Option<TodoItem> {
    let line = line.trim();
    let text =
        line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim_start();
    let boxed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let state = boxed.and_then(|(mark, _)| match mark.trim() {
        "" => Some("pending"),
        "x" | "X" => Some("completed"),
        "-" | ">" | "~" => Some("in_progress"),
        _ => None,
    });
    let (state, text) = match (state, boxed) {
        (Some(state), Some((_, rest))) => (state, rest.trim_start()),
        _ => ("", text),
    };
    (!text.is_empty()).then(|| TodoItem { state: state.to_owned(), text: text.to_owned() })
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_known_agents_are_read() {
        let table = ToolTable::builtin();
        let of = |args: serde_json::Value| -> Vec<(String, String)> {
            table.todo(&args.to_string()).into_iter().map(|t| (t.state, t.text)).collect()
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            of(
                serde_json::json!({"todos": [{"content": "a", "status": "completed", "activeForm": "doing a"},
                {"content": "b", "status": "pending"}]})
            ),
            [pair("completed", "a"), pair("pending", "b")]
        );
        assert_eq!(
            of(
                serde_json::json!({"explanation": "x", "plan": [{"status": "in_progress", "step": "c"}]})
            ),
            [pair("in_progress", "c")]
        );
        assert_eq!(
            of(serde_json::json!({"todos": "[x] a\n[ ] b"})),
            [pair("completed", "a"), pair("pending", "b")]
        );
        assert_eq!(
            of(serde_json::json!({"content": "- [x] a\n- [ ] b\n\n* [-] c\nd"})),
            [pair("completed", "a"), pair("pending", "b"), pair("in_progress", "c"), pair("", "d")]
        );
        assert_eq!(
            of(serde_json::json!({"operation": "write", "todoList": [
                {"id": 1, "title": "a", "description": "", "status": "not-started"}]})),
            [pair("not-started", "a")]
        );
        assert_eq!(
            of(serde_json::json!({"todos": [{"title": "a", "status": "done"}]})),
            [pair("done", "a")]
        );
        assert!(of(serde_json::json!({"merge": true})).is_empty());
    }

    #[test]
    fn a_list_may_be_built_item_by_item() {
        let change = |args: serde_json::Value, result: &str| {
            ToolTable::builtin().todo_change(&args.to_string(), result)
        };
        let item =
            |state: &str, text: &str| TodoItem { state: state.to_owned(), text: text.to_owned() };
        assert_eq!(
            change(
                serde_json::json!({"subject": "Mend it", "description": "All of it.", "activeForm": "Mending"}),
                "Task #3 created successfully: Mend it"
            ),
            TodoChange::Add(Some(3), item("", "Mend it"))
        );
        assert_eq!(
            change(
                serde_json::json!({"taskId": "3", "status": "completed"}),
                "Updated task #3 status"
            ),
            TodoChange::Update(3, item("completed", ""))
        );
        assert_eq!(
            change(serde_json::json!({"todos": [{"content": "a", "status": "pending"}]}), "ok"),
            TodoChange::Whole(vec![item("pending", "a")])
        );
        let merge =
            serde_json::json!({"todos": [{"id": "0", "status": "completed"}], "merge": true});
        let result = r#"{"todos": [{"id": "0", "content": "a", "status": "completed"},
            {"id": "1", "content": "b", "status": "pending"}]}"#;
        let whole = TodoChange::Whole(vec![item("completed", "a"), item("pending", "b")]);
        assert_eq!(change(merge, result), whole);
    }

    #[test]
    fn a_list_may_be_kept_beside_another_call() {
        let table = ToolTable::builtin();
        let args = serde_json::json!({"path": "a.py", "content": "x", "task_progress": "- [x] a\n- [ ] b"});
        let Some(TodoChange::Whole(items)) = table.todo_beside(&args.to_string()) else { panic!() };
        let items: Vec<_> = items.iter().map(|item| (&*item.state, &*item.text)).collect();
        assert_eq!(items, [("completed", "a"), ("pending", "b")]);
        assert_eq!(table.todo_beside(r#"{"path": "task_progress.md"}"#), None);
    }
}
