//! Answers of each dialect, streamed and not, read while they pass.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use midfold_core::Usage;
use midfold_formats::DialectKind::{
    Anthropic, Bedrock, Gemini, Ollama, OpenAiChat, OpenAiResponses, ShareGpt,
};
use midfold_formats::answer::{
    AnswerFacts, AnswerFraming, AnswerTee, DeclaredFraming, PassVerdict,
};
use midfold_formats::{DialectKind, overflow::Diagnosis};
use proptest::prelude::*;
use serde_json::Value;

fn seen(kind: DialectKind, framing: impl Into<DeclaredFraming>, body: &[u8]) -> AnswerFacts {
    let mut tee = AnswerTee::new(kind, framing);
    tee.push(body);
    tee.finish()
}

/// A stream of events that have a name, which is the type in the data.
fn named(events: &[&str]) -> String {
    let event = |data: &&str| {
        let value: Value = serde_json::from_str(data).unwrap();
        format!("event: {}\ndata: {data}\n\n", value["type"].as_str().unwrap())
    };
    events.iter().map(event).collect()
}

fn unnamed(events: &[&str]) -> String {
    events.iter().map(|data| format!("data: {data}\n\n")).collect()
}

fn output(seen: &AnswerFacts) -> Vec<&str> {
    seen.output.iter().map(|bytes| std::str::from_utf8(bytes).unwrap()).collect()
}

fn usage(prompt: u64, output: u64, cache_read: u64, cache_write: u64) -> Option<Usage> {
    Some(Usage { prompt, output, cache_read, cache_write })
}

const CHAT: &[&str] = &[
    r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-5.4","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null,"obfuscation":"x"}"#,
    r#"{"id":"chatcmpl-1","model":"gpt-5.4","choices":[{"index":0,"delta":{"reasoning_content":"Let me "},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"gpt-5.4","choices":[{"index":0,"delta":{"reasoning_content":"look"},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"gpt-5.4","choices":[{"index":0,"delta":{"content":"I \"look\" \ud83e"},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"gpt-5.4","choices":[{"index":0,"delta":{"content":"\udd80é"},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"gpt-5.4","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"gpt-5.4","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"ls","arguments":"{"},"extra_content":{"google":{"thought_signature":"s"}}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"gpt-5.4","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"gpt-5.4","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"","function":{"arguments":"\"a.rs\"}"}},{"index":1,"id":"call_2","function":{"arguments":"}"}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"gpt-5.4","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    r#"{"id":"chatcmpl-1","model":"gpt-5.4","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":64}}}"#,
];

fn chat() -> String {
    format!(": OPENROUTER PROCESSING\n\n{}data: [DONE]\n\n", unnamed(CHAT))
}

#[test]
fn a_chat_stream_is_one_message() {
    let seen = seen(OpenAiChat, AnswerFraming::Sse, chat().as_bytes());
    assert_eq!(
        output(&seen),
        [concat!(
            r#"{"role":"assistant","content":"I \"look\" \ud83e\udd80é","reasoning_content":"Let me look","#,
            r#""tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.rs\"}"}},"#,
            r#"{"id":"call_2","type":"function","function":{"name":"ls","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]}"#
        )]
    );
    let message: Value = serde_json::from_slice(&seen.output[0]).unwrap();
    assert_eq!(message["content"], "I \"look\" 🦀é");
    assert_eq!(seen.usage, usage(100, 20, 64, 0));
    assert_eq!(seen.id.as_deref(), Some("chatcmpl-1"));
    assert_eq!(seen.model.as_deref(), Some("gpt-5.4"));
    assert_eq!(seen.finish.as_deref(), Some("tool_calls"));
    assert!(seen.is_complete && !seen.overrun && seen.error.is_none());
    assert_eq!(seen.events, CHAT.len() + 1);
}

#[test]
fn a_whole_chat_answer_keeps_its_message() {
    let body = r#" {"id":"chatcmpl-2","object":"chat.completion","model":"m","choices":[{"index":0,"message":{ "role":"assistant","content":null,"refusal":null,"tool_calls":[] },"finish_reason":"stop"},{"index":1,"message":{"role":"assistant","content":"no"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}"#;
    let seen = seen(OpenAiChat, AnswerFraming::Json, body.as_bytes());
    assert_eq!(
        output(&seen),
        [r#"{ "role":"assistant","content":null,"refusal":null,"tool_calls":[] }"#]
    );
    assert_eq!((seen.usage, seen.finish.as_deref()), (usage(9, 1, 0, 0), Some("stop")));
    assert!(seen.is_complete);
}

/// Gemini's endpoint for clients of `OpenAI` gives every call the same place.
#[test]
fn calls_that_came_whole_are_not_joined() {
    let stream = unnamed(&[
        r#"{"choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"stop"}]}"#,
    ]);
    let seen = seen(OpenAiChat, AnswerFraming::Sse, stream.as_bytes());
    assert_eq!(
        output(&seen),
        [
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}"#
        ]
    );
    assert!(!seen.is_complete, "no [DONE]");
}

#[test]
fn usage_is_found_where_providers_put_it() {
    for chunk in [
        r#"{"choices":[{"delta":{},"usage":{"prompt_tokens":5,"completion_tokens":1}}]}"#,
        r#"{"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":5,"completion_tokens":1}}}"#,
    ] {
        let stream = unnamed(&[chunk]);
        assert_eq!(
            seen(OpenAiChat, AnswerFraming::Sse, stream.as_bytes()).usage,
            usage(5, 1, 0, 0),
            "{chunk}"
        );
    }
}

#[test]
fn lines_of_ollama_are_one_message() {
    let lines = concat!(
        r#"{"model":"q","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}"#,
        "\n",
        r#"{"model":"q","message":{"role":"assistant","content":"a"},"done":false}"#,
        "\n",
        r#"{"model":"q","message":{"role":"assistant","content":"b","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]},"done":false}"#,
        "\n",
        r#"{"model":"q","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"g","arguments":{"x":2}}}]},"done":true,"done_reason":"stop","prompt_eval_count":26,"eval_count":9}"#,
        "\n",
    );
    for kind in [Ollama, OpenAiChat] {
        let seen = seen(kind, AnswerFraming::NdJson, lines.as_bytes());
        assert_eq!(
            output(&seen),
            [
                r#"{"role":"assistant","content":"ab","thinking":"hm","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}},{"function":{"name":"g","arguments":{"x":2}}}]}"#
            ]
        );
        assert_eq!((seen.usage, seen.finish.as_deref()), (usage(26, 9, 0, 0), Some("stop")));
        assert!(seen.is_complete);
    }
}

#[test]
fn an_answer_of_ollama_that_came_whole_is_read() {
    let message = r#"{"role":"assistant","content":"hi","thinking":"hm"}"#;
    let body = format!(
        r#"{{"model":"q","created_at":"2026-01-01T00:00:00Z","message":{message},"done_reason":"length","done":true,"prompt_eval_count":26,"eval_count":9}}"#
    );
    let whole = seen(Ollama, AnswerFraming::Json, body.as_bytes());
    assert_eq!(output(&whole), [message]);
    assert_eq!((whole.usage, whole.finish.as_deref()), (usage(26, 9, 0, 0), Some("length")));
    assert!(whole.is_complete);
    let refused = r#"{"error":"the input length exceeds the context length"}"#;
    for framing in [AnswerFraming::Json, AnswerFraming::NdJson] {
        let told = seen(Ollama, framing, refused.as_bytes());
        assert_eq!(told.error, Some(Diagnosis::Overflow { have: None, limit: None }));
    }
    let broken = format!(
        "{}\n{}\n",
        r#"{"model":"q","message":{"role":"assistant","content":"a"},"done":false}"#,
        r#"{"error":"an error was encountered while running the model"}"#
    );
    let cut = seen(Ollama, AnswerFraming::NdJson, broken.as_bytes());
    assert_eq!((cut.error, cut.is_complete), (Some(Diagnosis::Other), false));
}

const RESPONSES: &[&str] = &[
    r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-5.6","output":[],"usage":null}}"#,
    r#"{"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1","status":"in_progress","output":[]}}"#,
    r#"{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
    r#"{"type":"response.output_text.delta","sequence_number":3,"output_index":1,"delta":"hi"}"#,
    r#"{"type":"response.output_item.done","sequence_number":4,"output_index":1,"item":{"id":"msg_1", "type":"message","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[]}]}}"#,
    r#"{"type":"response.output_item.done","sequence_number":5,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gA=="}}"#,
    r#"{"type":"response.completed","sequence_number":6,"response":{"id":"resp_1","status":"completed","error":null,"model":"gpt-5.6","output":[{"id":"other","type":"message"}],"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":32,"cache_write_tokens":8},"output_tokens":7}}}"#,
];

#[test]
fn items_of_responses_are_the_providers_bytes() {
    let found = seen(OpenAiResponses, AnswerFraming::Sse, named(RESPONSES).as_bytes());
    assert_eq!(
        output(&found),
        [
            r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gA=="}"#,
            r#"{"id":"msg_1", "type":"message","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[]}]}"#
        ]
    );
    assert_eq!(found.usage, usage(50, 7, 32, 8));
    assert_eq!(found.id.as_deref(), Some("resp_1"));
    assert_eq!(found.finish.as_deref(), Some("completed"));
    assert!(found.is_complete);
    // No `event:` lines, and all items in the last event.
    let found = seen(
        OpenAiResponses,
        AnswerFraming::Sse,
        unnamed(&[RESPONSES[0], RESPONSES[3], RESPONSES[6]]).as_bytes(),
    );
    assert_eq!(output(&found), [r#"{"id":"other","type":"message"}"#]);
}

#[test]
fn whole_answers_of_responses_and_of_its_compact_endpoint() {
    let body = r#"{"id":"resp_2","object":"response","status":"incomplete","error":null,"model":"m","output":[{"type":"message"},{"type":"compaction","id":"cmp_1"}],"usage":{"input_tokens":5,"output_tokens":7}}"#;
    let found = seen(OpenAiResponses, AnswerFraming::Json, body.as_bytes());
    assert_eq!(output(&found), [r#"{"type":"message"}"#, r#"{"type":"compaction","id":"cmp_1"}"#]);
    assert_eq!(found.finish.as_deref(), Some("incomplete"));
    assert!(found.is_complete && found.error.is_none());
    let body = r#"{"id":"resp_3","object":"response.compaction","output":[{"type":"compaction","id":"cmp_1","encrypted_content":"x"}],"usage":{"input_tokens":5,"output_tokens":7}}"#;
    let found = seen(OpenAiResponses, AnswerFraming::Json, body.as_bytes());
    assert_eq!(found.output.len(), 1);
    assert_eq!((found.usage, found.is_complete), (usage(5, 7, 0, 0), true));
}

const MESSAGES: &[&str] = &[
    r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":1}}}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm\n"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"yes","estimated_tokens":4}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Eq+/=="}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"AAA"}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"","citations":null}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I \"lo"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"ok\" \u00e9"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"x"}}}"#,
    r#"{"type":"content_block_stop","index":2}"#,
    r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a"}}"#,
    r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":".rs\"}"}}"#,
    r#"{"type":"content_block_stop","index":3}"#,
    r#"{"type":"content_block_start","index":4,"content_block":{"type":"server_tool_use","id":"srv_1","name":"web","input":{}}}"#,
    r#"{"type":"content_block_stop","index":4}"#,
    r#"{"type":"content_block_start","index":5,"content_block":{"type":"compaction","content":null}}"#,
    r#"{"type":"content_block_delta","index":5,"delta":{"type":"compaction_delta","content":"Summary"}}"#,
    r#"{"type":"content_block_stop","index":5}"#,
    r#"{"type":"content_block_start","index":6,"content_block":{"type":"of_a_later_day","n":1.50}}"#,
    r#"{"type":"content_block_stop","index":6}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}"#,
    r#"{"type":"message_stop"}"#,
];

#[test]
fn blocks_of_a_messages_stream_are_put_together() {
    let found = seen(Anthropic, AnswerFraming::Sse, named(MESSAGES).as_bytes());
    assert_eq!(
        output(&found),
        [concat!(
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Hm\nyes","signature":"Eq+/=="},"#,
            r#"{"type":"redacted_thinking","data":"AAA"},"#,
            r#"{"type":"text","text":"I \"look\" \u00e9","citations":[{"type":"char_location","cited_text":"x"}]},"#,
            r#"{"type":"tool_use","id":"toolu_1","name":"read","input":{"path": "a.rs"}},"#,
            r#"{"type":"server_tool_use","id":"srv_1","name":"web","input":{}},"#,
            r#"{"type":"compaction","content":"Summary"},{"type":"of_a_later_day","n":1.50}]}"#
        )]
    );
    assert_eq!(found.usage, usage(115, 42, 100, 5));
    assert_eq!(found.id.as_deref(), Some("msg_1"));
    assert_eq!(found.model.as_deref(), Some("claude-opus-5"));
    assert_eq!(found.finish.as_deref(), Some("tool_use"));
    assert!(found.is_complete);
}

#[test]
fn counts_that_a_message_delta_repeats_are_the_newest() {
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":20,"cache_read_input_tokens":200,"output_tokens":2}}"#;
    let found = seen(Anthropic, AnswerFraming::Sse, named(&[MESSAGES[0], end]).as_bytes());
    assert_eq!(found.usage, usage(225, 2, 200, 5));
    assert!(!found.is_complete && found.output.is_empty());
}

#[test]
fn a_whole_message_keeps_its_content() {
    let body = r#"{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a", "citations":null}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}"#;
    let found = seen(Anthropic, AnswerFraming::Json, body.as_bytes());
    assert_eq!(
        output(&found),
        [r#"{"role":"assistant","content":[{"type":"text","text":"a", "citations":null}]}"#]
    );
    assert_eq!((found.usage, found.is_complete), (usage(3, 1, 0, 0), true));
}

const GEMINI: &[&str] = &[
    r#"{"candidates":[{"content":{"parts":[{"text":"Th","thought":true}],"role":"model"}}],"usageMetadata":{"promptTokenCount":10},"modelVersion":"gemini-3","responseId":"r1"}"#,
    r#"{"candidates":[{"content":{"parts":[{"thought":true,"text":"ink"}],"role":"model"}}],"responseId":"r1"}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"Hel"}],"role":"model"}}],"responseId":"r1"}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"lo"}],"role":"model"}},{"index":1,"content":{"parts":[{"text":"no"}]}}],"responseId":"r1"}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"x":1.0}},"thoughtSignature":"s=="}],"role":"model"}}],"responseId":"r1"}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"t=="}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":4,"thoughtsTokenCount":3},"responseId":"r1"}"#,
];

#[test]
fn parts_of_gemini_are_joined_where_they_are_text_alone() {
    let wanted = concat!(
        r#"{"role":"model","parts":[{"text":"Think","thought":true},{"text":"Hello"},"#,
        r#"{"functionCall":{"name":"f","args":{"x":1.0}},"thoughtSignature":"s=="},{"text":"","thoughtSignature":"t=="}]}"#
    );
    let array = format!("[{}\n]", GEMINI.join("\n,\r\n"));
    for (framing, body) in
        [(AnswerFraming::Sse, unnamed(GEMINI)), (AnswerFraming::JsonArray, array)]
    {
        let found = seen(Gemini, framing, body.as_bytes());
        assert_eq!(output(&found), [wanted]);
        assert_eq!(found.usage, usage(10, 7, 0, 0));
        assert_eq!(found.id.as_deref(), Some("r1"));
        assert_eq!(found.model.as_deref(), Some("gemini-3"));
        assert_eq!(found.finish.as_deref(), Some("STOP"));
        assert!(found.is_complete);
        assert_eq!(found.events, GEMINI.len());
    }
    let wrapped = format!(r#"{{"response":{}}}"#, GEMINI[5]);
    let found = seen(Gemini, AnswerFraming::Json, wrapped.as_bytes());
    assert_eq!((found.usage, found.finish.as_deref()), (usage(10, 7, 0, 0), Some("STOP")));
}

#[test]
fn bedrock_is_read_whole_and_rows_are_no_answers() {
    let body = r#"{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":1}}"#;
    let found = seen(Bedrock, AnswerFraming::Json, body.as_bytes());
    assert_eq!(output(&found), [r#"{"role":"assistant","content":[{"text":"a"}]}"#]);
    assert_eq!((found.usage, found.is_complete), (usage(3, 1, 0, 0), true));
    assert_eq!(found.finish.as_deref(), Some("end_turn"));
    let found = seen(ShareGpt, AnswerFraming::Json, br#"{"from":"gpt","value":"a"}"#);
    assert!(found.output.is_empty() && found.usage.is_none());
}

/// Where a verdict falls when events come one by one, and which.
fn verdicts(kind: DialectKind, stream: &[String]) -> (usize, PassVerdict) {
    let mut tee = AnswerTee::new(kind, AnswerFraming::Sse);
    for (at, event) in stream.iter().enumerate() {
        tee.push(event.as_bytes());
        if tee.verdict() != PassVerdict::Undecided {
            return (at, tee.verdict());
        }
    }
    (stream.len(), tee.verdict())
}

fn events(all: &[&str]) -> Vec<String> {
    all.iter().map(|one| named(&[one])).collect()
}

#[test]
fn the_first_word_decides() {
    let chat: Vec<_> = CHAT.iter().map(|data| unnamed(&[data])).collect();
    assert_eq!(verdicts(OpenAiChat, &chat), (1, PassVerdict::Fine));
    assert_eq!(verdicts(OpenAiResponses, &events(RESPONSES)), (2, PassVerdict::Fine));
    assert_eq!(verdicts(Anthropic, &events(MESSAGES)), (2, PassVerdict::Fine));
    assert_eq!(verdicts(Gemini, &[unnamed(GEMINI)]), (0, PassVerdict::Fine));
    let quiet = [": ping\n\n".to_owned(), "event: keepalive\ndata: {}\n\n".to_owned()];
    assert_eq!(verdicts(OpenAiResponses, &quiet[..1]), (1, PassVerdict::Undecided));
    // What nobody knows is not held back.
    assert_eq!(
        verdicts(OpenAiChat, &["data: nothing known\n\n".to_owned()]),
        (0, PassVerdict::Fine)
    );
}

#[test]
fn an_overflow_before_the_first_word_can_be_mended() {
    let full = Diagnosis::Overflow { have: None, limit: None };
    let failed = r#"{"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."},"output":[]}}"#;
    let stream = events(&[RESPONSES[0], RESPONSES[1], failed]);
    assert_eq!(verdicts(OpenAiResponses, &stream), (2, PassVerdict::Overflow(full)));
    let counted = Diagnosis::Overflow { have: Some(213_462), limit: Some(200_000) };
    let long = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#;
    let stream = events(&[MESSAGES[0], MESSAGES[1], long]);
    assert_eq!(verdicts(Anthropic, &stream), (2, PassVerdict::Overflow(counted)));
    let stopped = r#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":0}}"#;
    let stream = events(&[MESSAGES[0], stopped]);
    assert_eq!(verdicts(Anthropic, &stream), (1, PassVerdict::Overflow(full)));
    let chat =
        r#"{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum","code":400}}"#;
    let stream = [unnamed(&[CHAT[0]]), unnamed(&[chat])];
    assert_eq!(verdicts(OpenAiChat, &stream), (1, PassVerdict::Overflow(counted)));
    // A stream that is refused with a document.
    assert_eq!(verdicts(OpenAiChat, &[chat.to_owned()]), (0, PassVerdict::Overflow(counted)));
    let gemini = r#"[{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}]"#;
    let gemini_full = Diagnosis::Overflow { have: Some(1_196_265), limit: Some(1_048_575) };
    assert_eq!(verdicts(Gemini, &[gemini.to_owned()]), (0, PassVerdict::Overflow(gemini_full)));
}

#[test]
fn other_errors_and_late_ones_are_passed_on() {
    let busy = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let stream = events(&[MESSAGES[0], busy]);
    assert_eq!(verdicts(Anthropic, &stream), (1, PassVerdict::Fine));
    let found = seen(Anthropic, AnswerFraming::Sse, stream.concat().as_bytes());
    assert_eq!(found.error, Some(Diagnosis::RateLimit));
    assert!(!found.is_complete);
    let long = r#"{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#;
    let late = unnamed(&[CHAT[0], CHAT[1], long]);
    let mut tee = AnswerTee::new(OpenAiChat, AnswerFraming::Sse);
    tee.push(late.as_bytes());
    assert_eq!(tee.verdict(), PassVerdict::Fine);
    assert!(matches!(tee.finish().error, Some(Diagnosis::Overflow { .. })));
    // An event that only its name calls an error.
    let found =
        seen(OpenAiChat, AnswerFraming::Sse, b"event: error\ndata: {\"message\":\"boom\"}\n\n");
    assert_eq!(found.error, Some(Diagnosis::Other));
}

#[test]
fn an_answer_that_is_cut_off_keeps_what_came_whole() {
    let found = seen(Anthropic, AnswerFraming::Sse, named(&MESSAGES[..17]).as_bytes());
    let text = output(&found)[0];
    assert!(text.contains("look") && !text.contains("tool_use"), "{text}");
    assert!(!found.is_complete);
    assert_eq!(found.usage, usage(115, 1, 100, 5));
    let found = seen(OpenAiChat, AnswerFraming::Json, br#"{"id":"c","choices":[{"message":{"con"#);
    assert_eq!(found, AnswerFacts::default());
}

#[test]
fn without_output_all_else_is_the_same() {
    for (kind, framing, body) in samples() {
        let mut tee = AnswerTee::new(kind, framing).without_output();
        tee.push(body.as_bytes());
        let wanted = AnswerFacts { output: Vec::new(), ..seen(kind, framing, body.as_bytes()) };
        assert_eq!(tee.finish(), wanted, "{kind}");
    }
}

#[test]
fn what_is_too_large_is_only_passed() {
    let long = "x".repeat(9 * 1024 * 1024);
    let large = format!("{{\"choices\":[{{\"delta\":{{\"content\":\"{long}\"}}}}]}}");
    let stream = unnamed(&[CHAT[0], &large, CHAT[10]]);
    let mut tee = AnswerTee::new(OpenAiChat, AnswerFraming::Sse);
    stream.as_bytes().chunks(65_536).for_each(|chunk| tee.push(chunk));
    let found = tee.finish();
    assert!(found.overrun && found.output.is_empty());
    assert_eq!(found.usage, usage(100, 20, 64, 0), "what follows is read");

    let part = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        &long[..4_000_000]
    );
    let mut tee = AnswerTee::new(OpenAiChat, AnswerFraming::Sse);
    let mut quiet = tee.clone().without_output();
    (0..9).for_each(|_| tee.push(part.as_bytes()));
    let found = tee.finish();
    assert!(found.overrun && found.output.is_empty());
    (0..9).for_each(|_| quiet.push(part.as_bytes()));
    assert!(!quiet.finish().overrun, "nothing is collected");

    let mut tee = AnswerTee::new(OpenAiResponses, AnswerFraming::Json);
    tee.push(b"{\"output\":[\"");
    (0..4).for_each(|_| tee.push(long.as_bytes()));
    tee.push(b"\"]}");
    assert_eq!(tee.verdict(), PassVerdict::Fine);
    assert!(tee.finish().overrun);
}

/// Items stand where a client can send them: nothing in the output is not JSON.
#[test]
fn broken_bytes_never_reach_the_output() {
    let event = b"data: {\"type\":\"response.output_item.done\",\"item\":{\"a\":\"\xff\xfe\"}}\n\n";
    let found = seen(OpenAiResponses, AnswerFraming::Sse, event);
    assert_eq!(output(&found), ["{\"a\":\"\u{FFFD}\u{FFFD}\"}"]);
    let body = b"{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}";
    let mut quiet = AnswerTee::new(OpenAiChat, AnswerFraming::Json).without_output();
    quiet.push(body);
    assert!(quiet.finish().is_complete && seen(OpenAiChat, AnswerFraming::Json, body).is_complete);
    let event = b"data: {\"type\":\"response.output_item.done\",\"item\":{\"a\":nothing}}\n\n";
    assert!(seen(OpenAiResponses, AnswerFraming::Sse, event).output.is_empty());
    let event = br#"data: {"choices":[{"delta":{"content":"\ud83e alone"}}]}"#;
    let found = seen(OpenAiChat, AnswerFraming::Sse, event);
    assert_eq!(output(&found), [r#"{"role":"assistant","content":"\ud83e alone"}"#]);
}

fn samples() -> Vec<(DialectKind, AnswerFraming, String)> {
    vec![
        (OpenAiChat, AnswerFraming::Sse, chat()),
        (OpenAiChat, AnswerFraming::Sse, chat().replace('\n', "\r\n")),
        (OpenAiResponses, AnswerFraming::Sse, named(RESPONSES)),
        (Anthropic, AnswerFraming::Sse, named(MESSAGES)),
        (Anthropic, AnswerFraming::Sse, named(MESSAGES).replace('\n', "\r")),
        (Gemini, AnswerFraming::Sse, format!("\u{FEFF}{}", unnamed(GEMINI))),
        (Gemini, AnswerFraming::JsonArray, format!("[{}]", GEMINI.join(","))),
        (OpenAiChat, AnswerFraming::NdJson, CHAT.join("\n")),
        (OpenAiChat, AnswerFraming::Sse, r#" {"error":{"message":"too many tokens"}}"#.to_owned()),
        (OpenAiChat, AnswerFraming::Json, format!("\n\n{}", CHAT[3])),
    ]
}

/// Chunks of these sizes, over and over.
fn in_chunks(
    kind: DialectKind,
    framing: AnswerFraming,
    mut body: &[u8],
    sizes: &[usize],
) -> AnswerFacts {
    let mut tee = AnswerTee::new(kind, framing);
    for size in sizes.iter().cycle() {
        if body.is_empty() {
            break;
        }
        let (chunk, rest) = body.split_at(body.len().min(*size));
        tee.push(chunk);
        body = rest;
    }
    tee.finish()
}

#[test]
fn every_split_in_two_gives_the_same() {
    for (kind, framing, body) in samples() {
        let wanted = seen(kind, framing, body.as_bytes());
        for at in 0..=body.len() {
            let found = in_chunks(kind, framing, body.as_bytes(), &[at.max(1), body.len().max(1)]);
            assert_eq!(found, wanted, "{kind} {framing:?} {at}");
        }
    }
}

#[test]
fn where_the_content_type_says_nothing_the_first_byte_decides() {
    let document =
        r#"{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}"#;
    for content_type in ["text/plain", "application/octet-stream", "", "text/event-streams"] {
        for is_stream in [true, false] {
            let declared = DeclaredFraming::of(content_type, is_stream);
            let found = seen(OpenAiChat, declared, chat().as_bytes());
            assert_eq!(found, seen(OpenAiChat, AnswerFraming::Sse, chat().as_bytes()));
            let found = seen(OpenAiChat, declared, document.as_bytes());
            assert!(found.is_complete && found.output.len() == 1, "{content_type}");
        }
    }
    let mut tee = AnswerTee::new(OpenAiChat, DeclaredFraming::of("text/plain", true));
    assert_eq!(tee.framing(), AnswerFraming::Sse);
    tee.push(b" {");
    assert_eq!(tee.framing(), AnswerFraming::JsonArray);
}

#[test]
fn media_types_are_read_in_any_case() {
    for (content_type, framing) in [
        ("Text/Event-Stream; charset=utf-8", AnswerFraming::Sse),
        ("application/X-NDJSON", AnswerFraming::NdJson),
        (" Application/JSON ;charset=utf-8", AnswerFraming::Json),
    ] {
        assert_eq!(DeclaredFraming::of(content_type, false), framing.into());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_do_not_matter(sizes in prop::collection::vec(1_usize..200, 1..20)) {
        for (kind, framing, body) in samples() {
            let wanted = seen(kind, framing, body.as_bytes());
            prop_assert_eq!(in_chunks(kind, framing, body.as_bytes(), &sizes), wanted);
        }
    }

    #[test]
    fn damaged_answers_are_read_alike(
        sample in 0_usize..10,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
        sizes in prop::collection::vec(1_usize..200, 1..20),
    ) {
        let (_, _, body) = samples().swap_remove(sample);
        let mut body = body.into_bytes();
        for (at, byte) in damage {
            let at = at.index(body.len());
            body[at] = byte;
        }
        body.truncate(cut.index(body.len()) + 1);
        for kind in DialectKind::ALL {
            for framing in [AnswerFraming::Json, AnswerFraming::Sse, AnswerFraming::JsonArray, AnswerFraming::NdJson] {
                let wanted = seen(kind, framing, &body);
                for reply in &wanted.output {
                    prop_assert!(serde_json::from_slice::<serde::de::IgnoredAny>(reply).is_ok());
                }
                prop_assert_eq!(in_chunks(kind, framing, &body, &sizes), wanted);
            }
        }
    }
}
