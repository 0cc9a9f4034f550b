//! The result for each row, as values and as columns.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray};
use arrow_schema::{DataType, Field};
use midfold_core::jsonstr;
use midfold_core::trajectory::{TrajectoryMetrics, TurnMap};

use crate::COLUMNS;

/// The outcome for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowStatus {
    /// The row fits, or has nothing to compress. It stays as it was.
    Skipped,
    /// A summary replaces some of its turns, and it fits.
    Compressed,
    /// The row does not fit, with a summary or without one.
    OverLimit,
    /// The row cannot be used. It stays as it was.
    Error,
}

impl RowStatus {
    /// The name: `skipped`, `compressed`, `over_limit` or `error`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Compressed => "compressed",
            Self::OverLimit => "over_limit",
            Self::Error => "error",
        }
    }
}

/// The report for a row.
#[derive(Clone, Debug)]
pub enum RowReport {
    /// The row was read.
    Done {
        /// The tokens and turns.
        metrics: TrajectoryMetrics,
        /// The new index of each turn.
        map: TurnMap,
        /// Whether its tokens were counted. If not, they are estimated as a quarter of its bytes.
        counted: bool,
    },
    /// The row cannot be used.
    Failed {
        /// A short name for programs.
        code: &'static str,
        /// The reason, for people.
        reason: String,
    },
}

impl RowReport {
    /// The outcome for the row.
    #[must_use]
    pub fn status(&self) -> RowStatus {
        match self {
            Self::Failed { .. } => RowStatus::Error,
            // A row above the limit may have a summary as well, so this is asked first.
            Self::Done { metrics, .. } if metrics.still_over_limit => RowStatus::OverLimit,
            Self::Done { metrics, .. } if metrics.was_compressed => RowStatus::Compressed,
            Self::Done { .. } => RowStatus::Skipped,
        }
    }

    fn tokens(&self, of: fn(&TrajectoryMetrics) -> u64) -> Option<i64> {
        match self {
            Self::Done { metrics, .. } => i64::try_from(of(metrics)).ok(),
            Self::Failed { .. } => None,
        }
    }

    /// The change of the row as JSON; `None` where nothing changed.
    ///
    /// A summary gives `span` (the turns that it replaces: from, up to) and `turns` (before, after). Its `summary` is
    /// its own index, or `null` where it joined a turn. Its `map` has the new index of each turn, or `null` where the
    /// turn was replaced. A row that cannot be used gives `error` and `reason`.
    ///
    /// ```
    /// # use midfold_arrow::RowReport;
    /// let failed = RowReport::Failed { code: "not-json", reason: "not JSON: …".into() };
    /// assert_eq!(failed.fold().unwrap(), r#"{"error":"not-json","reason":"not JSON: …"}"#);
    /// ```
    #[must_use]
    pub fn fold(&self) -> Option<String> {
        let map = match self {
            Self::Failed { code, reason } => {
                let reason = jsonstr::encode(reason);
                return Some(format!(r#"{{"error":"{code}","reason":{reason}}}"#));
            }
            Self::Done { map, .. } => map,
        };
        let span = map.span()?;
        let or_null = |at: Option<usize>| at.map_or("null".to_owned(), |at| at.to_string());
        let mut out = format!(
            r#"{{"span":[{},{}],"turns":[{},{}],"summary":{},"map":["#,
            span.start,
            span.end,
            map.turns_before(),
            map.turns_after(),
            or_null(map.summary())
        );
        for at in 0..map.turns_before() {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(out, "{comma}{}", or_null(map.get(at)));
        }
        out += "]}";
        Some(out)
    }
}

/// The columns that are added. Their numbers are signed, because some engines have no unsigned ones.
pub(crate) fn fields(prefix: &str) -> [Field; 4] {
    let [status, before, after, fold] = COLUMNS.map(|name| format!("{prefix}{name}"));
    [
        Field::new(status, DataType::Utf8, false),
        Field::new(before, DataType::Int64, true),
        Field::new(after, DataType::Int64, true),
        Field::new(fold, DataType::Utf8, true),
    ]
}

pub(crate) fn columns(rows: &[RowReport]) -> [ArrayRef; 4] {
    let status: StringArray = rows.iter().map(|row| Some(row.status().name())).collect();
    let before: Int64Array = rows.iter().map(|row| row.tokens(|m| m.original_tokens)).collect();
    let after: Int64Array = rows.iter().map(|row| row.tokens(|m| m.compressed_tokens)).collect();
    let fold: StringArray = rows.iter().map(RowReport::fold).collect();
    [Arc::new(status), Arc::new(before), Arc::new(after), Arc::new(fold)]
}
