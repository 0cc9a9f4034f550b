//! Who does the compaction that clients ask vendors for.

/// Who does the compaction that clients ask vendors for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CompactionPreference {
    /// midfold, whatever the backend can do.
    #[default]
    Midfold,
    /// The backend: requests pass as they came, apart from blocks that midfold made.
    Upstream,
}
