use midfold_core::view::TextOrigin::Injected;

use super::{codes, events, fixture, origins, outcome};

#[test]
fn a_transcript_is_read_with_its_calls() {
    let found = outcome(fixture("cursor.jsonl"));
    let conversation = &found.conversations[0];
    assert_eq!(
        events(conversation),
        [
            r#"{"role":"user","content":"<system_reminder>\nThe kite editor is open.\n</system_reminder>"}"#,
            r#"{"role":"user","content":"<timestamp>Monday</timestamp>\n<user_query>\nUSERWORD1: the kite pulls left; never cut the line.\n</user_query>"}"#,
            r#"{"role":"assistant","content":"AGENTWORD1: I look at both.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"Read","arguments":"{\"path\":\"kite.py\"}"}},{"id":"call_2","type":"function","function":{"name":"Shell","arguments":"{\"command\":\"make kite\"}"}}]}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_3","type":"function","function":{"name":"StrReplace","arguments":"{\"path\":\"kite.py\",\"old_string\":\"left\",\"new_string\":\"both\"}"}}]}"#,
            r#"{"role":"assistant","content":"AGENTWORD2: It flies straight."}"#,
            r#"{"role":"user","content":"<user_query>\nUSERWORD2: and the tail?\n</user_query>"}"#,
        ]
    );
    assert_eq!(origins(conversation)[..2], [Some(Injected), None]);
    assert_eq!(codes(&found), ["no-results", "not-sent"]);
}

#[test]
fn a_persons_words_may_begin_with_a_tag() {
    let line = |text: &str| {
        serde_json::json!({"role": "user", "message": {"content": [{"type": "text", "text": text}]}})
            .to_string()
    };
    for (text, origin) in [
        ("<div> is not centred", None),
        ("<li>a</li>\nis not closed", None),
        ("<system_reminder>\nnow\n</system_reminder>", Some(Injected)),
    ] {
        assert_eq!(origins(&outcome(&line(text)).conversations[0]), [origin], "{text}");
    }
}

/// A whole text repeats its pieces; a piece, and a line of a transcript, may say the same as the one before.
#[test]
fn a_text_is_told_once_and_a_word_as_often_as_it_was_said() {
    let line = |text: &str, marks: &str| {
        format!(
            r#"{{"type":"assistant","session_id":"c","message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}{marks}}}"#
        )
    };
    let piece = |text: &str| line(text, r#","timestamp_ms":1"#);
    let told = |lines: &[String]| {
        let head = r#"{"type":"thinking","subtype":"completed","session_id":"c"}"#;
        let found = outcome(&[&[head.to_owned()], lines].concat().join("\n"));
        events(&found.conversations[0]).join(" ")
    };
    let call = r#"{"type":"tool_call","subtype":"started","call_id":"t","tool_call":{"readToolCall":{"args":{}}}}"#;
    let said = r#"{"role":"assistant","content":"haha"}"#;
    assert_eq!(told(&[piece("ha"), piece("ha"), line("haha", "")]), said);
    // Older streams mark no piece.
    assert_eq!(told(&["h", "aha", "haha"].map(|text| line(text, ""))), said);
    // The text at the end of a turn holds what was said before a call as well.
    let turn = [
        piece("I "),
        piece("look."),
        line("I look.", r#","timestamp_ms":1,"model_call_id":"m""#),
        call.to_owned(),
        piece("It "),
        piece("flies."),
        line("I look.It flies.", ""),
    ];
    let told = told(&turn);
    assert_eq!(told.matches("I look.").count(), 1, "{told}");
    assert!(told.ends_with(r#"{"role":"assistant","content":"It flies."}"#), "{told}");
    let once = r#"{"role":"assistant","message":{"content":[{"type":"text","text":"ok"}]}}"#;
    let found = outcome(&[once, once].join("\n"));
    assert_eq!(events(&found.conversations[0]).join(" ").matches("ok").count(), 2);
}

#[test]
fn a_stream_is_read_with_what_its_calls_gave_back() {
    let found = outcome(fixture("cursor-stream.jsonl"));
    let conversation = &found.conversations[0];
    assert_eq!(conversation.id.as_deref(), Some("c-11"));
    assert_eq!(conversation.envelope.model.as_deref(), Some("Composer 2"));
    assert_eq!(
        events(conversation),
        [
            r#"{"role":"user","content":"USERWORD1: the kite pulls left; never cut the line."}"#,
            r#"{"role":"assistant","content":"AGENTWORD2: I look.","reasoning_content":"AGENTWORD1 the tail first","tool_calls":[{"id":"t1","type":"function","function":{"name":"read","arguments":"{\"path\":\"kite.py\"}"}},{"id":"t2","type":"function","function":{"name":"shell","arguments":"{\"command\":\"make kite\"}"}},{"id":"t3","type":"function","function":{"name":"mcp_wind","arguments":"{\"at\":\"hill\"}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"t1","name":"read","content":"TOOLWORD2 turn = left"}"#,
            r#"{"role":"tool","tool_call_id":"t2","name":"shell","content":"{\"failure\":{\"exitCode\":2,\"stderr\":\"TOOLWORD1 no rule\"}}"}"#,
            r#"{"role":"tool","tool_call_id":"t3","name":"mcp_wind","content":"TOOLWORD3 calm"}"#,
            r#"{"role":"assistant","content":"AGENTWORD3: It flies."}"#,
        ]
    );
    assert_eq!(codes(&found), [""; 0]);
}
