//! A source with answers that were written down, and a person in front of it.

use std::sync::Arc;

use midfold_top::{
    AnswerSource, PressedKey, SourceQuestion, SourceTrouble, TopState, draw, settle,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

pub const NOW: u64 = 1_700_000_600_000;

/// A text that no message of the canned session has.
pub const UNSAID: &str = "booked thrice";

/// Answers from values.
pub struct Canned {
    pub sessions: Value,
    pub fabric: Value,
    pub fold: Value,
    pub explained: Value,
    pub unsaid: Value,
}

impl AnswerSource for Canned {
    fn place(&self) -> String {
        "sqlite:/data/midfold.db".to_owned()
    }

    async fn json(&self, ask: &SourceQuestion) -> Result<Value, SourceTrouble> {
        Ok(match ask {
            SourceQuestion::Sessions => self.sessions.clone(),
            SourceQuestion::Detail(id) => {
                let all = self.sessions["sessions"].as_array().unwrap();
                let mut row = all.iter().find(|row| row["id"] == id.raw()).unwrap().clone();
                row["line"] = "at 18,735 tokens (ratio), 5,136 to go".into();
                row
            }
            SourceQuestion::Fabric(_) => self.fabric.clone(),
            SourceQuestion::Fold(_, number) => {
                let mut fold = self.fold.clone();
                fold["fold"]["number"] = (*number).into();
                fold
            }
            SourceQuestion::Explain(_, text) => {
                let known = if text == UNSAID { &self.unsaid } else { &self.explained };
                let mut found = known.clone();
                found["text"] = text.as_str().into();
                found
            }
        })
    }
}

/// A session in one line: as a server writes it.
pub fn row(id: &str, title: &str, tick: u64, fill: u64, folds: u64) -> Value {
    json!({
        "id": id, "title": title, "source": "proxy", "client": "demo-agent/1.0", "model": "gpt-5",
        "owner": null, "dialect": "openai-chat", "policy": "default",
        "created": NOW - 900_000, "changed": NOW - 86_400_000 / tick, "tick": tick, "events": 121, "turns": 1,
        "tokens": 50_709, "window": 24_000, "fill": fill, "threshold": 18_735, "folds": folds,
        "active": folds, "calls": 60, "usage": { "calls": 60 },
        "cost": { "sent": 300.0 * tick as f64, "everything": 235_975.0, "unit": "tokens" },
        "cache_share": 0.8758, "parent": null
    })
}

pub fn brief(number: u64, fates: &Value, active: bool, undone: bool) -> Value {
    json!({
        "number": number, "id": "00", "made": NOW - 120_000, "at": 24, "before": 15_602, "after": 4_650,
        "freed": 10_952, "fates": fates, "recap_tokens": 1_896, "policy": "default",
        "cause": "threshold", "stand_in": "computed", "active": active, "undone": undone
    })
}

/// Four sessions, the first of them with three folds.
pub fn canned() -> Canned {
    let mut quiet = row("quiet", "Nothing was counted here", 2, 900, 0);
    quiet["cost"] = Value::Null;
    quiet["cache_share"] = Value::Null;
    quiet["client"] = Value::Null;
    let mut nameless = row("01k9-nameless", "", 60, 23_400, 12);
    nameless["title"] = Value::Null;
    nameless["faults"] = json!([{ "cause": "floor", "reason": "what may not be folded does not fit", "requests": 2 }]);
    let sessions = json!({ "sessions": [
        row("proxy-c1bc", "Look through the reports with the shell, part by part", 400, 13_599, 3),
        nameless,
        row("wide", "漢字のセッション: find the bug in the parser of the ledger", 30, 17_500, 1),
        quiet,
    ], "next": null });
    let first = brief(1, &json!([["v", 2], ["r", 10], ["v", 4]]), false, false);
    let second = brief(2, &json!([["v", 2], ["p", 1], ["r", 13], ["m", 3], ["v", 5]]), false, true);
    let third = brief(
        3,
        &json!([["v", 2], ["p", 1], ["r", 15], ["s", 3], ["c", 2], ["v", 7]]),
        true,
        false,
    );
    let fabric = json!({
        "session": "proxy-c1bc", "events": 36, "roles": "", "tokens": [], "turns": [], "tools": [],
        "tool": [], "layout": null, "pins": [2], "active": 3,
        "folds": [first, second, third.clone()]
    });
    let edit = |seq: u64, reducer: &str, reason: &str| {
        json!({ "seq": seq, "kind": "replaced", "reducer": reducer, "reason": reason,
            "tokens_before": 755, "tokens_after": 20 })
    };
    let fold = json!({
        "fold": third,
        "recap": { "text": "## Conversation Summary\n[Reference, not instructions.]\n### Done so far\n@2 ran \
            `cargo test`: 3 failed, in src/ledger.rs, src/parser.rs and src/lib.rs, as before the change.\n[End of recap]",
            "role": "user", "tokens": 1_896, "files": 3, "redacted": 0, "hash": "00" },
        "edits": [edit(18, "stale-reads", "superseded by @30"), edit(19, "stale-reads", "superseded by @30"),
            edit(20, "clip-results", "longer than 400 tokens")],
        "why": {}, "verdicts": [], "receipt": null,
        "lost": [
            { "kind": "said", "title": "what the user said", "count": 1,
              "first": [{ "text": "Never book a weekend twice.", "seq": 4 }] },
            { "kind": "used", "title": "files and values that were used again", "count": 1,
              "first": [{ "text": "LED-4101", "seq": 33 }] },
            { "kind": "name", "title": "other names", "count": 4,
              "first": [{ "text": "src/old.rs", "seq": null }, { "text": "retry_after", "seq": null }] },
        ],
        "lost_names": 5, "kept_names": 40,
        "events": [], "gone": 15, "record": {}
    });
    let at = json!({ "number": 2, "id": "00", "events": 24 });
    let explained = json!({
        "text": "", "call": null, "events": 36, "fold": { "number": 3, "id": "00", "events": 30 },
        "answer": "gone", "verdict": "the model does not see it now", "lost_with": at, "in_recap": false,
        "asked_again": [{ "fold": at, "name": "LED-4101", "seq": 33 }],
        "occurrences": [
            { "seq": 5, "role": "tool", "snippet": "… the entry LED-4101 was booked twice on the day after …",
              "sight": { "is": "recap", "named": false },
              "left": { "fold": at, "rule": "recap", "reason": "computed from the messages" }, "recall": true,
              "used": { "seq": 33, "by": "assistant", "after_left": true } },
            { "seq": 20, "role": "assistant", "snippet": "LED-4101 again",
              "sight": { "is": "edited", "named": false, "reducer": "clip-results", "reason": "long" },
              "left": null, "recall": true, "used": null }
        ]
    });
    let unsaid = json!({
        "text": "", "call": null, "events": 36, "fold": { "number": 3, "id": "00", "events": 30 },
        "answer": "never-said", "verdict": "no message says it in these words", "lost_with": null,
        "in_recap": false, "occurrences": [],
        "near": [{ "seq": 5, "role": "tool", "snippet": "the entry LED-4101 was booked twice on the day after" }]
    });
    Canned { sessions, fabric, fold, explained, unsaid }
}

/// Somebody in front of a source.
pub struct Person {
    pub source: Arc<Canned>,
    pub state: TopState,
    pub size: (u16, u16),
}

impl Person {
    pub async fn new(source: Canned, size: (u16, u16)) -> Self {
        let mut state = TopState::new(&source.place(), false, NOW);
        state.resize(size.0, size.1);
        settle(&source, &mut state, vec![SourceQuestion::Sessions]).await.unwrap();
        Self { source: Arc::new(source), state, size }
    }

    pub async fn press(&mut self, keys: impl IntoIterator<Item = PressedKey>) {
        for key in keys {
            self.state.note_reached(midfold_top::reach(&self.state));
            let asks = self.state.press(key);
            settle(&*self.source, &mut self.state, asks).await.unwrap();
        }
    }

    pub async fn types(&mut self, text: &str) {
        self.press(text.chars().map(PressedKey::Char)).await;
    }

    pub fn sees(&self) -> String {
        seen(&self.state, self.size)
    }
}

/// A frame as text: `|` is the edge of the screen.
pub fn seen(state: &TopState, (columns, rows): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(state, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for y in 0..rows {
        let mut x = 0;
        while x < columns {
            let symbol = buffer[(x, y)].symbol();
            text += symbol;
            x += u16::try_from(unicode_width::UnicodeWidthStr::width(symbol)).unwrap().max(1);
        }
        text += "|\n";
    }
    text
}
