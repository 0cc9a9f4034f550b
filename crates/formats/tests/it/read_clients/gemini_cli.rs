use bytes::Bytes;
use midfold_core::view::TextOrigin::{Injected, Recap};
use midfold_formats::read::{TranscriptFormat, detect, read};

use super::{codes, events, fixture, origins, outcome, recorded};

#[test]
fn a_session_of_one_value_is_read_as_the_client_resumes_it() {
    let found = outcome(fixture("gemini-cli.json"));
    let conversation = &found.conversations[0];
    assert_eq!(conversation.id.as_deref(), Some("0f1e2d3c-aaaa-bbbb-cccc-000000000001"));
    assert_eq!(conversation.envelope.model.as_deref(), Some("gemini-2.5-flash"));
    assert_eq!(
        events(conversation),
        [
            r#"{"role":"user","parts":[{"text":"USERWORD1: the ferry timetable drops the last boat; see @harbour.ts and leave harbour.test.ts alone."},{"text":"\n--- Content from referenced files ---"},{"text":"\nContent from @harbour.ts:\n"},{"text":"boats.slice(0, -1)"},{"text":"\n--- End of content ---"}]}"#,
            r#"{"role":"model","parts":[{"text":"**Plan** AGENTWORD2 read, then run","thought":true},{"text":"AGENTWORD1: I look at both."},{"functionCall":{"id":"read_file-1","name":"read_file","args":{"absolute_path":"/srv/harbour.ts"}}},{"functionCall":{"id":"shell-2","name":"run_shell_command","args":{"command":"npm test"}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"read_file-1","name":"read_file","response":{"output":"TOOLWORD1 boats.slice(0, -1)"}}},{"functionResponse":{"id":"shell-2","name":"run_shell_command","response":{"output":"TOOLWORD2 Exit Code: 1"}}}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"id":"edit-3","name":"replace","args":{"file_path":"/srv/harbour.ts","old_string":"slice(0, -1)","new_string":"slice()"}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"edit-3","name":"replace","response":{"output":"TOOLWORD3 1 replacement"}}}]}"#,
            r#"{"role":"model","parts":[{"text":"AGENTWORD3: The last boat is back."}]}"#,
            r#"{"role":"user","parts":[{"text":"USERWORD2: run the tests again."}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"id":"shell-4","name":"run_shell_command","args":{"command":"npm test"}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"shell-4","name":"run_shell_command","response":{"error":"TOOLWORD4 the user cancelled it"}}}]}"#,
        ]
    );
    assert_eq!(origins(conversation)[..3], [None, None, None]);
    let usage = conversation.events[1].usage.unwrap();
    assert_eq!((usage.prompt, usage.output, usage.cache_read), (900, 30, 100));
    assert_eq!(codes(&found), ["not-sent"]);
    assert!(found.problems[0].detail.starts_with("3 "), "{}", found.problems[0].detail);
}

#[test]
fn replacements_and_rewinds_are_followed() {
    let found = outcome(fixture("gemini-cli.jsonl"));
    let conversation = &found.conversations[0];
    assert_eq!(
        events(conversation),
        [
            r#"{"role":"user","parts":[{"text":"<session_context>\nThis is the Gemini CLI.\n</session_context>"}]}"#,
            r#"{"role":"user","parts":[{"text":"<state_snapshot>AGENTWORD1 the crane is oiled</state_snapshot>"}]}"#,
            r#"{"role":"model","parts":[{"text":"Got it. Thanks for the additional context!"}]}"#,
            r#"{"role":"user","parts":[{"text":"USERWORD1: the crane squeaks again, and never touch the brake."}]}"#,
            r#"{"role":"model","parts":[{"text":"AGENTWORD3 the brake stays","thought":true},{"text":"AGENTWORD2: listening."},{"functionCall":{"id":"listen-1","name":"listen","args":{"at":"crane"}}},{"functionCall":{"id":"look-2","name":"look","args":{"at":"crane"}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"listen-1","name":"listen","response":{"output":"TOOLWORD1 squeak"}}},{"functionResponse":{"id":"look-2","name":"look","response":{"output":"TOOLWORD2 rust"}}}]}"#,
            r#"{"role":"model","parts":[{"text":"AGENTWORD4 scrape it","thought":true,"thoughtSignature":"c2ln"},{"text":"AGENTWORD5: I scrape the rust."},{"functionCall":{"id":"look-3","name":"look","args":{"at":"hook"}},"thoughtSignature":"c2lnMg=="}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"look-3","name":"look","response":{"output":"TOOLWORD3 clean"}}},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}"#,
            r#"{"role":"user","parts":[{"text":"USERWORD2: thanks. Now the hook, please."}]}"#,
        ]
    );
    assert_eq!(origins(conversation)[..4], [Some(Injected), Some(Recap), None, None]);
    assert_eq!(codes(&found), ["compacted-before", "abandoned-branch"]);

    let all = recorded(fixture("gemini-cli.jsonl")).conversations;
    assert_eq!(all.len(), 2);
    let before = events(&all[0]).concat();
    assert!(before.contains("GONEWORD1") && before.contains("GONEWORD2"));
    assert!(!before.contains("AGENTWORD1"));
}

#[test]
fn checkpoints_are_what_is_sent_and_typed_lines_are_refused_in_words() {
    let contents = r#"[{"role":"user","parts":[{"text":"<session_context>x</session_context>"}]},{"role":"user","parts":[{"text":"go"}]}]"#;
    for file in [
        format!(r#"{{"history":{contents},"authType":"oauth"}}"#),
        format!(
            r#"{{"history":[{{"id":1,"type":"user","text":"go"}}],"clientHistory":{contents},"toolCall":{{"name":"replace","args":{{}}}}}}"#
        ),
    ] {
        let found = outcome(&file);
        let conversation = &found.conversations[0];
        assert_eq!(conversation.format, TranscriptFormat::GeminiCli);
        assert_eq!(format!("[{}]", events(conversation).join(",")), contents);
        assert_eq!(origins(conversation), [Some(Injected), None]);
    }
    let logs = r#"[{"sessionId":"s","messageId":0,"type":"user","message":"go","timestamp":"2026-01-01T00:00:00Z"}]"#;
    let error = read(&Bytes::from(logs), None).unwrap_err().to_string();
    assert_eq!(
        error,
        "line 1: 1 lines of a `logs.json` hold what was typed and no answers: give \
         `chats/session-*` of the same project"
    );
    assert_eq!(
        detect(br#"{"history":[{"role":"user","content":"x"}]}"#),
        Some(TranscriptFormat::SweAgent)
    );
}
