//! midfold's side of `benches/peers/run`: the transcripts that it and its peers are measured on,
//! and one measurement a process.
//!
//! ```text
//! peers generate DIR coding|reads N…         DIR/SHAPE-N.json: a Chat Completions request body
//! peers rows FILE N                          N ShareGPT rows of 30 to 100 KB
//! peers measure fold|cold FILE COUNTER PRESET WINDOW
//! peers limits FILE                     what this machine does with the same bytes at best
//! ```
//!
//! A measurement prints one JSON object. Times are processor time (user and system) of the whole
//! process between two points; peak memory is that of the process, file and all.

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use midfold::tokens::MemoCounter;
use midfold::{Budget, Counter, Meter, PlanOutcome, Policy, Session};
use midfold_benches as bench;

/// Counts that the command remembers.
const MEMO: usize = 1 << 15;
/// Messages that a turn of the user has at the least in a coding session.
const TURN: usize = 14;
/// Bytes of a message on average, where results are reads alone.
const READ_BYTES: usize = 1_700;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["generate", folder, shape, ref sizes @ ..] => {
            sizes.iter().try_for_each(|size| generate(Path::new(folder), shape, size.parse()?))
        }
        ["rows", file, count] => rows(Path::new(file), count.parse()?),
        ["measure", what, file, counter, preset, window] => {
            let input = Bytes::from(std::fs::read(file)?);
            let ask = Ask { counter, preset, window: window.parse()? };
            let figures = match what {
                "fold" => fold(&input, &ask)?,
                "cold" => cold(&input, &ask)?,
                _ => bail!("unknown measurement {what}"),
            };
            print(&figures)
        }
        ["limits", file] => limits(&Bytes::from(std::fs::read(file)?)),
        _ => bail!(
            "usage: peers generate DIR coding|reads N… | peers rows FILE N | peers measure \
             fold|cold FILE COUNTER PRESET WINDOW | peers limits FILE"
        ),
    }
}

fn generate(folder: &Path, shape: &str, messages: usize) -> Result<()> {
    let mut rows = match shape {
        // Seeded by its length: a long one is not a short one gone on.
        "coding" => midfold_testkit::coding_session(messages as u64, messages / TURN + 1),
        "reads" => midfold_testkit::big_messages(messages, messages * READ_BYTES),
        _ => bail!("unknown shape {shape}: coding or reads"),
    };
    ensure!(rows.len() >= messages, "{} messages came out, {messages} were wanted", rows.len());
    rows.truncate(messages);
    // The last step stays whole: it would be repaired, by everybody in another way.
    let answered = |row: &String| row.starts_with(r#"{"role":"tool""#);
    let end = rows.iter().rposition(answered).context("no result")?;
    rows.truncate(end + 1);
    std::fs::create_dir_all(folder)?;
    let file = folder.join(format!("{shape}-{messages}.json"));
    std::fs::write(&file, midfold_testkit::emit::openai_request(&rows))
        .with_context(|| format!("{}", file.display()))
}

fn rows(file: &Path, count: usize) -> Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let rows: String = (0..count).map(|n| bench::trajectory(n) + "\n").collect();
    std::fs::write(file, rows).with_context(|| format!("{}", file.display()))
}

/// How to compact.
struct Ask<'a> {
    counter: &'a str,
    preset: &'a str,
    window: u64,
}

/// What a process measured.
struct Figures {
    /// Milliseconds of processor time.
    ms: f64,
    messages: usize,
    messages_after: usize,
    tokens: u64,
    tokens_after: u64,
    bytes: usize,
    bytes_after: usize,
}

impl Ask<'_> {
    fn session(&self, input: &Bytes, counter: Arc<dyn Counter>) -> Result<Session> {
        let policy = Policy::preset(self.preset)?;
        Ok(Session::over("bench", bench::log(input, counter)?, policy, Meter::exact()))
    }

    /// A session as a host holds it: every event came by `append`.
    fn held(&self, input: &Bytes) -> Result<Session> {
        let mut found = midfold::formats::read::read(input, None)?;
        let conversation = found.conversations.pop().context("no conversation")?;
        let kind = conversation.format.dialect();
        let profile = midfold::formats::profile::for_dialect(kind)[0];
        let counter = bench::counter(self.counter)?;
        let policy = Policy::preset(self.preset)?;
        let mut session =
            Session::new("bench", policy, kind.shared(), profile, counter, Meter::exact());
        let budget = Budget::new(self.window);
        for (at, event) in conversation.events.into_iter().enumerate() {
            session.append(event);
            if at == 0 {
                // The budget is known to the session of a host; nothing is folded yet.
                session.context(&budget, 0)?;
            }
        }
        Ok(session)
    }

    /// Folds, and renders what is sent then.
    fn fold(&self, session: &mut Session) -> Result<Vec<u8>> {
        match session.compact(&Budget::new(self.window), None)? {
            PlanOutcome::Folded(_) => Ok(session.view().bytes()),
            PlanOutcome::Nothing(reason) => bail!("nothing was folded: {reason}"),
        }
    }
}

/// A session that holds the events, each appended when it came, none folded so far. Measured:
/// planning the fold, and the bytes of the new context.
fn fold(input: &Bytes, ask: &Ask<'_>) -> Result<Figures> {
    // The peer is warm, too: what a process makes once (tables of patterns) is there.
    let rows = midfold_testkit::big_messages(400, 400 * READ_BYTES);
    let warm = Bytes::from(midfold_testkit::emit::openai_request(&rows));
    ask.fold(&mut ask.held(&warm)?)?;
    let mut session = ask.held(input)?;
    let before = black_box(session.view());
    let start = bench::process_time();
    let bytes = ask.fold(&mut session)?;
    Ok(figures(start, &session, (before.len(), before.tokens()), input, &bytes))
}

/// One call on bytes in memory. Measured: the tokenizer's start, reading and checking the JSON,
/// counting, the fold, and the bytes of the new context.
fn cold(input: &Bytes, ask: &Ask<'_>) -> Result<Figures> {
    let start = bench::process_time();
    let counter = bench::counter(ask.counter)?;
    // As the command does: texts that a transcript repeats are counted once.
    let counter =
        if counter.is_exact() { Arc::new(MemoCounter::new(counter, MEMO)) } else { counter };
    let mut session = ask.session(input, counter)?;
    let bytes = ask.fold(&mut session)?;
    let before = (session.log().len(), session.log().tokens());
    Ok(figures(start, &session, before, input, &bytes))
}

fn figures(
    start: std::time::Duration,
    session: &Session,
    (messages, tokens): (usize, u64),
    input: &Bytes,
    after: &[u8],
) -> Figures {
    let ms = bench::process_time().saturating_sub(start).as_secs_f64() * 1e3;
    let context = session.view();
    Figures {
        ms,
        messages,
        messages_after: context.len(),
        tokens,
        tokens_after: context.tokens(),
        bytes: input.len(),
        bytes_after: after.len(),
    }
}

fn print(figures: &Figures) -> Result<()> {
    let peak = bench::high_water(std::process::id()).unwrap_or(f64::NAN);
    let line = serde_json::json!({
        "ms": figures.ms, "peak_mb": peak / 1e6,
        "messages": figures.messages, "messages_after": figures.messages_after,
        "tokens": figures.tokens, "tokens_after": figures.tokens_after,
        "bytes": figures.bytes, "bytes_after": figures.bytes_after,
    });
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

/// What the same bytes cost at the least: each pass alone, processor time, the best of five.
fn limits(input: &Bytes) -> Result<()> {
    let mut figures = serde_json::Map::new();
    let mut pass = |name: &str, bytes: usize, work: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = bench::process_time();
            work()?;
            best = best.min(bench::process_time().saturating_sub(start).as_secs_f64());
        }
        figures.insert(name.to_owned(), serde_json::json!({ "ms": best * 1e3, "bytes": bytes }));
        Ok(())
    };
    let all = input.len();
    pass("copy", all, &mut || {
        black_box(input.to_vec());
        Ok(())
    })?;
    pass("memchr: every quote and backslash", all, &mut || {
        black_box(memchr::memchr2_iter(b'"', b'\\', input).count());
        Ok(())
    })?;
    pass("UTF-8 check", all, &mut || {
        black_box(std::str::from_utf8(input)?);
        Ok(())
    })?;
    pass("serde_json: RawValue of the whole", all, &mut || {
        black_box(serde_json::from_slice::<&serde_json::value::RawValue>(input)?);
        Ok(())
    })?;
    pass("serde_json: IgnoredAny", all, &mut || {
        serde_json::from_slice::<serde::de::IgnoredAny>(input)?;
        Ok(())
    })?;
    pass("serde_json: Value", all, &mut || {
        black_box(serde_json::from_slice::<serde_json::Value>(input)?);
        Ok(())
    })?;
    pass("midfold: read alone (positions)", all, &mut || {
        black_box(midfold::formats::read::read(input, None)?);
        Ok(())
    })?;
    let log = bench::log(input, bench::counter("chars:4")?)?;
    let texts = bench::texts(&log);
    let text: usize = texts.iter().map(|(text, _)| text.len()).sum();
    pass("blake3 of every message", all, &mut || {
        for event in log.events() {
            black_box(blake3::hash(&event.bytes));
        }
        Ok(())
    })?;
    pass("identifiers of every text", text, &mut || {
        for (text, _) in &texts {
            black_box(midfold::core::ids::identifiers(text).count());
        }
        Ok(())
    })?;
    let exact = bench::counter("o200k")?;
    pass("o200k tokenizer over every text", text, &mut || {
        black_box(bench::count(&*exact, &texts));
        Ok(())
    })?;
    pass("characters of every text", text, &mut || {
        black_box(bench::count(&**log.counter(), &texts));
        Ok(())
    })?;
    Ok(writeln!(std::io::stdout(), "{}", serde_json::Value::Object(figures))?)
}
