use super::{CallResult, CallVerdict};
use crate::tools::{CallFacts, ToolKind, ToolTable};
use CallVerdict::{Failed, Interrupted, Ok, Rejected};

/// Command, result, error flag, verdict, and the telling line or, for a rejection, the reason.
type OutcomeRow =
    (&'static str, &'static str, Option<bool>, Option<CallVerdict>, Option<&'static str>);

fn run(command: &str, result: &str, flagged: Option<bool>) -> CallResult {
    let facts = CallFacts {
        kind: ToolKind::Shell,
        command: (!command.is_empty()).then(|| command.to_owned()),
        ..CallFacts::default()
    };
    ToolTable::builtin().outcome(&facts, result, flagged)
}

#[track_caller]
fn check(rows: &[OutcomeRow]) {
    let wrong = rows.iter().filter_map(|&(command, result, flagged, verdict, telling)| {
        let outcome = run(command, result, flagged);
        let text = if verdict == Some(Rejected) { outcome.reason } else { outcome.telling };
        let got = (outcome.verdict, text.as_deref());
        (got != (verdict, telling)).then(|| format!("{command}\n{result}\ngot {got:?}"))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
#[rustfmt::skip]
fn known_lines_of_tests() {
    check(&[
        ("pytest", "collected 3 items\n\ntests/test_a.py .F.   [100%]\n\n=== FAILURES ===\nE   assert 1 == 2\n=== short test summary info ===\nFAILED tests/test_a.py::test_b - assert 1 == 2\n========= 1 failed, 2 passed in 0.12s =========", None, Some(Failed), Some("1 failed, 2 passed in 0.12s")),
        ("pytest -q", "..F\n1 failed, 2 passed in 0.05s", None, Some(Failed), Some("1 failed, 2 passed in 0.05s")),
        ("pytest", "======== 5 passed in 0.31s ========", None, Some(Ok), Some("5 passed in 0.31s")),
        ("pytest | tail -3", "5 passed, 0 failed in 0.31s", None, Some(Ok), Some("5 passed, 0 failed in 0.31s")),
        ("pytest", "===== 3 passed, 1 error in 0.5s =====", None, Some(Failed), Some("3 passed, 1 error in 0.5s")),
        ("pytest a.py", "ERROR: file or directory not found: a.py\n\n===== no tests ran in 0.00s =====", None, Some(Failed), Some("ERROR: file or directory not found: a.py")),
        ("pytest --cov", "FAIL Required test coverage of 99% not reached. Total coverage: 98.82%\n====== 66 passed in 3.84s ======", None, Some(Failed), Some("FAIL Required test coverage of 99% not reached. Total coverage: 98.82%")),
        ("python -m unittest", "..\n----\nRan 3 tests in 0.1s\n\nFAILED (failures=1)", None, Some(Failed), Some("FAILED (failures=1)")),
        ("python -m unittest", "...\n----------\nRan 3 tests in 0.001s\n\nOK", None, Some(Ok), Some("OK")),
        ("echo OK", "OK", None, None, Some("OK")),
        ("./manage.py test", "Ran 12 tests in 1.2s\n\nOK (skipped=2)\nDestroying test database for alias 'default'...", None, Some(Ok), Some("OK (skipped=2)")),
        ("cargo test", "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\nerror: test failed, to rerun pass `--lib`", None, Some(Failed), Some("test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out")),
        ("cargo test", "test result: ok. 4 passed; 0 failed; 0 ignored\n", None, Some(Ok), Some("test result: ok. 4 passed; 0 failed; 0 ignored")),
        ("cargo nextest run", "     Summary [   0.1s] 10 tests run: 9 passed, 1 failed, 0 skipped", None, Some(Failed), Some("Summary [ 0.1s] 10 tests run: 9 passed, 1 failed, 0 skipped")),
        ("go test ./...", "--- FAIL: TestAdd (0.00s)\n    a_test.go:7: got 1\nFAIL\nFAIL\texample.com/a\t0.003s\nFAIL", None, Some(Failed), Some("FAIL example.com/a 0.003s")),
        ("go test ./...", "ok  \texample.com/a\t0.003s\n?   \texample.com/b\t[no test files]", None, Some(Ok), Some("ok example.com/a 0.003s")),
        ("npx jest", "FAIL src/a.test.js\n  ● adds\nTests:       1 failed, 4 passed, 5 total\nTime:        1.2 s", None, Some(Failed), Some("Tests: 1 failed, 4 passed, 5 total")),
        ("npx jest", "PASS src/a.test.js\nTest Suites: 1 passed, 1 total\nTests:       5 passed, 5 total", None, Some(Ok), Some("Tests: 5 passed, 5 total")),
        ("npx vitest run", " \u{1b}[31m❯ a.test.ts\u{1b}[0m\n\u{1b}[2m Test Files \u{1b}[22m \u{1b}[1m\u{1b}[31m1 failed\u{1b}[39m (1)\n      Tests  1 failed | 2 passed (3)", None, Some(Failed), Some("Tests 1 failed | 2 passed (3)")),
        ("npx vitest run", " Test Files  1 passed (1)\n      Tests  3 passed (3)\n   Duration  300ms", None, Some(Ok), Some("Tests 3 passed (3)")),
        ("npx mocha", "  4 passing (20ms)\n  1 failing\n\n  1) adds:\n     AssertionError", None, Some(Failed), Some("1 failing")),
        ("npx mocha", "  4 passing (20ms)\n", None, Some(Ok), Some("4 passing (20ms)")),
        ("node --test", "# tests 3\n# pass 2\n# fail 1\n# duration_ms 60", None, Some(Failed), Some("# fail 1")),
        ("bundle exec rspec", "Finished in 0.1 seconds\n10 examples, 1 failure", None, Some(Failed), Some("10 examples, 1 failure")),
        ("bundle exec rspec", "Finished in 0.1 seconds\n10 examples, 0 failures", None, Some(Ok), Some("10 examples, 0 failures")),
        ("mvn test", "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE", None, Some(Failed), Some("[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0")),
        ("mvn -q package", "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS", None, Some(Ok), Some("[INFO] BUILD SUCCESS")),
        ("./gradlew build", "> Task :test FAILED\n\nFAILURE: Build failed with an exception.\n\nBUILD FAILED in 2s", None, Some(Failed), Some("> Task :test FAILED")),
        ("ctest", "67% tests passed, 1 tests failed out of 3", None, Some(Failed), Some("67% tests passed, 1 tests failed out of 3")),
    ]);
}

#[test]
#[rustfmt::skip]
fn known_lines_of_compilers_and_checkers() {
    check(&[
        ("cargo build", "error[E0308]: mismatched types\n --> src/a.rs:3:5\n\nerror: could not compile `a` (lib) due to 1 previous error", None, Some(Failed), Some("error[E0308]: mismatched types")),
        ("cargo build", "   Compiling a v0.1.0\n    Finished `dev` profile [unoptimized] target(s) in 1.2s", None, Some(Ok), Some("Finished `dev` profile [unoptimized] target(s) in 1.2s")),
        ("cargo clippy 2>&1 | tail -3", "error: could not compile `a` (lib) due to 2 previous errors", None, Some(Failed), Some("error: could not compile `a` (lib) due to 2 previous errors")),
        ("go vet ./...", "# example.com/a\n./a.go:5:2: undefined: x", None, Some(Failed), Some("./a.go:5:2: undefined: x")),
        ("npx tsc --noEmit", "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.", None, Some(Failed), Some("src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.")),
        ("npx tsc --noEmit --pretty", "src/a.ts:3:5 - error TS2322: Bad.\n\nFound 1 error in src/a.ts:3", None, Some(Failed), Some("Found 1 error in src/a.ts:3")),
        ("npx tsc -w | head", "[10:00:00] Starting\nFound 0 errors. Watching for file changes.", None, Some(Ok), Some("Found 0 errors. Watching for file changes.")),
        ("npx eslint .", "/a.js\n  1:1  error  no-undef\n\n✖ 3 problems (1 error, 2 warnings)", None, Some(Failed), Some("✖ 3 problems (1 error, 2 warnings)")),
        ("npx eslint . | tail -3", "✖ 2 problems (0 errors, 2 warnings)", None, Some(Ok), Some("✖ 2 problems (0 errors, 2 warnings)")),
        ("npx biome check .", "Checked 22 files in 17ms. No fixes applied.", None, Some(Ok), Some("Checked 22 files in 17ms. No fixes applied.")),
        ("npx biome check .", "Checked 22 files in 17ms. No fixes applied.\nFound 2 errors.", None, Some(Failed), Some("Found 2 errors.")),
        ("ruff check", "All checks passed!", None, Some(Ok), Some("All checks passed!")),
        ("ruff check", "a.py:1:1: F401 `os` imported but unused\nFound 1 error.", None, Some(Failed), Some("Found 1 error.")),
        ("ruff check --fix | tail", "Found 1 error (1 fixed, 0 remaining).", None, None, Some("Found 1 error (1 fixed, 0 remaining).")),
        ("mypy .", "a.py:3: error: Incompatible types\nFound 1 error in 1 file (checked 2 source files)", None, Some(Failed), Some("Found 1 error in 1 file (checked 2 source files)")),
        ("mypy .", "Success: no issues found in 2 source files", None, Some(Ok), Some("Success: no issues found in 2 source files")),
        ("gcc a.c", "a.c: In function 'main':\na.c:3:5: error: 'x' undeclared", None, Some(Failed), Some("a.c:3:5: error: 'x' undeclared")),
        ("clang a.c 2>&1 | head", "a.c:3:5: error: use of undeclared identifier 'x'\n1 error generated.", None, Some(Failed), Some("1 error generated.")),
        ("g++ a.cc", "/usr/bin/ld: a.o: in function `main':\na.cc:(.text+0x5): undefined reference to `f()'\ncollect2: error: ld returned 1 exit status", None, Some(Failed), Some("a.cc:(.text+0x5): undefined reference to `f()'")),
        ("javac A.java", "A.java:3: error: ';' expected\n1 error", None, Some(Failed), Some("1 error")),
        ("make", "cc -c a.c\nmake: *** [Makefile:3: all] Error 2", None, Some(Failed), Some("make: *** [Makefile:3: all] Error 2")),
        ("make", "make: Nothing to be done for 'all'.", None, Some(Ok), Some("make: Nothing to be done for 'all'.")),
        ("cmake -B build", "CMake Error at CMakeLists.txt:3 (find_package):\n  no Boost\n-- Configuring incomplete, errors occurred!", None, Some(Failed), Some("CMake Error at CMakeLists.txt:3 (find_package):")),
        ("npm run build 2>&1 | tail -4", "vite v5\n✓ 30 modules transformed.\n✓ built in 1.2s", None, Some(Ok), Some("✓ built in 1.2s")),
    ]);
}

#[test]
#[rustfmt::skip]
fn known_lines_of_other_programs() {
    check(&[
        ("npm ci", "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE could not resolve", None, Some(Failed), Some("npm ERR! code ERESOLVE")),
        ("npm install", "npm warn deprecated x@1\n\nadded 28 packages in 4s\n\nfound 0 vulnerabilities", None, Some(Ok), Some("found 0 vulnerabilities")),
        ("pnpm build", " ELIFECYCLE  Command failed with exit code 1.", None, Some(Failed), Some("ELIFECYCLE Command failed with exit code 1.")),
        ("yarn build", "error Command failed with exit code 2.\ninfo Visit https://yarnpkg.com", None, Some(Failed), Some("error Command failed with exit code 2.")),
        ("pip install x", "Collecting x\nSuccessfully installed x-1.0", None, Some(Ok), Some("Successfully installed x-1.0")),
        ("pip install nope", "ERROR: No matching distribution found for nope", None, Some(Failed), Some("ERROR: No matching distribution found for nope")),
        ("git push", "To github.com:a/b\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs", None, Some(Failed), Some("! [rejected] main -> main (fetch first)")),
        ("git push", "To github.com:a/b\n   17d213a..45ffe0a  main -> main", None, Some(Ok), Some("17d213a..45ffe0a main -> main")),
        ("git merge x", "Auto-merging a.rs\nCONFLICT (content): Merge conflict in a.rs\nAutomatic merge failed; fix conflicts and then commit the result.", None, Some(Failed), Some("CONFLICT (content): Merge conflict in a.rs")),
        ("git log x", "fatal: ambiguous argument 'x': unknown revision", None, Some(Failed), Some("fatal: ambiguous argument 'x': unknown revision")),
        ("docker build .", "ERROR: failed to solve: process \"/bin/sh -c x\" did not complete", None, Some(Failed), Some("ERROR: failed to solve: process \"/bin/sh -c x\" did not complete")),
        ("docker run x", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", None, Some(Failed), Some("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.")),
        ("kubectl apply -f a.yml", "Error from server (NotFound): namespaces \"x\" not found", None, Some(Failed), Some("Error from server (NotFound): namespaces \"x\" not found")),
        ("terraform apply", "Apply complete! Resources: 1 added, 0 changed, 0 destroyed.", None, Some(Ok), Some("Apply complete! Resources: 1 added, 0 changed, 0 destroyed.")),
        ("terraform plan", "╷\n│ Error: Invalid reference\n│ \n╵", None, Some(Failed), Some("│ Error: Invalid reference")),
        ("psql -c 'select 1 from x'", "ERROR:  relation \"x\" does not exist\nLINE 1: select 1 from x", None, Some(Failed), Some("ERROR: relation \"x\" does not exist")),
        ("curl http://localhost:1", "curl: (7) Failed to connect to localhost port 1", None, Some(Failed), Some("curl: (7) Failed to connect to localhost port 1")),
        ("python a.py", "start\nTraceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\nValueError: bad value", None, Some(Failed), Some("ValueError: bad value")),
        ("node a.js", "node:internal/modules\n  throw err;\n\nError: Cannot find module './b'\n    at x", None, Some(Failed), Some("Error: Cannot find module './b'")),
        ("make -j", "Segmentation fault (core dumped)", None, Some(Failed), Some("Segmentation fault (core dumped)")),
        ("./big", "loading\nKilled", None, Some(Failed), Some("Killed")),
        ("foo", "bash: foo: command not found", None, Some(Failed), Some("bash: foo: command not found")),
        ("./a.sh", "bash: ./a.sh: Permission denied", None, Some(Failed), Some("bash: ./a.sh: Permission denied")),
        ("cargo test", "test result: ok. 2 passed; 0 failed; finished in 0.00s\n\ntest result: ok. 3 passed; 0 failed; finished in 0.10s\ntest result: ok. 0 passed; 0 failed; finished in 0.00s", None, Some(Ok), Some("5 passed in 2 runs")),
        ("npx jest", "Test Suites: 3 passed, 3 total\nTests:       12 passed, 12 total", None, Some(Ok), Some("Tests: 12 passed, 12 total")),
        ("npm test", "running\nCommand timed out after 120 seconds", None, Some(Failed), Some("Command timed out after 120 seconds")),
        ("python server.py", "\nEXECUTION TIMED OUT", None, Some(Failed), Some("EXECUTION TIMED OUT")),
    ]);
}

/// Command, exit code, output, verdict, telling line.
type ExitRow = (&'static str, i64, &'static str, Option<CallVerdict>, Option<&'static str>);

#[test]
#[rustfmt::skip]
fn exit_codes_and_what_masks_them() {
    let out = |code: i64, text: &str| format!("<returncode>{code}</returncode>\n<output>\n{text}\n</output>");
    let rows: &[ExitRow] = &[
        ("./run", 0, "an error: none", Some(Ok), Some("an error: none")),
        ("python check.py", 0, "Traceback (most recent call last):\n  x\nValueError: shown", Some(Ok), Some("ValueError: shown")),
        ("pytest", 0, "=== 1 failed in 0.1s ===", Some(Failed), Some("1 failed in 0.1s")),
        ("./run", 3, "cannot go on", Some(Failed), Some("cannot go on")),
        ("./run", 3, "", Some(Failed), None),
        ("pytest -q | tail -3", 0, "1 failed, 4 passed in 0.2s", Some(Failed), Some("1 failed, 4 passed in 0.2s")),
        ("pytest -q 2>&1 | tail -1", 0, "see above", None, Some("see above")),
        ("set -o pipefail; ./run | tail -1", 0, "see above", Some(Ok), Some("see above")),
        ("set -euo pipefail\n./run | tee log", 0, "done", Some(Ok), Some("done")),
        ("./run || true", 0, "done", None, Some("done")),
        ("./run || exit 1", 0, "done", Some(Ok), Some("done")),
        ("./run || echo FAILED", 0, "FAILED", None, Some("FAILED")),
        ("./run; echo done", 0, "done", None, Some("done")),
        ("./run; true", 0, "x", None, Some("x")),
        ("./run && echo done", 0, "done", Some(Ok), Some("done")),
        ("./run; ls", 0, "a.txt", None, Some("a.txt")),
        ("cd /x; ls", 0, "a.txt", Some(Ok), Some("a.txt")),
        ("(cd a && make) | head", 0, "x", None, Some("x")),
        ("(cd a && make)", 0, "x", Some(Ok), Some("x")),
        ("python a.py; python b.py", 0, "Traceback (most recent call last):\n  x\nKeyError: 1\nb is fine", Some(Failed), Some("KeyError: 1")),
        ("make; echo \"exit: $?\"", 0, "boom\nexit: 2", Some(Failed), Some("exit: 2")),
        ("make; echo $?", 0, "fine\n0", Some(Ok), Some("0")),
        ("./serve &", 0, "x", None, Some("x")),
        ("if make; then echo yes; else echo no; fi", 0, "no", None, Some("no")),
        ("cat > a.py <<'EOF'\nx\nEOF\npython a.py", 0, "fine", Some(Ok), Some("fine")),
        ("grep foo a.txt", 1, "", None, Some("exit 1")),
        ("cd x && rg foo", 1, "", None, Some("exit 1")),
        ("grep foo a.txt", 2, "grep: a.txt: No such file or directory", Some(Failed), Some("grep: a.txt: No such file or directory")),
        ("make | grep warning", 1, "", None, Some("exit 1")),
        ("diff a b", 1, "1c1\n< a\n---\n> b", None, Some("exit 1")),
        ("test -f a", 1, "", None, Some("exit 1")),
        ("[ -f a ] && echo yes", 1, "", None, Some("exit 1")),
        ("grep x a && make", 2, "make: *** [all] Error 1", Some(Failed), Some("make: *** [all] Error 1")),
        ("find . -name '*.rs' | xargs grep foo", 123, "", None, Some("exit 123")),
        ("bash -lc 'make | tail -2'", 0, "x", None, Some("x")),
    ];
    let wrong = rows.iter().filter_map(|&(command, code, text, verdict, telling)| {
        let outcome = run(command, &out(code, text), None);
        let got = (outcome.verdict, outcome.telling.as_deref());
        (got != (verdict, telling)).then(|| format!("{command}\n{text}\ngot {got:?}"))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
#[rustfmt::skip]
fn shown_content_proves_nothing() {
    check(&[
        ("cat log.txt", "=== 1 failed in 0.1s ===\nTraceback (most recent call last):\nnpm ERR! x", None, None, Some("npm ERR! x")),
        ("sed -n '1,3p' a.rs", "error: could not compile `a`\nfn main() {}", None, None, Some("fn main() {}")),
        ("grep -rn 'error:' src | head -3", "src/a.rs:1:1: error: x", None, None, Some("src/a.rs:1:1: error: x")),
        ("git log --oneline", "1a2b3c4 fix error: could not compile\n2b3c4d5 Killed", None, None, Some("2b3c4d5 Killed")),
        ("git -C x --no-pager diff", "+FAILED (failures=1)\n-    raise ValueError", None, None, Some("-    raise ValueError").map(|_| "- raise ValueError")),
        ("cat a.py | head -2", "[Request interrupted by a signal]\nThe user doesn't", None, None, Some("The user doesn't")),
        ("cat x", "cat: x: No such file or directory", None, Some(Failed), Some("cat: x: No such file or directory")),
        ("cd /t && ls nope | head", "ls: cannot access 'nope': No such file or directory", None, Some(Failed), Some("ls: cannot access 'nope': No such file or directory")),
        ("cat notes.md", "How it went:\nThe user denied this operation.\nThe end.", None, None, Some("The end.")),
        ("python print.py", "all is well", None, None, Some("all is well")),
        ("", "all is well", None, None, Some("all is well")),
    ]);
}

#[test]
#[rustfmt::skip]
fn calls_that_did_not_run_to_their_end() {
    check(&[
        ("npm i", "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.", Some(true), Some(Rejected), None),
        ("npm i", "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nuse pnpm", Some(true), Some(Rejected), Some("use pnpm")),
        ("npm i", "The user doesn't want to proceed with this tool use. The tool use was rejected. The user provided the following reason for the rejection:  use pnpm", Some(true), Some(Rejected), Some("use pnpm")),
        ("x", "exec command rejected by user", None, Some(Rejected), None),
        ("x", "command rejected by user", None, Some(Rejected), None),
        ("x", "The user denied this operation.", None, Some(Rejected), None),
        ("x", "The user denied this operation and provided the following feedback:\n<feedback>\nnot there\n</feedback>", None, Some(Rejected), Some("not there")),
        ("x", "The user rejected permission to use this specific tool call.", Some(true), Some(Rejected), None),
        ("x", "The user rejected permission to use this specific tool call with the following feedback: read it first", Some(true), Some(Rejected), Some("read it first")),
        ("x", "Error: The user has rejected permission to use this tool", Some(true), Some(Rejected), None),
        ("x", "[Operation Cancelled] Reason: User did not allow tool call", None, Some(Rejected), None),
        ("x", "[Request interrupted by user for tool use]", None, Some(Interrupted), Some("[Request interrupted by user for tool use]")),
        ("x", "[Request interrupted by user]", Some(true), Some(Interrupted), Some("[Request interrupted by user]")),
        ("x", "Wall time: 3.2 seconds\naborted by user", None, Some(Interrupted), Some("aborted by user")),
        ("x", "aborted by user after 5.0s", None, Some(Interrupted), Some("aborted by user after 5.0s")),
        ("x", "compiling a\ncompiling b\n\n\nCommand aborted", Some(true), Some(Interrupted), Some("compiling b")),
        ("x", "Operation aborted", Some(true), Some(Interrupted), Some("Operation aborted")),
        ("x", "Command was cancelled by user before it could complete.", None, Some(Interrupted), Some("Command was cancelled by user before it could complete.")),
    ]);
}

#[test]
#[rustfmt::skip]
fn what_a_client_does_not_let_run_is_no_rejection() {
    for text in [
        "This command requires approval",
        "Claude requested permissions to use WebSearch, but you haven't granted it yet.",
        "Claude requested permissions to read from ~/.claude/CLAUDE.md, but you haven't granted it yet.",
        "This Bash command contains multiple operations. The following part requires approval: npm i",
        "Permission to use Bash has been denied because Claude Code is running in don't ask mode.",
        "ls in '/x' was blocked. For security, Claude Code may only list files in the allowed working directories for this session: '/y'.",
        "The user has specified a rule which prevents you from using this specific tool call. Here are some of the relevant rules [{\"permission\":\"*\"}]",
        "Error: The user has specified a rule which prevents you from using this specific tool call.",
        "patch rejected: writing outside of the project; rejected by user approval settings",
        "`git push` rejected: blocked by policy",
        "Tool execution denied by policy.",
        "Tool execution for \"notify_user (craftMCP MCP Server)\" denied by policy.",
        "The tool execution failed with the following error:\n<error>\nAccess to .env is blocked by the .clineignore file settings. You must try to continue in the task without using this file.\n</error>",
        "Command execution blocked by CLINE_COMMAND_PERMISSIONS: no match. You must try a different approach.",
    ] {
        assert_eq!(run("npm i", text, None).verdict, Some(CallVerdict::Blocked), "{text}");
    }
    assert_eq!(run("cat a.md", "This command requires approval", Some(false)).verdict, None);
}

#[test]
fn what_is_dropped_with_another_call_was_not_rejected() {
    for text in [
        "The user doesn't want to take this action right now. STOP what you are doing.",
        "<tool_use_error>Cancelled: parallel tool call Bash(ls) errored</tool_use_error>",
        "Skipping tool [execute_command for 'ls'] due to user rejecting a previous tool.",
    ] {
        let outcome = run("npm i", text, Some(true));
        assert_eq!((outcome.verdict, outcome.cancelled), (Some(Interrupted), true), "{text}");
    }
}

/// Command, result, the line of the failure, and that line with the totals.
type CauseRow = (&'static str, &'static str, &'static str, &'static str);

#[test]
#[rustfmt::skip]
fn a_failure_is_told_by_its_cause() {
    let rows: &[CauseRow] = &[
        ("pytest", "____ test_a ____\n    def test_a():\n>       f()\nE       ValueError: too long\nt.py:3: ValueError\nFAILED t.py::test_a\n!!! stopping after 1 failures !!!\n1 failed, 2 passed in 0.1s", "ValueError: too long", "ValueError: too long / 1 failed, 2 passed in 0.1s"),
        ("pytest", "E           django.core.exceptions.ImproperlyConfigured: Requested setting DATABASES.\nERROR t.py::test_a\n=== 2 warnings, 1 error in 0.19s ===", "django.core.exceptions.ImproperlyConfigured: Requested setting DATABASES.", "django.core.exceptions.ImproperlyConfigured: Requested setting DATABASES. / 2 warnings, 1 error in 0.19s"),
        ("pytest", "E   AssertionError: \nE   ACTUAL: 1\nFAILED t.py::test_a[x]\n1 failed in 0.1s", "FAILED t.py::test_a[x]", "FAILED t.py::test_a[x] / 1 failed in 0.1s"),
        ("python -m unittest", "ERROR: a (unittest.loader._FailedTest.a)\n----\nImportError: Failed to import test module: a\nTraceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    import django\nModuleNotFoundError: No module named 'django'\n\nRan 1 test in 0.1s\n\nFAILED (errors=1)", "ModuleNotFoundError: No module named 'django'", "ModuleNotFoundError: No module named 'django' / FAILED (errors=1)"),
        ("python a.py", "Traceback (most recent call last):\n  File \"a.py\", line 1\n    x[1]\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 2\n    raise E\nValueError: no row", "ValueError: no row", "ValueError: no row"),
        ("npm run build", "> tsc -p .\n\nsrc/theme.ts(443,3): error TS2353: Bad.\nnpm error command failed", "src/theme.ts(443,3): error TS2353: Bad.", "src/theme.ts(443,3): error TS2353: Bad."),
        ("make", "cc -c a.c\na.c:1:2: error: no such thing\nmake: *** [a.o] Error 1", "a.c:1:2: error: no such thing", "a.c:1:2: error: no such thing"),
        ("npm test", "npm ERR! code ELIFECYCLE\nError: Cannot find module 'x'\nnpm ERR! failed", "Error: Cannot find module 'x'", "Error: Cannot find module 'x'"),
        ("go test ./...", "--- FAIL: TestAdd (0.00s)\n    a_test.go:7: got 1\nFAIL\nFAIL\texample.com/a\t0.003s\nFAIL", "a_test.go:7: got 1", "a_test.go:7: got 1 / FAIL example.com/a 0.003s"),
        ("cargo test", "thread 'a' panicked at src/a.rs:3:5:\nleft: 1\ntest result: FAILED. 1 passed; 1 failed", "thread 'a' panicked at src/a.rs:3:5:", "thread 'a' panicked at src/a.rs:3:5: / test result: FAILED. 1 passed; 1 failed"),
    ];
    for &(command, text, line, both) in rows {
        let failure = run(command, text, Some(true)).failure().unwrap();
        assert_eq!(failure.line(), Some(line), "{text}");
        assert_eq!(failure.with_totals().as_deref(), Some(both), "{text}");
    }
}

#[test]
fn source_that_a_tool_echoes_tells_nothing() {
    let text = "t.py::test_invalid_value PASSED\nt.py::test_a FAILED\n____ test_a ____\n    def test_a():\n                        assert_raises(x)\n>       assert f(1)\nE       AttributeError: no tag\nt.py:9: AttributeError\n                ========== summary ==========\nFAILED t.py::test_a\n!!!! stopping after 1 failures !!!!\n                Traceback (most recent call last):\n  File \"/x/exceptions.py\", line 1, in f\n                    from .exceptions import NoMatch\n1481:     raise self.make_error(1)\nKeyError: 1";
    let lines = ToolTable::builtin().telling_lines(text, 64_000);
    assert_eq!(lines, ["AttributeError: no tag", "FAILED t.py::test_a", "KeyError: 1"]);
}

#[test]
fn what_is_missing_is_told_by_its_package() {
    for (line, wanted) in [
        ("ModuleNotFoundError: No module named 'tests.settings'", Some(("tests", "python"))),
        ("Error: Cannot find module '@a/b/c'", Some(("@a/b", "node"))),
        ("Error: Cannot find module './a'", None),
        ("error[E0463]: can't find crate for `serde_json`", Some(("serde-json", "rust"))),
        (
            "a.go:3:2: no required module provides package github.com/a/b; to add it:",
            Some(("github.com/a/b", "go")),
        ),
        ("bash: line 1: jq: command not found", Some(("jq", ""))),
        ("KeyError: 'pytz'", None),
    ] {
        let missing = super::missing_in(line);
        let missing = missing.as_ref().map(|missing| (&*missing.name, missing.language));
        assert_eq!(missing, wanted, "{line}");
    }
}

/// Kind, result, error flag, verdict, telling line.
type ToolRow = (ToolKind, &'static str, Option<bool>, Option<CallVerdict>, Option<&'static str>);

#[test]
#[rustfmt::skip]
fn tools_that_run_no_command() {
    use ToolKind::{Edit, Other, Read, Search, Web, Write};
    let rows: &[ToolRow] = &[
        (Read, "1\tfn main() {\n2\t// exit code: 1\nerror: x", None, None, None),
        (Read, "Error: file not found", None, Some(Failed), Some("Error: file not found")),
        (Read, "Error: first line of a log", Some(false), None, None),
        (Read, "EISDIR: illegal operation on a directory, read", Some(true), Some(Failed), Some("EISDIR: illegal operation on a directory, read")),
        (Search, "No files found", None, None, None),
        (Web, "Request failed with status code 403", Some(true), Some(Failed), Some("Request failed with status code 403")),
        (Edit, "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>", Some(true), Some(Failed), Some("String to replace not found in file.")),
        (Edit, "<tool_use_error>Found 2 matches of the string to replace, but replace_all is false.</tool_use_error>", None, Some(Failed), Some("Found 2 matches of the string to replace, but replace_all is false.")),
        (Edit, "File has not been read yet. Read it first before writing to it.", None, Some(Failed), Some("File has not been read yet. Read it first before writing to it.")),
        (Write, "File has been modified since read, either by the user or by a linter.", None, Some(Failed), Some("File has been modified since read, either by the user or by a linter.")),
        (Edit, "apply_patch verification failed: Failed to find expected lines in a.rs:\nx", None, Some(Failed), Some("apply_patch verification failed: Failed to find expected lines in a.rs:")),
        (Edit, "No replacement was performed, old_str `x` did not appear verbatim in a.py.", None, Some(Failed), Some("No replacement was performed, old_str `x` did not appear verbatim in a.py.")),
        (Edit, "The file /a.rs has been updated. Here's the result of running `cat -n`:\n1\terror: x", None, Some(Ok), Some("The file /a.rs has been updated. Here's the result of running `cat -n`:")),
        (Edit, "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nM a.rs", None, Some(Ok), Some("Success. Updated the following files:")),
        (Edit, "The user doesn't want to take this action right now.", Some(true), Some(Interrupted), Some("The user doesn't want to take this action right now.")),
        (Write, "File created successfully at: /a.rs", None, Some(Ok), Some("File created successfully at: /a.rs")),
        (Write, "wrote it", None, None, None),
        (Other, "{\"success\": false, \"error\": \"x\"}", None, Some(Failed), Some("{\"success\": false, \"error\": \"x\"}")),
        (Other, "", None, None, None),
    ];
    for &(kind, text, flagged, verdict, telling) in rows {
        let facts = CallFacts { kind, ..CallFacts::default() };
        let outcome = ToolTable::builtin().outcome(&facts, text, flagged);
        assert_eq!((outcome.verdict, outcome.telling.as_deref()), (verdict, telling), "{text}");
    }
}

#[test]
#[rustfmt::skip]
fn exit_codes_as_harnesses_report_them() {
    for (text, exit) in [
        ("<returncode>0</returncode>\n<output>\nfine\n</output>", Some(0)),
        ("some output\nexit code: 1", Some(1)),
        ("Exit code 1\nls: x: No such file or directory", Some(1)),
        ("{\"output\": \"x \\\"exit_code\\\": 7\", \"exit_code\": 0, \"error\": null}", Some(0)),
        ("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\nx", Some(127)),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nok", Some(0)),
        ("{\"output\":\"x\",\"metadata\":{\"exit_code\":3,\"duration_seconds\":0.1}}", Some(3)),
        ("x\n[exit 1]", Some(1)),
        ("x\n(exit code 1)", Some(1)),
        ("x\n\nCommand exited with code 2", Some(2)),
        ("[Command finished with exit code -1]", Some(-1)),
        ("Command: x\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: 4\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 12", Some(4)),
        ("Command executed in terminal within working directory '/x'. Exit code: 1\nOutput:\nx", Some(1)),
        ("all is well", None),
    ] {
        assert_eq!(run("x", text, None).exit, exit, "{text}");
    }
}

#[test]
fn json_results_are_read() {
    let text =
        "{\"output\":\"..F\\n1 failed, 2 passed in 0.1s\\n\",\"exit_code\":0,\"error\":null}";
    let outcome = run("pytest | tail", text, None);
    assert_eq!(outcome.verdict, Some(Failed));
    assert_eq!(outcome.telling.as_deref(), Some("1 failed, 2 passed in 0.1s"));
    for text in [
        "{\n  \"output\": \"..F\\n1 failed, 2 passed in 0.1s\\n\",\n  \"exit_code\": 1\n}",
        "{ \"output\": \"..F\\n1 failed, 2 passed in 0.1s\\n\", \"exit_code\": 1 }",
    ] {
        let outcome = run("pytest", text, None);
        assert_eq!(outcome.telling.as_deref(), Some("1 failed, 2 passed in 0.1s"), "{text}");
        assert_eq!(super::shown(text, 100, 9), ["1 failed, 2 passed in 0.1s"]);
    }
}

/// The JSON around an empty output says nothing about the failure.
#[test]
fn a_json_result_without_output_shows_nothing() {
    for text in [
        "{\"output\":\"\",\"exit_code\":1}",
        "{\"stdout\": \"\", \"stderr\": \"\", \"exit_code\": 1}",
        "{\"output\": null, \"metadata\": {\"exit_code\": 1}}",
    ] {
        let failure = run("make check", text, None).failure().unwrap();
        assert_eq!(failure.line(), Some("exit 1"), "{text}");
        assert_eq!(super::shown(text, 100, 9), Vec::<String>::new(), "{text}");
    }
    // Without an exit code, the object may be what the command printed.
    for text in ["{\"output\":\"\",\"reason\":\"none\"}", "{\"error\":\"\",\"exit_code\":1}"] {
        assert_eq!(super::shown(text, 100, 9), [text]);
    }
}

#[test]
fn a_failed_edit_has_no_totals() {
    let facts = CallFacts { kind: ToolKind::Edit, ..CallFacts::default() };
    let text = "Edit refused by the checker\nerror[E0308]: mismatched types";
    let failure = ToolTable::builtin().outcome(&facts, text, Some(true)).failure().unwrap();
    assert_eq!(failure.line(), Some("error[E0308]: mismatched types"));
    assert_eq!(failure.with_totals().as_deref(), failure.line());
}

#[test]
fn the_id_of_a_running_command_is_found() {
    for (line, id) in [
        ("Process running with session ID 45", Some("45")),
        ("Command running in background with ID: b1x2.", Some("b1x2")),
        ("still running, ID : 7", Some("7")),
        ("still running, ID : session 7", Some("7")),
        ("still running, ID: (session 7)", Some("7")),
        ("still running, ID - session 7", Some("7")),
        ("still running, ID - see below", None),
        ("still running", None),
    ] {
        assert_eq!(super::id_in(line), id, "{line}");
    }
}

#[test]
fn long_results_are_read_at_both_ends() {
    let lines = "compiling something that takes its time\n".repeat(30_000);
    let result = format!("a.c:1:2: error: early\n{lines}make: *** [all] Error 1\n");
    let outcome = run("make", &result, None);
    assert_eq!((outcome.verdict, outcome.lines), (Some(Failed), 30_002));
    assert_eq!(outcome.telling.as_deref(), Some("a.c:1:2: error: early"));
    let long = run("x", &"é".repeat(1_000_000), None);
    assert_eq!(long.telling.map(|line| line.chars().count()), Some(160));
}

#[test]
fn lines_are_counted() {
    let count = |text| run("x", text, None).lines;
    assert_eq!(
        (count(""), count("a"), count("a\n"), count("a\nb"), count("\n\n")),
        (0, 1, 1, 2, 2)
    );
}

#[test]
fn the_file_is_read() {
    assert!(super::known_lines::table().is_some());
}
