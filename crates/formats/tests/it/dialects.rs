//! What each dialect reads, block by block, and what it writes.

use midfold_core::{BlockKind, EventView, PictureDetail, Role, TextOrigin, TextRef};
use midfold_formats::DialectKind::{self, Anthropic, OpenAiChat, OpenAiResponses, ShareGpt};

/// A view in words: a line per block, with its outer bytes where they are short.
fn show(dialect: DialectKind, message: &str) -> Vec<String> {
    let bytes = message.as_bytes();
    let view = dialect.dialect().view(bytes);
    let label = |label: &Option<TextRef>| {
        label.map_or_else(|| "-".to_owned(), |label| label.decode(bytes).into_owned())
    };
    let blocks = view.blocks.iter().map(|block| {
        let kind = match &block.kind {
            BlockKind::Text => "text".to_owned(),
            BlockKind::Refusal => "refusal".to_owned(),
            BlockKind::Reasoning { bound } => format!("reasoning bound={bound}"),
            BlockKind::Call { id, name } => format!("call {} {}", label(id), label(name)),
            BlockKind::Result { id, name, error } => {
                format!("result {} {} {error:?}", label(id), label(name))
            }
            BlockKind::Media => "media".to_owned(),
            BlockKind::Opaque => "opaque".to_owned(),
        };
        let texts: Vec<_> = block.texts.iter().map(|text| text.decode(bytes)).collect();
        let media: Vec<_> =
            block.media.iter().map(|m| format!("{:?} {}", m.kind, m.size)).collect();
        let media = if media.is_empty() { String::new() } else { format!(" {media:?}") };
        format!("{kind} {texts:?}{media}")
    });
    let head = format!("{} {:?}", view.role.name(), view.origin);
    std::iter::once(head).chain(blocks).collect()
}

fn view(dialect: DialectKind, message: &str) -> EventView {
    dialect.dialect().view(message.as_bytes())
}

#[test]
fn chat_plain_messages() {
    assert_eq!(
        show(OpenAiChat, r#"{"role":"user","content":"hi"}"#),
        ["user Genuine", r#"text ["hi"]"#]
    );
    assert_eq!(show(OpenAiChat, r#"{"role":"assistant","content":null}"#), ["assistant Genuine"]);
    assert_eq!(show(OpenAiChat, r#"{"role":"developer"}"#), ["developer Genuine"]);
    assert_eq!(
        show(OpenAiChat, r#"{"content":"x","role":"exit"}"#),
        ["other Genuine", r#"text ["x"]"#]
    );
    assert_eq!(
        show(OpenAiChat, r#"{"role":"user","content":"a","content":"b"}"#),
        ["user Genuine", r#"text ["b"]"#]
    );
    assert_eq!(
        show(OpenAiChat, r#"{"r\u006fle":"user","content":"\ud800\u00e9"}"#),
        ["user Genuine", "text [\"\u{FFFD}é\"]"]
    );
    assert_eq!(show(OpenAiChat, "no json"), ["other Genuine", "opaque []"]);
    assert_eq!(show(OpenAiChat, r#"{"role":"user","content":"hi"#), ["other Genuine", "opaque []"]);
}

#[test]
fn chat_parts() {
    let message = r#"{"role":"user","content":[{"text":"a","type":"text","cache_control":{}},"bare",
        {"type":"image_url","image_url":{"url":"https://x.org/a.png"}},{"type":"input_audio","input_audio":{"data":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","format":"wav"}},
        {"type":"file","file":{"file_id":"f"}},{"type":"refusal","refusal":"no"},{"type":"holo","text":"?"},7]}"#;
    assert_eq!(
        show(OpenAiChat, message),
        [
            "user Genuine",
            r#"text ["a"]"#,
            r#"text ["bare"]"#,
            r#"media [] ["Image 0"]"#,
            r#"media [] ["Audio 48"]"#,
            r#"media [] ["File 0"]"#,
            r#"refusal ["no"]"#,
            "opaque []",
            "opaque []",
        ]
    );
}

#[test]
fn chat_calls_in_all_their_shapes() {
    let message = r#"{"role":"assistant","tool_calls":[
        {"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},
        {"type":"custom","custom":{"input":"free","name":"g"},"id":"b"},
        {"id":"","function":{"name":"h","arguments":{"x":1.0}}},
        {"id":"a","function":{"name":"f","arguments":"not json"}},
        {"function":{"name":"i"}},
        {"what":1}],"content":"late"}"#;
    assert_eq!(
        show(OpenAiChat, message),
        [
            "assistant Genuine",
            r#"call a f ["{\"x\":1}"]"#,
            r#"call b g ["free"]"#,
            r#"call  h ["{\"x\":1.0}"]"#,
            r#"call a f ["not json"]"#,
            "call - i []",
            "opaque []",
            r#"text ["late"]"#,
        ]
    );
    let legacy =
        r#"{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}"#;
    assert_eq!(show(OpenAiChat, legacy), ["assistant Genuine", r#"call - f ["{}"]"#]);
    let found = view(OpenAiChat, legacy);
    assert!(found.blocks[0].outer.of(legacy.as_bytes()).starts_with(b"\"function_call\":{"));
}

#[test]
fn chat_results() {
    let text = r#"{"role":"tool","tool_call_id":"a","name":"ls","content":"x"}"#;
    assert_eq!(show(OpenAiChat, text), ["tool Genuine", r#"result a ls None ["x"]"#]);
    let parts = r#"{"content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"y"}],"tool_call_id":"a","role":"tool"}"#;
    assert_eq!(
        show(OpenAiChat, parts),
        ["tool Genuine", r#"result a - None ["x", "y"] ["Image 0"]"#]
    );
    let function = r#"{"role":"function","name":"f","content":null}"#;
    assert_eq!(show(OpenAiChat, function), ["tool Genuine", "result - f None []"]);
}

#[test]
fn chat_reasoning_refusal_audio() {
    let message = r#"{"role":"assistant","reasoning_content":"r","content":"c","refusal":null,"reasoning":null,
        "reasoning_details":[{"type":"reasoning.text","text":"d","signature":"s"},{"type":"reasoning.encrypted","data":"x"}],"audio":{"id":"au"}}"#;
    assert_eq!(
        show(OpenAiChat, message),
        [
            "assistant Genuine",
            r#"reasoning bound=false ["r"]"#,
            r#"text ["c"]"#,
            r#"reasoning bound=true ["d"]"#,
            r#"media [] ["Audio 0"]"#,
        ]
    );
    let found = view(OpenAiChat, message);
    assert_eq!(found.blocks[0].outer.of(message.as_bytes()), br#""reasoning_content":"r""#);
}

#[test]
fn anthropic_blocks() {
    let message = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"redacted_thinking","data":"d"},
        {"type":"thinking","thinking":"t","signature":""},{"type":"text","text":"x","citations":null},{"type":"tool_use","id":"a","name":"f","input":{"n":1.0}},
        {"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"text","text":"q"}]},
        {"type":"compaction","content":"so far"}]}"#;
    assert_eq!(
        show(Anthropic, message),
        [
            "assistant Genuine",
            r#"reasoning bound=true [""]"#,
            "reasoning bound=true []",
            r#"reasoning bound=false ["t"]"#,
            r#"text ["x"]"#,
            r#"call a f ["{\"n\":1.0}"]"#,
            "opaque []",
            "opaque []",
            "opaque []",
        ]
    );
}

#[test]
fn anthropic_results() {
    let message = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x","is_error":true},
        {"type":"tool_result","tool_use_id":"b","is_error":false,"content":[{"type":"text","text":"p"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}},{"type":"search_result","title":"t","content":[{"type":"text","text":"s"}]}]},
        {"tool_use_id":"c","type":"tool_result"},{"type":"document","source":{"type":"url","url":"u"}}]}"#;
    assert_eq!(
        show(Anthropic, message),
        [
            "user Genuine",
            r#"result a - Some(true) ["x"]"#,
            r#"result b - Some(false) ["p", "s"] ["Image 70"]"#,
            "result c - None []",
            r#"media [] ["File 0"]"#,
        ]
    );
    let found = view(Anthropic, message);
    assert_eq!(found.blocks[1].media[0].pixels(), Some((1, 1)));
    assert!(found.has_results() && found.role == Role::User);
}

#[test]
fn responses_items() {
    let cases = [
        (r#"{"role":"user","content":"x"}"#, "user", r#"text ["x"]"#),
        (
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}],"phase":"final_answer"}"#,
            "assistant",
            r#"text ["x"]"#,
        ),
        (
            r#"{"type":"function_call","id":"fc","call_id":"a","name":"f","arguments":"{}"}"#,
            "assistant",
            r#"call a f ["{}"]"#,
        ),
        (
            r#"{"type":"custom_tool_call","call_id":"a","name":"f","input":"i"}"#,
            "assistant",
            r#"call a f ["i"]"#,
        ),
        (
            r#"{"type":"local_shell_call","id":"l","action":{"command":["ls"]}}"#,
            "assistant",
            r#"call l local_shell_call ["{\"command\":[\"ls\"]}"]"#,
        ),
        (
            r#"{"type":"apply_patch_call","call_id":"a","operation":{}}"#,
            "assistant",
            r#"call a apply_patch_call ["{}"]"#,
        ),
        (
            r#"{"type":"function_call_output","call_id":"a","output":"o"}"#,
            "tool",
            r#"result a - None ["o"]"#,
        ),
        (
            r#"{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"o"},{"type":"input_image","image_url":"u"}]}"#,
            "tool",
            r#"result a - None ["o"] ["Image 0"]"#,
        ),
        (
            r#"{"type":"function_call_output","call_id":"a","output":{"content":"o","success":true}}"#,
            "tool",
            r#"result a - None ["o"]"#,
        ),
        (
            r#"{"type":"shell_call_output","call_id":"a","output":[{"stdout":"o","stderr":"e","outcome":{"type":"exit"}}]}"#,
            "tool",
            r#"result a - None ["o", "e"]"#,
        ),
        (
            r#"{"type":"computer_call_output","call_id":"a","output":{"type":"computer_screenshot","image_url":"u"}}"#,
            "tool",
            r#"result a - None [] ["Image 0"]"#,
        ),
        (
            r#"{"type":"apply_patch_call_output","call_id":"a","status":"failed"}"#,
            "tool",
            "result a - Some(true) []",
        ),
        (
            r#"{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"e"}"#,
            "assistant",
            r#"reasoning bound=true ["s"]"#,
        ),
        (
            r#"{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"c"}],"encrypted_content":null}"#,
            "assistant",
            r#"reasoning bound=false ["c"]"#,
        ),
        (r#"{"type":"compaction","id":"cmp","encrypted_content":"e"}"#, "other", "opaque []"),
        (r#"{"type":"web_search_call","id":"w"}"#, "assistant", "opaque []"),
    ];
    for (item, role, block) in cases {
        assert_eq!(show(OpenAiResponses, item), [&format!("{role} Genuine"), block], "{item}");
    }
}

#[test]
fn sharegpt_values() {
    let gpt = r#"{"from":"gpt","value":"<think>\nhm é\n</think>\nI look\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"</tool_call>\"}}\n</tool_call>\n<tool_call>\n{'bad'}\n</tool_call><tool_call>open"}"#;
    assert_eq!(
        show(ShareGpt, gpt),
        [
            "assistant Genuine",
            r#"reasoning bound=false ["hm é"]"#,
            r#"text ["I look"]"#,
            r#"call - f ["{\"a\": \"</tool_call>\"}"]"#,
            r#"call - - ["{'bad'}"]"#,
            r#"text ["<tool_call>open"]"#,
        ]
    );
    let tool = r#"{"from":"tool","value":"<tool_response>\n{\"tool_call_id\":\"x\",\"name\":\"f\",\"content\":\"a\\nb\"}\n</tool_response>\n<tool_response>\n{\"content\":{\"k\":1}}\n</tool_response><tool_response>plain</tool_response>"}"#;
    assert_eq!(
        show(ShareGpt, tool),
        [
            "tool Genuine",
            r#"result x f None ["a\nb"]"#,
            r#"result - - None ["{\"k\":1}"]"#,
            r#"result - - None ["plain"]"#,
        ]
    );
    assert_eq!(
        show(ShareGpt, r#"{"role":"observation","content":"x"}"#),
        ["tool Genuine", r#"result - - None ["x"]"#]
    );
    assert_eq!(
        show(ShareGpt, r#"{"from":"system","value":"use <tool_call>{}</tool_call>"}"#).len(),
        2
    );
}

#[test]
fn hostile_tags_stay_linear() {
    let value = "<tool_call>{</tool_call>".repeat(40_000);
    let row = format!(r#"{{"from":"gpt","value":"{value}"}}"#);
    assert_eq!(view(ShareGpt, &row).blocks.len(), 40_000);
    let row = format!(r#"{{"from":"gpt","value":"{}"}}"#, "<think><tool_call>".repeat(100_000));
    assert_eq!(view(ShareGpt, &row).blocks.len(), 1);
}

#[test]
fn origins() {
    let of = |role: &str, texts: &[&str]| {
        let parts: Vec<_> =
            texts.iter().map(|text| serde_json::json!({"type": "text", "text": text})).collect();
        let message = serde_json::json!({"role": role, "content": parts}).to_string();
        view(Anthropic, &message).origin
    };
    let reminder = "<system-reminder>\nbe brief\n</system-reminder>\n";
    assert_eq!(of("user", &[reminder]), TextOrigin::Injected);
    assert_eq!(
        of("user", &[reminder, "<environment_context>x</environment_context>"]),
        TextOrigin::Injected
    );
    assert_eq!(of("user", &[reminder, "fix it"]), TextOrigin::Genuine);
    assert_eq!(of("user", &[&format!("{reminder}fix it{reminder}")]), TextOrigin::Genuine);
    assert_eq!(of("assistant", &[reminder]), TextOrigin::Genuine);
    assert_eq!(
        of("user", &["# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>"]),
        TextOrigin::Injected
    );
    assert_eq!(of("user", &["Base directory for this skill: /s\n\n# Plans"]), TextOrigin::Injected);
    assert_eq!(of("user", &["[Image: source: /c/1.png]"]), TextOrigin::Injected);
    assert_eq!(of("user", &["<user_action>\n  a review\n</user_action>"]), TextOrigin::Injected);
    assert_eq!(
        of(
            "user",
            &[
                "<command-name>/clear</command-name>\n <command-message>clear</command-message>\n<command-args></command-args>"
            ]
        ),
        TextOrigin::Injected
    );
    assert_eq!(of("user", &["[Request interrupted by user for tool use]"]), TextOrigin::Injected);
    assert_eq!(
        of("user", &[&format!("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>{}", "x".repeat(5000))]),
        TextOrigin::Injected
    );
    assert_eq!(
        of("user", &[&format!("<system-reminder>{}</system-reminder>", "y\n".repeat(5000))]),
        TextOrigin::Injected
    );
    assert_eq!(of("user", &["Observation:\n42"]), TextOrigin::Observation);
    assert_eq!(of("user", &["a.rs\n(Current directory: /x)\nbash-$"]), TextOrigin::Observation);
    assert_eq!(
        of("user", &["<returncode>0</returncode>\n<output>x</output>"]),
        TextOrigin::Observation
    );
    assert_eq!(of("user", &[""]), TextOrigin::Genuine);
    assert_eq!(of("user", &["## Conversation Summary\n\nx", "more"]), TextOrigin::Recap);
    assert_eq!(of("assistant", &["[CONTEXT COMPACTION — REFERENCE ONLY] x"]), TextOrigin::Recap);
    assert_eq!(
        of(
            "user",
            &[
                "This session is being continued from a previous conversation that ran out of context. The"
            ]
        ),
        TextOrigin::Recap
    );
    assert_eq!(of("user", &["[Earlier messages truncated]"]), TextOrigin::Recap);
    assert_eq!(of("user", &["[Earlier messages truncated] why?"]), TextOrigin::Genuine);
}

#[test]
fn made_messages_read_back() {
    for kind in DialectKind::ALL {
        let dialect = kind.dialect();
        assert_eq!(DialectKind::from_name(dialect.name()), Some(kind));
        for role in
            [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool, Role::Other]
        {
            let text = "say \"x\"\n<tool>\u{1}é";
            let made = dialect.made_message(role, text);
            let view = dialect.view(&made);
            assert_eq!(view.text_of(&made, |kind| *kind == BlockKind::Text), text);
            assert!(view.role == role || view.role == Role::User || view.role == Role::System);
        }
        let made = dialect.made_result(b"", "call \"1\"", "ls", "a\n\"b\"");
        let view = dialect.view(&made);
        let [block] = view.blocks.as_slice() else { panic!("one block") };
        let BlockKind::Result { id: Some(id), .. } = block.kind else {
            panic!("a result with an id")
        };
        assert_eq!((&*id.decode(&made), &*block.text(&made)), ("call \"1\"", "a\n\"b\""));
    }
}

#[test]
fn results_become_text() {
    let text = |kind: DialectKind, message: &str, blocks: &[usize]| {
        let dialect = kind.dialect();
        let view = dialect.view(message.as_bytes());
        String::from_utf8(dialect.results_as_text(message.as_bytes(), &view, blocks).to_vec())
            .unwrap()
    };
    assert_eq!(
        text(OpenAiChat, r#"{"role":"tool","tool_call_id":"a","name":"ls","content":""}"#, &[0]),
        r#"{"role":"user","content":"[result of ls (a)] (empty)"}"#
    );
    assert_eq!(
        text(
            OpenAiResponses,
            r#"{"type":"function_call_output","call_id":"a","output":"x"}"#,
            &[0]
        ),
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"[result of a tool (a)] x"}]}"#
    );
    assert_eq!(
        text(
            Anthropic,
            r#"{"x":1.0,"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}, {"type":"tool_result","tool_use_id":"b"},{"type":"text","text":"t"}]}"#,
            &[0]
        ),
        r#"{"x":1.0,"role":"user","content":[{"type":"tool_result","tool_use_id":"b"},{"type":"text","text":"[result of a tool (a)] 1"},{"type":"text","text":"t"}]}"#
    );
    let row = r#"{"from":"tool","value":"<tool_response>\n{\"name\":\"f\",\"content\":\"1\"}\n</tool_response>\n<tool_response>\n{\"name\":\"g\",\"content\":\"2\"}\n</tool_response>"}"#;
    assert_eq!(
        text(ShareGpt, row, &[0, 1]),
        r#"{"from":"human","value":"[result of f] 1\n[result of g] 2"}"#
    );
    assert_eq!(
        text(ShareGpt, row, &[1]),
        r#"{"from":"tool","value":"<tool_response>\n{\"name\":\"f\",\"content\":\"1\"}\n</tool_response>\n[result of g] 2"}"#
    );
}

#[test]
fn depth_and_width_are_no_danger() {
    let deep = format!("{}1{}", r#"{"a":["#.repeat(200_000), "]}".repeat(200_000));
    let call = format!(
        r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{deep}}}]}}"#
    );
    let found = view(Anthropic, &call);
    assert_eq!(found.blocks[0].body.token.of(call.as_bytes()), deep.as_bytes());
    let row = serde_json::json!({"from": "gpt", "value": format!("<tool_call>{{\"name\":\"f\",\"arguments\":{deep}}}</tool_call>")}).to_string();
    let found = view(ShareGpt, &row);
    assert_eq!(found.blocks[0].body.decode(row.as_bytes()), deep);
    let nested = format!("{}{}", r#"{"content":["#.repeat(200_000), "]}".repeat(200_000));
    for kind in DialectKind::ALL {
        let message = format!(
            r#"{{"role":"user","content":[{nested}],"parts":[{nested}],"output":{nested}}}"#
        );
        assert!(!view(kind, &message).blocks.is_empty());
    }

    let calls: Vec<_> =
        (0..50_000).map(|_| r#"{"id":"same","function":{"name":"f","arguments":"{}"}}"#).collect();
    let wide = format!(r#"{{"role":"assistant","tool_calls":[{}]}}"#, calls.join(","));
    let result = r#"{"role":"tool","tool_call_id":"same","content":"x"}"#;
    let mut context = vec![r#"{"role":"user","content":"go"}"#, &wide];
    context.extend(std::iter::repeat_n(result, 50_000));
    context.push(r#"{"role":"assistant","content":"done"}"#);
    let check = |context: &[&str]| {
        midfold_formats::profile::validate(context, OpenAiChat, &midfold_formats::profile::OPENAI)
    };
    let found = check(&context);
    assert!(found.iter().all(|violation| violation.rule == "duplicate-id"));
    assert_eq!(found.len(), 49_999);
    context.pop();
    context.push(result);
    assert!(check(&context).iter().any(|violation| violation.rule == "double-result"));
}

#[test]
fn how_closely_to_look_is_read_where_it_stands() {
    let chat = |detail: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"https://a"{detail}}}}}]}}"#
        )
    };
    let responses = r#"{"role":"user","content":[{"type":"input_image","image_url":"https://a","detail":"original"}]}"#;
    let cases = [
        (OpenAiChat, chat(r#","detail":"low""#), PictureDetail::Low),
        (OpenAiChat, chat(r#","detail":"high""#), PictureDetail::High),
        (OpenAiChat, chat(r#","detail":"auto""#), PictureDetail::Auto),
        (OpenAiChat, chat(""), PictureDetail::Auto),
        (OpenAiResponses, responses.to_owned(), PictureDetail::High),
    ];
    for (kind, message, detail) in cases {
        assert_eq!(view(kind, &message).blocks[0].media[0].detail, detail, "{message}");
    }
}
