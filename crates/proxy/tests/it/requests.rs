//! Requests as clients send them, one after the other, through a proxy.

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::audit::audit;
use midfold::core::event::Usage;
use midfold::formats::answer::AnswerFacts;
use midfold::formats::request::Request;
use midfold::store::{MemoryStore, Store, StoredSession};
use midfold::{DialectKind, Policy};
use midfold_proxy::{MatchedRequest, Proxy, ProxyRules, RequestSender};
use midfold_testkit as testkit;

const WINDOW: u64 = 12_000;

fn proxy() -> Arc<Proxy> {
    let policy = Policy::preset("default").unwrap_or_else(|error| unreachable!("{error}"));
    Arc::new(Proxy::new(ProxyRules::new(policy).window(WINDOW)))
}

fn body(kind: DialectKind, messages: &[String]) -> Bytes {
    let list = midfold::formats::request::list_name(kind);
    Bytes::from(format!(r#"{{"model":"m", "{list}": [{}], "keep": 1.50}}"#, messages.join(", ")))
}

fn send(proxy: &Arc<Proxy>, kind: DialectKind, messages: &[String], now: u64) -> MatchedRequest {
    let request = Request::read(kind, body(kind, messages));
    let request = request.unwrap_or_else(|error| unreachable!("{error}"));
    let turn = proxy.turn(request, &RequestSender::default(), now);
    turn.accept();
    turn
}

fn sent(turn: &MatchedRequest) -> Vec<Bytes> {
    let kind = turn.request().kind();
    let read = Request::read(kind, turn.sent().body.clone());
    read.unwrap_or_else(|error| unreachable!("{error}")).messages().collect()
}

/// A long session in each wire format.
fn conversations() -> Vec<(DialectKind, Vec<String>)> {
    let session = testkit::session(11, 14);
    vec![
        (DialectKind::OpenAiChat, testkit::emit::openai_chat(&session)),
        (DialectKind::OpenAiResponses, testkit::emit::responses(&session)),
        (DialectKind::Anthropic, testkit::emit::anthropic(&session).1),
        (DialectKind::Gemini, testkit::turns::gemini(&session).1),
        (DialectKind::Ollama, testkit::emit::ollama(&session)),
    ]
}

/// Where a client sends: before each message of the assistant.
fn stops(kind: DialectKind, messages: &[String]) -> Vec<usize> {
    use midfold::core::Role;
    let role = |at: usize| kind.dialect().view(messages[at].as_bytes()).role;
    (1..messages.len())
        .filter(|at| role(*at) == Role::Assistant && role(at - 1) != Role::Assistant)
        .chain([messages.len()])
        .collect()
}

#[test]
fn what_fits_leaves_as_it_came_and_every_prompt_extends_the_one_before() {
    for (kind, messages) in conversations() {
        let proxy = proxy();
        let (mut before, mut folds, mut extended, mut passed) = (Vec::new(), 0, 0, 0);
        let stops = stops(kind, &messages);
        for (now, end) in stops.iter().enumerate() {
            let turn = send(&proxy, kind, &messages[..*end], now as u64);
            let what = turn.sent();
            assert_eq!(what.fault, None, "{kind} {end}");
            if !what.is_folded() {
                assert_eq!(what.body, body(kind, &messages[..*end]), "{kind} {end}");
                passed += 1;
            } else {
                assert!(what.body.ends_with(br#"], "keep": 1.50}"#));
                assert!(what.tokens_after < what.tokens_before, "{kind} {end}");
            }
            assert!(what.tokens_after <= WINDOW, "{kind} {end}: {}", what.tokens_after);
            let now_sent = sent(&turn);
            if what.is_new_fold {
                folds += 1;
            } else {
                assert!(now_sent.starts_with(&before), "{kind} {end}");
                extended += 1;
            }
            let usage = Some(Usage { prompt: what.tokens_after, ..Usage::default() });
            turn.into_pending()
                .take_facts(&AnswerFacts { usage, ..AnswerFacts::default() }, now as u64);
            before = now_sent;
        }
        assert!(folds >= 1 && passed >= 2, "{kind}: {folds} folds, {passed} passed");
        assert!(extended >= stops.len() - folds, "{kind}: {extended} of {}", stops.len());
        assert!(folds * 4 <= stops.len(), "{kind}: {folds} folds in {} requests", stops.len());
        assert_eq!(proxy.extent().0, 1, "{kind}: one conversation");
    }
}

#[test]
fn a_first_request_has_the_id_of_the_session_that_it_begins() {
    for (kind, messages) in conversations() {
        let proxy = Arc::new(Proxy::new(ProxyRules::new(Policy::preset("default").unwrap())));
        let stops = stops(kind, &messages);
        let id = |end: usize, now: u64, hint: Option<&str>| {
            let who = RequestSender { hint: hint.map(str::to_owned), ..RequestSender::default() };
            let request = Request::read(kind, body(kind, &messages[..end])).unwrap();
            let turn = proxy.turn(request, &who, now);
            assert_eq!(turn.window().is_some(), end > stops[0], "{kind}: {end}");
            turn.sent().session.clone().unwrap()
        };
        let first = id(stops[0], 0, None);
        assert_eq!(id(stops[0], 1, None), first, "{kind}: sent once more");
        let other = id(stops[0], 2, Some("other"));
        assert_ne!(other, first, "{kind}");
        assert_eq!(id(stops[1], 3, None), first, "{kind}");
        assert_eq!(id(stops[2], 4, None), first, "{kind}");
        // Its client has another name for it, and so it is a session of its own.
        assert_eq!(id(stops[1], 5, Some("other")), other, "{kind}");
        assert_ne!(id(stops[0], 6, None), first, "{kind}: a new one that begins so");
    }
}

#[tokio::test]
async fn what_was_sent_is_in_the_ledger_also_where_nobody_says_what_it_cost() {
    for (kind, messages) in conversations() {
        let policy = Policy::preset("default").unwrap();
        let proxy = Arc::new(Proxy::new(ProxyRules::new(policy).window(WINDOW).stored()));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (mut session, mut asked, mut costs, mut billed) = (None, 0, 0, 0);
        for (now, end) in stops(kind, &messages).into_iter().enumerate() {
            let now = now as u64;
            let turn = send(&proxy, kind, &messages[..end], now);
            let tokens = turn.sent().tokens_after;
            let usage = now.is_multiple_of(2).then(|| Usage { prompt: tokens, ..Usage::default() });
            billed += u64::from(usage.is_some());
            // A first request has no history yet: it is billed, and is no call of the ledger.
            if turn.window().is_some() {
                session.clone_from(&turn.sent().session);
                (asked, costs) = (asked + 1, costs + usize::from(usage.is_some()));
            }
            turn.into_pending().take_facts(
                &AnswerFacts { usage, is_complete: true, ..AnswerFacts::default() },
                now,
            );
            while proxy.save(&*store, now).await.unwrap() {}
        }
        let mut stored = StoredSession::open(store, &session.unwrap()).await.unwrap();
        let calls = stored.calls().await.unwrap();
        let settled = calls.iter().filter(|(_, settled)| settled.is_some()).count();
        assert!(asked > 3 && costs > 1, "{kind}: {asked} {costs}");
        assert_eq!((calls.len(), settled), (asked, costs), "{kind}");
        let calls: Vec<_> = calls.into_iter().map(|(call, _)| call).collect();
        let folds = stored.folds().await.unwrap();
        assert!(!folds.is_empty(), "{kind}");
        let found = audit(stored.whole().await.unwrap().log(), &folds, None, &calls);
        assert!(found.is_clean(), "{kind}: {:?}", found.findings);
        let spent = stored.whole().await.unwrap().spent();
        assert_eq!(spent.calls, billed, "{kind}");
    }
}

/// The messages of the model's answer to a request with this many messages.
fn answer(kind: DialectKind, messages: &[String], end: usize) -> Vec<Bytes> {
    use midfold::core::Role;
    let is_model =
        |message: &&String| kind.dialect().view(message.as_bytes()).role == Role::Assistant;
    let behind = messages[end..].iter().take_while(is_model);
    behind.map(|message| Bytes::copy_from_slice(message.as_bytes())).collect()
}

#[tokio::test]
async fn the_last_step_is_stored_when_the_client_has_ended_and_its_next_run_goes_on() {
    for (kind, messages) in conversations() {
        let rules = || {
            let policy = Policy::preset("default").unwrap();
            ProxyRules::new(policy).window(WINDOW).stored().with_last_steps()
        };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let stops = stops(kind, &messages);
        let run = async |stops: &[usize], now: u64| {
            let proxy = Arc::new(Proxy::new(rules()));
            let mut session = None;
            for end in stops {
                let request = Request::read(kind, body(kind, &messages[..*end])).unwrap();
                let begun = proxy.begin(request, &RequestSender::default());
                proxy.bring_back(&begun, &store, now).await.unwrap();
                let turn = proxy.finish(begun, now);
                turn.accept();
                session.clone_from(&turn.sent().session);
                let output = answer(kind, &messages, *end);
                let facts = AnswerFacts { is_complete: true, output, ..AnswerFacts::default() };
                turn.into_pending().take_facts(&facts, now);
            }
            proxy.append_last_steps();
            while proxy.save(&*store, now).await.unwrap() {}
            session.unwrap()
        };
        let (first, later) = stops.split_at(stops.len() - 3);
        let id = run(first, 1).await;
        let whole = async |id: &str| {
            let mut stored = StoredSession::open(Arc::clone(&store), id).await.unwrap();
            let log = stored.whole().await.unwrap().log().clone();
            log.events().iter().map(|event| event.bytes.clone()).collect::<Vec<_>>()
        };
        let end = first[first.len() - 1];
        let end = end + answer(kind, &messages, end).len();
        assert_eq!(whole(&id).await, messages[..end], "{kind}");
        assert_eq!(run(later, 2).await, id, "{kind}: the same session");
        assert_eq!(whole(&id).await.len(), messages.len(), "{kind}");
    }
}

#[test]
fn an_overflow_sets_the_window_right_and_is_sent_again_once() {
    for (kind, messages) in conversations() {
        let policy = Policy::preset("default").unwrap();
        let proxy = Arc::new(Proxy::new(ProxyRules::new(policy).window(200_000)));
        let mut turn = send(&proxy, kind, &messages, 0);
        assert!(!turn.sent().is_folded(), "{kind}: 200,000 are enough");
        let tokens = turn.sent().tokens_before;
        let body = format!(
            r#"{{"error":{{"message":"prompt is too long: {tokens} tokens > {WINDOW} maximum"}}}}"#
        );
        let found = turn.diagnose(Some(400), body.as_bytes());
        let again = turn.answer_refusal(found, 1).cloned().unwrap();
        assert!(again.is_new_fold && again.tokens_after <= WINDOW, "{kind}: {again:?}");
        assert!(turn.answer_refusal(found, 2).is_none(), "{kind}: once");
        // The next conversation with that model knows the window.
        let other = messages[1..].to_vec();
        let first = Request::read(kind, self::body(kind, &other)).unwrap();
        let next = proxy.turn(first, &RequestSender::default(), 3);
        assert!(next.sent().tokens_after <= WINDOW, "{kind}");
        let unlike = turn.diagnose(Some(429), b"slow down");
        assert!(turn.answer_refusal(unlike, 4).is_none());
    }
}

#[test]
fn a_tail_that_a_client_sends_once_and_replaces_is_never_history() {
    for (kind, messages) in conversations() {
        let proxy = proxy();
        let mut before = Vec::new();
        let mut folds = 0;
        for (now, end) in stops(kind, &messages).into_iter().enumerate() {
            let mut with_reminder = messages[..end].to_vec();
            let reminder = match kind {
                DialectKind::Gemini => {
                    format!(r#"{{"role":"user","parts":[{{"text":"it is {now} o'clock"}}]}}"#)
                }
                _ => format!(r#"{{"role":"user","content":"it is {now} o'clock"}}"#),
            };
            with_reminder.push(reminder.clone());
            let turn = send(&proxy, kind, &with_reminder, now as u64);
            let mut now_sent = sent(&turn);
            assert_eq!(now_sent.pop().unwrap(), reminder, "{kind}");
            if turn.sent().is_new_fold {
                folds += 1;
            } else {
                assert!(now_sent.starts_with(&before), "{kind} {end}");
            }
            before = now_sent;
        }
        assert!(folds >= 1, "{kind}");
        assert_eq!(proxy.extent().0, 1, "{kind}: one conversation");
    }
}

/// Ollama loads a model with as much room as a request asks for, whatever the model could hold.
#[test]
fn a_request_says_how_much_its_model_holds() {
    let messages = testkit::emit::ollama(&testkit::session(11, 14)).join(",");
    let send = |options: &str, given: u64| {
        let body = format!(r#"{{"model":"llama3.2","options":{options},"messages":[{messages}]}}"#);
        let request = Request::read(DialectKind::Ollama, body.into()).unwrap();
        let setup = midfold::Setup::new().window(given);
        let rules = ProxyRules::new(Policy::preset("default").unwrap()).setup(setup);
        let turn = Arc::new(Proxy::new(rules)).turn(request, &RequestSender::default(), 1);
        (turn.sent().is_folded(), turn.sent().tokens_after, turn.sent().window.clone())
    };
    let (is_folded, tokens, window) = send(r#"{"num_ctx":6000}"#, 500_000);
    assert_eq!(window, Some((6_000, midfold::WindowSource::Request)));
    assert!(is_folded && tokens <= 6_000, "{tokens}");
    let (is_folded, tokens, window) = send("{}", 500_000);
    assert_eq!(window, Some((500_000, midfold::WindowSource::Given)));
    assert!(!is_folded && tokens > 6_000, "{tokens}");
    let (_, _, window) = send(r#"{"num_ctx":6000}"#, 5_000);
    assert_eq!(window, Some((5_000, midfold::WindowSource::Given)), "less was said");
}

#[test]
fn the_same_task_with_the_same_answers_stays_in_the_session_that_it_began() {
    for (kind, messages) in conversations() {
        let (proxy, stops) = (proxy(), stops(kind, &messages));
        let run = |now: u64| -> Vec<_> {
            let turns = stops[1..].iter().zip(now..);
            turns
                .map(|(end, now)| send(&proxy, kind, &messages[..*end], now).sent().session.clone())
                .collect()
        };
        let (first, second) = (run(0), run(1_000));
        assert!(first.iter().all(|it| *it == first[0]), "{kind}");
        assert!(second.iter().all(|it| *it == second[0] && *it != first[0]), "{kind}: {second:?}");
    }
}

#[test]
fn forks_and_edited_histories_are_conversations_of_their_own() {
    let (kind, messages) = conversations().remove(0);
    let proxy = proxy();
    let whole = send(&proxy, kind, &messages, 0);
    assert!(whole.sent().is_folded());
    let at = stops(kind, &messages)[4];
    let mut edited = messages.clone();
    edited[at] = r#"{"role":"user","content":"something else"}"#.into();
    let other = send(&proxy, kind, &edited, 1);
    assert_ne!(other.sent().session, whole.sent().session);
    // The first goes on where it was.
    let again = send(&proxy, kind, &messages, 2);
    assert_eq!(again.sent().session, whole.sent().session);
    assert_eq!(again.sent().body, whole.sent().body);
    // Nothing is matched across scopes.
    let request = Request::read(kind, body(kind, &messages)).unwrap();
    let who = RequestSender { scope: "somebody else".into(), ..RequestSender::default() };
    assert_ne!(proxy.turn(request, &who, 3).sent().session, whole.sent().session);
    // Two sessions of a client with one history are two.
    let hinted = |hint: &str, now| {
        let request = Request::read(kind, body(kind, &messages)).unwrap();
        let who = RequestSender { hint: Some(hint.into()), ..RequestSender::default() };
        proxy.turn(request, &who, now).sent().session.clone()
    };
    assert_ne!(hinted("a", 4), hinted("b", 5));
}

#[test]
fn moved_cache_marks_are_sent_as_the_request_has_them() {
    let (kind, messages) = conversations().remove(2);
    let proxy = proxy();
    let mark = |message: &String| {
        message.replacen(r#""type":"#, r#""cache_control":{"type":"ephemeral"},"type":"#, 1)
    };
    let mut folds = 0;
    for (now, end) in stops(kind, &messages).into_iter().enumerate() {
        let mut marked = messages[..end].to_vec();
        if let Some(last) = marked.last_mut() {
            *last = mark(last);
        }
        let turn = send(&proxy, kind, &marked, now as u64);
        folds += usize::from(turn.sent().is_new_fold);
        let text = String::from_utf8_lossy(&turn.sent().body).into_owned();
        let marks = text.matches("cache_control").count();
        assert!(marks <= 1, "{end}: {marks} marks");
    }
    assert!(folds >= 1);
    assert_eq!(proxy.extent().0, 1);
}

#[test]
fn a_clients_own_summary_request_passes() {
    let (kind, mut messages) = conversations().remove(0);
    let policy = Policy::preset("default").unwrap();
    // Above the trigger, below the window.
    let probe = Arc::new(Proxy::new(ProxyRules::new(policy.clone()).window(400_000)));
    let tokens = send(&probe, kind, &messages, 0).sent().tokens_before;
    let proxy = Arc::new(Proxy::new(ProxyRules::new(policy).window(tokens * 10 / 9)));
    messages.push(
        r#"{"role":"user","content":"CONTEXT CHECKPOINT COMPACTION: write a summary"}"#.into(),
    );
    let turn = send(&proxy, kind, &messages, 1);
    assert!(!turn.sent().is_folded());
    messages.pop();
    let turn = send(&proxy, kind, &messages, 2);
    assert!(turn.sent().is_folded(), "the same without it folds");
}

#[test]
fn memory_is_bounded() {
    let policy = Policy::preset("default").unwrap();
    let proxy = Arc::new(Proxy::new(ProxyRules::new(policy).window(400_000).memory(2_000_000)));
    for n in 0..40 {
        let messages = testkit::emit::openai_chat(&testkit::session(n, 4));
        let _ = send(&proxy, DialectKind::OpenAiChat, &messages, n);
    }
    let (count, bytes) = proxy.extent();
    assert!(count > 1 && count < 40 && bytes <= 2_000_000, "{count} {bytes}");
}

fn send_as(scope: &str, proxy: &Arc<Proxy>, items: &[String], now: u64) -> MatchedRequest {
    let kind = DialectKind::OpenAiResponses;
    let request = Request::read(kind, body(kind, items));
    let request = request.unwrap_or_else(|error| unreachable!("{error}"));
    let turn = proxy.turn(
        request,
        &RequestSender { scope: scope.to_owned(), ..RequestSender::default() },
        now,
    );
    turn.accept();
    turn
}

/// What an answer held, a client may name by its id: it is what it was, so that it is folded and told.
#[test]
fn items_that_are_named_by_their_ids_are_what_they_were() {
    let proxy = proxy();
    let long = "The ledger holds the entry twice. ".repeat(40);
    let mut messages = vec![r#"{"role":"user","content":"Find the double bookings."}"#.to_owned()];
    let mut folds = 0;
    for n in 0..60u64 {
        let turn = send_as("alice", &proxy, &messages, n);
        folds += usize::from(turn.sent().is_folded());
        let output: Vec<Bytes> = [
            format!(r#"{{"type":"message","id":"msg_{n}","role":"assistant","content":[{{"type":"output_text","text":"Finding {n}: {long}"}}]}}"#),
            format!(r#"{{"type":"function_call","id":"fc_{n}","call_id":"call_{n}","name":"read","arguments":"{{\"path\":\"books/{n}.csv\"}}"}}"#),
        ]
        .map(Bytes::from)
        .into();
        let seen = AnswerFacts {
            id: Some(format!("resp_{n}")),
            output,
            is_complete: true,
            ..AnswerFacts::default()
        };
        turn.into_pending().take_facts(&seen, n);
        messages.push(format!(r#"{{"type":"item_reference","id":"msg_{n}"}}"#));
        messages.push(format!(r#"{{"type":"item_reference","id":"fc_{n}"}}"#));
        messages.push(format!(
            r#"{{"type":"function_call_output","call_id":"call_{n}","output":"row {n}"}}"#
        ));
        // Another's client names what is not its own.
        let turn = send_as("mallory", &proxy, &messages, n);
        assert!(!String::from_utf8_lossy(&turn.sent().body).contains("Finding"), "{n}");
    }
    let turn = send_as("alice", &proxy, &messages, 99);
    let text = String::from_utf8_lossy(&turn.sent().body).into_owned();
    assert!(folds > 0, "{}", text.len());
    assert!(!text.contains("item_reference"), "{text}");
    assert!(text.contains("Finding 59") && text.contains("books/"), "{text}");
}

/// Clients that change an early message at each request leave branches of branches, and none of them is stored.
#[tokio::test]
async fn the_answer_of_a_branch_of_a_branch_is_found_after_a_restart() {
    let kind = DialectKind::OpenAiResponses;
    let messages = testkit::emit::responses(&testkit::session(11, 4));
    let stops = stops(kind, &messages);
    let rules = || ProxyRules::new(Policy::preset("default").unwrap()).window(200_000).stored();
    let proxy = Arc::new(Proxy::new(rules()));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let said = |text: &str| format!(r#"{{"type":"message","role":"user","content":"{text}"}}"#);
    let mut list = messages.clone();
    for (now, at) in [None, Some(stops[3]), Some(stops[4])].into_iter().enumerate() {
        if let Some(at) = at {
            list.insert(at, said(&format!("branch {now}")));
        }
        let turn = send(&proxy, kind, &list, now as u64);
        let id = Some(format!("resp_{now}"));
        let output = vec![Bytes::from(said("the end"))];
        let seen = AnswerFacts { id, is_complete: true, output, ..AnswerFacts::default() };
        turn.into_pending().take_facts(&seen, now as u64);
    }
    while proxy.save(&*store, 9).await.unwrap() {}
    let after = Proxy::new(rules());
    let named = r#"{"model":"m","previous_response_id":"resp_2","input":"go on"}"#;
    let request = Request::read(kind, Bytes::from(named)).unwrap();
    let who = RequestSender::default();
    assert!(after.wants_history(&request, &who));
    assert!(after.bring_history(&request, &who, &*store).await.unwrap());
    let whole = after.begin(request, &who);
    assert!(whole.memory() > list.concat().len(), "all of its messages are there again");
    assert_eq!(store.sessions(None, 10).await.unwrap().len(), 1, "branches are not stored");
}
