//! The main loop: keys, questions, answers and frames, until the user quits.

use std::collections::VecDeque;
use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::Backend;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::draw::{draw, reach};
use crate::keys::PressedKey;
use crate::source::{AnswerSource, Clock, SourceQuestion, SourceTrouble};
use crate::state::TopState;
use crate::views::SourceAnswer;

/// How often the source is asked for changes.
const EVERY: Duration = Duration::from_millis(500);

/// An event of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalEvent {
    /// A key was pressed.
    Pressed(PressedKey),
    /// The size of the screen has changed.
    Resized,
}

type AnswerChannel = (SourceQuestion, Result<SourceAnswer, SourceTrouble>);

/// Runs until the user quits, `happened` is closed, or `ended` completes. A frame is drawn after each event; only the
/// cells that changed are written.
///
/// # Errors
/// If the terminal cannot be written.
pub async fn run<S: AnswerSource, B: Backend>(
    source: Arc<S>,
    mut state: TopState,
    terminal: &mut Terminal<B>,
    mut happened: Receiver<TerminalEvent>,
    clock: Clock,
    ended: impl Future<Output = ()>,
) -> Result<(), String>
where
    B::Error: Display,
{
    let mut ended = std::pin::pin!(ended);
    let mut asks = PendingQuestions { source, running: Vec::new(), tasks: JoinSet::new() };
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    fit(&mut state, terminal)?;
    let first = state.tick(clock());
    asks.start(first);
    while !state.is_done() {
        state.note_reached(reach(&state));
        terminal.draw(|frame| draw(&state, frame)).map_err(unwritable)?;
        let next = tokio::select! {
            () = &mut ended => return Ok(()),
            what = happened.recv() => match what {
                Some(TerminalEvent::Pressed(key)) => state.press(key),
                Some(TerminalEvent::Resized) => {
                    terminal.autoresize().map_err(unwritable)?;
                    fit(&mut state, terminal)?;
                    Vec::new()
                }
                None => return Ok(()),
            },
            Some(joined) = asks.tasks.join_next() => {
                let (ask, answer) = joined.map_err(|error| format!("a question ended: {error}"))?;
                // Before the state takes the answer, which may lead to the same question again.
                asks.running.retain(|running| *running != ask);
                state.note_answer(&ask, answer)
            }
            _ = ticks.tick() => state.tick(clock()),
        };
        asks.start(next);
    }
    Ok(())
}

/// Asks these questions, and those that follow from the answers, until none is left.
///
/// # Errors
/// If a question has no answer.
pub async fn settle<S: AnswerSource>(
    source: &S,
    state: &mut TopState,
    asks: Vec<SourceQuestion>,
) -> Result<(), SourceTrouble> {
    let mut waiting = VecDeque::from(asks);
    while let Some(ask) = waiting.pop_front() {
        let answer = source.answer(&ask).await?;
        waiting.extend(state.note_answer(&ask, Ok(answer)));
    }
    Ok(())
}

/// The questions that wait for an answer.
struct PendingQuestions<S> {
    source: Arc<S>,
    running: Vec<SourceQuestion>,
    tasks: JoinSet<AnswerChannel>,
}

impl<S: AnswerSource> PendingQuestions<S> {
    /// Asks these questions, except those that already wait for an answer. So a slow source does not get more and more
    /// of them.
    fn start(&mut self, asks: Vec<SourceQuestion>) {
        for ask in asks {
            if self.running.contains(&ask) {
                continue;
            }
            self.running.push(ask.clone());
            let source = Arc::clone(&self.source);
            self.tasks.spawn(async move {
                let answer = source.answer(&ask).await;
                (ask, answer)
            });
        }
    }
}

fn fit<B: Backend>(state: &mut TopState, terminal: &Terminal<B>) -> Result<(), String>
where
    B::Error: Display,
{
    let size = terminal.size().map_err(unwritable)?;
    state.resize(size.width, size.height);
    Ok(())
}

fn unwritable(error: impl Display) -> String {
    format!("the terminal cannot be written: {error}")
}
