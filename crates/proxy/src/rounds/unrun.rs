//! Answers a call that copies what a fold printed: says why it was not run, and gives the originals.

use midfold_store::Store;

use super::look_up::originals;
use crate::fold_marks::CopiedMarks;

/// The originals of at most this many messages are given. The others are named.
const MOST_MESSAGES: usize = 3;

/// The originals that the marks of a call stand for, as the recall tool shows them; empty where they are not known.
pub(super) async fn originals_of(
    store: &dyn Store,
    session: &str,
    copied: &CopiedMarks,
    chars: usize,
) -> String {
    let mut messages: Vec<u32> = copied
        .placeholders
        .iter()
        .flat_map(|placeholder| placeholder.messages.iter().copied())
        .collect();
    messages.sort_unstable();
    messages.dedup();
    messages.truncate(MOST_MESSAGES);
    if messages.is_empty() {
        return String::new();
    }
    let numbers = messages.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let texts = originals(store, session, &numbers, chars).await;
    texts.unwrap_or_else(|error| format!("error: {error}\n"))
}

/// The answer to such a call.
pub(super) fn answer(copied: &CopiedMarks, originals: &str) -> String {
    let reason =
        copied.placeholders.first().map(|placeholder| placeholder.reason()).unwrap_or_default();
    format!("{reason}\n{originals}")
}
