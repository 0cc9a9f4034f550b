//! What the benches and the ratios measure: the inputs, and the path from bytes to bytes.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use midfold::core::log::content_of;
use midfold::formats::{profile, read};
use midfold::tokens::{MemoCounter, by_name};
use midfold::{Budget, Counter, EventLog, Meter, PlanOutcome, Policy, RawEvent, Session, TextKind};

/// Messages of the transcript that the targets speak of.
pub const MESSAGES: usize = 10_000;
/// Its size, about.
pub const BYTES: usize = 17_000_000;
/// Counts that the command remembers.
const MEMO: usize = 1 << 15;
/// The window of a `compact` without `--window`.
pub const WINDOW: u64 = 128_000;

/// The transcript that the targets speak of: a Chat Completions request body.
#[must_use]
pub fn transcript() -> Bytes {
    Bytes::from(midfold_testkit::big_openai(MESSAGES, BYTES))
}

/// Time that this thread has had a core for: what others do on the machine is not in it (where the
/// system can tell; else the time of day, from the first call).
#[must_use]
pub fn cpu_time() -> Duration {
    #[cfg(unix)]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    }
}

/// Processor time of the whole process, user and system: what others do on the machine is not in it.
#[must_use]
pub fn process_time() -> Duration {
    #[cfg(unix)]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
    }
    #[cfg(not(unix))]
    cpu_time()
}

/// Peak memory of a process so far, in bytes. Linux only; elsewhere it is not known.
#[must_use]
pub fn high_water(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0)
}

/// A counter by its name.
///
/// # Errors
/// When this build has no counter of that name.
pub fn counter(name: &str) -> Result<Arc<dyn Counter>> {
    by_name(name).with_context(|| format!("no counter {name}"))
}

/// Reads `input` into a log: every byte checked, every message viewed, hashed and counted.
///
/// # Errors
/// When the input holds no conversation.
pub fn log(input: &Bytes, counter: Arc<dyn Counter>) -> Result<EventLog> {
    let mut found = read::read(input, None)?;
    let conversation = found.conversations.pop().context("no conversation")?;
    let kind = conversation.format.dialect();
    let mut log =
        EventLog::of(kind.shared(), profile::for_dialect(kind)[0], counter, conversation.events);
    let envelope = &conversation.envelope;
    log.set_envelope([&envelope.system, &envelope.tools].into_iter().flatten().map(|b| &b[..]));
    Ok(log)
}

/// A session over a log, with the default policy.
///
/// # Errors
/// When the default preset does not load.
pub fn session(log: EventLog) -> Result<Session> {
    let policy = Policy::preset("default").context("no default preset")?;
    Ok(Session::over("bench", log, policy, Meter::exact()))
}

/// A cold compaction: from the bytes of a transcript to the bytes of its context.
///
/// # Errors
/// When the input cannot be read, or nothing was folded.
pub fn compact(input: &Bytes, counter: Arc<dyn Counter>) -> Result<Vec<u8>> {
    // As the command does: texts that a transcript repeats are counted once.
    let counter: Arc<dyn Counter> =
        if counter.is_exact() { Arc::new(MemoCounter::new(counter, MEMO)) } else { counter };
    let mut session = session(log(input, counter)?)?;
    match session.compact(&Budget::new(WINDOW), None)? {
        PlanOutcome::Folded(_) => Ok(session.view().bytes()),
        PlanOutcome::Nothing(reason) => bail!("nothing was folded: {reason}"),
    }
}

/// Every text of a log with its class, decoded: what a counter has to be asked at the least.
#[must_use]
pub fn texts(log: &EventLog) -> Vec<(String, TextKind)> {
    let mut out = Vec::new();
    for event in log.events() {
        for block in &event.view.blocks {
            let content = content_of(event.view.role, &block.kind);
            out.extend(block.texts.iter().map(|t| (t.decode(&event.bytes).into_owned(), content)));
        }
    }
    out
}

/// Counts texts, one after the other.
#[must_use]
pub fn count(counter: &dyn Counter, texts: &[(String, TextKind)]) -> u64 {
    texts.iter().map(|(text, content)| u64::from(counter.count(text, *content))).sum()
}

/// A session that holds `messages` messages of 700 bytes on average, counted exactly.
///
/// # Errors
/// When the session cannot be made.
pub fn holding(messages: usize) -> Result<Session> {
    let text = midfold_testkit::big_openai(messages, messages * 700);
    session(log(&Bytes::from(text), counter("o200k")?)?)
}

/// Messages of 4 KB to append, alternately from the assistant and the user, no two alike.
#[must_use]
pub fn appended(count: usize) -> Vec<RawEvent> {
    let source: Vec<char> =
        midfold_testkit::big_messages(400, 400 * 1_700).concat().chars().collect();
    let message = |n: usize| {
        let role = if n.is_multiple_of(2) { "assistant" } else { "user" };
        let from = (n * 977) % (source.len() - 3_800);
        let text: String = source[from..from + 3_800].iter().collect();
        let text = midfold_testkit::quoted(&text.replace('\\', "/"));
        RawEvent::new(Bytes::from(format!(r#"{{"role":"{role}","content":{text}}}"#)))
    };
    (0..count).map(message).collect()
}

/// The `n`th row of a generated training set: a coding session as `ShareGPT` writes it, 30 to
/// 100 KB long, with the assistant's word at its end.
#[must_use]
pub fn trajectory(n: usize) -> String {
    use midfold_testkit::TestMessage;
    let wanted = 28_000 + n * 7_919 % 70_000;
    let mut messages = midfold_testkit::session(n as u64, 1 + wanted / 20_000);
    let mut size = 0;
    let end = messages.iter().position(|message| {
        size += match message {
            TestMessage::System(text) | TestMessage::User(text) => text.len(),
            TestMessage::Assistant { text, calls, .. } => {
                text.len() + calls.iter().map(|call| call.arguments.len()).sum::<usize>()
            }
            TestMessage::Tool { content, .. } => content.len() + content.len() / 12,
        };
        size > wanted
    });
    messages.truncate(end.unwrap_or(messages.len()));
    // The last step may lack results: it goes.
    let last =
        messages.iter().rposition(|message| matches!(message, TestMessage::Assistant { .. }));
    messages.truncate(last.unwrap_or(messages.len()));
    let text = format!("That was task {n}: changed as asked, and the tests pass.");
    messages.push(TestMessage::Assistant { thought: None, text, calls: Vec::new() });
    midfold_testkit::emit::sharegpt(&format!("row-{n}"), &messages)
}
