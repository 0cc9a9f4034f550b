//! Reads events of OpenHands before 1.0: actions and observations. [`super::openhands`] names the sources of their
//! shapes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use midfold_core::TextOrigin;

use super::openhands_view::{OpenhandsItem, condense, labels};
use crate::fields::ObjectFields;
use crate::read::{
    Conversation, InputSource, UnsentCount,
    chat::{self, ChatCall, ContentPart, StringToken, inside},
};
use crate::{scan, usage};

/// Whether an object is an action or an observation.
pub(super) fn is_event(fields: &ObjectFields<'_>) -> bool {
    let is_action = fields.string("action").is_some() && fields.object("args").is_some();
    let is_result = fields.string("observation").is_some() && fields.has("content");
    (is_action || is_result)
        && (fields.has("source") || fields.has("timestamp"))
        && (fields.has("message") || fields.has("id"))
}

/// Reads the conversation of each view.
pub(super) fn read(
    source: &mut InputSource<'_>,
    about: &Conversation,
    events: &[Range<usize>],
) -> Vec<Conversation> {
    let mut out = Vec::new();
    for view in views(source, events) {
        let mut teller = OpenhandsWriter::new(about);
        for seen in view {
            match seen {
                OpenhandsItem::Summary(text) => teller.conversation.events.push(source.recap(text)),
                OpenhandsItem::Event { at, .. } => teller.event(source, at),
            }
        }
        let detail = "{} notices that the client does not send are left out";
        teller.unsent.note(source, "not-sent", detail);
        out.push(teller.conversation);
    }
    out
}

/// The context before each condensation, where the whole recording is wanted, and the context now.
fn views(source: &mut InputSource<'_>, events: &[Range<usize>]) -> Vec<Vec<OpenhandsItem>> {
    let mut views = Vec::new();
    let mut view: Vec<OpenhandsItem> = Vec::new();
    for at in events {
        let fields = ObjectFields::of(source.input, at.clone());
        if !fields.is("action", "condensation") {
            view.push(OpenhandsItem::Event { at: at.clone(), id: fields.label("id") });
            continue;
        }
        if source.recorded {
            views.push(view.clone());
        }
        let args = fields.inner("args");
        let forgotten = forgotten(source.input, &args);
        let summary = args.string("summary").zip(args.count("summary_offset"));
        if summary.is_some() {
            // Only the newest summary is sent.
            view.retain(|seen| matches!(seen, OpenhandsItem::Event { .. }));
        }
        condense(source, &mut view, &forgotten, summary, at.start);
    }
    views.push(view);
    views
}

/// The ids of the forgotten events: those in a list, or a range of numbers.
fn forgotten(input: &[u8], args: &ObjectFields<'_>) -> HashSet<String> {
    /// The longest range that is taken: no log has as many events.
    const MOST: u64 = 1_000_000;
    let start = args.count("forgotten_events_start_id");
    match (start, args.count("forgotten_events_end_id")) {
        (Some(start), Some(end)) if end >= start && end - start < MOST => {
            (start..=end).map(|id| id.to_string()).collect()
        }
        _ => labels(input, args.array("forgotten_event_ids")),
    }
}

/// Builds messages from events.
struct OpenhandsWriter<'a> {
    conversation: Conversation,
    /// The ids of responses whose message was added. Each call of a response repeats the message.
    added: HashSet<String>,
    /// Calls by the id of their event, where no response was recorded.
    calls: HashMap<String, (StringToken<'a>, StringToken<'a>)>,
    /// The events whose words are never sent.
    unsent: UnsentCount,
}

impl<'a> OpenhandsWriter<'a> {
    fn new(about: &Conversation) -> Self {
        let (added, calls) = (HashSet::new(), HashMap::new());
        Self { conversation: about.beside(), added, calls, unsent: UnsentCount::default() }
    }

    fn event(&mut self, source: &mut InputSource<'a>, at: Range<usize>) {
        let fields = ObjectFields::of(source.input, at.clone());
        if fields.has("action") {
            self.action(source, at, &fields);
        } else {
            self.observation(source, at, &fields);
        }
    }

    /// Adds an action: a message, the end of the task, a command of the user, or a call.
    fn action(
        &mut self,
        source: &mut InputSource<'a>,
        at: Range<usize>,
        fields: &ObjectFields<'a>,
    ) {
        let input = source.input;
        let args = fields.inner("args");
        let is_user = fields.is("source", "user");
        let response = fields.inner("tool_call_metadata").inner("model_response");
        let (bytes, origin) =
            match &*fields.text("action").unwrap_or_default() {
                "system" => {
                    let tools = args.array("tools");
                    self.conversation.envelope.tools = tools
                        .map(|tools| source.slice(tools))
                        .or(self.conversation.envelope.tools.take());
                    (chat::message("system", &text(&args, "content")), None)
                }
                "message" => {
                    let parts: Vec<_> =
                        text(&args, "content").into_iter().chain(pictures(input, &args)).collect();
                    let bytes = if is_user {
                        chat::message("user", &parts)
                    } else {
                        chat::reply(&parts, &[], &[])
                    };
                    (bytes, None)
                }
                "finish" => (finish(&args, &response, input), None),
                "recall"
                | "change_agent_state"
                | "null"
                | "condensation_request"
                | "pause"
                | "resume"
                | "start" => return,
                _ if is_user => (by_hand(input, &at, fields), Some(TextOrigin::Injected)),
                _ => return self.call(source, at, fields, &response),
            };
        let mut event = source.built(bytes, vec![at]);
        event.origin = origin;
        self.conversation.events.push(event);
    }

    /// Adds the message that made the call, once. Where none was recorded, the action becomes a call.
    fn call(
        &mut self,
        source: &mut InputSource<'a>,
        at: Range<usize>,
        fields: &ObjectFields<'a>,
        response: &ObjectFields<'a>,
    ) {
        let input = source.input;
        let choice = response.list("choices").next();
        let message = choice.and_then(|choice| ObjectFields::of(input, choice).object("message"));
        if let Some(message) = message {
            if self.added.insert(response.label("id").unwrap_or_default()) {
                let mut event = source.event(message);
                event.usage = usage::chat(&response.inner("usage"));
                self.conversation.envelope.model =
                    response.label("model").or(self.conversation.envelope.model.take());
                self.conversation.events.push(event);
            }
            return;
        }
        let args = fields.inner("args");
        let id = fields.label("id").unwrap_or_default();
        let token = chat::token(&format!("call_{id}"));
        let name = Cow::Borrowed(fields.raw("action").unwrap_or(b"\"\""));
        self.calls.insert(id, (token.clone(), name.clone()));
        let call = ChatCall { id: token, name, arguments: fields.raw("args") };
        let bytes = chat::reply(&thought(&args), &[], &[call]);
        self.conversation.events.push(source.built(bytes, vec![at]));
    }

    /// Adds an observation: a result, a recap, or text that the client looked up.
    fn observation(
        &mut self,
        source: &mut InputSource<'a>,
        at: Range<usize>,
        fields: &ObjectFields<'a>,
    ) {
        let input = source.input;
        let kind = fields.text("observation").unwrap_or_default();
        let extras = fields.inner("extras");
        let (bytes, origin) = match &*kind {
            "agent_state_changed" | "null" | "success" => {
                // An empty text (`""`) has two bytes, and nothing is lost with it.
                if fields.raw("content").is_some_and(|content| content.len() > 2) {
                    self.unsent.add(at.start);
                }
                return;
            }
            "recall" => {
                let parts = recalled(input, &extras);
                if parts.is_empty() {
                    return;
                }
                (chat::message("user", &parts), Some(TextOrigin::Injected))
            }
            "condense" => {
                (chat::message("user", &text(fields, "content")), Some(TextOrigin::Recap))
            }
            kind => {
                let parts = result(input, kind, fields, &extras);
                let call = fields.inner("tool_call_metadata");
                // Without the provider's id, the result answers a call that `call` built from the action named as its
                // cause.
                let own_call = fields.label("cause").and_then(|cause| self.calls.get(&cause));
                match (call.raw("tool_call_id"), own_call) {
                    (Some(id), _) => (chat::result(id, call.raw("function_name"), &parts), None),
                    (None, Some((id, name))) => (chat::result(id, Some(name), &parts), None),
                    (None, None) => (chat::message("user", &parts), Some(TextOrigin::Observation)),
                }
            }
        };
        let mut event = source.built(bytes, vec![at]);
        event.origin = origin;
        self.conversation.events.push(event);
    }
}

/// The member `name` as a single part; empty where it is missing.
fn text<'a>(fields: &ObjectFields<'a>, name: &str) -> Vec<ContentPart<'a>> {
    chat::text_of(fields, name).map(ContentPart::Text).into_iter().collect()
}

/// The thought before an action: a text, or an object with one.
fn thought<'a>(args: &ObjectFields<'a>) -> Vec<ContentPart<'a>> {
    let holder = if args.object("thought").is_some() {
        text(&args.inner("thought"), "text")
    } else {
        text(args, "thought")
    };
    holder
        .into_iter()
        .filter(|part| !matches!(part, ContentPart::Text(token) if token.len() <= 2))
        .collect()
}

fn pictures<'a>(
    input: &'a [u8],
    fields: &ObjectFields<'a>,
) -> impl Iterator<Item = ContentPart<'a>> {
    let list = ["image_urls", "images_urls"].iter().find_map(|name| fields.array(name));
    scan::elements(input, list.unwrap_or(0..0))
        .filter(move |at| input.get(at.start) == Some(&b'"'))
        .map(move |at| ContentPart::Link(Cow::Borrowed(&input[at])))
}

/// The last message of the model: its words beside the call, its thought, and the message of the call.
fn finish(args: &ObjectFields<'_>, response: &ObjectFields<'_>, input: &[u8]) -> Vec<u8> {
    let choice = response.list("choices").next();
    let message = choice.map(|choice| ObjectFields::of(input, choice).inner("message"));
    let content = message.map(|message| text(&message, "content")).unwrap_or_default();
    let mut parts: Vec<ContentPart<'_>> = Vec::new();
    let all = content.into_iter().chain(thought(args)).chain(text(args, "final_thought"));
    for part in all {
        let ContentPart::Text(token) = &part else { continue };
        let is_told = parts
            .iter()
            .any(|known| matches!(known, ContentPart::Text(earlier) if earlier == token));
        if token.len() > 2 && !is_told {
            parts.push(part);
        }
    }
    chat::reply(&parts, &[], &[])
}

/// A command that the user ran without asking the model.
fn by_hand(input: &[u8], at: &Range<usize>, fields: &ObjectFields<'_>) -> Vec<u8> {
    let command = fields.inner("args").text("command");
    let part = match command {
        Some(command) => {
            ContentPart::Text(chat::token(&format!("User executed the command:\n{command}")))
        }
        None => ContentPart::unknown(&input[at.clone()]),
    };
    chat::message("user", &[part])
}

/// The texts that the client looked up for a message: about the workspace, and knowledge.
fn recalled<'a>(input: &'a [u8], extras: &ObjectFields<'a>) -> Vec<ContentPart<'a>> {
    const WORKSPACE: [&str; 7] = [
        "repo_name",
        "repo_directory",
        "repo_instructions",
        "additional_agent_instructions",
        "conversation_instructions",
        "date",
        "working_dir",
    ];
    let knowledge = extras.list("microagent_knowledge");
    let knowledge =
        knowledge.filter_map(|at| chat::text_of(&ObjectFields::of(input, at), "content"));
    let workspace = WORKSPACE.iter().filter_map(|name| chat::text_of(extras, name));
    workspace.chain(knowledge).filter(|token| token.len() > 2).map(ContentPart::Text).collect()
}

/// The result as it is sent: its content, followed by a line about its exit code or error.
fn result<'a>(
    input: &'a [u8],
    kind: &str,
    fields: &ObjectFields<'a>,
    extras: &ObjectFields<'a>,
) -> Vec<ContentPart<'a>> {
    let exit = extras.inner("metadata").count("exit_code").or_else(|| extras.count("exit_code"));
    let behind = match (kind, exit) {
        ("error", _) => "\n[Error occurred in processing last action]".to_owned(),
        ("user_rejected", _) => "\n[Last action has been rejected by the user]".to_owned(),
        (_, Some(code)) => format!("\n[Command finished with exit code {code}]"),
        _ => String::new(),
    };
    let content = chat::text_of(fields, "content").unwrap_or(Cow::Borrowed(b"\"\""));
    let whole = if behind.is_empty() {
        content
    } else {
        Cow::Owned([b"\"", inside(&content), inside(&chat::token(&behind)), b"\""].concat())
    };
    std::iter::once(ContentPart::Text(whole)).chain(pictures(input, extras)).collect()
}
