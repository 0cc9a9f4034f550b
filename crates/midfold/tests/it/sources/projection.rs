//! "Compaction as a projection": free reducers always, a summary of what is still over, tiers.

use midfold::core::budget::{Ratio, TierName};
use midfold::core::trigger::{FoldDue, LineRule};
use midfold::{Budget, EventLog, Meter, PlanOutcome, Policy, RawEvent, Session};
use serde_json::{Value, json};

use super::recorded::recorded;

fn log(messages: &[Value]) -> EventLog {
    let events = messages.iter().map(|m| RawEvent::new(m.to_string().into()));
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let dialect = midfold::DialectKind::OpenAiChat.shared();
    EventLog::of(dialect, midfold::formats::profile::OPENAI, counter, events)
}

fn call(n: usize, tool: &str, words: usize) -> [Value; 2] {
    let function =
        json!({"name": tool, "arguments": json!({"query": format!("q{n}")}).to_string()});
    [
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{n}"), "type": "function", "function": function}]}),
        json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": "word ".repeat(words)}),
    ]
}

fn start() -> Vec<Value> {
    vec![
        json!({"role": "system", "content": "s"}),
        json!({"role": "user", "content": "Find the leak."}),
    ]
}

/// Where expiry alone reaches the target nothing is summarised, by hand or not, and no model is asked.
#[test]
fn what_reducers_can_do_is_not_summarised() {
    let mut messages = start();
    for n in 0..30 {
        messages.extend(call(n, "grep", 300));
    }
    let mut policy = Policy::preset("projection").unwrap();
    policy.narration.on = true;
    let budget = Budget::new(14_000);
    let mut session = Session::over("s", log(&messages), policy.clone(), Meter::exact());
    assert!(session.take_request(&budget, 0).is_none(), "retention alone suffices");
    let PlanOutcome::Folded(fold) = session.compact(&budget, None).unwrap() else {
        panic!("it folds")
    };
    assert_eq!(fold.accounts.recap, 0, "nothing is covered");
    assert!(fold.edits.len() >= 19, "{} edits", fold.edits.len());
    assert!(fold.edits.iter().all(|edit| edit.reducer.as_str() == "retain"));

    // What is still over is summarised: only the oldest part.
    let prose = |n: usize| json!({"role": "assistant", "content": format!("Thought {n}. {}", "word ".repeat(300))});
    messages.extend((0..30).map(prose));
    let mut session = Session::over("s", log(&messages), policy, Meter::exact());
    let request = session.take_request(&budget, 0).expect("the overflow is to be narrated");
    let PlanOutcome::Folded(fold) = session.compact(&budget, None).unwrap() else {
        panic!("it folds")
    };
    assert!(fold.accounts.recap > 0 && (fold.accounts.recap as usize) < messages.len() - 6);
    assert_eq!(request.span.start, fold.span.start);
    assert!(request.span.end < fold.span.end, "the newest dialogue is not asked about");
}

#[test]
fn presets_do_what_they_say_on_recorded_conversations() {
    println!(
        "| preset | folds | edits (reducer: blocks) | pruned before the recap | covered | verbatim |"
    );
    for name in Policy::preset_names() {
        let policy = Policy::preset(name).unwrap();
        let (mut folds, mut covered, mut verbatim) = (0u64, 0u64, 0u64);
        let mut edits = std::collections::BTreeMap::<String, u64>::new();
        let mut read = std::collections::BTreeMap::<String, u64>::new();
        for one in recorded() {
            for window in [16_000, 32_000, 64_000] {
                if one.log.tokens() * 10 < window * 12 {
                    continue;
                }
                let mut session =
                    Session::over("s", one.log.clone(), policy.clone(), Meter::exact());
                let Ok(PlanOutcome::Folded(fold)) = session.compact(&Budget::new(window), None)
                else {
                    continue;
                };
                folds += 1;
                covered += u64::from(fold.accounts.recap + fold.accounts.marker);
                verbatim += u64::from(fold.accounts.verbatim);
                for edit in &fold.edits {
                    *edits.entry(edit.reducer.to_string()).or_default() += 1;
                }
                for pruned in &fold.read {
                    *read.entry(pruned.reducer.to_string()).or_default() +=
                        u64::from(pruned.blocks);
                }
            }
        }
        let list = |sums: &std::collections::BTreeMap<String, u64>| {
            let each: Vec<_> = sums.iter().map(|(name, n)| format!("{name}: {n}")).collect();
            if each.is_empty() { "none".to_owned() } else { each.join(", ") }
        };
        println!(
            "| `{name}` | {folds} | {} | {} | {covered} | {verbatim} |",
            list(&edits),
            list(&read)
        );
        assert!(folds > 0, "{name}");
        // A preset that lists a reducer runs it.
        let listed: Vec<&str> =
            policy.reducers.iter().map(|r| r.as_str()).filter(|r| *r != "recap").collect();
        let ran = edits.len() + read.len() > 0;
        assert_eq!(ran, !listed.is_empty(), "{name}: {listed:?}");
        assert!(
            edits.keys().chain(read.keys()).all(|ran| listed.contains(&ran.as_str())),
            "{name}"
        );
    }
}

/// A window is a cap on the dialogue of the whole context, the tail's included.
#[test]
fn the_window_counts_the_tail() {
    let dialogue = |n: usize| {
        let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
        json!({"role": role, "content": format!("Part {n}. {}", "word ".repeat(80))})
    };
    let mut messages = start();
    messages.extend((0..40).map(dialogue));
    let kept = |window: &str| {
        let text = format!("base = \"projection\"\nreducers = [\"window\"]\n[window]\n{window}");
        let policy = Policy::from_toml(&text).unwrap();
        let mut session = Session::over("s", log(&messages), policy, Meter::exact());
        session.compact(&Budget::new(8_000), None).unwrap();
        let sent: Vec<Value> = serde_json::from_slice(&session.view().bytes()).unwrap();
        let said = |m: &&Value| m["content"].as_str().is_some_and(|text| text.starts_with("Part"));
        sent.iter().filter(said).count()
    };
    // The tail alone holds more than 200 tokens: nothing before it stays.
    let tail = kept("tokens = 200");
    assert!((4..=20).contains(&tail), "{tail}");
    assert_eq!(kept("tokens = 1"), tail, "the tail itself is never edited");
    assert_eq!(kept("turns = 2"), tail, "two turns are less than the tail holds");
    assert!(kept("turns = 12") > tail);
}

/// One fat result starves the dialogue, and does not with a tier.
#[test]
fn a_tier_keeps_results_from_starving_the_dialogue() {
    let mut messages = start();
    for n in 0..6 {
        messages.extend(call(n, "fetch", 1_600));
        messages.push(json!({"role": "assistant", "content": format!("Finding {n}: the leak is in part {n}.")}));
    }
    let text = |tiers: &str| format!("base = \"projection\"\nreducers = [\"recap\"]\n{tiers}");
    let run = |policy: Policy, budget: &Budget| {
        let mut session = Session::over("s", log(&messages), policy, Meter::exact());
        let due = session.due(budget, 0);
        let context = session.context(budget, 0).unwrap();
        let findings = context
            .pieces()
            .filter(|p| String::from_utf8_lossy(&p.bytes).starts_with("{\"content\":\"Finding"))
            .count();
        (due, findings, session)
    };
    let mut budget = Budget::new(20_000);
    // Below the threshold: nothing happens, and results take most of the context.
    let (due, _, session) = run(Policy::from_toml(&text("")).unwrap(), &budget);
    assert!(matches!(due, FoldDue::Below(_)), "{due:?}");
    assert!(session.tier_tokens(TierName::Results) > 9_000);
    // With the tier of the policy it is evicted early, from the oldest on, and no word is lost.
    let tiers = "[budget.tiers]\nresults = 0.30";
    let (due, findings, session) = run(Policy::from_toml(&text(tiers)).unwrap(), &budget);
    assert!(
        matches!(due, FoldDue::Threshold(line) if line.rule == LineRule::Tier(TierName::Results))
    );
    assert!(session.tier_tokens(TierName::Results) <= 6_000);
    let fold = session.active().unwrap();
    assert_eq!(fold.cause, midfold::core::plan::FoldCause::Tier);
    assert!(fold.edits.iter().all(|e| e.reason == "tier-results"), "{:?}", fold.edits);
    assert_eq!((findings, fold.accounts.recap), (6, 0), "the dialogue stays whole");
    assert_eq!(fold.budget.tiers[&TierName::Results], Ratio(3_000), "named in the record");
    // The budget's own tier wins over the policy's.
    budget.tiers.insert(TierName::Results, Ratio(9_000));
    let (due, ..) = run(Policy::from_toml(&text(tiers)).unwrap(), &budget);
    assert!(matches!(due, FoldDue::Below(_)), "{due:?}");
}

/// In a window that is too small the tier that is over is named in the error.
#[test]
fn a_floor_names_the_tier_that_is_over() {
    let mut messages = start();
    messages.extend(call(0, "fetch", 4_000));
    let policy =
        Policy::from_toml("base = \"projection\"\n[budget.tiers]\nresults = 0.30").unwrap();
    let mut session = Session::over("s", log(&messages), policy, Meter::exact());
    let error = session.context(&Budget::new(6_000), 0).unwrap_err().to_string();
    assert!(error.contains("results take") && error.contains("budget.tiers.results"), "{error}");
}

/// "If still over budget, summarise the overflow": what is below the line is not summarised, by hand
/// neither.
#[test]
fn only_what_is_over_the_budget_is_summarised() {
    let prose = |n: usize| json!({"role": "assistant", "content": format!("Thought {n}. {}", "word ".repeat(300))});
    let policy = Policy::preset("projection").unwrap();
    for (count, folds) in [(20, false), (26, true)] {
        let mut messages = start();
        messages.extend((0..count).map(prose));
        let log = log(&messages);
        // 8,000 and 10,400 tokens of a budget of 12,000, whose line is at 9,600.
        let budget = Budget::new(14_000);
        let mut session = Session::over("s", log, policy.clone(), Meter::exact());
        let outcome = session.compact(&budget, None).unwrap();
        assert_eq!(matches!(outcome, PlanOutcome::Folded(_)), folds, "{count}: {outcome:?}");
        if let PlanOutcome::Folded(fold) = outcome {
            assert!(fold.accounts.recap > 0 && fold.tokens_after >= 4_500, "{}", fold.tokens_after);
        }
    }
    // Free reducers come first: where they bring it below the line, nothing is summarised although
    // the target is not reached.
    let mut messages = start();
    for n in 0..8 {
        messages.extend(call(n, "grep", 500));
    }
    messages.extend((0..18).map(prose));
    let mut session = Session::over("s", log(&messages), policy, Meter::exact());
    session.context(&Budget::new(14_000), 0).unwrap();
    let fold = session.active().unwrap();
    assert!(!fold.edits.is_empty() && fold.accounts.recap == 0, "{:?}", fold.accounts);
    assert!(fold.tokens_after < 9_600, "{}", fold.tokens_after);
}

/// "Results that are durable facts": no recap takes their place, unless they do not fit.
#[test]
fn durable_results_stay_beside_a_recap() {
    let mut messages = start();
    messages.extend(call(99, "facts", 100));
    for n in 0..20 {
        messages.extend(call(n, "grep", 300));
        messages.push(json!({"role": "assistant", "content": format!("Thought {n}. {}", "word ".repeat(500))}));
    }
    for (preset, named) in [
        ("projection", "[retain]\nnever_evict = [\"facts\"]"),
        ("default", "[[retain.tools]]\nnames = [\"facts\"]\nnever_evict = true"),
    ] {
        let policy = Policy::from_toml(&format!("base = \"{preset}\"\n{named}")).unwrap();
        let mut session = Session::over("s", log(&messages), policy.clone(), Meter::exact());
        session.context(&Budget::new(12_000), 0).unwrap();
        let fold = session.active().unwrap();
        assert!(fold.accounts.recap > 0, "{preset}");
        let fate = midfold::core::project::PieceFate::Verbatim(3);
        assert!(
            session.view().pieces().any(|piece| piece.fate == fate),
            "{preset}: the fact stays"
        );
        assert!(fold.layout.pinned.contains(&3), "{preset}: and the record says so");
    }
    // A fact that is larger than the window cannot stay.
    let mut messages = start();
    messages.extend(call(99, "facts", 9_000));
    messages.extend((0..10).flat_map(|n| call(n, "grep", 100)));
    let policy =
        Policy::from_toml("base = \"default\"\n[retain]\nnever_evict = [\"facts\"]").unwrap();
    let mut session = Session::over("s", log(&messages), policy, Meter::exact());
    assert!(session.context(&Budget::new(6_000), 0).unwrap().tokens() <= 6_000);
}

/// `--if-needed`: a class of content that is over its cap is a need.
#[test]
fn a_tier_makes_a_compaction_needed() {
    let mut messages = start();
    messages.extend((0..6).flat_map(|n| call(n, "fetch", 1_600)));
    let log = log(&messages);
    let budget = Budget::new(20_000);
    for (tiers, needed) in [("", false), ("[budget.tiers]\nresults = 0.30", true)] {
        let policy = Policy::from_toml(&format!("base = \"projection\"\n{tiers}")).unwrap();
        let request = midfold::core::plan::PlanRequest::new(&log, &policy, &budget, Meter::exact());
        let outcome = midfold::core::plan::plan(&request).unwrap();
        assert_eq!(matches!(outcome, PlanOutcome::Folded(_)), needed, "{tiers}: {outcome:?}");
    }
}
