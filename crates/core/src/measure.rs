//! The tokens of an event: its texts, names and media by the counter.

use smallvec::SmallVec;

use crate::counter::{Counter, TextKind};
use crate::event::Tokens;
use crate::jsonstr;
use crate::view::{BlockKind, BlockView, EventView, Role};

/// Counts the tokens of one event.
#[must_use]
pub fn measure(counter: &dyn Counter, bytes: &[u8], view: &EventView) -> Tokens {
    measure_with(counter, bytes, view, &mut String::new())
}

/// As [`measure`], with a buffer for decoded texts.
pub(crate) fn measure_with(
    counter: &dyn Counter,
    bytes: &[u8],
    view: &EventView,
    scratch: &mut String,
) -> Tokens {
    let mut measure = |block| measure_block(counter, bytes, view.role, block, scratch);
    let blocks: SmallVec<[u32; 2]> = view.blocks.iter().map(&mut measure).collect();
    let sum = blocks.iter().fold(0u32, |sum, n| sum.saturating_add(*n));
    let as_one = sent_as_one(counter, bytes, view).unwrap_or_default();
    Tokens { total: counter.per_message().saturating_add(sum.max(as_one)), blocks }
}

/// Tokens of the one string that holds calls and results with tags and JSON of its own. A model is sent that whole
/// string, so its count is more than that of the blocks in it. `None` for other events.
fn sent_as_one(counter: &dyn Counter, bytes: &[u8], view: &EventView) -> Option<u32> {
    let first = view.blocks.first()?;
    let tagged = view.blocks.iter().any(|block| block.is_call() || block.is_result());
    let whole = first.body.nested.filter(|_| tagged).map(|_| first.body.token)?;
    Some(counter.count(&jsonstr::decode(whole.of(bytes)), content_of(view.role, &first.kind)))
}

/// Tokens of one block. A block without texts and media is counted by its JSON source.
fn measure_block(
    counter: &dyn Counter,
    bytes: &[u8],
    role: Role,
    block: &BlockView,
    scratch: &mut String,
) -> u32 {
    let content = content_of(role, &block.kind);
    let mut tokens = 0u32;
    if let BlockKind::Call { name: Some(name), .. } = &block.kind {
        tokens += counter.count(&name.decode(bytes), TextKind::Arguments);
    }
    for text in &block.texts {
        let text = text.decode_with(bytes, scratch);
        tokens = tokens.saturating_add(counter.count(text, content));
    }
    for media in &block.media {
        tokens = tokens.saturating_add(counter.media(media));
    }
    if block.texts.is_empty() && block.media.is_empty() {
        let source = String::from_utf8_lossy(block.outer.of(bytes));
        tokens = tokens.saturating_add(counter.count(&source, TextKind::Json));
    }
    tokens
}

/// The kind of text in a block, which estimates of tokens depend on.
#[must_use]
pub fn content_of(role: Role, kind: &BlockKind) -> TextKind {
    match kind {
        BlockKind::Call { .. } => TextKind::Arguments,
        BlockKind::Result { .. } => TextKind::Result,
        BlockKind::Reasoning { .. } => TextKind::Reasoning,
        BlockKind::Opaque => TextKind::Json,
        _ if role == Role::Tool => TextKind::Result,
        _ => TextKind::Prose,
    }
}
