//! The id of a fold: a hash over all that decides what its context is.

use crate::event::Hash;
use crate::fold::{BlockEdit, Fold, FoldEntry, PutBackRecord, RecapRecord};

impl Fold {
    /// Computes the hash that [`Fold::id`] has to be: over the fold before, the span, all bytes that are sent, and what
    /// decided on them. Two folds with the same id make the same context, now and after any append, so stores and
    /// checks compare ids alone.
    #[must_use]
    pub fn compute_id(&self) -> Hash {
        let mut id = self.prev.unwrap_or(Hash::ROOT);
        id = id.chain(&self.span.before.0).chain(&self.span.through.0);
        id = id.chain(&self.policy_fingerprint.0);
        for entry in &self.entries {
            id = match entry {
                FoldEntry::Recap { bytes } => id.chain(b"recap").chain(bytes.as_bytes()),
                FoldEntry::Marker { bytes } => id.chain(b"marker").chain(bytes.as_bytes()),
                FoldEntry::Verbatim { from, to } => {
                    id.chain(format!("verbatim {from} {to}").as_bytes())
                }
                FoldEntry::Edited { seq, bytes } => {
                    id.chain(format!("edited {seq}").as_bytes()).chain(bytes.as_bytes())
                }
            };
        }
        for edit in &self.edits {
            let BlockEdit { seq, block, kind, reducer, reason, tokens_before, tokens_after } = edit;
            let line =
                format!("{seq} {block} {kind} {reducer} {reason} {tokens_before} {tokens_after}");
            id = id.chain(line.as_bytes());
        }
        id = id.chain(format!("{} {}", self.tokens_before, self.tokens_after).as_bytes());
        // Version 1 ended here.
        if self.version < 2 {
            return id;
        }
        for pin in &self.layout.pinned {
            id = id.chain(format!("pinned {pin}").as_bytes());
        }
        if let Some(RecapRecord { text, role, .. }) = &self.recap {
            id = id.chain(role.as_bytes()).chain(text.as_bytes());
        }
        let line = format!("{} events, void {}", self.accounts.events, self.void_reasoning);
        id = id.chain(line.as_bytes());
        // Later fields are hashed only where they are set, so that older records keep their ids.
        if let Some(round) = self.told_round {
            id = id.chain(format!("told {round}").as_bytes());
        }
        if let Some(PutBackRecord { hash, .. }) = &self.put_back {
            id = id.chain(b"put back").chain(&hash.0);
        }
        if self.keeps_turns {
            id = id.chain(b"turns");
        }
        if self.follows_reasoning { id.chain(b"reasoning") } else { id }
    }
}
