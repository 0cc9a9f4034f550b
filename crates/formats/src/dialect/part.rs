//! Content parts: the level below the message, which the dialects share.

use std::ops::Range;

use midfold_core::{
    BlockKind, BlockView, ByteRange, MediaExtent, MediaKind, MediaRef, TextCoding, TextRef,
};
use smallvec::SmallVec;

use super::walk::{EventWalk, MemberKey, filled, to_range};
use crate::media;
use crate::scan::inside;

/// The kind of value under `content` or `output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentShape {
    Null,
    Text,
    List,
    Other,
}

/// The place and kind of a `content` member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentPlace {
    pub(crate) outer: ByteRange,
    pub(crate) value: ByteRange,
    pub(crate) shape: ContentShape,
}

impl ContentPlace {
    /// The value as the body of a block.
    pub(crate) fn body(&self) -> TextRef {
        match self.shape {
            ContentShape::Text => TextRef::string(self.value),
            _ => TextRef::raw(self.value),
        }
    }
}

/// The members of one part that any dialect reads. The part's `type` decides which of them count.
#[derive(Debug, Default)]
pub(crate) struct PartMembers {
    pub(crate) outer: ByteRange,
    pub(crate) kind: Option<ByteRange>,
    pub(crate) text: Option<ByteRange>,
    pub(crate) refusal: Option<ByteRange>,
    pub(crate) thinking: Option<ByteRange>,
    pub(crate) signature: Option<ByteRange>,
    pub(crate) id: Option<ByteRange>,
    pub(crate) tool_use_id: Option<ByteRange>,
    pub(crate) name: Option<ByteRange>,
    pub(crate) input: Option<ByteRange>,
    pub(crate) error: Option<bool>,
    pub(crate) content: Option<ContentPlace>,
    stdout: Option<ByteRange>,
    stderr: Option<ByteRange>,
    image_url: Option<ByteRange>,
    source: Option<ByteRange>,
    audio: Option<ByteRange>,
    file: Option<ByteRange>,
    data: Option<ByteRange>,
    /// The readable text under `content`.
    pub(crate) texts: SmallVec<[TextRef; 1]>,
    /// The media under `content`.
    pub(crate) media: Vec<MediaRef>,
}

impl PartMembers {
    /// Reads the next value as a part.
    pub(crate) fn read(walk: &mut EventWalk<'_>) -> Self {
        let mut part = Self::default();
        let range = match walk.peek() {
            Some(b'"') => {
                part.text = walk.string();
                part.outer = part.text.unwrap_or_default();
                return part;
            }
            _ => walk.object(|walk, key| part.member(walk, key)),
        };
        part.outer = to_range(&range);
        part
    }

    /// Reads one member of a part.
    fn member(&mut self, walk: &mut EventWalk<'_>, key: &MemberKey<'_>) {
        match key.name() {
            "type" => self.kind = walk.string(),
            "text" => self.text = walk.string(),
            "refusal" => self.refusal = walk.string(),
            "thinking" => self.thinking = walk.string(),
            "signature" => self.signature = walk.string(),
            "id" => self.id = walk.string(),
            "tool_use_id" => self.tool_use_id = walk.string(),
            "name" => self.name = walk.string(),
            "input" => self.input = Some(to_range(&walk.value())),
            "stdout" => self.stdout = walk.string(),
            "stderr" => self.stderr = walk.string(),
            "image_url" => self.image_url = Some(to_range(&walk.value())),
            "source" => self.source = Some(to_range(&walk.value())),
            "input_audio" | "audio" => self.audio = Some(to_range(&walk.value())),
            "file" | "file_data" | "file_url" | "file_id" => {
                let value = to_range(&walk.value());
                // `file_data` holds the file's bytes; the other members only name the file.
                if self.file.is_none() || key.name() != "file_id" {
                    self.file = Some(value);
                }
            }
            "data" => self.data = walk.string(),
            "is_error" => {
                let value = walk.value();
                self.error = match walk.bytes.get(value) {
                    Some(b"true") => Some(true),
                    Some(b"false") => Some(false),
                    _ => None,
                };
            }
            "content" => {
                let (content, texts, media) = read_nested(walk, key);
                self.content = Some(content);
                self.texts = texts;
                self.media = media;
            }
            _ => {}
        }
    }

    /// The `type`, still escaped; empty where there is none.
    pub(crate) fn kind<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        self.kind.map_or(&[][..], |range| inside(range.of(bytes)))
    }

    /// The text of a part that is plain text; `None` for any other part.
    pub(crate) fn plain(&self, bytes: &[u8]) -> Option<ByteRange> {
        match self.kind(bytes) {
            b"text" | b"input_text" | b"output_text" | b"summary_text" | b"reasoning_text"
            | b"" => self.text,
            _ => None,
        }
    }

    /// The block of a part that means the same in every dialect: text, refusal or media. Any other part is opaque.
    pub(crate) fn block(&self, bytes: &[u8]) -> BlockView {
        if let Some(text) = self.plain(bytes) {
            return BlockView::new(BlockKind::Text, self.outer, TextRef::string(text));
        }
        if let (b"refusal", Some(text)) = (self.kind(bytes), self.refusal) {
            return BlockView::new(BlockKind::Refusal, self.outer, TextRef::string(text));
        }
        let mut block = BlockView::opaque(self.outer);
        if let Some(mut media) = self.media(bytes) {
            block.kind = BlockKind::Media;
            block.texts = self.document(bytes);
            if !block.texts.is_empty() {
                media.extent = MediaExtent::Read;
            }
            block.media.push(media);
        }
        block
    }

    /// The media that this part is; `None` where it is no media.
    pub(crate) fn media(&self, bytes: &[u8]) -> Option<MediaRef> {
        let (kind, holder) = match self.kind(bytes) {
            b"image_url" | b"input_image" | b"image" | b"computer_screenshot" => {
                (MediaKind::Image, self.image_url.or(self.source).or(self.data))
            }
            b"input_audio" | b"audio" => {
                (MediaKind::Audio, self.audio.or(self.source).or(self.data))
            }
            b"file" | b"input_file" | b"document" | b"container_upload" => {
                (MediaKind::File, self.file.or(self.source).or(self.data))
            }
            _ => return None,
        };
        Some(media::describe(bytes, kind, self.outer, holder))
    }

    /// The texts of a document that is sent as text; empty for any other part.
    fn document(&self, bytes: &[u8]) -> SmallVec<[TextRef; 1]> {
        let source = self.source.filter(|_| self.kind(bytes) == b"document");
        source.map(|source| media::readable(bytes, source.to_usize())).unwrap_or_default()
    }

    /// Adds the text and the media that this part of a result holds.
    fn readable(
        &self,
        bytes: &[u8],
        texts: &mut SmallVec<[TextRef; 1]>,
        media: &mut Vec<MediaRef>,
    ) {
        if let Some(medium) = self.media(bytes) {
            let document = self.document(bytes);
            let extent = if document.is_empty() { medium.extent } else { MediaExtent::Read };
            texts.extend(document);
            media.push(MediaRef { extent, ..medium });
            return;
        }
        let own = [self.text, self.refusal, self.stdout, self.stderr];
        texts.extend(own.into_iter().flatten().map(TextRef::string));
        texts.extend(self.texts.iter().copied());
        media.extend(self.media.iter().copied());
    }
}

/// Reads a `content` value and calls `each` with its parts.
pub(crate) fn read_content(
    walk: &mut EventWalk<'_>,
    key: &MemberKey<'_>,
    mut each: impl FnMut(&[u8], PartMembers),
) -> ContentPlace {
    let (shape, value) = match walk.peek() {
        Some(b'"') => (ContentShape::Text, walk.value()),
        Some(b'n') => (ContentShape::Null, walk.value()),
        Some(b'[') => {
            let list = walk.array(|walk| {
                let part = PartMembers::read(walk);
                each(walk.bytes, part);
            });
            (ContentShape::List, list)
        }
        _ => (ContentShape::Other, walk.value()),
    };
    ContentPlace { outer: key.member(&value), value: to_range(&value), shape }
}

/// The place of a content, with its text and its media.
type NestedPart = (ContentPlace, SmallVec<[TextRef; 1]>, Vec<MediaRef>);

/// Reads the content of a result, of which only text and media are kept. Lists deeper than two levels are not followed,
/// so that nesting cannot exhaust the stack.
fn read_nested(walk: &mut EventWalk<'_>, key: &MemberKey<'_>) -> NestedPart {
    let mut texts = SmallVec::new();
    let mut media = Vec::new();
    let content = read_flat(walk, key, &mut texts, &mut media);
    (content, texts, media)
}

/// Reads content without following lists inside it.
fn read_flat(
    walk: &mut EventWalk<'_>,
    key: &MemberKey<'_>,
    texts: &mut SmallVec<[TextRef; 1]>,
    media: &mut Vec<MediaRef>,
) -> ContentPlace {
    let content = match walk.peek() {
        Some(b'[') => {
            let list = walk.array(|walk| {
                let mut part = PartMembers::default();
                if walk.peek() == Some(b'"') {
                    part.text = walk.string();
                    part.outer = part.text.unwrap_or_default();
                } else {
                    let range = walk.object(|walk, key| {
                        // `member` would read nested content again, as deep as the input goes.
                        if key.name() == "content" {
                            part.search_result(walk);
                        } else {
                            part.member(walk, key);
                        }
                    });
                    part.outer = to_range(&range);
                }
                part.readable(walk.bytes, texts, media);
            });
            ContentPlace {
                outer: key.member(&list),
                value: to_range(&list),
                shape: ContentShape::List,
            }
        }
        _ => read_content(walk, key, |_, _| {}),
    };
    if content.shape == ContentShape::Text {
        texts.push(TextRef::string(content.value));
    }
    content
}

impl PartMembers {
    /// Reads the text parts of a search result inside a tool result.
    fn search_result(&mut self, walk: &mut EventWalk<'_>) {
        let texts = &mut self.texts;
        texts.clear();
        walk.array(|walk| {
            walk.object(|walk, key| {
                if key.name() == "text"
                    && let Some(text) = walk.string()
                {
                    texts.push(TextRef::string(text));
                }
            });
        });
    }
}

/// The body of a result or call, with the text and media in it.
pub(crate) struct ReadableBody {
    pub(crate) content: ContentPlace,
    pub(crate) texts: SmallVec<[TextRef; 1]>,
    pub(crate) media: Vec<MediaRef>,
}

impl ReadableBody {
    /// Reads the next value as the content of a result: a string, a list of parts, or one part.
    pub(crate) fn read(walk: &mut EventWalk<'_>, key: &MemberKey<'_>) -> Self {
        if walk.peek() == Some(b'{') {
            let part = PartMembers::read(walk);
            let mut texts = SmallVec::new();
            let mut media = Vec::new();
            part.readable(walk.bytes, &mut texts, &mut media);
            let outer =
                ByteRange { start: u32::try_from(key.start).unwrap_or(u32::MAX), ..part.outer };
            let content = ContentPlace { outer, value: part.outer, shape: ContentShape::Other };
            return Self { content, texts, media };
        }
        let (content, texts, media) = read_nested(walk, key);
        Self { content, texts, media }
    }
}

/// The place of a call id, where it is a string. An empty one has a place too, because a repair may put another id
/// there.
pub(crate) fn id(token: Option<ByteRange>) -> Option<TextRef> {
    token.map(TextRef::string)
}

/// The place of a tool name; `None` where it is no string or empty.
pub(crate) fn label(bytes: &[u8], token: Option<ByteRange>) -> Option<TextRef> {
    filled(bytes, token).map(TextRef::string)
}

/// The place of a call's arguments: the inside of a string, or a JSON value as it is.
pub(crate) fn arguments(bytes: &[u8], value: Option<Range<usize>>, outer: ByteRange) -> TextRef {
    let Some(value) = value else { return absent(outer) };
    let range = to_range(&value);
    if bytes.get(value.start) == Some(&b'"') { TextRef::string(range) } else { TextRef::raw(range) }
}

/// The body of a block that has none: an empty range at the block's end. Nothing edits it.
pub(crate) fn absent(outer: ByteRange) -> TextRef {
    TextRef {
        token: ByteRange { start: outer.end, end: outer.end },
        coding: TextCoding::Raw,
        nested: None,
    }
}

/// The block of a call. Without arguments it has no text.
pub(crate) fn call(
    outer: ByteRange,
    id: Option<TextRef>,
    name: Option<TextRef>,
    body: TextRef,
) -> BlockView {
    let mut block = BlockView::new(BlockKind::Call { id, name }, outer, body);
    if body.token.is_empty() {
        block.texts.clear();
    }
    block
}
