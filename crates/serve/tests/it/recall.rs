//! A model that looks up what was folded, through a tool that its client does not know.

use std::sync::Arc;

use bytes::Bytes;
use midfold::DialectKind;
use midfold::formats::request::{Request, without_marks};
use midfold::store::fsck::fsck;
use midfold::store::{MemoryStore, Store};
use midfold_testkit::upstream::agent::{AgentRun, AgentSession, ClientAgent, Habits, RunEnd};
use midfold_testkit::upstream::{
    FaultTime, LookUps, PlannedFault, StepLoop, UpstreamScript, UpstreamSettings, WireDialect, task,
};

use crate::setting::{Setting, rules};

const STEPS: u32 = 36;
const LIMIT: u64 = 16_000;
const TOOL: &str = "midfold_recall";

fn settings(look_ups: LookUps) -> UpstreamSettings {
    let script = StepLoop { steps: STEPS, look_ups: Some(look_ups), ..StepLoop::default() };
    UpstreamSettings {
        limit: Some(LIMIT),
        script: UpstreamScript::ShellLoop(script),
        ..UpstreamSettings::default()
    }
}

async fn with(settings: UpstreamSettings, recalls: bool) -> Setting {
    Setting::with(settings, |config| config.rules = rules().window(LIMIT).recall(recalls)).await
}

async fn setting(look_ups: LookUps, recalls: bool) -> Setting {
    with(settings(look_ups), recalls).await
}

/// Plays a loop, and says how often something was looked up.
async fn play(dialect: WireDialect, stream: bool, look_ups: LookUps) -> u64 {
    played(dialect, stream, look_ups, settings(look_ups)).await
}

/// As [`play`], in front of a server with these settings.
async fn played(
    dialect: WireDialect,
    stream: bool,
    look_ups: LookUps,
    settings: UpstreamSettings,
) -> u64 {
    let name = format!("{dialect:?} stream={stream} {look_ups:?}");
    let setting = with(settings, true).await;
    let agent =
        ClientAgent { stream, task: task(STEPS), ..ClientAgent::new(dialect, &setting.url()) };
    let run = agent.run().await;
    let stats = setting.upstream.stats();
    assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
    assert!(run.answer().is_some(), "{name}: {:?}", run.end);
    assert_eq!(run.steps, STEPS, "{name}");
    is_unseen(&run, &name);
    // What was looked up was there for the model, in the same answer or in the next one.
    assert_eq!(stats.facts_missing, 0, "{name}");
    // Each prompt goes on from the one before, but for folds: what the client does not know stays where it was.
    let folds = setting.figure("midfold_folds_total");
    assert!((1..=8).contains(&folds), "{name}: {folds} folds");
    if look_ups != LookUps::Endless {
        assert!(stats.rewrites <= folds, "{name}: {} rewrites, {folds} folds", stats.rewrites);
        assert_eq!(stats.respelled, 0, "{name}");
    }
    assert_eq!(setting.figure("midfold_conversations"), 1, "{name}");
    let recalls = setting.figure("midfold_recalls_total");
    setting.proxy.stop().await;
    println!("{name}: {folds} folds, {recalls} recalls");
    recalls
}

/// Nothing of the tool is in what the client sends and gets.
fn is_unseen(run: &AgentRun, name: &str) {
    for exchange in &run.exchanges {
        assert!(!exchange.sent.contains(TOOL), "{name}");
        assert!(!String::from_utf8_lossy(&exchange.body).contains(TOOL), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_folded_is_looked_up_before_a_step() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            let recalls = play(dialect, stream, LookUps::Before(4)).await;
            assert!(recalls >= 3, "{dialect:?} {stream}: {recalls}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_folded_is_looked_up_where_a_server_streams_nothing() {
    let look_ups = LookUps::Before(4);
    for dialect in WireDialect::ALL {
        let settings = UpstreamSettings { ignores_stream: true, ..settings(look_ups) };
        let recalls = played(dialect, true, look_ups, settings).await;
        assert!(recalls >= 3, "{dialect:?}: {recalls}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_folded_is_looked_up_beside_a_call_of_the_client() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            let recalls = play(dialect, stream, LookUps::Beside(4)).await;
            assert!(recalls >= 3, "{dialect:?} {stream}: {recalls}");
        }
    }
}

/// Claude Code asks so with every request: the answer has its report, and the model still gets the tool.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_has_its_thinking_kept_gets_its_report_and_what_was_folded() {
    for stream in [false, true] {
        let setting = setting(LookUps::Before(4), true).await;
        let habits = Habits { keeps_thinking: true, ..Habits::default() };
        let agent = ClientAgent::new(WireDialect::Messages, &setting.url());
        let agent = ClientAgent { stream, habits, task: task(STEPS), ..agent };
        let run = agent.run().await;
        assert!(run.answer().is_some(), "{stream}: {:?}", run.end);
        is_unseen(&run, "thinking kept");
        let stats = setting.upstream.stats();
        assert_eq!((&stats.refused[..], stats.facts_missing), (&[][..], 0), "{stream}");
        assert!(setting.figure("midfold_recalls_total") >= 3, "{stream}");
        for exchange in &run.exchanges {
            let answer = String::from_utf8_lossy(&exchange.body);
            assert_eq!(answer.matches("applied_edits").count(), 1, "{stream}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_recall_nothing_of_it_is_sent() {
    for dialect in WireDialect::ALL {
        let setting = setting(LookUps::Before(4), false).await;
        let agent = ClientAgent { task: task(STEPS), ..ClientAgent::new(dialect, &setting.url()) };
        let run = agent.run().await;
        assert!(run.answer().is_some(), "{dialect:?}: {:?}", run.end);
        assert!(setting.figure("midfold_folds_total") >= 1, "{dialect:?}");
        assert_eq!(setting.figure("midfold_recalls_total"), 0, "{dialect:?}");
        for sent in setting.upstream.requests() {
            assert!(!String::from_utf8_lossy(&sent.body).contains(TOOL), "{dialect:?}");
        }
    }
}

/// A model that looks something up for ever is stopped, and then goes on with its work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_has_a_bound_on_its_rounds() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            let setting = setting(LookUps::Endless, true).await;
            let agent = ClientAgent {
                stream,
                task: task(STEPS),
                ..ClientAgent::new(dialect, &setting.url())
            };
            let mut agent = agent.start();
            while setting.figure("midfold_recalls_total") == 0 {
                assert!(agent.end().is_none(), "{dialect:?}: {:?}", agent.end());
                agent.turn().await;
            }
            let asked = setting.upstream.requests().len();
            agent.turn().await;
            let run = agent.run();
            // The last request offers no tool. Where what was looked up overflows the model's
            // window, it is folded and sent again, so only those with the tool are counted.
            let offered = setting.upstream.requests()[asked..]
                .iter()
                .filter(|sent| String::from_utf8_lossy(&sent.body).contains("\"query\":{\"type\""))
                .count();
            assert_eq!(offered, 5, "{dialect:?} {stream}");
            assert_eq!(setting.figure("midfold_recalls_total"), 10, "{dialect:?} {stream}");
            assert!(agent.end().is_none(), "{dialect:?} {stream}: {:?}", agent.end());
            assert_eq!(setting.upstream.stats().refused, [""; 0], "{dialect:?} {stream}");
            is_unseen(run, &format!("{dialect:?} {stream}"));
        }
    }
}

/// What is put back stands where it stood, however its client respells what it knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn habits_of_clients_hide_no_exchange() {
    let habits = [
        ("ephemeral", Habits { ephemeral: true, ..Habits::default() }),
        ("plain ids", Habits { plain_ids: true, ..Habits::default() }),
        ("bare items", Habits { bare_items: true, ..Habits::default() }),
        ("part lists", Habits { part_lists: true, ..Habits::default() }),
        ("unmarked", Habits { unmarked: true, ..Habits::default() }),
        ("injected", Habits { injected: true, ..Habits::default() }),
    ];
    for dialect in WireDialect::ALL {
        for (habit, habits) in habits {
            for look_ups in [LookUps::Before(4), LookUps::Beside(4)] {
                let name = format!("{dialect:?} {habit} {look_ups:?}");
                let setting = setting(look_ups, true).await;
                let agent = ClientAgent {
                    habits,
                    task: task(STEPS),
                    ..ClientAgent::new(dialect, &setting.url())
                };
                let run = agent.run().await;
                let stats = setting.upstream.stats();
                assert!(run.answer().is_some(), "{name}: {:?}", run.end);
                assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
                assert_eq!(stats.facts_missing, 0, "{name}");
                assert_eq!(setting.figure("midfold_conversations"), 1, "{name}");
                assert!(setting.figure("midfold_recalls_total") >= 3, "{name}");
                is_unseen(&run, &name);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thinking_that_is_bound_to_its_prefix_stays_valid() {
    for dialect in [WireDialect::Messages, WireDialect::Responses, WireDialect::Gemini] {
        for stream in [false, true] {
            for look_ups in [LookUps::Before(4), LookUps::Beside(4)] {
                let name = format!("{dialect:?} {stream} {look_ups:?}");
                let settings =
                    UpstreamSettings { reasoning: true, bind_thinking: true, ..settings(look_ups) };
                let setting = with(settings, true).await;
                let agent = ClientAgent::new(dialect, &setting.url());
                let model = "claude-opus-5-5".into();
                let agent =
                    ClientAgent { thinking: true, stream, task: task(STEPS), model, ..agent };
                let run = agent.run().await;
                let stats = setting.upstream.stats();
                assert!(run.answer().is_some(), "{name}: {:?}", run.end);
                assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
                assert!(setting.figure("midfold_recalls_total") >= 3, "{name}");
                is_unseen(&run, &name);
            }
        }
    }
}

/// A client that names the answer that it goes on from names one that it was given.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_several_can_be_named() {
    for stream in [false, true] {
        for look_ups in [LookUps::Before(4), LookUps::Beside(4)] {
            let name = format!("{stream} {look_ups:?}");
            let setting = setting(look_ups, true).await;
            let agent = ClientAgent::new(WireDialect::Responses, &setting.url());
            let run =
                ClientAgent { server_state: true, stream, task: task(STEPS), ..agent }.run().await;
            let stats = setting.upstream.stats();
            assert!(run.answer().is_some(), "{name}: {:?}", run.end);
            assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
            assert_eq!(stats.facts_missing, 0, "{name}");
            assert!(setting.figure("midfold_recalls_total") >= 3, "{name}");
            let folds = setting.figure("midfold_folds_total");
            assert!(stats.rewrites <= folds, "{name}: {} rewrites, {folds} folds", stats.rewrites);
            is_unseen(&run, &name);
        }
    }
}

/// A provider that does not go on with what was looked up has refused the request: whole, its refusal is the answer; a
/// stream has begun by then, and breaks off. Either way the client can try again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_of_the_second_question_is_told() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            let name = format!("{dialect:?} {stream}");
            let setting = setting(LookUps::Endless, true).await;
            let agent = ClientAgent {
                stream,
                task: task(STEPS),
                ..ClientAgent::new(dialect, &setting.url())
            };
            let mut agent = agent.start();
            while setting.figure("midfold_recalls_total") == 0 {
                agent.turn().await;
            }
            let second = setting.upstream.stats().requests.len() as u64 + 2;
            let body = r#"{"error":{"message":"no such thing"}}"#.to_owned();
            let fault = PlannedFault::Status { code: 400, headers: Vec::new(), body };
            setting.upstream.change(|it| it.faults = vec![(FaultTime::Number(second), fault)]);
            let mut fork = agent.clone();
            fork.turn().await;
            match (fork.end(), stream) {
                (Some(RunEnd::Failed { status: 400, body }), false) => {
                    assert!(body.contains("no such thing"), "{name}: {body}");
                }
                (Some(RunEnd::Broken(_)), true) => {}
                (end, _) => panic!("{name}: {end:?}"),
            }
            is_unseen(fork.run(), &name);
            agent.turn().await;
            assert!(agent.end().is_none(), "{name}: {:?}", agent.end());
            assert_eq!(setting.upstream.stats().refused, [""; 0], "{name}");
        }
    }
}

/// After a restart a client goes on with what it has, and its model with all that was said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_forgets_no_exchange() {
    for dialect in WireDialect::ALL {
        for look_ups in [LookUps::Before(4), LookUps::Beside(4)] {
            goes_on_after_a_restart(dialect, look_ups).await;
        }
    }
}

/// The messages of a body, without the marks of the cache, which move.
fn messages(body: &[u8]) -> Vec<Bytes> {
    let kinds = [DialectKind::OpenAiChat, DialectKind::OpenAiResponses, DialectKind::Gemini];
    let read = |kind| Request::read(kind, Bytes::copy_from_slice(body)).ok();
    let request = kinds.into_iter().find_map(read).unwrap();
    request.messages().map(|message| without_marks(&message)).collect()
}

async fn goes_on_after_a_restart(dialect: WireDialect, look_ups: LookUps) {
    let name = format!("{dialect:?} {look_ups:?}");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let kept = |config: &mut midfold_serve::ServeConfig| {
        // No fold is to come with the request after the restart.
        config.rules = rules().window(LIMIT - 1_000).recall(true);
        config.store = Some(Arc::clone(&store));
    };
    let first = Setting::with(settings(look_ups), kept).await;
    let mut agent =
        ClientAgent { task: task(STEPS), ..ClientAgent::new(dialect, &first.url()) }.start();
    while first.figure("midfold_recalls_total") < 2 {
        assert!(agent.end().is_none(), "{name}: {:?}", agent.end());
        agent.turn().await;
    }
    // What was said last is history with the next request, and what came of it with the one behind that.
    agent.turn().await;
    agent.turn().await;
    let session = |agent: &AgentSession| {
        agent.run().exchanges.last().unwrap().header("midfold-session").unwrap().to_owned()
    };
    let before = session(&agent);
    let last = first.upstream.requests().last().unwrap().body.clone();
    first.proxy.stop().await;
    let second = Setting::with(settings(look_ups), kept).await;
    agent.go_on_at(&second.url());
    agent.turn().await;
    assert_eq!(session(&agent), before, "{name}");
    let next = second.upstream.requests().first().unwrap().body.clone();
    let (last, next) = (messages(&last), messages(&next));
    assert_eq!(last[..], next[..last.len()], "{name}: it goes on from the request before");
    while agent.end().is_none() {
        agent.turn().await;
    }
    assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{name}: {:?}", agent.end());
    assert_eq!(second.upstream.stats().refused, [""; 0], "{name}");
    is_unseen(agent.run(), &name);
    second.proxy.stop().await;
    assert_eq!(store.sessions(None, 10).await.unwrap().len(), 1, "{name}");
    let report = fsck(&*store).await.unwrap();
    assert!(report.is_clean(), "{name}: {report:?}");
}

/// A node that does not know an exchange sends what the client has, which is valid, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_take_turns_break_nothing() {
    for dialect in WireDialect::ALL {
        for look_ups in [LookUps::Before(3), LookUps::Beside(3)] {
            let name = format!("{dialect:?} {look_ups:?}");
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let kept = |config: &mut midfold_serve::ServeConfig| {
                config.rules = rules().window(LIMIT).recall(true);
                config.store = Some(Arc::clone(&store));
            };
            let nodes = [
                Setting::with(settings(look_ups), kept).await,
                Setting::with(settings(look_ups), kept).await,
            ];
            let agent = ClientAgent::new(dialect, &nodes[0].url());
            let mut agent = ClientAgent { task: task(STEPS), ..agent }.start();
            for turn in 0.. {
                agent.go_on_at(&nodes[turn % 2].url());
                agent.turn().await;
                if agent.end().is_some() {
                    break;
                }
            }
            assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{name}: {:?}", agent.end());
            for node in nodes {
                assert_eq!(node.upstream.stats().refused, [""; 0], "{name}");
                node.proxy.stop().await;
            }
            is_unseen(agent.run(), &name);
            let report = fsck(&*store).await.unwrap();
            assert!(report.is_clean(), "{name}: {report:?}");
        }
    }
}

/// What was looked up may be what makes a prompt too long: it is made shorter around that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_question_that_is_too_long_is_asked_again_shorter() {
    for stream in [false, true] {
        let setting = setting(LookUps::Before(1), true).await;
        let agent = ClientAgent::new(WireDialect::Messages, &setting.url());
        let mut agent = ClientAgent { stream, task: task(STEPS), ..agent }.start();
        while setting.figure("midfold_folds_total") == 0 {
            agent.turn().await;
        }
        for _ in 0..8 {
            agent.turn().await;
        }
        let second = setting.upstream.stats().requests.len() as u64 + 2;
        let text = "prompt is too long: 12500 tokens > 12000 maximum";
        let error = format!(
            r#"{{"type":"error","error":{{"type":"invalid_request_error","message":"{text}"}}}}"#
        );
        let fault = PlannedFault::Status { code: 400, headers: Vec::new(), body: error };
        setting.upstream.change(|it| it.faults = vec![(FaultTime::Number(second), fault)]);
        agent.turn().await;
        assert!(agent.end().is_none(), "{stream}: {:?}", agent.end());
        let asked: Vec<_> =
            setting.upstream.requests().into_iter().skip(second as usize - 1).collect();
        assert_eq!(asked.len(), 2, "{stream}");
        assert!(asked[1].body.len() < asked[0].body.len(), "{stream}: it is shorter");
        let found = |body: &[u8]| String::from_utf8_lossy(body).contains("Quoted history");
        assert!(found(&asked[0].body) && found(&asked[1].body), "{stream}: it has what was found");
        is_unseen(agent.run(), &format!("{stream}"));
    }
}

/// Some servers stream events under another content type, or spell the usual one otherwise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_is_read_whatever_its_content_type_says() {
    for events_type in
        ["Text/Event-Stream; charset=utf-8", "text/plain", "application/octet-stream"]
    {
        let settings =
            UpstreamSettings { events_type: Some(events_type), ..settings(LookUps::Before(6)) };
        assert!(
            played(WireDialect::Chat, true, LookUps::Before(6), settings).await > 0,
            "{events_type}"
        );
    }
}
