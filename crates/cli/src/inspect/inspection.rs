//! The facts about one conversation, and what policies would do to it.

use midfold::core::layout::layout;
use midfold::core::plan::{FoldCause, GatherMemo, PlanRequest, plan, plan_sharing};
use midfold::core::survey::{LogSurvey, PieceClass, SurveyCount, survey};
use midfold::view::CarriedProblem;
use midfold::{Budget, PlanError, PlanOutcome, Policy, PreparedConversation};
use serde_json::{Value, json};

use crate::output::OutputColor;
use crate::page::LabelledPage;
use crate::picture::{BarFill, bar, legend};
use crate::report::{counted, described, floor, window};
use crate::table::TextTable;
use crate::words::{grouped, number, plural};

/// The most tools that are listed one by one.
const SHOWN_TOOLS: usize = 8;

/// The fold that a policy would make of a conversation.
pub struct FoldForecast {
    pub name: String,
    /// The most tokens, as they are counted here, with which the policy does not yet fold without being asked.
    threshold: u64,
    pub outcome: Result<PlanOutcome, PlanError>,
}

/// The head, the middle or the tail of a conversation.
pub struct LayoutRegion {
    name: &'static str,
    fill: BarFill,
    messages: usize,
    pub tokens: u64,
}

/// The facts about one conversation, and what policies would do to it.
pub struct Inspection {
    pub prepared: PreparedConversation,
    pub notes: Vec<CarriedProblem>,
    survey: LogSurvey,
    pub policy: String,
    pub regions: [LayoutRegion; 3],
    set_by: &'static str,
    /// One for each policy; at least one.
    pub forecasts: Vec<FoldForecast>,
}

impl Inspection {
    /// Splits the conversation by `policy`, and forecasts the folds of `others`, or that of `policy` where there are no
    /// others.
    pub fn new(
        prepared: PreparedConversation,
        notes: Vec<CarriedProblem>,
        policy: &Policy,
        others: &[Policy],
    ) -> Self {
        let log = &prepared.log;
        let survey = survey(log, policy);
        let budget = Budget::new(prepared.window).tokens();
        let budget = budget.saturating_sub(policy.trigger.injection_reserve);
        let cuts = layout(log, &log.units(), policy, prepared.meter.counted(budget), None);
        let region = |name, fill, range: std::ops::Range<usize>, beside| LayoutRegion {
            name,
            fill,
            messages: range.len(),
            tokens: beside + log.tokens_in(range),
        };
        let regions = [
            region("head", BarFill::Verbatim, 0..cuts.head_end, log.envelope_tokens()),
            region("middle", BarFill::Folded, cuts.middle(), 0),
            region("tail", BarFill::Verbatim, cuts.cover_end..log.len(), 0),
        ];
        let policies = if others.is_empty() { std::slice::from_ref(policy) } else { others };
        let forecasts = forecasts(&prepared, policies);
        let policy = policy.name.clone();
        Self { survey, policy, regions, set_by: floor(cuts.floor), forecasts, prepared, notes }
    }

    /// Adds all facts to a page for people.
    pub fn show(&self, page: &mut LabelledPage<'_>, name: &str) {
        let log = &self.prepared.log;
        let turns = log.events().last().map_or(0, |last| last.turn);
        let title = format!("{name} ({})", described(&self.prepared));
        page.title(OutputColor::Bold, &title);
        let tokens = log.tokens();
        let spent = format!(
            "{} in {}, {}; counted with {}",
            number(tokens),
            plural(log.len() as u64, "message"),
            plural(u64::from(turns), "turn"),
            counted(&self.prepared)
        );
        page.field("tokens", &spent);
        page.calibrated(&self.prepared, &[tokens]);
        let beside = self.beside();
        if beside > 0 {
            let text = format!(
                "about {} more in each request, as the provider counted: what the client keeps to \
                 itself (system prompt, tools)",
                number(beside)
            );
            page.field("beside", &text);
        }
        page.field("window", &format!("{}; {} full", window(&self.prepared), self.full()));
        self.picture(page);
        self.classes(page);
        self.repeated(page);
        self.presets(page);
    }

    /// The share of the window that the conversation takes, in the provider's tokens.
    pub fn full(&self) -> String {
        let real = self.prepared.meter.calibrated(self.prepared.log.tokens()) + self.beside();
        percent(real, self.prepared.window)
    }

    /// The tokens of a request that are not in the log, such as the system prompt. They are an estimate, so they are
    /// rounded to hundreds.
    fn beside(&self) -> u64 {
        const ROUND: u64 = 100;
        let beside = self.prepared.meter.beside(&self.prepared.log).unwrap_or_default();
        (beside + ROUND / 2) / ROUND * ROUND
    }

    /// Whether this policy would fold the conversation without being asked.
    pub fn is_due(&self, policy: &Policy) -> bool {
        let budget = Budget::new(self.prepared.window);
        let check = PlanRequest { cause: FoldCause::Check, ..self.prepared.plan(policy, &budget) };
        matches!(plan(&check), Ok(PlanOutcome::Folded(_)))
    }

    fn picture(&self, page: &mut LabelledPage<'_>) {
        let style = page.style;
        let labels = self.regions.iter().map(|region| {
            let messages = number(region.messages as u64);
            format!("{:>9} tokens {:>6} messages", number(region.tokens), messages)
        });
        let labels: Vec<String> = labels.collect();
        let room = labels.iter().map(String::len).max().unwrap_or(0);
        let columns = style.width.saturating_sub(room + 11).max(8);
        let most = self.regions.iter().map(|region| region.tokens).max().unwrap_or(0);
        page.section(&format!("Layout of `{}`", self.policy));
        for (region, label) in self.regions.iter().zip(&labels) {
            let (bar, cells) = bar(style, &[(region.fill, region.tokens)], most, columns);
            let space = " ".repeat(columns.saturating_sub(cells));
            let name = style.paint(OutputColor::Dim, &format!("{:7}", region.name));
            page.text += &format!("  {name} {bar}{space} {label}\n");
        }
        let fills =
            self.regions.iter().filter(|region| region.tokens > 0).map(|region| region.fill);
        page.text +=
            &format!("          {}; the tail was set by {}\n", legend(style, fills), self.set_by);
    }

    fn classes(&self, page: &mut LabelledPage<'_>) {
        page.section("Tokens by class");
        let whole = self.prepared.log.tokens();
        let mut table = TextTable::new(["", "tokens", "share", "parts", ""]).right([1, 2, 3]);
        let room = page.style.width.saturating_sub(52).max(8);
        for (class, count) in &self.survey.classes {
            table.row(row(class.name().to_owned(), *count, whole, room));
            if *class == PieceClass::Results {
                let tools = &self.survey.tools;
                for (tool, count) in tools.iter().take(SHOWN_TOOLS) {
                    table.row(row(format!("· {}", tool_name(tool)), *count, whole, room));
                }
                let rest = tools.iter().skip(SHOWN_TOOLS);
                let (mut others, mut names) = (SurveyCount::default(), 0);
                for (_, count) in rest {
                    names += 1;
                    others.items += count.items;
                    others.tokens += count.tokens;
                }
                if names > 0 {
                    table.row(row(format!("· {names} more tools"), others, whole, room));
                }
            }
        }
        page.text += &table.render(page.style, 2);
    }

    fn repeated(&self, page: &mut LabelledPage<'_>) {
        page.section("Repetition");
        let whole = self.prepared.log.tokens();
        let line = |count: SurveyCount, noun: &str| match count.items {
            0 => "none".to_owned(),
            items => format!(
                "{} {noun}; pointing there frees {} tokens ({})",
                number(items),
                number(count.tokens),
                percent(count.tokens, whole)
            ),
        };
        page.field(
            "duplicates",
            &line(self.survey.duplicates, "results that a later call repeats"),
        );
        page.field(
            "superseded",
            &line(self.survey.superseded, "reads that a later read or write made stale"),
        );
    }

    fn presets(&self, page: &mut LabelledPage<'_>) {
        let title = format!("What `compact` would do at {} tokens", number(self.prepared.window));
        page.section(&title);
        let table = TextTable::new(["preset", "fires at", "tokens", "messages", "what"]);
        let mut table = table.right([1, 2, 3]).color(0, OutputColor::Bold);
        for FoldForecast { name, threshold, outcome } in &self.forecasts {
            let (tokens, messages, text) = match outcome {
                Ok(PlanOutcome::Folded(fold)) => {
                    let text = format!(
                        "{} folded, {} edited; tail by {}",
                        number(u64::from(fold.evicted)),
                        number(u64::from(fold.accounts.edited)),
                        floor(fold.layout.floor)
                    );
                    (number(fold.tokens_after), number(u64::from(fold.messages_after)), text)
                }
                Ok(PlanOutcome::Nothing(reason)) => {
                    ("–".into(), "–".into(), format!("nothing: {}", grouped(&reason.to_string())))
                }
                Err(PlanError::Floor(floor)) => {
                    let text =
                        format!("cannot: at least {} tokens are needed", number(floor.needed));
                    ("–".into(), "–".into(), text)
                }
                Err(error) => {
                    ("–".into(), "–".into(), format!("cannot: {}", grouped(&error.to_string())))
                }
            };
            let fires = if *threshold > 0 { number(*threshold) } else { "–".to_owned() };
            table.row([name.clone(), fires, tokens, messages, text]);
        }
        page.text += &table.render(page.style, 2);
    }

    /// All facts as JSON. `at` is the number of the conversation in its file.
    pub fn to_json(&self, at: usize) -> Value {
        let prepared = &self.prepared;
        let log = &prepared.log;
        let count = |count: &SurveyCount| json!({ "count": count.items, "tokens": count.tokens });
        let with_name = |name: &str, sum: &SurveyCount| json!({ "name": name, "count": sum.items, "tokens": sum.tokens });
        let regions = self.regions.iter().map(|region| {
            json!({ "name": region.name, "messages": region.messages, "tokens": region.tokens })
        });
        let classes =
            self.survey.classes.iter().map(|(class, count)| with_name(class.name(), count));
        let tools = self.survey.tools.iter().map(|(tool, count)| with_name(tool, count));
        json!({
            "conversation": at,
            "id": prepared.source.id,
            "format": prepared.source.format.name(),
            "dialect": prepared.kind.name(),
            "profile": log.profile().name,
            "model": prepared.model,
            "messages": log.len(),
            "turns": log.events().last().map_or(0, |last| last.turn),
            "tokens": log.tokens(),
            "counter": log.counter().name(),
            "meter": prepared.meter,
            "window": prepared.window,
            "layout": { "policy": self.policy, "tail_set_by": self.set_by, "regions": regions.collect::<Vec<_>>() },
            "classes": classes.collect::<Vec<_>>(),
            "tools": tools.collect::<Vec<_>>(),
            "duplicates": count(&self.survey.duplicates),
            "superseded": count(&self.survey.superseded),
            "presets": self.forecasts.iter().map(FoldForecast::to_json).collect::<Vec<_>>(),
            "problems": self.notes,
        })
    }
}

impl FoldForecast {
    /// The tokens after the fold, for a narrow cell: `–` where nothing folds, `floor` where nothing can be planned.
    pub fn after(&self) -> String {
        match &self.outcome {
            Ok(PlanOutcome::Folded(fold)) => number(fold.tokens_after),
            Ok(PlanOutcome::Nothing(_)) => "–".to_owned(),
            Err(_) => "floor".to_owned(),
        }
    }

    fn to_json(&self) -> Value {
        let mut value = json!({ "name": self.name, "threshold": self.threshold });
        match &self.outcome {
            Ok(PlanOutcome::Folded(fold)) => {
                value["tokens"] = json!(fold.tokens_after);
                value["messages"] = json!(fold.messages_after);
                value["evicted"] = json!(fold.evicted);
                value["floor"] = json!(fold.layout.floor);
            }
            Ok(PlanOutcome::Nothing(reason)) => value["reason"] = json!(reason.to_string()),
            Err(error) => value["error"] = json!(error.to_string()),
        }
        value
    }
}

/// The folds that these policies would make, in their order.
fn forecasts(prepared: &PreparedConversation, policies: &[Policy]) -> Vec<FoldForecast> {
    let log = &prepared.log;
    let budget = Budget::new(prepared.window);
    let usable = |policy: &Policy| budget.tokens().saturating_sub(policy.trigger.injection_reserve);
    let units = log.units();
    // Those that fold less of the log come first: the next ones gather on from there.
    let mut order: Vec<usize> = (0..policies.len()).collect();
    order.sort_by_cached_key(|at| {
        let policy = &policies[*at];
        let cuts = layout(log, &units, policy, usable(policy), None);
        (cuts.head_end, cuts.cover_end)
    });
    let mut numbered: Vec<(usize, FoldForecast)> = Vec::with_capacity(policies.len());
    let (mut memo, mut tools) = (GatherMemo::default(), None);
    for at in order {
        let policy = &policies[at];
        // Facts are read with the tools of a policy.
        if tools.replace(&policy.tools).is_some_and(|before| before != &policy.tools) {
            memo = GatherMemo::default();
        }
        let request = PlanRequest { cause: FoldCause::Manual, ..prepared.plan(policy, &budget) };
        let outcome = plan_sharing(&request, &mut memo);
        let threshold = prepared.meter.most(policy.trigger.line(usable(policy)).tokens);
        numbered.push((at, FoldForecast { name: policy.name.clone(), threshold, outcome }));
    }
    numbered.sort_by_key(|(at, _)| *at);
    numbered.into_iter().map(|(_, forecast)| forecast).collect()
}

fn row(name: String, count: SurveyCount, whole: u64, room: usize) -> [String; 5] {
    let cells = usize::try_from(count.tokens * room as u64 / whole.max(1)).unwrap_or(room);
    let bar = if cells == 0 && count.tokens > 0 { "▏".to_owned() } else { "▇".repeat(cells) };
    [name, number(count.tokens), percent(count.tokens, whole), number(count.items), bar]
}

fn tool_name(tool: &str) -> String {
    const LONGEST: usize = 24;
    let clean: String = tool.chars().filter(|c| !c.is_control()).collect();
    match clean.chars().count() {
        0 => "(tool not named)".to_owned(),
        n if n > LONGEST => clean.chars().take(LONGEST - 1).collect::<String>() + "…",
        _ => clean,
    }
}

/// The share of `part` in `whole` in percent, with one decimal below ten percent.
fn percent(part: u64, whole: u64) -> String {
    let mille = part.saturating_mul(1_000) / whole.max(1);
    if mille == 0 && part > 0 {
        "<0.1 %".to_owned()
    } else if mille < 100 && mille > 0 {
        format!("{}.{} %", mille / 10, mille % 10)
    } else {
        format!("{} %", number(mille / 10))
    }
}
