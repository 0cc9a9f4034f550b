//! What is known of a server and of its providers without a conversation.

use std::time::Duration;

use midfold_serve::{OutgoingProxy, ProbeTrouble, UpstreamTable, probe};
use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{UpstreamScript, UpstreamSettings, WireDialect, task};

use crate::setting::Setting;

const LONG: Duration = Duration::from_secs(60);

async fn setting() -> Setting {
    let script = UpstreamScript::shell_loop(12);
    Setting::new(UpstreamSettings { limit: Some(8_000), script, ..UpstreamSettings::default() })
        .await
}

/// A history in a socket could not be folded; the client is told to use HTTP, and the provider is not asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_asks_for_a_socket_is_told_to_use_http() {
    let setting = setting().await;
    let headers = vec![
        ("connection".to_owned(), "upgrade".to_owned()),
        ("upgrade".to_owned(), "websocket".to_owned()),
    ];
    let agent = ClientAgent { headers, ..ClientAgent::new(WireDialect::Responses, &setting.url()) };
    assert_eq!(agent.post("/v1/responses", "").await.status, 426);
    assert!(setting.upstream.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn totals_are_the_figures_of_the_metrics() {
    let setting = setting().await;
    let agent =
        ClientAgent { task: task(12), ..ClientAgent::new(WireDialect::Messages, &setting.url()) };
    assert!(agent.run().await.answer().is_some());
    let totals = setting.proxy.totals();
    let figure = |name: &str| setting.figure(&format!("midfold_{name}_total"));
    assert!(totals.folds > 0 && totals.cache_read_tokens > 0);
    assert_eq!(totals.requests, figure("requests"));
    assert_eq!(totals.with_history, figure("requests") - figure("requests_passed"));
    assert_eq!((totals.folded, totals.folds), (figure("requests_folded"), figure("folds")));
    assert_eq!(totals.tokens_before, figure("tokens_before"));
    assert_eq!(totals.tokens_after, figure("tokens_after"));
    assert_eq!(totals.prompt_tokens, figure("prompt_tokens"));
    assert_eq!(totals.cache_read_tokens, figure("cache_read_tokens"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_and_tokens_are_counted_by_model_upstream_key_and_status() {
    let setting = setting().await;
    let agent =
        ClientAgent { task: task(12), ..ClientAgent::new(WireDialect::Messages, &setting.url()) };
    assert!(agent.run().await.answer().is_some());
    let other = ClientAgent::new(WireDialect::Messages, &setting.url());
    assert_eq!(other.post("/v1/messages", "{}").await.status, 400);
    let text = setting.proxy.metrics();
    let of = |name: &str, label: &str| -> u64 {
        let lines = text.lines().filter(|line| line.starts_with(name) && line.contains(label));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    };
    let version = format!("midfold_build_info{{version=\"{}\"}} 1\n", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&version), "{text}");
    let labels = "{model=\"scripted\",upstream=\"anthropic\",key=\"\",";
    assert!(text.contains(&format!("midfold_answers_total{labels}status=\"200\"}}")), "{text}");
    let answers = of("midfold_answers_total", "");
    assert_eq!(answers, u64::try_from(setting.upstream.requests().len()).unwrap());
    assert_eq!(of("midfold_answers_total", "status=\"400\""), 1, "{text}");
    for kind in ["prompt", "cache_read", "cache_write", "output"] {
        let total = setting.figure(&format!("midfold_{kind}_tokens_total"));
        assert_eq!(of("midfold_answer_tokens_total", &format!("kind=\"{kind}\"")), total, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_probe_says_where_the_way_to_a_provider_stops() {
    let setting = setting().await;
    let (mut upstreams, direct) = (UpstreamTable::default(), OutgoingProxy::default());
    upstreams.set(setting.upstream.url()).unwrap();
    let answered = probe(&upstreams, &direct, "anthropic", LONG).await.unwrap();
    // 2026-01-01: the clock of the machine that runs the test.
    assert!(answered.status < 500 && answered.date.unwrap() > 1_767_225_600_000, "{answered:?}");

    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    // It takes connections and says nothing.
    upstreams.set(&format!("openai=http://{address}")).unwrap();
    let limit = Duration::from_millis(20);
    assert_eq!(probe(&upstreams, &direct, "openai", limit).await, Err(ProbeTrouble::Slow(limit)));
    drop(free);
    let refused = probe(&upstreams, &direct, "openai", LONG).await;
    assert_eq!(refused, Err(ProbeTrouble::Connect(std::io::ErrorKind::ConnectionRefused)));
    // It speaks no TLS.
    let plain = setting.upstream.url().replace("http://", "https://");
    upstreams.set(&format!("openai={plain}")).unwrap();
    let refused = probe(&upstreams, &direct, "openai", LONG).await;
    assert!(matches!(refused, Err(ProbeTrouble::Answer(_))), "{refused:?}");
}

/// A provider that answers the first question and lets the others wait is reached.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_knows_no_windows_is_reached() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut upstreams = UpstreamTable::default();
    upstreams.set(&format!("openai=http://{}", listener.local_addr().unwrap())).unwrap();
    let server = tokio::spawn(async move {
        let mut open = Vec::new();
        let mut is_answered = false;
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = [0; 1024];
            // The probe first connects and asks nothing.
            if !is_answered && stream.read(&mut bytes).await.unwrap() > 0 {
                let answer =
                    b"HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
                stream.write_all(answer).await.unwrap();
                is_answered = true;
            }
            open.push(stream);
        }
    });
    let limit = Duration::from_secs(1);
    let answered = probe(&upstreams, &OutgoingProxy::default(), "openai", limit).await.unwrap();
    assert_eq!((answered.status, answered.windows), (401, Vec::new()));
    server.abort();
}
