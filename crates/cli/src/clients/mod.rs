//! The ways in which clients get the address of the proxy: variables for all, options or files for some. Each way was
//! measured with the client versions of `tools/clients-check`.

mod around;
mod front;
mod instructions;
mod own_provider;

use std::path::Path;

use midfold_serve::config::Provider;

pub use around::ClientSurroundings;
pub use front::{BaseUrlVariable, PROXY_URL_VARIABLE, ProxyFront, VARIABLES};
pub use instructions::ClientInstructions;
pub use own_provider::OwnProvider;

/// A client that midfold recognises by the name of its command.
pub struct KnownClient {
    /// The name of its command, as in `claude`.
    pub name: &'static str,
    /// Its name in texts for people.
    pub title: &'static str,
    /// The providers whose base URL variables the client reads.
    pub providers: &'static [Provider],
    /// Reads the provider from the client's own configuration, which overrides variables.
    own: fn(&ClientSurroundings) -> Option<OwnProvider>,
    /// Makes the instructions that the client needs in addition to the common variables.
    instruct: fn(&ClientSurroundings, &ProxyFront, Option<&OwnProvider>) -> ClientInstructions,
}

/// All clients that midfold knows.
pub const CLIENTS: [KnownClient; 8] = [
    KnownClient {
        name: "claude",
        title: "Claude Code",
        providers: &[Provider::Anthropic],
        own: own_provider::claude,
        instruct: instructions::claude,
    },
    KnownClient {
        name: "codex",
        title: "Codex CLI",
        providers: &[],
        own: own_provider::codex,
        instruct: instructions::codex,
    },
    KnownClient {
        name: "opencode",
        title: "opencode",
        providers: &[Provider::OpenAi, Provider::Anthropic],
        own: own_provider::opencode,
        instruct: instructions::opencode,
    },
    KnownClient {
        name: "pi",
        title: "pi",
        providers: &[],
        own: own_provider::pi,
        instruct: instructions::pi,
    },
    KnownClient {
        name: "hermes",
        title: "Hermes Agent",
        providers: &[Provider::OpenAi, Provider::Anthropic, Provider::Gemini],
        own: own_provider::hermes,
        instruct: instructions::hermes,
    },
    KnownClient {
        name: "qwen",
        title: "Qwen Code",
        providers: &[Provider::OpenAi],
        own: own_provider::none,
        instruct: instructions::nothing,
    },
    KnownClient {
        name: "gemini",
        title: "Gemini CLI",
        providers: &[Provider::Gemini],
        own: own_provider::none,
        instruct: instructions::nothing,
    },
    KnownClient {
        name: "aider",
        title: "aider",
        providers: &[Provider::OpenAi, Provider::Anthropic],
        own: own_provider::none,
        instruct: instructions::nothing,
    },
];

impl KnownClient {
    /// The client whose command has this name, or ends a path with this name. `None` where midfold does not know it.
    pub fn of(command: &Path) -> Option<Self> {
        let name = command.file_stem()?.to_str()?;
        CLIENTS.into_iter().find(|client| client.name == name)
    }

    /// The provider to which the client's own configuration sends its requests; `None` where it names none.
    pub fn own(&self, around: &ClientSurroundings) -> Option<OwnProvider> {
        (self.own)(around)
    }

    /// The arguments and variables that the client needs in addition to the common variables.
    pub fn instructions(
        &self,
        around: &ClientSurroundings,
        front: &ProxyFront,
        own: Option<&OwnProvider>,
    ) -> ClientInstructions {
        (self.instruct)(around, front, own)
    }
}
