//! Where chunks of lines begin and end.

use std::io::Write;
use std::path::PathBuf;

use midfold::formats::trajectory::TurnShape;
use midfold_cli::inside::{LineChunks, LinePosition, TranscriptRows};

#[test]
fn chunks_begin_anywhere_and_go_on_the_same() {
    let folder = std::env::temp_dir().join(format!("midfold-lines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let files: Vec<PathBuf> = ["a", "empty", "b"].map(|name| folder.join(name)).into();
    let line = |n: usize| format!("{n} {}", "x".repeat(n * 37 % 5_000));
    let a: Vec<String> = (0..1_500).map(line).collect();
    std::fs::write(&files[0], a.join("\n")).unwrap();
    std::fs::write(&files[1], "").unwrap();
    std::fs::write(&files[2], "last\n\n").unwrap();
    let transcripts = TranscriptRows::new(TurnShape::Messages);
    let all = |from| {
        let mut chunks = LineChunks::new(&files, &transcripts, from, 100_000);
        let mut found = Vec::new();
        while let Some(chunk) = chunks.next_chunk().unwrap() {
            found.push((chunk.from, chunk.to, chunk.bytes));
        }
        found
    };
    let whole = all(LinePosition::default());
    assert!(whole.len() > 3);
    let text: Vec<u8> = whole.iter().flat_map(|(_, _, bytes)| bytes.clone()).collect();
    assert_eq!(text, [a.join("\n").as_bytes(), b"last\n\n"].concat());
    for (at, (_, to, _)) in whole.iter().enumerate() {
        assert_eq!(all(*to), whole[at + 1..]);
    }
    let last = whole.last().unwrap().1;
    assert_eq!(last, LinePosition { file: 2, offset: 6, line: 2, read: 6 });
    std::fs::remove_dir_all(folder).unwrap();
}

/// The bytes of all chunks of a file, and for each chunk how much of the file is read.
fn chunks(path: PathBuf, size: usize) -> (Vec<u8>, Vec<u64>) {
    let transcripts = TranscriptRows::new(TurnShape::Messages);
    let files = [path];
    let mut chunks = LineChunks::new(&files, &transcripts, LinePosition::default(), size);
    let (mut all, mut read) = (Vec::new(), Vec::new());
    while let Some(chunk) = chunks.next_chunk().unwrap() {
        all.extend(chunk.bytes);
        read.push(chunk.to.read);
    }
    (all, read)
}

#[test]
fn a_packed_file_is_read_to_its_end() {
    let folder = std::env::temp_dir().join(format!("midfold-gz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let row =
        |n| format!("{{\"conversations\":[{{\"from\":\"human\",\"value\":\"task {n}\"}}]}}\n");
    let rows: String = (0..2_000).map(row).collect();
    assert!(rows.len() > 1 << 16, "more than the first lines that are looked at");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(rows.as_bytes()).unwrap();
    let zstd = zstd::encode_all(rows.as_bytes(), 3).unwrap();
    for (name, bytes) in [("rows.jsonl.gz", gzip.finish().unwrap()), ("rows.jsonl.zst", zstd)] {
        let path = folder.join(name);
        std::fs::write(&path, &bytes).unwrap();
        let (all, read) = chunks(path, 20_000);
        assert!(all == rows.as_bytes(), "{name}: {} of {} bytes", all.len(), rows.len());
        // Progress is compared with the size of the file, not with that of what was made of it.
        assert_eq!(read.last(), Some(&(bytes.len() as u64)), "{name}");
        assert!(read.is_sorted() && read[0] <= bytes.len() as u64, "{name}: {read:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_transcript_is_read_where_its_rows_are_done() {
    let folder = std::env::temp_dir().join(format!("midfold-made-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("chat.json");
    let chat = r#"{"model":"m","input":[{"role":"user","content":"Fix it."},{"role":"assistant","content":"Done."}]}"#;
    std::fs::write(&path, chat).unwrap();
    let (rows, read) = chunks(path, 1 << 20);
    assert_ne!(rows, chat.as_bytes(), "a row is made of it");
    assert_eq!(read, [chat.len() as u64]);
    std::fs::remove_dir_all(folder).unwrap();
}
