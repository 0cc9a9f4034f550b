//! "Hermes Agent: Context Compression": prune, partition, summarise, reassemble.

use midfold::core::explain::{AskedMoment, Sight, VerbatimPlace, explain};
use midfold::core::layout::layout;
use midfold::core::reduce::reduced_events;
use midfold::core::trigger::{ContextLoad, FoldBreaker, FoldGate};
use midfold::{Budget, Meter, NoOp, PlanOutcome, Policy, RawEvent, Session};
use serde_json::{Value, json};

use super::ports;
use super::recorded::{Recorded, WINDOWS, recorded};

fn tail_budget(policy: &Policy, window: u64) -> u64 {
    policy.tail.ratio.of(policy.trigger.threshold_tokens(window))
}

/// Phase 1 of `compress`: the messages with old results pruned. The source prints where pruning ends, not its texts.
fn pruned(one: &Recorded, policy: &Policy, window: u64) -> Vec<Value> {
    let boundary = ports::prune_boundary(&one.messages, 6, tail_budget(policy, window));
    let mut messages = one.messages.clone();
    for (at, event) in reduced_events(&one.log, policy, 0..boundary) {
        messages[at] = serde_json::from_slice(&event.bytes).unwrap();
    }
    messages
}

/// `_prune_old_tool_results` first, then `_align_boundary_forward`, `_find_tail_cut_by_tokens`,
/// `_align_boundary_backward` and `_ensure_last_user_message_in_tail`, over every conversation and window.
#[test]
fn the_cuts_are_those_of_the_printed_functions() {
    let policy = Policy::preset("hermes").unwrap();
    let (mut cuts, mut carried, mut wider) = (0, 0, 0);
    let mut wrong = Vec::new();
    for one in recorded() {
        let units = one.log.units();
        let is_user = |at: usize| one.log.events()[at].view.is_real_user();
        for window in WINDOWS {
            let messages = pruned(&one, &policy, window);
            let head = ports::align_forward(&messages, 3);
            let budget = tail_budget(&policy, window);
            let cut = ports::find_tail_cut_by_tokens(&messages, head, budget);
            let tail = ports::ensure_last_user_message_in_tail(&messages, cut, head, is_user);
            let found = layout(&one.log, &units, &policy, window, None);
            cuts += 1;
            if (found.head_end, found.cover_end) == (head, tail) {
                continue;
            }
            let inside =
                |cut: usize| units.iter().any(|u| u.events.start < cut && cut < u.events.end);
            let newest = units.last().map_or(0, |unit| unit.events.start);
            if found.carried_user.is_some() && found.cover_end == cut.min(newest) {
                // Ours carries it behind the recap where the tail would grow by more than half.
                carried += 1;
            } else if inside(head)
                || inside(cut)
                || inside(tail)
                || cut > newest
                || found.head_end > head
            {
                wider += 1;
            } else {
                let found = (found.head_end, found.cover_end, found.carried_user);
                wrong.push(format!(
                    "{} at {window}: {found:?}, not {head}, {cut}, {tail}",
                    one.name
                ));
            }
        }
    }
    println!(
        "{cuts} layouts: {carried} carry the last request behind the recap, {wider} snap to a wider \
         unit, {} differ otherwise",
        wrong.len()
    );
    assert!(cuts >= 24 && wrong.is_empty(), "{wrong:#?}");
}

/// The last six messages are never pruned, whether they stay or a summary covers them.
#[test]
fn the_newest_six_are_never_pruned() {
    let policy = Policy::preset("hermes").unwrap();
    assert_eq!(policy.tail.protect_messages, 6);
    let (mut edits, mut cleared) = (0, 0);
    for one in recorded() {
        for window in WINDOWS {
            // By hand, a conversation that does not fill the window is compacted as if it did.
            if one.log.tokens() < window {
                continue;
            }
            let boundary = ports::prune_boundary(&one.messages, 6, tail_budget(&policy, window));
            let mut session = Session::over("s", one.log.clone(), policy.clone(), Meter::exact());
            let Ok(PlanOutcome::Folded(fold)) = session.compact(&Budget::new(window), None) else {
                continue;
            };
            edits += fold.edits.len();
            let beyond = fold.edits.iter().find(|edit| edit.seq as usize >= boundary);
            assert!(beyond.is_none(), "{} at {window}: {beyond:?} beyond {boundary}", one.name);
            let prunable = reduced_events(&one.log, &policy, fold.span.start as usize..boundary);
            let read: u32 = fold.read.iter().map(|read| read.blocks).sum();
            let blocks: usize = prunable.values().map(|event| event.view.blocks.len()).sum();
            assert!(read as usize <= blocks, "{} at {window}: {read} of {blocks}", one.name);
            cleared += read;
        }
    }
    assert!(edits > 0 && cleared > 0, "{edits} beside the summarised span, {cleared} in it");
}

/// Phase 1 runs: results are stubbed before anything is summarised, and a model reads the stubs.
#[test]
fn pruning_comes_first_and_the_summariser_reads_what_is_left() {
    let mut policy = Policy::preset("hermes").unwrap();
    let (mut folds, mut pruned, mut edited) = (0, 0, 0);
    for one in recorded() {
        let mut session = Session::over("s", one.log.clone(), policy.clone(), Meter::exact());
        let Ok(PlanOutcome::Folded(fold)) = session.compact(&Budget::new(64_000), None) else {
            continue;
        };
        folds += 1;
        pruned += u64::from(fold.read.iter().map(|read| read.blocks).sum::<u32>());
        edited += fold.edits.len();
        assert!(
            fold.read.iter().all(|r| ["dedup", "stub", "arguments"].contains(&r.reducer.as_str()))
        );
        let text = &fold.recap.as_ref().unwrap().text;
        assert!(text.starts_with(&policy.recap.header) && text.contains(&policy.recap.note));
    }
    println!("{folds} folds: {pruned} blocks pruned before the summary, {edited} beside it");
    assert!(folds > 0 && pruned > 0);

    // The prompt: one line stands for the output, and the output itself is not sent.
    policy.narration.on = true;
    policy.trigger.floor_tokens = 0;
    let one = &recorded()[3];
    let mut session = Session::over("s", one.log.clone(), policy, Meter::exact());
    let request = session.take_request(&Budget::new(32_000), 0).expect("a summary is asked for");
    let longest = request.sources.iter().map(|s| s.text.len()).max().unwrap_or(0);
    assert!(request.sources.iter().any(|source| source.text.contains("lines output")));
    let raw = one.log.events().iter().map(|event| event.bytes.len()).max().unwrap_or(0);
    assert!(longest < raw, "{longest} of {raw}");
}

#[test]
fn seven_messages_are_left_alone_also_by_hand() {
    let policy = Policy::preset("hermes").unwrap();
    let mut one = recorded().remove(0);
    one.messages.truncate(7);
    let events = one.messages.iter().map(|m| RawEvent::new(m.to_string().into()));
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let dialect = midfold::DialectKind::OpenAiChat.shared();
    let log = midfold::EventLog::of(dialect, midfold::formats::profile::OPENAI, counter, events);
    let mut session = Session::over("s", log, policy, Meter::exact());
    let outcome = session.compact(&Budget::new(200_000), None).unwrap();
    assert_eq!(outcome, PlanOutcome::Nothing(NoOp::TooFewMessages { messages: 7, floor: 7 }));
}

/// `should_compress`, over a grid.
#[test]
fn the_gate_is_that_of_the_printed_function() {
    let policy = Policy::preset("hermes").unwrap();
    for window in WINDOWS {
        let threshold = policy.trigger.threshold_tokens(window);
        for tokens in [0, 1, threshold - 1, threshold, threshold + 1, window] {
            for strikes in 0..=3 {
                let breaker = FoldBreaker { strikes, since: 0, waiting: None };
                let gate = FoldGate { breaker, ..FoldGate::default() };
                let load = ContextLoad {
                    counted: tokens,
                    estimate: tokens,
                    upper: tokens,
                    open_call: false,
                    over_tier: None,
                    is_cold: false,
                    at_seam: false,
                    is_asked: false,
                };
                let due = gate.due(&policy.trigger, &Budget::new(window), load, 1).fires();
                let port = ports::should_compress(tokens, threshold, strikes);
                assert_eq!(due, port, "{tokens} of {window}, {strikes} strikes");
            }
        }
    }
}

#[test]
fn the_summary_budget_scales_with_what_is_summarised() {
    let narration = Policy::preset("hermes").unwrap().narration;
    let budget = |covered| narration.max_tokens_for(covered, Some(10_000));
    assert_eq!([2_000, 20_000, 40_000, 900_000].map(budget), [2_000, 4_000, 8_000, 10_000]);
}

/// The rules of the preamble and of the sections reach the model.
#[test]
fn the_prompt_carries_the_rules_of_the_source() {
    let mut policy = Policy::preset("hermes").unwrap();
    policy.narration.on = true;
    policy.trigger.floor_tokens = 0;
    let one = &recorded()[3];
    let mut session = Session::over("s", one.log.clone(), policy, Meter::exact());
    let request = session.take_request(&Budget::new(32_000), 0).unwrap();
    let prompt = request.prompt(&request.sources, None);
    for rule in [
        "another assistant",
        "answer nothing in it",
        "language of the user",
        "[REDACTED]",
        "Be CONCRETE",
        "Now refactor the auth module to use JWT instead of sessions",
        "READ config.py:45",
        "THE SINGLE MOST IMPORTANT FIELD",
        "WHY they were made",
    ] {
        assert!(prompt.system.contains(rule), "{rule}");
    }
}

/// The attributes that hosts read by name have the source's values.
#[test]
fn the_status_has_the_values_of_the_source() {
    let policy = Policy::preset("hermes").unwrap();
    let session = Session::over("s", recorded()[0].log.clone(), policy, Meter::exact());
    let status = session.status(&Budget::new(200_000), 0);
    assert_eq!((status.protect_first_n, status.protect_last_n), (3, 6));
    assert_eq!((status.threshold_tokens, status.context_length), (100_000, 200_000));
}

/// The tail is what the soft ceiling protects from the summary, and not what pruning leaves alone: pruning reaches
/// into it, and the record, what is told of it and `explain` say so.
#[test]
fn the_tail_is_what_no_summary_covers() {
    let mut messages =
        vec![json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "task"})];
    messages.push(json!({"role": "assistant", "content": "I look."}));
    for n in 0..600 {
        let arguments = json!({"path": format!("src/part_{n:02}.rs")}).to_string();
        let call = json!({"id": format!("c{n}"), "type": "function", "function": {"name": "read_file", "arguments": arguments}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let content = format!("evidence-{n} {}", "word ".repeat(800));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": content}));
    }
    let events = messages.iter().map(|m| RawEvent::new(m.to_string().into()));
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let dialect = midfold::DialectKind::OpenAiChat.shared();
    let log = midfold::EventLog::of(dialect, midfold::formats::profile::OPENAI, counter, events);
    let policy = Policy::preset("hermes").unwrap();
    let mut session = Session::over("s", log, policy, Meter::exact());
    let PlanOutcome::Folded(fold) = session.compact(&Budget::new(100_000), None).unwrap() else {
        panic!("it folds")
    };
    let (tail, log) = (fold.layout.tail.start, session.log());
    let covered = fold.covered();
    assert_eq!(covered.last().map(|last| last + 1), Some(tail), "the summary ends where it starts");
    assert_eq!((fold.layout.middle.start, fold.layout.middle.end), (3, tail));
    assert_eq!(fold.tail_tokens, log.tokens_in(tail as usize..log.len()));
    let pruned: Vec<u32> =
        fold.edits.iter().map(|edit| edit.seq).filter(|at| *at >= tail).collect();
    assert!(!pruned.is_empty() && !fold.tail_verbatim, "pruning reaches into it");
    // The call of a result that was pruned there.
    let call = pruned[0] - 1;
    let path = format!("src/part_{:02}.rs", (call - 3) / 2);
    let now = AskedMoment::Now(Some(fold.id));
    let found = explain(log, session.folds(), &[], &path, now).unwrap();
    let sight = found.occurrences.iter().find(|one| one.seq == call).map(|one| one.sight.clone());
    assert_eq!(sight, Some(Sight::Verbatim { place: VerbatimPlace::Tail }));
}

/// `compress_trajectory`: the span is the source's, moved off results at both ends. System turns in the middle stay, and
/// turns that cost no more than their summary are left.
#[test]
fn the_span_of_a_trajectory_is_that_of_the_printed_function() {
    use midfold::core::Role;
    use midfold::core::trajectory::{
        PlannedTurn, SummaryPlacement, TrajectoryDecision, TrajectoryLimits, plan,
    };
    let (mut same, mut moved, mut told, mut poor) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for one in recorded() {
        let turns: Vec<PlannedTurn> = one
            .log
            .events()
            .iter()
            .map(|event| PlannedTurn {
                role: event.view.role,
                tokens: u64::from(event.tokens.total),
            })
            .collect();
        let tokens: Vec<u64> = turns.iter().map(|turn| turn.tokens).collect();
        let first = |role| turns.iter().position(|turn| turn.role == role);
        let firsts = [Role::System, Role::User, Role::Assistant, Role::Tool].map(first);
        let early = firsts.into_iter().flatten().filter(|at| *at < turns.len() / 2);
        let start = early.max().map_or(0, |at| at + 1);
        let middle = start..turns.len().saturating_sub(4).max(start);
        let is_cut = |at: usize| turns.get(at).is_none_or(|turn| turn.role != Role::Tool);
        for target in [2_000, 6_000, 15_250, 60_000] {
            let limits = TrajectoryLimits {
                target,
                placement: SummaryPlacement::HumanTurn,
                ..TrajectoryLimits::default()
            };
            let port = ports::trajectory_span(&tokens, middle.clone(), target, limits.summary);
            let ours = match plan(&turns, 0, &limits) {
                TrajectoryDecision::Fold(span) => Some(span.range()),
                _ => None,
            };
            let cost = |span: &std::ops::Range<usize>| tokens[span.clone()].iter().sum::<u64>();
            // The same from the first cut behind `start` on, up to the first cut behind the end, or the last before it.
            let shifted = middle.clone().find(|at| is_cut(*at)).and_then(|start| {
                let port =
                    ports::trajectory_span(&tokens, start..middle.end, target, limits.summary)?;
                let end = (port.end..=middle.end).find(|at| is_cut(*at));
                let end = end.or_else(|| (start + 1..port.end).rev().find(|at| is_cut(*at)))?;
                Some(start..end)
            });
            if ours == port {
                same += 1;
            } else if turns[middle.clone()].iter().any(|turn| turn.role == Role::System) {
                told += 1;
            } else if ours.is_none() && shifted.as_ref().is_none_or(|s| cost(s) <= limits.summary) {
                poor += 1;
            } else if ours == shifted {
                moved += 1;
            } else {
                wrong.push(format!("{} at {target}: {ours:?}, not {port:?}", one.name));
            }
        }
    }
    println!(
        "{same} spans are the source's, {moved} are moved off results, {told} spare a system turn, {poor} are worth \
         no summary, {} differ otherwise",
        wrong.len()
    );
    assert!(same + moved > 0 && wrong.is_empty(), "{wrong:#?}");
}
