//! What stored sessions need of the outside: a store, a clock, randomness, a runtime.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use midfold::core::plan::PlanError;
use midfold::store::{self, Millis, Store, StoreError, Stored, StoredError, mask};

use crate::args::StoreAt;
use crate::error::{CommandError, nearest};
use crate::words::{grouped, number};

/// Names a store for all commands.
const VARIABLE: &str = "MIDFOLD_STORE";
/// Ids that are looked at for the one that was perhaps meant.
const LOOKED_AT: u32 = 1_000;

/// An open store.
pub struct Host {
    pub store: Arc<dyn Store>,
    /// Nothing outlives the command.
    pub is_memory: bool,
}

/// Whether a command may make the store that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    Yes,
    No,
}

impl Host {
    pub async fn open(at: &StoreAt, make: Make) -> Result<Self, CommandError> {
        let url = url_of(at)?;
        let is_memory = url.starts_with("memory");
        let path = sqlite_path(&url);
        if let Some(path) = &path {
            check(path, make)?;
        }
        let store = store::open(&url).await.map_err(|error| unopened(&url, &error))?;
        Ok(Self { store, is_memory })
    }

    /// A session, or which one was perhaps meant.
    pub async fn session(&self, id: &str) -> Result<Stored, CommandError> {
        match Stored::open(self.store.clone(), id).await {
            Ok(stored) => Ok(stored),
            Err(error) => Err(self.failed(error).await),
        }
    }

    /// Why a session did not do it, and what to do.
    pub async fn failed(&self, error: StoredError) -> CommandError {
        match error {
            StoredError::Store(error) => self.store_failed(error).await,
            StoredError::Plan(error) => plan_failed(&error),
            StoredError::Unknown { .. } => CommandError::failed(error.to_string()).hint(
                "it was made by another build; update midfold, or build it with that feature",
            ),
            StoredError::NoEvent { session, seq, events } => {
                let have = match events {
                    0 => "it has none yet".to_owned(),
                    1 => "it has one, number 0".to_owned(),
                    many => format!("it has {} (0 to {})", number(many), number(many - 1)),
                };
                CommandError::failed(format!("session `{session}` has no message {seq}: {have}"))
                    .hint(format!("`midfold session log {session}` lists them"))
            }
            other => CommandError::failed(other.to_string()),
        }
    }

    /// The same for the store itself.
    pub async fn store_failed(&self, error: StoreError) -> CommandError {
        let text = error.to_string();
        match error {
            StoreError::NoSession(id) => self.no_session(&id).await,
            StoreError::Exists(id) => CommandError::failed(text).hint(format!(
                "choose another --id, or go on with it: midfold session status {id}"
            )),
            StoreError::Conflict { .. } => CommandError::failed(text)
                .hint("nothing was appended; without --expect it would be"),
            StoreError::KeyReused(_) => CommandError::failed(text)
                .hint("nothing was appended; a key names one append for ever: use a new one"),
            StoreError::Damaged(_) => CommandError::failed(text)
                .hint("`midfold store fsck` checks everything and says what to do"),
            StoreError::Backend(_) => backend_failed(text),
            StoreError::Settled(_) => CommandError::failed(text)
                .hint("what a call cost is written down once; name another one with --call"),
            _ => CommandError::failed(text),
        }
    }

    async fn no_session(&self, id: &str) -> CommandError {
        let error =
            CommandError::failed(format!("there is no session `{id}` in {}", self.store.place()));
        if self.is_memory {
            return error.hint("a store in memory is empty at every command: use sqlite:PATH");
        }
        let rows = self.store.sessions(None, LOOKED_AT).await.unwrap_or_default();
        if rows.is_empty() {
            return error.hint("it holds none: `midfold session new` makes one");
        }
        let near = nearest(id, rows.iter().map(|row| row.new.id.as_str()));
        error
            .maybe_hint(near.map(|near| format!("did you mean `{near}`?")))
            .hint("`midfold session list` shows those that are there")
    }
}

/// What may not be folded is larger than the window, or the like.
fn plan_failed(error: &PlanError) -> CommandError {
    let failed = CommandError::failed(grouped(&error.to_string()));
    match error {
        PlanError::Floor(_) => failed
            .hint("import or fork it into a session with a larger --window, or unpin messages"),
        PlanError::Off { .. } => failed.hint("`midfold session compact ID` folds all the same"),
        PlanError::Budget(_) => failed.hint("raise --window or lower --output-reserve"),
    }
}

fn backend_failed(text: String) -> CommandError {
    let readonly = text.contains("readonly") || text.contains("read-only");
    let error = CommandError::failed(text);
    if readonly {
        return error
            .hint("the file or its folder may not be written: SQLite keeps a log beside the file");
    }
    error
}

fn unopened(url: &str, error: &StoreError) -> CommandError {
    let text = error.to_string();
    if let StoreError::Url(_) = error {
        let looks_like_path = !url.contains("://") && !url.starts_with("sqlite:");
        let bare = looks_like_path && (url.contains('/') || Path::new(url).extension().is_some());
        // The URL names a store that is there, and of no use: another program's, a newer one's.
        let known = url.starts_with("sqlite:") || url.starts_with("postgres");
        let error = if known && text.contains("the file ") || text.contains("the tables ") {
            CommandError::failed(text)
        } else {
            CommandError::usage(text)
        };
        return error.maybe_hint(bare.then(|| format!("for a file: --store sqlite:{url}")));
    }
    let shown = mask(url);
    if url.starts_with("postgres") {
        return CommandError::failed(text).hint(format!(
            "asked for {shown}: is the server up, and are name and password right?"
        ));
    }
    if text.contains("not a database") || text.contains("unsupported file format") {
        return CommandError::failed(text).hint("name another file with --store sqlite:PATH");
    }
    if text.contains("unable to open") {
        return CommandError::failed(text)
            .hint("the file or its folder may not be read or written: choose another --store");
    }
    backend_failed(text)
}

/// `--store`, the environment, or the file in the user's data folder.
fn url_of(at: &StoreAt) -> Result<String, CommandError> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(url) = at.store.clone().or_else(|| set(VARIABLE)) {
        return Ok(url);
    }
    let home = || set("HOME").map(PathBuf::from);
    let data = if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else if cfg!(windows) {
        set("LOCALAPPDATA").map(PathBuf::from)
    } else {
        // The specification says that a relative path is to be ignored.
        let given = set("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        given.or_else(|| home().map(|home| home.join(".local/share")))
    };
    match data {
        Some(data) => Ok(format!("sqlite:{}", data.join("midfold/midfold.db").display())),
        None => Err(CommandError::usage("there is no data folder to keep sessions in")
            .hint(format!("name a store: --store sqlite:PATH, or set {VARIABLE}"))),
    }
}

fn sqlite_path(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    Some(PathBuf::from(rest.strip_prefix("//").unwrap_or(rest)))
}

/// A name with a slip in it must not make an empty store and find nothing there.
fn check(path: &Path, make: Make) -> Result<(), CommandError> {
    if path.is_dir() {
        let inside = path.join("midfold.db");
        return Err(CommandError::failed(format!(
            "{} is a directory, not a store",
            path.display()
        ))
        .hint(format!("name a file in it: --store sqlite:{}", inside.display())));
    }
    if make == Make::No && !path.as_os_str().is_empty() && !path.exists() {
        return Err(CommandError::failed(format!("there is no store at {}", path.display()))
            .hint("`midfold session new` or `midfold import` makes it; or name another --store"));
    }
    Ok(())
}

/// Runs a command that waits for a store. Made here and for one command only: those without a
/// store start without a runtime.
pub fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime
        .map_err(|error| CommandError::failed(format!("no thread can be started: {error}")))?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}

/// Milliseconds since 1970.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// Not to be guessed from the number before, and not for secrets.
pub fn random() -> u64 {
    RandomState::new().hash_one(now())
}

/// A new id: 26 letters and digits that sort by the time they were made (10 of the milliseconds,
/// 16 random ones).
pub fn new_id(now: Millis, random: [u64; 2]) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let digits = |value: u64, count: u32| {
        (0..count).rev().map(move |at| {
            let five = usize::try_from(value >> (5 * at) & 31).unwrap_or(0);
            char::from(DIGITS[five])
        })
    };
    digits(now, 10).chain(digits(random[0], 8)).chain(digits(random[1], 8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_differ() {
        let ids: Vec<_> = [(1, [9, 9]), (1_000, [0, 0]), (1_795_305_600_000, [1, 2])]
            .map(|(now, random)| new_id(now, random))
            .into();
        assert!(ids.is_sorted() && ids.iter().all(|id| id.len() == 26), "{ids:?}");
        assert_ne!(new_id(5, [random(), random()]), new_id(5, [random(), random()]));
    }
}
