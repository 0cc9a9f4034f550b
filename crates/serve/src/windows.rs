//! Asks upstreams for the windows of their models, and remembers the answers for a while.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use http_body_util::{BodyExt, Limited};
use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use hyper::http::request::Parts;
use midfold::formats::server::{WindowQuestion, is_to_be_loaded, listed_models};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::keys::KEY_PARAMETER;
use crate::provider::Provider;
use crate::upstream::UpstreamClient;
use crate::upstreams::UpstreamTarget;

/// How long an upstream may take to answer.
const ANSWER: Duration = Duration::from_secs(3);
/// How long Ollama may take to load a model. The request would have to wait for that anyway.
const LOAD: Duration = Duration::from_secs(300);
/// After how many milliseconds an upstream is asked again: after a restart it may give a model another window.
const ASK_AGAIN_MS: u64 = 600_000;
/// After how many milliseconds an upstream is asked again that refused the question (401, 403): another client may be
/// allowed to ask. Also one that took too long, as the next request would wait for it again.
const ASK_REFUSED_AGAIN_MS: u64 = 60_000;
/// After how many milliseconds an upstream is asked again that failed: a server may still start, or load a model.
const ASK_FAILED_AGAIN_MS: u64 = 10_000;
/// The most bytes of an answer. A gateway's list of hundreds of models has about a megabyte.
const LONGEST_ANSWER: usize = 8 << 20;
/// The most models that are remembered; with more, all are forgotten and asked for again.
const MOST_REMEMBERED: usize = 4_096;
/// The headers of a client that are sent with the question: its credentials, and the version without which Anthropic
/// refuses every request.
const SENT_ALONG: [HeaderName; 5] = [
    HeaderName::from_static("anthropic-version"),
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    GEMINI_KEY,
];
/// The header for a key of Gemini.
const GEMINI_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The most models whose windows are listed.
const LISTED: usize = 3;

/// The names of an upstream and of a model.
type ModelAtPlace = (String, String);

/// The answer of an upstream about a window.
#[derive(Clone, Copy, Debug)]
struct ReportedWindow {
    /// The window in tokens; `None` if the upstream does not say.
    window: Option<u64>,
    /// How many milliseconds the answer holds.
    lasts: u64,
}

/// An answer that is asked for once. Requests that need it meanwhile wait for it.
type WindowProbe = Arc<OnceCell<ReportedWindow>>;

/// The windows that upstreams reported for their models.
#[derive(Default)]
pub(crate) struct ReportedWindows {
    windows: Mutex<HashMap<ModelAtPlace, (u64, WindowProbe)>>,
    /// Models with an unknown window for which that was already logged.
    unknown: Mutex<HashSet<ModelAtPlace>>,
}

impl ReportedWindows {
    /// The window of a model, as its upstream reports it. Simultaneous requests ask only once.
    pub async fn window_of(
        &self,
        upstream: &UpstreamClient,
        target: &UpstreamTarget,
        model: Option<&str>,
        request: &Parts,
        now: u64,
    ) -> Option<u64> {
        let model = model.filter(|model| !model.is_empty())?;
        let cell = self.cell((target.name.clone(), model.to_owned()), now);
        // If the client that asks leaves, the question is dropped, and the next request that waits asks it anew.
        cell.get_or_init(|| ask_all(upstream, target, model, request)).await.window
    }

    /// The answer about a model, which is asked for anew if it is too old.
    fn cell(&self, key: ModelAtPlace, now: u64) -> WindowProbe {
        let mut windows = lock(&self.windows);
        // Names of models come from clients, so the map needs a bound.
        if windows.len() >= MOST_REMEMBERED && !windows.contains_key(&key) {
            windows.clear();
        }
        let (at, cell) = windows.entry(key).or_insert_with(|| (now, Arc::default()));
        let lasts = cell.get().map_or(ASK_AGAIN_MS, |window| window.lasts);
        if now.saturating_sub(*at) > lasts {
            // A new cell, so that requests which wait for the old one still get its answer.
            (*at, *cell) = (now, Arc::default());
        }
        Arc::clone(cell)
    }

    /// Whether it was not reported before that this model's window is unknown.
    pub fn is_first_unknown(&self, place: &str, model: &str) -> bool {
        let mut unknown = lock(&self.unknown);
        if unknown.len() >= MOST_REMEMBERED {
            unknown.clear();
        }
        unknown.insert((place.to_owned(), model.to_owned()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The windows of the first models that an upstream lists, asked without a key. Nothing is loaded for it.
pub(crate) async fn listed_windows(
    upstream: &UpstreamClient,
    target: &UpstreamTarget,
) -> Vec<(String, u64)> {
    let answers = texts(replies(upstream, target, &question_headers()).await);
    let mut models: Vec<String> = Vec::new();
    for (_, answer) in &answers {
        let listed = listed_models(answer).into_iter().filter(|name| !models.contains(name));
        models.extend(listed.take(LISTED.saturating_sub(models.len())).collect::<Vec<_>>());
    }
    let window = |model: &String| {
        answers.iter().find_map(|(question, answer)| question.window(answer, model))
    };
    models.into_iter().filter_map(|model| window(&model).map(|window| (model, window))).collect()
}

/// Asks all questions at once. Of the answers, that about the loaded model comes first.
async fn ask_all(
    upstream: &UpstreamClient,
    target: &UpstreamTarget,
    model: &str,
    request: &Parts,
) -> ReportedWindow {
    let headers = with_credentials(request);
    let replies = replies(upstream, target, &headers).await;
    let lasts = replies.iter().map(|(.., reply)| reply.lasts()).min().unwrap_or(ASK_AGAIN_MS);
    let answers = texts(replies);
    // Ollama fixes a model's window when it loads it, so an unloaded model has none yet.
    let to_be_loaded = answers.iter().any(|(question, answer)| {
        *question == WindowQuestion::OllamaLoaded && is_to_be_loaded(answer, model)
    });
    let loaded = match to_be_loaded {
        true => loaded(upstream, target, model, &headers).await,
        false => None,
    };
    let reported = || answers.iter().find_map(|(question, answer)| question.window(answer, model));
    let window = loaded.or_else(reported);
    // Where another question brought the window, one without an answer is no reason to ask again sooner.
    let lasts = match window {
        // The model could not be loaded, so the window is not yet the one that it will have.
        _ if to_be_loaded && loaded.is_none() => lasts.min(ASK_REFUSED_AGAIN_MS),
        Some(_) => ASK_AGAIN_MS,
        None => lasts,
    };
    ReportedWindow { window, lasts }
}

/// The answers of an upstream to the questions about windows, the preferred ones first.
async fn replies(
    upstream: &UpstreamClient,
    target: &UpstreamTarget,
    headers: &HeaderMap,
) -> Vec<(WindowQuestion, ProbeReply)> {
    let mut tasks = JoinSet::new();
    // The providers themselves only have a list of models.
    let is_list =
        |question| matches!(question, WindowQuestion::Models | WindowQuestion::GeminiModels);
    let is_listed_only = target.is_usual && target.name != Provider::Ollama.name();
    let questions =
        WindowQuestion::ALL.into_iter().filter(|question| !is_listed_only || is_list(*question));
    for (rank, question) in questions.enumerate() {
        let (upstream, target) = (upstream.clone(), target.clone());
        let headers = headers.clone();
        tasks.spawn(async move {
            let answer = timeout(ANSWER, ask(&upstream, &target, question, headers)).await;
            (rank, question, answer.unwrap_or(ProbeReply::Late))
        });
    }
    let mut answers = tasks.join_all().await;
    // The tasks end in any order; the order of the questions decides which answer is preferred.
    answers.sort_by_key(|(rank, ..)| *rank);
    answers.into_iter().map(|(_, question, reply)| (question, reply)).collect()
}

/// The replies that have a text.
fn texts(replies: Vec<(WindowQuestion, ProbeReply)>) -> Vec<(WindowQuestion, Bytes)> {
    replies.into_iter().filter_map(|(question, reply)| Some((question, reply.text()?))).collect()
}

/// Lets Ollama load a model, as the request would, and asks for its window then.
async fn loaded(
    upstream: &UpstreamClient,
    target: &UpstreamTarget,
    model: &str,
    headers: &HeaderMap,
) -> Option<u64> {
    let address = target.at_root("/api/generate")?;
    let mut headers = headers.clone();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = serde_json::json!({ "model": model }).to_string();
    let loading = upstream.send(Method::POST, address, headers.clone(), Body::from(body));
    let load = async {
        let answer = loading.await.ok().filter(|answer| answer.status().is_success())?;
        Limited::new(answer.into_body(), LONGEST_ANSWER).collect().await.ok()
    };
    timeout(LOAD, load).await.ok()??;
    headers.remove(CONTENT_TYPE);
    let question = WindowQuestion::OllamaLoaded;
    let reply = timeout(ANSWER, ask(upstream, target, question, headers)).await.ok()?;
    question.window(&reply.text()?, model)
}

/// Asks one question.
async fn ask(
    upstream: &UpstreamClient,
    target: &UpstreamTarget,
    question: WindowQuestion,
    headers: HeaderMap,
) -> ProbeReply {
    let path = question.path();
    let address = if question.is_at_root() { target.at_root(path) } else { target.address(path) };
    let Some(address) = address else { return ProbeReply::Nothing };
    let answer = match upstream.send(Method::GET, address, headers, Body::empty()).await {
        Ok(answer) if answer.status().is_success() => answer,
        Ok(answer) => {
            return match answer.status().as_u16() {
                401 | 403 => ProbeReply::Refused,
                408 | 429 | 500.. => ProbeReply::Failed,
                _ => ProbeReply::Nothing,
            };
        }
        Err(_) => return ProbeReply::Failed,
    };
    let body = Limited::new(answer.into_body(), LONGEST_ANSWER).collect().await;
    body.map_or(ProbeReply::Failed, |body| ProbeReply::Text(body.to_bytes()))
}

/// The reply to a question.
enum ProbeReply {
    Text(Bytes),
    /// The client may not ask (401 or 403).
    Refused,
    /// No connection, or the server says that it cannot answer now.
    Failed,
    /// The answer took too long.
    Late,
    /// The upstream does not know the question.
    Nothing,
}

impl ProbeReply {
    fn text(self) -> Option<Bytes> {
        match self {
            Self::Text(text) => Some(text),
            Self::Refused | Self::Failed | Self::Late | Self::Nothing => None,
        }
    }

    /// After how many milliseconds the question is worth asking again.
    fn lasts(&self) -> u64 {
        match self {
            Self::Text(_) | Self::Nothing => ASK_AGAIN_MS,
            Self::Refused | Self::Late => ASK_REFUSED_AGAIN_MS,
            Self::Failed => ASK_FAILED_AGAIN_MS,
        }
    }
}

/// The headers of a question without a client.
fn question_headers() -> HeaderMap {
    let agent = HeaderValue::from_static(concat!("midfold/", env!("CARGO_PKG_VERSION")));
    let accepted = HeaderValue::from_static("application/json");
    HeaderMap::from_iter([(ACCEPT, accepted), (USER_AGENT, agent)])
}

/// The headers of a question with the credentials of the client's request, and no other header of it.
fn with_credentials(request: &Parts) -> HeaderMap {
    let mut out = question_headers();
    for name in SENT_ALONG {
        if let Some(value) = request.headers.get(&name) {
            out.insert(name, value.clone());
        }
    }
    // Clients of Gemini may have it in the address; the header says the same.
    let key = request.uri.query().into_iter().flat_map(|query| query.split('&'));
    let key = key.filter_map(|pair| pair.strip_prefix(KEY_PARAMETER)).next();
    if let Some(key) = key.and_then(|key| HeaderValue::from_str(key).ok()) {
        out.entry(GEMINI_KEY).or_insert(key);
    }
    out
}
