//! What is changed on a live session stays with it: policy, model, window. And what was folded by
//! then, and asked for again, is told alike by audit, explain and recall.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use midfold_core::Hash;
use midfold_core::audit::audit;
use midfold_core::budget::Budget;
use midfold_core::event::RawEvent;
use midfold_core::explain::{AskedMoment, ExplainError, Explanation, SightAnswer, explain};
use midfold_core::narrate::AcceptedNarration;
use midfold_core::plan::PlanOutcome;
use midfold_core::policy::Policy;
use midfold_store::recall::{describe, described_text};
use midfold_store::{MemoryStore, NewSession, SessionMeta, Store, StoredSession};

const WINDOW: u64 = 8_000;

async fn made() -> (Arc<dyn Store>, StoredSession) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let meta = SessionMeta {
        budget: Budget::new(WINDOW),
        envelope: Vec::new(),
        parent: None,
        source: None,
        owner: None,
        model: None,
        client: None,
        cache_lifetime: None,
    };
    let new = NewSession {
        id: "a".into(),
        dialect: "openai-chat".into(),
        profile: "openai".into(),
        counter: "chars:4".into(),
        policy: Policy::preset("default").unwrap().to_toml(),
        meta: serde_json::to_string(&meta).unwrap(),
        created: 0,
    };
    let mut stored = StoredSession::create(store.clone(), new).await.unwrap();
    let lines = midfold_testkit::coding_session(7, 12);
    let events = lines.into_iter().map(|line| RawEvent::new(line.into())).collect();
    stored.append(events, None, 0).await.unwrap();
    (store, stored)
}

async fn compacted(stored: &mut StoredSession) -> midfold_core::fold::Fold {
    let outcome = stored.compact(None, 0).await.unwrap();
    assert!(matches!(outcome, PlanOutcome::Folded(_)), "{outcome:?}");
    stored.folds().await.unwrap().pop().unwrap()
}

async fn say(stored: &mut StoredSession, role: &str, text: &str) {
    let message = serde_json::json!({ "role": role, "content": text });
    stored.append(vec![RawEvent::new(message.to_string().into())], None, 0).await.unwrap();
}

/// Every preset comes back from a store as the policy that it is: by its fingerprint.
#[tokio::test]
async fn a_new_policy_survives_a_reload_and_is_on_record() {
    let (store, mut stored) = made().await;
    assert_eq!(stored.status(0).await.unwrap().policy_since, None);
    for name in Policy::preset_names() {
        let policy = Policy::preset(name).unwrap();
        stored.set_policy(&policy).await.unwrap();
        stored = StoredSession::open(store.clone(), "a").await.unwrap();
        let status = stored.status(0).await.unwrap();
        assert_eq!(status.policy, policy.name);
        assert_eq!(status.policy_fingerprint, policy.fingerprint(), "{name}");
        assert_eq!(status.policy_since, Some(u32::try_from(status.events).unwrap()));
    }
    let policy = Policy::preset("head-tail").unwrap();
    stored.set_policy(&policy).await.unwrap();
    let mut stored = StoredSession::open(store.clone(), "a").await.unwrap();
    let fold = compacted(&mut stored).await;
    assert_eq!(
        (fold.policy.as_str(), fold.policy_fingerprint),
        ("head-tail", policy.fingerprint())
    );
    // A fork and a folded session, which is read without its covered events, have it too.
    let fork = stored.fork("b", None, 0).await.unwrap();
    for mut session in [fork, StoredSession::open(store, "a").await.unwrap()] {
        assert_eq!(session.status(0).await.unwrap().policy, "head-tail");
    }
}

/// A fold that a worker prepared by the policy before is none of the new one's.
#[tokio::test]
async fn what_was_prepared_by_another_policy_is_not_taken() {
    for (change, policy) in [(false, "default"), (true, "head-tail")] {
        let (_, mut stored) = made().await;
        let tokens = stored.whole().await.unwrap().load().upper;
        stored.update_model("", Some(tokens * 100 / 92)).await.unwrap();
        let PlanOutcome::Folded(prepared) = stored.preview(None).await.unwrap() else { panic!() };
        let mut prepared = *prepared;
        prepared.narrated = Some(AcceptedNarration {
            request: Hash::ROOT,
            span: prepared.span.clone(),
            sections: Vec::new(),
            model: "small".to_owned(),
            left_out: 0,
            invented: Vec::new(),
        });
        prepared.id = prepared.compute_id();
        if change {
            stored.set_policy(&Policy::preset(policy).unwrap()).await.unwrap();
        }
        let budget = stored.budget();
        let session = stored.whole().await.unwrap();
        session.offer(prepared.clone()).unwrap();
        session.context(&budget, 0).unwrap();
        let fold = session.active().unwrap();
        assert_eq!((fold.id == prepared.id, fold.policy.as_str()), (!change, policy));
    }
}

#[tokio::test]
async fn another_node_does_not_undo_a_change() {
    let (store, mut one) = made().await;
    let mut two = StoredSession::open(store.clone(), "a").await.unwrap();
    two.pin(3, true).await.unwrap();
    one.set_policy(&Policy::preset("hermes").unwrap()).await.unwrap();
    two.update_model("small", Some(6_000)).await.unwrap();
    let status = StoredSession::open(store, "a").await.unwrap().status(0).await.unwrap();
    assert_eq!((status.policy.as_str(), status.model.as_str()), ("hermes", "small"));
    assert_eq!((status.context_length, status.pins), (6_000, vec![3]));
}

#[tokio::test]
async fn a_new_window_counts_from_then_on() {
    let (store, mut stored) = made().await;
    stored.update_model("large", Some(1_000_000)).await.unwrap();
    let mut stored = StoredSession::open(store, "a").await.unwrap();
    assert!(stored.context(false, 0).await.unwrap().folded.is_none());
    stored.update_model("small", Some(4_000)).await.unwrap();
    let sent = stored.context(false, 0).await.unwrap();
    assert!(sent.folded.is_some() && sent.context.tokens() <= 4_000);
    // Without a window the one before stays; one that leaves nothing is refused and changes nothing.
    stored.update_model("other", None).await.unwrap();
    assert!(stored.update_model("none", Some(0)).await.is_err());
    let status = stored.status(0).await.unwrap();
    assert_eq!((status.context_length, status.model.as_str()), (4_000, "other"));
}

/// Audit, `recall describe` and `explain` say the same of a name that was needed after all.
#[tokio::test]
async fn a_lost_name_that_is_asked_for_again_is_told_everywhere() {
    let (store, mut stored) = made().await;
    stored.set_policy(&Policy::preset("head-tail").unwrap()).await.unwrap();
    let fold = compacted(&mut stored).await;
    let name = fold.lost_ids.first.iter().find(|name| name.len() > 6).unwrap().clone();
    let folded_at = stored.row().head;
    assert!(describe(&*store, "a", "").await.unwrap().asked_again.is_empty());
    say(&mut stored, "assistant", "Something else first.").await;
    say(&mut stored, "user", &format!("What was {name} about?")).await;
    let asked = folded_at + 1;

    let log = stored.whole().await.unwrap().log().clone();
    let folds = stored.folds().await.unwrap();
    let audited = audit(&log, &folds, None, &[]).receipts[0].asked_again.clone();
    let described = describe(&*store, "a", "").await.unwrap();
    let explained = explain(&log, &folds, &[], &name, AskedMoment::Now(Some(fold.id))).unwrap();
    assert_eq!(described.asked_again, audited);
    let [again] = &explained.asked_again[..] else { panic!("{explained}") };
    assert!(audited.contains(&again.reference));
    assert_eq!((u64::from(again.fold.events), u64::from(again.reference.seq)), (folded_at, asked));
    let told = format!("{name}: folded at {folded_at}, asked for again at {asked}");
    assert!(explained.to_string().contains(&told), "{explained}");
    let text = described_text(&described);
    assert!(text.contains(&format!("folded at {folded_at}, asked for again: ")), "{text}");
    assert!(text.contains(&format!("{name} @{asked}")), "{text}");
}

#[tokio::test]
async fn explain_answers_for_a_message_by_its_number() {
    let (_, mut stored) = made().await;
    stored.set_policy(&Policy::preset("head-tail").unwrap()).await.unwrap();
    let fold = compacted(&mut stored).await;
    let log = stored.whole().await.unwrap().log().clone();
    let now = AskedMoment::Now(Some(fold.id));
    let asked = |text: &str| explain(&log, std::slice::from_ref(&fold), &[], text, now);
    let ask = |text: &str| -> Explanation { asked(text).unwrap() };
    let covered = fold.span.start;
    let gone = ask(&format!("@{covered}"));
    assert_eq!((gone.answer, gone.occurrences.len()), (SightAnswer::Gone, 1));
    assert_eq!(gone.occurrences[0].left.as_ref().unwrap().rule, "marker");
    assert_eq!(ask(&format!("@{}", log.len() - 1)).answer, SightAnswer::Verbatim);
    // No message has this number.
    let count = log.len() as u64;
    let missing = asked(&format!("@{count}"));
    assert!(
        matches!(missing, Err(ExplainError::NoEvent { seq, .. }) if seq == count),
        "{missing:?}"
    );
}
