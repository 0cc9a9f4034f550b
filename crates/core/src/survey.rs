//! A survey of a log: which content its tokens are spent on, and how much of it is repeated. It plans nothing.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::log::EventLog;
use crate::policy::{Policy, ReducerName};
use crate::reduce::{Middle, MiddleBudget, ReducerState, reducer};
use crate::tools::ToolTable;
use crate::view::{BlockKind, Role, TextOrigin};

/// A number of items and their tokens together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurveyCount {
    /// The number of items.
    pub items: u64,
    /// Their tokens.
    pub tokens: u64,
}

impl SurveyCount {
    fn add(&mut self, tokens: u64) {
        self.items += 1;
        self.tokens += tokens;
    }
}

/// The class of a block of a log, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PieceClass {
    /// System prompts and the envelope.
    System,
    /// Text in the user's role, from the user or a client.
    User,
    /// Recaps of earlier compactions.
    Recap,
    /// Text of the model.
    Assistant,
    /// The model's reasoning.
    Reasoning,
    /// Names and arguments of calls.
    Arguments,
    /// Tool results.
    Results,
    /// Images, sounds, files.
    Media,
    /// Everything else: opaque blocks, the framing of messages.
    Other,
}

impl PieceClass {
    /// All classes, in the order of a report.
    pub const ALL: [Self; 9] = [
        Self::System,
        Self::User,
        Self::Recap,
        Self::Assistant,
        Self::Reasoning,
        Self::Arguments,
        Self::Results,
        Self::Media,
        Self::Other,
    ];

    /// A name for people and programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Recap => "recap",
            Self::Assistant => "assistant",
            Self::Reasoning => "reasoning",
            Self::Arguments => "arguments",
            Self::Results => "results",
            Self::Media => "media",
            Self::Other => "other",
        }
    }

    /// The class of a block, by its kind and by the role and origin of its message.
    fn of(role: Role, origin: TextOrigin, kind: &BlockKind) -> Self {
        match kind {
            BlockKind::Call { .. } => Self::Arguments,
            BlockKind::Result { .. } => Self::Results,
            BlockKind::Reasoning { .. } => Self::Reasoning,
            BlockKind::Media => Self::Media,
            BlockKind::Opaque => Self::Other,
            BlockKind::Text | BlockKind::Refusal => match (role, origin) {
                (_, TextOrigin::Recap) => Self::Recap,
                (_, TextOrigin::Observation) | (Role::Tool, _) => Self::Results,
                (Role::System | Role::Developer, _) => Self::System,
                (Role::User, _) => Self::User,
                (Role::Assistant, _) => Self::Assistant,
                (Role::Other, _) => Self::Other,
            },
        }
    }
}

/// The result of a survey.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSurvey {
    /// Blocks and tokens by class, in the order of [`PieceClass::ALL`]; adds up to the whole log.
    pub classes: Vec<(PieceClass, SurveyCount)>,
    /// Results by tool, the costliest first. The name is empty for results whose tool is not known.
    pub tools: Vec<(String, SurveyCount)>,
    /// Results that a later call returned again, and the tokens that a pointer to the newest would free.
    pub duplicates: SurveyCount,
    /// Reads that a later read or write made stale, and the tokens that a stub would free.
    pub superseded: SurveyCount,
}

/// Surveys a whole log, head and tail included. The policy extends the table of tools, and sets below which length
/// results are ignored.
#[must_use]
pub fn survey(log: &EventLog, policy: &Policy) -> LogSurvey {
    let table = ToolTable::of(&policy.tools);
    let counter = &**log.counter();
    let events = log.events();
    let whole = 0..events.len();
    let mut all = Middle::new(events, whole, vec![true; events.len()], counter, &table);
    let tools = by_tool(log, &all);
    let mut state = ReducerState::alone(policy, &table);
    for name in [ReducerName::Dedup, ReducerName::Supersede] {
        state = reducer(name).reduce(&mut all, &MiddleBudget::default(), state);
    }
    let mut survey = LogSurvey { classes: by_class(log), tools, ..LogSurvey::default() };
    for (_, edited) in all.into_edits().into_values().flatten() {
        let freed = u64::from(edited.tokens_before.saturating_sub(edited.tokens_after));
        match edited.reducer {
            ReducerName::Dedup => survey.duplicates.add(freed),
            _ => survey.superseded.add(freed),
        }
    }
    survey
}

/// Blocks and tokens of a log by class. Tokens of a message that belong to no block are framing.
fn by_class(log: &EventLog) -> Vec<(PieceClass, SurveyCount)> {
    let mut classes = PieceClass::ALL.map(|class| (class, SurveyCount::default()));
    let mut add = |class: PieceClass, tokens: u64| {
        if let Some((_, count)) = classes.iter_mut().find(|(known, _)| *known == class) {
            count.add(tokens);
        }
    };
    if log.envelope_tokens() > 0 {
        add(PieceClass::System, log.envelope_tokens());
    }
    let mut framing = 0;
    for event in log.events() {
        let view = &event.view;
        let mut rest = u64::from(event.tokens.total);
        for (block, tokens) in view.blocks.iter().zip(&event.tokens.blocks) {
            rest = rest.saturating_sub(u64::from(*tokens));
            add(PieceClass::of(view.role, view.origin, &block.kind), u64::from(*tokens));
        }
        framing += rest;
    }
    if framing > 0 {
        add(PieceClass::Other, framing);
    }
    classes.into_iter().filter(|(_, count)| count.items > 0).collect()
}

/// Results of a log by tool, the costliest first.
fn by_tool(log: &EventLog, all: &Middle<'_>) -> Vec<(String, SurveyCount)> {
    let mut tools: FxHashMap<Cow<'_, str>, SurveyCount> = FxHashMap::default();
    for (index, result) in all.results().iter().enumerate() {
        let blocks = &result.event.view.blocks;
        // By place and not by content, because blocks of one message may be equal.
        let at = blocks.iter().position(|block| std::ptr::eq(block, result.view));
        let event = log.events().get(result.event.seq as usize);
        let tokens = event.zip(at).and_then(|(event, at)| event.tokens.blocks.get(at));
        tools.entry(all.tool(index)).or_default().add(u64::from(tokens.copied().unwrap_or(0)));
    }
    let mut tools: Vec<_> =
        tools.into_iter().map(|(tool, count)| (tool.into_owned(), count)).collect();
    tools.sort_by(|a, b| b.1.tokens.cmp(&a.1.tokens).then_with(|| a.0.cmp(&b.0)));
    tools
}
