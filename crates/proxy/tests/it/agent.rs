//! The tools of an agent in requests: who gets them, what they answer, and what others say of a session meanwhile.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use bytes::Bytes;
use midfold::formats::answer::AnswerFacts;
use midfold::formats::request::Request;
use midfold::store::{MemoryStore, Store, StoredSession};
use midfold::{DialectKind, Policy, wishes};
use midfold_proxy::{MatchedRequest, Proxy, ProxyRules, RecallRound, RequestSender};
use serde_json::{Value, json};

const WINDOW: u64 = 8_000;

/// A client of Messages whose model talks.
struct TalkingClient {
    messages: Vec<Value>,
    tools: Value,
}

impl TalkingClient {
    fn new() -> Self {
        let tools = json!([{"name": "bash", "input_schema": {"type": "object"}}]);
        Self { messages: Vec::new(), tools }
    }

    /// So many exchanges of about a hundred tokens.
    fn talked(mut self, rounds: usize) -> Self {
        for round in 0..rounds {
            self.ask(&format!("Question {round} about harbours."));
            let words = format!("Of harbour {round} the pilots say that the tide is late. ");
            self.hear(&words.repeat(8));
        }
        self.ask("And now, with the wide red crane?");
        self
    }

    fn ask(&mut self, text: &str) {
        self.messages.push(json!({"role": "user", "content": text}));
    }

    fn hear(&mut self, text: &str) {
        self.messages
            .push(json!({"role": "assistant", "content": [{"type": "text", "text": text}]}));
    }

    fn request(&self) -> Request {
        let body = json!({
            "model": "m", "max_tokens": 100, "tools": self.tools, "messages": self.messages,
        });
        Request::read(DialectKind::Anthropic, Bytes::from(body.to_string())).unwrap()
    }

    fn turn(&self, proxy: &Arc<Proxy>) -> MatchedRequest {
        let begun = proxy.begin(self.request(), &RequestSender::default());
        proxy.finish(proxy.recalling(begun, proxy.offer()), 0)
    }
}

fn proxy() -> Arc<Proxy> {
    let policy = Policy::preset("default").unwrap();
    Arc::new(Proxy::new(ProxyRules::new(policy).window(WINDOW).agent_tools(true).stored()))
}

fn body(turn: &MatchedRequest) -> String {
    String::from_utf8_lossy(&turn.sent().body).into_owned()
}

/// Has the model call a tool, and gives the answer to it.
fn wish(turn: &mut MatchedRequest, tool: &str, input: &Value) -> String {
    let call = json!({"type": "tool_use", "id": "t1", "name": tool, "input": input});
    let message = json!({"role": "assistant", "content": [call]}).to_string();
    let mut seen = AnswerFacts {
        is_complete: true,
        output: vec![Bytes::from(message)],
        ..AnswerFacts::default()
    };
    let recalls = usize::from(tool == "midfold_recall");
    let (calls, wishes) = (recalls, 1 - recalls);
    let heard = RecallRound { calls, wishes, asks_again: true, ..RecallRound::default() };
    assert_eq!(turn.hear(&mut seen, 0), heard);
    let sent: Value = serde_json::from_slice(&turn.sent().body).unwrap();
    let last = sent["messages"].as_array().unwrap().last().unwrap().clone();
    last["content"][0]["content"].as_str().unwrap().to_owned()
}

/// The tools are there from the first request on, so that nothing in front of the messages ever changes.
#[test]
fn an_agent_has_them_from_its_first_request_on() {
    let proxy = proxy();
    for rounds in [0, 1, 8] {
        let client = TalkingClient::new().talked(rounds);
        let turn = client.turn(&proxy);
        assert!(turn.recalls(), "{rounds}");
        for tool in ["midfold_compact", "midfold_pin", "midfold_note"] {
            assert!(body(&turn).contains(tool), "{rounds}: {tool}");
        }
        assert!(!body(&turn).contains("midfold_recall"), "{rounds}");
    }
    let mut told = TalkingClient::new().talked(0).turn(&proxy);
    let told = wish(&mut told, "midfold_note", &json!({"text": "The tide is late."}));
    assert!(told.starts_with("error: the conversation has only begun"), "{told}");
    // What has no tools is no agent.
    let mut client = TalkingClient::new().talked(3);
    client.tools = json!([]);
    let turn = client.turn(&proxy);
    assert_eq!(turn.sent().body, *client.request().body());
    // A tool of that name is the client's own.
    client.tools = json!([{"name": "midfold_note", "input_schema": {"type": "object"}}]);
    assert!(!client.turn(&proxy).recalls());
}

#[test]
fn what_is_wrong_with_a_wish_is_an_answer() {
    let (client, proxy) = (TalkingClient::new().talked(6), proxy());
    let mut turn = client.turn(&proxy);
    for (tool, input, wanted) in [
        ("midfold_compact", json!({}), "not done: there is room enough"),
        ("midfold_note", json!({}), "error: the note is empty"),
        ("midfold_pin", json!({}), "error: send `text`"),
    ] {
        let told = wish(&mut turn, tool, &input);
        assert!(told.starts_with(wanted), "{tool}: {told}");
    }
    let mut turn = client.turn(&proxy);
    let told = wish(&mut turn, "midfold_recall", &json!({"query": "tide"}));
    assert!(told.starts_with("error: there is no such tool"), "{told}");
}

/// What came with this request is pinned before it is history.
#[test]
fn the_newest_message_can_be_pinned() {
    let (mut client, proxy) = (TalkingClient::new().talked(20), proxy());
    let mut turn = client.turn(&proxy);
    let told = wish(&mut turn, "midfold_pin", &json!({"text": "the wide red crane"}));
    assert!(told.starts_with("message @40 stays whole"), "{told}");
    turn.accept();
    client.hear("It is pinned.");
    let mut client = TalkingClient { messages: client.messages, ..TalkingClient::new() };
    for round in 0..60 {
        client.ask(&format!("Question {round} about cranes."));
        client.turn(&proxy).accept();
        client.hear(&"The tug waits for the tide and for nothing else. ".repeat(8));
    }
    client.ask("And?");
    let turn = client.turn(&proxy);
    assert!(turn.sent().is_folded());
    let sent: Value = serde_json::from_slice(&turn.sent().body).unwrap();
    let whole = |message: &&Value| message["content"] == "And now, with the wide red crane?";
    assert_eq!(sent["messages"].as_array().unwrap().iter().filter(whole).count(), 1);
}

/// What another process says of a session is known to the proxy with the next request, and nothing of it is written over.
#[tokio::test]
async fn what_others_wish_for_a_session_is_taken_over() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (mut client, proxy) = (TalkingClient::new().talked(40), proxy());
    let mut turn = client.turn(&proxy);
    let told = wish(&mut turn, "midfold_note", &json!({"text": "The pilots strike on Monday."}));
    assert!(told.starts_with("noted"), "{told}");
    // The note is of the answer, so it is of this conversation once its client has the answer.
    let output = vec![Bytes::from(json!({"role": "assistant", "content": "Yes."}).to_string())];
    let mut seen = AnswerFacts { is_complete: true, output, ..AnswerFacts::default() };
    assert_eq!(turn.hear(&mut seen, 0), RecallRound::default());
    turn.accept();
    while proxy.save(&*store, 1).await.unwrap() {}
    let id = turn.sent().session.clone().unwrap();
    for (text, is_saved_between) in
        [("The gate opens at half past four.", true), ("The blue tug is sold.", false)]
    {
        let mut other = StoredSession::open(Arc::clone(&store), &id).await.unwrap();
        let told = other.carry_out(|session, _| wishes::note(session, text)).await.unwrap();
        assert!(told.starts_with("noted"), "{told}");
        client.hear("Yes.");
        client.ask("Go on.");
        let begun = proxy.begin(client.request(), &RequestSender::default());
        if is_saved_between {
            proxy.bring_back(&begun, &store, 2).await.unwrap();
        }
        // Where it is not asked, it learns of it when it writes.
        proxy.finish(proxy.recalling(begun, proxy.offer()), 2).accept();
        while proxy.save(&*store, 2).await.unwrap() {}
    }
    let mut stored = StoredSession::open(Arc::clone(&store), &id).await.unwrap();
    let notes = stored.whole().await.unwrap().notes().len();
    assert_eq!(notes, 3);
    // The fold that is asked for elsewhere is made here.
    let asked = stored.carry_out(|session, budget| wishes::compact(session, budget, "", 3)).await;
    let asked = asked.unwrap();
    assert!(asked.starts_with("the older part"), "{asked}");
    client.hear("Yes.");
    client.ask("And on.");
    let begun = proxy.begin(client.request(), &RequestSender::default());
    proxy.bring_back(&begun, &store, 4).await.unwrap();
    let turn = proxy.finish(proxy.recalling(begun, proxy.offer()), 4);
    assert!(turn.sent().is_new_fold);
    for text in ["on Monday", "half past four", "blue tug"] {
        assert!(body(&turn).contains(text), "{text}");
    }
}

/// Two conversations may be the same for their clients, and only in one of them something is hidden. A process that heard
/// neither leaves it out of the other one, and out of what is forked from it.
#[tokio::test]
async fn an_exchange_is_not_of_a_conversation_that_only_looks_the_same() {
    const NOTE: &str = "The customer is Walrus & Sons.";
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    // A client with this history asks `proxy`. What was sent is returned, once the model has said "Yes.".
    let asks = async |proxy: &Arc<Proxy>, client: &mut TalkingClient, notes: bool| {
        let begun = proxy.begin(client.request(), &RequestSender::default());
        proxy.bring_back(&begun, &store, 1).await.unwrap();
        let mut turn = proxy.finish(proxy.recalling(begun, proxy.offer()), 1);
        let sent = body(&turn);
        if notes {
            let told = wish(&mut turn, "midfold_note", &json!({"text": NOTE}));
            assert!(told.starts_with("noted"), "{told}");
        }
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": "Yes."}]});
        let output = vec![Bytes::from(message.to_string())];
        let mut seen = AnswerFacts { is_complete: true, output, ..AnswerFacts::default() };
        assert!(!turn.hear(&mut seen, 1).asks_again);
        turn.accept();
        while proxy.save(&*store, 1).await.unwrap() {}
        client.hear("Yes.");
        sent
    };
    let (mut plain, first) = (TalkingClient::new().talked(2), proxy());
    for question in ["Well?", "Go on.", "On."] {
        plain.ask(question);
        asks(&first, &mut plain, false).await;
    }
    let (mut noting, second) = (TalkingClient::new().talked(2), proxy());
    noting.ask("Well?");
    asks(&second, &mut noting, true).await;
    let fork = |question: &str| {
        let messages = noting.messages.clone();
        let mut fork = TalkingClient { messages, ..TalkingClient::new() };
        fork.ask(question);
        fork
    };
    assert!(!asks(&second, &mut fork("And then?"), false).await.contains(NOTE));
    // What one of them has alone is its own.
    let mut other = fork("Which customer?");
    asks(&second, &mut other, true).await;
    other.ask("And then?");
    assert!(asks(&second, &mut other, false).await.contains(NOTE));
}
