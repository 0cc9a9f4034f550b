//! Titles: what the user asked for, in one line.

use midfold_core::Voice;
use midfold_core::event::RawEvent;
use midfold_core::log::EventLog;
use midfold_core::passage::{joined, passages};
use midfold_core::view::Role;
use midfold_formats::{DialectKind, profile};
use midfold_store::{SessionRow, Store, StoreError};

use crate::texts::{first_line, hidden};

/// The most characters of a title.
const TITLE: usize = 120;
/// In how many messages at the start the title is looked for.
const OPENING: u64 = 8;

/// The title of a session: the first line that the user wrote, redacted, of at most 120 characters. Where a client wrote
/// everything in the user's role, it is the first line of that. `None` if nobody wrote anything yet.
///
/// # Errors
/// If the store fails.
pub async fn session_title(
    store: &dyn Store,
    row: &SessionRow,
) -> Result<Option<String>, StoreError> {
    if row.head == 0 {
        return Ok(None);
    }
    let events = store.events(&row.new.id, 0..OPENING.min(row.head)).await?;
    Ok(title(row, events.into_iter().map(|row| row.event.bytes)))
}

fn title(row: &SessionRow, opening: impl Iterator<Item = bytes::Bytes>) -> Option<String> {
    let kind = DialectKind::from_name(&row.new.dialect)?;
    let profile = *profile::by_name(&row.new.profile)?;
    // No token count is read here, so the cheapest counter will do.
    let counter = midfold_tokens::by_name("chars:4").ok()?;
    let mut log = EventLog::new(kind.shared(), profile, counter);
    opening.for_each(|bytes| {
        log.append(RawEvent::new(bytes));
    });
    let users = || log.events().iter().filter(|event| event.view.role == Role::User);
    let line_of = |wanted: fn(Voice) -> bool| {
        users().find_map(|event| {
            let all = passages(event, &**log.dialect());
            let line = first_line(&hidden(&joined(&all, |passage| wanted(passage.voice))), TITLE);
            (!line.is_empty()).then_some(line)
        })
    };
    // Some conversations begin with texts of the client alone, and any line is a better title than none.
    line_of(|voice| voice == Voice::User).or_else(|| line_of(|_| true))
}
