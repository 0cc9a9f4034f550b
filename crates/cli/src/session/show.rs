//! `midfold session status` and `list`: show the state of one session, or all sessions.

use midfold::core::engine::SessionStatus;
use midfold::core::fill::FillSource;
use midfold::core::fold_standing;
use midfold::core::policy::{EngineName, Policy, RecapFallback};
use midfold::core::trigger::{FoldDue, HoldReason};
use midfold::store::{JobState, NewestQuery, StoredSession};
use midfold::view::{Overview, SessionDetail, counts_exactly};
use midfold_args::{ListArgs, StatusArgs as Args};
use midfold_top::age;

use crate::error::CommandError;
use crate::host::OpenStore;
use crate::output::{Output, OutputColor};
use crate::page::LabelledPage;
use crate::presets::pretty;
use crate::runtime;
use crate::table::TextTable;
use crate::words::{self, about, number, plural};

pub async fn status(
    args: &Args,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    let status = stored.status(runtime::now()).await?;
    if json {
        let detail = SessionDetail::of(&host.overviews(), &mut stored, runtime::now()).await?;
        return output.stdout(pretty(&detail)?);
    }
    let rules = stored.whole().await?.policy().clone();
    let jobs = host.store.jobs(Some(&args.id), u32::MAX).await?;
    let calls = stored.calls().await?.len() as u64;
    let folds = stored.folds().await?;
    let style = output.stdout_style();
    let mut page = LabelledPage { style: &style, text: String::new() };
    page.title(OutputColor::Bold, &args.id);
    let exact = counts_exactly(&stored);
    context(&mut page, &stored, &status, exact);
    page.field("policy", &policy(&status));
    page.field("next fold", &due(&status));
    let named = |id| folds.iter().position(|fold| fold.id == id).map_or(0, |at| at as u64 + 1);
    let folded = match status.active_fold {
        Some(id) => format!(
            "{}; read through {}",
            number(status.compaction_count),
            words::fold(named(id), id)
        ),
        None if status.compaction_count > 0 => {
            format!("{}, none of them active", number(status.compaction_count))
        }
        None => "none".to_owned(),
    };
    let aside = fold_standing::aside(&stored.standings(&folds).await?);
    let beside = if aside.is_empty() { aside } else { format!("; never in force: {aside}") };
    page.field("folds", &format!("{folded}{beside}"));
    let active = folds.iter().find(|fold| Some(fold.id) == status.active_fold);
    if let Some(recap) = active.and_then(|fold| fold.recap.as_ref()) {
        let tokens = about(recap.tokens, exact);
        page.field(
            "recap",
            &format!("{tokens} tokens; midfold recall describe {} prints it", args.id),
        );
    }
    if !status.pins.is_empty() {
        let pins: Vec<_> = status.pins.iter().map(ToString::to_string).collect();
        page.field("pinned", &pins.join(", "));
    }
    let last = match status.last_prompt_tokens {
        0 => "no figures of the provider yet".to_owned(),
        prompt => format!(
            "{} tokens in the last prompt, {} in the reply, as the provider counted",
            number(prompt),
            number(status.last_completion_tokens)
        ),
    };
    page.field("calls", &format!("{} recorded; {last}", number(calls)));
    narration(
        &mut page,
        &args.id,
        &rules,
        &status,
        &jobs.iter().map(|job| job.state).collect::<Vec<_>>(),
    );
    origin(&mut page, &stored);
    output.stdout(page.text)
}

fn context(
    page: &mut LabelledPage<'_>,
    stored: &StoredSession,
    status: &SessionStatus,
    exact: bool,
) {
    let log = format!(
        "{} in {}, {} tokens",
        plural(status.events, "message"),
        plural(u64::from(stored.row().turn), "turn"),
        about(status.log_tokens, exact)
    );
    page.field("log", &log);
    let text = format!(
        "{}, {}: {} % of the window",
        plural(status.messages, "message"),
        match status.context_source {
            FillSource::Estimated => format!(
                "{} tokens",
                about(status.context_tokens, exact && status.meter.samples == 0)
            ),
            counted => counted.said_of(&number(status.context_tokens)),
        },
        status.context_percent
    );
    page.field("context", &text);
    let reserve = status.context_length.saturating_sub(status.budget_tokens);
    let reserved =
        if reserve > 0 { format!(", {} of them reserved", number(reserve)) } else { String::new() };
    page.field("window", &format!("{} tokens{reserved}", number(status.context_length)));
}

fn policy(status: &SessionStatus) -> String {
    match status.policy_since {
        Some(events) => {
            let name = &status.policy;
            format!("{name}, changed after {}", plural(u64::from(events), "message"))
        }
        None => status.policy.clone(),
    }
}

/// When the session folds next. Where folding is held back, also how to fold all the same.
pub fn due(status: &SessionStatus) -> String {
    let text = midfold::view::due(status);
    match status.due {
        FoldDue::Held(HoldReason::Breaker | HoldReason::NothingToGain) => {
            format!("{text}; `midfold session compact` folds all the same")
        }
        _ => text,
    }
}

fn narration(
    page: &mut LabelledPage<'_>,
    id: &str,
    rules: &Policy,
    status: &SessionStatus,
    jobs: &[JobState],
) {
    if !rules.narration.on && jobs.is_empty() {
        let named = match Policy::preset(&rules.name) {
            Ok(_) => format!("--preset {}", rules.name),
            Err(_) => "--policy FILE".to_owned(),
        };
        let remedy = format!("`session policy {id} {named} --narrate` has a model write");
        let text = match (&rules.engine, rules.recap.fallback) {
            (EngineName::Passthrough, _) => "off: nothing is folded".to_owned(),
            (_, RecapFallback::Computed) => {
                format!("off: recaps are computed ({remedy} them)")
            }
            (_, RecapFallback::Marker) => {
                format!("off: a marker is left ({remedy} recaps)")
            }
            (_, RecapFallback::Static) => {
                format!("off: a fixed sentence is left ({remedy} recaps)")
            }
        };
        return page.field("narration", &text);
    }
    let count = |state| jobs.iter().filter(|job| **job == state).count() as u64;
    let parts = [
        (count(JobState::Ready), "waiting"),
        (count(JobState::Leased), "being written"),
        (count(JobState::Done), "done"),
        (count(JobState::Dead), "given up"),
    ];
    let there: Vec<_> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| format!("{} {noun}", number(*count)))
        .collect();
    let mut text = if there.is_empty() {
        "no jobs yet".to_owned()
    } else {
        format!("jobs: {}", there.join(", "))
    };
    if status.narration_ready {
        text += "; one is ready for the next fold";
    }
    if status.cooldown_seconds > 0 {
        text += &format!("; no model is asked for {} s", number(status.cooldown_seconds));
    }
    page.field("narration", &text);
}

fn origin(page: &mut LabelledPage<'_>, stored: &StoredSession) {
    let new = &stored.row().new;
    let meta = stored.meta();
    page.field(
        "format",
        &format!("{}, rules of {}, counted with {}", new.dialect, new.profile, new.counter),
    );
    let mut text = words::time(new.created);
    if let Some((parent, at)) = &meta.parent {
        text += &format!(", forked from {parent} at {}", plural(*at, "message"));
    }
    if let Some(source) = &meta.source {
        text += &format!(", from {source}");
    }
    if let Some(owner) = &meta.owner {
        text += &format!(", of {owner}");
    }
    page.field("made", &text);
}

pub async fn list(
    args: &ListArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let most = args.limit.max(1);
    let limit = u32::try_from(most).unwrap_or(u32::MAX).saturating_add(1);
    let mut all = host.overviews().newest(&NewestQuery { limit, ..NewestQuery::default() }).await?;
    let are_more = all.len() > most;
    all.truncate(most);
    if json {
        let all: Vec<&Overview> = all.iter().map(|overview| &**overview).collect();
        return output.stdout(pretty(&all)?);
    }
    if all.is_empty() {
        return output.stdout(format!("no sessions in {}\n", host.store.place()));
    }
    let style = output.stdout_style();
    let table = TextTable::new(["session", "changed", "messages", "full", "folds", "title"]);
    let table = table.right([2, 3, 4]).color(0, OutputColor::Bold).color(1, OutputColor::Dim);
    let mut table = table.cut(5);
    for session in &all {
        table.row([
            session.id.clone(),
            age(session.changed, runtime::now()),
            number(session.events),
            (session.fill * 100)
                .checked_div(session.window)
                .map_or("–".to_owned(), |percent| format!("{percent} %")),
            number(session.folds),
            session.title.clone().or_else(|| session.source.clone()).unwrap_or_default(),
        ]);
    }
    let mut text = table.render(&style, 0);
    if are_more {
        text += &style.paint(OutputColor::Dim, "and more before them (--limit)\n");
    }
    output.stdout(text)
}
