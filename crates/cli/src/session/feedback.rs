//! What a person is told about a compaction that was asked for. Most of all in the two cases that
//! puzzle: nothing changed, or the tokens went up.

use midfold::core::engine::SessionStatus;
use midfold::core::fold::FoldEntry;
use midfold::{CacheCheck, CompactionFeedback as Said, Fold, NoOp, PlanOutcome, SizeCount};
use serde_json::{Value, json};

use crate::output::{OutputColor, OutputStyle};
use crate::page::LabelledPage;
use crate::words::{about, grouped, number, plural, printable};

/// A compaction that was done, or would be.
pub struct CompactionReport<'a> {
    pub session: &'a str,
    pub outcome: &'a PlanOutcome,
    /// The session before.
    pub before: &'a SessionStatus,
    /// What counts its tokens, and whether that is a vocabulary.
    pub counter: (&'a str, bool),
    /// Nothing was done.
    pub preview: bool,
    /// The fold's number.
    pub number: u64,
    /// What the provider's cache can read again, where that was asked.
    pub cache: Option<CacheCheck>,
}

impl CompactionReport<'_> {
    pub fn to_json(&self) -> Value {
        let (counter, exact) = self.counter;
        let mut value = json!({
            "session": self.session,
            "preview": self.preview,
            "counter": counter,
            "estimate": !exact,
            "recap": midfold::recap(self.outcome).ok(),
            "feedback": self.said(),
            "cache": self.cache,
        });
        let more = match self.outcome {
            PlanOutcome::Folded(fold) => json!({
                "changed": !self.preview,
                "messages_before": fold.messages_before,
                "messages_after": fold.messages_after,
                "tokens_before": fold.tokens_before,
                "tokens_after": fold.tokens_after,
                "fold": fold.id,
                "number": self.number,
                "note": note(fold),
            }),
            PlanOutcome::Nothing(reason) => json!({
                "changed": false,
                "messages_before": self.before.messages,
                "messages_after": self.before.messages,
                "reason": reason.to_string(),
            }),
        };
        if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
            value.extend(more);
        }
        value
    }

    /// The words of Hermes Agent's manual compression, for hosts that show those.
    fn said(&self) -> Said {
        let before =
            SizeCount { messages: self.before.messages, tokens: self.before.context_tokens };
        Said::of(self.outcome, before)
    }

    pub fn text(&self, style: &OutputStyle) -> String {
        let mut page = LabelledPage { style, text: String::new() };
        match self.outcome {
            PlanOutcome::Nothing(reason) => self.nothing(&mut page, reason),
            PlanOutcome::Folded(fold) => self.folded(&mut page, fold),
        }
        page.text
    }

    fn nothing(&self, page: &mut LabelledPage<'_>, reason: &NoOp) {
        let messages = plural(self.before.messages, "message");
        let what = if self.preview { "Nothing would change" } else { "Nothing changed" };
        page.title(OutputColor::Yellow, &format!("{what}: {messages}"));
        page.field("why", &grouped(&reason.to_string()));
        let real = self.before.last_prompt_tokens > 0 || self.before.meter.samples > 0;
        let tokens = about(self.before.context_tokens, self.counter.1 && !real);
        let how = if real { "after the provider's own counts".to_owned() } else { self.how() };
        page.field("tokens", &format!("{tokens} (unchanged), {how}"));
    }

    fn folded(&self, page: &mut LabelledPage<'_>, fold: &Fold) {
        let [before, after] = [fold.messages_before, fold.messages_after].map(u64::from);
        let what = if self.preview { "Would compact" } else { "Compacted" };
        page.title(
            OutputColor::Green,
            &format!("{what}: {} → {}", number(before), plural(after, "message")),
        );
        let (before, after) = (fold.tokens_before, fold.tokens_after);
        let part = before.abs_diff(after) * 100 / before.max(1);
        let change = if after > before { format!("+{part} %") } else { format!("−{part} %") };
        let [first, second] = [before, after].map(|tokens| about(tokens, self.counter.1));
        page.field("tokens", &format!("{first} → {second} ({change}), {}", self.how()));
        if let Some(note) = note(fold) {
            page.field("note", &note);
        }
        page.field("kept", &kept(fold));
        page.field("instead", &self.said().instead.unwrap_or_default());
        if self.preview {
            page.field("fold", "this is a preview: nothing was changed");
            if let Some(check) = &self.cache {
                crate::compact::cache::show(page, check);
            }
            if let Ok(recap) = midfold::recap(self.outcome) {
                let title = "The model would read this where messages were folded:";
                let title = page.style.paint(OutputColor::Bold, title);
                page.text += &format!("\n{title}\n\n{}\n", printable(recap.trim_end()));
            }
        } else {
            page.field("fold", &format!("{} ({:?})", self.number, fold.id));
            page.field("undo", &format!("midfold session undo {}", self.session));
        }
    }

    fn how(&self) -> String {
        match self.counter {
            (name, true) => format!("counted with {name}"),
            (name, false) => format!("an estimate ({name})"),
        }
    }
}

fn kept(fold: &Fold) -> String {
    let accounts = &fold.accounts;
    let parts = [
        (accounts.verbatim, "verbatim"),
        (accounts.edited, "shortened"),
        (accounts.recap, "in the recap"),
        (accounts.marker, "behind the marker"),
    ];
    let there = parts.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<_> =
        there.map(|(count, what)| format!("{} {what}", number(u64::from(*count)))).collect();
    let pinned = match fold.layout.pinned.len() as u64 {
        0 => String::new(),
        count => format!("; {} pinned", number(count)),
    };
    format!("of {} messages {}{pinned}", number(u64::from(accounts.events)), texts.join(", "))
}

/// Fewer messages and yet more tokens: it happens, and should not look like a mistake.
fn note(fold: &Fold) -> Option<String> {
    if fold.tokens_after <= fold.tokens_before {
        return None;
    }
    let recap = fold.entries.iter().any(|entry| matches!(entry, FoldEntry::Recap { .. }));
    let fewer = fold.messages_after < fold.messages_before;
    Some(match (fewer, recap) {
        (true, true) => {
            "there are fewer messages but more tokens: the recap is denser than what it replaces"
        }
        (true, false) => "there are fewer messages but more tokens",
        (false, _) => "there are more tokens than before",
    }
    .to_owned())
}
