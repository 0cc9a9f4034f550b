//! Routes that read a session: its fabric, its folds, its calls, and why a text is not seen any more.

use midfold::core::audit::{Audit, audit as audited};
use midfold::core::explain::Explanation;
use midfold::store::StoredError;
use midfold::view::{
    self, CallDetail, CallView, ContextDiff, FabricView, FoldBrief, FoldDetail, ForgottenText,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{ApiRequest, text, within};
use super::describe::{ApiRoutes, Operation};
use super::problem::ApiProblem;
use super::sessions::{open, or_problem};

/// The rows of a page if the request names no number.
const PAGE: u64 = 100;
/// The most rows of a page.
const MOST: u64 = 1_000;

pub(super) fn routes(api: &mut ApiRoutes) {
    api.on(
        Operation::get(
            "/v1/sessions/{id}/fabric",
            "fabric",
            "Say what each fold made of each message",
        ),
        fabric,
    );
    api.on(Operation::get("/v1/sessions/{id}/folds", "folds", "List the folds"), folds);
    api.on(Operation::get("/v1/sessions/{id}/folds/{number}", "fold", "Read a fold"), fold);
    api.on(
        Operation::get(
            "/v1/sessions/{id}/folds/{number}/diff",
            "diff",
            "Compare the context before a fold with the one after it",
        ),
        diff,
    );
    api.on(Operation::get("/v1/sessions/{id}/calls", "calls", "List the recorded requests"), calls);
    api.on(
        Operation::get("/v1/sessions/{id}/calls/{number}", "call", "Say what a request sent"),
        call,
    );
    api.on(
        Operation::get(
            "/v1/sessions/{id}/explain",
            "explain",
            "Say what the model sees of a text, and why",
        ),
        explain,
    );
    api.on(
        Operation::get("/v1/sessions/{id}/audit", "audit", "Check all records against the log"),
        audit,
    );
    api.on(
        Operation::get(
            "/v1/forgot",
            "forgot",
            "Say in which sessions a text was said, and what became of it",
        ),
        forgot,
    );
}

async fn fabric(request: ApiRequest) -> Result<FabricView, ApiProblem> {
    let mut stored = open(&request).await?;
    or_problem(&request.desk, FabricView::of(&mut stored)).await
}

/// The folds of a session.
#[derive(Serialize, JsonSchema)]
struct FoldList {
    /// The folds, the oldest first.
    folds: Vec<FoldBrief>,
}

async fn folds(request: ApiRequest) -> Result<FoldList, ApiProblem> {
    let mut stored = open(&request).await?;
    let all = or_problem(&request.desk, view::folds(&mut stored)).await?;
    Ok(FoldList { folds: all.into_iter().map(FoldBrief::without_fates).collect() })
}

async fn fold(request: ApiRequest) -> Result<FoldDetail, ApiProblem> {
    let number = request.number("number")?;
    let mut stored = open(&request).await?;
    or_problem(&request.desk, FoldDetail::of(&mut stored, number)).await
}

/// Which rows are read.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RowsQuery {
    /// The number of the first row; 0 without it.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>")]
    from: Option<u64>,
    /// The most rows of the page: 1 to 1,000.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>", range(min = 1, max = 1000))]
    limit: Option<u64>,
}

async fn diff(request: ApiRequest<RowsQuery>) -> Result<ContextDiff, ApiProblem> {
    let number = request.number("number")?;
    let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let from = small(request.query.from.unwrap_or(0));
    let limit = small(within("limit", request.query.limit, PAGE, 1..=MOST)?);
    let mut stored = open(&request).await?;
    or_problem(&request.desk, ContextDiff::of(&mut stored, number, from, limit)).await
}

/// The requests of a session.
#[derive(Serialize, JsonSchema)]
struct CallList {
    /// The requests, the oldest first.
    calls: Vec<CallView>,
}

async fn calls(request: ApiRequest) -> Result<CallList, ApiProblem> {
    let mut stored = open(&request).await?;
    Ok(CallList { calls: or_problem(&request.desk, view::calls(&mut stored)).await? })
}

async fn call(request: ApiRequest) -> Result<CallDetail, ApiProblem> {
    let number = request.number("number")?;
    let mut stored = open(&request).await?;
    or_problem(&request.desk, view::call(&mut stored, number)).await
}

/// A search for a text in one session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchQuery {
    /// The text: a word, a name, a sentence. `@12` means the message with this number.
    #[schemars(length(min = 1))]
    text: String,
    /// The number of a call: the search is in the context of that call. In the present context without it.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>")]
    call: Option<u64>,
}

fn given(text: &str) -> Result<(), ApiProblem> {
    if text.trim().is_empty() {
        return Err(ApiProblem::bad("`text` is empty").hint("name a file, a word, an identifier"));
    }
    Ok(())
}

async fn explain(request: ApiRequest<SearchQuery>) -> Result<Explanation, ApiProblem> {
    given(&request.query.text)?;
    let mut stored = open(&request).await?;
    or_problem(&request.desk, view::explained(&mut stored, &request.query.text, request.query.call))
        .await
}

async fn audit(request: ApiRequest) -> Result<Audit, ApiProblem> {
    let mut stored = open(&request).await?;
    let work = async {
        let calls = stored.calls().await?;
        let calls: Vec<_> = calls.into_iter().map(|(call, _)| call).collect();
        let folds = stored.folds().await?;
        let active = stored.row().active;
        Ok::<_, StoredError>(audited(stored.whole().await?.log(), &folds, active, &calls))
    };
    or_problem(&request.desk, work).await
}

/// A search for a text in all sessions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchAllQuery {
    /// The text: a word, a name, a sentence.
    #[schemars(length(min = 1))]
    text: String,
    /// The `next` of the answer before; the first page without it.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>")]
    after: Option<u64>,
}

async fn forgot(request: ApiRequest<SearchAllQuery>) -> Result<ForgottenText, ApiProblem> {
    let ApiRequest { desk, caller, query, .. } = request;
    given(&query.text)?;
    let owner = caller.owner;
    or_problem(
        &desk,
        ForgottenText::ask(&desk.store, &desk.overviews, owner, &query.text, query.after),
    )
    .await
}
