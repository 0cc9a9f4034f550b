//! Puts a chat of VS Code together from the log of its changes.

use std::collections::BTreeMap;
use std::ops::Range;

use midfold_core::jsonstr;

use crate::fields::ObjectFields;
use crate::read::TopValue;

/// A chat as the last change left it.
#[derive(Default)]
pub(super) struct ChatLog {
    pub id: Option<String>,
    pub requests: Vec<ChatRequest>,
}

/// One turn of the user, with its answer.
pub(super) struct ChatRequest {
    /// The request as it was added.
    whole: Range<usize>,
    /// The values that changed since, by their path; `None` for a deleted one.
    changed: BTreeMap<Vec<String>, Option<Range<usize>>>,
    /// The parts of the answer, if they changed since.
    response: Option<Vec<Range<usize>>>,
}

/// The requests of a chat, after all changes.
pub(super) fn requests(input: &[u8], records: &[TopValue]) -> ChatLog {
    let mut log = ChatLog::default();
    for record in records {
        let entry = ObjectFields::of(input, record.range.clone());
        match entry.count("kind") {
            Some(0) => log = ChatLog::of(&entry.inner("v")),
            Some(_) => log.change(input, &entry),
            // The older form is one record: the whole chat. A stray record changes nothing.
            None if entry.get("requests").is_some() => log = ChatLog::of(&entry),
            None => {}
        }
    }
    log
}

impl ChatLog {
    fn of(chat: &ObjectFields<'_>) -> Self {
        let requests = chat.list("requests").map(ChatRequest::new).collect();
        Self { id: chat.label("sessionId"), requests }
    }

    /// Makes one change: kind 1 sets a member, 2 adds to a list after cutting it at `i`, 3 deletes a member.
    fn change(&mut self, input: &[u8], entry: &ObjectFields<'_>) {
        let path: Vec<String> = entry.list("k").map(|at| label(&input[at])).collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let ["requests", rest @ ..] = &path[..] else { return };
        let pushes = entry.count("kind") == Some(2);
        let value = entry.get("v");
        let cut = entry.count("i").and_then(|at| usize::try_from(at).ok()).filter(|_| pushes);
        let [number, rest @ ..] = rest else {
            let from = if pushes { cut.unwrap_or(usize::MAX) } else { 0 };
            self.requests.truncate(from);
            return self.requests.extend(entry.list("v").map(ChatRequest::new));
        };
        let Some(request) = number.parse().ok().and_then(|at: usize| self.requests.get_mut(at))
        else {
            return;
        };
        match rest {
            [] => *request = ChatRequest::new(value.unwrap_or(0..0)),
            ["response"] => {
                let mut parts = if pushes { request.response(input) } else { Vec::new() };
                parts.truncate(cut.unwrap_or(usize::MAX));
                parts.extend(entry.list("v"));
                request.response = Some(parts);
            }
            ["response", part] => {
                let mut parts = request.response(input);
                if let Some(part) = part.parse().ok().and_then(|at: usize| parts.get_mut(at)) {
                    *part = value.unwrap_or(0..0);
                }
                request.response = Some(parts);
            }
            // Changes within a part are of what is shown.
            ["response", ..] => {}
            // Other lists that grow are not read.
            _ if pushes => {}
            members => request.set(members.iter().map(|name| (*name).to_owned()).collect(), value),
        }
    }
}

impl ChatRequest {
    fn new(whole: Range<usize>) -> Self {
        Self { whole, changed: BTreeMap::new(), response: None }
    }

    /// The request as it was added.
    pub(super) fn whole(&self) -> Range<usize> {
        self.whole.clone()
    }

    /// Sets the value at a path. Older changes at the paths below it do not count any more.
    fn set(&mut self, path: Vec<String>, value: Option<Range<usize>>) {
        let below = self.changed.range(path.clone()..);
        let below = below.map(|(known, _)| known).take_while(|known| known.starts_with(&path));
        for known in below.cloned().collect::<Vec<_>>() {
            self.changed.remove(&known);
        }
        self.changed.insert(path, value);
    }

    /// The value at a path of names with dots between them, which is neither deleted nor `null`.
    pub(super) fn get(&self, input: &[u8], path: &str) -> Option<Range<usize>> {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        let changed = |len| Some((len, self.changed.get(&path[..len])?.clone()));
        // The longest part of the path that changed has the newest value.
        let newest = (1..=path.len()).rev().find_map(changed);
        let (len, outer) = newest.unwrap_or_else(|| (0, Some(self.whole())));
        let member = |at, name: &String| ObjectFields::of(input, at).get(name);
        let range = path[len..].iter().try_fold(outer?, member)?;
        (&input[range.clone()] != b"null").then_some(range)
    }

    /// The object at a path.
    pub(super) fn inner<'a>(&self, input: &'a [u8], path: &str) -> ObjectFields<'a> {
        ObjectFields::of(input, self.get(input, path).unwrap_or(0..0))
    }

    /// The bytes of a value.
    pub(super) fn raw<'a>(&self, input: &'a [u8], path: &str) -> Option<&'a [u8]> {
        self.get(input, path).map(|at| &input[at])
    }

    /// The text or number of a value.
    pub(super) fn label(&self, input: &[u8], path: &str) -> Option<String> {
        self.raw(input, path).map(label)
    }

    /// The parts of the answer.
    pub(super) fn response(&self, input: &[u8]) -> Vec<Range<usize>> {
        let listed = || ObjectFields::of(input, self.whole.clone()).list("response").collect();
        self.response.clone().unwrap_or_else(listed)
    }
}

/// A text, or a number as its digits.
fn label(token: &[u8]) -> String {
    match token {
        [b'"', ..] => jsonstr::decode(token).into_owned(),
        _ => String::from_utf8_lossy(token).into_owned(),
    }
}
