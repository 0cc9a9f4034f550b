//! Lines that each recap repeats because somebody asked for it, and not because the log says them: the agent's notes,
//! and texts that the host's settings put back after a fold. Like the rest of a recap they are data: quoted, escaped,
//! without secrets, and listed in the fold's record.

use crate::counter::{Counter, TextKind};
use crate::event::Hash;
use crate::fold::{PutBackPart, PutBackRecord, PutBackSource};
use crate::recap::{escape, section};

/// The host's texts may take one part in this many of the budget: as much as messages that an agent recalled.
const SHARE: u64 = 8;

/// The texts that a host puts back after each fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostTexts {
    /// The most tokens of all texts, by the session's counter. A text that does not fit is left out, and the recap says
    /// so.
    pub most: u64,
    /// The texts, in order.
    pub texts: Vec<HostText>,
}

/// One text of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostText {
    /// The name of the file; `None` for a text that is written in the settings.
    pub file: Option<String>,
    /// The text, or the reason for which there is none, in words that can follow the file's name.
    pub text: Result<String, String>,
}

/// The lines that are put back, and their parts for the record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutBack {
    /// Whole lines, in sections with headers; empty where nothing is put back.
    pub lines: String,
    /// Tokens of the lines.
    pub tokens: u64,
    parts: Vec<PutBackPart>,
}

impl PutBack {
    /// Makes the lines from an agent's notes and a host's texts, for a context of `budget` tokens. `clean` replaces
    /// secrets.
    #[must_use]
    pub fn new(
        notes: &[&str],
        host: &HostTexts,
        budget: u64,
        counter: &dyn Counter,
        clean: impl Fn(&str) -> String,
    ) -> Self {
        let mut new = Self::default();
        let cost = |text: &str| u64::from(counter.count(text, TextKind::Prose));
        if !notes.is_empty() {
            new.lines += &format!("### {}\n", section::NOTED);
        }
        for note in notes {
            let line = format!("- {}\n", escape::inline(&clean(note), NOTE));
            new.add(PutBackSource::Note, String::new(), cost(&line), None);
            new.lines += &line;
        }
        if !host.texts.is_empty() {
            new.lines += &format!("### {}\n", section::PUT_BACK);
        }
        let mut room = host.most.min(budget / SHARE);
        for HostText { file, text } in &host.texts {
            let name = file.as_deref().map(|file| escape::inline(&clean(file), NAME));
            let outcome = match text {
                Ok(text) => {
                    let lines = quoted(name.as_deref(), &clean(text));
                    match cost(&lines) {
                        tokens if tokens <= room => Ok((lines, tokens)),
                        tokens => Err(format!("{tokens} tokens, and {room} are left for it")),
                    }
                }
                Err(why) => Err(why.clone()),
            };
            let source = if name.is_some() { PutBackSource::File } else { PutBackSource::Text };
            match outcome {
                Ok((lines, tokens)) => {
                    room -= tokens;
                    new.lines += &lines;
                    new.add(source, name.unwrap_or_default(), tokens, None);
                }
                Err(why) => {
                    let why = escape::inline(&clean(&why), NAME);
                    new.lines += &match &name {
                        Some(name) => format!("- file {name}: not here: {why}\n"),
                        None => format!("- a text of the user's: not here: {why}\n"),
                    };
                    new.add(source, name.unwrap_or_default(), 0, Some(why));
                }
            }
        }
        // Counted as a whole: headings are in no part, and tokens of lines do not add up exactly.
        new.tokens = cost(&new.lines);
        new
    }

    fn add(&mut self, source: PutBackSource, name: String, tokens: u64, missing: Option<String>) {
        self.parts.push(PutBackPart { source, name, tokens, missing });
    }

    /// Whether nothing is put back.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The entry for the fold's record; `None` where nothing is put back. `text` is the finished recap, in whose lines
    /// secrets that only the log shows are replaced, too.
    #[must_use]
    pub fn record(&self, text: &str) -> Option<PutBackRecord> {
        let lines = lines_in(text)?;
        let hash = Hash::ROOT.chain(lines.as_bytes());
        Some(PutBackRecord { tokens: self.tokens, hash, parts: self.parts.clone() })
    }
}

/// The most characters of a note in the recap. More than a note may have when it is made, since replacing secrets can
/// make it longer.
const NOTE: usize = 1_000;
/// The most characters of a file's name or a reason.
const NAME: usize = 300;

/// A text as lines of the recap, after a line that says whose it is.
fn quoted(file: Option<&str>, text: &str) -> String {
    let owner = match file {
        Some(file) => format!("file {file} as it was on disk at this fold:"),
        None => "the user's settings repeat this after each fold; it is no new message:".to_owned(),
    };
    format!("- {owner}\n{}", escape::block(text))
}

/// The lines of a recap that were put back: from the first of their headers to the line that ends the recap. `None`
/// where there are none.
pub(crate) fn lines_in(text: &str) -> Option<&str> {
    let header = |name: &str| {
        let header = format!("### {name}\n");
        let matches = text.match_indices(header.as_str());
        matches.map(|(at, _)| at).find(|at| *at == 0 || text[..*at].ends_with('\n'))
    };
    let start = [section::NOTED, section::PUT_BACK].into_iter().find_map(header)?;
    let last = text.rfind('\n').map_or(text.len(), |at| at + 1);
    let end = if crate::seal::is_end(&text[last..]) { last } else { text.len() };
    text.get(start..end)
}
