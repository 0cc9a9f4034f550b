//! `report.html`: one file with the results of a replay and the page that draws them. It loads nothing else.

use std::io::{self, Write};

/// The page that `ui/report/build` makes.
pub const TEMPLATE: &str = include_str!("../assets/report.html");

/// The place of the JSON in the template. It appears once, as the content of a `<script type="application/json">`.
pub const SLOT: &str = "@@REPLAY@@";

/// Writes the page with a replay in it. `json` is one JSON value.
///
/// Every `<` in it is written as the escape `\u003c`. JSON has `<` only inside strings, so the value stays the same.
/// Without the escape, a `</script` in a string would end the script element, and `<!--` would change where the parser
/// looks for its end.
pub fn write(json: &str, out: &mut impl Write) -> io::Result<()> {
    // The build fails unless the template has the slot exactly once, so the fallback is never used.
    let (before, after) = TEMPLATE.split_once(SLOT).unwrap_or((TEMPLATE, ""));
    out.write_all(before.as_bytes())?;
    let mut pieces = json.split('<');
    if let Some(first) = pieces.next() {
        out.write_all(first.as_bytes())?;
    }
    for piece in pieces {
        out.write_all(b"\\u003c")?;
        out.write_all(piece.as_bytes())?;
    }
    out.write_all(after.as_bytes())
}
