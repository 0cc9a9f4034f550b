//! Anthropic's compaction: what requests ask, and answers in the exact shapes that clients parse.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test helpers may fail loudly")]

use midfold_core::Usage;
use midfold_formats::DialectKind;
use midfold_formats::answer::{AnswerFraming, AnswerTee};
use midfold_formats::vendor::anthropic::*;

fn edits(json: &str) -> Vec<ContextEdit> {
    let request =
        format!(r#"{{"model":"m","messages":[],"context_management":{{"edits":{json}}}}}"#);
    read_request(request.as_bytes()).unwrap_or_else(|refusal| panic!("{json}: {refusal}")).edits
}

fn refused(request: &str) -> String {
    match read_request(request.as_bytes()) {
        Err(refusal) => {
            let code = refusal.code.map_or("", ErrorCode::name);
            format!("{code}|{refusal}")
        }
        Ok(asked) => panic!("{request}: {asked:?}"),
    }
}

#[test]
fn edits_have_the_vendors_defaults() {
    let found = edits(
        r#"[{"type":"clear_thinking_20251015"},{"type":"clear_tool_uses_20250919"},{"type":"compact_20260112"}]"#,
    );
    let wanted = [
        ContextEdit::ClearThinking(ClearThinking { keep: KeepThinking::ModelDefault }),
        ContextEdit::ClearToolUses(ClearToolUses {
            trigger: EditTrigger::InputTokens(100_000),
            keep: 3,
            clear_at_least: None,
            exclude_tools: vec![],
            clear_tool_inputs: ClearInputs::None,
        }),
        ContextEdit::Compact(CompactEdit {
            trigger: 150_000,
            pause_after_compaction: false,
            instructions: None,
        }),
    ];
    assert_eq!(found, wanted);
    assert!(edits("[]").is_empty() && edits("null").is_empty());
    assert!(
        read_request(br#"{"messages":[],"context_management":null,"compaction":null}"#)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn edits_are_read_with_all_their_fields() {
    let found = edits(
        r#"[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":2}},
        {"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":30},
         "keep":{"type":"tool_uses","value":0},"clear_at_least":{"type":"input_tokens","value":5000},
         "exclude_tools":["web_search"],"clear_tool_inputs":["read","b\u0061sh"]},
        {"type":"compact_20260112","trigger":{"type":"input_tokens","value":50000},
         "pause_after_compaction":true,"instructions":"Be brief"}]"#,
    );
    let wanted = [
        ContextEdit::ClearThinking(ClearThinking { keep: KeepThinking::Turns(2) }),
        ContextEdit::ClearToolUses(ClearToolUses {
            trigger: EditTrigger::ToolUses(30),
            keep: 0,
            clear_at_least: Some(5_000),
            exclude_tools: vec!["web_search".into()],
            clear_tool_inputs: ClearInputs::Of(vec!["read".into(), "bash".into()]),
        }),
        ContextEdit::Compact(CompactEdit {
            trigger: 50_000,
            pause_after_compaction: true,
            instructions: Some("Be brief".into()),
        }),
    ];
    assert_eq!(found, wanted);
    for all in [r#""all""#, r#"{"type":"all"}"#] {
        let found = edits(&format!(r#"[{{"type":"clear_thinking_20251015","keep":{all}}}]"#));
        assert_eq!(found, [ContextEdit::ClearThinking(ClearThinking { keep: KeepThinking::All })]);
    }
    let found = edits(r#"[{"type":"clear_tool_uses_20250919","clear_tool_inputs":true}]"#);
    assert!(
        matches!(&found[..], [ContextEdit::ClearToolUses(edit)] if edit.clear_tool_inputs == ClearInputs::All)
    );
}

#[test]
fn edits_of_other_types_are_left_to_whoever_knows_them() {
    assert_eq!(edits(r#"[{"type":"clear_all"}]"#), [ContextEdit::Other("clear_all".into())]);
    let bare = |request: &str| {
        String::from_utf8(without_asked(&request.to_owned().into()).to_vec()).unwrap()
    };
    assert_eq!(
        bare(
            r#"{"a":1,"context_management":{"edits":[{"type":"compact_20260112"},{"type":"x"}]}}"#
        ),
        r#"{"a":1,"context_management":{"edits":[{"type":"x"}]}}"#
    );
    let ours = r#"{"context_management":{"edits":[{"type":"compact_20260112"}]},"a":1}"#;
    assert_eq!(bare(ours), r#"{"a":1}"#);
    assert_eq!(bare(r#"{"a":1,"compaction":{"type":"summarize"}}"#), r#"{"a":1}"#);
}

/// A round of work: a call with its result, and thinking before it.
fn round(at: usize) -> [bytes::Bytes; 2] {
    let result = "x".repeat(80);
    [
        format!(r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"s"}},{{"type":"tool_use","id":"t{at}","name":"n{}","input":{{"a":"{result}"}}}}]}}"#, at % 2),
        format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{at}","content":"{result}"}}]}}"#),
    ]
    .map(bytes::Bytes::from)
}

fn history(rounds: usize) -> Vec<bytes::Bytes> {
    let first = bytes::Bytes::from_static(br#"{"role":"user","content":"do it"}"#);
    [first].into_iter().chain((0..rounds).flat_map(round)).collect()
}

fn cleared(rounds: usize, json: &str, is_bound: bool) -> ClearedMessages {
    let count = |message: &bytes::Bytes| message.len() as u64;
    clear(
        history(rounds),
        &edits(json),
        &ConversationMeasure { beside: 0, is_bound, count: &count },
    )
}

const PLACEHOLDER: &str = "[Old tool result content cleared]";

/// Which rounds have no result any more.
fn gone(cleared: &ClearedMessages) -> Vec<bool> {
    let has = |message: &bytes::Bytes| String::from_utf8_lossy(message).contains(PLACEHOLDER);
    cleared.messages.iter().skip(2).step_by(2).map(has).collect()
}

#[test]
fn old_results_are_cleared_and_stay_so_while_nothing_else_is() {
    let edit = r#"[{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":4},
        "keep":{"type":"tool_uses","value":2}}]"#;
    assert!(cleared(4, edit, false).applied.is_empty());
    let (mut before, mut moved) = (Vec::new(), 0);
    for rounds in 5..12 {
        let now = cleared(rounds, edit, false);
        let gone = gone(&now);
        let count = gone.iter().filter(|gone| **gone).count();
        assert!(gone[..count].iter().all(|gone| *gone), "the oldest: {gone:?}");
        assert!((2..=4).contains(&(rounds - count)), "{rounds}: {gone:?}");
        let [AppliedEdit::ClearToolUses { tool_uses, input_tokens }] = now.applied[..] else {
            panic!("{:?}", now.applied)
        };
        let (all, less) = (history(rounds), &now.messages);
        let size = |all: &[bytes::Bytes]| all.iter().map(bytes::Bytes::len).sum::<usize>();
        assert_eq!((tool_uses, input_tokens), (count as u64, (size(&all) - size(less)) as u64));
        moved += usize::from(!now.messages.starts_with(&before));
        before = now.messages;
    }
    assert_eq!(moved, 2, "once in three requests");
}

#[test]
fn what_is_excluded_or_too_little_stays_and_inputs_go_where_they_are_named() {
    let with = |more: &str| {
        format!(
            r#"[{{"type":"clear_tool_uses_20250919","trigger":{{"type":"input_tokens","value":900}},"keep":{{"type":"tool_uses","value":1}}{more}}}]"#
        )
    };
    let plain = cleared(6, &with(""), false);
    assert!(gone(&plain).iter().filter(|gone| **gone).count() >= 3);
    let excluded = cleared(6, &with(r#","exclude_tools":["n0"]"#), false);
    assert!(!gone(&excluded)[0]);
    assert!(gone(&excluded).contains(&true));
    let little = r#","clear_at_least":{"type":"input_tokens","value":5000}"#;
    assert!(cleared(6, &with(little), false).applied.is_empty());
    let inputs = cleared(6, &with(r#","clear_tool_inputs":["n1"]"#), false);
    let text = |at: usize| String::from_utf8_lossy(&inputs.messages[at]).into_owned();
    assert!(!text(1).contains(r#""input":{}"#) && text(3).contains(r#""input":{}"#));
    // Messages stay JSON, and thinking stays but where it is bound to what was cleared.
    for is_bound in [false, true] {
        let cleared = cleared(6, &with(r#","clear_tool_inputs":true"#), is_bound);
        let thinks = |message: &&bytes::Bytes| {
            serde_json::from_slice::<serde_json::Value>(message).unwrap();
            String::from_utf8_lossy(message).contains("thinking")
        };
        let left = cleared.messages.iter().filter(thinks).count();
        assert!(if is_bound { left < 6 } else { left == 6 }, "{left}");
    }
}

#[test]
fn old_thinking_is_cleared() {
    let keep = |value: &str| format!(r#"[{{"type":"clear_thinking_20251015","keep":{value}}}]"#);
    let two = cleared(5, &keep(r#"{"type":"thinking_turns","value":2}"#), false);
    let thinks = |message: &bytes::Bytes| String::from_utf8_lossy(message).contains("thinking");
    let left: Vec<_> = two.messages.iter().skip(1).step_by(2).map(thinks).collect();
    assert_eq!(left, [false, false, false, true, true]);
    assert!(matches!(
        two.applied[..],
        [AppliedEdit::ClearThinking { turns: 3, input_tokens: 1.. }]
    ));
    let all = cleared(5, &keep(r#""all""#), false);
    assert_eq!((all.applied.len(), all.messages), (0, history(5)));
}

#[test]
fn edits_that_the_vendor_refuses_are_refused() {
    let cases = [
        (
            r#"[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":49999}}]"#,
            "0: trigger.value must be at least 50000",
        ),
        (
            r#"[{"type":"compact_20260112"},{"type":"clear_thinking_20251015"}]"#,
            "1: clear_thinking_20251015 must be the first edit",
        ),
        ("[7]", "0: type: is required"),
        (
            r#"[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":0}}]"#,
            "0: keep.value must be at least 1",
        ),
        (
            r#"[{"type":"compact_20260112","trigger":{"type":"tool_uses","value":9}}]"#,
            "0: trigger.type must be 'input_tokens'",
        ),
        (
            r#"[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":"9"}}]"#,
            "0: trigger.value must be a whole number",
        ),
        (
            r#"[{"type":"clear_tool_uses_20250919","exclude_tools":"a"}]"#,
            "0: exclude_tools: must be a list of tool names",
        ),
        (
            r#"[{"type":"clear_tool_uses_20250919","clear_tool_inputs":[1]}]"#,
            "0: clear_tool_inputs: must be a list of tool names",
        ),
        (
            r#"[{"type":"compact_20260112","pause_after_compaction":1}]"#,
            "0: pause_after_compaction: must be true or false",
        ),
    ];
    for (json, wanted) in cases {
        let request = format!(r#"{{"context_management":{{"edits":{json}}}}}"#);
        assert_eq!(refused(&request), format!("|context_management.edits.{wanted}"));
    }
}

#[test]
fn a_summary_on_demand_is_read_and_its_conflicts_are_refused() {
    let messages = r#""messages":[{"role":"user","content":"hi"}]"#;
    let with = |more: &str| format!(r#"{{{messages},"compaction":{{"type":"summarize"}}{more}}}"#);
    let found = read_request(with("").as_bytes()).unwrap();
    assert_eq!(found.summarize, Some(SummarizeOption { instructions: None }));
    let instructed = |text: &str| {
        format!(r#"{{{messages},"compaction":{{"type":"summarize","instructions":"{text}"}}}}"#)
    };
    for (text, wanted) in [("Be brief", Some("Be brief".to_owned())), (" \\n", None)] {
        let found = read_request(instructed(text).as_bytes()).unwrap();
        assert_eq!(found.summarize, Some(SummarizeOption { instructions: wanted }));
    }
    assert!(read_request(instructed(&"é".repeat(INSTRUCTIONS_LIMIT)).as_bytes()).is_ok());
    let long = refused(&instructed(&"é".repeat(INSTRUCTIONS_LIMIT + 1)));
    assert_eq!(long, "|compaction.instructions: must have at most 16384 characters");
    let fine = r#","stop_sequences":[],"tool_choice":{"type":"none"},"output_config":{"effort":"low","task_budget":{"total":9}}"#;
    assert!(read_request(with(fine).as_bytes()).is_ok());
    for (more, wanted) in [
        (r#","context_management":{"edits":[]}"#, "context_management"),
        (r#","stop_sequences":["x"]"#, "stop_sequences"),
        (r#","output_config":{"format":{"type":"json_schema"}}"#, "output_config.format"),
        (
            r#","output_config":{"task_budget":{"remaining":1}}"#,
            "output_config.task_budget.remaining",
        ),
        (r#","tool_choice":{"type":"any"}"#, "a tool_choice of type 'any' or 'tool'"),
        (r#","tool_choice":{"type":"tool","name":"x"}"#, "a tool_choice of type 'any' or 'tool'"),
    ] {
        let told = format!("|compaction: cannot be combined with {wanted}; leave one of them out");
        assert_eq!(refused(&with(more)), told);
    }
    assert_eq!(
        refused(r#"{"compaction":{"type":"wipe"}}"#),
        "|compaction.type must be 'summarize'"
    );
    for nothing in
        ["[]", r#"[{"role":"system","content":"a"}]"#, r#"[{"role":"user","content":[]}]"#]
    {
        let told =
            refused(&format!(r#"{{"messages":{nothing},"compaction":{{"type":"summarize"}}}}"#));
        assert!(told.starts_with("compaction_nothing_to_summarize|"), "{told}");
    }
    let turn = |content: &str| {
        format!(
            r#"{{"messages":[{{"role":"user","content":"a"}},{{"role":"assistant","content":[{content}]}}],"compaction":{{"type":"summarize"}}}}"#
        )
    };
    let searched = r#"{"type":"server_tool_use","id":"s1"},{"type":"web_search_tool_result","tool_use_id":"s1"}"#;
    assert!(read_request(turn(searched).as_bytes()).is_ok());
    for open in [r#"{"type":"tool_use","id":"t1"}"#, r#"{"type":"server_tool_use","id":"s1"}"#] {
        let told = refused(&turn(open));
        assert!(told.starts_with("compaction_incomplete_turn|"), "{told}");
    }
}

fn placement(messages: &str) -> Result<(), ErrorCode> {
    let request = format!(r#"{{"messages":{messages}}}"#);
    check_placement(&compaction_blocks(request.as_bytes())).map_err(|refusal| refusal.code.unwrap())
}

#[test]
fn blocks_that_come_back_are_found_where_they_stand() {
    let request = br#"{"messages":[{"role":"user","content":"compaction"},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"compaction","content":"So\nfar","encrypted_content":"e"},{"type":"compaction","content":null}]}]}"#;
    let found = compaction_blocks(request);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].message, found[0].block), (1, 1));
    assert_eq!(found[0].content.as_deref(), Some("So\nfar"));
    assert_eq!(found[0].encrypted_content.as_deref(), Some("e"));
    assert_eq!(
        &request[found[0].range.clone()],
        br#"{"type":"compaction","content":"So\nfar","encrypted_content":"e"}"#
    );
    assert_eq!((found[1].block, found[1].content.as_deref()), (2, None));
    assert_eq!(check_placement(&found), Ok(()), "a block without a signature may stand anywhere");
    assert!(compaction_blocks(br#"{"messages":[{"role":"user","content":"hi"}]}"#).is_empty());
}

#[test]
fn signed_blocks_come_first_and_alone() {
    let signed = r#"{"type":"compaction","content":"s","signature":"q"}"#;
    let failed = r#"{"type":"compaction","content":null}"#;
    let unsigned = r#"{"type":"compaction","content":"t"}"#;
    let text = r#"{"type":"text","text":"a"}"#;
    let message = |role: &str, blocks: &[&str]| {
        format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
    };
    let all = |messages: &[String]| placement(&format!("[{}]", messages.join(",")));
    let misplaced = Err(ErrorCode::BlockMisplaced);
    assert_eq!(all(&[message("assistant", &[signed]), message("assistant", &[text])]), Ok(()));
    assert_eq!(all(&[message("user", &[signed, text])]), Ok(()));
    assert_eq!(all(&[message("user", &[text, signed])]), misplaced);
    assert_eq!(all(&[message("user", &[text]), message("assistant", &[signed])]), misplaced);
    assert_eq!(all(&[message("system", &[signed])]), misplaced);
    let ambiguous = Err(ErrorCode::BlockAmbiguous);
    assert_eq!(
        all(&[message("assistant", &[signed]), message("assistant", &[unsigned])]),
        ambiguous
    );
    assert_eq!(all(&[message("assistant", &[signed, failed])]), Ok(()));
}

#[test]
fn refusals_have_the_vendors_shape_and_status() {
    let refusal = AnthropicRefusal::of(ErrorCode::Unavailable, "later");
    assert_eq!(refusal.status(), 529);
    assert_eq!(
        refusal.body(None),
        br#"{"type":"error","error":{"type":"overloaded_error","message":"later","details":{"error_code":"compaction_unavailable"}}}"#
    );
    let refusal = AnthropicRefusal::invalid("no");
    assert_eq!(refusal.status(), 400);
    assert_eq!(
        refusal.body(None),
        br#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#
    );
    let names: Vec<_> = ErrorCode::ALL.map(ErrorCode::name).to_vec();
    assert!(names.iter().all(|name| name.starts_with("compaction_")));
}

fn block() -> CompactionBlock {
    CompactionBlock {
        content: Some("So \"far\"".into()),
        signature: Some("mf1.x".into()),
        encrypted_content: None,
    }
}

fn head() -> MessageHead {
    MessageHead { id: "msg_1".into(), model: "claude-opus-5".into() }
}

const COST: Iteration = Iteration {
    kind: IterationKind::Compaction,
    usage: Usage { prompt: 180, output: 35, cache_read: 100, cache_write: 20 },
};

fn summary<'a>(head: &'a MessageHead, block: &'a CompactionBlock) -> SummaryMessage<'a> {
    SummaryMessage { head, block, iterations: &[COST], edits: None }
}

fn string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn an_answer_on_demand_is_one_signed_block() {
    assert_eq!(
        string(summary(&head(), &block()).json()),
        concat!(
            r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5","#,
            r#""content":[{"type":"compaction","content":"So \"far\"","signature":"mf1.x"}],"#,
            r#""stop_reason":"compaction","stop_sequence":null,"#,
            r#""usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0,"#,
            r#""iterations":[{"type":"compaction","input_tokens":60,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":35}]}}"#
        )
    );
    let edits = [AppliedEdit::ClearThinking { turns: 2, input_tokens: 30 }];
    let cleared =
        string(SummaryMessage { edits: Some(&edits), ..summary(&head(), &block()) }.json());
    let applied = string(applied_edits(&edits));
    assert!(cleared.ends_with(&format!(r#","context_management":{applied}}}"#)), "{cleared}");
}

#[test]
fn streams_of_the_two_kinds_differ_in_their_block() {
    let start = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}

"#;
    let end = r#"event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"compaction","stop_sequence":null},"usage":{"output_tokens":0,"iterations":[{"type":"compaction","input_tokens":60,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":35}]}}

event: message_stop
data: {"type":"message_stop"}

"#;
    let on_demand = r#"event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":"So \"far\"","signature":"mf1.x"}}

"#;
    let threshold = r#"event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"So \"far\""}}

"#;
    for (style, middle) in [(StreamStyle::OnDemand, on_demand), (StreamStyle::Threshold, threshold)]
    {
        let stream = summary(&head(), &block()).events(style);
        assert_eq!(string(stream.clone()), [start, middle, end].concat(), "{style:?}");
        // Our own tee reads it as any other.
        let mut tee = AnswerTee::new(DialectKind::Anthropic, AnswerFraming::Sse);
        tee.push(&stream);
        let seen = tee.finish();
        assert!(seen.is_complete);
        assert_eq!(seen.finish.as_deref(), Some("compaction"));
        let content = String::from_utf8_lossy(&seen.output[0]).into_owned();
        let wanted =
            r#"{"role":"assistant","content":[{"type":"compaction","content":"So \"far\"""#;
        assert!(content.starts_with(wanted), "{content}");
    }
    let failed = string(block_events(&CompactionBlock::default(), 3, StreamStyle::Threshold));
    assert!(failed.contains(r#""index":3,"delta":{"type":"compaction_delta","content":null}"#));
}

const REPLY: &str = ": comment

event: message_start
data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_9\",\"content\":[],\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":5,\"output_tokens\":1}}}

event: ping
data: {\"type\": \"ping\"}

event: content_block_start
data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}

event: content_block_delta
data: {\"type\":\"content_block_delta\", \"index\": 0,\"delta\":{\"type\":\"text_delta\",\"text\":\"index 0\"}}

event: content_block_stop
data: {\"type\":\"content_block_stop\",\"index\":0}

event: message_delta
data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}

event: message_stop
data: {\"type\":\"message_stop\"}

";

fn inserted(insertion: &BlockInsertion, stream: &str, size: usize) -> String {
    let (mut insertion, mut out) = (insertion.clone(), Vec::new());
    stream.as_bytes().chunks(size).for_each(|chunk| insertion.push(chunk, &mut out));
    insertion.finish(&mut out);
    string(out)
}

#[test]
fn a_block_is_put_before_a_reply_and_moves_what_follows() {
    let plain = CompactionBlock { content: Some("So far".into()), ..CompactionBlock::default() };
    let edit = AppliedEdit::ClearThinking { turns: 3, input_tokens: 900 };
    let insertion = BlockInsertion::new().block(&plain).cost(COST).edits(&[edit]);
    let wanted = REPLY
        .replace(
            "event: ping",
            concat!(
                "event: content_block_start\n",
                r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}"#,
                "\n\nevent: content_block_delta\n",
                r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"So far"}}"#,
                "\n\nevent: content_block_stop\n",
                r#"data: {"type":"content_block_stop","index":0}"#,
                "\n\nevent: ping",
            ),
        )
        .replace(r#""index":0,"content_block":{"type":"text""#, r#""index":1,"content_block":{"type":"text""#)
        .replace(r#""index": 0"#, r#""index": 1"#)
        .replace(
            "{\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta",
            "{\"type\":\"content_block_stop\",\"index\":1}\n\nevent: message_delta",
        )
        .replace(
            r#""usage":{"output_tokens":7}}"#,
            concat!(
                r#""usage":{"output_tokens":7,"iterations":[{"type":"compaction","input_tokens":60,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":35},"#,
                r#"{"type":"message","input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":7}]},"#,
                r#""context_management":{"applied_edits":[{"type":"clear_thinking_20251015","cleared_thinking_turns":3,"cleared_input_tokens":900}]}}"#
            ),
        );
    for size in [1, 7, 50, 10_000] {
        assert_eq!(inserted(&insertion, REPLY, size), wanted, "{size}");
        assert_eq!(inserted(&BlockInsertion::new(), REPLY, size), REPLY, "nothing is put in");
    }
}

#[test]
fn a_block_is_put_into_a_whole_answer() {
    let body = r#"{"id":"msg_9","type":"message","content":[ {"type":"text","text":"a"}],"usage":{"input_tokens":10,"output_tokens":7}}"#;
    let plain = CompactionBlock { content: Some("So far".into()), ..CompactionBlock::default() };
    let insertion = BlockInsertion::new().block(&plain).cost(COST).edits(&[]);
    assert_eq!(
        string(insert(&insertion, body.as_bytes())),
        concat!(
            r#"{"id":"msg_9","type":"message","content":[{"type":"compaction","content":"So far"}, {"type":"text","text":"a"}],"#,
            r#""usage":{"input_tokens":10,"output_tokens":7,"iterations":[{"type":"compaction","input_tokens":60,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":35},"#,
            r#"{"type":"message","input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":7}]},"context_management":{"applied_edits":[]}}"#
        )
    );
    let error = br#"{"type":"error","error":{}}"#;
    assert_eq!(insert(&insertion, error), error);
}
