//! The model that makes one call.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{
    OneCall, ScriptedUpstream, UpstreamScript, UpstreamSettings, WireDialect,
};
use serde_json::json;

async fn play(dialect: WireDialect, stream: bool, tool: &str) -> (String, usize) {
    let once = OneCall { tool: tool.to_owned(), arguments: json!({ "command": "echo hello" }) };
    let settings =
        UpstreamSettings { script: UpstreamScript::Once(once), ..UpstreamSettings::default() };
    let upstream = ScriptedUpstream::start(settings).await.unwrap();
    let agent = ClientAgent { stream, ..ClientAgent::new(dialect, upstream.url()) };
    let run = agent.run().await;
    (run.answer().unwrap_or_default().to_owned(), run.exchanges.len())
}

#[tokio::test]
async fn it_calls_its_tool_once_and_ends() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            let tool = ClientAgent::new(dialect, "").tool;
            let (answer, exchanges) = play(dialect, stream, &tool).await;
            assert_eq!((answer, exchanges), (format!("{tool} has answered."), 2), "{dialect:?}");
            let (answer, exchanges) = play(dialect, stream, "other").await;
            assert_eq!((answer.as_str(), exchanges), ("There is no tool other.", 1), "{dialect:?}");
        }
    }
}
