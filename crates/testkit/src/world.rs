//! The code base and the machines of the made-up session: texts that look like real ones.

use std::fmt::Write;

use crate::rng::Rng;

/// The files of the project, each with the class that it is about.
pub const FILES: [(&str, &str); 12] = [
    ("ledgerline/api/invoices.py", "InvoiceHandler"),
    ("ledgerline/api/refunds.py", "RefundHandler"),
    ("ledgerline/core/money.py", "Money"),
    ("ledgerline/core/rounding.py", "RoundingPolicy"),
    ("ledgerline/core/tax.py", "TaxTable"),
    ("ledgerline/db/pool.py", "ConnectionPool"),
    ("ledgerline/db/outbox.py", "OutboxWriter"),
    ("ledgerline/jobs/settlement.py", "SettlementJob"),
    ("ledgerline/jobs/retry.py", "RetryPolicy"),
    ("ledgerline/events/bus.py", "EventBus"),
    ("ledgerline/config.py", "Settings"),
    ("tests/test_settlement.py", "TestSettlement"),
];

const VERBS: [&str; 12] = [
    "apply", "build", "collect", "resolve", "settle", "flush", "reserve", "release", "convert",
    "validate", "merge", "publish",
];
const NOUNS: [&str; 14] = [
    "invoice", "refund", "batch", "currency", "amount", "account", "tenant", "rate", "window",
    "cursor", "receipt", "lock", "entry", "snapshot",
];
const NOTES: [&str; 8] = [
    "Amounts are integers in the smallest unit; never pass a float here.",
    "Callers hold the tenant lock, so this must not wait on the network.",
    "The upstream bank rejects batches above 500 entries.",
    "Idempotent: the outbox may deliver the same row twice.",
    "Rates are cached per window because the provider limits us to 40 calls a minute.",
    "Kept for the nightly job; the API path uses the bulk variant.",
    "Order matters: fees are booked before taxes.",
    "Returns None where the tenant has no open window.",
];

/// A function name.
pub fn function(rng: &mut Rng) -> String {
    format!("{}_{}", rng.pick(&VERBS), rng.pick(&NOUNS))
}

/// The source of a file in the given `version`. Only a few lines differ between two versions.
#[must_use]
pub fn source(path: &str, class: &str, version: usize) -> String {
    let rng = &mut Rng::named(path);
    let mut out = format!(
        "\"\"\"{class} and what belongs to it.\"\"\"\n\nfrom __future__ import annotations\n\n\
         import logging\nfrom dataclasses import dataclass\n\n\
         from ledgerline.config import Settings\n\nlog = logging.getLogger(__name__)\n\
         REVISION = {version}\n\n\nclass {class}:\n"
    );
    let _ = writeln!(out, "    \"\"\"{}\"\"\"\n", rng.pick(&NOTES));
    for _ in 0..rng.between(4, 8) {
        method(rng, version, &mut out);
    }
    out
}

fn method(rng: &mut Rng, version: usize, out: &mut String) {
    let (name, one, two) = (function(rng), *rng.pick(&NOUNS), *rng.pick(&NOUNS));
    let limit = rng.between(2, 900);
    let _ =
        writeln!(out, "    def {name}(self, {one}: int, *, {two}_id: str | None = None) -> int:");
    let _ = writeln!(out, "        \"\"\"{}\"\"\"", rng.pick(&NOTES));
    for _ in 0..rng.between(2, 5) {
        let (verb, noun) = (*rng.pick(&VERBS), *rng.pick(&NOUNS));
        let _ = writeln!(out, "        {noun} = self._{verb}_{noun}({one}, limit={limit})");
        let _ = writeln!(out, "        if {noun} is None or {noun}.state == \"closed\":");
        let _ = writeln!(out, "            log.warning(\"{verb} skipped: %s\", {two}_id)");
        let _ = writeln!(out, "            return {}", rng.below(3));
    }
    let _ = writeln!(out, "        return {one} * {} + {version}\n", rng.between(1, 97));
}

/// A file as the read tool shows it, with line numbers.
#[must_use]
pub fn numbered(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 5 / 4);
    for (at, line) in text.lines().enumerate() {
        let _ = writeln!(out, "{:>5}\t{line}", at + 1);
    }
    out
}

/// The output of grep.
pub fn grep(rng: &mut Rng, pattern: &str) -> String {
    let mut out = String::new();
    for _ in 0..rng.between(8, 40) {
        let (path, class) = rng.pick(&FILES);
        let (line, noun) = (rng.between(3, 400), *rng.pick(&NOUNS));
        let _ = writeln!(out, "{path}:{line}:        {noun} = {class}.{pattern}({noun}_id)");
    }
    out
}

/// A failing test run, with a traceback.
pub fn failing_run(rng: &mut Rng, name: &str) -> String {
    let (path, class) = *rng.pick(&FILES);
    let (line, got, want) = (rng.between(20, 300), rng.between(100, 9999), rng.between(100, 9999));
    let mut out = run_header(rng);
    let _ = write!(
        out,
        "\n=================================== FAILURES ===================================\n\
         _______________________ TestSettlement.test_{name} _______________________\n\n\
         self = <tests.test_settlement.TestSettlement object at 0x7f{}>\n\n\
         \x20   def test_{name}(self):\n\
         \x20       job = {class}(Settings.for_tests(dsn=\"postgresql://127.0.0.1:54329/ledger\"))\n\
         >       assert job.{name}(entry=7) == {want}\n\
         E       AssertionError: assert {got} == {want}\n\
         E        +  where {got} = {name}(entry=7)\n\n\
         Traceback (most recent call last):\n",
        rng.hex(10)
    );
    for _ in 0..rng.between(4, 14) {
        let (path, class) = *rng.pick(&FILES);
        let _ = writeln!(
            out,
            "  File \"/srv/build/{path}\", line {}, in {}\n    return self._inner.{}({})",
            rng.between(10, 400),
            function(rng),
            function(rng),
            class.to_lowercase()
        );
    }
    let _ = write!(
        out,
        "{path}:{line}: AssertionError\n\
         =========================== short test summary info ============================\n\
         FAILED tests/test_settlement.py::TestSettlement::test_{name} - AssertionError: assert \
         {got} == {want}\n\
         ========================= 1 failed, {} passed in {}.{:02}s =========================\n",
        rng.between(180, 260),
        rng.between(3, 20),
        rng.below(100)
    );
    out
}

fn run_header(rng: &mut Rng) -> String {
    let mut out = String::from(
        "============================= test session starts ==============================\n\
         platform linux -- Python 3.13.2, pytest-9.0.1, pluggy-1.6.0\n\
         rootdir: /srv/build\nconfigfile: pyproject.toml\n",
    );
    for _ in 0..rng.between(6, 20) {
        let (path, _) = rng.pick(&FILES);
        let dots = ".".repeat(rng.between(5, 60));
        let _ = writeln!(out, "{path} \x1b[32m{dots}\x1b[0m [{:>3}%]", rng.between(1, 100));
    }
    out
}

/// A test run without a failure.
pub fn passing_run(rng: &mut Rng) -> String {
    let mut out = run_header(rng);
    let (passed, seconds) = (rng.between(181, 262), rng.between(3, 20));
    let _ = writeln!(
        out,
        "\x1b[32m============= {passed} passed in {seconds}.21s =============\x1b[0m"
    );
    out
}

/// An install with a progress bar that redraws itself.
pub fn install(rng: &mut Rng) -> String {
    let mut out = String::from("Collecting ledgerline-testdata==4.2.0\n");
    let total = rng.between(40, 90);
    for filled in 0..=total {
        let (full, rest) = ("#".repeat(filled), " ".repeat(total - filled));
        let _ = write!(out, "\r\x1b[K  Downloading [{full}{rest}] {:>3}%", filled * 100 / total);
    }
    let _ = writeln!(
        out,
        "\nSuccessfully installed ledgerline-testdata-4.2.0 (sha256:{})",
        rng.hex(64)
    );
    out
}

/// The output of `git log` or `git diff --stat`.
pub fn git(rng: &mut Rng, command: &str) -> String {
    let mut out = String::new();
    for _ in 0..rng.between(6, 18) {
        let ((path, _), subject) = (rng.pick(&FILES), function(rng).replace('_', " "));
        let _ = match command {
            "log" => writeln!(out, "{} {subject} (LED-{})", rng.hex(9), rng.between(1000, 9999)),
            _ => writeln!(out, " {path} | {:>3} {}", rng.between(1, 80), "+".repeat(rng.below(30))),
        };
    }
    out
}

/// A service's log with hosts, ports, request ids and outliers.
pub fn service_log(rng: &mut Rng) -> String {
    let mut out = String::new();
    for second in 0..rng.between(20, 60) {
        let (host, port) = (rng.between(1, 4), *rng.pick(&[5432, 6432, 8080, 9187]));
        let level = if rng.chance(6) { "ERROR" } else { "INFO" };
        let _ = writeln!(
            out,
            "2026-03-14T09:{:02}:{:02}.{:03}Z {level} settle-{host}.eu-central.ledgerline.example:{port} \
             req={}-{} {} took {}ms",
            second / 60,
            second % 60,
            rng.below(1000),
            rng.hex(8),
            rng.hex(4),
            function(rng),
            rng.log_uniform(2, 12)
        );
    }
    out
}

/// A patch with `hunks` hunks.
pub fn patch(rng: &mut Rng, path: &str, hunks: usize) -> String {
    let mut out = format!("*** Begin Patch\n*** Update File: {path}\n");
    for _ in 0..hunks {
        let (name, noun) = (function(rng), *rng.pick(&NOUNS));
        let _ = writeln!(out, "@@ def {name}(self, {noun}: int) -> int:");
        for _ in 0..rng.between(3, 12) {
            let (verb, noun, number) = (*rng.pick(&VERBS), *rng.pick(&NOUNS), rng.between(1, 999));
            let _ = writeln!(out, "-        {noun} = self._{verb}({noun}, limit={number})");
            let _ = writeln!(
                out,
                "+        {noun} = self._{verb}_checked({noun}, limit={number}, strict=True)"
            );
        }
    }
    out.push_str("*** End Patch\n");
    out
}
