//! Session files: trees, compactions, messages that are spread over records.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold_core::view::TextOrigin;
use midfold_formats::read::{Conversation, ReadOutcome, TranscriptFormat, read, read_recorded};

fn outcome(lines: &[&str]) -> ReadOutcome {
    read(&Bytes::from(lines.join("\n")), None).unwrap()
}

fn events(conversation: &Conversation) -> Vec<&str> {
    conversation.events.iter().map(|e| std::str::from_utf8(&e.bytes).unwrap()).collect()
}

fn only(outcome: &ReadOutcome) -> &Conversation {
    assert_eq!(outcome.conversations.len(), 1);
    &outcome.conversations[0]
}

fn codes(outcome: &ReadOutcome) -> Vec<&str> {
    outcome.problems.iter().map(|p| p.code).collect()
}

#[test]
fn claude_code_joins_the_records_of_a_message() {
    let found = outcome(&[
        r#"{"type":"summary","summary":"s","leafUuid":"x"}"#,
        r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"S","message":{"role":"user","content":"go"}}"#,
        r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","model":"claude","role":"assistant","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":1}}}"#,
        r#"{"type":"assistant","uuid":"3","parentUuid":"2","message":{"id":"m","model":"claude","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}],"usage":{"input_tokens":1}}}"#,
        r#"{"type":"user","uuid":"4","parentUuid":"3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r1"}]}}"#,
        r#"{"type":"assistant","uuid":"5","parentUuid":"3","message":{"id":"m","model":"claude","role":"assistant","content":[ {"type":"tool_use","id":"t2","name":"n","input":{}} ],"usage":{"input_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":7}}}"#,
        r#"{"type":"user","uuid":"6","parentUuid":"5","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"r2"}]}}"#,
        r#"{"type":"user","uuid":"6","parentUuid":"5","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"r2"}]}}"#,
        r#"{"type":"user","uuid":"7","parentUuid":"6","isMeta":true,"message":{"role":"user","content":"caveat"}}"#,
    ]);
    let conversation = only(&found);
    assert_eq!(conversation.id.as_deref(), Some("S"));
    assert_eq!(conversation.format, TranscriptFormat::ClaudeCode);
    assert_eq!(conversation.envelope.model.as_deref(), Some("claude"));
    let all = events(conversation);
    assert_eq!(all.len(), 5);
    assert_eq!(
        all[1],
        r#"{"id":"m","model":"claude","role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"n","input":{}},{"type":"tool_use","id":"t2","name":"n","input":{}}],"usage":{"input_tokens":1}}"#
    );
    assert_eq!(conversation.events[1].source.len(), 3);
    let usage = conversation.events[1].usage.unwrap();
    assert_eq!(
        (usage.prompt, usage.cache_read, usage.cache_write, usage.output),
        (125, 100, 20, 7)
    );
    assert!(all[2].contains("r1") && all[3].contains("r2"));
    assert_eq!(conversation.events[4].origin, Some(TextOrigin::Injected));
    assert!(found.problems.is_empty());
}

#[test]
fn claude_code_restarts_at_a_boundary_and_parts_sidechains() {
    let found = outcome(&[
        r#"{"type":"user","uuid":"1","parentUuid":null,"isSidechain":false,"message":{"role":"user","content":"old"}}"#,
        r#"{"type":"user","uuid":"s1","parentUuid":null,"isSidechain":true,"message":{"role":"user","content":"sub"}}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"2","parentUuid":null,"logicalParentUuid":"1"}"#,
        r#"{"type":"user","uuid":"3","parentUuid":"2","isCompactSummary":true,"message":{"role":"user","content":"recap"}}"#,
        r#"{"type":"assistant","uuid":"s2","parentUuid":"s1","isSidechain":true,"message":{"id":"k","role":"assistant","content":[]}}"#,
        r#"{"type":"user","uuid":"4","parentUuid":"3","message":{"role":"user","content":"new"}}"#,
    ]);
    let sizes: Vec<_> = found.conversations.iter().map(|c| events(c).len()).collect();
    assert_eq!(sizes, [2, 2]);
    assert_eq!(found.conversations[0].events[0].origin, Some(TextOrigin::Recap));
    assert!(events(&found.conversations[1])[0].contains("sub"));
    assert_eq!(codes(&found), ["compacted-before"]);
    assert_eq!(found.problems[0].at, Some(3));
}

/// The client writes the boundary first, and its summary some time later.
#[test]
fn claude_code_that_ends_at_a_boundary_is_read_before_it() {
    let found = outcome(&[
        r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"hello"}}"#,
        r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"hi"}]}}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"3","parentUuid":null,"logicalParentUuid":"2"}"#,
    ]);
    assert_eq!(events(only(&found)).len(), 2);
    assert!(codes(&found).is_empty(), "{:?}", found.problems);
}

#[test]
fn claude_code_reply_with_an_id_of_an_earlier_turn_stays_behind_its_question() {
    let found = outcome(&[
        r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"first"}}"#,
        r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"one"}]}}"#,
        r#"{"type":"user","uuid":"3","parentUuid":"2","message":{"role":"user","content":"second"}}"#,
        r#"{"type":"assistant","uuid":"4","parentUuid":"3","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"two"}]}}"#,
    ]);
    let all = events(only(&found));
    assert_eq!(all.len(), 4);
    assert!(all[1].contains("one") && !all[1].contains("two") && all[3].contains("two"));
}

#[test]
fn claude_code_drops_what_was_taken_back() {
    let found = outcome(&[
        r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"a"}}"#,
        r#"{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","role":"assistant","content":[]}}"#,
        r#"{"type":"user","uuid":"3","parentUuid":"2","message":{"role":"user","content":"first try"}}"#,
        r#"{"type":"assistant","uuid":"4","parentUuid":"3","message":{"id":"n","role":"assistant","content":[]}}"#,
        r#"{"type":"user","uuid":"5","parentUuid":"2","message":{"role":"user","content":"second try"}}"#,
        r#"{"type":"user","uuid":"6","parentUuid":"gone","message":{"role":"user","content":"kept"}}"#,
        r#"{"type":"user","uuid":"7","parentUuid":"gone too","message":{"role":"user","content":"kept"}}"#,
    ]);
    let all = events(only(&found)).join("");
    assert!(!all.contains("first try") && all.contains("second try"));
    assert_eq!(all.matches("kept").count(), 2);
    assert_eq!(codes(&found), ["abandoned-branch"]);
}

/// A session that starts from an accepted plan begins with the last records of the one before.
#[test]
fn claude_code_leaves_out_what_is_of_the_session_before() {
    let before = [
        r#"{"type":"user","uuid":"1","parentUuid":"of another file","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"old","content":"rejected"}]}}"#,
        r#"{"type":"user","uuid":"2","parentUuid":"1","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}"#,
    ];
    let own = [
        r#"{"type":"user","uuid":"3","parentUuid":null,"message":{"role":"user","content":"Implement the plan."}}"#,
        r#"{"type":"assistant","uuid":"4","parentUuid":"3","message":{"id":"m","role":"assistant","content":[]}}"#,
    ];
    let later = r#"{"type":"user","uuid":"5","parentUuid":"gone","message":{"role":"user","content":"Go on."}}"#;
    let compacted = [
        r#"{"type":"system","subtype":"compact_boundary","uuid":"6","parentUuid":null,"logicalParentUuid":"4"}"#,
        r#"{"type":"user","uuid":"7","parentUuid":"6","isCompactSummary":true,"message":{"role":"user","content":"recap"}}"#,
    ];
    let read = |lines: &[&[&str]]| outcome(&lines.concat());
    let found = read(&[&before, &own]);
    assert!(events(only(&found))[0].contains("Implement the plan."));
    assert_eq!((events(only(&found)).len(), codes(&found)), (2, vec!["session-before"]));
    // The newest record's chain starts in another file: nothing tells what is sent.
    let found = read(&[&before, &own, &[later]]);
    assert_eq!((events(only(&found)).len(), codes(&found)), (5, vec![]));
    // What was compacted since is another matter.
    let found = read(&[&before[..1], &own, &compacted]);
    assert_eq!(events(only(&found)).len(), 1);
    let alone = [&[later][..], &compacted].concat();
    let all = read_recorded(&alone.join("\n").into(), None).unwrap();
    assert_eq!(all.conversations.len(), 2, "an orphan is all that there was before");
}

#[test]
fn codex_items_leave_verbatim() {
    let found = outcome(&[
        r#"{"timestamp":"t","type":"session_meta","payload":{"id":"S","base_instructions":{"text":"be good"}}}"#,
        r#"{"timestamp":"t","type":"turn_context","payload":{"model":"gpt"}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{ "type":"function_call","name":"n","arguments":"{}","call_id":"c"}}"#,
        r#"{"timestamp":"t","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2}}}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"o"}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"ghost_snapshot"}}"#,
    ]);
    let conversation = only(&found);
    assert_eq!(events(conversation).len(), 3);
    assert_eq!(
        events(conversation)[1],
        r#"{ "type":"function_call","name":"n","arguments":"{}","call_id":"c"}"#
    );
    assert_eq!(conversation.events[1].usage.unwrap().prompt, 9);
    assert_eq!(conversation.envelope.system.as_deref(), Some(&br#""be good""#[..]));
    assert_eq!(conversation.envelope.model.as_deref(), Some("gpt"));
    assert_eq!(conversation.id.as_deref(), Some("S"));
}

#[test]
fn codex_restarts_and_rolls_back() {
    let user = |text: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
        )
    };
    let compacted = r#"{"type":"compacted","payload":{"message":"sum","replacement_history":[{"type":"message","role":"user","content":"u"},{"type":"message","role":"user","content":[{"type":"input_text","text":"Summary: sum"}]}]}}"#;
    let back = r#"{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#;
    let found =
        outcome(&[&user("one"), compacted, &user("two"), back, &user("<env>"), &user("three")]);
    let all = events(only(&found));
    assert_eq!(all.len(), 4);
    assert_eq!(only(&found).events[1].origin, Some(TextOrigin::Recap));
    assert!(all[2].contains("<env>") && all[3].contains("three"));
    assert_eq!(codes(&found), ["compacted-before", "rolled-back"]);

    // A turn starts with what a person typed, whatever its first character is.
    let context = user("<environment_context>\\n<cwd>/srv</cwd>\\n</environment_context>");
    for typed in ["<div> is not centred", "<b>bold</b>", "<p>a</p>\\n<p>b</p>", "> quoted"] {
        let found = outcome(&[&context, &user("one"), &user(typed), back]);
        let all = events(only(&found));
        assert!(all.len() == 2 && all[1].contains("one"), "{typed}: {all:?}");
        let found = outcome(&[&user("one"), &user(typed), &context, back]);
        assert_eq!(events(only(&found)).len(), 1, "{typed}");
    }

    let found = outcome(&[&user("one"), r#"{"type":"compacted","payload":{"message":"a\"b"}}"#]);
    assert_eq!(
        events(only(&found)),
        [r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a\"b"}]}"#]
    );
}

#[test]
fn older_codex_files_hold_bare_items() {
    let found = outcome(&[
        r#"{"id":"S","timestamp":"t","instructions":"be good","git":{}}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#,
    ]);
    assert_eq!(only(&found).format, TranscriptFormat::Codex);
    assert_eq!(only(&found).events.len(), 1);
    assert_eq!(only(&found).envelope.system.as_deref(), Some(&br#""be good""#[..]));
}

#[test]
fn pi_messages_become_chat_messages() {
    let found = outcome(&[
        r#"{"type":"session","version":1,"id":"S","timestamp":"t","cwd":"/"}"#,
        r#"{"type":"message","timestamp":"t","message":{"role":"user","content":[{"type":"text","text":"g\u006f"},{"type":"image","data":"AA==","mimeType":"image/png"}]}}"#,
        r#"{"type":"message","timestamp":"t","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"toolCall","id":"c","name":"n","arguments":{"x": "y\n"}}],"model":"m","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4}}}"#,
        r#"{"type":"message","timestamp":"t","message":{"role":"toolResult","toolCallId":"c","toolName":"n","content":[{"type":"text","text":"r"}],"isError":false}}"#,
        r#"{"type":"message","timestamp":"t","message":{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":2}}"#,
    ]);
    let conversation = only(&found);
    assert_eq!(
        events(conversation),
        [
            r#"{"role":"user","content":[{"type":"text","text":"g\u006f"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}"#,
            r#"{"role":"assistant","content":"a","reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{\"x\": \"y\\n\"}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c","name":"n","content":"r"}"#,
            r#"{"role":"user","content":"$ ls\na\nb\n[exit code 2]"}"#,
        ]
    );
    assert_eq!(conversation.events[1].usage.unwrap().prompt, 8);
    assert_eq!(conversation.envelope.model.as_deref(), Some("m"));
}

/// Chat Completions has no flag for a failed call, so the reader keeps it beside the bytes.
#[test]
fn pi_says_which_calls_failed() {
    let result = |id: &str, error: bool| {
        format!(
            r#"{{"type":"message","timestamp":"t","message":{{"role":"toolResult","toolCallId":"{id}","toolName":"n","content":[{{"type":"text","text":"used up"}}],"isError":{error}}}}}"#
        )
    };
    let shell = |rest: &str| {
        format!(
            r#"{{"type":"message","timestamp":"t","message":{{"role":"bashExecution","command":"x","output":"a",{rest}}}}}"#
        )
    };
    let found = outcome(&[
        r#"{"type":"session","version":1,"id":"S","timestamp":"t","cwd":"/"}"#,
        &result("a", true),
        &result("b", false),
        &shell(r#""exitCode":-1,"cancelled":false"#),
        &shell(r#""exitCode":null,"cancelled":true"#),
    ]);
    let failed: Vec<bool> = only(&found).events.iter().map(|event| event.failed).collect();
    assert_eq!(failed, [true, false, false, false]);
    assert_eq!(
        events(only(&found))[2..],
        [
            r#"{"role":"user","content":"$ x\na\n[exit code -1]"}"#,
            r#"{"role":"user","content":"$ x\na\n[cancelled by the user]"}"#,
        ]
    );
}

#[test]
fn pi_trees_and_compactions() {
    let entry = |id: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"t","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let header = r#"{"type":"session","version":3,"id":"a","timestamp":"t","cwd":"/"}"#;
    let compaction = r#"{"type":"compaction","id":"d","parentId":"c","timestamp":"t","summary":"sum","firstKeptEntryId":"c"}"#;
    let found = outcome(&[
        header,
        &entry("a", "", "gone"),
        &entry("b", "a", "gone too"),
        &entry("x", "a", "branch"),
        &entry("c", "b", "kept"),
        compaction,
        &entry("e", "d", "new"),
    ]);
    assert_eq!(
        events(only(&found)),
        [
            r#"{"role":"user","content":"sum"}"#,
            r#"{"role":"user","content":"kept"}"#,
            r#"{"role":"user","content":"new"}"#
        ]
    );
    assert_eq!(only(&found).events[0].origin, Some(TextOrigin::Recap));
    assert_eq!(codes(&found), ["compacted-before", "abandoned-branch"]);
}

#[test]
fn swe_agent_results_get_the_id_of_their_call() {
    let found = outcome(&[
        r#"{"history":[{"role":"user","content":"t"},{"role":"assistant","tool_calls":[{"id":"c"}]},{"role":"tool","content":"r","tool_call_ids":["c"]}]}"#,
    ]);
    assert_eq!(
        events(only(&found))[2],
        r#"{"role":"tool","content":"r","tool_call_ids":["c"],"tool_call_id":"c"}"#
    );
    let found = outcome(&[
        r#"{"trajectory":[{"response":"r1","observation":"o1"},{"response":"r2","observation":"o2"}]}"#,
    ]);
    assert_eq!(events(only(&found)).len(), 4);
    assert_eq!(only(&found).events[3].origin, Some(TextOrigin::Observation));
}

#[test]
fn a_message_has_the_time_of_the_last_record_that_it_is_made_of() {
    let times = |lines: &[&str]| {
        let found = outcome(lines);
        only(&found).events.iter().map(|event| event.at).collect::<Vec<_>>()
    };
    let claude = times(&[
        r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"S","timestamp":"1970-01-02T00:00:00.000Z","message":{"role":"user","content":"go"}}"#,
        r#"{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"1970-01-02T00:00:01.000Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"a"}]}}"#,
        r#"{"type":"assistant","uuid":"3","parentUuid":"2","timestamp":"1970-01-02T00:00:02.250Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"b"}]}}"#,
        r#"{"type":"user","uuid":"4","parentUuid":"3","message":{"role":"user","content":"on"}}"#,
    ]);
    assert_eq!(claude, [Some(86_400_000), Some(86_402_250), None]);
    let codex = times(&[
        r#"{"timestamp":"1970-01-02T00:00:00Z","type":"session_meta","payload":{"id":"S"}}"#,
        r#"{"timestamp":"1970-01-02T00:00:03Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}"#,
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}}"#,
    ]);
    assert_eq!(codex, [Some(86_403_000), None]);
    // pi writes its own time into the message, in milliseconds.
    let pi = times(&[
        r#"{"type":"session","version":1,"id":"S","timestamp":"1970-01-02T00:00:00Z","cwd":"/"}"#,
        r#"{"type":"message","timestamp":"1970-01-02T00:00:04Z","message":{"role":"user","content":"go","timestamp":1790000000123}}"#,
        r#"{"type":"message","timestamp":"1970-01-02T00:00:05Z","message":{"role":"assistant","content":[{"type":"text","text":"a"}],"model":"m"}}"#,
    ]);
    assert_eq!(pi, [Some(1_790_000_000_123), Some(86_405_000)]);
}
