//! Help, versions, presets, schemas.

use midfold_args::{GROUPS, RENAMED};

use crate::{regex_of, run, sees, stdout};

/// The words of all commands but the hidden ones, those with subcommands included.
fn commands() -> Vec<Vec<String>> {
    fn below(command: &clap::Command, words: &[String], found: &mut Vec<Vec<String>>) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            if sub.get_name() != "help" {
                let words = [words, &[sub.get_name().to_owned()]].concat();
                below(sub, &words, found);
                found.push(words);
            }
        }
    }
    let mut found = Vec::new();
    below(&midfold_args::command(), &[], &mut found);
    found
}

#[test]
fn every_command_has_help_with_an_example() {
    sees!("help", ["--help"]);
    let all = commands();
    assert!(all.len() > 45, "{all:?}");
    for words in all {
        let mut args: Vec<&str> = words.iter().map(String::as_str).collect();
        args.push("--help");
        let help = stdout(&args, b"");
        let name = words.join(" ");
        assert!(help.contains("Example") && help.contains(&format!("midfold {name}")), "{help}");
        if let [word] = &words[..] {
            sees!(format!("help-{name}"), [word.as_str(), "--help"]);
        }
    }
    sees!("help-all-compact", ["compact", "--help-all"]);
    sees!("help-session-append", ["session", "append", "--help"]);
    sees!("help-session-delete", ["session", "delete", "--help"]);
    sees!("help-store-prune", ["store", "prune", "--help"]);
    sees!("help-recall-grep", ["recall", "find", "--help"]);
    sees!("help-recall-expand", ["recall", "show", "--help"]);
}

/// Every command is in one group of the help, and every group names commands that there are.
#[test]
fn help_lists_each_command_once() {
    let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    listed.sort_unstable();
    let all = commands();
    let mut known: Vec<&str> =
        all.iter().filter(|words| words.len() == 1).map(|words| words[0].as_str()).collect();
    known.sort_unstable();
    assert_eq!(listed, known);
}

/// The names of 0.1 work, say the new ones, and the new ones are commands.
#[test]
fn old_names_lead_to_the_new_ones() {
    let all: Vec<String> = commands().iter().map(|words| words.join(" ")).collect();
    for renamed in RENAMED {
        let words: Vec<&str> = renamed.new.split(' ').filter(|it| !it.starts_with("--")).collect();
        assert!(all.contains(&words.join(" ")), "{renamed:?}");
        let old = renamed.old.split(' ').map(Into::into);
        let old =
            [&["midfold".into(), "--color".into(), "never".into()][..], &old.collect::<Vec<_>>()]
                .concat();
        let (args, found) = midfold_args::present(old);
        assert_eq!(found, Some(renamed));
        let new: Vec<_> = args[3..].iter().map(|it| it.to_string_lossy()).collect();
        assert_eq!(new.join(" "), renamed.new);
    }
    let output = run(&["presets", "lean"], b"");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "note: `midfold presets` is now `midfold print presets`\n"
    );
    assert_eq!(output.stdout, run(&["print", "presets", "lean"], b"").stdout);
}

#[test]
fn a_mistaken_command_leads_to_the_one_that_is_near() {
    let says = |word: &str| String::from_utf8_lossy(&run(&[word], b"").stderr).into_owned();
    for (word, meant) in [("undo", "session undo"), ("comapct", "compact"), ("recal", "recall")] {
        assert!(says(word).contains(&format!("'{meant}'")), "{}", says(word));
    }
    assert!(!says("zebra").contains("tip"), "{}", says("zebra"));
}

#[test]
fn version() {
    assert_eq!(stdout(&["--version"], b""), concat!("midfold ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn presets() {
    sees!("presets", ["print", "presets"]);
    sees!("presets-head-tail", ["print", "presets", "head-tail"]);
    let list: serde_json::Value =
        serde_json::from_str(&stdout(&["print", "presets", "--json"], b"")).unwrap();
    assert_eq!(list[0]["name"], "default");
    let one = stdout(&["print", "presets", "hermes", "--json"], b"");
    let one: serde_json::Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["trigger"]["floor_tokens"], 64_000);
}

#[test]
fn colours_are_only_there_when_asked_for() {
    assert!(!stdout(&["print", "presets"], b"").contains('\x1b'));
    assert!(stdout(&["print", "presets", "--color", "always"], b"").contains('\x1b'));
    assert!(stdout(&["compact", "--help", "--color=always"], b"").contains('\x1b'));
    assert!(!stdout(&["compact", "--help", "--color=never"], b"").contains('\x1b'));
}

#[test]
fn schemas_name_the_fields() {
    for (of, field) in [("fold", "head_verbatim"), ("policy", "reducers"), ("config", "windows")] {
        let schema: serde_json::Value =
            serde_json::from_str(&stdout(&["print", "schema", of], b"")).unwrap();
        assert!(schema["properties"][field].is_object(), "{of}");
    }
}
