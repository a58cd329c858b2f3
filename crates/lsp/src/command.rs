//! Commands that a server executes.

use serde_json::{Value, json};

use crate::answer::text_member;
use crate::position::PositionEncoding;
use crate::request::Request;
use crate::server::LanguageServer;
use crate::session::ServerSession;
use crate::violations::Violations;

/// Maximum length of the arguments of a command, in bytes.
const MAX_ARGUMENTS: usize = 1 << 20;

/// A command of a server, to be executed by `LanguageServer::execute_command`.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerCommand {
    /// The text for the user.
    pub title: String,
    name: String,
    arguments: Option<Value>,
}

impl ServerCommand {
    /// Reads a command; `None` if it has no name or its arguments are too long.
    pub(crate) fn of(command: &Value) -> Option<Self> {
        let arguments = command.get("arguments").filter(|it| it.is_array());
        if arguments.is_some_and(|it| it.to_string().len() > MAX_ARGUMENTS) {
            return None;
        }
        Some(Self {
            title: text_member(command, "title").unwrap_or_default(),
            name: text_member(command, "command")?,
            arguments: arguments.cloned(),
        })
    }

    /// Returns the name of the command, such as `rust-analyzer.runSingle`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl LanguageServer {
    /// Asks the server to execute a command; `None` if the server does not execute a command of that
    /// name, such as one that an editor should execute. Edits arrive as `ServerEvent::EditRequested`.
    pub fn execute_command(&self, command: &ServerCommand) -> Option<Request<()>> {
        let mut params = json!({ "command": command.name });
        if let Some(arguments) = &command.arguments {
            params["arguments"] = arguments.clone();
        }
        let offers = |options: &Value| {
            let commands = options.get("commands").and_then(Value::as_array);
            commands.is_some_and(|names| names.iter().any(|name| *name == command.name.as_str()))
        };
        let read = |_: &str, _: PositionEncoding, _: &mut Violations| Ok(());
        let method = "workspace/executeCommand";
        let is_offered = |session: &ServerSession| session.offers_workspace(method, offers);
        self.ask_workspace(method, params, is_offered, read)
    }
}
