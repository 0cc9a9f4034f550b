//! What the rest of a context tells beside the chosen deeds.

use rustc_hash::FxHashSet;

use crate::recap::deed::{CallEnding, CallSubject, Deed, DeedKind};

/// What the other sections of the recap tell already.
#[derive(Clone)]
pub(super) struct ListedElsewhere<'a> {
    /// The messages of checks that the state lists.
    pub checks: &'a FxHashSet<u32>,
    /// The files that the agent made for itself alone.
    pub asides: &'a FxHashSet<&'a str>,
    /// Texts that messages behind the recap say.
    pub texts: FxHashSet<&'a str>,
    /// The indices of the deeds that say what the task is, which the context shows nowhere else.
    pub task: &'a [usize],
    /// The tokens that the list of read files takes. Output leaves them, since titles of reads count as listed.
    pub for_read: u64,
}

impl ListedElsewhere<'_> {
    /// Whether other sections tell what a deed's title says: a check that the state lists, a file that was read.
    pub fn lists(&self, deed: &Deed) -> bool {
        match &deed.kind {
            DeedKind::Call(call) if call.ending == CallEnding::Shown => {
                matches!(call.subject, CallSubject::File(..))
            }
            DeedKind::Call(_) => self.checks.contains(&deed.message),
            _ => false,
        }
    }

    /// Whether a deed is about files that the agent made for itself alone.
    pub fn is_aside(&self, deed: &Deed) -> bool {
        match &deed.kind {
            DeedKind::Change(edit) => {
                edit.files.iter().all(|path| self.asides.contains(path.as_str()))
            }
            _ => false,
        }
    }
}
