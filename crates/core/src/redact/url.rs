//! Masks URLs of stores and servers for display.

/// The URL with `***` in the place of a password.
#[must_use]
pub fn mask(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((name, _)) => format!("{name}:***@{host}"),
            None => authority.to_owned(),
        },
        None => authority.to_owned(),
    };
    let hidden = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if name.contains("password") => format!("{name}=***"),
        _ => pair.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(hidden).collect();
    let mark = if rest.contains('?') { "?" } else { "" };
    format!("{scheme}://{authority}{mark}{}", query.join("&"))
}
