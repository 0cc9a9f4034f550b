//! A model that makes one call, whatever it is asked.

use serde_json::Value;

use super::asked::{Asked, Tool};
use super::reply::{Call, Kind, Reply};

/// One call of one tool, then the end.
#[derive(Clone, Debug)]
pub struct Once {
    /// The tool, as the client offers it.
    pub tool: String,
    /// Its arguments: an object.
    pub arguments: Value,
}

impl Once {
    /// Calls the tool where no message of the request has such a call; says so where it is not offered.
    pub(crate) fn next(&self, asked: &Asked, tools: &[Tool]) -> Reply {
        let name = &self.tool;
        // In a text the quotation marks would be escaped.
        let call = format!("\"name\":{}", Value::from(name.as_str()));
        if asked.items.iter().any(|item| item.to_string().contains(&call)) {
            let text = format!("{name} has answered.");
            return Reply { done: true, ..Reply::said(Kind::Turn, text) };
        }
        if !tools.iter().any(|tool| tool.name == *name) {
            return Reply::said(Kind::Turn, format!("There is no tool {name}."));
        }
        let calls =
            vec![Call { name: name.clone(), arguments: self.arguments.clone(), custom: false }];
        Reply { calls, ..Reply::said(Kind::Turn, format!("I ask {name}.")) }
    }
}
