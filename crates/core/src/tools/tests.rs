use super::*;
use ToolKind::{Edit, List, Other, Read, Search, Shell, Task, Todo, Web, Write};

/// The expectation of a row: kind, reads, writes, command or query, range.
type ToolExpectation = (
    &'static str,
    &'static str,
    ToolKind,
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
    Option<(u64, u64)>,
);

const ALL: u64 = u64::MAX;

#[rustfmt::skip]
const ROWS: &[ToolExpectation] = &[
    // Claude Code
    ("Read", r#"{"file_path":"/a/b.rs"}"#, Read, &["/a/b.rs"], &[], "", None),
    ("Read", r#"{"file_path":"/a/b.rs","offset":100,"limit":50}"#, Read, &["/a/b.rs"], &[], "", Some((100, 50))),
    ("Read", r#"{"file_path":"/a/b.rs","limit":50}"#, Read, &["/a/b.rs"], &[], "", Some((1, 50))),
    ("Read", r#"{"file_path":"/a/b.rs","offset":9}"#, Read, &["/a/b.rs"], &[], "", Some((9, ALL))),
    ("Write", r#"{"file_path":"x.py","content":"open('y.py') {\"path\":\"z\"}"}"#, Write, &[], &["x.py"], "", None),
    ("Edit", r#"{"file_path":"x.py","old_string":"a","new_string":"b"}"#, Edit, &[], &["x.py"], "", None),
    ("MultiEdit", r#"{"file_path":"x.py","edits":[{"old_string":"a","new_string":"b"}]}"#, Edit, &[], &["x.py"], "", None),
    ("NotebookEdit", r#"{"notebook_path":"n.ipynb","new_source":"1"}"#, Edit, &[], &["n.ipynb"], "", None),
    ("Bash", r#"{"command":"cargo test -p core","description":"Run"}"#, Shell, &[], &[], "cargo test -p core", None),
    ("BashOutput", r#"{"bash_id":"b1"}"#, Shell, &[], &[], "b1", None),
    ("Grep", r#"{"pattern":"fn main","path":"src"}"#, Search, &[], &[], "fn main", None),
    ("Glob", r#"{"pattern":"**/*.rs"}"#, Search, &[], &[], "**/*.rs", None),
    ("LS", r#"{"path":"/a"}"#, List, &[], &[], "/a", None),
    ("WebFetch", r#"{"url":"https://x.y/z","prompt":"p"}"#, Web, &[], &[], "https://x.y/z", None),
    ("WebSearch", r#"{"query":"rust"}"#, Web, &[], &[], "rust", None),
    ("Task", r#"{"description":"find it","prompt":"long"}"#, Task, &[], &[], "find it", None),
    ("TodoWrite", r#"{"todos":[{"content":"a","status":"pending"}]}"#, Todo, &[], &[], "", None),
    // Codex
    ("shell", r#"{"command":["bash","-lc","cat src/a.rs && echo x > out.txt"],"workdir":"/r"}"#, Shell, &["src/a.rs"], &["out.txt"], "cat src/a.rs && echo x > out.txt", None),
    ("shell", r#"{"command":["ls","-la"]}"#, Shell, &[], &[], "ls -la", None),
    ("exec_command", r#"{"cmd":"sed -n '1,20p' src/a.rs"}"#, Shell, &["src/a.rs"], &[], "sed -n '1,20p' src/a.rs", Some((1, 20))),
    ("local_shell_call", r#"{"action":{"type":"exec","command":["bash","-lc","nl f.c"]}}"#, Shell, &["f.c"], &[], "nl f.c", None),
    ("apply_patch", r#"{"input":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b.rs\n+z\n*** Delete File: c.rs\n*** End Patch"}"#, Edit, &[], &["src/a.rs", "b.rs", "c.rs"], "", None),
    ("apply_patch", "*** Begin Patch\n*** Update File: d.rs\n*** Move to: e.rs\n*** End Patch", Edit, &[], &["d.rs", "e.rs"], "", None),
    ("functions.shell", r#"{"command":["bash","-lc","apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: p.rs\n*** End Patch\nEOF\n"]}"#, Shell, &[], &["p.rs"], "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: p.rs\n*** End Patch\nEOF\n", None),
    ("read_file", r#"{"file_path":"/a.rs","offset":1,"limit":200}"#, Read, &["/a.rs"], &[], "", Some((1, 200))),
    ("list_dir", r#"{"dir_path":"/a"}"#, List, &[], &[], "/a", None),
    ("grep_files", r#"{"pattern":"x+"}"#, Search, &[], &[], "x+", None),
    ("view_image", r#"{"path":"p.png"}"#, Read, &["p.png"], &[], "", None),
    ("update_plan", r#"{"plan":[{"step":"a","status":"pending"}]}"#, Todo, &[], &[], "", None),
    // pi
    ("read", r#"{"path":"a.ts","offset":5,"limit":10}"#, Read, &["a.ts"], &[], "", Some((5, 10))),
    ("bash", r#"{"command":"head -n 5 a.ts"}"#, Shell, &["a.ts"], &[], "head -n 5 a.ts", Some((1, 5))),
    ("edit", r#"{"path":"a.ts","oldText":"x","newText":"y"}"#, Edit, &[], &["a.ts"], "", None),
    ("write", r#"{"path":"a.ts","content":""}"#, Write, &[], &["a.ts"], "", None),
    ("find", r#"{"pattern":"*.ts","path":"."}"#, Search, &[], &[], "*.ts", None),
    ("ls", r#"{"path":"src"}"#, List, &[], &[], "src", None),
    // opencode
    ("read", r#"{"filePath":"/r/a.go"}"#, Read, &["/r/a.go"], &[], "", None),
    ("patch", r#"{"patchText":"--- a/x.go\t2024\n+++ b/x.go\t2024\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/new.go\n--- a/old.go\n+++ /dev/null\n"}"#, Edit, &[], &["x.go", "new.go", "old.go"], "", None),
    ("list", r#"{"path":"/r"}"#, List, &[], &[], "/r", None),
    ("webfetch", r#"{"url":"http://a","format":"text"}"#, Web, &[], &[], "http://a", None),
    // Hermes
    ("terminal", r#"{"command":"npm test","timeout":60}"#, Shell, &[], &[], "npm test", None),
    ("write_file", r#"{"path":"a.md","content":"c"}"#, Write, &[], &["a.md"], "", None),
    ("patch", r#"{"mode":"replace","path":"a.py","old_string":"x","new_string":"y"}"#, Edit, &[], &["a.py"], "", None),
    ("search_files", r#"{"pattern":"def x","target":"content"}"#, Search, &[], &[], "def x", None),
    ("execute_code", r#"{"code":"print(open('a').read()) > b"}"#, Shell, &[], &[], "print(open('a').read()) > b", None),
    ("browser_navigate", r#"{"url":"https://a.b"}"#, Web, &[], &[], "https://a.b", None),
    ("web_extract", r#"{"urls":["https://a.b"]}"#, Web, &[], &[], "https://a.b", None),
    ("skill_view", r#"{"name":"x","file_path":"references/y.md"}"#, Read, &["references/y.md"], &[], "", None),
    ("process", r#"{"action":"poll","session_id":"s"}"#, Shell, &[], &[], "poll", None),
    // mini-swe-agent, SWE-agent
    ("bash", "cat > a.py <<'EOF'\ncat other.py > b.py\nEOF\npython a.py", Shell, &[], &["a.py"], "cat > a.py <<'EOF'\ncat other.py > b.py\nEOF\npython a.py", None),
    ("open", r#"{"path":"src/m.py","line_number":40}"#, Read, &["src/m.py"], &[], "", Some((40, ALL))),
    ("goto", r#"{"line_number":12}"#, Read, &[], &[], "", None),
    ("create", r#"{"filename":"reproduce.py"}"#, Write, &[], &["reproduce.py"], "", None),
    ("find_file", r#"{"file_name":"m.py","dir":"src"}"#, Search, &[], &[], "m.py", None),
    ("search_dir", r#"{"search_term":"class A"}"#, Search, &[], &[], "class A", None),
    ("str_replace_editor", r#"{"command":"view","path":"/t/a.py","view_range":[10,30]}"#, Read, &["/t/a.py"], &[], "", Some((10, 21))),
    ("str_replace_editor", r#"{"command":"view","path":"/t/a.py","view_range":[10,-1]}"#, Read, &["/t/a.py"], &[], "", Some((10, ALL))),
    ("str_replace_based_edit_tool", r#"{"command":"str_replace","path":"/t/a.py","old_str":"x"}"#, Edit, &[], &["/t/a.py"], "", None),
    ("str_replace_based_edit_tool", r#"{"command":"create","path":"/t/b.py","file_text":"x"}"#, Write, &[], &["/t/b.py"], "", None),
    ("submit", "{}", Other, &[], &[], "", None),
    // OpenHands
    ("execute_bash", r#"{"command":"cd /w && grep -n foo src/lib.rs","is_input":"false"}"#, Shell, &["src/lib.rs"], &[], "cd /w && grep -n foo src/lib.rs", Some((0, 0))),
    ("execute_ipython_cell", r#"{"code":"1+1"}"#, Shell, &[], &[], "1+1", None),
    // Cline, Roo
    ("write_to_file", r#"{"path":"a.html","content":"<p>"}"#, Write, &[], &["a.html"], "", None),
    ("replace_in_file", r#"{"path":"a.css","diff":"<<<<<<< SEARCH"}"#, Edit, &[], &["a.css"], "", None),
    ("write_to_file", r#"{"absolutePath":"/w/a.html","content":"<p>"}"#, Write, &[], &["/w/a.html"], "", None),
    ("replace_in_file", r#"{"absolutePath":"/w/a.css","diff":"<<<<<<< SEARCH"}"#, Edit, &[], &["/w/a.css"], "", None),
    ("read_file", r#"{"absolutePath":"/w/a.css"}"#, Read, &["/w/a.css"], &[], "", None),
    ("file_editor", r#"{"command":"str_replace","path":"/w/a.py","old_str":"x","new_str":"y"}"#, Edit, &[], &["/w/a.py"], "", None),
    ("execute_command", r#"{"command":"npm i","requires_approval":true}"#, Shell, &[], &[], "npm i", None),
    ("list_files", r#"{"path":".","recursive":true}"#, List, &[], &[], ".", None),
    ("read_file", r#"{"files":[{"path":"a.rs"},{"path":"b.rs"}]}"#, Read, &["a.rs", "b.rs"], &[], "", None),
    // Gemini CLI
    ("read_many_files", r#"{"paths":["a.md","b.md"]}"#, Read, &["a.md", "b.md"], &[], "", None),
    ("replace", r#"{"file_path":"a.ts","old_string":"x"}"#, Edit, &[], &["a.ts"], "", None),
    ("run_shell_command", r#"{"command":"ls > /dev/null 2>&1"}"#, Shell, &[], &[], "ls > /dev/null 2>&1", None),
    ("search_file_content", r#"{"pattern":"x"}"#, Search, &[], &[], "x", None),
    // MCP
    ("mcp__filesystem__read_text_file", r#"{"path":"/a.txt","head":5}"#, Read, &["/a.txt"], &[], "", Some((1, 5))),
    ("filesystem.edit_file", r#"{"path":"/a.txt","edits":[]}"#, Edit, &[], &["/a.txt"], "", None),
    ("mcp__filesystem__move_file", r#"{"source":"/a","destination":"/b"}"#, Edit, &[], &["/a", "/b"], "", None),
    // Cursor
    ("run_terminal_cmd", r#"{"command":"make"}"#, Shell, &[], &[], "make", None),
    ("codebase_search", r#"{"query":"where is x"}"#, Search, &[], &[], "where is x", None),
    ("read_file", r#"{"target_file":"a.ts","start_line_one_indexed":5,"end_line_one_indexed_inclusive":8}"#, Read, &["a.ts"], &[], "", Some((5, 4))),
    // Other spellings, unknown tools, broken and doubly encoded arguments
    ("readFile", r#"{"path":"a"}"#, Read, &["a"], &[], "", None),
    ("WRITE-FILE", r#"{"path":"a"}"#, Write, &[], &["a"], "", None),
    ("book_reservation", r#"{"user_id":"u1","path":"x"}"#, Other, &[], &[], "", None),
    ("Read", r#""{\"file_path\":\"q.rs\",\"limit\":7}""#, Read, &["q.rs"], &[], "", Some((1, 7))),
    ("Write", r#"{"file_path":"cut.py","content":"half of"#, Write, &[], &["cut.py"], "", None),
    ("Read", r#"{"file_path":"unterminated"#, Read, &[], &[], "", None),
    ("Read", "", Read, &[], &[], "", None),
    ("Read", "{]]", Read, &[], &[], "", None),
    ("Read", r#"{"file_path":"\u00e9\/x.rs"}"#, Read, &["é/x.rs"], &[], "", None),
];

#[test]
fn facts_of_calls() {
    assert!(ROWS.len() >= 60);
    for &(name, args, kind, reads, writes, text, range) in ROWS {
        let facts = ToolTable::builtin().facts(name, args);
        let call = format!("{name} {args}");
        assert_eq!(facts.kind, kind, "{call}");
        assert_eq!(facts.reads, reads, "{call}");
        assert_eq!(facts.writes, writes, "{call}");
        assert_eq!(facts.command.or(facts.query).unwrap_or_default(), text, "{call}");
        assert_eq!(facts.range, range, "{call}");
    }
}

/// Command, reads, writes, range.
type ShellRow =
    (&'static str, &'static [&'static str], &'static [&'static str], Option<(u64, u64)>);

#[rustfmt::skip]
const SHELL_ROWS: &[ShellRow] = &[
    ("cat a.txt b.txt", &["a.txt", "b.txt"], &[], None),
    ("cd /x && cat -n 'my file.txt'", &["my file.txt"], &[], None),
    ("cat a.txt | grep foo", &["a.txt"], &[], Some((0, 0))),
    ("cat a.txt | head -50", &["a.txt"], &[], Some((0, 0))),
    ("tail -n 20 log.txt", &["log.txt"], &[], Some((0, 0))),
    ("head -20 log.txt", &["log.txt"], &[], Some((1, 20))),
    ("head -c 200 log.txt", &["log.txt"], &[], Some((0, 0))),
    ("head --bytes=200 log.txt", &["log.txt"], &[], Some((0, 0))),
    ("head -n -5 log.txt", &["log.txt"], &[], Some((0, 0))),
    ("head -n-5 log.txt; head --lines=-5 log.txt", &["log.txt", "log.txt"], &[], Some((0, 0))),
    ("head --lines=5 -q log.txt", &["log.txt"], &[], Some((1, 5))),
    ("head -n $N log.txt", &["log.txt"], &[], Some((0, 0))),
    ("head log.txt", &["log.txt"], &[], Some((1, 10))),
    ("head -5 a.c; sed -n 9p a.c", &["a.c", "a.c"], &[], Some((0, 0))),
    ("cat a.c; head -5 a.c", &["a.c", "a.c"], &[], Some((0, 0))),
    ("sed -n '5,$p' a.c", &["a.c"], &[], Some((5, u64::MAX))),
    ("sed -n '10,+9p' a.c", &["a.c"], &[], Some((10, 10))),
    ("sed -n '20,10p' a.c", &["a.c"], &[], Some((20, 1))),
    ("sed -n 0,18446744073709551615p a.c", &["a.c"], &[], Some((0, 0))),
    ("sed -n 1,18446744073709551615p a.c", &["a.c"], &[], Some((1, u64::MAX))),
    ("sed '10p' a.c", &["a.c"], &[], Some((0, 0))),
    ("sed -n -e 1p -e 10p a.c", &["a.c"], &[], Some((0, 0))),
    ("sed -n 1,5p a.c b.c", &["a.c", "b.c"], &[], Some((0, 0))),
    ("bat -r 5:9 a.c", &["a.c"], &[], Some((0, 0))),
    ("nl -ba src/a.c | sed -n '10,30p'", &["src/a.c"], &[], Some((0, 0))),
    ("grep -rn 'a b' src/", &[], &[], None),
    ("grep '' a.py", &["a.py"], &[], Some((0, 0))),
    ("grep -n foo a.py b.py", &["a.py", "b.py"], &[], Some((0, 0))),
    ("grep -n -A 5 'on.*Name' a.ts", &["a.ts"], &[], Some((0, 0))),
    ("sed -i 's/a/b/' a.py", &[], &["a.py"], None),
    ("sed -i.bak -e 's/a/b/' -e 's/c/d/' a.py", &[], &["a.py"], None),
    ("sed -es/if/else/ a.rs b.rs", &["a.rs", "b.rs"], &[], Some((0, 0))),
    ("sed -fscript.sed a.rs", &["a.rs"], &[], Some((0, 0))),
    ("sed --expression=s/a/b/ -i a.py; sed -i -f x.sed b.py; sed -ie s/a/b/ c.py", &[], &["a.py", "b.py", "c.py"], None),
    ("awk -F: -v n=1 '{print $n}' a.py", &["a.py"], &[], Some((0, 0))),
    ("echo hi > out.txt; echo ho >> log.txt", &[], &["out.txt", "log.txt"], None),
    ("make 2> err.log >/dev/null", &[], &["err.log"], None),
    ("make 2>&1 | tee build.log", &[], &["build.log"], None),
    ("mv a.txt b.txt && rm -rf tmp && touch c && mkdir -p d/e", &[], &["a.txt", "b.txt", "tmp", "c", "d/e"], None),
    ("perl -pi -e 's/a/b/' a.py b.py", &[], &["a.py", "b.py"], None),
    ("perl -0pi -e 's/a/b/' a.py", &[], &["a.py"], None),
    ("perl -i.bak -pe 's/a/b/' a.py", &[], &["a.py"], None),
    ("perl -0777pi -e 's/a/b/' a.py; perl -pi~ -e 's/a/b/' b.py; perl -i.save -pe 's/a/b/' c.py", &[], &["a.py", "b.py", "c.py"], None),
    ("perl -Mstrict -ne 'print' a.py; ruby -rjson -i.bak -pe 'x' b.rb", &[], &["b.rb"], None),
    ("perl -ne 'print' a.py", &[], &[], None),
    ("git mv a.rs b.rs && git rm -f c.rs", &[], &["a.rs", "b.rs", "c.rs"], None),
    ("git checkout -- a.rs b.rs; git checkout main -- c.rs; git checkout main", &[], &["a.rs", "b.rs", "c.rs"], None),
    ("git restore a.rs; git restore --source HEAD~1 b.rs", &[], &["a.rs", "b.rs"], None),
    ("git restore -s main c.rs; git restore --source=main d.rs", &[], &["c.rs", "d.rs"], None),
    ("git restore --staged a.rs; git rm --cached b.rs; git restore -S -W c.rs", &[], &["c.rs"], None),
    ("cat > a.txt <<EOF\nx\nEOF\ncat >> b.txt << 'E'\ny\nE", &[], &["a.txt", "b.txt"], None),
    ("echo x | tee -a a.log b.log >/dev/null 2>&1", &[], &["a.log", "b.log"], None),
    ("python3 - <<'EOF' > out.json\nopen('x.py', 'w')\nEOF", &[], &["out.json", "x.py"], None),
    ("cd a && python3 -c \"open('b.txt','w').write('x')\" | head", &[], &["b.txt"], None),
    ("node -e \"require('fs').writeFileSync('c.json', '1')\"", &[], &["c.json"], None),
    ("sed -n -i '1,2p' a.c; sed --in-place 's/a/b/' b.c", &[], &["a.c", "b.c"], None),
    ("sed -i '' 's/a/b/' a.py", &[], &["a.py"], None),
    ("cmd > a.log 2> b.log 2>&1 1>&2; cmd &> c.log; cmd >> /dev/null", &[], &["a.log", "b.log", "c.log"], None),
    ("truncate -s 0 a.bin; cp -r a b dir", &[], &["a.bin", "dir"], None),
    ("cp a.txt dir/b.txt", &[], &["dir/b.txt"], None),
    ("cat $FILE \"$HOME/x\" *.c $(ls a.c) `which b`", &[], &[], None),
    ("cat a.txt # cat b.txt\ncat c.txt", &["a.txt", "c.txt"], &[], None),
    ("FOO=1 sudo cat /etc/hosts", &["/etc/hosts"], &[], None),
    ("for f in a b; do cat \"$f\"; done", &[], &[], None),
    ("python - <<'EOF'\nopen('x').read() > 3\ncat y\nEOF\ncat z", &["z"], &[], None),
    ("cat <<EOF > conf.ini\na > b\nEOF", &[], &["conf.ini"], None),
    ("git apply <<'E'\n--- a/x.c\n+++ b/x.c\nE", &[], &["x.c"], None),
    ("echo 'a > b' \"c > d\" && echo \\> e", &[], &[], None),
    ("cat 'unclosed > x", &[], &[], None),
    ("diff <(cat a.txt) b.txt", &["a.txt"], &[], None),
    ("timeout 10 cat a.txt", &["a.txt"], &[], None),
    ("timeout -k 5 60 cat a.txt; timeout --signal=KILL 9 cat b.txt", &["a.txt", "b.txt"], &[], None),
    ("sudo -u bob touch a; sudo -E touch b; env -u A -i X=1 touch c; time -p touch d", &[], &["a", "b", "c", "d"], None),
    ("/usr/bin/time -f %e touch a; nice -n 5 touch b; stdbuf -oL touch c", &[], &["a", "b", "c"], None),
    ("while ! touch a; do sleep 1; done", &[], &["a"], None),
    ("git log -p | less", &[], &[], None),
    ("cat -", &[], &[], None),
    ("", &[], &[], None),
];

#[test]
fn shell_commands() {
    for &(command, reads, writes, range) in SHELL_ROWS {
        let touched = shell::read(command);
        assert_eq!(touched.reads, reads, "{command}");
        assert_eq!(touched.writes, writes, "{command}");
        assert_eq!(touched.range, range, "{command}");
    }
}

#[test]
fn the_builtin_file_is_read() {
    assert!(ToolTable::builtin().tools.len() >= 20);
    assert_eq!(ToolTable::builtin().lookup("no such tool").kind, Other);
    let text = include_str!("../../data/tools.toml");
    assert!(toml::from_str::<ToolFile>(&format!("{text}\nnames = [\"x\"]\nunknown = 1")).is_err());
}

#[test]
fn a_policy_extends_the_table_and_wins() {
    let more: ToolFile = toml::from_str(
        "[[tool]]\nnames = [\"Bash\", \"acme_*\"]\nkind = \"read\"\npaths = [\"where\"]\n",
    )
    .unwrap();
    let table = ToolTable::builtin().extended(&more.tool);
    assert_eq!(table.facts("bash", r#"{"where":"w"}"#).reads, ["w"]);
    assert_eq!(table.lookup("mcp__x__acme_open").kind, Read);
    assert_eq!(table.lookup("Write").kind, Write);
    assert_eq!(ToolTable::builtin().lookup("Bash").kind, Shell);
    let back = toml::to_string(&more.tool[0]).unwrap();
    assert_eq!(toml::from_str::<ToolDefinition>(&back).unwrap(), more.tool[0]);
}

#[test]
fn hostile_arguments_are_survived() {
    let table = ToolTable::builtin();
    let deep =
        format!("{{\"file_path\":\"a\",\"x\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(table.facts("Read", &deep).reads, ["a"]);
    let big = format!("{{\"content\":\"{}\",\"file_path\":\"b\"}}", "x\\n".repeat(1_000_000));
    assert_eq!(table.facts("Write", &big).writes, ["b"]);
    for odd in
        ["{\"a\":", "{\"a\"", "{,,,}", "{\"file_path\":}", "\"\\", "\"", "{\"a\":\"\\", "[1,2]"]
    {
        assert!(table.facts("Read", odd).reads.is_empty(), "{odd}");
    }
    let quotes = "'\"`$(<<".repeat(5_000);
    assert!(table.facts("Bash", &quotes).reads.is_empty());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 500, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn any_command_and_any_arguments_are_safe(
        text in "(\\PC|[ \n'\"`$(){}<>|&;\\\\#=]|cat |sed -i |<<E|> f|head -n ){0,60}",
    ) {
        let table = ToolTable::builtin();
        for name in ["bash", "Read", "apply_patch", "str_replace_editor"] {
            let _ = table.facts(name, &text);
            let _ = table.facts(name, &format!("{{\"command\":{text}"));
        }
        let facts = table.facts("bash", &text);
        let _ = table.outcome(&facts, &text, None);
    }
}

#[test]
fn an_unknown_tool_with_a_command_runs_it() {
    let facts = ToolTable::builtin().facts("run_it_for_me", r#"{"command":"cat src/a.rs"}"#);
    assert_eq!((facts.kind, facts.command.as_deref()), (Shell, Some("cat src/a.rs")));
    assert_eq!(facts.reads, ["src/a.rs"]);
    assert_eq!(ToolTable::builtin().facts("mystery", r#"{"x":"cat a"}"#).kind, Other);
}
