//! Cases for windows that providers stated.

use std::sync::Arc;

use midfold_core::Hash;

use super::kit::{CaseOutcome, equal, error_text};
use crate::store::{MOST_WINDOWS, Store};
use crate::types::{LearnedWindow, Millis};

/// A window of this many tokens.
fn of(tokens: u64, learned: Millis) -> LearnedWindow {
    LearnedWindow { tokens, counts_reply: false, learned }
}

/// The key of a window.
fn key(number: u64) -> Hash {
    Hash::ROOT.chain(&number.to_be_bytes())
}

/// A window is found by its key. It is raised only where it was noted, and never lowered by a raise.
pub(super) async fn a_window_is_noted_and_raised(store: Arc<dyn Store>) -> CaseOutcome {
    equal!(store.window(key(1)).await.map_err(error_text)?, None, "what nobody noted");
    store.raise_window(key(1), 9_000).await.map_err(error_text)?;
    equal!(
        store.window(key(1)).await.map_err(error_text)?,
        None,
        "what nobody noted is not raised"
    );
    let with_reply = LearnedWindow { counts_reply: true, ..of(8_000, 10) };
    store.put_window(key(1), &with_reply).await.map_err(error_text)?;
    store.put_window(key(2), &of(8_000, 20)).await.map_err(error_text)?;
    equal!(store.window(key(1)).await.map_err(error_text)?, Some(with_reply), "what was noted");
    store.raise_window(key(1), 9_000).await.map_err(error_text)?;
    store.raise_window(key(1), 8_500).await.map_err(error_text)?;
    let raised = LearnedWindow { tokens: 9_000, ..with_reply };
    equal!(
        store.window(key(1)).await.map_err(error_text)?,
        Some(raised),
        "the largest that was taken"
    );
    equal!(store.window(key(2)).await.map_err(error_text)?, Some(of(8_000, 20)), "that of another");
    store.put_window(key(1), &of(4_000, 30)).await.map_err(error_text)?;
    equal!(
        store.window(key(1)).await.map_err(error_text)?,
        Some(of(4_000, 30)),
        "the last note counts"
    );
    equal!(store.windows(0).await.map_err(error_text)?, 2, "all of them");
    equal!(store.windows(30).await.map_err(error_text)?, 1, "those that were learned since");
    Ok(())
}

/// Above [`MOST_WINDOWS`], the oldest window is dropped.
pub(super) async fn the_windows_that_were_learned_last_are_kept(
    store: Arc<dyn Store>,
) -> CaseOutcome {
    let most = u64::from(MOST_WINDOWS);
    for number in 0..=most {
        store.put_window(key(number), &of(number, number)).await.map_err(error_text)?;
    }
    equal!(store.window(key(0)).await.map_err(error_text)?, None, "the first of too many");
    for number in [1, most] {
        let tokens =
            store.window(key(number)).await.map_err(error_text)?.map(|learned| learned.tokens);
        equal!(tokens, Some(number), "one of the last");
    }
    equal!(store.windows(0).await.map_err(error_text)?, most, "how many are kept");
    Ok(())
}
