//! Makes conversations of agents: a task, calls with long results, a report, the next task.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::json;

use super::CarrierMessage;
use super::rng::Rng;
use crate::exam::error::{ErrorPlace as _, ExamError, ExamResult};

/// The material of all trades, as TOML.
const TRADES: &str = include_str!("../../../../data/exam/agents.toml");

/// The material for an agent's conversation.
#[derive(Deserialize)]
struct Trade {
    name: String,
    system: String,
    files: Vec<String>,
    subjects: Vec<String>,
    asks: Vec<String>,
    says: Vec<String>,
    done: String,
    tools: Vec<String>,
    lines: Vec<String>,
}

/// The file of trades.
#[derive(Deserialize)]
struct AgentTrades {
    trade: Vec<Trade>,
}

/// The names of the trades.
pub const NAMES: [&str; 3] = ["code", "operations", "research"];

/// A conversation of an agent of this trade with about `tokens` tokens (of 3.2 characters each).
///
/// # Errors
/// There is no such trade.
pub fn session(trade: &str, seed: u64, tokens: usize) -> ExamResult<Vec<CarrierMessage>> {
    let trades: AgentTrades = toml::from_str(TRADES).at("agents.toml")?;
    let chosen = trades.trade.into_iter().find(|one| one.name == trade);
    let trade = chosen.ok_or_else(|| ExamError(format!("no trade {trade}")))?;
    let rng = &mut Rng::new(seed);
    let mut out = vec![CarrierMessage::system(trade.system.clone())];
    let (mut size, mut calls) = (0, 0);
    while size < tokens {
        let from = out.len();
        out.push(CarrierMessage::user(trade.fill(rng, &trade.asks)));
        for _ in 0..rng.between(5, 12) {
            calls += 1;
            out.extend(trade.step(rng, calls));
        }
        out.push(CarrierMessage::assistant(trade.fill(rng, std::slice::from_ref(&trade.done))));
        size += out[from..].iter().map(|m| m.content.len() * 10 / 32 + 30).sum::<usize>();
    }
    Ok(out)
}

impl Trade {
    fn step(&self, rng: &mut Rng, number: usize) -> [CarrierMessage; 2] {
        let mut result = String::new();
        for _ in 0..rng.between(12, 70) {
            let _ = writeln!(result, "{}", self.fill(rng, &self.lines));
        }
        let tool = rng.pick(&self.tools).to_owned();
        let (file, subject) = (self.fill(rng, &self.files), rng.pick(&self.subjects).to_owned());
        let arguments = json!({ "on": file, "about": subject });
        let says = self.fill(rng, &self.says);
        CarrierMessage::step(
            &says,
            &format!("call_{}_{number}", rng.hex(8)),
            &tool,
            arguments,
            result,
        )
    }

    fn fill(&self, rng: &mut Rng, of: &[String]) -> String {
        let mut text = rng.pick(of).to_owned();
        text = text.replace("{f}", rng.pick(&self.files)).replace("{s}", rng.pick(&self.subjects));
        while let Some(at) = text.find("{k}") {
            text.replace_range(at..at + 3, &rng.between(10, 59).to_string());
        }
        text.replace("{h}", &rng.hex(7))
    }
}
