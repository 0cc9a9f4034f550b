//! The windows of models, as far as their names tell them.

use std::sync::LazyLock;

use crate::models::{bare, is_version};

/// The table: `prefix<TAB>tokens` on each line; comments start with `#`.
const TABLE: &str = include_str!("../data/windows.tsv");

/// The window that `[1m]` behind a name asks for, as does Anthropic's beta of that name.
const MILLION: u64 = 1_000_000;

/// A row of the table: a prefix of model names with its window in tokens.
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

/// The context window of a model in tokens, input and output together. For a model whose prompt may not fill the
/// window, it is the limit of the prompt. `None` where the name tells nothing.
///
/// The longest prefix in the table wins. A version that is newer than the table has the window of the newest version
/// before it in its family, because the family's oldest entry would be wrong for it.
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
    let Some(named) = by_prefix else {
        return newest(&wanted.variant).or_else(|| newest("")).map(|row| row.window);
    };
    if let Some(row) = newest(&wanted.variant).filter(|row| row.name.version >= named.name.version)
    {
        return Some(row.window);
    }
    // The row of a whole family says less than the row of one of its versions.
    let family = newest("").filter(|_| named.name.version.is_none());
    Some(family.map_or(named.window, |row| row.window.max(named.window)))
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
                numbers.push(part.trim_start_matches('v').parse().unwrap_or(0));
            } else if numbers.is_empty() {
                family.push(part);
            } else if !is_mark(part) {
                variant.push(part);
            }
        }
        let version = numbers.first().map(|major| (*major, numbers.get(1).copied().unwrap_or(0)));
        // `latest` without a number is the newest version of its family.
        let is_latest = name.ends_with("-latest") && version.is_none();
        let version = if is_latest { Some((u32::MAX, 0)) } else { version };
        let family = family.into_iter().filter(|part| *part != "latest");
        Self { family: family.collect::<Vec<_>>().join("-"), version, variant: variant.join("-") }
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

/// The prefixes of the table.
pub(crate) fn prefixes() -> Vec<&'static str> {
    ROWS.iter().map(|row| row.prefix).collect()
}
