//! Another one's sessions are not there.

use std::fmt::Write;
use std::time::Duration;

use hyper::Method;
use midfold_serve::{ApiKey, ApiKeys, KeyHash};
use serde_json::json;

use super::{Answer, Asking};
use crate::raw::Raw;

fn key(name: &str) -> String {
    let mut random = [0; 32];
    random[..name.len()].copy_from_slice(name.as_bytes());
    ApiKey::from_bytes(random).as_str().to_owned()
}

async fn asking() -> Asking {
    let mut text = String::new();
    for (name, scope) in
        [("ann", "sessions"), ("bob", "sessions"), ("root", "admin"), ("pat", "proxy")]
    {
        let hash = KeyHash::of(&key(name));
        let _ = write!(
            text,
            "[[key]]\nname = \"{name}\"\nhash = \"{hash}\"\nscopes = [\"{scope}\"]\n\n"
        );
    }
    Asking::with(|config| config.keys = Some(ApiKeys::from_toml(&text).unwrap())).await
}

async fn made(asking: &Asking, name: &str) {
    let messages =
        json!([{ "role": "user", "content": format!("the secret word of {name} is abracadabra") }]);
    let new = json!({ "id": format!("of-{name}"), "messages": messages });
    asking.as_key(&key(name)).post("/v1/sessions", &new).await.done();
}

/// All that can be asked of a session.
async fn everything(asking: &Asking, who: &str, id: &str) -> Vec<(String, Answer)> {
    let mut all = Vec::new();
    for path in [
        "",
        "/messages",
        "/messages/0",
        "/fabric",
        "/folds",
        "/folds/1",
        "/folds/1/diff",
        "/calls",
        "/calls/1",
        "/explain?text=a",
        "/audit",
        "/policy",
        "/budget",
        "/export",
        "/recall/grep?query=a",
        "/recall/outline",
        "/recall/expand?what=0",
        "/recall/names",
        "/recall/describe",
    ] {
        let path = format!("/v1/sessions/{id}{path}");
        all.push((path.clone(), asking.as_key(&key(who)).get(&path).await));
    }
    let events = format!("/v1/events?session={id}");
    all.push((events.clone(), asking.as_key(&key(who)).get(&events).await));
    for (path, body) in [
        ("/messages", json!({ "messages": [{ "role": "user", "content": "mine" }] })),
        ("/context", json!({})),
        ("/usage", json!({ "prompt": 1 })),
        ("/compact", json!({})),
        ("/undo", json!({})),
        ("/fork", json!({ "id": "mine" })),
        ("/recover", json!({})),
        ("/replay", json!({ "policies": ["default"] })),
    ] {
        let path = format!("/v1/sessions/{id}{path}");
        all.push((path.clone(), asking.as_key(&key(who)).post(&path, &body).await));
    }
    for (method, path, body) in [
        (Method::PUT, "/pins/0", None),
        (Method::DELETE, "/pins/0", None),
        (Method::PUT, "/policy", Some(json!({ "preset": "lean" }))),
        (Method::PUT, "/model", Some(json!({ "name": "m" }))),
        (Method::DELETE, "", None),
    ] {
        let path = format!("/v1/sessions/{id}{path}");
        let answer = asking.as_key(&key(who)).send(method, &path, body.as_ref()).await;
        all.push((path, answer));
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_meets_what_is_another_ones() {
    let asking = asking().await;
    made(&asking, "ann").await;
    made(&asking, "bob").await;
    for (path, answer) in everything(&asking, "bob", "of-ann").await {
        assert_eq!(answer.problem(404), "no-session", "{path}");
        // The same words as for an id that nobody has.
        let said = String::from_utf8_lossy(&answer.body).replace("of-ann", "of-nobody");
        let nobody = asking.as_key(&key("bob")).get("/v1/sessions/of-nobody").await;
        assert_eq!(said, String::from_utf8_lossy(&nobody.body), "{path}");
    }
    let listed = asking.as_key(&key("bob")).get("/v1/sessions").await.done();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(listed["sessions"][0]["id"], "of-bob");
    let forgot = asking.as_key(&key("bob")).get("/v1/forgot?text=abracadabra").await.done();
    assert_eq!(forgot["found"].as_array().unwrap().len(), 1);
    assert!(!forgot.to_string().contains("of-ann") && forgot["looked_at"] == 1, "{forgot}");
    // Hers is as it was, and whoever runs the server sees both.
    let hers = asking.as_key(&key("ann")).get("/v1/sessions/of-ann").await.done();
    assert_eq!((&hers["events"], &hers["owner"]), (&json!(1), &json!("ann")));
    let all = asking.as_key(&key("root")).get("/v1/sessions").await.done();
    assert_eq!(all["sessions"].as_array().unwrap().len(), 2);
    // A name that is taken tells no more than that.
    let taken = asking.as_key(&key("bob")).post("/v1/sessions", &json!({ "id": "of-ann" })).await;
    assert_eq!(taken.problem(409), "exists");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_the_right_scope_is_asked_for() {
    let asking = asking().await;
    assert_eq!(asking.get("/v1/sessions").await.problem(401), "no-key");
    assert_eq!(asking.as_key("mf_wrong").get("/v1/sessions").await.problem(401), "no-key");
    assert_eq!(asking.as_key(&key("pat")).get("/v1/sessions").await.problem(403), "wrong-scope");
    assert_eq!(asking.get("/v1/events").await.problem(401), "no-key");
    // The page itself holds nothing of anybody.
    assert_eq!(asking.get("/").await.status.as_u16(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_other_sites_are_refused() {
    let asking = Asking::new().await;
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("host", "evil.example"),
    ] {
        let answer = asking.asker().header(name, value).get("/v1/sessions").await;
        assert_eq!(answer.problem(403), "forbidden", "{name}: {value}");
    }
    let own = asking.setting.url();
    let answer = asking.asker().header("origin", &own).header("sec-fetch-site", "same-origin");
    answer.get("/v1/sessions").await.done();
}

/// A body that does not say how long it is gets the same answer as one that does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunked_body_that_is_too_large_or_stops_is_no_bad_request() {
    let hash = KeyHash::of(&key("ann"));
    let text = format!(
        "[[key]]\nname = \"ann\"\nhash = \"{hash}\"\nscopes = [\"sessions\"]\nlongest_body = 200\n"
    );
    let asking = Asking::with(|config| {
        config.keys = Some(ApiKeys::from_toml(&text).unwrap());
        config.limits.idle = Duration::from_millis(200);
    })
    .await;
    let large = json!({ "id": "a".repeat(300) }).to_string();
    let whole = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    for (body, status, code) in [(whole.as_str(), 413, "too-large"), ("1\r\n{\r\n", 408, "timeout")]
    {
        let mut client = Raw::to(asking.setting.proxy.address()).await;
        let head = format!(
            "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nmidfold-key: {}\r\nconnection: close\r\n\
             content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
            key("ann")
        );
        client.write(head).await.write(body).await;
        let said = client.rest().await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{said}");
        assert!(said.contains(&format!("\"code\":\"{code}\"")), "{said}");
    }
}

/// A feed that is open when its key is removed, or may be used for less, ends. The others go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_feed_of_a_removed_key_ends() {
    let entry = |name: &str, scope: &str| {
        let hash = KeyHash::of(&key(name));
        format!("[[key]]\nname = \"{name}\"\nhash = \"{hash}\"\nscopes = [\"{scope}\"]\n")
    };
    let before = entry("ann", "sessions") + &entry("bob", "sessions") + &entry("pat", "sessions");
    let asking =
        Asking::with(|config| config.keys = Some(ApiKeys::from_toml(&before).unwrap())).await;
    let mut feeds = Vec::new();
    for name in ["ann", "bob", "pat"] {
        let mut feed = Raw::to(asking.setting.proxy.address()).await;
        let key = key(name);
        feed.write(format!(
            "GET /v1/events HTTP/1.1\r\nhost: localhost\r\nmidfold-key: {key}\r\n\r\n"
        ))
        .await;
        feed.until("event: hello").await;
        feeds.push(feed);
    }
    let after = entry("bob", "sessions") + &entry("pat", "proxy");
    asking.setting.proxy.set_keys(ApiKeys::from_toml(&after).unwrap());
    made(&asking, "bob").await;
    let [ann, mut bob, pat] = feeds.try_into().ok().unwrap();
    for mut gone in [ann, pat] {
        // The last piece of a chunked body.
        gone.more_until("0\r\n\r\n").await;
    }
    assert!(bob.more_until("event: new").await.contains("event: new"));
}
