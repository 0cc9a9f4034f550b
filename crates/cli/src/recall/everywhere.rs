//! `midfold recall find` without a session: searches the sessions that changed last.

use midfold::Door;
use midfold::advise_recall;
use midfold::store::recall::{self, GrepQuery, RecallError};
use midfold::store::{NewestQuery, StoreError};
use midfold::view::Overview;
use midfold_args::StoreAt;
use serde_json::json;

use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation};
use crate::output::{Output, OutputColor};
use crate::page::heads_bold;
use crate::presets::pretty;
use crate::words::{line, plural};

/// How many sessions are searched.
const SEARCHED: u32 = 50;
/// The most sessions whose hits are shown.
const SHOWN: usize = 5;
/// The most hits that are shown of each.
const HITS: u32 = 3;

pub async fn find(
    ask: Result<GrepQuery, RecallError>,
    at: &StoreAt,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let host = OpenStore::open(at, StoreCreation::No).await?;
    let mut ask = match ask {
        Ok(ask) => ask,
        Err(error) => {
            return Err(advise_recall(&*host.store, error, "", Door::Command).await.into());
        }
    };
    ask.limit = ask.limit.min(HITS);
    let newest = NewestQuery { limit: SEARCHED, ..NewestQuery::default() };
    let sessions = host.overviews().newest(&newest).await?;
    let (mut text, mut matches, mut wrong) = (String::new(), Vec::new(), None);
    for session in &sessions {
        if matches.len() == SHOWN {
            break;
        }
        match recall::grep(&*host.store, &session.id, &ask).await {
            Ok(hits) if hits.found.is_empty() => {}
            Ok(hits) => {
                let style = output.stdout_style();
                text += &style.paint(OutputColor::Cyan, &format!("{}\n", head(session)));
                text += &heads_bold(&recall::hits_text(&hits), &style);
                text.push('\n');
                matches.push(
                    json!({ "session": session.id, "title": session.title, "hits": hits.found }),
                );
            }
            // The session was deleted after the list was read.
            Err(RecallError::Store(StoreError::NoSession(_))) => {}
            // A tool that one session never called may be in another, so the error counts only if no session has hits.
            Err(error) => wrong = wrong.or(Some(error)),
        }
    }
    if let Some(error) = wrong.filter(|_| matches.is_empty()) {
        return Err(advise_recall(&*host.store, error, "", Door::Command).await.into());
    }
    if json {
        return output.stdout(pretty(&matches)?);
    }
    if matches.is_empty() {
        let searched = plural(sessions.len() as u64, "session");
        output.stderr(&format!("no message matches in {searched}, the newest ones\n"));
        return Ok(());
    }
    output.stdout(text)
}

/// The line above the hits of a session.
fn head(session: &Overview) -> String {
    let title = session.title.as_deref().unwrap_or_default();
    format!("── {}  {}", session.id, line(title, 60)).trim_end().to_owned()
}
