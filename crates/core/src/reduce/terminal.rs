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
            if result.is_shorter_than(min) {
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
