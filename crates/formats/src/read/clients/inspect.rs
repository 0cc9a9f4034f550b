//! Reads logs of Inspect AI as JSON: an evaluation with its samples, or one sample.
//!
//! Shapes: `inspect_ai/log/_log.py`, `inspect_ai/model/_chat_message.py` and `inspect_ai/_util/content.py` of the
//! package inspect-ai 0.3.285. An `.eval` file is a zip archive, which the command line unpacks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use midfold_core::TextOrigin;

use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FailureMark, FileMark, FormatDescription, InputDocument,
    InputSource, TopValue, TranscriptFormat,
    chat::{self, ChatCall, ContentPart, StringToken, inside},
};
use crate::scan;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Inspect,
    FileMark::Input(is_of),
    read,
    ColumnTable {
        error: Column::At(&[FailureMark::any("error")]),
        time: Column::Lacks("only the events have times"),
        cwd: Column::Lacks("a sample names no folder"),
        mode: Column::Lacks("has no modes"),
        usage: Column::Lacks("only the events have counts"),
        model: Column::At(&["model"]),
        parent: Column::Lacks("messages are in one list"),
        images: Column::ByReader("parts `image`"),
        queued: Column::Lacks("nobody types during a sample"),
        answers: Column::Lacks("nobody answers during a sample"),
    },
);

fn is_of(doc: InputDocument<'_>, records: &[TopValue]) -> bool {
    records.first().is_some_and(|record| {
        let fields = doc.fields(record.range.clone());
        is_log(&fields) || is_sample(&fields)
    })
}

fn is_log(fields: &ObjectFields<'_>) -> bool {
    let eval = fields.inner("eval");
    eval.has("task") && eval.has("model") && fields.has("version") && fields.has("status")
}

fn is_sample(fields: &ObjectFields<'_>) -> bool {
    let names = ["id", "epoch", "input", "target", "messages"];
    names.iter().all(|name| fields.has(name))
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let doc = InputDocument { bytes: source.input, outline: None };
    let mut conversations = Vec::new();
    for record in records {
        let fields = doc.fields(record.range.clone());
        let model = fields.inner("eval").label("model");
        let samples: Vec<Range<usize>> = match fields.array("samples") {
            Some(samples) => scan::elements(doc.bytes, samples).collect(),
            None if is_sample(&fields) => vec![record.range.clone()],
            None => {
                let detail = "the log holds no samples: dump it with them, `inspect log dump FILE`";
                source.note(record.range.start, "no-samples", detail);
                Vec::new()
            }
        };
        for sample in samples {
            conversations.push(conversation(source, sample, model.clone()));
        }
    }
    conversations
}

/// The conversation of one sample.
fn conversation(
    source: &mut InputSource<'_>,
    at: Range<usize>,
    model: Option<String>,
) -> Conversation {
    let input = source.input;
    let fields = ObjectFields::of(input, at.clone());
    let mut conversation = Conversation::new(TranscriptFormat::Inspect, source.line_of(at.start));
    // Most logs have one epoch, so its samples keep their plain ids.
    let epoch = fields.label("epoch").filter(|epoch| epoch != "1");
    let id = fields.label("id");
    conversation.id = id.map(|id| epoch.map_or(id.clone(), |epoch| format!("{id}/{epoch}")));
    conversation.envelope.model = model;
    let teller = InspectWriter::new(input, &fields);
    for message in &teller.messages {
        let event = teller.message(source, message.clone());
        conversation.events.extend(event);
    }
    if conversation.events.is_empty()
        && let Some(text) = fields.string("input")
    {
        // The sample failed before any message was sent.
        let words = ContentPart::Text(Cow::Borrowed(&input[text.clone()]));
        conversation.events.push(source.built(chat::message("user", &[words]), vec![text]));
    }
    conversation
}

/// A sample while its messages are built.
struct InspectWriter<'a> {
    input: &'a [u8],
    messages: Vec<Range<usize>>,
    /// Long strings by their hash. The sample keeps them beside the messages.
    attachments: HashMap<&'a [u8], &'a [u8]>,
    /// Whether the messages name their source.
    says_source: bool,
}

impl<'a> InspectWriter<'a> {
    fn new(input: &'a [u8], sample: &ObjectFields<'a>) -> Self {
        let is_full = |at: &Range<usize>| scan::elements(input, at.clone()).next().is_some();
        let list = ["messages", "input"].iter().find_map(|name| sample.array(name).filter(is_full));
        let messages: Vec<Range<usize>> = scan::elements(input, list.unwrap_or(0..0)).collect();
        let attachments = sample.object("attachments").unwrap_or(0..0);
        let attachments = scan::members(input, attachments)
            .filter(|member| input.get(member.value.start) == Some(&b'"'))
            .map(|member| (inside(&input[member.key]), &input[member.value]))
            .collect();
        let says = |at: &Range<usize>| ObjectFields::of(input, at.clone()).is("source", "input");
        let says_source = messages.iter().any(says);
        Self { input, messages, attachments, says_source }
    }

    /// The event of one message. `None` for a message without a role.
    fn message(
        &self,
        source: &mut InputSource<'a>,
        at: Range<usize>,
    ) -> Option<midfold_core::event::RawEvent> {
        let fields = ObjectFields::of(self.input, at.clone());
        let (mut parts, thoughts) = self.content(&fields);
        let mut origin = None;
        let bytes = match &*fields.text("role")? {
            "system" => chat::message("system", &parts),
            "assistant" => {
                let calls: Vec<_> = fields.list("tool_calls").map(|at| self.call(at)).collect();
                chat::reply(&parts, &thoughts, &calls)
            }
            "tool" => {
                let error = fields.inner("error");
                // A failed call can have an empty text (`""`, two bytes) beside its error.
                parts.retain(|part| !matches!(part, ContentPart::Text(text) if text.len() <= 2));
                parts.extend(chat::text_of(&error, "message").map(|raw| {
                    let kind = error.text("type").unwrap_or_default();
                    let words = midfold_core::jsonstr::decode(&raw).into_owned();
                    ContentPart::Text(chat::token(&format!("Error ({kind}): {words}")))
                }));
                let id = fields.raw("tool_call_id").unwrap_or(b"\"\"");
                chat::result(id, fields.raw("function"), &parts)
            }
            _ => {
                // A message from neither the task nor an operator is from the agent's own scaffold.
                let is_own = fields.string("source").is_none() && self.says_source;
                origin = is_own.then_some(TextOrigin::Injected);
                chat::message("user", &parts)
            }
        };
        let mut event = source.built(bytes, vec![at]);
        event.origin = origin;
        Some(event)
    }

    fn call(&self, at: Range<usize>) -> ChatCall<'a> {
        let call = ObjectFields::of(self.input, at);
        let raw = |name| Cow::Borrowed(call.raw(name).unwrap_or(b"\"\""));
        ChatCall { id: raw("id"), name: raw("function"), arguments: call.raw("arguments") }
    }

    /// A string token. A reference to an attachment is replaced by the attached string.
    fn token(&self, raw: &'a [u8]) -> StringToken<'a> {
        let hash = inside(raw).strip_prefix(b"attachment://");
        let attachment = hash.and_then(|hash| self.attachments.get(hash).copied());
        Cow::Borrowed(attachment.unwrap_or(raw))
    }

    fn content(&self, message: &ObjectFields<'a>) -> (Vec<ContentPart<'a>>, Vec<StringToken<'a>>) {
        let (mut parts, mut thoughts) = (Vec::new(), Vec::new());
        if let Some(text) = message.string("content") {
            let token = self.token(&self.input[text]);
            parts.extend((token.len() > 2).then_some(ContentPart::Text(token)));
        }
        for (at, part) in message.objects("content") {
            let string = |name| part.string(name).map(|at| self.token(&self.input[at]));
            match &*part.text("type").unwrap_or_default() {
                "text" => parts.extend(string("text").map(ContentPart::Text)),
                "reasoning" if part.is_true("redacted") => thoughts.extend(string("summary")),
                "reasoning" => thoughts.extend(string("reasoning")),
                "image" => parts.extend(string("image").map(ContentPart::Link)),
                _ => parts.push(ContentPart::unknown(&self.input[at])),
            }
        }
        (parts, thoughts)
    }
}
