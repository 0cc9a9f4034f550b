//! Finds the session that a person means by a word.

use std::collections::BTreeSet;
use std::sync::Arc;

use midfold_store::{NewestQuery, Store, StoreError};

use crate::advice::advise_in;
use crate::view::OverviewCache;
use crate::{AdvisedError, Door, Failure, FailureArea};

/// The word for the session that changed last.
const LAST: &str = "last";
/// What ids of proxied conversations begin with. People leave it out, because it says nothing.
const PROXY: &str = "proxy-";
/// Fewer characters than these begin too many ids.
const FEWEST: usize = 3;
/// The most sessions that an ambiguous word lists.
const LISTED: usize = 5;

/// The sessions that a word may mean, at most six. The first of these that there is counts:
///
/// 1. the session with this id;
/// 2. for `last`, the one that changed last;
/// 3. the one whose id is `proxy-` and the word;
/// 4. those whose ids begin with the word, or with `proxy-` and the word.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = midfold::store::open("memory").await?;
/// assert!(midfold::find_session(&*store, "last").await?.is_empty());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the store fails.
pub async fn find_session(store: &dyn Store, word: &str) -> Result<Vec<String>, StoreError> {
    if has_session(store, word).await? {
        return Ok(vec![word.to_owned()]);
    }
    if word == LAST {
        let newest = store.newest(&NewestQuery { limit: 1, ..NewestQuery::default() }).await?;
        return Ok(newest.into_iter().map(|activity| activity.id).collect());
    }
    let proxied = format!("{PROXY}{word}");
    if has_session(store, &proxied).await? {
        return Ok(vec![proxied]);
    }
    if word.chars().count() < FEWEST {
        return Ok(Vec::new());
    }
    let mut ids = BTreeSet::new();
    for start in [word, &proxied] {
        let rows = store.sessions_beginning(start, LISTED as u32 + 1).await?;
        ids.extend(rows.into_iter().map(|row| row.new.id));
    }
    Ok(ids.into_iter().take(LISTED + 1).collect())
}

async fn has_session(store: &dyn Store, id: &str) -> Result<bool, StoreError> {
    match store.activity(id).await {
        Ok(_) => Ok(true),
        Err(StoreError::NoSession(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The id of the session that a word names.
///
/// # Errors
/// If there is no such session, if the word begins several ids, or if the store fails.
pub async fn session_named(
    store: &Arc<dyn Store>,
    word: &str,
    door: Door,
) -> Result<String, Failure> {
    let ids = find_session(&**store, word).await.map_err(|error| error.advise(door))?;
    match &ids[..] {
        [id] => return Ok(id.clone()),
        [] => {
            let missing = StoreError::NoSession(word.to_owned());
            return Err(advise_in(&**store, missing.into(), door).await);
        }
        _ => {}
    }
    let titles = OverviewCache::new(Arc::clone(store));
    let mut failure = Failure::new(
        FailureArea::Store,
        format!("`{word}` begins the ids of several sessions: write more of it"),
    );
    for id in ids.iter().take(LISTED) {
        let title = titles.one(id).await.ok().and_then(|overview| overview.title.clone());
        failure = failure.hint(title.map_or_else(|| id.clone(), |title| format!("{id}  {title}")));
    }
    Err(match ids.len() > LISTED {
        true => failure.hint("and more: `midfold session list`"),
        false => failure,
    })
}
