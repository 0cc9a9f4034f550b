//! AWS Bedrock Converse: a block is an object with one member, whose name says what it is.

use bytes::Bytes;
use midfold_core::{
    BlockKind, BlockView, ByteRange, ClientWords, Dialect, EventView, JsonFrame, MediaKind,
    MediaRef, Role, TextRef,
};
use smallvec::SmallVec;

use super::part;
use super::results;
use super::unread;
use super::walk::{EventWalk, MemberKey, filled, to_range};
use crate::client_words::KnownClients;
use crate::media;
use crate::render::Json;
use crate::scan::inside;

/// The dialect `bedrock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bedrock;

/// The frame for new text in place of a result's content, which is a list.
const CONTENT: JsonFrame = JsonFrame { before: r#"[{"text":"#, after: "}]" };

impl Dialect for Bedrock {
    fn client_words(&self) -> &dyn ClientWords {
        &KnownClients
    }

    fn name(&self) -> &'static str {
        "bedrock"
    }

    fn view(&self, bytes: &[u8]) -> EventView {
        let mut walk = EventWalk::new(bytes);
        let mut role = None;
        let mut blocks = Vec::new();
        walk.message(|walk, key| match key.name() {
            "role" => role = walk.string(),
            "content" => {
                blocks.clear();
                read_content(walk, key, &mut blocks);
            }
            _ => {}
        });
        if walk.broken {
            return super::opaque_view(bytes);
        }
        let role = match role.map_or(&b""[..], |role| inside(role.of(bytes))) {
            b"user" => Role::User,
            b"assistant" => Role::Assistant,
            b"system" => Role::System,
            _ => Role::Other,
        };
        unread::view(role, blocks, bytes, &["content"])
    }

    fn made_message(&self, role: Role, text: &str) -> Bytes {
        let role = if role == Role::Assistant { "assistant" } else { "user" };
        let json = Json::default().raw(r#"{"role":""#).raw(role).raw(r#"","content":[{"text":"#);
        json.text(text).raw("}]}").finish()
    }

    fn made_result(&self, _like: &[u8], id: &str, _name: &str, text: &str) -> Bytes {
        Json::default()
            .raw(r#"{"role":"user","content":[{"toolResult":{"toolUseId":"#)
            .text(id)
            .raw(r#","content":[{"text":"#)
            .text(text)
            .raw("}]}}]}")
            .finish()
    }

    fn results_as_text(&self, bytes: &[u8], view: &EventView, blocks: &[usize]) -> Bytes {
        results::as_text(bytes, view, blocks, r#"{"text":"#)
    }
}

fn read_content(walk: &mut EventWalk<'_>, key: &MemberKey<'_>, blocks: &mut Vec<BlockView>) {
    match walk.peek() {
        Some(b'[') => {
            walk.array(|walk| blocks.extend(read_block(walk)));
        }
        Some(b'n') => {}
        Some(b'"') => {
            let value = walk.value();
            let text = TextRef::string(to_range(&value));
            blocks.push(BlockView::new(BlockKind::Text, key.member(&value), text));
        }
        _ => {
            let value = walk.value();
            blocks.push(BlockView::opaque(key.member(&value)));
        }
    }
}

/// The content of a block, by the name of its member. Where a block has several, the last one counts.
enum BedrockBlock {
    Text(ByteRange),
    Use(BedrockUse),
    Result(BedrockResult),
    Reasoning {
        text: Option<ByteRange>,
        bound: bool,
    },
    Media(MediaKind, ByteRange),
    /// A place where a prompt cache may end. It is no content.
    CachePoint,
}

/// The members of a `toolUse`.
#[derive(Default)]
struct BedrockUse {
    id: Option<ByteRange>,
    name: Option<ByteRange>,
    input: Option<ByteRange>,
}

/// The members of a `toolResult`.
#[derive(Default)]
struct BedrockResult {
    id: Option<ByteRange>,
    status: Option<ByteRange>,
    content: Option<ByteRange>,
    /// The number of elements in the content.
    len: usize,
    texts: SmallVec<[TextRef; 1]>,
    media: Vec<MediaRef>,
}

/// Reads the next element of a content list. `None` for a cache point, which is no content.
fn read_block(walk: &mut EventWalk<'_>) -> Option<BlockView> {
    let mut member = None;
    let range = walk.object(|walk, key| member = read_member(walk, key).or(member.take()));
    let outer = to_range(&range);
    let bytes = walk.bytes;
    Some(match member {
        Some(BedrockBlock::CachePoint) => return None,
        Some(BedrockBlock::Text(text)) => {
            BlockView::new(BlockKind::Text, outer, TextRef::string(text))
        }
        Some(BedrockBlock::Use(call)) => {
            let body = part::arguments(bytes, call.input.map(ByteRange::to_usize), outer);
            part::call(outer, part::id(call.id), part::label(bytes, call.name), body)
        }
        Some(BedrockBlock::Result(answer)) => answer.block(bytes, outer),
        Some(BedrockBlock::Reasoning { text, bound }) => {
            let kind = BlockKind::Reasoning { bound };
            match text {
                Some(text) => BlockView::new(kind, outer, TextRef::string(text)),
                None => BlockView { kind, ..BlockView::opaque(outer) },
            }
        }
        Some(BedrockBlock::Media(kind, holder)) => {
            let media = vec![media::describe(bytes, kind, outer, Some(holder))];
            BlockView { kind: BlockKind::Media, media, ..BlockView::opaque(outer) }
        }
        None => BlockView::opaque(outer),
    })
}

/// Reads one member of a block. `None` for a member of another kind.
fn read_member(walk: &mut EventWalk<'_>, key: &MemberKey<'_>) -> Option<BedrockBlock> {
    match key.name() {
        "text" => walk.string().map(BedrockBlock::Text),
        "toolUse" => {
            let mut call = BedrockUse::default();
            walk.object(|walk, key| match key.name() {
                "toolUseId" => call.id = walk.string(),
                "name" => call.name = walk.string(),
                "input" => call.input = Some(to_range(&walk.value())),
                _ => {}
            });
            Some(BedrockBlock::Use(call))
        }
        "toolResult" => Some(BedrockBlock::Result(BedrockResult::read(walk))),
        "reasoningContent" => Some(read_reasoning(walk)),
        "cachePoint" => Some(BedrockBlock::CachePoint),
        // The member is `{text: {text, qualifiers}}` or an image.
        "guardContent" => {
            let mut text = None;
            walk.object(|walk, key| {
                if key.name() == "text" {
                    walk.object(|walk, key| {
                        if key.name() == "text" {
                            text = walk.string();
                        }
                    });
                }
            });
            text.map(BedrockBlock::Text)
        }
        name => {
            let kind = media_kind(name)?;
            read_source(walk).map(|holder| BedrockBlock::Media(kind, holder))
        }
    }
}

fn media_kind(name: &str) -> Option<MediaKind> {
    match name {
        "image" => Some(MediaKind::Image),
        "audio" => Some(MediaKind::Audio),
        "video" => Some(MediaKind::Video),
        "document" => Some(MediaKind::File),
        _ => None,
    }
}

/// Reads the `source` of an image, a document, a sound or a video; the whole object where it has none.
fn read_source(walk: &mut EventWalk<'_>) -> Option<ByteRange> {
    if walk.peek() != Some(b'{') {
        return None;
    }
    let mut source = None;
    let whole = walk.object(|walk, key| {
        if key.name() == "source" {
            source = Some(to_range(&walk.value()));
        }
    });
    Some(source.unwrap_or(to_range(&whole)))
}

/// Reads `{reasoningText: {text, signature}}` or `{redactedContent}`.
fn read_reasoning(walk: &mut EventWalk<'_>) -> BedrockBlock {
    let (mut text, mut bound) = (None, false);
    walk.object(|walk, key| match key.name() {
        "reasoningText" => {
            walk.object(|walk, key| match key.name() {
                "text" => text = walk.string(),
                "signature" => {
                    let token = walk.string();
                    bound |= filled(walk.bytes, token).is_some();
                }
                _ => {}
            });
        }
        "redactedContent" => bound = true,
        _ => {}
    });
    BedrockBlock::Reasoning { text, bound }
}

impl BedrockResult {
    fn read(walk: &mut EventWalk<'_>) -> Self {
        let mut answer = Self::default();
        walk.object(|walk, key| match key.name() {
            "toolUseId" => answer.id = walk.string(),
            "status" => answer.status = walk.string(),
            "content" => {
                (answer.len, answer.texts, answer.media) = Default::default();
                let content = walk.array(|walk| answer.element(walk));
                answer.content = Some(to_range(&content));
            }
            _ => {}
        });
        answer
    }

    /// Reads one element of the content: text, JSON, an image or a document.
    fn element(&mut self, walk: &mut EventWalk<'_>) {
        self.len += 1;
        let mut media = None;
        let outer = walk.object(|walk, key| match key.name() {
            "text" => self.texts.extend(walk.string().map(TextRef::string)),
            "json" => self.texts.push(TextRef::raw(to_range(&walk.value()))),
            name => {
                if let Some(kind) = media_kind(name) {
                    media = read_source(walk).map(|holder| (kind, holder));
                }
            }
        });
        let outer = to_range(&outer);
        let described = media.map(|(kind, at)| media::describe(walk.bytes, kind, outer, Some(at)));
        self.media.extend(described);
    }

    fn block(self, bytes: &[u8], outer: ByteRange) -> BlockView {
        let error = match self.status.map(|status| inside(status.of(bytes))) {
            Some(b"error") => Some(true),
            Some(b"success") => Some(false),
            _ => None,
        };
        let kind = BlockKind::Result { id: part::id(self.id), name: None, error };
        let mut block = BlockView { kind, media: self.media, ..BlockView::opaque(outer) };
        match (self.content, self.texts.as_slice()) {
            (None, _) => block.body = part::absent(outer),
            // The content is a single text: an edit replaces only that string.
            (Some(_), [text]) if self.len == 1 && *text == TextRef::string(text.token) => {
                block.body = *text;
            }
            (Some(content), _) => {
                block.body = TextRef::raw(content);
                block.frame = Some(&CONTENT);
            }
        }
        block.texts = self.texts;
        block
    }
}
