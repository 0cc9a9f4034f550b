//! The recaps of sessions as resources.

use midfold::store::recall::{QUOTED, describe};
use midfold::store::{SessionRow, Store};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};

use crate::answer::CallRefusal;
use crate::listing::task;
use crate::scope::SessionScope;
use crate::sessions::{named, newest};
use crate::uri;

/// How many sessions one page reads. Those without a recap are left out.
const PAGE: usize = 50;
const PLAIN: &str = "text/plain";

/// One page of the recaps of sessions, the newest session first. The cursor is the number of sessions before the page.
pub(crate) async fn list(
    store: &dyn Store,
    scope: &SessionScope,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let skip: usize = match cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| {
            ErrorData::invalid_params(
                "the cursor is none of this server's: start without one",
                None,
            )
        })?,
    };
    let listed = newest(store, scope, skip, PAGE).await.map_err(|error| internal(&error.into()))?;
    let mut resources = Vec::new();
    for row in listed.rows.iter().filter(|row| row.active.is_some()) {
        resources.push(resource(store, row).await);
    }
    let read = skip.saturating_add(listed.rows.len());
    let mut page = ListResourcesResult::with_all_items(resources);
    page.next_cursor = (read < listed.total && !listed.rows.is_empty()).then(|| read.to_string());
    Ok(page)
}

async fn resource(store: &dyn Store, row: &SessionRow) -> Resource {
    let id = &row.new.id;
    Resource::new(uri::of_recap(id), format!("recap of {id}"))
        .with_title(task(store, row).await)
        .with_description(format!("What stands for the folded messages of session {id}"))
        .with_mime_type(PLAIN)
}

/// The template of addresses; recaps are the only resources.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(uri::TEMPLATE, "recap")
        .with_title("Recap of a session")
        .with_description("What stands for the folded messages of the session with this id")
        .with_mime_type(PLAIN);
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// Reads the recap at an address.
pub(crate) async fn read(
    store: &dyn Store,
    scope: &SessionScope,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let missing = |why: &str| ErrorData::resource_not_found(format!("{uri}: {why}"), None);
    let id = uri::session(uri).ok_or_else(|| {
        missing(&format!("there is no such resource; addresses are {}", uri::TEMPLATE))
    })?;
    let row =
        named(store, scope, &id).await.map_err(|refused| missing(refused.text().trim_end()))?;
    let fold = describe(store, &row.new.id, "active").await;
    let recap = fold.map_err(|error| missing(&error.to_string()))?.recap;
    let recap = recap.ok_or_else(|| missing("the fold of this session left no text"))?;
    let text = format!("{QUOTED}{}\n", recap.trim_end());
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(PLAIN)]))
}

/// The protocol's error for a store that failed.
pub(crate) fn internal(refused: &CallRefusal) -> ErrorData {
    ErrorData::internal_error(refused.text().trim_end().to_owned(), None)
}
