//! How clients are told where their requests go: by variables, and some by more than that. What is
//! here was measured with the versions of `tools/clients-check`.

mod around;
mod front;
mod own;
mod told;

use std::path::Path;

use midfold_serve::config::Provider;

pub use around::ClientSurroundings;
pub use front::{BaseUrlVariable, ProxyFront, URL, VARIABLES};
pub use own::OwnProvider;
pub use told::ClientInstructions;

/// A client that is known by the name of its command.
pub struct KnownClient {
    /// The name of its command.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Whose variables it reads.
    pub providers: &'static [Provider],
    /// The provider that its own configuration names, which wins over variables.
    own: fn(&ClientSurroundings) -> Option<OwnProvider>,
    /// What it needs beside the variables.
    told: fn(&ClientSurroundings, &ProxyFront, Option<&OwnProvider>) -> ClientInstructions,
}

/// All clients that are known.
pub const CLIENTS: [KnownClient; 8] = [
    KnownClient {
        name: "claude",
        title: "Claude Code",
        providers: &[Provider::Anthropic],
        own: own::claude,
        told: told::claude,
    },
    KnownClient {
        name: "codex",
        title: "Codex CLI",
        providers: &[],
        own: own::codex,
        told: told::codex,
    },
    KnownClient {
        name: "opencode",
        title: "opencode",
        providers: &[Provider::OpenAi, Provider::Anthropic],
        own: own::opencode,
        told: told::opencode,
    },
    KnownClient { name: "pi", title: "pi", providers: &[], own: own::pi, told: told::pi },
    KnownClient {
        name: "hermes",
        title: "Hermes Agent",
        providers: &[Provider::OpenAi, Provider::Anthropic, Provider::Gemini],
        own: own::hermes,
        told: told::hermes,
    },
    KnownClient {
        name: "qwen",
        title: "Qwen Code",
        providers: &[Provider::OpenAi],
        own: own::none,
        told: told::nothing,
    },
    KnownClient {
        name: "gemini",
        title: "Gemini CLI",
        providers: &[Provider::Gemini],
        own: own::none,
        told: told::nothing,
    },
    KnownClient {
        name: "aider",
        title: "aider",
        providers: &[Provider::OpenAi, Provider::Anthropic],
        own: own::none,
        told: told::nothing,
    },
];

impl KnownClient {
    /// The client of this name, or of a path that ends with it.
    pub fn of(command: &Path) -> Option<Self> {
        let name = command.file_stem()?.to_str()?;
        CLIENTS.into_iter().find(|client| client.name == name)
    }

    /// What its configuration says about where its requests go.
    pub fn own(&self, around: &ClientSurroundings) -> Option<OwnProvider> {
        (self.own)(around)
    }

    /// What it needs beside the variables.
    pub fn told(
        &self,
        around: &ClientSurroundings,
        front: &ProxyFront,
        own: Option<&OwnProvider>,
    ) -> ClientInstructions {
        (self.told)(around, front, own)
    }
}
