//! Reports sessions that were deleted or would be.

use midfold::store::SessionExtent;
use serde_json::json;

use crate::error::CommandError;
use crate::output::{Output, OutputColor};
use crate::page::LabelledPage;
use crate::presets::pretty;
use crate::table::TextTable;
use crate::words::{self, number, plural};

/// Prints the sessions, and the number of answers that belong to no session, that were deleted from `place`. Without
/// `is_done` they only would be: the command then fails with exit code 1 and says how to confirm.
pub fn tell(
    (sessions, answers): (&[SessionExtent], u64),
    is_done: bool,
    place: &str,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    if json {
        let value =
            json!({ "deleted": is_done, "store": place, "sessions": sessions, "answers": answers });
        output.stdout(pretty(&value)?)?;
    } else {
        output.stdout(text((sessions, answers), is_done, place, output))?;
    }
    // Nothing has to be confirmed where there is nothing to delete.
    if is_done || (sessions.is_empty() && answers == 0) {
        return Ok(());
    }
    Err(CommandError::failed("nothing was deleted: it was not confirmed")
        .hint("add --yes to delete; what is deleted does not come back")
        .hint("`midfold store export FILE` keeps a copy"))
}

fn text(
    (sessions, answers): (&[SessionExtent], u64),
    is_done: bool,
    place: &str,
    output: &Output,
) -> String {
    let style = output.stdout_style();
    let mut page = LabelledPage { style: &style, text: String::new() };
    let mut count = plural(sessions.len() as u64, "session");
    if answers > 0 {
        count = format!("{count} and {} of no session", plural(answers, "answer"));
    }
    match is_done {
        true => page.title(OutputColor::Green, &format!("Deleted {count} from {place}")),
        false => page.title(OutputColor::Yellow, &format!("Would delete {count} from {place}")),
    }
    if sessions.is_empty() {
        return page.text;
    }
    let names = ["id", "messages", "folds", "calls", "bytes", "last change"];
    let mut table = TextTable::new(names)
        .right([1, 2, 3, 4])
        .color(0, OutputColor::Bold)
        .color(5, OutputColor::Dim);
    for extent in sessions {
        table.row([
            extent.session.clone(),
            number(extent.events),
            number(extent.folds),
            number(extent.calls),
            number(extent.bytes),
            words::time(extent.changed),
        ]);
    }
    page.text + &table.render(&style, 0)
}
