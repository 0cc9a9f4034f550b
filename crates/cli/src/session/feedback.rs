//! The report of a compaction that a user asked for. It explains two surprising outcomes: nothing changed, or the
//! tokens went up.

use midfold::view::{CompactionView, FoldBrief};

use crate::output::{OutputColor, OutputStyle};
use crate::page::LabelledPage;
use crate::words::{about, number, plural, printable};

/// The page of a compaction. With `is_provided` the provider has counted prompts of this session, so the tokens are not
/// our estimate.
pub fn page(done: &CompactionView, is_provided: bool, style: &OutputStyle) -> String {
    let mut page = LabelledPage { style, text: String::new() };
    match &done.fold {
        None => unchanged(&mut page, done, is_provided),
        Some(fold) => folded(&mut page, done, fold),
    }
    page.text
}

fn unchanged(page: &mut LabelledPage<'_>, done: &CompactionView, is_provided: bool) {
    let messages = plural(done.summary.before.messages, "message");
    let what = if done.preview { "Nothing would change" } else { "Nothing changed" };
    page.title(OutputColor::Yellow, &format!("{what}: {messages}"));
    page.field("why", done.summary.reason.as_deref().unwrap_or_default());
    let tokens = about(done.summary.before.tokens, !done.estimate && !is_provided);
    let how = if is_provided { "after the provider's own counts".to_owned() } else { how(done) };
    page.field("tokens", &format!("{tokens} (unchanged), {how}"));
}

fn folded(page: &mut LabelledPage<'_>, done: &CompactionView, fold: &FoldBrief) {
    let what = if done.preview { "Would compact" } else { "Compacted" };
    let after = plural(done.summary.after.messages, "message");
    page.title(
        OutputColor::Green,
        &format!("{what}: {} → {after}", number(done.summary.before.messages)),
    );
    let (before, after) = (done.summary.before.tokens, done.summary.after.tokens);
    let part = before.abs_diff(after) * 100 / before.max(1);
    let change = if after > before { format!("+{part} %") } else { format!("−{part} %") };
    let [first, second] = [before, after].map(|tokens| about(tokens, !done.estimate));
    page.field("tokens", &format!("{first} → {second} ({change}), {}", how(done)));
    if let Some(note) = note(done) {
        page.field("note", note);
    }
    page.field("kept", &kept(fold));
    page.field("instead", done.summary.instead.as_deref().unwrap_or_default());
    if !done.preview {
        let number = number(fold.number.unwrap_or_default());
        page.field("fold", &format!("{number} ({:?})", fold.id));
        page.field("undo", &format!("midfold session undo {}", done.session));
        return;
    }
    page.field("fold", "this is a preview: nothing was changed");
    if let Some(check) = &done.cache {
        crate::compact::cache::show(page, check);
    }
    if let Some(recap) = &done.summary.recap {
        let title = "The model would read this where messages were folded:";
        let title = page.style.paint(OutputColor::Bold, title);
        page.text += &format!("\n{title}\n\n{}\n", printable(recap.trim_end()));
    }
}

fn how(done: &CompactionView) -> String {
    match done.estimate {
        false => format!("counted with {}", done.counter),
        true => format!("an estimate ({})", done.counter),
    }
}

/// The number of messages with each fate, whose letters are those of [`FoldBrief::fates`].
fn kept(fold: &FoldBrief) -> String {
    let count = |letters: &[char]| -> u64 {
        let of = fold.fates.iter().filter(|(letter, _)| letters.contains(letter));
        of.map(|(_, count)| u64::from(*count)).sum()
    };
    let parts = [
        (count(&['v', 'p']), "verbatim"),
        (count(&['x']), "repaired"),
        (count(&['s', 'c']), "shortened"),
        (count(&['r']), "in the recap"),
        (count(&['m']), "behind the marker"),
    ];
    let there = parts.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<_> = there.map(|(count, what)| format!("{} {what}", number(*count))).collect();
    let pinned = match count(&['p']) {
        0 => String::new(),
        count => format!("; {} pinned", number(count)),
    };
    format!("of {} messages {}{pinned}", number(u64::from(fold.at)), texts.join(", "))
}

/// A note for a compaction with more tokens than before, which could look like a mistake. `None` where there are not
/// more.
fn note(done: &CompactionView) -> Option<&'static str> {
    if done.summary.after.tokens <= done.summary.before.tokens {
        return None;
    }
    let fewer = done.summary.after.messages < done.summary.before.messages;
    Some(match (fewer, done.summary.recap.is_some()) {
        (true, true) => {
            "there are fewer messages but more tokens: the recap is denser than what it replaces"
        }
        (true, false) => "there are fewer messages but more tokens",
        (false, _) => "there are more tokens than before",
    })
}
