//! A conversation whose second request has not come yet.

use midfold_core::spending::SessionSpending;

/// A conversation that has only begun.
pub(super) struct OpenedConversation {
    /// The id of the session that its second request begins.
    pub id: String,
    /// What its requests cost so far.
    pub spent: SessionSpending,
    /// The tokens of its largest request, as the client was shown them.
    pub before: u64,
}
