//! `midfold compact`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{folder, regex_of, root, run, sees, stdout};

const SESSION: &str = "examples/coding-session.jsonl";

fn report(args: &[&str]) -> String {
    let output = run(args, b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn reports() {
    sees!("preview", ["compact", SESSION, "--preview"]);
    sees!("preview-head-tail", ["compact", SESSION, "--preview", "--preset", "head-tail"]);
    sees!("preview-projection", ["compact", SESSION, "--preview", "--preset", "projection"]);
    sees!("preview-verbatim", ["compact", SESSION, "--preview", "--preset", "verbatim"]);
    sees!("preview-pins", ["compact", SESSION, "--preview", "--pin", "never touch migrations"]);
    sees!("preview-keep", ["compact", SESSION, "--preview", "--keep-last", "60"]);
    sees!("preview-target", ["compact", SESSION, "--preview", "--target", "6k"]);
    sees!("preview-several", ["compact", "fixtures/tau-bench.json", "--preview"]);
    sees!("if-needed", ["compact", SESSION, "--preview", "--if-needed", "--window", "400k"]);
    sees!("small", ["compact", "fixtures/openai-chat.json"]);
    sees!("problems", ["compact", "fixtures/broken.jsonl"]);
    sees!("to-anthropic", ["compact", "fixtures/codex.jsonl", "--to", "anthropic"]);
    sees!("to-openai", ["compact", "fixtures/anthropic.json", "--to", "openai-chat"]);
    sees!("json-noop", ["compact", "fixtures/openai-chat.json", "--json"]);
}

#[test]
fn what_is_carried_is_the_same_bytes() {
    let out = stdout(&["compact", SESSION], b"");
    let input = fs::read_to_string(root().join(SESSION)).unwrap();
    let (input, out): (Vec<_>, Vec<_>) = (input.lines().collect(), out.lines().collect());
    assert!(out.len() < input.len() / 2);
    assert_eq!(out[..2], input[..2]);
    let new: Vec<_> = out.iter().filter(|line| !input.contains(line)).collect();
    assert_eq!(new.len(), 1, "only the recap is new");
    assert!(new[0].contains("## Conversation Summary"));
    assert_eq!(out.last(), input.last());
}

#[test]
fn a_second_pass_is_a_noop_that_says_why() {
    let tmp = folder("twice");
    let once = tmp.join("once.jsonl").display().to_string();
    stdout(&["compact", SESSION, "-o", &once], b"");
    let twice = run(&["compact", &once], b"");
    let stderr = String::from_utf8(twice.stderr).unwrap();
    assert!(stderr.contains("unchanged") && stderr.contains("already compacted"), "{stderr}");
    assert_eq!(twice.stdout, fs::read(&once).unwrap());
}

/// Every fixture's result can be read again, and reads the same.
#[test]
fn every_shape_is_readable_again() {
    let tmp = folder("shapes");
    let names = [
        "openai-chat.json",
        "openai-chat.jsonl",
        "openai-responses.json",
        "anthropic.json",
        "gemini.json",
        "bedrock.json",
        "sharegpt.jsonl",
        "claude-code.jsonl",
        "codex.jsonl",
        "pi.jsonl",
        "fine-tuning.jsonl",
        "tau-bench.json",
        "mini-swe-agent.traj.json",
        "swe-agent.traj",
        "hostile.jsonl",
    ];
    for name in names {
        for to in [None, Some("openai-chat"), Some("anthropic"), Some("gemini"), Some("bedrock")] {
            let once = tmp.join(format!("{name}.{}", to.unwrap_or("same"))).display().to_string();
            let fixture = format!("fixtures/{name}");
            let mut args = vec!["compact", &fixture, "-o", &once, "--tokenizer", "chars:4"];
            args.extend(to.iter().flat_map(|to| ["--to", *to]));
            report(&args);
            let again = stdout(&["compact", &once, "--tokenizer", "chars:4"], b"");
            assert_eq!(again, fs::read_to_string(&once).unwrap(), "{name} {to:?}");
        }
    }
}

#[test]
fn a_request_keeps_all_but_its_messages() {
    let lines = fs::read_to_string(root().join(SESSION)).unwrap();
    let messages = lines.lines().collect::<Vec<_>>().join(",");
    let body = format!(
        "{{ \"temperature\": 1.0,\n  \"big\": 12345678901234567890123,\n  \"messages\": [{messages}],\n  \"model\": \"gpt-4o\" }}"
    );
    let out = stdout(&["compact", "-"], body.as_bytes());
    let [start, end] = [
        "{ \"temperature\": 1.0,\n  \"big\": 12345678901234567890123,\n  \"messages\": [",
        "],\n  \"model\": \"gpt-4o\" }\n",
    ];
    assert!(out.starts_with(start) && out.ends_with(end));
    assert!(out.len() < body.len() / 2);
}

#[test]
fn json_has_messages_fold_and_problems() {
    let found = json(&stdout(&["compact", SESSION, "--json"], b""));
    let fold = &found["fold"];
    assert_eq!(
        found["messages"].as_array().unwrap().len() as u64,
        fold["messages_after"].as_u64().unwrap()
    );
    assert_eq!(
        (&fold["head_verbatim"], &fold["tail_verbatim"]),
        (&Value::Bool(true), &Value::Bool(true))
    );
    assert_eq!((&found["outcome"], &found["reason"]), (&Value::from("folded"), &Value::Null));
    assert_eq!(found["after"]["tokens"], fold["tokens_after"]);
    assert!(found["problems"].as_array().unwrap().is_empty());
    let body = json(&stdout(&["compact", "fixtures/anthropic.json", "--json"], b""));
    assert!(body["fold"].is_null() && body["system"].is_string());
    assert!(body["reason"].as_str().unwrap().contains("protected"), "{body}");
    let tools = br#"{"model":"gpt-5","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f"}}]}"#;
    assert!(json(&stdout(&["compact", "-", "--json"], tools))["tools"].is_array());
    let preview = json(&stdout(&["compact", SESSION, "--preview", "--json"], b""));
    // The record names the line that was crossed, also where planning itself had to compare.
    assert_eq!(fold["cause"], "manual");
    let due = ["compact", SESSION, "--window", "16k", "--if-needed", "--json"];
    assert_eq!(json(&stdout(&due, b""))["fold"]["cause"], "threshold");
    assert!(preview.get("messages").is_none() && preview["fold"]["entries"].is_array());
}

#[test]
fn the_recap_can_be_seen() {
    let args = ["compact", SESSION, "--show-recap", "--preset", "head-tail"];
    sees!("show-recap", args);
    sees!("show-recap-none", ["compact", "fixtures/openai-chat.json", "--show-recap"]);
    sees!("show-recap-several", ["compact", "fixtures/tau-bench.json", "--show-recap"]);
    sees!("show-recap-stdout", ["compact", SESSION, "--show-recap", "-o", "-"]);
    sees!("show-recap-preview", ["compact", SESSION, "--show-recap", "--preview"]);
}

#[test]
fn the_recap_that_is_shown_is_the_one_in_the_context() {
    let tmp = folder("show-recap");
    let file = tmp.join("out.jsonl").display().to_string();
    for preset in ["default", "lean", "head-tail"] {
        let args = ["compact", SESSION, "--window", "32k", "--preset", preset];
        let alone = run(&[&args[..], &["--show-recap"]].concat(), b"");
        assert!(alone.stderr.is_empty() && !Path::new(&file).exists(), "{preset}");
        let both = run(&[&args[..], &["--show-recap", "-o", &file]].concat(), b"");
        assert_eq!(alone.stdout, both.stdout, "{preset}");
        assert!(String::from_utf8(both.stderr).unwrap().contains("middle messages"));
        assert_eq!(fs::read_to_string(&file).unwrap(), stdout(&args, b""), "{preset}");
        let recap = String::from_utf8(alone.stdout).unwrap();
        let sent = fs::read_to_string(&file).unwrap();
        let held = |line: &str| json(line)["content"].as_str().map(str::trim) == Some(recap.trim());
        assert_eq!(sent.lines().filter(|line| held(line)).count(), 1, "{preset}");
        for more in [&["--json"][..], &["--json", "--preview"], &["--json", "--show-recap"]] {
            let found = json(&stdout(&[&args[..], more].concat(), b""));
            assert_eq!(found["recap"].as_str().unwrap().trim(), recap.trim(), "{preset} {more:?}");
            assert_eq!(found.get("messages").is_some(), more.len() == 1, "{preset} {more:?}");
        }
        let preview = stdout(&[&args[..], &["--preview"]].concat(), b"");
        assert!(preview.contains(recap.trim()), "{preset}");
        assert!(preview.contains(&format!("preset       {preset}")), "{preset}");
        fs::remove_file(&file).unwrap();
    }
    let anthropic = ["compact", SESSION, "--to", "anthropic", "--window", "32k", "--show-recap"];
    assert!(stdout(&anthropic, b"").starts_with("## Conversation Summary"));
}

#[test]
fn a_recap_keeps_the_numbers_of_the_messages_when_it_is_compacted_again() {
    let tmp = folder("numbers");
    let original = fs::read_to_string(root().join(SESSION)).unwrap();
    let original: Vec<&str> = original.lines().collect();
    let (mut held, mut from) = (String::new(), 0);
    let file = tmp.join("held.jsonl").display().to_string();
    for (round, upto) in [120, 200, original.len()].into_iter().enumerate() {
        held += &(original[from..upto].join("\n") + "\n");
        from = upto;
        fs::write(&file, &held).unwrap();
        let recap = stdout(&["compact", &file, "--window", "32k", "--show-recap"], b"");
        let asked = recap.lines().filter_map(|line| line.strip_prefix('@')?.split_once(" user: "));
        let is_right = |(number, text): &(&str, &str)| {
            let text: String = text.chars().take_while(|c| *c != '…').take(20).collect();
            original[number.parse::<usize>().unwrap()].contains(&text)
        };
        let (right, wrong): (Vec<_>, Vec<_>) = asked.partition(is_right);
        // The request that stayed in a round is folded in the next: nothing tells its number then.
        assert!(right.len() > wrong.len() && wrong.len() <= round, "{round}: {wrong:?}\n{recap}");
        held = stdout(&["compact", &file, "--window", "32k"], b"");
    }
}

#[test]
fn records() {
    let tmp = folder("records");
    let [record, out] = ["fold.json", "out.jsonl"].map(|name| tmp.join(name).display().to_string());
    report(&["compact", SESSION, "--record", &record, "-o", &out]);
    let text = fs::read_to_string(&record).unwrap();
    assert!(text.starts_with("{\n"));
    let fold = json(&text);
    let lines = fs::read_to_string(&out).unwrap().lines().count() as u64;
    assert_eq!(fold["messages_after"].as_u64().unwrap(), lines);
    report(&["compact", "fixtures/openai-chat.json", "--record", &record]);
    assert_eq!(fs::read_to_string(&record).unwrap(), "null\n");
    report(&["compact", "fixtures/tau-bench.json", "--record", &record]);
    assert_eq!(fs::read_to_string(&record).unwrap(), "null\nnull\n");
}

#[test]
fn several_conversations_give_a_line_each() {
    let out = stdout(&["compact", "fixtures/tau-bench.json"], b"");
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 2);
    for line in lines {
        assert_eq!(json(line)["traj"].as_array().unwrap().len(), 8);
    }
    let pretty = b"[{\"messages\": [\n  {\"role\": \"user\",\n \"content\": \"a\\nb\"}\n]},{\"messages\":[{\"role\":\"user\",\"content\":\"c\"}]}]";
    let out = stdout(&["compact", "-"], pretty);
    let first = out.lines().next().unwrap();
    assert_eq!(first, r#"{"messages": [{"role": "user",  "content": "a\nb"}]}"#);
}

#[test]
fn a_target_that_no_fold_reaches_is_missed() {
    let message =
        |role: &str| format!(r#"{{"role":"{role}","content":"{}"}}"#, "a few words ".repeat(9));
    let input = format!(r#"{{"messages":[{},{}]}}"#, message("user"), message("assistant"));
    let said = |target: &str| {
        let output = run(&["compact", "-", "--window", "8k", "--target", target], input.as_bytes());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said("20").contains("20 tokens were asked for"), "{}", said("20"));
    assert!(!said("2000").contains("were asked for"), "{}", said("2000"));
}

/// What a hint names does not bring the next error.
#[test]
fn hints_keep_the_newest_messages() {
    let mut lines = vec![
        format!(r#"{{"role":"system","content":"{}"}}"#, "sys ".repeat(1500)),
        r#"{"role":"user","content":"do it"}"#.to_owned(),
    ];
    for n in 0..20 {
        lines.push(format!(r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{n}","type":"function","function":{{"name":"bash","arguments":"{{\"command\":\"cat f{n}\"}}"}}}}]}}"#));
        let words = format!("word{n} ").repeat(200);
        lines.push(format!(r#"{{"role":"tool","tool_call_id":"c{n}","content":"{words}"}}"#));
    }
    let input = lines.join("\n");
    let compacted = |window: &str, preset: &str| {
        let args = ["compact", "-", "--window", window, "--preset", preset, "--keep-last", "6"];
        run(&args, input.as_bytes())
    };
    let said = String::from_utf8(compacted("2400", "hermes").stderr).unwrap();
    let hint = said.split_once("--window ").unwrap().1;
    let window = hint.split_whitespace().next().unwrap();
    assert!(hint.contains(" is enough"), "{said}");
    assert!(compacted(window, "hermes").status.success(), "{said}");
    let presets = said.split_once("--preset ").map_or("", |(_, presets)| presets);
    let presets = presets.split(',').next().unwrap().split(" or ");
    for preset in presets.filter(|preset| !preset.is_empty()) {
        assert!(compacted("2400", preset).status.success(), "{preset}: {said}");
    }
}

#[test]
fn a_report_on_several_says_of_all_only_what_holds_for_all() {
    let line = |model: &str| {
        let said = |role: &str, text: String| serde_json::json!({"role": role, "content": text});
        let mut messages = vec![said("user", "never touch the migrations ".repeat(300))];
        for n in 0..60 {
            messages.push(said("assistant", format!("looking at part {n}")));
            messages.push(said("user", format!("and then look at part {n} again")));
        }
        serde_json::json!({"model": model, "messages": messages}).to_string()
    };
    let of = |models: [&str; 2]| {
        let input = models.map(line).join("\n");
        let output = run(&["compact", "-", "--target", "500"], input.as_bytes());
        String::from_utf8(output.stderr).unwrap()
    };
    let own = |text: &str| text.matches("by each one's model").count();
    let same = of(["gpt-4o", "gpt-4o"]);
    assert!(own(&same) == 0 && same.contains("with o200k (for gpt-4o)"), "{same}");
    assert!(same.contains("missed by 2 conversations"), "{same}");
    let other = of(["gpt-4o", "claude-sonnet-4-5"]);
    assert!(own(&other) == 2 && !other.contains("o200k"), "{other}");
}

#[test]
fn the_window_is_that_of_the_model() {
    let with = |model: &str| {
        let body =
            format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"hi"}}]}}"#);
        let output = run(&["compact", "-"], body.as_bytes());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(with("claude-sonnet-4-5").contains("200,000, that of claude-sonnet-4-5"));
    assert!(with("in-house-7").contains("128,000, the default: in-house-7 is not known"));
    let session = report(&["compact", SESSION, "--window", "32_000"]);
    assert!(session.contains("32,000, as given"), "{session}");
}

#[test]
fn usage_in_the_transcript_calibrates_unless_the_tokenizer_is_given() {
    let mut lines = String::new();
    for at in 0..12 {
        let text = "words and words ".repeat(300);
        lines += &format!(
            "{{\"type\":\"user\",\"uuid\":\"u{at}\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        );
        let prompt = 2_000 * (at + 1);
        lines += &format!(
            "{{\"type\":\"assistant\",\"uuid\":\"a{at}\",\"sessionId\":\"s\",\"message\":{{\"id\":\"m{at}\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[{{\"type\":\"text\",\"text\":\"ok\"}}],\"usage\":{{\"input_tokens\":{prompt},\"output_tokens\":3}}}}}}\n"
        );
    }
    let auto = String::from_utf8(run(&["compact", "-"], lines.as_bytes()).stderr).unwrap();
    assert!(auto.contains("learned from 11 request(s)"), "{auto}");
    let given = run(&["compact", "-", "--tokenizer", "chars:4"], lines.as_bytes());
    let given = String::from_utf8(given.stderr).unwrap();
    assert!(given.contains("chars:4 (an estimate), not calibrated"), "{given}");
}

#[test]
fn the_target_is_met() {
    for target in ["4k", "8k", "20k"] {
        let found = json(&stdout(&["compact", SESSION, "--json", "--target", target], b""));
        let most = target.trim_end_matches('k').parse::<u64>().unwrap() * 1_000;
        let after = found["fold"]["tokens_after"].as_u64().unwrap();
        assert!(after <= most && after >= most / 3, "{target}: {after}");
    }
}

#[test]
fn what_was_compacted_is_compacted_again_to_a_smaller_target() {
    let tmp = folder("again");
    let once = tmp.join("once.jsonl").display().to_string();
    stdout(&["compact", SESSION, "--target", "8k", "-o", &once], b"");
    let again = json(&stdout(&["compact", &once, "--json", "--target", "4k"], b""));
    assert!(again["fold"]["tokens_after"].as_u64().unwrap() <= 4_000, "{again}");
}

#[test]
fn a_policy_of_ones_own() {
    let tmp = folder("policy");
    let path = tmp.join("mine.toml").display().to_string();
    fs::write(&path, "base = \"head-tail\"\nname = \"mine\"\n[tail]\nmin_messages = 7\n").unwrap();
    let found = json(&stdout(&["compact", SESSION, "--json", "--policy", &path], b""));
    assert_eq!(
        (&found["fold"]["policy"], &found["fold"]["strategy"]),
        (&"mine".into(), &"head-tail".into())
    );
}

#[test]
fn in_place_is_safe() {
    let tmp = folder("in-place");
    let path = tmp.join("session.jsonl");
    fs::copy(root().join(SESSION), &path).unwrap();
    let name = path.display().to_string();
    report(&["compact", &name, "-o", &name]);
    assert!(fs::read_to_string(&path).unwrap().lines().count() < 100);
    assert_eq!(fs::read_dir(&tmp).unwrap().count(), 1, "no half-written file is left");
}
