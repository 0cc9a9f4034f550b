use bytes::Bytes;
use proptest::prelude::*;

use super::*;

fn request(kind: DialectKind, body: &str) -> Request {
    Request::read(kind, Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

#[test]
fn what_stands_beside_the_messages_is_found() {
    let body = r#" {"model":"gpt","stream":true,"instructions":"be brief","tools":[{"a":1}],
        "input":[{"role":"user","content":"hi"}],"max_output_tokens":77,"previous_response_id":"resp_1"} "#;
    let read = request(DialectKind::OpenAiResponses, body);
    assert_eq!(read.system.as_deref(), Some(&b"\"be brief\""[..]));
    assert_eq!(read.tools.as_deref(), Some(&br#"[{"a":1}]"#[..]));
    assert_eq!((read.stream, read.max_output), (true, Some(77)));
    assert_eq!(read.previous_response.as_deref(), Some("resp_1"));
    let gemini = request(
        DialectKind::Gemini,
        r#"{"contents":[],"systemInstruction":{"parts":[]},"generationConfig":{"maxOutputTokens":9}}"#,
    );
    assert_eq!((gemini.max_output, gemini.is_empty()), (Some(9), true));
}

#[test]
fn gemini_is_read_in_either_spelling() {
    let read = |body: &str| request(DialectKind::Gemini, body);
    let one = read(
        r#"{"contents":[],"system_instruction":{"parts":[]},"generation_config":{"max_output_tokens":9}}"#,
    );
    assert_eq!((one.max_output, one.system.is_some()), (Some(9), true));
    for config in ["response_schema", "response_json_schema", "responseSchema"] {
        let body = format!(r#"{{"contents":[],"generation_config":{{"{config}":{{}}}}}}"#);
        assert!(read(&body).asks_for_a_value(), "{body}");
    }
    assert!(
        read(r#"{"contents":[],"generation_config":{"response_mime_type":"application/json"}}"#)
            .asks_for_a_value()
    );
    let forced = r#"{"contents":[],"tools":[{"function_declarations":[{"name":"a"}]}],"tool_config":{"function_calling_config":{"mode":"ANY"}}}"#;
    assert!(read(forced).has_to_call() && read(forced).asks_for_a_value());
    let body = Bytes::from(r#"{"contents":[],"generation_config":{"max_output_tokens":99}}"#);
    let shorter = r#"{"contents":[],"generation_config":{"max_output_tokens":50}}"#;
    assert_eq!(with_shorter_reply(&body, 50), shorter);
}

#[test]
fn every_kind_of_tool_has_its_name() {
    let chat = |name: &str, choice: &str| {
        let call = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"edit","input":"x"}}]}"#;
        let body = format!(
            r#"{{"messages":[{call}],"tools":[{{"type":"custom","custom":{{"name":"{name}"}}}}],"tool_choice":{choice}}}"#
        );
        request(DialectKind::OpenAiChat, &body)
    };
    let forced = r#"{"type":"custom","custom":{"name":"edit"}}"#;
    assert_eq!(chat("edit", forced).tool_names(), ["edit"]);
    assert!(!chat("edit", forced).has_foreign_calls() && chat("edit", forced).has_to_call());
    assert!(chat("other", forced).has_foreign_calls());
    let limited = r#"{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[]}}"#;
    assert!(chat("edit", limited).has_to_call());
    let older = request(
        DialectKind::OpenAiChat,
        r#"{"messages":[{"role":"assistant","content":null,"function_call":{"name":"ls","arguments":"{}"}}],
            "functions":[{"name":"ls"}],"function_call":{"name":"ls"}}"#,
    );
    assert_eq!(older.tool_names(), ["ls"]);
    assert!(older.has_to_call() && !older.has_foreign_calls());
    let responses = request(
        DialectKind::OpenAiResponses,
        r#"{"input":[{"type":"function_call","call_id":"c","name":"ls","namespace":"files","arguments":"{}"}],
            "tools":[{"type":"namespace","name":"files","tools":[{"type":"function","name":"ls"}]},
                {"type":"web_search"}],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[]}}"#,
    );
    assert_eq!(responses.tool_names(), ["ls", ""]);
    assert!(responses.has_to_call() && !responses.has_foreign_calls());
    // A turn that wants a form has tools all the same.
    let formed = |item: &str| {
        let body = format!(
            r#"{{"input":[{item}],"tools":[],"text":{{"format":{{"type":"json_schema"}}}}}}"#
        );
        request(DialectKind::OpenAiResponses, &body).asks_for_a_value()
    };
    assert!(formed(r#"{"role":"user","content":"a"}"#));
    assert!(!formed(
        r#"{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"ls"}]}"#
    ));
}

#[test]
fn ollama_says_how_much_its_model_holds_and_streams_unless_told_not_to() {
    let read = |body| request(DialectKind::Ollama, body);
    let one = read(
        r#"{"model":"m","messages":[],"options":{"num_ctx":8192,"num_predict":512},"think":"high","stream":false}"#,
    );
    assert_eq!((one.window, one.max_output, one.stream), (Some(8_192), Some(512), false));
    assert!(one.asks_reasoning);
    let bare = read(r#"{"messages":[],"options":{"num_predict":-1,"num_ctx":0},"think":false}"#);
    assert_eq!((bare.window, bare.max_output, bare.stream), (None, None, true));
    assert!(!bare.asks_reasoning);
    assert!(read(r#"{"messages":[],"format":{"type":"object"}}"#).asks_for_a_value());
    let chat = request(DialectKind::OpenAiChat, r#"{"messages":[],"options":{"num_ctx":8192}}"#);
    assert_eq!((chat.window, chat.stream), (None, false), "its server reads no such options");
}

#[test]
fn what_is_too_much_is_known_before_it_is_there() {
    let read = |kind, body: &str, messages, memory| {
        let body = Bytes::copy_from_slice(body.as_bytes());
        Request::read_knowing(kind, body, &|_| None, Bounds { messages, memory })
    };
    let kinds = [
        (DialectKind::OpenAiChat, "messages"),
        (DialectKind::OpenAiResponses, "input"),
        (DialectKind::Anthropic, "messages"),
        (DialectKind::Gemini, "contents"),
    ];
    for (kind, list) in kinds {
        // The scanner does not check commas: a list without them has the same elements.
        for element in ["1,", "{},", "[]", "\"\"", "{\"role\":\"user\",\"content\":\"a\"},"] {
            let many = |count| format!("{{\"{list}\":[{}]}}", element.repeat(count));
            assert_eq!(read(kind, &many(10), 10, usize::MAX).unwrap().len(), 10, "{element}");
            let over = read(kind, &many(11), 10, usize::MAX).unwrap_err();
            assert_eq!(over, RequestError::Over(BoundsError::Messages(10)), "{element}");
            assert_eq!(
                read(kind, &many(11), 99, 20_000).unwrap_err(),
                RequestError::Over(BoundsError::Memory(20_000))
            );
        }
        let ones = "1,".repeat(1_000);
        for body in [
            format!("{{\"{list}\":[{{\"role\":\"user\",\"content\":[{ones}1]}}]}}"),
            format!("{{\"{list}\":[],\"tools\":[{ones}1]}}"),
            format!("{{{}\"{list}\":[]}}", "\"\":1,".repeat(1_000)),
            format!("{{\"{list}\":[]{}}}", ",\"messages\":[1]".repeat(1_000)),
        ] {
            assert_eq!(
                read(kind, &body, 2_000, 50_000).unwrap_err(),
                RequestError::Over(BoundsError::Memory(50_000))
            );
        }
        // A text is one part, whatever is in it, and depth costs nothing by itself.
        let text = "{},[1,\\\"".repeat(10_000);
        let long = format!("{{\"{list}\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}");
        assert!(read(kind, &long, 1, 2_048).is_ok());
    }
}

#[test]
fn a_text_is_a_message_of_the_user() {
    let read = request(DialectKind::OpenAiResponses, r#"{"input":"hi\n","store":false}"#);
    assert_eq!(read.message(0), r#"{"role":"user","content":"hi\n"}"#);
    assert!(read.is_unstored && read.len() == 1);
    let twice = read.with_messages([read.message(0), read.message(0)]);
    assert_eq!(
        request(DialectKind::OpenAiResponses, std::str::from_utf8(&twice).unwrap()).len(),
        2
    );
    let thread = r#"{"messages":[],"thread":{"type":"continue","previous_message_id":"m"}}"#;
    assert!(request(DialectKind::Anthropic, thread).continues_thread);
}

#[test]
fn what_is_no_request_says_why() {
    let read = |body: &str| {
        Request::read(DialectKind::Anthropic, Bytes::copy_from_slice(body.as_bytes())).unwrap_err()
    };
    assert_eq!(read("[1]"), RequestError::NotAnObject);
    assert_eq!(read(""), RequestError::NotAnObject);
    assert_eq!(read(r#"{"messages":"hi"}"#), RequestError::NoMessages("messages"));
    assert_eq!(read(r#"{"messages":[{}"#), RequestError::Broken);
    assert_eq!(read(r#"{"messages":[]} x"#), RequestError::Broken);
}

#[test]
fn a_member_can_be_left_out() {
    for (from, to) in [
        (r#"{"a":1, "x": [2] ,"b":3}"#, r#"{"a":1,"b":3}"#),
        (r#"{"x":1}"#, "{}"),
        (r#"{ "x":1,"b":2 }"#, r#"{ "b":2 }"#),
        (r#"{"b":2}"#, r#"{"b":2}"#),
        (r#"{"x":1,"b":2,"x":3}"#, r#"{"b":2}"#),
    ] {
        assert_eq!(without_member(&Bytes::from(from), "x"), to, "{from}");
    }
}

#[test]
fn marks_are_cut_out_and_nothing_else() {
    for (from, to) in [
        (
            r#"{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#,
        ),
        (r#"{"cache_control":{"a":1},"role":"user"}"#, r#"{"role":"user"}"#),
        (r#"{"cache_control":null}"#, "{}"),
        (r#"{"cache_control":1,"cache_control":2,"b":3,"cache_control":4}"#, r#"{"b":3}"#),
        (
            r#"{"content":[{"type":"tool_result","content":[{"text":"x","cache_control":{}}]}]}"#,
            r#"{"content":[{"type":"tool_result","content":[{"text":"x"}]}]}"#,
        ),
        // Members in the arguments of a call are no marks.
        (
            r#"{"content":[{"type":"tool_use","input":{"cache_control":"no-store"}}]}"#,
            r#"{"content":[{"type":"tool_use","input":{"cache_control":"no-store"}}]}"#,
        ),
        (r#"{"content":"cache_control"}"#, r#"{"content":"cache_control"}"#),
    ] {
        assert_eq!(without_marks(&Bytes::from(from)), to, "{from}");
    }
}

#[test]
fn identities_ignore_what_clients_rewrite() {
    let same = |kind, a: &str, b: &str| {
        assert_eq!(identity(kind, a.as_bytes()), identity(kind, b.as_bytes()), "{a}\n{b}");
    };
    let differ = |kind, a: &str, b: &str| {
        assert_ne!(identity(kind, a.as_bytes()), identity(kind, b.as_bytes()), "{a}\n{b}");
    };
    let (chat, responses, anthropic) =
        (DialectKind::OpenAiChat, DialectKind::OpenAiResponses, DialectKind::Anthropic);
    same(
        chat,
        r#"{"role":"tool","tool_call_id":"call_1","content":"x"}"#,
        r#"{ "role": "tool", "tool_call_id": "call1", "content": "x" }"#,
    );
    same(
        responses,
        r#"{"type":"function_call","id":"fc_1","status":"completed","call_id":"c","arguments":"{}"}"#,
        r#"{"type":"function_call","call_id":"c","arguments":"{}"}"#,
    );
    same(
        anthropic,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu-1","name":"a","input":{}}]}"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu1","name":"a","input":{},"cache_control":{"type":"ephemeral"}}]}"#,
    );
    // An id in the arguments of a call is no call id.
    differ(
        anthropic,
        r#"{"content":[{"type":"tool_use","input":{"id":"a-b"}}]}"#,
        r#"{"content":[{"type":"tool_use","input":{"id":"ab"}}]}"#,
    );
    differ(chat, r#"{"role":"user","content":"a"}"#, r#"{"role":"user","content":"b"}"#);
    // Items have ids of their own; messages of other formats do not.
    differ(chat, r#"{"status":"a"}"#, r#"{"status":"b"}"#);
}

#[test]
fn a_message_of_nested_lists_does_not_exhaust_the_stack() {
    let (open, close) = ("[".repeat(200_000), "]".repeat(200_000));
    for kind in DialectKind::ALL {
        let deep = |inner: &str| {
            let text =
                format!(r#"{{"role":"user","content":{open}{inner}{close},"cache_control":1}}"#);
            Bytes::from(text)
        };
        let (one, two) = (deep("1"), deep("2"));
        assert_ne!(identity(kind, &one), identity(kind, &two));
        let bare = without_marks(&one);
        assert_eq!(bare.len(), one.len() - r#","cache_control":1"#.len());
        assert_eq!(identity(kind, &bare), identity(kind, &one));
    }
}

/// A request in which these texts are the system prompt and the last message.
fn spoken(kind: DialectKind, system: &str, last: &str) -> Request {
    let (system, last) = (serde_json::json!(system), serde_json::json!(last));
    let ok = r#"{"role":"user","content":"task"},{"role":"assistant","content":"ok"}"#;
    let body = match kind {
        DialectKind::Gemini => format!(
            r#"{{"system_instruction":{{"parts":[{{"text":{system}}}]}},"contents":[{{"role":"user","parts":[{{"text":{last}}}]}}]}}"#
        ),
        DialectKind::OpenAiResponses => format!(
            r#"{{"instructions":{system},"input":[{ok},{{"role":"user","content":[{{"type":"input_text","text":{last}}}]}}]}}"#
        ),
        DialectKind::Anthropic => format!(
            r#"{{"system":[{{"type":"text","text":"You are Claude."}},{{"type":"text","text":{system}}}],"messages":[{ok},
                {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"x"}},{{"type":"text","text":{last}}}]}}]}}"#
        ),
        _ => format!(
            r#"{{"messages":[{{"role":"system","content":{system}}},{ok},{{"role":"user","content":{last}}}]}}"#
        ),
    };
    request(kind, &body)
}

const SPEAKING: [DialectKind; 4] = [
    DialectKind::OpenAiChat,
    DialectKind::OpenAiResponses,
    DialectKind::Anthropic,
    DialectKind::Gemini,
];

#[test]
fn summaries_of_clients_are_recognised() {
    let rules = "CRITICAL: Respond with TEXT ONLY.\n\n- Do NOT use any tool.\n\n";
    let ends = [
        "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.".to_owned(),
        format!(
            "{rules}Your task is to create a detailed summary of the conversation so far, …\n<analysis>\n</analysis>"
        ),
        "You are a summarization agent creating a context checkpoint.\n\nTURNS:\n[USER]: hi"
            .to_owned(),
        "<role>\nContext Extraction Assistant\n</role>\n\n<instructions>\na\n</instructions>\n\n\
         Respond with the extracted context.\n\n<messages>\nuser: hi\n</messages>"
            .to_owned(),
    ];
    let systems = [
        "You are a context summarization assistant. Your task is to read a conversation.",
        "You are the component that summarizes internal chat history.",
    ];
    for kind in SPEAKING {
        for end in &ends {
            assert!(is_summary_request(&spoken(kind, "Be brief.", end)), "{kind} {end}");
        }
        for system in systems {
            assert!(is_summary_request(&spoken(kind, system, "user: hi")), "{kind} {system}");
        }
    }
}

#[test]
fn words_about_summaries_ask_for_none() {
    let prompt = "Your task is to create a detailed summary of the conversation so far";
    let filler = "Work with care. ".repeat(80);
    for kind in SPEAKING {
        let asks = |system: &str, last: &str| is_summary_request(&spoken(kind, system, last));
        assert!(
            !asks(&format!("{filler}The folder pi/ has context summarization."), "go"),
            "{kind}"
        );
        assert!(!asks(&format!("{filler}\n{prompt}"), "go"), "{kind}");
        assert!(!asks("Be brief.", "Fix the context summarization in compact.ts"), "{kind}");
        assert!(!asks("Be brief.", &format!("{filler}\n```\n{prompt}\n```")), "{kind}");
        for passed_on in [
            format!("<system-reminder>\ncompact.ts:\n{prompt}\n</system-reminder>"),
            format!("[read_file for 'compact.ts'] Result:\n{prompt}"),
            format!("Observation:\n{prompt}"),
        ] {
            assert!(!asks("Be brief.", &passed_on), "{kind} {passed_on}");
        }
    }
    let read = |body: &str| is_summary_request(&request(DialectKind::Anthropic, body));
    // A file, and a request that was answered already.
    assert!(!read(&format!(
        r#"{{"messages":[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"{prompt}"}}]}}]}}"#
    )));
    assert!(!read(&format!(
        r#"{{"messages":[{{"role":"user","content":"{prompt}"}},{{"role":"assistant","content":"ok"}}]}}"#
    )));
    let tool =
        format!(r#"{{"messages":[{{"role":"tool","tool_call_id":"a","content":"{prompt}"}}]}}"#);
    assert!(!is_summary_request(&request(DialectKind::OpenAiChat, &tool)));
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1.50".to_owned()),
        Just(r#""a\"]},{""#.to_owned()),
        Just(r#""\ud800é""#.to_owned()),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let names = prop_oneof![Just("a"), Just("id"), Just("cache_control"), Just("input")];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|all| format!("[{}]", all.join(" , "))),
            prop::collection::vec((names, inner), 0..4).prop_map(|all| {
                let all: Vec<_> = all.iter().map(|(k, v)| format!("\"{k}\": {v}")).collect();
                format!("{{{}}}", all.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_same_messages_make_the_same_request(messages in prop::collection::vec(json(), 0..6)) {
        let body = format!(r#"{{"model":"m","messages":[{}],"n":1e3}}"#, messages.join(","));
        let read = request(DialectKind::OpenAiChat, &body);
        prop_assert_eq!(read.len(), messages.len());
        prop_assert_eq!(read.with_messages(read.messages()), body);
    }

    #[test]
    fn a_message_without_marks_is_json_with_the_same_identity(message in json()) {
        let bytes = Bytes::from(message);
        let bare = without_marks(&bytes);
        prop_assert!(serde_json::from_slice::<&serde_json::value::RawValue>(&bare).is_ok(), "{:?}", bare);
        for kind in [DialectKind::OpenAiChat, DialectKind::OpenAiResponses] {
            prop_assert_eq!(identity(kind, &bare), identity(kind, &bytes));
        }
        prop_assert_eq!(without_marks(&bare), bare.clone());
    }

    #[test]
    fn bytes_from_anywhere_are_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let body = Bytes::from(body);
        let _ = identity(DialectKind::Anthropic, &body);
        let _ = without_marks(&body);
        for kind in DialectKind::ALL {
            if let Ok(read) = Request::read(kind, body.clone()) {
                let _ = read.with_messages(read.messages());
            }
        }
    }
}
