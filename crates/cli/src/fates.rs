//! One word for what the active fold does to each message.

use midfold::Fold;
use midfold::core::fabric::FabricCell;

/// The fates of a session's messages under its active fold.
pub struct MessageFates(Vec<FabricCell>);

impl MessageFates {
    pub fn new(fold: Option<&Fold>) -> Self {
        Self(fold.map(FabricCell::each_of).unwrap_or_default())
    }

    /// The fate of the message with this number. Messages that came after the fold are sent as they are.
    pub fn of(&self, seq: u64) -> &'static str {
        let cell = usize::try_from(seq).ok().and_then(|at| self.0.get(at));
        match cell.copied().unwrap_or(FabricCell::Verbatim) {
            FabricCell::Verbatim | FabricCell::Pinned => "as is",
            FabricCell::Stub | FabricCell::Clipped => "shortened",
            FabricCell::Repaired => "repaired",
            FabricCell::Marker => "marker",
            FabricCell::Recap => "recap",
        }
    }
}
