//! Settles failures and rejections: a later pass, an installation or a permission shows that they are no longer open.

use smallvec::SmallVec;

use crate::recap::checks::all_covered;
use crate::recap::deed::{CallEnding, Deed, DeedPart, PartKind, Speaker};
use crate::recap::gathered_facts::GatheredFacts;
use crate::recap::open_failures::{InnerCommands, OpenFailure};
use crate::recap::prose;
use crate::tools::command::{CommandDeeds, CommandRun, SimpleStep};
use crate::tools::programs::programs;
use crate::tools::{MissingPackage, missing_in};

/// At most this many failures and rejections are kept open; the oldest is forgotten first.
const OPEN: usize = 256;
/// At most this many scripts of a project are known with the commands that they run.
const INNER: usize = 64;

impl GatheredFacts {
    /// Notes a failure or rejection that a later event may settle.
    pub(super) fn add_open(&mut self, open: OpenFailure) {
        self.open.push(open);
        if self.open.len() > OPEN {
            self.open.remove(0);
        }
    }

    /// Settles the open failures and rejections for which `settles` holds, because of the message `at`, and returns
    /// whether there were any. The user's reason for a settled rejection stays as a request.
    pub(super) fn settle(&mut self, at: u32, settles: impl Fn(&OpenFailure) -> bool) -> bool {
        let settle =
            |deed: &mut Deed, open: &OpenFailure| settle_deed(deed, at, open.reason.as_deref());
        self.close(settles, settle)
    }

    /// Takes failures from the open ones, because the same command failed again, for another reason. They are not over.
    pub(super) fn supersede(&mut self, replaced: impl Fn(&OpenFailure) -> bool) {
        self.close(replaced, |deed, _| deed.end(CallEnding::Ended));
    }

    fn close(
        &mut self,
        closes: impl Fn(&OpenFailure) -> bool,
        end: impl Fn(&mut Deed, &OpenFailure),
    ) -> bool {
        let (deeds, words) = (&mut self.deeds, &self.words);
        let before = self.open.len();
        self.open.retain(|open| {
            let closed = closes(open);
            if let Some(deed) = deeds.get_mut(open.deed).filter(|_| closed) {
                end(deed, open);
                deed.bound_by(words);
            }
            !closed
        });
        before > self.open.len()
    }

    /// Takes the user's next words as the reason for a rejection that had none.
    pub(super) fn give_reason(&mut self, parts: &[DeedPart]) {
        let Some(deed) = self.awaits.take().and_then(|at| self.deeds.get_mut(at)) else { return };
        let reason: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        deed.parts_mut().push(reason_part(&reason.join(" ")));
    }

    /// Settles failures of the same command, because it ended without a sign of failure.
    pub(super) fn settle_same(&mut self, at: u32, text: u64, checks: &[CommandRun]) {
        let same = |open: &OpenFailure| open.text == Some(text) && open.refused.is_none();
        let failed = |open: &OpenFailure| self.deeds.get(open.deed).map(|deed| deed.message);
        // Read first, because `settle` removes them from the open ones.
        let messages: Vec<u32> =
            self.open.iter().filter(|open| same(open)).filter_map(failed).collect();
        if !self.settle(at, same) {
            return;
        }
        self.checks.retain(|check| check.passed || !messages.contains(&check.message));
        self.settle_inner(at, checks);
    }

    /// Settles failures of these checks, which ran again and showed only a part of their output, without a sign of
    /// failure. Beside each check is a word: the shown part would repeat only failures whose line holds it, so only
    /// these are settled.
    pub(super) fn settle_quiet(&mut self, at: u32, checks: &[(CommandRun, &str)]) {
        if checks.is_empty() {
            return;
        }
        let same = |runs: &[CommandRun], text: &str| {
            let is = |run: &CommandRun| {
                checks.iter().any(|(own, word)| own == run && text.contains(word))
            };
            // `all` holds for no runs, and a failure of unknown runs must stay open.
            !runs.is_empty() && runs.iter().all(is)
        };
        let telling = |open: &OpenFailure| {
            let deed = self.deeds.get(open.deed);
            deed.and_then(|deed| deed.parts.first()).map_or("", |part| &*part.text)
        };
        let failed = self.open.iter().filter(|open| open.refused.is_none());
        let quiet: Vec<usize> =
            failed.filter(|open| same(&open.runs, telling(open))).map(|open| open.deed).collect();
        self.settle(at, |open| quiet.contains(&open.deed));
        self.checks.retain(|check| check.passed || !same(check.runs(), &check.telling));
        if !quiet.is_empty() {
            let runs: Vec<CommandRun> = checks.iter().map(|(run, _)| run.clone()).collect();
            self.settle_inner(at, &runs);
        }
    }

    /// Settles failures of the agent's own one-off scripts: another script with the same interpreter ended without a
    /// sign of failure. A failure that happened more than once stays open.
    pub(super) fn settle_scratch(&mut self, at: u32, interpreters: &[String]) {
        let is_once = |at: &usize| self.deeds.get(*at).is_some_and(|deed| deed.times == 1);
        let once: Vec<usize> = self.open.iter().map(|open| open.deed).filter(is_once).collect();
        self.settle(at, |open| {
            let same = open.scratch.as_ref().is_some_and(|own| interpreters.contains(own));
            same && once.contains(&open.deed)
        });
    }

    /// Settles failures of the commands that these scripts of the project run, because they ended well with the
    /// scripts.
    pub(super) fn settle_inner(&mut self, at: u32, scripts: &[CommandRun]) {
        let ran = |inner: &&InnerCommands| scripts.contains(&inner.script);
        let runs: Vec<CommandRun> =
            self.inner.iter().filter(ran).flat_map(|inner| inner.runs.iter().cloned()).collect();
        if !runs.is_empty() {
            self.settle(at, |open| open.refused.is_none() && all_covered(&runs, &open.runs));
            self.checks.retain(|check| check.passed || !check.is_covered(&runs));
        }
    }

    /// Notes the commands that a script of the project runs. Programs such as `npm run x` write them into the output.
    pub(super) fn learn(&mut self, step: &SimpleStep<'_>, lines: &[String]) {
        let mut runs: SmallVec<[CommandRun; 1]> = SmallVec::new();
        for line in lines {
            let Some(command) = echoed(line, step.run.names_target()) else { continue };
            let read = CommandDeeds::of(command);
            runs.extend(read.checks().map(|own| own.run.clone().within(step.run.folder())));
        }
        if runs.is_empty() || runs.contains(&step.run) {
            return;
        }
        self.inner.retain(|inner| inner.script != step.run);
        self.inner.push(InnerCommands { script: step.run.clone(), runs });
        if self.inner.len() > INNER {
            self.inner.remove(0);
        }
    }

    /// Settles failures for want of these packages. With `all`, whatever the project needs of a language was installed.
    pub(super) fn note_installed(&mut self, at: u32, packages: &[String], all: Option<&str>) {
        let there = |missing: &MissingPackage| {
            all == Some(missing.language)
                || packages.iter().any(|package| is_of(package, &missing.name))
        };
        self.settle(at, |open| open.missing.as_ref().is_some_and(there));
        let known = |line: &str| missing_in(line).is_some_and(|missing| there(&missing));
        self.checks.retain(|check| check.passed || !known(&check.telling));
    }

    /// Whether the agent wrote this file in this session, or the file is in a scratch folder.
    pub(super) fn is_own(&self, path: &str) -> bool {
        let path = path.trim_start_matches("./");
        let of = |known: &str| {
            known.strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        programs().places.is_scratch(path)
            || self.files.get(path).is_some_and(|used| used.is_created)
            || self.files.iter().any(|(known, used)| used.is_created && of(known))
    }
}

/// A failure ended otherwise than it seemed. A rejection is gone, but the user's reason for it stays as a request.
fn settle_deed(deed: &mut Deed, at: u32, reason: Option<&str>) {
    match (deed.ending(), reason) {
        (Some(CallEnding::Rejected), Some(reason)) => {
            *deed = Deed::words(deed.message, Speaker::User, prose::parts(reason));
        }
        // The same call was allowed later, and is a deed of its own.
        (Some(CallEnding::Rejected), None) => deed.times = 0,
        (Some(CallEnding::Failed), _) => deed.end(CallEnding::Settled(at)),
        _ => {}
    }
}

/// The reason that a user gave for a rejection, as a part of the rejected call.
pub(super) fn reason_part(reason: &str) -> DeedPart {
    DeedPart::new(&format!("the user said: {reason}"), PartKind::Answered)
}

/// The command that a runner of scripts writes before it runs it; `None` for any other line. npm, pnpm and bun write
/// `>` or `$` in front; make (`bare`) writes the command as it is; npm repeats it after a failure.
fn echoed(line: &str, bare: bool) -> Option<&str> {
    const MARKS: [&str; 4] = ["> ", "$ ", "npm error command sh -c ", "npm ERR! command sh -c "];
    let marked = MARKS.iter().find_map(|mark| line.strip_prefix(mark));
    marked.or(bare.then_some(line).filter(|line| line.len() < 200 && !line.contains(": ")))
}

/// The language whose packages the program of a run manages; `None` for any other program.
pub(super) fn packaged(run: &CommandRun) -> Option<&'static str> {
    match run.program() {
        "npm" | "pnpm" | "yarn" | "bun" => Some("node"),
        "uv" | "poetry" | "pdm" => Some("python"),
        "bundle" => Some("ruby"),
        _ => None,
    }
}

/// Whether a package provides a module or a program of this name.
fn is_of(package: &str, missing: &str) -> bool {
    let package = package.to_ascii_lowercase().replace('_', "-");
    // The first character is skipped: a scoped npm package begins with `@`, which is no version there.
    let end = package.char_indices().skip(1).find(|(_, c)| "=<>~![@;^".contains(*c));
    let package = &package[..end.map_or(package.len(), |(at, _)| at)];
    let known = programs().modules.get(missing).map(String::as_str);
    let part = |name: &str| name.split(['-', '.']).any(|part| part == missing);
    package == missing
        || known == Some(package)
        || part(package)
        // Short names end many packages by chance.
        || missing.len() > 3 && package.ends_with(missing)
}

#[cfg(test)]
mod tests {
    use super::{echoed, is_of};

    #[test]
    fn a_package_is_known_by_its_module() {
        for (package, missing) in [
            ("pytz==2023.3", "pytz"),
            ("PyYAML>=6", "yaml"),
            ("python-dateutil", "dateutil"),
            ("scikit-learn", "sklearn"),
            ("@types/node@20", "@types/node"),
            ("github.com/a/b@v1.2", "github.com/a/b"),
        ] {
            assert!(is_of(package, missing), "{package} {missing}");
        }
        assert!(!is_of("pytest", "pytz") && !is_of("numpy", "py"));
    }

    #[test]
    fn runners_of_scripts_write_what_they_run() {
        assert_eq!(
            echoed("> tsgo -p a.json", false),
            Some("> tsgo -p a.json".trim_start_matches("> "))
        );
        assert_eq!(echoed("npm error command sh -c tsc -p a", false), Some("tsc -p a"));
        assert_eq!(echoed("cargo test", true), Some("cargo test"));
        assert_eq!(echoed("cargo test", false), None);
    }
}
