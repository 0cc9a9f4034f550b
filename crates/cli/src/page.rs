//! Formats a page of labelled lines for the terminal.

use midfold::view::CarriedProblem;
use midfold::{Meter, PreparedConversation};
use unicode_width::UnicodeWidthStr;

use crate::output::{OutputColor, OutputStyle};
use crate::words::{number, wrap};

/// The most problems that a report shows.
const SHOWN_PROBLEMS: usize = 3;
/// The width of a label in columns.
const LABEL: usize = 13;

/// A page of labelled lines, as it grows.
pub struct LabelledPage<'a> {
    pub style: &'a OutputStyle,
    pub text: String,
}

impl LabelledPage<'_> {
    pub fn title(&mut self, color: OutputColor, title: &str) {
        for line in wrap(title, self.style.width) {
            self.text += &format!("{}\n", self.style.paint(color, &line));
        }
    }

    pub fn section(&mut self, title: &str) {
        self.text += &format!("\n{}\n", self.style.paint(OutputColor::Bold, title));
    }

    pub fn field(&mut self, label: &str, text: &str) {
        for (at, line) in wrap(text, self.style.width.saturating_sub(LABEL + 2)).iter().enumerate()
        {
            let label = format!("{:LABEL$}", if at == 0 { label } else { "" });
            self.text += &format!("  {}{line}\n", self.style.paint(OutputColor::Dim, &label));
        }
    }

    /// Adds the tokens in the provider's own count. Adds nothing where the transcript has no reported usage to learn
    /// from.
    pub fn calibrated(&mut self, prepared: &PreparedConversation, tokens: &[u64]) {
        let Meter { ratio, samples, .. } = prepared.meter;
        if samples == 0 {
            return;
        }
        let real: Vec<_> = tokens.iter().map(|n| number(prepared.meter.calibrated(*n))).collect();
        let text = format!(
            "{} as the provider counts: ×{:.2}, learned from {} request(s) of the transcript",
            real.join(" → "),
            ratio.to_f64(),
            number(u64::from(samples))
        );
        self.field("calibrated", &text);
    }

    /// Adds the first problems, and the number of the others.
    pub fn notes<'n>(&mut self, notes: impl IntoIterator<Item = &'n CarriedProblem>) {
        let mut notes = notes.into_iter();
        for (at, note) in notes.by_ref().take(SHOWN_PROBLEMS).enumerate() {
            self.field(if at == 0 { "problems" } else { "" }, &note.to_string());
        }
        let more = notes.count();
        if more > 0 {
            self.field("", &format!("and {} more (all of them with --json)", number(more as u64)));
        }
    }

    /// Adds a count and as many of the names as fit.
    pub fn list(&mut self, label: &str, count: u64, noun: &str, names: &[String]) {
        let mut text = format!("{} {noun}", number(count));
        // The names get two lines. A few columns less are counted, because a name is not broken at the end of a line.
        let room = 2 * self.style.width.saturating_sub(LABEL + 2) - 10;
        let mut separator = ": ";
        let mut shown = 0;
        for name in names {
            let clean: String = name.chars().filter(|c| !c.is_control()).collect();
            if text.width() + separator.len() + clean.width() + 3 > room {
                break;
            }
            text = text + separator + &clean;
            separator = ", ";
            shown += 1;
        }
        if shown > 0 && shown < count {
            text += ", …";
        }
        self.field(label, &text);
    }
}

/// The text with the head lines of messages in bold.
pub fn heads_bold(text: &str, style: &OutputStyle) -> String {
    let one = |line: &str| match line.starts_with("── @") || line.starts_with('@') {
        true => format!("{}\n", style.paint(OutputColor::Bold, line)),
        false => format!("{line}\n"),
    };
    text.lines().map(one).collect()
}
