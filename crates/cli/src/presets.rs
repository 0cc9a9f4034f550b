//! `midfold print presets`: lists the presets, or prints one.

use midfold::core::policy::PolicyError;
use midfold::{Door, Policy};
use midfold_args::PresetsArgs;

use crate::error::CommandError;
use crate::output::{Output, OutputColor};
use crate::table::TextTable;

pub fn run(args: &PresetsArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    match &args.name {
        Some(name) => one(name, json, output),
        None => all(json, output),
    }
}

fn one(name: &str, json: bool, output: &Output) -> Result<(), CommandError> {
    if !json && let Ok(source) = Policy::preset_source(name) {
        return output.stdout(source);
    }
    let policy = midfold::by_name(name, Door::Command)?;
    output.stdout(pretty(&policy)?)
}

fn all(json: bool, output: &Output) -> Result<(), CommandError> {
    let presets: Result<Vec<Policy>, PolicyError> =
        Policy::preset_names().into_iter().map(Policy::preset).collect();
    let presets = presets.map_err(|error| CommandError::failed(error.to_string()))?;
    if json {
        let short = |policy: &Policy| {
            let Policy { name, summary, source, strategy, .. } = policy;
            serde_json::json!({
                "name": name, "summary": summary, "source": source, "strategy": strategy,
            })
        };
        return output.stdout(pretty(&presets.iter().map(short).collect::<Vec<_>>())?);
    }
    let style = output.stdout_style();
    let table = TextTable::new(["name", "summary", "source"]);
    let mut table = table.color(0, OutputColor::Bold).color(2, OutputColor::Dim);
    for Policy { name, summary, source, .. } in presets {
        table.row([name, summary, source]);
    }
    let more = "\nmidfold presets NAME prints one, as TOML with its comments\n";
    output.stdout(table.render(&style, 0) + &style.paint(OutputColor::Dim, more))
}

/// A value as indented JSON.
pub fn pretty(value: &impl serde::Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(|error| CommandError::failed(error.to_string()))
}
