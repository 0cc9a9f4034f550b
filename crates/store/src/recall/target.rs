//! Reads which messages are asked for: by their numbers, or by a fold.

use std::ops::Range;

use crate::error::StoreError;
use crate::store::Store;
use crate::types::{FoldRow, SessionRow};

use super::RecallError;

/// Shortest start of an id that names a fold, in hex digits.
const MIN_PREFIX: usize = 4;
/// Most numbers and ranges in one list.
const MAX_LIST: usize = 1_000;

/// The messages that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpandTarget {
    /// Messages, as runs of their numbers in order, without overlaps.
    Events(Vec<Range<u64>>),
    /// The messages that a fold removed or changed. The fold is given as `active` or as the start of its id. The text
    /// of a marker means the active fold.
    Fold(String),
}

impl ExpandTarget {
    /// The message with this number.
    #[must_use]
    pub fn event(seq: u64) -> Self {
        Self::Events(one(seq..seq.saturating_add(1)))
    }

    /// Reads a target in one of these forms:
    /// - the number of a message: `12` or `@12`,
    /// - a range with both ends: `12-20`, `@12-@20` or `12..20`,
    /// - a range to the end: `12-`,
    /// - a list of these: `12,15-18`,
    /// - a fold: `active`, an id or its start, or a marker.
    ///
    /// Numbers are positions in the log, counted from 0, as commands and recaps print them.
    ///
    /// # Errors
    /// Fails where the text has another form.
    ///
    /// ```
    /// use midfold_store::recall::ExpandTarget;
    /// assert_eq!(ExpandTarget::parse("@12").unwrap(), ExpandTarget::event(12));
    /// assert_eq!(ExpandTarget::parse("12..20").unwrap(), ExpandTarget::Events(vec![12..21]));
    /// assert_eq!(ExpandTarget::parse("@4, 1-2").unwrap(), ExpandTarget::Events(vec![1..3, 4..5]));
    /// assert_eq!(ExpandTarget::parse("[Earlier messages truncated]").unwrap(), ExpandTarget::Fold("active".into()));
    /// assert!(ExpandTarget::parse("the file").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, RecallError> {
        let trimmed = text.trim();
        let wrong = || RecallError::What(text.chars().take(80).collect());
        if let Some(ends) = numbers(trimmed) {
            let runs: Option<Vec<_>> = ends.into_iter().map(run).collect();
            return runs.map(|runs| Self::Events(merged(runs))).ok_or_else(wrong);
        }
        if trimmed.starts_with('[') || trimmed.eq_ignore_ascii_case("active") {
            return Ok(Self::Fold("active".to_owned()));
        }
        let id = trimmed
            .strip_prefix("fold ")
            .or_else(|| trimmed.strip_prefix("fold:"))
            .unwrap_or(trimmed);
        let hex = id.len() >= MIN_PREFIX && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex.then(|| Self::Fold(id.to_ascii_lowercase())).ok_or_else(wrong)
    }

    /// Reads the number of one message: `12`, `@12`.
    ///
    /// # Errors
    /// Fails where the text has another form.
    pub fn number(text: &str) -> Result<u64, RecallError> {
        number(text).ok_or_else(|| RecallError::What(text.chars().take(80).collect()))
    }
}

/// The first and last number of each part of a list; `None` where the text is not such a list.
fn numbers(text: &str) -> Option<Vec<(u64, u64)>> {
    // Models also write a list as JSON: `[12, 15]`.
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let parts = bare.split([',', ';']).filter(|part| !part.trim().is_empty());
    let all: Vec<(u64, u64)> = parts.map(|part| ends(part.trim())).collect::<Option<_>>()?;
    (1..=MAX_LIST).contains(&all.len()).then_some(all)
}

/// The run with both ends; `None` where it runs backwards.
fn run((from, to): (u64, u64)) -> Option<Range<u64>> {
    Some(from..to.checked_add(1).filter(|end| from < *end)?)
}

/// Reads the first and last number of `12`, `@12-20`, `12..20` or `12 to 20`. `12-` reaches to the end of the log.
fn ends(part: &str) -> Option<(u64, u64)> {
    if let Some(seq) = number(part) {
        return Some((seq, seq));
    }
    let (from, to) =
        ["..=", "..", "-", "–", "…", " to "].iter().find_map(|mark| part.split_once(mark))?;
    // One less than the largest number, because the end of the run is one more.
    let to = if to.trim().is_empty() { Some(u64::MAX - 1) } else { number(to) };
    number(from).zip(to)
}

/// Reads the number of a message, in the forms that people and models write.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let bare = ["event", "message", "events", "messages"]
        .iter()
        .find_map(|word| text.strip_prefix(word)?.strip_prefix(' '))
        .unwrap_or(text)
        .trim_start();
    bare.strip_prefix(['@', '#']).unwrap_or(bare).parse().ok()
}

/// The same numbers as runs in order, without overlaps.
pub(super) fn merged(mut runs: Vec<Range<u64>>) -> Vec<Range<u64>> {
    runs.sort_unstable_by_key(|run| run.start);
    let mut out: Vec<Range<u64>> = Vec::with_capacity(runs.len());
    for run in runs {
        match out.last_mut() {
            Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
            _ => out.push(run),
        }
    }
    out
}

/// The runs of messages that are asked for, cut to the log. Fails where a run begins behind its end.
pub(super) async fn runs(
    store: &dyn Store,
    row: &SessionRow,
    wanted: &ExpandTarget,
) -> Result<Vec<Range<u64>>, RecallError> {
    let last = row.head.checked_sub(1).ok_or(RecallError::Empty)?;
    match wanted {
        ExpandTarget::Events(runs) => {
            if let Some(past) = runs.iter().find(|run| run.start > last) {
                return Err(RecallError::NoEvent(past.start, last));
            }
            Ok(runs.iter().map(|run| run.start..run.end.min(row.head)).collect())
        }
        ExpandTarget::Fold(prefix) => Ok(covered(&fold_of(store, row, prefix).await?)),
    }
}

fn one(run: Range<u64>) -> Vec<Range<u64>> {
    std::iter::once(run).collect()
}

/// The span of a fold without the events that stay verbatim in it.
pub(super) fn covered(fold: &FoldRow) -> Vec<Range<u64>> {
    let mut runs = Vec::new();
    let mut at = fold.fold.start;
    for range in &fold.fold.kept {
        if at < range.start {
            runs.push(at..range.start);
        }
        at = at.max(range.end);
    }
    if at < fold.fold.end {
        runs.push(at..fold.fold.end);
    }
    runs
}

/// The messages that the active fold removed or changed; empty where no fold is active.
pub(super) async fn folded(
    store: &dyn Store,
    row: &SessionRow,
) -> Result<Vec<Range<u64>>, RecallError> {
    match row.active {
        None => Ok(Vec::new()),
        Some(_) => Ok(covered(&fold_of(store, row, "active").await?)),
    }
}

/// Finds the fold that is meant by `active` or by the start of an id.
pub(super) async fn fold_of(
    store: &dyn Store,
    row: &SessionRow,
    prefix: &str,
) -> Result<FoldRow, RecallError> {
    let active = match prefix {
        "active" => Some(row.active.ok_or(RecallError::Unfolded)?.to_hex()),
        _ => None,
    };
    let wanted = active.as_deref().unwrap_or(prefix);
    let mut folds = store.folds(&row.new.id).await?;
    folds.retain(|fold| fold.fold.id.to_hex().starts_with(wanted));
    match (folds.pop(), folds.is_empty()) {
        (Some(fold), true) => Ok(fold),
        (Some(_), false) => Err(RecallError::Ambiguous(prefix.to_owned())),
        (None, _) => Err(RecallError::NoFold(prefix.to_owned())),
    }
}

/// Reads the record of a stored fold.
pub(super) fn record(row: &FoldRow) -> Result<midfold_core::fold::Fold, StoreError> {
    serde_json::from_str(&row.fold.body).map_err(|error| {
        StoreError::Damaged(format!("the record of fold {:?}: {error}", row.fold.id))
    })
}
