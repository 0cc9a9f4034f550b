//! The lines that a server prints when it has started.

use midfold::Settings;
use midfold_args::ProxyArgs;
use midfold_serve::config::Provider;
use serde_json::json;

use crate::clients::ProxyFront;
use crate::config;
use crate::env;
use crate::error::CommandError;
use crate::output::Output;
use crate::saving::ServedPolicy;
use midfold::number;

/// The lines that a server prints when it has started.
pub struct CommandBanner {
    /// The proxy's address and its upstreams.
    pub front: ProxyFront,
    /// The policies by name, and where they were set: a flag, a file or the default.
    pub policy: (ServedPolicy, String),
    /// The window in tokens and where it was set. `None` where each model has its own window.
    pub window: Option<(u64, String)>,
    /// Where conversations are kept.
    pub store: String,
    /// Whether models look up what was folded.
    pub recalls: bool,
}

impl CommandBanner {
    /// Finds out where the policy and the window were set: a flag, a variable, a file or the default.
    pub fn new(
        front: ProxyFront,
        policy: ServedPolicy,
        args: &ProxyArgs,
        store: String,
        recalls: bool,
    ) -> Result<Self, CommandError> {
        let named = |settings: &Settings| settings.preset.is_some() || settings.policy.is_some();
        let policy_from = match (&args.folding.preset, &args.folding.policy) {
            (Some(_), _) => "--preset".to_owned(),
            (None, Some(_)) => "--policy".to_owned(),
            _ => config::source(named)?.unwrap_or_else(|| "the default".to_owned()),
        };
        let in_file = || config::source(|settings| settings.window.is_some());
        let window = match (args.measure.window, env::window()?) {
            (Some(window), _) => Some((window, "--window".to_owned())),
            (None, Some(window)) => Some((window, env::WINDOW.to_owned())),
            _ => config::settings()?.window.zip(in_file()?),
        };
        Ok(Self { front, policy: (policy, policy_from), window, store, recalls })
    }

    /// Prints the banner: as text on standard error, or with `json` as one line of JSON on standard output.
    pub fn say(&self, json: bool, output: &Output) -> Result<(), CommandError> {
        let Self { front, policy: (policy, policy_from), window, store, recalls } = self;
        let (url, upstreams) = (&front.origin, front.upstreams.to_string());
        if json {
            let line = json!({
                "listen": url, "upstreams": upstreams, "policy": policy.name, "policy_from": policy_from,
                "window": window.as_ref().map(|(window, _)| window),
                "window_from": window.as_ref().map(|(_, from)| from), "store": store,
                "recall": recalls,
            });
            return output.stdout(format!("{line}\n"));
        }
        let window = window.as_ref().map_or_else(
            || "each model's own window".to_owned(),
            |(window, from)| format!("a window of {} tokens ({from})", number(*window)),
        );
        let recall = match recalls {
            true => {
                "from the first fold on, the model can look up what was folded (--recall never)"
            }
            false => "the model cannot look up what was folded (--recall)",
        };
        output.stderr(&format!(
            "midfold listens on {url}; a browser shows what it does there\n  \
             sends to   {upstreams}\n  \
             folds by   {policy}, {policy_from}; for {window}; keeps conversations in {store}\n  \
             recall     {recall}\n  \
             use it by  export {}\n",
            self.exports()
        ));
        Ok(())
    }

    /// The variables, as `NAME=URL` with spaces between, that make most clients send their requests to the proxy.
    fn exports(&self) -> String {
        let base = |provider, end| self.front.base(provider, end, None);
        [
            ("OPENAI_BASE_URL", base(Provider::OpenAi, "/v1")),
            ("ANTHROPIC_BASE_URL", base(Provider::Anthropic, "")),
            ("GOOGLE_GEMINI_BASE_URL", base(Provider::Gemini, "")),
        ]
        .map(|(name, url)| format!("{name}={url}"))
        .join(" ")
    }
}
