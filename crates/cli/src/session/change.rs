//! `midfold session policy` and `model`: change the policy or the model of a live session.

use midfold::store::StoredError;
use midfold::view;
use midfold::{Policy, tokens};
use midfold_args::{ModelArgs, PolicyArgs, SessionPolicyArgs};
use serde_json::json;

use super::text::{json_line, short};
use crate::error::CommandError;
use crate::host::OpenStore;
use crate::output::{Output, OutputColor};
use crate::page::LabelledPage;
use crate::prepare;
use crate::runtime;
use crate::words::{number, plural};

/// The policy to change to. `None` where the policy is only to be shown.
fn wanted(args: &SessionPolicyArgs) -> Result<Option<Policy>, CommandError> {
    let PolicyArgs { folding, narrate } = &args.folding;
    if folding.preset.is_none() && folding.policy.is_none() {
        return match narrate {
            false => Ok(None),
            true => Err(CommandError::usage("--narrate needs a policy to change")
                .hint("name the policy: --preset default --narrate")),
        };
    }
    prepare::narrated(&args.folding).map(Some)
}

pub async fn policy(
    args: &SessionPolicyArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let policy = wanted(args)?;
    let mut stored = host.session(&args.id).await?;
    let Some(policy) = policy else {
        let policy = stored.whole().await?.policy().clone();
        return match json {
            true => output.stdout(crate::presets::pretty(&policy)?),
            false => output.stdout(policy.to_toml()),
        };
    };
    let change =
        view::policy(&mut stored, &policy, false, runtime::now()).await.map_err(refused)?;
    if json {
        return output.stdout(json_line(&change)?);
    }
    let (before, after) = (change.before, stored.status(runtime::now()).await?);
    let style = output.stdout_style();
    let mut page = LabelledPage { style: &style, text: String::new() };
    page.title(OutputColor::Green, &format!("Policy: {} → {}", before.policy, after.policy));
    page.field(
        "from on",
        &format!("the next fold, with {} so far", plural(after.events, "message")),
    );
    page.field("on record", &format!("its fingerprint is {}", short(after.policy_fingerprint)));
    page.field("next fold", &super::show::due(&after));
    output.stdout(page.text)
}

pub async fn model(
    args: &ModelArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    let before = stored.status(runtime::now()).await?;
    let known = tokens::window_of(&args.name);
    stored.update_model(&args.name, args.window.or(known)).await.map_err(refused)?;
    let after = stored.status(runtime::now()).await?;
    if json {
        let value = json!({
            "session": args.id,
            "before": { "model": before.model, "window": before.context_length },
            "model": after.model,
            "window": after.context_length,
        });
        return output.stdout(format!("{value}\n"));
    }
    let style = output.stdout_style();
    let mut page = LabelledPage { style: &style, text: String::new() };
    let named = |model: &str| if model.is_empty() { "none".to_owned() } else { model.to_owned() };
    page.title(OutputColor::Green, &format!("Model: {} → {}", named(&before.model), after.model));
    let why = match (args.window, known) {
        (Some(_), _) => "as you said",
        (None, Some(_)) => "the model's own",
        (None, None) => "as before: nothing is known of this model (--window)",
    };
    page.field("window", &format!("{} tokens, {why}", number(after.context_length)));
    page.field("next fold", &super::show::due(&after));
    output.stdout(page.text)
}

/// An error with a hint that nothing was changed, for a change that would leave no budget.
fn refused(error: StoredError) -> CommandError {
    match error {
        StoredError::Plan(error) => CommandError::usage(error.to_string())
            .hint("nothing was changed: give a larger --window, or a policy that reserves less"),
        error => error.into(),
    }
}
