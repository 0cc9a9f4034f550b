//! Counts the tokens of a text, lists presets and tokenizers, and says which version this is.

use midfold::core::TextKind;
use midfold::{Policy, tokens};
use napi_derive::napi;

use crate::context::number;
use crate::errors::Failure;
use crate::options::{CompactOptions, HOST, read_options};

/// Counts the tokens of a text. `options` are the JSON of [`CompactOptions`], of which the tokenizer and the model count.
#[napi]
pub fn count_text(text: String, options: String) -> napi::Result<i64> {
    let count = || {
        let options: CompactOptions = read_options(&options)?;
        let (settings, _, _) = options.into_parts()?;
        let counter = settings.setup(&HOST)?.counter_for(settings.model.as_deref());
        Ok::<_, Failure>(u64::from(counter.count(&text, TextKind::Prose)))
    };
    Ok(number(count()?))
}

/// The names of the presets, `default` first.
#[napi]
pub fn presets() -> Vec<&'static str> {
    Policy::preset_names()
}

/// The names of the tokenizers of this build.
#[napi]
pub fn tokenizers() -> Vec<&'static str> {
    tokens::names()
}

/// The version of the engine.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
