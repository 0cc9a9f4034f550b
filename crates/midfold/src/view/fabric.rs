//! The fate of each message of a session, fold by fold.

use std::collections::HashMap;

use midfold_core::Hash;
use midfold_core::engine::Session;
use midfold_core::fabric::FabricCell;
use midfold_core::fold::Fold;
use midfold_core::fold_standing::{FoldStanding, chain};
use midfold_core::trigger::FoldCause;
use midfold_store::{FoldRow, Millis, StoredError, StoredSession};
use serde::Serialize;

use crate::texts::{role, tool};

/// The messages of a session in columns, and their fates in each fold. It has no texts, because a session can have
/// 100,000 messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FabricView {
    /// The id of the session.
    pub session: String,
    /// The number of messages.
    pub events: u64,
    /// The roles of the messages, one letter each: `s` system, `u` user, `a` assistant, `t` tool, `o` other.
    pub roles: String,
    /// The tokens of each message.
    pub tokens: Vec<u32>,
    /// The turn of each message.
    pub turns: Vec<u32>,
    /// The names of the tools, each once.
    pub tools: Vec<String>,
    /// For each message, the index of its tool in `tools`; -1 if it has none.
    pub tool: Vec<i32>,
    /// The head, the middle and the tail of the active fold; null if nothing is folded.
    pub layout: Option<FoldLayout>,
    /// The numbers of the pinned messages.
    pub pins: Vec<u32>,
    /// The number of the active fold; null if nothing is folded.
    pub active: Option<u64>,
    /// All folds, oldest first.
    pub folds: Vec<FoldBrief>,
}

/// The regions of a fold. Each has its first message, and one past its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldLayout {
    /// The first messages, which are sent unchanged.
    pub head: (u32, u32),
    /// The messages that may be folded.
    pub middle: (u32, u32),
    /// The newest messages, which are sent unchanged.
    pub tail: (u32, u32),
}

/// A fold in one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldBrief {
    /// The number of the fold in the session, from 1; null for a preview.
    pub number: Option<u64>,
    /// The id of the fold.
    pub id: Hash,
    /// When the fold was made, in milliseconds since 1970; null for a preview.
    pub made: Option<Millis>,
    /// The number of messages in the log when the fold was made.
    pub at: u32,
    /// Counted tokens of the context before the fold.
    pub before: u64,
    /// Counted tokens of the context after the fold.
    pub after: u64,
    /// Counted tokens that the fold freed.
    pub freed: u64,
    /// The fates of all messages in order, as pairs of a letter and the number of messages. `v` verbatim, `p` pinned,
    /// `s` replaced by a line, `c` shortened, `r` in the recap, `m` behind the marker, `x` repaired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fates: Vec<(char, u32)>,
    /// Tokens of the recap.
    pub recap_tokens: u64,
    /// The name of the policy that made the fold.
    pub policy: String,
    /// The reason for which the fold was made.
    pub cause: FoldCause,
    /// The kind of text in the place of messages that left: `narrated`, `computed`, `marker`, `static`, `host`, or
    /// `none`.
    pub stand_in: String,
    /// Whether this is the active fold.
    pub active: bool,
    /// Whether the fold was taken back: the active fold does not build on it.
    pub undone: bool,
    /// Whether the fold was ever in force, and if not, why. Null for a preview.
    pub standing: Option<FoldStanding>,
}

impl FabricView {
    /// Reads the fabric of an open session.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn of(stored: &mut StoredSession) -> Result<Self, StoredError> {
        let folds = folds(stored).await?;
        let id = stored.row().new.id.clone();
        let session = stored.whole().await?;
        Ok(woven(&id, session, folds))
    }
}

/// The fabric of a session as columns. The names of tools are stored once, and messages have their index.
fn woven(id: &str, session: &Session, folds: Vec<FoldBrief>) -> FabricView {
    let events = session.log().events();
    let mut places: HashMap<String, i32> = HashMap::new();
    let mut tools = Vec::new();
    let mut place = |name: String| {
        *places.entry(name).or_insert_with_key(|name| {
            tools.push(name.clone());
            i32::try_from(tools.len() - 1).unwrap_or(i32::MAX)
        })
    };
    let tool = events.iter().map(|event| tool(event).map_or(-1, &mut place)).collect();
    let letter = |role: &str| match role {
        "system" | "developer" => 's',
        "user" => 'u',
        "assistant" => 'a',
        "tool" => 't',
        _ => 'o',
    };
    FabricView {
        session: id.to_owned(),
        events: events.len() as u64,
        roles: events.iter().map(|event| letter(role(event))).collect(),
        tokens: events.iter().map(|event| event.tokens.total).collect(),
        turns: events.iter().map(|event| event.turn).collect(),
        tools,
        tool,
        layout: session.active().map(layout),
        pins: session.pins().to_vec(),
        active: folds.iter().find(|fold| fold.active).and_then(|fold| fold.number),
        folds,
    }
}

fn layout(fold: &Fold) -> FoldLayout {
    let part = |region: &midfold_core::fold::RegionRecord| (region.start, region.end);
    let layout = &fold.layout;
    FoldLayout { head: part(&layout.head), middle: part(&layout.middle), tail: part(&layout.tail) }
}

/// Returns all folds of a session, oldest first, with the fates of the messages in each.
///
/// # Errors
/// If the store fails.
pub async fn folds(stored: &mut StoredSession) -> Result<Vec<FoldBrief>, StoredError> {
    let rows = stored.fold_rows().await?;
    let read = ReadContext::of(stored, &rows).await?;
    Ok((0..rows.len()).map(|at| FoldBrief::stored(&rows, at, &read)).collect())
}

/// The folds through which a session is read now, and the standing of each fold.
pub(super) struct ReadContext {
    /// The active fold first, then the folds that it builds on.
    pub chain: Vec<Hash>,
    standings: Vec<FoldStanding>,
}

impl ReadContext {
    pub(super) async fn of(
        stored: &StoredSession,
        rows: &[(FoldRow, Fold)],
    ) -> Result<Self, StoredError> {
        let folds: Vec<Fold> = rows.iter().map(|(_, fold)| fold.clone()).collect();
        let chain = chain(&folds, stored.row().active);
        Ok(Self { chain, standings: stored.standings(&folds).await? })
    }
}

impl FoldBrief {
    /// The brief of the fold at index `at` of a session's stored folds.
    pub(super) fn stored(rows: &[(FoldRow, Fold)], at: usize, read: &ReadContext) -> Self {
        let (row, fold) = &rows[at];
        Self {
            number: Some(row.number),
            made: Some(row.fold.now),
            active: read.chain.first() == Some(&fold.id),
            undone: !read.chain.contains(&fold.id),
            standing: read.standings.get(at).copied(),
            ..Self::of(fold)
        }
    }

    /// The brief of a fold that is only planned: without number and time.
    #[must_use]
    pub fn of(fold: &Fold) -> Self {
        Self {
            number: None,
            id: fold.id,
            made: None,
            at: fold.accounts.events,
            before: fold.tokens_before,
            after: fold.tokens_after,
            freed: fold.tokens_before.saturating_sub(fold.tokens_after),
            fates: FabricCell::of_fold(fold).iter().map(|(cell, n)| (cell.letter(), *n)).collect(),
            recap_tokens: fold.recap.as_ref().map_or(0, |recap| recap.tokens),
            policy: fold.policy.clone(),
            cause: fold.cause,
            stand_in: fold.stand_in_name().unwrap_or_else(|| "none".to_owned()),
            active: false,
            undone: false,
            standing: None,
        }
    }

    /// The same brief without the fates of the messages.
    #[must_use]
    pub fn without_fates(self) -> Self {
        Self { fates: Vec::new(), ..self }
    }
}
