//! Ids of calls that a provider would reject are replaced, and results keep to their calls.

use midfold::DialectKind;
use midfold::core::repair::RepairReason;
use midfold::formats::profile::{ANTHROPIC, BEDROCK, OPENAI, RESPONSES, STRICT};

use crate::repairs::made;

#[test]
fn calls_of_one_message_that_share_an_id_get_their_own() {
    let found = made(
        DialectKind::Anthropic,
        ANTHROPIC,
        &[
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}},{"type":"tool_use","id":"a","name":"c","input":{}},{"type":"tool_use","id":"a_2","name":"d","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"a","content":"2"},{"type":"tool_result","tool_use_id":"a_2","content":"3"}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}"#,
        ],
    );
    // The last step uses the id again, which Anthropic refuses as well.
    assert_eq!(found.repairs, [RepairReason::DuplicateId; 4]);
    assert!(found.texts[1].contains(r#""id":"a_3","name":"c""#), "{}", found.texts[1]);
    assert!(found.texts[2].contains(r#""tool_use_id":"a_3","content":"2""#), "{}", found.texts[2]);
    assert!(found.texts[2].contains(r#""tool_use_id":"a_2","content":"3""#), "{}", found.texts[2]);
}

#[test]
fn an_id_that_is_used_again_gets_a_number_where_it_has_to_be_unique() {
    let step = |result: &str| {
        [
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]}"#.to_owned(),
            format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"{result}"}}]}}"#),
        ]
    };
    let first = r#"{"role":"user","content":"go"}"#.to_owned();
    let messages: Vec<String> = std::iter::once(first)
        .chain(["1", "2", "3"].iter().flat_map(|result| step(result)))
        .collect();
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    let found = made(DialectKind::Anthropic, ANTHROPIC, &messages);
    assert_eq!(found.repairs, [RepairReason::DuplicateId; 4]);
    for (at, id) in [(1, "a"), (2, "a"), (3, "a_2"), (4, "a_2"), (5, "a_3"), (6, "a_3")] {
        assert!(found.texts[at].contains(&format!(r#"id":"{id}""#)), "{}", found.texts[at]);
    }
    let found = made(
        DialectKind::Bedrock,
        BEDROCK,
        &[
            r#"{"role":"user","content":[{"text":"go"}]}"#,
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}"#,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1"}]}}]}"#,
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}"#,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"2"}]}}]}"#,
        ],
    );
    assert_eq!(found.repairs, [], "the id of a closed step");
}

/// Local servers write a blank text and the same id in each step.
#[test]
fn a_blank_text_beside_an_id_that_is_used_again_is_two_repairs_of_one_message() {
    let call = r#"{"role":"assistant","content":[{"type":"text","text":"\n"},{"type":"tool_use","id":"call_0","name":"b","input":{}}]}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"1"}]}"#;
    let user = r#"{"role":"user","content":"go"}"#;
    let found = made(DialectKind::Anthropic, ANTHROPIC, &[user, call, result, call, result, call]);
    assert!(found.repairs.contains(&RepairReason::DuplicateId), "{:?}", found.repairs);
    assert!(!found.texts[3].contains("\\n"), "{}", found.texts[3]);
}

#[test]
fn a_doubled_call_of_the_newest_step_is_answered_once_the_others_are() {
    let calls = |ids: &[&str]| {
        let call = |id: &&str| {
            format!(
                r#"{{"id":"{id}","type":"function","function":{{"name":"run","arguments":"{{}}"}}}}"#
            )
        };
        let calls: Vec<_> = ids.iter().map(call).collect();
        format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","))
    };
    let result = |id: &str, text: &str| {
        format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#)
    };
    let user = r#"{"role":"user","content":"go"}"#;
    let (doubled, one, two) = (calls(&["t1", "t1", "t2"]), result("t1", "1"), result("t2", "2"));
    let run = |messages: &[&str]| made(DialectKind::OpenAiChat, OPENAI, messages);
    let found = run(&[user, &doubled, &one, &two]);
    assert_eq!(found.repairs, [RepairReason::DuplicateId, RepairReason::UnansweredCall]);
    assert!(found.texts[4].contains(r#""tool_call_id":"t1_2""#), "{}", found.texts[4]);
    // The result of `t2` may still come.
    assert_eq!(run(&[user, &doubled, &one]).repairs, [RepairReason::DuplicateId]);
    assert_eq!(run(&[user, &doubled]).repairs, [RepairReason::DuplicateId]);
    // A second result of a call that was written twice is not lost.
    let found = run(&[user, &doubled, &one, &two, &result("t1", "3")]);
    assert!(
        found.texts[5].contains(r#""role":"user""#) && found.texts[5].contains('3'),
        "{:?}",
        found.texts
    );
    // With another message behind it, the context begins with the same messages.
    let found = run(&[user, &doubled, &one, &two, user]);
    assert_eq!(found.repairs, [RepairReason::DuplicateId, RepairReason::UnansweredCall]);
}

/// A step of one call and its copy, and one result, where all results of a step come in one message.
#[test]
fn a_copy_of_the_only_call_is_answered_where_results_come_at_once() {
    let found = made(
        DialectKind::Anthropic,
        ANTHROPIC,
        &[
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"a","name":"f","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}"#,
        ],
    );
    assert_eq!(found.repairs, [RepairReason::DuplicateId, RepairReason::UnansweredCall]);
    assert!(found.texts[3].contains(r#""tool_use_id":"a_2""#), "{}", found.texts[3]);
}

#[test]
fn empty_ids_become_ids_of_their_own() {
    let found = made(
        DialectKind::OpenAiChat,
        OPENAI,
        &[
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"call_1","type":"function","function":{"name":"g","arguments":"{}"}},{"id":"","type":"function","function":{"name":"h","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"","name":"h","content":"of h"}"#,
            r#"{"role":"tool","tool_call_id":"call_1","content":"of g"}"#,
            r#"{"role":"tool","tool_call_id":"","content":"of f"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
            r#"{"role":"user","content":"leave that"}"#,
            r#"{"role":"tool","tool_call_id":"","content":"late"}"#,
        ],
    );
    for (at, id, of) in [(1, "call_2", r#""name":"f""#), (1, "call_3", r#""name":"h""#)] {
        let (before, _) = found.texts[at].split_once(of).unwrap();
        assert!(before.rsplit_once("\"id\":\"").unwrap().1.starts_with(id), "{}", found.texts[at]);
    }
    for (at, id) in [(2, "call_3"), (3, "call_1"), (4, "call_2")] {
        let wanted = format!(r#""tool_call_id":"{id}""#);
        assert!(found.texts[at].contains(&wanted), "{}", found.texts[at]);
    }
    let rest =
        [RepairReason::DuplicateId, RepairReason::UnansweredCall, RepairReason::OrphanResult];
    assert_eq!(found.repairs[3..], rest, "{:?}", found.texts);

    let made_of = |kind, profile, messages: &[&str]| made(kind, profile, messages).texts;
    let anthropic = made_of(
        DialectKind::Anthropic,
        ANTHROPIC,
        &[
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"","name":"f","input":{}}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"","name":"g","input":{}},{"type":"tool_use","id":"call_1","name":"h","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"","content":"1"},{"type":"tool_result","tool_use_id":"","content":"2"},{"type":"tool_result","tool_use_id":"call_1","content":"3"}]}"#,
        ],
    );
    assert!(anthropic[1].contains(r#""id":"call_1","name":"f""#), "{anthropic:?}");
    assert!(anthropic[2].contains(r#""id":"call_2","name":"g""#), "{anthropic:?}");
    assert!(anthropic[2].contains(r#""id":"call_1_2","name":"h""#), "{anthropic:?}");
    assert!(anthropic[3].contains(r#""tool_use_id":"call_1_2","content":"3""#), "{anthropic:?}");
    let responses = made_of(
        DialectKind::OpenAiResponses,
        RESPONSES,
        &[
            r#"{"role":"user","content":"go"}"#,
            r#"{"type":"function_call","id":"fc_1","call_id":"","name":"f","arguments":"{}"}"#,
            r#"{"type":"function_call","call_id":"","name":"g","arguments":"{}"}"#,
            r#"{"type":"function_call_output","call_id":"","output":"1"}"#,
            r#"{"type":"function_call_output","call_id":"","output":"2"}"#,
        ],
    );
    assert!(responses[2].contains(r#""call_id":"call_2""#), "{responses:?}");
    assert!(responses[4].contains(r#""call_id":"call_2""#), "{responses:?}");
    let bedrock = made_of(
        DialectKind::Bedrock,
        BEDROCK,
        &[
            r#"{"role":"user","content":[{"text":"go"}]}"#,
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"","name":"f","input":{}}},{"toolUse":{"toolUseId":"","name":"g","input":{}}}]}"#,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"","content":[{"text":"1"}]}},{"toolResult":{"toolUseId":"","content":[{"text":"2"}]}}]}"#,
        ],
    );
    assert!(bedrock[2].contains(r#""toolUseId":"call_2""#), "{bedrock:?}");
}

#[test]
fn an_id_of_fixed_length_keeps_its_length() {
    let call = r#"{"id":"aB3dE6gH9","type":"function","function":{"name":"f","arguments":"{}"}}"#;
    let calls = [call; 12].join(",");
    let calls = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{calls}]}}"#);
    let result = r#"{"role":"tool","tool_call_id":"aB3dE6gH9","content":"1"}"#;
    let user = r#"{"role":"user","content":"go"}"#;
    let mut messages = vec![user, &calls];
    messages.extend([result; 12]);
    let found = made(DialectKind::OpenAiChat, STRICT, &messages);
    assert!(found.repairs.iter().all(|it| *it == RepairReason::DuplicateId), "{:?}", found.repairs);
    let ids = |text: &str, key: &str| -> Vec<String> {
        let ends = text.split(key).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        ends.collect()
    };
    let called = ids(&found.texts[1], r#"{"id":""#);
    let answered = ids(&found.texts[2..].concat(), r#""tool_call_id":""#);
    assert_eq!(called, answered);
    let unique: std::collections::BTreeSet<&String> = called.iter().collect();
    assert_eq!(unique.len(), 12, "{called:?}");
    for id in unique {
        assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    }
}

#[test]
fn an_id_that_is_made_is_no_longer_than_its_provider_takes() {
    for (kind, profile, key) in [
        (DialectKind::OpenAiResponses, RESPONSES, "call_id"),
        (DialectKind::OpenAiChat, OPENAI, "id"),
    ] {
        let longest = profile.longest_id;
        let ids = ["x".repeat(longest), format!("{}y", "x".repeat(longest - 1))];
        let messages: Vec<String> = match kind {
            DialectKind::OpenAiChat => {
                let call = |id: &String| {
                    format!(
                        r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#
                    )
                };
                let calls: Vec<String> = ids.iter().chain(&ids).map(call).collect();
                let result =
                    |id| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"1"}}"#);
                let calls = format!(
                    r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#,
                    calls.join(",")
                );
                std::iter::once(calls).chain(ids.iter().chain(&ids).map(result)).collect()
            }
            _ => {
                let call = |id| {
                    format!(
                        r#"{{"type":"function_call","call_id":"{id}","name":"f","arguments":"{{}}"}}"#
                    )
                };
                let result = |id| {
                    format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"1"}}"#)
                };
                let calls = ids.iter().chain(&ids).map(call);
                calls.chain(ids.iter().chain(&ids).map(result)).collect()
            }
        };
        let user = r#"{"role":"user","content":"go"}"#;
        let all: Vec<&str> = std::iter::once(user).chain(messages.iter().map(|m| &**m)).collect();
        let found = made(kind, profile, &all);
        assert!(
            !found.repairs.is_empty()
                && found.repairs.iter().all(|it| *it == RepairReason::DuplicateId)
        );
        let text = found.texts.concat();
        let mut given: Vec<&str> = text
            .split(&format!("\"{key}\":\""))
            .skip(1)
            .map(|it| it.split('"').next().unwrap())
            .collect();
        assert!(given.iter().all(|id| id.len() <= longest), "{given:?}");
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), 4, "{given:?}");
    }
}
