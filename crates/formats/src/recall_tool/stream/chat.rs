//! Joins streams of Chat Completions, which are pieces of one message.

use bytes::Bytes;

use super::event::{HeldEvent, SseEvent};
use super::unrun_numbers::UnrunNumbers;
use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::recall_tool::calls::is_ours;
use crate::recall_tool::joined_answers::usage::chat as spent;
use crate::request::without_member;
use crate::scan;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::list;

/// The state of the joined streams.
#[derive(Clone, Debug, Default)]
pub(super) struct ChatStream {
    /// The number of answers that ended before this one.
    ended: usize,
    /// The output tokens of the earlier answers.
    output: u64,
    /// The output tokens of this answer so far.
    written: u64,
    /// The members that all pieces of one answer share, from the first piece of the first answer.
    id: Option<Vec<u8>>,
    created: Option<Vec<u8>>,
    /// The calls of this answer: the index, the id, and the index by which the client knows the call; `None` for a
    /// hidden one.
    calls: Vec<(u64, String, Option<u64>)>,
    /// The number of calls that the client has.
    shown: u64,
    /// Whether this answer has hidden calls.
    hides: bool,
    /// Whether the client has the role of the message.
    has_role: bool,
    /// The end of this answer, which is held back.
    end_events: Vec<HeldEvent>,
    pub(super) unrun: UnrunNumbers,
}

/// Whether a piece begins, or goes on with, a call that the client has to answer.
pub(super) fn opens_call(data: &[u8]) -> bool {
    let choices = ObjectFields::of(data, 0..data.len()).array("choices").unwrap_or(0..0);
    let calls = scan::elements(data, choices)
        .filter_map(|choice| ObjectFields::of(data, choice).inner("delta").array("tool_calls"));
    calls.flat_map(|calls| scan::elements(data, calls)).any(|at| {
        let call = ObjectFields::of(data, at);
        !is_ours(DialectKind::OpenAiChat, &call)
    })
}

/// A piece without its hidden calls.
struct ShownPiece {
    data: Vec<u8>,
    /// Whether it has any content.
    says: bool,
    /// Whether hidden calls were removed.
    is_cut: bool,
}

impl ChatStream {
    /// Writes what the client gets of one piece, or holds the piece back.
    pub(super) fn event(&mut self, event: &SseEvent<'_>, out: &mut Vec<u8>) {
        if event.data == b"[DONE]" {
            match self.holds() {
                true => self.end_events.push(event.held_event(event.data)),
                false => event.pass(out),
            }
            return;
        }
        let fields = ObjectFields::of(event.data, 0..event.data.len());
        if self.ended == 0 {
            self.id = self.id.take().or_else(|| fields.raw("id").map(<[u8]>::to_vec));
            self.created =
                self.created.take().or_else(|| fields.raw("created").map(<[u8]>::to_vec));
        }
        let used = fields.inner("usage");
        self.written = used.count("completion_tokens").unwrap_or(self.written);
        let piece = self.piece(event.data);
        let piece_fields = ObjectFields::of(&piece.data, 0..piece.data.len());
        let is_end = finish(&piece.data).is_some();
        let is_usage = piece_fields.object("usage").is_some() && !piece.says;
        if !self.holds() || !(is_end || is_usage) {
            // A piece that held nothing but a hidden call is left out.
            if piece.says || is_end || !piece.is_cut {
                event.write(&piece.data, out);
            }
            return;
        }
        if piece.says {
            event.write(&open(&piece.data), out);
        }
        let end = match piece.says {
            true => silent(&piece.data),
            false => piece.data,
        };
        self.end_events.push(event.held_event(end));
    }

    /// Whether the end of the answer is held back. It is also held back for every later answer: the caller may have to
    /// note something before the client continues.
    fn holds(&self) -> bool {
        self.hides || self.ended > 0
    }

    /// The piece without its hidden calls. In a later answer it gets the id and time of the first one, and its usage
    /// the output of all answers.
    fn piece(&mut self, data: &[u8]) -> ShownPiece {
        let fields = ObjectFields::of(data, 0..data.len());
        let mut splices = Splices::default();
        if self.ended > 0 {
            for (name, value) in [("id", &self.id), ("created", &self.created)] {
                if let (Some(at), Some(value)) = (fields.get(name), value) {
                    splices.replace(at, &value[..]);
                }
            }
        }
        if let Some(usage) = fields.object("usage").filter(|_| self.output > 0) {
            splices.replace(usage.clone(), spent(&data[usage], self.output));
        }
        let (mut says, mut is_cut) = (false, false);
        for choice in scan::elements(data, fields.array("choices").unwrap_or(0..0)) {
            let choice = ObjectFields::of(data, choice);
            let Some(at) = choice.object("delta") else { continue };
            let mut delta = Bytes::copy_from_slice(&data[at.clone()]);
            // Clients need the role once, also where the first piece has nothing else but a hidden call.
            if self.ended > 0 && self.has_role {
                delta = without_member(&delta, "role");
            }
            let has_role = ObjectFields::of(&delta, 0..delta.len()).has("role");
            says |= has_role && !self.has_role;
            self.has_role |= has_role;
            if let Some(calls) = self.calls(&delta) {
                is_cut = true;
                delta = calls;
            }
            says |= says_something(&delta);
            if delta != data[at.clone()] {
                splices.replace(at, &delta[..]);
            }
        }
        ShownPiece { data: splices.apply(data), says, is_cut }
    }

    /// The piece of a message with only the calls that the client gets. `None` where it needs no change.
    fn calls(&mut self, delta: &Bytes) -> Option<Bytes> {
        let array = ObjectFields::of(delta, 0..delta.len()).array("tool_calls")?;
        let (mut client_calls, mut is_other) = (Vec::new(), false);
        for at in scan::elements(delta, array.clone()) {
            let call = ObjectFields::of(delta, at.clone());
            let (own, shown) = (call.number("index"), self.place(&call));
            is_other |= shown != Some(own);
            let Some(shown) = shown else { continue };
            let mut splices = Splices::default();
            if let Some(index) = call.get("index").filter(|_| shown != own) {
                splices.replace(index, shown.to_string());
            }
            // The positions are those of the delta: all of it up to the call's end is patched, and the call is cut out
            // after that.
            let whole = splices.apply(&delta[..at.end]);
            client_calls.push(whole[at.start..].to_vec());
        }
        if !is_other {
            return None;
        }
        if client_calls.is_empty() {
            return Some(without_member(delta, "tool_calls"));
        }
        let mut splices = Splices::default();
        splices.replace(array, list(client_calls));
        Some(Bytes::from(splices.apply(delta)))
    }

    /// The index by which the client knows a call. `None` where the call is hidden.
    fn place(&mut self, call: &ObjectFields<'_>) -> Option<u64> {
        let index = call.number("index");
        let id = call.text("id").unwrap_or_default();
        let opens = call.inner("function").text("name").is_some_and(|name| !name.is_empty());
        let known = self.calls.iter().rev().find(|(own, ..)| *own == index);
        if let Some((_, known, shown)) = known
            && (!opens || id.is_empty() || *known == *id)
        {
            return *shown;
        }
        let is_hidden = match is_ours(DialectKind::OpenAiChat, call) {
            true => true,
            false => self.unrun.take_next(),
        };
        self.hides |= is_hidden;
        let shown = (!is_hidden).then_some(self.shown);
        self.shown += u64::from(!is_hidden);
        self.calls.push((index, id.into_owned(), shown));
        shown
    }

    pub(super) fn next(&mut self) {
        // The held end of this answer goes with the rest of the state: for the client, the stream continues.
        let Self { ended, output, written, id, created, has_role, .. } = std::mem::take(self);
        let (ended, output) = (ended + 1, output + written);
        *self = Self { ended, output, id, created, has_role, ..Self::default() };
    }

    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        for event in std::mem::take(&mut self.end_events) {
            let mut splices = Splices::default();
            let reason = finish(&event.data).filter(|_| self.hides && self.shown == 0);
            if let Some(at) = reason.filter(|at| event.data[at.clone()] == *b"\"tool_calls\"") {
                splices.replace(at, *b"\"stop\"");
            }
            event.write(&splices.apply(&event.data), out);
        }
    }
}

/// The range of the reason why the answer ended. `None` where the piece has none.
fn finish(data: &[u8]) -> Option<std::ops::Range<usize>> {
    let choices = ObjectFields::of(data, 0..data.len()).array("choices")?;
    scan::elements(data, choices).find_map(|at| ObjectFields::of(data, at).string("finish_reason"))
}

/// Whether a piece of a message holds more than a role.
fn says_something(delta: &[u8]) -> bool {
    scan::members(delta, 0..delta.len()).any(|member| {
        let value = &delta[member.value.clone()];
        !matches!(value, b"null" | b"\"\"" | b"[]" | b"{}") && !member.is(delta, "role")
    })
}

/// The content of a piece that also ends the answer, without that end.
fn open(data: &[u8]) -> Vec<u8> {
    let mut splices = Splices::default();
    if let Some(at) = finish(data) {
        splices.replace(at, *b"null");
    }
    if let Some(usage) = ObjectFields::of(data, 0..data.len()).object("usage") {
        splices.replace(usage, *b"null");
    }
    splices.apply(data)
}

/// The end of such a piece, without its content.
fn silent(data: &[u8]) -> Vec<u8> {
    let choices = ObjectFields::of(data, 0..data.len()).array("choices").unwrap_or(0..0);
    let mut splices = Splices::default();
    for choice in scan::elements(data, choices) {
        if let Some(delta) = ObjectFields::of(data, choice).object("delta") {
            splices.replace(delta, *b"{}");
        }
    }
    splices.apply(data)
}
