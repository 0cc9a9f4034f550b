//! The worth of parts and titles, by whose words or what deed they are. Only the ratios count.

use crate::recap::deed::{CallEnding, Deed, DeedKind, DeedPart, PartKind, Speaker};

/// The user's words: nobody can look them up elsewhere, and they hold until the user says otherwise.
const USER: u64 = 240;
/// An answer concludes a turn.
const ANSWER: u64 = 80;
/// What the assistant says beside its calls.
const ASSISTANT: u64 = 64;
/// What a change or a run was, and how it ended.
const DEED: u64 = 96;
/// What failed and is not over yet.
const OPEN: u64 = 64;
/// What a file says now. It can be read again there …
const NEW_LINE: u64 = 20;
/// … and so can code that somebody quotes.
const CODE: u64 = 12;
/// Output, and what a change took away.
const OUTPUT: u64 = 1;

/// What a deed's title is worth.
pub(super) fn title_worth(deed: &Deed) -> u64 {
    match &deed.kind {
        DeedKind::Words(_) => 0,
        DeedKind::Change(_) => DEED,
        DeedKind::Call(call) => match call.ending {
            CallEnding::Failed => OPEN,
            CallEnding::Rejected | CallEnding::Stopped => USER,
            CallEnding::Ended | CallEnding::Settled(_) => DEED,
            CallEnding::Shown => OUTPUT,
        },
    }
}

/// What a part of a deed is worth.
pub(super) fn part_worth(deed: &Deed, part: &DeedPart) -> u64 {
    let by = |speaker: &Speaker| match speaker {
        Speaker::User | Speaker::Application => USER,
        Speaker::Answer | Speaker::Note => ANSWER,
        Speaker::Assistant => ASSISTANT,
    };
    match &part.kind {
        PartKind::Answered => USER,
        PartKind::Sentence => deed.speaker().map_or(DEED, by),
        PartKind::Code => CODE,
        PartKind::Verdict => title_worth(deed),
        PartKind::NewLine(_) => NEW_LINE,
        PartKind::OldLine | PartKind::Output => OUTPUT,
    }
}
