//! `midfold session log`: shows the original messages, folded or not.

use midfold::formats::DialectKind;
use midfold::store::{EventRow, event_text};
use midfold_args::LogArgs;

use super::text::join;
use crate::error::CommandError;
use crate::fates::MessageFates;
use crate::host::OpenStore;
use crate::output::{Output, OutputColor};
use crate::table::TextTable;
use crate::words::{line, number, plural};

/// Events that are read from the store with one query.
const AT_ONCE: u64 = 256;

pub async fn run(
    args: &LogArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let stored = host.session(&args.id).await?;
    let head = stored.row().head;
    let to = args.to.map_or(head, |to| to.saturating_add(1).min(head));
    if args.to.is_some_and(|to| to < args.from) {
        return Err(CommandError::usage("--to lies before --from"));
    }
    if args.from > 0 && args.from >= head {
        return Err(CommandError::failed(format!(
            "session `{}` has no message {}: it has {}",
            args.id,
            args.from,
            plural(head, "message")
        )));
    }
    let mut rows: Vec<EventRow> = Vec::new();
    let mut next = args.from;
    while next < to {
        let page = host.store.events(&args.id, next..to.min(next + AT_ONCE)).await?;
        if page.is_empty() {
            break;
        }
        rows.extend(page);
        next += AT_ONCE;
    }
    if json {
        return output.stdout(join(rows.iter().map(|row| &row.event.bytes)));
    }
    if rows.is_empty() {
        output.stderr("there are no messages yet\n");
        return Ok(());
    }
    let folds = stored.folds().await?;
    let active = folds.iter().find(|fold| Some(fold.id) == stored.row().active);
    let fates = MessageFates::new(active);
    let style = output.stdout_style();
    let dialect = &stored.row().new.dialect;
    let kind = DialectKind::from_name(dialect);
    let table = TextTable::new(["no.", "turn", "role", "tokens", "sent", "text"]).right([0, 1, 3]);
    let mut table = table.color(4, OutputColor::Dim);
    // The columns that are left for the text.
    let room = style.width.saturating_sub(46).max(24);
    for EventRow { seq, event } in &rows {
        let role = kind.map_or("", |kind| kind.dialect().view(&event.bytes).role.name());
        table.row([
            // The number has no thousands separator, because `recall show` takes it in this form.
            seq.to_string(),
            number(u64::from(event.turn)),
            role.to_owned(),
            number(u64::from(event.tokens)),
            fates.of(*seq).to_owned(),
            line(&event_text(dialect, &event.bytes), room),
        ]);
    }
    output.stdout(table.render(&style, 0))
}
