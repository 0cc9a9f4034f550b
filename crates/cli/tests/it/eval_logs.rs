//! `.eval` logs of Inspect AI, which are zip archives.

use std::fs;
use std::io::{Cursor, Write};

use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::{folder, run, stdout};

fn sample(number: u32) -> Value {
    json!({"id": number, "epoch": 1, "input": "x", "target": "", "messages": [
        {"role": "user", "source": "input", "content": format!("Mill the sack {number}.")},
        {"role": "assistant", "content": "It is milled.", "model": "mill-9"},
    ]})
}

fn archive(files: &[(&str, String)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The files of a log with two samples, and with this head.
fn log(head: &str) -> Vec<(&str, String)> {
    let about = json!({"version": 2, "eval": {"task": "mill", "model": "mill-8"}}).to_string();
    vec![
        ("samples/1_epoch_1.json", sample(1).to_string()),
        ("summaries.json", "[]".to_owned()),
        ("samples/2_epoch_1.json", sample(2).to_string()),
        (head, about),
    ]
}

#[test]
fn a_log_reads_as_its_dump_does() {
    let folder = folder("eval-logs");
    let dump = folder.join("dump.json");
    let about = json!({"version": 2, "status": "success", "eval": {"task": "mill", "model": "mill-8"},
        "samples": [sample(1), sample(2)]});
    fs::write(&dump, about.to_string()).unwrap();
    let compacted = |file: &std::path::Path| stdout(&["compact", file.to_str().unwrap()], b"");
    let wanted = compacted(&dump);
    assert!(wanted.contains("Mill the sack 1.") && wanted.contains("Mill the sack 2."), "{wanted}");
    for (name, method) in [
        ("stored", CompressionMethod::Stored),
        ("deflated", CompressionMethod::Deflated),
        ("zstd", CompressionMethod::Zstd),
    ] {
        for head in ["header.json", "_journal/start.json"] {
            let file = folder.join(format!("{name}.eval"));
            fs::write(&file, archive(&log(head), method)).unwrap();
            assert_eq!(compacted(&file), wanted, "{name}, {head}");
        }
    }
}

#[test]
fn a_damaged_log_is_one_clear_error() {
    let folder = folder("eval-logs-damaged");
    let whole = archive(&log("header.json"), CompressionMethod::Deflated);
    let mut broken = log("header.json");
    broken[2].1.truncate(20);
    let cases = [
        ("cut", whole[..whole.len() / 2].to_vec(), "cannot be unpacked"),
        ("half", archive(&broken, CompressionMethod::Stored), "samples/2_epoch_1.json"),
    ];
    for (name, bytes, says) in cases {
        let file = folder.join(format!("{name}.eval"));
        fs::write(&file, bytes).unwrap();
        let output = run(&["compact", file.to_str().unwrap()], b"");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{name}: {stderr}");
        assert!(stderr.contains(says) && stderr.lines().count() <= 3, "{name}: {stderr}");
    }
}
