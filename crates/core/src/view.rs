//! The typed reading of an event: a table of byte ranges into its bytes, without a lifetime.
//!
//! An [`EventView`] holds no text. It says where the text is and how it is coded, so that an edit splices at a range
//! and all other bytes stay.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub use crate::byte_range::ByteRange;
use crate::jsonstr;
pub use crate::media::{MediaExtent, MediaKind, MediaRef, PictureDetail};

/// How the text of a [`TextRef`] is written in its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextCoding {
    /// A JSON string token, quotes included.
    Str,
    /// The bytes themselves: a JSON value whose text is its source (call arguments that are an object), or a slice of
    /// text that is decoded already.
    Raw,
}

/// The place of a piece of text in an event, and its coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextRef {
    /// The JSON token in the event's bytes.
    pub token: ByteRange,
    /// How the token is coded. Always [`TextCoding::Str`] when `nested` is set.
    pub coding: TextCoding,
    /// A range in the *decoded* token, with the coding there. ShareGPT has many blocks in one string, and their
    /// contents can be JSON strings again.
    pub nested: Option<(ByteRange, TextCoding)>,
}

impl TextRef {
    /// The text of a JSON string token, quotes included.
    #[must_use]
    pub fn string(token: ByteRange) -> Self {
        Self { token, coding: TextCoding::Str, nested: None }
    }

    /// The source of a JSON value as text.
    #[must_use]
    pub fn raw(token: ByteRange) -> Self {
        Self { token, coding: TextCoding::Raw, nested: None }
    }

    /// A part of a JSON string token, as a range in the decoded string.
    #[must_use]
    pub fn nested(token: ByteRange, inner: ByteRange, coding: TextCoding) -> Self {
        Self { token, coding: TextCoding::Str, nested: Some((inner, coding)) }
    }

    /// As [`TextRef::decode`], with `scratch` as the buffer for text that has to be decoded.
    #[must_use]
    pub fn decode_with<'a>(&self, bytes: &'a [u8], scratch: &'a mut String) -> &'a str {
        match (self.nested, self.coding) {
            (None, TextCoding::Str) => return jsonstr::decode_with(self.token.of(bytes), scratch),
            (None, TextCoding::Raw) => {
                if let Ok(text) = std::str::from_utf8(self.token.of(bytes)) {
                    return text;
                }
            }
            (Some(_), _) => {}
        }
        *scratch = self.decode(bytes).into_owned();
        scratch
    }

    /// The bytes of the text, for comparison and look-up. They are borrowed if nothing is escaped, as in nearly every
    /// id and name, and else decoded.
    #[must_use]
    pub fn text_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let token = self.token.of(bytes);
        let plain = match (self.nested, self.coding) {
            (None, TextCoding::Raw) => Some(token),
            (None, TextCoding::Str) => jsonstr::plain(token),
            (Some(_), _) => None,
        };
        match plain {
            Some(plain) => Cow::Borrowed(plain),
            None => Cow::Owned(self.decode(bytes).into_owned().into_bytes()),
        }
    }

    /// The text. Never fails: a range outside `bytes` is empty text, and bad UTF-8 is replaced.
    #[must_use]
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Cow<'a, str> {
        let token = self.token.of(bytes);
        let outer = match self.coding {
            TextCoding::Str => jsonstr::decode(token),
            TextCoding::Raw => String::from_utf8_lossy(token),
        };
        let Some((inner, coding)) = self.nested else { return outer };
        match outer {
            Cow::Borrowed(text) => decode_nested(text, inner, coding),
            Cow::Owned(text) => Cow::Owned(decode_nested(&text, inner, coding).into_owned()),
        }
    }
}

/// The text of a range in a decoded string.
fn decode_nested(outer: &str, inner: ByteRange, coding: TextCoding) -> Cow<'_, str> {
    let slice = outer.get(inner.to_usize()).unwrap_or_default();
    match coding {
        TextCoding::Raw => Cow::Borrowed(slice),
        TextCoding::Str => jsonstr::decode(slice.as_bytes()),
    }
}

/// Who speaks in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Role {
    /// System prompt.
    System,
    /// Developer message (`OpenAI`): a system message by another name.
    Developer,
    /// The user, or what a client sends in the user's role.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
    /// A role that no dialect knows (`exit`, `critic`, …). Carried, never interpreted.
    Other,
}

impl Role {
    /// Whether the role is system or developer.
    #[must_use]
    pub fn is_system(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }

    /// The role's name as most formats write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Other => "other",
        }
    }
}

/// The origin of an event's text, as far as its bytes or its reader show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextOrigin {
    /// Text of the role that the event has.
    #[default]
    Genuine,
    /// Context that a client put in the user's role: environment, reminders, echoes of commands.
    Injected,
    /// A tool result that was flattened to plain text in the user's role.
    Observation,
    /// The recap of an earlier compaction, whoever wrote it.
    Recap,
}

impl TextOrigin {
    const ALL: [Self; 4] = [Self::Genuine, Self::Injected, Self::Observation, Self::Recap];

    /// The name that a store keeps: `genuine`, `injected`, `observation`, `recap`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Genuine => "genuine",
            Self::Injected => "injected",
            Self::Observation => "observation",
            Self::Recap => "recap",
        }
    }

    /// The origin with this name; `None` for an unknown name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.name() == name)
    }
}

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Plain text.
    Text,
    /// The model's refusal.
    Refusal,
    /// The model's reasoning. If `bound`, it carries a signature or ciphertext that a provider ties to the messages
    /// before it.
    Reasoning {
        /// Whether it is signed or encrypted.
        bound: bool,
    },
    /// A tool call. The block's body is its arguments.
    Call {
        /// The call's id; `None` where it has none.
        id: Option<TextRef>,
        /// The tool's name.
        name: Option<TextRef>,
    },
    /// A tool result. The block's body is its content.
    Result {
        /// The id of the call that it answers; `None` where the result has none.
        id: Option<TextRef>,
        /// The tool's name; `None` where the result does not repeat it.
        name: Option<TextRef>,
        /// Whether the result is an error; `None` where it does not say.
        error: Option<bool>,
    },
    /// Media alone, without text.
    Media,
    /// Anything else: kept whole and never interpreted.
    Opaque,
}

/// One block of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockView {
    /// The kind.
    pub kind: BlockKind,
    /// The array element or object member (with its key) that holds the block. Without these bytes and one neighbouring
    /// comma the rest is valid JSON. For a block inside a decoded string, the whole string token.
    pub outer: ByteRange,
    /// The text that an edit replaces: the content of a text or result, the arguments of a call. The replacement is
    /// written as a JSON string for [`TextCoding::Str`], and unchanged for [`TextCoding::Raw`]. The exception is a
    /// [`BlockKind::Result`] with `Raw` coding (a list of parts), which is replaced by a JSON string.
    pub body: TextRef,
    /// The readable text of the block, in order. Mostly one entry, equal to `body`; several for a result that is a list
    /// of parts; none for media and opaque blocks.
    pub texts: SmallVec<[TextRef; 1]>,
    /// Media in the block.
    pub media: Vec<MediaRef>,
    /// The JSON around a replaced body that keeps it in the form the format requires (a list of parts, an object);
    /// `None` where a plain string is valid.
    pub frame: Option<&'static JsonFrame>,
}

/// JSON source around the string that replaces a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonFrame {
    /// The source before the string.
    pub before: &'static str,
    /// The source after the string.
    pub after: &'static str,
}

impl BlockView {
    /// A block whose text is its body.
    #[must_use]
    pub fn new(kind: BlockKind, outer: ByteRange, body: TextRef) -> Self {
        let texts = SmallVec::from_elem(body, 1);
        Self { kind, outer, body, texts, media: Vec::new(), frame: None }
    }

    /// A block without readable text.
    #[must_use]
    pub fn opaque(outer: ByteRange) -> Self {
        Self {
            kind: BlockKind::Opaque,
            outer,
            body: TextRef::raw(outer),
            texts: SmallVec::new(),
            media: Vec::new(),
            frame: None,
        }
    }

    /// The readable text, with its parts joined by line breaks.
    #[must_use]
    pub fn text<'a>(&self, bytes: &'a [u8]) -> Cow<'a, str> {
        match self.texts.as_slice() {
            [] => Cow::Borrowed(""),
            [only] => only.decode(bytes),
            many => {
                let parts: Vec<_> = many.iter().map(|part| part.decode(bytes)).collect();
                Cow::Owned(parts.join("\n"))
            }
        }
    }

    /// As [`BlockView::text`], with `scratch` as the buffer for text that has to be decoded.
    #[must_use]
    pub fn text_with<'a>(&self, bytes: &'a [u8], scratch: &'a mut String) -> &'a str {
        if let [only] = self.texts.as_slice() {
            return only.decode_with(bytes, scratch);
        }
        *scratch = self.text(bytes).into_owned();
        scratch
    }

    /// The text as its writer meant it: the JSON escapes in a call's arguments are resolved, so that `\ttheme` is a tab
    /// and `theme`, and not the name `ttheme`. For reading names and words; [`BlockView::text`] is the text as written.
    #[must_use]
    pub fn plain<'a>(&self, bytes: &'a [u8]) -> Cow<'a, str> {
        let text = self.text(bytes);
        if !self.is_call() {
            return text;
        }
        match plain_arguments(&text) {
            Cow::Owned(plain) => Cow::Owned(plain),
            Cow::Borrowed(_) => text,
        }
    }

    /// As [`BlockView::plain`], with `scratch` as the buffer for text that has to be decoded.
    #[must_use]
    pub fn plain_with<'a>(&self, bytes: &'a [u8], scratch: &'a mut String) -> &'a str {
        if !self.is_call() {
            return self.text_with(bytes, scratch);
        }
        *scratch = self.plain(bytes).into_owned();
        scratch
    }

    /// Whether this is a tool call.
    #[must_use]
    pub fn is_call(&self) -> bool {
        matches!(self.kind, BlockKind::Call { .. })
    }

    /// Whether this is a tool result.
    #[must_use]
    pub fn is_result(&self) -> bool {
        matches!(self.kind, BlockKind::Result { .. })
    }

    /// Whether this is reasoning. Providers drop reasoning of earlier turns, void it or give the model a summary of it.
    /// So a name does not count as known because reasoning contains it.
    #[must_use]
    pub fn is_reasoning(&self) -> bool {
        matches!(self.kind, BlockKind::Reasoning { .. })
    }
}

/// The arguments of a call with their JSON escapes resolved. Arguments that are not JSON (a patch, a script) stay as
/// written.
#[must_use]
pub fn plain_arguments(arguments: &str) -> Cow<'_, str> {
    if arguments.trim_start().starts_with(['{', '[']) {
        jsonstr::decode(arguments.as_bytes())
    } else {
        Cow::Borrowed(arguments)
    }
}

/// The typed reading of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventView {
    /// Who speaks.
    pub role: Role,
    /// The origin of its text.
    pub origin: TextOrigin,
    /// The blocks in the order of the bytes.
    pub blocks: Vec<BlockView>,
}

impl EventView {
    /// Marks the results that have no error flag of their own as failed.
    pub(crate) fn flag_results(&mut self) {
        for block in &mut self.blocks {
            if let BlockKind::Result { error, .. } = &mut block.kind {
                *error = error.or(Some(true));
            }
        }
    }

    /// Whether it has reasoning. An empty text is none: DeepSeek V4 refuses it.
    #[must_use]
    pub fn has_reasoning(&self) -> bool {
        const EMPTY: usize = "\"\"".len();
        self.blocks.iter().any(|block| block.is_reasoning() && block.body.token.len() != EMPTY)
    }

    /// Whether a result has an error flag.
    #[must_use]
    pub fn has_failed_result(&self) -> bool {
        let failed =
            |block: &BlockView| matches!(block.kind, BlockKind::Result { error: Some(true), .. });
        self.blocks.iter().any(failed)
    }

    /// Whether the event holds a tool call.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        self.blocks.iter().any(BlockView::is_call)
    }

    /// Whether the event holds a tool result.
    #[must_use]
    pub fn has_results(&self) -> bool {
        self.blocks.iter().any(BlockView::is_result)
    }

    /// Whether a person wrote the message: user role, genuine, with text or media. A turn starts here.
    #[must_use]
    pub fn is_real_user(&self) -> bool {
        self.role == Role::User
            && self.origin == TextOrigin::Genuine
            && self.blocks.iter().any(|b| matches!(b.kind, BlockKind::Text | BlockKind::Media))
    }

    /// All readable text of the event as its writer meant it ([`BlockView::plain`]), joined by line breaks; used for
    /// searching.
    #[must_use]
    pub fn plain<'a>(&self, bytes: &'a [u8]) -> Cow<'a, str> {
        join(self.blocks.iter().map(|block| block.plain(bytes)))
    }

    /// All readable text of the blocks for which `wanted` is true, joined by line breaks.
    #[must_use]
    pub fn text_of<'a>(
        &self,
        bytes: &'a [u8],
        wanted: impl Fn(&BlockKind) -> bool,
    ) -> Cow<'a, str> {
        let wanted = self.blocks.iter().filter(|b| wanted(&b.kind));
        join(wanted.map(|block| block.text(bytes)))
    }
}

/// The texts joined by line breaks; a single one is not copied.
fn join<'a>(mut texts: impl Iterator<Item = Cow<'a, str>>) -> Cow<'a, str> {
    let Some(mut out) = texts.next() else { return Cow::Borrowed("") };
    for text in texts {
        let joined = out.to_mut();
        joined.push('\n');
        joined.push_str(&text);
    }
    out
}
