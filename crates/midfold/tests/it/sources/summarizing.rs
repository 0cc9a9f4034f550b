//! "Summarizing Evicted Turns": a receipt with a schema, a hard cap, and a marker when it fails.

use midfold::core::narrate::FailureClass;
use midfold::core::narrate::{FinishReason, SummaryFailure, SummaryReply};
use midfold::{Budget, Fold, Meter, PlanOutcome, Policy, Session};

use super::recorded::recorded;

const WINDOW: u64 = 32_000;

fn session() -> Session {
    let mut policy = Policy::preset("head-tail").unwrap();
    policy.narration.on = true;
    Session::over("s", recorded()[3].log.clone(), policy, Meter::exact())
}

fn fold(session: &mut Session) -> Fold {
    match session.compact(&Budget::new(WINDOW), None).unwrap() {
        PlanOutcome::Folded(fold) => *fold,
        PlanOutcome::Nothing(reason) => panic!("no fold: {reason}"),
    }
}

fn reply(text: &str) -> SummaryReply {
    SummaryReply {
        text: text.to_owned(),
        finish: FinishReason::Stop,
        model: "small".to_owned(),
        usage: None,
        calls: 1,
    }
}

/// A narrated fold says `summarize`, and the names of its summary are kept, all others lost.
#[test]
fn a_narrated_fold_says_what_its_summary_kept() {
    let mut session = session();
    let request = session.take_request(&Budget::new(WINDOW), 0).unwrap();
    let said =
        recorded()[3].log.events()[4..20].iter().map(|e| e.text().into_owned()).collect::<String>();
    let name =
        midfold::core::ids::identifiers(&said).find(|id| id.contains('/')).unwrap().to_owned();
    let text = format!(
        "## Conversation Summary\n- **Decisions:** none\n- **Entities:** {name}\n- **Facts:** none\n- **Open Items:** none\n"
    );
    let verdict = session.complete(&request, Ok(reply(&text)), 0).unwrap();
    assert_eq!(verdict.code.as_str(), "accepted", "{}", verdict.detail);
    let fold = fold(&mut session);
    assert_eq!((fold.strategy.as_str(), fold.fallback_used), ("summarize", false));
    assert!(fold.kept_ids.first.contains(&name), "{:?}", fold.kept_ids);
    assert!(!fold.lost_ids.first.contains(&name));
    assert!(fold.lost_ids.count > 0, "what the summary leaves out is lost");
    assert_eq!(fold.invented_ids.count, 0);
}

#[test]
fn a_fold_that_did_not_wait_says_so() {
    let mut session = session();
    let request = session.take_request(&Budget::new(WINDOW), 0).unwrap();
    let pending = fold(&mut session);
    assert_eq!(pending.verdicts[0].code.as_str(), "pending");
    assert_eq!(pending.verdicts[0].request, request.id);
    assert_eq!(
        (pending.fallback.map(|stands| stands.as_str()), pending.fallback_used),
        (Some("marker"), true)
    );
}

#[test]
fn a_fold_behind_a_failed_attempt_says_why() {
    let mut session = session();
    let request = session.take_request(&Budget::new(WINDOW), 0).unwrap();
    session.note_failed_attempts(request.id, 1, Some(FailureClass::Timeout), Some(60_000), 0);
    let retried = fold(&mut session);
    assert!(retried.verdicts[0].detail.contains("timeout"), "{:?}", retried.verdicts);
}

#[test]
fn a_failed_model_leaves_the_marker_and_the_reason() {
    let mut session = session();
    let request = session.take_request(&Budget::new(WINDOW), 0).unwrap();
    let failure = SummaryFailure::new(FailureClass::Network, "refused");
    session.complete(&request, Err(failure), 0).unwrap();
    let fold = fold(&mut session);
    assert_eq!(fold.strategy, "head-tail");
    assert_eq!(fold.verdicts[0].code.as_str(), "network");
    assert!(fold.lost_ids.count > 0);
}

/// A header that shares its line with facts, as old compactors wrote it: the facts stay.
#[test]
fn facts_behind_a_legacy_prefix_stay() {
    let mut messages = recorded()[0].messages.clone();
    let legacy = "[CONTEXT SUMMARY]: the ledger moved to db-prod-1:5432 under FRE-512";
    messages.insert(2, serde_json::json!({"role": "assistant", "content": legacy}));
    let events = messages.iter().map(|m| midfold::RawEvent::new(m.to_string().into()));
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let dialect = midfold::DialectKind::OpenAiChat.shared();
    let log = midfold::EventLog::of(dialect, midfold::formats::profile::OPENAI, counter, events);
    let policy = Policy::preset("default").unwrap();
    let mut session = Session::over("s", log, policy, Meter::exact());
    let fold = fold(&mut session);
    let text = &fold.recap.unwrap().text;
    assert!(text.contains("db-prod-1:5432") && text.contains("FRE-512"), "{text}");
}

/// The question of the source's log: did a later turn need what was lost? The audit says when.
#[test]
fn a_lost_name_that_is_used_again_is_on_record() {
    let one = &recorded()[3];
    let policy = Policy::preset("head-tail").unwrap();
    let mut session = Session::over("s", one.log.clone(), policy, Meter::exact());
    let fold = fold(&mut session);
    let name = fold.lost_ids.first[0].clone();
    assert!(fold.with_references(session.log()).referenced_later.unwrap().first.is_empty());
    let asks = serde_json::json!({"role": "user", "content": format!("What of {name} now?")});
    let seq = session.append(midfold::RawEvent::new(asks.to_string().into()));
    let found = fold.references(session.log().events());
    assert_eq!((found[0].name.as_str(), found[0].seq), (name.as_str(), seq));
    let again = fold.with_references(session.log());
    assert_eq!(again.referenced_later.as_ref().unwrap().first, std::slice::from_ref(&name));
    assert_eq!(again.compute_id(), fold.id, "the identity does not depend on it");
    let active = session.active().map(|fold| fold.id);
    let audit = midfold::core::audit::audit(session.log(), session.folds(), active, &[]);
    let text = audit.to_string();
    let said = format!("folded at {}, asked for again: {name} at {seq}", fold.accounts.events);
    assert!(text.contains(&said), "{text}");
}

/// "The static marker holds the prefix byte-identical, the regenerated recap does not": each is counted
/// against the prompt that it is in.
#[test]
fn a_marker_repeats_its_prompt_and_a_new_summary_little_of_its_own() {
    for preset in ["head-tail", "default"] {
        let policy = Policy::preset(preset).unwrap();
        let log = &recorded()[3].log;
        let check = midfold::cache_check(log, &policy, &Budget::new(WINDOW), Meter::exact());
        let check = check.unwrap().unwrap();
        assert_eq!(check.marker, check.marker_prompt, "{preset}: {check:?}");
        assert_eq!(check.frozen, check.prompt, "{preset}: {check:?}");
        // The head alone is before the summary.
        assert!(check.regenerated * 5 < check.regenerated_prompt, "{preset}: {check:?}");
    }
}

/// What came after the model was asked is behind the marker, and everything that tells of the fold says so.
#[test]
fn a_partly_narrated_fold_says_so() {
    use midfold::core::explain::{AskedMoment, Sight, explain};
    use midfold::core::fold::StandIn;
    let all = recorded()[3].log.clone();
    let mut policy = Policy::preset("head-tail").unwrap();
    policy.narration.on = true;
    let half = all.prefix(all.len() / 2);
    let mut session = Session::over("s", half, policy, Meter::exact());
    let budget = Budget::new(12_000);
    let request = session.take_request(&budget, 0).unwrap();
    let text = "## Conversation Summary\n- **Decisions:** none\n- **Entities:** none\n- **Facts:** the work went on\n- **Open Items:** none\n";
    session.complete(&request, Ok(reply(text)), 0).unwrap();
    for event in &all.events()[session.log().len()..] {
        session.append(midfold::RawEvent::new(event.bytes.clone()));
    }
    session.context(&budget, 0).unwrap();
    let fold = session.active().unwrap().clone();
    let end = fold.narrated.as_ref().unwrap().span.end;
    let covered = fold.covered();
    let marked = covered.iter().filter(|seq| **seq >= end).count();
    assert!(marked > 0 && marked < covered.len(), "{marked} of {}", covered.len());
    assert_eq!((fold.fallback, fold.fallback_used), (Some(StandIn::Marker), true));
    assert_eq!(fold.accounts.marker as usize, marked);
    assert_eq!(fold.accounts.recap as usize, covered.len() - marked);
    let last = format!("@{}", covered.last().unwrap());
    let moment = AskedMoment::Now(Some(fold.id));
    let told = explain(session.log(), session.folds(), &[], &last, moment).unwrap();
    assert_eq!(told.occurrences[0].sight, Sight::Marker);
    let first = format!("@{}", covered[0]);
    let told = explain(session.log(), session.folds(), &[], &first, moment).unwrap();
    assert!(matches!(told.occurrences[0].sight, Sight::Recap { .. }), "{told:?}");
    let active = session.active().map(|fold| fold.id);
    let audit = midfold::core::audit::audit(session.log(), session.folds(), active, &[]);
    assert!(audit.is_clean(), "{audit}");
    let rules: Vec<_> = audit.receipts[0].removed.iter().map(|one| one.rule.as_str()).collect();
    assert!(rules.contains(&"marker") && rules.contains(&"recap"), "{rules:?}");
}

/// "A fact the turns never contained": the line is dropped, and the record has its names and no others.
#[test]
fn the_names_of_a_dropped_line_are_on_record_as_invented() {
    for preset in ["head-tail", "default", "nucleic", "hermes"] {
        let mut policy = Policy::preset(preset).unwrap();
        policy.narration.on = true;
        let one = &recorded()[3];
        let new = || Session::over("s", one.log.clone(), policy.clone(), Meter::exact());
        let (mut first, mut session) = (new(), new());
        let planned = fold(&mut first);
        let request = first.request_for(&planned, None, 0).unwrap();
        let mut text = format!("{}\n", request.header);
        for name in &request.sections {
            let (start, end) = match request.style {
                midfold::core::policy::NarrationStyle::Headings => ("## ", "\n"),
                midfold::core::policy::NarrationStyle::Bullets => ("- **", ":** "),
            };
            text += &format!("{start}{name}{end}the work goes on\n");
        }
        text += "- it broke in src/never/seen.rs\n";
        let verdict = session.complete(&request, Ok(reply(&text)), 0).unwrap();
        assert_eq!((verdict.code.as_str(), verdict.dropped.len()), ("accepted", 1), "{verdict:?}");
        let narrated = fold(&mut session);
        assert!(narrated.narrated.is_some(), "{preset}: {:?}", narrated.verdicts);
        assert_eq!(narrated.invented_ids.first, ["src/never/seen.rs"], "{preset}");
        assert_eq!(narrated.invented_ids.count, 1, "{preset}");
    }
}

/// An accepted summary is used, or the record says why not.
#[test]
fn a_summary_that_is_not_used_has_a_verdict() {
    let mut policy = Policy::preset("default").unwrap();
    policy.narration.on = true;
    // As if by a policy whose cap knows nothing of the recap's.
    policy.recap.cap_tokens = 150;
    policy.narration.max_tokens = Some(600);
    let one = &recorded()[3];
    let mut session = Session::over("s", one.log.clone(), policy, Meter::exact());
    let request = session.take_request(&Budget::new(WINDOW), 0).unwrap();
    let mut text = format!("{}\n", request.header);
    for name in &request.sections {
        text += &format!("- **{name}:** {}\n", "the work goes on and on ".repeat(8));
    }
    let verdict = session.complete(&request, Ok(reply(&text)), 0).unwrap();
    assert_eq!(verdict.code.as_str(), "accepted", "{}", verdict.detail);
    let fold = fold(&mut session);
    assert!(fold.narrated.is_none());
    let codes: Vec<_> = fold.verdicts.iter().map(|verdict| verdict.code.as_str()).collect();
    assert_eq!(codes, ["accepted", "unused"]);
    assert_eq!(fold.verdicts[1].detail, "the recap has no room for it");
}

/// No name is kept and lost at once, also where it is a part of another one.
#[test]
fn no_name_is_kept_and_lost() {
    let mut names = 0;
    for one in recorded().iter().step_by(5) {
        for preset in Policy::preset_names() {
            let policy = Policy::preset(preset).unwrap();
            let mut session = Session::over("s", one.log.clone(), policy, Meter::exact());
            let outcome = session.compact(&Budget::new(WINDOW), None);
            let Some(fold) = outcome.as_ref().ok().and_then(PlanOutcome::fold) else { continue };
            let twice = fold.kept_ids.first.iter().find(|id| fold.lost_ids.first.contains(id));
            assert!(twice.is_none(), "{} by {preset}: {twice:?}", one.name);
            names += fold.kept_ids.first.len();
        }
    }
    assert!(names > 0);
}
