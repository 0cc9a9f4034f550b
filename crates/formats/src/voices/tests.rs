//! Tests of who speaks in a message.

use super::*;
use crate::wrappers::{INJECTED, KnownWrapper, OBSERVATIONS, STEERS, WrapperShape};

/// A text that a client would write for this entry.
fn sample(wrapper: &KnownWrapper) -> String {
    match wrapper.shape {
        WrapperShape::Element(name) => format!("<{name} x=\"1\">\n Always a </b> c\n</{name}>"),
        WrapperShape::Span(open, close) => format!("{open}\nAlways b\n{close}"),
        WrapperShape::Start(start) | WrapperShape::Line(start) => {
            format!("{start} and never more")
        }
        WrapperShape::End(end, _) => format!("always a.rs{end}"),
    }
}

fn said_texts(texts: &[&str]) -> Vec<String> {
    let spoken = passages(texts).into_iter().filter(Passage::is_said);
    spoken.map(|passage| passage.text).collect()
}

fn wrote(texts: &[&str]) -> Vec<String> {
    let wrote = passages(texts).into_iter().filter(|passage| passage.voice == Voice::User);
    wrote.map(|passage| passage.text).collect()
}

#[test]
fn every_entry_is_somebody_elses_alone_and_beside_the_users_words() {
    for (table, voice) in [(INJECTED, Voice::Client), (OBSERVATIONS, Voice::Tool)] {
        for wrapper in table {
            let text = sample(wrapper);
            let alone = passages(&[&text]);
            assert_eq!((alone.len(), alone[0].voice), (1, voice), "{text}");
            assert_eq!(said_texts(&[&text, "do it"]).len(), usize::from(voice == Voice::Client));
            assert_eq!(said_texts(&["Look.", &text]), ["Look."], "{text}");
            match wrapper.shape {
                WrapperShape::Element(_) => {
                    assert_eq!(said_texts(&[&format!("Look: {text} ok?")]), ["Look:", "ok?"]);
                    assert_eq!(said_texts(&[&format!(" {text}\n{text} ")]), [""; 0]);
                    assert_eq!(said_texts(&[&format!("{text} do it")]), ["do it"]);
                    // The wrapper is not closed, and still is nobody's words.
                    assert_eq!(wrote(&[text.trim_end_matches('>')]), [""; 0], "{text}");
                }
                WrapperShape::Span(..) | WrapperShape::Line(_) => {
                    assert_eq!(said_texts(&[&format!("Look.\n{text}")]), ["Look."], "{text}");
                }
                WrapperShape::Start(_) | WrapperShape::End(..) => {}
            }
        }
    }
}

/// A message of each client, with the words that its user wrote in it.
const CLIENTS: &[(&str, &[&str], &[&str])] = &[
    ("plain", &["Fix <b> it: a > b."], &["Fix <b> it: a > b."]),
    ("claude-code", &["<system-reminder>\nAlways x.\n</system-reminder>", "Fix it."], &["Fix it."]),
    ("claude-code", &["Fix it.\n<system-reminder>\nAlways x.\n</system-reminder>"], &["Fix it."]),
    ("codex", &["<environment_context>\n<cwd>/a</cwd>\n</environment_context>"], &[]),
    (
        "cline",
        &["<task>\nFix it.\n</task>", "<environment_details>x</environment_details>"],
        &["Fix it."],
    ),
    (
        "cline",
        &[
            "[read_file for 'a.md'] Result:",
            "Always x.",
            "<environment_details>x</environment_details>",
        ],
        &[],
    ),
    (
        "cline",
        &["[execute_command for 'cd a\nls'] Result:\nAlways x.\n<feedback>Never y.</feedback>"],
        &[],
    ),
    (
        "cline",
        &["[ask_followup_question for 'Which?'] Result:", "<answer>\nThe second.\n</answer>"],
        &["The second."],
    ),
    (
        "roo-code",
        &[
            "[attempt_completion] Result:",
            "He said:\n<feedback>No.\n~~~\nAlways x.\n~~~</feedback>",
        ],
        &["No."],
    ),
    ("cline", &["[x] Result of it: fine"], &["[x] Result of it: fine"]),
    ("openhands", &["EXECUTION RESULT of [execute_bash]:\nAlways x."], &[]),
    ("swe-agent", &["OBSERVATION:\nAlways x."], &[]),
    ("smolagents", &["Observation:\nAlways x."], &[]),
    (
        "opencode",
        &[
            "See @a.md",
            "Called the Read tool with the following input: {}",
            "<file>\n1| Always x.\n</file>",
        ],
        &["See @a.md"],
    ),
    (
        "gemini-cli",
        &[
            "See @a.md",
            "\n--- Content from referenced files ---\nAlways x.\n--- End of content ---",
        ],
        &["See @a.md"],
    ),
    (
        "cursor",
        &["<attached_files>\nAlways x.\n</attached_files>\n<user_query>\nFix it.\n</user_query>"],
        &["Fix it."],
    ),
    ("any", &["Look:\n<file path=\"a.md\">\nAlways x.\n</file>\nOk?"], &["Look:", "Ok?"]),
    ("any", &["Look:\n~~~\nAlways x.\n```\n~~~~\nOk?"], &["Look:", "Ok?"]),
    ("any", &["Look:\n```md\n<system-reminder>\nAlways x."], &["Look:"]),
    ("any", &["> Always x.\nWhy?"], &["Why?"]),
    ("any", &["Use ```a``` here."], &["Use ```a``` here."]),
];

#[test]
fn what_a_user_wrote_is_told_from_the_rest_for_each_client() {
    for (client, texts, words) in CLIENTS {
        assert_eq!(wrote(texts), *words, "{client}: {texts:?}");
    }
    assert_eq!(said_texts(&["Look:\n```\nx\n```"]), ["Look:", "```\nx\n```"]);
    assert_eq!(said_texts(&["> a\n> b\nWhy?"]), ["> a\n> b", "Why?"]);
}

#[test]
fn a_task_that_ends_on_a_prompt_is_a_task() {
    let task = "ISSUE: x\nINSTRUCTIONS: fix it\n(Open file: n/a)\nbash-$";
    assert_eq!(wrote(&[task]), [task]);
}

#[test]
fn open_tags_are_looked_for_once() {
    let text = "<file>\n<document>\n".repeat(20_000);
    assert_eq!(wrote(&[&text]), [""; 0]);
}

#[test]
fn wrappers_inside_wrappers_do_not_exhaust_the_stack() {
    for steer in STEERS {
        let (open, close) = (steer.open, [steer.close, steer.end, "\n"].concat());
        let one = format!("{open}Use tabs.{close}");
        assert_eq!(wrote(&[&one]), ["Use tabs."], "{}", steer.client);
        let two = format!("{open}Look:\n{open}Use tabs.{close}\n{close}");
        assert!(wrote(&[&two]).iter().any(|text| text.contains("Use tabs.")), "{two}");
        let deep = [open.repeat(20_000), "Use tabs.".to_owned(), close.repeat(20_000)].concat();
        assert!(wrote(&[&deep]).iter().any(|text| text.contains("Use tabs.")), "{}", steer.client);
    }
    let (open, close) = ("[ask_followup_question for 'a'] Result:\n<answer>\n", "\n</answer>");
    let deep = [open.repeat(20_000), "Yes.".to_owned(), close.repeat(20_000)].concat();
    assert!(!passages(&[&deep]).is_empty());
}

#[test]
fn open_wrappers_of_words_are_looked_for_in_bounded_time() {
    for steer in STEERS {
        let text = steer.open.repeat(40_000);
        assert!(!passages(&[&text]).is_empty());
    }
}

/// What a client says beside the user is recognised by its form, in a block of its own, before the user's words and alone.
#[test]
fn forms_of_what_clients_add_are_nobodys_words() {
    for text in [
        "UserPromptSubmit hook additional context: Always use tabs.",
        "SessionStart:startup hook success: Always use tabs.",
        "PreToolUse:Bash hook error: Always use tabs.",
        "Stop hook feedback:\n- [check.sh]: Always run the tests.",
        "System reminder: Always use tabs.",
        "[Automated message] Always use tabs.",
        "Exit code: 1\nAlways use tabs.",
        "exitcode: 0 (execution succeeded)\nCode output: Always use tabs.",
        "<!-- system: Always use tabs. -->",
        "---\nname: skill\ndescription: Always use tabs\n---",
        "<<<EXTERNAL_UNTRUSTED_CONTENT>>>\nSource: Email\n---\nAlways x.\n<<<END_EXTERNAL_UNTRUSTED_CONTENT>>>",
    ] {
        assert_eq!(wrote(&[text]), [""; 0], "{text}");
        assert_eq!(wrote(&[text, "Fix it."]), ["Fix it."], "{text}");
        assert_eq!(wrote(&[&format!("{text}\n\nFix it.")]), ["Fix it."], "{text}");
    }
    let info = "<workspace_info>\nAlways x.\n</workspace_info>\n<environment_info>\nAlways y.\n</environment_info>";
    assert_eq!(wrote(&[info, "Fix it."]), ["Fix it."]);
    assert_eq!(wrote(&[info]).len(), 2, "alone it may be a task that was laid out");
    for words in [
        "The hook fails: look at it.",
        "My git hook is slow: why?",
        "Exit codes matter here.",
        "---\nDo it now.\n---",
        "<<<<<<< HEAD",
        "System tray icons are missing.",
    ] {
        assert_eq!(wrote(&[words]).concat().is_empty(), words.starts_with("<<<<"), "{words}");
    }
}

#[test]
fn what_a_user_types_after_a_command_to_compact_is_no_task() {
    let typed = |name: &str| {
        format!(
            "<command-name>/{name}</command-name>\n<command-message>{name}</command-message>\n\
             <command-args>keep the list\n> and this\nas a table</command-args>"
        )
    };
    for name in ["compact", "compress", "condense", "summarize"] {
        assert_eq!(said_texts(&[&typed(name)]), [""; 0], "{name}");
        assert_eq!(
            said_texts(&[&typed(name), "Go on with the fix."]),
            ["Go on with the fix."],
            "{name}"
        );
    }
    assert!(said_texts(&[&typed("plan")])[0].starts_with("/plan keep the list"));
}

#[test]
fn brackets_of_a_users_text_are_no_label_of_a_call() {
    for words in [
        "[urgent] Please rename parse_row.\nSee the [test] Result: it failed.",
        "[urgent] Please rename parse_row. See the [test] Result: it failed.",
        "[wip] Please rename parse_row.\n\n[lint Result: fine",
        "[note for Bob] Rename parse_row: the [test] Result: it failed.",
        "[note for 'Bob'] Rename parse_row.\nSee the [test] Result: it failed.",
    ] {
        assert_eq!(wrote(&[words]), [words], "{words}");
    }
    for label in [
        "[list_files for 'src'] Result:",
        "[search_files for 'a[0]' in '*.rs'] Result:",
        "[execute_command for 'cd a\n[ -f x ] && echo ]'] Result:",
        "[execute_command for 'print(d['x'], \"[\")'] Result:",
        "[read_file for 'a.rs'. Reading several files at once is better.] Result:",
        "[attempt_completion] Result:",
    ] {
        assert_eq!(wrote(&[&format!("{label}\nAlways x.")]), [""; 0], "{label}");
    }
}

#[test]
fn a_sentence_about_an_element_is_whole() {
    for words in [
        "In the parser the <file> element is wrong: never delete it.\nEach needs its </file> as well.",
        "In the parser the <skill name=\"a\"> element is wrong.\nEach needs its </skill> as well.",
        "<documents> is wrong: never delete it.\nEach needs its </documents> as well.",
        "Why does `<system-reminder>` never close?\nThere is a `</system-reminder>` in the log.",
        "Why does ``a ` <task>`` and `</task>` not close?",
        "The <file/> element is wrong. Each needs its </file>.",
    ] {
        assert_eq!(wrote(&[words]), [words], "{words}");
    }
    // A backtick alone opens no code.
    let text = "The ` key: <ide_selection>Always x.</ide_selection> Ok?";
    assert_eq!(wrote(&[text]), ["The ` key:", "Ok?"]);
    let marks = "`".repeat(9) + &"`<".repeat(20_000) + &"``<".repeat(20_000);
    assert!(!passages(&[&marks]).is_empty());
}

#[test]
fn a_tag_that_closes_itself_ends_there() {
    for tag in ["<ide_selection/>", "<ide_selection a=\"b\" />", "<ns:view/>", "<view a=\"b\"/>"] {
        let name = tag[1..].split(['/', ' ']).next().unwrap();
        let text = format!("{tag}\nNever touch x.\n<{name}>abc</{name}>\nThanks.");
        assert_eq!(wrote(&[&text]), ["Never touch x.", "Thanks."], "{text}");
        let nested = format!("<{name}>\n{tag}\n</{name}>\nNever touch x.\n<b_c></b_c>\n</{name}>");
        assert_eq!(wrote(&[&nested])[0].lines().next(), Some("Never touch x."), "{nested}");
    }
}

#[test]
fn the_order_of_blocks_is_no_matter_of_whose_words_they_are() {
    let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b";
    let words = "Never touch the x file.";
    let mut voices = Vec::new();
    for texts in [&[diff, words][..], &[words, diff], &[diff, words, diff]] {
        let mut parts = split(texts);
        parts.sort_by_key(|part| part.text);
        parts.dedup();
        voices.push(parts.iter().map(|part| part.voice).collect::<Vec<_>>());
    }
    assert_eq!(voices, vec![vec![Voice::User, Voice::Shown]; 3]);
    assert_eq!(split(&[diff, diff])[0].voice, Voice::Tool);
}

#[test]
fn indented_code_is_shown_behind_any_line_break_and_any_wrapper() {
    let code = "Look at this:\n\n    int main() {\n      always();\n    }\n\nFix the leak.";
    let blanks = code.replace("this:\n\n", "this:\n  \n");
    for text in [code.to_owned(), code.replace('\n', "\r\n"), blanks] {
        assert_eq!(wrote(&[&text]), ["Look at this:", "Fix the leak."], "{text:?}");
    }
    for gap in ["\n", "\r\n", "\n\n"] {
        let file = "<ide_opened_file>a.rs</ide_opened_file>";
        let text = format!("{file}{gap}    int main() {{}}\n\nFix the leak.");
        assert_eq!(wrote(&[&text]), ["Fix the leak."], "{text:?}");
    }
    // The second line of a sentence may be indented.
    assert_eq!(wrote(&["Fix it\n    and test it."]), ["Fix it\n    and test it."]);
}

#[test]
fn each_answer_of_a_person_is_the_persons() {
    let answers: String = (0..40).map(|n| format!("<answer>Use {n}.</answer>\n")).collect();
    let text = format!("[ask_followup_question for 'Which?'] Result:\n{answers}");
    assert_eq!(wrote(&[&text]).len(), 40);
    let open = "<answer>".repeat(50_000) + &"<feedback>".repeat(50_000);
    assert_eq!(wrote(&["[attempt_completion] Result:", &open]), [""; 0]);
}
