//! `midfold inspect` and `midfold compact` of folders and of several files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::{folder, midfold, root, seen, stdout};

/// In this folder, so that paths are short and the same everywhere.
fn at(dir: &Path, args: &[&str]) -> Output {
    midfold(args).current_dir(dir).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The JSON objects of standard output.
fn objects(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A folder with a folder `runs` in it: transcripts plain and packed, several in one file, and what
/// is none.
fn runs(name: &str) -> PathBuf {
    let tmp = folder(name);
    let runs = tmp.join("runs");
    fs::create_dir_all(runs.join("deep/er")).unwrap();
    let repository = |path: &str| fs::read(root().join(path)).unwrap();
    let session = repository("examples/coding-session.jsonl");
    fs::write(runs.join("a.jsonl"), &session).unwrap();
    fs::write(runs.join("deep/b.json.gz"), gzip(&repository("fixtures/openai-chat.json"))).unwrap();
    fs::write(runs.join("deep/er/c.jsonl.zst"), zstd::encode_all(&session[..], 1).unwrap())
        .unwrap();
    fs::write(runs.join("two.json"), repository("fixtures/tau-bench.json")).unwrap();
    fs::write(runs.join("notes.json"), "Dear diary,\n").unwrap();
    fs::write(runs.join("readme.md"), "no transcript, and not called like one\n").unwrap();
    tmp
}

/// All files below a folder, with what is in them.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let bytes = fs::read(&path).unwrap();
                    found.insert(path.strip_prefix(folder).unwrap().to_owned(), bytes);
                }
            }
        }
    }
    found
}

fn sees(name: &str, output: &Output) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, seen(output)));
}

#[test]
fn inspect_lists_a_folder() {
    let tmp = runs("inspect-folder");
    sees("inspect-folder", &at(&tmp, &["inspect", "runs", "--window", "16k"]));
    let output = at(&tmp, &["inspect", "runs/", "--window", "16k", "--json"]);
    let found = objects(&output);
    let told: Vec<_> = found
        .iter()
        .map(|one| (one["file"].as_str().unwrap(), one["conversation"].as_u64().unwrap()))
        .collect();
    let session = ("runs/deep/er/c.jsonl.zst", 1);
    let [plain, two] = [("runs/a.jsonl", 1), ("runs/two.json", 1)];
    assert_eq!(told, [plain, ("runs/deep/b.json.gz", 1), session, two, ("runs/two.json", 2)]);
    assert_eq!(found[0]["tokens"], found[2]["tokens"]);
    assert_eq!((&found[0]["due"], &found[1]["due"]), (&Value::Bool(true), &Value::Bool(false)));
    assert_eq!(found[0]["presets"].as_array().unwrap().len(), 1, "that of the policy");
    assert!(stderr(&output).contains("1 file could not be read:\n  runs/notes.json: "));
}

#[test]
fn inspect_takes_several_files_and_says_when_none_can_be_read() {
    let tmp = runs("inspect-files");
    let output = at(&tmp, &["inspect", "runs/two.json", "runs/a.jsonl", "runs/nope.json"]);
    sees("inspect-files", &output);
    let output = at(&tmp, &["inspect", "runs/two.json", "runs/a.jsonl", "--window", "400k"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(" 34 %  by hand  ") && !text.contains("1 now"), "{text}");
    sees("inspect-files-none", &at(&tmp, &["inspect", "runs/notes.json", "runs/readme.md"]));
    fs::create_dir(tmp.join("empty")).unwrap();
    let output = at(&tmp, &["inspect", "runs", "empty"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("empty: there is no transcript in this folder"));
    for flag in ["--only=1", "--fold"] {
        let output = at(&tmp, &["inspect", "runs", flag]);
        assert_eq!(output.status.code(), Some(2), "{flag}");
        assert!(stderr(&output).contains("takes one transcript"), "{flag}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_round_and_a_folder_that_is_closed_end_no_walk() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let tmp = runs("folder-links");
    symlink(tmp.join("runs"), tmp.join("runs/deep/round")).unwrap();
    symlink("nowhere.json", tmp.join("runs/gone.json")).unwrap();
    let closed = tmp.join("runs/closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // Nothing is closed to root.
    let is_root = fs::read_dir(&closed).is_ok();
    let output = at(&tmp, &["inspect", "runs", "--json"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(objects(&output).len(), 5);
    let said = stderr(&output);
    assert_eq!(said.contains("runs/closed cannot be read: permission denied"), !is_root, "{said}");
    assert!(!said.contains("gone.json"), "{said}");
}

#[test]
fn compact_writes_a_folder_beside_a_folder() {
    let tmp = runs("compact-folder");
    let before = files(&tmp.join("runs"));
    let args = ["compact", "runs", "-o", "new/out", "--record", "records", "--window", "16k"];
    sees("compact-folder", &at(&tmp, &args));
    assert_eq!(files(&tmp.join("runs")), before, "nothing is compacted in place");

    let out = files(&tmp.join("new/out"));
    let names: Vec<_> = out.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(names, ["a.jsonl", "deep/b.json", "deep/er/c.jsonl", "two.json"]);
    let path = |name: &str| root().join(name);
    let same = |name: &str, source: &str| {
        assert_eq!(out[Path::new(name)], fs::read(path(source)).unwrap(), "{name} is a copy");
    };
    same("deep/b.json", "fixtures/openai-chat.json");
    same("two.json", "fixtures/tau-bench.json");
    let single = stdout(&["compact", "examples/coding-session.jsonl", "--window", "16k"], b"");
    for name in ["a.jsonl", "deep/er/c.jsonl"] {
        assert_eq!(out[Path::new(name)], single.as_bytes(), "{name} is what one file would be");
    }

    let records = files(&tmp.join("records"));
    let names: Vec<_> = records.keys().map(|path| path.to_str().unwrap()).collect();
    let wanted = ["a.jsonl.json", "deep/b.json.json", "deep/er/c.jsonl.json", "two.json.json"];
    assert_eq!(names, wanted);
    let verify = ["check", "file", "--before", "runs/a.jsonl", "--after", "new/out/a.jsonl"];
    let output = at(&tmp, &[&verify[..], &["--record", "records/a.jsonl.json"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));

    let again = at(&tmp, &args);
    assert_eq!((again.status.code(), files(&tmp.join("new/out"))), (Some(1), out));
}

#[test]
fn compact_tells_programs_what_became_of_each_file() {
    let tmp = runs("compact-folder-json");
    let args = ["compact", "runs", "--window", "16k", "--json"];
    let output = at(&tmp, &[&args[..], &["-o", "out"]].concat());
    let found = objects(&output);
    assert_eq!((output.status.code(), found.len()), (Some(1), 5));
    let plain = &found[0];
    assert_eq!((&plain["output"], &plain["record"]), (&"out/a.jsonl".into(), &Value::Null));
    assert!(plain["tokens_after"].as_u64() < plain["tokens_before"].as_u64());
    assert_eq!((&plain["folded"], &plain["copied"]), (&1.into(), &false.into()));
    assert_eq!((&found[1]["folded"], &found[1]["copied"]), (&0.into(), &true.into()));
    assert_eq!(found[3]["file"], "runs/notes.json");
    assert!(found[3]["error"].as_str().unwrap().starts_with("runs/notes.json: "));
    assert_eq!(found[4]["conversations"], 2);

    fs::remove_dir_all(tmp.join("out")).unwrap();
    let preview = at(&tmp, &["compact", "runs", "--window", "16k", "--preview"]);
    assert!(!tmp.join("out").exists());
    let text = String::from_utf8(preview.stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(stderr(&preview).contains("5 files: 2 would be compacted, 2 unchanged, 1 failed"));
}

#[test]
fn a_conversion_is_no_copy() {
    let tmp = runs("compact-folder-to");
    let args = ["compact", "runs/two.json", "runs/deep", "-o", "out", "--to", "anthropic"];
    let output = at(&tmp, &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let out = files(&tmp.join("out"));
    let names: Vec<_> = out.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(names, ["b.json", "er/c.jsonl", "two.json"]);
    let chat: Value = serde_json::from_slice(&out[Path::new("b.json")]).unwrap();
    assert!(chat["system"].is_string(), "converted, though nothing was folded");
}

/// The command is refused before anything is written, and says this.
fn refused(tmp: &Path, args: &[&str], says: &[&str]) {
    let before = files(tmp);
    let output = at(tmp, &[&["compact"], args].concat());
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.contains("hint: "), "{args:?}: {said}");
    for part in says {
        assert!(said.contains(part), "{args:?}: {part:?} is not in {said}");
    }
    assert_eq!(files(tmp), before, "{args:?}");
}

#[test]
fn results_go_to_a_folder_outside() {
    let tmp = runs("compact-places");
    fs::create_dir(tmp.join("other")).unwrap();
    fs::write(tmp.join("file"), "x").unwrap();
    refused(&tmp, &["runs"], &["need a folder to be written to", "-o FOLDER", "--preview"]);
    refused(&tmp, &["runs/a.jsonl", "runs/two.json"], &["need a folder to be written to"]);
    refused(&tmp, &["runs", "-o", "-"], &["-o -", "need a folder"]);
    refused(&tmp, &["runs", "-o", "file"], &["-o file", "need a folder"]);
    refused(&tmp, &["runs", "-o", "runs/"], &["-o runs/ is the folder that is read, runs"]);
    for inside in ["runs/out", "runs/deep", "./runs/no/such/folder", "other/../runs/out"] {
        refused(&tmp, &["runs", "-o", inside], &["lies in a folder that is read, runs"]);
    }
    let record = ["runs", "-o", "out", "--record", "runs/records"];
    refused(&tmp, &record, &["--record runs/records lies in a folder that is read"]);
    refused(&tmp, &["-", "runs", "-o", "out"], &["standard input has no name"]);
    refused(&tmp, &["runs", "-o", "out", "--show-recap"], &["--show-recap takes one transcript"]);
    refused(&tmp, &["runs", "--cache-check"], &["--cache-check takes one transcript"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(tmp.join("runs"), tmp.join("link")).unwrap();
        refused(&tmp, &["runs", "-o", "link/out"], &["lies in a folder that is read"]);
    }
}

#[test]
fn no_result_is_written_over_a_transcript_or_another_result() {
    let tmp = runs("compact-over");
    let both = ["runs/a.jsonl", "runs/two.json", "-o", "runs"];
    refused(
        &tmp,
        &both,
        &["the result of runs/a.jsonl would be written over", "hint: name another"],
    );
    // A folder below that has the name of the one that is read.
    fs::create_dir(tmp.join("runs/runs")).unwrap();
    fs::rename(tmp.join("runs/a.jsonl"), tmp.join("runs/runs/two.json")).unwrap();
    refused(
        &tmp,
        &["runs", "-o", "."],
        &["the result of runs/runs/two.json would be written over"],
    );

    let tmp = runs("compact-twice");
    let session = fs::read(tmp.join("runs/a.jsonl")).unwrap();
    fs::write(tmp.join("runs/a.jsonl.gz"), gzip(&session)).unwrap();
    fs::remove_file(tmp.join("runs/notes.json")).unwrap();
    let output = at(&tmp, &["compact", "runs", "-o", "out"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let error = "runs/a.jsonl.gz: its result would be written over that of runs/a.jsonl";
    assert!(said.contains(error) && said.contains("1 failed"), "{said}");
    assert_eq!(files(&tmp.join("out")).len(), 4);
}
