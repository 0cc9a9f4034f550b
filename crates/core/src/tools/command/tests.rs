use super::purpose::CheckKind;
use super::script::wrote;
use super::versions::{HistoryDeed, deeds};
use super::*;

fn only(text: &str) -> CommandRun {
    let command = CommandDeeds::of(text);
    let step = command.checks().next().unwrap_or_else(|| panic!("no check in {text}: {command:?}"));
    step.run.clone()
}

#[test]
fn the_same_check_behind_another_dress_is_the_same() {
    let same = [
        "cd web && FOO=1 pytest -q 2>&1 | tail -5",
        "cd web && pytest -q 2>&1 | grep -E 'passed|failed'",
        "cd web\npytest -x --tb=short",
        "cd web; timeout 300 uv run --extra dev pytest",
        "cd web && sudo python3 -m pytest -vv > out.txt",
        "(cd web && poetry run pytest --color=no)",
        "cd web && source .venv/bin/activate && .venv/bin/pytest",
        "cd web && timeout -k 5 --signal KILL 60 pytest",
        "cd web && nice -n 10 stdbuf -oL pytest",
        "cd web && sudo -Eu bob /usr/bin/time -p pytest",
        "cd web && while ! pytest; do sleep 1; done",
        "cd web && xvfb-run -a pytest",
        "cd web && conda run --name e pytest",
        "cd web && uv run --env-file .env -s pytest",
        "cd web && uv --directory d run pytest",
        "cd web && poetry -C d run pytest",
    ];
    for one in same {
        for other in same {
            assert!(only(one).covers(&only(other)), "{one}\n{other}");
        }
    }
}

#[test]
fn a_run_over_as_much_covers_the_other() {
    for (whole, part) in [
        ("pytest -q", "pytest tests/a.py -k x"),
        ("pytest tests", "pytest tests/a.py::test_b -x"),
        ("cd /w/app && cargo test", "cargo test -p core parser"),
        ("npm run check 2>&1 | tail -3", "npm run check"),
        ("npx tsc --noEmit", "node_modules/.bin/tsc --noEmit --pretty"),
        ("go test ./...", "go test ./pkg/a -run TestX"),
        ("make -j8 lint", "make lint"),
        ("./run_tests.sh", "run_tests.sh -v"),
    ] {
        assert!(only(whole).covers(&only(part)), "{whole} / {part}");
    }
    for (whole, part) in [
        ("pytest -k a", "pytest -k b"),
        ("pytest tests/a.py", "pytest"),
        ("pytest tests/a.py", "pytest tests"),
        ("cargo test --lib", "cargo test --test it"),
        ("npm run build", "npm run check"),
        ("cargo build", "cargo test"),
        ("make lint", "make test"),
        ("make", "make lint"),
        ("cd a && npm test", "cd b && npm test"),
        ("pytest a.py", "pytest a.py b.py"),
    ] {
        assert!(!only(whole).covers(&only(part)), "{whole} / {part}");
    }
}

#[test]
fn each_command_has_a_purpose() {
    use CheckKind::{Build, Lint, Test, Types};
    for (text, purpose) in [
        ("cargo test", CommandPurpose::Check(Test)),
        ("python tests/runtests.py admin", CommandPurpose::Check(Test)),
        ("python manage.py test blog", CommandPurpose::Check(Test)),
        ("npm test", CommandPurpose::Check(Test)),
        ("pnpm run typecheck", CommandPurpose::Check(Types)),
        ("yarn lint", CommandPurpose::Check(Lint)),
        ("make fmt && make lint", CommandPurpose::Check(Lint)),
        ("go build ./...", CommandPurpose::Check(Build)),
        ("black --check .", CommandPurpose::Check(Lint)),
        ("black .", CommandPurpose::Edit),
        ("ls src; pytest", CommandPurpose::Check(Test)),
        ("ls -la /w", CommandPurpose::LookUp),
        ("git log --oneline | head", CommandPurpose::LookUp),
        ("command -v node", CommandPurpose::LookUp),
        ("command cargo test", CommandPurpose::Check(Test)),
        ("gh pr view 12", CommandPurpose::LookUp),
        ("gh pr create --title x", CommandPurpose::Versions),
        ("git add -A && git commit -m x", CommandPurpose::Versions),
        ("git branch -D old", CommandPurpose::Versions),
        ("python3 --version", CommandPurpose::LookUp),
        ("pip install -e .", CommandPurpose::Install),
        ("uv pip install x", CommandPurpose::Install),
        ("python3 run.py --week", CommandPurpose::Script),
        ("python test_it.py", CommandPurpose::Script),
        ("python3 - <<'E'\nprint(1)\nE", CommandPurpose::Script),
        ("python3 -c 'print(1)' | head", CommandPurpose::Script),
        ("cat > a.py <<'E'\nx\nE", CommandPurpose::Edit),
        ("sed -i s/a/b/ x", CommandPurpose::Edit),
        ("make deploy", CommandPurpose::Other),
        ("./serve --port 1", CommandPurpose::Other),
        ("cd x", CommandPurpose::Prepare),
    ] {
        assert_eq!(CommandDeeds::of(text).purpose(), purpose, "{text}");
    }
}

#[test]
fn a_label_says_what_a_command_does() {
    for (text, wanted) in [
        ("cd /w && FOO=1 pytest -q 2>&1 | tail -5", "pytest -q"),
        (
            "python3 - <<'E'\nimport os\n# Count the open rows\nprint(1)\nE",
            "python3: Count the open rows",
        ),
        ("python3 -c \"\nimport re\np='a.py'\nprint(p)\"", "python3: p='a.py'; print(p)"),
        (
            "python3 - <<'E'\np = 'a.py'\nopen(p, 'w').write(s)\nE\npytest -q; ls",
            "python3: writes a.py; pytest -q",
        ),
        ("cd x && make a && make b || echo no", "make a && make b"),
        ("ls a | head", "ls a | head"),
        ("node -e 'console.log(1)'", "node: console.log(1)"),
        ("echo hi", "echo hi"),
    ] {
        assert_eq!(label(&CommandDeeds::of(text), text, 100), wanted, "{text}");
    }
    let long = format!("grep -rn {} src", "word ".repeat(60));
    let cut = label(&CommandDeeds::of(&long), &long, 60);
    assert!(cut.ends_with("word …") && cut.chars().count() <= 62, "{cut}");
}

#[test]
fn a_script_tells_what_it_writes() {
    for (script, paths) in [
        ("open('a.py', 'w').write(s)", &["a.py"][..]),
        ("with open(\"out.txt\", mode=\"a\") as f: f.write(x)", &["out.txt"]),
        (
            "p = 'src/b.py'\ns = open(p).read()\nopen(p, 'w').write(s.replace('a', 'b'))",
            &["src/b.py"],
        ),
        ("from pathlib import Path\nPath('c.md').write_text('x')", &["c.md"]),
        ("import pathlib\np = pathlib.Path('d.md')\np.write_text(p.read_text())", &["d.md"]),
        ("for p in ['a', 'b']:\n  open(p,'w')", &["a", "b"]),
        (
            "def sub(path, old, new):\n  s = open(path).read()\n  open(path, 'w').write(s)\nsub('e.py', 'x', 'y')\nsub('f.py',\n 'x',\n 'y',\n)",
            &["e.py", "f.py"],
        ),
        ("const fs = require('fs')\nconst f = 'g.js'\nfs.writeFileSync(f, t)", &["g.js"]),
        ("fs.writeFileSync(`h.js`, t)", &["h.js"]),
        ("import os\nos.remove('i.txt')", &["i.txt"]),
        ("import shutil\nshutil.move('j', 'k')", &["j", "k"]),
        // A file that is only read, or whose name is computed, is not listed.
        ("open('a.py').read()", &[]),
        ("open('a.py', 'rb').read()", &[]),
        ("open(f'{d}/a.py', 'w')", &[]),
        ("open(d + '/a.py', 'w')", &[]),
        ("s = 'open(\"a.py\", \"w\")'", &[]),
        ("# open('a.py', 'w')", &[]),
        ("open(sys.argv[1], 'w')", &[]),
        ("items.remove('x')", &[]),
    ] {
        assert_eq!(wrote(script).paths, paths, "{script}");
    }
    let edits =
        wrote("o = 'x = 1'\nn = 'x = 2'\np='a'\nopen(p,'w').write(open(p).read().replace(o, n))")
            .edits;
    assert_eq!(edits, [("x = 1".to_owned(), "x = 2".to_owned())]);
}

fn deeds_of(text: &str, output: &str, ok: bool) -> Vec<HistoryDeed> {
    deeds(
        text,
        &CommandDeeds::of(text),
        || output.lines().map(str::to_owned).collect(),
        ok.then_some(true),
    )
}

fn commit(branch: &str, hash: &str, subject: &str) -> HistoryDeed {
    let [hash, subject, branch] = [hash, subject, branch].map(str::to_owned);
    HistoryDeed::Committed { hash, subject, branch, amends: false }
}

#[test]
fn commits_pushes_and_requests_are_read() {
    assert_eq!(
        deeds_of("git commit -am x", "[main 1a2b3c4] Fix it\n 1 file changed", false),
        [commit("main", "1a2b3c4", "Fix it")]
    );
    assert_eq!(
        deeds_of("git commit -q -m \"$(cat <<'EOF'\nMend the parser\n\nWhy.\nEOF\n)\"", "", true),
        [commit("", "", "Mend the parser")]
    );
    assert_eq!(
        deeds_of("git commit -q -F - <<'E'\nOne\n\ntwo\nE", "", true),
        [commit("", "", "One")]
    );
    assert_eq!(deeds_of("git commit -m x", "nothing to commit, working tree clean", true), []);
    assert_eq!(deeds_of("echo '[main 1a2b3c4] Fix it'", "[main 1a2b3c4] Fix it", true), []);
    assert_eq!(
        deeds_of("git push", "To github.com:a/b\n   17d213a..45ffe0a  main -> main", false),
        [HistoryDeed::Pushed("main".to_owned())]
    );
    assert_eq!(deeds_of("git push", " ! [rejected]  main -> main (fetch first)", true), []);
    assert_eq!(deeds_of("git push 2>&1 | tail -1", "remote: Resolving", false), []);
    assert_eq!(
        deeds_of(
            "gh pr create --title \"Mend it\" --body b",
            "https://github.com/o/r/pull/123",
            false
        ),
        [HistoryDeed::Requested { number: 123, title: "Mend it".to_owned() }]
    );
    let log = "OK\n50 chars\n9c01fd6 dev <dev@example.org> fix: keep it\n CHANGES.md | 1 +\n 1 file changed, 2 insertions(+)";
    assert_eq!(deeds_of("bash ci.sh 102", log, true), [commit("", "9c01fd6", "fix: keep it")]);
    assert_eq!(deeds_of("git log --stat -1", log, true).len(), 1);
    assert_eq!(deeds_of("git reset --soft HEAD~2", "", true), [HistoryDeed::TookBack(2)]);
    assert_eq!(
        deeds_of("git log --oneline -1", "1a2b3c4 (HEAD -> main, origin/main) Fix it", true),
        [HistoryDeed::Listed { hash: "1a2b3c4".to_owned(), subject: "Fix it".to_owned() }]
    );
}

#[test]
fn a_check_is_found_behind_whatever_runs_it() {
    for (text, key) in [
        ("mise run test:ci", "mise test:ci"),
        ("mise run fmt && mise run lint", "mise fmt"),
        ("mise x -- pytest -q", "pytest"),
        ("pnpm fix", "pnpm fix"),
        ("yarn vitest run", "vitest"),
        ("yarn workspace web vitest run", "vitest"),
        ("pnpm --filter web exec vitest run", "vitest"),
        ("npm --prefix web run test:unit", "npm test:unit"),
        ("pdm run test", "pdm test"),
        ("composer test", "composer test"),
        ("npx nx run app:test", "nx app:test"),
        ("php artisan test --parallel", "artisan test"),
        ("./artisan test", "artisan test"),
        ("php -d memory_limit=-1 vendor/bin/phpunit", "phpunit"),
        ("bin/rails test", "rails test"),
        ("docker compose run --rm -e CI=1 web pytest -q", "pytest"),
        ("docker compose -f ci.yml exec -T web npm test", "npm test"),
        ("docker run --rm -v $PWD:/w -w /w node:22 npx vitest run", "vitest"),
        ("docker exec app bash -lc 'cd /w && python -m pytest -q'", "pytest"),
        ("kubectl exec -it pod -- cargo test", "cargo test"),
        ("doppler run -- pytest -q", "pytest"),
        ("ssh -p 22 host 'cd /w && make test'", "make test"),
    ] {
        assert_eq!(only(text).key(), key, "{text}");
    }
    for text in
        ["docker build -t pytest .", "git log -- pytest", "docker exec db psql", "yarn add vitest"]
    {
        let command = CommandDeeds::of(text);
        let named = command.checks().find(|step| step.run.key() != "docker build");
        assert!(named.is_none(), "{text}");
    }
}

#[test]
fn the_projects_own_command_covers_each_check_of_its_kind() {
    for (whole, part) in [
        ("npm test", "npx vitest run a.test.ts"),
        ("npm run lint", "npx eslint src/a.ts"),
        ("make test", "pytest -k parser"),
    ] {
        assert!(only(whole).covers(&only(part)), "{whole} / {part}");
    }
    for (whole, part) in [
        ("npm run test:unit", "npx vitest run a.test.ts"),
        ("npm test -- a.test.ts", "npx vitest run b.test.ts"),
        ("npm run lint", "npx vitest run a.test.ts"),
        ("npm test", "make test"),
        ("cd a && npm test", "cd b && npx vitest run"),
    ] {
        assert!(!only(whole).covers(&only(part)), "{whole} / {part}");
    }
}

/// A hostile command has thousands of levels; each takes stack.
#[test]
fn commands_within_commands_are_read_a_few_levels_deep() {
    let nested = |levels: usize| "ssh host ".repeat(levels) + "pytest";
    assert_eq!(only(&nested(3)).key(), "pytest");
    for text in [nested(20_000), "x".to_owned() + &" -- sh".repeat(40_000)] {
        assert!(CommandDeeds::of(&text).checks().next().is_none());
    }
    // Flags behind a script are those of the script.
    assert!(CommandDeeds::of("bash a.sh -c pytest").checks().next().is_none());
    assert_eq!(only("bash -euo pipefail -c 'pytest -q'").key(), "pytest");
    assert_eq!(only("ssh -L 1:2:3 -p22 host pytest").key(), "pytest");
}
