//! What a client's model is told after the client compacted.

use bytes::Bytes;
use midfold::core::log::EventLog;
use midfold::formats::read::read;
use midfold::{Setup, without_messages};
use midfold_cli::inside::hooks::{NoText, after_compaction};

fn log(lines: &[String]) -> EventLog {
    let input = Bytes::from(lines.join("\n"));
    let conversation = read(&input, None).unwrap().conversations.remove(0);
    Setup::new().prepare(conversation).unwrap().log
}

fn told(log: &EventLog) -> String {
    after_compaction(log, "s", None, "midfold recall", " --store sqlite:a.db").unwrap()
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

#[test]
fn a_short_session_is_told_of_too_and_an_empty_one_is_not() {
    let one = log(&[r#"{"role":"user","content":"Say hi."}"#.to_owned()]);
    assert!(
        told(&one).starts_with("midfold keeps 1 message from before the compaction, word for word")
    );
    let nothing = without_messages(midfold::DialectKind::Anthropic, None, None, None);
    let empty = Setup::new().prepare(nothing).unwrap().log;
    let error = after_compaction(&empty, "s", None, "midfold recall", "").unwrap_err();
    assert!(matches!(error, NoText::Recap(_)), "{error}");
}
