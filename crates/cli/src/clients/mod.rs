//! How clients are told where their requests go: by variables, and some by more than that. What is
//! here was measured with the versions of `tools/clients-check`.

mod around;
mod front;
mod instructions;
mod own_provider;

use std::path::Path;

use midfold_serve::config::Provider;

pub use around::ClientSurroundings;
pub use front::{BaseUrlVariable, ProxyFront, URL, VARIABLES};
pub use instructions::ClientInstructions;
pub use own_provider::OwnProvider;

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
        own: own_provider::claude,
        told: instructions::claude,
    },
    KnownClient {
        name: "codex",
        title: "Codex CLI",
        providers: &[],
        own: own_provider::codex,
        told: instructions::codex,
    },
    KnownClient {
        name: "opencode",
        title: "opencode",
        providers: &[Provider::OpenAi, Provider::Anthropic],
        own: own_provider::opencode,
        told: instructions::opencode,
    },
    KnownClient {
        name: "pi",
        title: "pi",
        providers: &[],
        own: own_provider::pi,
        told: instructions::pi,
    },
    KnownClient {
        name: "hermes",
        title: "Hermes Agent",
        providers: &[Provider::OpenAi, Provider::Anthropic, Provider::Gemini],
        own: own_provider::hermes,
        told: instructions::hermes,
    },
    KnownClient {
        name: "qwen",
        title: "Qwen Code",
        providers: &[Provider::OpenAi],
        own: own_provider::none,
        told: instructions::nothing,
    },
    KnownClient {
        name: "gemini",
        title: "Gemini CLI",
        providers: &[Provider::Gemini],
        own: own_provider::none,
        told: instructions::nothing,
    },
    KnownClient {
        name: "aider",
        title: "aider",
        providers: &[Provider::OpenAi, Provider::Anthropic],
        own: own_provider::none,
        told: instructions::nothing,
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
