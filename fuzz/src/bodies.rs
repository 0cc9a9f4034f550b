//! What the fuzz targets do with their bytes. Whatever panics here is a bug.

use bytes::Bytes;
use midfold::core::verify::{ProofCase, verify as check};
use midfold::formats::answer::{AnswerFraming, AnswerTee};
use midfold::formats::read::{Conversation, TranscriptFormat, read as read_file};
use midfold::formats::request::{Request, identity, without_marks};
use midfold::formats::vendor::{anthropic, blob::Blob, openai};
use midfold::formats::verify::validator;
use midfold::formats::{convert, profile};
use midfold::{
    Budget, DialectKind, EventLog, Fold, Meter, PlanError, PlanOutcome, Policy, ProviderProfile,
    Session,
};
use midfold_proxy::{Proxy, ProxyRules, RequestSender};

/// Separates the parts of an input of [`verify`].
pub const SEPARATOR: &[u8] = b"\n-----\n";

/// Conversations of one input that are looked at: a file of thousands teaches nothing more.
const CONVERSATIONS: usize = 4;

/// Reads, views, converts.
pub fn read(data: &[u8]) {
    let data = Bytes::copy_from_slice(data);
    for from in std::iter::once(None).chain(TranscriptFormat::ALL.map(Some)) {
        let Ok(found) = read_file(&data, from) else { continue };
        for conversation in found.conversations.iter().take(CONVERSATIONS) {
            convert(conversation);
        }
    }
}

fn convert(conversation: &Conversation) {
    let kind = conversation.format.dialect();
    let dialect = kind.dialect();
    let views: Vec<_> = conversation.events.iter().map(|e| dialect.view(&e.bytes)).collect();
    let events: Vec<_> = conversation.events.iter().map(|e| &e.bytes[..]).zip(&views).collect();
    for (bytes, view) in &events {
        let _ = view.text_of(bytes, |_| true);
    }
    for to in DialectKind::ALL {
        let converted = convert::convert_all(&events, kind, to);
        for message in &converted.messages {
            to.dialect().view(message);
        }
    }
}

/// Reads, compacts with each preset and profile, proves.
pub fn compact(data: &[u8]) {
    let data = Bytes::copy_from_slice(data);
    let Ok(found) = read_file(&data, None) else { return };
    for conversation in found.conversations.iter().take(CONVERSATIONS) {
        let kind = conversation.format.dialect();
        for profile in profile::for_dialect(kind) {
            for preset in Policy::preset_names() {
                fold(conversation, kind, *profile, preset);
            }
        }
    }
}

fn fold(conversation: &Conversation, kind: DialectKind, profile: ProviderProfile, preset: &str) {
    let counter = midfold::tokens::by_name("chars:3.2").expect("a known counter");
    let events = &conversation.events;
    let log = EventLog::of(kind.shared(), profile, counter, events.iter().cloned());
    let before: Vec<Bytes> = log.events().iter().map(|event| event.bytes.clone()).collect();
    let policy = Policy::preset(preset).expect("a known preset");
    let budget = Budget::new((log.tokens() * 2 / 3).max(300) + policy.trigger.injection_reserve);
    let limit = budget.tokens() - policy.trigger.injection_reserve;
    let mut session = Session::over("fuzz", log, policy, Meter::exact());
    let outcome = match session.compact(&budget, None) {
        Ok(outcome) => outcome,
        Err(PlanError::Floor(_)) => return,
        Err(error) => panic!("{preset} {}: {error}", profile.name),
    };
    let context = session.view();
    assert!(context.tokens() <= limit, "{preset} {}: over budget", profile.name);
    let after: Vec<Bytes> = context.pieces().map(|piece| piece.bytes.clone()).collect();
    let fold = match &outcome {
        PlanOutcome::Folded(fold) => Some(&**fold),
        PlanOutcome::Nothing(_) => None,
    };
    prove(&before, &after, kind, profile, preset, fold);
}

fn prove(
    before: &[Bytes],
    after: &[Bytes],
    kind: DialectKind,
    profile: ProviderProfile,
    preset: &str,
    fold: Option<&Fold>,
) {
    let counter = midfold::tokens::by_name("chars:3.2").expect("a known counter");
    let validate = validator(kind, profile);
    let dialect = kind.dialect();
    let case = ProofCase {
        before,
        after,
        envelope: &[],
        dialect,
        counter: &*counter,
        validate: &validate,
        budget: None,
        fold,
    };
    let findings = check(&case).findings;
    assert!(findings.is_empty(), "{preset} {}: {findings:#?}", profile.name);
}

/// Reads an answer of every dialect in every framing: chunks do not matter, and what a client would
/// send back is JSON.
pub fn answer(data: &[u8]) {
    for kind in DialectKind::ALL {
        for framing in [
            AnswerFraming::Json,
            AnswerFraming::Sse,
            AnswerFraming::JsonArray,
            AnswerFraming::NdJson,
        ] {
            let read = |size: usize, output: bool| {
                let tee = AnswerTee::new(kind, framing);
                let mut tee = if output { tee } else { tee.without_output() };
                data.chunks(size).for_each(|chunk| tee.push(chunk));
                tee.finish()
            };
            let whole = read(data.len().max(1), true);
            assert_eq!(read(1, true), whole, "{kind} {framing:?}");
            assert_eq!(read(7, true), whole, "{kind} {framing:?}");
            let quiet = read(5, false);
            assert!(quiet.output.is_empty());
            assert_eq!(quiet.usage, whole.usage, "{kind} {framing:?}");
            assert_eq!(quiet.is_complete, whole.is_complete, "{kind} {framing:?}");
            for reply in &whole.output {
                let json = serde_json::from_slice::<&serde_json::value::RawValue>(reply);
                assert!(json.is_ok(), "{kind} {framing:?}");
            }
        }
    }
}

/// Reads a request of every dialect, and takes it through a proxy with a small window: what stands
/// outside of its messages stays, and so does JSON.
pub fn request(data: &[u8]) {
    let body = Bytes::copy_from_slice(data);
    let is_json = serde_json::from_slice::<&serde_json::value::RawValue>(data).is_ok();
    let policy = Policy::preset("default").expect("it is a preset");
    let proxy = std::sync::Arc::new(Proxy::new(ProxyRules::new(policy).window(2_000)));
    for kind in DialectKind::ALL {
        let Ok(read) = Request::read(kind, body.clone()) else { continue };
        let again = Request::read(kind, read.with_messages(read.messages()));
        let again = again.expect("a request with the same messages is one");
        assert!(again.messages().eq(read.messages()), "{kind}");
        for message in read.messages() {
            let bare = without_marks(&message);
            assert!(!is_json || identity(kind, &bare) == identity(kind, &message), "{kind}");
        }
        let turn = proxy.turn(read.clone(), &RequestSender::default(), 0);
        if !turn.sent().is_folded() {
            assert_eq!(turn.sent().body, body, "{kind}");
        } else if is_json {
            let sent = &turn.sent().body;
            assert!(serde_json::from_slice::<&serde_json::value::RawValue>(sent).is_ok(), "{kind}");
            let outside = |request: &Request| request.with_messages([]);
            let sent = Request::read(kind, sent.clone()).expect("what is sent is a request");
            assert_eq!(outside(&sent), outside(&read), "{kind}");
        }
    }
}

/// What vendors' compaction reads: a request, a stream that a block is put into, our own blob.
pub fn vendor(data: &[u8]) {
    let _ = (anthropic::read_request(data), openai::read_request(data));
    for block in anthropic::compaction_blocks(data) {
        assert!(data.get(block.range).is_some());
    }
    for item in openai::compaction_items(data) {
        assert!(data.get(item.range).is_some());
    }
    let mut same = Vec::new();
    let mut nothing = anthropic::BlockInsertion::new();
    nothing.push(data, &mut same);
    nothing.finish(&mut same);
    assert_eq!(same, data, "nothing is put in, nothing changes");
    let block = anthropic::CompactionBlock { content: Some("recap".into()), ..Default::default() };
    let item = openai::CompactionItem { id: "cmp_1".into(), encrypted_content: "x".into() };
    let insert = |size: usize| {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut blocks = anthropic::BlockInsertion::new().block(&block).edits(&[]);
        let mut items = openai::ItemInsertion::new(&item);
        for chunk in data.chunks(size) {
            blocks.push(chunk, &mut first);
            items.push(chunk, &mut second);
        }
        blocks.finish(&mut first);
        items.finish(&mut second);
        (first, second)
    };
    assert_eq!(insert(1), insert(data.len().max(1)));
    let _ = anthropic::insert(&anthropic::BlockInsertion::new().block(&block), data);
    let _ = openai::insert(&item, data);
    if let Ok(blob) = Blob::decode(data) {
        assert_eq!(blob.encode(), data, "a blob has one spelling");
    }
}

/// Before, after and record, separated by [`SEPARATOR`].
pub fn verify(data: &[u8]) {
    let mut parts = split(data);
    let mut next = || Bytes::copy_from_slice(parts.next().unwrap_or_default());
    let (before, after, record) = (next(), next(), next());
    let fold: Option<Fold> = serde_json::from_slice(&record).ok();
    let Ok(before) = read_file(&before, None) else { return };
    let Some(before) = before.conversations.first() else { return };
    let kind = before.format.dialect();
    let after = read_file(&after, None).unwrap_or_default().conversations;
    let bytes = |conversation: &Conversation| -> Vec<Bytes> {
        conversation.events.iter().map(|event| event.bytes.clone()).collect()
    };
    let after = after.first().map(bytes).unwrap_or_default();
    let counter = midfold::tokens::by_name("chars:3.2").expect("a known counter");
    let validate = validator(kind, profile::for_dialect(kind)[0]);
    for fold in [None, fold.as_ref()] {
        let report = check(&ProofCase {
            before: &bytes(before),
            after: &after,
            envelope: &[],
            dialect: kind.dialect(),
            counter: &*counter,
            validate: &validate,
            budget: Some(1_000),
            fold,
        });
        assert!(report.checked.iter().any(|(_, count)| *count > 0));
    }
}

fn split(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(data);
    std::iter::from_fn(move || {
        let all = rest?;
        let at = all.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
        rest = at.map(|at| &all[at + SEPARATOR.len()..]);
        Some(&all[..at.unwrap_or(all.len())])
    })
}
