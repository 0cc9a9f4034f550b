use super::files::most;
use super::*;
use crate::counter::Counter;
use crate::passage::Passage;
use crate::recap::checks::CheckResult;
use crate::recap::gathered_facts::Quote;
use crate::recap::statement::Statement;
use crate::recap::statement::StatementSentence;
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
    let frame = RecapFrame {
        cap,
        narration: "",
        put_back: "",
        counter: &Bytes,
        header: "## Recap",
        elsewhere: &FxHashSet::default(),
        later,
        task_in_head: false,
        task_elsewhere: false,
        file_blocks: false,
        before: None,
        recalls,
        focus,
        stayed: &[],
        reminders: &[],
        open: &[],
    };
    let composed = compose(gathered, &frame);
    assert!(composed.tokens <= cap.max(700), "{} of {cap}: {}", composed.tokens, composed.text);
    composed.text
}

fn told(
    gathered: &mut GatheredFacts,
    message: u32,
    kind: StatementKind,
    lead: &str,
    parts: &[&str],
) {
    let parts = parts.iter().map(|part| StatementSentence::new(part, 100)).collect();
    gathered.messages += 1;
    gathered.push(Statement::new(message, kind, lead.to_owned(), parts));
}

/// A session of three turns.
fn session() -> GatheredFacts {
    let mut gathered = GatheredFacts::default();
    gathered.add_asked(
        1,
        &[Passage::user("Port the parser to the new lexer. Never touch migrations/.")],
    );
    told(
        &mut gathered,
        2,
        StatementKind::Said,
        "",
        &["The old lexer drops comments, so both have to change."],
    );
    told(&mut gathered, 3, StatementKind::Changed, "src/lexer.rs:", &["fn comment(&mut self) {"]);
    told(
        &mut gathered,
        6,
        StatementKind::Failed,
        "`cargo test`:",
        &["test lexer::comments ... FAILED"],
    );
    gathered.add_check(check("cargo test", 5, false));
    gathered.add_asked(9, &[Passage::user("No, keep the old one as well.")]);
    told(
        &mut gathered,
        10,
        StatementKind::Concluded,
        "",
        &["Both lexers stay; the old one is behind a feature."],
    );
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
        text.contains("failed `cargo test` (ok at @12): test lexer::comments ... FAILED"),
        "{text}"
    );
}

#[test]
fn where_room_is_short_the_users_words_outlive_the_rest() {
    let mut gathered = session();
    for n in 20..60 {
        let look = format!("I look at part {n} of the lexer now to see how it is done there.");
        told(&mut gathered, n, StatementKind::Said, "", &[&look]);
        let line = format!("let part_{n} = self.next(); // so that the lexer goes on with it");
        told(&mut gathered, n, StatementKind::Changed, &format!("src/part_{n}.rs:"), &[&line]);
    }
    let text = recap(&gathered, 2_200);
    assert!(text.contains("No, keep the old one as well."), "{text}");
    assert!(text.contains("Both lexers stay"), "{text}");
    assert!(!text.contains("part 20 of"), "{text}");
}

#[test]
fn nothing_of_the_user_or_the_assistant_is_cut_inside() {
    let mut gathered = GatheredFacts::default();
    let mut whole = Vec::new();
    for n in 0..60_u32 {
        let said = format!(
            "S{n:02} DONE: price {n}.38, overcharged 191.{n:02}, approved by Bela Novak of the {n}th floor, no remarks."
        );
        told(&mut gathered, n * 2, StatementKind::Said, "", &[&said]);
        whole.push(said);
        let seen = format!("S{n:02}-1011 2026-07-19 4.38 4.90 150.{n:02}");
        told(&mut gathered, n * 2 + 1, StatementKind::Ran, "`python3 sum.py`:", &[&seen]);
    }
    for cap in [900, 1_500, 3_000, 6_000] {
        let text = recap(&gathered, cap);
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with('@')).collect();
        let told = |line: &str| line.split_once(' ').map(|(_, told)| told.to_owned());
        let conclusions = lines.iter().filter(|line| !line.contains(" ran "));
        assert!(conclusions.clone().all(|line| whole.contains(&told(line).unwrap())), "{text}");
        let runs = lines.len() - conclusions.clone().count();
        let all = conclusions.count() == whole.len();
        assert!(all || runs == 0, "observations have a place, conclusions do not: {text}");
        assert!(cap < 3_000 || text.contains("[Left out: "), "{text}");
    }
}

#[test]
fn a_short_recap_has_a_line_before_it_and_one_behind_and_is_read_back() {
    let mut gathered = GatheredFacts::default();
    told(&mut gathered, 3, StatementKind::Said, "", &["Fridays are free of meetings."]);
    told(&mut gathered, 4, StatementKind::Concluded, "", &["The cache is stale since March."]);
    let text = recap(&gathered, 700);
    let head = "## Recap\n[Reference, not instructions. 2 earlier messages.]\n";
    let body = "@3 Fridays are free of meetings.\n@4 answer: The cache is stale since March.\n";
    assert_eq!(text, format!("{head}{body}{END}"));
    let mut again = GatheredFacts::default();
    again.add_recap(&text, 0, true);
    assert_eq!(recap(&again, 700), text);
}

#[test]
fn what_the_user_replaced_is_not_told_beside_what_holds() {
    let mut gathered = session();
    gathered.add_asked(20, &[Passage::user("We take Postgres for the register.")]);
    gathered.add_asked(24, &[Passage::user("Never edit the files of folder gen.")]);
    gathered.add_asked(28, &[Passage::user("Not Postgres: we take MariaDB for the register.")]);
    gathered.add_asked(32, &[Passage::user("Never edit the files of folder Api2.")]);
    let text = recap(&gathered, 4_000);
    assert!(!text.contains("We take Postgres") && text.contains("we take MariaDB"), "{text}");
    // A sentence with the same words and other names is another rule.
    assert!(text.contains("folder gen.") && text.contains("folder Api2."), "{text}");
    // The user repeated the rule behind the recap, so it needs no place in the recap.
    let mut later = GatheredFacts::default();
    later.add_asked(
        40,
        &[Passage::user("No Postgres for the register, then: we take the MariaDB on Friday.")],
    );
    let text = recap_before(&gathered, 4_000, Some(&later), &[]);
    assert!(!text.contains("we take MariaDB"), "{text}");
}

#[test]
fn how_much_found_no_room_is_said_and_recall_only_where_it_is() {
    let mut gathered = session();
    for n in 20..200 {
        told(
            &mut gathered,
            n,
            StatementKind::Said,
            "",
            &[&format!("Part {n} is like the one before it.")],
        );
    }
    let text = recap(&gathered, 2_000);
    assert!(text.contains(" statements of the assistant"), "{text}");
    assert!(!text.contains("recall") && !text.contains("Tools bring"), "{text}");
    assert!(!recap(&session(), 4_000).contains("[Left out"));
    let by = |name| recap_by(&gathered, 2_000, None, &[], Some(name));
    let text = by("midfold_recall");
    assert!(
        text.contains(", for midfold_recall.") && text.contains(". midfold_recall brings"),
        "{text}"
    );
    let text = by("recall_expand");
    assert!(text.contains(", for recall.") && text.contains(". Tools bring"), "{text}");
}

#[test]
fn a_focus_gets_room() {
    let mut gathered = session();
    for n in 70..160 {
        let said: String = (0..5).map(|m| format!("word{n}x{m} ")).collect();
        told(&mut gathered, n, StatementKind::Said, "", &[&said]);
    }
    told(
        &mut gathered,
        60,
        StatementKind::Said,
        "",
        &["The settlement window closes at 17:00 UTC every day."],
    );
    told(
        &mut gathered,
        61,
        StatementKind::Said,
        "",
        &["The billing module writes its ledger once an hour or so."],
    );
    let without = recap(&gathered, 1_500);
    let with = recap_before(&gathered, 1_500, None, &["settlement".to_owned()]);
    assert!(!without.contains("17:00 UTC"), "{without}");
    assert!(with.contains("The settlement window closes at 17:00 UTC"), "{with}");
}

#[test]
fn repetitions_are_counted() {
    let mut gathered = GatheredFacts::default();
    for n in 0..79 {
        told(&mut gathered, n, StatementKind::Ran, "get_status:", &["ok"]);
    }
    let text = recap(&gathered, 2_000);
    assert!(text.contains("@78 ran get_status: ok (79 times)\n"), "{text}");
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
