//! What was needed, and what of it was there.

use bytes::Bytes;
use midfold_core::policy::Policy;
use midfold_eval::replay::{KeptShare, NameClass, Recording, ReplayError, ReplayStrategy};
use midfold_formats::DialectKind;

use super::bench::{Does, Talk, log, outside, run, said, with};

fn share(need: u64, have: u64) -> KeptShare {
    KeptShare { need, have }
}

/// A task with two names, talk that hides it, and an answer that uses both and a new one.
fn hidden(filler: usize) -> Talk {
    Talk::default()
        .say("user", "Look at src/alpha.rs for FRE-512.")
        .say("assistant", "Looking.")
        .filler("user", filler)
        .say("assistant", "It is in src/alpha.rs as FRE-512 says, beta_gamma is new.")
}

/// The first message gives way to this text; the others stay.
fn instead(text: &str) -> impl FnMut(&[Bytes]) -> Vec<Bytes> {
    let new = said("user", text);
    move |messages| std::iter::once(new.clone()).chain(messages[1..].iter().cloned()).collect()
}

#[test]
fn recall_is_what_the_answer_uses_of_history_and_the_context_holds() {
    let talk = hidden(12_000);
    for (text, have) in [("gone", 0), ("about src/alpha.rs", 1), ("FRE-512: src/alpha.rs.", 2)] {
        let found = outside(&talk, 2_000, instead(text));
        assert_eq!(found.measures.recall, share(2, have), "{text}");
        assert_eq!(found.measures.at_risk, share(2, have), "{text}");
        // The first request had a history within 0.8 windows.
        assert_eq!((found.measures.requests, found.measures.counted), (2, 1));
        assert_eq!(found.requests[0].at_risk, KeptShare::default());
        assert_eq!(found.requests[1].at_risk, share(2, have));
    }
}

#[test]
fn at_risk_starts_where_the_newest_messages_reach_twelve_thousand_characters() {
    // "Looking." has 8 characters; the message that crosses the line still counts as new.
    for (filler, at_risk) in [(11_991, 0), (11_992, 2), (12_000, 2)] {
        let found = outside(&hidden(filler), 2_000, instead("gone"));
        assert_eq!(found.measures.at_risk, share(at_risk, 0), "{filler}");
        assert_eq!(found.measures.recall, share(2, 0));
    }
}

#[test]
fn rare_words_occurred_fewer_than_five_times_before() {
    let talk = Talk::default()
        .say("user", "zebra zebra zebra zebra quokka quokka quokka quokka quokka ox")
        .say("assistant", "fine")
        .filler("user", 12_000)
        .say("assistant", "zebra, quokka, ox and unheard");
    let rare = |text: &str| outside(&talk, 2_000, instead(text)).measures.rare;
    assert_eq!(rare("gone"), share(1, 0), "ox is too short, quokka not rare, unheard is new");
    assert_eq!(rare("a zebra"), share(1, 1));
    assert_eq!(rare("zebras"), share(1, 0), "a word is a whole word");
}

#[test]
fn names_in_arguments_are_those_that_the_agent_meant() {
    let arguments = r#"{"content":"\n\tquotaOf(zebra)"}"#;
    let talk = Talk::default()
        .say("user", "Write it.")
        .call("c1", "write", arguments)
        .result("c1", "done")
        .filler("user", 12_000)
        .call("c2", "write", arguments)
        .result("c2", "done");
    // With the escapes of the JSON it would read `tquotaOf`.
    for (text, have) in [("quotaOf", 1), ("tquotaOf", 0)] {
        let recording = Recording::new(log(DialectKind::OpenAiChat, &talk.0));
        // The task, the call and its result give way to the text.
        let mut engine =
            Does(|messages: &[Bytes], _| Ok([&[said("user", text)], &messages[3..]].concat()));
        let found = run(&recording, ReplayStrategy::Outside(&mut engine), 2_000).unwrap().measures;
        assert_eq!(found.at_risk, share(1, have), "{text}");
        assert_eq!(found.rare, share(4, have), "{text}: write, content, zebra and it");
    }
}

#[test]
fn every_class_of_name_is_told_and_counted() {
    let names = "src/alpha.rs fooBar FRE-512 12345 db-prod-1:5432 a9f83c2 \"hello you\"";
    let talk = Talk::default()
        .say("user", names)
        .say("assistant", "fine")
        .filler("user", 12_000)
        .say("assistant", names);
    let found = outside(&talk, 2_000, instead("src/alpha.rs 12345 say hello you"));
    for (class, share) in NameClass::ALL.iter().zip(found.measures.classes) {
        let have = matches!(class, NameClass::Path | NameClass::Number | NameClass::Quote);
        assert_eq!((share.need, share.have), (1, u64::from(have)), "{class:?}");
    }
    assert_eq!(found.measures.at_risk, share(6, 2), "what stood in quotes is no identifier");
}

#[test]
fn rules_survive_word_for_word_with_white_space_folded() {
    let talk = Talk::default()
        .say("user", "Look.\nNever   touch db/x.sql! It is fine.\n```\nmust()\n```")
        .say("assistant", "fine")
        .filler("user", 12_000)
        .say("assistant", "one")
        .say("user", "go on")
        .say("assistant", "two");
    let rules = |text: &str| outside(&talk, 2_000, instead(text)).measures.rules;
    assert_eq!(rules("never touch db/x.sql"), share(2, 0), "said otherwise");
    assert_eq!(rules("He said: Never touch\n db/x.sql! So be it."), share(2, 2));
}

/// Two files are used, then a fold: what an engine makes of them is given by the test.
fn files() -> Talk {
    Talk::default()
        .say("user", "Go.")
        .call("c1", "read_file", r#"{"path":"src/a.rs"}"#)
        .result("c1", "fn a() {}")
        .call("c2", "edit_file", r#"{"path":"src/b.rs","old":"x","new":"y"}"#)
        .result("c2", &"it went on as before ".repeat(400))
        .say("user", "Go on.")
        .say("assistant", "Done.")
        .call("c3", "read_file", r#"{"path":"src/a.rs"}"#)
        .result("c3", "fn a() {}")
        .say("assistant", "Read.")
}

#[test]
fn files_count_as_known_where_the_context_says_how_they_were_used() {
    let trail = |text: &str| {
        let text = text.to_owned();
        let found = outside(&files(), 2_000, move |messages| {
            vec![messages[0].clone(), said("user", &text), messages[5].clone()]
        });
        (found.measures.read, found.measures.modified)
    };
    // Three requests from the fold on, one file of each kind before it; the second request's
    // answer reads src/a.rs again, so that the third holds a call that names it as read.
    assert_eq!(trail("nothing"), (share(3, 1), share(3, 0)));
    assert_eq!(trail("modified: src/b.rs\nread: src/a.rs"), (share(3, 3), share(3, 3)));
    assert_eq!(trail("read: src/b.rs, src/a.rs"), (share(3, 3), share(3, 0)));
    assert_eq!(trail("modified: lib/src/b.rs, src/a.rs"), (share(3, 3), share(3, 0)));
}

#[test]
fn a_read_counts_as_repeated_when_its_result_is_gone() {
    let rereads =
        |engine: fn(&[Bytes]) -> Vec<Bytes>| outside(&files(), 2_000, engine).measures.rereads;
    assert_eq!(rereads(|messages| vec![messages[0].clone(), messages[5].clone()]), 1);
    assert_eq!(
        rereads(|messages| messages[..3].iter().chain(&messages[5..]).cloned().collect()),
        0
    );
    let stub = |messages: &[Bytes]| {
        let stub = Talk::default().result("c1", "[cleared]").0.remove(0);
        let mut all = messages.to_vec();
        all[2] = stub;
        all
    };
    assert_eq!(rereads(stub), 1, "the call is there, what it brought is not");
    let found = run(&files().recording(), ReplayStrategy::Raw, 2_000).unwrap();
    assert_eq!(found.measures.rereads, 0);
}

#[test]
fn losses_say_where_when_how_often_and_whether_a_search_helps() {
    // More names than a search brings back, and one behind them.
    let crowd: String = (0..300).map(|n| format!("f{n:03}.rs ")).collect();
    let talk = Talk::default()
        .say("user", &format!("src/alpha.rs {crowd} FRE-51267894561234567890"))
        .say("assistant", "src/alpha.rs it is")
        .filler("user", 12_000)
        .say("assistant", "FRE-51267894561234567890 and src/alpha.rs")
        .filler("user", 12_000)
        .say("assistant", "src/alpha.rs again");
    let recording = talk.recording();
    let mut cut = Does(|messages: &[Bytes], _| Ok(vec![messages.last().unwrap().clone()]));
    let strategy = ReplayStrategy::Outside(&mut cut);
    let prices = midfold_eval::prices::PriceTable::reference();
    let found = with(&recording, strategy, 2_000, &prices, true).unwrap();
    let losses: Vec<_> = found
        .losses
        .iter()
        .map(|l| (l.id.as_str(), l.class, l.at, l.seen, l.times, l.recalled))
        .collect();
    // Seen last: in message 1 at the first request. At the second one message 3 holds it, but
    // 12,000 characters came since and the engine keeps the newest message alone.
    assert_eq!(
        losses,
        [
            ("src/alpha.rs", NameClass::Path, 3, 1, 2, true),
            ("FRE-51267894561234567890", NameClass::Id, 3, 0, 1, false),
        ]
    );
    assert_eq!(found.measures.reachable, share(3, 2));
    assert!((found.measures.within_reach() - 2.0 / 3.0).abs() < 1e-9);
}

#[test]
fn over_and_invalid_count_requests() {
    let talk = hidden(12_000).filler("user", 400).say("assistant", "Done.");
    let found = run(&talk.recording(), ReplayStrategy::Raw, 2_000).unwrap();
    assert_eq!((found.measures.over, found.measures.invalid), (2, 0));
    assert!(found.folds.is_empty() && found.measures.breaks == 0);
    // Two results without their call are one context that no provider takes.
    let talk = Talk::default()
        .say("user", "Go.")
        .call("c1", "read_file", r#"{"path":"src/a.rs"}"#)
        .result("c1", "fn a() {}")
        .filler("user", 8_000)
        .say("assistant", "Done.")
        .say("user", "More.")
        .say("assistant", "Done.");
    let result = Talk::default().result("c1", "fn a() {}").result("c1", "again").0;
    let found = outside(&talk, 2_000, |messages| {
        let mut all = vec![messages[0].clone()];
        all.extend(result.iter().cloned());
        all
    });
    assert_eq!((found.measures.requests, found.measures.invalid), (3, 2));
}

#[test]
fn an_engine_outside_is_asked_above_the_line_and_its_messages_are_known_again() {
    let talk = hidden(7_000).filler("user", 7_000).say("assistant", "src/alpha.rs");
    let mut asked = Vec::new();
    let found = outside(&talk, 2_000, |messages| {
        asked.push(messages.len());
        let mut all = vec![said("user", "a recap")];
        all.extend(messages[messages.len() - 2..].iter().cloned());
        all
    });
    // 1,780 of 1,600 tokens at the first time; then the recap, two messages, and two more.
    assert_eq!(asked, [3, 5]);
    assert_eq!(found.folds.len(), 2);
    assert_eq!(found.folds[0].recap.as_deref(), Some("a recap"));
    let last = found.folds[1].fates.iter().map(|(cell, n)| (cell.letter(), *n));
    assert_eq!(last.collect::<Vec<_>>(), [('r', 3), ('v', 2)]);
    assert_eq!(found.measures.recall, share(3, 1), "message 3 holds the name at last");
}

#[test]
fn an_engine_that_changes_nothing_is_no_fold() {
    let found = outside(&hidden(12_000), 2_000, <[Bytes]>::to_vec);
    assert_eq!((found.measures.folds, found.measures.breaks, found.measures.over), (0, 0, 1));
    assert!((found.measures.cost_ratio() - 1.0).abs() < 1e-9);
}

#[test]
fn an_engine_that_fails_is_an_error_with_its_words() {
    let mut engine = Does(|_: &[Bytes], window| Err(format!("no room in {window}")));
    let error = run(&hidden(12_000).recording(), ReplayStrategy::Outside(&mut engine), 2_000);
    let error = error.unwrap_err();
    assert!(matches!(&error, ReplayError::Outside(text) if text == "no room in 2000"), "{error}");
}

#[test]
fn what_cannot_fit_is_an_error_and_not_a_figure() {
    let policy = Policy::preset("default").unwrap();
    let error = run(&hidden(40_000).recording(), ReplayStrategy::Stateless(&policy), 2_000);
    assert!(matches!(error.unwrap_err(), ReplayError::Plan(_)));
}
