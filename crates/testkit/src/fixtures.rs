//! The files of `examples/` and `fixtures/`, made by the generators.

use crate::message::{TestCall, TestMessage};
use crate::{coding_session, dialogue, emit, hostile};

/// A committed file that can be made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// The path from the root of the repository.
    pub path: &'static str,
    /// The content of the file.
    pub content: String,
}

/// All of these files.
#[must_use]
pub fn fixtures() -> Vec<Fixture> {
    let small = small();
    let lines = |lines: Vec<String>| lines.join("\n") + "\n";
    let chat = emit::openai_chat(&small);
    let files = [
        ("examples/coding-session.jsonl", lines(coding_session(SEED, TURNS))),
        ("examples/plain-dialogue.jsonl", lines(dialogue(SEED))),
        ("fixtures/openai-chat.json", emit::openai_request(&chat) + "\n"),
        ("fixtures/openai-chat.jsonl", lines(chat.clone())),
        ("fixtures/openai-responses.json", emit::responses_request(&small) + "\n"),
        ("fixtures/anthropic.json", emit::anthropic_request(&small) + "\n"),
        ("fixtures/gemini.json", emit::gemini_request(&small) + "\n"),
        ("fixtures/bedrock.json", emit::bedrock_request(&small) + "\n"),
        ("fixtures/ollama.json", emit::ollama_request(&small) + "\n"),
        (
            "fixtures/sharegpt.jsonl",
            lines(vec![emit::sharegpt("row-1", &small), emit::sharegpt("row-2", &small[..3])]),
        ),
        ("fixtures/claude-code.jsonl", lines(emit::claude_code(&small))),
        ("fixtures/codex.jsonl", lines(emit::codex(&small))),
        ("fixtures/pi.jsonl", lines(emit::pi(&small))),
        ("fixtures/fine-tuning.jsonl", lines(vec![training_row(&chat), training_row(&chat[..3])])),
        ("fixtures/tau-bench.json", tau_bench(&chat)),
        ("fixtures/mini-swe-agent.traj.json", mini(&chat)),
        ("fixtures/swe-agent.traj", swe_agent().to_owned()),
        ("fixtures/hostile.jsonl", lines(hostile(7, 400))),
        ("fixtures/broken.jsonl", broken(&chat)),
        ("fixtures/truncated.json", truncated(&chat)),
    ];
    files.into_iter().map(|(path, content)| Fixture { path, content }).collect()
}

/// The seed and the number of turns are chosen so that the example does not fit a window of 128,000 tokens.
const SEED: u64 = 42;
const TURNS: usize = 13;

/// A session that fits a screen: one parallel step, one thought, every kind of message.
fn small() -> Vec<TestMessage> {
    let call = |id: &str, name: &str, arguments: &str| TestCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let result = |id: &str, name: &str, content: &str| TestMessage::Tool {
        id: id.to_owned(),
        name: name.to_owned(),
        content: content.to_owned(),
    };
    let says = |text: &str| TestMessage::Assistant {
        thought: None,
        text: text.to_owned(),
        calls: Vec::new(),
    };
    vec![
        TestMessage::System("You are a coding agent.".to_owned()),
        TestMessage::User("LED-4100: why is \"total\" off by one øre?".to_owned()),
        TestMessage::Assistant {
            thought: Some("Rounding, I guess.".to_owned()),
            text: "Let me look.".to_owned(),
            calls: vec![
                call("call_a1", "read_file", r#"{"path":"ledgerline/core/money.py"}"#),
                call("call_a2", "run", r#"{"command":"pytest -q"}"#),
            ],
        },
        result("call_a1", "read_file", "    1\tdef total(lines):\n    2\t    return sum(lines)\n"),
        result("call_a2", "run", "FAILED tests/test_money.py::test_total - assert 99 == 100\n"),
        says("`total` truncates; I would round half to even in `core/rounding.py`."),
        TestMessage::User("Do it, but never touch migrations/.".to_owned()),
        says("Done."),
    ]
}

fn training_row(chat: &[String]) -> String {
    let tools = r#"[{"type":"function","function":{"name":"run","parameters":{}}}]"#;
    format!(r#"{{"messages":[{}],"tools":{tools},"parallel_tool_calls":true}}"#, chat.join(","))
}

fn tau_bench(chat: &[String]) -> String {
    let run = |task: usize| {
        let traj = chat.join(", ");
        format!(
            r#"{{"task_id": {task}, "reward": 1.0, "info": {{}}, "traj": [{traj}], "trial": 0}}"#
        )
    };
    format!("[{}, {}]\n", run(0), run(1))
}

fn mini(chat: &[String]) -> String {
    let usage = concat!(
        r#"{"prompt_tokens":1505,"completion_tokens":87,"#,
        r#""prompt_tokens_details":{"cached_tokens":320}}"#
    );
    let extra = format!(r#","extra":{{"response":{{"usage":{usage}}}}}}}"#);
    let recorded = |message: &String| match message.strip_suffix('}') {
        Some(open) if message.starts_with(r#"{"role":"assistant""#) => format!("{open}{extra}"),
        _ => message.clone(),
    };
    let messages: Vec<_> = chat.iter().map(recorded).collect();
    format!(
        "{{\n  \"info\": {{\"model_stats\": {{\"api_calls\": 3}}, \"config\": {{\"model\": \
         {{\"model_name\": \"deepseek/deepseek-chat\"}}}}}},\n  \"messages\": [\n    {},\n    \
         {{\"role\": \"exit\", \"content\": \"\", \"extra\": {{\"exit_status\": \"Submitted\"}}}}\n  \
         ],\n  \"trajectory_format\": \"mini-swe-agent-1.1\"\n}}\n",
        messages.join(",\n    ")
    )
}

fn swe_agent() -> &'static str {
    r#"{
  "environment": "swe_main",
  "trajectory": [],
  "history": [
    {"role": "system", "content": "SETTING: a shell.", "agent": "main", "message_type": "system_prompt"},
    {"role": "user", "content": "Fix the rounding.", "agent": "main", "message_type": "observation"},
    {"role": "assistant", "content": "Listing.", "agent": "main", "tool_calls": [{"function": {"arguments": "{\"command\":\"ls -F\"}", "name": "bash"}, "id": "call_s1", "type": "function"}], "message_type": "action"},
    {"role": "tool", "content": "core/\r\n", "agent": "main", "message_type": "observation", "tool_call_ids": ["call_s1"]}
  ],
  "info": {"exit_status": "submitted"}
}
"#
}

/// Valid lines among broken ones: cut off, not JSON, a number, `NaN`, a raw tab in a string.
fn broken(chat: &[String]) -> String {
    format!(
        "\u{feff}{}\n{{\"role\": oops}}\n7\n\n{}\r\n{}\n{}\n{{\"role\":\"assis",
        chat[0],
        chat[1],
        r#"{"role":"assistant","content":"score","score":NaN}"#,
        "{\"role\":\"user\",\"content\":\"a\tb\"}"
    )
}

fn truncated(chat: &[String]) -> String {
    let whole = emit::openai_request(chat);
    whole.chars().take(whole.len() / 2).collect()
}
