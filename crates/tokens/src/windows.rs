//! The windows of models, as far as their names tell them.

use std::sync::LazyLock;

use crate::models::{bare, is_version};

/// The table: `prefix<TAB>tokens` on each line, and a third column [`ALONE`] where the row is about its own names alone;
/// comments start with `#`.
const TABLE: &str = include_str!("../data/windows.tsv");

/// Marks a row whose name is no version like the others of its family.
const ALONE: &str = "alone";

/// The window that `[1m]` behind a name asks for, as does Anthropic's beta of that name.
const MILLION: u64 = 1_000_000;

/// A row of the table.
struct WindowRow {
    prefix: &'static str,
    /// `None` where the row is about names that begin with `prefix`, and about no others.
    name: Option<ModelName>,
    window: u64,
}

/// The parts of a model's name: `gpt-5.4-mini` is family `gpt`, version 5.4, variant `mini`.
#[derive(Debug, PartialEq, Eq)]
struct ModelName {
    family: String,
    version: Option<(u32, u32)>,
    variant: Vec<String>,
}

static ROWS: LazyLock<Vec<WindowRow>> = LazyLock::new(|| rows(TABLE).collect());

fn rows(table: &'static str) -> impl Iterator<Item = WindowRow> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut columns = line.split('\t');
        let (prefix, window) = (columns.next()?, columns.next()?.parse().ok()?);
        let name = (columns.next() != Some(ALONE)).then(|| ModelName::of(prefix));
        Some(WindowRow { prefix, name, window })
    })
}

/// The context window of a model in tokens, input and output together. For a model whose prompt may not fill the
/// window, it is the limit of the prompt. `None` where the name tells nothing.
///
/// The row counts that has the same family, as much of the variant as any, and of those the newest version that is not
/// above the model's. So a model that is newer than the table has the window of the newest one that it continues:
/// `gpt-7-mini` that of a `mini`. A name of an unknown family has the window of the longest prefix.
///
/// ```
/// use midfold_tokens::window_of;
/// assert_eq!(window_of("gpt-4o-2024-08-06"), Some(128_000));
/// assert_eq!(window_of("claude-sonnet-4-5[1m]"), Some(1_000_000));
/// assert_eq!(window_of("my-own-model"), None);
/// ```
#[must_use]
pub fn window_of(model: &str) -> Option<u64> {
    let name = bare(model);
    let in_table = row_of(&name).map(|row| row.window);
    let is_million = name.ends_with("[1m]")
        // `-1m` may also be the size of a small model; a model that has another size, or a known family, has no such size.
        || name.strip_suffix("-1m").is_some_and(|rest| in_table.is_some() || has_size(rest));
    if is_million { Some(MILLION) } else { in_table }
}

fn row_of(name: &str) -> Option<&'static WindowRow> {
    let longest = |is_wanted: &dyn Fn(&WindowRow) -> bool| {
        ROWS.iter().filter(|row| is_wanted(row)).max_by_key(|row| row.prefix.len())
    };
    let begins_with = |row: &WindowRow| {
        let behind = name.strip_prefix(row.prefix);
        behind.is_some_and(|behind| !behind.starts_with(|c: char| c.is_ascii_digit()))
    };
    let alone = longest(&|row| row.name.is_none() && begins_with(row));
    let wanted = ModelName::of(name);
    let continued = || {
        let fitting = ROWS.iter().filter_map(|row| Some((row, row.name.as_ref()?)));
        let fitting = fitting.filter(|(_, known)| wanted.continues(known));
        let newest = fitting.max_by_key(|(_, known)| (known.variant.len(), known.version));
        newest.map(|(row, _)| row)
    };
    alone.or_else(continued).or_else(|| longest(&|row| name.starts_with(row.prefix)))
}

/// Whether a name has a number of parameters: `7b`, `0.5b`.
fn has_size(name: &str) -> bool {
    let size =
        |part: &str| part.strip_suffix('b').is_some_and(|digits| digits.parse::<u32>().is_ok());
    name.split(['-', '.', '_']).any(size)
}

impl ModelName {
    /// Splits a model's name into its parts.
    fn of(name: &str) -> Self {
        // Clouds and routers append to the name where and how the model runs.
        let name = name.split(['@', ':', '[']).next().unwrap_or_default();
        let (mut family, mut numbers, mut variant) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts(name) {
            let is_more = variant.is_empty() && numbers.len() < 2 && is_version(part);
            if is_more && (!family.is_empty() || !numbers.is_empty()) {
                numbers.push(part.parse().unwrap_or(0));
            } else if numbers.is_empty() {
                family.push(part);
            } else if !is_mark(part) {
                variant.push(part.to_owned());
            }
        }
        let version = numbers.first().map(|major| (*major, numbers.get(1).copied().unwrap_or(0)));
        // The `v` of `claude-v2` belongs to the number.
        if version.is_some() && family.last() == Some(&"v") {
            family.pop();
        }
        // `latest` without a number is the newest version of its family.
        let is_latest = name.ends_with("-latest") && version.is_none();
        let version = if is_latest { Some((u32::MAX, 0)) } else { version };
        let family: Vec<_> = family.into_iter().filter(|part| *part != "latest").collect();
        Self { family: family.join("-"), version, variant }
    }

    /// Whether this is a model of the same line, and not an older one: the same family, and all words of the variant.
    fn continues(&self, known: &Self) -> bool {
        self.family == known.family
            && self.variant.starts_with(&known.variant)
            && self.version >= known.version
    }
}

/// Splits a name: `qwen2.5-coder` into `qwen`, `2`, `5` and `coder`; `4o` into `4` and `o`.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(['-', '.', '_']).flat_map(|word| {
        let digit = word.find(|c: char| c.is_ascii_digit());
        let at = digit.filter(|at| *at > 0 && word[..*at].bytes().all(|b| b.is_ascii_alphabetic()));
        let (letters, rest) = word.split_at(at.unwrap_or(0));
        // Numbers such as `72b` and `20250929` are no versions, so they are not split.
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, more) = rest.split_at(if rest[end..] == *"o" { end } else { rest.len() });
        [letters, digits, more].into_iter().filter(|part| !part.is_empty())
    })
}

/// Whether a part is a date or a state of the same model, such as `preview`.
fn is_mark(part: &str) -> bool {
    matches!(part, "preview" | "latest" | "exp")
        || (part.len() >= 6 && part.bytes().all(|b| b.is_ascii_digit()))
}

/// The prefixes of the table, and what each row is about: two spellings of one name are equal here.
pub(crate) fn prefixes() -> Vec<(&'static str, String)> {
    let subject = |row: &WindowRow| row.name.as_ref().map(|name| format!("{name:?}"));
    ROWS.iter()
        .map(|row| (row.prefix, subject(row).unwrap_or_else(|| row.prefix.to_owned())))
        .collect()
}
