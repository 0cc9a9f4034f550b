//! One minimal bad context per rule, and its repaired twin.

use super::*;
use crate::profile::{
    ANTHROPIC, BEDROCK, DEEPSEEK, GEMINI, OLLAMA, OPENAI, RESPONSES, SHAREGPT, STRICT,
};

fn rules(profile: &ProviderProfile, context: &[&str]) -> Vec<(&'static str, usize)> {
    let dialect = DialectKind::from_name(profile.dialect).unwrap();
    let violations = validate(context, dialect, profile);
    for violation in &violations {
        let silent = matches!(profile.name, "sharegpt" | "ollama");
        assert!(silent || !violation.provider_text.is_empty(), "{violation}");
    }
    violations.iter().map(|v| (v.rule, v.index)).collect()
}

#[track_caller]
fn breaks(profile: &ProviderProfile, rule: &'static str, index: usize, context: &[&str]) {
    assert_eq!(rules(profile, context), [(rule, index)]);
}

#[track_caller]
fn holds(profile: &ProviderProfile, context: &[&str]) {
    assert_eq!(rules(profile, context), []);
}

const USER: &str = r#"{"role":"user","content":"do it"}"#;
const SAID: &str = r#"{"role":"assistant","content":"done"}"#;
const SYSTEM: &str = r#"{"role":"system","content":"be brief"}"#;
const CALL_A: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
const CALL_AB: &str = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"custom","custom":{"name":"g","input":"x"}}]}"#;
const TOOL_A: &str = r#"{"role":"tool","tool_call_id":"a","content":"1"}"#;
const TOOL_B: &str = r#"{"role":"tool","tool_call_id":"b","content":"2"}"#;

#[test]
fn chat_orphan_result() {
    for profile in [&OPENAI, &DEEPSEEK, &STRICT] {
        breaks(profile, "orphan-result", 1, &[USER, TOOL_A]);
        breaks(profile, "orphan-result", 2, &[USER, CALL_A, TOOL_B]);
        holds(profile, &[USER, CALL_A, TOOL_A]);
    }
}

#[test]
fn chat_unanswered_call() {
    breaks(&OPENAI, "unanswered-call", 1, &[USER, CALL_AB, TOOL_A, SAID]);
    breaks(&OPENAI, "unanswered-call", 1, &[USER, CALL_A, USER]);
    holds(&OPENAI, &[USER, CALL_AB, TOOL_B, TOOL_A, SAID]);
    holds(&OPENAI, &[USER, CALL_AB, TOOL_A]);
    holds(&OPENAI, &[USER, CALL_A]);
}

#[test]
fn chat_results_not_adjacent() {
    breaks(&OPENAI, "results-not-adjacent", 4, &[USER, CALL_AB, TOOL_A, USER, TOOL_B]);
    breaks(&DEEPSEEK, "results-not-adjacent", 3, &[USER, CALL_A, SYSTEM, TOOL_A]);
    holds(&OPENAI, &[USER, CALL_AB, TOOL_A, TOOL_B, USER]);
}

#[test]
fn chat_double_result() {
    breaks(&OPENAI, "double-result", 3, &[USER, CALL_A, TOOL_A, TOOL_A]);
    holds(&OPENAI, &[USER, CALL_A, TOOL_A]);
}

#[test]
fn reused_ids_pair_by_position() {
    holds(&OPENAI, &[USER, CALL_A, TOOL_A, CALL_A, TOOL_A, SAID]);
    breaks(&OPENAI, "unanswered-call", 1, &[USER, CALL_A, CALL_A, TOOL_A, SAID]);
}

#[test]
fn ids_of_anthropic_are_unique_over_the_request() {
    breaks(&ANTHROPIC, "duplicate-id", 3, &[USER, A_CALL, A_RESULT, A_CALL, A_RESULT]);
    holds(&ANTHROPIC, &[USER, A_CALL, A_RESULT, SAID]);
}

#[test]
fn legacy_functions_pair_by_order() {
    let call =
        r#"{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}"#;
    let result = r#"{"role":"function","name":"f","content":"1"}"#;
    holds(&OPENAI, &[USER, call, result, SAID]);
    breaks(&OPENAI, "orphan-result", 3, &[USER, call, result, result]);
}

#[test]
fn ollama_pairs_by_order() {
    let call = r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}},{"id":"x","function":{"name":"g","arguments":{}}}]}"#;
    let named = r#"{"role":"tool","tool_name":"g","content":"1"}"#;
    let bare = r#"{"role":"tool","content":"2"}"#;
    holds(&OLLAMA, &[SYSTEM, SAID, USER, USER, call, named, bare, SAID, SYSTEM, USER]);
    holds(&OLLAMA, &[USER, r#"{"role":"assistant","content":""}"#, USER]);
    breaks(&OLLAMA, "orphan-result", 4, &[USER, call, named, bare, bare]);
    breaks(&OLLAMA, "unanswered-call", 1, &[USER, call, named, USER]);
    breaks(&OLLAMA, "results-not-adjacent", 4, &[USER, call, named, SYSTEM, bare]);
}

#[test]
fn chat_empty_assistant() {
    let null = r#"{"role":"assistant","content":null}"#;
    breaks(&OPENAI, "empty-text", 1, &[USER, null]);
    breaks(&OPENAI, "empty-text", 1, &[USER, r#"{"role":"assistant","reasoning_content":"hm"}"#]);
    holds(&OPENAI, &[USER, r#"{"role":"assistant","content":""}"#]);
    holds(&OPENAI, &[USER, r#"{"role":"assistant","content":null,"refusal":"no"}"#]);
}

#[test]
fn chat_result_without_content() {
    for content in [r#","content":null"#, r#","content":[ ]"#, ""] {
        let result = format!(r#"{{"role":"tool","tool_call_id":"a"{content}}}"#);
        breaks(&OPENAI, "empty-text", 2, &[USER, CALL_A, &result]);
    }
    holds(&OPENAI, &[USER, CALL_A, r#"{"role":"tool","tool_call_id":"a","content":""}"#]);
    let call = r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]}"#;
    holds(&OLLAMA, &[USER, call, r#"{"role":"tool","content":null}"#]);
}

#[test]
fn strict_roles() {
    breaks(&STRICT, "first-role", 1, &[SYSTEM, SAID, USER]);
    breaks(&STRICT, "alternation", 1, &[USER, USER]);
    breaks(&STRICT, "alternation", 2, &[USER, SAID, SAID]);
    breaks(&STRICT, "alternation", 4, &[USER, CALL_A, TOOL_A, SAID, SAID]);
    breaks(&STRICT, "system-inside", 2, &[USER, SAID, SYSTEM]);
    let broken_rules = rules(&STRICT, &[USER, CALL_A, TOOL_A, USER]);
    assert_eq!(broken_rules, [("user-after-tool", 3), ("alternation", 3)]);
    holds(&STRICT, &[SYSTEM, USER, CALL_A, TOOL_A, CALL_A, TOOL_A, SAID, USER, SAID]);
}

#[test]
fn unknown_roles_break_nothing() {
    let exit = r#"{"role":"exit","content":"Submitted"}"#;
    for profile in [&OPENAI, &STRICT, &DEEPSEEK] {
        holds(profile, &[exit, USER, CALL_A, exit, TOOL_A, SAID, exit]);
    }
}

const A_USER: &str = r#"{"role":"user","content":[{"type":"text","text":"go"}]}"#;
const A_SAID: &str = r#"{"role":"assistant","content":[{"type":"text","text":"ok"}]}"#;
const A_CALL: &str =
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
const A_CALL_B: &str =
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"f","input":{}}]}"#;
const A_RESULT: &str =
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}"#;
const A_RESULT_B: &str =
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"1"}]}"#;

#[test]
fn anthropic_pairs() {
    breaks(&ANTHROPIC, "orphan-result", 1, &[A_USER, A_RESULT]);
    breaks(&ANTHROPIC, "unanswered-call", 1, &[A_USER, A_CALL, A_USER]);
    breaks(&ANTHROPIC, "double-result", 3, &[A_USER, A_CALL, A_RESULT, A_RESULT]);
    breaks(&ANTHROPIC, "results-not-adjacent", 3, &[A_USER, A_CALL, A_USER, A_RESULT]);
    holds(&ANTHROPIC, &[A_USER, A_CALL, A_RESULT, A_USER, A_SAID]);
    holds(&ANTHROPIC, &[A_USER, A_CALL, A_RESULT, A_CALL_B, A_RESULT_B]);
    holds(&ANTHROPIC, &[A_USER, A_CALL]);
    // Neighbours of the same role are one turn.
    holds(&ANTHROPIC, &[A_USER, A_CALL, A_CALL_B, A_RESULT, A_RESULT_B, A_USER, A_SAID]);
}

#[test]
fn anthropic_results_come_before_text() {
    let late = r#"{"role":"user","content":[{"type":"text","text":"wait"},{"type":"tool_result","tool_use_id":"a"}]}"#;
    let odd = r#"{"role":"user","content":[{"type":"hologram"},{"type":"tool_result","tool_use_id":"a"}]}"#;
    let early = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"wait"}]}"#;
    breaks(&ANTHROPIC, "results-not-adjacent", 2, &[A_USER, A_CALL, late]);
    holds(&ANTHROPIC, &[A_USER, A_CALL, early]);
    holds(&ANTHROPIC, &[A_USER, A_CALL, odd]);
}

#[test]
fn anthropic_first_role_and_empties() {
    breaks(&ANTHROPIC, "first-role", 0, &[A_SAID, A_USER]);
    let compaction = r#"{"role":"assistant","content":[{"type":"compaction","content":"so far"}]}"#;
    holds(&ANTHROPIC, &[compaction, A_SAID, A_USER]);
    breaks(&ANTHROPIC, "empty-text", 0, &[r#"{"role":"user","content":""}"#]);
    breaks(
        &ANTHROPIC,
        "empty-text",
        0,
        &[r#"{"role":"user","content":[{"type":"text","text":" \n"}]}"#],
    );
    breaks(&ANTHROPIC, "empty-text", 0, &[r#"{"role":"user","content":[]}"#]);
    holds(&ANTHROPIC, &[r#"{"role":"user","content":"n"}"#]);
    holds(
        &ANTHROPIC,
        &[
            A_USER,
            A_CALL,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":""}]}"#,
        ],
    );
    breaks(&ANTHROPIC, "no-messages", 0, &[]);
}

#[test]
fn anthropic_system_inside() {
    breaks(&ANTHROPIC, "system-inside", 0, &[SYSTEM]);
    breaks(&ANTHROPIC, "system-inside", 2, &[A_USER, A_SAID, SYSTEM]);
    breaks(&ANTHROPIC, "system-inside", 2, &[A_USER, SYSTEM, A_USER]);
    holds(&ANTHROPIC, &[A_USER, SYSTEM, A_SAID]);
    holds(&ANTHROPIC, &[A_USER, SYSTEM]);
}

const R_USER: &str = r#"{"role":"user","content":"go"}"#;
const R_SAID: &str =
    r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}"#;
const R_CALL: &str = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
const R_CALL_B: &str = r#"{"type":"local_shell_call","call_id":"b","action":{"command":["ls"]}}"#;
const R_OUT: &str = r#"{"type":"function_call_output","call_id":"a","output":"1"}"#;
const R_OUT_B: &str = r#"{"type":"local_shell_call_output","call_id":"b","output":"1"}"#;
const R_THINK: &str = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}"#;

#[test]
fn responses_pairs() {
    breaks(&RESPONSES, "orphan-result", 1, &[R_USER, R_OUT]);
    breaks(&RESPONSES, "unanswered-call", 1, &[R_USER, R_CALL, R_CALL_B, R_OUT_B, R_SAID]);
    breaks(&RESPONSES, "double-result", 3, &[R_USER, R_CALL, R_OUT, R_OUT]);
    holds(&RESPONSES, &[R_USER, R_CALL, R_USER, R_OUT, R_SAID]);
    let custom = r#"{"type":"custom_tool_call","call_id":"a","name":"f","input":"x"}"#;
    let custom_out = r#"{"type":"custom_tool_call_output","call_id":"a","output":"1"}"#;
    let shell_out = r#"{"type":"function_call_output","call_id":"b","output":"1"}"#;
    breaks(&RESPONSES, "wrong-result", 2, &[R_USER, custom, R_OUT, R_SAID]);
    breaks(&RESPONSES, "wrong-result", 2, &[R_USER, R_CALL, custom_out, R_SAID]);
    holds(&RESPONSES, &[R_USER, custom, custom_out, R_SAID]);
    holds(&RESPONSES, &[R_USER, R_CALL_B, shell_out, R_SAID]);
    holds(&RESPONSES, &[R_USER, R_CALL, R_CALL_B, R_OUT]);
    holds(&RESPONSES, &[R_USER, R_CALL, R_OUT, R_CALL, R_OUT]);
}

#[test]
fn responses_reasoning_needs_its_item() {
    breaks(&RESPONSES, "reasoning-alone", 1, &[R_USER, R_THINK, R_USER, R_SAID]);
    holds(&RESPONSES, &[R_USER, R_THINK]);
    holds(&RESPONSES, &[R_USER, R_THINK, R_THINK, R_CALL, R_OUT, R_THINK, R_SAID]);
}

#[test]
fn sharegpt_pairs_by_order() {
    let human = r#"{"from":"human","value":"go"}"#;
    let gpt = r#"{"from":"gpt","value":"<think>\n</think>\n<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>\n<tool_call>\n{\"name\":\"g\",\"arguments\":{}}\n</tool_call>"}"#;
    let one = r#"{"from":"tool","value":"<tool_response>\n{\"tool_call_id\":\"x\",\"name\":\"f\",\"content\":\"1\"}\n</tool_response>"}"#;
    let reply = r#"{"from":"gpt","value":"<think>\n</think>\nok"}"#;
    breaks(&SHAREGPT, "unanswered-call", 1, &[human, gpt, one, reply]);
    breaks(&SHAREGPT, "orphan-result", 1, &[human, one]);
    breaks(&SHAREGPT, "orphan-result", 4, &[human, gpt, one, one, one]);
    holds(&SHAREGPT, &[human, gpt, one, one, reply]);
}

/// A user message, a reply, a step of two calls, both results, one result, and a system message.
const GEMINI_TURNS: [&str; 6] = [
    r#"{"role":"user","parts":[{"text":"do it"}]}"#,
    r#"{"role":"model","parts":[{"text":"done"}]}"#,
    r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]}"#,
    r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}},{"functionResponse":{"name":"g","response":{"output":"2"}}}]}"#,
    r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}}]}"#,
    r#"{"role":"system","parts":[{"text":"be brief"}]}"#,
];
const BEDROCK_TURNS: [&str; 6] = [
    r#"{"role":"user","content":[{"text":"do it"}]}"#,
    r#"{"role":"assistant","content":[{"text":"done"}]}"#,
    r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}},{"toolUse":{"toolUseId":"b","name":"g","input":{}}}]}"#,
    r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1"}]}},{"toolResult":{"toolUseId":"b","content":[{"text":"2"}]}}]}"#,
    r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1"}]}}]}"#,
    r#"{"role":"system","content":[{"text":"be brief"}]}"#,
];

#[test]
fn whole_turns() {
    for (profile, [user, reply, calls, results, one, system]) in
        [(&GEMINI, GEMINI_TURNS), (&BEDROCK, BEDROCK_TURNS)]
    {
        holds(profile, &[user, reply, user, calls, results, calls, results, reply]);
        holds(profile, &[user, calls]);
        breaks(profile, "first-role", 0, &[reply, user]);
        breaks(profile, "alternation", 1, &[user, user, reply]);
        breaks(profile, "alternation", 2, &[user, reply, reply]);
        breaks(profile, "alternation", 2, &[user, reply, calls, results]);
        breaks(profile, "alternation", 3, &[user, calls, results, user]);
        breaks(profile, "unanswered-call", 1, &[user, calls, one, reply]);
        breaks(profile, "orphan-result", 2, &[user, reply, one]);
        breaks(profile, "system-inside", 0, &[system, user]);
        breaks(profile, "system-inside", 2, &[user, reply, system]);
        let [empty, blank] = [user.replace("do it", ""), user.replace("do it", " ")];
        breaks(profile, "empty-text", 0, &[&empty]);
        breaks(profile, "empty-text", 0, &[&blank, reply]);
        breaks(profile, "no-messages", 0, &[]);
    }
}
