//! Finds the row of `refusals.tsv` that says why a provider refused a request, and reads the numbers in its words.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::body::ErrorBody;
use super::diagnosis::{Diagnosis, PictureLimit};

/// The smallest and the largest number of tokens that can be a window (docs/SOURCES.md, Hermes, section 2). Any other
/// number in an error text is a code, a version or a date.
const SANE: std::ops::RangeInclusive<u64> = 1_024..=10_000_000;

/// A number with or without separators of thousands, in full, in thousands (`128k`) or in millions (`1M`).
const NUMBER: &str = r"(?-u:\b)(?:\d{1,3}(?:[,_.' ]\d{3})+|\d+)(?:\.0+)?(?:[km]\b)?";

/// The names of the numbers in a wording.
const MARKS: [&str; 7] = ["have", "limit", "total", "input", "output", "above", "over"];

static ROWS: LazyLock<Vec<RefusalRow>> =
    LazyLock::new(|| lines().filter_map(RefusalRow::read).collect());

/// What a row says of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefusalVerdict {
    Overflow,
    /// An overflow only where the prompt is above the limit.
    Above,
    /// The reply alone is above what the model can write.
    Cap,
    Pictures,
    Side {
        among_many: bool,
    },
    PictureBytes,
    /// No number of the words counts.
    Plain(Diagnosis),
}

impl RefusalVerdict {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "overflow" => Self::Overflow,
            "above" => Self::Above,
            "cap" => Self::Cap,
            "pictures" => Self::Pictures,
            "side" => Self::Side { among_many: false },
            "side-among-many" => Self::Side { among_many: true },
            "picture-bytes" => Self::PictureBytes,
            "payload" => Self::Plain(Diagnosis::PayloadTooLarge),
            "rate-limit" => Self::Plain(Diagnosis::RateLimit),
            "unsupported" => Self::Plain(Diagnosis::Unsupported),
            "reasoning" => Self::Plain(Diagnosis::BoundReasoning),
            "missing-reasoning" => Self::Plain(Diagnosis::MissingReasoning),
            "content-policy" => Self::Plain(Diagnosis::ContentPolicy),
            "role-order" => Self::Plain(Diagnosis::RoleOrder),
            "malformed" => Self::Plain(Diagnosis::Malformed),
            "other" => Self::Plain(Diagnosis::Other),
            _ => return None,
        })
    }

    /// Whether it is about the window, or the reply.
    fn is_about_tokens(self) -> bool {
        matches!(self, Self::Overflow | Self::Above | Self::Cap)
    }
}

/// One row of the table. The table's head says what each column means.
#[derive(Debug)]
struct RefusalRow {
    verdict: RefusalVerdict,
    status: Option<u16>,
    codes: Vec<&'static str>,
    wording: Option<Regex>,
    /// The limit that the sentence does not say.
    fixed_limit: Option<u64>,
}

/// The row that decides, and the words that it matched.
pub(super) struct RefusalMatch<'a> {
    row: &'static RefusalRow,
    captures: Option<Captures<'a>>,
}

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("refusals.tsv").lines().filter(|line| !line.starts_with('#'))
}

impl RefusalRow {
    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.split('\t');
        let [verdict, _, status, codes, wording] = std::array::from_fn(|_| columns.next());
        let (wording, fixed_limit) = match wording?.split_once("{limit=") {
            Some((words, number)) => (words, number.strip_suffix('}')?.parse().ok()),
            None => (wording?, None),
        };
        let spelled = MARKS.iter().fold(wording.to_owned(), |text, name| {
            text.replace(&format!("{{{name}}}"), &format!("(?P<{name}>{NUMBER})"))
        });
        let regex = Regex::new(&format!("(?is){}", spelled.replace(r"\d", "[0-9]"))).ok()?;
        Some(Self {
            verdict: RefusalVerdict::from_name(verdict?)?,
            status: status?.parse().ok(),
            codes: codes?.split('|').filter(|code| !code.is_empty()).collect(),
            wording: (!wording.is_empty()).then_some(regex),
            fixed_limit,
        })
    }

    fn matched<'a>(
        &'static self,
        status: Option<u16>,
        body: &'a ErrorBody,
    ) -> Option<RefusalMatch<'a>> {
        let is_status = self.status.is_none() || self.status == status;
        let is_code = self.codes.is_empty() || body.has_code(&self.codes);
        if !is_status || !is_code {
            return None;
        }
        let Some(wording) = &self.wording else {
            return Some(RefusalMatch { row: self, captures: None });
        };
        let refusal = RefusalMatch { row: self, captures: Some(wording.captures(&body.text)?) };
        let is_above = || refusal.tokens("have") > refusal.tokens("limit").max(Some(0));
        (self.verdict != RefusalVerdict::Above || is_above()).then_some(refusal)
    }
}

/// The first row that matches an error.
pub(super) fn first_match(status: Option<u16>, body: &ErrorBody) -> Option<RefusalMatch<'_>> {
    let refusal = ROWS.iter().find_map(|row| row.matched(status, body))?;
    if refusal.captures.is_some() || !refusal.row.verdict.is_about_tokens() {
        return Some(refusal);
    }
    // A code is the provider's own verdict. Its numbers are in the words beside it.
    let in_words = |row: &&RefusalRow| row.verdict.is_about_tokens() && row.wording.is_some();
    let numbers = ROWS.iter().filter(in_words).find_map(|row| row.matched(status, body));
    Some(numbers.unwrap_or(refusal))
}

impl<'a> RefusalMatch<'a> {
    /// The words that decided. `None` where a code or a status did.
    pub fn words(&self) -> Option<&'a str> {
        Some(self.captures.as_ref()?.get(0)?.as_str())
    }

    /// What the row says, with the numbers of `body`.
    pub fn diagnosis(&self, body: &ErrorBody) -> Diagnosis {
        let most = self.number("limit");
        match self.row.verdict {
            RefusalVerdict::Overflow | RefusalVerdict::Above => self.overflow(body),
            RefusalVerdict::Cap => {
                Diagnosis::ReplyCap { output: self.part("output"), limit: self.tokens("limit") }
            }
            RefusalVerdict::Pictures => Diagnosis::Pictures(PictureLimit::Count { most }),
            RefusalVerdict::Side { among_many } => {
                Diagnosis::Pictures(PictureLimit::Side { most, among_many })
            }
            RefusalVerdict::PictureBytes => Diagnosis::Pictures(PictureLimit::Bytes { most }),
            RefusalVerdict::Plain(diagnosis) => diagnosis,
        }
    }

    fn overflow(&self, body: &ErrorBody) -> Diagnosis {
        let sane = |number: Option<u64>| number.filter(|n| SANE.contains(n));
        let limit = sane(body.limit).or_else(|| self.tokens("limit")).or(self.row.fixed_limit);
        let (total, output) = (self.tokens("total"), self.part("output"));
        // The total may include tools and images that `{input}` leaves out, so the larger count is taken.
        let rest = total.zip(output).and_then(|(total, output)| total.checked_sub(output));
        let above = self.part("above").map(|under| under + 1);
        let input = self.part("input").max(rest).or(above);
        // The prompt alone would fit: the reply has to become shorter first.
        if let (Some(input), Some(output), Some(limit)) = (input, output, limit)
            && input < limit
        {
            return Diagnosis::SharedCap { input, output, limit };
        }
        let over = self.number("over").zip(limit).map(|(over, limit)| limit.saturating_add(over));
        let own = self.tokens("have").or_else(|| sane(over)).or_else(|| sane(input)).or(total);
        Diagnosis::Overflow { have: sane(body.have).or(own), limit }
    }

    /// A number that can be a window.
    fn tokens(&self, name: &str) -> Option<u64> {
        self.number(name).filter(|n| SANE.contains(n))
    }

    /// The number of a prompt or a reply where the two are counted apart. Each of them may be small.
    fn part(&self, name: &str) -> Option<u64> {
        self.number(name).filter(|n| n <= SANE.end())
    }

    fn number(&self, name: &str) -> Option<u64> {
        let text = self.captures.as_ref()?.name(name)?.as_str().to_ascii_lowercase();
        let (text, times) = match text.strip_suffix(['k', 'm']) {
            Some(rest) if text.ends_with('k') => (rest, 1_000),
            Some(rest) => (rest, 1_000_000),
            None => (text.as_str(), 1),
        };
        // `30000.0` is a number that a program wrote as a fraction; `30.000` has a separator.
        let whole = match text.split_once('.') {
            Some((whole, rest)) if rest.len() != 3 && rest.bytes().all(|digit| digit == b'0') => {
                whole
            }
            _ => text,
        };
        let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()?.checked_mul(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_can_match() {
        assert_eq!(ROWS.len(), lines().count());
        for (row, line) in ROWS.iter().zip(lines()) {
            assert_eq!(
                line.split('\t').filter(|column| !column.contains("  ")).count(),
                6,
                "{line}"
            );
            assert!(!line.ends_with('\t'), "{line} does not say where it was seen");
            let has_condition =
                row.status.is_some() || !row.codes.is_empty() || row.wording.is_some();
            assert!(has_condition, "{line} would match everything");
            assert!(row.wording.is_none() == line.split('\t').nth(4).is_none_or(str::is_empty));
        }
    }
}
