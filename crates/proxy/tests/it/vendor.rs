//! What clients carry of vendors' compactions: for whom it opens, and what comes of requests that ask for
//! nothing.

use std::sync::Arc;

use bytes::Bytes;
use midfold::{DialectKind, Policy};
use midfold_proxy::vendor::{RequestPurpose, VendorOutcome, VendorWork};
use midfold_proxy::{CompactionPreference, Proxy, ProxyRules, RequestSender, Seal, SealKey};
use midfold_testkit as testkit;

fn proxy() -> Arc<Proxy> {
    let policy = Policy::preset("default").unwrap_or_else(|error| unreachable!("{error}"));
    let random = Arc::new(|bytes: &mut [u8]| {
        bytes.fill(5);
        true
    });
    let seal = Seal::new(vec![SealKey::new([1; 32])], random);
    Arc::new(Proxy::new(
        ProxyRules::new(policy).window(200_000).sealed(seal).prefer(CompactionPreference::Midfold),
    ))
}

fn who(scope: &str) -> RequestSender {
    RequestSender { scope: scope.into(), ..RequestSender::default() }
}

fn request(kind: DialectKind, body: &str) -> midfold::formats::request::Request {
    let body = Bytes::copy_from_slice(body.as_bytes());
    midfold::formats::request::Request::read(kind, body)
        .unwrap_or_else(|error| unreachable!("{error}"))
}

/// The body of a compaction that somebody asks for.
fn compacted(proxy: &Arc<Proxy>, who: &RequestSender, items: &[String]) -> String {
    let body = format!(r#"{{"model":"m","input":[{}]}}"#, items.join(","));
    let request = request(DialectKind::OpenAiResponses, &body);
    let wish = proxy
        .vendor_request(request, who, RequestPurpose::Compact)
        .unwrap_or_else(|_| unreachable!());
    assert_eq!(wish.work, Some(VendorWork::Compact));
    let begun = proxy.begin_wish(wish.request, wish.is_replay, None, who);
    let mut turn = proxy.finish(begun, 0);
    match turn.work(VendorWork::Compact, false, 0) {
        VendorOutcome::Answer(made) => String::from_utf8_lossy(&made.body).into_owned(),
        _ => unreachable!("it is answered"),
    }
}

fn output(answer: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(answer).unwrap_or_default();
    value["output"].to_string()
}

#[test]
fn what_one_carries_opens_for_nobody_else() {
    let proxy = proxy();
    let items = testkit::emit::responses(&testkit::session(11, 6));
    let input = output(&compacted(&proxy, &who("joe"), &items));
    let body = format!(r#"{{"model":"m","input":{input}}}"#);
    let ask = |scope: &str| {
        let request = request(DialectKind::OpenAiResponses, &body);
        proxy.vendor_request(request, &who(scope), RequestPurpose::Answer)
    };
    let wish = ask("joe").unwrap_or_else(|_| unreachable!("it is his"));
    assert!(wish.is_replay && wish.work.is_none() && wish.request.len() > 2);
    let refused = ask("jim").err().unwrap_or_else(|| unreachable!("it is not his"));
    assert_eq!(refused.status, 400);
    assert!(String::from_utf8_lossy(&refused.body).contains("invalid_encrypted_content"));
}

#[test]
fn a_recap_that_comes_back_is_merged_into_the_next_one() {
    let proxy = proxy();
    let items = testkit::emit::responses(&testkit::session(11, 8));
    let half = items.len() / 2;
    let first = output(&compacted(&proxy, &who(""), &items[..half]));
    let mut next: Vec<String> = serde_json::from_str::<Vec<serde_json::Value>>(&first)
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect();
    next.extend_from_slice(&items[half..]);
    let second = output(&compacted(&proxy, &who(""), &next));
    let body = format!(r#"{{"model":"m","input":{second}}}"#);
    let wish = proxy
        .vendor_request(
            request(DialectKind::OpenAiResponses, &body),
            &who(""),
            RequestPurpose::Answer,
        )
        .unwrap_or_else(|_| unreachable!());
    let text = String::from_utf8_lossy(wish.request.body()).into_owned();
    assert_eq!(text.matches("## Conversation Summary").count(), 1, "one recap, never a stack");
    assert!(!text.contains("mfc1."));
    // What the first one told is told still.
    let rule = "never touch migrations/";
    assert!(items[..half].iter().any(|item| item.contains(rule)), "the session has it");
    assert!(text.contains(rule), "{text}");
}

#[test]
fn a_request_that_asks_for_nothing_is_not_touched() {
    let proxy = proxy();
    for kind in DialectKind::ALL {
        let list = midfold::formats::request::list_name(kind);
        for text in ["hi", "context_management", "compaction_trigger"] {
            let body = format!(
                r#"{{"model":"m","{list}":[{{"role":"user","content":"{text}"}}],"n":1.50}}"#
            );
            let Ok(read) = midfold::formats::request::Request::read(kind, body.clone().into())
            else {
                continue;
            };
            let wish = proxy
                .vendor_request(read, &who(""), RequestPurpose::Answer)
                .unwrap_or_else(|_| unreachable!());
            assert_eq!((wish.request.body(), &wish.work), (&Bytes::from(body), &None), "{kind}");
            assert!(!wish.is_replay && !wish.strips_betas, "{kind}");
        }
    }
}

/// A client that says with each request what it wants kept says so before anything is folded: a model that
/// narrates ahead is told.
#[test]
fn instructions_of_an_edit_reach_the_model_that_narrates_ahead() {
    let policy = Policy::preset("default").unwrap_or_else(|error| unreachable!("{error}"));
    let seal = Seal::new(vec![SealKey::new([1; 32])], Arc::new(|_: &mut [u8]| true));
    let (_, messages) = testkit::emit::anthropic(&testkit::session(11, 30));
    let text = messages.join(",");
    // Of the window two thirds are used: a narration is wanted, and nothing is folded.
    let window = (text.len() as u64 / 4) * 3 / 2;
    let rules = ProxyRules::new(policy).window(window.max(50_000)).narrated();
    let proxy = Arc::new(Proxy::new(rules.sealed(seal).prefer(CompactionPreference::Midfold)));
    for (scope, instructions, told) in
        [("joe", "Keep zq-gateway.", Some("Keep zq-gateway.")), ("jim", " ", None)]
    {
        let body = format!(
            r#"{{"model":"m","max_tokens":1000,"messages":[{text}],"context_management":{{"edits":[{{"type":"compact_20260112","instructions":"{instructions}"}}]}}}}"#
        );
        let wish = proxy.vendor_request(
            request(DialectKind::Anthropic, &body),
            &who(scope),
            RequestPurpose::Answer,
        );
        let wish = wish.unwrap_or_else(|refused| unreachable!("{refused:?}"));
        let keep = wish.work.as_ref().and_then(|work| work.standing().map(str::to_owned));
        let begun = proxy.begin_wish(wish.request, wish.is_replay, keep, &who(scope));
        let turn = proxy.finish(begun, 0);
        assert!(!turn.sent().is_folded(), "{} tokens", turn.sent().tokens_before);
        let narratable =
            turn.into_pending().narratable().unwrap_or_else(|| unreachable!("a history"));
        let wanted = narratable.wants(1_000_000).unwrap_or_else(|| unreachable!("it is wanted"));
        assert_eq!(wanted.focus.as_deref(), told);
    }
}
