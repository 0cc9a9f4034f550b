//! `midfold check session`: checks every record of a session against its log, and shows what each fold lost.

use midfold::core::audit::{Audit, FoldReceipt, RemovedByRule, audit};
use midfold::core::ledger::CallRecord;
use midfold::core::references::NameReference;
use midfold::store::StoredError;
use midfold_args::AuditArgs as Args;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation};
use crate::output::{Output, OutputColor, OutputStyle};
use crate::page::LabelledPage;
use crate::presets::pretty;
use crate::runtime::block_on;
use crate::session::short;
use crate::subject::AskedSession;
use crate::words::{number, plural};

/// Sessions that are read from the store with one query.
const AT_ONCE: u32 = 256;
/// The most identifiers that a receipt shows.
const IDS: usize = 6;

pub fn run(args: &Args, json: bool, output: &Output) -> Result<(), CommandError> {
    block_on(async {
        let mut totals = AuditTotals::default();
        if let Some(word) = &args.id {
            for subject in AskedSession::all(word, &args.at, output).await? {
                let audit = one(&subject.host, &subject.id).await?;
                totals.add(&audit);
                if json {
                    output.stdout(pretty(&value(&subject.name, &audit))?)?;
                } else {
                    output.stdout(text(&subject.name, &audit, true, &output.stdout_style()))?;
                }
            }
        } else {
            let host = OpenStore::open(&args.at, StoreCreation::No).await?;
            every(&host, json, output, &mut totals).await?;
        }
        if totals.findings == 0 { Ok(()) } else { Err(CommandError::silent(1)) }
    })
}

#[derive(Default)]
struct AuditTotals {
    sessions: u64,
    folds: u64,
    calls: u64,
    findings: u64,
}

impl AuditTotals {
    fn add(&mut self, audit: &Audit) {
        self.sessions += 1;
        self.folds += u64::from(audit.folds);
        self.calls += u64::from(audit.calls);
        self.findings += audit.findings.len() as u64;
    }
}

/// Audits all sessions. With `--json` each session is a line; otherwise only sessions with folds or findings are shown,
/// and then a sum.
async fn every(
    host: &OpenStore,
    json: bool,
    output: &Output,
    totals: &mut AuditTotals,
) -> Result<(), CommandError> {
    let style = output.stdout_style();
    let mut after: Option<String> = None;
    loop {
        let rows = host.store.sessions(after.as_deref(), AT_ONCE).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.new.id.clone());
        for row in &rows {
            let id = &row.new.id;
            let audit = one(host, id).await?;
            totals.add(&audit);
            if json {
                output.stdout(format!("{}\n", value(id, &audit)))?;
            } else if !audit.is_clean() || audit.folds > 0 {
                output.stdout(text(id, &audit, false, &style))?;
            }
        }
    }
    if !json {
        let AuditTotals { sessions, folds, calls, findings } = totals;
        let (color, outcome) = outcome(*findings);
        let sum = [(*sessions, "session"), (*folds, "fold"), (*calls, "call")];
        let sum = sum.map(|(count, noun)| plural(count, noun)).join(", ");
        output.stdout(format!("{}\n", style.paint(color, &format!("{sum}: {outcome}"))))?;
    }
    Ok(())
}

async fn one(host: &OpenStore, id: &str) -> Result<Audit, CommandError> {
    let mut stored = host.session(id).await?;
    let read = async {
        let folds = stored.folds().await?;
        let active = stored.row().active;
        let calls = stored.calls().await?;
        let calls: Vec<CallRecord> = calls.into_iter().map(|(call, _)| call).collect();
        Ok::<_, StoredError>(audit(stored.whole().await?.log(), &folds, active, &calls))
    };
    Ok(read.await?)
}

fn value(id: &str, audit: &Audit) -> Value {
    let mut value = json!({ "session": id, "ok": audit.is_clean() });
    if let (Value::Object(value), Ok(Value::Object(more))) =
        (&mut value, serde_json::to_value(audit))
    {
        value.extend(more);
    }
    value
}

fn outcome(findings: u64) -> (OutputColor, String) {
    match findings {
        0 => (OutputColor::Green, "everything holds".to_owned()),
        1 => (OutputColor::Red, "1 thing does not hold".to_owned()),
        many => (OutputColor::Red, format!("{} things do not hold", number(many))),
    }
}

fn text(id: &str, audit: &Audit, alone: bool, style: &OutputStyle) -> String {
    let mut page = LabelledPage { style, text: String::new() };
    let (color, outcome) = outcome(audit.findings.len() as u64);
    let checked = [(audit.folds, "fold"), (audit.calls, "call")]
        .map(|(count, noun)| plural(u64::from(count), noun))
        .join(", ");
    page.title(color, &format!("{id}: {checked}: {outcome}"));
    for finding in &audit.findings {
        page.field("WRONG", &finding.to_string());
    }
    if alone && audit.folds == 0 {
        page.field("lost", "nothing: it was never folded");
    }
    for fold_receipt in &audit.receipts {
        receipt(&mut page, fold_receipt);
    }
    if !alone {
        page.text.push('\n');
    }
    page.text
}

fn receipt(page: &mut LabelledPage<'_>, receipt: &FoldReceipt) {
    let title = format!(
        "\n  fold {} ({}), policy {}",
        wide(receipt.fold.number),
        short(receipt.fold.id),
        receipt.policy
    );
    page.text += &format!("{}\n", page.style.paint(OutputColor::Bold, &title));
    if !receipt.standing.is_in_force() {
        return page.field("stands", &receipt.standing.to_string());
    }
    let (first, last) = (wide(receipt.start), wide(receipt.end.saturating_sub(1)));
    page.field("span", &format!("messages {first} to {last} of {}", wide(receipt.fold.events)));
    let messages = format!("{} → {}", wide(receipt.messages_before), wide(receipt.messages_after));
    page.field("messages", &messages);
    let tokens = format!("{} → {}", number(receipt.tokens_before), number(receipt.tokens_after));
    page.field("tokens", &tokens);
    for (at, removed) in receipt.removed.iter().enumerate() {
        page.field(if at == 0 { "taken out" } else { "" }, &removed_text(removed));
    }
    if !receipt.pins.is_empty() {
        let pins: Vec<_> = receipt.pins.iter().map(|pin| wide(*pin)).collect();
        let noun = if pins.len() == 1 { "message" } else { "messages" };
        page.field("untouched", &format!("{noun} {}", pins.join(", ")));
    }
    if !receipt.asked_again.is_empty() {
        page.field("asked again", &asked_again(receipt));
    }
    // Identifiers that were used again come first in these lists: the audit sorts them.
    ids(page, "still named", &receipt.kept_ids);
    ids(page, "not named", &receipt.lost_ids);
    page.field("ends", &ends(receipt));
    page.field("originals", &originals(receipt));
}

fn wide(n: u32) -> String {
    number(u64::from(n))
}

fn removed_text(removed: &RemovedByRule) -> String {
    let reason = match removed.reason.as_str() {
        "" => String::new(),
        reason => format!(" ({reason})"),
    };
    let noun = if is_stand_in(&removed.rule) { "message" } else { "block" };
    format!(
        "{} by {}{reason}: {} → {} tokens",
        plural(u64::from(removed.items), noun),
        removed.rule,
        number(removed.tokens_before),
        number(removed.tokens_after)
    )
}

fn asked_again(receipt: &FoldReceipt) -> String {
    let name = |reference: &NameReference| format!("{} at {}", reference.name, wide(reference.seq));
    let names: Vec<String> = receipt.asked_again.iter().take(IDS).map(name).collect();
    let more = receipt.asked_again.len() - names.len();
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    format!("folded at {}; {}{more}", wide(receipt.fold.events), names.join(", "))
}

fn ends(receipt: &FoldReceipt) -> String {
    let how = |verbatim| if verbatim { "byte for byte" } else { "NOT byte for byte" };
    match (receipt.head_verbatim, receipt.tail_verbatim) {
        (head, tail) if head == tail => format!("head and tail {}", how(head)),
        (head, tail) => format!("head {}, tail {}", how(head), how(tail)),
    }
}

fn originals(receipt: &FoldReceipt) -> String {
    match (receipt.intact, receipt.recallable.len() as u64) {
        (true, 0) => "nothing to bring back".to_owned(),
        (true, count) => format!("{} can be brought back as they were", plural(count, "message")),
        (false, _) => {
            "NOT all can be brought back: the log differs from what was folded".to_owned()
        }
    }
}

/// Whether a rule replaces whole messages. All other rules shorten blocks of a message.
fn is_stand_in(rule: &str) -> bool {
    matches!(rule, "recap" | "marker")
}

fn ids(page: &mut LabelledPage<'_>, label: &str, (count, first): &(u32, Vec<String>)) {
    if *count == 0 {
        return;
    }
    // Some identifiers are control characters alone, of which nothing can be shown.
    let shown =
        first.iter().map(|id| crate::words::line(id, 60)).filter(|id| !id.trim().is_empty());
    let shown: Vec<_> = shown.take(IDS).collect();
    let more = if (*count as usize) > shown.len() { ", …" } else { "" };
    page.field(
        label,
        &format!("{}: {}{more}", plural(u64::from(*count), "identifier"), shown.join(", ")),
    );
}
