//! The closed sets of code words in the record of a fold.

use serde::{Deserialize, Serialize};

use crate::narrate::{FailureClass, ReplyVerdict};
use crate::policy::RecapFallback;

/// The kind of change that a reducer made to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EditKind {
    /// The block has another text.
    Replaced,
    /// The block is gone.
    Removed,
}

impl EditKind {
    /// The word in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::Removed => "removed",
        }
    }
}

/// The text for a covered span that no model narrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StandIn {
    /// The computed sections.
    Computed,
    /// The fixed marker.
    Marker,
    /// A fixed sentence with the number of messages.
    Static,
    /// A recap that the host wrote.
    Host,
}

impl StandIn {
    /// The word in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Computed => RecapFallback::Computed.as_str(),
            Self::Marker => RecapFallback::Marker.as_str(),
            Self::Static => RecapFallback::Static.as_str(),
            Self::Host => "host",
        }
    }
}

impl From<RecapFallback> for StandIn {
    fn from(fallback: RecapFallback) -> Self {
        match fallback {
            RecapFallback::Computed => Self::Computed,
            RecapFallback::Marker => Self::Marker,
            RecapFallback::Static => Self::Static,
        }
    }
}

/// The result of one request to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictCode {
    /// The reply was still awaited when the fold was made.
    Pending,
    /// The conversation changed before a worker took the request, so the request was dropped.
    Stale,
    /// A narration was accepted before, and the fold could not use it.
    Unused,
    /// A reply came: it was accepted, or refused for this reason.
    #[serde(untagged)]
    Reply(ReplyVerdict),
    /// No reply came, for this reason.
    #[serde(untagged)]
    Failed(FailureClass),
}

impl VerdictCode {
    /// The code of a reply that passed all checks.
    pub const ACCEPTED: Self = Self::Reply(ReplyVerdict::Accepted);

    /// The code word in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Stale => "stale",
            Self::Unused => "unused",
            Self::Reply(verdict) => verdict.as_str(),
            Self::Failed(class) => class.as_str(),
        }
    }

    /// The verdict of a code word; `None` for an unknown word.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        let replies = ReplyVerdict::ALL.into_iter().map(Self::Reply);
        let failures = FailureClass::ALL.into_iter().map(Self::Failed);
        let mut all =
            [Self::Pending, Self::Stale, Self::Unused].into_iter().chain(replies).chain(failures);
        all.find(|known| known.as_str() == code)
    }

    /// Why no reply came; `None` where one did.
    #[must_use]
    pub fn failure(self) -> Option<FailureClass> {
        match self {
            Self::Failed(class) => Some(class),
            _ => None,
        }
    }
}

impl From<ReplyVerdict> for VerdictCode {
    fn from(verdict: ReplyVerdict) -> Self {
        Self::Reply(verdict)
    }
}

impl From<FailureClass> for VerdictCode {
    fn from(class: FailureClass) -> Self {
        Self::Failed(class)
    }
}

impl std::fmt::Display for EditKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Display for StandIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Display for VerdictCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::ReducerName;

    fn json<T: Serialize>(value: &T) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn a_code_is_the_word_that_json_has() {
        let replies = ReplyVerdict::ALL.into_iter().map(VerdictCode::Reply);
        let failures = FailureClass::ALL.into_iter().map(VerdictCode::Failed);
        let codes: Vec<_> = [VerdictCode::Pending, VerdictCode::Stale, VerdictCode::Unused]
            .into_iter()
            .chain(replies)
            .chain(failures)
            .collect();
        for code in codes {
            assert_eq!(json(&code), format!("\"{code}\""));
            assert_eq!(serde_json::from_str::<VerdictCode>(&json(&code)).unwrap(), code);
            assert_eq!(VerdictCode::from_code(code.as_str()), Some(code));
        }
        assert_eq!(VerdictCode::from_code("no such code"), None);
        assert!(serde_json::from_str::<VerdictCode>("\"no such code\"").is_err());
        for kind in [EditKind::Replaced, EditKind::Removed] {
            assert_eq!(json(&kind), format!("\"{kind}\""));
        }
        for stand_in in [StandIn::Computed, StandIn::Marker, StandIn::Static, StandIn::Host] {
            assert_eq!(json(&stand_in), format!("\"{stand_in}\""));
        }
        assert_eq!(json(&ReducerName::Supersede), format!("\"{}\"", ReducerName::Supersede));
    }
}
