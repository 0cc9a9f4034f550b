//! What the user typed, where a client puts tags of its own around it, and what only looks like it.

use midfold_core::{Role, TextOrigin, Voice};
use midfold_formats::DialectKind;
use midfold_formats::voices::passages;

/// A message, and what the user typed in it.
const TYPED: &[(&str, &[&str])] = &[
    (
        "<command-name>/plan</command-name>\n   <command-message>plan</command-message>\n   \
         <command-args>Redo a.\n\n- never b</command-args>",
        &["/plan Redo a.\n\n- never b"],
    ),
    (
        "<command-message>checks</command-message>\n<command-name>/checks</command-name>\n\
         <command-args>the slow ones</command-args>",
        &["/checks the slow ones"],
    ),
    // Without its name the words are still the user's.
    ("<command-args>the slow ones</command-args>", &["the slow ones"]),
    ("<command-name>/clear</command-name>\n<command-args></command-args>", &[]),
    ("<user-memory-input>Always use pnpm.</user-memory-input>", &["Always use pnpm."]),
    // A command that the user ran asks nobody for anything.
    ("<bash-input>rm a</bash-input>", &[]),
    ("# AGENTS.md instructions\n\n<INSTRUCTIONS>\nAlways x.\n</INSTRUCTIONS>", &[]),
    (
        "# Context from my IDE setup:\n\n## Active file: a.md\n\n## My request for Codex:\nFix it.",
        &["Fix it."],
    ),
    ("<system-reminder><command-args>Always x.</command-args></system-reminder>", &[]),
    ("[read_file for 'a'] Result:\n<command-args>Always x.</command-args>", &[]),
];

#[test]
fn what_is_typed_behind_a_command_is_the_users() {
    for (text, typed) in TYPED {
        let found = passages(&[text]).into_iter().filter(|passage| passage.voice == Voice::User);
        let found: Vec<String> = found.map(|passage| passage.text).collect();
        assert_eq!(found, *typed, "{text}");
        let message = DialectKind::OpenAiChat.dialect().made_message(Role::User, text);
        let origin = DialectKind::OpenAiChat.dialect().view(&message).origin;
        assert_eq!(origin == TextOrigin::Genuine, !typed.is_empty(), "{text}: {origin:?}");
    }
}
