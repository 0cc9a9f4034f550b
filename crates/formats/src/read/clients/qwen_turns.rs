//! Contents as Qwen Code sends them: neighbouring records of one speaker become one turn where the provider takes one
//! turn.

use std::collections::HashMap;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use crate::fields::ObjectFields;
use crate::read::InputSource;
use crate::scan;

/// The kind of a content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QwenKind {
    Model,
    /// Results of calls, possibly with text that a person typed meanwhile.
    Results,
    User,
}

/// One turn, which may join the contents of several records.
struct QwenTurn {
    kind: QwenKind,
    /// The ranges of its contents, each in a record of its own.
    contents: Vec<Range<usize>>,
    origin: Option<TextOrigin>,
}

/// The context so far.
#[derive(Default)]
pub(super) struct QwenTurns {
    turns: Vec<QwenTurn>,
    /// Whether the newest turn is a single record of typed text.
    is_typed: bool,
}

/// The start of the context that the client sets up.
const SETUP: &str = "This is the Qwen Code.";

fn parts<'a>(input: &'a [u8], content: &Range<usize>) -> impl Iterator<Item = ObjectFields<'a>> {
    let list = ObjectFields::of(input, content.clone()).array("parts").unwrap_or(0..0);
    scan::elements(input, list).map(|at| ObjectFields::of(input, at))
}

fn kind(input: &[u8], content: &Range<usize>) -> QwenKind {
    if ObjectFields::of(input, content.clone()).is("role", "model") {
        QwenKind::Model
    } else if parts(input, content).any(|part| part.has("functionResponse")) {
        QwenKind::Results
    } else {
        QwenKind::User
    }
}

/// The JSON of the parts. The client writes a content that it keeps in the same bytes again.
fn written<'a>(input: &'a [u8], content: &Range<usize>) -> &'a [u8] {
    ObjectFields::of(input, content.clone()).raw("parts").unwrap_or_default()
}

impl QwenTurns {
    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }

    /// Adds a content. It joins the turn before it if both are the model's, or both hold results.
    pub(super) fn push(&mut self, input: &[u8], content: Range<usize>, origin: Option<TextOrigin>) {
        if parts(input, &content).next().is_none() {
            return;
        }
        self.is_typed = false;
        let kind = kind(input, &content);
        match self.turns.last_mut().filter(|turn| turn.kind == kind && kind != QwenKind::User) {
            Some(turn) => {
                turn.contents.push(content);
            }
            None => self.turns.push(QwenTurn { kind, contents: vec![content], origin }),
        }
    }

    /// Adds text that was typed while tools ran. The client sends it with their results.
    pub(super) fn push_beside(&mut self, input: &[u8], content: Range<usize>) {
        let last = self.turns.last_mut();
        // A person's words must not get the origin of a text that the client wrote.
        match last.filter(|turn| turn.kind != QwenKind::Model && turn.origin.is_none()) {
            Some(turn) => {
                turn.contents.push(content);
                self.is_typed = false;
            }
            None => self.push(input, content, None),
        }
    }

    /// Notes that the newest content was typed.
    pub(super) fn typed(&mut self) {
        self.is_typed = true;
    }

    /// Whether the newest turn is a command of the client, whose outcome is in `payload` and which was not sent to the
    /// model.
    pub(super) fn is_local(&self, input: &[u8], payload: &ObjectFields<'_>) -> bool {
        let Some(turn) =
            self.turns.last().filter(|turn| self.is_typed && turn.kind == QwenKind::User)
        else {
            return false;
        };
        let [content] = &turn.contents[..] else { return false };
        let mut parts = parts(input, content);
        let (Some(only), None) = (parts.next(), parts.next()) else { return false };
        let mut items =
            payload.list("outputHistoryItems").map(|at| ObjectFields::of(input, at)).peekable();
        items.peek().is_some()
            && items.all(|item| item.is("type", "assistant"))
            && payload.is("phase", "result")
            && !payload.is_true("sentToModel")
            && only.text("text").is_some_and(|text| payload.is("rawCommand", &text))
    }

    pub(super) fn take_back(&mut self) {
        self.turns.pop();
        self.is_typed = false;
    }

    /// Replaces the context by the history that the client built in a compression. Contents that it kept have the same
    /// bytes as before. The first other content in the user's role is the summary.
    pub(super) fn restart(&mut self, input: &[u8], history: Range<usize>) {
        let before = std::mem::take(self);
        // The new history does not say who wrote a text, so a text that was there before keeps its origin.
        let origins: HashMap<&[u8], Option<TextOrigin>> = before
            .turns
            .iter()
            .filter(|turn| turn.kind == QwenKind::User)
            .flat_map(|turn| turn.contents.iter().map(|at| (written(input, at), turn.origin)))
            .collect();
        let mut has_recap = false;
        for content in scan::elements(input, history) {
            let mut origin = None;
            if kind(input, &content) == QwenKind::User {
                origin = origins.get(written(input, &content)).copied().unwrap_or_else(|| {
                    let first = parts(input, &content).next();
                    let text = first.and_then(|part| part.text("text")).unwrap_or_default();
                    let is_recap = !has_recap && !text.starts_with(SETUP);
                    has_recap |= is_recap;
                    Some(if is_recap { TextOrigin::Recap } else { TextOrigin::Injected })
                });
            }
            self.push(input, content, origin);
        }
    }

    /// The turns as messages.
    pub(super) fn events(&self, source: &mut InputSource<'_>) -> Vec<RawEvent> {
        let built = self.turns.iter().map(|turn| {
            let mut event = match &turn.contents[..] {
                [content] => source.event(content.clone()),
                many => joined(source, many),
            };
            event.origin = turn.origin;
            event
        });
        built.collect()
    }
}

/// One content with the parts of several.
fn joined(source: &mut InputSource<'_>, contents: &[Range<usize>]) -> RawEvent {
    let input = source.input;
    let role =
        contents.first().and_then(|first| ObjectFields::of(input, first.clone()).raw("role"));
    let mut out = br#"{"role":"#.to_vec();
    out.extend_from_slice(role.unwrap_or(br#""user""#));
    out.extend_from_slice(br#","parts":["#);
    let lists = contents.iter().map(|at| ObjectFields::of(input, at.clone()).array("parts"));
    let parts = lists.flatten().flat_map(|list| scan::elements(input, list));
    for (at, part) in parts.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&input[part]);
    }
    out.extend_from_slice(b"]}");
    source.built(out, contents.to_vec())
}
