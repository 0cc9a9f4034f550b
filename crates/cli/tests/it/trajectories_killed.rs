//! `midfold trajectories`, killed and resumed: no row is lost, doubled or done again.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::trajectories::{LIMITS, json, rows, text};
use crate::{folder, midfold};

/// What an interrupted run says about itself.
fn progress(manifest: &Path) -> Option<(u64, u64)> {
    let manifest: Value = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
    let totals = &manifest["totals"];
    let rows = totals["trajectories"].as_u64()? + totals["failed"].as_u64()?;
    Some((manifest["position"]["offset"].as_u64()?, rows))
}

fn command(input: &Path, out: &Path, more: &[&str]) -> Command {
    let (input, out) = (text(input), text(out));
    midfold(&[&["trajectories", &input, "-o", &out], &LIMITS[..], more].concat())
}

/// Runs an input once undisturbed, and once killed at `kills` places; what is written is the same.
/// `end` is that of the outputs' names, `size` how far a run can be (bytes of lines, or rows).
pub fn killed_again_and_again(input: &Path, end: &str, size: u64, kills: u64, chunk: &str) {
    let tmp = input.parent().unwrap();
    let [whole, out] = ["whole", "killed"].map(|name| tmp.join(format!("{name}.{end}")));
    let done = command(input, &whole, &["--chunk-bytes", chunk]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    let manifest = tmp.join(format!("killed.{end}.manifest.json"));
    let (mut killed, mut last) = (0, 0);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for n in 0..kills {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Somewhere in the next part of the input, or at once.
        let until = size * n / (kills + 1) + (random >> 33) % (size / (kills + 1));
        let workers = ["1", "2", "3"][(n % 3) as usize];
        let more = ["--chunk-bytes", chunk, "--resume", "--workers", workers];
        let mut child = command(input, &out, &more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(60) {
            if progress(&manifest).is_some_and(|(offset, _)| offset >= until) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        killed += u64::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        if let Some((_, rows)) = progress(&manifest) {
            assert!(rows >= last, "what is done stays done");
            last = rows;
        }
    }
    assert!(killed >= kills / 2, "only {killed} runs were killed");
    assert!(!out.exists(), "no row has its name before all are there");
    let done = command(input, &out, &["--chunk-bytes", chunk, "--resume"]).output().unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.success(), "{stderr}");
    // None is done twice: this run began after those that were there.
    let resumed: String = stderr
        .lines()
        .find(|line| line.contains("resumed"))
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    assert_eq!(resumed, last.to_string());

    for end in [end, "rejects.jsonl"] {
        let file = |name: &str| fs::read(tmp.join(format!("{name}.{end}"))).unwrap();
        assert!(file("whole") == file("killed"), "{end} differs");
    }
    let metrics = |name: &str| json(&tmp.join(format!("{name}.metrics.json")));
    let [mut a, mut b] = ["whole", "killed"].map(metrics);
    (a["processing"], b["processing"]) = (Value::Null, Value::Null);
    assert_eq!(a, b);
    let left: Vec<_> =
        fs::read_dir(tmp).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 7, "{left:?}");
}

#[test]
fn a_run_that_is_killed_again_and_again_writes_what_an_undisturbed_one_writes() {
    // `./test --all` asks for 50 kills, over 100,000 rows.
    let (kills, count) = match std::env::var("MIDFOLD_KILLS") {
        Ok(kills) => kills.parse().map(|kills: u64| (kills, kills as usize * 2_000)).unwrap(),
        Err(_) => (10, 5_000),
    };
    let tmp = folder("trajectories-kill");
    let input = tmp.join("runs.jsonl");
    fs::write(&input, rows(count)).unwrap();
    let size = fs::metadata(&input).unwrap().len();
    killed_again_and_again(&input, "jsonl", size, kills, "30000");
    // Other settings do not go on with it.
    let out = tmp.join("killed.jsonl");
    let manifest = out.with_extension("jsonl.manifest.json");
    let mut child = command(&input, &out, &[]).stderr(Stdio::null()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && progress(&manifest).is_none_or(|(at, _)| at == 0) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait().unwrap();
    if out.with_extension("jsonl.part").exists() {
        let other = command(&input, &out, &["--resume", "--keep-last", "6"]).output().unwrap();
        let stderr = String::from_utf8(other.stderr).unwrap();
        assert!(stderr.contains("had other settings"), "{stderr}");
    }
    fs::remove_dir_all(tmp).unwrap();
}

#[test]
fn so_does_one_over_packed_lines() {
    let tmp = folder("trajectories-kill-zst");
    let input = tmp.join("runs.jsonl.zst");
    let lines = rows(1_500);
    fs::write(&input, zstd::encode_all(lines.as_bytes(), 1).unwrap()).unwrap();
    killed_again_and_again(&input, "jsonl.zst", lines.len() as u64, 4, "20000");
}
