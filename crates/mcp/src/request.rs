//! A call of a tool, with the methods that all tools use to read it.

use std::sync::Arc;

use midfold::store::{SessionRow, Store};
use serde_json::{Map, Value};

use crate::answer::CallRefusal;
use crate::choose::{SAID, SESSION};
use crate::listing;
use crate::scope::SessionScope;
use crate::sessions::NewestSessions;

/// How many sessions with hits a search over all sessions shows.
pub(crate) const SHOWN: usize = 5;
/// How many sessions a list has, unless the call sets a limit.
pub(crate) const LISTED: usize = 20;
/// The most sessions of a list.
pub(crate) const MAX_LISTED: usize = 100;

/// A call of a tool.
pub(crate) struct ToolCall<'a> {
    pub store: Arc<dyn Store>,
    pub scope: &'a SessionScope,
    /// The place of the store as the end of a sentence: ` in sqlite:PATH`. Empty for a client that need not know it.
    pub place: String,
    pub name: &'a str,
    pub arguments: Map<String, Value>,
}

impl ToolCall<'_> {
    /// The arguments with the session's id, so that a call for the next page names the session, too.
    pub fn arguments_for(&self, row: &SessionRow) -> Map<String, Value> {
        let mut arguments = self.arguments.clone();
        arguments.insert(SESSION.to_owned(), row.new.id.clone().into());
        arguments
    }

    /// The error that asks the model to name one of several sessions.
    pub async fn ask_for_a_session(&self, page: NewestSessions) -> CallRefusal {
        let text = format!("{} sessions may be meant: say which", page.total);
        let advice = format!(
            "Send `{SESSION}` with the id of one of these, or `{SAID}` with a text of this conversation."
        );
        let total = page.total;
        let rows = page.rows.into_iter().take(LISTED).collect();
        let list = listing::list(&*self.store, &NewestSessions { rows, total }, 0).await;
        CallRefusal::of_text(format!("{}{list}", CallRefusal::new(text, advice).text()))
    }

    /// A whole number among the arguments; `None` if it is missing. A text of digits is accepted, as recall does.
    pub fn number<T: TryFrom<u64> + std::str::FromStr>(
        &self,
        key: &str,
    ) -> Result<Option<T>, CallRefusal> {
        let parsed = match self.arguments.get(key) {
            None => return Ok(None),
            Some(Value::Number(number)) => {
                number.as_u64().and_then(|number| number.try_into().ok())
            }
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        parsed.map(Some).ok_or_else(|| {
            let advice = format!("Send `{key}` as a number, or leave it out.");
            CallRefusal::new(format!("`{key}` is no whole number"), advice)
        })
    }
}
