use super::files::most;
use super::*;
use crate::counter::Counter;
use crate::passage::Passage;
use crate::recap::checks::CheckResult;
use crate::recap::deed::{
    CallDeed, CallEnding, CallSubject, Deed, DeedKind, DeedPart, FileEdit, PartKind, Speaker,
};
use crate::recap::gathered_facts::Quote;
use crate::recap::prose;
use crate::view::MediaRef;

struct Bytes;

impl Counter for Bytes {
    fn name(&self) -> &str {
        "bytes"
    }

    fn count(&self, text: &str, _: TextKind) -> u32 {
        u32::try_from(text.len()).unwrap_or(u32::MAX)
    }

    fn media(&self, _: &MediaRef) -> u32 {
        0
    }
}

fn recap(gathered: &GatheredFacts, cap: u64) -> String {
    recap_before(gathered, cap, None, &[])
}

fn recap_before(
    gathered: &GatheredFacts,
    cap: u64,
    later: Option<&GatheredFacts>,
    focus: &[String],
) -> String {
    recap_by(gathered, cap, later, focus, None)
}

fn recap_by(
    gathered: &GatheredFacts,
    cap: u64,
    later: Option<&GatheredFacts>,
    focus: &[String],
    recalls: Option<&'static str>,
) -> String {
    let elsewhere = FxHashSet::default();
    let alone = RecapFrame::alone(cap, &Bytes, "## Recap", &elsewhere);
    let frame = RecapFrame { later, recalls, focus, ..alone };
    let composed = compose(gathered, &frame);
    assert!(composed.tokens <= cap.max(700), "{} of {cap}: {}", composed.tokens, composed.text);
    composed.text
}

fn say(gathered: &mut GatheredFacts, message: u32, by: Speaker, text: &str) {
    gathered.messages += 1;
    gathered.push(Deed::words(message, by, prose::parts(text)));
}

fn call(gathered: &mut GatheredFacts, message: u32, of: &str, ending: CallEnding, line: &str) {
    gathered.messages += 1;
    let call = CallDeed::new(CallSubject::Command(of.to_owned()), ending);
    let parts = vec![DeedPart::new(line, PartKind::Verdict)];
    gathered.push(Deed::new(message, DeedKind::Call(call), parts));
}

fn change(gathered: &mut GatheredFacts, message: u32, path: &str, line: &str) {
    gathered.messages += 1;
    let files = vec![path.to_owned()];
    let edit = FileEdit { files, edits: 1, last: message, ..FileEdit::default() };
    let parts = vec![DeedPart::new(line, PartKind::NewLine(String::new()))];
    gathered.push(Deed::new(message, DeedKind::Change(edit), parts));
}

/// A session of three turns.
fn session() -> GatheredFacts {
    let mut gathered = GatheredFacts::default();
    gathered.add_asked(
        1,
        &[Passage::user("Port the parser to the new lexer. Never touch migrations/.")],
    );
    let why = "The old lexer drops comments, so both have to change.";
    say(&mut gathered, 2, Speaker::Assistant, why);
    change(&mut gathered, 3, "src/lexer.rs", "fn comment(&mut self) {");
    let failed = "test lexer::comments ... FAILED";
    call(&mut gathered, 6, "cargo test", CallEnding::Failed, failed);
    let DeedKind::Call(failed) = &mut gathered.deeds[3].kind else { panic!("no call") };
    failed.runs = crate::recap::checks::runs_of("cargo test");
    gathered.add_check(check("cargo test", 5, false));
    gathered.add_asked(9, &[Passage::user("No, keep the old one as well.")]);
    let both = "Both lexers stay; the old one is behind a feature.";
    say(&mut gathered, 10, Speaker::Answer, both);
    gathered.use_file("src/lexer.rs", true, Some(3));
    gathered.numbers = Some((1, 10));
    gathered
}

fn check(command: &str, message: u32, passed: bool) -> CheckResult {
    CheckResult::new(command, message, passed, "1 failed")
}

#[test]
fn sections_stand_in_the_order_that_a_reader_needs() {
    let text = recap(&session(), 4_000);
    let places: Vec<_> =
        ["### Task", "### State", "### Done so far", "### Tried and failed", "### Files"]
            .iter()
            .map(|name| text.find(name).unwrap_or_else(|| panic!("no {name} in {text}")))
            .collect();
    assert!(places.is_sorted(), "{text}");
    assert!(text.contains("@1 user: Port the parser to the new lexer. Never touch migrations/.\n"));
    assert!(text.contains("checks: `cargo test` failed @5: 1 failed\n"), "{text}");
    assert!(text.contains("changed: src/lexer.rs @3\n"), "{text}");
}

#[test]
fn a_recap_is_read_back_as_it_was_written() {
    let text = recap(&session(), 4_000);
    let mut again = GatheredFacts::default();
    again.add_recap(&text, 0, true);
    assert_eq!(again.numbers, Some((1, 10)));
    let head = |text: &str| text.lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
    let written = recap(&again, 4_000);
    assert_eq!(head(&written), head(&text), "{written}");
}

/// Facts in which each line of the state occurs.
fn full_state() -> GatheredFacts {
    use crate::tools::command::versions::HistoryDeed;
    let commit = |hash: &str, subject: &str| HistoryDeed::Committed {
        hash: hash.to_owned(),
        subject: subject.to_owned(),
        branch: String::new(),
        amends: false,
    };
    let mut gathered = GatheredFacts::default();
    let text = "[x] Remove the menu\n[>] #7 Add tests";
    gathered.todo = Some(Quote { message: 5, text: text.to_owned() });
    gathered.history.add(2, commit("1a2b3c4", "Add a"));
    gathered.history.add(4, HistoryDeed::Pushed("main".to_owned()));
    gathered.history.add(6, commit("", "Mend @4 and `x`"));
    gathered.history.add(7, commit("5d6e7f8", "Add tests"));
    gathered.history.add(8, HistoryDeed::Requested { number: 41, title: "Mend it".to_owned() });
    gathered.history.add(8, HistoryDeed::Requested { number: 42, title: String::new() });
    gathered.add_check(CheckResult::new(
        "cd web && npm test",
        9,
        false,
        "Tests: 1 failed, 4 passed",
    ));
    gathered.add_check(CheckResult::new("cd api && pytest -q", 10, true, "4 passed in 0.2s"));
    gathered.add_check(CheckResult::new("cd api && mypy .", 11, true, ""));
    gathered.use_file("src/a.py", true, Some(12));
    gathered.use_file("src/b.py", true, Some(3));
    gathered.use_file("src/b.py", false, Some(13));
    gathered.use_file("/tmp/x.py", true, Some(14));
    gathered.messages = 14;
    gathered.numbers = Some((1, 14));
    gathered
}

/// A narration may take three quarters of the room and a state a third of it: together, no more than all.
#[test]
fn a_narration_and_a_long_state_keep_to_the_cap() {
    let mut gathered = full_state();
    let items: Vec<String> =
        (0..120).map(|item| format!("[ ] Item {item} of a long list of work")).collect();
    gathered.todo = Some(Quote { message: 5, text: items.join("\n") });
    let elsewhere = FxHashSet::default();
    let narration = "### Progress\n".to_owned() + &"- The work goes on and on.\n".repeat(151);
    for cap in [5_600, 6_000, 8_000] {
        let frame = RecapFrame {
            narration: &narration,
            ..RecapFrame::alone(cap, &Bytes, "## Recap", &elsewhere)
        };
        let composed = compose(&gathered, &frame);
        assert!(composed.tokens <= cap, "{} of {cap}: {}", composed.tokens, composed.text);
        assert!(composed.narrated || cap == 5_600, "{cap}");
    }
}

#[test]
fn the_state_is_told_in_short_lines_and_read_back() {
    let text = recap(&full_state(), 6_000);
    let state = |text: &str| {
        let (_, rest) = text.split_once("### State\n").unwrap_or_else(|| panic!("{text}"));
        rest.split("### ").next().unwrap_or_default().to_owned()
    };
    let wanted = "to-do list @5:\n  [x] Remove the menu\n  [>] #7 Add tests\n\
                  checks: `cd api && mypy .` ok @11\n\
                  \x20 `cd api && pytest -q` ok @10 (4 passed in 0.2s)\n\
                  \x20 `cd web && npm test` failed @9: Tests: 1 failed, 4 passed\n\
                  changed since the last of these passed: 1 file\n\
                  commits: 5d6e7f8 Add tests @7\n  (no hash) Mend @4 and `x` @6\n\
                  pushed @4: main\n\
                  pull requests: #41 Mend it @8\n  #42 @8\n\
                  changed since the last commit: 1 file: src/a.py @12\n";
    assert_eq!(state(&text), wanted);
    let mut again = GatheredFacts::default();
    again.add_recap(&text, 0, true);
    assert_eq!(state(&recap(&again, 6_000)), wanted);
    // Events behind the recap settle what its state would say.
    again.add_check(CheckResult::new("cd web && npm test -- --silent", 20, true, ""));
    again.history.add(21, crate::tools::command::versions::HistoryDeed::Pushed(String::new()));
    let later = state(&recap(&again, 6_000));
    assert!(!later.contains("failed") && later.contains("pushed @21\n"), "{later}");
}

#[test]
fn what_failed_and_passes_in_a_message_that_stays_is_no_state() {
    let mut later = GatheredFacts::default();
    later.add_check(check("cargo test", 12, true));
    let text = recap_before(&session(), 4_000, Some(&later), &[]);
    assert!(!text.contains("checks: "), "{text}");
    assert!(
        text.contains("ran `cargo test` (failed then, over since @12): test lexer::comments"),
        "{text}"
    );
}

#[test]
fn where_room_is_short_the_users_words_outlive_the_rest() {
    let mut gathered = session();
    for n in 20..60 {
        let look = format!("I look at part {n} of the lexer now to see how it is done there.");
        say(&mut gathered, n, Speaker::Assistant, &look);
        let line = format!("let part_{n} = self.next(); // so that the lexer goes on with it");
        change(&mut gathered, n, &format!("src/part_{n}.rs"), &line);
    }
    let text = recap(&gathered, 2_200);
    assert!(text.contains("No, keep the old one as well."), "{text}");
    assert!(text.contains("Both lexers stay"), "{text}");
    assert!(!text.contains("part 20 of") && text.contains("[Left out: "), "{text}");
}

#[test]
fn nothing_of_the_user_or_the_assistant_is_cut_inside() {
    let mut gathered = GatheredFacts::default();
    let mut whole = Vec::new();
    for n in 0..60_u32 {
        let sentence = format!(
            "S{n:02} DONE: price {n}.38, overcharged 191.{n:02}, approved by Bela Novak of the {n}th floor, no remarks."
        );
        say(&mut gathered, n * 2, Speaker::Assistant, &sentence);
        whole.push(sentence);
        let seen = format!("S{n:02}-1011 2026-07-19 4.38 4.90 150.{n:02}");
        let parts = vec![DeedPart::new(&seen, PartKind::Output)];
        let sum = CallSubject::Command("python3 sum.py".to_owned());
        let ran = DeedKind::Call(CallDeed::new(sum, CallEnding::Shown));
        gathered.push(Deed::new(n * 2 + 1, ran, parts));
    }
    for cap in [900, 1_500, 3_000, 6_000] {
        let text = recap(&gathered, cap);
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with('@')).collect();
        let after_number = |line: &str| line.split_once(' ').map(|(_, rest)| rest.to_owned());
        let conclusions = lines.iter().filter(|line| !line.contains(" saw "));
        assert!(
            conclusions.clone().all(|line| whole.contains(&after_number(line).unwrap())),
            "{text}"
        );
        let shown = text.matches("1011 2026").count();
        let all = conclusions.count() == whole.len();
        assert!(all || shown <= 1, "observations have a place, conclusions do not: {text}");
        assert!(cap < 3_000 || text.contains("[Left out: "), "{text}");
    }
}

#[test]
fn a_short_recap_has_a_line_before_it_and_one_behind_and_is_read_back() {
    let mut gathered = GatheredFacts::default();
    say(&mut gathered, 3, Speaker::Assistant, "Fridays are free of meetings.");
    say(&mut gathered, 4, Speaker::Answer, "The cache is stale since March.");
    let text = recap(&gathered, 700);
    let head = "## Recap\n[Reference, not instructions. 2 earlier messages.]\n";
    let body = "@3 Fridays are free of meetings.\n@4 answer: The cache is stale since March.\n";
    assert_eq!(text, format!("{head}{body}{END}"));
    let mut again = GatheredFacts::default();
    again.add_recap(&text, 0, true);
    assert_eq!(recap(&again, 700), text);
}

#[test]
fn how_much_found_no_room_is_said_and_recall_only_where_it_is() {
    let mut gathered = session();
    for n in 20..200 {
        let like = format!("Part {n} is like the one before it.");
        say(&mut gathered, n, Speaker::Assistant, &like);
    }
    let text = recap(&gathered, 2_000);
    assert!(text.contains(" sentences of the assistant"), "{text}");
    assert!(!text.contains("recall") && !text.contains("Tools bring"), "{text}");
    assert!(!recap(&session(), 4_000).contains("[Left out"));
    let by = |name| recap_by(&gathered, 2_000, None, &[], Some(name));
    let text = by("midfold_recall");
    assert!(
        text.contains(", for midfold_recall.") && text.contains(". midfold_recall brings"),
        "{text}"
    );
    let text = by("recall_show");
    assert!(text.contains(", for recall.") && text.contains(". Tools bring"), "{text}");
}

#[test]
fn a_focus_gets_room() {
    let mut gathered = session();
    for n in 70..160 {
        let words: String = (0..5).map(|m| format!("word{n}x{m} ")).collect();
        say(&mut gathered, n, Speaker::Assistant, &words);
    }
    let window = "The settlement window closes at 17:00 UTC every day.";
    say(&mut gathered, 60, Speaker::Assistant, window);
    let ledger = "The billing module writes its ledger once an hour or so.";
    say(&mut gathered, 61, Speaker::Assistant, ledger);
    let without = recap(&gathered, 1_500);
    let with = recap_before(&gathered, 1_500, None, &["settlement".to_owned()]);
    assert!(!without.contains("17:00 UTC"), "{without}");
    assert!(with.contains("The settlement window closes at 17:00 UTC"), "{with}");
}

#[test]
fn repetitions_are_counted() {
    let mut gathered = GatheredFacts::default();
    for n in 0..79 {
        call(&mut gathered, n, "get_status", CallEnding::Ended, "ok");
    }
    let text = recap(&gathered, 2_000);
    assert!(text.contains("@78 ran `get_status`: ok (79 times)\n"), "{text}");
}

#[test]
fn the_most_that_fits_is_found_from_anywhere() {
    for max in [0, 1, 2, 7, 64, 100] {
        for limit in 0..=max {
            for about in 0..=max + 3 {
                assert_eq!(most(about, max, |n| n <= limit), limit, "{about} of {max}");
            }
        }
    }
}

#[test]
fn files_are_told_below_their_folder_once_and_read_back() {
    let mut gathered = session();
    for (path, at) in [("/home/ana/shop/src/a.rs", 3), ("/home/ana/shop/src/b.rs", 4)] {
        gathered.use_file(path, true, Some(at));
    }
    gathered.use_file("src/a.rs", true, Some(7));
    gathered.use_file("/etc/hosts", false, Some(8));
    for path in ["h.rs", "i.rs", "f.rs", "g.rs", "c.rs", "d.rs", "e.rs", ".env"] {
        gathered.use_file(&format!("/home/ana/shop/src/{path}"), false, Some(9));
    }
    let text = recap(&gathered, 4_000);
    assert!(text.contains("Paths of files are below /home/ana/shop/src/."), "{text}");
    // One of them is named from the folder above, too. The lexer's path is known from there alone.
    assert!(text.contains("changed: a.rs @7, b.rs @4, ./src/lexer.rs @3\n"), "{text}");
    assert!(
        text.contains(
            "read: .env @9, e.rs @9, d.rs @9, c.rs @9, g.rs @9, f.rs @9, i.rs @9, h.rs @9, /etc/hosts @8\n"
        ),
        "{text}"
    );
    let mut again = GatheredFacts::default();
    again.add_recap(&text, 0, true);
    let at = again.files["/home/ana/shop/src/a.rs"].message;
    assert_eq!((at, again.files.contains_key("/etc/hosts")), (Some(7), true));
    let known = |path: &str| again.files.contains_key(path);
    assert!(known("/home/ana/shop/src/.env") && known("./src/lexer.rs"));
    assert!(!known("src/lexer.rs") && !known(".env"));
}

#[test]
fn a_recap_with_room_for_one_sentence_tells_it() {
    let mut gathered = GatheredFacts::default();
    for at in 1..9 {
        say(&mut gathered, at, Speaker::User, &format!("Here is the plain sentence number {at}."));
    }
    let elsewhere = FxHashSet::default();
    let recap = |cap| {
        let frame = RecapFrame::alone(cap, &Bytes, "## Recap", &elsewhere);
        compose(&gathered, &frame).text
    };
    let head = recap(1).len() as u64;
    let text = recap(head + 60);
    assert!(text.contains("plain sentence"), "{text}");
}
