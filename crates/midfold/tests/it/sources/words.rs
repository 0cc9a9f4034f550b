//! What each source says, in its own values and with the place where it says so: written from the
//! sources and not from the presets. Every row of docs/SOURCES.md is held against it.

use midfold::Policy;
use serde_json::{Value, json};

use super::table::{preset_key, rows};

/// What a row of the page has to say, given what the source says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    /// What is here is what the source says.
    Same,
    /// The source says something else, or more.
    Differs,
    /// The source names no value.
    Ours,
}

use Is::{Differs, Ours, Same};

/// Source, row, place in the source, the source's own value where it names one, and what the page has
/// to say.
type Said = (&'static str, &'static str, &'static str, Option<&'static str>, Is);

#[rustfmt::skip]
const SAID: &[Said] = &[
    ("A", "head: leading system messages and the first user message", "Defining the head and the tail, `_head_end`", Some("first-user"), Same),
    ("A", "tail: share of the budget", "`_tail_start(…, ratio=0.25, …)`", Some("0.25"), Same),
    ("A", "tail: messages", "`_tail_start(…, min_msgs=4)`", Some("4"), Same),
    ("A", "both floors have to hold; the one that binds last sets the cut", "`if … >= floor and len(tail) >= min_msgs`", Some("floors"), Same),
    ("A", "a cut never starts a tail with a result", "`_snap_to_pair_boundary`", None, Same),
    // At the window the source would send what does not fit.
    ("A", "no cut satisfies the floors: nothing is compressed", "`return head_end`, at any size of the list", None, Differs),
    ("A", "head and tail are the same objects", "The invariant: by object identity", None, Same),
    ("A", "only the middle is compressed", "`head + compress_middle(middle) + tail`", None, Same),
    ("A", "a middle that is smaller than its recap", "The invariant: `return head + compress_middle(middle) + tail`", None, Differs),
    ("A", "`strategy` of the record", "Observe", Some("head-tail"), Same),
    ("A", "record: `head_tokens`, `middle_tokens`, `tail_tokens`", "Observe", None, Same),
    ("A", "which floor set the boundary", "Challenges, 1", None, Same),
    ("A", "budget that fires", "nowhere: unit 2 has it", None, Ours),
    ("B", "header", "A schema, not a paragraph", Some("## Conversation Summary"), Same),
    ("B", "sections", "A schema, not a paragraph", Some("Decisions, Entities, Facts, Open Items"), Same),
    ("B", "words asked for", "the three rules: at most ~200", Some("200"), Same),
    ("B", "hard cap, tokens", "`max_tokens=512`: truncates the output regardless", Some("512"), Same),
    ("B", "temperature", "`temperature=0.2`", Some("0.2"), Same),
    ("B", "timeout, seconds", "`timeout=25`", Some("25"), Same),
    ("B", "what begins with the header is used", "`return text if text.startswith(…)`", None, Differs),
    ("B", "a summary that grew a fact the turns never contained", "Security, without a field", None, Ours),
    ("B", "only what the messages say; identifiers verbatim", "the three rules", None, Same),
    ("B", "an earlier summary is folded in, never stacked", "One more rule", None, Same),
    ("B", "a failure leaves the marker", "`MARKER_TEXT`", Some("[Earlier messages truncated]"), Same),
    ("B", "fallback", "A cheap model, told to fail safe", Some("marker"), Same),
    ("B", "role of the recap", "`recap_message`", Some("assistant"), Same),
    ("B", "a slice never splits a tool pair", "Where the recap goes", None, Same),
    // One call for the slice that leaves; nothing comes in between.
    ("B", "the summary covers what it replaces", "`summarize(client, slice_messages)`", None, Differs),
    ("B", "frozen by default: the static marker wins", "The catch: … disables summary re-insertion", Some("false"), Same),
    ("B", "`strategy` of a summarised fold", "Observe", Some("summarize"), Same),
    ("B", "record: `tokens_before`, `tokens_after`, `evicted`", "Observe", None, Same),
    ("B", "record: `fallback`, a flag", "Observe: true or false", None, Differs),
    ("B", "record: `kept_ids`, `lost_ids`", "Observe: lists", None, Differs),
    ("B", "`referenced_later`", "Observe: unit 11 has it", None, Ours),
    ("B", "prefix tokens reused on the next turn", "The catch, and Challenges, 3", None, Same),
    ("B", "the call does not block the turn", "fire-and-forget", None, Same),
    ("C", "threshold: share of the window", "2/7: `threshold_percent` defaults to", Some("0.50"), Same),
    ("C", "threshold: floor `MINIMUM_CONTEXT_LENGTH`", "2/7: named, without a number", None, Ours),
    // `max(…, MINIMUM_CONTEXT_LENGTH)` alone: a window of that size is never reached.
    ("C", "the floor reaches the window", "2/7", None, Differs),
    ("C", "`protect_first_n`", "1/7", Some("3"), Same),
    ("C", "the system message is among them", "3/7: `for i in range(compress_start)`", Some("true"), Same),
    ("C", "`_align_boundary_forward`", "5/7", None, Same),
    ("C", "`protect_last_n`", "1/7", Some("6"), Same),
    ("C", "prune boundary", "5/7: `max(boundary, len(result) - min_protect)`", None, Same),
    ("C", "what is pruned before it", "5/7: any result before the boundary", None, Differs),
    ("C", "pruning comes first, and the tail is measured on what it left", "3/7: phases 1 and 2", None, Same),
    ("C", "tail budget: `summary_target_ratio`", "5/7: × context_length, without a number", None, Differs),
    ("C", "the tail is what no summary covers; pruning reaches into it", "3/7: `n_messages - compress_end`", None, Same),
    ("C", "soft ceiling of the tail", "5/7: `int(token_budget * 1.5)`", Some("1.5"), Same),
    ("C", "cost of a message", "5/7: `// _CHARS_PER_TOKEN + 10`", None, Same),
    ("C", "least tail, messages", "5/7: at least 3", Some("3"), Same),
    ("C", "`_align_boundary_backward`", "5/7: `idx = check`", None, Same),
    ("C", "`max(cut_idx, head_end + 1)` at the end", "5/7", None, Differs),
    ("C", "`_ensure_last_user_message_in_tail`", "5/7: always", None, Differs),
    ("C", "at most this many messages: nothing is done, by hand neither", "3/7: `protect_first_n + 3 + 1`, whatever their size", Some("7"), Differs),
    ("C", "two compressions that save too little veto the next", "2/7", Some("2"), Same),
    ("C", "a compression that saves nothing", "2/7 and 3/7: `return compressed`", None, Differs),
    ("C", "too little", "2/7: of the pass's own estimate, without an end", Some("10 %"), Differs),
    ("C", "phase 1 prunes, phase 3 summarises what is left", "3/7", Some("reduced"), Same),
    ("C", "duplicates: newest stays", "5/7: without a length", None, Ours),
    ("C", "one-line stubs", "5/7: without a length", None, Ours),
    ("C", "long arguments are cut", "5/7: large, without a length", None, Ours),
    ("C", "the input list is never changed", "3/7", None, Same),
    ("C", "`SUMMARY_PREFIX`", "6/7", Some(PREFIX), Same),
    ("C", "`LEGACY_SUMMARY_PREFIX`", "6/7", Some("[CONTEXT SUMMARY]:"), Same),
    ("C", "note on the system message", "3/7: behind the system message", Some(NOTE), Differs),
    ("C", "static fallback", "3/7", None, Same),
    ("C", "fallback", "3/7: `if not summary`", Some("static"), Same),
    ("C", "role: user after an assistant or tool message, else assistant", "3/7: and flipped where it equals that of the tail", Some("opposite"), Differs),
    ("C", "merging the summary into the first tail message", "3/7", None, Differs),
    ("C", "sections", "6/7: `_template_sections`", Some("Active Task, Goal, Constraints & Preferences, Completed Actions, Active State, In Progress, Blocked, Key Decisions, Resolved Questions, Pending User Asks, Relevant Files, Remaining Work, Critical Context"), Same),
    ("C", "what each section asks for", "6/7: in its own words", None, Differs),
    ("C", "preamble: another assistant, no answers, the user's language, no secrets, no preamble", "6/7: in its own words, in one message with the turns", None, Differs),
    ("C", "\"Be CONCRETE\"", "6/7", None, Same),
    ("C", "summary budget scales with the content", "6/7: `_compute_summary_budget`, without a number", None, Ours),
    ("C", "iterative update of the summary before", "6/7", None, Same),
    ("C", "focus topic", "1/7", None, Same),
    ("C", "failure cooldown", "6/7", None, Same),
    ("C", "contract: `update_from_response`, `should_compress`, `compress`, …", "1/7: under these names", None, Differs),
    ("C", "attributes that hosts read", "1/7", None, Same),
    ("C", "the same contract under the source's names, in the host", "1/7", None, Same),
    ("C", "what callers read after `compress`", "3/7: `callers inspect these fields`", None, Same),
    ("C", "the answer to a call of an unknown tool", "1/7: `handle_tool_call`", None, Same),
    ("C", "`threshold_tokens = int(context_length * threshold_percent)`", "1/7", None, Differs),
    ("C", "tools of an engine", "1/7: under these names", None, Differs),
    ("C", "tool results pruned between compressions", "5/7", None, Differs),
    ("C", "`threshold_percent`, `protect_first_n`, `protect_last_n` of the base class", "1/7: 0.75", Some("0.75, 3, 6"), Differs),
    ("C", "reset: counters to zero", "1/7", None, Same),
    ("C", "engine by configuration", "1/7: `context.engine`, by default `compressor`", None, Differs),
    ("C", "manual feedback", "7/7", None, Same),
    ("C", "trajectories: target", "4/7: `target_max_tokens`, without a number", None, Ours),
    ("C", "trajectories: summary", "4/7: `summary_target_tokens`, without a number", None, Ours),
    ("C", "trajectories: protected turns", "4/7: system, human, first gpt and tool, the last N", None, Same),
    ("C", "trajectories: turns are taken from the front until `tokens_to_save + summary_target_tokens`", "4/7: any turn of the region", None, Differs),
    ("C", "trajectories: summary in the human role", "4/7: always", None, Differs),
    ("C", "trajectories: a notice behind the system turn", "4/7: where it is configured", None, Same),
    ("C", "trajectories: `still_over_limit`, ratio and counts", "4/7", None, Same),
    ("C", "trajectories: names of the region", "4/7: `metrics.turns_…`", None, Differs),
    ("D", "threshold, system prompt included", "When Compression Triggers: exceeds 80 %", Some("0.80"), Differs),
    // "Any" result: in the head and in the tail as well.
    ("D", "results older than so many turns", "The Five Stages, 1: any, older than 4 turns", Some("4"), Differs),
    ("D", "cleared text", "The Five Stages, 1", Some("[Cleared for context space]"), Same),
    ("D", "cleared before anything is summarised", "The Five Stages, 1 and 4", Some("reduced"), Same),
    ("D", "head", "The Five Stages, 2", Some("2"), Same),
    ("D", "tail", "The Five Stages, 3", Some("6"), Same),
    ("D", "the whole middle becomes one message", "The Five Stages, 5", Some("middle"), Same),
    ("D", "a compression that frees nothing", "The Five Stages, 5: replace", None, Differs),
    ("D", "its role", "The Five Stages, 5", Some("assistant"), Same),
    ("D", "cumulative `<read-files>`, `<modified-files>`", "What the Summary Keeps: grows but never resets", Some("true"), Differs),
    ("D", "sections", "What the Summary Keeps: the list is missing", None, Ours),
    ("D", "a later compression integrates what is new into the summary before", "What the Summary Keeps", None, Same),
    ("D", "the same check after \"too long\": compress, retry", "When Compression Triggers", None, Same),
    ("D", "a fast model summarises", "The Five Stages, 4", None, Differs),
    ("E", "the log is never edited", "Principle", None, Same),
    // "Runs every assembly."
    ("E", "free reducers always, a summary of what is still over", "Reduction is a pipeline of reducers, and 1", Some("overflow"), Differs),
    ("E", "`reduce(context, budget, state) -> {context, state}`", "Reducer interface (sketch)", None, Differs),
    ("E", "results by age, in turns", "1. Tool-result retention", Some("turns"), Same),
    ("E", "K turns", "1. Tool-result retention: K", None, Ours),
    ("E", "the last N results of a tool", "1. Tool-result retention: N", None, Ours),
    ("E", "`never_evict`", "1. Tool-result retention", None, Same),
    ("E", "a stub keeps the pair", "Constraint — pairing", Some("[result expired]"), Same),
    ("E", "window on dialogue, turns or tokens", "2. Sliding window on dialogue", None, Differs),
    ("E", "summaries off the critical path, keyed by their span", "3. Summarization", None, Same),
    ("E", "the oldest span first, in discrete chunks", "3. Summarization: chunks, without a size", None, Ours),
    ("E", "estimates with a safety margin", "Token counting: without a number", None, Ours),
    ("E", "chars/4 where there is no tokenizer", "Token counting", None, Differs),
    ("E", "`injection_reserve`", "Two rules at the seam: without a number", None, Ours),
    ("E", "an injection over its reserve is an error of its hook", "Two rules at the seam", None, Same),
    ("E", "layout: system and summary, history, injections beside the newest request", "Two rules at the seam", None, Same),
    ("E", "single budget as the ceiling", "Resolved: budget shape", None, Same),
    ("E", "per-tier caps, evicting early", "Resolved: budget shape", None, Same),
    ("E", "the budget is a value that can carry them", "Resolved: budget shape", None, Same),
    ("E", "`model_calls` with summary version and evictions", "Observability", None, Same),
];

/// 6/7.
const PREFIX: &str = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff from a previous context window — treat it as background reference, NOT as active instructions. Do NOT answer questions or fulfill requests mentioned in this summary; they were already addressed. Your current task is identified in the '## Active Task' section of the summary — resume exactly from there. Respond ONLY to the latest user message that appears AFTER this summary. The current session state (files, config, etc.) may reflect work described here — avoid repeating it:";
/// 3/7.
const NOTE: &str = "[Note: Some earlier conversation turns have been compacted into a handoff summary to preserve context space. The current session state may still reflect earlier work, so build on that summary and state rather than re-doing work.]";

/// The value of a preset's key, as the page writes values.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn equals(found: &Value, said: &str) -> bool {
    match (found.as_f64(), said.parse::<f64>()) {
        (Some(found), Ok(said)) => (found - said).abs() < 1e-9,
        _ => shown(found) == said,
    }
}

/// The page has each row once, and says of it what the source's own words make of it.
#[test]
fn every_row_says_what_its_source_says() {
    let mut wrong = Vec::new();
    let rows = rows();
    let names = |row: &super::table::Row| (row.source.clone(), row.what.clone());
    let listed: Vec<_> = rows.iter().map(names).collect();
    let said: Vec<_> =
        SAID.iter().map(|(source, what, ..)| ((*source).to_owned(), (*what).to_owned())).collect();
    for name in listed.iter().chain(&said) {
        let times = |all: &[(String, String)]| all.iter().filter(|one| *one == name).count();
        if (times(&listed), times(&said)) != (1, 1) {
            wrong.push(format!("{name:?} is not in both lists once"));
        }
    }
    for (source, what, place, value, is) in SAID {
        let Some(row) = rows.iter().find(|row| row.source == *source && row.what == *what) else {
            continue;
        };
        let page = match row.here.split([';', ':', ' ', ',']).next() {
            Some("same") => Same,
            Some("differs") => Differs,
            _ => Ours,
        };
        if page != *is {
            wrong.push(format!("{source}, {what} ({place}): the page says {page:?}, not {is:?}"));
        }
        let Some((preset, path)) = preset_key(&row.key) else { continue };
        let policy = serde_json::to_value(Policy::preset(preset).unwrap()).unwrap();
        let found = path.split('.').try_fold(&policy, |value, key| value.get(key)).unwrap();
        match value {
            // What the source names is what the preset has, also where something beside differs.
            Some(value) if !equals(found, value) => wrong.push(format!(
                "{source}, {what} ({place}): the source says {value}, {preset} has {}",
                shown(found)
            )),
            None if *is == Same => wrong.push(format!("{source}, {what}: the same as nothing")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// 7/7, 3/7: the texts that a person and a model read.
#[test]
fn the_texts_are_those_of_the_source() {
    use midfold::view::CompactionSummary;
    use midfold::{Budget, ContextSize, Meter, PlanOutcome, Session};
    let policy = Policy::preset("hermes").unwrap();
    let one = super::recorded::recorded().remove(3);
    let mut session = Session::over("s", one.log.clone(), policy, Meter::exact());
    let outcome = session.compact(&Budget::new(32_000), None).unwrap();
    let before = ContextSize { messages: one.log.len() as u64, tokens: one.log.tokens() };
    let said = json!(CompactionSummary::of(&outcome, before));
    let PlanOutcome::Folded(fold) = outcome else { panic!("{outcome:?}") };
    let (dropped, after) = (fold.evicted, fold.messages_after);
    assert_eq!(
        fold.recap.as_ref().unwrap().text,
        format!(
            "{PREFIX}\n{NOTE}\nSummary generation was unavailable. {dropped} message(s) were removed to \
             free context space but could not be summarized. The removed messages contained earlier \
             work in this session. Continue based on the recent messages below and the current state \
             of any files or resources."
        )
    );
    assert_eq!(said["headline"], format!("Compressed: {} → {after} messages", one.log.len()));
    assert!(said["token_line"].as_str().unwrap().starts_with("Rough transcript estimate: ~"));
    let again = session.compact(&Budget::new(32_000), None).unwrap();
    let said = json!(CompactionSummary::of(&again, ContextSize { messages: 9, tokens: 1_234 }));
    assert_eq!(said["headline"], "No changes from compression: 9 messages");
    assert_eq!(said["token_line"], "Rough transcript estimate: ~1,234 tokens (unchanged)");
}

/// 3/7: seven messages and no more are left alone; at the window that could not be sent.
#[test]
fn seven_messages_over_the_window_are_folded() {
    use midfold::{Budget, EventLog, Meter, RawEvent, Session};
    let mut messages = vec![json!({"role": "system", "content": "s"})];
    messages.extend((0..6).map(|n| {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        json!({"role": role, "content": format!("{n} {}", "word ".repeat(900))})
    }));
    let events = messages.iter().map(|m| RawEvent::new(m.to_string().into()));
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let dialect = midfold::DialectKind::OpenAiChat.shared();
    let log = EventLog::of(dialect, midfold::formats::profile::OPENAI, counter, events);
    let mut session = Session::over("s", log, Policy::preset("hermes").unwrap(), Meter::exact());
    assert!(session.context(&Budget::new(5_000), 0).unwrap().tokens() <= 5_000);
    assert!(session.active().is_some());
}
