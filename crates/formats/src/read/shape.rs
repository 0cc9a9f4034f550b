//! The shape of a client's messages as tables: what each kind of part is, and who speaks in each role.
//!
//! A reader whose client keeps messages of a role and a list of parts needs no code for them.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::chat::{self, ChatCall, ContentPart, StringToken};
use super::source::InputSource;
use crate::fields::ObjectFields;

/// The meaning of a part. Each text is a path: members with dots between them.
pub(super) enum PartRule {
    Text(&'static str),
    /// Reasoning.
    Thought(&'static str),
    /// An image: its media type and its base64.
    Image(&'static str, &'static str),
    /// An image by its URL.
    Link(&'static str),
    /// A call: its id, its name and its arguments.
    Call(&'static str, &'static str, &'static str),
    /// A part that the client never sends.
    Unsent,
}

/// The values of a part's `type`, each with the meaning of such a part. Where a type has several rules, the first counts
/// whose members are there. A part without a rule becomes its JSON.
pub(super) type PartTable = &'static [(&'static str, PartRule)];

/// The parts of one message, by what they are.
#[derive(Default)]
pub(super) struct MessageParts<'a> {
    pub words: Vec<ContentPart<'a>>,
    pub thoughts: Vec<StringToken<'a>>,
    pub calls: Vec<ChatCall<'a>>,
}

impl<'a> MessageParts<'a> {
    /// The member `content`: one text, or a list of parts. Calls in another member are for [`Self::add_calls`].
    pub(super) fn of(message: &ObjectFields<'a>, table: PartTable) -> Self {
        let mut parts = Self::default();
        let whole = message.string("content").map(|_| chat::text_of(message, "content"));
        parts.words.extend(whole.flatten().map(ContentPart::Text));
        for (at, part) in message.objects("content") {
            parts.add(&at, &part, table);
        }
        parts
    }

    /// Adds one part, which is at `at`.
    pub(super) fn add(&mut self, at: &Range<usize>, part: &ObjectFields<'a>, table: PartTable) {
        let kind = part.text("type").unwrap_or_default();
        let mut rules = table.iter().filter(|(of, _)| *of == kind);
        if !rules.any(|(_, rule)| self.apply(part, rule)) {
            self.words.push(ContentPart::unknown(part.bytes().get(at.clone()).unwrap_or_default()));
        }
    }

    /// Adds the calls that a message has in a list of their own, beside its content. The first rule counts whose members
    /// are there.
    pub(super) fn add_calls(&mut self, message: &ObjectFields<'a>, list: &str, rules: &[PartRule]) {
        for (_, call) in message.objects(list) {
            rules.iter().any(|rule| self.apply(&call, rule));
        }
    }

    /// Adds a part by a rule. Returns whether the part has the members that the rule names.
    fn apply(&mut self, part: &ObjectFields<'a>, rule: &PartRule) -> bool {
        let text = |path: &str| part.at_path(path, text_in);
        let raw = |path: &str| part.at_path(path, ObjectFields::raw);
        match *rule {
            PartRule::Text(path) => push(&mut self.words, text(path).map(ContentPart::Text)),
            PartRule::Thought(path) => push(&mut self.thoughts, text(path)),
            PartRule::Link(path) => push(&mut self.words, text(path).map(ContentPart::Link)),
            PartRule::Image(mime, data) => {
                let image = text(mime).zip(text(data));
                push(&mut self.words, image.map(|(mime, data)| ContentPart::Image { mime, data }))
            }
            PartRule::Call(id, name, arguments) => {
                let id = text(id).unwrap_or(Cow::Borrowed(b"\"\""));
                let call = |name| ChatCall { id, name, arguments: raw(arguments) };
                push(&mut self.calls, text(name).map(call))
            }
            PartRule::Unsent => true,
        }
    }

    /// The parts as a message of the model.
    pub(super) fn reply(&self) -> Vec<u8> {
        chat::reply(&self.words, &self.thoughts, &self.calls)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.thoughts.is_empty() && self.calls.is_empty()
    }
}

fn text_in<'a>(holder: &ObjectFields<'a>, name: &str) -> Option<StringToken<'a>> {
    Some(Cow::Borrowed(holder.bytes().get(holder.string(name)?)?))
}

fn push<T>(list: &mut Vec<T>, item: Option<T>) -> bool {
    let is_there = item.is_some();
    list.extend(item);
    is_there
}

/// Whoever speaks in a role.
#[derive(Clone, Copy)]
pub(super) enum RoleSpeaker {
    Model,
    System,
    /// A tool: the message is the result of a call.
    Tool,
    User,
    /// The client, in the user's role.
    Client,
}

/// The shape of messages that have a `role` and a `content`.
pub(super) struct MessageShape {
    pub parts: PartTable,
    /// The values of `role`. Any other role is the user's.
    pub roles: &'static [(&'static str, RoleSpeaker)],
    /// The members of a result with the id of its call and the name of the tool.
    pub result: (&'static str, &'static str),
}

impl MessageShape {
    /// The message of an object at `at`.
    pub(super) fn message(
        &self,
        source: &mut InputSource<'_>,
        at: Range<usize>,
        fields: &ObjectFields<'_>,
    ) -> RawEvent {
        let role = fields.text("role").unwrap_or_default();
        let speaker = self.roles.iter().find(|(name, _)| *name == role);
        let speaker = speaker.map_or(RoleSpeaker::User, |(_, speaker)| *speaker);
        let parts = MessageParts::of(fields, self.parts);
        let bytes = match speaker {
            RoleSpeaker::Model => parts.reply(),
            RoleSpeaker::System => chat::message("system", &parts.words),
            RoleSpeaker::User | RoleSpeaker::Client => chat::message("user", &parts.words),
            RoleSpeaker::Tool => {
                let (id, name) = self.result;
                let id = fields.raw(id).unwrap_or(b"\"\"");
                chat::result(id, fields.raw(name), &parts.words)
            }
        };
        let is_clients = matches!(speaker, RoleSpeaker::Client);
        let origin = is_clients.then_some(TextOrigin::Injected);
        RawEvent { origin, ..source.built(bytes, vec![at]) }
    }
}
