//! `midfold compact --cache-check`: compares three ways of folding by how much of a prompt the next turn repeats.

use midfold::{Budget, CacheCheck, Policy, PreparedConversation, cache_check};
use serde_json::json;

use crate::error::CommandError;
use crate::output::{Output, OutputColor};
use crate::page::LabelledPage;
use crate::words::number;

pub fn run(
    all: Vec<PreparedConversation>,
    policy: &Policy,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let style = output.stdout_style();
    let mut page = LabelledPage { style: &style, text: String::new() };
    let mut values = Vec::new();
    for prepared in &all {
        let budget = Budget::new(prepared.window);
        let checked = cache_check(&prepared.log, policy, &budget, prepared.meter);
        let checked = checked.map_err(|error| CommandError::failed(error.to_string()))?;
        match checked {
            Some(check) if !json => show(&mut page, &check),
            Some(_) => {}
            None => {
                page.title(OutputColor::Yellow, "nothing to compare: no turn before the last folds")
            }
        }
        values.push(checked);
    }
    match json {
        true => output.stdout(format!("{}\n", json!(values))),
        false => output.stdout(page.text),
    }
}

/// Adds the comparison of one conversation to a page: the tokens that the next turn's prompt repeats, under three ways
/// of folding.
pub fn show(page: &mut LabelledPage<'_>, check: &CacheCheck) {
    let part = |repeated: u64, prompt: u64| {
        let percent = repeated * 100 / prompt.max(1);
        format!("{} of {} tokens, {percent} %", number(repeated), number(prompt))
    };
    page.title(OutputColor::Green, "What the next turn repeats of this turn's prompt");
    for (name, repeated, prompt, how) in [
        ("marker", check.marker, check.marker_prompt, "a static marker"),
        (
            "regenerated",
            check.regenerated,
            check.regenerated_prompt,
            "a recap written anew each turn",
        ),
        ("midfold", check.frozen, check.prompt, "the fold stays, the turn is added"),
    ] {
        page.field(name, &format!("{}: {how}", part(repeated, prompt)));
    }
}
