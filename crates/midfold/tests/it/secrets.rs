//! No secret leaves the log: not in a recap, a record, a prompt, a finding, an answer; and what is no
//! secret stays. `cargo test -p midfold --test it secrets -- --nocapture` prints the counts.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

use std::fmt::Write;

use midfold::core::audit::audit;
use midfold::core::explain::{AskedMoment, explain};
use midfold::core::redact::Redactor;
use midfold::core::verify::{ProofCase, rule, verify};
use midfold::formats::profile::OPENAI;
use midfold::formats::verify::validator;
use midfold::{Budget, DialectKind, EventLog, Fold, Meter, PlanOutcome, Policy, RawEvent, Session};
use midfold_testkit::secrets::{PlantedSecret, innocent, planted};
use serde_json::{Value, json};

const PRESETS: [&str; 7] =
    ["default", "nucleic", "projection", "generous", "hermes", "lean", "verbatim"];
const PLACES: [&str; 6] = ["user", "assistant", "env dump", "argument", "log line", "file"];
const CHAT: DialectKind = DialectKind::OpenAiChat;

fn call(id: &str, command: &str) -> Value {
    let arguments = json!({"command": command}).to_string();
    let function = json!({"name": "bash", "arguments": arguments});
    json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

/// What a step of the conversation looks like that holds `text` in this place.
fn step(place: usize, n: usize, text: &str) -> Vec<Value> {
    let id = format!("call_{place}_{n}");
    let user = |text: String| json!({"role": "user", "content": text});
    let said = |text: String| json!({"role": "assistant", "content": text});
    let result = |text: String| json!({"role": "tool", "tool_call_id": id, "content": text});
    match place {
        0 => vec![user(format!("Use this for app_{n}: {text}")), said(format!("Done: app_{n}."))],
        1 => vec![user(format!("What is in conf_{n}?")), said(format!("I found {text} there."))],
        2 => vec![
            user(format!("Show .env of app_{n}.")),
            call(&id, &format!("cat app_{n}/.env")),
            result(format!("PATH=/usr/bin\nAPP=shop\n{text}\nDEBUG=1")),
        ],
        3 => vec![
            user(format!("Run step_{n}.")),
            call(&id, &format!("cd app_{n}\n{text} \nmake all")),
            result("ok".to_owned()),
        ],
        4 => vec![
            call(&id, &format!("tail -1 log_{n}")),
            result(json!({"level": "info", "n": n, "msg": text}).to_string()),
        ],
        _ => vec![
            call(&id, &format!("cat -n src/conf_{n}.yml")),
            result(format!("    11\tkind: app\n    12\t{text}\n    13\tend: true")),
        ],
    }
}

/// A session with these messages.
fn session_with(messages: &[Value], preset: &str) -> Session {
    let counter = midfold::tokens::by_name("chars:3.2").unwrap();
    let events = messages.iter().map(|message| RawEvent::new(message.to_string().into()));
    let log = EventLog::of(CHAT.shared(), OPENAI, counter, events);
    Session::over("secrets", log, Policy::preset(preset).unwrap(), Meter::exact())
}

fn session_of(texts: &[(usize, String)], preset: &str) -> Session {
    let mut messages = vec![
        json!({"role": "system", "content": "You are careful."}),
        json!({"role": "user", "content": "Set up all of the apps."}),
    ];
    for (n, (place, text)) in texts.iter().enumerate() {
        messages.extend(step(*place, n, text));
    }
    for n in 0..12 {
        messages.push(json!({"role": "user", "content": format!("Now part {n} of the docs.")}));
        messages.push(json!({"role": "assistant", "content": "A part of them. ".repeat(80)}));
    }
    session_with(&messages, preset)
}

fn fold_of(session: &mut Session) -> Fold {
    let window = (session.log().tokens() * 2 / 3).max(6_000);
    match session.compact(&Budget::new(window), None).unwrap() {
        PlanOutcome::Folded(fold) => *fold,
        PlanOutcome::Nothing(reason) => panic!("no fold: {reason}"),
    }
}

/// What verify says of the fold, and whether it finds anything.
fn verified(session: &Session, fold: &Fold) -> (String, bool) {
    let before: Vec<_> = session.log().events().iter().map(|e| e.bytes.clone()).collect();
    let after: Vec<_> = session.view().pieces().map(|piece| piece.bytes.clone()).collect();
    let report = verify(&ProofCase {
        before: &before,
        after: &after,
        envelope: &[],
        dialect: CHAT.dialect(),
        counter: &**session.log().counter(),
        validate: &validator(CHAT, OPENAI),
        budget: None,
        fold: Some(fold),
    });
    let text = report.findings.iter().map(|finding| format!("{finding}\n")).collect();
    (text, report.is_clean())
}

/// All that is said of a fold, by what says it.
fn outputs(session: &Session, fold: &Fold, count: usize) -> Vec<(&'static str, String)> {
    let log = session.log();
    let request = session.request_for(fold, Some("the apps"), 0);
    let prompt = request.map_or(String::new(), |request| {
        let prompt = request.prompt(&request.sources, Some("as before"));
        prompt.system + &prompt.user
    });
    let mut told = String::new();
    // Every message is asked about by a word of it, some of them a preset.
    for n in (0..count).step_by(45) {
        for word in [format!("app_{n}"), format!("conf_{n}"), "DEBUG".to_owned()] {
            let now = AskedMoment::Now(Some(fold.id));
            writeln!(told, "{}", explain(log, session.folds(), &[], &word, now).unwrap()).unwrap();
        }
    }
    let audited = audit(log, session.folds(), None, &[]);
    vec![
        ("recap", fold.recap.as_ref().map(|recap| recap.text.clone()).unwrap_or_default()),
        ("record", serde_json::to_string(fold).unwrap()),
        ("prompt", prompt),
        ("verify", verified(session, fold).0),
        ("audit", format!("{audited}\n{}", serde_json::to_string(&audited).unwrap())),
        ("explain", told),
    ]
}

/// Whether a text says a secret, or a part of it that could be used.
fn says(text: &str, secret: &str) -> bool {
    let parts = secret.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    let usable = |part: &&str| part.len() >= 8 && part.contains(|c: char| c.is_ascii_digit());
    text.contains(secret) || parts.filter(usable).any(|part| text.contains(part))
}

fn corpus() -> Vec<(usize, PlantedSecret)> {
    (0..PLACES.len())
        .flat_map(|place| planted(place as u64 + 1).into_iter().map(move |one| (place, one)))
        .collect()
}

#[test]
fn no_secret_leaves_the_log() {
    let corpus = corpus();
    let texts: Vec<_> = corpus.iter().map(|(place, one)| (*place, one.text.clone())).collect();
    let kinds = planted(1).len();
    assert!(kinds >= 60, "{kinds}");
    let (mut leaks, mut looked) = (Vec::new(), 0);
    for preset in PRESETS {
        let mut session = session_of(&texts, preset);
        let fold = fold_of(&mut session);
        for (output, text) in outputs(&session, &fold, corpus.len()) {
            for (place, one) in &corpus {
                looked += 1;
                if says(&text, &one.secret) {
                    leaks.push(format!("{preset}, {output}: {} in {}", one.kind, PLACES[*place]));
                }
            }
        }
        let (findings, clean) = verified(&session, &fold);
        assert!(clean, "{preset}: {findings}");
    }
    eprintln!(
        "{kinds} kinds in {} places, {} presets, 6 outputs each: {looked} looked for, {} leaks",
        PLACES.len(),
        PRESETS.len(),
        leaks.len()
    );
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn what_is_no_secret_stays() {
    let values = innocent(1_000);
    let mut alarms: Vec<String> = Vec::new();
    for value in &values {
        let alone = Redactor::shared().find(value);
        let quoted = json!({"line": value}).to_string();
        for (text, found) in [(value, alone), (&quoted, Redactor::shared().find(&quoted))] {
            alarms.extend(found.into_iter().map(|at| format!("{text:.120}: {:.60}", &text[at])));
        }
    }
    eprintln!("{} innocent values: {} false alarms", values.len(), alarms.len());
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
    let texts: Vec<_> = values.iter().enumerate().map(|(n, v)| (n % 6, v.clone())).collect();
    let mut session = session_of(&texts, "default");
    let fold = fold_of(&mut session);
    assert!(!fold.recap.unwrap().text.contains("[REDACTED]"));
    assert!(fold.kept_ids.count + fold.lost_ids.count > 500);
}

/// A value that is replaced takes its neighbours with it: such a name is not in the context, and not listed as kept.
#[test]
fn a_name_that_leaves_with_a_secret_is_not_kept() {
    let output = "-exp/.claude/agent-a52886dc\nOn branch worktree-agent-a52886dc\nnothing to commit, working tree \
                  clean\nworktree-agent-a52886dc";
    let mut messages = vec![json!({"role": "user", "content": "Look where you are."})];
    messages.push(call("c1", "./print_pwd && git status && git branch --show-current"));
    messages.push(json!({"role": "tool", "tool_call_id": "c1", "content": output}));
    for n in 0..60 {
        let id = format!("d{n}");
        messages.push(call(&id, &format!("cat part_{n}")));
        let lines = format!("line {n} ").repeat(80);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": lines}));
    }
    let mut session = session_with(&messages, "default");
    let fold = fold_of(&mut session);
    let recap = &fold.recap.as_ref().unwrap().text;
    assert!(
        recap.contains("`./print_pwd`: [REDACTED]"),
        "the test needs a value that is replaced: {recap}"
    );
    let (findings, clean) = verified(&session, &fold);
    assert!(clean, "{findings}");
}

/// What told that a value is a secret may come after it, and not are in the covered span alone.
#[test]
fn a_secret_is_one_wherever_it_stands() {
    let secret = "hunter2correcthorse9";
    let texts = [
        (1, format!("the value {secret} in app_zero")),
        (2, format!("DB_PASSWORD={secret}")),
        (0, format!("log in with {secret}")),
        (3, format!("login {secret}")),
    ];
    for preset in PRESETS {
        let mut session = session_of(&texts, preset);
        let fold = fold_of(&mut session);
        let outputs = outputs(&session, &fold, texts.len());
        for (output, text) in outputs {
            assert!(!says(&text, secret), "{preset}, {output}: {text}");
        }
    }
}

/// The rule looks for the secrets of the log, which a finished recap gives no hint of.
#[test]
fn verify_finds_a_secret_of_the_log_and_does_not_say_it() {
    let secret = "hunter2correcthorse9";
    let mut session = session_of(&[(2, format!("DB_PASSWORD={secret}"))], "default");
    let mut fold = fold_of(&mut session);
    fold.lost_ids.first.push(secret.to_owned());
    fold.kept_ids.first.push(secret.to_owned());
    let (text, clean) = verified(&session, &fold);
    assert!(!clean && text.contains(rule::SECRET) && !text.contains(secret), "{text}");
}
