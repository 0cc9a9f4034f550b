//! Reads session and subagent files of Claude Code: a tree of records, one per line.

mod after_compaction;
mod attachment;
mod branches;
mod line;
mod queue;
mod record;

use std::collections::HashMap;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::source::InputSource;
use super::text::TopValue;
use super::{Conversation, TranscriptFormat};
use crate::problem::ReadProblem;
use crate::read::columns::{Column, ColumnTable};
use crate::read::description::{FormatDescription, FormatReader};
use crate::scan;
use record::{RecordGroup, RecordKind, RecordLine, RecordMessage};

/// How the files of this client are read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription {
    format: TranscriptFormat::ClaudeCode,
    mark: None,
    reader: FormatReader::Session(read),
    columns: ColumnTable {
        error: Column::ByReader("`is_error` of the block"),
        time: Column::At(&["timestamp"]),
        cwd: Column::Unread("`cwd`"),
        mode: Column::Unread("`permissionMode`"),
        usage: Column::ByReader("`message.usage` since the last compaction"),
        model: Column::ByReader("`message.model`"),
        parent: Column::ByReader("`parentUuid`"),
        images: Column::ByReader("blocks `image`"),
        queued: Column::ByReader("`queued_command`, `queue-operation`"),
        answers: Column::ByReader("the result of `AskUserQuestion`"),
    },
    builds_replies: false,
};

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let (mut lines, groups) = line::lines(source, records);
    branches::drop_abandoned(source, &mut lines);
    branches::drop_session_before(source, &mut lines);
    let mut by_group: Vec<Vec<RecordLine>> = groups.iter().map(|_| Vec::new()).collect();
    for line in lines.into_iter().filter(|line| !line.dropped) {
        by_group[line.group].push(line);
    }
    let mut sorted: Vec<_> = groups
        .iter()
        .zip(&by_group)
        .flat_map(|(about, lines)| conversations(source, lines, about))
        .collect();
    // The main conversation comes first, then the subagents in the order of the file.
    sorted.sort_by_key(|conversation| conversation.0);
    sorted.into_iter().map(|(_, conversation)| conversation).collect()
}

/// The conversation since the client's last compaction. Where the whole record is wanted, the conversation before each
/// compaction comes first. The `bool` says whether it is a subagent's.
fn conversations(
    source: &mut InputSource<'_>,
    lines: &[RecordLine],
    about: &RecordGroup,
) -> Vec<(bool, Conversation)> {
    let all = |wanted: RecordKind| {
        let matching = lines.iter().enumerate().filter(move |(_, line)| line.kind == wanted);
        matching.map(|(at, _)| at).collect::<Vec<_>>()
    };
    let mut restarts = all(RecordKind::Boundary);
    if restarts.is_empty() {
        restarts = all(RecordKind::User(Some(TextOrigin::Recap)));
    }
    let has_message = |line: &&RecordLine| !line.message.is_empty();
    if source.recorded {
        restarts.insert(0, 0);
    } else {
        // A file that ends at a boundary was read, or its client killed, before the summary was written.
        let has_live = |start: &&usize| !live(lines, **start, lines.len()).is_empty();
        let last = restarts.iter().rev().find(has_live).copied().unwrap_or(0);
        restarts = vec![last];
        // The client sends the kept lines again after its summary, so they are not lost.
        let kept_count = lines.get(last).map_or(0, |boundary| boundary.kept_lines.len());
        let before = lines[..last].iter().filter(has_message).count().saturating_sub(kept_count);
        if before > 0 {
            let detail = format!("{before} records before it are no longer in the context");
            source.problems.push(ReadProblem::new("compacted-before", detail).at(lines[last].line));
        }
    }
    let ends = restarts.iter().skip(1).copied().chain([lines.len()]);
    let mut out = Vec::new();
    for (start, end) in restarts.iter().zip(ends) {
        let live = live(lines, *start, end);
        let Some(first) = live.iter().map(|line| line.line).min() else { continue };
        let mut conversation = Conversation::new(TranscriptFormat::ClaudeCode, first);
        conversation.id.clone_from(&about.id);
        add_events(source, &live, lines[*start].line, &mut conversation);
        out.push((!about.is_main, conversation));
    }
    out
}

/// The lines of a stretch that have a message. The lines that the client kept from before its summary follow the
/// summary.
fn live(lines: &[RecordLine], start: usize, end: usize) -> Vec<&RecordLine> {
    let is_sent = |line: &&RecordLine| !line.message.is_empty();
    let mut live: Vec<&RecordLine> = lines[start..end].iter().filter(is_sent).collect();
    let is_kept = |line: &&RecordLine| lines[start].kept_lines.contains(&line.line);
    let carried: Vec<&RecordLine> = lines[..start].iter().filter(is_sent).filter(is_kept).collect();
    let is_recap = |line: &&RecordLine| line.kind == RecordKind::User(Some(TextOrigin::Recap));
    let behind = live.iter().position(is_recap).map_or(0, |at| at + 1);
    live.splice(behind..behind, carried);
    live
}

/// Adds the events of these lines. Records with the same message id become one message, at the place of the first.
/// `start` is the line where the stretch starts; the usage of an older reply is ignored, because it counted another
/// context.
fn add_events(
    source: &mut InputSource<'_>,
    live: &[&RecordLine],
    start: usize,
    conversation: &mut Conversation,
) {
    let mut parts: Vec<(&RecordLine, Vec<&RecordMessage>)> = Vec::with_capacity(live.len());
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut beside: Vec<&RecordLine> = Vec::new();
    for line in live {
        let message = &line.message;
        // Messages beside a batch of calls are sent after all of its results. The client writes the text of a skill
        // right behind the result that brought it.
        if matches!(line.kind, RecordKind::Beside(_) | RecordKind::User(Some(TextOrigin::Injected)))
        {
            beside.push(line);
            continue;
        }
        let goes_on = match line.kind {
            RecordKind::Assistant => message.id.as_deref().is_some_and(|id| by_id.contains_key(id)),
            _ => message.has_results(source.input),
        };
        // The records of one reply have only results between them. An id that comes again later is another reply's.
        if line.kind == RecordKind::RealUser {
            by_id.clear();
        }
        if !goes_on {
            parts.extend(beside.drain(..).map(|line| (line, vec![&line.message])));
        }
        if line.kind == RecordKind::Assistant {
            // A reply that the client wrote itself names no model.
            if message.model.is_some() {
                conversation.envelope.model.clone_from(&message.model);
            }
            if let Some(id) = message.id.as_deref().filter(|_| message.blocks.is_some()) {
                if let Some(at) = by_id.get(id) {
                    parts[*at].1.push(message);
                    continue;
                }
                by_id.insert(id, parts.len());
            }
        }
        parts.push((line, vec![message]));
    }
    parts.extend(beside.drain(..).map(|line| (line, vec![&line.message])));
    for (line, messages) in parts {
        let mut event = joined(source, &messages);
        if let RecordKind::User(origin) | RecordKind::Beside(origin) = line.kind {
            event.origin = origin;
        }
        if line.kind == RecordKind::Assistant && line.line >= start {
            // A streamed reply has one record per block, and the counts are complete in the last one.
            event.usage = messages.last().and_then(|message| message.usage);
        }
        conversation.events.push(event);
    }
}

/// The first message, with the blocks of the others after its own.
fn joined(source: &mut InputSource<'_>, messages: &[&RecordMessage]) -> RawEvent {
    let [first, others @ ..] = messages else { return source.built(Vec::new(), Vec::new()) };
    let input = source.input;
    if let Some(built) = &first.built {
        return source.built(built.to_vec(), vec![first.range.clone()]);
    }
    let (whole, own) = match &first.blocks {
        Some(own) if !others.is_empty() => (first.range.clone(), own.clone()),
        _ => return source.event(first.range.clone()),
    };
    let mut bytes = input[whole.start..own.end - 1].to_vec();
    let mut is_empty = scan::elements(input, own.clone()).next().is_none();
    let mut ranges = vec![whole.clone()];
    for other in others {
        let list = other.blocks.clone().unwrap_or(0..0);
        let blocks: Vec<_> = scan::elements(input, list).collect();
        let (Some(from), Some(to)) = (blocks.first(), blocks.last()) else { continue };
        if !std::mem::take(&mut is_empty) {
            bytes.push(b',');
        }
        bytes.extend_from_slice(&input[from.start..to.end]);
        ranges.push(from.start..to.end);
    }
    bytes.extend_from_slice(&input[own.end - 1..whole.end]);
    source.built(bytes, ranges)
}
