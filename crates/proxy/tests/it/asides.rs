//! A client's own requests about its conversation: they pass, and are no turns.

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::event::Usage;
use midfold::formats::answer::AnswerFacts;
use midfold::formats::request::Request;
use midfold::{DialectKind, Policy};
use midfold_proxy::{MatchedRequest, Proxy, ProxyRules, RequestSender};
use midfold_testkit as testkit;
use serde_json::{Value, json};

/// In which the conversations here do not fit.
const WINDOW: u64 = 24_000;

/// The body of a request: its messages, and what stands beside them.
fn request(kind: DialectKind, messages: &[String], beside: &Value) -> Request {
    let list = midfold::formats::request::list_name(kind);
    let beside = beside.to_string();
    let more = &beside[1..beside.len() - 1];
    let body = format!(r#"{{"{list}":[{}],{more}}}"#, messages.join(","));
    Request::read(kind, Bytes::from(body)).unwrap_or_else(|error| unreachable!("{error}"))
}

/// A dialect, the tools of its agent, what makes a request one for a value, and what asks.
struct Client {
    kind: DialectKind,
    messages: Vec<String>,
    tools: Value,
    asks: Vec<Value>,
    question: String,
}

fn clients() -> Vec<Client> {
    let session = testkit::session(7, 40);
    let schema = json!({"type": "object"});
    let text = "Is this conversation in a loop? Answer as JSON.";
    let said = json!({"role": "user", "content": text}).to_string();
    vec![
        // Gemini CLI's loop detector and its check who speaks next.
        Client {
            kind: DialectKind::Gemini,
            messages: testkit::turns::gemini(&session).1,
            tools: json!({"tools": [{"functionDeclarations": [{"name": "bash"}, {"name": "read"}]}]}),
            asks: vec![
                json!({"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": schema}}),
                json!({"generationConfig": {"responseSchema": schema}, "tools": []}),
            ],
            question: json!({"role": "user", "parts": [{"text": text}]}).to_string(),
        },
        // Qwen Code has the model call the only tool; others ask for a format.
        Client {
            kind: DialectKind::OpenAiChat,
            messages: testkit::emit::openai_chat(&session),
            tools: json!({"model": "large", "tools": [{"type": "function", "function": {"name": "bash"}}]}),
            asks: vec![
                json!({"model": "large", "tool_choice": "required",
                    "tools": [{"type": "function", "function": {"name": "respond_in_schema"}}]}),
                json!({"model": "small", "response_format": {"type": "json_schema", "json_schema": {}}}),
                json!({"model": "small", "response_format": {"type": "json_object"}, "tools": []}),
            ],
            question: said.clone(),
        },
        Client {
            kind: DialectKind::OpenAiResponses,
            messages: testkit::emit::responses(&session),
            tools: json!({"model": "large", "tools": [{"type": "function", "name": "bash"}]}),
            asks: vec![
                json!({"model": "small", "text": {"format": {"type": "json_schema", "name": "t"}}}),
            ],
            question: said.clone(),
        },
        Client {
            kind: DialectKind::Anthropic,
            messages: testkit::emit::anthropic(&session).1,
            tools: json!({"model": "large", "max_tokens": 100, "tools": [{"name": "bash"}]}),
            asks: vec![
                json!({"model": "small", "max_tokens": 100, "output_config": {"format": {"type": "json_schema"}}}),
                json!({"model": "small", "max_tokens": 100, "tools": [{"name": "topic"}],
                    "tool_choice": {"type": "tool", "name": "topic"}}),
            ],
            question: said,
        },
    ]
}

fn proxy(window: u64) -> Arc<Proxy> {
    let policy = Policy::preset("default").unwrap_or_else(|error| unreachable!("{error}"));
    Arc::new(Proxy::new(ProxyRules::new(policy).window(window)))
}

fn answered(turn: MatchedRequest, now: u64) {
    let usage =
        Some(Usage { prompt: turn.sent().tokens_after.max(1), output: 10, ..Usage::default() });
    turn.accept();
    turn.into_pending()
        .take_facts(&AnswerFacts { usage, is_complete: true, ..AnswerFacts::default() }, now);
}

/// As far as the model's last message but so many, with a message of the client behind.
fn up_to(client: &Client, less: usize) -> Vec<String> {
    use midfold::core::Role;
    let is_model =
        |message: &String| client.kind.dialect().view(message.as_bytes()).role == Role::Assistant;
    let end = client.messages.iter().rposition(is_model).unwrap_or(0).saturating_sub(less);
    let end = client.messages[..=end].iter().rposition(is_model).unwrap_or(0);
    client.messages[..=end].to_vec()
}

#[test]
fn they_pass_as_they_came_and_are_no_turns_of_the_session() {
    let who = RequestSender::default();
    for client in clients() {
        let kind = client.kind;
        for (at, ask) in client.asks.iter().enumerate() {
            let name = format!("{kind:?} {at}");
            let history = up_to(&client, 0);
            let all = request(kind, &history, &client.tools);
            let all = proxy(1_000_000).turn(all, &who, 1).sent().tokens_before;
            // The conversation is over the line of its window, and fits.
            let proxy = proxy(all * 115 / 100);
            let turn = proxy.turn(request(kind, &history, &client.tools), &who, 1);
            let (session, fold) = (turn.sent().session.clone(), turn.sent().fold);
            assert!(fold.is_some(), "{name}");
            answered(turn, 1);
            let held = proxy.extent();
            // All of the history, and its end alone.
            for from in [0, history.len() * 2 / 3] {
                let mut part = history[from..].to_vec();
                part.push(client.question.clone());
                let asked = request(kind, &part, ask);
                let came = asked.body().clone();
                let turn = proxy.turn(asked, &who, 2);
                let sent = turn.sent();
                assert_eq!((sent.session.as_ref(), sent.fold), (None, None), "{name} {from}");
                assert_eq!(sent.body, came, "{name} {from}");
                answered(turn, 2);
                assert_eq!(proxy.extent(), held, "{name} {from}: it is held as a conversation");
            }
            // The conversation goes on as if nobody had asked.
            let turn = proxy.turn(request(kind, &history, &client.tools), &who, 3);
            assert_eq!((turn.sent().session.clone(), turn.sent().fold), (session, fold), "{name}");
        }
    }
}

#[test]
fn one_that_does_not_fit_is_folded_and_is_no_turn_all_the_same() {
    let who = RequestSender::default();
    for client in clients() {
        let proxy = proxy(8_000);
        let mut history = up_to(&client, 0);
        history.push(client.question.clone());
        for ask in &client.asks {
            let turn = proxy.turn(request(client.kind, &history, ask), &who, 1);
            let sent = turn.sent();
            assert!(sent.is_folded() && sent.session.is_none(), "{:?}", client.kind);
            answered(turn, 1);
            assert_eq!(proxy.extent().0, 0, "{:?}", client.kind);
        }
    }
}

#[test]
fn a_conversation_without_tools_that_asks_for_a_form_is_a_conversation() {
    let who = RequestSender::default();
    let proxy = proxy(8_000);
    let said = |role: &str, at: usize| {
        json!({"role": role, "content": format!("{at} {}", "word ".repeat(400))}).to_string()
    };
    let beside = json!({"model": "m", "response_format": {"type": "json_object"}});
    let mut messages = Vec::new();
    let mut sessions = Vec::new();
    for at in 0..20 {
        messages.push(said("user", at));
        let turn = proxy.turn(request(DialectKind::OpenAiChat, &messages, &beside), &who, 1);
        sessions.extend(turn.sent().session.clone());
        answered(turn, 1);
        messages.push(said("assistant", at));
    }
    sessions.dedup();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
}

#[test]
fn another_model_without_tools_is_asked_about_the_conversation() {
    let who = RequestSender::default();
    for client in clients().into_iter().skip(1) {
        let proxy = proxy(WINDOW);
        let mut history = up_to(&client, 0);
        answered(proxy.turn(request(client.kind, &history, &client.tools), &who, 1), 1);
        history.push(client.question.clone());
        let asked = request(client.kind, &history, &json!({"model": "small", "max_tokens": 100}));
        let turn = proxy.turn(asked, &who, 2);
        assert_eq!(turn.sent().session, None, "{:?}", client.kind);
        // The same model goes on without its tools: that is a turn.
        let asked = request(client.kind, &history, &json!({"model": "large", "max_tokens": 100}));
        assert!(proxy.turn(asked, &who, 3).sent().session.is_some(), "{:?}", client.kind);
    }
}
