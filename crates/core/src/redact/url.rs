//! Masks URLs of stores and servers for display.

use std::ops::Range;

/// Replaces each password in a URL with `***`.
///
/// People write passwords unescaped, so a password may hold `/`, `?`, `#`, `:` and `@`. Such a URL can be read in
/// several ways. Here the password is the longest text that it can be, so that no reading shows a part of it; the
/// price is that an `@` in the query can hide the host. A text without `://` is no URL and stays as it is.
#[must_use]
pub fn mask(url: &str) -> String {
    let Some(rest) = url.find("://").map(|at| at + "://".len()) else { return url.to_owned() };
    let mut secrets = query_passwords(url, rest);
    secrets.extend(user_password(url, rest));
    secrets.sort_by_key(|secret| secret.start);
    let (mut out, mut shown) = (String::new(), 0);
    for secret in secrets {
        // A secret that starts inside another one only makes that one longer.
        if let Some(between) = url.get(shown..secret.start) {
            out.push_str(between);
            out.push_str("***");
        }
        shown = shown.max(secret.end);
    }
    out + &url[shown..]
}

/// The password of `user:password@host`: from the first `:` behind the scheme to the last `@` of the URL.
fn user_password(url: &str, rest: usize) -> Option<Range<usize>> {
    let start = rest + url[rest..].find(':')? + 1;
    let end = start + url[start..].rfind('@')?;
    Some(start..end)
}

/// The values of the query's parameters whose names contain `password`.
fn query_passwords(url: &str, rest: usize) -> Vec<Range<usize>> {
    let Some(query) = url[rest..].find('?').map(|at| rest + at + 1) else { return Vec::new() };
    let mut secrets = Vec::new();
    let mut start = query;
    for pair in url[query..].split('&') {
        let end = start + pair.len();
        if let Some((name, value)) = pair.split_once('=')
            && name.contains("password")
        {
            secrets.push(end - value.len()..end);
        }
        start = end + 1;
    }
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_password_is_shown() {
        for (url, masked) in [
            ("postgres://u:p?w@host/db", "postgres://u:***@host/db"),
            ("postgres://u:p#w@host/db", "postgres://u:***@host/db"),
            ("postgres://u:p/w@host/db", "postgres://u:***@host/db"),
            ("postgres://u:12/w@host/db", "postgres://u:***@host/db"),
            ("postgres://u:p@s?s@host:5432/db", "postgres://u:***@host:5432/db"),
            ("postgres://u:p?a=b&c@host/db", "postgres://u:***@host/db"),
            ("postgres://me@corp.io:p@w@host/db", "postgres://me@corp.io:***@host/db"),
            ("postgres://u:é?é@host/db", "postgres://u:***@host/db"),
            ("postgres:///db?host=/run&password=p@w", "postgres:///db?host=/run&password=***"),
            ("postgres:///db?password=a:b@c&x=y", "postgres:///db?password=***&x=y"),
            ("postgres://u:p@host/db?password=s@t", "postgres://u:***"),
            (
                "postgres://u:p@host/db?sslpassword=s&x",
                "postgres://u:***@host/db?sslpassword=***&x",
            ),
        ] {
            assert_eq!(mask(url), masked, "{url}");
            assert_eq!(mask(masked), masked);
        }
    }

    #[test]
    fn a_url_without_a_password_is_shown_whole() {
        for url in [
            "http://localhost:8080/v1?a=b#c",
            "https://user@host/db",
            "postgres:///db?host=/run/postgresql",
            "sqlite:/a/b:c@d",
            "memory",
            "",
        ] {
            assert_eq!(mask(url), url);
        }
    }
}
