//! A call of a tool, and what all of them read of it.

use std::sync::Arc;

use midfold::store::{SessionRow, Store};
use serde_json::{Map, Value};

use crate::answer::CallRefusal;
use crate::choose::{SAID, SESSION};
use crate::listing;
use crate::scope::SessionScope;
use crate::sessions::NewestSessions;

/// Sessions that a search over all of them shows hits of.
pub(crate) const SHOWN: usize = 5;
/// Sessions of a list, when nothing is asked for.
pub(crate) const LISTED: usize = 20;
/// Most sessions of a list.
pub(crate) const MAX_LISTED: usize = 100;

/// A call of a tool.
pub(crate) struct ToolCall<'a> {
    pub store: Arc<dyn Store>,
    pub scope: &'a SessionScope,
    /// Where the store is: ` in sqlite:PATH`. Nothing where that is none of the client's business.
    pub place: String,
    pub name: &'a str,
    pub arguments: Map<String, Value>,
}

impl ToolCall<'_> {
    /// The arguments with the session, so that the call that goes on names it, too.
    pub fn of_session(&self, row: &SessionRow) -> Map<String, Value> {
        let mut arguments = self.arguments.clone();
        arguments.insert(SESSION.to_owned(), row.new.id.clone().into());
        arguments
    }

    /// Asks for the session.
    pub async fn which(&self, found: NewestSessions) -> CallRefusal {
        let text = format!("{} sessions may be meant: say which", found.total);
        let advice = format!(
            "Send `{SESSION}` with the id of one of these, or `{SAID}` with a text of this conversation."
        );
        let total = found.total;
        let rows = found.rows.into_iter().take(LISTED).collect();
        let list = listing::list(&*self.store, &NewestSessions { rows, total }, 0).await;
        CallRefusal::said(format!("{}{list}", CallRefusal::new(text, advice).text()))
    }

    /// A whole number; a text of digits is taken for one, as recall does.
    pub fn number<T: TryFrom<u64> + std::str::FromStr>(
        &self,
        key: &str,
    ) -> Result<Option<T>, CallRefusal> {
        let found = match self.arguments.get(key) {
            None => return Ok(None),
            Some(Value::Number(number)) => {
                number.as_u64().and_then(|number| number.try_into().ok())
            }
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        found.map(Some).ok_or_else(|| {
            let advice = format!("Send `{key}` as a number, or leave it out.");
            CallRefusal::new(format!("`{key}` is no whole number"), advice)
        })
    }
}
