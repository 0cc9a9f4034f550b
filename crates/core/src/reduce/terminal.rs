//! `terminal`: keeps what a terminal would finally show. Progress that is overwritten by carriage returns becomes its
//! last state, and ANSI sequences are removed. Little is lost.

use super::{Middle, MiddleBudget, Reducer, ReducerState};
use crate::policy::ReducerName;
use crate::screen::shown;

/// The reducer `terminal`.
pub struct TerminalReducer;

impl Reducer for TerminalReducer {
    fn name(&self) -> ReducerName {
        ReducerName::Terminal
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        _: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a> {
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
        state
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
