//! What always holds, over sessions as they should be and as they should never be, in
//! every dialect, under every profile and preset.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

mod input;
mod keeping;
mod two_reducers;
mod waiting;

use std::collections::VecDeque;

use bytes::Bytes;
use input::{Input, counter, hostile, input, log, open, session, wires};
use midfold::core::engine::{BriefReading, BriefSession, kept_ranges};
use midfold::core::log::Event;
use midfold::core::project::project;
use midfold::core::repair::RepairReason;
use midfold::core::verify::{ProofCase, verify};
use midfold::core::{BlockKind, Role};
use midfold::formats::verify::validator;
use midfold::{
    Budget, Context, DialectKind, Fold, Meter, NoOp, PieceFate, PlanError, PlanOutcome, Policy,
    ProviderProfile, RawEvent, Session,
};
use midfold_testkit::Rng;
use proptest::prelude::*;

fn bytes(context: &Context) -> Vec<Bytes> {
    context.pieces().map(|piece| piece.bytes.clone()).collect()
}

/// Valid, within budget, and proved from the outside.
fn prove(input: &Input, session: &Session, budget: &Budget, fold: Option<&Fold>) {
    let context = session.view();
    let before: Vec<Bytes> = session.log().events().iter().map(|e| e.bytes.clone()).collect();
    let after = bytes(&context);
    let validate = validator(input.wire.kind, input.wire.profile);
    let policy = input.policy();
    let counter = counter();
    let report = verify(&ProofCase {
        before: &before,
        after: &after,
        envelope: &[],
        dialect: input.wire.kind.dialect(),
        counter: &*counter,
        validate: &validate,
        budget: Some(budget.tokens() - policy.trigger.injection_reserve),
        fold,
    });
    assert!(report.is_clean(), "{:#?}", report.findings);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// 2, 3, 4, 5, 8, 10, 11, 12: whatever comes in, a fold is proved, or the floor is named.
    #[test]
    fn a_fold_is_proved_or_its_floor_is_named(input in input()) {
        let (mut session, budget) = open(&input);
        let outcome = match session.compact(&budget, None) {
            Err(PlanError::Floor(floor)) => {
                // What was put in as pins, or comes in one piece, may be too large; nothing else.
                prop_assert!(floor.needed > floor.limit, "{floor}");
                return Ok(());
            }
            other => other.unwrap(),
        };
        let PlanOutcome::Folded(fold) = outcome else {
            prove(&input, &session, &budget, None);
            return Ok(());
        };
        prove(&input, &session, &budget, Some(&fold));
        same_slices(&session, &fold);
        only_the_middle(&fold);
        twice_is_once(&mut session, &budget);
        let (mut again, _) = open(&input);
        let Ok(PlanOutcome::Folded(same)) = again.compact(&budget, None) else { panic!("no fold") };
        prop_assert_eq!(same, fold, "not deterministic");
    }

    /// 4: units partition the log, and no cut between two of them splits a call from its results.
    #[test]
    fn units_never_split(input in input()) {
        let log = log(input.wire, &input.messages);
        let units = log.units();
        let mut next = 0;
        for unit in &units {
            prop_assert_eq!(unit.events.start, next);
            prop_assert!(unit.events.end > next);
            next = unit.events.end;
        }
        prop_assert_eq!(next, log.len());
        let unit_of = |at: usize| units.partition_point(|unit| unit.events.end <= at);
        for (call, result) in pairs(log.events(), &input.wire.profile) {
            prop_assert_eq!(unit_of(call), unit_of(result), "{} and {}", call, result);
        }
    }

    /// 6, 7: a context that grows is the one that is built from scratch, and only grows.
    #[test]
    fn incremental_is_from_scratch(input in input(), folds in proptest::collection::vec(0..60usize, 0..3)) {
        let empty = Input { messages: Vec::new(), ..input.clone() };
        let (mut session, _) = open(&empty);
        let budget = open(&input).1;
        let mut before = bytes(&session.view());
        for (at, message) in input.messages.iter().enumerate() {
            session.append(RawEvent::new(message.clone()));
            let grown = bytes(&session.view());
            prop_assert!(grown.starts_with(&before), "message {}: sent bytes changed", at);
            before = grown;
            if folds.contains(&at) && session.compact(&budget, None).is_ok() {
                before = bytes(&session.view());
            }
            if at % 7 == 0 || at + 1 == input.messages.len() {
                let scratch = project(session.log(), session.folds().last());
                prop_assert_eq!(&before, &bytes(&scratch));
                prop_assert_eq!(session.view().tokens(), scratch.tokens());
            }
        }
    }

    /// What a store loads in O(tail) renders to the bytes of the whole session, and goes on alike.
    #[test]
    fn brief_is_whole(input in input(), cut in 0..60usize) {
        let empty = Input { messages: Vec::new(), ..input.clone() };
        let (mut session, budget) = open(&empty);
        let cut = cut.min(input.messages.len());
        for message in &input.messages[..cut] {
            session.append(RawEvent::new(message.clone()));
        }
        let Ok(PlanOutcome::Folded(fold)) = session.compact(&budget, None) else { return Ok(()) };
        let mut brief = brief(&session, &fold);
        prop_assert_eq!(bytes(&brief.view()), bytes(&session.view()));
        for message in &input.messages[cut..] {
            let seq = session.append(RawEvent::new(message.clone()));
            prop_assert_eq!(brief.append(RawEvent::new(message.clone())), seq);
        }
        let (context, whole) = (brief.view(), session.view());
        prop_assert_eq!(bytes(&context), bytes(&whole));
        prop_assert_eq!(context.tokens(), whole.tokens());
        let fates = |context: &Context| context.pieces().map(|p| p.fate).collect::<Vec<_>>();
        prop_assert_eq!(fates(&context), fates(&whole));
        prop_assert_eq!(brief.head_hash(), session.log().head_hash());
        prop_assert_eq!(brief.turn(), session.log().events().last().map_or(0, |event| event.turn));
        prop_assert_eq!(brief.due(&budget, 0), session.due(&budget, 0));
    }

    /// A second fold, which goes on from what the first one gathered, is the fold that a session
    /// which never folded in this process makes.
    #[test]
    fn a_later_fold_does_not_depend_on_memory(input in input(), cut in 4..60usize) {
        let (mut warm, budget) = open(&Input { messages: Vec::new(), ..input.clone() });
        let cut = cut.min(input.messages.len());
        for (at, message) in input.messages.iter().enumerate() {
            warm.append(RawEvent::new(message.clone()));
            if at == cut / 2 || at == cut {
                let _ = warm.compact(&budget, None);
            }
        }
        let mut cold = Session::over(
            warm.id(), warm.log().clone(), warm.policy().clone(), *warm.meter(),
        )
        .with_folds(warm.folds().to_vec(), warm.active().map(|fold| fold.id))
        .with_state(warm.state());
        prop_assert_eq!(warm.compact(&budget, None), cold.compact(&budget, None));
    }

    /// Results of parallel calls may come in any order.
    #[test]
    fn results_come_in_any_order(wire in 0..wires().len(), seed: u64) {
        let wire = wires()[wire];
        let mut messages = session(wire.kind, seed, 1);
        let dialect = wire.kind.dialect();
        let is_result: Vec<bool> = messages.iter().map(|m| dialect.view(m).has_results()).collect();
        let rng = &mut Rng::new(seed);
        for at in 1..messages.len() {
            if is_result[at] && is_result[at - 1] && rng.chance(50) {
                messages.swap(at, at - 1);
            }
        }
        let input = Input { wire, messages, preset: "default", window: 60, pins: Vec::new() };
        let (session, _) = open(&input);
        // A model that wants its reasoning back gets a blank one where a message has none; the order asks for nothing.
        let view = session.view();
        let repaired = view.pieces().find(|piece| !matches!(
            piece.fate,
            PieceFate::Verbatim(_) | PieceFate::Repaired(_, RepairReason::BlankReasoning)
        ));
        prop_assert!(repaired.is_none(), "{:?}", repaired);
        let (mut session, budget) = open(&input);
        if let Ok(PlanOutcome::Folded(fold)) = session.compact(&budget, None) {
            prove(&input, &session, &budget, Some(&fold));
        }
    }
}

/// The session as a store loads it: without the events that the fold covers.
fn brief(session: &Session, fold: &Fold) -> BriefSession {
    let log = session.log();
    let raw = |range: std::ops::Range<u32>| -> Vec<RawEvent> {
        let events = &log.events()[range.start as usize..range.end as usize];
        events.iter().map(|event| RawEvent::new(event.bytes.clone())).collect()
    };
    let reading = BriefReading {
        dialect: log.dialect().clone(),
        profile: *log.profile(),
        counter: log.counter().clone(),
    };
    BriefSession::new(
        session.id(),
        session.policy().clone(),
        reading,
        session.state(),
        fold.clone(),
        raw(0..fold.span.start),
        kept_ranges(fold).into_iter().flat_map(raw).collect(),
        raw(fold.span.end..u32::try_from(log.len()).unwrap()),
        log.events().last().map_or(0, |event| event.turn),
        log.head_hash(),
    )
    .unwrap()
}

/// Head and tail are the log's own buffers, but for recorded repairs.
fn same_slices(session: &Session, fold: &Fold) {
    let events = session.log().events();
    let mut same = vec![false; events.len()];
    for piece in session.view().pieces() {
        if let PieceFate::Verbatim(seq) = piece.fate {
            let event = &events[seq as usize].bytes;
            assert!(std::ptr::eq(event.as_ptr(), piece.bytes.as_ptr()));
            assert_eq!(event.len(), piece.bytes.len());
            same[seq as usize] = true;
        }
    }
    let (start, end) = (fold.span.start as usize, fold.span.end as usize);
    for at in (0..start).chain(end..events.len()) {
        let repaired = fold.repairs.iter().any(|repair| repair.seq == Some(at as u32));
        assert!(same[at] || repaired, "message {at}");
    }
    assert_eq!(fold.head_verbatim, same[..start].iter().all(|same| *same));
    let tail = fold.layout.tail.start as usize;
    assert_eq!(fold.tail_verbatim, same[tail..].iter().all(|same| *same));
}

/// Reducers reach neither head nor tail nor pins.
fn only_the_middle(fold: &Fold) {
    for edit in &fold.edits {
        assert!((fold.span.start..fold.span.end).contains(&edit.seq), "{edit:?}");
        assert!(!fold.layout.pinned.contains(&edit.seq), "{edit:?}");
    }
}

/// A second compaction finds nothing new; so does one of the context alone.
fn twice_is_once(session: &mut Session, budget: &Budget) {
    let first = bytes(&session.view());
    let second = session.compact(budget, None).unwrap();
    assert_eq!(second, PlanOutcome::Nothing(NoOp::NothingNew));
    assert_eq!(bytes(&session.view()), first);
}

/// The rule in other words: a result answers a call of the nearest assistant run before it, with
/// nothing but results between.
fn pairs(events: &[Event], profile: &ProviderProfile) -> Vec<(usize, usize)> {
    let joins = profile.merges_roles || profile.has_items;
    let mut found = Vec::new();
    for (at, event) in events.iter().enumerate().filter(|(_, event)| event.view.has_results()) {
        let mut back: VecDeque<usize> = (0..at).rev().collect();
        while back.front().is_some_and(|at| events[*at].view.has_results()) {
            back.pop_front();
        }
        let run = back.into_iter().take_while(|at| {
            events[*at].view.role == Role::Assistant && !events[*at].view.has_results()
        });
        for call in run.take(if joins { usize::MAX } else { 1 }) {
            if ids(&events[call], true).iter().any(|id| ids(event, false).contains(id)) {
                found.push((call, at));
            }
        }
    }
    found
}

fn ids(event: &Event, calls: bool) -> Vec<String> {
    let id = |kind: &BlockKind| match kind {
        BlockKind::Call { id, .. } if calls => Some(*id),
        BlockKind::Result { id, .. } if !calls => Some(*id),
        _ => None,
    };
    let text = |id: midfold::core::TextRef| id.decode(&event.bytes).into_owned();
    let found = event.view.blocks.iter().filter_map(|block| id(&block.kind));
    found.map(|id| id.map(text).unwrap_or_default()).collect()
}

/// What comes out of a fold, read as a conversation of its own, is at its target already.
#[test]
fn compacting_the_output_again_changes_nothing() {
    for wire in wires() {
        for preset in Policy::preset_names() {
            let messages = session(wire.kind, 5, 3);
            let input = Input { wire, messages, preset, window: 60, pins: Vec::new() };
            let (mut first, budget) = open(&input);
            let Ok(PlanOutcome::Folded(fold)) = first.compact(&budget, None) else { continue };
            let input = Input { messages: bytes(&first.view()), ..input };
            let (mut second, _) = open(&input);
            let outcome = second.compact(&budget, None).unwrap();
            let case = format!("{preset} {}", wire.profile.name);
            assert!(
                matches!(outcome, PlanOutcome::Nothing(_)),
                "{case}: {} -> {:?}",
                fold.tokens_after,
                outcome
            );
            assert_eq!(bytes(&second.view()), input.messages, "{case}");
        }
    }
}

/// One message of 5 MB, anywhere, in any dialect.
#[test]
fn a_message_of_five_megabytes_is_folded_or_named() {
    for (seed, wire) in wires().into_iter().enumerate() {
        let messages = hostile(wire.kind, seed as u64, 5_000_000);
        let input = Input { wire, messages, preset: "default", window: 10, pins: Vec::new() };
        let (mut session, budget) = open(&input);
        match session.compact(&budget, None) {
            Ok(PlanOutcome::Folded(fold)) => prove(&input, &session, &budget, Some(&fold)),
            Ok(PlanOutcome::Nothing(_)) => prove(&input, &session, &budget, None),
            Err(error) => assert!(matches!(error, PlanError::Floor(_)), "{error}"),
        }
    }
}

/// What a window can hold, every larger one can: tail and recap give way as far as they can before
/// anything is refused.
#[test]
fn a_larger_window_refuses_nothing_that_a_smaller_one_takes() {
    // A recap far below its cap, and a result that leaves even less room than it takes.
    let wire = wires()[0];
    let message = |role, text: &str| wire.kind.dialect().made_message(role, text);
    let input = Input {
        wire,
        messages: session(wire.kind, 1, 2),
        preset: "default",
        window: 60,
        pins: vec![],
    };
    let (mut first, budget) = open(&input);
    first.compact(&budget, None).unwrap();
    let mut messages = bytes(&first.view());
    messages.extend([
        message(Role::Assistant, "Which night do you mean?"),
        message(Role::User, "The last one, please."),
        Bytes::from_static(br#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_9","type":"function","function":{"name":"run","arguments":"{}"}}]}"#),
        wire.kind.dialect().made_result(b"", "call_9", "run", &"settled 4,100 rows\n".repeat(900)),
    ]);
    let log = log(wire, &messages);
    // `./test --all` looks at every tenth window.
    let apart = if std::env::var_os("MIDFOLD_THOROUGH").is_some() { 10 } else { 40 };
    for preset in Policy::preset_names() {
        let policy = Policy::preset(preset).unwrap();
        let mut taken = None;
        for window in (4_000..log.tokens()).step_by(apart) {
            let mut session = Session::over("s", log.clone(), policy.clone(), Meter::exact());
            let budget = Budget::new(window + policy.trigger.injection_reserve);
            match (session.compact(&budget, None), taken) {
                (Ok(_), _) => taken = taken.or(Some(window)),
                (Err(PlanError::Floor(_)), None) => {}
                (Err(error), _) => panic!("{preset} at {window}: {error}; {taken:?} fits"),
            }
        }
        assert!(taken.is_some_and(|taken| taken > 4_000), "{preset}: {taken:?}");
    }
}

/// A call that stays behind the recap, and what would have answered it does not: nothing waits.
#[test]
fn a_pinned_call_does_not_wait_for_a_result_that_was_folded() {
    let wire = wires().into_iter().find(|wire| wire.kind == DialectKind::Anthropic).unwrap();
    let message = |role, text: &str| wire.kind.dialect().made_message(role, text);
    let long = "The settlement job of the ledger runs at night. ".repeat(40);
    let call = br#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"run","input":{}}]}"#;
    let mut messages = vec![message(Role::User, "Mend the settlement job.")];
    for _ in 0..4 {
        messages.extend([message(Role::Assistant, &long), message(Role::User, &long)]);
    }
    let pin = messages.len();
    messages.push(Bytes::from_static(call));
    messages.extend([message(Role::User, &long), message(Role::Assistant, "Done.")]);
    let input = Input { wire, messages, preset: "head-tail", window: 12, pins: vec![pin] };
    let (mut session, budget) = open(&input);
    let Ok(PlanOutcome::Folded(fold)) = session.compact(&budget, None) else { panic!("no fold") };
    assert_eq!(fold.layout.pinned, [pin as u32]);
    assert_eq!(fold.span.end as usize, input.messages.len() - 1, "the newest message alone");
    let mut brief = brief(&session, &fold);
    let more = message(Role::Assistant, &long);
    brief.append(RawEvent::new(more.clone()));
    session.append(RawEvent::new(more));
    assert!(session.due(&budget, 0).fires());
    assert_eq!(brief.due(&budget, 0), session.due(&budget, 0));
}
