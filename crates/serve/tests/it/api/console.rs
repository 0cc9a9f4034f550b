//! The page, as it is handed out.

use super::Asking;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_loads_its_own_files_and_nothing_else() {
    let asking = Asking::new().await;
    let page = asking.get("/").await;
    let text = String::from_utf8_lossy(&page.body).into_owned();
    assert_eq!(page.kind, "text/html; charset=utf-8");
    for (path, kind) in [("/console.js", "text/javascript"), ("/console.css", "text/css")] {
        assert!(text.contains(&format!("\"{path}\"")), "{text}");
        let file = asking.get(path).await;
        assert!(file.status.is_success() && file.kind.starts_with(kind), "{path} {}", file.kind);
        assert!(!file.body.is_empty());
    }
    assert!(!text.contains("http:") && !text.contains("https:"), "{text}");
    // Nothing of them went to the provider.
    assert!(asking.setting.upstream.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_of_anthropic_are_anthropics() {
    let asking = Asking::new().await;
    let asker = asking.asker().header("anthropic-version", "2023-06-01");
    let _ = asker.get("/v1/sessions").await;
    assert_eq!(asking.setting.upstream.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_store_it_says_so() {
    let asking = Asking::with(|config| config.store = None).await;
    assert_eq!(asking.get("/v1/sessions").await.problem(503), "memory");
}
