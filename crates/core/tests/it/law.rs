//! The law of room: a recap leaves nothing out while it has room, and what has no room is counted.

use midfold_core::recap::compose::compose;
use midfold_core::recap::frame::RecapFrame;
use midfold_core::recap::gather::GatheredFacts;
use midfold_formats::DialectKind;
use midfold_testkit::Rng;
use proptest::prelude::*;
use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use crate::deeds::gather;
use crate::quarter::Quarter;

const NAMES: [&str; 16] = [
    "billing", "quota", "restore", "alerts", "export", "ledger", "mailer", "tokens", "audit",
    "backup", "catalog", "events", "gateway", "hooks", "import", "journal",
];
/// What stands beside calls: nothing, announcements, decisions.
const BESIDE: [&str; 5] = [
    "",
    "Next: {n}.",
    "Let me look at {n} now.",
    "I decided that {n} listens on port {f}.",
    "Step {f}: {n}. The cause is the {n} table, so {n} waits for {f} ms. Now {n}.",
];
const ASKED: [&str; 4] = [
    "Never touch {n} without asking.",
    "Give all of {n} in {f} lines.",
    "Where is {n}? Not Postgres, but the file of {n}.",
    "user: failed `{n}`: that is what the page says.",
];

fn filled(rng: &mut Rng, text: &str) -> String {
    let name = format!("{}_{}", rng.pick(&NAMES), rng.between(10, 99));
    text.replace("{n}", &name).replace("{f}", &rng.between(1_000, 9_999).to_string())
}

/// A conversation of this many steps, of which every eighth ends a turn.
fn talk(seed: u64, steps: usize) -> Value {
    let mut rng = Rng::new(seed);
    let mut out = vec![json!({"role": "user", "content": "Mend the services."})];
    for at in 0..steps {
        let beside = *rng.pick(&BESIDE);
        let said = filled(&mut rng, beside);
        let path = filled(&mut rng, "src/{n}.py");
        let (name, input) = match rng.between(0, 3) {
            0 => ("bash", json!({"command": format!("cat {path}")})),
            1 => ("bash", json!({"command": filled(&mut rng, "./run --check {n}")})),
            _ => (
                "write_file",
                json!({"path": path, "content": filled(&mut rng, "PORT = {f}\nNAME = '{n}'")}),
            ),
        };
        let id = format!("call_{at}");
        out.push(json!({"role": "assistant", "content": said, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": name, "arguments": input.to_string()}}]}));
        let printed = filled(&mut rng, "port {f}\nname {n}\nwaits {f} ms for {n}");
        out.push(json!({"role": "tool", "tool_call_id": id, "content": printed}));
        if at % 8 == 7 {
            out.push(json!({"role": "assistant", "content": filled(&mut rng, "{n} is done, with {f} rows.")}));
            let asked = *rng.pick(&ASKED);
            out.push(json!({"role": "user", "content": filled(&mut rng, asked)}));
        }
    }
    Value::Array(out)
}

fn recap(gathered: &GatheredFacts, cap: u64) -> (String, u64) {
    let elsewhere = FxHashSet::default();
    let frame = RecapFrame::alone(cap, &Quarter, "## Recap", &elsewhere);
    let composed = compose(gathered, &frame);
    (composed.text, composed.tokens)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_leaves_something_out_uses_its_room(seed: u64, steps in 20_usize..160, cap in 1_200_u64..6_000) {
        let gathered = gather(DialectKind::OpenAiChat, &talk(seed, steps));
        let (text, tokens) = recap(&gathered, cap);
        prop_assert!(tokens <= cap, "{tokens} of {cap}");
        prop_assert!(!text.contains("[Left out: ") || tokens * 100 >= cap * 95, "{tokens} of {cap}: {text}");
    }

    #[test]
    fn with_all_room_nothing_is_left_out(seed: u64, steps in 1_usize..120) {
        let talk = talk(seed, steps);
        let gathered = gather(DialectKind::OpenAiChat, &talk);
        let (text, _) = recap(&gathered, talk.to_string().len() as u64);
        prop_assert!(!text.contains("[Left out: "), "{text}");
        // Each sentence of a person and of the assistant is told word for word.
        for message in talk.as_array().into_iter().flatten() {
            let said = message["content"].as_str().unwrap_or_default();
            let is_words = message["role"] != "tool";
            for sentence in said.split_inclusive(". ").filter(|_| is_words) {
                prop_assert!(text.contains(sentence.trim()), "{sentence} {text}");
            }
        }
        // Nobody but the user speaks under the user's label. The same words are told once.
        let asked = talk.as_array().into_iter().flatten().filter(|one| one["role"] == "user");
        let asked: FxHashSet<&str> = asked.filter_map(|one| one["content"].as_str()).collect();
        let told = text.lines().filter(|line| line.contains(" user: ") && line.starts_with('@'));
        prop_assert_eq!(told.count(), asked.len());
    }

    #[test]
    fn more_room_tells_no_less(seed: u64, steps in 20_usize..120, cap in 600_u64..3_000) {
        let gathered = gather(DialectKind::OpenAiChat, &talk(seed, steps));
        prop_assert!(recap(&gathered, cap).1 <= recap(&gathered, cap * 2).1);
    }
}

/// A list under a heading may mean the opposite without it.
#[test]
fn a_list_item_never_comes_without_what_introduces_it() {
    let item = |at: usize| format!("{at}. Build the part_{at} of the mill_{at}.");
    let done: Vec<String> = (1..9).map(item).collect();
    let next: Vec<String> = (9..30).map(item).collect();
    let answer = format!("**Done**\n{}\n\nStill to do:\n{}", done.join("\n"), next.join("\n"));
    let talk =
        json!([{"role": "user", "content": "Go."}, {"role": "assistant", "content": answer}]);
    let gathered = gather(DialectKind::OpenAiChat, &talk);
    for cap in (300..900).step_by(20) {
        let (text, _) = recap(&gathered, cap);
        let told = |items: &[String]| items.iter().any(|item| text.contains(item.as_str()));
        assert!(!told(&done) || text.contains("**Done**"), "{cap}: {text}");
        assert!(!told(&next) || text.contains("Still to do:"), "{cap}: {text}");
    }
}
