//! `midfold mcp`: the server that an agent starts. Only messages of the protocol go to standard output.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use midfold::store::{Store, StoreError};
use midfold_args::{McpArgs, StoreAt};
use midfold_mcp::{SessionScope, StoreSource, serve_stdio};
use tokio::sync::OnceCell;

use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation, sqlite_path, url_of};
use crate::output::Output;
use crate::runtime::block_on;

pub fn run(args: &McpArgs, output: &Output) -> Result<(), CommandError> {
    let later = LaterStore::of(&args.at)?;
    let (owner, session) = (args.owner.clone(), args.session.clone());
    let scope = SessionScope { owner, session, agent_tools: args.agent_tools };
    if std::io::stdin().is_terminal() {
        output.stderr(
            "speaks the Model Context Protocol on standard input: an agent starts it, Ctrl-C ends it\n",
        );
    }
    block_on(async {
        // A store that cannot be opened fails here, at the start, where the user who set it up sees the error.
        let store = later.open().await?;
        if let (Some(store), Some(id)) = (&store, &args.session)
            && let Err(StoreError::NoSession(_)) = store.session(id).await
        {
            let place = store.place();
            output.stderr(&format!("note: there is no session `{id}` in {place} yet\n"));
        }
        if store.is_none() {
            let path = later.path.as_ref().map(|path| path.display().to_string());
            let path = path.unwrap_or_default();
            output.stderr(&format!(
                "note: there is no store at {path} yet: no sessions until then\n"
            ));
        }
        serve_stdio(later, scope).await.map_err(|error| {
            CommandError::failed(error.to_string())
                .hint("an agent starts this command; `midfold mcp --help` has examples")
        })
    })
}

/// A store that may not exist yet when the server starts. It is opened once it exists.
struct LaterStore {
    at: StoreAt,
    /// The path of a SQLite store. `None` for other stores.
    path: Option<PathBuf>,
    opened: OnceCell<Arc<dyn Store>>,
}

impl LaterStore {
    fn of(at: &StoreAt) -> Result<Self, CommandError> {
        let url = url_of(at)?;
        if url.starts_with("memory") {
            return Err(CommandError::usage("a store in memory has nothing to recall").hint(
                "name the store that your sessions are kept in: --store sqlite:PATH or postgres://…",
            ));
        }
        // The URL is fixed here, so that the server uses the same store as long as it runs.
        let at = StoreAt { store: Some(url.clone()) };
        Ok(Self { at, path: sqlite_path(&url), opened: OnceCell::new() })
    }

    async fn open(&self) -> Result<Option<Arc<dyn Store>>, CommandError> {
        if self.opened.get().is_none() && self.path.as_ref().is_some_and(|path| !path.exists()) {
            return Ok(None);
        }
        let store = self.opened.get_or_try_init(async || {
            Ok::<_, CommandError>(OpenStore::open(&self.at, StoreCreation::No).await?.store)
        });
        Ok(Some(Arc::clone(store.await?)))
    }
}

#[async_trait]
impl StoreSource for LaterStore {
    async fn store(&self) -> Result<Option<Arc<dyn Store>>, String> {
        self.open().await.map_err(|error| error.message)
    }
}
