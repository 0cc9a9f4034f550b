//! Anthropic Messages.

use bytes::Bytes;
use midfold_core::{Block, BlockKind, ByteRange, Dialect, Role, TextRef, View};

use super::part::{self, Part, Shape, read_content};
use super::walk::{Walk, filled, inside};
use crate::render::{Json, flags, result_text, splice};
use crate::wrappers;

/// `anthropic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anthropic;

impl Dialect for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn view(&self, bytes: &[u8]) -> View {
        let mut walk = Walk::new(bytes);
        let mut role = None;
        let mut blocks = Vec::new();
        walk.message(|walk, key| match key.name() {
            "role" => role = walk.string(),
            "content" => {
                blocks.clear();
                let content =
                    read_content(walk, key, |bytes, part| blocks.push(block(bytes, part)));
                match content.shape {
                    Shape::Text => {
                        blocks.push(Block::new(BlockKind::Text, content.outer, content.body()));
                    }
                    Shape::Other => blocks.push(Block::opaque(content.outer)),
                    Shape::Null | Shape::List => {}
                }
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
        let origin = wrappers::origin(role, &blocks, bytes);
        View { role, origin, blocks }
    }

    fn made_message(&self, role: Role, text: &str) -> Bytes {
        let role = if role == Role::Assistant { "assistant" } else { "user" };
        Json::default()
            .raw(r#"{"role":""#)
            .raw(role)
            .raw(r#"","content":"#)
            .text(text)
            .raw("}")
            .done()
    }

    fn made_result(&self, id: &str, _name: &str, text: &str) -> Bytes {
        Json::default()
            .raw(r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"#)
            .text(id)
            .raw(r#","content":"#)
            .text(text)
            .raw("}]}")
            .done()
    }

    fn results_as_text(&self, bytes: &[u8], view: &View, blocks: &[usize]) -> Bytes {
        let as_text = |index: usize, block: &Block| {
            let text = result_text(bytes, view, index);
            let json = Json::default().raw(r#"{"type":"text","text":"#).text(&text).raw("}");
            block
                .media
                .iter()
                .fold(json, |json, media| json.raw(",").raw(media.outer.of(bytes)))
                .done()
        };
        // Results have to stand before any text, so those that stay move to the front.
        let named = flags(blocks, view.blocks.len());
        let stays = |at: usize, block: &Block| block.is_result() && !named[at];
        let all = || view.blocks.iter().enumerate();
        let mut elements: Vec<Bytes> = Vec::with_capacity(view.blocks.len());
        for (_, block) in all().filter(|(at, block)| stays(*at, block)) {
            elements.push(Bytes::copy_from_slice(block.outer.of(bytes)));
        }
        for (at, block) in all().filter(|(at, block)| !stays(*at, block)) {
            elements.push(if block.is_result() {
                as_text(at, block)
            } else {
                Bytes::copy_from_slice(block.outer.of(bytes))
            });
        }
        let (Some(first), Some(last)) = (view.blocks.first(), view.blocks.last()) else {
            return Bytes::copy_from_slice(bytes);
        };
        let list = ByteRange { start: first.outer.start, end: last.outer.end };
        Bytes::from(splice(bytes, &[(list, &elements.join(&b","[..]))]))
    }
}

/// One content block. Server tools keep call and result in one message and stay whole.
fn block(bytes: &[u8], part: Part) -> Block {
    let outer = part.outer;
    match part.kind(bytes) {
        b"thinking" => {
            let bound = filled(bytes, part.signature).is_some();
            match part.thinking {
                Some(text) => {
                    Block::new(BlockKind::Reasoning { bound }, outer, TextRef::string(text))
                }
                None => Block { kind: BlockKind::Reasoning { bound }, ..Block::opaque(outer) },
            }
        }
        b"redacted_thinking" => {
            Block { kind: BlockKind::Reasoning { bound: true }, ..Block::opaque(outer) }
        }
        b"tool_use" => {
            let input = part.input.map(ByteRange::to_usize);
            let body = part::arguments(bytes, input, outer);
            part::call(outer, part::label(bytes, part.id), part::label(bytes, part.name), body)
        }
        b"tool_result" => {
            let id = part::label(bytes, part.tool_use_id);
            let body = part.content.map_or_else(|| part::absent(outer), |content| content.body());
            Block {
                kind: BlockKind::Result { id, name: None, error: part.error },
                outer,
                body,
                texts: part.texts,
                media: part.media,
            }
        }
        _ => part.block(bytes),
    }
}
