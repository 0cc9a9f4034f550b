//! One word for what the active fold does to each message.

use midfold::Fold;
use midfold::core::fold::FoldEntry;

/// Looks up the fates of a session's messages.
pub struct MessageFates<'a> {
    fold: Option<&'a Fold>,
    edited: Vec<u64>,
    /// From this message on, a marker is in the place of the folded messages.
    marker_from: Option<u32>,
}

impl<'a> MessageFates<'a> {
    pub fn new(fold: Option<&'a Fold>) -> Self {
        let entries = fold.map(|fold| &fold.entries[..]).unwrap_or_default();
        let edited = entries.iter().filter_map(|entry| match entry {
            FoldEntry::Edited { seq, .. } => Some(u64::from(*seq)),
            _ => None,
        });
        let marker_from = fold.and_then(Fold::marker_from);
        Self { fold, edited: edited.collect(), marker_from }
    }

    /// The fate of the message with this number: `as is`, `shortened`, `marker` or `recap`.
    pub fn of(&self, seq: u64) -> &'static str {
        let Some(fold) = self.fold else { return "as is" };
        let span = u64::from(fold.span.start)..u64::from(fold.span.end);
        if !span.contains(&seq) {
            return "as is";
        }
        if self.edited.binary_search(&seq).is_ok() {
            return "shortened";
        }
        let kept = |entry: &FoldEntry| match entry {
            FoldEntry::Verbatim { from, to } => (u64::from(*from)..u64::from(*to)).contains(&seq),
            _ => false,
        };
        let is_behind = self.marker_from.is_some_and(|from| seq >= u64::from(from));
        match (fold.entries.iter().any(kept), is_behind) {
            (true, _) => "as is",
            (false, true) => "marker",
            (false, false) => "recap",
        }
    }
}
