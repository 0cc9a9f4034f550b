//! Runs of the agent straight against the provider: nothing between them.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use midfold_testkit::upstream::agent::{ClientAgent, Habits, RunEnd};
use midfold_testkit::upstream::shell::{code, output};
use midfold_testkit::upstream::{
    DECIDED, Flavour, RecordedCall, ReplyKind, RequestOutcome, ScriptedUpstream, Stats, StepLoop,
    Strictness, UpstreamScript, UpstreamSettings, WireDialect, task,
};

fn agent(dialect: WireDialect, upstream: &ScriptedUpstream, stream: bool) -> ClientAgent {
    ClientAgent { stream, thinking: true, ..ClientAgent::new(dialect, upstream.url()) }
}

/// Every dialect, whole and streamed.
fn ways() -> impl Iterator<Item = (WireDialect, bool)> {
    WireDialect::ALL.into_iter().flat_map(|dialect| [(dialect, false), (dialect, true)])
}

#[tokio::test]
async fn twenty_steps_are_appended_cached_and_finished() {
    for (dialect, stream) in ways() {
        let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
        let run = agent(dialect, &upstream, stream).run().await;
        let stats = upstream.stats();
        let of = format!("{dialect:?} {stream} {:?} {:?}", run.end, stats.refused);
        let answer = run.answer().unwrap_or_else(|| panic!("{of}"));
        assert!(answer.contains(&format!("part 18: {}", code(18))), "{of}");
        assert_eq!((run.steps, run.statuses()), (20, vec![200; 21]), "{of}");
        assert_eq!((stats.turns, stats.appends, stats.rewrites), (21, 20, 0), "{of}");
        assert!(stats.done && stats.refused.is_empty() && stats.facts_missing == 0, "{of}");
        // Parts 3 and 8 are needed ten steps later, and all four at the end.
        assert_eq!(stats.facts_used, 6, "{of}");
        cached_grows(&stats);
        assert!(
            stats.requests.iter().all(|r| r.kind == ReplyKind::Turn && r.output_tokens > 0),
            "{of}"
        );
    }
}

/// Each prompt is cached up to where the one before it ended.
fn cached_grows(stats: &Stats) {
    for pair in stats.requests.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let cut = before.prompt_tokens.abs_diff(after.cached_tokens);
        assert!(cut <= 1, "{} then {} cached", before.prompt_tokens, after.cached_tokens);
        assert!(after.cached_tokens < after.prompt_tokens);
        assert_eq!((after.append_only, after.same_bytes), (Some(true), Some(true)));
    }
}

#[tokio::test]
async fn usage_is_in_each_providers_own_fields() {
    for (dialect, stream) in ways() {
        let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
        let run = agent(dialect, &upstream, stream).run().await;
        let last = upstream.stats().requests.last().unwrap().clone();
        let usage = run.usages.last().unwrap();
        let (prompt, cached, output) = match dialect {
            WireDialect::Chat => (
                usage["prompt_tokens"].as_u64(),
                usage["prompt_tokens_details"]["cached_tokens"].as_u64(),
                usage["completion_tokens"].as_u64(),
            ),
            WireDialect::Responses => (
                usage["input_tokens"].as_u64(),
                usage["input_tokens_details"]["cached_tokens"].as_u64(),
                usage["output_tokens"].as_u64(),
            ),
            WireDialect::Messages => {
                let [fresh, written, read] =
                    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
                        .map(|name| usage[name].as_u64().unwrap());
                assert!(written > 0 && fresh == 0, "everything up to the mark is written");
                (Some(fresh + written + read), Some(read), usage["output_tokens"].as_u64())
            }
            WireDialect::Gemini => (
                usage["promptTokenCount"].as_u64(),
                usage["cachedContentTokenCount"].as_u64(),
                usage["candidatesTokenCount"].as_u64(),
            ),
        };
        let found = (prompt, cached, output);
        let expected = (last.prompt_tokens, last.cached_tokens, last.output_tokens);
        assert_eq!(found, (Some(expected.0), Some(expected.1), Some(expected.2)), "{dialect:?}");
    }
}

#[tokio::test]
async fn a_prompt_over_the_limit_is_refused_in_the_providers_words() {
    for (dialect, stream) in ways() {
        let settings = UpstreamSettings { limit: Some(4_000), ..UpstreamSettings::default() };
        let upstream = ScriptedUpstream::start(settings).await.unwrap();
        let run = agent(dialect, &upstream, stream).run().await;
        let Some(RunEnd::Failed { status: 400, body }) = &run.end else { panic!("{:?}", run.end) };
        let words = match dialect {
            WireDialect::Chat => "\"code\":\"context_length_exceeded\"",
            WireDialect::Responses => "Your input exceeds the context window of this model",
            WireDialect::Messages => "tokens > 4000 maximum",
            WireDialect::Gemini => "exceeds the maximum number of tokens allowed (4000).",
        };
        assert!(body.contains(words), "{body}");
        let stats = upstream.stats();
        assert_eq!((stats.overflows, stats.refused.len()), (1, 0));
        assert!(run.steps > 3 && run.steps < 20 && !stats.done);
        assert!(stats.peak_tokens <= 4_000 && stats.requests.last().unwrap().prompt_tokens > 4_000);
    }
}

#[tokio::test]
async fn responses_can_fail_in_the_stream() {
    let settings = UpstreamSettings {
        limit: Some(4_000),
        overflow_in_answer: true,
        ..UpstreamSettings::default()
    };
    let upstream = ScriptedUpstream::start(settings).await.unwrap();
    let run = agent(WireDialect::Responses, &upstream, true).run().await;
    let Some(RunEnd::Failed { status: 200, body }) = &run.end else { panic!("{:?}", run.end) };
    assert!(body.contains("response.failed") && body.contains("context_length_exceeded"), "{body}");
    assert_eq!(upstream.stats().overflows, 1);
}

#[tokio::test]
async fn every_flavour_has_its_own_words() {
    let mut bodies = Vec::new();
    for flavour in Flavour::ALL {
        assert_eq!(Flavour::named(&flavour.name()), Some(flavour));
        let settings = UpstreamSettings { limit: Some(10), flavour, ..UpstreamSettings::default() };
        let upstream = ScriptedUpstream::start(settings).await.unwrap();
        let run = agent(WireDialect::Chat, &upstream, false).run().await;
        let Some(RunEnd::Failed { status, body }) = run.end else { panic!("{flavour:?}") };
        let expected = match flavour {
            Flavour::TooLarge => 413,
            Flavour::Throttled => 429,
            _ => 400,
        };
        assert_eq!(status, expected, "{flavour:?}");
        assert!(!bodies.contains(&body), "{flavour:?}");
        bodies.push(body);
    }
    let settings = UpstreamSettings {
        limit: Some(10),
        flavour: Flavour::SilentLength,
        ..UpstreamSettings::default()
    };
    let upstream = ScriptedUpstream::start(settings).await.unwrap();
    let run = agent(WireDialect::Chat, &upstream, false).run().await;
    assert_eq!(run.answer(), Some(""));
    assert!(
        String::from_utf8_lossy(&run.exchanges[0].body).contains("\"finish_reason\":\"length\"")
    );
    assert_eq!(upstream.stats().requests[0].outcome, RequestOutcome::Overflow);
}

#[tokio::test]
async fn room_for_the_reply_can_count_against_the_limit() {
    let settings =
        UpstreamSettings { limit: Some(1_000), count_output: true, ..UpstreamSettings::default() };
    let upstream = ScriptedUpstream::start(settings).await.unwrap();
    let run = ClientAgent::new(WireDialect::Messages, upstream.url()).run().await;
    let Some(RunEnd::Failed { body, .. }) = run.end else { panic!() };
    assert!(body.contains("input length and `max_tokens` exceed context limit: "), "{body}");
    assert!(body.contains(" + 1024 > 1000,"), "{body}");
}

#[tokio::test]
async fn parallel_calls_are_answered_together() {
    for (dialect, stream) in ways() {
        let script = UpstreamScript::ShellLoop(StepLoop { parallel: 3, ..StepLoop::default() });
        let upstream =
            ScriptedUpstream::start(UpstreamSettings { script, ..UpstreamSettings::default() })
                .await
                .unwrap();
        let run = agent(dialect, &upstream, stream).run().await;
        let stats = upstream.stats();
        assert!(run.answer().is_some(), "{:?} {:?}", run.end, stats.refused);
        assert_eq!((run.steps, stats.turns), (20, 8));
    }
}

#[tokio::test]
async fn habits_of_clients_are_legal() {
    let all = Habits {
        plain_ids: true,
        bare_items: true,
        part_lists: true,
        reminders: true,
        ..Habits::default()
    };
    let unmarked = Habits { unmarked: true, ..Habits::default() };
    for (dialect, stream) in ways() {
        for habits in [all, unmarked] {
            let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
            let run = ClientAgent { habits, ..agent(dialect, &upstream, stream) }.run().await;
            let stats = upstream.stats();
            assert!(run.answer().is_some(), "{dialect:?} {:?} {:?}", run.end, stats.refused);
            assert_eq!(stats.appends, 20, "{dialect:?}");
        }
    }
}

#[tokio::test]
async fn an_ephemeral_tail_is_no_append() {
    for (dialect, stream) in ways() {
        let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
        let habits = Habits { ephemeral: true, ..Habits::default() };
        let run = ClientAgent { habits, ..agent(dialect, &upstream, stream) }.run().await;
        let stats = upstream.stats();
        assert!(run.answer().is_some(), "{dialect:?} {:?} {:?}", run.end, stats.refused);
        assert_eq!((stats.appends, stats.rewrites), (0, 20), "{dialect:?}");
        // Still, all but the tail is cached.
        assert!(stats.cached_tokens > stats.prompt_tokens / 2, "{dialect:?}");
    }
}

#[tokio::test]
async fn clients_without_tools_run_code_blocks() {
    for (dialect, stream) in ways() {
        let settings = UpstreamSettings {
            script: UpstreamScript::text_loop(12),
            ..UpstreamSettings::default()
        };
        let upstream = ScriptedUpstream::start(settings).await.unwrap();
        let habits = Habits { toolless: true, ..Habits::default() };
        let run = ClientAgent { habits, ..agent(dialect, &upstream, stream) }.run().await;
        let stats = upstream.stats();
        assert!(run.answer().is_some(), "{dialect:?} {:?} {:?}", run.end, stats.refused);
        assert_eq!((run.steps, stats.facts_missing, stats.appends), (12, 0, 12), "{dialect:?}");
    }
}

#[tokio::test]
async fn what_is_gone_from_the_prompt_is_missing_in_the_answer() {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let mut session = agent(WireDialect::Chat, &upstream, false).start();
    for _ in 0..9 {
        session.turn().await;
    }
    // Everything up to step 6 goes, as after a careless compaction.
    session.history.drain(1..13);
    while session.end().is_none() {
        session.turn().await;
    }
    let run = session.into_run();
    let answer = run.answer().unwrap();
    assert!(answer.contains("part 3: UNKNOWN") && answer.contains(&code(8)), "{answer}");
    let stats = upstream.stats();
    // Part 3 at step 13 and at the end.
    assert_eq!((stats.facts_used, stats.facts_missing), (4, 2));
    assert_eq!((run.steps, stats.rewrites), (20, 1));
}

#[tokio::test]
async fn side_calls_and_summaries_are_told_apart() {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let mut main = agent(WireDialect::Messages, &upstream, false).start();
    for _ in 0..4 {
        main.turn().await;
    }
    let mut compaction = main.clone();
    compaction.say("Your task is to create a detailed summary of the conversation so far.");
    compaction.turn().await;
    let Some(RunEnd::Finished(text)) = compaction.end() else { panic!("{:?}", compaction.end()) };
    assert!(text.contains("[step 4] is done") && text.contains(&code(3)), "{text}");
    let habits = Habits { toolless: true, ..Habits::default() };
    let title = ClientAgent {
        habits,
        task: "A title, please.".to_owned(),
        ..agent(WireDialect::Chat, &upstream, true)
    };
    assert_eq!(title.run().await.answer(), Some("A scripted run"));
    let stats = upstream.stats();
    assert_eq!((stats.turns, stats.summaries, stats.sides, stats.appends), (4, 1, 1, 3));
}

#[test]
fn a_shell_prints_what_the_client_says_it_prints() {
    let upstream_commands = commands();
    for command in &upstream_commands {
        let shell = std::process::Command::new("sh").arg("-c").arg(command).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&shell.stdout), output(command), "{command}");
    }
    let planted = output(&upstream_commands[2]);
    assert!(planted.contains(&format!("the code of part 3 is {}", code(3))), "{planted}");
    assert!(!upstream_commands[2].contains(&code(3)), "only the shell knows it");
}

/// The commands of a whole run.
#[tokio::main(flavor = "current_thread")]
async fn commands() -> Vec<String> {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let run = agent(WireDialect::Chat, &upstream, false).run().await;
    let calls = run.history.iter().filter_map(|message| {
        let text = message["tool_calls"][0]["function"]["arguments"].as_str()?;
        let arguments: serde_json::Value = serde_json::from_str(text).unwrap();
        arguments["command"].as_str().map(str::to_owned)
    });
    calls.collect()
}

#[tokio::test]
async fn requests_are_kept_as_they_came() {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let headers = vec![("x-session-id".to_owned(), "s1".to_owned())];
    let run = ClientAgent { headers, ..agent(WireDialect::Chat, &upstream, false) }.run().await;
    let requests: Vec<RecordedCall> = upstream.requests();
    assert_eq!(requests.len(), run.exchanges.len());
    for (request, exchange) in requests.iter().zip(&run.exchanges) {
        assert_eq!(request.body, exchange.sent.as_bytes());
        assert_eq!(request.header("x-session-id"), Some("s1"));
        assert_eq!(request.target, "/v1/chat/completions");
        assert_eq!((request.status, exchange.status), (200, 200));
        assert!(exchange.header("x-request-id").is_some());
    }
    let stats = upstream.stats();
    assert!(stats.requests.iter().all(|entry| entry.session == "s1"));
    let json = stats.json();
    assert_eq!(json["totals"]["appends"], 20);
    assert_eq!(json["requests"][3]["append_only"], true);
    upstream.reset();
    assert!(upstream.requests().is_empty() && upstream.stats().requests.is_empty());
    assert!(task(3).contains(&code(0)));
}

#[tokio::test]
async fn anthropic_caches_at_marks() {
    for (unmarked, hits) in [(false, 20), (true, 0)] {
        let settings = UpstreamSettings { explicit_cache: true, ..UpstreamSettings::default() };
        let upstream = ScriptedUpstream::start(settings).await.unwrap();
        let habits = Habits { unmarked, ..Habits::default() };
        let run =
            ClientAgent { habits, ..agent(WireDialect::Messages, &upstream, false) }.run().await;
        assert!(run.answer().is_some());
        let cached = upstream.stats().requests.iter().filter(|r| r.cached_tokens > 0).count();
        assert_eq!(cached, hits);
        let written = run.usages.last().unwrap()["cache_creation_input_tokens"].as_u64().unwrap();
        assert_eq!(written > 0, !unmarked);
    }
}

#[tokio::test]
async fn clients_can_leave_the_conversation_to_the_server() {
    for stream in [false, true] {
        for dialect in [WireDialect::Responses, WireDialect::Messages] {
            let settings =
                UpstreamSettings { stateful: true, threads: true, ..UpstreamSettings::default() };
            let upstream = ScriptedUpstream::start(settings).await.unwrap();
            let client = ClientAgent { server_state: true, ..agent(dialect, &upstream, stream) };
            let run = client.run().await;
            let stats = upstream.stats();
            assert!(run.answer().is_some(), "{dialect:?} {:?} {:?}", run.end, stats.refused);
            assert_eq!((stats.appends, stats.facts_missing), (20, 0), "{dialect:?}");
            let longest = run.exchanges.iter().map(|exchange| exchange.sent.len()).max().unwrap();
            assert!(longest < 4_000, "only what is new is sent: {longest} bytes");
        }
    }
}

#[tokio::test]
async fn a_server_without_state_says_so() {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let client = |dialect| ClientAgent { server_state: true, ..agent(dialect, &upstream, false) };
    let run = client(WireDialect::Messages).run().await;
    assert!(run.answer().is_some(), "{:?}", run.end);
    assert_eq!(run.statuses()[..2], [400, 200], "the same request goes without its thread");
    let run = client(WireDialect::Responses).run().await;
    let Some(RunEnd::Failed { status: 400, body }) = run.end else { panic!("{:?}", run.end) };
    assert!(body.contains("previous_response_not_found"), "{body}");
}

#[tokio::test]
async fn what_a_client_adds_comes_before_the_task() {
    for (dialect, stream) in ways() {
        let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
        let habits = Habits { injected: true, ..Habits::default() };
        let run = ClientAgent { habits, ..agent(dialect, &upstream, stream) }.run().await;
        assert!(run.answer().is_some(), "{dialect:?} {:?}", run.end);
        let first = &run.exchanges[0].sent;
        assert!(first.find("environment_context") < first.find("Read all 20 parts"), "{first}");
    }
}

#[tokio::test]
async fn a_silent_backend_drops_the_front() {
    let flavour = Flavour::SilentTruncate;
    let settings = UpstreamSettings { limit: Some(6_000), flavour, ..UpstreamSettings::default() };
    let upstream =
        ScriptedUpstream::start(UpstreamSettings { strict: Strictness::Off, ..settings })
            .await
            .unwrap();
    let run = agent(WireDialect::Chat, &upstream, false).run().await;
    let stats = upstream.stats();
    let answer = run.answer().unwrap_or_else(|| panic!("{:?} {:?}", run.end, stats));
    assert!(answer.contains("part 3: UNKNOWN"), "{answer}");
    assert!(stats.overflows > 5 && stats.facts_missing > 0);
    let last = run.usages.last().unwrap()["prompt_tokens"].as_u64().unwrap();
    assert!(last <= 3_000 && stats.requests.last().unwrap().prompt_tokens > 6_000);
}

#[tokio::test]
async fn gemini_streams_a_list_without_sse() {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let client = ClientAgent::new(WireDialect::Gemini, upstream.url());
    let body = client.clone().start().body().to_string();
    let got = client.post("/v1beta/models/m:streamGenerateContent", &body).await;
    assert_eq!(
        (got.status, got.header("content-type")),
        (200, Some("application/json; charset=UTF-8"))
    );
    let chunks: Vec<serde_json::Value> = serde_json::from_slice(&got.body).unwrap();
    assert_eq!(chunks.last().unwrap()["candidates"][0]["finishReason"], "STOP");
    assert!(chunks.len() > 1);
}

#[tokio::test]
async fn a_limit_can_drop_and_rise_in_a_run() {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let mut session = agent(WireDialect::Responses, &upstream, true).start();
    for _ in 0..5 {
        session.turn().await;
    }
    upstream.change(|settings| settings.limit = Some(1_000));
    let mut fork = session.clone();
    fork.turn().await;
    assert!(matches!(fork.end(), Some(RunEnd::Failed { status: 400, .. })));
    upstream.change(|settings| settings.limit = None);
    session.turn().await;
    assert_eq!(session.end(), None);
    let stats = upstream.stats();
    assert_eq!((stats.overflows, stats.appends, stats.step), (1, 5, 6));
    assert_eq!(stats.requests[5].step, Some(6));
}

#[tokio::test]
async fn other_bytes_for_the_same_message_are_seen() {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let mut session = agent(WireDialect::Chat, &upstream, false).start();
    session.turn().await;
    let client = agent(WireDialect::Chat, &upstream, false);
    session.turn().await;
    let body = session.body().to_string();
    let spaced = body.replacen("{\"content\":", "{ \"content\":", 1);
    let reordered: serde_json::Value = serde_json::from_str(&spaced).unwrap();
    assert_eq!(reordered, session.body(), "the same to a reader of JSON");
    assert_eq!(client.post("/v1/chat/completions", &spaced).await.status, 200);
    let stats = upstream.stats();
    assert_eq!((stats.appends, stats.rewrites, stats.respelled), (2, 0, 1));
    assert_eq!(stats.json()["requests"][2]["same_bytes"], false);
}

/// Empties long outputs, as a simple compaction does.
fn fold(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) if text.starts_with("[step ") && text.len() > 300 => {
            *value = "[folded]".into();
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(fold),
        serde_json::Value::Object(map) => map.values_mut().for_each(fold),
        _ => {}
    }
}

#[tokio::test]
async fn a_client_that_folds_old_results_gets_through() {
    for (dialect, stream) in ways() {
        let settings = UpstreamSettings {
            limit: Some(12_000),
            script: UpstreamScript::shell_loop(30),
            ..UpstreamSettings::default()
        };
        let upstream = ScriptedUpstream::start(settings).await.unwrap();
        let mut session = agent(dialect, &upstream, stream).start();
        while session.end().is_none() {
            session.turn().await;
            if session.body().to_string().len() > 30_000 {
                let kept = session.history.len() - 6;
                session.history[..kept].iter_mut().for_each(fold);
            }
        }
        let run = session.into_run();
        let stats = upstream.stats();
        assert!(run.answer().is_some(), "{dialect:?} {:?} {:?}", run.end, stats.refused);
        // What the model noted in its own words is still there.
        assert_eq!((run.steps, stats.overflows, stats.facts_missing), (30, 0, 0), "{dialect:?}");
        assert!(stats.rewrites > 0 && stats.rewrites < stats.appends, "{dialect:?}");
        assert!(stats.requests.iter().any(|r| r.append_only == Some(false) && r.shared > Some(0)));
    }
}

#[tokio::test]
async fn facts_of_the_task_and_of_the_model_are_needed_too() {
    for (dialect, stream) in ways() {
        let script = StepLoop { decide_every: 6, task_fact: true, ..StepLoop::default() };
        let script = UpstreamScript::ShellLoop(script);
        let upstream =
            ScriptedUpstream::start(UpstreamSettings { script, ..UpstreamSettings::default() })
                .await
                .unwrap();
        let run = agent(dialect, &upstream, stream).run().await;
        let answer = run.answer().unwrap();
        // Steps 2, 8, 14 and 20; step 8 has both kinds, and what was printed is needed first.
        for part in [0, 3, 18, DECIDED + 2, DECIDED + 20] {
            assert!(
                answer.contains(&format!("part {part}: {}", code(part))),
                "{dialect:?} {answer}"
            );
        }
        let stats = upstream.stats();
        assert_eq!((stats.facts_used, stats.facts_missing), (3 + 9, 0), "{dialect:?}");
    }
}
