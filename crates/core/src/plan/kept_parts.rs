//! Messages that stay because somebody with the right to ask for it did: with `<keep>` in a message of the user or the
//! application, or by the policy. They count as pins: where they do not fit, planning fails with an error.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;

use crate::calls::{CallIndex, ResultSite};
use crate::dialect::Dialect;
use crate::event::Event;
use crate::log::EventLog;
use crate::passage::{Passage, Voice, joined, passages};
use crate::policy::{FileGlob, KeepRule, MessagePattern, Policy};
use crate::tools::{CallFacts, ToolKind, ToolTable};
use crate::view::{BlockKind, Role, TextOrigin};

/// The tags around words to keep. Where passages are read, the tags themselves count as the client's text, not the
/// user's.
const OPEN: &str = "<keep>";
const CLOSE: &str = "</keep>";

/// The events that have to stay: those with `<keep>…</keep>`, and those that the policy keeps.
#[must_use]
pub fn kept_events(log: &EventLog, policy: &Policy) -> Vec<u32> {
    let dialect = &**log.dialect();
    let patterns: Vec<&MessagePattern> = policy.keep.iter().filter_map(KeepRule::message).collect();
    let globs: Vec<&FileGlob> = policy.keep.iter().filter_map(KeepRule::file).collect();
    let is_kept = |event: &&Event| has_tags(event, dialect) || matches(event, dialect, &patterns);
    let mut seqs: Vec<u32> = log.events().iter().filter(is_kept).map(|event| event.seq).collect();
    if !globs.is_empty() {
        seqs.extend(files(log, policy, &globs));
    }
    seqs.sort_unstable();
    seqs.dedup();
    seqs
}

/// Whether a user or the application asks in this message, by tags, that it is kept. Tags in results do not count.
pub(super) fn has_tags(event: &Event, dialect: &dyn Dialect) -> bool {
    match event.view.role {
        // A recap may quote the tags; it must not stay for ever because of that.
        _ if event.view.origin == TextOrigin::Recap => false,
        Role::System | Role::Developer => may_hold_tags(&event.bytes) && holds(&event.text()),
        Role::User if may_hold_tags(&event.bytes) => {
            let passages = passages(event, dialect);
            let is = |passage: &Passage, tag| passage.voice == Voice::Client && passage.text == tag;
            let open = passages.iter().position(|passage| is(passage, OPEN));
            open.is_some_and(|open| passages[open..].iter().any(|passage| is(passage, CLOSE)))
        }
        _ => false,
    }
}

/// Whether a text has an opening tag and a closing one after it.
fn holds(text: &str) -> bool {
    text.find(OPEN).is_some_and(|open| text[open..].contains(CLOSE))
}

/// A cheap check on the raw bytes, since each plan makes it for each message. JSON may escape the brackets and the
/// slash of the closing tag; `/keep` is there in both spellings.
fn may_hold_tags(bytes: &[u8]) -> bool {
    static CLOSING: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("/keep"));
    CLOSING.find(bytes).is_some()
}

/// Whether words that match a pattern are said in this message by anybody but a tool.
fn matches(event: &Event, dialect: &dyn Dialect, patterns: &[&MessagePattern]) -> bool {
    if patterns.is_empty() || event.view.origin == TextOrigin::Recap {
        return false;
    }
    let words = match event.view.role {
        Role::User => joined(&passages(event, dialect), Passage::is_said),
        Role::System | Role::Developer | Role::Assistant => {
            event.view.text_of(&event.bytes, |kind| *kind == BlockKind::Text).into_owned()
        }
        Role::Tool | Role::Other => return false,
    };
    patterns.iter().any(|pattern| pattern.is_in(&words))
}

/// The results that keep one file readable.
#[derive(Default)]
struct KeptFile {
    /// Whether the results begin with the whole file.
    is_whole: bool,
    /// Numbers of results, each with the range of lines that it shows; `None` for a whole file or a change.
    results: Vec<(Option<(u64, u64)>, u32)>,
}

/// The events to keep for the files that match: the newest whole content of each and the changes since. Where a file
/// was never seen whole, the newest look at each of its parts.
fn files(log: &EventLog, policy: &Policy, globs: &[&FileGlob]) -> Vec<u32> {
    let tools = ToolTable::of(&policy.tools);
    let events = log.events();
    let calls = CallIndex::find(events, 0..events.len());
    let mut kept_files: FxHashMap<String, KeptFile> = FxHashMap::default();
    // A failed call shows no content of the file and did not change it.
    for result in calls.results.iter().filter(|result| !is_error(result)) {
        let Some(call) = calls.call_of(result) else { continue };
        let facts = call.facts(&tools);
        let paths = facts.reads.iter().chain(&facts.writes);
        for path in paths.filter(|path| globs.iter().any(|glob| glob.is_of(path))) {
            // Agents write one path with `./` and without.
            let file = kept_files.entry(path.trim_start_matches("./").to_owned()).or_default();
            file.add(&facts, path, result.event.seq);
        }
    }
    let results = kept_files.into_values().flat_map(|file| file.results);
    results.map(|(_, seq)| seq).collect()
}

impl KeptFile {
    /// Takes in one later result about the file, and drops those that it makes superfluous.
    fn add(&mut self, facts: &CallFacts, path: &String, seq: u32) {
        let writes = facts.writes.contains(path);
        if facts.removes.contains(path) {
            *self = Self::default();
        } else if facts.kind == ToolKind::Write || (!writes && facts.range.is_none()) {
            *self = Self { is_whole: true, results: vec![(None, seq)] };
        } else if writes {
            self.results.push((None, seq));
        } else if !self.is_whole {
            self.results.retain(|(part, _)| *part != facts.range);
            self.results.push((facts.range, seq));
        }
    }
}

fn is_error(result: &ResultSite<'_>) -> bool {
    matches!(result.block.kind, BlockKind::Result { error: Some(true), .. })
}
