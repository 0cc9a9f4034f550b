//! Finds out why the model does not see a text any more: in one session, or in all.

use std::sync::Arc;

use midfold_core::explain::{
    AskedMoment, ContextReader, ExplainError, Explanation, event_number, explain,
};
use midfold_store::{
    LogSearch, NewestQuery, SearchMode, Store, StoreError, StoredError, StoredSession,
};
use serde::Serialize;

use super::overview::{Overview, OverviewCache};

/// How many sessions one answer searches.
const SESSIONS_SEARCHED: u32 = 200;
/// The most sessions that one answer returns.
const MOST_FOUND: usize = 20;
/// The most messages that are listed of each session.
const MOST_OCCURRENCES: usize = 20;

/// The sessions that have a text, the last changed first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgottenText {
    /// The sessions that have the text.
    pub found: Vec<RememberedSession>,
    /// The number of sessions that were searched.
    pub looked_at: u64,
    /// The cursor of the next page; null if all sessions were searched.
    pub next: Option<u64>,
}

/// A session that has the text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RememberedSession {
    /// The session in short.
    pub session: Overview,
    /// Where the text is in the session, and whether the model sees it.
    pub explanation: Explanation,
}

/// Explains where a text is in what the model sees now, or saw at a call, in an open session.
///
/// # Errors
/// If the text is empty, if there is no such call or message (`@12`), or if the store fails.
pub async fn explained(
    stored: &mut StoredSession,
    text: &str,
    call: Option<u64>,
) -> Result<Explanation, StoredError> {
    let folds = stored.folds().await?;
    let calls = stored.calls().await?;
    let calls: Vec<_> = calls.into_iter().map(|(call, _)| call).collect();
    let reader = reader(stored, call, calls.is_empty()).await?;
    let moment = match call {
        Some(call) if stored.meta().is_proxied() => AskedMoment::ClientCall(call),
        Some(call) => AskedMoment::Call(call),
        None => AskedMoment::Now(stored.row().active),
    };
    let session = stored.row().new.id.clone();
    let log = stored.whole().await?.log();
    let explanation = explain(log, &folds, &calls, text, moment).map_err(|error| match error {
        ExplainError::NoCall { number, count } => {
            StoredError::NoNumber { what: "call", number, count }
        }
        ExplainError::NoEvent { seq, count } => {
            StoredError::NoEvent { session, seq, events: count }
        }
        error => StoreError::Query(error.to_string()).into(),
    })?;
    Ok(explanation.read_by(reader))
}

/// Who decides what the model reads. A transcript that was imported from a file and never sent is its client's; the
/// sessions of the proxy, of the HTTP API and of programs are midfold's.
async fn reader(
    stored: &mut StoredSession,
    call: Option<u64>,
    never_sent: bool,
) -> Result<ContextReader, StoredError> {
    if never_sent && stored.meta().is_imported() {
        return Ok(ContextReader::Client);
    }
    if call.is_some() {
        return Ok(ContextReader::Midfold);
    }
    // The time only decides how long a model is not asked, which does not matter here.
    let status = stored.status(0).await?;
    let (tokens, window) = (status.context_tokens, status.context_length);
    Ok(match tokens > window && window > 0 {
        true => ContextReader::Overfull { tokens, window },
        false if stored.meta().is_proxied() => ContextReader::Proxied,
        false => ContextReader::Midfold,
    })
}

impl ForgottenText {
    /// Searches the sessions for a text, the last changed first. With `before`, it searches those that changed before
    /// that tick.
    ///
    /// # Errors
    /// If the text is empty or the number of a message (`@12`), or if the store fails.
    pub async fn ask(
        store: &Arc<dyn Store>,
        overviews: &OverviewCache,
        owner: Option<String>,
        text: &str,
        before: Option<u64>,
    ) -> Result<Self, StoredError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(StoreError::Query("give the text to look for".to_owned()).into());
        }
        if event_number(text).is_some() {
            let problem = format!("`{text}` is a message of one session: ask about that session");
            return Err(StoreError::Query(problem).into());
        }
        let mut answer = Self { found: Vec::new(), looked_at: 0, next: None };
        // One more than is searched shows whether there are more.
        let limit = SESSIONS_SEARCHED + 1;
        let mut sessions =
            store.newest(&NewestQuery { owner, before, limit }).await?.into_iter().peekable();
        while let Some(activity) = sessions.next() {
            answer.looked_at += 1;
            match in_session(store, overviews, &activity.id, text).await {
                Ok(matched) => answer.found.extend(matched),
                Err(StoredError::Store(StoreError::NoSession(_))) => {}
                Err(error) => return Err(error),
            }
            let is_full = answer.looked_at >= SESSIONS_SEARCHED.into();
            if is_full || answer.found.len() >= MOST_FOUND {
                answer.next = sessions.peek().map(|_| activity.tick);
                break;
            }
        }
        Ok(answer)
    }
}

/// Whether a message of a session has this text, as it is, or with its letters in either case. The names of called tools
/// are searched, too, and [`explained`] leaves them out.
///
/// # Errors
/// If there is no such session, or if the store fails.
pub async fn has_text(store: &dyn Store, session: &str, text: &str) -> Result<bool, StoreError> {
    let query = text.to_owned();
    let literal = LogSearch { query, mode: SearchMode::Literal, range: None, limit: 1 };
    if !store.search(session, &literal).await?.is_empty() {
        return Ok(true);
    }
    match store.search(session, &LogSearch::in_either_case(text, 1)).await {
        // A text that is too long for a pattern is only looked for as it is.
        Err(StoreError::Query(_)) => Ok(false),
        hits => Ok(!hits?.is_empty()),
    }
}

/// Looks for the text in one session; `None` if no message has it. The search comes first, because loading a session
/// costs much more.
async fn in_session(
    store: &Arc<dyn Store>,
    overviews: &OverviewCache,
    id: &str,
    text: &str,
) -> Result<Option<RememberedSession>, StoredError> {
    if !has_text(&**store, id, text).await? {
        return Ok(None);
    }
    let mut stored = StoredSession::open(Arc::clone(store), id).await?;
    let mut explanation = explained(&mut stored, text, None).await?;
    // Only the name of a called tool has the text.
    if explanation.occurrences.is_empty() {
        return Ok(None);
    }
    explanation.occurrences.truncate(MOST_OCCURRENCES);
    let session = (*overviews.one(id).await?).clone();
    Ok(Some(RememberedSession { session, explanation }))
}
