//! `midfold mcp`: the server that an agent starts. Only messages of the protocol go to standard output.

use std::io::IsTerminal;
use std::sync::Arc;

use async_trait::async_trait;
use midfold::store::{Store, StoreError, StoreUrl};
use midfold_args::{McpArgs, StoreAt};
use midfold_mcp::{SessionScope, StoreSource, serve_stdio};
use tokio::sync::OnceCell;

use crate::error::CommandError;
use crate::host::{OpenStore, sqlite_path, url_of};
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
        if let (None, Some(path)) = (&store, later.at.store.as_deref().and_then(sqlite_path)) {
            let path = path.display();
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
    opened: OnceCell<Arc<dyn Store>>,
}

impl LaterStore {
    fn of(at: &StoreAt) -> Result<Self, CommandError> {
        let url = url_of(at)?;
        if matches!(StoreUrl::read(&url), Ok(StoreUrl::Memory)) {
            return Err(CommandError::usage("a store in memory has nothing to recall").hint(
                "name the store that your sessions are kept in: --store sqlite:PATH or postgres://…",
            ));
        }
        // The URL is fixed here, so that the server uses the same store as long as it runs.
        Ok(Self { at: StoreAt { store: Some(url) }, opened: OnceCell::new() })
    }

    async fn open(&self) -> Result<Option<Arc<dyn Store>>, CommandError> {
        if let Some(store) = self.opened.get() {
            return Ok(Some(Arc::clone(store)));
        }
        let Some(host) = OpenStore::open_if_there(&self.at).await? else { return Ok(None) };
        Ok(Some(Arc::clone(self.opened.get_or_init(async || host.store).await)))
    }
}

#[async_trait]
impl StoreSource for LaterStore {
    async fn store(&self) -> Result<Option<Arc<dyn Store>>, String> {
        self.open().await.map_err(|error| error.message)
    }
}
