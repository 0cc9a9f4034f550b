//! How much a model holds, as far as its name tells.

use std::sync::LazyLock;

use crate::models::{bare, is_version};

/// The table: `prefix<TAB>tokens`, comments start with `#`.
const TABLE: &str = include_str!("../data/windows.tsv");

/// What `[1m]` behind a name, and Anthropic's beta of that name, ask for.
const MILLION: u64 = 1_000_000;

/// A row of the table.
struct WindowRow {
    prefix: &'static str,
    name: ModelName,
    window: u64,
}

/// The parts of a model's name: `gpt-5.4-mini` is family `gpt`, version 5.4, variant `mini`.
#[derive(Debug, PartialEq, Eq)]
struct ModelName {
    family: String,
    version: Option<(u32, u32)>,
    variant: String,
}

static ROWS: LazyLock<Vec<WindowRow>> = LazyLock::new(|| rows(TABLE).collect());

fn rows(table: &'static str) -> impl Iterator<Item = WindowRow> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let (prefix, window) = line.split_once('\t')?;
        Some(WindowRow { prefix, name: ModelName::of(prefix), window: window.trim().parse().ok()? })
    })
}

/// The context window of a model in tokens, input and output together, where its name tells; of a model that takes less
/// for its prompt than its window, that limit. The longest prefix of the table wins. A version that is newer than all in the table has the window of the newest one before it in its family,
/// and is not taken for the family's oldest.
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
    if name.ends_with("[1m]") || name.ends_with("-1m") {
        return Some(MILLION);
    }
    let by_prefix =
        ROWS.iter().filter(|row| name.starts_with(row.prefix)).max_by_key(|row| row.prefix.len());
    let wanted = ModelName::of(&name);
    let newest = |variant: &str| {
        let family = ROWS.iter().filter(|row| {
            row.name.family == wanted.family
                && row.name.variant == variant
                && row.name.version.is_some()
                && row.name.version <= wanted.version
        });
        family.max_by_key(|row| row.name.version)
    };
    let Some(found) = by_prefix else {
        return newest(&wanted.variant).or_else(|| newest("")).map(|row| row.window);
    };
    if let Some(row) = newest(&wanted.variant).filter(|row| row.name.version >= found.name.version)
    {
        return Some(row.window);
    }
    // A word for the whole family says less than a version of it does.
    let family = newest("").filter(|_| found.name.version.is_none());
    Some(family.map_or(found.window, |row| row.window.max(found.window)))
}

impl ModelName {
    fn of(name: &str) -> Self {
        // Clouds and routers put where and how it runs behind the name.
        let name = name.split(['@', ':', '[']).next().unwrap_or_default();
        let (mut family, mut numbers, mut variant) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts(name) {
            let is_more = variant.is_empty() && numbers.len() < 2 && is_version(part);
            if is_more && (!family.is_empty() || !numbers.is_empty()) {
                numbers.push(part.trim_start_matches('v').parse().unwrap_or(0));
            } else if numbers.is_empty() {
                family.push(part);
            } else if !is_mark(part) {
                variant.push(part);
            }
        }
        let version = numbers.first().map(|major| (*major, numbers.get(1).copied().unwrap_or(0)));
        // The newest of a family has no number.
        let is_latest = name.ends_with("-latest") && version.is_none();
        let version = if is_latest { Some((u32::MAX, 0)) } else { version };
        let family = family.into_iter().filter(|part| *part != "latest");
        Self { family: family.collect::<Vec<_>>().join("-"), version, variant: variant.join("-") }
    }
}

/// `qwen2.5-coder` is `qwen`, `2`, `5`, `coder`; `4o` is `4`, `o`.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(['-', '.', '_']).flat_map(|word| {
        let digit = word.find(|c: char| c.is_ascii_digit());
        let at = digit.filter(|at| *at > 0 && word[..*at].bytes().all(|b| b.is_ascii_alphabetic()));
        let (letters, rest) = word.split_at(at.unwrap_or(0));
        // `72b` and `20250929` are no versions.
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, more) = rest.split_at(if rest[end..] == *"o" { end } else { rest.len() });
        [letters, digits, more].into_iter().filter(|part| !part.is_empty())
    })
}

/// Dates and states: of the same model.
fn is_mark(part: &str) -> bool {
    matches!(part, "preview" | "latest" | "exp")
        || (part.len() >= 6 && part.bytes().all(|b| b.is_ascii_digit()))
}

/// The prefixes of the table.
pub(crate) fn prefixes() -> Vec<&'static str> {
    ROWS.iter().map(|row| row.prefix).collect()
}
