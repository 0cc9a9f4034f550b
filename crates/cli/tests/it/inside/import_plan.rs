//! Transcripts become sessions, and go on in them.

use std::sync::Arc;

use bytes::Bytes;
use midfold::store::{Store, open};
use midfold::{Policy, Setup};
use midfold_cli::inside::import::{
    ImportExtent, ImportPlan, ImportedSession, TranscriptRecordings,
};

/// A session file of Claude Code, record by record.
#[derive(Default)]
struct File {
    lines: Vec<String>,
}

impl File {
    fn add(&mut self, kind: &str, more: &str, message: &str) {
        let (at, before) = (self.lines.len(), self.lines.len().wrapping_sub(1));
        let parent = if at == 0 { "null".to_owned() } else { format!("\"u{before}\"") };
        self.lines.push(format!(
            r#"{{"type":"{kind}","uuid":"u{at}","parentUuid":{parent},"sessionId":"session-1"{more}{message}}}"#
        ));
    }

    fn user(&mut self, text: &str) {
        let message = format!(r#","message":{{"role":"user","content":"{text}"}}"#);
        self.add("user", "", &message);
    }

    /// A block of a reply.
    fn reply(&mut self, id: &str, text: &str, stop: &str) {
        let message = format!(
            r#","message":{{"id":"{id}","role":"assistant","stop_reason":{stop},"content":[{{"type":"text","text":"{text}"}}]}}"#
        );
        self.add("assistant", "", &message);
    }

    fn compacted(&mut self, summary: &str) {
        self.add("system", r#","subtype":"compact_boundary""#, "");
        let message = format!(r#","message":{{"role":"user","content":"{summary}"}}"#);
        self.add("user", r#","isCompactSummary":true"#, &message);
    }

    fn bytes(&self) -> Bytes {
        (self.lines.join("\n") + "\n").into()
    }
}

async fn bring(
    store: &Arc<dyn Store>,
    found: &TranscriptRecordings,
    extent: ImportExtent,
    numbered: bool,
) -> Result<ImportedSession, midfold::Failure> {
    let mut setup = Setup::new();
    let mut import = ImportPlan {
        store: store.clone(),
        setup: &mut setup,
        policy: Policy::preset("default").unwrap(),
        output_reserve: 0,
        source: None,
        extent,
        numbered,
    };
    import.bring(&found.recordings[0], "session-1", 0).await
}

async fn texts(store: &Arc<dyn Store>, id: &str) -> Vec<String> {
    let head = store.session(id).await.unwrap().head;
    let rows = store.events(id, 0..head).await.unwrap();
    let all = rows.iter().map(|row| String::from_utf8_lossy(&row.event.bytes).into_owned());
    // The last text of each message.
    all.map(|text| text.rsplit('"').nth(1).unwrap_or_default().to_owned()).collect()
}

/// Whichever part a session began with, it goes on over the client's own compaction.
#[tokio::test]
async fn a_session_goes_on_over_a_compaction() {
    let mut file = File::default();
    file.user("one");
    file.reply("m1", "two", "\"end_turn\"");
    let before = TranscriptRecordings::read(&file.bytes(), None).unwrap();
    file.compacted("sum one");
    file.user("three");
    let after = TranscriptRecordings::read(&file.bytes(), None).unwrap();
    file.reply("m2", "four", "\"end_turn\"");
    file.compacted("sum two");
    file.user("five");
    let twice = TranscriptRecordings::read(&file.bytes(), None).unwrap();

    let all = ["one", "two", "sum one", "three", "four", "sum two", "five"];
    let store = open("memory").await.unwrap();
    for (found, count) in
        [(&before, 2), (&after, 4), (&after, 4), (&twice, 7), (&twice, 7), (&after, 7)]
    {
        let done = bring(&store, found, ImportExtent::Live, false).await.unwrap();
        assert_eq!(done.messages, count);
    }
    assert_eq!(texts(&store, "session-1").await, all);

    // Begun after the first compaction: with what was sent then, or with all of it.
    for (extent, from) in [(ImportExtent::Live, 2), (ImportExtent::All, 0)] {
        let store = open("memory").await.unwrap();
        bring(&store, &after, extent, false).await.unwrap();
        let done = bring(&store, &twice, ImportExtent::Live, false).await.unwrap();
        assert_eq!((done.is_made, done.new), (false, 3));
        assert_eq!(texts(&store, "session-1").await, all[from..]);
    }
}

#[tokio::test]
async fn another_conversation_is_refused_or_gets_a_name_of_its_own() {
    let store = open("memory").await.unwrap();
    for (last, name) in [
        ("two", "session-1"),
        ("deux", "session-1-2"),
        ("zwei", "session-1-3"),
        ("deux", "session-1-2"),
    ] {
        let mut file = File::default();
        file.user("one");
        file.user(last);
        let found = TranscriptRecordings::read(&file.bytes(), None).unwrap();
        let refused = bring(&store, &found, ImportExtent::Live, false).await;
        if name != "session-1" {
            let message = refused.unwrap_err().message;
            assert!(message.ends_with("another conversation: message 1 differs"), "{message}");
        }
        assert_eq!(bring(&store, &found, ImportExtent::Live, true).await.unwrap().id, name);
    }
}

/// A hook and a watch may bring the same at the same time: nothing is there twice, nobody fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_bring_the_same_at_once() {
    let mut file = File::default();
    (0..60).for_each(|n| file.user(&format!("message {n}")));
    let store = open("memory").await.unwrap();
    let parts = (1..=6).map(|part| {
        let lines = file.lines[..part * 10].join("\n") + "\n";
        let found = TranscriptRecordings::read(&Bytes::from(lines), None).unwrap();
        let store = store.clone();
        tokio::spawn(async move { bring(&store, &found, ImportExtent::All, true).await.unwrap() })
    });
    for part in parts.collect::<Vec<_>>() {
        assert_eq!(part.await.unwrap().id, "session-1");
    }
    let wanted: Vec<_> = (0..60).map(|n| format!("message {n}")).collect();
    assert_eq!(texts(&store, "session-1").await, wanted);
}

/// A reply that gets more blocks would be another message later: it waits.
#[test]
fn a_reply_that_may_grow_waits() {
    let mut file = File::default();
    file.user("one");
    file.reply("m1", "tw", "null");
    let count = |file: &File, quiet| {
        let found = TranscriptRecordings::so_far(&file.bytes(), None, quiet).unwrap();
        (found.recordings[0].live().events.len(), found.waiting)
    };
    assert_eq!((count(&file, false), count(&file, true)), ((1, 1), (1, 1)), "it goes on");
    file.reply("m1", "two", "null");
    file.user("three");
    assert_eq!(count(&file, true), (1, 2), "nothing passes it");
    file.reply("m2", "four", "\"tool_use\"");
    assert_eq!(
        (count(&file, false), count(&file, true)),
        ((3, 1), (4, 0)),
        "it ended, and is quiet"
    );
}
