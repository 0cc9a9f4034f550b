//! The explanation as text for people: plain words that fit on one screen.

use std::fmt::{Display, Formatter, Result};

use super::{
    AskedAgain, ContextReader, Explanation, FoldRef, NearMessage, Occurrence, Sight, SightAnswer,
    TextUse, VerbatimPlace, WhenLeft,
};

use crate::reduce::thousands;

/// The most events that are listed; further ones are only counted.
const LISTED: usize = 6;

impl Display for FoldRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "fold {} ({:?})", self.number, self.id)
    }
}

fn tokens_in_words(tokens: u64) -> String {
    thousands(usize::try_from(tokens).unwrap_or(usize::MAX))
}

impl Explanation {
    /// The answer in a sentence, without the text that was asked for.
    pub(super) fn sentence(&self) -> String {
        let (at, sees, misses) = match self.call {
            Some(call) => (format!("at call {call}"), "saw", "did not see"),
            None => ("now".to_owned(), "sees", "does not see"),
        };
        let in_messages = matches!(self.answer, SightAnswer::Verbatim | SightAnswer::Edited);
        match (self.answer, self.reader) {
            (SightAnswer::NeverSaid, ContextReader::Proxied) => {
                "no message says it in these words; \
                the newest messages of an agent behind a proxy are stored with its next request"
                    .to_owned()
            }
            (SightAnswer::NeverSaid, _) => "no message says it in these words".to_owned(),
            (SightAnswer::NotYet, _) => format!("it had not been said {at}"),
            (_, ContextReader::Client) if in_messages => {
                "the transcript has it; its client decides what the model sees, not midfold"
                    .to_owned()
            }
            (_, ContextReader::Overfull { tokens, window }) if in_messages => format!(
                "the messages have it, but their {} tokens do not fit the window of {}: \
                 they are folded before they are sent",
                tokens_in_words(tokens),
                tokens_in_words(window)
            ),
            (SightAnswer::InRecap, ContextReader::Client) => {
                "midfold's fold of the transcript has \
                it in the recap only; its client decides what the model sees, not midfold"
                    .to_owned()
            }
            (SightAnswer::Gone, ContextReader::Client) => {
                "midfold's fold of the transcript leaves \
                it out; its client decides what the model sees, not midfold"
                    .to_owned()
            }
            (SightAnswer::Verbatim, _) => format!("the model {sees} it {at}, word for word"),
            (SightAnswer::Edited, _) => {
                format!("the model {sees} it {at}, in a shortened message")
            }
            (SightAnswer::InRecap, _) => format!("the model {sees} it {at}, in the recap only"),
            (SightAnswer::Gone, _) => format!("the model {misses} it {at}"),
        }
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "\"{}\": {}", self.text, self.verdict)?;
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
        for NearMessage { seq, role, snippet } in &self.near {
            writeln!(f, "  words of it are in message {seq} ({}): … {snippet} …", role.name())?;
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
        if let Some(loss) = &self.left {
            writeln!(f, "    {loss}")?;
        }
        if let Some(used) = &self.used {
            writeln!(f, "    {used}")?;
        }
        if self.recall && !matches!(self.sight, Sight::Verbatim { .. } | Sight::Transcript) {
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
            Self::Transcript => write!(f, "in the transcript, as it is"),
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
            Self::Cut { named } => {
                write!(f, "sent cut, because whole it did not fit, {}", still(named))
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
        write!(f, "left with {}: {}, {}", self.fold, self.rule, self.reason)
    }
}

impl Display for TextUse {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let when = if self.after_left { "after it had left" } else { "while it was there" };
        write!(f, "used again in message {} by the {}, {when}", self.seq, self.by.name())
    }
}
