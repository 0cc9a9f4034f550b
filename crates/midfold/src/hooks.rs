//! Makes the hooks of a door from their names, their reserves and the names of their texts.

use midfold_core::inject::{InjectError, Injections};

/// Returns hooks with these reserves in tokens, in this order. `texts` are the names of the hooks that add a text now.
/// Each needs a reserve; that is checked here, before anything is folded for the request.
///
/// ```
/// use midfold::injections;
/// assert_eq!(injections([("memory", 200)], ["memory"])?.reserve(), 200);
/// assert!(injections([], ["memory"]).is_err());
/// # Ok::<(), midfold::core::inject::InjectError>(())
/// ```
///
/// # Errors
/// If a name comes twice, or if a hook with a text has no reserve.
pub fn injections<'a>(
    reserves: impl IntoIterator<Item = (&'a str, u64)>,
    texts: impl IntoIterator<Item = &'a str>,
) -> Result<Injections, InjectError> {
    let mut hooks = Injections::default();
    for (name, tokens) in reserves {
        hooks.register(name, tokens)?;
    }
    let without = |name: &&str| !hooks.hooks().iter().any(|hook| hook.name == *name);
    match texts.into_iter().find(without) {
        Some(name) => Err(InjectError::Unknown(name.to_owned())),
        None => Ok(hooks),
    }
}
