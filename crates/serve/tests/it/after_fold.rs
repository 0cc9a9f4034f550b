//! What the settings put back after each fold, as a provider gets it.

use std::sync::Arc;

use midfold::AfterFold;
use midfold::core::fold::PutBackSource;
use midfold::store::fsck::fsck;
use midfold::store::{MemoryStore, Store, StoredSession};
use midfold_testkit::upstream::agent::{ClientAgent, RunEnd};
use midfold_testkit::upstream::{UpstreamScript, UpstreamSettings, WireDialect, task};

use crate::setting::{Setting, rules};

const STEPS: u32 = 60;
const LIMIT: u64 = 12_000;

async fn put_back(dialect: WireDialect, stream: bool) {
    let name = format!("{dialect:?} stream={stream}");
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("PLAN.md");
    std::fs::write(&plan, "Mend the quay gate first.").unwrap();
    let said = AfterFold {
        text: Some("Answer in short sentences.".to_owned()),
        files: vec![plan.clone(), folder.path().join("gone.md")],
        ..AfterFold::default()
    };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let script = UpstreamScript::shell_loop(STEPS);
    let settings = UpstreamSettings { limit: Some(LIMIT), script, ..UpstreamSettings::default() };
    let setting = Setting::with(settings, |config| {
        config.rules = rules().window(LIMIT).hooked(said.hooks(|_, _| {}));
        config.store = Some(Arc::clone(&store));
    })
    .await;
    let agent =
        ClientAgent { stream, task: task(STEPS), ..ClientAgent::new(dialect, &setting.url()) };
    let mut agent = agent.start();
    let sent = || {
        let last = setting.upstream.requests().last().unwrap().body.clone();
        String::from_utf8_lossy(&last).into_owned()
    };
    while setting.figure("midfold_folds_total") == 0 {
        assert!(agent.end().is_none(), "{name}: {:?}", agent.end());
        agent.turn().await;
    }
    for text in ["Mend the quay gate first.", "Answer in short sentences.", "no such file"] {
        assert_eq!(sent().matches(text).count(), 1, "{name}: {text}");
    }
    // What the file says now comes with the next fold, and not before.
    std::fs::write(&plan, "The quay gate is mended.").unwrap();
    while setting.figure("midfold_folds_total") == 1 {
        assert!(sent().contains("Mend the quay gate first."), "{name}");
        assert!(agent.end().is_none(), "{name}: {:?}", agent.end());
        agent.turn().await;
    }
    assert!(sent().contains("The quay gate is mended."), "{name}");
    assert!(!sent().contains("Mend the quay gate first."), "{name}");
    while agent.end().is_none() {
        agent.turn().await;
    }
    assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{name}: {:?}", agent.end());
    let (stats, folds) = (setting.upstream.stats(), setting.figure("midfold_folds_total"));
    assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
    assert!(stats.rewrites <= folds, "{name}: {} rewrites, {folds} folds", stats.rewrites);
    setting.proxy.stop().await;
    let id = store.sessions(None, 10).await.unwrap().pop().unwrap().new.id;
    let stored = StoredSession::open(Arc::clone(&store), &id).await.unwrap();
    for fold in stored.folds().await.unwrap() {
        let parts = fold.put_back.unwrap().parts;
        let missing: Vec<_> = parts.iter().map(|it| (it.source, it.missing.is_some())).collect();
        let (text, file) = (PutBackSource::Text, PutBackSource::File);
        assert_eq!(missing, [(text, false), (file, false), (file, true)], "{name}");
    }
    assert!(fsck(&*store).await.unwrap().is_clean(), "{name}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_settings_put_back_stands_in_its_place_until_the_next_fold() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            put_back(dialect, stream).await;
        }
    }
}
