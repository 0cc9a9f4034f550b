//! `OpenAI` Chat Completions, and what compatible servers and clients add to it.

use bytes::Bytes;
use midfold_core::{
    BlockKind, BlockView, ByteRange, ClientWords, Dialect, EventView, MediaKind, MediaRef, Role,
    TextRef,
};
use smallvec::SmallVec;

use super::part::{self, ContentPlace, ContentShape, read_content};
use super::unread;
use super::walk::{EventWalk, MemberKey, filled, to_range};
use crate::client_words::KnownClients;
use crate::media;
use crate::render::{Json, result_text};
use crate::scan::inside;

/// The dialect `openai-chat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenAiChat;

/// The members in which a message has its content.
const MEMBERS: [&str; 10] = [
    "audio",
    "content",
    "function_call",
    "images",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "thinking",
    "thinking_blocks",
    "tool_calls",
];

/// The members of a message, filled while it is read.
#[derive(Default)]
struct ChatMembers {
    role: Option<ByteRange>,
    name: Option<ByteRange>,
    call_id: Option<ByteRange>,
    content: Option<ContentPlace>,
    content_blocks: Vec<BlockView>,
    calls: Vec<BlockView>,
    function_call: Option<BlockView>,
    /// The blocks of all other members.
    others: SmallVec<[(ChatBlock, BlockView); 2]>,
}

/// Members that become one block of their own. Where a message has the same one twice, the last one counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChatBlock {
    Refusal,
    Audio,
    Images,
    ReasoningContent,
    Reasoning,
    ReasoningDetails,
    ThinkingBlocks,
}

impl Dialect for OpenAiChat {
    fn client_words(&self) -> &dyn ClientWords {
        &KnownClients
    }

    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn reasoning_member(&self) -> Option<&'static str> {
        Some("reasoning_content")
    }

    fn speaker(&self, bytes: &[u8]) -> Option<String> {
        // Few messages have a name, so most are not walked.
        memchr::memmem::find(bytes, br#""name""#)?;
        let mut walk = EventWalk::new(bytes);
        let mut name = None;
        walk.message(|walk, key| {
            if key.name() == "name" {
                name = walk.string();
            }
        });
        let name = midfold_core::jsonstr::decode(name.filter(|_| !walk.broken)?.of(bytes));
        Some(name.into_owned()).filter(|name| !name.is_empty())
    }

    fn view(&self, bytes: &[u8]) -> EventView {
        let mut walk = EventWalk::new(bytes);
        let mut message = ChatMembers::default();
        let whole = walk.message(|walk, key| message.member(walk, key));
        if walk.broken {
            return super::opaque_view(bytes);
        }
        message.into_view(bytes, to_range(&whole))
    }

    fn made_message(&self, role: Role, text: &str) -> Bytes {
        let role = match role {
            Role::System | Role::Developer | Role::Assistant => role.name(),
            Role::User | Role::Tool | Role::Other => "user",
        };
        Json::default()
            .raw(r#"{"role":""#)
            .raw(role)
            .raw(r#"","content":"#)
            .text(text)
            .raw("}")
            .finish()
    }

    fn made_result(&self, _like: &[u8], id: &str, name: &str, text: &str) -> Bytes {
        let json = Json::default();
        // A call from before `tool_calls` has no id: its result names the function.
        let json = if id.is_empty() && !name.is_empty() {
            json.raw(r#"{"role":"function","name":"#).text(name)
        } else {
            json.raw(r#"{"role":"tool","tool_call_id":"#).text(id)
        };
        json.raw(r#","content":"#).text(text).raw("}").finish()
    }

    fn filled_result(&self, bytes: &[u8], view: &EventView, text: &str) -> Option<Bytes> {
        let [block] = &view.blocks[..] else { return None };
        let BlockKind::Result { id, name, .. } = &block.kind else { return None };
        let content = block.body.token.of(bytes);
        let is_missing = match content {
            b"" | b"null" => true,
            [b'[', inner @ .., b']'] => inner.trim_ascii().is_empty(),
            _ => false,
        };
        if !is_missing {
            return None;
        }
        let label = |text: &Option<TextRef>| text.map(|text| text.decode(bytes).into_owned());
        let [id, name] = [id, name].map(|text| label(text).unwrap_or_default());
        Some(self.made_result(bytes, &id, &name, text))
    }

    fn results_as_text(&self, bytes: &[u8], view: &EventView, blocks: &[usize]) -> Bytes {
        let texts: Vec<_> = blocks.iter().map(|&index| result_text(bytes, view, index)).collect();
        let text = texts.join("\n");
        let mut media =
            blocks.iter().filter_map(|&at| view.blocks.get(at)).flat_map(|b| &b.media).peekable();
        if media.peek().is_none() {
            return self.made_message(Role::User, &text);
        }
        let start = Json::default().raw(r#"{"role":"user","content":[{"type":"text","text":"#);
        media
            .fold(start.text(&text).raw("}"), |json, media| {
                json.raw(",").raw(media.outer.of(bytes))
            })
            .raw("]}")
            .finish()
    }
}

impl ChatMembers {
    /// Reads one member of a message.
    fn member(&mut self, walk: &mut EventWalk<'_>, key: &MemberKey<'_>) {
        match key.name() {
            "role" => self.role = walk.string(),
            "name" | "tool_name" => {
                let name = walk.string();
                self.name = name.or(self.name);
            }
            "tool_call_id" => self.call_id = walk.string(),
            "content" => self.read_content(walk, key),
            "tool_calls" => {
                self.calls.clear();
                let calls = &mut self.calls;
                walk.array(|walk| calls.push(read_call(walk)));
            }
            "function_call" => {
                self.function_call = (walk.peek() == Some(b'{')).then(|| {
                    let (name, arguments, value) = read_function(walk);
                    let outer = key.member(&value);
                    let name = part::label(walk.bytes, name);
                    part::call(outer, None, name, part::arguments(walk.bytes, arguments, outer))
                });
            }
            "refusal" => self.text_member(walk, key, ChatBlock::Refusal),
            "reasoning_content" | "thinking" => {
                self.text_member(walk, key, ChatBlock::ReasoningContent);
            }
            "reasoning" => self.text_member(walk, key, ChatBlock::Reasoning),
            "reasoning_details" => self.details(walk, key, ChatBlock::ReasoningDetails),
            "thinking_blocks" => self.details(walk, key, ChatBlock::ThinkingBlocks),
            "audio" => self.audio(walk, key),
            "images" => self.images(walk, key),
            _ => {}
        }
    }

    fn read_content(&mut self, walk: &mut EventWalk<'_>, key: &MemberKey<'_>) {
        let blocks = &mut self.content_blocks;
        blocks.clear();
        let content = read_content(walk, key, |bytes, part| blocks.push(part.block(bytes)));
        match content.shape {
            ContentShape::Text => {
                blocks.push(BlockView::new(BlockKind::Text, content.outer, content.body()));
            }
            ContentShape::Other => blocks.push(BlockView::opaque(content.outer)),
            ContentShape::Null | ContentShape::List => {}
        }
        self.content = Some(content);
    }

    fn set(&mut self, member: ChatBlock, block: Option<BlockView>) {
        self.others.retain(|(kind, _)| *kind != member);
        self.others.extend(block.map(|block| (member, block)));
    }

    fn text_member(&mut self, walk: &mut EventWalk<'_>, key: &MemberKey<'_>, member: ChatBlock) {
        let kind = match member {
            ChatBlock::Refusal => BlockKind::Refusal,
            _ => BlockKind::Reasoning { bound: false },
        };
        let block = walk.string().map(|token| {
            let outer = key.member(&token.to_usize());
            BlockView::new(kind, outer, TextRef::string(token))
        });
        self.set(member, block);
    }

    /// Reads a list of reasoning entries, some of which may be signed or encrypted.
    fn details(&mut self, walk: &mut EventWalk<'_>, key: &MemberKey<'_>, member: ChatBlock) {
        if walk.peek() != Some(b'[') {
            return self.set(member, None);
        }
        let mut texts = SmallVec::new();
        let mut bound = false;
        let value = walk.array(|walk| {
            walk.object(|walk, key| match key.name() {
                "text" | "summary" | "thinking" => {
                    texts.extend(walk.string().map(TextRef::string));
                }
                "signature" | "data" => {
                    let token = walk.string();
                    bound |= filled(walk.bytes, token).is_some();
                }
                _ => {}
            });
        });
        let kind = BlockKind::Reasoning { bound };
        let mut block = BlockView::new(kind, key.member(&value), TextRef::raw(to_range(&value)));
        block.texts = texts;
        self.set(member, Some(block));
    }

    fn audio(&mut self, walk: &mut EventWalk<'_>, key: &MemberKey<'_>) {
        let is_object = walk.peek() == Some(b'{');
        let value = walk.value();
        let block = is_object.then(|| {
            let outer = key.member(&value);
            let media =
                media::describe(walk.bytes, MediaKind::Audio, outer, Some(to_range(&value)));
            media_block(outer, vec![media])
        });
        self.set(ChatBlock::Audio, block);
    }

    /// Reads Ollama's images: a list of base64 strings beside the content.
    fn images(&mut self, walk: &mut EventWalk<'_>, key: &MemberKey<'_>) {
        let mut media = Vec::new();
        let value = walk.array(|walk| {
            let holder = to_range(&walk.value());
            media.push(media::describe(walk.bytes, MediaKind::Image, holder, Some(holder)));
        });
        let block = (!media.is_empty()).then(|| media_block(key.member(&value), media));
        self.set(ChatBlock::Images, block);
    }

    fn into_view(self, bytes: &[u8], whole: ByteRange) -> EventView {
        let role = match self.role.map_or(&b""[..], |role| inside(role.of(bytes))) {
            b"system" => Role::System,
            b"developer" => Role::Developer,
            b"user" => Role::User,
            b"assistant" => Role::Assistant,
            b"tool" | b"function" => Role::Tool,
            _ => Role::Other,
        };
        let mut blocks = if role == Role::Tool {
            let id = part::id(self.call_id);
            let name = part::label(bytes, self.name);
            vec![result(bytes, self.content, self.content_blocks, id, name, whole)]
        } else {
            self.content_blocks
        };
        blocks.extend(self.calls);
        blocks.extend(self.function_call);
        blocks.extend(self.others.into_iter().map(|(_, block)| block));
        // The blocks were collected by kind, and a view has them in the order of the bytes.
        blocks.sort_by_key(|block| block.outer.start);
        unread::view(role, blocks, bytes, &MEMBERS)
    }
}

fn media_block(outer: ByteRange, media: Vec<MediaRef>) -> BlockView {
    BlockView { kind: BlockKind::Media, media, ..BlockView::opaque(outer) }
}

/// The block of a tool message: one result, whatever its content consists of.
fn result(
    bytes: &[u8],
    content: Option<ContentPlace>,
    parts: Vec<BlockView>,
    id: Option<TextRef>,
    name: Option<TextRef>,
    whole: ByteRange,
) -> BlockView {
    let kind = BlockKind::Result { id, name, error: None };
    let (outer, body) = match content {
        Some(content) => (content.outer, content.body()),
        None => (whole, part::absent(whole)),
    };
    let mut block = BlockView { kind, body, ..BlockView::opaque(outer) };
    if let Some(ContentPlace { shape: ContentShape::Other, value, .. }) = content {
        // Some servers send an object as content. The model reads the object's JSON.
        if value.of(bytes).starts_with(b"{") {
            block.texts.push(body);
        }
    }
    for part in parts {
        block.texts.extend(part.texts);
        block.media.extend(part.media);
    }
    block
}

/// Name, arguments and the whole value of a function call.
type ChatFunction = (Option<ByteRange>, Option<std::ops::Range<usize>>, std::ops::Range<usize>);

/// Reads `{name, arguments}` or `{name, input}`: returns name, arguments and the whole value.
fn read_function(walk: &mut EventWalk<'_>) -> ChatFunction {
    let (mut name, mut arguments) = (None, None);
    let value = walk.object(|walk, key| match key.name() {
        "name" => name = walk.string(),
        "arguments" | "input" => arguments = Some(walk.value()),
        _ => {}
    });
    (name, arguments, value)
}

/// Reads one element of `tool_calls`.
fn read_call(walk: &mut EventWalk<'_>) -> BlockView {
    let (mut id, mut name, mut arguments) = (None, None, None);
    let mut known = false;
    let value = walk.object(|walk, key| match key.name() {
        "id" => id = walk.string(),
        "function" | "custom" if walk.peek() == Some(b'{') => {
            known = true;
            let (found_name, found_arguments, _) = read_function(walk);
            (name, arguments) = (found_name, found_arguments);
        }
        _ => {}
    });
    let outer = to_range(&value);
    // No result could answer this element.
    if !known && id.is_none() {
        return BlockView::opaque(outer);
    }
    let bytes = walk.bytes;
    let body = part::arguments(bytes, arguments, outer);
    part::call(outer, part::id(id), part::label(bytes, name), body)
}
