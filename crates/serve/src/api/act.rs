//! Routes that change a session. With `preview`, each only says what it would do.

use std::collections::BTreeMap;

use midfold::core::budget::TierName;
use midfold::view::{CompactionView, NewRules, PinView, SessionDetail, UndoView};
use midfold::{Policy, tokens, view};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ask::{ApiRequest, text};
use super::describe::{ApiRoutes, Operation};
use super::problem::ApiProblem;
use super::sessions::{open, or_problem, policy as given_policy};

pub(super) fn routes(api: &mut ApiRoutes) {
    api.on(
        Operation::post(
            "/v1/sessions/{id}/compact",
            "compact",
            "Compact now, or say what that would do",
        ),
        compact,
    );
    api.on(
        Operation::post(
            "/v1/sessions/{id}/undo",
            "undo",
            "Take back a fold and those that build on it",
        ),
        undo,
    );
    let pin_path = "/v1/sessions/{id}/pins/{seq}";
    api.on(
        Operation::put(pin_path, "pin", "Keep a message out of every later fold, verbatim"),
        pin,
    );
    api.on(Operation::delete(pin_path, "unpin", "Remove the pin of a message"), unpin);
    let policy_path = "/v1/sessions/{id}/policy";
    api.on(Operation::get(policy_path, "policy", "Give the policy"), policy);
    api.on(
        Operation::put(policy_path, "setPolicy", "Change the policy, from the next fold on"),
        set_policy,
    );
    api.on(
        Operation::put(
            "/v1/sessions/{id}/model",
            "setModel",
            "Change the model, and with it the window",
        ),
        model,
    );
    api.on(
        Operation::get("/v1/sessions/{id}/budget", "budget", "Give the budget, with its tiers"),
        budget,
    );
}

/// A compaction that is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompactQuery {
    /// The content that the recap should keep before anything else.
    focus: Option<String>,
    /// Whether to return only what the compaction would do.
    #[serde(default)]
    preview: bool,
}

async fn compact(request: ApiRequest<(), CompactQuery>) -> Result<CompactionView, ApiProblem> {
    let mut stored = open(&request).await?;
    let CompactQuery { focus, preview } = &request.body;
    let focus = focus.as_deref().map(str::trim).filter(|focus| !focus.is_empty());
    or_problem(&request.desk, view::compact(&mut stored, focus, *preview, request.now())).await
}

/// The fold that is taken back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UndoQuery {
    /// The number of the fold; the active fold without it.
    #[schemars(range(min = 1))]
    fold: Option<u64>,
    /// Whether to return only what the undo would do.
    #[serde(default)]
    preview: bool,
}

async fn undo(request: ApiRequest<(), UndoQuery>) -> Result<UndoView, ApiProblem> {
    let mut stored = open(&request).await?;
    let UndoQuery { fold, preview } = request.body;
    or_problem(&request.desk, view::undo(&mut stored, fold, preview, request.now())).await
}

/// Whether an act is only previewed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PreviewQuery {
    /// Whether to return only what the act would do.
    #[serde(default, deserialize_with = "text::flag")]
    #[schemars(with = "Option<bool>")]
    preview: bool,
}

async fn pin(request: ApiRequest<PreviewQuery>) -> Result<PinView, ApiProblem> {
    pinned(request, true).await
}

async fn unpin(request: ApiRequest<PreviewQuery>) -> Result<PinView, ApiProblem> {
    pinned(request, false).await
}

async fn pinned(request: ApiRequest<PreviewQuery>, is_pinned: bool) -> Result<PinView, ApiProblem> {
    let seq = request.number("seq")?;
    let mut stored = open(&request).await?;
    or_problem(&request.desk, view::pin(&mut stored, seq, is_pinned, request.query.preview)).await
}

async fn policy(request: ApiRequest) -> Result<Policy, ApiProblem> {
    let mut stored = open(&request).await?;
    Ok(or_problem(&request.desk, stored.whole()).await?.policy().clone())
}

/// A new policy for the session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PolicyBody {
    /// The name of a preset.
    preset: Option<String>,
    /// The differences to a preset, in the shape of `docs/policy.schema.json`.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    policy: Option<Value>,
    /// Whether to return only what the change would do.
    #[serde(default)]
    preview: bool,
}

async fn set_policy(request: ApiRequest<(), PolicyBody>) -> Result<NewRules, ApiProblem> {
    let PolicyBody { preset, policy, preview } = &request.body;
    let rules = given_policy(preset.clone(), policy.as_ref())?.ok_or_else(|| {
        ApiProblem::bad("no policy is given")
            .hint("{\"preset\": \"default\"}; GET /v1/presets lists them")
    })?;
    let mut stored = open(&request).await?;
    or_problem(&request.desk, view::policy(&mut stored, &rules, *preview, request.now())).await
}

/// A new model for the session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ModelBody {
    /// The name of the model.
    #[schemars(length(min = 1))]
    name: String,
    /// The window in tokens. Without it, the window that is known for the model, else the present one.
    #[schemars(range(min = 1))]
    window: Option<u64>,
}

async fn model(request: ApiRequest<(), ModelBody>) -> Result<SessionDetail, ApiProblem> {
    let mut stored = open(&request).await?;
    let ModelBody { name, window } = &request.body;
    if name.is_empty() {
        return Err(ApiProblem::bad("`name` is empty").hint("{\"name\": \"gpt-5\"}"));
    }
    let changed = async {
        stored.update_model(name, window.or_else(|| tokens::window_of(name))).await?;
        SessionDetail::of(&request.desk.overviews, &mut stored, request.now()).await
    };
    or_problem(&request.desk, changed).await
}

/// The budget of a session.
#[derive(Serialize, JsonSchema)]
struct BudgetView {
    /// The model's window in tokens.
    window: u64,
    /// Tokens that are kept free for the reply.
    output_reserve: u64,
    /// Tokens that are kept free for texts that hooks add.
    injection_reserve: u64,
    /// The tokens that are left for a context.
    tokens: u64,
    /// For each class of content, the tokens that it takes now, and its cap.
    tiers: BTreeMap<String, TierCap>,
}

/// The tokens of a class of content.
#[derive(Serialize, JsonSchema)]
struct TierCap {
    /// The tokens that the class takes of the context now.
    tokens: u64,
    /// The tokens that the class may take; null if it has no cap.
    cap: Option<u64>,
}

async fn budget(request: ApiRequest) -> Result<BudgetView, ApiProblem> {
    let mut stored = open(&request).await?;
    let budget = stored.budget();
    let session = or_problem(&request.desk, stored.whole()).await?;
    let budget = session.gate().budget(&budget, session.policy());
    let caps: BTreeMap<TierName, u64> = budget.caps(budget.tokens()).into_iter().collect();
    let tier = |name: TierName| {
        let tier = TierCap { tokens: session.tier_tokens(name), cap: caps.get(&name).copied() };
        (name.to_string(), tier)
    };
    let names = [TierName::Results, TierName::Arguments, TierName::Dialogue];
    Ok(BudgetView {
        window: budget.window,
        output_reserve: budget.output_reserve,
        injection_reserve: budget.injection_reserve,
        tokens: budget.tokens(),
        tiers: names.into_iter().map(tier).collect(),
    })
}
