use bytes::Bytes;
use midfold_core::view::TextOrigin::{Injected, Recap};
use midfold_formats::read::read;

use super::{codes, events, fixture, origins, outcome, recorded};

const SENT: [&str; 15] = [
    r#"{"role":"user","content":"What did we do so far?"}"#,
    r#"{"role":"assistant","content":"AGENTWORD3 recap: the mill stops on an empty hopper; the tests stay."}"#,
    r#"{"role":"user","content":[{"type":"text","text":"USERWORD1: look at the picture of the log, too."},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}"#,
    r#"{"role":"user","content":"<path>/srv/mill/notes.txt</path> grind slowly"}"#,
    r#"{"role":"assistant","content":"AGENTWORD2: Two looks at once.","reasoning_content":"AGENTWORD1: the empty case first","tool_calls":[{"id":"call_b","type":"function","function":{"name":"read","arguments":"{\"filePath\":\"hopper.py\"}"}},{"id":"call_c","type":"function","function":{"name":"bash","arguments":"{\"command\":\"python -m mill\"}"}}]}"#,
    r#"{"role":"tool","tool_call_id":"call_b","name":"read","content":[{"type":"text","text":"TOOLWORD1 def feed():"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#,
    r#"{"role":"tool","tool_call_id":"call_c","name":"bash","content":"TOOLWORD2: no module named mill"}"#,
    r#"{"role":"user","content":"Continue if you have next steps."}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_d","type":"function","function":{"name":"edit","arguments":"{\"filePath\":\"hopper.py\",\"oldString\":\"def feed():\",\"newString\":\"def feed(wait=True):\"}"}}]}"#,
    r#"{"role":"tool","tool_call_id":"call_d","name":"edit","content":"TOOLWORD3 edit applied"}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_e","type":"function","function":{"name":"read","arguments":"{\"filePath\":\"hopper.py\"}"}}]}"#,
    r#"{"role":"tool","tool_call_id":"call_e","name":"read","content":"[Old tool result content cleared]"}"#,
    r#"{"role":"assistant","content":"AGENTWORD4: It waits now."}"#,
    r#"{"role":"user","content":"USERWORD2: good. Now run it, please."}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_f","type":"function","function":{"name":"bash","arguments":"{\"command\":\"python mill.py\"}"}}]}"#,
];
#[test]
fn an_export_is_read_as_the_client_sends_it() {
    for name in ["opencode.json", "opencode-storage.jsonl"] {
        let found = outcome(fixture(name));
        assert_eq!(found.conversations.len(), 1, "{name}");
        let conversation = &found.conversations[0];
        assert_eq!(conversation.id.as_deref(), Some("ses_41aa0001"));
        assert_eq!(conversation.envelope.model.as_deref(), Some("pine-2"));
        let sent = events(conversation);
        assert_eq!(sent[..15], SENT, "{name}");
        assert!(conversation.events.iter().any(|event| event.failed), "{name}");
        assert_eq!(
            sent[15..],
            [
                r#"{"role":"tool","tool_call_id":"call_f","name":"bash","content":"[Tool execution was interrupted]"}"#
            ]
        );
        let mut expected = vec![None; 16];
        (expected[0], expected[1], expected[3], expected[7]) =
            (Some(Injected), Some(Recap), Some(Injected), Some(Injected));
        assert_eq!(origins(conversation), expected);
        let used: Vec<_> = conversation.events.iter().filter_map(|e| e.usage).collect();
        let used: Vec<_> = used.iter().map(|u| (u.prompt, u.output, u.cache_read)).collect();
        assert_eq!(used, [(2000, 60, 0), (1510, 100, 300), (700, 20, 0), (800, 25, 0)]);
        let mut told = codes(&found);
        told.sort_unstable();
        assert_eq!(told, ["abandoned-branch", "cleared-outputs", "compacted-before", "not-sent"]);
    }
}

#[test]
fn a_part_alone_is_refused_in_words() {
    let part = fixture("opencode-storage.jsonl").lines().last().unwrap();
    let error = read(&Bytes::from(part), None).unwrap_err().to_string();
    assert!(
        error.starts_with("line 1: 1 parts are of messages that are not there: give"),
        "{error}"
    );
}

#[test]
fn the_record_has_what_was_sent_before_the_compaction() {
    let found = recorded(fixture("opencode.json"));
    assert_eq!(found.conversations.len(), 2);
    let before = events(&found.conversations[0]).concat();
    assert!(before.contains("GONEWORD1") && before.contains("USERWORD1"));
    assert!(!before.contains("AGENTWORD3"));
    let after = events(&found.conversations[1]).concat();
    assert!(after.contains("LATEWORD1") && !after.contains("GONEWORD5"));
    assert!(!codes(&found).contains(&"compacted-before"));
}

/// The client counts a step at its end. A step that a person broke off has no counts, not those of the step before.
#[test]
fn a_step_that_was_broken_off_has_no_counts() {
    let tokens = |input: u64| {
        format!(
            r#""tokens":{{"input":{input},"output":5,"reasoning":0,"cache":{{"read":0,"write":0}}}}"#
        )
    };
    let whole = |parts: &str| {
        let error = r#""error":{"name":"MessageAbortedError","data":{}}"#;
        let of_message = tokens(70);
        let text = format!(
            r#"{{"info":{{"id":"ses_1","version":"1","time":{{"created":1}}}},"messages":[
                {{"info":{{"id":"msg_1","sessionID":"ses_1","role":"user"}},"parts":[{{"id":"prt_1","type":"text","text":"go"}}]}},
                {{"info":{{"id":"msg_2","sessionID":"ses_1","role":"assistant","parentID":"msg_1",{error},{of_message}}},"parts":[{parts}]}}]}}"#
        );
        let found = outcome(&text);
        let prompts = found.conversations[0].events.iter().map(|it| it.usage.map(|it| it.prompt));
        prompts.collect::<Vec<_>>()
    };
    let call = r#"{"id":"prt_2","type":"tool","callID":"c","tool":"read","state":{"status":"completed","input":{},"output":"x"}}"#;
    let text = r#"{"id":"prt_4","type":"text","text":"It is"}"#;
    let finish = format!(r#"{{"id":"prt_3","type":"step-finish",{}}}"#, tokens(70));
    assert_eq!(whole(&format!("{call},{finish},{text}")), [None, Some(70), None, None]);
    // Older sessions count the message alone.
    assert_eq!(whole(text), [None, Some(70)]);
}
