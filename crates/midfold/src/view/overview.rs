//! Overviews: a session in one line, for lists of many sessions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use midfold_core::budget::Budget;
use midfold_core::engine::SessionState;
use midfold_core::fill::{ContextFill, FillSource, PresentContext};
use midfold_core::fold::Fold;
use midfold_core::fold_standing::{in_force, standings};
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::policy::Policy;
use midfold_core::spending::SessionSpending;
use midfold_formats::{DialectKind, profile};
use midfold_store::{
    Millis, NewestQuery, SessionActivity, SessionMeta, SessionRow, Store, StoreError,
};
use serde::Serialize;

use super::title::session_title;
use crate::fault::RequestFault;

/// How many overviews are kept in memory. When there are more, all of them are dropped: they can be read again.
const REMEMBERED: usize = 20_000;

/// A session in one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overview {
    /// The id of the session.
    pub id: String,
    /// The first line of the user's first message; null if the user has written nothing yet.
    pub title: Option<String>,
    /// The origin of the session: `proxy`, `api`, or the file it was imported from. Null if a program made it.
    pub source: Option<String>,
    /// The client whose conversation it is, by its own name; null if it gave none.
    pub client: Option<String>,
    /// The model that the contexts go to; empty if none was named.
    pub model: String,
    /// The client's name in the file of keys; null if the server asks for no keys.
    pub owner: Option<String>,
    /// The wire format of the messages.
    pub dialect: String,
    /// The name of its policy.
    pub policy: String,
    /// When the session was made, in milliseconds since 1970.
    pub created: Millis,
    /// When the session last got a message, a fold or a call, in milliseconds since 1970.
    pub changed: Millis,
    /// The number of the store's change in which the session last changed. It grows with each change.
    pub tick: u64,
    /// The number of messages.
    pub events: u64,
    /// The number of turns so far.
    pub turns: u32,
    /// Counted tokens of all messages.
    pub tokens: u64,
    /// The model's window in tokens.
    pub window: u64,
    /// Tokens of the context with what travels beside it, in the provider's tokens.
    pub fill: u64,
    /// The source of `fill`.
    pub fill_source: FillSource,
    /// The number of tokens at which the next fold is due.
    pub threshold: u64,
    /// The number of folds that were in force.
    pub folds: u64,
    /// The number of all folds on record, also of those that never were in force.
    #[serde(skip)]
    recorded: u64,
    /// The number of the active fold; null if nothing is folded.
    pub active: Option<u64>,
    /// The number of requests. The first one of a conversation and look-ups count, too; `GET …/calls` lists those that
    /// are recorded.
    pub calls: u64,
    /// The tokens of all requests, as the provider counted them.
    pub usage: ProviderTotals,
    /// The causes for which requests that did not fit were passed on unchanged.
    pub faults: Vec<FaultCount>,
    /// What the prompts cost; null if the provider reported no tokens.
    pub cost: Option<CostView>,
    /// The share of the prompt tokens that were read from the provider's cache; null if the provider reported no
    /// tokens.
    pub cache_share: Option<f64>,
    /// The session that this one was forked from; null if it is no fork.
    pub parent: Option<Parent>,
}

/// The tokens of all requests of a session, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderTotals {
    /// The number of requests whose tokens are known.
    pub calls: u64,
    /// Tokens of the prompts, cached ones included.
    pub prompt: u64,
    /// Tokens of the replies.
    pub output: u64,
    /// Tokens of the prompts that were read from the cache.
    pub cache_read: u64,
    /// Tokens of the prompts that were written to the cache.
    pub cache_write: u64,
}

/// Requests that did not fit and were passed on unchanged for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultCount {
    /// The name of the cause.
    pub cause: String,
    /// The cause in words.
    pub reason: String,
    /// The number of requests.
    pub requests: u64,
}

impl FaultCount {
    fn of((cause, requests): (&String, &u64)) -> Self {
        let reason = RequestFault::named(cause).map(|fault| fault.reason().to_owned());
        let reason = reason.unwrap_or_else(|| cause.clone());
        Self { cause: cause.clone(), reason, requests: *requests }
    }
}

/// The cost of prompts, in tokens at the price of plain input (docs/MEASURES.md).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostView {
    /// The cost of the prompts as sent.
    pub sent: f64,
    /// The cost of prompts with every message in them, if they had fitted.
    pub everything: f64,
    /// The unit of both: `tokens`.
    pub unit: &'static str,
}

/// The session that a fork was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parent {
    /// The id of that session.
    pub id: String,
    /// The number of its first messages that the fork took.
    pub at: u64,
}

impl Overview {
    /// Whether the session still has the folds of `activity`, with the same one active. Then the number of folds in
    /// force cannot have changed: it only grows by a request that is sent through the active fold.
    fn has_folds_of(&self, activity: &SessionActivity) -> bool {
        (self.recorded, self.active) == (activity.folds, activity.active_number)
    }
}

/// A cache of the overviews of a store's sessions. A session that did not change is not read again.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use midfold::store::NewestQuery;
/// let store = midfold::store::open("memory").await?;
/// let overviews = midfold::view::OverviewCache::new(store);
/// assert!(overviews.newest(&NewestQuery { limit: 10, ..NewestQuery::default() }).await?.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct OverviewCache {
    store: Arc<dyn Store>,
    known: Mutex<HashMap<String, Arc<Overview>>>,
}

impl OverviewCache {
    /// An empty cache over this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, known: Mutex::default() }
    }

    /// Returns the sessions in the order of their last change, newest first.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn newest(&self, query: &NewestQuery) -> Result<Vec<Arc<Overview>>, StoreError> {
        let mut overviews = Vec::new();
        for activity in self.store.newest(query).await? {
            match self.of(activity).await {
                Ok(overview) => overviews.push(overview),
                // The session was deleted after the list was read.
                Err(StoreError::NoSession(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(overviews)
    }

    /// Returns the overview of one session.
    ///
    /// # Errors
    /// If there is no session with this id, or if the store fails.
    pub async fn one(&self, id: &str) -> Result<Arc<Overview>, StoreError> {
        let activity = self.store.activity(id).await?;
        self.of(activity).await
    }

    /// Returns the overview of the session with this activity.
    ///
    /// # Errors
    /// If the session was deleted meanwhile, or if the store fails.
    pub async fn of(&self, activity: SessionActivity) -> Result<Arc<Overview>, StoreError> {
        // The lock is not held while the store is read. Of two calls at once, the older overview may stay; its tick
        // then differs, and the next call makes it again.
        let before = self.lock().get(&activity.id).cloned();
        if let Some(known) = before.as_ref().filter(|cached| cached.tick == activity.tick) {
            return Ok(Arc::clone(known));
        }
        let row = self.store.session(&activity.id).await?;
        // A new session may have the id of a deleted one.
        let is_same = |cached: &Arc<Overview>| {
            cached.created == row.new.created && cached.events <= activity.head
        };
        let before = before.filter(is_same);
        // The title follows from the first messages, which never change.
        let title = match before.as_ref().and_then(|before| before.title.clone()) {
            Some(title) => Some(title),
            None => session_title(&*self.store, &row).await?,
        };
        let state: SessionState = serde_json::from_str(&row.state).unwrap_or_default();
        let meta: Option<SessionMeta> = serde_json::from_str(&row.new.meta).ok();
        let changed = state.policy.as_ref().map(|changed| changed.policy.clone());
        let policy = changed.or_else(|| Policy::from_stored(&row.new.policy).ok());
        let budget = meta.as_ref().zip(policy.as_ref());
        let budget = budget.map(|(meta, policy)| state.gate.budget(&meta.budget, policy));
        let window = budget.as_ref().map_or(0, |budget| budget.window);
        let fill = self.fill(&row, &activity, meta.as_ref(), &state, window).await?;
        let folds = match before.filter(|before| before.has_folds_of(&activity)) {
            Some(before) => before.folds,
            None => folds_in_force(&*self.store, &activity).await?,
        };
        let settings = SessionSettings { meta, policy, budget };
        let overview = Arc::new(overview(&row, &state, settings, activity, title, (fill, folds)));
        let mut known = self.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(overview.id.clone(), Arc::clone(&overview));
        Ok(overview)
    }

    /// How full the session is: the figure of [`Session::fill`](midfold_core::engine::Session::fill), from what a store
    /// has of it.
    async fn fill(
        &self,
        row: &SessionRow,
        activity: &SessionActivity,
        meta: Option<&SessionMeta>,
        state: &SessionState,
        window: u64,
    ) -> Result<ContextFill, StoreError> {
        let meter = state.meter.unwrap_or_else(|| Meter::first(&row.new.counter));
        let mut now = PresentContext { events: row.head, counted: 0, newer: 0 };
        let settled = state.settled.filter(|(call, _)| call.fold == row.active);
        if let Some((call, _)) = settled {
            now.newer = self.tokens_since(row, call.events).await?;
        } else if let Some(fold) = self.active_fold(row).await? {
            now.counted = fold.tokens_after + self.tokens_since(row, fold.accounts.events).await?;
        } else {
            // The activity has the sum for the head that it was read with.
            let tokens = match activity.head == row.head {
                true => activity.tokens,
                false => self.tokens_since(row, 0).await?,
            };
            now.counted = tokens + meta.map_or(0, |meta| envelope_tokens(row, meta));
        }
        Ok(ContextFill::of(settled, &now, &meter, window))
    }

    /// Tokens of the messages from event `seq` on, by the session's own counter.
    async fn tokens_since(&self, row: &SessionRow, seq: u32) -> Result<u64, StoreError> {
        let newer = self.store.events(&row.new.id, u64::from(seq).min(row.head)..row.head).await?;
        Ok(newer.iter().map(|row| u64::from(row.event.tokens)).sum())
    }

    async fn active_fold(&self, row: &SessionRow) -> Result<Option<Fold>, StoreError> {
        let Some(active) = row.active else { return Ok(None) };
        let folds = self.store.folds(&row.new.id).await?;
        let fold_row = folds.iter().find(|fold_row| fold_row.fold.id == active);
        Ok(fold_row.and_then(|fold_row| serde_json::from_str(&fold_row.fold.body).ok()))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Overview>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts the folds of a session that were in force.
///
/// # Errors
/// If the session was deleted meanwhile, or if the store fails.
pub async fn folds_in_force(
    store: &dyn Store,
    activity: &SessionActivity,
) -> Result<u64, StoreError> {
    // Nearly always there is one fold, and it is active: then nothing has to be read.
    if activity.folds < 2 && (activity.folds == 0 || activity.active.is_some()) {
        return Ok(activity.folds);
    }
    let rows = store.folds(&activity.id).await?;
    let folds = rows.iter().filter_map(|row| serde_json::from_str(&row.fold.body).ok());
    let folds: Vec<Fold> = folds.collect();
    let requests = store.requests(&activity.id).await?.into_iter().collect();
    Ok(in_force(&standings(&folds, activity.active, &requests)))
}

/// Tokens of the system prompt and the tools of a session, by its own counter.
fn envelope_tokens(row: &SessionRow, meta: &SessionMeta) -> u64 {
    let kind = DialectKind::from_name(&row.new.dialect);
    let profile = profile::by_name(&row.new.profile);
    let counter = midfold_tokens::by_name(&row.new.counter).ok();
    let (Some(kind), Some(profile), Some(counter)) = (kind, profile, counter) else { return 0 };
    let mut log = EventLog::new(kind.shared(), *profile, counter);
    log.set_envelope(meta.envelope.iter().map(String::as_bytes));
    log.envelope_tokens()
}

/// What a session was set to, as far as it can be read.
struct SessionSettings {
    meta: Option<SessionMeta>,
    policy: Option<Policy>,
    budget: Option<Budget>,
}

/// Builds the overview. The pair has the fill of the context, and the number of folds in force.
fn overview(
    row: &SessionRow,
    state: &SessionState,
    SessionSettings { meta, policy, budget }: SessionSettings,
    activity: SessionActivity,
    title: Option<String>,
    (fill, folds): (ContextFill, u64),
) -> Overview {
    let named = meta.as_ref().and_then(|meta| meta.model.clone()).unwrap_or_default();
    let model = if state.model.is_empty() { named } else { state.model.clone() };
    let threshold = budget.as_ref().zip(policy.as_ref()).map_or(0, |(budget, policy)| {
        policy.trigger.for_model(&model).line(budget.tokens()).tokens
    });
    let SessionSpending { calls, prompt, output, cache_read, cache_write, .. } = state.spent;
    let (source, client, parent) =
        meta.map_or((None, None, None), |meta| (meta.source, meta.client, meta.parent));
    Overview {
        title,
        source,
        client,
        threshold,
        model,
        owner: activity.owner,
        dialect: row.new.dialect.clone(),
        policy: policy.map(|policy| policy.name).unwrap_or_default(),
        created: row.new.created,
        changed: activity.changed,
        tick: activity.tick,
        events: activity.head,
        turns: row.turn,
        tokens: activity.tokens,
        window: fill.window,
        fill: fill.tokens,
        fill_source: fill.source,
        folds,
        recorded: activity.folds,
        active: activity.active_number,
        calls: activity.calls.max(calls),
        faults: state.faults.iter().map(FaultCount::of).collect(),
        usage: ProviderTotals { calls, prompt, output, cache_read, cache_write },
        cost: state.spent.cost().map(|cost| CostView {
            sent: cost.sent,
            everything: cost.everything,
            unit: "tokens",
        }),
        cache_share: state.spent.cache_share(),
        parent: parent.map(|(id, at)| Parent { id, at }),
        id: activity.id,
    }
}
