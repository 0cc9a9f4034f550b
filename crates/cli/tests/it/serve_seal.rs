//! The keys that `midfold serve` seals with: where they are from, and that they last.

use std::process::Command;

use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{ScriptedUpstream, UpstreamScript, UpstreamSettings, WireDialect};
use serde_json::{Value, json};

use crate::serve::start;

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

async fn upstream() -> ScriptedUpstream {
    let settings =
        UpstreamSettings { script: UpstreamScript::fixed("fine"), ..UpstreamSettings::default() };
    ScriptedUpstream::start(settings).await.unwrap()
}

async fn post(url: &str, path: &str, body: &Value) -> (u16, Value) {
    let got = ClientAgent::new(WireDialect::Responses, url).post(path, &body.to_string()).await;
    (got.status, serde_json::from_slice(&got.body).unwrap_or_default())
}

/// The window after a compaction, and a question behind it.
async fn compacted(url: &str) -> Value {
    let body = json!({"model": "gpt-5", "input": "My name is Ann."});
    let (status, answer) = post(url, "/v1/responses/compact", &body).await;
    assert_eq!(status, 200, "{answer}");
    let mut input = answer["output"].clone();
    input.as_array_mut().unwrap().push(json!({"role": "user", "content": "Who am I?"}));
    json!({"model": "gpt-5", "input": input})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_made_once_beside_the_default_store() {
    let upstream = upstream().await;
    let data = crate::folder("serve-seal");
    let home = [("XDG_DATA_HOME", data.to_str().unwrap()), ("HOME", data.to_str().unwrap())];
    let first = start(upstream.url(), &[], &home);
    let next = compacted(&first.url).await;
    drop(first);
    let find = |folder: &std::path::Path| {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.map(|file| file.path()).collect::<Vec<_>>()
    };
    let mut folders = vec![data.clone()];
    let mut keys = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in find(&folder) {
            match path.is_dir() {
                true => folders.push(path),
                false if path.to_string_lossy().contains("seal.key") => keys.push(path),
                false => {}
            }
        }
    }
    let [key] = &keys[..] else { panic!("{keys:?}") };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(key).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let before = std::fs::read(key).unwrap();
    let second = start(upstream.url(), &[], &home);
    assert_eq!(post(&second.url, "/v1/responses", &next).await.0, 200);
    assert_eq!(std::fs::read(key).unwrap(), before);
    // With nothing that lasts, neither does the key.
    let third = start(upstream.url(), &["--store", "memory"], &home);
    let (status, answer) = post(&third.url, "/v1/responses", &next).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!("invalid_encrypted_content")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_named_by_a_file_or_the_environment() {
    let upstream = upstream().await;
    let file = crate::folder("serve-seal-file").join("keys");
    let old = KEY.replace("AAEC", "BBEC");
    std::fs::write(&file, format!("{KEY} # newer\n{old}\n")).unwrap();
    let options = ["--store", "memory", "--seal-keys", file.to_str().unwrap()];
    let by_file = start(upstream.url(), &options, &[]);
    let by_variable = start(upstream.url(), &options[..2], &[("MIDFOLD_SEAL_KEYS", &old)]);
    let next = compacted(&by_variable.url).await;
    assert_eq!(post(&by_file.url, "/v1/responses", &next).await.0, 200);
    let next = compacted(&by_file.url).await;
    assert_eq!(post(&by_variable.url, "/v1/responses", &next).await.0, 400, "it has no such key");
    // The backend's own, where that is wanted.
    let options = ["--store", "memory", "--compaction", "upstream"];
    let theirs = start(upstream.url(), &options, &[]);
    let body = json!({"model": "gpt-5", "input": "My name is Ann."});
    assert_eq!(post(&theirs.url, "/v1/responses/compact", &body).await.0, 404);
}

#[test]
fn what_is_no_key_is_named_without_being_shown() {
    let file = crate::folder("serve-seal-bad").join("keys");
    std::fs::write(&file, format!("{KEY}\nc2VjcmV0\n")).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_midfold"))
        .args(["serve", "--listen", "127.0.0.1:0", "--store", "memory", "--seal-keys"])
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && said.contains("key 2 is not 32 bytes"), "{said}");
    assert!(!said.contains("c2VjcmV0"), "{said}");
}
