//! How much a model holds: the server that it is asked of is asked, once in a while.

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
use midfold::formats::server::{WindowQuestion, is_to_be_loaded};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::provider::Provider;
use crate::upstream::UpstreamClient;
use crate::upstreams::UpstreamTarget;

/// How long a server may take to answer a question.
const ANSWER: Duration = Duration::from_secs(3);
/// How long an Ollama may take to load a model: the request would wait for that, too.
const LOAD: Duration = Duration::from_secs(300);
/// A server that was started anew may give a model another window. In milliseconds.
const AGAIN: u64 = 600_000;
/// Whoever asked may have had no right to, and others have it: what was refused is asked again sooner. In
/// milliseconds.
const SOONER: u64 = 60_000;
/// Bytes of an answer. The list of a gateway with hundreds of models is about a megabyte.
const LONGEST: usize = 8 << 20;
/// Models that are remembered; beyond that all are asked for anew.
const MOST: usize = 4_096;
/// By what a client shows who it is.
const CREDENTIALS: [HeaderName; 4] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-goog-api-key"),
];

/// Which model, at which place.
type ModelAtPlace = (String, String);

/// What a server said of a window.
#[derive(Clone, Copy, Debug, Default)]
struct ReportedWindow {
    /// In tokens; none where it does not say.
    window: Option<u64>,
    /// It does not answer whoever asked.
    is_refused: bool,
}

/// What a server says, while it is asked and afterwards.
type WindowProbe = Arc<OnceCell<ReportedWindow>>;

/// What servers said of their models' windows.
#[derive(Default)]
pub(crate) struct ReportedWindows {
    told: Mutex<HashMap<ModelAtPlace, (u64, WindowProbe)>>,
    /// Models of which nothing is known, that this was said of.
    unknown: Mutex<HashSet<ModelAtPlace>>,
}

impl ReportedWindows {
    /// The window of a model, as the server says it that the request goes to. Requests that come at the same time
    /// ask once.
    pub async fn of(
        &self,
        upstream: &UpstreamClient,
        target: &UpstreamTarget,
        model: Option<&str>,
        headers: &HeaderMap,
        now: u64,
    ) -> Option<u64> {
        let model = model.filter(|model| !model.is_empty())?;
        let cell = self.cell((target.name.clone(), model.to_owned()), now);
        cell.get_or_init(|| asked(upstream, target, model, headers)).await.window
    }

    fn cell(&self, key: ModelAtPlace, now: u64) -> WindowProbe {
        let mut told = lock(&self.told);
        if told.len() >= MOST && !told.contains_key(&key) {
            told.clear();
        }
        let (at, cell) = told.entry(key).or_insert_with(|| (now, Arc::default()));
        let lasts = if cell.get().is_some_and(|told| told.is_refused) { SOONER } else { AGAIN };
        if now.saturating_sub(*at) > lasts {
            (*at, *cell) = (now, Arc::default());
        }
        Arc::clone(cell)
    }

    /// Whether it was not said before that nothing is known of this model.
    pub fn is_news(&self, place: &str, model: &str) -> bool {
        let mut unknown = lock(&self.unknown);
        if unknown.len() >= MOST {
            unknown.clear();
        }
        unknown.insert((place.to_owned(), model.to_owned()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks all questions at once; of what is answered, what is loaded comes first.
async fn asked(
    upstream: &UpstreamClient,
    target: &UpstreamTarget,
    model: &str,
    headers: &HeaderMap,
) -> ReportedWindow {
    let headers = credentials(headers);
    let mut asked = JoinSet::new();
    // The providers have a list of models alone.
    let is_list = |it| matches!(it, WindowQuestion::Models | WindowQuestion::GeminiModels);
    let is_listed_only = target.is_usual && target.name != Provider::Ollama.name();
    let questions = WindowQuestion::ALL.into_iter().filter(|it| !is_listed_only || is_list(*it));
    for (rank, question) in questions.enumerate() {
        let (upstream, target, headers) = (upstream.clone(), target.clone(), headers.clone());
        asked.spawn(async move {
            let answer = timeout(ANSWER, ask(&upstream, &target, question, headers)).await;
            (rank, question, answer.unwrap_or(ProbeReply::Nothing))
        });
    }
    let mut answers = asked.join_all().await;
    answers.sort_by_key(|(rank, ..)| *rank);
    let is_refused = answers.iter().any(|(.., reply)| matches!(reply, ProbeReply::Refused));
    let answers: Vec<(WindowQuestion, Bytes)> = answers
        .into_iter()
        .filter_map(|(_, question, reply)| Some((question, reply.text()?)))
        .collect();
    let to_be_loaded = answers.iter().any(|(question, answer)| {
        *question == WindowQuestion::OllamaLoaded && is_to_be_loaded(answer, model)
    });
    let loaded = match to_be_loaded {
        true => loaded(upstream, target, model, &headers).await,
        false => None,
    };
    let said = || answers.iter().find_map(|(question, answer)| question.window(answer, model));
    let window = loaded.or_else(said);
    ReportedWindow { window, is_refused: is_refused && window.is_none() }
}

/// Has an Ollama load a model, as the request would, and asks how much it holds then.
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
    let load = async { loading.await.ok()?.into_body().collect().await.ok() };
    timeout(LOAD, load).await.ok()??;
    headers.remove(CONTENT_TYPE);
    let question = WindowQuestion::OllamaLoaded;
    let reply = timeout(ANSWER, ask(upstream, target, question, headers)).await.ok()?;
    question.window(&reply.text()?, model)
}

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
        Ok(answer) if matches!(answer.status().as_u16(), 401 | 403) => return ProbeReply::Refused,
        _ => return ProbeReply::Nothing,
    };
    let body = Limited::new(answer.into_body(), LONGEST).collect().await;
    body.map_or(ProbeReply::Nothing, |body| ProbeReply::Text(body.to_bytes()))
}

/// The reply to a question.
enum ProbeReply {
    Text(Bytes),
    /// Whoever asked has no right to.
    Refused,
    Nothing,
}

impl ProbeReply {
    fn text(self) -> Option<Bytes> {
        match self {
            Self::Text(text) => Some(text),
            Self::Refused | Self::Nothing => None,
        }
    }
}

/// What of a request's headers shows who asks, and nothing else of it.
fn credentials(headers: &HeaderMap) -> HeaderMap {
    let mut out = HeaderMap::new();
    for name in CREDENTIALS {
        if let Some(value) = headers.get(&name) {
            out.insert(name, value.clone());
        }
    }
    out.insert(ACCEPT, HeaderValue::from_static("application/json"));
    out.insert(
        USER_AGENT,
        HeaderValue::from_static(concat!("midfold/", env!("CARGO_PKG_VERSION"))),
    );
    out
}
