//! `terminal`: what a terminal would show. Carriage-return progress collapses to its last state,
//! ANSI sequences go. Nearly lossless.

use super::{Middle, Reducer, State};
use crate::policy::ReducerName;

/// See the module.
pub struct Terminal;

impl Reducer for Terminal {
    fn name(&self) -> ReducerName {
        ReducerName::Terminal
    }

    fn reduce(&self, middle: &mut Middle<'_>, _budget: u64, state: &State<'_>) {
        let min = state.policy.terminal.min_chars;
        for (at, index) in middle.open_results() {
            let result = &middle.results()[index];
            if result.view.outer.len() < min {
                continue;
            }
            let text = result.view.text(&result.event.bytes);
            if memchr::memchr2(b'\r', 0x1b, text.as_bytes()).is_some() {
                let shown = shown(&text);
                middle.replace(at, shown, ReducerName::Terminal, "progress-collapsed");
            }
        }
    }
}

/// The text as a terminal shows it in the end.
pub(crate) fn shown(text: &str) -> String {
    let plain = strip_ansi(text);
    let mut out = String::with_capacity(plain.len());
    for (n, line) in plain.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        out.push_str(line.rsplit('\r').find(|part| !part.is_empty()).unwrap_or(""));
    }
    out
}

/// Removes CSI, OSC and two-byte escape sequences.
fn strip_ansi(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        rest = after_escape(&rest[at + 1..]);
    }
    out.push_str(rest);
    out
}

fn after_escape(rest: &str) -> &str {
    let mut chars = rest.chars();
    match chars.next() {
        Some('[') => {
            let end = rest[1..].find(|c: char| ('@'..='~').contains(&c));
            end.map_or("", |end| &rest[end + 2..])
        }
        Some(']') => match rest.find(['\u{7}', '\u{1b}']) {
            Some(end) if rest[end..].starts_with('\u{7}') => &rest[end + 1..],
            Some(end) => rest[end + 1..].strip_prefix('\\').unwrap_or(&rest[end + 1..]),
            None => "",
        },
        Some(_) => chars.as_str(),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn collapses_progress_and_strips_colours() {
        assert_eq!(shown("a 10%\ra 50%\ra 100%\nok\r\n"), "a 100%\nok\n");
        assert_eq!(shown("\u{1b}[1;31merror\u{1b}[0m: no"), "error: no");
        assert_eq!(shown("\u{1b}]0;title\u{7}x\u{1b}(B"), "xB");
        assert_eq!(shown("cut \u{1b}[12"), "cut ");
    }
}
