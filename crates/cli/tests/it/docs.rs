//! The examples of the pages are run as they are there, in a folder of their own.
//!
//! An example is a line that starts with `$ ` in a fenced block; where it ends with `\`, it goes on
//! in the next line. It has to end with 0. The lines below it are what it prints: in a `console`
//! block each of them has to come out, in order, with `…` for anything. (Elsewhere they show what
//! it looks like, and change with every release.)

use std::fs;
use std::path::Path;
use std::process::Command;

use midfold_testkit::model_server::{ModelServer, ScriptedAnswer};

use crate::serve::start;
use crate::{folder, root};

/// A page, and the beginnings of examples that cannot run here, with the reason.
struct Page {
    path: &'static str,
    left_out: &'static [(&'static str, &'static str)],
}

/// Why a command that only serves cannot run here.
const SERVES: &str = "it runs until it is told to end; the tests of `serve` start it";
const AGENT: &str = "the agent is the reader's own";

/// All pages whose examples are run. One more: a line here.
const PAGES: &[Page] = &[
    Page {
        path: "README.md",
        left_out: &[("midfold serve", SERVES), ("midfold run", AGENT), ("OPENAI_BASE_URL=", AGENT)],
    },
    Page { path: "docs/FIRST.md", left_out: &[] },
    Page {
        path: "docs/PROXY.md",
        left_out: &[
            ("midfold serve", SERVES),
            ("midfold run", AGENT),
            ("midfold doctor", "it asks the providers"),
            ("OPENAI_BASE_URL=", AGENT),
            ("ANTHROPIC_BASE_URL=", AGENT),
        ],
    },
    Page { path: "docs/COMPARE.md", left_out: &[] },
    Page {
        path: "docs/SERVE.md",
        left_out: &[("midfold serve --", SERVES), ("midfold run", AGENT)],
    },
    Page {
        path: "docs/API.md",
        left_out: &[("midfold serve", "it is started for the page, on a port of its own")],
    },
    Page { path: "docs/STORE.md", left_out: &[] },
    Page { path: "docs/RECORD.md", left_out: &[] },
    Page { path: "docs/PRESETS.md", left_out: &[] },
    Page { path: "docs/TRAJECTORIES.md", left_out: &[] },
    Page { path: "docs/EXACTLY.md", left_out: &[] },
];

/// What the model of the examples says: see `docs/TRAJECTORIES.md`.
const REPLY: &str = "## Completed Actions\n- Read the module step by step.\n## Facts\n- Nothing \
    failed.\n## Key Decisions\n- None.\n## Critical Context\n- None.\n";

/// Where the examples find a model.
const MODEL: &str = "http://127.0.0.1:8080";

/// Where they find a server.
const SERVER: &str = "localhost:7878";

struct Example {
    line: usize,
    command: String,
    /// What is printed; only checked where the block says that it is a `console`.
    printed: Vec<String>,
    checked: bool,
}

fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let (mut fence, mut open, mut goes_on) = (None, false, false);
    for (at, line) in text.lines().enumerate() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            fence = fence.is_none().then(|| info.trim().to_owned());
            (open, goes_on) = (false, false);
            continue;
        }
        let Some(info) = &fence else {
            let spans = line.split('`').skip(1).step_by(2);
            let named = spans.filter(|it| it.starts_with("midfold ") && it.contains("examples/"));
            found.extend(named.map(|it| Example {
                line: at + 1,
                command: it.to_owned(),
                printed: Vec::new(),
                checked: false,
            }));
            continue;
        };
        if let Some(command) = line.strip_prefix("$ ") {
            let checked = info == "console";
            let command = command.to_owned();
            found.push(Example { line: at + 1, command, printed: Vec::new(), checked });
            open = true;
        } else if let Some(last) = found.last_mut().filter(|_| open) {
            match goes_on {
                true => last.command += &format!("\n{line}"),
                false => last.printed.push(line.to_owned()),
            }
        } else {
            continue;
        }
        goes_on = line.ends_with('\\');
    }
    found
}

/// Files that the examples speak of.
fn prepare(folder: &Path) {
    let copy = |from: &str, to: &str| {
        let to = folder.join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root().join(from), to).unwrap();
    };
    copy("examples/coding-session.jsonl", "examples/coding-session.jsonl");
    copy("examples/tidelog.jsonl", "examples/tidelog.jsonl");
    copy("examples/plain-dialogue.jsonl", "examples/plain-dialogue.jsonl");
    copy("examples/coding-session.jsonl", "transcripts/one.jsonl");
}

/// What stands on a page, and what is in its place here.
type Instead<'a> = [(&'a str, &'a str)];

/// Runs an example of a page in its folder. All pages have one home, as with a reader who goes from one to the next.
fn run(example: &Example, folder: &Path, home: &Path, instead: &Instead<'_>) -> Result<(), String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_midfold"));
    let paths = [binary.parent().unwrap().display().to_string(), "/usr/bin:/bin".to_owned()];
    let command = instead
        .iter()
        .fold(example.command.clone(), |command, (there, here)| command.replace(there, here));
    let output = Command::new("sh")
        .args(["-ec", &command])
        .current_dir(folder)
        .env_clear()
        .env("PATH", paths.join(":"))
        .env("HOME", home)
        .env("XDG_DATA_HOME", home.join("data"))
        .env("COLUMNS", "90")
        .env("MODEL_KEY", "sk-of-nobody-0123456789")
        .output()
        .map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = text(&output.stdout) + &text(&output.stderr);
    if !output.status.success() {
        return Err(format!("{}\n{all}", output.status));
    }
    let mut lines = all.lines();
    let wanted = example.printed.iter().filter(|line| example.checked && !line.trim().is_empty());
    for wanted in wanted {
        if !lines.any(|line| is_like(line.trim(), wanted.trim())) {
            return Err(format!("it does not print `{wanted}`\n{all}"));
        }
    }
    Ok(())
}

/// Whether a line is the wanted one, in which `…` stands for anything.
fn is_like(line: &str, wanted: &str) -> bool {
    let mut parts = wanted.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last == Some("")
}

#[test]
fn every_example_of_the_pages_runs() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let server = runtime.block_on(ModelServer::always(ScriptedAnswer::text(REPLY))).unwrap();
    let (mut failed, home) = (Vec::new(), folder("docs-home"));
    for page in PAGES {
        let text = fs::read_to_string(root().join(page.path)).unwrap();
        let folder = folder(&format!("docs-{}", page.path.replace(['/', '.'], "-")));
        prepare(&folder);
        let store = format!("sqlite:{}", folder.join("served.db").display());
        let served = text
            .contains(&format!("-s {SERVER}"))
            .then(|| start("http://127.0.0.1:1", &["--store", &store], &[]));
        let address = served.as_ref().map_or("", |it| it.url.trim_start_matches("http://"));
        let instead =
            [("cargo run --release -- ", "midfold "), (MODEL, server.url()), (SERVER, address)];
        let (mut count, mut unused) = (0, page.left_out.to_vec());
        for example in examples(&text) {
            let left_out =
                page.left_out.iter().find(|(start, _)| example.command.starts_with(start));
            if let Some((start, reason)) = left_out {
                unused.retain(|(other, _)| other != start);
                println!("left out: {}:{}: {reason}", page.path, example.line);
                continue;
            }
            if example.command.starts_with("curl ") && !Path::new("/usr/bin/curl").exists() {
                println!("skipped: {}:{}: needs curl", page.path, example.line);
                continue;
            }
            count += 1;
            if let Err(why) = run(&example, &folder, &home, &instead) {
                failed.push(format!("{}:{}: {}\n{why}", page.path, example.line, example.command));
            }
        }
        assert!(count > 0 || served.is_some(), "{}: no examples", page.path);
        assert!(unused.is_empty(), "{}: no example begins with {unused:?}", page.path);
        println!("{}: {count} examples ran", page.path);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn examples_are_found_with_what_they_print() {
    let text = "```\n$ a \\\n  b\nout\n$ c\n```\n$ no, `midfold x examples/y`\n```console\n$ d\nx … y\n```\n";
    let found = examples(text);
    let commands: Vec<&str> = found.iter().map(|example| example.command.as_str()).collect();
    assert_eq!(commands, ["a \\\n  b", "c", "midfold x examples/y", "d"]);
    assert_eq!(found[0].printed, ["out"]);
    assert_eq!((found[3].line, found[3].checked, &found[3].printed[0][..]), (9, true, "x … y"));
    assert!(is_like("x 1 y", "x … y") && !is_like("x 1 z", "x … y") && !is_like("x", "x y"));
    assert!(is_like("x 1", "x …") && is_like("x", "x") && !is_like("x y", "x"));
}
