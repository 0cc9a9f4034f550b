//! What an event costs: its texts, names and media, as the counter counts them.

use smallvec::SmallVec;

use crate::counter::{Counter, TextKind};
use crate::event::Tokens;
use crate::jsonstr;
use crate::view::{BlockKind, BlockView, EventView, Role};

/// Counts one event.
#[must_use]
pub fn measure(counter: &dyn Counter, bytes: &[u8], view: &EventView) -> Tokens {
    measure_with(counter, bytes, view, &mut String::new())
}

pub(crate) fn measure_with(
    counter: &dyn Counter,
    bytes: &[u8],
    view: &EventView,
    scratch: &mut String,
) -> Tokens {
    let mut measure = |block| measure_block(counter, bytes, view.role, block, scratch);
    let blocks: SmallVec<[u32; 2]> = view.blocks.iter().map(&mut measure).collect();
    let sum = blocks.iter().fold(0u32, |sum, n| sum.saturating_add(*n));
    let sent = sent_as_one(counter, bytes, view).unwrap_or_default();
    Tokens { total: counter.per_message().saturating_add(sum.max(sent)), blocks }
}

/// Where calls and results are in one string, with tags around them and their own JSON in it, that
/// string is what a model is sent, and so what is counted.
fn sent_as_one(counter: &dyn Counter, bytes: &[u8], view: &EventView) -> Option<u32> {
    let first = view.blocks.first()?;
    let tagged = view.blocks.iter().any(|block| block.is_call() || block.is_result());
    let whole = first.body.nested.filter(|_| tagged).map(|_| first.body.token)?;
    Some(counter.count(&jsonstr::decode(whole.of(bytes)), content_of(view.role, &first.kind)))
}

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

/// What kind of content a block of this kind holds, for estimates.
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
