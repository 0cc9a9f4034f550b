//! Tells what a JSON value is by its members.

use std::ops::Range;

use super::format::TranscriptFormat;
use super::holder::LOG_MEMBERS;
use super::outline::InputDocument;
use super::text::TopValue;
use crate::dialect::{DialectKind, is_unread};
use crate::fields::ObjectFields;

/// The kind of a JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DetectedShape {
    /// An object with the messages in this array, or one string in their place.
    Holder { format: TranscriptFormat, messages: Range<usize> },
    /// One message or item.
    Message,
    /// One line of a session file.
    SessionLine(TranscriptFormat),
    /// A list of messages, or of holders.
    List,
    /// Any other value.
    Unknown,
}

/// The format of a whole input: that of the first value that has one. `None` where none has.
pub(super) fn format(doc: InputDocument<'_>, records: &[TopValue]) -> Option<TranscriptFormat> {
    let several = records.len() > 1;
    let mut first_message = None;
    for (at, record) in records.iter().enumerate() {
        match shape(doc, record.range.clone()) {
            DetectedShape::Holder { format, .. } => return Some(refined(format, several)),
            DetectedShape::SessionLine(format) => return Some(format),
            DetectedShape::Message => {
                first_message = Some(at);
                break;
            }
            DetectedShape::List => return list_format(doc, record.range.clone()),
            DetectedShape::Unknown => {}
        }
    }
    let rest = &records[first_message?..];
    if first_message > Some(0) && records.iter().any(|r| is_codex_header(doc, r)) {
        return Some(TranscriptFormat::Codex);
    }
    Some(messages_format(doc, rest.iter().map(|record| record.range.clone())))
}

/// A request body and a row of training data look alike. A single object is a request, several without a model are
/// training data.
pub(super) fn refined(format: TranscriptFormat, several: bool) -> TranscriptFormat {
    if format == TranscriptFormat::FineTuning && !several {
        TranscriptFormat::OpenAiChat
    } else {
        format
    }
}

/// Whether the record is the first line of an older Codex file, before the bare items.
fn is_codex_header(doc: InputDocument<'_>, record: &TopValue) -> bool {
    let fields = doc.fields(record.range.clone());
    fields.has("record_type")
        || fields.has("timestamp") && fields.has("id") && !fields.has("type") && !fields.has("role")
}

fn list_format(doc: InputDocument<'_>, list: Range<usize>) -> Option<TranscriptFormat> {
    let first = doc.elements(list.clone()).next();
    // An empty list holds no messages, so any dialect fits.
    let Some(first) = first else { return Some(TranscriptFormat::OpenAiChat) };
    match shape(doc, first) {
        DetectedShape::Holder { format, .. } => Some(refined(format, true)),
        DetectedShape::Message => Some(messages_format(doc, doc.elements(list))),
        // The only list of an input is read as lines before this; of several lists no reader knows where one ends.
        DetectedShape::SessionLine(_) | DetectedShape::List | DetectedShape::Unknown => None,
    }
}

/// The kind of the value in `range`.
pub(super) fn shape(doc: InputDocument<'_>, range: Range<usize>) -> DetectedShape {
    match doc.bytes.get(range.start) {
        Some(b'[') => return DetectedShape::List,
        Some(b'{') => {}
        _ => return DetectedShape::Unknown,
    }
    let fields = doc.fields(range);
    if let Some(format) = session_line(&fields) {
        return DetectedShape::SessionLine(format);
    }
    if let Some(holder) = holder(doc, &fields) {
        return holder;
    }
    if is_readable(&fields) { DetectedShape::Message } else { DetectedShape::Unknown }
}

/// The client to whose session file an object belongs, by its type and members. `None` for any other object.
fn session_line(fields: &ObjectFields<'_>) -> Option<TranscriptFormat> {
    const CODEX: [&str; 6] =
        ["session_meta", "response_item", "event_msg", "compacted", "turn_context", "world_state"];
    const CLAUDE: [&str; 8] = [
        "uuid",
        "parentUuid",
        "sessionId",
        "session_id",
        "isSidechain",
        "leafUuid",
        "isSnapshotUpdate",
        "messageId",
    ];
    const PI: [&str; 10] = [
        "message",
        "model_change",
        "thinking_level_change",
        "compaction",
        "context_edit",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
    ];
    let kind = fields.text("type")?;
    if fields.has("payload") && CODEX.contains(&&*kind) {
        return Some(TranscriptFormat::Codex);
    }
    // Other clients have ids of the same names beside messages of their own shape.
    let is_read = || !is_unread(&fields.inner("message"));
    if CLAUDE.iter().any(|name| fields.has(name)) && !fields.has("role") && is_read() {
        return Some(TranscriptFormat::ClaudeCode);
    }
    let is_pi = kind == "session" && fields.has("timestamp") && fields.has("id")
        || fields.has("timestamp")
            && PI.contains(&&*kind)
            && !fields.has("role")
            && (kind != "message" || fields.inner("message").has("role"));
    is_pi.then_some(TranscriptFormat::Pi)
}

fn holder(doc: InputDocument<'_>, fields: &ObjectFields<'_>) -> Option<DetectedShape> {
    // The body may be one level down, in a log of requests or in a row of a batch file.
    direct_holder(doc, fields).or_else(|| {
        LOG_MEMBERS.into_iter().find_map(|name| direct_holder(doc, &fields.inner(name)))
    })
}

/// The messages that an object holds itself, with the format that its other members show.
fn direct_holder(doc: InputDocument<'_>, fields: &ObjectFields<'_>) -> Option<DetectedShape> {
    let detected = |format, messages| Some(DetectedShape::Holder { format, messages });
    let list = |name| fields.array(name).filter(|list| are_messages(doc, list.clone()));
    if let Some(messages) = list("messages") {
        let mini =
            fields.text("trajectory_format").is_some_and(|t| t.starts_with("mini-swe-agent"))
                || fields.inner("info").has("model_stats");
        if mini {
            return detected(TranscriptFormat::MiniSweAgent, messages);
        }
        let of_bedrock = ["modelId", "inferenceConfig", "toolConfig"];
        let by_message = messages_format(doc, doc.elements(messages.clone()));
        let system = fields.array("system").and_then(|system| doc.elements(system).next());
        if by_message == TranscriptFormat::Bedrock
            || of_bedrock.iter().any(|name| fields.has(name))
            // A block of Anthropic's system prompt has a type.
            || system.is_some_and(|block| !doc.fields(block).has("type"))
        {
            return detected(TranscriptFormat::Bedrock, messages);
        }
        if is_ollama_body(fields) {
            return detected(TranscriptFormat::Ollama, messages);
        }
        let native = fields.has("system") || fields.has("anthropic_version");
        let tools = fields.array("tools").and_then(|tools| doc.elements(tools).next());
        let native = native || tools.is_some_and(|t| doc.fields(t).has("input_schema"));
        let format = if native { TranscriptFormat::Anthropic } else { by_message };
        // Training data may have arguments as objects, as Ollama does.
        let is_chat = matches!(format, TranscriptFormat::OpenAiChat | TranscriptFormat::Ollama);
        let row = is_chat && !fields.has("model");
        return detected(if row { TranscriptFormat::FineTuning } else { format }, messages);
    }
    if let Some(messages) = list("contents") {
        return detected(TranscriptFormat::Gemini, messages);
    }
    for name in ["conversations", "conversation"] {
        if let Some(messages) = list(name) {
            return detected(messages_format(doc, doc.elements(messages.clone())), messages);
        }
    }
    if let Some(messages) = list("traj") {
        return detected(TranscriptFormat::TauBench, messages);
    }
    if let Some(messages) = list("history").or_else(|| fields.array("trajectory")) {
        return detected(TranscriptFormat::SweAgent, messages);
    }
    let input = list("input");
    // A text called `input` is a common column of data sets; beside a model it is a request.
    if let Some(messages) = input.or_else(|| fields.string("input").filter(|_| fields.has("model")))
    {
        return detected(TranscriptFormat::OpenAiResponses, messages);
    }
    None
}

/// Whether the elements of a list are messages. A list called `messages` may hold anything, so its elements decide;
/// half of them have to be readable, so that a few odd elements do no harm.
fn are_messages(doc: InputDocument<'_>, list: Range<usize>) -> bool {
    /// The most elements that are read.
    const MOST: usize = 16;
    let objects = doc.elements(list).filter(|at| doc.bytes.get(at.start) == Some(&b'{'));
    let (mut all, mut read) = (0, 0);
    for element in objects.take(MOST) {
        all += 1;
        read += usize::from(is_readable(&doc.fields(element)));
    }
    read * 2 >= all
}

/// Whether the object is a message in a shape that some dialect reads.
fn is_readable(fields: &ObjectFields<'_>) -> bool {
    is_typed_item(fields) || is_message(fields) && !is_unread(fields)
}

fn is_message(fields: &ObjectFields<'_>) -> bool {
    fields.has("role")
        || fields.is("type", "message")
        || fields.array("parts").is_some()
        || fields.has("from") && fields.has("value")
        || is_typed_item(fields)
}

fn is_typed_item(fields: &ObjectFields<'_>) -> bool {
    fields.text("type").is_some_and(|kind| kind != "message" && is_item(&kind))
}

/// Whether a type is that of a Responses item, which may lack a role.
fn is_item(kind: &str) -> bool {
    matches!(kind, "message" | "reasoning" | "compaction" | "item_reference" | "program")
        || kind.ends_with("_call")
        || kind.ends_with("_output")
        || kind.starts_with("mcp_")
}

/// The format of these messages: the first message that can be of one dialect only decides.
fn messages_format(
    doc: InputDocument<'_>,
    messages: impl Iterator<Item = Range<usize>>,
) -> TranscriptFormat {
    let dialect = messages
        .filter_map(|message| evidence(doc, &doc.fields(message)))
        .next()
        .unwrap_or(DialectKind::OpenAiChat);
    TranscriptFormat::from(dialect)
}

/// The dialect of a message, if its members belong to a single dialect. `None` if several dialects write such a
/// message.
fn evidence(doc: InputDocument<'_>, message: &ObjectFields<'_>) -> Option<DialectKind> {
    if message.has("from") && message.has("value") {
        return Some(DialectKind::ShareGpt);
    }
    let kind = message.text("type");
    if let Some(parts) = message.array("parts") {
        let is_part = |part: Range<usize>| !doc.fields(part).has("type");
        return doc.elements(parts).all(is_part).then_some(DialectKind::Gemini);
    }
    let Some(role) = message.text("role") else {
        return kind.filter(|kind| is_item(kind)).map(|_| DialectKind::OpenAiResponses);
    };
    if is_ollama(doc, message) {
        return Some(DialectKind::Ollama);
    }
    if ["tool_calls", "tool_call_id", "function_call", "reasoning_content"]
        .iter()
        .any(|name| message.has(name))
        || matches!(&*role, "tool" | "function")
    {
        return Some(DialectKind::OpenAiChat);
    }
    let blocks = message.array("content").unwrap_or(0..0);
    let by_block = doc.elements(blocks).find_map(|block| block_evidence(doc, block));
    if by_block.is_some() {
        return by_block;
    }
    match kind.as_deref() {
        // An Anthropic reply is a message with a type too.
        Some("message") if message.has("stop_reason") => Some(DialectKind::Anthropic),
        Some("message") => Some(DialectKind::OpenAiResponses),
        _ => None,
    }
}

/// Whether a request has members that only Ollama has beside its messages.
fn is_ollama_body(fields: &ObjectFields<'_>) -> bool {
    let options = fields.inner("options");
    fields.has("keep_alive") || ["num_ctx", "num_predict"].iter().any(|name| options.has(name))
}

/// Whether a message is Ollama's: a result that names its tool and no call, images beside the text, or a call without a
/// type whose arguments are an object. Reasoning beside the text is no sign, since other servers have it too.
fn is_ollama(doc: InputDocument<'_>, message: &ObjectFields<'_>) -> bool {
    let is_result = message.string("tool_name").is_some() && !message.has("tool_call_id");
    let first = |name: &str| doc.elements(message.array(name).unwrap_or(0..0)).next();
    let has_pictures =
        first("images").is_some_and(|picture| doc.bytes.get(picture.start) == Some(&b'"'));
    let is_call = first("tool_calls").is_some_and(|call| {
        let call = doc.fields(call);
        !call.has("type") && call.inner("function").object("arguments").is_some()
    });
    is_result || is_call || has_pictures && message.string("content").is_some()
}

fn block_evidence(doc: InputDocument<'_>, block: Range<usize>) -> Option<DialectKind> {
    let fields = doc.fields(block);
    let Some(kind) = fields.text("type") else { return untyped_evidence(&fields) };
    match &*kind {
        "image_url" | "input_audio" | "file" | "refusal" => Some(DialectKind::OpenAiChat),
        "input_text" | "output_text" | "input_image" | "input_file" => {
            Some(DialectKind::OpenAiResponses)
        }
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use"
        | "search_result" => Some(DialectKind::Anthropic),
        "image" | "document" if fields.has("source") => Some(DialectKind::Anthropic),
        _ => None,
    }
}

/// The dialect of a block without a type. A block of Bedrock is an object with one member.
fn untyped_evidence(block: &ObjectFields<'_>) -> Option<DialectKind> {
    const MEMBERS: [&str; 7] =
        ["toolUse", "toolResult", "reasoningContent", "cachePoint", "image", "document", "video"];
    let named = MEMBERS.iter().any(|name| block.object(name).is_some());
    let text = block.len() == 1 && block.string("text").is_some();
    (named || text).then_some(DialectKind::Bedrock)
}

/// The members that hold messages in any format.
const HOLDERS: [&str; 5] = ["messages", "input", "contents", "conversations", "history"];

/// Describes, for people, an input that holds no conversation.
pub(super) fn describe(bytes: &[u8], records: &[TopValue]) -> String {
    const MOST: usize = 8;
    let Some(first) = records.first() else { return "the input".to_owned() };
    let kind = match bytes.get(first.range.start) {
        Some(b'{') => {
            let fields = ObjectFields::of(bytes, first.range.clone());
            let keys: Vec<_> = fields.keys().take(MOST).map(|key| short(&key)).collect();
            if fields.is_empty() {
                "an empty object".to_owned()
            } else if let Some(name) =
                HOLDERS.iter().find(|name| fields.has(name) && fields.array(name).is_none())
            {
                format!("an object whose `{name}` is no list")
            } else {
                format!("an object with the keys {}", keys.join(", "))
            }
        }
        Some(b'[') => "a list".to_owned(),
        Some(b'"') => "a string".to_owned(),
        _ => "a single value".to_owned(),
    };
    match records.len() {
        1 => kind,
        lines => format!("{lines} values, the first {kind}"),
    }
}

fn short(key: &str) -> String {
    const LONGEST: usize = 40;
    format!("`{}`", key.chars().take(LONGEST).collect::<String>())
}
