//! `midfold trajectories`: packed files, one run at a time, flat memory.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::trajectories::{LIMITS, row, rows, text};
use crate::{folder, midfold, run, stdout};

#[test]
fn packed_lines_are_the_same_lines() {
    let tmp = folder("trajectories-zst");
    let plain = tmp.join("runs.jsonl");
    let lines = rows(300);
    fs::write(&plain, &lines).unwrap();
    // Several frames are one file, as of `cat a.zst b.zst`.
    let mid = lines[..lines.len() / 2].rfind('\n').unwrap() - 100;
    let frames =
        [&lines[..mid], &lines[mid..]].map(|lines| zstd::encode_all(lines.as_bytes(), 3).unwrap());
    let folder = tmp.join("in");
    fs::create_dir(&folder).unwrap();
    let packed = folder.join("runs.jsonl.zst");
    fs::write(&packed, frames.concat()).unwrap();
    let compress = |input: &Path, out: &str| {
        let out = tmp.join(out);
        let more = ["--chunk-bytes", "20000"];
        stdout(
            &[&["trajectories", &text(input), "-o", &text(&out)], &LIMITS[..], &more].concat(),
            b"",
        );
        fs::read(out).unwrap()
    };
    let wanted = compress(&plain, "a.jsonl");
    assert!(compress(&packed, "b.jsonl") == wanted);
    let out = compress(&folder, "c.jsonl.zst");
    assert!(zstd::decode_all(&out[..]).unwrap() == wanted);
    assert!(compress(&plain, "d.jsonl.zst") == out, "it depends on the rows alone");
    let rejects =
        |name: &str| fs::read_to_string(tmp.join(format!("{name}.rejects.jsonl"))).unwrap();
    assert_eq!(rejects("b").replace("in/runs.jsonl.zst", "runs.jsonl"), rejects("a"));
    // What is cut off is not taken for all there is.
    fs::write(&packed, &frames[0][..frames[0].len() - 9]).unwrap();
    let args = ["trajectories", &text(&packed), "-o", &text(&tmp.join("e.jsonl"))];
    let output = run(&args, b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be read"));
    assert!(!tmp.join("e.jsonl").exists());
}

#[test]
fn two_runs_do_not_write_one_output() {
    let tmp = folder("trajectories-lock");
    let input = tmp.join("runs.jsonl");
    fs::write(&input, rows(20)).unwrap();
    let (input, out) = (text(&input), text(&tmp.join("train.jsonl")));
    // It waits for the rest of its input.
    let mut first = midfold(&["trajectories", "-", "-o", &out])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lock = tmp.join("train.trajectories.lock");
    while !tmp.join("train.jsonl.part").exists() {
        assert!(first.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(lock.exists());
    let packed = text(&tmp.join("train.jsonl.zst"));
    for (out, more) in [(&out, &[][..]), (&out, &["--resume"]), (&packed, &[])] {
        let second = run(&[&["trajectories", &input, "-o", out], more].concat(), b"");
        let stderr = String::from_utf8(second.stderr).unwrap();
        assert_eq!(second.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("another run is writing"), "{stderr}");
    }
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(row(1, 2).as_bytes()).unwrap();
    drop(stdin);
    assert!(first.wait().unwrap().success());
    assert_eq!(fs::read_to_string(&out).unwrap(), row(1, 2));
    assert!(!lock.exists());
    stdout(&["trajectories", &input, "-o", &out], b"");
}

#[test]
fn what_this_build_cannot_do_is_told() {
    let tmp = folder("trajectories-formats");
    let lines = tmp.join("runs.jsonl");
    fs::write(&lines, rows(2)).unwrap();
    let (lines, out) = (text(&lines), text(&tmp.join("train.parquet")));
    let fails = |args: &[&str], says: &str| {
        let output = run(&[&["trajectories"], args].concat(), b"");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(says), "{args:?}: {stderr}");
    };
    fails(&[&lines, "-o", &out], "Parquet is written from Parquet");
    fails(&[&lines, "-o", &text(&tmp.join("a.jsonl")), "--column", "x"], "--column is for Parquet");
    if cfg!(not(feature = "parquet")) {
        let input = tmp.join("runs.parquet");
        fs::write(&input, "PAR1").unwrap();
        fails(&[&text(&input), "-o", &out], "--features parquet");
    }
}

/// A file that somebody wrote for people has a row in no line: its rows are put on lines. A file that is no JSON to its
/// end is one error, and not one for each line.
#[test]
fn rows_over_several_lines_are_put_on_lines() {
    let tmp = folder("trajectories-spread");
    let one: serde_json::Value = serde_json::from_str(rows(1).trim()).unwrap();
    let indented = serde_json::to_string_pretty(&one).unwrap();
    let list = serde_json::to_string_pretty(&vec![one.clone(), one.clone()]).unwrap();
    let two = format!("{indented}\n{indented}\n");
    let broken = format!("{indented}\n{{\n");
    for (name, text, count) in [
        ("one", indented.clone(), Some(1)),
        ("list", list, Some(2)),
        ("two", two, Some(2)),
        ("broken", broken, None),
    ] {
        let input = tmp.join(format!("{name}.json"));
        fs::write(&input, text).unwrap();
        let out = tmp.join(format!("{name}-out.jsonl"));
        let output =
            run(&["trajectories", input.to_str().unwrap(), "-o", out.to_str().unwrap()], b"");
        let stderr = String::from_utf8(output.stderr).unwrap();
        if let Some(count) = count {
            let written = fs::read_to_string(&out).unwrap();
            let rows = written.lines().map(|line| serde_json::from_str(line).unwrap());
            let rows: Vec<serde_json::Value> = rows.collect();
            assert_eq!(rows, vec![one.clone(); count], "{name}: {stderr}");
            continue;
        }
        assert_ne!(output.status.code(), Some(0), "{name}: {stderr}");
        assert!(
            stderr.contains("written over several lines") && stderr.contains("jq -c"),
            "{stderr}"
        );
        assert!(stderr.lines().count() <= 4, "{stderr}");
    }
}

/// The most memory that a run over `copies` of some rows ever holds, in bytes.
#[cfg(target_os = "linux")]
fn peak(tmp: &Path, input: &Path, out: &str) -> u64 {
    let (input, out) = (text(input), text(&tmp.join(out)));
    let args = ["trajectories", &input, "-o", &out, "--target-tokens", "20k", "--workers", "2"];
    let mut child = midfold(&args).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes =
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) << 10);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    peak
}

/// Twice as much to read, and the same memory: what is in flight is bounded, whatever waits.
/// `tools/flat-memory` does it with gigabytes.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_input() {
    let tmp = folder("trajectories-memory");
    let some: String = (0..100).map(|n| row(n, 60)).collect();
    for (end, pack) in [("jsonl", false), ("jsonl.zst", true)] {
        let peaks = [64, 128].map(|megabytes| {
            let input = tmp.join(format!("runs.{end}"));
            let lines = some.repeat((megabytes << 20) / some.len());
            let bytes =
                if pack { zstd::encode_all(lines.as_bytes(), 1).unwrap() } else { lines.into() };
            fs::write(&input, bytes).unwrap();
            peak(&tmp, &input, &format!("out.{end}"))
        });
        assert!(peaks[0] > 1 << 20 && peaks[1] < peaks[0] + (12 << 20), "{end}: {peaks:?}");
    }
    fs::remove_dir_all(tmp).unwrap();
}
