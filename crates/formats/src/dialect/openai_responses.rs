//! `OpenAI` Responses: one event is one item.

use bytes::Bytes;
use midfold_core::{
    BlockKind, BlockView, ByteRange, ClientWords, Dialect, EventView, Role, TextCoding, TextRef,
};
use smallvec::SmallVec;

use super::part::{self, ContentPlace, ContentShape, ReadableBody, read_content};
use super::unread;
use super::walk::{EventWalk, MemberKey, filled, to_range};
use super::{loads, output};
use crate::client_words::KnownClients;
use crate::origins;
use crate::render::{Json, result_text};
use crate::scan::inside;

/// The dialect `openai-responses`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenAiResponses;

/// The members of an item, filled while it is read.
#[derive(Default)]
struct ItemMembers {
    kind: Option<ByteRange>,
    role: Option<ByteRange>,
    id: Option<ByteRange>,
    call_id: Option<ByteRange>,
    name: Option<ByteRange>,
    status: Option<ByteRange>,
    encrypted: Option<ByteRange>,
    content: Option<ContentPlace>,
    /// The parts of `content`.
    parts: Vec<BlockView>,
    /// The texts of `summary`.
    summary: SmallVec<[TextRef; 1]>,
    output: Option<ReadableBody>,
    arguments: Option<ByteRange>,
    input: Option<ByteRange>,
    action: Option<ByteRange>,
    operation: Option<ByteRange>,
    tools: Option<ByteRange>,
    approve: Option<ByteRange>,
    /// The id of the request that an approval answers.
    request: Option<ByteRange>,
}

impl Dialect for OpenAiResponses {
    fn client_words(&self) -> &dyn ClientWords {
        &KnownClients
    }

    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn view(&self, bytes: &[u8]) -> EventView {
        let mut walk = EventWalk::new(bytes);
        let mut item = ItemMembers::default();
        let whole = walk.message(|walk, key| item.member(walk, key));
        if walk.broken {
            return super::opaque_view(bytes);
        }
        item.into_view(bytes, to_range(&whole))
    }

    fn loaded_tools(&self, bytes: &[u8]) -> Vec<String> {
        loads::of_item(bytes)
    }

    fn made_message(&self, role: Role, text: &str) -> Bytes {
        message(role, text).raw("]}").finish()
    }

    fn made_result(&self, like: &[u8], id: &str, _name: &str, text: &str) -> Bytes {
        let (mut walk, mut item) = (EventWalk::new(like), ItemMembers::default());
        walk.message(|walk, key| item.member(walk, key));
        output::made_output(item.kind(like), id, text)
    }

    fn answers(&self, call: &[u8], result: &[u8]) -> bool {
        output::answers(output::type_of(call), output::type_of(result))
    }

    fn results_as_text(&self, bytes: &[u8], view: &EventView, blocks: &[usize]) -> Bytes {
        let texts: Vec<_> = blocks.iter().map(|&index| result_text(bytes, view, index)).collect();
        let media = blocks.iter().filter_map(|&at| view.blocks.get(at)).flat_map(|b| &b.media);
        media
            // A screenshot may be in a result only, not in a message.
            .filter(|media| {
                memchr::memmem::find(media.outer.of(bytes), b"computer_screenshot").is_none()
            })
            .fold(message(Role::User, &texts.join("\n")), |json, media| {
                json.raw(",").raw(media.outer.of(bytes))
            })
            .raw("]}")
            .finish()
    }
}

/// A message without its closing brackets.
fn message(role: Role, text: &str) -> Json {
    let (role, part) = match role {
        Role::Assistant => ("assistant", "output_text"),
        Role::System | Role::Developer => (role.name(), "input_text"),
        Role::User | Role::Tool | Role::Other => ("user", "input_text"),
    };
    Json::default()
        .raw(r#"{"type":"message","role":""#)
        .raw(role)
        .raw(r#"","content":[{"type":""#)
        .raw(part)
        .raw(r#"","text":"#)
        .text(text)
        .raw("}")
}

impl ItemMembers {
    /// Reads one member of an item.
    fn member(&mut self, walk: &mut EventWalk<'_>, key: &MemberKey<'_>) {
        match key.name() {
            "type" => self.kind = walk.string(),
            "role" => self.role = walk.string(),
            "id" => self.id = walk.string(),
            "call_id" => self.call_id = walk.string(),
            "name" => self.name = walk.string(),
            "status" => self.status = walk.string(),
            "encrypted_content" => self.encrypted = walk.string(),
            "arguments" => self.arguments = Some(to_range(&walk.value())),
            "input" => self.input = Some(to_range(&walk.value())),
            "action" | "actions" => self.action = Some(to_range(&walk.value())),
            "operation" => self.operation = Some(to_range(&walk.value())),
            "tools" => self.tools = Some(to_range(&walk.value())),
            "approve" => self.approve = Some(to_range(&walk.value())),
            "approval_request_id" => self.request = walk.string(),
            "output" => self.output = Some(ReadableBody::read(walk, key)),
            "content" => {
                let parts = &mut self.parts;
                parts.clear();
                let content = read_content(walk, key, |bytes, part| parts.push(part.block(bytes)));
                if content.shape == ContentShape::Text {
                    parts.push(BlockView::new(BlockKind::Text, content.outer, content.body()));
                }
                self.content = Some(content);
            }
            "summary" => {
                let summary = &mut self.summary;
                summary.clear();
                walk.array(|walk| {
                    walk.object(|walk, key| {
                        if key.name() == "text" {
                            summary.extend(walk.string().map(TextRef::string));
                        }
                    });
                });
            }
            _ => {}
        }
    }

    /// The view of the item. Its type decides between message, reasoning, call, result and opaque item.
    fn into_view(mut self, bytes: &[u8], whole: ByteRange) -> EventView {
        let kind = self.kind(bytes);
        let (role, blocks) = match kind {
            // The type of a message may be left out.
            b"" | b"message" => {
                if let Some(ContentPlace { shape: ContentShape::Other, outer, .. }) = self.content {
                    self.parts.push(BlockView::opaque(outer));
                }
                (self.role(bytes), std::mem::take(&mut self.parts))
            }
            b"item_reference" => (Role::Assistant, vec![self.reference(bytes, whole)]),
            b"reasoning" => (Role::Assistant, vec![self.reasoning(bytes, whole)]),
            _ if output::is_output(kind) && self.is_paired(bytes, kind) => {
                (Role::Tool, vec![self.result(bytes, kind, whole)])
            }
            _ if output::is_call(kind) && self.is_paired(bytes, kind) => {
                let arguments = self.arguments.or(self.input);
                let arguments = arguments.or(self.action).or(self.operation);
                (Role::Assistant, vec![self.call(bytes, whole, arguments)])
            }
            _ => (self.opaque_role(bytes, kind), vec![BlockView::opaque(whole)]),
        };
        if matches!(kind, b"" | b"message") {
            return unread::view(role, blocks, bytes, &["content"]);
        }
        let origin = origins::origin(role, &blocks, bytes);
        EventView { role, origin, blocks }
    }

    /// The block of a reference to an item that the provider holds. The first letters of its id name the kind of item.
    /// A call gets no id here, because the reference does not have the `call_id`: the next output answers it by its
    /// place.
    fn reference(&self, bytes: &[u8], whole: ByteRange) -> BlockView {
        const CALLS: [&str; 8] = ["fc_", "ctc_", "tsc_", "lsh_", "sh_", "apc_", "cu_", "call_"];
        let id = self.id.map(|id| inside(id.of(bytes))).unwrap_or_default();
        let starts = |prefix: &&str| id.starts_with(prefix.as_bytes());
        if CALLS.iter().any(starts) {
            return part::call(whole, None, None, part::absent(whole));
        }
        let mut block = BlockView::opaque(whole);
        if starts(&"rs_") {
            block.kind = BlockKind::Reasoning { bound: true };
        }
        block
    }

    fn role(&self, bytes: &[u8]) -> Role {
        match self.role.map_or(&b""[..], |role| inside(role.of(bytes))) {
            b"system" => Role::System,
            b"developer" => Role::Developer,
            b"user" => Role::User,
            b"assistant" => Role::Assistant,
            _ => Role::Other,
        }
    }

    /// Whether a call or an output names its other half. A call that the provider runs itself has no `call_id`: call
    /// and output are items of one response, which keeps them together.
    fn is_paired(&self, bytes: &[u8], kind: &[u8]) -> bool {
        match self.call_id {
            Some(_) => true,
            None => output::pairs_by_item(kind) && self.pairing_id(bytes).is_some(),
        }
    }

    /// The role of an item that is not interpreted. Whatever happens within a response is the model's side.
    fn opaque_role(&self, bytes: &[u8], kind: &[u8]) -> Role {
        let in_response = [&b"_call"[..], b"_output"].iter().any(|end| kind.ends_with(end));
        if self.role.is_some() {
            self.role(bytes)
        } else if in_response || kind.starts_with(b"mcp_") || kind == b"program" {
            Role::Assistant
        } else {
            Role::Other
        }
    }

    fn kind<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        self.kind.map_or(&b""[..], |kind| inside(kind.of(bytes)))
    }

    /// The id that pairs a call with its output; it may be empty. The older shell items have only `id`.
    fn pairing_id(&self, bytes: &[u8]) -> Option<TextRef> {
        let others = [self.request, self.id];
        part::id(self.call_id).or_else(|| others.into_iter().find_map(|id| part::label(bytes, id)))
    }

    fn call(&self, bytes: &[u8], whole: ByteRange, arguments: Option<ByteRange>) -> BlockView {
        let body = part::arguments(bytes, arguments.map(ByteRange::to_usize), whole);
        // A built-in tool has no name; the type of its call serves as one.
        let name = part::label(bytes, self.name).or_else(|| part::label(bytes, self.kind));
        part::call(whole, self.pairing_id(bytes), name, body)
    }

    /// The block of a result. `output` is the type of its item.
    fn result(&mut self, bytes: &[u8], output: &[u8], whole: ByteRange) -> BlockView {
        let error = match self.status.map(|status| inside(status.of(bytes))) {
            Some(b"failed") => Some(true),
            _ => None,
        };
        let kind = BlockKind::Result {
            id: self.pairing_id(bytes),
            name: part::label(bytes, self.name),
            error,
        };
        let absent = BlockView { kind, body: part::absent(whole), ..BlockView::opaque(whole) };
        // A screenshot, a list of streams and a list of tools are structures: text cannot replace them.
        let editable = !output::is_structured(output);
        match self.output.take() {
            Some(ReadableBody { content, texts, media }) => BlockView {
                body: if editable { content.body() } else { absent.body },
                texts,
                media,
                ..absent
            },
            None => {
                let shown = self.tools.or(self.approve).map(TextRef::raw);
                BlockView { texts: shown.into_iter().collect(), ..absent }
            }
        }
    }

    fn reasoning(&mut self, bytes: &[u8], whole: ByteRange) -> BlockView {
        let bound = filled(bytes, self.encrypted).is_some();
        let mut texts = std::mem::take(&mut self.summary);
        for part in self.parts.drain(..) {
            texts.extend(part.texts);
        }
        BlockView {
            kind: BlockKind::Reasoning { bound },
            texts,
            body: TextRef { token: whole, coding: TextCoding::Raw, nested: None },
            ..BlockView::opaque(whole)
        }
    }
}
