//! Rows of training sets: trajectories in the shape of `ShareGPT` or `OpenAI`, one per line.
//!
//! There are three passes. A caller that wants a model to write the summaries can run the first on a cluster, ask the
//! model, and then run the last. [`plan`] chooses the turns, [`summarise`] computes a text for them without a model,
//! [`apply`] puts any text in their place. [`compress`] runs all three. [`plan_row`] stops after the first:
//! [`RowFold::request`] is the request for a model, as a value, [`RowFold::judge`] decides which part of its answer may
//! be used, and [`RowFold::finish`] is the last pass. No pass keeps anything or calls anything: the same row always
//! gives the same bytes.
//!
//! ```
//! use midfold_core::trajectory::TrajectoryLimits;
//! use midfold_formats::trajectory::{TrajectorySettings, compress};
//!
//! let turn = |from: &str, text: &str| format!(r#"{{"from":"{from}","value":"{text}"}}"#);
//! let mut turns = vec![turn("system", "Be brief."), turn("human", "Fix src/a.rs")];
//! for n in 0..40 {
//!     turns.push(turn("gpt", &format!("Looking at part {n} of src/a.rs")));
//!     turns.push(turn("tool", &"one more line of output ".repeat(20)));
//! }
//! turns.push(turn("gpt", "Done."));
//! let row = format!(r#"{{"id":7,"conversations":[{}]}}"#, turns.join(","));
//!
//! let limits = TrajectoryLimits { target: 4_000, summary: 300, ..TrajectoryLimits::default() };
//! let settings = TrajectorySettings { limits, ..TrajectorySettings::default() };
//! let counter = midfold_formats::trajectory::Bytes4; // four bytes a token
//! let done = compress(row.as_bytes(), &settings, &counter)?;
//! assert!(done.metrics.was_compressed && !done.metrics.still_over_limit);
//! let bytes = done.bytes.unwrap_or_default();
//! assert!(bytes.starts_with(br#"{"id":7,"conversations":[{"from":"system","value":"Be brief."}"#));
//! # Ok::<(), midfold_formats::trajectory::RowError>(())
//! ```

mod aligned;
mod apply;
mod compress;
mod encoded;
mod flaw;
mod narration;
mod quick;
mod reading;
mod row;
mod settings;
mod summary;
mod trainer;
mod transcript;
mod trim;
mod weigh;

pub use aligned::ALIGNED;
pub use apply::{SummarisedRow, SummaryCost, apply};
pub use compress::{CompressedRow, PlannedRow, RowFold, compress, plan, plan_row};
pub use flaw::RowFlaw;
pub use narration::AskOptions;
pub use row::{RowError, TrajectoryRow, TurnAt, TurnShape};
pub use settings::TrajectorySettings;
pub use summary::{HEADER, span_hash, summarise};
pub use trainer::Trainer;
pub use transcript::{on_one_line, row_of};
pub use trim::trimmed;
pub use weigh::{Bytes4, TurnWeights, weigh};
