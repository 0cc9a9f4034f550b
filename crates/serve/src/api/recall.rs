//! Routes for recall: folded messages are searched, listed and read.

use std::future::Future;

use midfold::store::SearchMode;
use midfold::store::recall::{
    self, ExpandTarget, FoldDescription, GoneNames, GrepQuery, HITS, HitPage, MAX_HITS,
    MAX_NAME_CHARS, MAX_PAGE_CHARS, MAX_ROWS, NAME_CHARS, OriginalPage, OutlinePage, PAGE_CHARS,
    ROWS, RecallError, WantedOutcome,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ask::{ApiRequest, text, within};
use super::describe::{ApiRoutes, Operation};
use super::problem::ApiProblem;
use super::sessions::activity;

pub(super) fn routes(api: &mut ApiRoutes) {
    api.on(
        Operation::get(
            "/v1/sessions/{id}/recall/grep",
            "recallGrep",
            "Look for a text in all messages",
        ),
        grep,
    );
    api.on(
        Operation::get(
            "/v1/sessions/{id}/recall/outline",
            "recallOutline",
            "List messages, one line each",
        ),
        outline,
    );
    api.on(
        Operation::get("/v1/sessions/{id}/recall/expand", "recallExpand", "Read messages in full"),
        expand,
    );
    api.on(
        Operation::get(
            "/v1/sessions/{id}/recall/names",
            "recallNames",
            "List names that left the context",
        ),
        names,
    );
    api.on(
        Operation::get(
            "/v1/sessions/{id}/recall/describe",
            "recallDescribe",
            "Say what a fold covers",
        ),
        describe,
    );
}

/// The result of a recall in a session that the caller may see.
async fn recalled<Q, T>(
    request: &ApiRequest<Q>,
    work: impl Future<Output = Result<T, RecallError>>,
) -> Result<T, ApiProblem> {
    activity(&request.desk, &request.caller, request.id()).await?;
    match work.await {
        Ok(outcome) => Ok(outcome),
        Err(error) => Err(ApiProblem::recall(&*request.desk.store, error, request.id()).await),
    }
}

/// How the query is compared with messages.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum GrepMode {
    /// By words, ranked.
    #[default]
    Text,
    /// As a text that is part of the message, in upper and lower case as given.
    Literal,
    /// As a regular expression.
    Regex,
}

/// A search in the messages of a session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GrepBody {
    /// The text to look for. It may be left out if a filter is set.
    #[serde(default)]
    query: String,
    /// How the text is compared with messages.
    #[serde(default)]
    mode: GrepMode,
    /// Only messages of this role; `tool` for whatever brings results.
    role: Option<String>,
    /// Only calls of this tool and their results.
    tool: Option<String>,
    /// Only results that failed.
    #[serde(default, deserialize_with = "text::flag")]
    #[schemars(with = "Option<bool>")]
    errors: bool,
    /// Only messages that the active fold took out of the context or shortened.
    #[serde(default, deserialize_with = "text::flag")]
    #[schemars(with = "Option<bool>")]
    folded: bool,
    /// Only messages in this range: `12-80`.
    range: Option<String>,
    /// The number of lines to show around a match.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>")]
    context: Option<u64>,
    /// The most messages of the page.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>", range(min = 1))]
    limit: Option<u64>,
    /// The number of found messages to skip: those of earlier pages.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>")]
    skip: Option<u64>,
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A size that the request names, between 1 and the maximum. A larger size is not an error but means the maximum.
fn size(name: &str, number: Option<u64>, usual: usize, most: usize) -> Result<usize, ApiProblem> {
    let number = within(name, number, usual as u64, 1..=u64::MAX)?;
    Ok(usize::try_from(number).unwrap_or(usize::MAX).min(most))
}

async fn grep(request: ApiRequest<GrepBody>) -> Result<HitPage, ApiProblem> {
    let query = &request.query;
    let limit = size("limit", query.limit, HITS as usize, MAX_HITS as usize)?;
    recalled(&request, async {
        let range = query.range.as_deref().filter(|range| !range.is_empty());
        let grep = GrepQuery {
            query: query.query.clone(),
            mode: match query.mode {
                GrepMode::Text => SearchMode::Text,
                GrepMode::Literal => SearchMode::Literal,
                GrepMode::Regex => SearchMode::Regex,
            },
            role: query.role.clone().filter(|role| !role.is_empty()),
            tool: query.tool.clone().filter(|tool| !tool.is_empty()),
            outcome: query.errors.then_some(WantedOutcome::Failed),
            folded: query.folded,
            within: range.map(GrepQuery::range).transpose()?,
            context: query.context.map_or(0, |lines| usize::try_from(lines).unwrap_or(usize::MAX)),
            limit: small(limit as u64),
            skip: query.skip.map_or(0, small),
        };
        recall::grep(&*request.desk.store, request.id(), &grep).await
    })
    .await
}

/// A query for a page of the outline.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutlineQuery {
    /// The number of the first message.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>")]
    from: Option<u64>,
    /// The most messages of the page.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>", range(min = 1))]
    limit: Option<u64>,
    /// Only messages that the active fold took out of the context or shortened.
    #[serde(default, deserialize_with = "text::flag")]
    #[schemars(with = "Option<bool>")]
    folded: bool,
}

async fn outline(request: ApiRequest<OutlineQuery>) -> Result<OutlinePage, ApiProblem> {
    let OutlineQuery { from, limit, folded } = request.query;
    let limit = small(size("limit", limit, ROWS as usize, MAX_ROWS as usize)? as u64);
    let work =
        recall::outline(&*request.desk.store, request.id(), from.unwrap_or(0), limit, folded);
    recalled(&request, work).await
}

/// A query for original messages.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExpandQuery {
    /// The messages: `@12`, `12-20`, `12,15,20`, `active` for all that the active fold covers, or the id of a fold.
    #[schemars(length(min = 1))]
    what: String,
    /// Where the page begins: a message `15`, a character of it `15:4000`, or a line of it `15:L310`.
    from: Option<String>,
    /// The most characters of the page.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>", range(min = 1))]
    max_chars: Option<u64>,
}

async fn expand(request: ApiRequest<ExpandQuery>) -> Result<OriginalPage, ApiProblem> {
    let ExpandQuery { what, from, max_chars } = &request.query;
    let most = size("max_chars", *max_chars, PAGE_CHARS, MAX_PAGE_CHARS)?;
    recalled(&request, async {
        let target = ExpandTarget::parse(what)?;
        let from = from.as_deref().filter(|from| !from.is_empty());
        recall::expand(&*request.desk.store, request.id(), &target, from, most).await
    })
    .await
}

/// A query for names that left the context.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NamesQuery {
    /// The next piece of work, in words: names that share them come first.
    #[serde(default)]
    question: String,
    /// The most characters of the answer.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>", range(min = 1))]
    max_chars: Option<u64>,
}

async fn names(request: ApiRequest<NamesQuery>) -> Result<GoneNames, ApiProblem> {
    let NamesQuery { question, max_chars } = &request.query;
    let most = size("max_chars", *max_chars, NAME_CHARS, MAX_NAME_CHARS)?;
    recalled(&request, recall::names(&*request.desk.store, request.id(), question, most)).await
}

/// The fold that is described.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DescribeQuery {
    /// The id of the fold, or the start of it; the active fold without it.
    #[serde(default)]
    fold: String,
}

async fn describe(request: ApiRequest<DescribeQuery>) -> Result<FoldDescription, ApiProblem> {
    let work = recall::describe(&*request.desk.store, request.id(), &request.query.fold);
    recalled(&request, work).await
}
