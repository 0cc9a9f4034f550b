use midfold_core::ProviderProfile;
use midfold_core::profile::ReasoningText;

use super::*;
use crate::profile;

fn run(from: DialectKind, to: DialectKind, events: &[&str]) -> (Vec<String>, ConvertedMessages) {
    let views: Vec<_> = events.iter().map(|e| from.dialect().view(e.as_bytes())).collect();
    let pairs: Vec<_> = events.iter().map(|e| e.as_bytes()).zip(&views).collect();
    let converted = convert_all(&pairs, from, to);
    for profile in profile::for_dialect(to).iter().filter(|profile| profile.name != "strict") {
        // What lacks reasoning is filled where a context is made of the messages.
        let profile = ProviderProfile { reasoning_text: ReasoningText::Free, ..*profile };
        assert_eq!(profile::validate(&converted.messages, to, &profile), [], "{}", profile.name);
    }
    for message in &converted.messages {
        serde_json::from_slice::<serde_json::Value>(message).unwrap();
    }
    let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    (converted.messages.iter().map(text).collect(), converted)
}

const RESPONSES: &[&str] = &[
    r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}"#,
    r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}"#,
    r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"think"}],"encrypted_content":"zzz"}"#,
    r#"{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"p\":1.0}"}"#,
    r#"{"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin"}"#,
    r#"{"type":"function_call_output","call_id":"c1","output":"a.rs"}"#,
    r#"{"type":"custom_tool_call_output","call_id":"c2","output":"ok"}"#,
    r#"{"type":"compaction","encrypted_content":"blob"}"#,
    r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}"#,
];

#[test]
fn responses_items_become_chat_messages() {
    let (messages, converted) =
        run(DialectKind::OpenAiResponses, DialectKind::OpenAiChat, RESPONSES);
    assert_eq!(
        messages,
        [
            r#"{"role":"developer","content":"rules"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#,
            r#"{"role":"assistant","content":null,"reasoning_content":"think","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"p\":1.0}"}},{"id":"c2","type":"function","function":{"name":"apply_patch","arguments":"*** Begin"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c1","content":"a.rs"}"#,
            r#"{"role":"tool","tool_call_id":"c2","content":"ok"}"#,
            r#"{"role":"assistant","content":"done"}"#,
        ]
    );
    let problems: Vec<_> = converted.problems.iter().map(|p| (p.code, p.at)).collect();
    assert_eq!(problems, [("encrypted-reasoning", Some(2)), ("opaque-block", Some(7))]);
}

#[test]
fn responses_items_become_turns_that_read_as_they_did() {
    let (turns, converted) = run(DialectKind::OpenAiResponses, DialectKind::ShareGpt, RESPONSES);
    assert_eq!(
        turns,
        [
            r#"{"from":"system","value":"rules"}"#,
            r#"{"from":"human","value":"look"}"#,
            r#"{"from":"gpt","value":"<think>\nthink\n</think>\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"p\":1.0}}\n</tool_call>\n<tool_call>\n{\"name\": \"apply_patch\", \"arguments\": \"*** Begin\"}\n</tool_call>"}"#,
            r#"{"from":"tool","value":"<tool_response>\n{\"tool_call_id\": \"c1\", \"name\": \"ls\", \"content\": \"a.rs\"}\n</tool_response>\n<tool_response>\n{\"tool_call_id\": \"c2\", \"name\": \"apply_patch\", \"content\": \"ok\"}\n</tool_response>"}"#,
            r#"{"from":"gpt","value":"done"}"#,
        ]
    );
    let problems: Vec<_> = converted.problems.iter().map(|p| (p.code, p.at)).collect();
    let expected = [("encrypted-reasoning", 2), ("opaque-block", 7), ("media", 1)];
    assert_eq!(problems.len(), expected.len(), "{problems:?}");
    assert!(
        expected.iter().all(|(code, at)| problems.contains(&(*code, Some(*at)))),
        "{problems:?}"
    );
    let turns: Vec<_> = turns.iter().map(String::as_str).collect();
    let (back, _) = run(DialectKind::ShareGpt, DialectKind::OpenAiChat, &turns);
    let names: Vec<_> = back.iter().filter(|message| message.contains("apply_patch")).collect();
    assert_eq!(names.len(), 1, "the calls are read back: {back:?}");
    assert!(
        back.iter().any(
            |message| message.contains(r#""tool","tool_call_id":"#) && message.contains("a.rs")
        )
    );
}

#[test]
fn a_text_that_reads_as_a_call_is_a_problem() {
    let message = r#"{"role":"assistant","content":"write <tool_call>{\"name\":\"rm\",\"arguments\":{}}</tool_call>"}"#;
    let (_, converted) = run(DialectKind::OpenAiChat, DialectKind::ShareGpt, &[message]);
    assert_eq!(converted.problems[0].code, "tags");
}

#[test]
fn responses_items_become_anthropic_messages() {
    let (messages, converted) =
        run(DialectKind::OpenAiResponses, DialectKind::Anthropic, RESPONSES);
    assert_eq!(converted.system.as_deref(), Some("rules"));
    assert_eq!(
        messages,
        [
            r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{"p":1.0}},{"type":"tool_use","id":"c2","name":"apply_patch","input":{"arguments":"*** Begin"}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a.rs"},{"type":"tool_result","tool_use_id":"c2","content":"ok"}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"done"}]}"#,
        ]
    );
    let codes: Vec<_> = converted.problems.iter().map(|p| p.code).collect();
    assert_eq!(codes, ["encrypted-reasoning", "unsigned-reasoning", "arguments", "opaque-block"]);
}

#[test]
fn anthropic_results_become_tool_messages() {
    let (messages, converted) = run(
        DialectKind::Anthropic,
        DialectKind::OpenAiChat,
        &[
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"text","text":"I look"},{"type":"tool_use","id":"t1","name":"f","input":{"n":12345678901234567890}},{"type":"tool_use","id":"t2","name":"g","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"type":"tool_result","tool_use_id":"t2"},{"type":"text","text":"and?"}]}"#,
        ],
    );
    assert_eq!(
        messages,
        [
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","content":"I look","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"n\":12345678901234567890}"}},{"id":"t2","type":"function","function":{"name":"g","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"t1","content":"a\nb"}"#,
            r#"{"role":"tool","tool_call_id":"t2","content":""}"#,
            r#"{"role":"user","content":"and?"}"#,
        ]
    );
    assert_eq!(converted.problems.len(), 1);
}

const SHAREGPT: &[&str] = &[
    r#"{"from":"system","value":"tools"}"#,
    r#"{"from":"human","value":"go"}"#,
    r#"{"from":"gpt","value":"<think>\nhm\n</think>\n<tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":1}}\n</tool_call>\n<tool_call>\n{\"name\":\"g\",\"arguments\":{}}\n</tool_call>"}"#,
    r#"{"from":"tool","value":"<tool_response>\n{\"tool_call_id\":\"x\",\"name\":\"f\",\"content\":\"one\"}\n</tool_response>\n<tool_response>\n{\"name\":\"g\",\"content\":{\"k\":2}}\n</tool_response>"}"#,
    r#"{"from":"gpt","value":"<think>\n</think>\ndone"}"#,
];

#[test]
fn sharegpt_pairs_by_order() {
    let (messages, _) = run(DialectKind::ShareGpt, DialectKind::OpenAiChat, SHAREGPT);
    assert_eq!(
        messages[2..5],
        [
            r#"{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"call_0","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"call_1","type":"function","function":{"name":"g","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"call_0","content":"one"}"#,
            r#"{"role":"tool","tool_call_id":"call_1","content":"{\"k\":2}"}"#,
        ]
    );
    let (messages, converted) = run(DialectKind::ShareGpt, DialectKind::Anthropic, SHAREGPT);
    assert_eq!(converted.system.as_deref(), Some("tools"));
    assert_eq!(
        messages[2],
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"one"},{"type":"tool_result","tool_use_id":"call_1","content":"{\"k\":2}"}]}"#
    );
}

#[test]
fn chat_becomes_anthropic() {
    let (messages, converted) = run(
        DialectKind::OpenAiChat,
        DialectKind::Anthropic,
        &[
            r#"{"role":"system","content":"a"}"#,
            r#"{"role":"developer","content":"b"}"#,
            r#"{"role":"user","content":""}"#,
            r#"{"role":"assistant","content":null,"function_call":{"name":"f.x","arguments":"{broken"}}"#,
            r#"{"role":"function","name":"f.x","content":"1"}"#,
            r#"{"role":"assistant","content":""}"#,
            r#"{"role":"system","content":"late"}"#,
        ],
    );
    assert_eq!(converted.system.as_deref(), Some("a\n\nb"));
    assert_eq!(
        messages,
        [
            r#"{"role":"user","content":[{"type":"text","text":"(empty)"}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"f_x","input":{"cut_off_arguments":"{broken"}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"1"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"late"}]}"#,
        ]
    );
    let codes: Vec<_> = converted.problems.iter().map(|p| (p.code, p.at)).collect();
    assert_eq!(codes, [("arguments", Some(3)), ("system-inside", Some(6))]);
}

#[test]
fn the_same_dialect_keeps_the_bytes() {
    let odd = br#"{ "role" : "exit", "x":1.0 }"#;
    let view = DialectKind::OpenAiChat.dialect().view(odd);
    let (messages, problems) =
        convert(odd, &view, DialectKind::OpenAiChat, DialectKind::OpenAiChat);
    assert_eq!(messages, [Bytes::from_static(odd)]);
    assert!(problems.is_empty());
    let (messages, problems) =
        convert(odd, &view, DialectKind::OpenAiChat, DialectKind::OpenAiResponses);
    assert!(messages.is_empty());
    assert_eq!(problems[0].code, "unsupported-conversion");
}

/// A target gets nothing that it does not take in a role, and the conversion reports it.
#[test]
fn pictures_and_calls_in_other_roles_are_problems() {
    let picture = r#"{"inlineData":{"mimeType":"image/png","data":"AAAA"}}"#;
    let message = format!(r#"{{"role":"model","parts":[{{"text":"here"}},{picture}]}}"#);
    let bare = format!(r#"{{"role":"model","parts":[{picture}]}}"#);
    let call = r#"{"role":"user","parts":[{"functionCall":{"name":"f","args":{}}}]}"#;
    let user = |text: &str| format!(r#"{{"role":"user","parts":[{{"text":"{text}"}}]}}"#);
    let events = [&user("a")[..], &message, &user("b"), &bare, &user("c"), call, &user("d")];
    for to in TARGETS.into_iter().filter(|to| *to != DialectKind::Gemini) {
        let (messages, converted) = run(DialectKind::Gemini, to, &events);
        assert!(messages.iter().all(|message| !message.contains("AAAA")), "{to} {messages:?}");
        assert!(!messages.concat().contains("\"f\""), "{to} {messages:?}");
        let problems: Vec<_> = converted.problems.iter().map(|p| (p.code, p.at)).collect();
        let wanted = [("media", Some(1)), ("media", Some(3)), ("unsupported-conversion", Some(5))];
        assert_eq!(problems, wanted, "{to}");
        // Nothing that was said is lost, and no message is empty.
        let texts = ["a", "here", "b", "c", "d"];
        assert!(texts.iter().all(|text| messages.concat().contains(text)), "{to} {messages:?}");
        assert!(!messages.concat().contains("(empty)"), "{to} {messages:?}");
    }
    // Gemini takes pictures of its models.
    let anthropic = r#"{"role":"assistant","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}"#;
    let (messages, converted) = run(
        DialectKind::Anthropic,
        DialectKind::Gemini,
        &[r#"{"role":"user","content":"a"}"#, anthropic],
    );
    assert_eq!(messages[1], format!(r#"{{"role":"model","parts":[{picture}]}}"#));
    assert!(converted.problems.is_empty());
    // A system message has a text alone, wherever it goes.
    let system = r#"{"role":"system","content":[{"type":"text","text":"s"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#;
    for to in TARGETS.into_iter().filter(|to| *to != DialectKind::OpenAiChat) {
        let user = r#"{"role":"user","content":"a"}"#;
        let (messages, converted) = run(DialectKind::OpenAiChat, to, &[system, user]);
        assert!(!messages.concat().contains("AAAA"), "{to}");
        let problems: Vec<_> = converted.problems.iter().map(|p| (p.code, p.at)).collect();
        assert_eq!(problems, [("media", Some(0))], "{to}");
    }
}

#[test]
fn a_system_message_inside_is_told_also_where_it_is_merged() {
    let events = [
        r#"{"role":"user","content":"a"}"#,
        r#"{"role":"system","content":"from now on in French"}"#,
        r#"{"role":"user","content":"b"}"#,
        r#"{"role":"assistant","content":"c"}"#,
    ];
    for to in [DialectKind::Anthropic, DialectKind::Gemini, DialectKind::Bedrock] {
        let (messages, converted) = run(DialectKind::OpenAiChat, to, &events);
        assert!(messages.concat().contains("French"), "{to}");
        assert!(messages[0].starts_with(r#"{"role":"user""#), "{to}");
        let problems: Vec<_> = converted.problems.iter().map(|p| (p.code, p.at)).collect();
        assert_eq!(problems, [("system-inside", Some(1))], "{to}");
    }
}

#[test]
fn no_user_message_is_empty() {
    let events = [
        r#"{"role":"user","content":[]}"#,
        r#"{"role":"assistant","content":"ok"}"#,
        r#"{"role":"user","content":[{"type":"text","text":" "},{"type":"text","text":"go"}]}"#,
    ];
    let (messages, _) = run(DialectKind::Anthropic, DialectKind::OpenAiChat, &events);
    assert_eq!(messages[0], r#"{"role":"user","content":"(empty)"}"#);
    assert_eq!(messages[2], r#"{"role":"user","content":"go"}"#);
}

#[test]
fn a_result_without_an_id_answers_a_call_of_its_tool() {
    let events = [
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"x","function":{"name":"foo","arguments":{}}},{"function":{"name":"bar","arguments":{}}}]}"#,
        r#"{"role":"tool","tool_name":"foo","content":"of foo"}"#,
        r#"{"role":"tool","tool_name":"bar","content":"of bar"}"#,
    ];
    let (messages, _) = run(DialectKind::Ollama, DialectKind::OpenAiChat, &events);
    assert_eq!(messages[1], r#"{"role":"tool","tool_call_id":"x","content":"of foo"}"#);
    assert_eq!(messages[2], r#"{"role":"tool","tool_call_id":"call_0","content":"of bar"}"#);
}

#[test]
fn a_made_up_id_is_none_of_the_source() {
    let events = [
        r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"a","arguments":{}}},{"id":"call_0","function":{"name":"b","arguments":{}}}]}"#,
        r#"{"role":"tool","tool_call_id":"call_0","tool_name":"b","content":"of b"}"#,
        r#"{"role":"tool","tool_name":"a","content":"of a"}"#,
    ];
    let (messages, _) = run(DialectKind::Ollama, DialectKind::OpenAiChat, &events);
    assert!(messages[0].contains(r#"{"id":"call_1","type":"function","function":{"name":"a""#));
    assert_eq!(messages[1], r#"{"role":"tool","tool_call_id":"call_0","content":"of b"}"#);
    assert_eq!(messages[2], r#"{"role":"tool","tool_call_id":"call_1","content":"of a"}"#);
}

#[test]
fn a_result_without_a_call_has_an_id_of_its_own() {
    let events = [
        r#"{"role":"tool","tool_name":"lost","content":"?"}"#,
        r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"a","arguments":{}}}]}"#,
        r#"{"role":"tool","tool_name":"a","content":"of a"}"#,
    ];
    let views = events.map(|event| DialectKind::Ollama.dialect().view(event.as_bytes()));
    let pairs: Vec<_> = events.iter().map(|event| event.as_bytes()).zip(&views).collect();
    // The result without a call stays in the messages, which the profiles report; so `run` does not fit.
    let messages = convert_all(&pairs, DialectKind::Ollama, DialectKind::OpenAiChat).messages;
    assert_eq!(&messages[0][..], br#"{"role":"tool","tool_call_id":"call_0","content":"?"}"#);
    assert!(String::from_utf8_lossy(&messages[1]).contains(r#""id":"call_1""#));
    assert_eq!(&messages[2][..], br#"{"role":"tool","tool_call_id":"call_1","content":"of a"}"#);
}

/// A result of `ShareGPT` takes the name of its call. Without a call it keeps the name that it has itself.
#[test]
fn a_result_in_a_string_has_a_name() {
    let result = r#"{"from":"tool","value":"<tool_response>\n{\"name\":\"f\",\"content\":\"one\"}\n</tool_response>"}"#;
    let call =
        r#"{"from":"gpt","value":"<tool_call>\n{\"name\":\"g\",\"arguments\":{}}\n</tool_call>"}"#;
    for (events, name) in [(&[result][..], "f"), (&[call, result], "g")] {
        let from = DialectKind::ShareGpt;
        let views: Vec<_> = events.iter().map(|e| from.dialect().view(e.as_bytes())).collect();
        let pairs: Vec<_> = events.iter().map(|e| e.as_bytes()).zip(&views).collect();
        let converted = convert_all(&pairs, from, DialectKind::Gemini);
        let last = String::from_utf8_lossy(converted.messages.last().unwrap());
        assert!(last.contains(&format!(r#""name":"{name}""#)), "{last}");
    }
}

#[test]
fn the_type_of_a_picture_may_have_capitals() {
    let event = |mime: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:{mime};base64,AAAA"}}}}]}}"#
        )
    };
    for to in [DialectKind::Anthropic, DialectKind::Gemini, DialectKind::Bedrock] {
        for [written, usual] in [["image/PNG", "image/png"], ["Image/JPG", "image/jpeg"]] {
            let converted = run(DialectKind::OpenAiChat, to, &[&event(written)]);
            assert_eq!(
                converted,
                run(DialectKind::OpenAiChat, to, &[&event(usual)]),
                "{to} {written}"
            );
            assert!(converted.1.problems.is_empty(), "{to} {written}");
        }
    }
}

#[test]
fn an_id_that_two_steps_have_is_another_one_in_the_later_step() {
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#;
    let result = |text: &str| format!(r#"{{"role":"tool","tool_call_id":"a","content":"{text}"}}"#);
    let (first, second) = (result("one"), result("two"));
    let events = [r#"{"role":"user","content":"look"}"#, call, &first, call, &second];
    for to in TARGETS.into_iter().filter(|to| *to != DialectKind::OpenAiChat) {
        run(DialectKind::OpenAiChat, to, &events);
    }
    let (messages, _) = run(DialectKind::OpenAiChat, DialectKind::Anthropic, &events);
    assert!(messages[2].contains(r#""tool_use_id":"a""#) && messages[2].contains("one"));
    assert!(messages[3].contains(r#""id":"call_0""#), "{}", messages[3]);
    assert!(messages[4].contains(r#""tool_use_id":"call_0""#) && messages[4].contains("two"));
}

/// Servers that give no ids write the same one for each call, or an empty one.
#[test]
fn calls_with_one_id_have_results_of_their_own_tools() {
    for id in ["x", ""] {
        let calls = ["f", "g"].map(|name| {
            format!(r#"{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}"#)
        });
        let calls =
            format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","));
        let result = |name: &str| {
            format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"result of {name}"}}"#)
        };
        let events = [calls, result("f"), result("g")];
        let from = DialectKind::OpenAiChat;
        let views: Vec<_> = events.iter().map(|e| from.dialect().view(e.as_bytes())).collect();
        let pairs: Vec<_> = events.iter().map(|e| e.as_bytes()).zip(&views).collect();
        for to in [DialectKind::Gemini, DialectKind::Ollama] {
            let messages = convert_all(&pairs, from, to).messages;
            let text: String =
                messages.iter().map(|message| String::from_utf8_lossy(message)).collect();
            let names = |mark: &str| {
                text.split(mark).skip(1).map(|rest| rest[..1].to_owned()).collect::<Vec<_>>()
            };
            let results = if to == DialectKind::Gemini {
                names(r#""functionResponse":{"name":""#)
            } else {
                names(r#""tool_name":""#)
            };
            let other = names(r#""name":""#);
            assert!(results == ["f", "g"] || other == ["f", "g", "f", "g"], "{to} {text}");
            assert!(text.find("result of f") < text.find("result of g"), "{text}");
            assert!(!text.contains(r#""id":"""#), "{text}");
        }
    }
}
