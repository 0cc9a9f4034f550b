//! What the fold in use printed, and the calls of an answer that copy it.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::Hash;
use midfold_core::engine::Session;
use midfold_core::placeholder::{ArgumentPlaceholder, OriginalTexts, PrintedMarks};
use midfold_core::tools::{ToolEntry, ToolTable};
use midfold_formats::DialectKind;
use midfold_formats::recall_tool::client_calls;

/// A call with placeholders.
pub(super) struct CopiedMarks {
    /// Its number among the calls of the client's tools in the answer.
    pub number: usize,
    /// At least one.
    pub placeholders: Vec<ArgumentPlaceholder>,
}

/// The marks of the fold in use, which are the same until the next fold.
#[derive(Default)]
pub(super) struct FoldMarks(Option<(Hash, Arc<PrintedMarks>)>);

impl FoldMarks {
    /// The marks of a fold of this session. `None` where it printed none.
    pub fn of(&mut self, session: &Session, fold: Hash) -> Option<Arc<PrintedMarks>> {
        let known = self.0.as_ref().filter(|(of, _)| *of == fold);
        let marks = match known {
            Some((_, marks)) => Arc::clone(marks),
            None => {
                let record = session.folds().iter().rev().find(|record| record.id == fold)?;
                let marks = Arc::new(PrintedMarks::of(record, &**session.log().dialect()));
                self.0 = Some((fold, Arc::clone(&marks)));
                marks
            }
        };
        (!marks.is_empty()).then_some(marks)
    }
}

/// An answer that is only watched, because the model cannot be asked again.
pub(super) struct WatchedAnswer {
    pub kind: DialectKind,
    pub marks: Arc<PrintedMarks>,
    pub tools: Vec<ToolEntry>,
    /// The messages of the request behind those in the log.
    pub newest: Vec<Bytes>,
}

/// The calls of a reply with placeholders.
pub(super) fn copied(
    kind: DialectKind,
    output: &[Bytes],
    marks: &PrintedMarks,
    tools: &[ToolEntry],
    originals: impl Fn() -> OriginalTexts,
) -> Vec<CopiedMarks> {
    let tools = ToolTable::of(tools);
    let mut copies = Vec::new();
    for call in client_calls(kind, output) {
        let placeholders = marks.copied(&call.tool, &call.arguments, &tools, &originals);
        if !placeholders.is_empty() {
            copies.push(CopiedMarks { number: call.number, placeholders });
        }
    }
    copies
}
