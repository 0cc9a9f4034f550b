//! A session from its first message to its deletion.

use std::sync::Arc;

use hyper::Method;
use midfold::store::faulty::{FaultyStore, WriteFailure};
use midfold::store::single::SingleChange as _;
use midfold::store::{MemoryStore, NewSession, Store};
use serde_json::json;

use super::Asking;

/// Its clock goes on by a second whenever it is looked at.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_folds_early_after_a_pause_in_which_its_cache_was_lost() {
    let asking = Asking::new().await;
    for (id, lifetime, causes) in [
        ("cold", json!(0.5), vec!["cold"]),
        ("warm", json!(3_600), vec![]),
        ("off", json!(null), vec![]),
    ] {
        let messages: Vec<serde_json::Value> = midfold_testkit::coding_session(7, 12)
            .iter()
            .map(|message| serde_json::from_str(message).unwrap())
            .collect();
        let new = json!({ "id": id, "window": 1_000_000, "messages": messages });
        let tokens = asking.post("/v1/sessions", &new).await.done()["tokens"].as_u64().unwrap();
        asking.asker().send(Method::DELETE, &format!("/v1/sessions/{id}"), None).await.done();
        let new = json!({
            "id": id, "window": tokens * 100 / 70, "cache_lifetime": lifetime, "messages": messages,
        });
        asking.post("/v1/sessions", &new).await.done();
        for _ in 0..2 {
            asking.post(&format!("/v1/sessions/{id}/context"), &json!({})).await.done();
        }
        let folds = asking.get(&format!("/v1/sessions/{id}/folds")).await.done();
        let found: Vec<_> =
            folds["folds"].as_array().unwrap().iter().map(|fold| fold["cause"].clone()).collect();
        assert_eq!(found, causes, "{id}: {folds}");
    }
    let wrong = json!({ "id": "wrong", "cache_lifetime": -1 });
    asking.post("/v1/sessions", &wrong).await.problem(400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_goes_its_whole_way() {
    let asking = Asking::new().await;
    let messages = asking.coding("s", 12_000).await;
    let total = messages.len();

    // Its messages come back, and a context that fits is made of them.
    let page = asking.get("/v1/sessions/s/messages?from=2&limit=3&chars=20").await.done();
    assert_eq!(page["total"], total);
    assert_eq!(page["messages"].as_array().unwrap().len(), 3);
    assert_eq!(page["messages"][0]["seq"], 2);
    let one = asking.get("/v1/sessions/s/messages/1").await.done();
    let json: serde_json::Value = serde_json::from_str(one["json"].as_str().unwrap()).unwrap();
    assert_eq!(json, messages[1], "the bytes as they came");
    let context = asking.post("/v1/sessions/s/context", &json!({})).await.done();
    assert!(context["folded"].is_string() && context["call"] == 1, "{context}");
    assert!(context["tokens"].as_u64().unwrap() <= 12_000);
    assert_eq!(context["messages"][0], messages[0], "the head is verbatim");

    // What the provider counted is kept with the call.
    let usage = json!({ "prompt": 9_000, "output": 50, "cache_read": 4_000 });
    let told = asking.post("/v1/sessions/s/usage", &usage).await.done();
    assert_eq!(told["usage"]["prompt"], 9_000);
    assert_eq!(told["fill"], 9_000);
    assert!(told["cost"]["sent"].as_f64() < told["cost"]["everything"].as_f64(), "{told}");
    let calls = asking.get("/v1/sessions/s/calls").await.done();
    assert_eq!(calls["calls"][0]["usage"]["cache_read"], 4_000);
    let call = asking.get("/v1/sessions/s/calls/1").await.done();
    assert_eq!(call["proven"], true);
    assert_eq!(
        call["sent"].as_array().unwrap().len(),
        context["messages"].as_array().unwrap().len()
    );

    // The fabric has a cell for each message, and each fold says what it made of them.
    let fabric = asking.get("/v1/sessions/s/fabric").await.done();
    assert_eq!(fabric["roles"].as_str().unwrap().len(), total);
    let fates = fabric["folds"][0]["fates"].as_array().unwrap();
    let cells: u64 = fates.iter().map(|run| run[1].as_u64().unwrap()).sum();
    assert_eq!(cells, fabric["folds"][0]["at"].as_u64().unwrap());
    let fold = asking.get("/v1/sessions/s/folds/1").await.done();
    assert!(fold["recap"]["text"].as_str().unwrap().contains("Conversation Summary"));
    assert_eq!(fold["receipt"]["intact"], true);
    assert!(fold["events"].as_array().unwrap().len() as u64 == fold["gone"].as_u64().unwrap());
    let diff = asking.get("/v1/sessions/s/folds/1/diff?limit=5").await.done();
    assert!(diff["total"].as_u64().unwrap() >= 5 && diff["rows"].as_array().unwrap().len() == 5);

    // What left is explained and brought back.
    let gone = fold["events"][0]["seq"].as_u64().unwrap();
    let why = asking.get(&format!("/v1/sessions/s/explain?text=%40{gone}")).await.done();
    assert_eq!(why["occurrences"][0]["left"]["fold"]["number"], 1, "{why}");
    let back = asking.get(&format!("/v1/sessions/s/recall/expand?what={gone}")).await.done();
    assert!(!back["originals"].as_array().unwrap().is_empty());
    let audit = asking.get("/v1/sessions/s/audit").await.done();
    assert_eq!(audit["findings"], json!([]));

    // A preview changes nothing; the same without it does.
    let preview = asking.post("/v1/sessions/s/undo", &json!({ "preview": true })).await.done();
    assert_eq!((&preview["undone"], &preview["active"]), (&json!([1]), &json!(null)));
    assert_eq!(asking.get("/v1/sessions/s").await.done()["active"], 1);
    let undone = asking.post("/v1/sessions/s/undo", &json!({})).await.done();
    assert_eq!((&undone["after"], &undone["preview"]), (&preview["after"], &json!(false)));
    assert_eq!(asking.get("/v1/sessions/s").await.done()["active"], json!(null));
    let pin = format!("/v1/sessions/s/pins/{gone}");
    let shown = asking.asker().send(Method::PUT, &format!("{pin}?preview=true"), None).await.done();
    assert_eq!((&shown["changed"], &shown["preview"]), (&json!(true), &json!(true)));
    let pinned = asking.asker().send(Method::PUT, &pin, None).await.done();
    assert_eq!(pinned["pins"], shown["pins"]);
    let folded = asking.post("/v1/sessions/s/compact", &json!({ "focus": "errors" })).await.done();
    assert_eq!((&folded["outcome"], &folded["fold"]["number"]), (&json!("folded"), &json!(2)));
    let kept = asking.get(&format!("/v1/sessions/s/messages/{gone}")).await.done();
    assert_eq!((&kept["fate"], &kept["pinned"]), (&json!("p"), &json!(true)));

    // A fork goes its own way, an export is read again, and a deleted session is gone.
    let fork = json!({ "id": "other", "at": 5 });
    let fork = asking.post("/v1/sessions/s/fork", &fork).await.done();
    assert_eq!((&fork["events"], &fork["parent"]["id"]), (&json!(5), &json!("s")));
    let export = asking.get("/v1/sessions/s/export").await;
    assert_eq!(export.kind, "application/x-ndjson");
    assert!(export.body.iter().filter(|byte| **byte == b'\n').count() > total);
    let extent = asking.asker().send(Method::DELETE, "/v1/sessions/s", None).await.done();
    assert_eq!(extent["events"], total);
    assert_eq!(asking.get("/v1/sessions/s").await.problem(404), "no-session");
    let listed = asking.get("/v1/sessions").await.done();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_is_durable_once_and_in_its_place() {
    let asking = Asking::new().await;
    asking.post("/v1/sessions", &json!({ "id": "s", "window": 8_000 })).await.done();
    let hi = json!({ "messages": [{ "role": "user", "content": "hi" }] });
    let path = "/v1/sessions/s/messages";
    let first = asking.asker().header("idempotency-key", "a").post(path, &hi).await;
    assert_eq!(first.status.as_u16(), 201);
    assert_eq!(first.json(), json!({ "first": 0, "count": 1, "repeated": false }));
    let again = asking.asker().header("idempotency-key", "a").post(path, &hi).await.done();
    assert_eq!(again, json!({ "first": 0, "count": 1, "repeated": true }));
    let other = json!({ "messages": [{ "role": "user", "content": "other" }] });
    let reused = asking.asker().header("idempotency-key", "a").post(path, &other).await;
    assert_eq!(reused.problem(422), "key-reused");
    let late = asking.post(&format!("{path}?expect=0"), &other).await;
    assert_eq!(late.problem(409), "conflict");
    assert_eq!((&late.json()["expected"], &late.json()["actual"]), (&json!(0), &json!(1)));
    assert_eq!(asking.post(&format!("{path}?expect=1"), &other).await.done()["first"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hooks_have_their_reserve() {
    let asking = Asking::new().await;
    asking.coding("s", 12_000).await;
    let inject = |text: &str, reserve: u64| json!({ "record": false, "injections": [{ "name": "memory", "text": text, "reserve": reserve }] });
    let path = "/v1/sessions/s/context";
    let sent = asking.post(path, &inject("Remember the milk.", 200)).await.done();
    assert_eq!((&sent["injections"][0]["hook"], &sent["call"]), (&json!("memory"), &json!(null)));
    let last = sent["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("Remember the milk."), "{last}");
    let long = "word ".repeat(500);
    assert_eq!(asking.post(path, &inject(&long, 20)).await.problem(422), "injection");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_recovered_from_or_named() {
    let asking = Asking::new().await;
    asking.coding("s", 60_000).await;
    let path = "/v1/sessions/s/recover";
    let rate = json!({ "status": 429, "body": "{\"error\":{\"type\":\"rate_limit_error\"}}" });
    assert_eq!(asking.post(path, &rate).await.problem(409), "no-overflow");
    let text = "{\"error\":{\"message\":\"This model's maximum context length is 9000 tokens. However, \
        your messages resulted in 14000 tokens.\",\"code\":\"context_length_exceeded\"}}";
    let sent = asking.post(path, &json!({ "status": 400, "body": text })).await.done();
    assert!(sent["folded"].is_string() && sent["tokens"].as_u64().unwrap() < 9_000, "{sent}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn policies_and_models_are_changed_and_compared() {
    let asking = Asking::new().await;
    asking.coding("s", 12_000).await;
    let path = "/v1/sessions/s/policy";
    let preview = json!({ "preset": "hermes", "preview": true });
    let shown = asking.asker().send(Method::PUT, path, Some(&preview)).await.done();
    assert_eq!(
        (&shown["before"]["policy"], &shown["after"]["policy"]),
        (&json!("default"), &json!("hermes"))
    );
    assert_eq!(asking.get(path).await.done()["name"], "default");
    let body = json!({ "policy": { "base": "lean", "name": "mine" } });
    asking.asker().send(Method::PUT, path, Some(&body)).await.done();
    assert_eq!(asking.get(path).await.done()["name"], "mine");
    let unknown =
        asking.asker().send(Method::PUT, path, Some(&json!({ "preset": "defualt" }))).await;
    assert_eq!(unknown.problem(400), "bad-request");
    assert!(unknown.json()["hints"][0].as_str().unwrap().contains("default"));
    let model = json!({ "name": "gpt-5-mini", "window": 20_000 });
    let told = asking.asker().send(Method::PUT, "/v1/sessions/s/model", Some(&model)).await.done();
    assert_eq!((&told["model"], &told["window"]), (&json!("gpt-5-mini"), &json!(20_000)));
    let budget = asking.get("/v1/sessions/s/budget").await.done();
    assert!(budget["tiers"]["results"]["tokens"].as_u64().unwrap() > 0, "{budget}");
    let compared = json!({ "policies": ["raw", "default"], "window": 8_000 });
    let document = asking.post("/v1/sessions/s/replay", &compared).await.done();
    assert_eq!(document["runs"].as_array().unwrap().len(), 2);
    assert!(document["runs"][1]["totals"]["folds"].as_u64().unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_says_what_and_where() {
    let asking = Asking::new().await;
    asking.coding("s", 12_000).await;
    let json = "application/json";
    for (path, body, kind, status) in [
        ("/v1/sessions", "{", json, 400),
        ("/v1/sessions", "{\"widow\":1}", json, 400),
        ("/v1/sessions", "{\"id\":\"s\"}", json, 409),
        ("/v1/sessions", "{\"id\":\"\"}", json, 400),
        ("/v1/sessions", "{\"dialect\":\"latin\"}", json, 400),
        ("/v1/sessions", "{\"window\":10,\"output_reserve\":10}", json, 400),
        ("/v1/sessions", "id=s", "application/x-www-form-urlencoded", 415),
        ("/v1/sessions/s/messages", "{\"messages\":[1]}", json, 400),
        ("/v1/sessions/s/messages", "{\"messages\":[]}", json, 400),
        ("/v1/sessions/s/messages", "{\"messages\":{}}", json, 400),
        ("/v1/sessions/s/usage", "{\"prompt\":1,\"cache_read\":2}", json, 400),
        ("/v1/sessions/s/usage", "{\"prompt\":1,\"call\":99}", json, 404),
        ("/v1/sessions/s/undo", "{\"fold\":7}", json, 404),
        ("/v1/sessions/s/fork", "{\"at\":100000}", json, 404),
    ] {
        let answer = asking.asker().text(path, body, kind).await;
        assert_eq!(answer.status.as_u16(), status, "{path} {body}");
        answer.problem(status);
    }
    for (path, status) in [
        ("/v1/sessions/none", 404),
        ("/v1/sessions/s/messages/100000", 404),
        ("/v1/sessions/s/messages/x", 404),
        ("/v1/sessions/s/folds/1", 404),
        ("/v1/sessions/s/calls/1", 404),
        ("/v1/sessions/s/explain?text=", 400),
        ("/v1/sessions/s/explain?text=a&call=5", 404),
        ("/v1/sessions/s/recall/grep?mode=regex&query=(", 400),
        ("/v1/sessions/s/recall/names", 409),
        ("/v1/sessions?limit=x", 400),
        ("/v1/sessions?nothing=x", 400),
        ("/v1/sessions?q=%ff", 400),
        ("/v1/forgot", 400),
    ] {
        let answer = asking.get(path).await;
        answer.problem(status);
    }
    // Only a question about a text can leave its call out.
    let hints = async |path: &str| asking.get(path).await.json()["hints"].to_string();
    assert!(hints("/v1/sessions/s/explain?text=a&call=5").await.contains("the present context"));
    assert!(!hints("/v1/sessions/s/calls/0").await.contains("the present context"));
    let other = asking.asker().send(Method::PATCH, "/v1/sessions", None).await;
    assert_eq!(other.problem(405), "method");
    // The session is as it was.
    assert_eq!(asking.get("/v1/sessions/s/audit").await.done()["findings"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_listed_by_their_last_change_and_found() {
    let asking = Asking::new().await;
    for at in 0..7 {
        let message = json!([{ "role": "user", "content": format!("Mend part {at}.") }]);
        let new = json!({ "id": format!("s{at}"), "messages": message });
        asking.post("/v1/sessions", &new).await.done();
    }
    let hi = json!({ "messages": [{ "role": "user", "content": "and more" }] });
    asking.post("/v1/sessions/s2/messages", &hi).await.done();
    let ids = |page: &serde_json::Value| -> Vec<String> {
        let all = page["sessions"].as_array().unwrap().iter();
        all.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = asking.get("/v1/sessions?limit=3").await.done();
    assert_eq!(ids(&first), ["s2", "s6", "s5"]);
    assert_eq!(first["sessions"][0]["title"], "Mend part 2.");
    let next = format!("/v1/sessions?limit=100&after={}", first["next"]);
    let rest = asking.get(&next).await.done();
    assert_eq!(ids(&rest), ["s4", "s3", "s1", "s0"]);
    assert_eq!(rest["next"], json!(null));
    let full = asking.get(&format!("/v1/sessions?limit=4&after={}", first["next"])).await.done();
    assert_eq!(full, rest, "a page that is full to the last session");
    assert_eq!(ids(&asking.get("/v1/sessions?q=PART+4").await.done()), ["s4"]);
    let one = asking.get("/v1/sessions?q=part+0&limit=1").await.done();
    assert_eq!((ids(&one), &one["next"]), (vec!["s0".to_owned()], &json!(null)));
    let forgot = asking.get("/v1/forgot?text=part%205").await.done();
    assert_eq!(forgot["found"].as_array().unwrap().len(), 1);
    assert_eq!(forgot["found"][0]["session"]["id"], "s5");
    assert_eq!(forgot["found"][0]["explanation"]["answer"], "verbatim");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_looks_at_a_bounded_number_of_sessions_with_few_queries() {
    let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let store = Arc::new(FaultyStore::new(inner, WriteFailure::Before, 0..0));
    for at in 0..20_002 {
        let id = format!("s{at}");
        store.create(NewSession { id, ..NewSession::default() }).await.unwrap();
    }
    let kept: Arc<dyn Store> = store.clone();
    let asking = Asking::with(|config| config.store = Some(kept)).await;
    let lists = store.lists();
    let first = asking.get("/v1/sessions?q=none&limit=1").await.done();
    assert_eq!(store.lists() - lists, 40);
    assert_eq!(first["sessions"], json!([]));
    let next = format!("/v1/sessions?q=s1&limit=1&after={}", first["next"]);
    let second = asking.get(&next).await.done();
    assert_eq!((&second["sessions"][0]["id"], second["next"].is_u64()), (&json!("s1"), true));
    let last = format!("/v1/sessions?q=none&limit=1&after={}", first["next"]);
    assert_eq!(asking.get(&last).await.done()["next"], json!(null));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_more_parts_than_there_is_memory_for_are_refused() {
    let asking = Asking::with(|config| config.longest_request = 1 << 20).await;
    asking.post("/v1/sessions", &json!({"id": "s", "window": 16_000})).await.done();
    let many = format!("{{\"messages\":[{}1]}}", "1,".repeat(20_000));
    let path = "/v1/sessions/s/messages";
    let answer = asking.asker().text(path, &many, "application/json").await;
    assert_eq!(answer.problem(413), "too-large");
    let message = r#"{"role":"user","content":"a"},"#;
    let asking = Asking::new().await;
    asking.post("/v1/sessions", &json!({"id": "s", "window": 16_000})).await.done();
    for path in ["/v1/sessions", path] {
        let many = format!("{{\"messages\":[{}1]}}", message.repeat(20_000));
        let answer = asking.asker().text(path, &many, "application/json").await;
        assert_eq!(answer.problem(413), "too-large");
        let said = answer.json()["detail"].to_string();
        assert!(said.contains("20000 (`longest_history`)"), "{said}");
    }
    // An agent's request for recall, too.
    let many = format!("{{\"a\":[{}1]}}", "1,".repeat(600_000));
    let answer = asking.asker().text("/mcp", &many, "application/json").await;
    assert_eq!(answer.problem(413), "too-large");
    assert_eq!(asking.setting.figure("midfold_request_bytes"), 0);
}
