//! What an application tells the model in the middle of a conversation stays a message of its own, whatever
//! is folded around it.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold::formats::profile::{self, validate};
use midfold::{
    Budget, DialectKind, EventLog, Meter, PlanOutcome, Policy, ProviderProfile, RawEvent, Session,
};
use serde_json::{Value, json};

const RULE: &str = "POLICY-9: refunds above 500 euros need a second person.";
const WORDS: &str = "The ledger of the branch has an entry that is booked twice. ";

/// The kinds of messages in which applications speak, and where they may stand.
fn kinds() -> Vec<(DialectKind, Value)> {
    let item =
        |role: &str| json!({"role": role, "content": [{"type": "input_text", "text": RULE}]});
    vec![
        (DialectKind::OpenAiChat, json!({"role": "system", "content": RULE})),
        (DialectKind::OpenAiChat, json!({"role": "developer", "content": RULE})),
        (DialectKind::OpenAiChat, json!({"role": "user", "name": "policy_bot", "content": RULE})),
        (DialectKind::OpenAiResponses, item("developer")),
        (DialectKind::OpenAiResponses, item("system")),
        (DialectKind::Anthropic, json!({"role": "system", "content": RULE})),
    ]
}

fn step(kind: DialectKind, n: usize) -> Vec<Value> {
    let (id, text) = (format!("call_{n}"), WORDS.repeat(24));
    let arguments = json!({ "path": format!("books/{n}.csv") });
    match kind {
        DialectKind::OpenAiChat => vec![
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
                "function": {"name": "read_file", "arguments": arguments.to_string()}}]}),
            json!({"role": "tool", "tool_call_id": id, "content": text}),
        ],
        DialectKind::OpenAiResponses => vec![
            json!({"type": "function_call", "call_id": id, "name": "read_file",
                "arguments": arguments.to_string()}),
            json!({"type": "function_call_output", "call_id": id, "output": text}),
        ],
        _ => vec![
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "read_file", "input": arguments}]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": text}]}),
        ],
    }
}

fn says(kind: DialectKind, role: &str, text: &str) -> Value {
    if kind != DialectKind::OpenAiResponses {
        return json!({ "role": role, "content": text });
    }
    let part = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": part, "text": text}]})
}

/// A conversation of 20 steps with these messages behind the sixth.
fn talk(kind: DialectKind, told: &[Value]) -> Vec<Bytes> {
    let mut messages = Vec::new();
    if kind != DialectKind::Anthropic {
        messages.push(says(kind, "system", "You are an agent."));
    }
    messages.push(says(kind, "user", "Find out why invoices are billed twice."));
    for n in 0..20 {
        messages.extend(step(kind, n));
        if n == 5 {
            messages.extend_from_slice(told);
        }
    }
    messages.push(says(kind, "assistant", "Nearly."));
    messages.push(says(kind, "user", "Go on."));
    messages.iter().map(|message| message.to_string().into()).collect()
}

fn session(
    kind: DialectKind,
    profile: ProviderProfile,
    messages: &[Bytes],
    policy: &Policy,
) -> Session {
    let counter = midfold::tokens::by_name("chars:3.2").unwrap();
    let events = messages.iter().map(|bytes| RawEvent::new(bytes.clone()));
    let log = EventLog::of(kind.shared(), profile, counter, events);
    Session::over("s", log, policy.clone(), Meter::exact())
}

fn sent(session: &Session) -> Vec<Bytes> {
    session.view().pieces().map(|piece| piece.bytes.clone()).collect()
}

fn policies() -> Vec<Policy> {
    let names = Policy::preset_names().into_iter().chain(Policy::baseline_names());
    names.map(|name| Policy::preset(name).unwrap()).collect()
}

fn own(kind: DialectKind) -> ProviderProfile {
    profile::for_dialect(kind)[0]
}

#[test]
fn an_instruction_in_the_middle_stays_in_every_preset() {
    let budget = Budget::new(5_000);
    for (kind, told) in kinds() {
        let rule = Bytes::from(told.to_string());
        for policy in policies() {
            let case = format!("{} {kind} {told}", policy.name);
            let mut messages = talk(kind, std::slice::from_ref(&told));
            // By itself, by hand, and what came out of it again.
            for round in 0..3_usize {
                let mut session = session(kind, own(kind), &messages, &policy);
                if round == 1 {
                    session.compact(&budget, None).unwrap();
                } else {
                    session.context(&budget, 0).unwrap();
                }
                assert!(session.active().is_some() || round > 0, "{case}: no fold");
                messages = sent(&session);
                let there = messages.iter().filter(|message| **message == rule).count();
                assert_eq!(there, 1, "{case}, round {round}");
                assert_eq!(validate(&messages, kind, &own(kind)), [], "{case}");
                messages.extend(
                    (100 * round..)
                        .take(16)
                        .flat_map(|n| step(kind, 100 + n))
                        .map(|message| Bytes::from(message.to_string())),
                );
                messages.push(says(kind, "user", "Go on.").to_string().into());
            }
        }
    }
}

/// Where no system message may stand inside, the repair says whose words they are, and those stay, too.
#[test]
fn what_a_repair_told_of_an_instruction_stays() {
    let budget = Budget::new(5_000);
    let told = json!({"role": "system", "content": RULE});
    let mut messages = talk(DialectKind::OpenAiChat, &[told]);
    for round in 0..2 {
        for policy in policies() {
            let mut session = session(DialectKind::OpenAiChat, profile::STRICT, &messages, &policy);
            session.context(&budget, 0).unwrap();
            let now = sent(&session);
            let text = String::from_utf8(now.concat()).unwrap();
            let label = format!("\"[from the system] {RULE}\"");
            assert_eq!(text.matches(&label).count(), 1, "{} {round}: {text}", policy.name);
            if policy.name == "default" {
                messages = now;
                messages.extend(
                    (50..70)
                        .flat_map(|n| step(DialectKind::OpenAiChat, n))
                        .map(|message| Bytes::from(message.to_string())),
                );
            }
        }
    }
}

#[test]
fn of_equal_instructions_the_newest_stays() {
    let kind = DialectKind::OpenAiChat;
    let reminder = json!({"role": "system", "content": "Answer in Dutch."});
    let told = [reminder.clone(), says(kind, "assistant", "Ja."), reminder.clone()];
    let messages = talk(kind, &told);
    let mut session = session(kind, own(kind), &messages, &Policy::preset("default").unwrap());
    session.context(&Budget::new(5_000), 0).unwrap();
    let text = String::from_utf8(sent(&session).concat()).unwrap();
    assert_eq!(text.matches(&reminder.to_string()).count(), 1, "{text}");
}

/// A reminder after each step does not take the room of the conversation, and crowds no other one out.
#[test]
fn many_and_large_instructions_are_bounded() {
    let kind = DialectKind::OpenAiChat;
    let system = |text: String| json!({"role": "system", "content": text});
    let clock = |n: usize| system(format!("It is {n}:00. {}", "Mind the time. ".repeat(20)));
    let manual = system("Chapter 7 of Rules is on gates, 12 of them. ".repeat(500));
    let mut told = vec![system(RULE.to_owned()), manual.clone()];
    told.extend((0..60).map(clock));
    let messages = talk(kind, &told);
    let budget = Budget::new(6_000);
    for name in Policy::preset_names() {
        let policy = Policy::preset(name).unwrap();
        let mut session = session(kind, own(kind), &messages, &policy);
        session.context(&budget, 0).unwrap();
        let now = sent(&session);
        let stays = |told: &Value| now.iter().any(|message| *message == told.to_string());
        assert!(session.view().tokens() <= 6_000, "{}", policy.name);
        assert!(stays(&told[0]), "{}: the rule", policy.name);
        assert!(stays(&clock(59)) && !stays(&clock(0)), "{}: the newest time", policy.name);
        assert!(!stays(&manual), "{}: larger than the room", policy.name);
    }
    // What found no room as a message is told as what it is.
    let mut session = session(kind, own(kind), &messages, &Policy::preset("default").unwrap());
    let PlanOutcome::Folded(fold) = session.compact(&budget, None).unwrap() else { unreachable!() };
    let recap = fold.recap.unwrap().text;
    let told = recap.lines().find(|line| line.contains("[from the system]")).unwrap_or_default();
    assert!(told.contains("Chapter 7 of Rules"), "{recap}");
}

/// The messages by which tools become callable in the middle of a conversation, with what a fold has to leave
/// of them.
fn loads() -> Vec<(DialectKind, Vec<Value>, &'static str)> {
    let tool =
        |name: &str| json!({"type": "function", "name": name, "parameters": {"type": "object"}});
    let reference = |name: &str| json!({"type": "tool_reference", "tool_name": name});
    let (responses, anthropic) = (DialectKind::OpenAiResponses, DialectKind::Anthropic);
    vec![
        (
            responses,
            vec![
                json!({"type": "additional_tools", "role": "developer", "tools": [tool("refund")]}),
            ],
            "additional_tools",
        ),
        (
            responses,
            vec![
                json!({"type": "tool_search_call", "call_id": "ts", "execution": "client",
                    "arguments": {"query": "refund"}, "status": "completed"}),
                json!({"type": "tool_search_output", "call_id": "ts", "execution": "client",
                    "status": "completed", "tools": [{"type": "namespace", "name": "billing",
                        "tools": [tool("refund")]}]}),
            ],
            "tool_search_output",
        ),
        (
            responses,
            vec![
                json!({"type": "tool_search_call", "id": "t", "call_id": null, "execution": "server",
                    "arguments": {"paths": ["billing"]}}),
                json!({"type": "tool_search_output", "id": "u", "call_id": null, "execution": "server",
                    "tools": [tool("refund")]}),
                says(responses, "assistant", "Found it."),
            ],
            "tool_search_output",
        ),
        (
            anthropic,
            vec![
                json!({"role": "assistant", "content": [
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25",
                        "input": {"query": "refund"}},
                    {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content":
                        {"type": "tool_search_tool_search_result", "tool_references": [reference("refund")]}},
                    {"type": "text", "text": "Found it."}]}),
                says(anthropic, "user", "Then refund."),
            ],
            "tool_reference",
        ),
        (
            anthropic,
            vec![
                json!({"role": "assistant", "content": [
                    {"type": "tool_use", "id": "toolu_s", "name": "ToolSearch", "input": {"query": "refund"}}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_s",
                    "content": [reference("refund")]}]}),
            ],
            "tool_reference",
        ),
        (
            anthropic,
            vec![json!({"role": "system", "content": [
                {"type": "tool_addition", "tool": reference("refund")}]})],
            "tool_addition",
        ),
    ]
}

#[test]
fn what_loads_tools_in_the_middle_stays() {
    let budget = Budget::new(5_000);
    for (kind, told, mark) in loads() {
        for policy in policies() {
            let case = format!("{} {kind} {told:?}", policy.name);
            let mut messages = talk(kind, &told);
            // A second time, and what came out again.
            for round in 0..3_usize {
                let mut session = session(kind, own(kind), &messages, &policy);
                session.context(&budget, 0).unwrap();
                messages = sent(&session);
                let text = String::from_utf8(messages.concat()).unwrap();
                assert_eq!(
                    text.matches(&format!("\"{mark}\"")).count(),
                    1,
                    "{case}, round {round}"
                );
                assert_eq!(validate(&messages, kind, &own(kind)), [], "{case}");
                messages.extend(
                    (100 * round..)
                        .take(16)
                        .flat_map(|n| step(kind, 100 + n))
                        .map(|message| Bytes::from(message.to_string())),
                );
                messages.push(says(kind, "user", "Go on.").to_string().into());
            }
        }
    }
}

#[test]
fn of_what_loads_the_same_tools_the_newest_stays() {
    for (kind, told, mark) in loads() {
        let again: Vec<Value> = (0..3)
            .flat_map(|n| {
                let text = Value::from(told.clone()).to_string();
                let text = text.replace("\"ts\"", &format!("\"ts{n}\""));
                let text = text.replace("toolu_s", &format!("toolu_s{n}"));
                let mut told: Vec<Value> = serde_json::from_str(&text).unwrap();
                told.push(says(kind, "user", &format!("Then number {n}.")));
                told.push(says(kind, "assistant", &format!("Number {n} is done.")));
                told
            })
            .collect();
        let messages = talk(kind, &again);
        let mut session = session(kind, own(kind), &messages, &Policy::preset("default").unwrap());
        session.context(&Budget::new(5_000), 0).unwrap();
        let text = String::from_utf8(sent(&session).concat()).unwrap();
        assert_eq!(text.matches(&format!("\"{mark}\"")).count(), 1, "{kind} {told:?} {text}");
    }
}
