//! The loop: keys in, frames out, until somebody quits.

use std::future::pending;
use std::sync::Arc;

use midfold_top::{Happened, Key, Source, State, run};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tokio::sync::mpsc::channel;

use crate::canned::{NOW, canned};

async fn ran(keys: &[Key], ended: bool) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let source = Arc::new(canned());
    let state = State::new(&source.place(), false, NOW);
    let (send, receive) = channel(keys.len().max(1));
    for key in keys {
        send.send(Happened::Pressed(*key)).await.unwrap();
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
    let terminal = ran(&[Key::Char('?'), Key::Interrupt], false).await;
    assert!(terminal.backend().to_string().contains("midfold session"), "the last frame was help");
    ran(&[Key::Char('q')], false).await;
}

#[tokio::test]
async fn it_ends_when_it_is_told_to() {
    ran(&[], true).await;
}
