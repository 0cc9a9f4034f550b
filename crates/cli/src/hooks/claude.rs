//! Hooks of Claude Code: their settings, the calls that the client makes, the answers, and the text that the model
//! reads after the client's own compaction.

use bytes::Bytes;
use midfold::core::RawEvent;
use midfold::core::budget::{Budget, Ratio};
use midfold::core::fold::FoldJoin;
use midfold::core::log::EventLog;
use midfold::core::meter::Meter;
use midfold::core::plan::{FoldCause, PlanError, PlanRequest, plan};
use midfold::core::policy::{HeadRule, Policy, PolicyError, TailRule};
use midfold::{NoRecap, recap};
use serde::Deserialize;
use serde_json::json;

use super::settings::HookSetting;
use crate::words::{plural, quoted};

/// The event before the client compacts.
pub const PRE_COMPACT: &str = "PreCompact";
/// The event when a session starts, also after a compaction.
pub const SESSION_START: &str = "SessionStart";

/// The most tokens of the recap.
pub const MOST_TOKENS: u64 = 2_000;
/// The most characters of the whole text, counted as JavaScript does: in UTF-16 units. Claude Code 2.1.197 shows its
/// model 10,000 characters of a hook's text and puts the rest into a file.
const MOST_CHARACTERS: usize = 9_000;
/// How often a recap is planned with fewer tokens, because its words are long.
const MOST_TRIES: usize = 5;
/// A window, in tokens, so large that no plan is refused. Only the recap of the plan is used.
const WINDOW: u64 = 1_000_000;
/// Seconds after which Claude Code ends a hook.
const TIMEOUT: u32 = 30;

/// The call that Claude Code writes to a hook's standard input. Other fields of it are ignored.
#[derive(Clone, Debug, Deserialize)]
pub struct HookCall {
    /// The id of the client's own session.
    pub session_id: String,
    /// The path of the client's transcript.
    #[serde(default)]
    pub transcript_path: String,
    /// The text that the user wrote after `/compact`.
    #[serde(default)]
    pub custom_instructions: Option<String>,
    /// The reason why a session starts: `startup`, `resume`, `clear` or `compact`.
    #[serde(default)]
    pub source: String,
}

/// The hooks, as the settings file has them. `command` starts midfold, and `more` holds its options. `|| true` makes
/// the shell always exit with 0, because an exit code of 2 would keep Claude Code from compacting.
#[must_use]
pub fn hooks(command: &str, more: &str) -> [HookSetting; 2] {
    let hook = |event, matcher, name: &str| HookSetting {
        event,
        matcher,
        command: format!("{command} hooks {name}{more} || true"),
        timeout: TIMEOUT,
    };
    [hook(PRE_COMPACT, None, "pre-compact"), hook(SESSION_START, Some("compact"), "session-start")]
}

/// The answer of a `SessionStart` hook that makes the model read `text`.
#[must_use]
pub fn answer(text: &str) -> String {
    let output = json!({ "hookEventName": SESSION_START, "additionalContext": text });
    json!({ "hookSpecificOutput": output }).to_string()
}

/// The reasons why there is no text for the model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoText {
    /// The preset cannot be read. This does not happen with the preset that is used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// No fold can be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan has no recap.
    #[error(transparent)]
    Recap(#[from] NoRecap),
}

/// The command with which the model looks messages up.
#[derive(Clone, Debug)]
pub struct RecallCommand {
    /// The program, as it was called.
    pub program: String,
    /// The id of the session.
    pub session: String,
    /// The URL of its store; `None` for the default one.
    pub store: Option<String>,
}

impl RecallCommand {
    /// The command line of a subcommand of `recall` with this argument, for a shell.
    fn line(&self, subcommand: &str, argument: &str) -> String {
        let (program, session) = (quoted(&self.program), quoted(&self.session));
        let store = self.store.as_ref().map(|store| format!(" --store {}", quoted(store)));
        format!("{program} recall {subcommand} {session} {argument}{}", store.unwrap_or_default())
    }
}

/// The text that the model reads after its client compacted: how to look up the messages that left, and a recap of the
/// whole log. `focus` is what the user wanted kept, and weighs more in the recap.
///
/// # Errors
/// When the log is empty, or no fold can be planned.
pub fn after_compaction(
    log: &EventLog,
    focus: Option<&str>,
    recall: &RecallCommand,
) -> Result<String, NoText> {
    let instruction = format!(
        "midfold keeps {} from before the compaction, word for word; numbers such as @12 below name them. Look \
         there before you guess or read a file again. In a shell: `{}` finds, `{}` shows.\n\n",
        plural(log.len() as u64, "message"),
        recall.line("find", "WORDS"),
        recall.line("show", "@12"),
    );
    let characters = |text: &str| text.encode_utf16().count();
    let room = MOST_CHARACTERS.saturating_sub(characters(&instruction)) as u64;
    let mut most_tokens = MOST_TOKENS;
    for _ in 0..MOST_TRIES {
        let text = match recap_of_all(log, focus, most_tokens) {
            // A log too short for a recap can still be searched, so the text says how.
            Err(NoText::Recap(_)) if !log.is_empty() => String::new(),
            other => other?,
        };
        let length = characters(&text) as u64;
        if length <= room {
            return Ok(instruction + &text);
        }
        // Planned again instead of cut, because the newest messages are at the end.
        most_tokens = most_tokens * room / length * 9 / 10;
    }
    // No recap is that short. The messages can be looked up all the same.
    Ok(instruction)
}

/// The policy of a fold that takes all messages but the newest, with a recap of at most this many tokens.
///
/// # Errors
/// When the preset cannot be read, which does not happen.
pub fn policy_of_all(most_tokens: u64) -> Result<Policy, PolicyError> {
    let mut policy = Policy::preset("default")?;
    policy.head.rule = HeadRule::System;
    policy.tail.rule = TailRule::Floors;
    policy.tail.ratio = Ratio(0);
    policy.tail.min_messages = 1;
    policy.tail.last_user = false;
    policy.recap.cap_tokens = most_tokens;
    Ok(policy)
}

/// The recap of a whole log. Nothing of the log stays beside it, because the client drops all of its messages.
fn recap_of_all(log: &EventLog, focus: Option<&str>, most_tokens: u64) -> Result<String, NoText> {
    let mut log = log.clone();
    // A plan always keeps the newest message. An added message takes that place, so that all of the log is folded.
    let next = br#"{"role":"user","content":"Go on."}"#;
    log.append(RawEvent::new(Bytes::from_static(next)));
    let policy = policy_of_all(most_tokens)?;
    let budget = Budget::new(WINDOW);
    let turn = log.events().last().map_or(0, |event| event.turn);
    let joining = FoldJoin { session: String::new(), turn, request: 0 };
    // A plan may find a small log not worth a fold. A log that begins with the client's own summary needs a recap all
    // the same, so the target is set below its size.
    let smaller = log.tokens().saturating_sub(1).min(policy.fold.target.of(WINDOW));
    let outcome = plan(&PlanRequest {
        joining,
        focus,
        target: log.holds_recap().then_some(smaller),
        cause: FoldCause::Manual,
        ..PlanRequest::new(&log, &policy, &budget, Meter::exact())
    })?;
    Ok(recap(&outcome)?.to_owned())
}
