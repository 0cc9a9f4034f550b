use midfold_core::view::TextOrigin::{Injected, Recap};

use super::{codes, events, fixture, origins, outcome, recorded, told};

#[test]
fn a_context_leaves_as_it_is_but_for_thoughts() {
    let found = outcome(fixture("kimi-context.jsonl"));
    let conversation = &found.conversations[0];
    assert_eq!(conversation.envelope.system.as_deref(), Some(&br#""You bake.""#[..]));
    let lines: Vec<_> = fixture("kimi-context.jsonl").lines().collect();
    let sent = events(conversation);
    let kept = [2, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14];
    assert_eq!(sent.len(), kept.len());
    for (event, line) in sent.iter().zip(kept).filter(|(_, line)| *line != 7) {
        assert_eq!(*event, lines[line]);
    }
    assert_eq!(
        sent[4],
        r#"{"role":"assistant","content":"AGENTWORD3: Two looks.","reasoning_content":"AGENTWORD2 heat or time","tool_calls":[{"type": "function", "id": "w1", "function": {"name": "ReadFile", "arguments": "{\"path\": \"loaf.py\"}"}}, {"type": "function", "id": "w2", "function": {"name": "Shell", "arguments": "{\"command\": \"bake\"}"}}]}"#
    );
    let mut expected = vec![None; 11];
    (expected[0], expected[1], expected[3]) = (Some(Recap), Some(Injected), Some(Injected));
    assert_eq!(origins(conversation), expected);
    assert_eq!(codes(&found), [""; 0]);
}

#[test]
fn a_wire_is_put_together() {
    let found = outcome(fixture("kimi-wire.jsonl"));
    assert_eq!(found.conversations.len(), 2);
    assert_eq!(
        events(&found.conversations[0]),
        [
            r#"{"role":"user","content":"USERWORD1: the loaf is pale; never open the door."}"#,
            r#"{"role":"assistant","content":"AGENTWORD2: Two looks.","reasoning_content":"AGENTWORD1 heat or time","tool_calls":[{"id":"x1","type":"function","function":{"name":"ReadFile","arguments":"{\"path\":\"loaf.py\"}"}},{"id":"x2","type":"function","function":{"name":"Shell","arguments":"{\"command\":\"bake\"}"}},{"id":"x3","type":"function","function":{"name":"Agent","arguments":"{\"prompt\":\"count\"}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"x2","name":"Shell","content":[{"type":"text","text":"<system>ERROR: command failed</system>"},{"type":"text","text":"TOOLWORD1 no flour"}]}"#,
            r#"{"role":"tool","tool_call_id":"x1","name":"ReadFile","content":[{"type":"text","text":"<system>1 line read</system>"},{"type":"text","text":"TOOLWORD2 minutes = 5"}]}"#,
            r#"{"role":"tool","tool_call_id":"x3","name":"Agent","content":"TOOLWORD3 seven"}"#,
            r#"{"role":"assistant","content":"AGENTWORD4: It browns."}"#,
            r#"{"role":"user","content":"USERWORD3: and now?"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"x4","type":"function","function":{"name":"Shell","arguments":"{}"}}]}"#,
        ]
    );
    let usage = found.conversations[0].events[1].usage.unwrap();
    assert_eq!((usage.prompt, usage.output, usage.cache_read), (800, 40, 300));
    assert_eq!(found.conversations[1].id.as_deref(), Some("a1"));
    assert_eq!(events(&found.conversations[1]).len(), 2);
    assert_eq!(codes(&found), ["no-summary"]);
}

/// A call that was broken off in its arguments is none, unless a result shows that it was made.
#[test]
fn a_half_call_counts_only_with_its_result() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":1.5,"message":{{"type":"{kind}","payload":{payload}}}}}"#)
    };
    let half = r#"{"id":"c","function":{"name":"Shell","arguments":"{\"command\":"}}"#;
    let result = r#"{"tool_call_id":"c","return_value":{"is_error":true,"message":"bad JSON"}}"#;
    let turn = [line("TurnBegin", r#"{"user_input":"go"}"#), line("ToolCall", half)];
    let broken_off = outcome(&turn.join("\n"));
    assert_eq!(events(&broken_off.conversations[0]), [r#"{"role":"user","content":"go"}"#]);
    assert_eq!(codes(&broken_off), ["not-sent"]);
    let answered = outcome(&[&turn.join("\n"), "\n", &line("ToolResult", result)].concat());
    assert_eq!(
        events(&answered.conversations[0])[1..],
        [
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"Shell","arguments":"{\"command\":"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c","name":"Shell","content":"<system>ERROR: bad JSON</system>"}"#,
        ]
    );
    assert_eq!(codes(&answered), [""; 0]);
}

#[test]
fn parts_keep_their_order() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":1.5,"message":{{"type":"{kind}","payload":{payload}}}}}"#)
    };
    let found = outcome(
        &[
            line("StepBegin", r#"{"n":1}"#),
            line("ContentPart", r#"{"type":"text","text":"Look "}"#),
            line("ContentPart", r#"{"type":"text","text":"here:"}"#),
            line(
                "ContentPart",
                r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}"#,
            ),
            line("ContentPart", r#"{"type":"text","text":"Seen?"}"#),
        ]
        .join("\n"),
    );
    let event = events(&found.conversations[0])[0];
    let at = |text: &str| event.find(text).unwrap();
    assert!(at("Look here:") < at("AA==") && at("AA==") < at("Seen?"), "{event}");
}

/// What came of an attempt that failed is asked for again.
#[test]
fn a_step_that_is_tried_again_is_read_once() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":1.5,"message":{{"type":"{kind}","payload":{payload}}}}}"#)
    };
    let found = outcome(
        &[
            line("TurnBegin", r#"{"user_input":"go"}"#),
            line("StepBegin", r#"{"n":1}"#),
            line("ContentPart", r#"{"type":"text","text":"I lo"}"#),
            line("StepRetry", r#"{"n":1,"next_attempt":2,"max_attempts":3,"wait_s":1}"#),
            line("ContentPart", r#"{"type":"text","text":"I look."}"#),
        ]
        .join("\n"),
    );
    let events = events(&found.conversations[0]);
    assert_eq!(events[1..], [r#"{"role":"assistant","content":"I look."}"#]);
}

#[test]
fn a_wire_of_kimi_code_is_read_as_the_context_it_leaves() {
    let text = fixture("kimi-code.jsonl");
    let found = outcome(text);
    assert_eq!(told(&found), include_str!("../../fixtures/told/kimi-code.txt"));
    let conversation = &found.conversations[0];
    let usage = conversation.events[4].usage.unwrap();
    assert_eq!((usage.prompt, usage.output, usage.cache_read), (900, 7, 100));
    assert!(conversation.events[5].failed && !conversation.events[6].failed);
    let before = recorded(text);
    assert_eq!(before.conversations.len(), 2);
    assert!(events(&before.conversations[0]).join("").contains("GONEWORD2"));
}

/// Older releases put the summary before the newest messages.
#[test]
fn an_older_compaction_of_kimi_code_keeps_the_newest_messages() {
    let said = |text: &str| {
        format!(
            r#"{{"type":"context.append_message","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}],"toolCalls":[]}},"time":1}}"#
        )
    };
    let text = [
        said("one"),
        said("two"),
        r#"{"type":"context.apply_compaction","summary":"sum","compactedCount":1,"time":1}"#.into(),
    ];
    let found = outcome(&text.join("\n"));
    let texts = events(&found.conversations[0]);
    assert_eq!(texts, [r#"{"role":"user","content":"sum"}"#, r#"{"role":"user","content":"two"}"#]);
}
