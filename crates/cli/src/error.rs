//! Why a command failed, and what to do about it.

/// One clear message, hints, and the exit code.
#[derive(Debug)]
pub struct CommandError {
    /// What is wrong, and where.
    pub message: String,
    /// What to do.
    pub hints: Vec<String>,
    /// 1: a failed check or an unusable input; 2: wrong usage; 0: the reader of our output left.
    pub code: u8,
}

impl CommandError {
    /// A failed check, or an input that cannot be used.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), code: 1 }
    }

    /// Wrong usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), code: 2 }
    }

    /// Ends the command without a word: whoever read our output has enough.
    pub fn silent(code: u8) -> Self {
        Self { message: String::new(), hints: Vec::new(), code }
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a hint where there is one.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hints.extend(hint);
        self
    }
}

/// `name` is not among `known`: says what is, and what was perhaps meant.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> CommandError {
    CommandError::usage(format!("there is no {what} `{name}`"))
        .maybe_hint(
            nearest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?")),
        )
        .hint(format!("there are: {}", known.join(", ")))
}

/// The name that was perhaps meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= most || begins(candidate, name))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Whether `name` is the beginning of `candidate`, and long enough to mean it.
fn begins(candidate: &str, name: &str) -> bool {
    name.len() >= 3 && candidate.starts_with(name)
}

/// Letters to add, drop, change or swap.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_near() {
        let known = ["default", "head-tail", "hermes"];
        assert_eq!(nearest("defualt", known), Some("default"));
        assert_eq!(nearest("headtail", known), Some("head-tail"));
        assert_eq!(nearest("head", known), Some("head-tail"));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(nearest("", known), None);
    }
}
