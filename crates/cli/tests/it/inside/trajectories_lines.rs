//! Where chunks of lines begin and end.

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
