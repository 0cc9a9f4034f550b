//! The tool of recall in requests and answers: what the client gets of answers with hidden calls is what it would
//! have got without them, however the stream is cut.

use bytes::Bytes;
use midfold_formats::DialectKind::{self, Anthropic, Gemini, Ollama, OpenAiChat, OpenAiResponses};
use midfold_formats::answer::{AnswerFacts, AnswerFraming, AnswerTee};
use midfold_formats::recall_tool::{
    AnsweredCall, HiddenTool, JoinedStream, NoOffer, OwnTool, RecallCall, ToolOffer,
    answer_with_unrun, calls, check, client_calls, forbidden, in_front_of, joined, offered,
    results, with_unrun, withheld,
};
use midfold_formats::request::Request;
use proptest::prelude::*;
use serde_json::{Value, json};

const NAME: &str = "midfold_recall";
const RECALL: ToolOffer = ToolOffer { recall: true, agent: false };
const ALL: ToolOffer = ToolOffer { recall: true, agent: true };

const KINDS: [DialectKind; 4] = [OpenAiChat, OpenAiResponses, Anthropic, Gemini];

/// A part of a reply.
#[derive(Clone, Debug)]
enum Said {
    Text(String),
    Hidden,
    Call,
    /// A call of the client's tool that was not run.
    Unrun,
}

/// The parts that the client gets.
fn shown(parts: &[Said]) -> Vec<Said> {
    parts.iter().filter(|part| !matches!(part, Said::Hidden | Said::Unrun)).cloned().collect()
}

fn name(part: &Said) -> &'static str {
    if matches!(part, Said::Hidden) { NAME } else { "bash" }
}

fn events(kind: DialectKind, answer: u64, parts: &[Said]) -> Vec<Value> {
    match kind {
        Anthropic => messages(answer, parts),
        OpenAiResponses => responses(answer, parts),
        OpenAiChat => chat(answer, parts),
        _ => gemini(answer, parts),
    }
}

fn messages(answer: u64, parts: &[Said]) -> Vec<Value> {
    let usage =
        json!({"input_tokens": 10 + answer, "cache_read_input_tokens": 1, "output_tokens": 1});
    let message =
        json!({"id": format!("msg_{answer}"), "role": "assistant", "content": [], "usage": usage});
    let mut all = vec![json!({"type": "message_start", "message": message})];
    for (index, part) in parts.iter().enumerate() {
        let (block, delta) = match part {
            Said::Text(text) => {
                (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
            }
            call => (
                json!({"type": "tool_use", "id": format!("t{answer}_{index}"), "name": name(call), "input": {}}),
                json!({"type": "input_json_delta", "partial_json": "{\"query\":\"x\"}"}),
            ),
        };
        all.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        all.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        all.push(json!({"type": "content_block_stop", "index": index}));
    }
    let calls = parts.iter().any(|part| !matches!(part, Said::Text(_)));
    let stop = if calls { "tool_use" } else { "end_turn" };
    all.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}));
    all.push(json!({"type": "message_stop"}));
    all
}

fn chat(answer: u64, parts: &[Said]) -> Vec<Value> {
    let chunk = |delta: Value, end: Value| json!({"id": format!("c{answer}"), "created": answer, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]});
    let mut all = Vec::new();
    let mut place = 0;
    for (index, part) in parts.iter().enumerate() {
        if let Said::Text(text) = part {
            all.push(chunk(json!({"content": text}), Value::Null));
            continue;
        }
        let function = json!({"name": name(part), "arguments": "{\"query\":"});
        let id = format!("t{answer}_{index}");
        let call = json!({"index": place, "id": id, "type": "function", "function": function});
        all.push(chunk(json!({"tool_calls": [call]}), Value::Null));
        let more = json!({"index": place, "function": {"arguments": "\"x\"}"}});
        all.push(chunk(json!({"tool_calls": [more]}), Value::Null));
        place += 1;
    }
    // The role comes alone before a text, and in one piece with a call.
    match parts.first() {
        Some(Said::Text(_)) | None => {
            let role = json!({"role": "assistant", "content": ""});
            all.insert(0, chunk(role, Value::Null));
        }
        Some(_) => {
            let delta = &mut all[0]["choices"][0]["delta"];
            (delta["role"], delta["content"]) = (json!("assistant"), Value::Null);
        }
    }
    let end = if place > 0 { "tool_calls" } else { "stop" };
    all.push(chunk(json!({}), json!(end)));
    let usage =
        json!({"prompt_tokens": 11 + answer, "completion_tokens": 5, "total_tokens": 16 + answer});
    all.push(json!({"id": format!("c{answer}"), "created": answer, "choices": [], "usage": usage}));
    all
}

fn responses(answer: u64, parts: &[Said]) -> Vec<Value> {
    let id = format!("resp_{answer}");
    let tools = json!([{"type": "function", "name": "bash"}, {"type": "function", "name": NAME}]);
    let mut all = vec![
        json!({"type": "response.created", "response": {"id": id, "output": [], "tools": tools}}),
    ];
    let mut output = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let item = match part {
            Said::Text(text) => {
                json!({"type": "message", "id": format!("m{answer}_{index}"), "role": "assistant", "content": [{"type": "output_text", "text": text}]})
            }
            call => {
                json!({"type": "function_call", "call_id": format!("t{answer}_{index}"), "name": name(call), "arguments": "{\"query\":\"x\"}"})
            }
        };
        all.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": item}),
        );
        all.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
        output.push(item);
    }
    let usage =
        json!({"input_tokens": 11 + answer, "output_tokens": 5, "total_tokens": 16 + answer});
    all.push(json!({"type": "response.completed", "response": {"id": id, "status": "completed", "output": output, "tools": tools, "usage": usage}}));
    for (number, event) in all.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    all
}

fn gemini(answer: u64, parts: &[Said]) -> Vec<Value> {
    let mut all = Vec::new();
    for part in parts {
        let part = match part {
            Said::Text(text) => json!({"text": text}),
            call => {
                json!({"functionCall": {"name": name(call), "args": {"query": "x"}}, "thoughtSignature": "s"})
            }
        };
        all.push(json!({"candidates": [{"content": {"role": "model", "parts": [part]}}], "responseId": format!("g{answer}")}));
    }
    let usage = json!({"promptTokenCount": 11 + answer, "candidatesTokenCount": 3, "thoughtsTokenCount": 2, "totalTokenCount": 16 + answer});
    all.push(json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}], "usageMetadata": usage, "responseId": format!("g{answer}")}));
    all
}

fn stream(kind: DialectKind, answer: u64, parts: &[Said]) -> Vec<u8> {
    let mut out = String::new();
    for event in events(kind, answer, parts) {
        if let Some(name) = event["type"].as_str() {
            out.push_str(&format!("event: {name}\n"));
        }
        out.push_str(&format!("data: {event}\n\n"));
    }
    if kind == OpenAiChat {
        out.push_str("data: [DONE]\n\n");
    }
    out.into_bytes()
}

/// The numbers of the unrun calls among the client's.
fn unrun(parts: &[Said]) -> Vec<usize> {
    let calls = parts.iter().filter(|part| matches!(part, Said::Call | Said::Unrun));
    let numbered = calls.enumerate().filter(|(_, part)| matches!(part, Said::Unrun));
    numbered.map(|(number, _)| number).collect()
}

/// What a client gets of these answers, cut in chunks of `size`.
fn through(kind: DialectKind, answers: &[Vec<Said>], size: usize) -> Vec<u8> {
    let (mut joined, mut out) = (JoinedStream::new(kind), Vec::new());
    for (number, parts) in answers.iter().enumerate() {
        if number > 0 {
            joined.next(&mut out);
        }
        let unrun = unrun(parts);
        // Whether calls are held back makes no difference where all of them pass.
        joined.hold_calls(!unrun.is_empty() || size.is_multiple_of(2));
        let whole = stream(kind, number as u64, parts);
        whole.chunks(size).for_each(|chunk| joined.push(chunk, &mut out));
        joined.leave_out(&unrun);
    }
    joined.finish(&mut out);
    out
}

fn seen(kind: DialectKind, stream: &[u8]) -> AnswerFacts {
    let mut tee = AnswerTee::new(kind, AnswerFraming::Sse);
    tee.push(stream);
    tee.finish()
}

fn text(kind: DialectKind, reply: &[Bytes]) -> String {
    let of = |message: &Bytes| {
        kind.dialect()
            .view(message)
            .blocks
            .iter()
            .map(|block| match block.kind {
                midfold_core::view::BlockKind::Text => block.text(message).into_owned(),
                _ => String::new(),
            })
            .collect::<String>()
    };
    reply.iter().map(of).collect()
}

/// The numbers under which blocks and items begin, and those of all events, count from 0 without a gap.
fn is_contiguous(kind: DialectKind, stream: &[u8]) -> bool {
    let text = String::from_utf8_lossy(stream);
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = events.filter_map(|it| serde_json::from_str(it).ok()).collect();
    let of = |starts: &str, name: &str| -> Vec<u64> {
        let all = events.iter().filter(|event| starts.is_empty() || event["type"] == starts);
        all.filter_map(|event| event[name].as_u64()).collect()
    };
    let found = match kind {
        Anthropic => vec![of("content_block_start", "index")],
        OpenAiResponses => {
            vec![of("response.output_item.added", "output_index"), of("", "sequence_number")]
        }
        _ => Vec::new(),
    };
    found.iter().all(|numbers| numbers.iter().copied().eq(0..numbers.len() as u64))
}

fn part() -> impl Strategy<Value = Said> {
    prop_oneof![
        "[a-z]{1,8}".prop_map(Said::Text),
        Just(Said::Hidden),
        Just(Said::Call),
        Just(Said::Unrun)
    ]
}

/// Who answers an item of Responses decides whether the provider can be asked again.
#[test]
fn only_what_the_client_answers_keeps_an_answer_from_going_on() {
    for (item, others) in [
        (json!({"type": "mcp_approval_request", "id": "r", "name": "f", "arguments": "{}"}), 1),
        (json!({"type": "tool_search_call", "call_id": "c", "execution": "client"}), 1),
        (json!({"type": "tool_search_call", "call_id": null, "execution": "server"}), 0),
        (json!({"type": "web_search_call", "id": "w", "status": "completed"}), 0),
        (json!({"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "output": "x"}), 0),
        (json!({"type": "program", "id": "p", "call_id": "c", "code": "1"}), 0),
        (json!({"type": "local_shell_call", "call_id": "c", "action": {}}), 1),
        (json!({"type": "new_kind_call", "call_id": "c"}), 1),
        (json!({"type": "mcp_list_tools", "id": "l", "tools": []}), 0),
    ] {
        let own = json!({"type": "function_call", "call_id": "o", "name": NAME, "arguments": "{}"});
        let reply = [own, item].map(|item| Bytes::from(item.to_string()));
        let found = calls(OpenAiResponses, &reply);
        assert_eq!((found.own.len(), found.others), (1, others), "{:?}", reply[1]);
        assert_eq!(client_calls(OpenAiResponses, &reply).len(), 0);
    }
}

/// A shell that the provider hosts has its output in the same reply.
#[test]
fn a_call_with_its_output_beside_it_waits_for_nobody() {
    let shell = |id: &str| json!({"type": "shell_call", "call_id": id, "action": {}});
    let output = json!({"type": "shell_call_output", "call_id": "c", "output": []});
    let own = json!({"type": "function_call", "call_id": "o", "name": NAME, "arguments": "{}"});
    let reply = [shell("c"), output, own, shell("d")].map(|item| Bytes::from(item.to_string()));
    let others = |reply: &[Bytes]| calls(OpenAiResponses, reply).others;
    assert_eq!((others(&reply[..3]), others(&reply)), (0, 1));
}

/// Clients refuse a message without a role.
fn has_one_role(stream: &[u8]) -> bool {
    String::from_utf8_lossy(stream).matches("\"role\":").count() == 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_stream_without_its_hidden_calls_is_the_answer_without_them(
        parts in prop::collection::vec(part(), 1..6),
        size in 1usize..200,
    ) {
        for kind in KINDS {
            let got = through(kind, std::slice::from_ref(&parts), size);
            let plain = stream(kind, 0, &shown(&parts));
            prop_assert!(kind != OpenAiChat || has_one_role(&got));
            let (got_seen, wanted) = (seen(kind, &got), seen(kind, &plain));
            prop_assert!(got_seen.is_complete, "{kind:?}");
            prop_assert!(is_contiguous(kind, &got), "{kind:?}");
            prop_assert!(!String::from_utf8_lossy(&got).contains(NAME), "{kind:?}");
            prop_assert_eq!(text(kind, &got_seen.output), text(kind, &wanted.output));
            prop_assert_eq!(calls(kind, &got_seen.output), calls(kind, &wanted.output));
            prop_assert_eq!((&got_seen.usage, &got_seen.finish), (&wanted.usage, &wanted.finish));
            prop_assert_eq!(&got, &through(kind, std::slice::from_ref(&parts), usize::MAX));
        }
    }

    #[test]
    fn several_streams_are_one_answer(
        texts in prop::collection::vec("[a-z]{1,8}", 1..4),
        last in prop::collection::vec(part(), 1..5),
        size in 1usize..200,
    ) {
        for kind in KINDS {
            let hidden = |text: &String| {
                let call = if text.len().is_multiple_of(2) { Said::Hidden } else { Said::Unrun };
                vec![Said::Text(text.clone()), call]
            };
            let mut answers: Vec<_> = texts.iter().map(hidden).collect();
            answers.push(last.clone());
            let got = through(kind, &answers, size);
            prop_assert!(kind != OpenAiChat || has_one_role(&got));
            let one = seen(kind, &got);
            let all: Vec<_> = answers.iter().flat_map(|parts| shown(parts)).collect();
            prop_assert!(one.is_complete && is_contiguous(kind, &got), "{kind:?}");
            prop_assert!(!String::from_utf8_lossy(&got).contains(NAME), "{kind:?}");
            let wanted = seen(kind, &stream(kind, 0, &all));
            prop_assert_eq!(text(kind, &one.output), text(kind, &wanted.output));
            prop_assert_eq!(calls(kind, &one.output).others, calls(kind, &wanted.output).others);
            let usage = one.usage.unwrap_or_default();
            let number = texts.len() as u64;
            prop_assert_eq!((usage.prompt, usage.output), (11 + number, 5 * (number + 1)), "{:?}", kind);
            prop_assert_eq!(one.id, wanted.id);
        }
    }
}

/// A stream without a call of ours passes byte for byte, but for the tools that Responses repeats.
#[test]
fn what_hides_nothing_passes_as_it_came() {
    let parts = [Said::Text("a".into()), Said::Call, Said::Text("b".into())];
    for kind in [OpenAiChat, Anthropic, Gemini] {
        assert_eq!(through(kind, &[parts.to_vec()], 7), stream(kind, 0, &parts), "{kind:?}");
    }
}

#[test]
fn answers_that_came_whole_are_one() {
    let call = |name: &str| json!({"query": name});
    let cases = [
        (
            Anthropic,
            json!({"content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "1", "name": NAME, "input": call("x")}], "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 4}}),
            json!({"content": [{"type": "text", "text": "b"}], "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 2}}),
            json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 6}}),
        ),
        (
            OpenAiChat,
            json!({"choices": [{"message": {"role": "assistant", "content": "a", "tool_calls": [{"id": "1", "type": "function", "function": {"name": NAME, "arguments": "{}"}}]}, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}}),
            json!({"choices": [{"message": {"role": "assistant", "content": "b"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}}),
            json!({"choices": [{"message": {"role": "assistant", "content": "ab"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 6, "total_tokens": 15}}),
        ),
        (
            OpenAiResponses,
            json!({"output": [{"type": "reasoning", "id": "r"}, {"type": "function_call", "call_id": "1", "name": NAME, "arguments": "{}"}], "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}}),
            json!({"output": [{"type": "message", "id": "m"}], "tools": [{"type": "function", "name": NAME}], "usage": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}}),
            json!({"output": [{"type": "reasoning", "id": "r"}, {"type": "message", "id": "m"}], "tools": [], "usage": {"input_tokens": 9, "output_tokens": 6, "total_tokens": 15}}),
        ),
        (
            Gemini,
            json!({"candidates": [{"content": {"parts": [{"text": "a"}, {"functionCall": {"name": NAME, "args": {}}}]}}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}}),
            json!({"candidates": [{"content": {"parts": [{"text": "b"}]}}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}}),
            json!({"candidates": [{"content": {"parts": [{"text": "a"}, {"text": "b"}]}}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 6, "totalTokenCount": 15}}),
        ),
        (
            Ollama,
            json!({"message": {"role": "assistant", "content": "a", "thinking": "1", "tool_calls": [{"function": {"name": NAME, "arguments": call("x")}}]}, "done": true, "prompt_eval_count": 3, "eval_count": 4}),
            json!({"message": {"role": "assistant", "content": "b", "tool_calls": [{"function": {"name": NAME, "arguments": {}}}, {"function": {"name": "bash", "arguments": {}}}]}, "done": true, "prompt_eval_count": 9, "eval_count": 2}),
            json!({"message": {"role": "assistant", "content": "ab", "thinking": "1", "tool_calls": [{"function": {"name": "bash", "arguments": {}}}]}, "done": true, "prompt_eval_count": 9, "eval_count": 6}),
        ),
    ];
    for (kind, first, second, wanted) in cases {
        let answers = [first, second].map(|it| Bytes::from(it.to_string()));
        let got: Value = serde_json::from_slice(&joined(kind, &answers)).unwrap();
        assert_eq!(got, wanted, "{kind:?}");
    }
}

/// An unrun call is hidden in a whole answer and in a reply, and its result is of its kind.
#[test]
fn an_unrun_call_is_answered_in_the_place_of_the_client() {
    let arguments = r#"{"a":1}"#;
    let function = |name: &str| json!({"name": name, "arguments": arguments});
    let answers = [
        (
            Anthropic,
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "x", "input": {"a": 1}}, {"type": "tool_use", "id": "c2", "name": "y", "input": {}}], "stop_reason": "tool_use"}),
            "/content",
        ),
        (
            OpenAiChat,
            json!({"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function("x")}, {"id": "c2", "type": "custom", "custom": {"name": "y", "input": "z"}}]}}]}),
            "/choices/0/message/tool_calls",
        ),
        (
            OpenAiResponses,
            json!({"output": [{"type": "function_call", "call_id": "c1", "name": "x", "arguments": arguments}, {"type": "custom_tool_call", "call_id": "c2", "name": "y", "input": "z"}]}),
            "/output",
        ),
        (
            Gemini,
            json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "x", "args": {"a": 1}}, "thoughtSignature": "s"}, {"functionCall": {"name": "y", "args": {}}}]}}]}),
            "/candidates/0/content/parts",
        ),
        (
            Ollama,
            json!({"message": {"role": "assistant", "tool_calls": [{"function": {"name": "x", "arguments": {"a": 1}}}, {"function": {"name": "y", "arguments": {}}}]}}),
            "/message/tool_calls",
        ),
    ];
    for (kind, answer, at) in answers {
        let body = Bytes::from(answer.to_string());
        let framing = AnswerFraming::Json;
        let mut tee = AnswerTee::new(kind, framing);
        tee.push(&body);
        let reply = tee.finish().output;
        let found = client_calls(kind, &reply);
        assert_eq!((&*found[0].tool, &*found[0].arguments), ("x", arguments), "{kind:?}");
        assert_eq!(found.len(), 2, "{kind:?}");
        for (number, tool) in [(0, "x"), (1, "y")] {
            let reply = with_unrun(kind, &reply, &[number], 9);
            let hidden = calls(kind, &reply);
            assert_eq!((hidden.own.len(), hidden.others), (1, 1), "{kind:?}");
            assert_eq!(hidden.own[0].tool.name(), tool, "{kind:?}");
            let id = hidden.own[0].id.clone().unwrap();
            let answered =
                hidden.own.into_iter().map(|call| AnsweredCall { call, text: "no".into() });
            let result = results(kind, &answered.collect::<Vec<_>>());
            let result = String::from_utf8_lossy(&result[0]).into_owned();
            assert!(result.contains(&id), "{result}");
            let is_custom = kind == OpenAiResponses && number == 1;
            assert_eq!(result.contains("custom_tool_call_output"), is_custom, "{result}");
            // The client gets the other call alone.
            let shown = joined(kind, &[answer_with_unrun(kind, &body, &[number])]);
            let shown: Value = serde_json::from_slice(&shown).unwrap();
            let left = shown.pointer(at).unwrap().as_array().unwrap();
            assert!(
                left.len() == 1 && !left[0].to_string().contains(&format!("\"{tool}\"")),
                "{shown}"
            );
            assert!(!shown.to_string().contains("midfold_unrun"), "{shown}");
        }
    }
    // Mistral takes no id of another form, so its calls cannot be answered.
    let reply = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "aB3dE6gH9", "name": "x", "input": {}}]});
    assert_eq!(client_calls(Anthropic, &[Bytes::from(reply.to_string())]), []);
}

#[test]
fn a_request_of_bedrock_is_given_no_tool() {
    let body = r#"{"messages":[],"toolConfig":{"tools":[{"toolSpec":{"name":"a","inputSchema":{"json":{}}}}]}}"#;
    let body = Bytes::from(body);
    let request = Request::read(DialectKind::Bedrock, body.clone()).unwrap();
    assert_eq!(check(&request), Err(NoOffer::Tools));
    assert_eq!(offered(DialectKind::Bedrock, &body, ALL), body);
}

#[test]
fn the_tool_stands_behind_those_of_the_client_and_can_be_withheld() {
    let bodies = [
        (OpenAiChat, r#"{"tools":[{"type":"function","function":{"name":"a"}}],"messages":[]}"#),
        (OpenAiResponses, r#"{"tools":[{"type":"function","name":"a"}],"input":[]}"#),
        (Anthropic, r#"{"tools":[{"name":"a","input_schema":{}}],"messages":[]}"#),
        (Gemini, r#"{"tools":[{"functionDeclarations":[{"name":"a"}]}],"contents":[]}"#),
    ];
    for (kind, body) in bodies {
        let body = Bytes::from(body);
        let request = Request::read(kind, body.clone()).unwrap();
        assert_eq!(check(&request), Ok(()), "{kind:?}");
        for offer in [RECALL, ALL, ToolOffer { recall: false, agent: true }] {
            let with = offered(kind, &body, offer);
            assert!(serde_json::from_slice::<Value>(&with).is_ok(), "{kind:?}");
            for tool in OwnTool::ALL {
                let named = format!(r#""name":"{}""#, tool.name());
                let is_there = String::from_utf8_lossy(&with).contains(&named);
                assert_eq!(is_there, offer.has(tool), "{kind:?} {tool:?}");
            }
            let again = Request::read(kind, with.clone()).unwrap();
            assert_eq!(check(&again), Err(NoOffer::Taken), "{kind:?}");
            assert_eq!(withheld(&request, &with, offer), body, "{kind:?}");
        }
        let bare = Bytes::from([b"{\"x\":1,", &body[body.len() - 14..]].concat());
        let bare = if kind == OpenAiResponses { Bytes::from(r#"{"input":[]}"#) } else { bare };
        if let Ok(request) = Request::read(kind, bare.clone()) {
            let with = offered(kind, &bare, ALL);
            let told: Value = serde_json::from_slice(&withheld(&request, &with, ALL)).unwrap();
            assert!(told["tools"].is_array(), "{kind:?}");
            let choice = if kind == Gemini { &told["toolConfig"] } else { &told["tool_choice"] };
            assert!(choice.to_string().to_lowercase().contains("none"), "{kind:?} {told}");
        }
    }
}

/// Google refuses a request with both spellings of a member.
#[test]
fn a_member_is_set_in_the_spelling_of_the_request() {
    for name in ["tool_config", "toolConfig"] {
        let body = format!(r#"{{"{name}":{{"a":1}},"contents":[]}}"#);
        let told: Value = serde_json::from_slice(&forbidden(Gemini, &body.into())).unwrap();
        assert_eq!(told[name]["functionCallingConfig"]["mode"], "NONE", "{told}");
        assert_eq!(told.as_object().map(serde_json::Map::len), Some(2), "{told}");
    }
}

/// Ollama has no word that forbids calls, and takes a history with calls of tools that are not there.
#[test]
fn ollama_is_asked_again_without_the_tool() {
    let body = Bytes::from(r#"{"stream":false,"messages":[]}"#);
    let request = Request::read(Ollama, body.clone()).unwrap();
    assert_eq!(check(&request), Ok(()));
    let with = offered(Ollama, &body, RECALL);
    assert!(with.ends_with(b"}}}}}]}") && with.starts_with(b"{\"stream\":false,"), "{with:?}");
    let told: Value = serde_json::from_slice(&withheld(&request, &with, RECALL)).unwrap();
    assert_eq!(told, json!({"stream": false, "messages": [], "tools": []}));
    let reply = Bytes::from(
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": NAME, "arguments": {"query": "x"}}},
            {"function": {"name": "bash", "arguments": {}}},
        ]})
        .to_string(),
    );
    let found = calls(Ollama, &[reply]);
    assert_eq!((found.own.len(), found.others), (1, 1));
    assert_eq!(found.own[0].arguments, r#"{"query":"x"}"#);
    let answered = found.own.into_iter().map(|call| AnsweredCall { call, text: "found".into() });
    let messages = results(Ollama, &answered.collect::<Vec<_>>());
    assert_eq!(messages, [format!(r#"{{"role":"tool","tool_name":"{NAME}","content":"found"}}"#)]);
}

#[test]
fn requests_that_cannot_have_it_do_not() {
    let cases = [
        (OpenAiChat, r#"{"n":2,"messages":[]}"#, NoOffer::Several),
        (OpenAiChat, r#"{"functions":[],"messages":[]}"#, NoOffer::Tools),
        (OpenAiChat, r#"{"response_format":{"type":"json_object"},"messages":[]}"#, NoOffer::Value),
        (OpenAiResponses, r#"{"conversation":"c","input":[]}"#, NoOffer::Kept),
        (OpenAiResponses, r#"{"background":true,"input":[]}"#, NoOffer::Kept),
        (Anthropic, r#"{"output_format":{"type":"json_schema"},"messages":[]}"#, NoOffer::Value),
        (OpenAiChat, r#"{"tool_choice":"required","messages":[]}"#, NoOffer::Forced),
        (Anthropic, r#"{"tool_choice":{"type":"any"},"messages":[]}"#, NoOffer::Forced),
        (Gemini, r#"{"tools":[{"googleSearch":{}}],"contents":[]}"#, NoOffer::Tools),
        (Gemini, r#"{"cachedContent":"c","contents":[]}"#, NoOffer::Kept),
        (Gemini, r#"{"cached_content":"c","contents":[]}"#, NoOffer::Kept),
        (Gemini, r#"{"generation_config":{"candidate_count":2},"contents":[]}"#, NoOffer::Several),
        (Ollama, r#"{"messages":[]}"#, NoOffer::Tools),
        (Ollama, r#"{"stream":false,"format":"json","messages":[]}"#, NoOffer::Value),
    ];
    for (kind, body, wanted) in cases {
        let request = Request::read(kind, Bytes::from(body)).unwrap();
        assert_eq!(check(&request), Err(wanted), "{body}");
    }
}

#[test]
fn results_go_before_those_of_the_client() {
    let tool = HiddenTool::Own(OwnTool::Recall);
    let call = RecallCall { tool, id: Some("t1".into()), arguments: "{}".into() };
    let answered = [AnsweredCall { call, text: "found \"it\"".into() }];
    for kind in KINDS {
        let messages = results(kind, &answered);
        assert_eq!(messages.len(), 1, "{kind:?}");
        assert!(serde_json::from_slice::<Value>(&messages[0]).is_ok(), "{kind:?}");
    }
    let own = Bytes::from(r#"{"role":"user","content":"hello"}"#);
    let got: Value =
        serde_json::from_slice(&in_front_of(Anthropic, &own, &answered).unwrap()).unwrap();
    assert_eq!(got["content"][0]["tool_use_id"], "t1");
    assert_eq!(got["content"][1], json!({"type": "text", "text": "hello"}));
    let own = Bytes::from(r#"{"role":"user","parts":[{"functionResponse":{"name":"a"}}]}"#);
    let got: Value =
        serde_json::from_slice(&in_front_of(Gemini, &own, &answered).unwrap()).unwrap();
    assert_eq!(got["parts"][0]["functionResponse"]["name"], NAME);
    assert_eq!(got["parts"].as_array().map(Vec::len), Some(2));
    assert_eq!(in_front_of(OpenAiChat, &own, &answered), None);
}

/// Of Gemini's calls the first one is signed: where that one is hidden, the next one says that it has no signature, whole
/// and in a stream.
#[test]
fn a_call_behind_a_hidden_one_is_not_without_a_signature() {
    let hidden = json!({"functionCall": {"name": NAME, "args": {}}, "thoughtSignature": "s"});
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let parts = json!([hidden, call("a"), call("b")]);
    let candidate = json!({"content": {"role": "model", "parts": parts}, "finishReason": "STOP"});
    let answer = Bytes::from(json!({"candidates": [candidate]}).to_string());
    let whole = joined(Gemini, std::slice::from_ref(&answer));
    let (mut stream, mut out) = (JoinedStream::new(Gemini), Vec::new());
    stream.push(&[b"data: ", &answer[..], b"\n\n"].concat(), &mut out);
    stream.finish(&mut out);
    let streamed = seen(Gemini, &out).output;
    let whole: Value = serde_json::from_slice(&whole).unwrap();
    let streamed: Value = serde_json::from_slice(&streamed[0]).unwrap();
    for parts in [&whole["candidates"][0]["content"]["parts"], &streamed["parts"]] {
        assert_eq!(parts[0]["functionCall"]["name"], "a", "{parts}");
        assert_eq!(parts[0]["thoughtSignature"], "skip_thought_signature_validator", "{parts}");
        assert_eq!(parts[1], call("b"), "{parts}");
    }
}
