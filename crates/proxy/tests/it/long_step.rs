//! A newest result that alone is longer than the window, as each dialect carries it.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::audit::audit;
use midfold::core::event::Usage;
use midfold::core::explain::{Sight, SightAnswer};
use midfold::formats::answer::AnswerFacts;
use midfold::formats::request::{Request, list_name};
use midfold::store::{MemoryStore, Store, StoredSession};
use midfold::view::explained;
use midfold::{DialectKind, Policy, RequestFault};
use midfold_proxy::{MatchedRequest, Proxy, ProxyRules, RequestSender};
use midfold_testkit::{TestCall, TestMessage, emit};

const WINDOW: u64 = 8_000;

fn proxy(cuts: bool) -> Arc<Proxy> {
    let mut policy = Policy::preset("default").unwrap();
    policy.tail.cut_results = Some(cuts);
    Arc::new(Proxy::new(ProxyRules::new(policy).window(WINDOW)))
}

fn send(proxy: &Arc<Proxy>, kind: DialectKind, messages: &[String], now: u64) -> MatchedRequest {
    let list = list_name(kind);
    let body = format!(r#"{{"model":"m","{list}":[{}]}}"#, messages.join(","));
    let request = Request::read(kind, Bytes::from(body)).unwrap();
    let turn = proxy.turn(request, &RequestSender::default(), now);
    turn.accept();
    turn
}

fn sent(turn: &MatchedRequest) -> Vec<Bytes> {
    let read = Request::read(turn.request().kind(), turn.sent().body.clone());
    read.unwrap().messages().collect()
}

fn step(at: usize, lines: usize) -> [TestMessage; 2] {
    let id = format!("call_{at}");
    let call = TestCall {
        id: id.clone(),
        name: "bash".to_owned(),
        arguments: format!(r#"{{"command":"cat part{at}.txt"}}"#),
    };
    let text = format!("I read part {at}.");
    let content = (1..=lines).map(|line| format!("{line}: value {}\n", line * 7919 % 10_007));
    [
        TestMessage::Assistant { thought: None, text, calls: vec![call] },
        TestMessage::Tool { id, name: "bash".to_owned(), content: content.collect() },
    ]
}

/// A short step, a step with a result of three windows, and a short one; in each dialect.
fn conversations() -> Vec<(DialectKind, Vec<String>)> {
    let mut all = vec![TestMessage::User("Find the odd value.".to_owned())];
    all.extend([step(1, 10), step(2, 3_000), step(3, 10)].concat());
    vec![
        (DialectKind::OpenAiChat, emit::openai_chat(&all)),
        (DialectKind::OpenAiResponses, emit::responses(&all)),
        (DialectKind::Anthropic, emit::anthropic(&all).1),
        (DialectKind::Gemini, emit::gemini(&all).1),
        (DialectKind::Ollama, emit::ollama(&all)),
    ]
}

/// The place behind the message that holds the long result.
fn long_end(messages: &[String]) -> usize {
    messages.iter().position(|message| message.len() > 10_000).unwrap() + 1
}

#[test]
fn only_the_long_result_is_changed_and_the_next_request_covers_it() {
    for (kind, messages) in conversations() {
        let proxy = proxy(true);
        let end = long_end(&messages);
        let turn = send(&proxy, kind, &messages[..end], 0);
        let what = turn.sent();
        assert_eq!((what.fault, what.is_folded()), (None, false), "{kind}");
        assert!(what.cut > WINDOW && what.tokens_after <= WINDOW, "{kind}: {}", what.tokens_after);
        // What was left out is counted once: with it, it is the request that came.
        assert_eq!(what.tokens_before, what.tokens_after + what.cut, "{kind}");
        let sent_now = sent(&turn);
        assert_eq!(sent_now.len(), end, "{kind}");
        for (at, message) in sent_now.iter().enumerate() {
            let is_same = *message == messages[at].as_bytes();
            assert_eq!(is_same, at + 1 < end, "{kind} {at}");
        }
        let shown = String::from_utf8(sent_now[end - 1].to_vec()).unwrap();
        assert!(shown.contains("1: value 7919"), "{kind}");
        assert!(shown.contains("[midfold left out lines "), "{kind}");
        assert!(shown.contains("3000: value "), "{kind}");
        // A count of the prompt as it was sent is no truncation: midfold cut it, and not the server.
        let usage = Some(Usage { prompt: what.tokens_after, ..Usage::default() });
        let facts = AnswerFacts { usage, ..AnswerFacts::default() };
        assert!(turn.into_pending().take_facts(&facts, 0).is_none(), "{kind}");
        let turn = send(&proxy, kind, &messages, 1);
        let what = turn.sent();
        assert_eq!((what.fault, what.cut, what.is_new_fold), (None, 0, true), "{kind}");
        assert!(what.tokens_after <= WINDOW, "{kind}: {}", what.tokens_after);
    }
}

#[tokio::test]
async fn explain_says_what_the_cut_of_a_call_still_said() {
    for (kind, messages) in conversations() {
        let mut policy = Policy::preset("default").unwrap();
        policy.tail.cut_results = Some(true);
        let proxy = Arc::new(Proxy::new(ProxyRules::new(policy).window(WINDOW).stored()));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let facts = AnswerFacts { is_complete: true, ..AnswerFacts::default() };
        let ends = [long_end(&messages), messages.len()];
        let mut session = None;
        for (now, end) in ends.into_iter().enumerate() {
            let turn = send(&proxy, kind, &messages[..end], now as u64);
            assert_eq!(turn.sent().cut > 0, now == 0, "{kind}");
            session.clone_from(&turn.sent().session);
            turn.into_pending().take_facts(&facts, now as u64);
            while proxy.save(&*store, now as u64).await.unwrap() {}
        }
        let mut stored = StoredSession::open(store, &session.unwrap()).await.unwrap();
        let ask = async |stored: &mut StoredSession, text: &str| {
            let explanation = explained(stored, text, Some(1)).await.unwrap();
            (explanation.answer, explanation.occurrences[0].sight.clone())
        };
        let last = ask(&mut stored, "3000: value 382").await;
        assert_eq!(last, (SightAnswer::Edited, Sight::Cut { named: true }), "{kind}");
        let middle = ask(&mut stored, "1500: value 191").await;
        assert_eq!(middle, (SightAnswer::Gone, Sight::Cut { named: false }), "{kind}");
        let calls: Vec<_> = stored.calls().await.unwrap().into_iter().map(|it| it.0).collect();
        assert_eq!(
            calls.iter().map(|it| it.newest_room.is_some()).collect::<Vec<_>>(),
            [true, false]
        );
        let folds = stored.folds().await.unwrap();
        let audit = audit(stored.whole().await.unwrap().log(), &folds, None, &calls);
        assert!(audit.is_clean(), "{kind}: {:?}", audit.findings);
    }
}

#[test]
fn without_leave_it_is_sent_as_it_came_and_says_why() {
    for (kind, messages) in conversations() {
        let end = long_end(&messages);
        let turn = send(&proxy(false), kind, &messages[..end], 0);
        assert_eq!((turn.sent().fault, turn.sent().cut), (Some(RequestFault::Floor), 0), "{kind}");
        assert_eq!(
            sent(&turn),
            messages[..end].iter().map(|it| Bytes::from(it.clone())).collect::<Vec<_>>()
        );
    }
}

/// The first step writes a file of three windows.
fn writing() -> Vec<TestMessage> {
    let content: String = (1..=3_000).map(|line| format!("{line}: value\n")).collect();
    let arguments = serde_json::json!({ "path": "a.txt", "content": content }).to_string();
    let call = TestCall { id: "call_9".to_owned(), name: "write_file".to_owned(), arguments };
    let text = "I write it.".to_owned();
    let result = TestMessage::Tool {
        id: "call_9".to_owned(),
        name: "write_file".to_owned(),
        content: "ok".to_owned(),
    };
    let mut all = vec![TestMessage::User("Write the values.".to_owned())];
    all.extend(step(1, 10));
    all.extend([TestMessage::Assistant { thought: None, text, calls: vec![call] }, result]);
    all.extend([step(2, 10), step(3, 10)].concat());
    all
}

#[test]
fn long_arguments_of_the_newest_call_are_shown_cut() {
    let all = writing();
    for (kind, messages) in [
        (DialectKind::OpenAiChat, emit::openai_chat(&all)),
        (DialectKind::OpenAiResponses, emit::responses(&all)),
        (DialectKind::Anthropic, emit::anthropic(&all).1),
        (DialectKind::Gemini, emit::gemini(&all).1),
        (DialectKind::Ollama, emit::ollama(&all)),
    ] {
        let proxy = proxy(true);
        let end = long_end(&messages) + 1;
        let turn = send(&proxy, kind, &messages[..end], 0);
        let what = turn.sent();
        assert_eq!(what.fault, None, "{kind}");
        assert!(what.tokens_after <= WINDOW, "{kind}: {}", what.tokens_after);
        let body = String::from_utf8(what.body.to_vec()).unwrap();
        assert!(body.contains("[midfold left out lines "), "{kind}");
        let turn = send(&proxy, kind, &messages, 1);
        let what = turn.sent();
        assert_eq!(what.fault, None, "{kind}");
        assert!(what.tokens_after <= WINDOW, "{kind}: {}", what.tokens_after);
    }
}

/// The provider's count of a body: a quarter of its characters, and five more for each snowman.
fn real(body: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(body);
    text.chars().map(|c| if c == '☃' { 21 } else { 1 }).sum::<u64>() / 4
}

/// Sends as a server does: a refusal is answered once. Returns the provider's count of what it took in the end; `Err`
/// where it refused both.
fn settled(mut turn: MatchedRequest, now: u64) -> Result<u64, u64> {
    let mut have = real(&turn.sent().body);
    if have > WINDOW {
        let words = format!(
            r#"{{"error":{{"message":"This model's maximum context length is {WINDOW} tokens. However, your messages resulted in {have} tokens.","code":"context_length_exceeded"}}}}"#
        );
        let diagnosis = turn.diagnose(Some(400), words.as_bytes());
        if turn.answer_refusal(diagnosis, now).is_none() {
            return Err(have);
        }
        have = real(&turn.sent().body);
    }
    if have > WINDOW {
        return Err(have);
    }
    let usage = Some(Usage { prompt: have, ..Usage::default() });
    turn.into_pending().take_facts(&AnswerFacts { usage, ..AnswerFacts::default() }, now);
    Ok(have)
}

#[test]
fn no_client_sees_the_refusal_of_a_result_that_is_denser_than_estimated() {
    use midfold::core::Role;
    let mut all = vec![TestMessage::User("Draw it.".to_owned())];
    all.extend((1..8).flat_map(|at| step(at, 20)));
    let mut dense = step(8, 1);
    if let TestMessage::Tool { content, .. } = &mut dense[1] {
        *content = "☃".repeat(3_000);
    }
    all.extend(dense);
    // The client asks on without an answer, and then gets answers.
    all.extend(["Go on.", "Go on!"].map(|text| TestMessage::User(text.to_owned())));
    all.extend((9..24).flat_map(|at| step(at, 20)));
    let dialects = [
        (DialectKind::OpenAiChat, emit::openai_chat(&all)),
        (DialectKind::OpenAiResponses, emit::responses(&all)),
        (DialectKind::Anthropic, emit::anthropic(&all).1),
        (DialectKind::Gemini, emit::gemini(&all).1),
        (DialectKind::Ollama, emit::ollama(&all)),
    ];
    for (kind, messages) in dialects {
        let proxy = proxy(true);
        let role = |message: &str| kind.dialect().view(message.as_bytes()).role;
        let mut refused = Vec::new();
        for end in 1..=messages.len() {
            if role(&messages[end - 1]) == Role::Assistant {
                continue;
            }
            let turn = send(&proxy, kind, &messages[..end], end as u64);
            if real(&turn.sent().body) > WINDOW {
                refused.push(end);
            }
            let taken = settled(turn, end as u64);
            assert!(taken.is_ok(), "{kind}: {end} of {}: {taken:?}", messages.len());
        }
        // As the newest result, as a part of the history, and after a fold.
        assert!((1..=3).contains(&refused.len()), "{kind}: {refused:?} of {}", messages.len());
    }
}
