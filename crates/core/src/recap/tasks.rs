//! The to-do list that an agent keeps. Some tools write the whole list at once, others one item at a time.

use crate::salient::shorten;
use crate::tools::{TodoChange, TodoItem};

/// Longest item, in characters.
const ITEM_CHARS: usize = 200;

/// An item of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TaskItem {
    number: u32,
    /// Whether the client gave the number. The agent needs it to change the item.
    is_given: bool,
    /// One of [`MARKS`]; empty where the state is unknown.
    mark: &'static str,
    text: String,
}

/// The to-do list.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskList {
    items: Vec<TaskItem>,
}

impl TaskList {
    /// Reads the list that an earlier recap holds.
    pub(super) fn read(text: &str) -> Self {
        let mut tasks = Self::default();
        for line in text.lines() {
            let mark = MARKS.iter().find(|mark| line.starts_with(**mark)).copied().unwrap_or("");
            let rest = &line[mark.len()..];
            let numbered = rest.strip_prefix('#').and_then(|rest| rest.split_once(' '));
            let numbered = numbered.and_then(|(number, text)| Some((number.parse().ok()?, text)));
            let is_given = numbered.is_some();
            let (number, text) = numbered.unwrap_or((tasks.next(), rest));
            tasks.items.push(TaskItem { number, is_given, mark, text: text.to_owned() });
        }
        tasks
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The number for an item without one: above all others.
    fn next(&self) -> u32 {
        // A recap that somebody else wrote may hold the largest number.
        self.items.iter().map(|task| task.number).max().unwrap_or(0).saturating_add(1)
    }

    /// Applies a change. Returns whether the list is another one afterwards.
    pub(super) fn change(&mut self, change: TodoChange) -> bool {
        match change {
            TodoChange::Whole(items) if items.is_empty() => return false,
            TodoChange::Whole(items) => {
                self.items.clear();
                items.into_iter().for_each(|item| self.add(None, &item, ""));
            }
            TodoChange::Add(number, item) => {
                // An item with the number 1 begins a new list, because numbers only begin anew where the old list was
                // done.
                if number == Some(1) {
                    self.items.clear();
                }
                self.add(number, &item, "[ ] ");
            }
            TodoChange::Update(number, item) => {
                let Some(at) = self.items.iter().position(|task| task.number == number) else {
                    return false;
                };
                if item.state == "deleted" {
                    self.items.remove(at);
                    return true;
                }
                let task = &mut self.items[at];
                if !item.state.is_empty() {
                    task.mark = mark(&item.state);
                }
                if !item.text.is_empty() {
                    task.text = shorten(&item.text, ITEM_CHARS);
                }
            }
        }
        true
    }

    /// Adds an item, which replaces the one with the same number. `open` is its mark where it has no state.
    fn add(&mut self, number: Option<u32>, item: &TodoItem, open: &'static str) {
        let is_given = number.is_some();
        let number = number.unwrap_or_else(|| self.next());
        let mark = if item.state.is_empty() { open } else { mark(&item.state) };
        self.items.retain(|task| task.number != number);
        self.items.push(TaskItem { number, is_given, mark, text: shorten(&item.text, ITEM_CHARS) });
    }

    /// The list with one item on each line. A number is written where the client gave it.
    pub(super) fn text(&self) -> String {
        let line = |task: &TaskItem| match task.is_given {
            true => format!("{}#{} {}", task.mark, task.number, task.text),
            false => format!("{}{}", task.mark, task.text),
        };
        self.items.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// The marks in front of an item: done, under way, cancelled, open.
const MARKS: [&str; 4] = ["[x] ", "[>] ", "[-] ", "[ ] "];

/// Whether all items of a list in the form of [`TaskList::text`] are done or cancelled.
pub(super) fn is_finished(text: &str) -> bool {
    text.lines().all(|line| line.starts_with(MARKS[0]) || line.starts_with(MARKS[2]))
}

/// The mark for a state; empty without a state.
fn mark(state: &str) -> &'static str {
    match state {
        "completed" | "done" | "complete" => "[x] ",
        "in_progress" | "in-progress" | "active" => "[>] ",
        "" => "",
        "cancelled" | "canceled" => "[-] ",
        _ => "[ ] ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(state: &str, text: &str) -> TodoItem {
        TodoItem { state: state.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_list_is_built_item_by_item_and_read_back() {
        let mut tasks = TaskList::default();
        for (number, text) in [(1, "Remove the menu"), (2, "Add the button"), (3, "Tests")] {
            tasks.change(TodoChange::Add(Some(number), item("", text)));
        }
        tasks.change(TodoChange::Update(1, item("completed", "")));
        tasks.change(TodoChange::Update(2, item("deleted", "")));
        tasks.change(TodoChange::Update(3, item("in_progress", "More tests")));
        assert_eq!(tasks.text(), "[x] #1 Remove the menu\n[>] #3 More tests");
        let mut again = TaskList::read(&tasks.text());
        assert!(again.change(TodoChange::Update(3, item("completed", ""))));
        assert_eq!(again.text(), "[x] #1 Remove the menu\n[x] #3 More tests");
        assert!(!again.change(TodoChange::Update(9, item("completed", ""))));
    }

    #[test]
    fn a_forged_list_with_the_largest_number_is_read() {
        let mut tasks = TaskList::read("#4294967295 Take over\nTests");
        tasks.change(TodoChange::Add(None, item("", "Docs")));
        assert_eq!(tasks.text().lines().last(), Some("[ ] Docs"));
    }
}
