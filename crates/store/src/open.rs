//! Opens the store that a URL names.

use std::path::Path;
use std::pin::Pin;
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
    if let StoreUrl::Sqlite(path) = StoreUrl::read(url)?
        && !path.exists()
    {
        let path = path.display();
        let why =
            format!("there is no store at {path}: name another, or make a session in it first");
        return Err(StoreError::Url(why));
    }
    open(url).await
}

/// What the URL of a store names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreUrl<'a> {
    /// A store in memory, which ends with its program.
    Memory,
    /// The file of a SQLite store.
    Sqlite(&'a Path),
    /// A PostgreSQL database.
    Postgres,
}

impl<'a> StoreUrl<'a> {
    /// Reads a URL as [`open`] does, without opening anything.
    ///
    /// ```
    /// use std::path::Path;
    /// use midfold_store::StoreUrl;
    /// assert_eq!(StoreUrl::read("sqlite:a/b.db").unwrap(), StoreUrl::Sqlite(Path::new("a/b.db")));
    /// assert_eq!(StoreUrl::read("memory").unwrap(), StoreUrl::Memory);
    /// assert!(StoreUrl::read("sqlite::memory:").is_err() && StoreUrl::read("memory.db").is_err());
    /// ```
    ///
    /// # Errors
    /// Fails with [`StoreError::Url`] where the URL names no store, and where that of a SQLite store has no path, or
    /// options behind it. No message holds a password.
    pub fn read(url: &'a str) -> Result<Self, StoreError> {
        let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
        match scheme {
            "memory" if rest.trim_matches('/').is_empty() => Ok(Self::Memory),
            "sqlite" => sqlite_path(rest).map(Self::Sqlite),
            "postgres" | "postgresql" => Ok(Self::Postgres),
            _ => {
                let masked = mask(url);
                Err(StoreError::Url(format!("`{masked}` names no store; write {FORMS}")))
            }
        }
    }
}

/// The path of a SQLite store, from what is behind the scheme of its URL.
fn sqlite_path(rest: &str) -> Result<&Path, StoreError> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() || path.starts_with(":memory:") {
        let hint = "a SQLite store needs a path: `sqlite:/folder/file.db`; for none, `memory`";
        return Err(StoreError::Url(hint.to_owned()));
    }
    match path.split_once('?') {
        None => Ok(Path::new(path)),
        Some((path, options)) => Err(StoreError::Url(format!(
            "a SQLite store takes no options, and here are some: `?{options}`; write `sqlite:{path}`"
        ))),
    }
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
    opening(url).await
}

/// A store that is being opened.
type StoreOpening<'a> =
    Pin<Box<dyn Future<Output = Result<Arc<dyn Store>, StoreError>> + Send + 'a>>;

/// On the heap, so that what connects to a database is compiled here and not in each crate that opens a store.
fn opening(url: &str) -> StoreOpening<'_> {
    Box::pin(async move {
        let store: Arc<dyn Store> = match StoreUrl::read(url)? {
            StoreUrl::Memory => Arc::new(MemoryStore::new()),
            StoreUrl::Sqlite(path) => Arc::new(crate::sql::sqlite::SqliteStore::open(path).await?),
            StoreUrl::Postgres => postgres(url).await?,
        };
        Ok(store)
    })
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
