//! The session that a question is about: one of a store, or a transcript, which is imported into memory for the
//! question.

use std::path::{Component, Path};

use midfold::find_session;
use midfold_args::StoreAt;

use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation};
use crate::import::in_memory;
use crate::output::{Output, OutputColor};
use crate::paths::{is_folder, is_transcript};
use crate::stdin::is_stdin;
use crate::words::quoted;

/// The word for the session that changed last.
pub const LAST: &str = "last";

/// A session that a command asks about.
pub struct AskedSession {
    /// The store that holds the session.
    pub host: OpenStore,
    /// The session's id in that store.
    pub id: String,
    /// The name that the user gave, for messages.
    pub name: String,
    is_transcript: bool,
}

impl AskedSession {
    /// Whether the word names neither a session nor a file.
    pub async fn is_missing(word: &str, at: &StoreAt) -> Result<bool, CommandError> {
        let path = Path::new(word);
        if is_stdin(path) || path.exists() || is_transcript(word) {
            return Ok(false);
        }
        let Some(host) = OpenStore::open_if_there(at).await? else { return Ok(true) };
        is_missing_in(&host, word).await
    }

    /// Whether the word is the whole id of a session.
    pub async fn is_id(word: &str, at: &StoreAt) -> Result<bool, CommandError> {
        let Some(host) = OpenStore::open_if_there(at).await? else { return Ok(false) };
        Ok(find_session(&*host.store, word).await?.iter().any(|id| id == word))
    }

    /// The session, or the only conversation of a transcript.
    pub async fn one(word: &str, at: &StoreAt, output: &Output) -> Result<Self, CommandError> {
        let mut all = Self::all(word, at, output).await?;
        match (all.pop(), all.len()) {
            (Some(only), 0) => Ok(only),
            (_, more) => {
                let text = format!(
                    "{word} holds {} conversations, and the question is about one",
                    more + 1
                );
                Err(CommandError::failed(text)
                    .hint(format!("{} makes a session of each", import(word))))
            }
        }
    }

    /// The session that the first of several words names; the others are a text.
    pub async fn ahead_of(
        word: &str,
        text: &str,
        command: &str,
        at: &StoreAt,
        output: &Output,
    ) -> Result<Self, CommandError> {
        let subject = Self::one(word, at, output).await;
        match subject {
            Err(error) if Self::is_missing(word, at).await? => {
                let whole = quoted(&format!("{word} {text}"));
                Err(error.hint(format!("a text of several words: midfold {command} last {whole}")))
            }
            subject => subject,
        }
    }

    /// The session, or all conversations of a transcript.
    ///
    /// If a session and a file have the same name, the session is taken and a note says so.
    pub async fn all(word: &str, at: &StoreAt, output: &Output) -> Result<Vec<Self>, CommandError> {
        let path = Path::new(word);
        if is_stdin(path) || is_spelled_as_path(path) && path.exists() {
            return Self::of_transcript(word).await;
        }
        if !path.exists() && !is_transcript(word) {
            let host = OpenStore::open(at, StoreCreation::No).await?;
            let id = host.id(word, output).await?;
            return Ok(vec![Self { host, name: id.clone(), id, is_transcript: false }]);
        }
        let Some(host) = OpenStore::open_if_there(at).await? else {
            return Self::of_transcript(word).await;
        };
        let Some(session) = Self::of_store(word, host, output).await? else {
            return Self::of_transcript(word).await;
        };
        if !path.exists() {
            return Ok(vec![session]);
        }
        let note = output.stderr_style().paint(OutputColor::Yellow, "note:");
        let file = quoted(&Path::new(".").join(path).display().to_string());
        output.stderr(&format!(
            "{note} {word} is a session and a file: the session is meant; for the file: {file}\n"
        ));
        Ok(vec![session])
    }

    /// The session that the word names. `None` where there is none, so that the caller may try a file.
    async fn of_store(
        word: &str,
        host: OpenStore,
        output: &Output,
    ) -> Result<Option<Self>, CommandError> {
        if is_missing_in(&host, word).await? {
            return Ok(None);
        }
        let id = host.id(word, output).await?;
        Ok(Some(Self { host, name: id.clone(), id, is_transcript: false }))
    }

    async fn of_transcript(word: &str) -> Result<Vec<Self>, CommandError> {
        let path = Path::new(word);
        if is_folder(path) {
            let text = format!("{word} is a folder, and the question is about one conversation");
            return Err(CommandError::failed(text)
                .hint(format!("{} makes a session of each in it", import(word))));
        }
        let (host, ids) = in_memory(path).await.map_err(|error| match path.is_file() {
            true => error.hint(format!("{} takes it with --from", import(word))),
            false => error,
        })?;
        let several = ids.len() > 1;
        let one = |(at, id)| Self {
            host: host.clone(),
            id,
            name: if several { format!("{word}#{}", at + 1) } else { word.to_owned() },
            is_transcript: true,
        };
        Ok(ids.into_iter().enumerate().map(one).collect())
    }

    /// Fails for a transcript. Only a session has folds and calls, because midfold never folded or sent a transcript.
    pub fn needs_session(&self, noun: &str) -> Result<(), CommandError> {
        if !self.is_transcript {
            return Ok(());
        }
        let text = format!("{} is a transcript: it has no {noun}", self.name);
        Err(CommandError::usage(text).hint(format!("{} makes a session of it", import(&self.name))))
    }
}

async fn is_missing_in(host: &OpenStore, word: &str) -> Result<bool, CommandError> {
    Ok(find_session(&*host.store, word).await?.is_empty())
}

/// Whether the word is written as a path, as `./run`. No id of a session looks like that.
fn is_spelled_as_path(path: &Path) -> bool {
    let first = path.components().next();
    path.is_absolute() || matches!(first, Some(Component::CurDir | Component::ParentDir))
}

/// The command that makes a session of this file.
fn import(file: &str) -> String {
    format!("`midfold import {}`", quoted(file))
}
