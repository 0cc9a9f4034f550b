//! Replays the coding sessions of a corpus under policies, pooled:
//!
//! `MIDFOLD_CORPUS=FOLDER cargo run --release -p midfold-eval --example replay -- WINDOW[,WINDOW] POLICY…`
//!
//! A policy is a preset's name or a TOML file. `-v` before the windows adds a line a session and the
//! identifiers that were lost most often.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

#[path = "../../midfold/tests/it/common.rs"]
#[expect(clippy::unwrap_used, reason = "shared with tests: a broken corpus may fail loudly")]
mod common;
#[path = "../tests/it/pooled.rs"]
mod pooled;

use midfold::Policy;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let verbose = args.first().is_some_and(|arg| arg == "-v");
    args.drain(..usize::from(verbose));
    let (windows, policies) =
        args.split_first().ok_or("usage: replay [-v] WINDOW[,WINDOW] POLICY…")?;
    let root = common::corpus().ok_or("no corpus: set MIDFOLD_CORPUS")?;
    let sessions = pooled::coding_sessions(&root);
    for window in windows.split(',') {
        let window: u64 = window.parse()?;
        for name in policies {
            let policy = if name.ends_with(".toml") {
                Policy::from_toml(&std::fs::read_to_string(name)?)?
            } else {
                Policy::preset(name)?
            };
            let mut losses = std::collections::BTreeMap::<String, u32>::new();
            let (sum, n) =
                pooled::replay(&sessions, &policy, window, |session, measures| match measures {
                    Ok(found) => {
                        if verbose {
                            println!("  {}", pooled::line(window, session, 1, &found.measures));
                        }
                        for loss in &found.losses {
                            *losses.entry(loss.id.clone()).or_default() += loss.times;
                        }
                    }
                    Err(error) => println!("  {session}: {error}"),
                });
            println!("{}", pooled::line(window, name, n, &sum));
            if verbose {
                let mut losses: Vec<_> = losses.iter().collect();
                losses.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
                losses.iter().take(100).for_each(|(id, times)| println!("    {times} {id}"));
            }
        }
    }
    Ok(())
}
