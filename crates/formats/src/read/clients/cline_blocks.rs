//! Blocks that Cline and Roo Code keep in shapes of their own, as blocks of Anthropic's Messages.

use std::ops::Range;

use crate::fields::ObjectFields;
use crate::read::chat;
use crate::scan;

/// The meaning of one block.
enum ClineBlock {
    /// It is a block of Anthropic's already.
    Kept,
    Rewritten(Vec<u8>),
    /// Only its own provider reads it.
    Encrypted,
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

/// Whether a message has a block that only its own provider reads.
pub(super) fn has_encrypted(message: &ObjectFields<'_>) -> bool {
    let input = message.bytes();
    let mut blocks = message.list("content").map(|at| block(input, at));
    blocks.any(|block| matches!(block, ClineBlock::Encrypted))
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
            ClineBlock::Encrypted => continue,
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
    let rewritten = match &*fields.text("type").unwrap_or_default() {
        "thoughtSignature" => return ClineBlock::Encrypted,
        // Roo Code keeps reasoning of other providers than Anthropic in these.
        "reasoning" => match token("text").filter(|text| text.len() > 2) {
            Some(text) => {
                [br#"{"type":"thinking","thinking":"#, text, br#","signature":""}"#].concat()
            }
            None => return ClineBlock::Encrypted,
        },
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
