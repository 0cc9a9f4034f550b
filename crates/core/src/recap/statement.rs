//! Statements: what one message said or did, in parts that can be left out separately.
//!
//! A statement becomes one line of a recap. The room for that line is known only when the recap is composed. The
//! statement then keeps its most telling parts, in order, and cuts a sentence only where no whole one fits.

use crate::recap::wanted_words::WantedWords;
use crate::salient::shorten;

/// The kind of a statement. The word in front of its line names the kind, so that a recap can be read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatementKind {
    /// Words of the user.
    Asked,
    /// Words of the assistant before a call.
    Said,
    /// Words of the assistant at the end of a turn: its answer.
    Concluded,
    /// A change of a file.
    Changed,
    /// A command and its outcome.
    Ran,
    /// The output of a look-up, as far as later messages use it.
    Found,
    /// A call that failed.
    Failed,
    /// A call that the user rejected.
    Rejected,
    /// A call that was interrupted.
    Stopped,
}

impl StatementKind {
    /// The word in front of the line; empty for the assistant's words.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Asked => "user: ",
            Self::Said => "",
            Self::Concluded => "answer: ",
            Self::Changed => "changed ",
            Self::Ran => "ran ",
            Self::Found => "saw ",
            Self::Failed => "failed ",
            Self::Rejected => "rejected by the user ",
            Self::Stopped => "interrupted ",
        }
    }

    /// The kind of a line, and the line without the word in front.
    #[must_use]
    pub fn of_line(line: &str) -> (Self, &str) {
        const LABELLED: [StatementKind; 8] = [
            StatementKind::Asked,
            StatementKind::Concluded,
            StatementKind::Changed,
            StatementKind::Ran,
            StatementKind::Found,
            StatementKind::Failed,
            StatementKind::Rejected,
            StatementKind::Stopped,
        ];
        let of = |kind: &StatementKind| Some((*kind, line.strip_prefix(kind.label())?));
        LABELLED.iter().find_map(of).unwrap_or((Self::Said, line))
    }

    /// Whether somebody said it. Words cannot be looked up again, as files can.
    #[must_use]
    pub fn is_words(self) -> bool {
        matches!(self, Self::Asked | Self::Said | Self::Concluded | Self::Rejected)
    }

    /// Whether its parts are sentences, which may be cut at the end.
    fn is_prose(self) -> bool {
        !matches!(self, Self::Changed | Self::Found | Self::Ran)
    }

    /// The text between a part and the one before it.
    fn separator(self, part: &StatementSentence) -> &'static str {
        match self {
            Self::Asked | Self::Said | Self::Concluded | Self::Rejected if !part.begins_line => " ",
            _ => LINE_BREAK,
        }
    }
}

/// A part of a statement: a sentence, a line of code or a line of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementSentence {
    /// The part on one line.
    pub text: String,
    /// How much the part tells; 100 for an ordinary sentence.
    pub weight: u32,
    /// Whether it begins a line of the original text, as a list item or a paragraph does.
    pub begins_line: bool,
}

impl StatementSentence {
    /// A part from a text, which is put on one line and cut at `PART_CHARS` characters.
    #[must_use]
    pub fn new(text: &str, weight: u32) -> Self {
        Self { text: shorten(text, PART_CHARS), weight, begins_line: false }
    }
}

/// What one message said or did: one line of a recap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Number of the message, by which recall finds it.
    pub message: u32,
    /// The kind of deed or words.
    pub kind: StatementKind,
    /// The text before all parts, such as the file of a change or the command of a run. May be empty.
    pub lead: String,
    /// The parts in the order of the original.
    pub parts: Vec<StatementSentence>,
    /// The output of the call. A recap holds a line of it only where a later message uses the line.
    pub seen: Vec<StatementSentence>,
    /// How many times it was said or done.
    pub times: u32,
}

/// Longest part, in characters.
pub(super) const PART_CHARS: usize = 480;
/// The text between two lines of the original.
pub(super) const LINE_BREAK: &str = " / ";
/// The text in the place of parts that are left out.
const GAP: &str = "…";

impl Statement {
    /// A statement with these parts, which happened once and has no output.
    #[must_use]
    pub fn new(
        message: u32,
        kind: StatementKind,
        lead: String,
        parts: Vec<StatementSentence>,
    ) -> Self {
        Self { message, kind, lead, parts, seen: Vec::new(), times: 1 }
    }

    /// Whether the statement tells anything. A look-up tells something where its output was used. A check that passed
    /// is in the state section, so it tells something only where its output was used, too.
    #[must_use]
    pub fn tells(&self) -> bool {
        let is_used = |parts: &[StatementSentence]| parts.iter().any(|part| part.weight >= USED);
        match self.kind {
            StatementKind::Found => is_used(&self.parts),
            StatementKind::Ran => {
                let weighs = self.parts.iter().any(|part| part.weight > 0);
                self.parts.is_empty() || weighs || is_used(&self.seen)
            }
            _ => true,
        }
    }

    /// The statement with a higher weight for output that holds one of the wanted words, so that a recap
    /// holds it even where no later message uses it. `None` where no weight changes.
    pub(super) fn focused(&self, wanted: &WantedWords) -> Option<Self> {
        let raises =
            |part: &StatementSentence| part.weight < wanted.weight && wanted.is_in(&part.text);
        let own = if self.kind == StatementKind::Found { &self.parts[..] } else { &[] };
        if !own.iter().chain(&self.seen).any(raises) {
            return None;
        }
        let mut statement = self.clone();
        let Self { parts, seen, kind, .. } = &mut statement;
        let shown =
            (*kind == StatementKind::Found).then_some(parts).into_iter().chain([seen]).flatten();
        shown.filter(|part| raises(part)).for_each(|part| part.weight = wanted.weight);
        Some(statement)
    }

    /// The statement as a recap tells it: with the output that later messages used.
    #[must_use]
    pub fn told(&self) -> Self {
        let used = self.seen.iter().enumerate().filter(|(_, part)| part.weight >= USED);
        // Output that a part already quotes is not repeated.
        let again =
            |part: &StatementSentence| !self.parts.iter().any(|own| own.text.contains(&part.text));
        let used = used.filter(|(_, part)| again(part)).map(|(at, part)| (at + 1, part));
        // Parts follow the order of the output; a verdict, which is not in the output, comes first.
        let place = |own: &StatementSentence| {
            self.seen.iter().position(|seen| seen.text.contains(&own.text)).map_or(0, |at| at + 1)
        };
        let mut parts: Vec<(usize, &StatementSentence)> =
            self.parts.iter().map(|own| (place(own), own)).chain(used).collect();
        parts.sort_by_key(|(at, _)| *at);
        let parts = parts.into_iter().map(|(_, part)| part.clone()).collect();
        Self { parts, seen: Vec::new(), lead: self.lead.clone(), ..*self }
    }

    /// The number of characters of the lead and all parts.
    #[must_use]
    pub fn chars(&self) -> usize {
        let parts = self.parts.iter().map(|part| part.text.chars().count() + 1);
        self.lead.chars().count() + parts.sum::<usize>()
    }

    /// The statement on one line of about `max` characters: its lead, and the most telling parts that fit, in order.
    /// `None` where that would say nothing.
    #[must_use]
    pub fn fit(&self, max: usize) -> Option<String> {
        let lead = self.lead.chars().count();
        let times = if self.times > 1 { format!(" ({} times)", self.times) } else { String::new() };
        let Some(room) = max.checked_sub(lead + times.len()) else {
            // The name of a changed file is worth a line even without the change.
            let bare = self.kind == StatementKind::Changed && max * 2 > lead;
            return bare.then(|| self.lead.trim_end_matches(':').to_owned() + &times);
        };
        let chosen = self.choose(room);
        let mut out = self.lead.clone();
        if chosen.is_empty() && !self.parts.is_empty() {
            // No whole part fits: the start of the best sentence is taken, where it is long enough to read.
            match self.parts.iter().max_by_key(|part| part.weight) {
                Some(best) if room >= LEAST && self.kind.is_prose() => {
                    push(&mut out, &shorten(&best.text, room), " ");
                }
                _ if self.kind == StatementKind::Changed => {}
                _ => return None,
            }
        }
        if chosen.is_empty() && out == self.lead {
            // A lead without anything behind it ends without a colon.
            out.truncate(out.trim_end_matches(':').len());
        }
        self.join(&mut out, &chosen);
        Some(out + &times)
    }

    /// The statement on one line with its lead and the parts at these indices, which are in order.
    #[must_use]
    pub fn tell(&self, parts: &[usize]) -> String {
        let mut out = self.lead.clone();
        if parts.is_empty() {
            // A lead without anything behind it ends without a colon.
            out.truncate(out.trim_end_matches(':').len());
        }
        self.join(&mut out, parts);
        if self.times > 1 {
            out.push_str(&format!(" ({} times)", self.times));
        }
        out
    }

    /// Whether the lead alone is worth a line, such as the name of a changed file or a failed command.
    #[must_use]
    pub fn is_told_bare(&self) -> bool {
        let is_bare =
            matches!(self.kind, StatementKind::Asked | StatementKind::Found | StatementKind::Ran);
        let says = !is_bare || self.parts.is_empty();
        says && !self.lead.is_empty()
    }

    /// Whether a recap may hold a part. Output of a look-up has to be used by a later message, and the assistant's
    /// words have to say something ("Perfect!" does not).
    #[must_use]
    pub fn is_told(&self, part: &StatementSentence) -> bool {
        match self.kind {
            StatementKind::Found | StatementKind::Said | StatementKind::Concluded => {
                part.weight >= USED
            }
            _ => true,
        }
    }

    /// Appends the parts at these indices, with a mark where parts between them are left out.
    fn join(&self, out: &mut String, parts: &[usize]) {
        let mut last = None;
        for &at in parts {
            let gap = last.map_or(at > 0, |last: usize| at - last > 1);
            if gap {
                push(out, GAP, " ");
            }
            let joint =
                if last.is_none() || gap { " " } else { self.kind.separator(&self.parts[at]) };
            push(out, &self.parts[at].text, joint);
            last = Some(at);
        }
    }

    /// The indices of the parts that fit, in order. The best parts are taken first. A part that tells little is taken
    /// only where no part that tells much more is missing.
    fn choose(&self, mut room: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        // Of equally weighted parts the later one is preferred, because it is the conclusion.
        order.sort_by_key(|at| (std::cmp::Reverse(self.parts[*at].weight), std::cmp::Reverse(*at)));
        let mut chosen = Vec::new();
        let mut missing = 0;
        for at in order {
            let (weight, cost) = (self.parts[at].weight, self.parts[at].text.chars().count() + 2);
            if !self.is_told(&self.parts[at]) || weight * 10 < missing * 6 {
                break;
            }
            if cost <= room + 2 {
                room = room.saturating_sub(cost);
                chosen.push(at);
            } else {
                missing = missing.max(weight);
            }
        }
        chosen.sort_unstable();
        chosen
    }
}

/// The least weight at which a recap holds a line of output: one use in words, or two uses in calls.
pub(super) const USED: u32 = 20;
/// The least weight of a line of output that holds wanted words.
pub(super) const WANTED: u32 = 60;
/// The start of a sentence is not quoted in fewer characters than this, because it would say nothing.
const LEAST: usize = 48;

/// Appends a text behind a separator. Two gaps in a row become one.
fn push(out: &mut String, text: &str, separator: &str) {
    if text == GAP && out.ends_with(GAP) {
        return;
    }
    if !out.is_empty() && !out.ends_with(' ') {
        out.push_str(separator);
    }
    out.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(parts: &[(&str, u32)]) -> Statement {
        let parts =
            parts.iter().map(|(text, weight)| StatementSentence::new(text, *weight)).collect();
        Statement::new(7, StatementKind::Said, String::new(), parts)
    }

    #[test]
    fn a_lead_that_announces_nothing_has_no_colon() {
        let ran = |parts: Vec<StatementSentence>| {
            Statement::new(7, StatementKind::Ran, "`pytest -q`:".to_owned(), parts)
        };
        assert_eq!(ran(Vec::new()).fit(99).as_deref(), Some("`pytest -q`"));
        let told = ran(vec![StatementSentence::new("213 passed", 100)]);
        assert_eq!(told.fit(99).as_deref(), Some("`pytest -q`: 213 passed"));
    }

    #[test]
    fn the_most_telling_parts_stay_in_order() {
        let all = statement(&[("First one.", 100), ("Filler.", 25), ("The cause is X.", 150)]);
        assert_eq!(all.fit(99).as_deref(), Some("First one. Filler. The cause is X."));
        assert_eq!(all.fit(28).as_deref(), Some("First one. … The cause is X."));
        assert_eq!(all.fit(16).as_deref(), Some("… The cause is X."));
        assert_eq!(all.fit(5), None);
    }

    #[test]
    fn a_sentence_is_cut_only_where_nothing_whole_fits() {
        let long = "word ".repeat(40);
        let all = statement(&[(&long, 100), ("Short.", 70), ("Hm.", 20)]);
        assert_eq!(all.fit(60).as_deref(), Some("… Short."));
        assert!(statement(&[(&long, 100)]).fit(60).unwrap().ends_with('…'));
    }

    #[test]
    fn the_kind_is_read_back_from_the_line() {
        for kind in [
            StatementKind::Asked,
            StatementKind::Concluded,
            StatementKind::Changed,
            StatementKind::Failed,
            StatementKind::Said,
        ] {
            let line = format!("{}a b", kind.label());
            assert_eq!(StatementKind::of_line(&line), (kind, "a b"));
        }
    }
}
