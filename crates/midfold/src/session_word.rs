//! Finds the session that a person means by a word.

use std::sync::Arc;

use midfold_store::{NewestQuery, SessionActivity, Store, StoreError};

use crate::advice::advise_in;
use crate::view::OverviewCache;
use crate::{AdvisedError, Door, Failure, FailureArea};

/// The word for the session that changed last.
const LAST: &str = "last";
/// What ids of proxied conversations begin with. People leave it out, because it says nothing.
const PROXY: &str = "proxy-";
/// Fewer letters than these begin too many ids.
const FEWEST: usize = 3;
/// The most sessions that an ambiguous word lists.
const LISTED: usize = 5;

/// The sessions that a word may mean, at most six. Taken from the first that there is: the session with this id; for
/// `last` the one that changed last; those whose id begins with the word, or with `proxy-` and the word.
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
    match store.activity(word).await {
        Ok(SessionActivity { id, .. }) => return Ok(vec![id]),
        Err(StoreError::NoSession(_)) => {}
        Err(error) => return Err(error),
    }
    if word == LAST {
        let newest = store.newest(&NewestQuery { limit: 1, ..NewestQuery::default() }).await?;
        return Ok(newest.into_iter().map(|activity| activity.id).collect());
    }
    let mut matching = Vec::new();
    if word.chars().count() >= FEWEST {
        for start in [word.to_owned(), format!("{PROXY}{word}")] {
            let rows = store.sessions(Some(&start), LISTED as u32 + 1).await?;
            let ids = rows.into_iter().map(|row| row.new.id);
            matching.extend(ids.take_while(|id| id.starts_with(&start)));
        }
    }
    Ok(matching)
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
