//! The texts that a repair puts in, and the labels before texts that are sent otherwise.

pub(crate) const NO_RESULT: &str = "[no result was recorded for this call]";
pub(crate) const EMPTY: &str = "[empty message]";
pub(crate) const NO_REPLY: &str = "[no reply was recorded]";
pub(crate) const OPENING: &str = "[start of the conversation]";
pub(crate) const CONTINUE_USER: &str = "[continue]";
pub(crate) const CONTINUE_ASSISTANT: &str = "[noted]";
pub(crate) const NO_CALL: &str = "[a result whose call is gone was left out]";
pub(crate) const NO_REASONING: &str = "[reasoning removed]";

/// The label before the text of a message whose role no provider knows.
pub const OF_OTHER: &str = "[from another role] ";
/// The label before the text of a system message at a place where none is allowed.
pub const OF_SYSTEM: &str = "[from the system] ";
/// The label before the text of a result whose call is missing.
pub const OF_RESULT: &str = "[result of ";
/// The label before the text of a call that cannot be sent as a call.
pub(super) const OF_CALL: &str = "[called ";
