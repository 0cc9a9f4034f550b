//! Who waits for a result in a context: the calls of the newest step, and nobody else, whatever the log holds
//! and wherever a preset cuts it.

use bytes::Bytes;
use midfold::core::project::ContextPiece;
use midfold::core::repair::RepairReason;
use midfold::core::verify::{ProofCase, VerifyFinding, rule, verify};
use midfold::core::{BlockKind, Role};
use midfold::{Budget, DialectKind, Meter, PieceFate, PlanOutcome, Policy, Session};

use super::input::{Wire, counter, log, wires};

/// One message or item that calls these tools.
fn call(kind: DialectKind, ids: &[&str]) -> Vec<Bytes> {
    let each = |make: &dyn Fn(&str) -> String| ids.iter().map(|id| make(id)).collect::<Vec<_>>();
    let one = match kind {
        DialectKind::OpenAiChat => {
            let calls = each(&|id| {
                format!(
                    r#"{{"id":"{id}","type":"function","function":{{"name":"run","arguments":"{{}}"}}}}"#
                )
            });
            format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","))
        }
        DialectKind::OpenAiResponses => {
            let calls = each(&|id| {
                format!(
                    r#"{{"type":"function_call","call_id":"{id}","name":"run","arguments":"{{}}"}}"#
                )
            });
            return calls.into_iter().map(Bytes::from).collect();
        }
        DialectKind::Anthropic => {
            let calls = each(&|id| {
                format!(r#"{{"type":"tool_use","id":"{id}","name":"run","input":{{}}}}"#)
            });
            format!(r#"{{"role":"assistant","content":[{}]}}"#, calls.join(","))
        }
        DialectKind::Gemini => {
            let calls = each(&|id| {
                format!(r#"{{"functionCall":{{"id":"{id}","name":"run","args":{{}}}}}}"#)
            });
            format!(r#"{{"role":"model","parts":[{}]}}"#, calls.join(","))
        }
        DialectKind::Bedrock => {
            let calls = each(&|id| {
                format!(r#"{{"toolUse":{{"toolUseId":"{id}","name":"run","input":{{}}}}}}"#)
            });
            format!(r#"{{"role":"assistant","content":[{}]}}"#, calls.join(","))
        }
        DialectKind::Ollama => {
            let calls = each(&|id| {
                format!(r#"{{"id":"{id}","function":{{"name":"run","arguments":{{}}}}}}"#)
            });
            format!(r#"{{"role":"assistant","content":"","tool_calls":[{}]}}"#, calls.join(","))
        }
        DialectKind::ShareGpt => {
            let calls = each(&|_| {
                r#"<tool_call>\n{\"name\": \"run\", \"arguments\": {}}\n</tool_call>"#.to_owned()
            });
            format!(r#"{{"from":"gpt","value":"{}"}}"#, calls.join("\\n"))
        }
    };
    vec![Bytes::from(one)]
}

/// What a conversation opens with: `u`ser, `a`ssistant, `s`ystem, `c`all, `p`air of calls, `r`esult, the result
/// of the `o`ther one of a pair; `M`any calls in one message, in `S`everal, their `R`esults.
const OPENINGS: [&str; 10] =
    ["ucr", "uc", "ucur", "ucar", "ucsr", "upr", "upruo", "cur", "sucaur", "ucc"];

/// What the newest step is.
const ENDINGS: [&str; 6] = ["u", "c", "pr", "SR", "MR", "M"];

fn written(wire: Wire, letters: &str, step: &str, out: &mut Vec<Bytes>) {
    let kind = wire.kind;
    let (one, two) = (format!("call_{step}"), format!("call_{step}_o"));
    let made = |id: &str| {
        let calls = call(kind, &[id]);
        kind.dialect().made_result(&calls[0], id, "run", "The job ran, and it settled 410 rows.")
    };
    let long = "The settlement job of the ledger runs at night. ".repeat(30);
    for letter in letters.chars() {
        match letter {
            'u' => out.push(kind.dialect().made_message(Role::User, &long)),
            'a' => out.push(kind.dialect().made_message(Role::Assistant, &long)),
            's' => out.push(kind.dialect().made_message(Role::System, "Be brief.")),
            'c' => out.extend(call(kind, &[&one])),
            'S' => (0..5).for_each(|n| out.extend(call(kind, &[&format!("{one}_{n}")]))),
            'M' => {
                let ids: Vec<String> = (0..5).map(|n| format!("{one}_{n}")).collect();
                out.extend(call(kind, &ids.iter().map(|id| &**id).collect::<Vec<_>>()));
            }
            'R' => (0..5).for_each(|n| out.push(made(&format!("{one}_{n}")))),
            'p' => out.extend(call(kind, &[&one, &two])),
            'r' => out.push(made(&one)),
            _ => out.push(made(&two)),
        }
    }
}

fn seq_of(fate: PieceFate) -> Option<u32> {
    match fate {
        PieceFate::Verbatim(seq) | PieceFate::Edited(seq) | PieceFate::Repaired(seq, _) => {
            Some(seq)
        }
        _ => None,
    }
}

/// The calls of a context that wait, by the seq of the event that they are of.
fn waiting(session: &Session, wire: Wire) -> Vec<Option<u32>> {
    let mut open: Vec<(String, Option<u32>)> = Vec::new();
    let by_order = wire.kind == DialectKind::ShareGpt;
    for piece in session.view().pieces() {
        let view = wire.kind.dialect().view(&piece.bytes);
        for block in &view.blocks {
            let read = |id: &Option<midfold::core::TextRef>| {
                id.filter(|_| !by_order).map(|id| id.decode(&piece.bytes).into_owned())
            };
            match &block.kind {
                BlockKind::Call { id, .. } => {
                    open.push((read(id).unwrap_or_default(), seq_of(piece.fate)));
                }
                BlockKind::Result { id, .. } => {
                    let id = read(id).unwrap_or_default();
                    let at = open.iter().position(|(call, _)| *call == id);
                    open.remove(at.unwrap());
                }
                _ => {}
            }
        }
    }
    open.into_iter().map(|(_, seq)| seq).collect()
}

/// A call whose result never came, came late or stands in what was folded has the one that a repair makes, and
/// `verify` says so where it is missing.
#[test]
fn only_the_newest_step_waits() {
    let (mut folds, mut made) = (0, 0);
    for wire in wires() {
        for preset in Policy::preset_names() {
            for (opening, ending) in OPENINGS.iter().flat_map(|o| ENDINGS.map(|e| (*o, e))) {
                let mut messages = Vec::new();
                written(wire, opening, "first", &mut messages);
                written(wire, "auacracrauacracr", "middle", &mut messages);
                written(wire, ending, "last", &mut messages);
                let Some(session) = folded(wire, preset, &messages) else { continue };
                folds += 1;
                let case = format!("{preset} {} {opening} {ending}", wire.profile.name);
                let newest = session.log().units().last().unwrap().clone();
                let may_wait = |seq: u32| !newest.closed && newest.events.contains(&(seq as usize));
                let waits = waiting(&session, wire);
                assert!(waits.iter().all(|seq| seq.is_some_and(may_wait)), "{case}: {waits:?}");
                made += usize::from(is_told_without(&session, wire, &case));
            }
        }
    }
    assert!(folds > 1_000 && made > 100, "{made} of {folds}");
}

fn folded(wire: Wire, preset: &str, messages: &[Bytes]) -> Option<Session> {
    let policy = Policy::preset(preset).unwrap();
    let log = log(wire, messages);
    let budget = Budget::new(log.tokens() * 70 / 100 + policy.trigger.injection_reserve);
    let mut session = Session::over("s", log, policy, Meter::exact());
    matches!(session.compact(&budget, None), Ok(PlanOutcome::Folded(_))).then_some(session)
}

/// Whether a result was made in the folded context; without it, `verify` finds the call that waits.
fn is_told_without(session: &Session, wire: Wire, case: &str) -> bool {
    let view = session.view();
    let pieces: Vec<_> = view.pieces().collect();
    let recap =
        pieces.iter().position(|piece| matches!(piece.fate, PieceFate::Recap | PieceFate::Marker));
    let is_made =
        |piece: &&&ContextPiece| piece.fate == PieceFate::Added(RepairReason::UnansweredCall);
    let before_recap = recap.and_then(|at| at.checked_sub(1));
    let Some(made) = before_recap.filter(|at| is_made(&&pieces[*at])) else { return false };
    let mut after: Vec<Bytes> = pieces.iter().map(|piece| piece.bytes.clone()).collect();
    after.remove(made);
    let before: Vec<Bytes> = session.log().events().iter().map(|e| e.bytes.clone()).collect();
    let found = verify(&ProofCase {
        before: &before,
        after: &after,
        envelope: &[],
        dialect: wire.kind.dialect(),
        counter: &*counter(),
        validate: &|_| Vec::new(),
        budget: None,
        fold: None,
    });
    let told =
        |found: &VerifyFinding| found.rule == rule::PAIRS && found.detail.contains("its result");
    assert!(found.findings.iter().any(told), "{case}: {:?}", found.findings);
    true
}
