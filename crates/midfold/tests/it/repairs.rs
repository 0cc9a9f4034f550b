//! What a provider would reject in the log itself is repaired, recorded, and passes `verify`.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold::core::profile::ArgumentForm;
use midfold::core::project::project;
use midfold::core::repair::RepairReason;
use midfold::core::verify::{ProofCase, verify};
use midfold::formats::profile::{self, ANTHROPIC, BEDROCK, GEMINI, OPENAI, RESPONSES, SHAREGPT};
use midfold::formats::verify::validator;
use midfold::{DialectKind, EventLog, PieceFate, Policy, ProviderProfile, RawEvent};

/// The messages of a context, and what was repaired in them.
pub struct RepairedMessages {
    pub texts: Vec<String>,
    pub repairs: Vec<RepairReason>,
}

/// The context of these messages, checked by the provider's rules and by `verify`.
pub fn made(kind: DialectKind, profile: ProviderProfile, messages: &[&str]) -> RepairedMessages {
    let counter = midfold::tokens::by_name("chars:3.2").unwrap();
    let before: Vec<Bytes> = messages.iter().map(|m| Bytes::from((*m).to_owned())).collect();
    let events = before.iter().map(|bytes| RawEvent::new(bytes.clone()));
    let log = EventLog::of(kind.shared(), profile, counter.clone(), events);
    let context = project(&log, None);
    let after: Vec<Bytes> = context.pieces().map(|piece| piece.bytes.clone()).collect();
    assert_eq!(profile::validate(&after, kind, &profile), [], "{after:?}");
    let validate = validator(kind, profile);
    let found = verify(&ProofCase {
        before: &before,
        after: &after,
        envelope: &[],
        dialect: kind.dialect(),
        counter: &*counter,
        validate: &validate,
        budget: None,
        fold: None,
    });
    assert!(found.findings.is_empty(), "{:?}\n{after:?}", found.findings);
    let repairs = context.pieces().filter_map(|piece| match piece.fate {
        PieceFate::Repaired(_, why) | PieceFate::Added(why) => Some(why),
        _ => None,
    });
    let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    RepairedMessages { repairs: repairs.collect(), texts: after.iter().map(text).collect() }
}

/// An id of an earlier step, where ids are unique over the request: with the results of both in their order.
/// The newest step, with a call that an adapter wrote twice: the client answers what it made, and nobody the rest.
/// A step of two calls: both unanswered, one answered, the results in two messages.
#[test]
fn all_results_of_a_step_stand_in_one_message() {
    let gemini = [
        r#"{"role":"user","parts":[{"text":"go"}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"2"}}}]}"#,
    ];
    let bedrock = [
        r#"{"role":"user","content":[{"text":"go"}]}"#,
        r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}},{"toolUse":{"toolUseId":"b","name":"g","input":{}}}]}"#,
        r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1"}]}}]}"#,
        r#"{"role":"user","content":[{"toolResult":{"toolUseId":"b","content":[{"text":"2"}]}}]}"#,
    ];
    for (kind, profile, [user, calls, one, other]) in
        [(DialectKind::Gemini, GEMINI, gemini), (DialectKind::Bedrock, BEDROCK, bedrock)]
    {
        let found = made(kind, profile, &[user, calls, user]);
        assert_eq!(found.repairs, [RepairReason::UnansweredCall, RepairReason::Bridge], "{kind}");
        assert_eq!(found.texts[2].matches(NO_RESULT).count(), 2, "{kind}");
        let found = made(kind, profile, &[user, calls, one]);
        assert_eq!(found.repairs, [RepairReason::UnansweredCall], "{kind}");
        assert_eq!(found.texts[2].matches(NO_RESULT).count(), 1, "{kind}");
        let found = made(kind, profile, &[user, calls, one, other]);
        let repairs =
            [RepairReason::UnansweredCall, RepairReason::Bridge, RepairReason::OrphanResult];
        assert_eq!(found.repairs, repairs, "{kind}");
    }
}

const NO_RESULT: &str = "[no result was recorded for this call]";

#[test]
fn a_message_without_content_gets_some() {
    let found = made(
        DialectKind::OpenAiChat,
        OPENAI,
        &[
            r#"{"role":"user","content":null}"#,
            r#"{"role":"user","content":[]}"#,
            r#"{"role":"user"}"#,
            r#"{"role":"user","content":""}"#,
            r#"{"role":"assistant","content":"ok"}"#,
        ],
    );
    assert_eq!(found.repairs, [RepairReason::EmptyMessage; 3]);
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"a","content":null}"#;
    let messages = [r#"{"role":"user","content":"go"}"#, call, result];
    let found = made(DialectKind::OpenAiChat, OPENAI, &messages);
    assert_eq!(found.repairs, [RepairReason::EmptyMessage]);
}

#[test]
fn an_unanswered_call_of_any_kind_gets_an_output_of_its_kind() {
    for (call, output) in [
        (
            r#"{"type":"custom_tool_call","call_id":"c","name":"f","input":"x"}"#,
            "custom_tool_call_output",
        ),
        (
            r#"{"type":"local_shell_call","id":"l","call_id":"c","action":{"command":["ls"]}}"#,
            "local_shell_call_output",
        ),
        (
            r#"{"type":"shell_call","call_id":"c","action":{"commands":["ls"]}}"#,
            "shell_call_output",
        ),
        (
            r#"{"type":"computer_call","call_id":"c","action":{"type":"click"}}"#,
            "computer_call_output",
        ),
        (r#"{"type":"apply_patch_call","call_id":"c","operation":{}}"#, "apply_patch_call_output"),
        (
            r#"{"type":"tool_search_call","call_id":"c","execution":"client","arguments":{}}"#,
            "tool_search_output",
        ),
        (
            r#"{"type":"mcp_approval_request","id":"c","name":"f","arguments":"{}"}"#,
            "mcp_approval_response",
        ),
    ] {
        let user = r#"{"role":"user","content":"go"}"#;
        let next = r#"{"role":"user","content":"leave that"}"#;
        let found = made(DialectKind::OpenAiResponses, RESPONSES, &[user, call, next]);
        assert!(
            found.texts[2].starts_with(&format!(r#"{{"type":"{output}""#)),
            "{:?}",
            found.texts
        );
    }
}

#[test]
fn a_call_and_its_output_are_one_unit() {
    for (call, output) in [
        (
            r#"{"type":"tool_search_call","call_id":"c","execution":"client","arguments":{}}"#,
            r#"{"type":"tool_search_output","call_id":"c","execution":"client","tools":[]}"#,
        ),
        (
            r#"{"type":"tool_search_call","id":"t","call_id":null,"execution":"server"}"#,
            r#"{"type":"tool_search_output","id":"u","call_id":null,"execution":"server","tools":[]}"#,
        ),
        (
            r#"{"type":"mcp_approval_request","id":"c","name":"f","arguments":"{}"}"#,
            r#"{"type":"mcp_approval_response","approval_request_id":"c","approve":true}"#,
        ),
        (
            r#"{"type":"new_kind_call","call_id":"c"}"#,
            r#"{"type":"new_kind_call_output","call_id":"c","output":"x"}"#,
        ),
    ] {
        let counter = midfold::tokens::by_name("chars:3.2").unwrap();
        let user = r#"{"role":"user","content":"go"}"#;
        let events = [user, call, output].map(|m| RawEvent::new(Bytes::from(m)));
        let log = EventLog::of(DialectKind::OpenAiResponses.shared(), RESPONSES, counter, events);
        let steps: Vec<u32> = log.events().iter().map(|event| event.step).collect();
        assert_eq!(steps, [0, 1, 1], "{call}");
        assert_eq!(log.units().len(), 2, "{call}");
        let context = project(&log, None);
        assert!(
            context.pieces().all(|piece| matches!(piece.fate, PieceFate::Verbatim(_))),
            "{call}"
        );
    }
}

#[test]
fn sharegpt_is_counted_as_it_is_sent() {
    let counter = midfold::tokens::by_name("chars:1").unwrap();
    let inner = r#"{"tool_call_id": "c", "name": "f", "content": "\u65e5\u672c\u8a9e\u65e5"}"#;
    let value = format!("<tool_response>\n{inner}\n</tool_response>");
    let row = serde_json::json!({ "from": "tool", "value": value }).to_string();
    let events = [RawEvent::new(Bytes::from(row))];
    let log = EventLog::of(DialectKind::ShareGpt.shared(), SHAREGPT, counter.clone(), events);
    let counted = log.events()[0].tokens.total - counter.per_message();
    assert_eq!(counted as usize, value.chars().count());
}

/// Empty ids become ids that a provider takes, and each result stays with the call that it answers.
/// Mistral takes ids of nine letters and digits alone: a twin of one gets another one of those, in each dialect.
/// An id that a twin is given is no longer than its provider takes.
/// Half of a surrogate pair is no character: what is made of a text that holds one, or is cut in one, is JSON that
/// every reader takes, and what is not touched keeps its bytes.
#[test]
fn half_of_a_pair_gets_into_nothing_that_is_made() {
    let lone = r"half \ud83d of it, \ude00 the other. ";
    let pairs = r"\ud83d\ude00".repeat(700);
    for text in [lone.repeat(60), format!("x{pairs}"), format!("xy{pairs}")] {
        for preset in Policy::preset_names() {
            let mut messages = vec![r#"{"role":"system","content":"s"}"#.to_owned()];
            for n in 0..14 {
                messages.push(format!(r#"{{"role":"user","content":"Task {n}: {text}"}}"#));
                let arguments = format!(r#"{{\"text\":\"{}\"}}"#, text.replace('\\', "\\\\"));
                messages.push(format!(r#"{{"role":"assistant","content":"{text}","tool_calls":[{{"id":"c{n}","type":"function","function":{{"name":"write_file","arguments":"{arguments}"}}}}]}}"#));
                messages.push(format!(
                    r#"{{"role":"tool","tool_call_id":"c{n}","content":"error: {text}"}}"#
                ));
            }
            let counter = midfold::tokens::by_name("chars:3.2").unwrap();
            let events = messages.iter().map(|m| RawEvent::new(Bytes::from(m.clone())));
            let log = EventLog::of(DialectKind::OpenAiChat.shared(), OPENAI, counter, events);
            let policy = Policy::preset(preset).unwrap();
            let reserve = policy.trigger.injection_reserve;
            let budget = midfold::Budget::new(log.tokens() / 2 + reserve);
            let mut session = midfold::Session::over("s", log, policy, midfold::Meter::exact());
            let Ok(midfold::PlanOutcome::Folded(_)) = session.compact(&budget, None) else {
                continue;
            };
            for piece in session.view().pieces() {
                let json = serde_json::from_slice::<serde_json::Value>(&piece.bytes);
                let is_own = matches!(piece.fate, PieceFate::Verbatim(_) | PieceFate::Edited(_));
                let is_fine = json.is_ok() || is_own && text.contains("half");
                assert!(
                    is_fine,
                    "{preset}: {:?} {}",
                    piece.fate,
                    String::from_utf8_lossy(&piece.bytes)
                );
                if let PieceFate::Verbatim(seq) = piece.fate {
                    assert_eq!(piece.bytes, messages[seq as usize].as_bytes());
                }
            }
        }
    }
}

/// Results of the Responses API have kinds, and each call takes its own alone: another one is told as text, and the
/// call has none.
#[test]
fn a_result_of_the_wrong_kind_is_told_as_text() {
    let kind = DialectKind::OpenAiResponses;
    let calls =
        ["function_call", "custom_tool_call", "computer_call", "apply_patch_call", "shell_call"];
    for call in calls {
        for output in calls {
            let messages = [
                r#"{"role":"user","content":"go"}"#.to_owned(),
                format!(
                    r#"{{"type":"{call}","call_id":"a","name":"f","arguments":"{{}}","input":""}}"#
                ),
                format!(r#"{{"type":"{output}_output","call_id":"a","output":"the words of it"}}"#),
                r#"{"role":"user","content":"and now?"}"#.to_owned(),
            ];
            let texts: Vec<&str> = messages.iter().map(String::as_str).collect();
            // Also checks that the provider takes it, and that `verify` knows why it is so.
            let made = made(kind, RESPONSES, &texts);
            assert_eq!(
                made.repairs.is_empty(),
                call == output,
                "{call} {output}: {:?}",
                made.repairs
            );
            assert!(made.texts.join("").contains("the words of it"), "{call} {output}");
        }
    }
}

/// Half an emoji is what is left of one where a client cuts a text by its units of UTF-16.
#[test]
fn half_a_character_is_replaced() {
    let cases = [
        (
            DialectKind::OpenAiChat,
            OPENAI,
            r#"{"role":"user","content":"go \ud83d\ude80 on \uD83D"}"#,
            r#"{"role":"user","content":"go \ud83d\ude80 on \ufffd"}"#,
        ),
        (
            DialectKind::Anthropic,
            ANTHROPIC,
            r#"{"role":"user","content":[{"type":"text","text":"\\ud83d \ude00 and \ud83d\ud83d\ude00"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"\\ud83d \ufffd and \ufffd\ud83d\ude00"}]}"#,
        ),
        (
            DialectKind::OpenAiResponses,
            RESPONSES,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"x\udbff"}]}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"x\ufffd"}]}"#,
        ),
    ];
    for (kind, profile, message, whole) in cases {
        let violations =
            profile::validate(&[Bytes::from_static(message.as_bytes())], kind, &profile);
        assert_eq!(violations[0].rule, "half-character", "{kind}");
        let found = made(kind, profile, &[message]);
        assert_eq!(found.repairs, [RepairReason::HalfCharacter], "{kind}");
        assert_eq!(found.texts, [whole], "{kind}");
    }
    // In the arguments of a call, beside another repair.
    let found = made(
        DialectKind::Anthropic,
        ANTHROPIC,
        &[
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{"x":"\ud83d"}},{"type":"tool_use","id":"a","name":"b","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"\udc00"},{"type":"tool_result","tool_use_id":"a","content":"2"}]}"#,
        ],
    );
    assert_eq!(found.repairs, [RepairReason::DuplicateId; 2]);
    assert!(!found.texts.concat().contains(r"\ud83d") && !found.texts.concat().contains(r"\udc00"));
}

/// An answer that ended by its limit in the middle of a call.
#[test]
fn arguments_that_were_cut_are_an_object_where_the_provider_wants_one() {
    let cut = r#"{\"path\":\"a.rs\",\"text\":\"fn ma"#;
    let chat = [
        r#"{"role":"user","content":"go"}"#.to_owned(),
        format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"x","type":"function","function":{{"name":"f","arguments":"{cut}"}}}},{{"id":"y","type":"custom","custom":{{"name":"apply_patch","input":"*** Begin Patch"}}}}]}}"#
        ),
        r#"{"role":"tool","tool_call_id":"x","content":"invalid arguments"}"#.to_owned(),
        r#"{"role":"tool","tool_call_id":"y","content":"ok"}"#.to_owned(),
    ];
    let blocks = |calls: String, results: &str| {
        let user = r#"{"role":"user","content":[{"type":"text","text":"go"}]}"#.to_owned();
        [user, calls, format!(r#"{{"role":"user","content":[{results}]}}"#)]
    };
    let anthropic = blocks(
        format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"x","name":"f","input":"{cut}"}},{{"type":"tool_use","id":"y","name":"f","input":"{{\"a\":1}}"}},{{"type":"tool_use","id":"y","name":"f","input":""}}]}}"#
        ),
        r#"{"type":"tool_result","tool_use_id":"x","content":"1"},{"type":"tool_result","tool_use_id":"y","content":"2"},{"type":"tool_result","tool_use_id":"y","content":"3"}"#,
    );
    let held = r#"{\"cut_off_arguments\":\"{\\\"path\\\":\\\"a.rs\\\",\\\"text\\\":\\\"fn ma\"}"#;
    let cases: [(_, _, &[String], &[&str]); 3] = [
        (DialectKind::OpenAiChat, OPENAI, &chat, &[cut, "*** Begin Patch"]),
        (
            DialectKind::OpenAiChat,
            profile::of_model(DialectKind::OpenAiChat, "qwen3-coder"),
            &chat,
            &[held, r#""input":"*** Begin Patch""#],
        ),
        (
            DialectKind::Anthropic,
            ANTHROPIC,
            &anthropic,
            // The third call has the id of another one, and both repairs are made.
            &[
                &held.replace(r#"\\\""#, "\0").replace(r#"\""#, "\"").replace('\0', r#"\""#),
                r#""input":{"a":1}"#,
                r#""id":"y_2","name":"f","input":{}"#,
            ],
        ),
    ];
    for (kind, profile, messages, wanted) in cases {
        let texts: Vec<&str> = messages.iter().map(String::as_str).collect();
        let raw: Vec<_> = messages.iter().map(|text| Bytes::from(text.clone())).collect();
        let is_fine = profile.arguments == ArgumentForm::Text;
        let named = profile::validate(&raw, kind, &profile);
        assert_eq!(
            !named.iter().any(|found| found.rule == "arguments"),
            is_fine,
            "{}",
            profile.name
        );
        let found = made(kind, profile, &texts);
        assert_eq!(found.repairs.is_empty(), is_fine, "{:?}", found.repairs);
        for part in wanted {
            assert!(found.texts[1].contains(part), "{part} in {}", found.texts[1]);
        }
    }
}

/// Tools that the provider runs itself: call and result are blocks of the model's message.
#[test]
fn a_result_of_a_server_tool_without_its_call_leaves() {
    let user = r#"{"role":"user","content":[{"type":"text","text":"go"}]}"#;
    let kinds = [
        ("server_tool_use", "web_search_tool_result"),
        ("server_tool_use", "code_execution_tool_result"),
        ("server_tool_use", "advisor_tool_result"),
        ("server_tool_use", "tool_search_tool_result"),
        ("mcp_tool_use", "mcp_tool_result"),
    ];
    for (call, result) in kinds {
        let call = |id: &str| format!(r#"{{"type":"{call}","id":"{id}","name":"f","input":{{}}}}"#);
        let result =
            |id: &str| format!(r#"{{"type":"{result}","tool_use_id":"{id}","content":[]}}"#);
        let message = |blocks: &[String]| {
            format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","))
        };
        let text = r#"{"type":"text","text":"said"}"#.to_owned();
        let run = |messages: &[&str]| {
            let raw: Vec<_> = messages.iter().map(|it| Bytes::from((*it).to_owned())).collect();
            let found = profile::validate(&raw, DialectKind::Anthropic, &ANTHROPIC);
            (found.iter().map(|it| (it.rule, it.index)).collect::<Vec<_>>(), raw)
        };
        let lone = message(&[result("a"), text.clone(), call("b"), result("b")]);
        assert_eq!(run(&[user, &lone]).0, [("lone-server-result", 1)]);
        let found = made(DialectKind::Anthropic, ANTHROPIC, &[user, &lone]);
        assert_eq!(found.repairs, [RepairReason::LoneServerResult]);
        assert_eq!(found.texts[1], message(&[text.clone(), call("b"), result("b")]));
        let found =
            made(DialectKind::Anthropic, ANTHROPIC, &[user, &message(&[result("a")]), user]);
        assert!(found.texts[1].contains("whose call is gone"), "{}", found.texts[1]);
        // The result of a call comes behind those of the client's tools that the call uses.
        let uses = r#"{"type":"tool_use","id":"c","name":"f","input":{}}"#.to_owned();
        let answers =
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"1"}]}"#;
        let (first, last) = (message(&[call("b"), uses]), message(&[result("b"), text.clone()]));
        assert_eq!(run(&[user, &first, answers, &last]).0, []);
        assert_eq!(run(&[user, &first, answers]).0, []);
        let open = run(&[user, &first, answers, &message(std::slice::from_ref(&text)), user]);
        assert_eq!(open.0, [("lone-server-call", 1)]);
    }
}

/// A client that writes the user's words in front of the results.
#[test]
fn results_behind_words_move_to_the_front() {
    let user = r#"{"role":"user","content":"go"}"#;
    let calls = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]}"#;
    let word = r#"{"type":"text","text":"and faster"}"#;
    let result = |id: &str| {
        format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{id} is done"}}"#)
    };
    let answers =
        |blocks: [&str; 3]| format!(r#"{{"role":"user","content":[{}]}}"#, blocks.join(", "));
    let (a, b) = (result("a"), result("b"));
    for blocks in [[word, &a, &b], [&a, word, &b]] {
        let run = |kind, profile| made(kind, profile, &[user, calls, &answers(blocks)]);
        let found = run(DialectKind::Anthropic, ANTHROPIC);
        assert_eq!(found.repairs, [RepairReason::ResultsBehind]);
        assert_eq!(found.texts[2], format!(r#"{{"role":"user","content":[{a},{b},{word}]}}"#));
    }
    let found = made(DialectKind::Anthropic, ANTHROPIC, &[user, calls, &answers([&a, &b, word])]);
    assert_eq!(found.repairs, []);
}

/// A message of a client's own shape among a provider's says what it says, in its source.
#[test]
fn a_message_of_another_shape_is_told_by_its_source() {
    for (kind, profile, first) in [
        (DialectKind::OpenAiChat, OPENAI, r#"{"role":"user","content":"go"}"#),
        (DialectKind::Anthropic, ANTHROPIC, r#"{"role":"user","content":"go"}"#),
        (DialectKind::Gemini, GEMINI, r#"{"role":"user","parts":[{"text":"go"}]}"#),
    ] {
        let odd = r#"{"role":"assistant","text":"never touch the tests"}"#;
        let odd = if kind == DialectKind::Gemini {
            odd.replace("assistant", "model")
        } else {
            odd.to_owned()
        };
        let found = made(kind, profile, &[first, &odd]);
        assert_eq!(found.repairs, [RepairReason::OtherShape], "{kind}");
        assert!(found.texts[1].contains("never touch the tests"), "{}", found.texts[1]);
    }
}
