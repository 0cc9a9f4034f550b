//! Histories that clients leave to the provider, and what memory they take.

use std::sync::Arc;

use bytes::Bytes;
use midfold::formats::answer::AnswerFacts;
use midfold::formats::request::Request;
use midfold::{DialectKind, Policy};
use midfold_proxy::{Proxy, ProxyRules, RequestSender};

/// More than half of the memory for histories: a second answer of this size drops the first.
const LARGE: usize = (64 << 20) + 1;

fn request(body: &str) -> Request {
    let body = Bytes::copy_from_slice(body.as_bytes());
    Request::read(DialectKind::OpenAiResponses, body)
        .unwrap_or_else(|error| unreachable!("{error}"))
}

/// Has a request answered by an answer with this id, which is so long.
fn answer(proxy: &Arc<Proxy>, who: &RequestSender, id: &str, length: usize) {
    let turn = proxy.turn(request(r#"{"model":"m","input":"Go on."}"#), who, 0);
    turn.accept();
    let text = "a".repeat(length);
    let message = format!(r#"{{"type":"message","role":"assistant","content":"{text}"}}"#);
    let seen = AnswerFacts {
        id: Some(id.to_owned()),
        output: vec![Bytes::from(message)],
        is_complete: true,
        ..AnswerFacts::default()
    };
    turn.into_pending().take_facts(&seen, 0);
}

#[test]
fn a_history_that_is_kept_twice_is_as_old_as_the_second_time() {
    let policy = Policy::preset("default").unwrap();
    let proxy = Arc::new(Proxy::new(ProxyRules::new(policy).window(8_000)));
    let who = RequestSender::default();
    let is_known = |id: &str| {
        let next = format!(r#"{{"model":"m","input":"And?","previous_response_id":"{id}"}}"#);
        !proxy.wants_history(&request(&next), &who)
    };
    for (id, length) in [("twice", 1), ("large", LARGE), ("twice", 1), ("newest", LARGE)] {
        answer(&proxy, &who, id, length);
        assert!(is_known(id), "{id}");
    }
    assert!(!is_known("large"), "it was dropped for the newest one");
    assert!(is_known("twice"), "only its older history had to go before");
}
