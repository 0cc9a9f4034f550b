//! Finds out whether a body of unknown format has messages in it.

use crate::scan;

/// The members in which wire formats have their messages.
const LISTS: [&str; 3] = ["messages", "input", "contents"];

/// Whether a body has a list of messages in one of the members of the wire formats: its first element is an object with
/// a role. This serves requests whose path does not name the format.
///
/// ```
/// use midfold_formats::request::lists_messages;
/// assert!(lists_messages(br#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#));
/// assert!(!lists_messages(br#"{"model":"m","input":["a text to embed"]}"#));
/// ```
#[must_use]
pub fn lists_messages(body: &[u8]) -> bool {
    let start = scan::skip_space(body, 0);
    let Some(whole) = scan::value(body, start).filter(|_| body.get(start) == Some(&b'{')) else {
        return false;
    };
    LISTS.into_iter().filter_map(|name| scan::get(body, whole.clone(), name)).any(|list| {
        let first =
            (body.get(list.start) == Some(&b'[')).then(|| scan::elements(body, list).next());
        first.flatten().is_some_and(|first| {
            body.get(first.start) == Some(&b'{') && scan::get(body, first, "role").is_some()
        })
    })
}
