//! The loop: keys in, frames out, until somebody quits.

use std::future::pending;
use std::sync::Arc;

use midfold_top::{
    AnswerSource, PressedKey, SourceQuestion, SourceTrouble, TerminalEvent, TopState, run,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tokio::sync::mpsc::channel;

use crate::canned::{NOW, canned};

async fn ran(keys: &[PressedKey], ended: bool) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let source = Arc::new(canned());
    let state = TopState::new(&source.place(), false, NOW);
    let (send, receive) = channel(keys.len().max(1));
    for key in keys {
        send.send(TerminalEvent::Pressed(*key)).await.unwrap();
    }
    let clock = Arc::new(|| NOW);
    let ended = async move {
        if !ended {
            pending::<()>().await;
        }
    };
    run(source, state, &mut terminal, receive, clock, ended).await.unwrap();
    drop(send);
    terminal
}

#[tokio::test]
async fn it_runs_until_somebody_quits() {
    let terminal = ran(&[PressedKey::Char('?'), PressedKey::Interrupt], false).await;
    assert!(terminal.backend().to_string().contains("midfold session"), "the last frame was help");
    ran(&[PressedKey::Char('q')], false).await;
}

#[tokio::test]
async fn it_ends_when_it_is_told_to() {
    ran(&[], true).await;
}

/// A source that a mistake of ours ends.
struct Broken;

impl AnswerSource for Broken {
    fn place(&self) -> String {
        "nowhere".to_owned()
    }

    async fn json(&self, _: &SourceQuestion) -> Result<serde_json::Value, SourceTrouble> {
        panic!("on purpose")
    }
}

/// Nobody sits before a screen that waits for ever: the loop ends, and with it the screen is given back.
#[tokio::test]
async fn a_question_that_panics_ends_it() {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let (_send, receive) = channel(1);
    let state = TopState::new("nowhere", false, NOW);
    let clock = Arc::new(|| NOW);
    let done = run(Arc::new(Broken), state, &mut terminal, receive, clock, pending()).await;
    let error = done.unwrap_err();
    assert!(error.starts_with("a question ended"), "{error}");
}
