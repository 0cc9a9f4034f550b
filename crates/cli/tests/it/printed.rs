//! Each command that a page or a help prints is one that the command line takes, whether it can run here or not: a flag
//! that was renamed leaves no page behind.

use std::fs;
use std::path::PathBuf;

use clap::{Command, Parser};
use midfold_args::Cli;

use crate::root;

/// A command of midfold as it is printed.
struct Printed {
    /// Page and line, or the command whose help it is in.
    place: String,
    words: Vec<String>,
    /// It is meant to be typed, and no mention in a sentence.
    is_whole: bool,
}

/// The words of a line of a shell. Operators are words of their own.
fn words(line: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let (mut word, mut quote) = (None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => break,
            (' ' | '\n', None) => all.extend(word.take()),
            ('|' | '&' | ';' | '>' | '<', None) => {
                all.extend(word.take());
                all.push(c.to_string());
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

/// The commands of midfold in a line, each with its own words alone.
fn commands(line: &str) -> Vec<Vec<String>> {
    let line = line.replace("cargo run --release -- ", "midfold ");
    let all = words(&line);
    let ends = |word: &String| matches!(&word[..], "|" | "&" | ";" | ">" | "<");
    let is_variable = |word: &&String| word.split_once('=').is_some_and(|(name, _)| is_upper(name));
    let of = |part: &[String]| {
        let part: Vec<String> = part.iter().skip_while(is_variable).cloned().collect();
        (part.first()? == "midfold").then_some(part)
    };
    all.split(ends).filter_map(of).collect()
}

fn is_upper(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// Those of the blocks of a page, and those in its sentences.
fn of_page(name: &str, text: &str) -> Vec<Printed> {
    let mut found = Vec::new();
    let mut add = |at: usize, line: &str, is_whole| {
        let place = format!("{name}:{}", at + 1);
        let all = commands(line).into_iter();
        found.extend(all.map(|words| Printed { place: place.clone(), words, is_whole }));
    };
    let lines: Vec<&str> = text.lines().collect();
    let is_fence = |line: &str| line.trim_start().starts_with("```");
    let (mut is_block, mut is_marked, mut before) = (false, false, String::new());
    for (at, line) in lines.iter().enumerate() {
        if is_fence(line) {
            is_block = !is_block;
            // Where commands are marked, the other lines are what they print.
            let block = lines[at + 1..].iter().take_while(|line| !is_fence(line));
            is_marked = block.into_iter().any(|line| line.starts_with("$ "));
        } else if !is_block {
            line.split('`').skip(1).step_by(2).for_each(|span| add(at, span, false));
        } else if !is_marked || line.starts_with("$ ") || !before.is_empty() {
            // A remark stands behind two spaces.
            let line = line.trim_start().trim_start_matches("$ ");
            let code = line.split("  ").next().unwrap_or_default();
            match code.strip_suffix('\\') {
                Some(begun) => before += begun,
                None => add(at, &(std::mem::take(&mut before) + code), true),
            }
        }
    }
    found
}

/// The examples in the help of a command and of those below it.
fn of_help(command: &Command, found: &mut Vec<Printed>) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for line in help.lines().filter_map(|line| line.strip_prefix("  ")) {
        let place = format!("{} --help", command.get_bin_name().unwrap_or("midfold"));
        let all = commands(line).into_iter();
        found.extend(all.map(|words| Printed { place: place.clone(), words, is_whole: true }));
    }
    command.get_subcommands().for_each(|below| of_help(below, found));
}

/// What of it the command line does not know.
fn unknown(words: &[String], top: &Command) -> Option<String> {
    let mut at = top;
    let mut words = words.iter().skip(1).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        if let Some(flag) = word.strip_prefix("--") {
            let name = flag.split_once('=').map_or(flag, |(name, _)| name);
            let known = at.get_arguments().find(|arg| arg.get_long() == Some(name));
            let Some(known) =
                known.or_else(|| top.get_arguments().find(|arg| arg.get_long() == Some(name)))
            else {
                return Some(format!("--{name}"));
            };
            let takes = known.get_num_args().is_some_and(|range| range.min_values() > 0);
            if takes && known.get_action().takes_values() && !flag.contains('=') {
                words.next();
            }
        } else if let Some(below) = at.find_subcommand(word) {
            at = below;
        } else if at.has_subcommands() && at.get_positionals().next().is_none() && is_name(word) {
            return Some(word.clone());
        }
    }
    None
}

/// It could be the name of a command.
fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// A word for which the reader puts in something.
fn is_open(word: &str) -> bool {
    word.contains(['…', '[']) || is_upper(word.trim_start_matches("--"))
}

/// What is wrong with it.
fn wrong(printed: &Printed, top: &Command) -> Option<String> {
    if let Some(word) = unknown(&printed.words, top) {
        return Some(format!("there is no `{word}`"));
    }
    if !printed.is_whole || printed.words.iter().any(|word| is_open(word)) {
        return None;
    }
    Cli::try_parse_from(&printed.words).err().filter(clap::Error::use_stderr).map(|e| e.to_string())
}

fn command_line() -> Command {
    let mut top = midfold_args::command();
    top.build();
    top
}

#[test]
fn the_command_line_takes_what_pages_and_helps_print() {
    let top = command_line();
    let mut found = Vec::new();
    of_help(&top, &mut found);
    let of_helps = found.len();
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.extend(["README.md", "CONTRIBUTING.md", "AGENTS.md"].map(|name| root().join(name)));
    pages.sort();
    for page in pages {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        found.extend(of_page(&name, &fs::read_to_string(&page).unwrap()));
    }
    // The reading itself may not go blind.
    assert!(of_helps > 50 && found.len() > of_helps + 80, "{of_helps} of {}", found.len());
    let wrong: Vec<String> = found
        .iter()
        .filter_map(|it| {
            Some(format!("{}: {}\n  {}", it.place, it.words.join(" "), wrong(it, &top)?))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_are_found_where_they_stand() {
    let text = "See `midfold check session`.\n```\n$ head a | midfold compact - \\\n    --window 6k > b\n\
                midfold listens\n$ A=1 midfold serve # here\n```\n\
                ```\nmidfold mcp --owner me  a client; --not an option\n```\n";
    let found = of_page("x", text);
    let seen: Vec<String> = found
        .iter()
        .map(|it| format!("{} {} {}", it.place, it.is_whole, it.words.join(" ")))
        .collect();
    assert_eq!(
        seen,
        [
            "x:1 false midfold check session",
            "x:4 true midfold compact - --window 6k",
            "x:6 true midfold serve",
            "x:9 true midfold mcp --owner me",
        ]
    );
}

#[test]
fn a_command_that_is_not_taken_is_told() {
    let top = command_line();
    let says = |line: &str, is_whole| {
        let words = commands(line).remove(0);
        wrong(&Printed { place: String::new(), words, is_whole }, &top)
    };
    assert_eq!(says("midfold compact FILE --windw 3", false).unwrap(), "there is no `--windw`");
    assert_eq!(says("midfold sesion list", false).unwrap(), "there is no `sesion`");
    assert!(says("midfold compact a.jsonl --window much", true).unwrap().contains("much"));
    assert_eq!(says("midfold compact FILE --window N", true), None);
    assert_eq!(says("midfold compact a.jsonl --window 3k", true), None);
    assert_eq!(says("midfold run -- codex --windw", true), None);
}
