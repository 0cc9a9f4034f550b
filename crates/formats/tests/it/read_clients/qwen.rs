use midfold_core::view::TextOrigin::{Injected, Recap};

use super::{codes, events, fixture, origins, outcome, recorded};

#[test]
fn the_newest_branch_is_read_behind_its_compression() {
    let found = outcome(fixture("qwen.jsonl"));
    assert_eq!(found.conversations.len(), 2);
    let conversation = &found.conversations[0];
    assert_eq!(conversation.id.as_deref(), Some("5e55"));
    assert_eq!(conversation.envelope.model.as_deref(), Some("qwen3-max"));
    assert_eq!(
        events(conversation),
        [
            r#"{"role":"user","parts":[{"text":"<state_snapshot>AGENTWORD1 the loom is oiled</state_snapshot>"}]}"#,
            r#"{"role":"model","parts":[{"text":"Got it. Thanks for the additional context!"}]}"#,
            r#"{"role":"user","parts":[{"text":"USERWORD1: the loom tears the thread; never touch the shuttle."}]}"#,
            r#"{"role":"model","parts":[{"text":"AGENTWORD2 looking"}]}"#,
            r#"{"role":"user","parts":[{"text":"Recently read: thread.txt says soft"}]}"#,
            r#"{"role":"model","parts":[{"text":"AGENTWORD3: the thread first","thought":true},{"text":"AGENTWORD4: Two looks."},{"functionCall":{"id":"c1","name":"read_file","args":{"file_path":"thread.txt"}}},{"functionCall":{"id":"c2","name":"run_shell_command","args":{"command":"loom --dry"}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"TOOLWORD1 soft"}}},{"functionResponse":{"id":"c2","name":"run_shell_command","response":{"error":"TOOLWORD2 command not found"}}},{"text":"USERWORD2: and be quick"}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"id":"c3","name":"edit","args":{"file_path":"loom.py","old_string":"hard","new_string":"soft"}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"c3","name":"edit","response":{"output":"TOOLWORD3 edited"}}}]}"#,
            r#"{"role":"model","parts":[{"text":"AGENTWORD5: It is soft now."}]}"#,
            r#"{"role":"user","parts":[{"text":"<task-notification>the watcher ended</task-notification>"}]}"#,
            r#"{"role":"model","parts":[{"text":"AGENTWORD6: Noted."}]}"#,
            r#"{"role":"user","parts":[{"text":"USERWORD3: weave a yard now."},{"text":"<qwen:user-prompt-submit-context>\nfrom a hook\n</qwen:user-prompt-submit-context>"}]}"#,
        ]
    );
    let mut expected = vec![None; 13];
    (expected[0], expected[4], expected[10]) = (Some(Recap), Some(Injected), Some(Injected));
    assert_eq!(origins(conversation), expected);
    let usage = conversation.events[5].usage.unwrap();
    assert_eq!((usage.prompt, usage.output, usage.cache_read), (400, 35, 200));
    assert_eq!(codes(&found), ["compacted-before", "abandoned-branch", "not-sent"]);
}

#[test]
fn subagents_are_conversations_of_their_own() {
    let found = outcome(fixture("qwen.jsonl"));
    let agent = &found.conversations[1];
    assert_eq!(agent.id.as_deref(), Some("agent-9"));
    assert_eq!(
        events(agent),
        [
            r#"{"role":"user","parts":[{"text":"USERWORD4: count the threads"}]}"#,
            r#"{"role":"model","parts":[{"text":"AGENTWORD7: counting"},{"functionCall":{"id":"c9","name":"run_shell_command","args":{"command":"wc -l"}}}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"c9","name":"run_shell_command","response":{"output":"TOOLWORD4 12"}}}]}"#,
        ]
    );
    let all = recorded(fixture("qwen.jsonl")).conversations;
    assert_eq!(all.len(), 3);
    assert!(events(&all[0]).concat().contains("GONEWORD1"));
}

#[test]
fn a_chain_whose_start_is_elsewhere_is_read_from_where_it_is() {
    let lines = fixture("qwen.jsonl").lines();
    let late: Vec<_> = lines.skip(12).take(3).collect();
    let found = outcome(&late.join("\n"));
    assert_eq!(events(&found.conversations[0]).len(), 3);
    assert_eq!(codes(&found), ["missing-parent"]);
    // Records that are each other's parents, or their own.
    let circle = [
        r#"{"uuid":"a","parentUuid":"b","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"one"}]}}"#,
        r#"{"uuid":"b","parentUuid":"a","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"two"}]}}"#,
        r#"{"uuid":"c","parentUuid":"c","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"three"}]}}"#,
    ];
    assert_eq!(events(&outcome(&circle[..2].join("\n")).conversations[0]).len(), 2);
    assert_eq!(events(&outcome(&circle.join("\n")).conversations[0]).len(), 1);
}

/// The call that the model made has one result; the calls that its code made are the client's own.
#[test]
fn results_of_calls_that_code_made_are_left_out() {
    let record = |uuid: &str, parent: &str, more: &str| {
        format!(r#"{{"uuid":"{uuid}","parentUuid":{parent},"sessionId":"s",{more}}}"#)
    };
    let result = |id: &str, words: &str| {
        format!(
            r#""message":{{"role":"user","parts":[{{"functionResponse":{{"id":"{id}","name":"exec","response":{{"output":"{words}"}}}}}}]}}"#
        )
    };
    let lines = [
        record(
            "a",
            "null",
            r#""type":"user","message":{"role":"user","parts":[{"text":"count"}]}"#,
        ),
        record(
            "b",
            r#""a""#,
            r#""type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"exec","args":{}}}]}"#,
        ),
        record(
            "c",
            r#""b""#,
            &format!(
                r#""type":"tool_result","subtype":"code_mode_tool_result",{}"#,
                result("c1:code:1", "inner")
            ),
        ),
        record("d", r#""c""#, &format!(r#""type":"tool_result",{}"#, result("c1", "outer"))),
    ];
    let found = outcome(&lines.join("\n"));
    let all = events(&found.conversations[0]);
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all[2].contains("outer"), "{all:?}");
}
