//! Draws the list of sessions.

use midfold::{number, plural};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::parts::{around, bar, title};
use super::sheet::{ScreenSheet, ViewRoom};
use crate::figures::{age, facts, fit, pad, percent, short};
use crate::paint::{PaintStyle, bold, dim};
use crate::state::TopState;
use crate::views::{FaultLine, SessionRow};

/// From this width on, model and client have columns of their own.
const WIDE: usize = 120;
/// The width of all columns in front of them.
const FIGURES: usize = 55;

/// The widths of the columns for model and client.
struct Widths {
    model: usize,
    client: usize,
}

impl Widths {
    /// The widths for a room. On paper, a column is as wide as its longest text.
    fn of(state: &TopState, room: ViewRoom) -> Self {
        if !room.is_paper {
            return Self { model: 18, client: 16 };
        }
        let (model, client) = (longest(state, |row| row.model.as_str()), longest(state, client));
        Self { model: model.max(HEADS[0].len()), client: client.max(HEADS[1].len()) }
    }
}

/// The headings of the two columns.
const HEADS: [&str; 2] = ["MODEL", "CLIENT"];

fn client(row: &SessionRow) -> &str {
    row.client.as_ref().map_or("", crate::Clean::as_str)
}

/// The width of the longest of these texts.
fn longest(state: &TopState, text: impl Fn(&SessionRow) -> &str) -> usize {
    state.rows.iter().flatten().map(|row| text(row).width()).max().unwrap_or(0)
}

/// The width of the list on paper, where no text is cut.
pub(crate) fn width(state: &TopState) -> usize {
    let room = ViewRoom { width: 0, height: 0, is_paper: true };
    let Widths { model, client } = Widths::of(state, room);
    let name = longest(state, SessionRow::name) + UNFIT_MARK.width();
    (FIGURES + model + client + 4 + name + 1).max(WIDE)
}

/// Marks a session with requests that were sent unchanged although they did not fit.
const UNFIT_MARK: &str = "▲ ";

pub(super) fn sheet(state: &TopState, room: ViewRoom) -> ScreenSheet {
    let mut sheet = ScreenSheet::default();
    let Some(all) = &state.rows else {
        sheet.head.push(title("midfold top", state.place.as_str(), room.width));
        sheet.body.extend([Line::default(), Line::from("  reading the sessions …")]);
        return sheet;
    };
    let left = match state.more {
        true => format!("midfold top: the newest {}", plural(all.len() as u64, "session")),
        false => format!("midfold top: {}", plural(all.len() as u64, "session")),
    };
    let left = if all.len() > 1 && !room.is_narrow() {
        format!("{left}, {}", state.sort.name())
    } else {
        left
    };
    sheet.head.push(title(&left, state.place.as_str(), room.width));
    if all.is_empty() {
        let hint = "Sessions come with `midfold serve`, `midfold session new` and `midfold import`";
        sheet.body.push(Line::default());
        sheet.body.push(Line::from("  There is no session yet."));
        sheet.body.extend(super::parts::indented(hint, 2, room.width, dim("").style));
        return sheet;
    }
    let widths = Widths::of(state, room);
    sheet.head.push(Line::from(dim(heading(&widths, room))));
    let at = state.at();
    let shown = around(at, all.len(), rows(state, room));
    let from = shown.start;
    for (place, row) in all[shown].iter().enumerate() {
        sheet.body.push(row_line(state, row, from + place == at, &widths, room));
    }
    let below = facts_below(state, room);
    let used = sheet.head.len() + sheet.body.len() + below.len();
    sheet.body.extend((used..room.height).map(|_| Line::default()));
    sheet.body.extend(below);
    sheet
}

/// How many rows of sessions fit.
pub(super) fn rows(state: &TopState, room: ViewRoom) -> usize {
    room.height.saturating_sub(2 + facts_below(state, room).len()).max(1)
}

fn heading(widths: &Widths, room: ViewRoom) -> String {
    if room.is_narrow() {
        return pad("  FILL          F   AGE  SESSION", room.width, false);
    }
    let wide = match room.width {
        WIDE.. => beside(HEADS, widths),
        _ => String::new(),
    };
    let text = format!("  FILL        TOKENS/WINDOW  COST  CACHE FOLDS    AGE  {wide}SESSION");
    pad(&text, room.width, false)
}

/// Model and client in their columns.
fn beside([model, client]: [&str; 2], widths: &Widths) -> String {
    pad(model, widths.model, false) + "  " + &pad(client, widths.client, false) + "  "
}

fn row_line(
    state: &TopState,
    row: &SessionRow,
    is_chosen: bool,
    widths: &Widths,
    room: ViewRoom,
) -> Line<'static> {
    let paint = PaintStyle { color: state.color };
    let mut line = Line::from(if is_chosen { bold("› ") } else { "  ".into() });
    let share = |share: Option<f64>| share.map_or("–".to_owned(), percent);
    let age = age(row.changed, state.now);
    let name = |room: usize| match is_chosen {
        true => bold(fit(&marked(row), room)),
        false => Span::raw(fit(&marked(row), room)),
    };
    if room.is_narrow() {
        bar(paint, row, 6).into_iter().for_each(|span| line.push_span(span));
        let folds = short(row.folds);
        line.push_span(format!(" {:>5}{folds:>3} {age:>5}  ", percent(row.filled())));
        let room = room.width.saturating_sub(line.width() + 1);
        line.push_span(name(room));
        return line;
    }
    bar(paint, row, 10).into_iter().for_each(|span| line.push_span(span));
    let tokens = format!("{}/{}", short(row.fill), short(row.window));
    let cost = row.cost.map_or_else(|| "–".to_owned(), |cost| cost.change());
    let cached = share(row.cache_share);
    line.push_span(format!(
        "  {tokens:>13} {cost:>5}  {cached:>5} {:>5} {age:>6}  ",
        short(row.folds)
    ));
    if room.width >= WIDE {
        line.push_span(beside([row.model.as_str(), client(row)], widths));
    }
    let room = room.width.saturating_sub(line.width() + 1);
    line.push_span(name(room));
    line
}

/// The name of a session, with [`UNFIT_MARK`] in front if requests of it were sent unchanged.
fn marked(row: &SessionRow) -> String {
    if row.faults.is_empty() {
        row.name().to_owned()
    } else {
        format!("{UNFIT_MARK}{}", row.name())
    }
}

/// Facts about the chosen session, below the list.
fn facts_below(state: &TopState, room: ViewRoom) -> Vec<Line<'static>> {
    // These lines help to choose a session; paper has no choice.
    let has_room = room.height >= 12 && !room.is_paper;
    let Some(row) = state.row().filter(|_| has_room) else { return Vec::new() };
    let mut all = vec![row.id.shown().to_owned(), row.model.to_string()];
    all.extend(row.client.as_ref().map(ToString::to_string));
    all.push(format!("policy {}", row.policy));
    all.push(row.fill_words());
    all.push(format!("folds at {}", number(row.threshold)));
    all.push(plural(row.events, "message"));
    if let Some(cost) = row.cost {
        let [as_sent, everything] = [cost.sent, cost.everything].map(|cost| number(cost as u64));
        all.push(format!("{} for {as_sent} instead of {everything}", plural(row.calls, "call")));
    }
    all.extend(row.faults.iter().map(FaultLine::text));
    let lines = facts(&all, room.width.saturating_sub(2));
    let mut out = vec![Line::from(dim("─".repeat(room.width)))];
    out.extend(lines.into_iter().map(|line| Line::from(format!(" {line}"))));
    out
}
