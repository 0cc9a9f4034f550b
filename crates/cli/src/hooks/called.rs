//! The work of the hooks when Claude Code calls them. Failures go to a log file and to standard error. Nothing about
//! them goes to standard output, because the client reads that and goes on in any case.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::PathBuf;

use midfold::store::{SessionActivity, StoreError, StoredSession, private};
use midfold::{Settings, unblocked};
use midfold_args::StoreAt;

use super::claude::{self, HookCall, MOST_TOKENS, RecallCommand};
use super::session_compact::{self, CompactionEvent};
use crate::config;
use crate::env;
use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation, url_of};
use crate::import::plan::{ImportExtent, ImportPlan, MOST_NAMES};
use crate::input::{HOST, InputFile};
use crate::output::Output;
use crate::recordings::TranscriptRecordings;
use crate::runtime::{self, block_on};
use crate::words::time;

/// The most bytes of a call that are read. A call may hold the user's instructions for the summary, so the bound is
/// generous.
const MOST_READ: u64 = 16 << 20;
/// The most bytes of an event with a whole transcript.
const MOST_OF_EVENT: u64 = 256 << 20;
/// A log file with more bytes than this is emptied before the next line is written.
const LONGEST_LOG: u64 = 1 << 20;

/// The log file for failures of hooks. `None` where there is no data folder.
pub fn log_file() -> Option<PathBuf> {
    env::data_folder().map(|folder| folder.join("hooks.log"))
}

/// The hook before a compaction: imports the whole transcript.
pub fn pre_compact(at: &StoreAt, output: &Output) {
    let outcome = read().and_then(|call| snapshot(at, &call));
    report("pre-compact", outcome, output);
}

/// The hook after a compaction: tells the model what left its context.
pub fn session_start(at: &StoreAt, output: &Output) {
    let text = read().and_then(|call| match call.source.as_str() {
        "compact" => recap(at, &call),
        _ => Ok(None),
    });
    let outcome = text.and_then(|text| match text {
        Some(text) => output.stdout(claude::answer(&text) + "\n"),
        None => Ok(()),
    });
    report("session-start", outcome, output);
}

/// The plug-in's compaction. It ends with 1 where it could do nothing: then the client compacts by itself.
pub fn session_compact(at: &StoreAt, output: &Output) -> Result<(), CommandError> {
    let event = input(MOST_OF_EVENT).and_then(|bytes| CompactionEvent::read(&bytes));
    let outcome = event.and_then(|event| session_compact::fold(&event, at));
    let outcome = outcome.and_then(|answer| output.stdout(answer.to_string() + "\n"));
    let code = outcome.as_ref().err().map(|error| error.code);
    report("session-compact", outcome, output);
    code.map_or(Ok(()), |code| Err(CommandError::silent(code)))
}

fn read() -> Result<HookCall, CommandError> {
    serde_json::from_slice(&input(MOST_READ)?)
        .map_err(|error| CommandError::failed(format!("the call of the hook: {error}")))
}

fn input(most: u64) -> Result<Vec<u8>, CommandError> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(most).read_to_end(&mut text);
    read.map_err(|error| CommandError::failed(format!("the call cannot be read: {error}")))?;
    Ok(text)
}

fn snapshot(at: &StoreAt, call: &HookCall) -> Result<(), CommandError> {
    let input = InputFile::load_file(call.transcript_path.as_ref())?;
    // The client may still be writing the last line. It is skipped now and read at the next compaction.
    let bytes = midfold::formats::read::whole_lines(&input.bytes);
    let transcript = TranscriptRecordings::read(&bytes, None)
        .map_err(|error| CommandError::from(error).hint(format!("in {}", input.name)))?;
    // Older versions of the client keep conversations of subagents in the same file.
    let own = |id: &Option<String>| id.as_deref() == Some(&call.session_id);
    let mut all = transcript.recordings.iter().filter(|recording| !recording.is_empty());
    let first = all.clone().next();
    let Some(recording) = all.find(|recording| own(&recording.live().id)).or(first) else {
        return Err(input.empty());
    };
    let mut setup = config::settings()?.setup(&HOST)?;
    let policy = config::policy(Settings::default())?;
    block_on(async {
        let host = OpenStore::open(at, StoreCreation::Yes).await?;
        let mut import = ImportPlan {
            store: host.store.clone(),
            setup: &mut setup,
            policy,
            output_reserve: 0,
            source: Some(input.name.clone()),
            extent: ImportExtent::All,
            numbered: true,
        };
        let imported = import.bring(recording, &call.session_id, runtime::now()).await?;
        // The client passes the user's instructions only here. They are stored, because the text for the model is made
        // later by another hook.
        let mut stored = host.session(&imported.id).await?;
        Ok(stored.heed(call.custom_instructions.as_deref()).await?)
    })
}

/// The text for the model. `None` where the plug-in folded, because the model has its recap already.
fn recap(at: &StoreAt, call: &HookCall) -> Result<Option<String>, CommandError> {
    let store = at.store.as_ref().map(|_| url_of(at)).transpose()?;
    block_on(async {
        let host = OpenStore::open(at, StoreCreation::No).await?;
        let mut stored = newest(&host, &call.session_id).await?;
        // What `snapshot` imported names its transcript, the plug-in's session does not.
        if stored.meta().source.is_none() && stored.row().active.is_some() {
            return Ok(None);
        }
        let id = stored.row().new.id.clone();
        let session = stored.whole().await?;
        let (log, focus) = (session.log(), session.narration().standing.clone());
        let recall = RecallCommand { program: program(), session: id.clone(), store };
        let text = claude::after_compaction(log, focus.as_deref(), &recall)
            .map_err(|error| CommandError::failed(error.to_string()))?;
        if let Err(error) = leave(&mut stored, focus.as_deref()).await {
            tracing::warn!(session = id, error = error.message, "the session is not folded");
        }
        Ok(Some(text))
    })
}

/// Folds what the client took out of the model's context, so that `explain` and the console do not call it seen.
async fn leave(stored: &mut StoredSession, focus: Option<&str>) -> Result<(), CommandError> {
    let room = stored.whole().await?.log().tokens();
    let policy = claude::policy_of_all(MOST_TOKENS);
    let policy = policy.map_err(|error| CommandError::failed(error.to_string()))?;
    stored.set_policy(&policy).await?;
    stored.compact_within(Some(room), focus, runtime::now()).await?;
    Ok(())
}

/// The session that changed last under this name. If the client rewrites its transcript, the import goes on in a new
/// session, `ID-2` and so on; if the client goes back to an older state, the older session goes on.
async fn newest(host: &OpenStore, id: &str) -> Result<StoredSession, CommandError> {
    let mut newest: Option<SessionActivity> = None;
    for name in 1..=MOST_NAMES {
        let name = if name == 1 { id.to_owned() } else { format!("{id}-{name}") };
        match host.store.activity(&name).await {
            Ok(next) if newest.as_ref().is_none_or(|activity| activity.tick < next.tick) => {
                newest = Some(next)
            }
            Ok(_) => {}
            Err(StoreError::NoSession(_)) => break,
            Err(error) => return Err(error.into()),
        }
    }
    host.session(newest.as_ref().map_or(id, |activity| &activity.id)).await
}

/// The command that starts this program, as the hook was called. The client's shell found it by these words, so the
/// model's shell finds it too.
fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "midfold".to_owned())
}

fn report(hook: &str, outcome: Result<(), CommandError>, output: &Output) {
    let Err(error) = outcome else { return };
    if error.message.is_empty() {
        return;
    }
    output.stderr(&format!("midfold hooks {hook}: {}\n", error.message));
    let line = [vec![error.message], error.hints].concat().join("; ").replace('\n', " ");
    let line = format!("{} {hook}: {line}\n", time(runtime::now()));
    // Without a log file, the message on standard error is the only one.
    let Some(path) = log_file() else { return };
    if let Some(folder) = path.parent() {
        let _ = private::folder(folder);
    }
    let is_long = fs::metadata(&path).is_ok_and(|meta| meta.len() > LONGEST_LOG);
    let mut file = OpenOptions::new();
    unblocked(&mut file).create(true).append(!is_long).write(true).truncate(is_long);
    if let Ok(mut file) = file.open(&path) {
        let _ = file.write_all(line.as_bytes());
    }
}
