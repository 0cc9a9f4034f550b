//! Blocks that Cline and Roo Code keep in shapes of their own, as blocks of Anthropic's Messages.

use std::ops::Range;

use crate::fields::ObjectFields;
use crate::read::{InputSource, chat};
use crate::scan;

/// The meaning of one block.
enum ClineBlock {
    /// It is a block of Anthropic's already.
    Kept,
    Rewritten(Vec<u8>),
    LeftOut(LeftOutReasoning),
}

/// Reasoning that cannot be sent as a block of Anthropic's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftOutReasoning {
    /// Only its own provider reads it.
    Encrypted,
    /// A model of another provider wrote it. Anthropic refuses a thought without its own signature.
    Unsigned,
}

impl LeftOutReasoning {
    pub(super) fn note(self, source: &mut InputSource<'_>, at: usize) {
        let (code, detail) = match self {
            Self::Encrypted => (
                "encrypted-reasoning",
                "a reasoning item that only its own provider reads is left out",
            ),
            Self::Unsigned => ("unsigned-reasoning", "reasoning without a signature is left out"),
        };
        source.note(at, code, detail);
    }
}

/// The message with all blocks as Anthropic has them. `None` where they are so already.
pub(super) fn rewritten(
    input: &[u8],
    at: &Range<usize>,
    message: &ObjectFields<'_>,
) -> Option<Vec<u8>> {
    let list = message.array("content")?;
    let blocks = blocks(input, list.clone())?;
    Some([&input[at.start..list.start], &blocks, &input[list.end..at.end]].concat())
}

/// Notes the kinds of reasoning that a message loses, each once.
pub(super) fn note_reasoning(source: &mut InputSource<'_>, at: usize, message: &ObjectFields<'_>) {
    let input = message.bytes();
    let losses: Vec<_> = message
        .list("content")
        .filter_map(|at| match block(input, at) {
            ClineBlock::LeftOut(loss) => Some(loss),
            ClineBlock::Kept | ClineBlock::Rewritten(_) => None,
        })
        .collect();
    for loss in [LeftOutReasoning::Encrypted, LeftOutReasoning::Unsigned] {
        if losses.contains(&loss) {
            loss.note(source, at);
        }
    }
}

/// A list of blocks, rewritten. `None` where it can stay.
fn blocks(input: &[u8], list: Range<usize>) -> Option<Vec<u8>> {
    let mut out = vec![b'['];
    let mut is_changed = false;
    for at in scan::elements(input, list) {
        let read = block(input, at.clone());
        is_changed |= !matches!(read, ClineBlock::Kept);
        let bytes = match &read {
            ClineBlock::Kept => &input[at],
            ClineBlock::Rewritten(bytes) => bytes,
            ClineBlock::LeftOut(_) => continue,
        };
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(bytes);
    }
    out.push(b']');
    is_changed.then_some(out)
}

fn block(input: &[u8], at: Range<usize>) -> ClineBlock {
    let fields = ObjectFields::of(input, at);
    let token = |name| fields.string(name).map(|at| &input[at]);
    let has_text = |name| fields.string(name).is_some_and(|at| at.len() > 2);
    let rewritten = match &*fields.text("type").unwrap_or_default() {
        "thoughtSignature" => return ClineBlock::LeftOut(LeftOutReasoning::Encrypted),
        // Roo Code keeps reasoning of other providers than Anthropic in these.
        "reasoning" if has_text("text") => return ClineBlock::LeftOut(LeftOutReasoning::Unsigned),
        "reasoning" => return ClineBlock::LeftOut(LeftOutReasoning::Encrypted),
        // Cline gives every provider's reasoning this type.
        "thinking" if !has_text("signature") => {
            return ClineBlock::LeftOut(LeftOutReasoning::Unsigned);
        }
        "image" => match (token("mediaType"), token("data")) {
            (Some(mime), Some(data)) => {
                let head = br#"{"type":"image","source":{"type":"base64","media_type":"#;
                [&head[..], mime, br#","data":"#, data, b"}}"].concat()
            }
            _ => return ClineBlock::Kept,
        },
        // A file that the person named, as the client sends it.
        "file" => match (token("path"), token("content")) {
            (Some(path), Some(content)) => {
                let head = br#"{"type":"text","text":"<file_content path=\""#;
                let (path, content) = (chat::inside(path), chat::inside(content));
                [&head[..], path, br#"\">\n"#, content, br#"\n</file_content>"}"#].concat()
            }
            _ => return ClineBlock::Kept,
        },
        "tool_result" => match result(input, &fields) {
            Some(bytes) => bytes,
            None => return ClineBlock::Kept,
        },
        _ => return ClineBlock::Kept,
    };
    ClineBlock::Rewritten(rewritten)
}

/// A result with the outputs of its tool, which may be any JSON. `None` where they are a text or blocks.
fn result(input: &[u8], fields: &ObjectFields<'_>) -> Option<Vec<u8>> {
    let list = fields.array("content")?;
    let mut outputs = scan::elements(input, list.clone());
    let is_block = |at: Range<usize>| {
        let kind = ObjectFields::of(input, at).text("type").unwrap_or_default().into_owned();
        matches!(&*kind, "text" | "image" | "file")
    };
    let content = match outputs.all(is_block) {
        true => blocks(input, list)?,
        false => chat::json_as_text(&input[list]).into_owned(),
    };
    let id = fields.raw("tool_use_id").unwrap_or(b"\"\"");
    let failed: &[u8] = if fields.is_true("is_error") { br#","is_error":true"# } else { b"" };
    let head = br#"{"type":"tool_result","tool_use_id":"#;
    Some([&head[..], id, br#","content":"#, &content, failed, b"}"].concat())
}
