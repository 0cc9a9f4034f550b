//! Why a request was sent as it came.

use midfold_proxy::RequestFault;

/// Why a request was sent unchanged although midfold should have read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassCause {
    /// It is larger than the memory for requests allows.
    TooLarge,
    /// It is compressed in a way that midfold does not read.
    Encoded,
    /// It is not a valid request of its format.
    Unread,
    /// It has messages, but its path is unknown.
    Path,
    /// It is signed, so the upstream would refuse another body.
    Signed,
    /// The messages that may not be folded do not fit.
    Floor,
    /// The client's system prompt and tools take nearly all of the window.
    Fixed,
    /// The requested preset or profile does not exist.
    Named,
    /// A panic in midfold.
    Panic,
}

impl PassCause {
    pub(crate) const ALL: [Self; 9] = [
        Self::TooLarge,
        Self::Encoded,
        Self::Unread,
        Self::Path,
        Self::Signed,
        Self::Floor,
        Self::Fixed,
        Self::Named,
        Self::Panic,
    ];

    /// The cause in words.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::TooLarge => "it is larger than what may be in memory",
            Self::Encoded => "it is packed in a way that is not read here",
            Self::Unread => "it is no request of the format that its path says",
            Self::Path => "it has messages, and nothing is known of its path",
            Self::Signed => "it is signed, and another body would be refused",
            Self::Floor => RequestFault::Floor.reason(),
            Self::Fixed => RequestFault::Fixed.reason(),
            Self::Named => RequestFault::Preset.reason(),
            Self::Panic => "a fault in midfold",
        }
    }

    /// Whether `--strict` refuses such a request. One with an unknown path may have no history, and one that is signed
    /// cannot be changed, so both pass.
    pub(crate) fn is_strict(self) -> bool {
        !matches!(self, Self::Path | Self::Signed)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TooLarge => "too-large",
            Self::Encoded => "encoded",
            Self::Unread => "unread",
            Self::Path => "path",
            Self::Signed => "signed",
            Self::Floor => "floor",
            Self::Fixed => "fixed",
            Self::Named => RequestFault::Preset.name(),
            Self::Panic => "panic",
        }
    }
}
