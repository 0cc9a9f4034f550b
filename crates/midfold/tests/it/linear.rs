//! Nothing is quadratic: twice the size of a hostile conversation is twice the work. Work is counted
//! in instructions, by `valgrind`, so that the answer is the same on a busy machine; without it
//! the test says `skipped`.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fmt::Write as _;
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use midfold::core::engine::Session;
use midfold::core::log::EventLog;
use midfold::core::meter::Meter;
use midfold::core::plan::plan;
use midfold::core::project::project;
use midfold::formats::{profile, read};
use midfold::{Budget, PlanOutcome, Policy, Setup};

/// Names the shape and its size to the process that is counted.
const ASKED: &str = "MIDFOLD_LINEAR";
/// Twice the size may cost this much, in percent: tables grow by doubling, and trees by a level.
const MOST: u64 = 220;

/// The shape that costs next to nothing at size 1: what starting costs.
const SHORT: usize = 6;

/// A conversation of this size, and a size that a quadratic part would be seen at.
type Shape = (&'static str, usize, fn(usize) -> String);

const SHAPES: [Shape; 13] = [
    ("parallel calls, answered in order", 3_000, |n| calls(n, &mut (0..n))),
    ("parallel calls, answered in reverse", 3_000, |n| calls(n, &mut (0..n).rev())),
    ("calls that nobody answers", 2_000, |n| {
        chat(n, |at| {
            format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, call(at))
        })
    }),
    ("results of no call", 2_000, |n| chat(n, |at| result(at, "ok"))),
    ("rules in one message", 3_000, |n| {
        let rules: String = (0..n).map(|at| format!("Never touch file{at}.rs. ")).collect();
        text("user", &rules)
    }),
    ("names in one message", 3_000, |n| {
        let names: String = (0..n).map(|at| format!("src/part{at}/module_{at}.rs:{at} ")).collect();
        text("assistant", &names)
    }),
    ("short messages of the user", 4_000, |n| chat(n, |at| text("user", &format!("go on {at}")))),
    ("words of the assistant in a row", 3_000, |n| {
        chat(n, |at| text("assistant", &format!("Part {at} of the file lib{at}.rs is done.")))
    }),
    ("one message again and again", 4_000, |n| chat(n, |_| text("assistant", "Let me try again."))),
    ("one result again and again", 2_000, |n| steps(n, |_| "the same line of output ".repeat(8))),
    ("files read one after the other", 2_000, |n| steps(n, |at| format!("use crate::part{at};"))),
    // Enough tokens that a session gathers ahead while the step is still growing.
    ("parallel calls with long results", 1_600, |n| {
        let made: Vec<String> = (0..n).map(call).collect();
        let made =
            format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, made.join(","));
        let results = chat(n, |at| result(at, &format!("line {at} of the file. ").repeat(20)));
        format!("{made},{results}")
    }),
    ("failing checks", 1_500, |n| steps(n, |at| format!("error: test_{at} failed\\nexit code: 1"))),
];

fn text(role: &str, text: &str) -> String {
    format!(r#"{{"role":"{role}","content":"{text}"}}"#)
}

fn call(at: usize) -> String {
    let arguments = format!(r#"{{\"path\":\"src/part{at}.rs\"}}"#);
    format!(
        r#"{{"id":"call_{at}","type":"function","function":{{"name":"read_file","arguments":"{arguments}"}}}}"#
    )
}

fn result(at: usize, text: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":"call_{at}","content":"{text}"}}"#)
}

fn chat(n: usize, message: impl Fn(usize) -> String) -> String {
    (0..n).map(message).collect::<Vec<_>>().join(",")
}

/// One message that makes `n` calls, and their results.
fn calls(n: usize, order: &mut dyn Iterator<Item = usize>) -> String {
    let all: Vec<String> = (0..n).map(call).collect();
    let made = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, all.join(","));
    std::iter::once(made).chain(order.map(|at| result(at, "ok"))).collect::<Vec<_>>().join(",")
}

/// Steps of one call and its result.
fn steps(n: usize, output: impl Fn(usize) -> String) -> String {
    chat(n, |at| {
        let call = call(at);
        let made = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#);
        format!("{made},{}", result(at, &output(at)))
    })
}

/// Reads, folds, projects and checks a conversation: what `midfold compact` does. Appended one by one, too, where that
/// is the question; a session gathers only from a size on, so twice the size is more than twice the work there.
fn work(messages: &str, is_appended: bool) {
    let mut input = String::new();
    let head = [text("system", "s"), text("user", "Do it.")].join(",");
    let tail: String =
        (0..8).map(|at| format!(",{}", text("user", &format!("then {at}")))).collect();
    write!(input, "[{head},{messages}{tail}]").unwrap();
    let conversation = read::read(&Bytes::from(input), None).unwrap().conversations.remove(0);
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let prepared = Setup::new().counter(counter).prepare(conversation).unwrap();
    let policy = Policy::preset("default").unwrap();
    if is_appended {
        append_each(&prepared.log, &policy);
    }
    let budget = Budget::new((prepared.log.tokens() / 2).max(2_000));
    let outcome = plan(&prepared.plan(&policy, &budget)).unwrap();
    let PlanOutcome::Folded(fold) = outcome else { return };
    let context = project(&prepared.log, Some(&fold));
    let pieces: Vec<&[u8]> = context.pieces().map(|piece| &piece.bytes[..]).collect();
    assert_eq!(profile::validate(&pieces, prepared.kind, prepared.log.profile()), []);
}

/// Appends the messages to a session one by one: what a server and a stored session do.
fn append_each(log: &EventLog, policy: &Policy) {
    let counter = Arc::clone(log.counter());
    let empty = EventLog::new(Arc::clone(log.dialect()), *log.profile(), counter);
    let mut session = Session::over("s", empty, policy.clone(), Meter::exact());
    for event in midfold::events_of(log) {
        session.append(event);
    }
    assert_eq!(session.log().len(), log.len());
}

/// What the counted process does; nothing where nobody asks.
#[test]
fn one_shape() {
    let Ok(asked) = std::env::var(ASKED) else { return };
    let (shape, size) = asked.split_once(':').unwrap();
    let (name, _, make) = SHAPES[shape.parse::<usize>().unwrap()];
    work(&make(size.parse().unwrap()), name.starts_with("parallel"));
}

/// Instructions of a process that does one shape; none where there is nobody to count them.
fn instructions(shape: usize, size: usize) -> Option<u64> {
    let done = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "linear::one_shape", "--test-threads=1"])
        .env(ASKED, format!("{shape}:{size}"))
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&done.stderr);
    let out = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "shape {shape} of {size}: {out}{said}");
    let line = said.lines().find(|line| line.contains("I refs:") || line.contains("I   refs:"))?;
    line.rsplit(' ').next()?.replace(',', "").parse().ok()
}

#[test]
fn twice_the_size_is_twice_the_work() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: no valgrind");
        return;
    }
    // Half as large, what is quadratic still shows; `./test --all` takes the whole sizes.
    let part = if std::env::var_os("MIDFOLD_THOROUGH").is_some() { 1 } else { 2 };
    let mut worse = Vec::new();
    let start = instructions(SHORT, 1).unwrap();
    for (shape, (name, size, _)) in SHAPES.into_iter().enumerate() {
        let size = size / part;
        let [once, twice] = [size, 2 * size].map(|size| instructions(shape, size).unwrap());
        let percent = (twice - start) * 100 / (once - start).max(1);
        println!("{name}: {} for each, {percent} % for twice", (once - start) / size as u64);
        if percent > MOST {
            worse.push(format!("{name}: {percent} %"));
        }
    }
    assert!(worse.is_empty(), "more than {MOST} %: {worse:?}");
}
