//! What a door says about hooks: what each adds to a request, and how much room it keeps.

use midfold_core::inject::{InjectError, Injections};

/// The hooks with these reserves, in their order. `texts` are the names of those that add something
/// now: each needs a reserve, and that is found out before anything is folded for it.
///
/// ```
/// use midfold::injections;
/// assert_eq!(injections([("memory", 200)], ["memory"])?.reserve(), 200);
/// assert!(injections([], ["memory"]).is_err());
/// # Ok::<(), midfold::core::inject::InjectError>(())
/// ```
///
/// # Errors
/// When a name comes twice, or one that adds something has no reserve.
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
