//! Answers calls of tools.

use std::sync::Arc;

use midfold::store::{SessionRow, Store, recall};
use serde_json::{Map, Value};

use crate::answer::{Answer, Refused};
use crate::choose::{Chosen, SAID, SESSION, choose};
use crate::explain;
use crate::listing;
use crate::scope::Scope;
use crate::sessions::{Newest, newest};

/// Sessions that a search over all of them shows hits of.
pub(crate) const SHOWN: usize = 5;
/// Hits that it shows of each, when nothing is asked for.
const HITS_OF_EACH: u32 = 3;
/// Sessions of a list, when nothing is asked for.
pub(crate) const LISTED: usize = 20;
/// Most sessions of a list.
pub(crate) const MAX_LISTED: usize = 100;

/// A call of a tool.
pub(crate) struct Call<'a> {
    pub store: Arc<dyn Store>,
    pub scope: &'a Scope,
    pub name: &'a str,
    pub arguments: Map<String, Value>,
}

impl Call<'_> {
    pub async fn answer(mut self) -> Result<Answer, Refused> {
        let store = Arc::clone(&self.store);
        if self.name == "sessions" {
            return self.sessions().await;
        }
        let chosen = choose(&*store, self.scope, &mut self.arguments).await?;
        match (self.name, chosen) {
            ("explain", Chosen::One(row, _)) => explain::one(&self, &row).await,
            ("explain", Chosen::Several(found)) => explain::several(&self, found).await,
            (_, Chosen::One(row, by_call)) => {
                let arguments = if by_call { self.of_session(&row) } else { self.arguments };
                let text = recall(&*store, &row, self.name, arguments).await?;
                Ok(text.into())
            }
            ("recall_grep", Chosen::Several(found)) => self.grep_all(found).await,
            (_, Chosen::Several(found)) => Err(self.which(found).await),
        }
    }

    /// The arguments with the session, so that the call that goes on names it, too.
    fn of_session(&self, row: &SessionRow) -> Map<String, Value> {
        let mut arguments = self.arguments.clone();
        arguments.insert(SESSION.to_owned(), row.new.id.clone().into());
        arguments
    }

    async fn sessions(&self) -> Result<Answer, Refused> {
        let skip = self.number("skip")?.unwrap_or(0);
        let limit = self.number("limit")?.unwrap_or(LISTED).clamp(1, MAX_LISTED);
        let found = newest(&*self.store, self.scope, skip, limit).await?;
        if found.rows.is_empty() {
            let more = if skip > 0 { "more " } else { "" };
            return Ok(format!("no {more}session is stored in {}\n", self.store.place()).into());
        }
        Ok(listing::list(&*self.store, &found, skip).await.into())
    }

    /// A search over the newest sessions: the first hits of the first that have some.
    async fn grep_all(&self, found: Newest) -> Result<Answer, Refused> {
        if self.arguments.contains_key("skip") || self.arguments.contains_key("range") {
            return Err(self.which(found).await);
        }
        let (mut text, mut with_hits, mut looked_into) = (String::new(), 0, 0);
        let mut wrong = None;
        for row in &found.rows {
            if with_hits == SHOWN {
                break;
            }
            let mut arguments = self.of_session(row);
            arguments.entry("limit").or_insert_with(|| HITS_OF_EACH.into());
            looked_into += 1;
            match recall(&*self.store, row, self.name, arguments).await {
                Ok(hits) if hits.starts_with(recall::QUOTED) => {
                    with_hits += 1;
                    text += &format!("── session {}\n", listing::line(&*self.store, row).await);
                    text += &hits[recall::QUOTED.len()..];
                }
                Ok(_) => {}
                Err(refused) => wrong = wrong.or(Some(refused)),
            }
        }
        let of = format!("{looked_into} of {} sessions, newest first", found.total);
        match (with_hits, wrong) {
            (0, Some(refused)) => Err(refused),
            (0, None) => Ok(format!(
                "no message matches in {of}; try other or fewer words, or mode `literal` with a part of \
                 a name\n"
            )
            .into()),
            (_, _) => Ok(format!("{}{text}looked into {of}\n", listing::QUOTED).into()),
        }
    }

    /// Asks for the session.
    pub async fn which(&self, found: Newest) -> Refused {
        let text = format!("{} sessions may be meant: say which", found.total);
        let advice = format!(
            "Send `{SESSION}` with the id of one of these, or `{SAID}` with a text of this conversation."
        );
        let total = found.total;
        let rows = found.rows.into_iter().take(LISTED).collect();
        let list = listing::list(&*self.store, &Newest { rows, total }, 0).await;
        Refused::said(format!("{}{list}", Refused::new(text, advice).text()))
    }

    /// A whole number; a text of digits is taken for one, as recall does.
    pub fn number<T: TryFrom<u64> + std::str::FromStr>(
        &self,
        key: &str,
    ) -> Result<Option<T>, Refused> {
        let found = match self.arguments.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => {
                number.as_u64().and_then(|number| number.try_into().ok())
            }
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        found.map(Some).ok_or_else(|| {
            let advice = format!("Send `{key}` as a number, or leave it out.");
            Refused::new(format!("`{key}` is no whole number"), advice)
        })
    }
}

async fn recall(
    store: &dyn Store,
    row: &SessionRow,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<String, Refused> {
    let arguments = Value::from(arguments).to_string();
    recall::answer(store, &row.new.id, name, &arguments).await.map_err(Refused::said)
}
