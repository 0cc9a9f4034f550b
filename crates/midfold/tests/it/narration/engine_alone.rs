//! The engine alone, told by hand: the same verdicts, without a store, a worker or a server.

use midfold::core::budget::Budget;
use midfold::core::engine::CompleteError;
use midfold::core::fold::{VerdictCode, VerdictRecord};
use midfold::core::narrate::{FinishReason, SummaryReply, SummaryRequest};
use midfold::core::policy::RecapPolicy;

use super::*;

fn filled(policy: Policy, percent: u64) -> Session {
    let mut session = empty(policy);
    feed(&mut session, percent);
    session
}

fn feed(session: &mut Session, percent: u64) {
    let (from, count) = (session.log().len(), until(session, percent));
    events().into_iter().skip(from).take(count).for_each(|event| {
        session.append(event);
    });
}

fn said(text: &str, finish: &str) -> SummaryReply {
    let finish = match finish {
        "stop" => FinishReason::Stop,
        "length" => FinishReason::Length,
        _ => FinishReason::Other,
    };
    SummaryReply { text: text.to_owned(), finish, model: "m".into(), usage: None, calls: 1 }
}

#[test]
fn the_engine_alone_comes_to_the_same_verdicts() {
    let policy = policy("default");
    let budget = Budget::new(window(&policy));
    let mut all = replies(&policy);
    all.push(("good", text(&policy, GOOD), "stop", "accepted"));
    all.push(("cut off by its cap", text(&policy, GOOD), "length", "accepted"));
    let base = filled(policy, BUFFER);
    for (name, text, finish, code) in all {
        let mut session = base.clone();
        let request = session.take_request(&budget, 1).unwrap();
        let verdict = session.complete(&request, Ok(said(&text, finish)), 2).unwrap();
        assert_eq!(verdict.code.as_str(), code, "{name}: {}", verdict.detail);
        let status = session.status(&budget, 2);
        assert_eq!(status.narration_ready, code == "accepted", "{name}");
        assert_eq!(status.cooldown_seconds, if code == "accepted" { 0 } else { 60 }, "{name}");
        assert!(session.take_request(&budget, 3).is_none(), "{name}: not again at once");
    }
}

/// Every preset asks before it folds, in every window: the source of `hermes` folds at half of it.
#[test]
fn every_preset_asks_its_model_before_it_folds() {
    let all = emit::openai_chat(&midfold_testkit::session(3, 400));
    for name in Policy::preset_names() {
        for window in [32_000, 128_000] {
            let (policy, budget) = (policy(name), Budget::new(window));
            let mut session = empty(policy.clone());
            let (mut asked, mut narrated) = (0, 0);
            for line in all.iter().cycle() {
                session.append(RawEvent::new(line.clone().into()));
                if let Some(request) = session.take_request(&budget, 1) {
                    asked += 1;
                    let answer = Ok(said(&text(&policy, GOOD), "stop"));
                    session.complete(&request, answer, 2).unwrap();
                }
                if !session.log().has_open_call() {
                    session.context(&budget, 3).unwrap();
                }
                // A fold of reducers alone has nothing to tell.
                if let Some(fold) = session.active().filter(|fold| fold.recap.is_some()) {
                    narrated += usize::from(fold.narrated.is_some());
                    break;
                }
            }
            assert!(asked > 0 && narrated == 1, "{name} at {window}: asked {asked} times");
        }
    }
}

/// Also where reducers alone made folds before, so that the log is larger than the line for long.
#[test]
fn a_recap_of_the_overflow_is_asked_for_before_the_line() {
    let all = emit::openai_chat(&midfold_testkit::session(3, 400));
    for name in ["projection", "verbatim"] {
        let (policy, budget) = (policy(name), Budget::new(32_000));
        let mut session = empty(policy.clone());
        let line = policy.trigger.line(budget.tokens() - policy.trigger.injection_reserve).tokens;
        let mut asked = None;
        for (at, message) in all.iter().cycle().enumerate() {
            session.append(RawEvent::new(message.clone().into()));
            // Nobody answers, and by the next message that is given up.
            let now = at as u64 * 1_000_000;
            if session.take_request(&budget, now).is_some() && !session.folds().is_empty() {
                asked = Some(session.view().tokens());
                break;
            }
            if !session.log().has_open_call() {
                session.context(&budget, 3).unwrap();
            }
        }
        assert!(asked.is_some_and(|tokens| tokens < line), "{name}: {asked:?} of {line}");
    }
}

#[test]
fn the_second_narration_starts_from_the_first_and_reads_only_what_is_new() {
    let policy = policy("default");
    let budget = Budget::new(window(&policy));
    let mut session = filled(policy.clone(), BUFFER);
    let first = session.take_request(&budget, 1).unwrap();
    assert_eq!(first.previous, None);
    session.complete(&first, Ok(said(&text(&policy, GOOD), "stop")), 2).unwrap();
    feed(&mut session, FULL);
    session.context(&budget, 3).unwrap();
    assert!(session.active().unwrap().narrated.is_some());
    feed(&mut session, BUFFER);
    let second = session.take_request(&budget, 4).unwrap();
    let previous = second.previous.as_deref().unwrap();
    assert!(previous.contains(GOOD));
    assert_eq!(second.span.start, first.span.start);
    assert!(second.sources.iter().all(|source| source.seq >= first.span.end));
    assert!(second.span.end > first.span.end && !second.sources.is_empty());
    let prompt = second.prompt(&second.sources, second.previous.as_deref());
    assert_eq!(
        prompt.user.matches(GOOD).count(),
        policy.narration.sections.len(),
        "once a section, in the block before"
    );
    assert!(!prompt.user.contains(&first.sources[0].text), "no source twice");
}

#[test]
fn a_reply_for_a_span_that_is_not_there_any_more_is_dropped() {
    let policy = policy("default");
    let budget = Budget::new(window(&policy));
    let mut session = filled(policy.clone(), BUFFER);
    let request = session.take_request(&budget, 1).unwrap();
    let reply = said(&text(&policy, GOOD), "stop");
    let mut fork = session.fork("fork", request.span.end as usize - 1);
    let next = events().swap_remove(session.log().len());
    for _ in 0..4 {
        fork.append(next.clone());
    }
    let dropped = fork.complete(&request, Ok(reply.clone()), 2);
    assert_eq!(dropped.unwrap_err(), CompleteError::Changed);
    assert!(!fork.status(&budget, 2).narration_ready);
    // Undone folds change no log: the reply still covers its span.
    feed(&mut session, FULL);
    session.context(&budget, 3).unwrap();
    session.undo(None).unwrap();
    assert_eq!(session.complete(&request, Ok(reply), 4).unwrap().code.as_str(), "accepted");
}

#[test]
fn narrated_recaps_have_the_form_of_their_preset() {
    for preset in ["head-tail", "hermes"] {
        let policy = policy(preset);
        let budget = Budget::new(window(&policy));
        let mut session = filled(policy.clone(), BUFFER);
        let request = session.take_request(&budget, 1).unwrap();
        let wire = request.prompt(&request.sources, None);
        let answer = text(&policy, GOOD);
        session.complete(&request, Ok(said(&answer, "stop")), 2).unwrap();
        feed(&mut session, FULL);
        session.context(&budget, 3).unwrap();
        let recap = session.active().unwrap().recap.as_ref().unwrap();
        if preset == "head-tail" {
            assert_eq!(request.sections, ["Decisions", "Entities", "Facts", "Open Items"]);
            // The header and four bullets, and that what came after them is not told.
            assert_eq!(recap.text, format!("{answer}{}", policy.recap.marker));
            assert_eq!(recap.role, "assistant");
            assert!(wire.system.contains("at most 200 words"));
        } else {
            assert_eq!(request.sections.len(), 13);
            // The narration tells all that the recap covers.
            let RecapPolicy { header, note, .. } = &policy.recap;
            assert_eq!(recap.text, format!("{header}\n{note}\n{answer}"));
            assert_eq!(recap.text.matches("\n## ").count(), 13);
            assert!(
                request.sections.iter().all(|name| wire.system.contains(&format!("## {name}\n")))
            );
        }
    }
}

const KEEP: &str = "the retry logic of zq-gateway";

/// Doors that hold a session in memory compact so: a library, Python, Node.
#[test]
fn what_a_person_wants_kept_is_told_with_the_next_request() {
    let policy = policy("head-tail");
    let budget = Budget::new(window(&policy));
    let mut session = filled(policy, BUFFER);
    session.compact(&budget, Some(KEEP)).unwrap();
    feed(&mut session, BUFFER);
    let request = session.take_request(&budget, 1).unwrap();
    assert_eq!(request.focus.as_deref(), Some(KEEP));
    let prompt = request.prompt(&request.sources, None);
    assert!(prompt.user.contains(&format!(" focus>>\n{KEEP}\n")), "in a fence: {}", prompt.user);
    assert!(!prompt.system.contains(KEEP), "no rule of it");
}

/// An answer to a request that was made before knows nothing of it.
#[test]
fn what_a_person_wants_kept_waits_for_a_request_that_knows_of_it() {
    let policy = policy("default");
    let budget = Budget::new(window(&policy));
    let mut session = filled(policy.clone(), BUFFER);
    let before = session.take_request(&budget, 1).unwrap();
    assert_eq!(before.focus, None);
    session.compact(&budget, Some(KEEP)).unwrap();
    let answer = |session: &mut Session, request, at| {
        let verdict =
            session.complete(request, Ok(said(&text(&policy, GOOD), "stop")), at).unwrap();
        assert_eq!(verdict.code.as_str(), "accepted");
        session.narration().focus.clone()
    };
    assert_eq!(answer(&mut session, &before, 2).as_deref(), Some(KEEP));
    let fold = session.active().unwrap().clone();
    let knows = session.request_for(&fold, None, 3).unwrap();
    assert_eq!(knows.focus.as_deref(), Some(KEEP));
    assert_eq!(answer(&mut session, &knows, 4), None, "told once");
}

/// The verdict of a worker does not say which words its request knew.
#[test]
fn what_a_person_wants_kept_outlives_the_verdict_on_an_older_request() {
    let policy = policy("default");
    let budget = Budget::new(window(&policy));
    let accept = |session: &mut Session, request: &SummaryRequest| {
        session.note_verdict(VerdictRecord {
            request: request.id,
            code: VerdictCode::ACCEPTED,
            detail: "m".to_owned(),
            dropped: Vec::new(),
        });
    };
    let mut session = filled(policy, BUFFER);
    let older = session.take_request(&budget, 1).unwrap();
    session.compact(&budget, Some(KEEP)).unwrap();
    accept(&mut session, &older);
    feed(&mut session, BUFFER);
    let newer = session.take_request(&budget, 2).unwrap();
    assert_eq!(newer.focus.as_deref(), Some(KEEP));
    accept(&mut session, &newer);
    assert_eq!(session.narration().focus, None, "the newer request had these words");
}

#[test]
fn what_a_client_wants_kept_is_told_each_time_and_weighs_in_each_fold() {
    let policy = policy("default");
    let budget = Budget::new(window(&policy));
    let plain = filled(policy.clone(), FULL);
    let mut session = filled(policy.clone(), BUFFER);
    session.heed(Some(" settle_9 "));
    for at in 1..3 {
        let request = session.take_request(&budget, at * 1_000_000).unwrap();
        assert_eq!(request.focus.as_deref(), Some("settle_9"));
        // Who has no model does not answer, and it is asked for again.
    }
    // A person's own word stands before it.
    let mut asked = session.clone();
    asked.compact(&budget, Some(KEEP)).unwrap();
    let fold = asked.active().unwrap().clone();
    let request = asked.request_for(&fold, None, 3).unwrap();
    assert_eq!(request.focus, Some(format!("{KEEP}\nsettle_9")));

    // Without a model it acts as a focus does, in the fold that comes by itself, too.
    let recap = |mut session: Session, keep: Option<&str>| {
        session.heed(keep);
        session.context(&budget, 5).unwrap();
        session.active().unwrap().recap.clone().unwrap().text
    };
    let without = recap(plain.clone(), None);
    let texts: Vec<_> = plain.log().events().iter().map(|event| event.text()).collect();
    let words =
        texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let left: Vec<&str> =
        words.filter(|word| word.contains('_') && !without.contains(*word)).take(40).collect();
    assert!(!left.is_empty(), "some names found no room");
    assert!(left.iter().any(|word| recap(plain.clone(), Some(word)).contains(*word)), "{left:?}");
    // It is taken back with the next request that says nothing.
    session.heed(Some(&"x".repeat(9_000)));
    assert!(session.narration().standing.as_ref().unwrap().chars().count() < 2_100, "bounded");
    session.heed(None);
    assert_eq!(session.narration().standing, None);
}

/// What a narration calls open may be settled behind it: a reader has to know where it ends.
#[test]
fn a_recap_says_where_its_narration_ends() {
    let policy = policy("default");
    let budget = Budget::new(window(&policy));
    let mut session = filled(policy.clone(), BUFFER);
    let request = session.take_request(&budget, 1).unwrap();
    session.complete(&request, Ok(said(&text(&policy, GOOD), "stop")), 2).unwrap();
    let told = |session: &Session| session.active().unwrap().recap.clone().unwrap().text;
    // All that the fold covers was narrated.
    let mut at_once = session.clone();
    at_once.compact(&budget, None).unwrap();
    let fold = at_once.active().unwrap();
    if fold.covered().last().map(|last| last + 1) == Some(request.span.end) {
        assert!(!told(&at_once).contains("- It ends with"), "{}", told(&at_once));
    }
    // Messages behind it are under the same recap.
    let reaches = |fold: &Fold| fold.covered().last().is_some_and(|last| *last >= request.span.end);
    while !session.active().is_some_and(reaches) {
        let from = session.log().len();
        session.append(events().into_iter().nth(from).unwrap());
        if !session.log().has_open_call() {
            session.compact(&budget, None).unwrap();
        }
    }
    let last = request.span.end - 1;
    let recap = told(&session);
    assert!(recap.contains("### Narrated by a model\n- It ends with @"), "{recap}");
    let number: u32 =
        recap.split("- It ends with @").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
    assert!(number.abs_diff(last) <= 1, "{number} for message {last}");
}
