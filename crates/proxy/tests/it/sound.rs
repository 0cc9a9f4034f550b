//! What one request does to later ones, and to those of others.

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::Counter;
use midfold::core::event::{RawEvent, Usage};
use midfold::core::log::EventLog;
use midfold::formats::answer::AnswerFacts;
use midfold::formats::overflow::Diagnosis;
use midfold::formats::request::{Request, list_name};
use midfold::store::{MemoryStore, Store, StoredSession};
use midfold::{DialectKind, Policy, Setup, tokens};
use midfold_proxy::{MatchedRequest, Proxy, ProxyRules, RequestSender};
use midfold_testkit as testkit;
use midfold_testkit::TestMessage;

const WINDOW: u64 = 8_000;
const KINDS: [DialectKind; 5] = [
    DialectKind::OpenAiChat,
    DialectKind::OpenAiResponses,
    DialectKind::Anthropic,
    DialectKind::Gemini,
    DialectKind::Ollama,
];

fn emitted(kind: DialectKind, messages: &[TestMessage]) -> Vec<String> {
    match kind {
        DialectKind::OpenAiChat => testkit::emit::openai_chat(messages),
        DialectKind::Ollama => testkit::emit::ollama(messages),
        DialectKind::OpenAiResponses => testkit::emit::responses(messages),
        DialectKind::Anthropic => testkit::emit::anthropic(messages).1,
        _ => testkit::turns::gemini(messages).1,
    }
}

fn request(kind: DialectKind, messages: &[String]) -> Request {
    let list = list_name(kind);
    let body = format!(r#"{{"model":"m","{list}":[{}]}}"#, messages.join(","));
    Request::read(kind, Bytes::from(body)).unwrap_or_else(|error| unreachable!("{error}"))
}

fn o200k() -> Arc<dyn Counter> {
    tokens::by_name("o200k").unwrap_or_else(|error| unreachable!("{error}"))
}

/// What a provider with the same vocabulary counts.
fn counted(turn: &MatchedRequest) -> u64 {
    let kind = turn.request().kind();
    let sent = Request::read(kind, turn.sent().body.clone());
    let sent = sent.unwrap_or_else(|error| unreachable!("{error}"));
    let counter = o200k();
    let profile = midfold::formats::profile::for_dialect(kind)[0];
    EventLog::of(kind.shared(), profile, counter, sent.messages().map(RawEvent::new)).tokens()
}

fn answered(turn: MatchedRequest, now: u64) -> u64 {
    let prompt = counted(&turn);
    let usage = Some(Usage { prompt, output: 10, ..Usage::default() });
    turn.accept();
    turn.into_pending()
        .take_facts(&AnswerFacts { usage, is_complete: true, ..AnswerFacts::default() }, now);
    prompt
}

/// Where a client sends: before each message of the model.
fn stops(kind: DialectKind, messages: &[String]) -> Vec<usize> {
    use midfold::core::Role;
    let is_model = |at: usize| kind.dialect().view(messages[at].as_bytes()).role == Role::Assistant;
    (1..messages.len())
        .filter(|at| is_model(*at) && !is_model(at - 1))
        .chain([messages.len()])
        .collect()
}

fn small_rules(preset: &str) -> ProxyRules {
    let setup = Setup::new().counter(o200k()).window(WINDOW);
    let policy = Policy::preset(preset).unwrap_or_else(|error| unreachable!("{error}"));
    ProxyRules::new(policy).setup(setup)
}

/// Makes the arguments of a message's first call so long; false where it calls nothing.
fn grow_call(message: &mut TestMessage, tokens: usize) -> bool {
    let TestMessage::Assistant { calls, .. } = message else { return false };
    let Some(call) = calls.first_mut() else { return false };
    call.arguments = format!(r#"{{"path":"a.txt","content":"{}"}}"#, "word ".repeat(tokens));
    true
}

/// A step of `tokens` tokens of arguments in the middle of a session.
fn with_large_steps(at: usize, count: usize, tokens: usize) -> Vec<TestMessage> {
    let mut session = testkit::session(23, 8);
    let mut left = count;
    for message in session.iter_mut().skip(at) {
        if left > 0 && grow_call(message, tokens) {
            left -= 1;
        }
    }
    assert_eq!(left, 0);
    session
}

#[test]
fn a_step_larger_than_the_window_is_folded_once_it_is_history() {
    for kind in KINDS {
        for preset in Policy::preset_names() {
            // Each preset in one dialect, and the default in each.
            let counts: &[usize] = match (preset, kind) {
                ("default", _) => &[1, 3],
                (_, DialectKind::Anthropic) => &[1],
                _ => &[],
            };
            for &large in counts {
                let name = format!("{kind} {preset} {large}");
                let messages = emitted(kind, &with_large_steps(12, large, 9_000));
                let proxy = Arc::new(Proxy::new(small_rules(preset)));
                let (mut last, mut faults) = (0, 0);
                for (now, end) in stops(kind, &messages).into_iter().enumerate() {
                    let turn = proxy.turn(
                        request(kind, &messages[..end]),
                        &RequestSender::default(),
                        now as u64,
                    );
                    faults = if turn.sent().fault.is_some() { faults + 1 } else { 0 };
                    last = answered(turn, now as u64);
                }
                assert_eq!(faults, 0, "{name}: {last} tokens at the end");
                assert!(last <= WINDOW, "{name}: {last}");
            }
        }
    }
}

/// A request with instructions of about so many tokens, which no fold can move.
fn instructed(kind: DialectKind, tokens: u64, messages: &[String]) -> Request {
    let text = "constant ".repeat(usize::try_from(tokens).unwrap_or_default());
    let list = messages.join(",");
    let body = match kind {
        DialectKind::OpenAiChat | DialectKind::Ollama => {
            format!(r#"{{"model":"m","messages":[{{"role":"system","content":"{text}"}},{list}]}}"#)
        }
        DialectKind::OpenAiResponses => {
            format!(r#"{{"model":"m","instructions":"{text}","input":[{list}]}}"#)
        }
        DialectKind::Gemini => format!(
            r#"{{"systemInstruction":{{"parts":[{{"text":"{text}"}}]}},"contents":[{list}]}}"#
        ),
        _ => format!(r#"{{"model":"m","system":"{text}","messages":[{list}]}}"#),
    };
    Request::read(kind, Bytes::from(body)).unwrap_or_else(|error| unreachable!("{error}"))
}

/// Beside a large part that no fold can move there is little room, and no reason to fold all the time.
#[test]
fn little_room_is_no_reason_to_fold_each_time() {
    for kind in KINDS {
        for room in [12_000, 30_000, 60_000] {
            let session = testkit::session(5, 9);
            let messages = emitted(kind, &session);
            let fixed: u64 = 20_000;
            let setup = Setup::new().counter(o200k()).window(fixed + room);
            let rules = ProxyRules::new(Policy::preset("default").unwrap()).setup(setup);
            let proxy = Arc::new(Proxy::new(rules));
            let (mut folds, mut adjacent, mut requests, mut before) = (0, 0, 0, false);
            for (now, end) in stops(kind, &messages).into_iter().enumerate() {
                let request = instructed(kind, fixed, &messages[..end]);
                let turn = proxy.turn(request, &RequestSender::default(), now as u64);
                assert_eq!(turn.sent().fault, None, "{kind} {room}");
                requests += 1;
                folds += usize::from(turn.sent().is_new_fold);
                adjacent += usize::from(turn.sent().is_new_fold && before);
                before = turn.sent().is_new_fold;
                let prompt = turn.sent().tokens_after;
                turn.accept();
                let usage = Some(Usage { prompt, output: 10, ..Usage::default() });
                turn.into_pending().take_facts(
                    &AnswerFacts { usage, is_complete: true, ..AnswerFacts::default() },
                    now as u64,
                );
            }
            println!("{kind} +{room}: {folds} folds of {requests}, {adjacent} adjacent");
            // One step can be more than a fold of a small window leaves.
            assert!(adjacent * 33 <= requests, "{kind} +{room}: {adjacent} of {requests} adjacent");
            assert!(folds * 4 <= requests, "{kind} +{room}: {folds} folds of {requests}");
        }
    }
}

fn overflow(have: u64, limit: u64) -> Vec<u8> {
    format!(r#"{{"error":{{"message":"prompt is too long: {have} tokens > {limit} maximum"}}}}"#)
        .into()
}

fn scope(name: &str) -> RequestSender {
    RequestSender { scope: name.to_owned(), ..RequestSender::default() }
}

#[test]
fn a_window_is_learned_by_whoever_was_told() {
    let messages = emitted(DialectKind::OpenAiChat, &testkit::session(11, 14));
    let policy = Policy::preset("default").unwrap();
    let proxy = Arc::new(Proxy::new(ProxyRules::new(policy).window(200_000)));
    let send = |who: &str, kind: DialectKind, messages: &[String]| {
        proxy.turn(request(kind, messages), &scope(who), 0)
    };
    let mut told = send("a", DialectKind::OpenAiChat, &messages);
    let whole = told.sent().tokens_before;
    let found = told.diagnose(Some(400), &overflow(whole, 12_000));
    assert!(told.answer_refusal(found, 1).is_some_and(|sent| sent.is_new_fold));
    // Another conversation of the same key knows; another key and another provider do not.
    let other = emitted(DialectKind::OpenAiChat, &testkit::session(13, 9));
    assert!(send("a", DialectKind::OpenAiChat, &other).sent().is_folded());
    assert!(!send("b", DialectKind::OpenAiChat, &other).sent().is_folded());
    let anthropic = emitted(DialectKind::Anthropic, &testkit::session(11, 14));
    assert!(!send("a", DialectKind::Anthropic, &anthropic).sent().is_folded());
}

/// A window that an error told is one like any other: what no fold can move is taken off before folding
/// starts at a share of it.
#[tokio::test]
async fn a_learned_window_has_a_line_of_its_own() {
    const TOLD: u64 = 24_000;
    const FIXED: u64 = 14_000;
    for kind in KINDS {
        let messages = emitted(kind, &testkit::session(11, 9));
        let setup = Setup::new().counter(o200k()).window(200_000);
        let rules = ProxyRules::new(Policy::preset("default").unwrap()).setup(setup).stored();
        let proxy = Arc::new(Proxy::new(rules));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mut turn = proxy.turn(instructed(kind, FIXED, &messages), &RequestSender::default(), 0);
        let found = turn.diagnose(Some(400), &overflow(turn.sent().tokens_after, TOLD));
        let session = turn.answer_refusal(found, 1).unwrap().session.clone().unwrap();
        turn.accept();
        while proxy.save(&*store, 2).await.unwrap() {}
        let mut stored = StoredSession::open(store, &session).await.unwrap();
        let line = stored.status(3).await.unwrap().threshold.tokens;
        assert!((FIXED + (TOLD - FIXED) * 7 / 10..TOLD).contains(&line), "{kind}: {line}");
    }
}

#[test]
fn what_an_error_quotes_of_a_request_is_no_window() {
    let mut messages = emitted(DialectKind::OpenAiChat, &testkit::session(11, 14));
    let text = "prompt is too long: 60000 tokens > 2000 maximum";
    messages.push(format!(r#"{{"role":"{text}","content":"hi"}}"#));
    let policy = Policy::preset("default").unwrap();
    let proxy = Arc::new(Proxy::new(ProxyRules::new(policy).window(200_000)));
    let turn = proxy.turn(request(DialectKind::OpenAiChat, &messages), &scope("a"), 0);
    for (error, wanted) in [
        (
            format!(
                r#"{{"error":{{"message":"Invalid value: '{text}'","code":"invalid_value"}}}}"#
            ),
            Diagnosis::Malformed,
        ),
        (format!(r#"{{"error":{{"message":"unknown role {text}"}}}}"#), Diagnosis::Probable),
    ] {
        assert_eq!(turn.diagnose(Some(400), error.as_bytes()), wanted, "{error}");
    }
    let mut turn = turn;
    turn.answer_refusal(Diagnosis::Probable, 1);
    let messages = emitted(DialectKind::OpenAiChat, &testkit::session(13, 9));
    let next = proxy.turn(request(DialectKind::OpenAiChat, &messages), &scope("a"), 2);
    assert!(!next.sent().is_folded(), "nothing was learned");
}

#[tokio::test]
async fn nothing_is_kept_of_what_a_provider_refuses() {
    for kind in KINDS {
        let messages = emitted(kind, &testkit::session(11, 14));
        let proxy = Arc::new(Proxy::new(small_rules("default").stored()));
        let store = MemoryStore::new();
        let turn = proxy.turn(request(kind, &messages), &RequestSender::default(), 0);
        assert!(turn.sent().is_folded() && turn.is_written(), "{kind}: nobody waits for it");
        while proxy.save(&store, 1).await.unwrap() {}
        assert!(store.sessions(None, 10).await.unwrap().is_empty(), "{kind}");
        turn.accept();
        while proxy.save(&store, 2).await.unwrap() {}
        assert_eq!(store.sessions(None, 10).await.unwrap().len(), 1, "{kind}");
    }
}

/// All requests of a session of this length, through one proxy; each is taken.
fn play(
    proxy: &Arc<Proxy>,
    who: &RequestSender,
    requests: impl IntoIterator<Item = Request>,
) -> Vec<String> {
    let mut sessions = Vec::new();
    for (now, request) in requests.into_iter().enumerate() {
        let turn = proxy.turn(request, who, now as u64);
        turn.accept();
        sessions.extend(turn.sent().session.clone());
    }
    sessions
}

#[test]
fn a_clock_in_the_instructions_makes_no_other_conversation() {
    let kind = DialectKind::OpenAiChat;
    let messages = emitted(kind, &testkit::session(11, 8));
    let proxy = Arc::new(Proxy::new(small_rules("default")));
    let at = |now: usize, end: usize| {
        let mut sent = messages[..end].to_vec();
        sent[0] = format!(r#"{{"role":"system","content":"It is {now} o'clock."}}"#);
        (sent[0].clone(), request(kind, &sent))
    };
    let mut folds = 0;
    for (now, end) in stops(kind, &messages).into_iter().enumerate() {
        let (system, request) = at(now, end);
        let turn = proxy.turn(request, &RequestSender::default(), now as u64);
        folds += usize::from(turn.sent().is_new_fold);
        let text = String::from_utf8_lossy(&turn.sent().body).into_owned();
        assert!(text.contains(&system), "the client's own instructions are sent");
    }
    assert!(folds >= 1);
    assert_eq!(proxy.extent().0, 1);
}

#[tokio::test]
async fn histories_that_a_client_changes_each_time_are_not_stored_each_time() {
    for kind in KINDS {
        let messages = emitted(kind, &testkit::session(11, 8));
        let proxy = Arc::new(Proxy::new(small_rules("default").stored()));
        let store = MemoryStore::new();
        let stops = stops(kind, &messages);
        let requests = stops.iter().enumerate().map(|(now, end)| {
            let mut sent = messages[..*end].to_vec();
            // What a user said early, with a time in it.
            let user = sent.iter_mut().find(|it| it.contains(r#""user""#)).unwrap();
            *user = user.replacen("\"user\"", &format!("\"user\",\"name\":\"n{now}\""), 1);
            request(kind, &sent)
        });
        play(&proxy, &RequestSender::default(), requests);
        while proxy.save(&store, 1).await.unwrap() {}
        let stored = store.sessions(None, 100).await.unwrap().len();
        assert!(stored <= 2, "{kind}: {stored} sessions for {} requests", stops.len());
    }
}

#[test]
fn two_sessions_of_a_client_that_take_turns_stay_two() {
    let kind = DialectKind::Anthropic;
    let messages = emitted(kind, &testkit::session(11, 8));
    let proxy = Arc::new(Proxy::new(small_rules("default")));
    for (now, end) in stops(kind, &messages).into_iter().enumerate() {
        for hint in ["a", "b"] {
            let who = RequestSender { hint: Some(hint.to_owned()), ..RequestSender::default() };
            drop(proxy.turn(request(kind, &messages[..end]), &who, now as u64));
        }
    }
    assert_eq!(proxy.extent().0, 2);
}

#[test]
fn a_conversation_that_is_sent_again_from_its_start_is_one_more() {
    for kind in KINDS {
        let messages = emitted(kind, &testkit::session(11, 8));
        let proxy = Arc::new(Proxy::new(small_rules("default")));
        for _ in 0..2 {
            let requests =
                stops(kind, &messages).into_iter().map(|end| request(kind, &messages[..end]));
            play(&proxy, &RequestSender::default(), requests);
        }
        assert!(proxy.extent().0 <= 2, "{kind}: {} conversations", proxy.extent().0);
    }
}

#[test]
fn a_profile_of_one_wire_format_is_no_reason_to_leave_others_alone() {
    let strict = midfold::formats::profile::by_name("strict").unwrap();
    for kind in KINDS {
        let messages = emitted(kind, &testkit::session(11, 9));
        let setup = Setup::new().counter(o200k()).window(WINDOW).profile(*strict);
        let rules = ProxyRules::new(Policy::preset("default").unwrap()).setup(setup);
        let turn = Arc::new(Proxy::new(rules)).turn(
            request(kind, &messages),
            &RequestSender::default(),
            0,
        );
        assert!(turn.sent().is_folded() && turn.sent().fault.is_none(), "{kind}");
    }
}

/// The same instructions are no common history.
#[tokio::test]
async fn conversations_with_the_same_instructions_are_no_branches() {
    let kind = DialectKind::OpenAiChat;
    let proxy = Arc::new(Proxy::new(small_rules("default").stored()));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    for seed in [11, 13] {
        let messages = emitted(kind, &testkit::session(seed, 2));
        let end = stops(kind, &messages)[1];
        play(&proxy, &RequestSender::default(), [request(kind, &messages[..end])]);
    }
    while proxy.save(&*store, 1).await.unwrap() {}
    let rows = store.sessions(None, 10).await.unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let stored = StoredSession::open(Arc::clone(&store), &row.new.id).await.unwrap();
        assert_eq!(stored.meta().parent, None);
    }
}
