//! Every real conversation, every window, every preset, every profile that fits.
//! Runs where the corpus is (`MIDFOLD_CORPUS`, or `../shared/data` beside the project).

use crate::common::{conversations, corpus, log};
use bytes::Bytes;
use midfold::core::layout::TailFloor;
use midfold::core::verify::{ProofCase, verify};
use midfold::formats::profile;
use midfold::formats::read::{TranscriptFormat, read};
use midfold::formats::verify::validator;
use midfold::{Budget, Meter, PieceFate, PlanError, PlanOutcome, Policy, Session};

#[test]
fn every_context_is_valid_and_within_budget() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let (mut checked, mut floors, mut folded, mut verified) = (0, 0, 0, 0);
    let mut failures = Vec::new();
    for (name, conversation) in conversations(&root) {
        let kind = conversation.format.dialect();
        for profile in profile::for_dialect(kind) {
            let log = log(&conversation, *profile, "estimate:openai");
            let before: Vec<Bytes> = log.events().iter().map(|event| event.bytes.clone()).collect();
            for preset in Policy::preset_names() {
                let policy = Policy::preset(preset).unwrap();
                for window in [8_000, 16_000, 32_000, 64_000] {
                    let case = format!("{name} {preset} {} {window}", profile.name);
                    let mut session =
                        Session::over("s", log.clone(), policy.clone(), Meter::exact());
                    let budget = Budget::new(window);
                    match session.compact(&budget, None) {
                        Err(PlanError::Floor(floor)) => {
                            floors += 1;
                            if floor.needed <= floor.limit {
                                failures.push(format!("{case}: refused what fits: {floor}"));
                            }
                        }
                        Err(error) => failures.push(format!("{case}: {error}")),
                        Ok(outcome) => {
                            checked += 1;
                            let context = session.view();
                            let limit = budget.tokens() - policy.trigger.injection_reserve;
                            if context.tokens() > limit {
                                failures.push(format!("{case}: {} tokens", context.tokens()));
                            }
                            let pieces: Vec<_> =
                                context.pieces().map(|p| p.bytes.clone()).collect();
                            for v in profile::validate(&pieces, kind, profile).into_iter().take(2) {
                                failures.push(format!("{case}: {v}"));
                            }
                            if let PlanOutcome::Folded(fold) = outcome {
                                folded += 1;
                                let validate = validator(kind, *profile);
                                let envelope = &conversation.envelope;
                                let envelope: Vec<&[u8]> = [&envelope.system, &envelope.tools]
                                    .into_iter()
                                    .flatten()
                                    .map(|part| &part[..])
                                    .collect();
                                let what = ProofCase {
                                    before: &before,
                                    after: &pieces,
                                    envelope: &envelope,
                                    dialect: kind.dialect(),
                                    counter: &**log.counter(),
                                    validate: &validate,
                                    budget: Some(limit),
                                    fold: Some(&fold),
                                };
                                for what in [what, ProofCase { fold: None, ..what }] {
                                    verified += 1;
                                    let record = what.fold.map_or("", |_| "with record, ");
                                    for found in verify(&what).findings.into_iter().take(3) {
                                        failures.push(format!("{case}: {record}{found}"));
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    println!(
        "contexts checked: {checked}, folded: {folded}, verified: {verified}, typed floor errors: {floors}"
    );
    for failure in failures.iter().take(40) {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{} failures", failures.len());
}

/// Lists of names take at most 15 parts of 100 of any recap, and the tail holds a tenth of the budget
/// or four messages.
#[test]
fn recaps_of_default_are_statements() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let policy = Policy::preset("default").unwrap();
    let (mut folds, mut worst) = (0, 0.0_f64);
    for (name, conversation) in conversations(&root) {
        let log =
            log(&conversation, profile::for_dialect(conversation.format.dialect())[0], "chars:3.2");
        for window in [8_000, 16_000, 32_000, 60_000] {
            let mut session = Session::over("s", log.clone(), policy.clone(), Meter::exact());
            let Ok(PlanOutcome::Folded(fold)) = session.compact(&Budget::new(window), None) else {
                continue;
            };
            folds += 1;
            let text = fold.recap.as_ref().map(|recap| recap.text.clone()).unwrap_or_default();
            let index = text.split("\n### ").find(|section| section.starts_with("Index"));
            let share = index.map_or(0, str::len) as f64 / text.len().max(1) as f64;
            worst = worst.max(share);
            assert!(share <= 0.15, "{name} {window}: {share}");
            let tail = fold.layout.tail.end - fold.layout.tail.start;
            let of = fold.tokens_before.min(window) / 10;
            let held = tail >= 4 && fold.tail_tokens >= of;
            assert!(
                held || fold.layout.floor == TailFloor::Budget,
                "{name} {window}: {tail} messages"
            );
        }
    }
    println!("{folds} folds, the largest share of lists {worst:.3}");
    assert!(folds > 0);
}

/// Reading and rendering change no message: what is rendered without a fold is the recorded bytes,
/// repairs apart, and reads back as what was rendered.
#[test]
fn every_message_leaves_as_it_came() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let (mut verbatim, mut repaired) = (0, 0);
    for (name, conversation) in conversations(&root) {
        let kind = conversation.format.dialect();
        let log = log(&conversation, profile::for_dialect(kind)[0], "chars:4");
        let context = midfold::core::project::project(&log, None);
        let mut seen = Vec::new();
        for piece in context.pieces() {
            match piece.fate {
                PieceFate::Verbatim(seq) => {
                    assert_eq!(
                        piece.bytes, conversation.events[seq as usize].bytes,
                        "{name} {seq}"
                    );
                    seen.push(seq as usize);
                    verbatim += 1;
                }
                PieceFate::Repaired(seq, _) => {
                    seen.push(seq as usize);
                    repaired += 1;
                }
                _ => {}
            }
        }
        assert!(
            seen.into_iter().eq(0..conversation.events.len()),
            "{name}: order, and nothing lost"
        );
        let format = TranscriptFormat::from_name(kind.name()).unwrap();
        let rendered = Bytes::from(context.bytes());
        let again = read(&rendered, Some(format)).unwrap().conversations;
        let again = again.iter().flat_map(|c| &c.events).map(|event| &event.bytes);
        assert!(again.eq(context.pieces().map(|piece| &piece.bytes)), "{name}: reads back");
    }
    println!("messages as they came: {verbatim}, repaired: {repaired}");
    assert!(verbatim > 0);
}
