//! The state machine: when it folds, what holds it back, what it learns, and how it goes on.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use midfold::core::Usage;
use midfold::core::engine::{
    BuiltInEngine, RecoverError, ReportedOverflow, SessionState, UndoError, engine,
};
use midfold::core::hooks::{FoldHooks, HookDecision};
use midfold::core::plan::FoldCause;
use midfold::core::policy::{EngineName, ModelTrigger};
use midfold::core::trigger::{FoldDue, HoldReason, LADDER, LineRule, PROBE_AFTER};
use midfold::formats::profile;
use midfold::{
    Budget, DialectKind, EventLog, Fold, Meter, NoOp, PlanError, PlanOutcome, Policy, RawEvent,
    Session,
};
use midfold_testkit::emit;

fn raw(seed: u64, turns: usize) -> Vec<RawEvent> {
    let lines = emit::openai_chat(&midfold_testkit::session(seed, turns));
    lines.into_iter().map(|line| RawEvent::new(line.into())).collect()
}

fn session(policy: Policy, turns: usize) -> Session {
    let counter = midfold::tokens::by_name("chars:3.2").unwrap();
    let log =
        EventLog::of(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter, raw(3, turns));
    Session::over("s", log, policy, Meter::exact())
}

fn default() -> Policy {
    Policy::preset("default").unwrap()
}

/// A window of which the session takes `percent`.
fn window(session: &Session, percent: u64) -> Budget {
    Budget::new(session.view().tokens() * 100 / percent)
}

fn usage(prompt: u64) -> Usage {
    Usage { prompt, output: 10, ..Usage::default() }
}

#[test]
fn folds_at_the_line_and_not_before() {
    let mut low = session(default(), 12);
    let budget = window(&low, 77);
    assert!(matches!(low.due(&budget, 0), FoldDue::Below(line) if line.rule == LineRule::Share));
    low.context(&budget, 0).unwrap();
    assert!(low.folds().is_empty());
    let mut high = session(default(), 12);
    let budget = window(&high, 85);
    assert!(high.due(&budget, 0).fires());
    high.context(&budget, 0).unwrap();
    assert_eq!(high.folds().len(), 1);
    assert_eq!(high.folds()[0].cause, FoldCause::Threshold);
    assert!(matches!(high.due(&budget, 0), FoldDue::Below(_)));
}

/// What a pause costs: the provider's cache is gone, and a fold spoils nothing.
#[test]
fn a_context_above_the_buffer_is_folded_when_its_cache_is_cold() {
    const LIFETIME: u64 = 300_000;
    let folds = |percent: u64, lifetime: Option<u64>, pause: u64| {
        let mut session = session(default(), 12);
        session.set_cache_lifetime(lifetime);
        let budget = window(&session, percent);
        session.context(&budget, 1_000).unwrap();
        assert!(session.folds().is_empty());
        let due = session.due(&budget, 1_000 + pause);
        assert_eq!(session.status(&budget, 1_000 + pause).due, due);
        session.context(&budget, 1_000 + pause).unwrap();
        assert_eq!(session.folds().len() == 1, due.fires());
        if let FoldDue::Cold(line) = due {
            assert_eq!(line.rule, LineRule::Buffer);
            assert_eq!(session.folds()[0].cause, FoldCause::Cold);
        }
        // The context that it left was sent just now.
        assert!(!session.due(&budget, 1_001 + pause).fires());
        due.fires()
    };
    assert!(folds(70, Some(LIFETIME), LIFETIME + 1));
    assert!(!folds(70, Some(LIFETIME), LIFETIME), "it is warm still");
    assert!(!folds(70, Some(LIFETIME), 0));
    assert!(!folds(70, None, LIFETIME * 100), "nobody said that there is a cache");
    assert!(!folds(55, Some(LIFETIME), LIFETIME + 1), "it is below the buffer line");
}

/// When a context was asked for last is stored with the session: a restart makes no cache warm.
#[test]
fn a_cache_is_cold_for_a_session_that_was_stored_meanwhile() {
    let mut before = session(default(), 12);
    let budget = window(&before, 70);
    before.context(&budget, 1_000).unwrap();
    let stored = serde_json::to_vec(&before.state()).unwrap();
    let mut after = session(default(), 12);
    after.set_state(serde_json::from_slice(&stored).unwrap());
    after.set_cache_lifetime(Some(300_000));
    assert!(matches!(after.due(&budget, 400_000), FoldDue::Cold(_)));
    // One that never asked has nothing in any cache, and nothing to lose: it waits for its line.
    let mut new = session(default(), 12);
    new.set_cache_lifetime(Some(300_000));
    assert!(matches!(new.due(&budget, 400_000), FoldDue::Below(_)));
}

#[test]
fn the_lowest_rule_sets_the_line() {
    let mut trigger = default().trigger;
    let line = |t: &midfold::core::policy::TriggerPolicy| t.line(100_000);
    assert_eq!((line(&trigger).tokens, line(&trigger).rule), (78_000, LineRule::Share));
    trigger.reserve = 30_000;
    assert_eq!((line(&trigger).tokens, line(&trigger).rule), (70_000, LineRule::Reserve));
    trigger.cliffs = vec![200_000, 60_000];
    assert_eq!((line(&trigger).tokens, line(&trigger).rule), (57_000, LineRule::Cliff));
    trigger.tokens = 50_000;
    assert_eq!((line(&trigger).tokens, line(&trigger).rule), (50_000, LineRule::Tokens));
    trigger.models = vec![
        ModelTrigger { name: "gpt".into(), tokens: Some(40_000), ..ModelTrigger::default() },
        ModelTrigger { name: "gpt-5".into(), tokens: Some(45_000), ..ModelTrigger::default() },
    ];
    assert_eq!(line(&trigger.for_model("openai/GPT-5.4")).tokens, 45_000);
    assert_eq!(line(&trigger.for_model("gpt-4o")).tokens, 40_000);
    assert_eq!(line(&trigger.for_model("claude")).tokens, 50_000);
    let hermes = Policy::preset("hermes").unwrap().trigger;
    assert_eq!((hermes.line(100_000).tokens, hermes.line(100_000).rule), (64_000, LineRule::Floor));
    assert_eq!(hermes.line(65_536).tokens, 64_000, "below the window the floor stands");
    assert_eq!(hermes.line(64_000).tokens, 54_400, "at the window 0.85 of it");
}

#[test]
fn the_output_reserve_is_not_for_the_prompt() {
    let session = session(default(), 12);
    let mut budget = window(&session, 70);
    assert!(!session.due(&budget, 0).fires());
    budget.output_reserve = budget.window / 5;
    assert!(session.due(&budget, 0).fires());
}

/// Where nothing folds by itself, nobody says when it folds next.
#[test]
fn what_never_folds_names_no_line() {
    let mut off = default();
    off.trigger.on = false;
    let mut through = default();
    through.engine = EngineName::Passthrough;
    for (policy, said) in [(off, "not by itself"), (through, "never")] {
        let session = session(policy, 12);
        for percent in [20, 95] {
            let status = session.status(&window(&session, percent), 0);
            assert_eq!(status.due, FoldDue::Held(HoldReason::Off));
            let words = midfold::view::due(&status);
            assert!(words.starts_with(said) && !words.contains("to go"), "{words}");
        }
    }
}

#[test]
fn switched_off_means_off() {
    let mut policy = default();
    policy.trigger.on = false;
    let mut off = session(policy, 12);
    let budget = window(&off, 95);
    assert_eq!(off.due(&budget, 0), FoldDue::Held(HoldReason::Off));
    off.context(&budget, 0).unwrap();
    assert!(off.folds().is_empty());
    let small = window(&off, 150);
    assert!(
        matches!(off.context(&small, 0), Err(PlanError::Off { .. })),
        "never too long, silently"
    );
    assert!(
        matches!(off.compact(&small, None).unwrap(), PlanOutcome::Folded(_)),
        "a person still can"
    );
    off.context(&small, 0).unwrap();
}

#[test]
fn never_while_a_call_is_open_but_at_the_hard_window() {
    let mut session = session(default(), 12);
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"open1","type":"function","function":{"name":"run","arguments":"{}"}}]}"#;
    session.append(RawEvent::new(call.into()));
    let budget = window(&session, 90);
    assert_eq!(session.due(&budget, 0), FoldDue::Held(HoldReason::OpenCall));
    assert!(matches!(session.due(&window(&session, 130), 0), FoldDue::HardWindow { .. }));
    session
        .append(RawEvent::new(r#"{"role":"tool","tool_call_id":"open1","content":"ok"}"#.into()));
    assert!(session.due(&budget, 0).fires());
}

/// Folds again and again while the provider says that nothing was gained.
fn trip(session: &mut Session, now: u64) {
    for round in 0..2 {
        for event in raw(40 + round, 10) {
            session.append(event);
        }
        let budget = Budget::new(session.load().estimate * 100 / 90);
        let before = session.load().estimate;
        session.context(&budget, now).unwrap();
        session.observe(usage(before * 95 / 100), now);
    }
}

#[test]
fn two_folds_that_free_nothing_trip_the_breaker_by_real_usage() {
    let mut session = session(default(), 12);
    trip(&mut session, 1_000);
    assert_eq!(session.gate().breaker.strikes, 2, "{:?}", session.gate());
    let folds = session.folds().len();
    for event in raw(60, 12) {
        session.append(event);
    }
    let budget = Budget::new(session.load().estimate * 100 / 90);
    assert_eq!(session.due(&budget, 2_000), FoldDue::Held(HoldReason::Breaker));
    session.context(&budget, 2_000).unwrap();
    assert_eq!(session.folds().len(), folds);
    // A person may, the full window must, and after a while one probe is let through.
    assert!(matches!(session.preview(&budget, None).unwrap(), PlanOutcome::Folded(_)));
    let full = Budget::new(session.load().estimate * 100 / 105);
    assert!(matches!(session.due(&full, 2_000), FoldDue::HardWindow { .. }));
    session.context(&budget, 1_000 + PROBE_AFTER).unwrap();
    assert_eq!(session.folds().len(), folds + 1);
    let gained = session.load().estimate;
    session.observe(usage(gained), 1_000 + PROBE_AFTER);
    assert_eq!(session.gate().breaker.strikes, 0, "a fold that helped clears the strikes");
}

#[test]
fn a_declined_fold_is_not_planned_again_at_once() {
    let mut policy = default();
    policy.fold.min_reclaim = midfold::core::budget::Ratio(9_000);
    let mut session = session(policy, 12);
    let budget = window(&session, 85);
    session.context(&budget, 0).unwrap();
    assert!(session.folds().is_empty());
    assert_eq!(session.due(&budget, 0), FoldDue::Held(HoldReason::NothingToGain));
    for event in raw(9, 1) {
        session.append(event);
    }
    assert_eq!(
        session.due(&budget, 0),
        FoldDue::Held(HoldReason::NothingToGain),
        "a little more is not enough"
    );
}

#[test]
fn undo_brings_back_every_byte_and_holds() {
    let mut session = session(default(), 12);
    let whole = session.view().bytes();
    let budget = window(&session, 90);
    session.context(&budget, 0).unwrap();
    let first = session.active().unwrap().id;
    let after_first = session.view().bytes();
    for event in raw(5, 8) {
        session.append(event);
    }
    session.compact(&budget, None).unwrap();
    let second = session.active().unwrap().id;
    assert_eq!(session.active().unwrap().prev, Some(first));
    session.undo(None).unwrap();
    assert!(session.view().bytes().starts_with(&after_first[..after_first.len() - 1]));
    session.undo(Some(first)).unwrap();
    assert!(session.view().bytes().starts_with(&whole[..whole.len() - 1]));
    assert_eq!(session.folds().len(), 2, "records stay");
    assert_eq!(session.undo(None), Err(UndoError::Nothing));
    let roomy = Budget::new(session.view().tokens() * 100 / 90);
    assert_eq!(session.due(&roomy, 0), FoldDue::Held(HoldReason::Undone));
    session.compact(&roomy, None).unwrap();
    assert!(session.undo(Some(second)).is_err(), "not on the way back any more");
}

#[test]
fn a_fork_shares_folds_and_nothing_else() {
    let mut session = session(default(), 12);
    let budget = window(&session, 90);
    session.context(&budget, 0).unwrap();
    let folded_at = session.log().len();
    let folded = session.view().bytes();
    for event in raw(5, 2) {
        session.append(event);
    }
    let whole = session.fork("whole", session.log().len());
    assert_eq!(whole.view().bytes(), session.view().bytes());
    let at = session.fork("at", folded_at);
    assert_eq!(at.view().bytes(), folded);
    let early = session.fork("early", folded_at - 1);
    assert!(early.folds().is_empty(), "the fold came after the fork's end");
    assert_eq!(early.log().len(), folded_at - 1);
    assert_eq!(early.log().head_hash(), session.log().hash_before(folded_at - 1));
}

#[test]
fn the_providers_count_anchors_the_estimate() {
    let mut session = session(default(), 12);
    let budget = window(&session, 50);
    let counted = session.context(&budget, 0).unwrap().tokens();
    // 20,000 tokens of tools that the host keeps to itself.
    session.observe(usage(counted + 20_000), 0);
    assert_eq!(session.load().estimate, counted + 20_000);
    let limit = Budget::new(counted + 20_100);
    session.context(&limit, 0).unwrap();
    assert_eq!(session.folds().len(), 1, "what is not in the log counts too");
    assert!(session.load().upper <= limit.tokens());
    session.update_model("other");
    assert_eq!(session.meter().unseen, 0);
}

#[test]
fn an_overflow_is_learned_from_compacted_and_never_resent_unchanged() {
    let mut session = session(default(), 12);
    let budget = window(&session, 60);
    let sent = session.context(&budget, 0).unwrap();
    let overflow =
        ReportedOverflow { have: Some(sent.tokens()), limit: Some(sent.tokens() * 8 / 10) };
    let retry = session.recover(&budget, overflow, 0).unwrap();
    assert_ne!(retry.bytes(), sent.bytes());
    assert!(retry.tokens() <= sent.tokens() * 8 / 10);
    assert_eq!(session.active().unwrap().cause, FoldCause::Overflow);
    assert_eq!(session.gate().learned_window, overflow.limit);
    assert_eq!(session.fork("another", 2).gate().learned_window, overflow.limit);
    assert_eq!(session.recover(&budget, overflow, 0).err(), Some(RecoverError::StillTooLong));
    session.observe(usage(retry.tokens()), 0);
    // Without a new message, too: what is sent next is smaller, until nothing smaller can be made. Then
    // the caller shows the provider's own error.
    let mut before = retry.tokens();
    let end = loop {
        match session.recover(&budget, ReportedOverflow::default(), 0) {
            Ok(again) => {
                assert!(again.tokens() < before);
                before = again.tokens();
                session.observe(usage(before), 0);
            }
            Err(end) => break end,
        }
    };
    assert!(matches!(end, RecoverError::Nothing(_) | RecoverError::Plan(_)), "{end:?}");
}

#[test]
fn an_overflow_without_numbers_makes_the_request_smaller() {
    let mut session = session(default(), 12);
    let budget = window(&session, 60);
    let sent = session.context(&budget, 0).unwrap();
    let retry = session.recover(&budget, ReportedOverflow::default(), 0).unwrap();
    assert!(retry.tokens() < sent.tokens() * 9 / 10);
}

#[test]
fn what_the_provider_counts_more_is_folded_away_without_a_new_message() {
    let mut session = session(default(), 12);
    let budget = window(&session, 110);
    let first = session.context(&budget, 0).unwrap();
    // What the host keeps to itself: the context does not fit beside it any more.
    session.observe(usage(budget.tokens() + first.tokens() / 4), 0);
    assert!(session.load().upper > budget.tokens());
    session.context(&budget, 0).unwrap();
    assert!(session.load().upper <= budget.tokens(), "{:?}", session.load());
    assert_eq!(session.folds().len(), 2);
}

#[test]
fn a_session_goes_on_from_its_kept_state() {
    let mut session = session(default(), 12);
    let budget = window(&session, 90);
    session.pin(4);
    session.update_model("gpt-5");
    session.context(&budget, 7).unwrap();
    session.observe(usage(session.view().tokens() + 900), 7);
    let kept = serde_json::to_string(&session.state()).unwrap();
    let state: SessionState = serde_json::from_str(&kept).unwrap();
    let active = session.active().map(|fold| fold.id);
    let mut again =
        Session::over("s", session.log().clone(), session.policy().clone(), Meter::exact())
            .with_folds(session.folds().to_vec(), active)
            .with_state(state);
    assert_eq!(again.status(&budget, 8), session.status(&budget, 8));
    assert_eq!(again.view().bytes(), session.view().bytes());
    for event in raw(5, 12) {
        session.append(event.clone());
        again.append(event);
    }
    let next = |s: &mut Session| s.context(&budget, 9).map(|context| context.bytes());
    assert_eq!(next(&mut again), next(&mut session));
    assert!(again.unpin(4) && !again.unpin(4));
}

#[test]
fn engines_are_chosen_by_policy() {
    let mut policy = default();
    policy.engine = EngineName::Passthrough;
    let through = session(policy, 12);
    let whole = through.view().bytes();
    let budget = window(&through, 200);
    let mut through = engine(through, budget.clone()).unwrap();
    assert_eq!(through.name(), "passthrough");
    assert_eq!(through.context(0).unwrap().bytes(), whole);
    assert_eq!(through.compact(None).unwrap(), PlanOutcome::Nothing(NoOp::Passthrough));
    // A fold from before the policy changed is not read through either.
    let mut folded = session(default(), 12);
    folded.compact(&budget, None).unwrap();
    assert!(folded.view().len() < folded.log().len());
    let passthrough = Policy { engine: EngineName::Passthrough, ..default() };
    folded.set_policy(passthrough, &budget).unwrap();
    let mut folded = engine(folded, budget.clone()).unwrap();
    assert_eq!(folded.context(0).unwrap().bytes(), whole);
    let mut midfold = engine(session(default(), 12), budget.clone()).unwrap();
    assert!(midfold.should_compact(None, 0).fires() && midfold.has_content());
    assert!(midfold.context(0).unwrap().tokens() <= budget.tokens());
    let status = midfold.status(0);
    assert_eq!((status.engine, status.compaction_count), ("midfold", 1));
    assert_eq!((status.context_length, status.last_prompt_tokens), (budget.window, 0));
    // A host's own figure decides, and a smaller model folds sooner.
    assert!(midfold.should_compact(Some(budget.tokens()), 0).fires());
    assert!(!midfold.should_compact(Some(1), 0).fires() && !midfold.should_compact_preflight(0));
    midfold.update_model("small", budget.window / 2);
    assert!(midfold.context(0).unwrap().tokens() <= budget.window / 2);
    assert_eq!((status.protect_first_n, status.protect_last_n), (0, 4));
    assert_eq!(midfold.tools(), "[]");
    for name in ["grep", "it's", "é \"x\"\n"] {
        let answer: serde_json::Value =
            serde_json::from_str(&midfold.call_tool(name, "{}")).unwrap();
        assert_eq!(answer["error"], format!("this engine has no tool `{name}`"));
    }
    assert_eq!(midfold.status(0).compression_count, midfold.status(0).compaction_count);
    midfold.reset();
    let status = midfold.status(0);
    assert_eq!(status.compression_count, 0, "of this conversation; the folds stay on record");
    assert_eq!((status.usage_percent, status.threshold_tokens), (0.0, status.threshold.tokens));
    midfold.start("s");
    midfold.end();
}

#[test]
fn engines_are_registered_by_name_and_never_ignored() {
    let mut policy = default();
    policy.engine = EngineName::Named("mine".to_owned());
    let named = session(policy.clone(), 12);
    let budget = window(&named, 200);
    let missing = engine(named, budget.clone()).err().unwrap().to_string();
    assert_eq!(missing, "there is no engine `mine`; there are midfold, passthrough");
    let mut engines = midfold::core::engine::EngineRegistry::builtin();
    engines.register("mine", |session, budget| Box::new(BuiltInEngine { session, budget }));
    assert!(engines.make(session(policy.clone(), 12), budget.clone()).is_ok());
    // Whoever plans by such a policy itself is told that it cannot.
    let refused = session(policy, 12).compact(&budget, None).unwrap_err().to_string();
    assert!(refused.contains("names the engine `mine`"), "{refused}");
    let text = "base = \"default\"\nengine = { command = [\"python\", \"engine.py\"] }";
    let outside = Policy::from_toml(text).unwrap();
    assert_eq!(outside.engine.to_string(), "python engine.py");
    assert_eq!(Policy::from_toml(&outside.to_toml()).unwrap(), outside);
}

#[test]
fn the_ladder_of_cooldowns() {
    let mut cooldown = midfold::core::trigger::ModelCooldown::default();
    for (round, rest) in [LADDER[0], LADDER[1], LADDER[2], LADDER[2]].into_iter().enumerate() {
        cooldown.note_failure(None, 1_000);
        assert_eq!(cooldown.left(1_000), rest, "failure {round}");
        assert_eq!(cooldown.left(1_000 + rest), 0);
    }
    assert_eq!(LADDER, [60_000, 300_000, 900_000]);
    cooldown.note_success();
    assert_eq!((cooldown.failures, cooldown.left(0)), (0, 0));
}

/// Answers the first question with this, and counts what it hears.
struct Host {
    decision: HookDecision,
    asked: AtomicUsize,
    folded: AtomicUsize,
    declined: AtomicUsize,
}

impl Host {
    fn of(decision: HookDecision) -> Arc<Self> {
        let zero = || AtomicUsize::new(0);
        Arc::new(Self { decision, asked: zero(), folded: zero(), declined: zero() })
    }
}

impl FoldHooks for Host {
    fn before_fold(&self, _: &EventLog, _: &Fold) -> HookDecision {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.decision.clone()
    }

    fn after_fold(&self, _: &EventLog, fold: &Fold) {
        assert!(fold.accounts.add_up());
        self.folded.fetch_add(1, Ordering::Relaxed);
    }

    fn declined(&self, _: &NoOp) {
        self.declined.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn hooks_cancel_preserve_and_replace() {
    let heard = |host: &Host| {
        [&host.asked, &host.folded, &host.declined].map(|n| n.load(Ordering::Relaxed))
    };
    let host = Host::of(HookDecision::Cancel);
    let mut cancelled = session(default(), 12).with_hooks(host.clone());
    let budget = window(&cancelled, 90);
    cancelled.context(&budget, 0).unwrap();
    assert_eq!((cancelled.folds().len(), heard(&host)), (0, [1, 0, 1]));
    let full = window(&cancelled, 120);
    cancelled.context(&full, 0).unwrap();
    assert_eq!(cancelled.folds().len(), 1, "a full window folds nevertheless");

    let host = Host::of(HookDecision::Preserve(vec![6]));
    let mut preserved = session(default(), 12).with_hooks(host.clone());
    let event = preserved.log().events()[6].bytes.clone();
    preserved.context(&budget, 0).unwrap();
    assert!(preserved.view().pieces().any(|piece| piece.bytes == event));
    assert_eq!(heard(&host), [2, 1, 0]);
    assert!(preserved.pins().is_empty(), "for this fold only");

    let secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
    let own = format!("## Handover\nall is well, the key is {secret}");
    let host = Host::of(HookDecision::Recap(own));
    let mut replaced = session(default(), 12).with_hooks(host);
    replaced.context(&budget, 0).unwrap();
    let text = String::from_utf8(replaced.view().bytes()).unwrap();
    assert!(text.contains("all is well") && !text.contains(secret));
    assert_eq!(replaced.active().unwrap().fallback.map(|stands| stands.as_str()), Some("host"));
}
