//! Gemini `generateContent`: one event is one element of `contents`. Names are read in both spellings
//! that the API takes (`functionCall`, `function_call`) and written in the first.

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
use crate::spelling::camel;

/// The dialect `gemini`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemini;

/// The frame for new text in place of a response, which is an object.
const RESPONSE: JsonFrame = JsonFrame { before: r#"{"output":"#, after: "}" };

impl Dialect for Gemini {
    fn client_words(&self) -> &dyn ClientWords {
        &KnownClients
    }

    fn name(&self) -> &'static str {
        "gemini"
    }

    fn view(&self, bytes: &[u8]) -> EventView {
        let mut walk = EventWalk::new(bytes);
        let mut role = None;
        let mut blocks = Vec::new();
        let mut has_parts = false;
        walk.message(|walk, key| match key.name() {
            "role" => role = walk.string(),
            "parts" => {
                blocks.clear();
                has_parts = true;
                match walk.peek() {
                    Some(b'[') => {
                        walk.array(|walk| blocks.push(GeminiMember::read(walk)));
                    }
                    Some(b'n') => {}
                    _ => {
                        let value = walk.value();
                        blocks.push(BlockView::opaque(key.member(&value)));
                    }
                }
            }
            _ => {}
        });
        if walk.broken {
            return super::opaque_view(bytes);
        }
        let role = match role.map(|role| inside(role.of(bytes))) {
            Some(b"model") => Role::Assistant,
            Some(b"system") => Role::System,
            // Results once had a role of their own, `function`.
            Some(b"user" | b"function") => Role::User,
            // Gemini takes content without a role as the user's.
            None if has_parts => Role::User,
            _ => Role::Other,
        };
        unread::view(role, blocks, bytes, &["parts"])
    }

    fn made_message(&self, role: Role, text: &str) -> Bytes {
        let role = if role == Role::Assistant { "model" } else { "user" };
        let json = Json::default().raw(r#"{"role":""#).raw(role).raw(r#"","parts":[{"text":"#);
        json.text(text).raw("}]}").finish()
    }

    fn made_result(&self, _like: &[u8], id: &str, name: &str, text: &str) -> Bytes {
        let json = Json::default().raw(r#"{"role":"user","parts":["#);
        response(json, id, name, "output", text).raw("}}]}").finish()
    }

    fn results_as_text(&self, bytes: &[u8], view: &EventView, blocks: &[usize]) -> Bytes {
        results::as_text(bytes, view, blocks, r#"{"text":"#)
    }
}

/// A `functionResponse` part without its last two closing braces. Gemini refuses a response without a name, so a
/// missing name becomes `unknown_tool`.
pub(crate) fn response(json: Json, id: &str, name: &str, key: &str, text: &str) -> Json {
    let name = if name.is_empty() { "unknown_tool" } else { name };
    let json = json.raw(r#"{"functionResponse":{"#);
    let json = if id.is_empty() { json } else { json.raw(r#""id":"#).text(id).raw(",") };
    let json = json.raw(r#""name":"#).text(name).raw(r#","response":{""#).raw(key);
    json.raw(r#"":"#).text(text).raw("}")
}

/// The members of one part, filled while it is read.
#[derive(Default)]
struct GeminiMember {
    outer: ByteRange,
    text: Option<ByteRange>,
    thought: bool,
    signature: Option<ByteRange>,
    call: Option<GeminiFunction>,
    response: Option<GeminiFunction>,
    media: Option<(MediaKind, ByteRange)>,
}

/// The members of a call, `{id, name, args}`, or of a result, `{id, name, response, parts}`.
#[derive(Default)]
struct GeminiFunction {
    id: Option<ByteRange>,
    name: Option<ByteRange>,
    args: Option<ByteRange>,
    response: Option<GeminiResponse>,
    media: Vec<MediaRef>,
}

/// The value of a `response`: what the tool answered.
#[derive(Default)]
struct GeminiResponse {
    value: ByteRange,
    /// The number of its members, where it is an object.
    members: usize,
    last: ByteRange,
    error: bool,
}

impl GeminiMember {
    fn read(walk: &mut EventWalk<'_>) -> BlockView {
        let mut part = Self::default();
        let range = walk.object(|walk, key| part.member(walk, key));
        part.outer = to_range(&range);
        part.block(walk.bytes)
    }

    fn member(&mut self, walk: &mut EventWalk<'_>, key: &MemberKey<'_>) {
        match &*camel(key.name()) {
            "text" => self.text = walk.string(),
            "thought" => self.thought = walk.peek() == Some(b't'),
            "thoughtSignature" => self.signature = walk.string(),
            "functionCall" => self.call = Some(GeminiFunction::read(walk)),
            "functionResponse" => self.response = Some(GeminiFunction::read(walk)),
            "inlineData" | "fileData" => self.media = read_media(walk),
            _ => {}
        }
    }

    /// The block of the part.
    fn block(self, bytes: &[u8]) -> BlockView {
        let outer = self.outer;
        if let Some(call) = self.call {
            let body = part::arguments(bytes, call.args.map(ByteRange::to_usize), outer);
            return part::call(
                outer,
                part::label(bytes, call.id),
                part::label(bytes, call.name),
                body,
            );
        }
        if let Some(response) = self.response {
            return response.result(bytes, outer);
        }
        if let Some((kind, holder)) = self.media {
            let media = vec![media::describe(bytes, kind, outer, Some(holder))];
            return BlockView { kind: BlockKind::Media, media, ..BlockView::opaque(outer) };
        }
        let bound = filled(bytes, self.signature).is_some();
        let kind = BlockKind::Reasoning { bound };
        match self.text {
            Some(text) if self.thought => BlockView::new(kind, outer, TextRef::string(text)),
            // The last part of a stream may hold nothing but a signature.
            Some(text) if bound && inside(text.of(bytes)).is_empty() => {
                BlockView { kind, ..BlockView::opaque(outer) }
            }
            Some(text) => BlockView::new(BlockKind::Text, outer, TextRef::string(text)),
            None if self.thought => BlockView { kind, ..BlockView::opaque(outer) },
            None => BlockView::opaque(outer),
        }
    }
}

impl GeminiFunction {
    fn read(walk: &mut EventWalk<'_>) -> Self {
        let mut function = Self::default();
        walk.object(|walk, key| match key.name() {
            "id" => function.id = walk.string(),
            "name" => function.name = walk.string(),
            "args" => function.args = Some(to_range(&walk.value())),
            "response" => function.response = Some(GeminiResponse::read(walk)),
            "parts" => {
                let media = &mut function.media;
                media.clear();
                walk.array(|walk| media.extend(media_part(walk)));
            }
            _ => {}
        });
        function
    }

    fn result(self, bytes: &[u8], outer: ByteRange) -> BlockView {
        let response = self.response.as_ref();
        let error = response.is_some_and(|response| response.error).then_some(true);
        let kind = BlockKind::Result {
            id: part::label(bytes, self.id),
            name: part::label(bytes, self.name),
            error,
        };
        let mut block = BlockView { kind, media: self.media, ..BlockView::opaque(outer) };
        let Some(response) = response else {
            block.body = part::absent(outer);
            return block;
        };
        let is_object = bytes.get(response.value.start as usize) == Some(&b'{');
        // A response with one member is edited inside that member, so that the name which the tool gave it stays.
        let value = if response.members == 1 { response.last } else { response.value };
        block.body = part::arguments(bytes, Some(value.to_usize()), outer);
        block.frame = (is_object && response.members != 1).then_some(&RESPONSE);
        if !is_object || response.members > 0 {
            block.texts = SmallVec::from_elem(block.body, 1);
        }
        block
    }
}

impl GeminiResponse {
    fn read(walk: &mut EventWalk<'_>) -> Self {
        let mut response = Self::default();
        let value = walk.object(|walk, key| {
            let value = to_range(&walk.value());
            response.members += 1;
            response.last = value;
            // Some tools always send the member and leave it empty.
            let says = !matches!(value.of(walk.bytes), b"null" | b"false" | b"\"\"");
            response.error |= key.name() == "error" && says;
        });
        response.value = to_range(&value);
        response
    }
}

/// Reads `{mimeType, data}` or `{mimeType, fileUri}`. `None` where the value is no object.
fn read_media(walk: &mut EventWalk<'_>) -> Option<(MediaKind, ByteRange)> {
    if walk.peek() != Some(b'{') {
        return None;
    }
    let mut mime = None;
    let holder = walk.object(|walk, key| {
        if camel(key.name()) == "mimeType" {
            mime = walk.string();
        }
    });
    let mime = mime.map_or(&b""[..], |mime| inside(mime.of(walk.bytes)));
    let kind = match mime.split(|byte| *byte == b'/').next() {
        Some(b"image") => MediaKind::Image,
        Some(b"audio") => MediaKind::Audio,
        Some(b"video") => MediaKind::Video,
        _ => MediaKind::File,
    };
    Some((kind, to_range(&holder)))
}

/// Reads a part that a response carries beside its object. `None` for a part without media.
fn media_part(walk: &mut EventWalk<'_>) -> Option<MediaRef> {
    let mut inline = None;
    let outer = walk.object(|walk, key| {
        if matches!(&*camel(key.name()), "inlineData" | "fileData") {
            inline = read_media(walk);
        }
    });
    let (kind, holder) = inline?;
    Some(media::describe(walk.bytes, kind, to_range(&outer), Some(holder)))
}
