//! Opens the store that a URL names.

use std::sync::Arc;

use midfold_core::redact::mask;

use crate::error::StoreError;
use crate::sql::memory::MemoryStore;
use crate::store::Store;

/// The forms of a store's URL, for messages.
const FORMS: &str = "`memory`, `sqlite:PATH` or `postgres://user:password@host/database`";

/// Opens a store that has to exist already, so that a misspelt name does not create an empty one.
///
/// # Errors
/// Fails as [`open`] does, and with [`StoreError::Url`] where there is no such file.
pub async fn open_existing(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    if let Some(path) = url.strip_prefix("sqlite:") {
        let path = std::path::Path::new(path.strip_prefix("//").unwrap_or(path));
        // An empty path is no missing file: `open` says how a URL has to look.
        if !path.as_os_str().is_empty() && !path.exists() {
            let path = path.display();
            let why =
                format!("there is no store at {path}: name another, or make a session in it first");
            return Err(StoreError::Url(why));
        }
    }
    open(url).await
}

/// Opens the store with this URL: `memory`, `sqlite:PATH`, `postgres://…` or `postgresql://…`. `sqlite://PATH` works,
/// too. A SQLite file and its folder are created where they do not exist.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// assert_eq!(midfold_store::open("memory").await.unwrap().place(), "memory");
/// let error = midfold_store::open("mysql://root:secret@db/x").await.map(drop).unwrap_err();
/// assert!(!error.to_string().contains("secret"));
/// # }
/// ```
///
/// # Errors
/// Fails with [`StoreError::Url`] where the URL names no store, or a kind of store that this build does not have.
/// Other errors are the database's. No message holds a password.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    match scheme {
        "memory" if rest.trim_matches('/').is_empty() => Ok(Arc::new(MemoryStore::new())),
        "sqlite" => sqlite(rest.strip_prefix("//").unwrap_or(rest)).await,
        "postgres" | "postgresql" => postgres(url).await,
        _ => {
            let masked = mask(url);
            Err(StoreError::Url(format!("`{masked}` names no store; write {FORMS}")))
        }
    }
}

async fn sqlite(path: &str) -> Result<Arc<dyn Store>, StoreError> {
    if path.is_empty() || path.starts_with(":memory:") {
        let hint = "a SQLite store needs a path: `sqlite:/folder/file.db`; for none, `memory`";
        return Err(StoreError::Url(hint.to_owned()));
    }
    let store = crate::sql::sqlite::SqliteStore::open(std::path::Path::new(path)).await?;
    Ok(Arc::new(store))
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(crate::sql::postgres::PostgresStore::open(url).await?))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str) -> Result<Arc<dyn Store>, StoreError> {
    let text = "this build has no PostgreSQL: build midfold with the feature `postgres`";
    Err(StoreError::Url(text.to_owned()))
}
