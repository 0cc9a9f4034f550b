//! "What Survives the Compression": results older than four turns go first, file lists are cumulative.

use midfold::core::layout::layout;
use midfold::{Budget, Meter, PlanOutcome, Policy, RawEvent, Session};
use serde_json::json;

use super::recorded::{WINDOWS, recorded};

/// Stage 1 happens: old results are cleared before anything is summarised.
#[test]
fn old_results_are_cleared_first() {
    let policy = Policy::preset("nucleic").unwrap();
    let (mut folds, mut cleared, mut tokens) = (0, 0, 0);
    for one in recorded() {
        let mut session = Session::over("s", one.log.clone(), policy.clone(), Meter::exact());
        let Ok(PlanOutcome::Folded(fold)) = session.compact(&Budget::new(32_000), None) else {
            continue;
        };
        folds += 1;
        for read in &fold.read {
            assert_eq!((read.reducer.as_str(), read.reason.as_str()), ("retain", "expired-by-age"));
            cleared += read.blocks;
            tokens += read.tokens_before - read.tokens_after;
        }
    }
    println!("{folds} folds: {cleared} results cleared before the recap, {tokens} tokens");
    assert!(folds > 0 && cleared > 0);
}

fn call(n: usize, tool: &str, path: &str) -> [serde_json::Value; 2] {
    let arguments = json!({"path": path, "content": "x"}).to_string();
    let function = json!({"name": tool, "arguments": arguments});
    [
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{n}"), "type": "function", "function": function}]}),
        json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": format!("evidence-{n}-{}", "word ".repeat(60))}),
    ]
}

fn log(messages: &[serde_json::Value]) -> midfold::EventLog {
    let events = messages.iter().map(|m| RawEvent::new(m.to_string().into()));
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let dialect = midfold::DialectKind::OpenAiChat.shared();
    midfold::EventLog::of(dialect, midfold::formats::profile::OPENAI, counter, events)
}

/// The recap does not say what was cleared, and a model is not sent it; the record names the loss.
#[test]
fn what_was_cleared_is_not_summarised() {
    let mut messages =
        vec![json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "task"})];
    messages.push(json!({"role": "assistant", "content": "I look."}));
    for n in 0..30 {
        messages.extend(call(n, "read_file", &format!("src/f{n}.rs")));
    }
    let mut policy = Policy::preset("nucleic").unwrap();
    let mut session = Session::over("s", log(&messages), policy.clone(), Meter::exact());
    let PlanOutcome::Folded(fold) = session.compact(&Budget::new(3_000), None).unwrap() else {
        panic!("it folds")
    };
    let text = &fold.recap.as_ref().unwrap().text;
    assert!(!text.contains("evidence-3-"), "{text}");
    assert!(text.contains("src/f3.rs"), "the file is listed: {text}");
    assert!(!text.contains("Cleared for context"), "the recap tells nothing of it: {text}");
    policy.narration.on = true;
    let mut session = Session::over("s", log(&messages), policy, Meter::exact());
    let request = session.take_request(&Budget::new(3_000), 0).unwrap();
    let prompt = request.prompt(&request.sources, None).user;
    assert!(prompt.contains("Cleared for context space]"), "{prompt}");
    assert!(!prompt.contains("evidence-3-"), "{prompt}");
}

/// 200 files in a small window: neither block vanishes, and the newest stay.
#[test]
fn file_blocks_never_vanish_whole() {
    let mut messages =
        vec![json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "task"})];
    messages.push(json!({"role": "assistant", "content": "I look."}));
    for n in 0..200 {
        let tool = if n % 2 == 0 { "read_file" } else { "write_file" };
        messages.extend(call(n, tool, &format!("src/module_{n}/file_{n}.rs")));
    }
    let policy = Policy::preset("nucleic").unwrap();
    let mut session = Session::over("s", log(&messages), policy, Meter::exact());
    let PlanOutcome::Folded(fold) = session.compact(&Budget::new(8_000), None).unwrap() else {
        panic!("it folds")
    };
    let text = &fold.recap.as_ref().unwrap().text;
    for block in ["<read-files>", "<modified-files>"] {
        assert!(text.contains(block), "{block}: {text}");
    }
    let read = text.split("<read-files>").nth(1).unwrap();
    assert!(read.contains("module_192/") && !read.contains("module_0/"), "{read}");
}

/// Where there is room, the lists have all files: they grow and never reset.
#[test]
fn the_file_lists_use_the_room_that_there_is() {
    let mut messages =
        vec![json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "task"})];
    messages.push(json!({"role": "assistant", "content": "I look."}));
    for n in 0..120 {
        messages.extend(call(n, "read_file", &format!("src/module_{n}/file_{n}.rs")));
    }
    let policy = Policy::preset("nucleic").unwrap();
    let mut session = Session::over("s", log(&messages), policy, Meter::exact());
    let PlanOutcome::Folded(fold) = session.compact(&Budget::new(16_000), None).unwrap() else {
        panic!("it folds")
    };
    let recap = fold.recap.as_ref().unwrap();
    let listed = recap.text.lines().filter(|line| line.starts_with("src/module_")).count();
    assert!(listed >= 115, "{listed} files in {} tokens: {}", recap.tokens, recap.text);
}

/// A narrated fold covers everything between head and tail, too, also what came after the model was
/// asked.
#[test]
fn a_narrated_fold_covers_the_whole_middle() {
    let mut messages =
        vec![json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "task"})];
    messages.push(json!({"role": "assistant", "content": "I look."}));
    for n in 0..40 {
        messages.extend(call(n, "read_file", &format!("src/f{n}.rs")));
    }
    let mut policy = Policy::preset("nucleic").unwrap();
    policy.narration.on = true;
    let budget = Budget::new(6_000);
    let mut session = Session::over("s", log(&messages), policy.clone(), Meter::exact());
    let request = session.take_request(&budget, 0).unwrap();
    let mut text = format!("{}\n", policy.recap.header);
    policy
        .narration
        .sections
        .iter()
        .for_each(|name| text += &format!("- **{name}:** src/f2.rs is fine\n"));
    let reply = midfold::core::narrate::SummaryReply {
        text,
        finish: midfold::core::narrate::FinishReason::Stop,
        model: "small".to_owned(),
        usage: None,
        calls: 1,
    };
    session.complete(&request, Ok(reply), 0).unwrap();
    for n in 40..60 {
        for message in call(n, "read_file", &format!("src/f{n}.rs")) {
            session.append(RawEvent::new(message.to_string().into()));
        }
    }
    session.context(&budget, 1).unwrap();
    let fold = session.active().unwrap();
    assert!(fold.narrated.is_some());
    assert_eq!(
        fold.accounts.verbatim as usize,
        3 + (session.log().len() - fold.layout.tail.start as usize)
    );
    assert!(fold.layout.tail.end - fold.layout.tail.start <= 7, "the tail alone stays");
}

/// "The last 6 messages are always preserved verbatim": an automatic fold shortens its recap before it gives one up.
#[test]
fn an_automatic_fold_keeps_the_last_six() {
    let policy = Policy::preset("nucleic").unwrap();
    let mut messages =
        vec![json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "task"})];
    messages.push(json!({"role": "assistant", "content": "I look."}));
    messages.extend((0..20).flat_map(|n| call(n, "read_file", &format!("src/f{n}.rs"))));
    for n in 0..6 {
        let role = if n % 2 == 0 { "assistant" } else { "user" };
        messages.push(json!({"role": role, "content": format!("{n} {}", "word ".repeat(900))}));
    }
    // Six messages of 1,130 tokens: 85 % of the window, and more than the fold's target.
    let mut session = Session::over("s", log(&messages), policy.clone(), Meter::exact());
    session.context(&Budget::new(8_000), 0).unwrap();
    let fold = session.active().unwrap();
    assert_eq!(fold.layout.tail.start as usize, messages.len() - 6, "{:?}", fold.layout);

    let (mut folds, mut shortened) = (0, 0);
    for one in recorded() {
        let units = one.log.units();
        for window in [WINDOWS[0], WINDOWS[2]] {
            let mut session = Session::over("s", one.log.clone(), policy.clone(), Meter::exact());
            if session.context(&Budget::new(window), 0).is_err() {
                continue;
            }
            let Some(fold) = session.active() else { continue };
            folds += 1;
            let six = layout(&one.log, &units, &policy, window, None).cover_end;
            if fold.layout.tail.start as usize != six {
                shortened += 1;
                // What stays in any case beside the shortest recap, whose header and end take most of it.
                let least = fold.head_tokens + one.log.tokens_in(six..one.log.len()) + 400;
                assert!(least > window, "{} at {window}: {least} would fit", one.name);
            }
        }
    }
    println!("{folds} folds, {shortened} with a shorter tail, because six messages do not fit");
    assert!(folds > 0);
}

/// The paths of a block.
fn listed(text: &str, block: &str) -> Vec<String> {
    let inside = text.split(&format!("<{block}>\n")).nth(1).unwrap_or_default();
    inside.lines().take_while(|line| !line.starts_with('<')).map(str::to_owned).collect()
}

/// "The prior summary's file lists are parsed and merged": fed with their own output, the lists keep their order, and what
/// is new comes first.
#[test]
fn the_file_lists_keep_their_order_from_fold_to_fold() {
    let policy = Policy::preset("nucleic").unwrap();
    let mut messages =
        vec![json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "task"})];
    messages.push(json!({"role": "assistant", "content": "I look."}));
    let mut before = [Vec::new(), Vec::new()];
    for round in 0..4 {
        for n in round * 16..(round + 1) * 16 {
            let tool = if n % 2 == 0 { "read_file" } else { "write_file" };
            let [asks, mut answer] = call(n, tool, &format!("src/part_{n}.rs"));
            answer["content"] = json!("word ".repeat(600));
            messages.extend([asks, answer]);
        }
        let mut session = Session::over("s", log(&messages), policy.clone(), Meter::exact());
        let PlanOutcome::Folded(fold) = session.compact(&Budget::new(16_000), None).unwrap() else {
            panic!("it folds")
        };
        let text = fold.recap.unwrap().text;
        let now = ["read-files", "modified-files"].map(|block| listed(&text, block));
        for (now, before) in now.iter().zip(&before) {
            assert!(now.len() > before.len(), "round {round}: {text}");
            assert!(now.ends_with(before), "round {round}: {now:?}, not behind {before:?}");
        }
        before = now;
        let context = session.context(&Budget::new(16_000), 1).unwrap();
        messages = context.pieces().map(|it| serde_json::from_slice(&it.bytes).unwrap()).collect();
    }
}
