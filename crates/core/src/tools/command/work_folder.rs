//! The folder in which each simple command of a command runs, as far as its text says so.

use crate::tools::shell::CommandPart;

/// The folders on the way through a command: one for each open parenthesis, since what a subshell changes ends with it.
#[derive(Debug)]
pub(super) struct WorkFolders {
    /// `None` for a folder that the text does not name.
    nested: Vec<Option<String>>,
    /// The folders that `pushd` left.
    pushed: Vec<Option<String>>,
}

impl WorkFolders {
    pub(super) fn new() -> Self {
        Self { nested: vec![None], pushed: Vec::new() }
    }

    /// Takes the next simple command, and returns the folder that it runs in; of a `cd`, the one that it goes to.
    pub(super) fn next(&mut self, part: &CommandPart<'_>) -> Option<&str> {
        self.nested.truncate(part.outermost + 1);
        while self.nested.len() <= part.depth {
            self.nested.push(self.here().map(str::to_owned));
        }
        let here = self.here().map(str::to_owned);
        let target = part.words.iter().skip(1).find(|word| *word == "-" || !word.starts_with('-'));
        let folder = match (part.words.first().map(String::as_str), target) {
            // `cd` alone goes home, and `cd -` back: the text does not name that folder.
            (Some("cd"), None) => None,
            (Some("cd" | "pushd"), Some(target)) if target == "-" => None,
            (Some("cd"), Some(target)) => joined(here.as_deref(), target),
            (Some("pushd"), Some(target)) => {
                let folder = joined(here.as_deref(), target);
                self.pushed.push(here);
                folder
            }
            (Some("pushd"), None) => None,
            (Some("popd"), _) => self.pushed.pop().flatten(),
            _ => here,
        };
        if let Some(last) = self.nested.last_mut() {
            *last = folder;
        }
        self.here()
    }

    fn here(&self) -> Option<&str> {
        self.nested.last().and_then(Option::as_deref)
    }
}

/// The folder after `cd to`, seen from the folder `from`; `None` for the folder that the command began in.
fn joined(from: Option<&str>, to: &str) -> Option<String> {
    let starts_anew = to.starts_with(['/', '~', '$']);
    let base = from.filter(|_| !starts_anew).unwrap_or_default();
    let is_absolute = to.starts_with('/') || base.starts_with('/');
    let mut segments: Vec<&str> = Vec::new();
    for segment in base.split('/').chain(to.split('/')) {
        let is_name = |last: &&str| *last != ".." && !last.starts_with(['~', '$']);
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(is_name) => _ = segments.pop(),
            ".." if is_absolute => {}
            segment => segments.push(segment),
        }
    }
    let path = segments.join("/");
    if is_absolute { Some(format!("/{path}")) } else { Some(path).filter(|path| !path.is_empty()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::shell;

    #[test]
    fn each_command_runs_where_the_text_says() {
        for (command, wanted) in [
            ("cd /repo && pytest", Some("/repo")),
            ("cd /repo && cd web && pytest", Some("/repo/web")),
            ("(cd web && npm ci); pytest", None),
            ("(cd web && npm ci) && (cd api && pytest)", Some("api")),
            ("cd a; (cd b; (cd c; ls)); pytest", Some("a")),
            ("cd a; (cd b; (cd c; ls); pytest)", Some("a/b")),
            ("cd web && npm ci; cd - && pytest", None),
            ("cd -P /repo && pytest", Some("/repo")),
            ("cd / && pytest", Some("/")),
            ("pushd web && npm ci && popd && pytest", None),
            ("cd /repo; pushd web; popd; pytest", Some("/repo")),
            ("cd /srv/x && ls && cd && pytest", None),
            ("cd web && npm ci && cd .. && pytest", None),
            ("cd /repo/./web/../api/ && pytest", Some("/repo/api")),
            ("cd ../other && pytest", Some("../other")),
            ("cd $ROOT/web && pytest", Some("$ROOT/web")),
        ] {
            let mut folders = WorkFolders::new();
            let parts = shell::parts(command);
            let last = parts.iter().map(|part| folders.next(part).map(str::to_owned)).last();
            assert_eq!(last.flatten().as_deref(), wanted, "{command}");
        }
    }
}
