//! Honest narrations of a strong model over recorded conversations: their lines stand. Runs where
//! they are: in `narrations`, beside the folder of the corpus.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use midfold::core::Hash;
use midfold::core::budget::Ratio;
use midfold::core::fold::Span;
use midfold::core::narrate::{FinishReason, SummaryReply, SummaryRequest};
use midfold::core::policy::NarrationStyle;
use midfold::core::recap::ground::judge;
use midfold::formats::{profile, read};
use midfold::{EventLog, tokens};
use serde::Deserialize;

/// One row of `replies.jsonl`.
#[derive(Deserialize)]
struct Row {
    conversation: String,
    span: [usize; 2],
    reply: String,
}

/// The folder of recorded transcripts, where there is one.
fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("MIDFOLD_CORPUS").map_or(beside, PathBuf::from);
    root.is_dir().then_some(root)
}

/// The log of the conversation in a file; of several, the longest.
fn log(path: &Path) -> EventLog {
    let bytes = std::fs::read(path).unwrap().into();
    let found = read::read(&bytes, None).unwrap().conversations;
    let longest = found.into_iter().max_by_key(|found| found.events.len()).unwrap();
    let kind = longest.format.dialect();
    let counter = tokens::by_name("chars:3.2").unwrap();
    EventLog::of(kind.shared(), profile::for_dialect(kind)[0], counter, longest.events)
}

fn request(log: &EventLog, row: &Row) -> SummaryRequest {
    let (start, end) = (row.span[0], row.span[1] + 1);
    SummaryRequest {
        id: Hash::ROOT,
        session: String::new(),
        span: Span {
            start: u32::try_from(start).unwrap(),
            end: u32::try_from(end).unwrap(),
            before: log.hash_before(start),
            through: log.hash_before(end),
        },
        header: "## Conversation Summary".to_owned(),
        sections: ["Decisions", "Entities", "Facts", "Open Items"].map(str::to_owned).to_vec(),
        style: NarrationStyle::Bullets,
        words: Some(200),
        // Form is not what is looked at: they were asked for with other caps and other counters.
        max_tokens: 1_000,
        temperature: Ratio(2_000),
        timeout_seconds: 25,
        previous: None,
        sources: Vec::new(),
        focus: None,
        today: None,
        replaces: u64::MAX,
    }
}

#[test]
fn the_lines_of_honest_narrations_stand() {
    let rows = corpus().map(|root| (root.join("../narrations/replies.jsonl"), root));
    let Some((text, root)) =
        rows.and_then(|(path, root)| Some((std::fs::read_to_string(path).ok()?, root)))
    else {
        println!("skipped: no narrations beside the corpus");
        return;
    };
    let (mut lines, mut refused, mut why) = (0, 0, BTreeMap::<String, usize>::new());
    for (number, row) in text.lines().enumerate() {
        let row: Row = serde_json::from_str(row).unwrap();
        let log = log(&root.join(&row.conversation));
        let reply = SummaryReply {
            text: row.reply.clone(),
            finish: FinishReason::Stop,
            model: "m".to_owned(),
            usage: None,
            calls: 1,
        };
        let (kept, dropped) = match judge(&log, &request(&log, &row), &reply, &**log.counter()) {
            Ok(judged) => (judged.lines, judged.dropped),
            Err(fell) => {
                println!("{number}: refused: {}: {}", fell.verdict.as_str(), fell.detail);
                refused += 1;
                (fell.dropped.len(), fell.dropped)
            }
        };
        lines += kept;
        for line in dropped {
            println!("{number}: {}\n    {}", line.why, line.line);
            *why.entry(line.why.split(':').next().unwrap().to_owned()).or_default() += 1;
        }
    }
    let fell: usize = why.values().sum();
    println!("lines: {lines}, dropped: {fell} {why:?}, refused as a whole: {refused}");
    assert_eq!(refused, 0);
    assert!(fell * 20 <= lines, "{fell} of {lines} lines fell");
}
