//! What conversations take of memory, and what is counted.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![cfg(target_os = "linux")]

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::event::Usage;
use midfold::formats::answer::AnswerFacts;
use midfold::formats::request::Request;
use midfold::{DialectKind, Policy};
use midfold_proxy::{Proxy, ProxyRules, RequestSender};
use midfold_testkit::coding_session;

/// The memory of this process in bytes, as the system counts it.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1_024
}

/// Sends conversations of so many messages, each request with two more, and folds them many times.
fn send(proxy: &Arc<Proxy>, conversations: std::ops::Range<u64>, messages: usize) {
    for conversation in conversations {
        let session = coding_session(conversation, messages);
        for (now, end) in (12..messages).step_by(2).enumerate() {
            let body = format!(r#"{{"model":"m","messages":[{}]}}"#, session[..end].join(","));
            let request = Request::read(DialectKind::OpenAiChat, Bytes::from(body)).unwrap();
            let turn = proxy.turn(request, &RequestSender::default(), now as u64);
            turn.accept();
            let usage = Some(Usage { prompt: turn.sent().tokens_after, ..Usage::default() });
            let facts = AnswerFacts { usage, is_complete: true, ..AnswerFacts::default() };
            turn.into_pending().take_facts(&facts, now as u64);
        }
    }
}

/// The limit of memory is one of counted bytes. What the system gave is more than what is held, because the allocator
/// keeps what was freed.
#[test]
fn what_is_held_is_counted() {
    let rules = ProxyRules::new(Policy::preset("default").unwrap()).window(16_000);
    let proxy = Arc::new(Proxy::new(rules));
    // Tables that all conversations share are made by the first ones.
    send(&proxy, 1..4, 120);
    let (before, (_, counted_before)) = (resident(), proxy.extent());
    send(&proxy, 4..34, 120);
    let (after, (_, counted)) = (resident(), proxy.extent());
    let (grown, counted) = (after.saturating_sub(before), counted - counted_before);
    println!("{grown} bytes more, {counted} counted");
    assert!(2 * grown <= 5 * counted, "{grown} bytes more, and {counted} counted");
    assert!(counted <= 3 * grown, "{grown} bytes more, and {counted} counted");
}
