//! A message that two reducers edited, each in a block of its own: it is proved, and a forged one is found.

use std::collections::HashSet;

use input::Wire;
use midfold::core::fold::FoldEntry;
use midfold::core::policy::ReducerName;
use midfold::core::project::ContextPiece;
use midfold::core::verify::VerifyFinding;

use super::*;

/// The reducers that edit blocks. Those of results never meet in one block, because the last of them has its say.
const EDITING: [ReducerName; 9] = [
    ReducerName::Terminal,
    ReducerName::Dedup,
    ReducerName::Supersede,
    ReducerName::Retain,
    ReducerName::Stub,
    ReducerName::Arguments,
    ReducerName::Reasoning,
    ReducerName::Cut,
    ReducerName::Window,
];

/// What a removed reasoning leaves in a ShareGPT turn.
const NO_THOUGHT: &str = "<think>\\n\\n</think>";

/// A policy with these reducers and no recap, whose every limit is reached at once.
fn editing(reducers: &[ReducerName]) -> Policy {
    let text = "base = \"verbatim\"\n[tail]\nratio = 0.0\nmin_messages = 1\nlast_user = false\n\
        [retain]\nage = 0\nstub = \"[gone]\"\n[window]\nturns = 1\n[fold]\ntarget = 0.001\nmin_reclaim = 0.0\n\
        [stub]\nmin_chars = 20\n[arguments]\nmax_chars = 20\nleaf_chars = 8";
    let mut policy = Policy::from_toml(text).unwrap();
    policy.reducers = reducers.to_vec();
    policy
}

/// The fold of a session by these reducers, with its session; `None` where they edit nothing.
fn edited(wire: Wire, seed: u64, reducers: &[ReducerName]) -> Option<(Session, Fold)> {
    let log = log(wire, &session(wire.kind, seed, 2));
    let mut session = Session::over("s", log, editing(reducers), Meter::exact());
    // What is sent may be more than the log: a repair adds blank reasoning.
    let budget = Budget::new(session.view().tokens());
    match session.compact(&budget, None).unwrap() {
        PlanOutcome::Folded(fold) => Some((session, *fold)),
        PlanOutcome::Nothing(_) => None,
    }
}

fn findings(
    wire: Wire,
    session: &Session,
    after: &[Bytes],
    fold: Option<&Fold>,
) -> Vec<VerifyFinding> {
    let before: Vec<Bytes> = session.log().events().iter().map(|e| e.bytes.clone()).collect();
    let validate = validator(wire.kind, wire.profile);
    let proof = ProofCase {
        before: &before,
        after,
        envelope: &[],
        dialect: wire.kind.dialect(),
        counter: &*counter(),
        validate: &validate,
        budget: None,
        fold,
    };
    verify(&proof).findings
}

/// The messages that more than one reducer edited, with the pairs.
fn shared(fold: &Fold) -> Vec<u32> {
    let pairs: HashSet<_> = fold.edits.iter().map(|edit| (edit.seq, edit.reducer)).collect();
    let many = |seq: &u32| pairs.iter().filter(|(other, _)| other == seq).count() > 1;
    let mut seqs: Vec<u32> = pairs.iter().map(|(seq, _)| *seq).filter(many).collect();
    seqs.sort_unstable();
    seqs.dedup();
    seqs
}

/// Each change that somebody could make to an edited message and its record, with its name.
fn forged(fold: &Fold, seq: u32) -> Vec<(&'static str, Fold)> {
    let mut all = Vec::new();
    let mut forge = |name, change: &dyn Fn(&mut Fold)| {
        let mut forged = fold.clone();
        change(&mut forged);
        forged.id = forged.compute_id();
        all.push((name, forged));
    };
    let at = fold.edits.iter().position(|edit| edit.seq == seq).unwrap();
    forge("an edit less", &|fold| drop(fold.edits.remove(at)));
    forge("an edit twice", &|fold| fold.edits.insert(at, fold.edits[at].clone()));
    forge("another block", &|fold| fold.edits[at].block += 1);
    forge("other tokens", &|fold| fold.edits[at].tokens_after += 1);
    forge("the original", &|fold| {
        let entry = entry(fold, seq);
        *entry = FoldEntry::Verbatim { from: seq, to: seq + 1 };
    });
    forge("a member more", &|fold| {
        edit_bytes(fold, seq, |bytes| bytes.replacen('{', "{\"x\":1,", 1))
    });
    forge("other reasoning", &|fold| {
        // Where its tags stay, they stay empty.
        edit_bytes(fold, seq, |bytes| match bytes.contains(NO_THOUGHT) {
            true => bytes.replacen(NO_THOUGHT, "<think>\\nIt is fine.\\n</think>", 1),
            false => String::new(),
        });
    });
    all
}

fn edit_bytes(fold: &mut Fold, seq: u32, change: impl Fn(&str) -> String) {
    if let FoldEntry::Edited { bytes, .. } = entry(fold, seq) {
        *bytes = change(bytes);
    }
}

fn entry(fold: &mut Fold, seq: u32) -> &mut FoldEntry {
    let is =
        |entry: &&mut FoldEntry| matches!(entry, FoldEntry::Edited { seq: of, .. } if *of == seq);
    fold.entries.iter_mut().find(is).unwrap()
}

#[test]
fn any_two_reducers_may_edit_a_message() {
    let (mut met, mut wires_met) = (HashSet::new(), HashSet::new());
    for wire in wires() {
        for (at, one) in EDITING.iter().enumerate() {
            for other in &EDITING[at + 1..] {
                let Some((session, fold)) = edited(wire, 5, &[*one, *other]) else { continue };
                let after = bytes(&session.view());
                let case = format!("{one} {other} {}", wire.profile.name);
                assert_eq!(findings(wire, &session, &after, Some(&fold)), [], "{case}");
                assert_eq!(findings(wire, &session, &after, None), [], "{case}");
                if !shared(&fold).is_empty() {
                    met.insert((*one, *other));
                    wires_met.insert(wire.kind.to_string());
                }
            }
        }
    }
    assert!(met.contains(&(ReducerName::Arguments, ReducerName::Reasoning)), "{met:?}");
    assert!(met.len() > 3 && wires_met.len() > 3, "{met:?} in {wires_met:?}");
}

#[test]
fn a_forged_message_of_two_reducers_is_found() {
    let mut found = 0;
    for wire in wires() {
        let all = [
            ReducerName::Reasoning,
            ReducerName::Stub,
            ReducerName::Arguments,
            ReducerName::Window,
        ];
        let Some((session, fold)) = edited(wire, 5, &all) else { continue };
        for seq in shared(&fold).into_iter().take(4) {
            let is = |piece: &ContextPiece| piece.fate == PieceFate::Edited(seq);
            // Where a repair gave it another form, the edited one is not sent.
            let Some(at) = session.view().pieces().position(is) else { continue };
            for (name, forged) in forged(&fold, seq) {
                // The forger changes what is sent to fit the record.
                let mut after = bytes(&session.view());
                after[at] =
                    match forged.entries.iter().find(
                        |entry| matches!(entry, FoldEntry::Edited { seq: of, .. } if *of == seq),
                    ) {
                        Some(FoldEntry::Edited { bytes, .. }) => Bytes::from(bytes.clone()),
                        _ => session.log().events()[seq as usize].bytes.clone(),
                    };
                let case = format!("{name} of {seq}, {}", wire.profile.name);
                let findings = findings(wire, &session, &after, Some(&forged));
                assert!(!findings.is_empty(), "{case}");
                found += 1;
            }
        }
    }
    assert!(found > 50, "{found}");
}
