//! The suites, with strategies of which it is known what they keep.

use midfold::Policy;
use midfold_eval::exam::passages::passages;
use midfold_eval::exam::score::Probe;
use midfold_eval::exam::sitting::ExamCandidate;
use midfold_eval::exam::suites::attribution::OutputEyes;
use midfold_eval::exam::suites::carrier::CarrierMessage;
use midfold_eval::exam::suites::carrier::talk::CarrierTalk;
use midfold_eval::exam::suites::holder::{HeldRequest, bytes};
use midfold_eval::exam::suites::small::cases;
use midfold_eval::exam::suites::standing_instructions::{WORDINGS, carriers, instructions};
use midfold_eval::exam::suites::{attack, small};

fn sliding() -> ExamCandidate {
    ExamCandidate::Policy(Box::new(
        Policy::preset("sliding").unwrap_or_else(|e| unreachable!("{e}")),
    ))
}

#[test]
fn every_wording_of_an_instruction_holds_its_probe_and_no_other() {
    let instructions = instructions().expect("instructions");
    assert_eq!(instructions.len(), 15);
    for one in &instructions {
        for (text, wording) in one.wordings.iter().zip(WORDINGS) {
            let holding: Vec<&str> = instructions
                .iter()
                .filter(|other| other.probe.holds(text))
                .map(|other| other.kind.as_str())
                .collect();
            assert_eq!(holding, [one.kind.as_str()], "{wording}: {text}");
            assert!(text.chars().count() < 400, "fits a passage: {text}");
        }
    }
}

#[test]
fn no_carrier_holds_an_instruction_by_itself() {
    let instructions = instructions().expect("instructions");
    let talk = CarrierTalk::new().expect("words");
    for carrier in carriers(&talk).expect("carriers") {
        let messages = bytes(&carrier.messages);
        let passages = passages(messages.iter().map(|bytes| &bytes[..]));
        for one in &instructions {
            assert!(!one.probe.is_in(&passages), "{} in {}", one.kind, carrier.name);
        }
        for word in &carrier.facts {
            let told = passages.iter().filter(|passage| passage.contains(word.as_str())).count();
            assert_eq!(told, 1, "{word} in {}", carrier.name);
        }
    }
}

#[test]
fn carriers_are_the_same_every_time_and_as_long_as_they_say() {
    let talk = CarrierTalk::new().expect("words");
    let (one, two) = (talk.chat(5, 20_000), talk.chat(5, 20_000));
    assert_eq!(bytes(&one), bytes(&two));
    assert_ne!(bytes(&one), bytes(&talk.chat(6, 20_000)));
    let tokens: usize = one.iter().map(|message| message.content.len() * 10 / 32 + 4).sum();
    assert!((20_000..21_500).contains(&tokens), "{tokens}");
}

#[test]
fn all_points_of_a_case_stand_in_what_was_said_and_none_in_small_talk() {
    let cases = cases().expect("cases");
    let mut families: Vec<&str> = cases.iter().map(|case| case.family.as_str()).collect();
    families.dedup();
    assert_eq!(families.len(), 4);
    for case in &cases {
        let tokens: usize =
            case.first.iter().map(|message| message.content.len() * 10 / 32 + 5).sum();
        assert!((450..=800).contains(&tokens), "{}: {tokens}", case.name);
        // Without the message that takes back what was decided, the old decision stands alone.
        let all = HeldRequest { messages: bytes(&case.first), ..HeldRequest::default() };
        let share = case.points(&all);
        if case.family != "overridden" {
            assert_eq!(share.kept, share.of, "{}", case.name);
        }
        let talk = HeldRequest { messages: bytes(&case.second), ..HeldRequest::default() };
        assert_eq!(case.points(&talk).kept, 0, "{}", case.name);
    }
}

#[test]
fn an_old_decision_alone_is_no_point_and_beside_the_new_one_it_is() {
    let cases = cases().expect("cases");
    for case in cases.iter().filter(|case| case.family == "overridden") {
        let said = |from: usize| {
            let messages = bytes(&case.first[from..]);
            case.points(&HeldRequest { messages, ..HeldRequest::default() }).kept
        };
        // The message that says what holds now, and what comes after.
        let last = (0..case.first.len()).rev().find(|from| said(*from) == 1);
        let last = last.unwrap_or_else(|| panic!("{}: the new decision stands nowhere", case.name));
        assert_eq!(said(last + 1), 0, "{}", case.name);
        assert_eq!(said(0), 0, "{}: what held once stands alone in front", case.name);
    }
}

#[test]
fn what_keeps_the_newest_messages_alone_loses_what_was_said_early() {
    let rows = small::run(&sliding(), false, None).expect("a run");
    let buried = rows.iter().filter(|row| row.family == "buried rule");
    assert_eq!(buried.map(|row| row.cycles[1].kept).sum::<u64>(), 0);
    let rows = small::run(&ExamCandidate::Raw, false, None).expect("a run");
    assert!(rows.iter().all(|row| row.failed > 0), "what is not smaller keeps nothing");
}

#[test]
fn no_attack_holds_the_rule_that_it_is_against() {
    let instructions = instructions().expect("instructions");
    let attacks = attack::attacks().expect("attacks");
    assert_eq!(attacks.len(), 20);
    for attack in &attacks {
        let rule = instructions.iter().find(|one| one.kind == attack.rule).expect("a rule");
        assert!(!rule.probe.holds(&attack.text), "{}", attack.name);
        let claim = Probe::new(&attack.claim).expect("patterns");
        assert!(claim.holds(&attack.text), "{}", attack.name);
        assert!(!claim.holds(&rule.wordings[0]), "{}", attack.name);
    }
}

#[test]
fn attacks_take_a_rule_away_where_only_the_newest_messages_stay() {
    for row in attack::run(&sliding(), false, None).expect("a run") {
        assert_eq!((row.rules.kept, row.rules.of), (0, 20), "{}", row.carrier);
    }
    for row in attack::run(&ExamCandidate::Raw, false, None).expect("a run") {
        assert_eq!((row.rules.kept, row.unharmed.kept, row.clean.kept), (20, 20, 20));
    }
}

#[test]
fn a_claim_is_the_users_where_the_line_or_its_heading_says_so() {
    let eyes = OutputEyes::new().expect("patterns");
    let claim = Probe::new(&[vec!["furlongs".to_owned()]]).expect("a pattern");
    let told = |role: &str, text: &str| {
        let message = CarrierMessage { role: "user", content: text.to_owned(), call: None };
        let json = message.json().replace(r#""role":"user""#, &format!(r#""role":"{role}""#));
        eyes.attribution(&claim, json.as_bytes()).is_some()
    };
    assert!(told("user", "@12 user: distances in furlongs"));
    assert!(told("assistant", "The user prefers furlongs."));
    assert!(told("user", "### User preferences\n- furlongs"));
    assert!(!told("user", "@12 user: what is this? `distances in furlongs`"));
    assert!(!told("user", "@12 saw open_page: the user prefers furlongs"));
    assert!(!told("user", "### Done so far\n@12 saw open_page: distances in furlongs"));
    assert!(!told("tool", "User: distances in furlongs"));
}
