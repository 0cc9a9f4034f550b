//! Hooks of Claude Code: what it says to them, what they answer, and the text that stands in for what its
//! own compaction took away.

use std::fmt::Write;

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
use crate::words::plural;

/// Called before it compacts.
pub const PRE_COMPACT: &str = "PreCompact";
/// Called after that, and when a session starts.
pub const SESSION_START: &str = "SessionStart";

/// Claude Code 2.1.197 shows its model 10,000 characters of what a hook adds, and puts the rest into a file.
/// What the recap leaves is room for the lines around it.
const MOST_TOKENS: u64 = 2_000;
/// Of the whole text, as JavaScript counts them.
const MOST_CHARACTERS: usize = 9_000;
/// A budget that nothing is refused for: only the recap is kept of what is planned.
const WINDOW: u64 = 1_000_000;
/// Seconds after which Claude Code ends a hook.
const TIMEOUT: u32 = 30;

/// What Claude Code writes to a hook's standard input. Fields that are not asked for are not read.
#[derive(Clone, Debug, Deserialize)]
pub struct HookCall {
    /// The client's own session.
    pub session_id: String,
    /// The file of its transcript.
    #[serde(default)]
    pub transcript_path: String,
    /// What the user wrote behind `/compact`.
    #[serde(default)]
    pub custom_instructions: Option<String>,
    /// Why a session starts: `startup`, `resume`, `clear`, `compact`.
    #[serde(default)]
    pub source: String,
}

/// The hooks, as the settings file has them. `command` is what starts midfold, `more` its options. Whatever
/// goes wrong, the shell ends with 0: the exit code 2 would keep Claude Code from compacting.
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

/// What a hook of `SessionStart` prints, so that the model reads `text`.
#[must_use]
pub fn answer(text: &str) -> String {
    let output = json!({ "hookEventName": SESSION_START, "additionalContext": text });
    json!({ "hookSpecificOutput": output }).to_string()
}

/// Why there is no such text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoText {
    /// The preset cannot be read; there is none like that.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Nothing can be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There is nothing to tell.
    #[error(transparent)]
    Recap(#[from] NoRecap),
}

/// What the model is told after its client compacted: how to look up what left, and a recap of all of
/// the log, in which `focus` weighs more: what the user wanted kept. `recall` is the command up to the name of
/// the question, `more` what follows it.
///
/// # Errors
/// When there is no message, or nothing can be planned.
pub fn after_compaction(
    log: &EventLog,
    session: &str,
    focus: Option<&str>,
    recall: &str,
    more: &str,
) -> Result<String, NoText> {
    let text = match recap_of_all(log, focus) {
        // Too little for a recap is still worth a look.
        Err(NoText::Recap(_)) if !log.is_empty() => String::new(),
        other => other?,
    };
    let mut told = String::new();
    let _ = writeln!(
        told,
        "midfold keeps {} from before the compaction, word for word; numbers such as @12 below name them. Look \
         there before you guess or read a file again. In a shell: `{recall} grep {session} WORDS{more}` finds, \
         `{recall} expand {session} @12{more}` shows.\n",
        plural(log.len() as u64, "message")
    );
    told.push_str(&text);
    let mut units = 0;
    let over = told.char_indices().find(|(_, character)| {
        units += character.len_utf16();
        units > MOST_CHARACTERS
    });
    if let Some((end, _)) = over {
        // At the end of a line, so that no statement is cut into another one.
        let end = told[..end].rfind('\n').unwrap_or(end);
        told.truncate(end);
    }
    Ok(told)
}

/// The recap of a whole log: the client keeps none of its messages.
fn recap_of_all(log: &EventLog, focus: Option<&str>) -> Result<String, NoText> {
    let mut log = log.clone();
    // The newest message always stays, and this is none of the log's.
    let next = br#"{"role":"user","content":"Go on."}"#;
    log.append(RawEvent::new(Bytes::from_static(next)));
    let mut policy = Policy::preset("default")?;
    policy.head.rule = HeadRule::System;
    policy.tail.rule = TailRule::Floors;
    policy.tail.ratio = Ratio(0);
    policy.tail.min_messages = 1;
    policy.tail.last_user = false;
    policy.recap.cap_tokens = MOST_TOKENS;
    let budget = Budget::new(WINDOW);
    let turn = log.events().last().map_or(0, |event| event.turn);
    let joining = FoldJoin { session: String::new(), turn, request: 0 };
    // A log that begins with the client's own summary is told all the same, however small it is.
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
