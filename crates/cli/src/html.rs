//! `report.html`: a replay and the page that draws it, in one file that loads nothing.

use std::io::{self, Write};

/// The page as `ui/report/build` makes it.
pub const TEMPLATE: &str = include_str!("../assets/report.html");

/// Appears once in the template, as the content of a `<script type="application/json">`.
pub const SLOT: &str = "@@REPLAY@@";

/// Writes the page with this replay in it. `json` is one JSON value.
///
/// A script element ends at the first `</script`, whatever it is the middle of, and `<!--` puts the
/// parser into a state in which it ends elsewhere. Outside of strings JSON has no `<`, so that every
/// `<` can be written as an escape, and neither can occur.
pub fn write(json: &str, out: &mut impl Write) -> io::Result<()> {
    // The build refuses a template in which the slot does not stand exactly once.
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
