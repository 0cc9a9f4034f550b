//! The presets: every exact constant of the seeds, and a worked example from each.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use midfold::core::layout::{TailFloor, layout};
use midfold::core::plan::{PlanRequest, plan};
use midfold::core::policy::{
    AgeUnit, CoverExtent, HeadRule, RecapFallback, RecapRole, ReducerName, TailRule,
};
use midfold::formats::profile;
use midfold::{
    Budget, DialectKind, EventLog, Fold, Meter, NoOp, PlanOutcome, Policy, RawEvent, Session,
};
use serde_json::{Value, json};

fn log_of(messages: &[Value]) -> EventLog {
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let events = messages.iter().map(|m| RawEvent::new(m.to_string().into()));
    EventLog::of(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter, events)
}

fn compact(policy: &Policy, messages: &[Value], window: u64) -> (Session, PlanOutcome) {
    let mut session = Session::over("seed", log_of(messages), policy.clone(), Meter::exact());
    let outcome = session.compact(&Budget::new(window), None).unwrap();
    (session, outcome)
}

fn folded(policy: &Policy, messages: &[Value], window: u64) -> (Session, Fold) {
    match compact(policy, messages, window) {
        (session, PlanOutcome::Folded(fold)) => (session, *fold),
        (_, PlanOutcome::Nothing(reason)) => panic!("no fold: {reason}"),
    }
}

fn sent(session: &Session) -> Vec<Value> {
    serde_json::from_slice(&session.view().bytes()).unwrap()
}

fn call(id: &str, name: &str, args: &Value) -> Value {
    let function = json!({"name": name, "arguments": args.to_string()});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn words(n: usize) -> String {
    "word ".repeat(n)
}

/// Head, Middle, Tail's shape: head of 2, six middle messages, four in the tail; the token floor is
/// met three messages back and the message floor pulls in one more.
fn seed_000() -> Vec<Value> {
    vec![
        json!({"role": "system", "content": "You are a careful assistant."}),
        user("Fix the failing build in services/api."),
        assistant(&words(700)),
        user(&words(800)),
        assistant(&words(700)),
        user(&words(900)),
        assistant(&words(700)),
        assistant(&words(600)),
        user("And now the last part."),
        call("c1", "read_file", &json!({"path": "services/api/main.rs"})),
        result("c1", &words(2000)),
        assistant("It is the import in line 3."),
    ]
}

#[test]
fn head_tail_constants() {
    let policy = Policy::preset("head-tail").unwrap();
    assert_eq!(policy.trigger.threshold.0, 8_000);
    assert_eq!(policy.head.rule, HeadRule::FirstUser);
    assert_eq!(
        (policy.tail.rule, policy.tail.ratio.0, policy.tail.min_messages),
        (TailRule::Floors, 2_500, 4)
    );
    assert_eq!(policy.recap.fallback, RecapFallback::Marker);
    assert_eq!(policy.recap.marker, "[Earlier messages truncated]");
    assert_eq!(policy.recap.header, "## Conversation Summary");
    assert_eq!(policy.recap.role, RecapRole::Assistant);
    assert_eq!(policy.recap.cap_tokens, 512);
    let narration = &policy.narration;
    assert_eq!(narration.sections, ["Decisions", "Entities", "Facts", "Open Items"]);
    assert_eq!(
        (narration.words, narration.max_tokens, narration.timeout_seconds),
        (Some(200), Some(512), Some(25))
    );
    assert_eq!(narration.temperature.unwrap().0, 2_000);
    assert!(!narration.on, "the frozen layout of Summarizing Evicted Turns: the marker wins");
}

#[test]
fn seed_000_split_floor_and_flags() {
    let policy = Policy::preset("head-tail").unwrap();
    let (session, fold) = folded(&policy, &seed_000(), 8_000);
    let layout = &fold.layout;
    assert_eq!(layout.head.end, 2, "head 2 msgs");
    assert_eq!(layout.middle.end - layout.middle.start, 6, "compressed 6 middle message(s)");
    assert_eq!(layout.tail.end - layout.tail.start, 4);
    assert_eq!(layout.floor, TailFloor::Messages, "the message floor bound");
    assert!(fold.head_verbatim && fold.tail_verbatim);
    assert_eq!(fold.strategy, "head-tail");
    assert_eq!(session.view().len(), 7, "after compress-in-place: 7 messages");
    assert_eq!(sent(&session)[2], assistant("[Earlier messages truncated]"));
    assert_eq!((fold.evicted, fold.accounts.marker), (6, 6));
}

#[test]
fn seed_000_predicting_the_floor() {
    let mut policy = Policy::preset("head-tail").unwrap();
    let log = log_of(&seed_000());
    let units = log.units();
    policy.tail.min_messages = 2;
    let by_tokens = layout(&log, &units, &policy, 8_000, None);
    // The result alone holds a quarter of the budget; its call comes with it.
    assert_eq!((by_tokens.cover_end, by_tokens.floor), (9, TailFloor::Messages));
    policy.tail.min_messages = 1;
    policy.tail.ratio.0 = 4_000;
    let by_tokens = layout(&log, &units, &policy, 8_000, None);
    assert_eq!((by_tokens.cover_end, by_tokens.floor), (7, TailFloor::Tokens));
}

#[test]
fn seed_000_seam_never_splits_a_pair() {
    // The cut lands on the result; it snaps back to its call.
    let mut policy = Policy::preset("head-tail").unwrap();
    policy.tail.ratio.0 = 0;
    policy.tail.min_messages = 2;
    let log = log_of(&seed_000());
    let cut = layout(&log, &log.units(), &policy, 8_000, None).cover_end;
    assert_eq!(cut, 9, "a cut on the result at 10 would orphan it");
}

/// The evicted middle holds the host and the ticket that the tail asks for.
fn seed_001() -> Vec<Value> {
    let mut messages = vec![
        json!({"role": "system", "content": "You operate databases."}),
        user("Keep the nightly import alive."),
        user("The database is at db-prod-1:5432, the ticket is FRE-512."),
    ];
    for n in 0..12 {
        messages.push(assistant(&format!("Step {n}. {}", words(120))));
        messages.push(user(&format!("Go on with part {n}. {}", words(60))));
    }
    messages.extend([
        assistant("Done so far."),
        user("Which host and which ticket was it?"),
        assistant("Let me look."),
        user("Please."),
    ]);
    messages
}

#[test]
fn seed_001_keeps_identifiers_where_a_recap_stands() {
    let marker = Policy::preset("head-tail").unwrap();
    let (_, fold) = folded(&marker, &seed_001(), 3_000);
    assert_eq!(fold.fallback.map(|stands| stands.as_str()), Some("marker"));
    for id in ["db-prod-1:5432", "FRE-512"] {
        assert!(fold.lost_ids.first.iter().any(|lost| lost == id), "{id} is lost under a marker");
    }
    let computed =
        Policy::from_toml("base = \"head-tail\"\n[recap]\nfallback = \"computed\"").unwrap();
    let (session, fold) = folded(&computed, &seed_001(), 3_000);
    for id in ["db-prod-1", "5432", "FRE-512"] {
        assert!(fold.kept_ids.first.iter().any(|kept| kept == id), "{id} in {:?}", fold.kept_ids);
    }
    let recap = sent(&session)[2].clone();
    assert_eq!(recap["role"], "assistant", "a second system message would be dropped");
    let text = recap["content"].as_str().unwrap();
    assert!(text.starts_with("## Conversation Summary") && text.contains("db-prod-1:5432"));
    assert!(fold.invented_ids.count == 0);
}

/// Summarizing Evicted Turns's cache check: prefix tokens reused on the next turn under a static
/// marker, and under a recap that is made anew each turn.
#[test]
fn seed_001_a_static_marker_keeps_the_prefix() {
    let reused = |policy: &Policy| {
        let mut messages = seed_001();
        let (first, _) = folded(policy, &messages, 3_000);
        // Enough to move the tail: what left it is news to a recap, and nothing to a marker.
        messages
            .extend([assistant(&format!("It was db-prod-2. {}", words(700))), user("And then?")]);
        let (second, _) = folded(policy, &messages, 3_000);
        let (before, after) = (first.view(), second.view());
        let same = before.pieces().zip(after.pieces()).take_while(|(a, b)| a.bytes == b.bytes);
        same.map(|(piece, _)| piece.tokens).sum::<u32>()
    };
    let marker = Policy::preset("head-tail").unwrap();
    let computed =
        Policy::from_toml("base = \"head-tail\"\n[recap]\nfallback = \"computed\"").unwrap();
    assert!(reused(&marker) > reused(&computed), "{} > {}", reused(&marker), reused(&computed));
}

#[test]
fn between_folds_nothing_before_the_new_messages_changes() {
    let policy = Policy::preset("default").unwrap();
    let (mut session, _) = folded(&policy, &seed_001(), 3_000);
    let before: Vec<_> = session.view().pieces().cloned().collect();
    session.append(RawEvent::new(assistant("One more.").to_string().into()));
    let after: Vec<_> = session.view().pieces().cloned().collect();
    assert_eq!(before[..], after[..before.len()]);
}

#[test]
fn hermes_constants() {
    let policy = Policy::preset("hermes").unwrap();
    let threshold = |window| policy.trigger.threshold_tokens(window);
    assert_eq!(threshold(200_000), 100_000, "half the window");
    assert_eq!(threshold(100_000), 64_000, "the floor");
    assert_eq!(threshold(64_000), 54_400, "the floor reaches the window: 0.85 of it");
    assert_eq!(threshold(2), 1, "below the window");
    assert_eq!(
        (policy.head.rule, policy.head.messages, policy.head.count_system),
        (HeadRule::Messages, 3, true)
    );
    assert_eq!(
        (policy.tail.rule, policy.tail.ratio.0, policy.tail.min_messages),
        (TailRule::Ceiling, 2_000, 3)
    );
    assert_eq!(policy.trigger.min_messages, 7);
    assert_eq!((policy.dedup.min_chars, policy.stub.min_chars), (200, 200));
    assert_eq!((policy.arguments.max_chars, policy.arguments.leaf_chars), (500, 200));
    assert_eq!(policy.recap.fallback, RecapFallback::Static);
    assert_eq!(policy.recap.role, RecapRole::Opposite);
    assert_eq!(policy.narration.sections.len(), 13);
    assert_eq!(policy.narration.sections[0], "Active Task");
    assert!(policy.recap.header.starts_with("[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns"));
    assert!(policy.recap.header.ends_with("avoid repeating it:"));
}

#[test]
fn hermes_leaves_seven_messages_alone_and_answers_eight() {
    let policy = Policy::preset("hermes").unwrap();
    let many: Vec<Value> = std::iter::once(json!({"role": "system", "content": "s"}))
        .chain(
            (0..20)
                .map(|n| if n % 2 == 0 { user(&words(9_000)) } else { assistant(&words(9_000)) }),
        )
        .collect();
    let outcome = |n: usize| {
        let session = Session::over("h", log_of(&many[..n]), policy.clone(), Meter::exact());
        plan(&PlanRequest::new(
            session.log(),
            session.policy(),
            &Budget::new(200_000),
            Meter::exact(),
        ))
        .unwrap()
    };
    assert_eq!(outcome(7), PlanOutcome::Nothing(NoOp::TooFewMessages { messages: 7, floor: 7 }));
    assert!(matches!(outcome(8), PlanOutcome::Nothing(NoOp::UnderThreshold { .. })));
    let PlanOutcome::Folded(fold) = outcome(21) else { panic!("over the threshold") };
    assert_eq!(fold.layout.head.end, 3);
    assert_eq!(fold.fallback.map(|stands| stands.as_str()), Some("static"));
    let text = &fold.recap.unwrap().text;
    assert!(text.starts_with(&policy.recap.header));
    assert!(
        text.contains(&format!("{} message(s) were removed to free context space", fold.evicted))
    );
}

/// Hermes Agent's `_align_boundary_forward`: the head never ends inside a tool group.
#[test]
fn hermes_head_is_aligned_forward() {
    let policy = Policy::preset("hermes").unwrap();
    let mut messages = vec![json!({"role": "system", "content": "s"}), user("task")];
    messages.extend([
        call("a", "terminal", &json!({"command": "ls"})),
        result("a", "x"),
        assistant("ok"),
    ]);
    messages.extend((0..9).map(|n| if n % 2 == 0 { user(&words(300)) } else { assistant("ok") }));
    let log = log_of(&messages);
    let found = layout(&log, &log.units(), &policy, 1_000, None);
    assert_eq!(found.head_end, 4, "3 would orphan the result at 3");
}

/// Hermes Agent's tail: the budget may be exceeded by half, three messages stay whatever they cost,
/// and the newest user message is in it.
#[test]
fn hermes_tail_edges() {
    let policy = Policy::preset("hermes").unwrap();
    let tail = |messages: &[Value], window: u64| {
        let log = log_of(messages);
        let found = layout(&log, &log.units(), &policy, window, None);
        log.len() - found.cover_end
    };
    // threshold 64,000 -> 54,400 at a window of 64,000; tail budget 10,880; ceiling 16,320.
    // A message of 12,000 characters costs 3,010 by the seed's rule: five fit, a sixth does not.
    let head = [json!({"role": "system", "content": "s"}), user("task"), assistant("a")];
    let message = |n: usize| {
        if n.is_multiple_of(2) { user(&"x".repeat(12_000)) } else { assistant(&"x".repeat(12_000)) }
    };
    let many: Vec<Value> = head.iter().cloned().chain((0..12).map(message)).collect();
    assert_eq!(tail(&many, 64_000), 5);
    // Three messages that exceed the ceiling alone: three stay.
    let huge: Vec<Value> = head
        .iter()
        .cloned()
        .chain((0..9).map(|n| {
            if n % 2 == 0 { user(&"x".repeat(90_000)) } else { assistant(&"x".repeat(90_000)) }
        }))
        .collect();
    assert_eq!(tail(&huge, 64_000), 3);
    // Everything fits: the cut still leaves something to fold.
    let short: Vec<Value> = head.iter().cloned().chain((0..9).map(|_| assistant("ok"))).collect();
    assert_eq!(tail(&short, 64_000), 3);
}

#[test]
fn hermes_stubs_read_as_in_the_seed() {
    let mut messages =
        vec![json!({"role": "system", "content": "s"}), user("task"), assistant("a")];
    let output = format!("{{\"output\": \"{}\", \"exit_code\": 0}}", "line\\n".repeat(46));
    messages.extend([call("t", "terminal", &json!({"command": "npm test"})), result("t", &output)]);
    let file = "x = 1\n".repeat(567);
    messages.extend([
        call("r", "read_file", &json!({"path": "config.py"})),
        result("r", &file[..3_400]),
    ]);
    messages.extend([
        call("q", "read_file", &json!({"path": "other.py"})),
        result("q", &file[..3_400]),
    ]);
    messages.extend((0..8).map(|n| if n % 2 == 0 { user("go on") } else { assistant("ok") }));
    // The tail budget holds all of this: without one, the newest six messages are protected.
    let policy = Policy::from_toml(
        "base = \"hermes\"\nreducers = [\"dedup\", \"stub\"]\n[tail]\nratio = 0.0",
    )
    .unwrap();
    let (session, fold) = folded(&policy, &messages, 64_000);
    let sent = sent(&session);
    let of = |id: &str| {
        sent.iter().find(|m| m["tool_call_id"] == id).unwrap()["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(of("t").starts_with("[terminal] ran `npm test` -> exit 0, "), "{}", of("t"));
    assert!(of("t").ends_with(" lines output"));
    assert_eq!(of("q"), "[read_file] read other.py from line 1 (3,400 chars)");
    // Identical results: the newest stays (and is then stubbed), the other points to it.
    assert!(of("r").starts_with("[Duplicate tool output"), "{}", of("r"));
    assert_eq!(fold.edits.len(), 3);
    assert!(fold.edits.iter().all(|edit| edit.tokens_after < edit.tokens_before));
}

#[test]
fn nucleic_constants_and_clearing_at_exactly_its_age() {
    let policy = Policy::preset("nucleic").unwrap();
    assert_eq!(policy.trigger.threshold.0, 8_000);
    assert_eq!((policy.head.messages, policy.head.count_system), (2, false));
    assert_eq!((policy.tail.ratio.0, policy.tail.min_messages), (0, 6));
    assert_eq!((policy.retain.unit, policy.retain.age), (AgeUnit::Steps, Some(4)));
    assert_eq!(policy.retain.stub, "[Cleared for context space]");
    assert_eq!(policy.recap.role, RecapRole::Assistant);
    assert!(policy.recap.file_blocks);
    // Pruning alone, to see which results are cleared.
    let prune = Policy::from_toml(
        "base = \"nucleic\"\nreducers = [\"retain\"]\n[fold]\ntarget = 0.0001\n[tail]\nmin_messages = 1",
    )
    .unwrap();
    let mut messages = vec![user("task"), assistant("ok")];
    for n in 0..7 {
        let id = format!("c{n}");
        messages.extend([call(&id, "bash", &json!({"command": "ls"})), result(&id, &words(50))]);
    }
    let (session, _) = folded(&prune, &messages, 8_000);
    let cleared: Vec<bool> = sent(&session)
        .iter()
        .filter(|m| m["role"] == "tool")
        .map(|m| m["content"] == "[Cleared for context space]")
        .collect();
    // After result 1 come five assistant messages, after result 2 four: more than 4 is cleared.
    assert_eq!(cleared, [true, true, false, false, false, false, false]);
}

#[test]
fn nucleic_file_lists_are_cumulative() {
    let policy = Policy::preset("nucleic").unwrap();
    let mut messages = vec![user("task"), assistant("ok")];
    let round = |n: usize| {
        let (read, edit) = (format!("r{n}"), format!("e{n}"));
        vec![
            call(&read, "read", &json!({"path": format!("src/in{n}.rs")})),
            result(&read, &words(200)),
            call(
                &edit,
                "edit",
                &json!({"path": format!("src/out{n}.rs"), "oldText": "a", "newText": "b"}),
            ),
            result(&edit, "ok"),
        ]
    };
    messages.extend((0..3).flat_map(round));
    messages.extend((0..8).map(|n| if n % 2 == 0 { user("go on") } else { assistant("ok") }));
    let (first, _) = folded(&policy, &messages, 8_000);
    let text = |session: &Session| sent(session)[2]["content"].as_str().unwrap().to_owned();
    assert!(
        text(&first).contains("<read-files>\nsrc/in2.rs\nsrc/in1.rs\nsrc/in0.rs\n</read-files>"),
        "{}",
        text(&first)
    );
    // The next compaction, fed with the output of the first, adds to the lists.
    let mut next = sent(&first);
    next.extend((3..5).flat_map(round));
    next.extend((0..8).map(|n| if n % 2 == 0 { user(&words(900)) } else { assistant("ok") }));
    let (second, _) = folded(&policy, &next, 8_000);
    for n in 0..5 {
        assert!(text(&second).contains(&format!("src/in{n}.rs")), "in{n} in {}", text(&second));
        assert!(text(&second).contains(&format!("src/out{n}.rs")));
    }
    let recaps =
        sent(&second).iter().filter(|m| m.to_string().contains("## Conversation Summary")).count();
    assert_eq!(recaps, 1, "one recap, never a stack");
}

#[test]
fn projection_constants() {
    let policy = Policy::preset("projection").unwrap();
    assert_eq!(policy.head.rule, HeadRule::System);
    assert_eq!((policy.retain.unit, policy.retain.age), (AgeUnit::Turns, Some(3)));
    assert_eq!(policy.retain.stub, "[result expired]");
    assert_eq!(policy.retain.tools[0].count, Some(3));
    assert_eq!(policy.retain.tools[0].names, ["<search>", "<read>"]);
    assert_eq!((policy.window.turns, policy.window.tokens), (None, None), "sliding window off");
    assert_eq!((policy.trigger.margin.0, policy.trigger.injection_reserve), (1_000, 2_000));
    assert_eq!(policy.recap.cover, CoverExtent::Overflow);
    assert!(policy.reducers.contains(&ReducerName::Window));
}

/// The projection note's two retention modes; the pairs stay whole.
#[test]
fn projection_retains_by_age_and_by_count() {
    let policy = Policy::from_toml(
        "base = \"projection\"\nreducers = [\"retain\"]\n[fold]\ntarget = 0.0001\n[tail]\nratio = 0.0\nmin_messages = 1",
    )
    .unwrap();
    let mut messages = vec![json!({"role": "system", "content": "s"})];
    for n in 0..5 {
        messages.push(user(&format!("turn {n}")));
        for kind in ["weather", "grep"] {
            let id = format!("{kind}{n}");
            messages.extend([call(&id, kind, &json!({"pattern": "x"})), result(&id, &words(50))]);
        }
    }
    messages.push(assistant("done"));
    let (session, fold) = folded(&policy, &messages, 12_000);
    let sent = sent(&session);
    let expired = |kind: &str| -> Vec<bool> {
        let of_kind =
            |m: &&Value| m["tool_call_id"].as_str().is_some_and(|id| id.starts_with(kind));
        sent.iter().filter(of_kind).map(|m| m["content"] == "[result expired]").collect()
    };
    // Age: expired when more than 3 turns came after. Count: the last 3 of a search tool stay.
    assert_eq!(expired("weather"), [true, false, false, false, false]);
    assert_eq!(expired("grep"), [true, true, false, false, false]);
    assert_eq!(sent.len(), messages.len(), "pairing intact: every call and every result is there");
    assert!(fold.edits.iter().any(|edit| edit.reason == "expired-by-age"));
    assert!(fold.edits.iter().any(|edit| edit.reason == "expired-by-count"));
}

/// What the shares of our own presets are, and that each tells more the more it may cost.
#[test]
fn our_presets_differ_in_what_they_may_cost() {
    let [lean, default, generous] =
        ["lean", "default", "generous"].map(|name| Policy::preset(name).unwrap());
    assert!(lean.trigger.threshold.0 < default.trigger.threshold.0);
    assert!(default.trigger.threshold.0 < generous.trigger.threshold.0);
    assert_eq!((default.tail.ratio.0, default.tail.min_messages), (1_000, 4));
    let mut messages = vec![user("Task.")];
    for n in 0..60 {
        let id = format!("c{n}");
        messages.extend([
            assistant(&format!("Part {n} of ledger_{n} has to be ported, because it still counts in cents.")),
            call(&id, "edit", &json!({"path": format!("src/part_{n}.rs"), "oldText": "cents", "newText": format!("Money::of_{n}(cents)")})),
            result(&id, "ok"),
        ]);
    }
    let told = |policy: &Policy| {
        let (session, _) = folded(policy, &messages, 4_000);
        let text = Value::from(sent(&session)).to_string();
        (0..60).filter(|n| text.contains(&format!("Money::of_{n}("))).count()
    };
    let [lean, default, generous] = [&lean, &default, &generous].map(told);
    assert!(lean <= default && default < generous, "{lean} {default} {generous}");
}

#[test]
fn every_preset_reads_and_round_trips() {
    for name in Policy::preset_names() {
        let policy = Policy::preset(name).unwrap();
        assert_eq!(policy.name, name);
        assert_eq!(Policy::from_toml(&policy.to_toml()).unwrap(), policy);
        assert_eq!(policy.fingerprint(), Policy::preset(name).unwrap().fingerprint());
    }
    let unknown = Policy::preset("defualt").unwrap_err().to_string();
    assert!(unknown.contains("defualt") && unknown.contains("head-tail"), "{unknown}");
    assert!(Policy::from_toml("base = \"default\"\ntypo = 1").is_err());
}
