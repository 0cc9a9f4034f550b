//! Every figure against the truth: the scripted provider's own counts, and the bill of the same client without midfold.
//!
//! `cargo nextest run -p midfold-serve --no-capture truth::` prints the table of docs/RESULTS.md.

use std::sync::Arc;

use axum::body::Body;
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use midfold::core::spending::{PLAIN, PromptCost, READ, WRITE};
use midfold::store::{MemoryStore, Store};
use midfold_testkit::upstream::agent::{AgentExchange, AgentRun, ClientAgent, Habits};
use midfold_testkit::upstream::{
    LookUps, RequestOutcome, ScriptedUpstream, StatsEntry, StepLoop, UpstreamScript,
    UpstreamSettings, WireDialect, task,
};
use serde_json::Value;

use crate::setting::{Setting, rules};

const STEPS: u32 = 40;

/// A client in front of a provider.
#[derive(Clone, Copy, Debug)]
struct Case {
    name: &'static str,
    dialect: WireDialect,
    /// The provider has a cache only where a request has marks for it.
    explicit: bool,
    habits: Habits,
    window: u64,
    /// The bytes of the client's own system prompt.
    system: usize,
    look_ups: Option<LookUps>,
    /// Its second request does not begin with its first one. So the first is in the figures of the server alone.
    is_apart: bool,
    /// How far an estimate may be off, in percent.
    off: f64,
}

const PLAIN_CASE: Case = Case {
    name: "",
    dialect: WireDialect::Chat,
    explicit: false,
    habits: NO_HABITS,
    window: 12_000,
    system: 6_000,
    look_ups: None,
    is_apart: false,
    off: 2.0,
};

const NO_HABITS: Habits = Habits {
    ephemeral: false,
    plain_ids: false,
    bare_items: false,
    part_lists: false,
    unmarked: false,
    injected: false,
    reminders: false,
    keeps_thinking: false,
    toolless: false,
};

const CASES: [Case; 10] = [
    Case { name: "chat", ..PLAIN_CASE },
    Case { name: "responses", dialect: WireDialect::Responses, ..PLAIN_CASE },
    Case { name: "gemini", dialect: WireDialect::Gemini, ..PLAIN_CASE },
    Case { name: "messages", dialect: WireDialect::Messages, explicit: true, ..PLAIN_CASE },
    Case {
        name: "messages, no marks",
        dialect: WireDialect::Messages,
        explicit: true,
        habits: Habits { unmarked: true, ..NO_HABITS },
        ..PLAIN_CASE
    },
    Case {
        name: "messages, reminders",
        dialect: WireDialect::Messages,
        explicit: true,
        habits: Habits { injected: true, reminders: true, ..NO_HABITS },
        ..PLAIN_CASE
    },
    Case {
        name: "chat, last text changes",
        habits: Habits { ephemeral: true, ..NO_HABITS },
        is_apart: true,
        ..PLAIN_CASE
    },
    Case { name: "chat, look-ups", look_ups: Some(LookUps::Before(4)), ..PLAIN_CASE },
    Case {
        name: "messages, prompt far over window",
        dialect: WireDialect::Messages,
        explicit: true,
        system: 90_000,
        ..PLAIN_CASE
    },
    Case {
        name: "messages, prompt over window",
        dialect: WireDialect::Messages,
        explicit: true,
        system: 42_000,
        // Each request has a fold of its own, so each is estimated.
        off: 8.0,
        ..PLAIN_CASE
    },
];

impl Case {
    fn upstream(self) -> UpstreamSettings {
        let script = StepLoop { steps: STEPS, look_ups: self.look_ups, ..StepLoop::default() };
        UpstreamSettings {
            script: UpstreamScript::ShellLoop(script),
            explicit_cache: self.explicit,
            ..UpstreamSettings::default()
        }
    }

    fn agent(self, url: &str, stream: bool) -> ClientAgent {
        let rule = "Keep to the conventions of the repository, and say what was done. ";
        ClientAgent {
            stream,
            task: task(STEPS),
            habits: self.habits,
            system: rule.repeat(self.system.div_ceil(rule.len())),
            ..ClientAgent::new(self.dialect, url)
        }
    }
}

/// What a provider charges for the prompts of these requests.
fn bill(requests: &[StatsEntry]) -> f64 {
    let price = |it: &StatsEntry| {
        let plain = it.prompt_tokens - it.cached_tokens - it.written_tokens;
        plain as f64 * PLAIN + it.cached_tokens as f64 * READ + it.written_tokens as f64 * WRITE
    };
    requests.iter().map(price).sum()
}

/// What was true and what midfold said of it.
struct Truth {
    name: String,
    case: Case,
    /// The requests that the provider answered.
    answered: Vec<StatsEntry>,
    /// The requests of the same client without midfold.
    direct: Vec<StatsEntry>,
    run: AgentRun,
    listed: Value,
    detail: Value,
    dialog: Value,
    figures: Vec<(&'static str, u64)>,
    cost: PromptCost,
}

async fn ask(method: &str, url: &str) -> Value {
    let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
    let request = hyper::Request::builder().method(method).uri(url);
    let request = request.header("content-type", "application/json");
    let body = if method == "GET" { "" } else { r#"{"preview":true}"# };
    let answer = client.request(request.body(Body::from(body)).unwrap()).await.unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

fn answered(upstream: &ScriptedUpstream) -> Vec<StatsEntry> {
    let mut requests = upstream.stats().requests;
    requests.retain(|it| it.outcome == RequestOutcome::Answered);
    requests
}

fn sum(requests: &[StatsEntry], of: fn(&StatsEntry) -> u64) -> u64 {
    requests.iter().map(of).sum()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// The part of `whole`, in percent.
fn percent(part: f64, whole: f64) -> f64 {
    part / whole * 100.0
}

impl Truth {
    async fn of(case: Case, stream: bool) -> Self {
        let name = format!("{}{}", case.name, if stream { ", streamed" } else { "" });
        let alone = ScriptedUpstream::start(case.upstream()).await.unwrap();
        let direct = case.agent(alone.url(), stream).run().await;
        assert!(direct.answer().is_some(), "{name}: {:?}", direct.end);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let setting = Setting::with(case.upstream(), |config| {
            config.rules = rules().window(case.window).recall(case.look_ups.is_some());
            config.store = Some(store);
        })
        .await;
        let run = case.agent(&setting.url(), stream).run().await;
        assert!(run.answer().is_some(), "{name}: {:?}", run.end);
        // Conversations are written behind the requests.
        let listed = loop {
            let all = ask("GET", &format!("{}/v1/sessions", setting.url())).await;
            let is_written = setting.figure("midfold_unsaved_conversations") == 0;
            if is_written && all["sessions"][0].is_object() {
                let all = ask("GET", &format!("{}/v1/sessions", setting.url())).await;
                break all["sessions"][0].clone();
            }
            tokio::task::yield_now().await;
        };
        let one = format!("{}/v1/sessions/{}", setting.url(), listed["id"].as_str().unwrap());
        let names = [
            "midfold_prompt_tokens_total",
            "midfold_output_tokens_total",
            "midfold_cache_read_tokens_total",
            "midfold_cache_write_tokens_total",
        ];
        Self {
            answered: answered(&setting.upstream),
            direct: answered(&alone),
            run,
            listed,
            detail: ask("GET", &one).await,
            dialog: ask("POST", &format!("{one}/compact")).await,
            figures: names.map(|name| (name, setting.figure(name))).to_vec(),
            cost: setting.proxy.totals().cost.unwrap(),
            case,
            name,
        }
    }

    /// The tokens of the client's requests, as the client is shown them.
    fn before(&self) -> Vec<u64> {
        let sizes = self.run.exchanges.iter().map(|it| it.header("midfold-tokens-before"));
        sizes.map(|it| it.unwrap().parse().unwrap()).collect()
    }

    fn row(&self) -> String {
        let (detail, status) = (&self.detail, &self.detail["status"]);
        let last = self.answered.last().map_or(0, |it| it.prompt_tokens);
        let (bill, direct) = (bill(&self.answered), bill(&self.direct));
        let (sent, all) = (number(&detail["cost"]["sent"]), number(&detail["cost"]["everything"]));
        format!(
            "| {} | {last} | {} | {} | {} | {} | {} | {} | {bill:.0} | {sent:.0} | {direct:.0} | {all:.0} | {:.1} % | {:.1} % |",
            self.name,
            detail["fill"],
            status["context_tokens"],
            status["last_prompt_tokens"],
            self.dialog["before"]["tokens"],
            self.answered.len(),
            detail["usage"]["calls"],
            percent(direct - bill, direct),
            percent(all - sent, all),
        )
    }

    /// What is counted is what the provider counted.
    fn is_counted(&self) {
        let Self { name, answered, detail, listed, .. } = self;
        let of = |key: &str| detail["usage"][key].as_u64().unwrap();
        let usage = ["calls", "prompt", "output", "cache_read", "cache_write"].map(of);
        let sums = |requests: &[StatsEntry]| {
            let calls = requests.len() as u64;
            let tokens: [fn(&StatsEntry) -> u64; 4] = [
                |it| it.prompt_tokens,
                |it| it.output_tokens,
                |it| it.cached_tokens,
                |it| it.written_tokens,
            ];
            let [prompt, output, read, write] = tokens.map(|of| sum(requests, of));
            [calls, prompt, output, read, write]
        };
        let of_session = &answered[usize::from(self.case.is_apart)..];
        assert_eq!(usage, sums(of_session), "{name}");
        let figures: Vec<u64> = self.figures.iter().map(|(_, figure)| *figure).collect();
        assert_eq!(figures, sums(answered)[1..], "{name}: {:?}", self.figures);
        let last = answered.last().unwrap().prompt_tokens;
        let status = &detail["status"];
        let fills = [
            &listed["fill"],
            &detail["fill"],
            &status["context_tokens"],
            &status["last_prompt_tokens"],
        ];
        assert_eq!(fills.map(|it| it.as_u64().unwrap()), [last; 4], "{name}");
        // Where no fold is possible, the dialog says why.
        let dialog = self.dialog["before"]["tokens"].as_u64();
        assert!(dialog.map_or(self.dialog["code"].is_string(), |it| it == last), "{name}");
        for source in [&listed["fill_source"], &detail["fill_source"], &status["context_source"]] {
            assert_eq!(source["kind"], "counted", "{name}");
        }
        let costs =
            [(number(&detail["cost"]["sent"]), of_session), (self.cost.sent, &answered[..])];
        for (sent, requests) in costs {
            let bill = bill(requests);
            assert!((sent - bill).abs() < 0.5, "{name}: {sent} of {bill}");
        }
    }

    /// What is estimated is off by no more than the case allows.
    fn is_near(&self) {
        let name = &self.name;
        let of_session = &self.direct[usize::from(self.case.is_apart)..];
        let everything = number(&self.detail["cost"]["everything"]);
        for (all, requests) in [(everything, of_session), (self.cost.everything, &self.direct[..])]
        {
            let direct = bill(requests);
            assert!(
                percent((all - direct).abs(), direct) < self.case.off,
                "{name}: {all} of {direct}"
            );
        }
        let before = self.before();
        assert!(before.is_sorted(), "{name}: {before:?}");
        let is_unfolded = |it: &&AgentExchange| it.header("midfold-fold").is_none();
        for exchange in self.run.exchanges.iter().filter(is_unfolded) {
            let sizes = ["midfold-tokens-before", "midfold-tokens-after"];
            let [before, after] = sizes.map(|name| exchange.header(name));
            assert_eq!(before, after, "{name}: what passes has one size");
        }
        let last = self.direct.last().unwrap().prompt_tokens as f64;
        let shown = *before.last().unwrap() as f64;
        assert!(percent((shown - last).abs(), last) < self.case.off, "{name}: {shown} of {last}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_figure_holds_against_the_providers_own() {
    let mut all = Vec::new();
    for case in CASES {
        for stream in [false, true] {
            all.push(Truth::of(case, stream).await);
        }
    }
    println!(
        "| client | last prompt | `fill` | `context_tokens` | `last_prompt_tokens` | dialog | requests | `calls` | bill | `sent` | direct bill | `everything` | saved | said |"
    );
    println!("|---|{}", "---:|".repeat(13));
    all.iter().for_each(|truth| println!("{}", truth.row()));
    for truth in all {
        truth.is_counted();
        truth.is_near();
    }
}
