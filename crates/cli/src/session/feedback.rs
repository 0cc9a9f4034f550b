//! The report of a compaction that a user asked for. It explains two surprising outcomes: nothing changed, or the
//! tokens went up.

use midfold::view::{CompactionView, FoldBrief};

use crate::output::{OutputColor, OutputStyle};
use crate::page::LabelledPage;
use crate::words::{about, number, plural, printable};

/// The page of a compaction. With `is_provided` the provider has counted prompts of this session, so the tokens are not
/// our estimate.
pub fn page(view: &CompactionView, is_provided: bool, style: &OutputStyle) -> String {
    let mut page = LabelledPage { style, text: String::new() };
    match &view.fold {
        None => unchanged(&mut page, view, is_provided),
        Some(fold) => folded(&mut page, view, fold),
    }
    page.text
}

fn unchanged(page: &mut LabelledPage<'_>, view: &CompactionView, is_provided: bool) {
    let messages = plural(view.summary.before.messages, "message");
    let title = if view.preview { "Nothing would change" } else { "Nothing changed" };
    page.title(OutputColor::Yellow, &format!("{title}: {messages}"));
    page.field("why", view.summary.reason.as_deref().unwrap_or_default());
    let tokens = about(view.summary.before.tokens, !view.estimate && !is_provided);
    let how = if is_provided { "after the provider's own counts".to_owned() } else { how(view) };
    page.field("tokens", &format!("{tokens} (unchanged), {how}"));
}

fn folded(page: &mut LabelledPage<'_>, view: &CompactionView, fold: &FoldBrief) {
    let heading = if view.preview { "Would compact" } else { "Compacted" };
    let after = plural(view.summary.after.messages, "message");
    page.title(
        OutputColor::Green,
        &format!("{heading}: {} → {after}", number(view.summary.before.messages)),
    );
    let (before, after) = (view.summary.before.tokens, view.summary.after.tokens);
    let part = before.abs_diff(after) * 100 / before.max(1);
    let change = if after > before { format!("+{part} %") } else { format!("−{part} %") };
    let [first, second] = [before, after].map(|tokens| about(tokens, !view.estimate));
    page.field("tokens", &format!("{first} → {second} ({change}), {}", how(view)));
    if let Some(note) = note(view) {
        page.field("note", note);
    }
    page.field("kept", &kept_counts(fold));
    page.field("instead", view.summary.instead.as_deref().unwrap_or_default());
    if !view.preview {
        let number = number(fold.number.unwrap_or_default());
        page.field("fold", &format!("{number} ({:?})", fold.id));
        page.field("undo", &format!("midfold session undo {}", view.session));
        return;
    }
    page.field("fold", "this is a preview: nothing was changed");
    if let Some(check) = &view.cache {
        crate::compact::cache::show(page, check);
    }
    if let Some(recap) = &view.summary.recap {
        let title = "The model would read this where messages were folded:";
        let title = page.style.paint(OutputColor::Bold, title);
        page.text += &format!("\n{title}\n\n{}\n", printable(recap.trim_end()));
    }
}

fn how(view: &CompactionView) -> String {
    match view.estimate {
        false => format!("counted with {}", view.counter),
        true => format!("an estimate ({})", view.counter),
    }
}

/// The number of messages with each fate, whose letters are those of [`FoldBrief::fates`].
fn kept_counts(fold: &FoldBrief) -> String {
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
    let texts: Vec<_> = there.map(|(count, noun)| format!("{} {noun}", number(*count))).collect();
    let pinned = match count(&['p']) {
        0 => String::new(),
        count => format!("; {} pinned", number(count)),
    };
    format!("of {} messages {}{pinned}", number(u64::from(fold.at)), texts.join(", "))
}

/// A note for a compaction with more tokens than before, which could look like a mistake. `None` where there are not
/// more.
fn note(view: &CompactionView) -> Option<&'static str> {
    if view.summary.after.tokens <= view.summary.before.tokens {
        return None;
    }
    let fewer = view.summary.after.messages < view.summary.before.messages;
    Some(match (fewer, view.summary.recap.is_some()) {
        (true, true) => {
            "there are fewer messages but more tokens: the recap is denser than what it replaces"
        }
        (true, false) => "there are fewer messages but more tokens",
        (false, _) => "there are more tokens than before",
    })
}
