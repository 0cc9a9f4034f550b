//! Twenty planted facts with known fates, over four sessions.

use midfold_core::explain::{
    AskedMoment, ContextReader, ExplainError, Explanation, Occurrence, Sight, SightAnswer,
    VerbatimPlace, explain,
};
use midfold_core::fabric::FabricCell;
use midfold_core::fold::Fold;
use midfold_core::view::Role;

use super::talk::Talk;

fn ask(talk: &Talk, text: &str, at: Option<u64>) -> Explanation {
    let now = AskedMoment::Now(talk.session.active().map(|fold| fold.id));
    let moment = at.map_or(now, AskedMoment::Call);
    explain(talk.session.log(), talk.session.folds(), &talk.calls, text, moment).unwrap()
}

/// The occurrence in one event; the others are other facts.
fn of(explanation: &Explanation, seq: u32) -> &Occurrence {
    explanation.occurrences.iter().find(|occurrence| occurrence.seq == seq).unwrap()
}

fn left_with(occurrence: &Occurrence, number: u32, fold: &Fold, rule: &str) {
    let left = occurrence.left.as_ref().unwrap();
    assert_eq!((left.fold.number, left.fold.id), (number, fold.id));
    assert_eq!(left.rule, rule);
    assert!(occurrence.recall);
}

const VERBATIM: fn(VerbatimPlace) -> Sight = |place| Sight::Verbatim { place };
const RECAP: fn(bool) -> Sight = |named| Sight::Recap { named };

/// A session with two folds that leave recaps, and a call before, between and after them.
struct Planted {
    talk: Talk,
    system: u32,
    task: u32,
    dropped: u32,
    used: u32,
    used_again: u32,
    recalled: u32,
    brought_back: u32,
    path: u32,
    rule: u32,
    pinned: u32,
    second: u32,
    second_path: u32,
    tail: u32,
    calls: [u64; 4],
    folds: [Fold; 2],
}

fn planted() -> Planted {
    // What is planted to be lost are plain words that a look-up showed, and the recap is short.
    let policy = "base = \"default\"\nname = \"planted\"\n[tail]\nratio = 0.02\nmin_messages = 2\n\
                  [recap]\ncap_tokens = 112\nfills = false\n";
    let mut talk = Talk::new(policy, 6_000);
    let system = talk.say("system", "You are the keeper of KESTREL-11.");
    let task = talk.say("user", "Make heron_task.toml valid again.");
    let dropped = talk.tool(
        "read_file",
        r#"{"path":"house"}"#,
        "The jar of marmalade stands behind the door.",
    );
    let used = talk.tool(
        "read_file",
        r#"{"path":"yard"}"#,
        "somewhere in there was a tangerine among the rest",
    );
    let recalled =
        talk.tool("read_file", r#"{"path":"shed"}"#, "the crate holds one persimmon and no more");
    let path = talk.tool(
        "write_file",
        r#"{"path":"src/parser/lexer.rs","content":"fn next() {}"}"#,
        "nothing to see here",
    );
    let rule = talk.say("user", "Never edit anything below vendor/osprey-4 please.");
    let pinned = talk.say("user", "the cellar key hangs under the wagtail");
    talk.pin(pinned);
    (0..8).for_each(|_| talk.filler(500));
    let first = talk.send();
    let fold_one = talk.fold();
    let between = talk.send();
    let used_again = talk.say("assistant", "As I recall it was a tangerine, so I go on.");
    let brought_back = talk.tool("recall_show", "{}", "the crate holds one persimmon and no more");
    let recalling = talk.send();
    let second = talk.tool(
        "read_file",
        r#"{"path":"lamps"}"#,
        "The lantern with the bittern glass is broken.",
    );
    let second_path = talk.tool(
        "write_file",
        r#"{"path":"src/emit/wheatear.rs","content":"fn sing() {}"}"#,
        "nothing here either",
    );
    (0..8).for_each(|_| talk.filler(500));
    let used_and_seen = talk.say("user", "so the tangerine it is, and the persimmon");
    let tail = talk.say("assistant", "Done, the dunnock is in its nest.");
    assert!(used_and_seen < tail);
    let fold_two = talk.fold();
    let last = talk.send();
    Planted {
        talk,
        system,
        task,
        dropped,
        used,
        used_again,
        recalled,
        brought_back,
        path,
        rule,
        pinned,
        second,
        second_path,
        tail,
        calls: [first, between, recalling, last],
        folds: [fold_one, fold_two],
    }
}

#[test]
fn facts_one_to_fourteen_under_recaps() {
    let p = planted();
    let [one, two] = &p.folds;
    let [first, between, recalling, last] = p.calls;

    // 1, 2: the head.
    for (text, seq) in [("KESTREL-11", p.system), ("heron_task.toml", p.task)] {
        let found = ask(&p.talk, text, None);
        assert_eq!(found.answer, SightAnswer::Verbatim);
        assert_eq!(of(&found, seq).sight, VERBATIM(VerbatimPlace::Head));
        assert_eq!(of(&found, seq).left, None);
    }

    // 3: dropped by the first fold, never needed again.
    let found = ask(&p.talk, "marmalade", None);
    assert_eq!(found.answer, SightAnswer::Gone);
    assert_eq!(found.lost_with.as_ref().unwrap().id, one.id);
    assert_eq!(of(&found, p.dropped).sight, RECAP(false));
    left_with(of(&found, p.dropped), 1, one, "recap");
    assert_eq!(of(&found, p.dropped).used, None);

    // 4: the same fact at the call before that fold.
    let found = ask(&p.talk, "marmalade", Some(first));
    assert_eq!((found.answer, found.fold.clone()), (SightAnswer::Verbatim, None));
    assert_eq!(of(&found, p.dropped).sight, VERBATIM(VerbatimPlace::Tail));
    assert_eq!(of(&found, p.dropped).left, None);

    // 5: dropped, and used again after it had left.
    let found = ask(&p.talk, "tangerine", Some(between));
    assert_eq!((found.answer, found.call), (SightAnswer::Gone, Some(between)));
    left_with(of(&found, p.used), 1, one, "recap");
    let again = of(&found, p.used).used.as_ref().unwrap();
    assert_eq!((again.seq, again.by, again.after_left), (p.used_again, Role::Assistant, true));
    assert_eq!(of(&found, p.used_again).sight, Sight::NotYet);

    // 6: dropped, then brought back by recall: the newer event carries it, until the next fold.
    let found = ask(&p.talk, "persimmon", Some(recalling));
    assert_eq!(found.answer, SightAnswer::Verbatim);
    assert_eq!(of(&found, p.recalled).sight, RECAP(false));
    assert_eq!(of(&found, p.brought_back).sight, VERBATIM(VerbatimPlace::Tail));
    let found = ask(&p.talk, "persimmon", Some(last));
    assert_eq!(found.answer, SightAnswer::Verbatim);
    left_with(of(&found, p.recalled), 1, one, "recap");
    left_with(of(&found, p.brought_back), 2, two, "recap");
    let again = of(&found, p.recalled).used.as_ref().unwrap();
    assert_eq!((again.by, again.after_left), (Role::User, true));

    // 7: an identifier that the recap names, through both folds.
    for at in [between, last] {
        let found = ask(&p.talk, "src/parser/lexer.rs", Some(at));
        assert_eq!(found.answer, SightAnswer::InRecap);
        assert_eq!(of(&found, p.path - 1).sight, RECAP(true));
        left_with(of(&found, p.path - 1), 1, one, "recap");
        assert_eq!(found.lost_with, None);
    }

    // 8: a rule of the user, kept in the recap's words.
    let found = ask(&p.talk, "Never edit anything below vendor/osprey-4", None);
    assert_eq!(found.answer, SightAnswer::InRecap);
    left_with(of(&found, p.rule), 1, one, "recap");

    // 9: pinned, through both folds.
    let found = ask(&p.talk, "wagtail", None);
    assert_eq!(of(&found, p.pinned).sight, VERBATIM(VerbatimPlace::Pinned));
    assert_eq!(of(&found, p.pinned).left, None);

    // 10: dropped by the second fold only.
    let found = ask(&p.talk, "bittern", None);
    assert_eq!(found.answer, SightAnswer::Gone);
    assert_eq!(found.lost_with.as_ref().unwrap().number, 2);
    left_with(of(&found, p.second), 2, two, "recap");

    // 11: named by the second recap only.
    let found = ask(&p.talk, "src/emit/wheatear.rs", None);
    assert_eq!(found.answer, SightAnswer::InRecap);
    left_with(of(&found, p.second_path - 1), 2, two, "recap");

    // 12: not said yet.
    let found = ask(&p.talk, "bittern", Some(first));
    assert_eq!(found.answer, SightAnswer::NotYet);
    assert_eq!(of(&found, p.second).sight, Sight::NotYet);
    assert!(!of(&found, p.second).recall);

    // 13: the tail.
    let found = ask(&p.talk, "dunnock", None);
    assert_eq!(of(&found, p.tail).sight, VERBATIM(VerbatimPlace::Tail));

    // 14: never said.
    let found = ask(&p.talk, "albatross", None);
    assert_eq!((found.answer, found.occurrences.len()), (SightAnswer::NeverSaid, 0));
}

#[test]
fn facts_fifteen_and_sixteen_behind_a_marker() {
    let mut talk = Talk::new("base = \"head-tail\"\nname = \"marked\"\n", 4_000);
    talk.say("system", "You keep birds.");
    talk.say("user", "Count them.");
    let covered = talk.say("assistant", "The ledger is in src/birds/redstart.rs, page nine.");
    let twice = talk.say("assistant", "One fieldfare sits outside.");
    talk.filler(3_000);
    talk.filler(400);
    let again = talk.say("user", "and the fieldfare?");
    let fold = talk.fold();

    let cells = FabricCell::each_of(&fold);
    let behind = cells.iter().filter(|cell| **cell == FabricCell::Marker).count();
    assert_eq!((behind as u32, fold.accounts.recap), (fold.accounts.marker, 0));

    // 15: not even an identifier survives a marker.
    let found = ask(&talk, "src/birds/redstart.rs", None);
    assert_eq!((found.answer, found.in_recap), (SightAnswer::Gone, false));
    assert_eq!(of(&found, covered).sight, Sight::Marker);
    left_with(of(&found, covered), 1, &fold, "marker");
    // 16: behind the marker, and said again while it still was there.
    let found = ask(&talk, "fieldfare", None);
    assert_eq!(found.answer, SightAnswer::Verbatim);
    assert_eq!(of(&found, twice).sight, Sight::Marker);
    let used = of(&found, twice).used.as_ref().unwrap();
    assert_eq!((used.seq, used.after_left), (again, false));
}

#[test]
fn facts_seventeen_to_twenty_under_reducers() {
    // 17: expired by age.
    let mut talk =
        Talk::new("base = \"projection\"\nname = \"r\"\nreducers = [\"retain\"]\n", 8_000);
    talk.say("system", "You keep birds.");
    let noise = "x ".repeat(400);
    let expired = talk.tool("look", "{}", &format!("{noise} a siskin {noise}"));
    let saved = talk.say("assistant", "Noted.");
    (0..6).for_each(|_| talk.filler(500));
    let fold = talk.fold();
    let found = ask(&talk, "siskin", None);
    assert_eq!(found.answer, SightAnswer::Gone);
    let Sight::Edited { named: false, reducer, reason } = &of(&found, expired).sight else {
        unreachable!("{:?}", of(&found, expired).sight)
    };
    assert_eq!(reducer, "retain");
    assert!(!reason.is_empty());
    left_with(of(&found, expired), 1, &fold, "retain");
    assert_eq!(ask(&talk, "Noted.", None).occurrences[0].seq, saved);

    // 18, 19: one result stubbed, of which the error line stays; 20: a duplicate points to the
    // newer one.
    let policy = "base = \"projection\"\nname = \"s\"\nreducers = [\"dedup\", \"stub\"]\n";
    let mut talk = Talk::new(policy, 8_000);
    talk.say("system", "You keep birds.");
    let lines = "all went well in this part of the build\n".repeat(60);
    let stubbed = talk.tool(
        "terminal",
        r#"{"command":"make birds"}"#,
        &format!("{lines}a twite was counted\n{lines}error: cannot open linnet.lock\n{lines}"),
    );
    let same = format!("the whole list of the brambling {}", "and so on ".repeat(100));
    let older = talk.tool("look", "{}", &same);
    let newer = talk.tool("look", "{}", &same);
    (0..6).for_each(|_| talk.filler(500));
    let fold = talk.fold();
    let found = ask(&talk, "twite", None);
    assert_eq!(found.answer, SightAnswer::Gone);
    left_with(of(&found, stubbed), 1, &fold, "stub");
    let found = ask(&talk, "linnet.lock", None);
    assert_eq!(found.answer, SightAnswer::Edited);
    assert!(matches!(&of(&found, stubbed).sight, Sight::Edited { named: true, .. }));
    assert_eq!(of(&found, stubbed).left, None);
    let found = ask(&talk, "brambling", None);
    left_with(of(&found, older), 1, &fold, "dedup");
    assert!(!of(&found, older).sight.named());
    assert!(found.occurrences.iter().any(|occurrence| occurrence.seq == newer));
}

#[test]
fn whole_words_are_found_before_parts_of_words() {
    let mut talk = Talk::new(
        "base = \"default\"\nname = \"w\"\n[tail]\nratio = 0.02\nmin_messages = 2\n",
        6_000,
    );
    let part = talk.say("user", "port 18080 is taken");
    let whole = talk.say("user", "use port 80, not \"8\\0\"");
    let seqs = |found: &Explanation| -> Vec<u32> {
        found.occurrences.iter().map(|occurrence| occurrence.seq).collect()
    };
    assert_eq!(seqs(&ask(&talk, "80", None)), [whole]);
    assert_eq!(seqs(&ask(&talk, "808", None)), [part]);
    assert_eq!(ask(&talk, "\"8\\0\"", None).occurrences.len(), 1);
}

#[test]
fn a_question_without_an_answer_says_why() {
    let p = planted();
    let ask = |text: &str, moment| {
        explain(p.talk.session.log(), p.talk.session.folds(), &p.talk.calls, text, moment)
    };
    assert_eq!(ask("  ", AskedMoment::Now(None)), Err(ExplainError::Empty));
    assert_eq!(ask("x", AskedMoment::Call(9)), Err(ExplainError::NoCall { number: 9, count: 4 }));
    assert_eq!(ask("x", AskedMoment::Call(4)).unwrap().call, Some(4));
    let count = p.talk.session.log().len() as u64;
    let missing = Err(ExplainError::NoEvent { seq: 999_999_999_999, count });
    assert_eq!(ask("@999999999999", AskedMoment::Now(None)), missing);
    let (log, calls) = (p.talk.session.log(), &p.talk.calls);
    let without = explain(log, &[], calls, "x", AskedMoment::Call(4));
    assert!(matches!(without, Err(ExplainError::NoFold(_))));
}

/// An undone fold took nothing away: what it covered is there again.
#[test]
fn what_an_undone_fold_covered_is_back() {
    let mut p = planted();
    p.talk.session.undo(None).unwrap();
    let found = ask(&p.talk, "bittern", None);
    assert_eq!(found.answer, SightAnswer::Verbatim);
    assert_eq!(found.fold.as_ref().unwrap().id, p.folds[0].id);
    assert_eq!(of(&found, p.second).left, None);
    assert_eq!(ask(&p.talk, "marmalade", None).answer, SightAnswer::Gone);
    // The call that was made through it still knows.
    assert_eq!(ask(&p.talk, "bittern", Some(4)).answer, SightAnswer::Gone);
}

#[test]
fn the_answer_reads_in_plain_words() {
    let p = planted();
    let text = ask(&p.talk, "tangerine", Some(2)).to_string();
    let id = format!("{:?}", p.folds[0].id);
    for part in [
        "\"tangerine\": the model did not see it at call 2",
        &format!("it left with fold 1 ({id})"),
        "replaced by the recap, which does not say it",
        "by the assistant, after it had left",
        &format!("recall can bring it back: expand event {}", p.used),
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.lines().count() <= 24, "{text}");
}

#[test]
fn a_name_behind_an_escape_in_arguments_is_a_whole_word() {
    let mut talk = Talk::new("base = \"head-tail\"\nname = \"escape\"\n", 6_000);
    talk.say("user", "What is quotaOf?");
    talk.tool("write", r#"{"content":"\n\tquotaOf()"}"#, "done");
    let found = ask(&talk, "quotaOf", None);
    let seqs: Vec<u32> = found.occurrences.iter().map(|occurrence| occurrence.seq).collect();
    assert_eq!(seqs, [0, 1]);
}

#[test]
fn letters_may_be_in_either_case_where_no_message_has_the_text_as_it_is() {
    let mut talk = Talk::new("base = \"head-tail\"\nname = \"case\"\n", 6_000);
    talk.say("user", "Ask Ottoline Brackwater about the CRATE.");
    talk.say("user", "The crate is paid.");
    let seqs = |text: &str| -> Vec<u32> {
        ask(&talk, text, None).occurrences.iter().map(|occurrence| occurrence.seq).collect()
    };
    assert_eq!(seqs("ottoline brackwater"), [0]);
    assert_eq!(seqs("crate"), [1], "what is there as it is comes first");
    assert_eq!(seqs("Ottoline Brackwaters"), [0_u32; 0]);
}

#[test]
fn a_call_of_a_client_had_what_was_appended_up_to_its_answer() {
    let mut talk = Talk::new("base = \"head-tail\"\nname = \"client\"\n", 6_000);
    talk.say("user", "Count the crates.");
    let call = talk.send();
    // A proxy appends these with the next request, which shows what the client sent and what was answered.
    talk.say("user", "They are in the warehouse.");
    talk.say("assistant", "There are seventeen.");
    talk.say("user", "And the barrels?");
    let answer = |text: &str, moment| {
        let found =
            explain(talk.session.log(), talk.session.folds(), &talk.calls, text, moment).unwrap();
        (found.answer, found.events)
    };
    let (client, own) = (AskedMoment::ClientCall(call), AskedMoment::Call(call));
    assert_eq!(answer("warehouse", client), (SightAnswer::Verbatim, 2));
    assert_eq!(answer("seventeen", client), (SightAnswer::NotYet, 2));
    assert_eq!(answer("barrels", client), (SightAnswer::NotYet, 2));
    assert_eq!(answer("warehouse", own), (SightAnswer::NotYet, 1), "a host sends what it appended");
}

#[test]
fn the_verdict_says_who_decides_what_the_model_sees() {
    let p = planted();
    let verdict = |text: &str, reader| ask(&p.talk, text, None).read_by(reader).verdict;
    let client = ContextReader::Client;
    for (text, reader, part) in [
        ("marmalade", client, "leaves it out; its client decides"),
        ("src/parser/lexer.rs", client, "its client decides what the model sees, not midfold"),
        ("zeppelin", ContextReader::Proxied, "are stored with its next request"),
        ("zeppelin", ContextReader::Midfold, "no message says it in these words"),
    ] {
        let said = verdict(text, reader);
        assert!(said.contains(part), "{text} {reader:?}: {said}");
    }
    assert!(!verdict("zeppelin", ContextReader::Midfold).contains("next request"));
}
