//! The tool of recall in requests: who gets it, what it finds, and what of it stays.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use bytes::Bytes;
use midfold::formats::answer::AnswerFacts;
use midfold::formats::request::Request;
use midfold::{DialectKind, Policy};
use midfold_proxy::{MatchedRequest, Proxy, ProxyRules, RecallRound, RequestSender};
use serde_json::{Value, json};

const WINDOW: u64 = 8_000;
const TOOL: &str = "midfold_recall";

/// A client of Messages.
struct Client {
    messages: Vec<Value>,
    who: RequestSender,
    beside: Value,
}

/// One of many sentences, of which a recap has room for few.
fn sentence(at: usize) -> String {
    let whats = ["crane", "pilot", "tug", "barge", "ferry", "anchor", "lantern", "rope", "buoy"];
    let hows = ["slowly", "at dawn", "in the rain", "with care", "once more", "by itself", "twice"];
    let wheres = ["north", "east", "inner", "outer", "old", "new", "long", "narrow"];
    let (what, how) = (whats[at % whats.len()], hows[at % hows.len()]);
    format!("The {what} of the {} quay turns {how}. ", wheres[at % wheres.len()])
}

/// What a tool prints: nothing that anybody repeats.
fn output(line: &str) -> String {
    let lines = |from: usize| (from..from + 8).map(|at| format!("{at}: {}\n", sentence(at)));
    lines(0).chain([format!("8: {line}\n")]).chain(lines(9)).collect()
}

fn bash(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "bash", "input": {"command": "cat log"}})
}

impl Client {
    fn new() -> Self {
        let beside = json!({"model": "m", "max_tokens": 100});
        Self { messages: Vec::new(), who: RequestSender::default(), beside }
    }

    /// Talks until nothing of it fits, with something in what a tool printed early.
    fn talked(mut self) -> Self {
        for round in 0..60 {
            self.ask(&format!("Question {round} about harbours and what is shipped there."));
            if round == 4 {
                self.runs("early", &output("A sleepy gull watches them from the roof."));
            }
            let words: String = (0..12).map(|at| sentence(round * 12 + at)).collect();
            self.hear(&format!("{words}Answer {round}."));
        }
        self.ask("And now?");
        self
    }

    fn ask(&mut self, text: &str) {
        self.messages.push(json!({"role": "user", "content": text}));
    }

    fn hear(&mut self, text: &str) {
        let content = json!([{"type": "text", "text": text}]);
        self.messages.push(json!({"role": "assistant", "content": content}));
    }

    /// The model called a tool, and this came of it.
    fn runs(&mut self, id: &str, output: &str) {
        self.messages.push(json!({"role": "assistant", "content": [bash(id)]}));
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": output});
        self.messages.push(json!({"role": "user", "content": [result]}));
    }

    fn request(&self) -> Request {
        let mut body = self.beside.clone();
        body["messages"] = Value::from(self.messages.clone());
        Request::read(DialectKind::Anthropic, Bytes::from(body.to_string())).unwrap()
    }

    /// What is sent for it, by somebody who reads the answer.
    fn turn(&self, proxy: &Arc<Proxy>) -> MatchedRequest {
        let begun = proxy.begin(self.request(), &self.who);
        proxy.finish(proxy.recalling(begun, proxy.offer()), 0)
    }
}

fn proxy() -> Arc<Proxy> {
    let policy = Policy::preset("default").unwrap();
    Arc::new(Proxy::new(ProxyRules::new(policy).window(WINDOW).recall(true)))
}

fn sent(turn: &MatchedRequest) -> Value {
    serde_json::from_slice(&turn.sent().body).unwrap()
}

fn said(content: &Value) -> AnswerFacts {
    let message = json!({"role": "assistant", "content": content}).to_string();
    AnswerFacts { is_complete: true, output: vec![Bytes::from(message)], ..AnswerFacts::default() }
}

fn call(id: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": TOOL, "input": input})
}

/// Has the model look something up, and says what it is told.
fn look_up(turn: &mut MatchedRequest, input: Value) -> String {
    let heard = turn.hear(&mut said(&json!([call("t1", &input)])), 0);
    assert_eq!(heard, RecallRound { calls: 1, asks_again: true, ..RecallRound::default() });
    let sent = sent(turn);
    let last = sent["messages"].as_array().unwrap().last().unwrap().clone();
    last["content"][0]["content"].as_str().unwrap().to_owned()
}

/// A model that can look up what was folded is folded for earlier, in a window that has room for it.
#[test]
fn the_policy_follows_from_the_tool_and_the_room() {
    let [default, lean] = ["default", "lean"].map(|name| Policy::preset(name).unwrap());
    let is_folded = |recalls: bool, client: &Client| {
        let rules = ProxyRules::new(default.clone()).policy_with_recall(lean.clone());
        let proxy = Arc::new(Proxy::new(rules.window(36_000).recall(recalls)));
        let turn = client.turn(&proxy);
        let before = turn.sent().tokens_before;
        assert!((18_000..27_000).contains(&before), "{before}");
        turn.sent().is_folded()
    };
    // It fills six tenths of the window: above the line of `lean`, below the one of `default`.
    let client = Client::new().talked().talked().talked();
    assert!(is_folded(true, &client));
    assert!(!is_folded(false, &client));

    let mut asking = Client::new().talked().talked().talked();
    asking.who.preset = Some("default".to_owned());
    assert!(!is_folded(true, &asking));

    // The system prompt leaves too little room for a fold that takes this much.
    let mut fixed = Client::new();
    fixed.beside["system"] = Value::from((0..450).map(sentence).collect::<String>());
    assert!(!is_folded(true, &fixed.talked().talked()));
}

/// Many calls at once get shorter answers each, so that all of them fit behind the context.
#[test]
fn the_answers_of_one_round_share_the_room() {
    let proxy = proxy();
    let client = Client::new().talked();
    let of_calls = |count: usize| {
        let mut turn = client.turn(&proxy);
        let input = json!({"messages": "@1-60"});
        let calls: Vec<_> = (0..count).map(|at| call(&format!("t{at}"), &input)).collect();
        assert_eq!(turn.hear(&mut said(&json!(calls)), 0).calls, count);
        let sent = sent(&turn);
        let results = sent["messages"].as_array().unwrap().last().unwrap()["content"].clone();
        let length = |result: &Value| result["content"].as_str().unwrap().len();
        results.as_array().unwrap().iter().map(length).sum::<usize>()
    };
    let (one, four, eight) = (of_calls(1), of_calls(4), of_calls(8));
    assert!(one > 1_500, "the test needs long answers: {one}");
    assert!(four <= one * 5 / 2, "{four} characters for four calls, {one} for one");
    // Each answer keeps a useful length.
    assert!(eight >= 8 * 500, "{eight}");
}

/// A token of Chinese has hardly more than one character, and an answer in it takes no more of the window than another.
#[test]
fn the_room_of_an_answer_is_in_tokens() {
    let mut client = Client::new();
    for round in 0..60 {
        client.ask(&format!("第{round}个问题：港口里运的是什么货物？"));
        let words: String = (0..40)
            .map(|at| format!("第{at}艘船在清晨缓缓驶入旧港口的第{round}号码头。"))
            .collect();
        client.hear(&words);
    }
    client.ask("现在呢？");
    let proxy = proxy();
    for count in [1, 2, 9, 40] {
        let mut turn = client.turn(&proxy);
        let before = turn.sent().tokens_after;
        let input = json!({"messages": "@1-60"});
        let calls: Vec<_> = (0..count).map(|at| call(&format!("t{at}"), &input)).collect();
        assert!(turn.hear(&mut said(&json!(calls)), 0).asks_again);
        // The calls themselves take tokens, too, and so does what is said to those without room.
        let (taken, beside) = (turn.sent().tokens_after - before, 70 * count);
        let most = if count == 1 { WINDOW / 8 } else { WINDOW / 4 };
        assert!(taken <= most + beside, "{count} calls: {taken} tokens");
        assert!(taken >= most / 4, "{count} calls: {taken} tokens");
    }
}

/// Looks something up, answers, and has the client go on. Says what was told.
fn exchange(client: &mut Client, proxy: &Arc<Proxy>) -> String {
    let mut turn = client.turn(proxy);
    let found = look_up(&mut turn, json!({"query": "sleepy gull"}));
    let answer = "It is the bird that you were told of.";
    let heard = turn.hear(&mut said(&json!([{"type": "text", "text": answer}])), 0);
    assert_eq!(heard, RecallRound::default());
    turn.accept();
    client.hear(answer);
    found
}

#[test]
fn what_was_folded_is_found_by_words_and_by_number() {
    let (client, proxy) = (Client::new().talked(), proxy());
    let mut turn = client.turn(&proxy);
    assert!(turn.recalls() && turn.sent().is_folded());
    let recap = sent(&turn).to_string();
    assert!(!recap.contains("sleepy gull watches"), "the fold has left it out");
    assert!(recap.contains("for midfold_recall"), "the recap names the tool");
    let found = look_up(&mut turn, json!({"query": "sleepy gull"}));
    assert!(found.contains("@10 tool") && found.contains("sleepy gull watches"), "{found}");
    let whole = look_up(&mut turn, json!({"messages": "@10"}));
    assert!(whole.contains("9: The"), "{whole}");
    let page = look_up(&mut turn, json!({"messages": [3, 5, 7, 11, 13, 15, 17, 19]}));
    let next = page.lines().last().unwrap();
    let next = next.strip_prefix("next: messages=\"").unwrap().strip_suffix('"').unwrap();
    let second = look_up(&mut turn, json!({"messages": next}));
    assert!(second.contains("@19") && !second.contains("── @3 "), "{second}");
}

#[test]
fn what_is_wrong_with_a_call_is_an_answer() {
    let (client, proxy) = (Client::new().talked(), proxy());
    let mut turn = client.turn(&proxy);
    for (input, wanted) in [
        (json!({}), "error: send `query`"),
        (json!({"messages": "the last one"}), "error: `the last one` is no message"),
        (json!({"messages": "@9999"}), "error: there is no message @9999"),
        (json!({"query": "zeppelin"}), "no message matches"),
    ] {
        let told = look_up(&mut turn, input);
        assert!(told.starts_with(wanted), "{told}");
    }
}

#[test]
fn an_exchange_stays_at_its_place_and_is_another_conversations_nowhere() {
    let (mut client, proxy) = (Client::new().talked(), proxy());
    let found = exchange(&mut client, &proxy);
    assert!(found.contains("sleepy gull watches"));
    client.ask("Go on.");
    let next = sent(&client.turn(&proxy));
    let messages = next["messages"].as_array().unwrap();
    let of = |at: usize| messages[messages.len() - at].to_string();
    assert!(of(4).contains(TOOL) && of(3).contains("sleepy gull watches"), "{next}");
    assert!(of(2).contains("that you were told of") && of(1).contains("Go on."), "{next}");
    // The same words behind another history.
    let mut other = Client::new().talked();
    other.messages[1] = json!({"role": "assistant", "content": "Nothing is known of harbours."});
    other.hear("It is the bird that you were told of.");
    other.ask("Go on.");
    assert!(!other.request().body().is_empty());
    let messages = sent(&other.turn(&proxy))["messages"].to_string();
    assert!(!messages.contains("tool_use"), "{messages}");
    // The same history of somebody else.
    client.who.scope = "somebody".to_owned();
    let messages = sent(&client.turn(&proxy))["messages"].to_string();
    assert!(!messages.contains("tool_use"), "{messages}");
}

/// Anthropic refuses calls in a history without tools: where the model may not look anything up, the tool is there, and
/// may not be called.
#[test]
fn a_history_with_exchanges_has_a_tool_beside_it() {
    let (mut client, proxy) = (Client::new().talked(), proxy());
    exchange(&mut client, &proxy);
    client.ask("Go on.");
    let begun = proxy.begin(client.request(), &client.who);
    let turn = proxy.finish(begun, 0);
    assert!(!turn.recalls(), "nobody reads the answer");
    let sent = sent(&turn);
    assert_eq!(sent["tools"][0]["name"], TOOL);
    assert_eq!(sent["tool_choice"], json!({"type": "none"}));
}

#[test]
fn who_has_no_use_for_the_tool_does_not_get_it() {
    let proxy = proxy();
    let mut short = Client::new();
    short.ask("Hello.");
    short.hear("Hello.");
    short.ask("And?");
    let turn = short.turn(&proxy);
    assert!(!turn.recalls(), "nothing was folded");
    assert_eq!(turn.sent().body, *short.request().body());
    for beside in [
        json!({"tools": [{"name": "a"}, {"name": "b"}], "tool_choice": {"type": "any"}}),
        json!({"tools": [{"name": TOOL}]}),
    ] {
        let mut client = Client::new().talked();
        client.beside.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
        let turn = client.turn(&proxy);
        assert!(turn.sent().is_folded() && !turn.recalls(), "{beside}");
        assert_eq!(sent(&turn)["tools"], beside["tools"]);
    }
}

/// What was brought back is not folded away while the turn goes on that asked for it.
#[test]
fn what_was_brought_back_stays_until_the_turn_goes_on() {
    let (mut client, proxy) = (Client::new().talked(), proxy());
    client.beside["tools"] = json!([{"name": "bash", "input_schema": {}}]);
    let mut turn = client.turn(&proxy);
    let mut seen = said(&json!([call("t1", &json!({"query": "sleepy gull"})), bash("b0")]));
    assert_eq!(turn.hear(&mut seen, 0), RecallRound { calls: 1, ..RecallRound::default() });
    turn.accept();
    for step in 0..40 {
        client.runs(&format!("b{step}"), &output(&format!("Step {step}.")));
        let sent = sent(&client.turn(&proxy))["messages"].to_string();
        assert!(sent.contains("sleepy gull watches"), "step {step}");
    }
    client.hear("All is done.");
    for round in 0..12 {
        client.ask(&format!("Next question, number {round}."));
        client.turn(&proxy);
        client.hear(&"The pilots wait for the tide and for nothing else. ".repeat(30));
    }
    client.ask("And?");
    let sent = sent(&client.turn(&proxy))["messages"].to_string();
    assert!(!sent.contains("sleepy gull watches"), "the turn has gone on");
}
