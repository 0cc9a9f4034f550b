//! Who carries out a compaction that a client asks its vendor for.

/// Who carries out a compaction that a client asks its vendor for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CompactionPreference {
    /// midfold does, even if the backend could.
    #[default]
    Midfold,
    /// The backend does. Requests pass unchanged, except for blocks that midfold made earlier.
    Upstream,
}
