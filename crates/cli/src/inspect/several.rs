//! Shows the conversations of one file, one line for each.

use super::inspection::{FoldForecast, Inspection};
use crate::output::OutputColor;
use crate::page::LabelledPage;
use crate::report::{counted, window};
use crate::table::TextTable;
use crate::words::number;

/// The most conversations that have a line. The others are only in the total.
const SHOWN_CONVERSATIONS: usize = 50;

pub fn several(page: &mut LabelledPage<'_>, name: &str, all: &[(usize, Inspection)]) {
    let total: u64 = all.iter().map(|(_, one)| one.prepared.log.tokens()).sum();
    let messages: usize = all.iter().map(|(_, one)| one.prepared.log.len()).sum();
    let title = format!(
        "{name}: {} conversations, {} messages, {} tokens",
        number(all.len() as u64),
        number(messages as u64),
        number(total)
    );
    page.title(OutputColor::Bold, &title);
    if let Some((_, first)) = all.first() {
        page.field("counted", &format!("with {}", counted(&first.prepared)));
        page.field("window", &window(&first.prepared));
    }
    let table = TextTable::new(["", "tokens", "messages", "head", "middle", "tail", "after", "id"]);
    let mut table = table.right([0, 1, 2, 3, 4, 5, 6]);
    for (at, one) in all.iter().take(SHOWN_CONVERSATIONS) {
        let after = one.forecasts.first().map_or("–".to_owned(), FoldForecast::after);
        let [head, middle, tail] = &one.regions;
        let log = &one.prepared.log;
        table.row([
            at.to_string(),
            number(log.tokens()),
            number(log.len() as u64),
            number(head.tokens),
            number(middle.tokens),
            number(tail.tokens),
            after,
            one.prepared.source.id.clone().unwrap_or_default(),
        ]);
    }
    let sum = |at: usize| number(all.iter().map(|(_, one)| one.regions[at].tokens).sum());
    table.row([
        "total".to_owned(),
        number(total),
        number(messages as u64),
        sum(0),
        sum(1),
        sum(2),
        String::new(),
        String::new(),
    ]);
    page.text.push('\n');
    page.text += &table.render(page.style, 2);
    let more = all.len().saturating_sub(SHOWN_CONVERSATIONS);
    let more = if more > 0 {
        format!("{} more are in the total; ", number(more as u64))
    } else {
        String::new()
    };
    let preset = all.first().map_or("default", |(_, one)| &one.policy);
    let hint = format!("\n  {more}--only N shows one; `after` is what `{preset}` would leave\n");
    page.text += &page.style.paint(OutputColor::Dim, &hint);
}
