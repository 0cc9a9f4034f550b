//! Which names are those of transcripts.

use midfold_cli::inside::paths::{is_transcript, unpacked};

#[test]
fn names_of_transcripts() {
    for name in ["a.jsonl", "a.json", "run.traj", "a.jsonl.gz", "a.b.json.zst"] {
        assert!(is_transcript(name), "{name}");
    }
    for name in ["a.md", "json", ".json", ".jsonl.gz", "a.gz", "a.jsonl.part", "a.json.gz.gz"] {
        assert!(!is_transcript(name), "{name}");
    }
    assert_eq!((unpacked("a.json.gz"), unpacked("a"), unpacked(".gz")), ("a.json", "a", ".gz"));
}
