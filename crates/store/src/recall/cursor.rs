//! Places in the readable texts of messages: where a page starts, and where a part ends.

use std::fmt;

use super::{RecallError, target};

/// The place where a page starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCursor {
    /// The number of the message.
    pub(super) event: u64,
    pub(super) place: CursorPlace,
}

/// A place in the text of a message: a character offset, or a line counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CursorPlace {
    Char(usize),
    Line(usize),
}

impl CursorPlace {
    /// Reads `4000` or `L310`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().strip_prefix(['L', 'l']) {
            Some(line) => line.parse().ok().map(Self::Line),
            None => text.trim().parse().ok().map(Self::Char),
        }
    }

    /// The place as a character offset in a text.
    pub fn offset(self, text: &str) -> usize {
        match self {
            Self::Char(at) => at.min(text.chars().count()),
            Self::Line(line) => {
                let before = text.split_inclusive('\n').take(line.saturating_sub(1));
                before.map(|line| line.chars().count()).sum()
            }
        }
    }

    /// The last character or line of a part, as the place where the part ends.
    pub fn as_end(self) -> Self {
        match self {
            Self::Char(at) => Self::Char(at),
            Self::Line(line) => Self::Line(line.saturating_add(1)),
        }
    }

    /// Writes the end of a part as [`Self::as_end`] read it; empty where the part has no end.
    pub fn written_end(end: Option<Self>) -> String {
        match end {
            Some(Self::Char(at)) => format!("-{at}"),
            Some(Self::Line(line)) => format!("-L{}", line.saturating_sub(1)),
            None => String::new(),
        }
    }
}

impl Default for CursorPlace {
    fn default() -> Self {
        Self::Char(0)
    }
}

impl PageCursor {
    /// Reads `12`, `12:4000` (a character offset) or `12:L310` (a line, counted from 1).
    pub fn parse(text: &str) -> Result<Self, RecallError> {
        let wrong = || RecallError::Cursor(text.chars().take(80).collect());
        let text = text.trim();
        let (event, place) = text.split_once(':').unwrap_or((text, "0"));
        let event = target::number(event).ok_or_else(wrong)?;
        let place = CursorPlace::parse(place).ok_or_else(wrong)?;
        Ok(Self { event, place })
    }

    /// The place as a character offset in the text of its message.
    pub fn offset(self, text: &str) -> usize {
        self.place.offset(text)
    }

    /// Whether it is behind the beginning of its message.
    pub(super) fn is_inside(self) -> bool {
        self.place != CursorPlace::default()
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            CursorPlace::Char(0) => write!(f, "{}", self.event),
            CursorPlace::Char(at) => write!(f, "{}:{at}", self.event),
            CursorPlace::Line(line) => write!(f, "{}:L{line}", self.event),
        }
    }
}
