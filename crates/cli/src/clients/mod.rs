//! How clients are told where their requests go: by variables, and some by more than that. What is
//! here was measured with the versions of `tools/clients-check`.

mod around;
mod front;
mod own;
mod told;

use std::path::Path;

use midfold_serve::config::Provider;

pub use around::Surroundings;
pub use front::{Front, URL, VARIABLES, Variable};
pub use own::Own;
pub use told::Told;

/// A client that is known by the name of its command.
pub struct Client {
    /// The name of its command.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Whose variables it reads.
    pub providers: &'static [Provider],
    /// The provider that its own configuration names, which wins over variables.
    own: fn(&Surroundings) -> Option<Own>,
    /// What it needs beside the variables.
    told: fn(&Surroundings, &Front, Option<&Own>) -> Told,
}

/// All clients that are known.
pub const CLIENTS: [Client; 8] = [
    Client {
        name: "claude",
        title: "Claude Code",
        providers: &[Provider::Anthropic],
        own: own::claude,
        told: told::claude,
    },
    Client {
        name: "codex",
        title: "Codex CLI",
        providers: &[],
        own: own::codex,
        told: told::codex,
    },
    Client {
        name: "opencode",
        title: "opencode",
        providers: &[Provider::OpenAi, Provider::Anthropic],
        own: own::opencode,
        told: told::opencode,
    },
    Client { name: "pi", title: "pi", providers: &[], own: own::pi, told: told::pi },
    Client {
        name: "hermes",
        title: "Hermes Agent",
        providers: &[Provider::OpenAi, Provider::Anthropic, Provider::Gemini],
        own: own::hermes,
        told: told::hermes,
    },
    Client {
        name: "qwen",
        title: "Qwen Code",
        providers: &[Provider::OpenAi],
        own: own::none,
        told: told::nothing,
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        providers: &[Provider::Gemini],
        own: own::none,
        told: told::nothing,
    },
    Client {
        name: "aider",
        title: "aider",
        providers: &[Provider::OpenAi, Provider::Anthropic],
        own: own::none,
        told: told::nothing,
    },
];

impl Client {
    /// The client of this name, or of a path that ends with it.
    pub fn of(command: &Path) -> Option<Self> {
        let name = command.file_stem()?.to_str()?;
        CLIENTS.into_iter().find(|client| client.name == name)
    }

    /// What its configuration says about where its requests go.
    pub fn own(&self, around: &Surroundings) -> Option<Own> {
        (self.own)(around)
    }

    /// What it needs beside the variables.
    pub fn told(&self, around: &Surroundings, front: &Front, own: Option<&Own>) -> Told {
        (self.told)(around, front, own)
    }
}
