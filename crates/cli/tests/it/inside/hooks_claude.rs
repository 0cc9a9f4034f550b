//! What a client's model is told after the client compacted.

use bytes::Bytes;
use midfold::core::log::EventLog;
use midfold::formats::read::read;
use midfold::{Setup, without_messages};
use midfold_cli::inside::hooks::{NoText, RecallCommand, after_compaction};

fn log(lines: &[String]) -> EventLog {
    let input = Bytes::from(lines.join("\n"));
    let conversation = read(&input, None).unwrap().conversations.remove(0);
    Setup::new().prepare(conversation).unwrap().log
}

fn recall() -> RecallCommand {
    let store = Some("sqlite:a.db".to_owned());
    RecallCommand { program: "midfold".to_owned(), session: "s".to_owned(), store }
}

fn told(log: &EventLog) -> String {
    after_compaction(log, None, &recall()).unwrap()
}

/// However long the session was, all of it is told of, and Claude Code shows all of the text.
#[test]
fn a_long_session_is_told_in_one_piece() {
    for turns in [3, 40, 400] {
        let log = log(&midfold_testkit::coding_session(7, turns));
        let text = told(&log);
        let (first, rest) = text.split_once("\n\n").unwrap();
        assert!(
            first.contains("`midfold recall find s WORDS --store sqlite:a.db` finds"),
            "{first}"
        );
        assert!(rest.starts_with("## Conversation Summary\n"), "{rest}");
        // The client keeps no message: the recap goes to the last one.
        let last = log.len() - 1;
        assert!(rest.contains(&format!(" to @{last}, ")), "{turns}: {rest}");
        assert!(rest.trim_end().ends_with(" Newer messages follow.]"), "{turns}: {rest}");
        assert!(text.encode_utf16().count() <= 9_000, "{turns}");
    }
}

/// Tokens of long words have more characters, and the newest messages are told of all the same.
#[test]
fn long_words_leave_out_nothing_at_the_end() {
    let words =
        ["international", "transportation", "infrastructure", "responsibilities", "administrative"];
    let mut lines = Vec::new();
    for turn in 0..200_usize {
        let sentence: Vec<_> =
            (0..25).map(|at| words[(turn * 7 + at * at) % words.len()]).collect();
        let [asked, said] = ["user", "assistant"].map(|role| {
            serde_json::json!({"role": role, "content": format!("Step {turn}: {}.", sentence.join(" "))})
        });
        lines.extend([asked.to_string(), said.to_string()]);
    }
    let text = told(&log(&lines));
    assert!(text.encode_utf16().count() <= 9_000, "{}", text.encode_utf16().count());
    assert!(text.contains("@398 user: Step 199"), "the newest words: {text}");
    let last = text.trim_end().lines().last().unwrap();
    assert!(last.starts_with("[End of recap ") && last.ends_with(']'), "{text}");
}

/// What a shell would read otherwise is quoted.
#[test]
fn the_commands_are_for_a_shell() {
    let one = log(&[r#"{"role":"user","content":"Say hi."}"#.to_owned()]);
    let recall =
        RecallCommand { program: "/my dir/midfold".into(), session: "a;b".into(), store: None };
    let text = after_compaction(&one, None, &recall).unwrap();
    assert!(text.contains("`'/my dir/midfold' recall find 'a;b' WORDS` finds"), "{text}");
}

#[test]
fn a_short_session_is_told_of_too_and_an_empty_one_is_not() {
    let one = log(&[r#"{"role":"user","content":"Say hi."}"#.to_owned()]);
    assert!(
        told(&one).starts_with("midfold keeps 1 message from before the compaction, word for word")
    );
    let nothing = without_messages(midfold::DialectKind::Anthropic, None, None, None);
    let empty = Setup::new().prepare(nothing).unwrap().log;
    let error = after_compaction(&empty, None, &recall()).unwrap_err();
    assert!(matches!(error, NoText::Recap(_)), "{error}");
}
