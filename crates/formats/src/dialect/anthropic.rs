//! Anthropic Messages.

use bytes::Bytes;
use midfold_core::dialect::ServerTool;
use midfold_core::{
    BlockKind, BlockView, ByteRange, ClientWords, Dialect, EventView, Role, TextRef,
};

use super::loads;
use super::part::{self, ContentShape, PartMembers, read_content};
use super::results;
use super::server_tools;
use super::unread;
use super::walk::{EventWalk, filled};
use crate::client_words::KnownClients;
use crate::render::Json;
use crate::scan::inside;

/// The dialect `anthropic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anthropic;

impl Dialect for Anthropic {
    fn client_words(&self) -> &dyn ClientWords {
        &KnownClients
    }

    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn view(&self, bytes: &[u8]) -> EventView {
        let mut walk = EventWalk::new(bytes);
        let mut role = None;
        let mut blocks = Vec::new();
        walk.message(|walk, key| match key.name() {
            "role" => role = walk.string(),
            "content" => {
                // Where the member is there twice, the last one counts, as in `scan::get`.
                blocks.clear();
                let content =
                    read_content(walk, key, |bytes, part| blocks.push(block(bytes, part)));
                match content.shape {
                    ContentShape::Text => {
                        blocks.push(BlockView::new(BlockKind::Text, content.outer, content.body()));
                    }
                    ContentShape::Other => blocks.push(BlockView::opaque(content.outer)),
                    ContentShape::Null | ContentShape::List => {}
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
        unread::view(role, blocks, bytes, &["content"])
    }

    fn server_tool(&self, bytes: &[u8], block: &BlockView) -> Option<ServerTool> {
        server_tools::side(bytes, block)
    }

    fn loaded_tools(&self, bytes: &[u8]) -> Vec<String> {
        loads::of_message(bytes)
    }

    fn made_message(&self, role: Role, text: &str) -> Bytes {
        let role = if role == Role::Assistant { "assistant" } else { "user" };
        Json::default()
            .raw(r#"{"role":""#)
            .raw(role)
            .raw(r#"","content":"#)
            .text(text)
            .raw("}")
            .finish()
    }

    fn made_result(&self, _like: &[u8], id: &str, _name: &str, text: &str) -> Bytes {
        Json::default()
            .raw(r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"#)
            .text(id)
            .raw(r#","content":"#)
            .text(text)
            .raw("}]}")
            .finish()
    }

    fn results_as_text(&self, bytes: &[u8], view: &EventView, blocks: &[usize]) -> Bytes {
        results::as_text(bytes, view, blocks, r#"{"type":"text","text":"#)
    }
}

/// Reads one content block. Blocks of server tools have call and result in one message and stay opaque.
fn block(bytes: &[u8], part: PartMembers) -> BlockView {
    let outer = part.outer;
    match part.kind(bytes) {
        b"thinking" => {
            let bound = filled(bytes, part.signature).is_some();
            match part.thinking {
                Some(text) => {
                    BlockView::new(BlockKind::Reasoning { bound }, outer, TextRef::string(text))
                }
                None => {
                    BlockView { kind: BlockKind::Reasoning { bound }, ..BlockView::opaque(outer) }
                }
            }
        }
        b"redacted_thinking" => {
            BlockView { kind: BlockKind::Reasoning { bound: true }, ..BlockView::opaque(outer) }
        }
        b"tool_use" => {
            let input = part.input.map(ByteRange::to_usize);
            let body = part::arguments(bytes, input, outer);
            part::call(outer, part::id(part.id), part::label(bytes, part.name), body)
        }
        b"tool_result" => {
            let id = part::id(part.tool_use_id);
            let body = part.content.map_or_else(|| part::absent(outer), |content| content.body());
            BlockView {
                kind: BlockKind::Result { id, name: None, error: part.error },
                outer,
                body,
                texts: part.texts,
                media: part.media,
                frame: None,
            }
        }
        _ => part.block(bytes),
    }
}
