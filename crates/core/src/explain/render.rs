//! The explanation as text for people: plain words that fit on one screen.

use std::fmt::{Display, Formatter, Result};

use super::{
    AskedAgain, Explanation, FoldRef, Occurrence, Sight, SightAnswer, TextUse, VerbatimPlace,
    WhenLeft,
};

/// The most events that are listed; further ones are only counted.
const LISTED: usize = 6;

impl Display for FoldRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "fold {} ({:?})", self.number, self.id)
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (at, sees, misses) = match self.call {
            Some(call) => (format!("at call {call}"), "saw", "did not see"),
            None => ("now".to_owned(), "sees", "does not see"),
        };
        let answer = match self.answer {
            SightAnswer::NeverSaid => "no message of this session says it".to_owned(),
            SightAnswer::NotYet => format!("it had not been said {at}"),
            SightAnswer::Verbatim => format!("the model {sees} it {at}, word for word"),
            SightAnswer::Edited => format!("the model {sees} it {at}, in a shortened message"),
            SightAnswer::InRecap => format!("the model {sees} it {at}, in the recap only"),
            SightAnswer::Gone => format!("the model {misses} it {at}"),
        };
        writeln!(f, "\"{}\": {answer}", self.text)?;
        if let Some(fold) = &self.lost_with {
            writeln!(
                f,
                "  it left with {fold}, made when the session had {} messages",
                fold.events
            )?;
        }
        for again in &self.asked_again {
            writeln!(f, "  {again}")?;
        }
        for occurrence in self.occurrences.iter().take(LISTED) {
            write!(f, "{occurrence}")?;
        }
        let more = self.occurrences.len().saturating_sub(LISTED);
        if more > 0 {
            writeln!(f, "  and {more} more messages that say it")?;
        }
        Ok(())
    }
}

impl Display for AskedAgain {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { fold, reference } = self;
        write!(
            f,
            "{}: folded at {}, asked for again at {}",
            reference.name, fold.events, reference.seq
        )
    }
}

impl Display for Occurrence {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "  message {} ({}): {}", self.seq, self.role.name(), self.sight)?;
        writeln!(f, "    … {} …", self.snippet)?;
        if let Some(left) = &self.left {
            writeln!(f, "    {left}")?;
        }
        if let Some(used) = &self.used {
            writeln!(f, "    {used}")?;
        }
        if self.recall && !matches!(self.sight, Sight::Verbatim { .. }) {
            writeln!(f, "    recall can bring it back: expand event {}", self.seq)?;
        }
        Ok(())
    }
}

impl Display for Sight {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let still =
            |named: &bool| if *named { "which still says it" } else { "which no longer says it" };
        match self {
            Self::NotYet => write!(f, "came later"),
            Self::Verbatim { place: VerbatimPlace::Head } => {
                write!(f, "sent as it is, in the head")
            }
            Self::Verbatim { place: VerbatimPlace::Pinned } => write!(f, "sent as it is, pinned"),
            Self::Verbatim { place: VerbatimPlace::Kept } => {
                write!(f, "sent as it is, between edits")
            }
            Self::Verbatim { place: VerbatimPlace::Tail } => {
                write!(f, "sent as it is, in the tail")
            }
            Self::Edited { named, reducer, reason } => {
                write!(f, "sent as edited by {reducer} ({reason}), {}", still(named))
            }
            Self::Repaired { named, why } => {
                write!(f, "sent otherwise to be valid ({why:?}), {}", still(named))
            }
            Self::Recap { named: true } => write!(f, "replaced by the recap, which still says it"),
            Self::Recap { named: false } => {
                write!(f, "replaced by the recap, which does not say it")
            }
            Self::Marker => write!(f, "replaced by a marker, which says nothing of it"),
        }
    }
}

impl Display for WhenLeft {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "left with {}, rule {}, {}", self.fold, self.rule, self.reason)
    }
}

impl Display for TextUse {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let when = if self.after_left { "after it had left" } else { "while it was there" };
        write!(f, "used again in message {} by the {}, {when}", self.seq, self.by.name())
    }
}
