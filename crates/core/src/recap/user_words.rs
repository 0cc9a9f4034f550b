//! Quotations of the user: finds narrations that put words into the user's mouth.
//!
//! Only one kind of claim about the user is checked: a quotation in a statement that names the user has to be in the
//! user's own messages. A narration may freely report what the user wanted or allowed. A rule that read such claims
//! out of prose would refuse honest narrations and protect nobody, because the recap says that it is reference.

use std::ops::Range;

use crate::log::EventLog;
use crate::passage::{self, Passage};
use crate::recap::quote;
use crate::recap::visible::visible;
use crate::result_words::{ResultWordFinder, in_results};
use crate::tools::ToolTable;

/// The user's words in the first `end` events, one text for each message, as a reader sees them.
pub(crate) fn messages(log: &EventLog, end: usize) -> Vec<String> {
    let users = log.events().iter().take(end).filter(|event| event.view.is_real_user());
    let typed = users.map(|event| passage::passages(event, &**log.dialect()));
    let finder = ResultWordFinder { tools: ToolTable::builtin(), dialect: &**log.dialect() };
    let events = &log.events()[..end.min(log.len())];
    let answered = in_results(events, finder).into_iter().map(|(_, passages)| passages);
    let all = typed.chain(answered);
    all.map(|passages| visible(&passage::joined(&passages, Passage::is_said)).into_owned())
        .collect()
}

/// The words that a person wrote in the covered part of a log.
pub(crate) struct UserWords {
    /// Each message in the form of `plain`; the earlier recap is one of the texts.
    texts: Vec<String>,
}

impl UserWords {
    /// The words of these messages, and of the earlier recap that a narration updates.
    pub(crate) fn of(messages: &[String], previous: Option<&str>) -> Self {
        let earlier = previous.iter().map(|text| plain(&visible(text)));
        Self { texts: earlier.chain(messages.iter().map(|text| plain(text))).collect() }
    }

    /// How many quotations in a statement about the user occur in no message.
    pub(crate) fn unsaid(&self, text: &str) -> usize {
        quotations(text).into_iter().filter(|quotation| !self.has(quotation)).count()
    }

    /// Whether one message of the user holds this quotation. A `…` in it may leave words out.
    fn has(&self, quotation: &str) -> bool {
        let wanted = plain(quotation);
        let parts: Vec<&str> = wanted
            .split('…')
            .map(|part| part.trim_matches(|c: char| !c.is_alphanumeric()))
            .filter(|part| !part.is_empty())
            .collect();
        // A quotation of marks alone says nothing that could be false.
        parts.is_empty() || self.texts.iter().any(|text| holds(text, &parts))
    }
}

/// Whether a text holds all parts, one after the other, each as whole words.
fn holds(text: &str, parts: &[&str]) -> bool {
    let mut from = 0;
    parts.iter().all(|part| {
        let hit = text[from..].match_indices(part).find(|(at, _)| {
            let (start, end) = (from + at, from + at + part.len());
            let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
            let cut = |edge: Option<char>, next: Option<char>| inside(edge) && inside(next);
            !cut(part.chars().next(), text[..start].chars().next_back())
                && !cut(part.chars().next_back(), text[end..].chars().next())
        });
        hit.is_some_and(|(at, _)| {
            from += at + part.len();
            true
        })
    })
}

/// The form for comparison: folded, without emphasis and inner quotation marks, and with one kind of dash and of
/// ellipsis.
fn plain(text: &str) -> String {
    // A replaced secret counts as words that are left out.
    let text = quote::fold(text).replace("[redacted]", "…").replace("[...]", "…");
    let text = text.replace("[…]", "…").replace("...", "…");
    let bare = text.chars().filter(|c| !matches!(c, '*' | '`' | '\\' | '"' | '“' | '”'));
    bare.map(|c| if matches!(c, '–' | '—') { '-' } else { c }).collect()
}

/// The quotations in a statement. Text between backticks is code and quotes nobody, unless the code span names the
/// user.
fn quotations(text: &str) -> Vec<&str> {
    let code: Vec<Range<usize>> = quote::code(text);
    let is_code = |range: &Range<usize>| {
        let around = code.get(code.partition_point(|code| code.end < range.end));
        around.is_some_and(|code| code.start <= range.start && !names_user(&text[code.clone()]))
    };
    let mut quoted = quote::ranges(text);
    let double = quoted.clone();
    let apart = |single: &Range<usize>| {
        let next = double.get(double.partition_point(|range| range.end <= single.start));
        next.is_none_or(|range| single.end <= range.start)
    };
    quoted.extend(quote::single(text).into_iter().filter(apart));
    quoted
        .into_iter()
        .filter(|range| !is_code(range))
        .map(|range| quote::inner(text, &range))
        .collect()
}

/// Whether a text names the user as a word of its own, and not inside a name (`user-selector.ts`).
pub(crate) fn names_user(text: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.split(|c: char| !inside(c)).any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.eq_ignore_ascii_case("user") || word.eq_ignore_ascii_case("end-user")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_words(texts: &[&str]) -> UserWords {
        UserWords { texts: texts.iter().map(|text| plain(text)).collect() }
    }

    #[test]
    fn a_quotation_of_the_user_is_the_users() {
        let words = user_words(&[
            "Don't touch `migrations/` -- I mean it.\nYes, you can delete the build folder!",
            "请修复登录错误，谢谢",
        ]);
        for (text, unsaid) in [
            ("The user: \"don’t touch migrations/\".", 0),
            ("The user: \"Don't touch … delete the build folder\".", 0),
            ("The user: \"Yes, you can delete ... folder!\"", 0),
            ("The user: \"delete … touch\".", 1),
            ("The user: \"you can delete the\", \"you may delete the\".", 1),
            ("The user: \"elete the build\".", 1),
            ("The user asked: 'delete the build folder'", 0),
            ("The user asked: 'delete the whole folder'", 1),
            ("The user's file isn't the team's.", 0),
            ("用户 user: 「修复登录错误」", 0),
            ("用户 user: 「删除备份」", 1),
            ("The user chose `\"type\": \"module\"`.", 0),
            ("`User: \"delete all\"`", 1),
            ("`user.name = \"x\"` of the user", 0),
        ] {
            assert_eq!(words.unsaid(text), unsaid, "{text}");
        }
        // A quotation may not be put together from two messages.
        assert_eq!(words.unsaid("\"delete the build folder … 谢谢\""), 1);
    }

    #[test]
    fn the_user_is_a_word() {
        for (text, names) in [
            ("User: x", true),
            ("the user's wish", true),
            ("**User** said", true),
            ("(user: x)", true),
            ("`user-selector.ts` and user_id and src/user/a.ts", false),
            ("AskUserQuestion, users", false),
        ] {
            assert_eq!(names_user(text), names, "{text}");
        }
    }
}
