//! Commands that keep running after their result. When a later call asks for the output of one, that output is
//! counted as this command's.

/// The commands that still run, each with the id by which its client asks for further output.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningCommands(Vec<(String, String)>);

/// At most this many running commands are remembered; the oldest is forgotten first.
const MOST: usize = 64;

impl RunningCommands {
    /// Notes that a command keeps running. Clients reuse ids, so an older command with the same id is forgotten.
    pub(super) fn begin(&mut self, id: String, command: &str) {
        self.0.retain(|(known, _)| *known != id);
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push((id, command.to_owned()));
    }

    /// The running command whose id occurs in the arguments of a call; `None` where no id occurs. The newest command
    /// comes first.
    pub(super) fn asked_in(&self, arguments: &str) -> Option<&str> {
        let is_in = |id: &str| {
            arguments.match_indices(id).any(|(at, _)| {
                // An id counts only as a whole word: `bash_1` does not occur in `bash_12`.
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
                !arguments[..at].ends_with(is_part)
                    && !arguments[at + id.len()..].starts_with(is_part)
            })
        };
        self.0.iter().rev().find(|(id, _)| is_in(id)).map(|(_, command)| command.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_call_asks_for_a_command_by_its_id() {
        let mut running = RunningCommands::default();
        running.begin("bash_1".to_owned(), "pytest -q");
        running.begin("31".to_owned(), "make");
        assert_eq!(running.asked_in(r#"{"bash_id":"bash_1"}"#), Some("pytest -q"));
        assert_eq!(running.asked_in(r#"{"session_id":31,"chars":""}"#), Some("make"));
        assert_eq!(running.asked_in(r#"{"bash_id":"bash_12"}"#), None);
        running.begin("31".to_owned(), "make test");
        assert_eq!(running.asked_in(r#"{"session_id": 31}"#), Some("make test"));
        for n in 100..200 {
            running.begin(n.to_string(), "sleep");
        }
        assert!(running.0.len() == MOST && running.asked_in("bash_1").is_none());
    }
}
