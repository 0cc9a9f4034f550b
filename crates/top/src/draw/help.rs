//! Draws the help: the keys, and the meaning of the columns.

use ratatui::style::Style;
use ratatui::text::Line;

use super::parts::{indented, rule, title};
use super::sheet::{ScreenSheet, ViewRoom};
use crate::figures::pad;
use crate::paint::bold;
use crate::state::TopState;

const KEYS: [(&str, &str); 8] = [
    ("↑ ↓  j k", "choose a session or a fold; scroll"),
    ("PgUp PgDn", "a page up or down (also Ctrl-B, Ctrl-F, space)"),
    ("Home End", "to the first, to the last (also g, G)"),
    ("Enter", "open the session, or the fold"),
    ("/", "why did it forget a text: type it, then Enter"),
    ("o", "sort by change, fill, cost, folds"),
    ("Esc  q", "back; in the list, quit"),
    ("Ctrl-C", "quit"),
];

const COLUMNS: [(&str, &str); 6] = [
    ("FILL", "how full the window is; ┃ is where the next fold is due"),
    ("TOKENS", "the last prompt, and the window"),
    ("COST", "what prompts cost, against sending every message each time"),
    ("CACHE", "the share of the prompts that came from the provider's cache"),
    ("FOLDS", "how often it was folded"),
    ("AGE", "since it got a message, a fold or a call"),
];

const FABRIC: &str = "A row is a fold, a column a message; where there are more messages than columns, a column \
shows what became of most of its messages. • is the fold that is read now, ✗ one that was taken back.";

const READ_ONLY: &str = "Nothing is changed here. `midfold session` and the console of `midfold serve` fold, pin, undo \
and set the policy.";

pub(super) fn sheet(state: &TopState, room: ViewRoom) -> ScreenSheet {
    let mut sheet = ScreenSheet::default();
    sheet.head.push(title("help", state.place.as_str(), room.width));
    sheet.body.extend(indented(READ_ONLY, 1, room.width, Style::new()));
    let mut table = |heading: &str, rows: &[(&str, &str)]| {
        sheet.body.push(rule(heading, room.width));
        for (name, text) in rows {
            let lines = indented(text, 0, room.width.saturating_sub(13), Style::new());
            for (at, text) in lines.into_iter().enumerate() {
                let name = if at == 0 { *name } else { "" };
                let mut line = Line::from(bold(format!(" {}  ", pad(name, 10, false))));
                text.spans.into_iter().for_each(|span| line.push_span(span));
                sheet.body.push(line);
            }
        }
    };
    table("keys", &KEYS);
    table("the list", &COLUMNS);
    sheet.body.push(rule("a session", room.width));
    sheet.body.extend(indented(FABRIC, 1, room.width, Style::new()));
    sheet
}
