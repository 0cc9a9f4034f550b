//! Reports on compactions as text: short aligned lines of words and figures.

use std::collections::BTreeMap;

use midfold::core::fold::{FoldEntry, StandIn};
use midfold::core::layout::TailFloor;
use midfold::{Context, Fold, PieceFate, Policy, PreparedConversation, WindowSource};

use crate::compacted_conversation::CompactedConversation;
use crate::output::{OutputColor, OutputStyle};
use crate::page::LabelledPage;
use crate::words::{number, plural, printable};

/// The most conversations that a report lists one by one.
const SHOWN_CONVERSATIONS: usize = 20;

/// The report on all conversations of a file.
pub struct FileReport<'a> {
    /// The name of the file.
    pub name: &'a str,
    pub all: &'a [CompactedConversation],
    /// The name of the policy, for a preview. `None` where the conversations were really compacted.
    pub preview: Option<&'a str>,
}

impl FileReport<'_> {
    pub fn text(&self, style: &OutputStyle) -> String {
        let mut page = LabelledPage { style, text: String::new() };
        match self.all {
            [only] => self.single(&mut page, only),
            all => self.several(&mut page, all),
        }
        page.text
    }

    fn single(&self, page: &mut LabelledPage<'_>, compacted: &CompactedConversation) {
        let title = format!("{} ({})", self.name, described(&compacted.prepared));
        match compacted.fold() {
            Some(fold) => {
                page.title(
                    OutputColor::Green,
                    &format!("{title}: {}", self.folding(fold.evicted.into())),
                );
                folded(page, compacted, fold);
            }
            None => unchanged(page, &title, compacted),
        }
        self.policy(page);
        if let Some(target) = compacted.outcome.missed {
            let text = format!(
                "{} tokens were asked for: what may not be folded is larger",
                number(target)
            );
            page.field("target", &text);
        }
        page.notes(&compacted.report.problems);
    }

    fn folding(&self, evicted: u64) -> String {
        let verb = if self.preview.is_some() { "would fold" } else { "folded" };
        format!("{verb} {}", plural(evicted, "middle message"))
    }

    fn several(&self, page: &mut LabelledPage<'_>, all: &[CompactedConversation]) {
        let name = self.name;
        let folded = all.iter().filter(|compacted| compacted.fold().is_some()).count();
        let evicted: u64 = all
            .iter()
            .filter_map(CompactedConversation::fold)
            .map(|fold| u64::from(fold.evicted))
            .sum();
        let count = number(all.len() as u64);
        if folded == 0 {
            page.title(
                OutputColor::Yellow,
                &format!("{name}: {count} conversations, all unchanged"),
            );
        } else {
            let (folded, title) = (number(folded as u64), self.folding(evicted));
            let title = match self.preview {
                Some(_) => format!("{folded} of them: {title}"),
                None => format!("{folded} compacted: {title}"),
            };
            page.title(OutputColor::Green, &format!("{name}: {count} conversations, {title}"));
        }
        for (at, compacted) in all.iter().take(SHOWN_CONVERSATIONS).enumerate() {
            page.field(&format!("{}", at + 1), &one_line(compacted));
        }
        let more = all.len().saturating_sub(SHOWN_CONVERSATIONS);
        if more > 0 {
            page.field("", &format!("and {} more", number(more as u64)));
        }
        let (before, after) = sums(all);
        page.field(
            "total",
            &format!(
                "{} → {} tokens ({})",
                number(before),
                number(after),
                percent_change(before, after)
            ),
        );
        let [heads, tails] = [
            all.iter().filter_map(CompactedConversation::fold).all(|fold| fold.head_verbatim),
            all.iter().filter_map(CompactedConversation::fold).all(|fold| fold.tail_verbatim),
        ];
        if folded > 0 {
            let text = format!("head verbatim {heads} | tail verbatim {tails}, in all of them");
            page.field("invariant", &text);
        }
        page.field("counted", &of_all(all, |prepared| format!("with {}", counted(prepared))));
        page.field("window", &of_all(all, window));
        self.policy(page);
        let missed = all.iter().filter(|compacted| compacted.outcome.missed.is_some()).count();
        if missed > 0 {
            let text = format!(
                "missed by {}: what may not be folded is larger",
                plural(missed as u64, "conversation")
            );
            page.field("target", &text);
        }
        repairs(page, all.iter().map(|compacted| &compacted.outcome.context));
        page.notes(all.iter().flat_map(|compacted| &compacted.report.problems));
    }

    fn policy(&self, page: &mut LabelledPage<'_>) {
        let Some(name) = self.preview else { return };
        let label = if Policy::preset_names().contains(&name) { "preset" } else { "policy" };
        page.field(label, name);
    }
}

/// A fact that all conversations share, or that each has its own.
fn of_all(all: &[CompactedConversation], fact: impl Fn(&PreparedConversation) -> String) -> String {
    let mut facts = all.iter().map(|compacted| fact(&compacted.prepared));
    let first = facts.next().unwrap_or_default();
    if facts.all(|fact| fact == first) { first } else { "by each one's model".to_owned() }
}

/// The format of the transcript, and the dialect that it was converted to if it was.
pub fn described(prepared: &PreparedConversation) -> String {
    let format = prepared.source.format.name();
    if prepared.converted { format!("{format}, as {}", prepared.kind) } else { format.to_owned() }
}

fn unchanged(page: &mut LabelledPage<'_>, title: &str, compacted: &CompactedConversation) {
    page.title(OutputColor::Yellow, &format!("{title}: unchanged"));
    if let Some(reason) = &compacted.report.summary.reason {
        page.field("why", reason);
    }
    let log = &compacted.prepared.log;
    let tokens = number(compacted.outcome.context.tokens());
    page.field("tokens", &format!("{tokens}, counted with {}", counted(&compacted.prepared)));
    page.calibrated(&compacted.prepared, &[compacted.outcome.context.tokens()]);
    page.field("window", &window(&compacted.prepared));
    let (before, after) = (log.len(), compacted.outcome.context.len());
    let count = number(before as u64);
    let count =
        if before == after { count } else { format!("{count} → {}", number(after as u64)) };
    page.field("messages", &count);
    repairs(page, [&compacted.outcome.context]);
}

fn folded(page: &mut LabelledPage<'_>, compacted: &CompactedConversation, fold: &Fold) {
    let (before, after) = (fold.tokens_before, fold.tokens_after);
    let tokens = format!(
        "{} → {} ({}), counted with {}",
        number(before),
        number(after),
        percent_change(before, after),
        counted(&compacted.prepared)
    );
    page.field("tokens", &tokens);
    page.calibrated(&compacted.prepared, &[before, after]);
    page.field("window", &window(&compacted.prepared));
    page.field("messages", &message_line(fold));
    let carried = fold
        .entries
        .iter()
        .filter(|entry| matches!(entry, FoldEntry::Recap { .. } | FoldEntry::Marker { .. }));
    let is_marker = fold.fallback == Some(StandIn::Marker) && fold.narrated.is_none();
    let stand_in = if is_marker { "marker" } else { "recap" };
    page.field(
        "invariant",
        &format!(
            "head verbatim {} | tail verbatim {} | middle replaced by {} {stand_in} message(s)",
            fold.head_verbatim,
            fold.tail_verbatim,
            carried.count()
        ),
    );
    layout(page, fold);
    edits(page, fold);
    recap(page, fold);
    repairs(page, [&compacted.outcome.context]);
}

fn message_line(fold: &Fold) -> String {
    let accounts = &fold.accounts;
    let marker = match fold.fallback {
        Some(StandIn::Static) => "behind the fixed sentence",
        _ => "behind the marker",
    };
    let parts = [
        (accounts.verbatim, "verbatim"),
        (accounts.edited, "edited"),
        (accounts.recap, "in the recap"),
        (accounts.marker, marker),
    ];
    let there = parts.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<_> =
        there.map(|(count, noun)| format!("{} {noun}", number(u64::from(*count)))).collect();
    let [before, after] = [fold.messages_before, fold.messages_after].map(u64::from);
    format!("{} → {}: {}", number(before), number(after), texts.join(", "))
}

fn layout(page: &mut LabelledPage<'_>, fold: &Fold) {
    let layout = &fold.layout;
    let region = |start: u32, end: u32, tokens: u64| {
        let count = plural(u64::from(end.saturating_sub(start)), "message");
        format!("{count}, {} tokens", number(tokens))
    };
    page.field("head", &region(layout.head.start, layout.head.end, fold.head_tokens));
    let pinned = match (layout.pinned.len(), layout.carried_user) {
        (0, _) => "",
        (1, Some(_)) => ", of which the last user message stays",
        (_, Some(_)) => ", of which the pinned ones and the last user message stay",
        (_, None) => ", of which the pinned ones stay",
    };
    let middle = region(layout.middle.start, layout.middle.end, fold.middle_tokens);
    page.field("middle", &format!("{middle}{pinned}"));
    let tail = region(layout.tail.start, layout.tail.end, fold.tail_tokens);
    page.field("tail", &format!("{tail}; its start was set by {}", floor(layout.floor)));
}

/// Names what decided where the tail starts.
pub fn floor(floor: TailFloor) -> &'static str {
    match floor {
        TailFloor::Tokens => "the token floor",
        TailFloor::Messages => "the message floor",
        TailFloor::LastUser => "the last user message",
        TailFloor::Ceiling => "the soft ceiling",
        TailFloor::Budget => "the budget (its floors do not fit)",
        TailFloor::Everything => "the floors, which reach to the head",
    }
}

fn edits(page: &mut LabelledPage<'_>, fold: &Fold) {
    let mut by_reducer: Vec<(&str, u64, u64)> = Vec::new();
    for edit in &fold.edits {
        let saved = u64::from(edit.tokens_before.saturating_sub(edit.tokens_after));
        match by_reducer.iter_mut().find(|(name, ..)| *name == edit.reducer.as_str()) {
            Some((_, count, sum)) => (*count, *sum) = (*count + 1, *sum + saved),
            None => by_reducer.push((edit.reducer.as_str(), 1, saved)),
        }
    }
    let text = |(name, count, saved): &(&str, u64, u64)| {
        format!("{name} {} (−{} tokens)", number(*count), number(*saved))
    };
    let texts: Vec<_> = by_reducer.iter().map(text).collect();
    if !texts.is_empty() {
        page.field("edited", &texts.join(", "));
    }
}

fn recap(page: &mut LabelledPage<'_>, fold: &Fold) {
    let Some(recap) = &fold.recap else { return };
    let tokens = number(recap.tokens);
    let role = format!("in the {} role", recap.role);
    let wrote = match &fold.narrated {
        Some(narrated) => format!("written by {}", printable(&narrated.model)),
        None => fold.fallback.map(|stands| stands.to_string()).unwrap_or_default(),
    };
    match fold.fallback {
        Some(StandIn::Marker) if fold.narrated.is_some() => page.field(
            "recap",
            &format!("{tokens} tokens, {wrote}, {role}; a marker ends it, for what came after"),
        ),
        Some(StandIn::Marker) => page.field("marker", &format!("{tokens} tokens, {role}")),
        _ => page.field("recap", &format!("{tokens} tokens, {wrote}, {role}")),
    }
    if recap.files > 0 {
        page.field("files", &format!("{} named in the recap", number(u64::from(recap.files))));
    }
    let (named, unnamed) = (&fold.kept_ids, &fold.lost_ids);
    if named.count + unnamed.count > 0 {
        page.list("kept", u64::from(named.count), "identifiers", &named.first);
        page.list("not named", u64::from(unnamed.count), "identifiers", &unnamed.first);
    }
    if recap.redacted > 0 {
        page.field(
            "redacted",
            &format!("{} secret(s) in the recap", number(u64::from(recap.redacted))),
        );
    }
}

/// Adds the repairs of the contexts that are sent, folded or not.
fn repairs<'a>(page: &mut LabelledPage<'_>, contexts: impl IntoIterator<Item = &'a Context>) {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for piece in contexts.into_iter().flat_map(Context::pieces) {
        let (PieceFate::Repaired(_, why) | PieceFate::Added(why)) = piece.fate else { continue };
        let name = serde_json::to_value(why).unwrap_or_default();
        *kinds.entry(name.as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    let texts: Vec<_> =
        kinds.iter().map(|(kind, count)| format!("{} {kind}", number(*count))).collect();
    if !texts.is_empty() {
        page.field("repairs", &texts.join(", "));
    }
}

/// The tokens of all conversations, before and after.
pub fn sums(all: &[CompactedConversation]) -> (u64, u64) {
    let after = |compacted: &CompactedConversation| compacted.outcome.context.tokens();
    let before = |compacted: &CompactedConversation| {
        compacted.fold().map_or(after(compacted), |fold| fold.tokens_before)
    };
    (all.iter().map(before).sum(), all.iter().map(after).sum())
}

/// One line about a conversation: its tokens before and after, or why it is unchanged.
pub fn one_line(compacted: &CompactedConversation) -> String {
    let id = compacted.prepared.source.id.as_ref().map_or(String::new(), |id| format!(" [{id}]"));
    match (compacted.fold(), &compacted.report.summary.reason) {
        (Some(fold), _) => format!(
            "{} → {} tokens, {} → {} messages{id}",
            number(fold.tokens_before),
            number(fold.tokens_after),
            number(fold.messages_before.into()),
            number(fold.messages_after.into())
        ),
        (None, reason) => {
            let why = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            format!("{} tokens, unchanged{why}{id}", number(compacted.outcome.context.tokens()))
        }
    }
}

/// The name of the counter, and how exact its counts are.
pub fn counted(prepared: &PreparedConversation) -> String {
    let counter = prepared.log.counter();
    let kind = match (counter.is_exact(), prepared.auto_counter, &prepared.model) {
        (true, true, None) => " (the file names no model)".to_owned(),
        (true, true, Some(model)) => format!(" (for {model})"),
        (true, false, _) => " (exact)".to_owned(),
        (false, _, _) if counter.name().starts_with("estimate") => String::new(),
        (false, _, _) => " (an estimate)".to_owned(),
    };
    let calibrated = if prepared.meter.samples > 0 { "" } else { ", not calibrated" };
    format!("{}{kind}{calibrated}", counter.name())
}

/// The window of a conversation in tokens, and where it was set.
pub fn window(prepared: &PreparedConversation) -> String {
    window_from(prepared.window, &prepared.window_from)
}

/// A window in tokens, and where it was set.
pub fn window_from(window: u64, from: &WindowSource) -> String {
    let window = number(window);
    match from {
        WindowSource::Request => format!("{window}, as the request says"),
        WindowSource::Server => format!("{window}, as the server says"),
        WindowSource::Learned => format!("{window}, as was learned"),
        WindowSource::Given => format!("{window}, as given"),
        WindowSource::Model(model) => format!("{window}, that of {model}"),
        WindowSource::UnknownModel(model) => {
            format!("{window}, the default: {model} is not known (set --window)")
        }
        WindowSource::NoModel => {
            format!("{window}, the default: the file names no model (set --window)")
        }
    }
}

/// The change in percent, as `−40 %` or `+3 %`.
pub fn percent_change(before: u64, after: u64) -> String {
    let part = before.abs_diff(after) * 100 / before.max(1);
    if part == 0 {
        "0 %".to_owned()
    } else if after > before {
        format!("+{part} %")
    } else {
        format!("−{part} %")
    }
}
