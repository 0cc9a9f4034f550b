//! A client's conversation, from its first request to its end.

use serde_json::{Value, json};

use super::client::{ClientAgent, ReplyContent, ReplyTrouble, RequestedCall};
use super::http::HttpClient;
use super::{chat, gemini, messages, responses, sse};
use crate::upstream::request_parts::WireDialect;
use crate::upstream::shell;

impl ClientAgent {
    /// Runs the conversation to its end.
    pub async fn run(self) -> AgentRun {
        let mut session = self.start();
        while session.end().is_none() {
            session.turn().await;
        }
        session.into_run()
    }

    /// Sends a body to a path of the server as it is, so that a test can send what no well-behaved client would.
    pub async fn post(&self, path: &str, body: &str) -> AgentExchange {
        let url = format!("{}{path}", self.base_url);
        let got = HttpClient::new().post(&url, &self.headers, body.to_owned()).await;
        let (status, headers, body_got) = (got.status, got.headers, got.body);
        AgentExchange { sent: body.to_owned(), status, headers, body: body_got }
    }

    /// Starts a conversation that a test runs turn by turn. A clone of it is a fork.
    #[must_use]
    pub fn start(self) -> AgentSession {
        let mut session = AgentSession {
            http: HttpClient::new(),
            history: Vec::new(),
            run: AgentRun::default(),
            requests: 0,
            end: None,
            stored: None,
            threads: self.server_state && self.dialect == WireDialect::Messages,
            agent: self,
        };
        let task = session.agent.task.clone();
        if session.agent.habits.injected {
            session.say("<environment_context>\n  <cwd>/work</cwd>\n</environment_context>");
            session.attach(&task);
        } else {
            session.say(&task);
        }
        session
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// With this final answer of the model.
    Finished(String),
    /// With an error status, or with an error in the stream, whose status is 200.
    Failed {
        /// The status.
        status: u16,
        /// The body, or the error event.
        body: String,
    },
    /// Without a complete answer. The text says why.
    Broken(String),
    /// With more requests than the client may send.
    Exhausted,
}

/// A request that has not been sent yet.
#[derive(Clone, Debug)]
pub struct Letter {
    /// The path and the query.
    pub target: String,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

/// One attempt to send a request, and its answer.
#[derive(Clone, Debug)]
pub struct AgentExchange {
    /// The body that was sent.
    pub sent: String,
    /// The status. 0 where there was no answer.
    pub status: u16,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body of the answer, complete or not.
    pub body: Vec<u8>,
}

impl AgentExchange {
    /// The value of a header of the answer.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The record of a conversation.
#[derive(Clone, Debug, Default)]
pub struct AgentRun {
    /// How the conversation ended. `None` while it goes on.
    pub end: Option<RunEnd>,
    /// Every attempt, in order.
    pub exchanges: Vec<AgentExchange>,
    /// The highest step that was run.
    pub steps: u32,
    /// The usage of each complete reply, as the provider writes it.
    pub usages: Vec<Value>,
    /// The history at the end.
    pub history: Vec<Value>,
}

impl AgentRun {
    /// The final answer. `None` where the conversation goes on or ended without one.
    #[must_use]
    pub fn answer(&self) -> Option<&str> {
        match &self.end {
            Some(RunEnd::Finished(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether there is no final answer.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.answer().is_none()
    }

    /// The statuses of all attempts, in order.
    #[must_use]
    pub fn statuses(&self) -> Vec<u16> {
        self.exchanges.iter().map(|exchange| exchange.status).collect()
    }
}

/// A conversation that can go on.
#[derive(Clone, Debug)]
pub struct AgentSession {
    agent: ClientAgent,
    http: HttpClient,
    /// Messages, items or contents, as the client keeps them.
    pub history: Vec<Value>,
    run: AgentRun,
    requests: u32,
    end: Option<RunEnd>,
    /// The id of the last reply that the server keeps, and the length of the history up to it.
    stored: Option<(String, usize)>,
    /// Whether requests ask for an Anthropic thread.
    threads: bool,
}

impl AgentSession {
    /// How the conversation ended. `None` while it goes on.
    #[must_use]
    pub fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    /// The record so far.
    #[must_use]
    pub fn run(&self) -> &AgentRun {
        &self.run
    }

    /// Goes on with another server.
    pub fn go_on_at(&mut self, base_url: &str) {
        base_url.trim_end_matches('/').clone_into(&mut self.agent.base_url);
        self.end = None;
    }

    /// The record of the conversation, with its end and its history.
    #[must_use]
    pub fn into_run(self) -> AgentRun {
        AgentRun { end: self.end, history: self.history, ..self.run }
    }

    /// Adds a message of the user. If the conversation has ended, it goes on.
    pub fn say(&mut self, text: &str) {
        self.end = None;
        self.history.push(match self.agent.dialect {
            WireDialect::Chat => chat::user(&self.agent, text),
            WireDialect::Responses => responses::user(&self.agent, text),
            WireDialect::Messages => messages::user(&self.agent, text),
            WireDialect::Gemini => gemini::user(text),
        });
    }

    /// Adds a text to the message before it: as another item in Responses, as another part elsewhere.
    fn attach(&mut self, text: &str) {
        let (dialect, Some(last)) = (self.agent.dialect, self.history.last_mut()) else { return };
        let (key, part) = match dialect {
            WireDialect::Responses => return self.say(text),
            WireDialect::Gemini => ("parts", json!({"text": text})),
            WireDialect::Chat | WireDialect::Messages => {
                ("content", json!({"type": "text", "text": text}))
            }
        };
        if let Value::String(first) = &last[key] {
            last[key] = json!([{"type": "text", "text": first}]);
        }
        if let Some(parts) = last[key].as_array_mut() {
            parts.push(part);
        }
    }

    /// The body of the next request.
    #[must_use]
    pub fn body(&self) -> Value {
        let ephemeral = self.agent.habits.ephemeral.then(|| {
            format!("<<<INTERNAL CONTEXT {}: nothing that the user said>>>", self.requests)
        });
        let agent = &self.agent;
        let from = self.stored.as_ref().map_or(0, |(_, length)| *length);
        let history = &self.history[from..];
        let mut body = match agent.dialect {
            WireDialect::Chat => chat::body(agent, history, ephemeral),
            WireDialect::Responses => responses::body(agent, history, ephemeral),
            WireDialect::Messages => messages::body(agent, history, ephemeral),
            WireDialect::Gemini => gemini::body(agent, history, ephemeral),
        };
        if agent.server_state && agent.dialect == WireDialect::Responses {
            body["store"] = json!(true);
            if let Some((id, _)) = &self.stored {
                body["previous_response_id"] = json!(id);
            }
        }
        if self.threads {
            body["thread"] = json!({"type": "create"});
            if let (Some((id, _)), Some(fields)) = (&self.stored, body.as_object_mut()) {
                fields.remove("system");
                fields.remove("tools");
                fields["thread"] = json!({"type": "continue", "previous_message_id": id});
            }
        }
        body
    }

    /// Sends one request, with retries, and does what the reply asks for.
    pub async fn turn(&mut self) {
        let mut retries = self.agent.retries;
        let content = loop {
            if self.requests >= self.agent.max_requests {
                self.end = Some(RunEnd::Exhausted);
                return;
            }
            match self.ask().await {
                Ok(content) => break content,
                Err(ReplyTrouble::Failed { body, .. }) if self.unthreaded(&body) => {}
                Err(trouble) => {
                    let again = match &trouble {
                        ReplyTrouble::Failed { status, .. } => {
                            // A status of 200 is an error event in a stream, which clients try again.
                            *status == 429 || *status >= 500 || *status == 200
                        }
                        ReplyTrouble::Broken(_) => true,
                    };
                    if again && retries > 0 {
                        retries -= 1;
                        continue;
                    }
                    self.end = Some(match trouble {
                        ReplyTrouble::Failed { status, body } => RunEnd::Failed { status, body },
                        ReplyTrouble::Broken(text) => RunEnd::Broken(text),
                    });
                    return;
                }
            }
        };
        self.go_on(content);
    }

    /// Adds the reply to the history, and the results of its calls.
    fn go_on(&mut self, content: ReplyContent) {
        self.run.usages.push(content.usage);
        self.history.extend(content.history);
        if self.threads || self.agent.server_state && self.agent.dialect == WireDialect::Responses {
            self.stored = Some((content.reply, self.history.len()));
        }
        if content.calls.is_empty() {
            self.end = Some(RunEnd::Finished(content.text));
            return;
        }
        let outputs = content.calls.into_iter().map(|call| {
            let output = shell::output(&call.command);
            self.run.steps = self.run.steps.max(shell::highest(&output).unwrap_or(0));
            (call, output)
        });
        let outputs: Vec<(RequestedCall, String)> = outputs.collect();
        if self.agent.habits.toolless {
            let texts: Vec<String> = outputs.into_iter().map(|(_, output)| output).collect();
            self.say(&texts.join("\n"));
            return;
        }
        let agent = &self.agent;
        self.history.extend(match agent.dialect {
            WireDialect::Chat => chat::results(agent, outputs),
            WireDialect::Responses => responses::results(agent, outputs),
            WireDialect::Messages => messages::results(agent, outputs),
            WireDialect::Gemini => gemini::results(outputs),
        });
        if agent.habits.reminders
            && agent.dialect == WireDialect::Messages
            && self.requests % 4 == 1
        {
            self.history.push(json!({"role": "system", "content": "Keep your list of tasks."}));
        }
    }

    /// Whether a refusal was about the thread, so that the request can be sent again without it.
    fn unthreaded(&mut self, body: &str) -> bool {
        if !self.threads || !body.contains("\"thread_") {
            return false;
        }
        // A thread that the server has lost is started again. If a thread cannot be started at all, the client stops
        // asking for one.
        self.threads = body.contains("thread_not_found") && self.stored.is_some();
        self.stored = None;
        true
    }

    /// The next request, for a test that brings it to the server itself.
    pub fn request(&mut self) -> Letter {
        let body = self.body().to_string();
        self.requests += 1;
        let agent = &self.agent;
        let (target, mut headers) = match agent.dialect {
            WireDialect::Chat => chat::target(),
            WireDialect::Responses => responses::target(),
            WireDialect::Messages => messages::target(),
            WireDialect::Gemini => gemini::target(agent),
        };
        headers.extend(agent.headers.iter().cloned());
        Letter { target, headers, body }
    }

    /// Takes the answer to a request that a test brought to the server itself.
    ///
    /// # Errors
    /// With the text of an answer that is no reply. The session then stays as it was.
    pub fn hear(&mut self, status: u16, text: &str) -> Result<(), String> {
        let content = self.read(status, text).map_err(|trouble| match trouble {
            ReplyTrouble::Failed { body, .. } => body,
            ReplyTrouble::Broken(why) => why,
        })?;
        self.go_on(content);
        Ok(())
    }

    async fn ask(&mut self) -> Result<ReplyContent, ReplyTrouble> {
        let Letter { target, headers, body } = self.request();
        let url = format!("{}{target}", self.agent.base_url);
        let got = self.http.post(&url, &headers, body.clone()).await;
        let exchange =
            AgentExchange { sent: body, status: got.status, headers: got.headers, body: got.body };
        let text = String::from_utf8_lossy(&exchange.body).into_owned();
        let status = exchange.status;
        self.run.exchanges.push(exchange);
        match got.broken {
            Some(why) => Err(ReplyTrouble::Broken(why)),
            None => self.read(status, &text),
        }
    }

    /// Reads the content of an answer.
    fn read(&self, status: u16, text: &str) -> Result<ReplyContent, ReplyTrouble> {
        let agent = &self.agent;
        if status != 200 {
            return Err(ReplyTrouble::Failed { status, body: text.to_owned() });
        }
        // Some servers answer a request for a stream with one document, and clients read that.
        let whole = if agent.stream && !text.starts_with('{') {
            let events = sse::events(text).map_err(ReplyTrouble::Broken)?;
            match agent.dialect {
                WireDialect::Chat => chat::joined(&events),
                WireDialect::Responses => responses::joined(&events),
                WireDialect::Messages => messages::joined(&events),
                WireDialect::Gemini => gemini::joined(&events),
            }?
        } else {
            serde_json::from_str(text).map_err(|error| ReplyTrouble::Broken(error.to_string()))?
        };
        let mut content = match agent.dialect {
            WireDialect::Chat => chat::reply_content(agent, &whole),
            WireDialect::Responses => responses::reply_content(agent, &whole),
            WireDialect::Messages => messages::reply_content(agent, &whole),
            WireDialect::Gemini => gemini::reply_content(&whole),
        };
        whole["id"].as_str().unwrap_or_default().clone_into(&mut content.reply);
        if agent.habits.toolless {
            content.calls = fenced(&content.text);
        }
        Ok(content)
    }
}

/// The commands in the code blocks of a text.
fn fenced(text: &str) -> Vec<RequestedCall> {
    let blocks = text.split("```bash\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    let called = |(command, _): (&str, &str)| RequestedCall {
        id: String::new(),
        name: String::new(),
        command: command.to_owned(),
    };
    blocks.map(called).collect()
}
