//! Reads from the name of a Claude model whether it binds its reasoning.

/// The families that are older than bound reasoning. All younger families bind it.
const OLDER: &[&str] = &["opus", "sonnet", "haiku", "instant"];
/// The first version in which the older families bind their reasoning.
const BINDS_FROM: (u32, u32) = (5, 5);
/// The most digits of a version; a longer number is a date.
const VERSION_DIGITS: usize = 2;

/// Whether a model binds its reasoning to all messages before it. This is a rule and no list, so that it covers future
/// models: a name without a version is its provider's newest model.
pub(super) fn binds_reasoning(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    let Some(at) = model.rfind("claude") else { return false };
    let words = model[at + "claude".len()..]
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let (mut family, mut version) = (None, Vec::new());
    for word in words {
        match word.parse::<u32>() {
            Ok(number) if word.len() <= VERSION_DIGITS && version.len() < 2 => version.push(number),
            // A date, or the revision after it, ends the name.
            Ok(_) => break,
            Err(_) if family.is_none() && word.bytes().all(|b| b.is_ascii_alphabetic()) => {
                family = Some(word);
            }
            Err(_) => break,
        }
    }
    // A name without a family is one of the first versions: `claude-2.1`.
    let is_older = family.is_none_or(|family| OLDER.contains(&family));
    match version[..] {
        [] => family.is_some_and(|family| family != "instant"),
        [major] => !is_older || (major, 0) >= BINDS_FROM,
        [major, minor, ..] => !is_older || (major, minor) >= BINDS_FROM,
    }
}

#[cfg(test)]
mod tests {
    use super::binds_reasoning;

    #[test]
    fn the_name_of_a_model_says_whether_it_binds() {
        for model in [
            "claude-opus-5-5-20260901",
            "claude-sonnet-5-5",
            "claude-haiku-5.5",
            "claude-fable-5-1",
            "claude-fable-5",
            "claude-mythos-5-1@20260801",
            "claude-saga-1",
            "claude-opus-6",
            "claude-sonnet-6-0-20270101",
            "claude-opus-10-1",
            "anthropic/claude-opus-5.5",
            "us.anthropic.claude-opus-5-5-20260901-v1:0",
            "bedrock/converse/anthropic.claude-haiku-5-5-v1:0",
            "claude-opus-5-5[1m]",
            "claude-opus-latest",
            "Claude-Opus-5-5",
        ] {
            assert!(binds_reasoning(model), "{model}");
        }
        for model in [
            "claude-opus-4-20250514",
            "claude-opus-4-6",
            "claude-opus-5",
            "claude-opus-5-20260301",
            "claude-sonnet-5-1",
            "claude-3-5-sonnet-20241022",
            "claude-3-7-sonnet-latest",
            "claude-3-opus-20240229",
            "anthropic.claude-3-haiku-20240307-v1:0",
            "claude-2.1",
            "claude-instant-1.2",
            "claude",
            "gpt-5.5",
            "fable-5-1",
            "",
        ] {
            assert!(!binds_reasoning(model), "{model}");
        }
    }
}
