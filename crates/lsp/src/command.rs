//! Commands that a server executes.

use serde_json::{Value, json};

use crate::answer::text_member;
use crate::connection::ConnectionId;
use crate::declared_names::SHOW_REFERENCES;
use crate::locations::{Location, read_location};
use crate::position::PositionEncoding;
use crate::request::Request;
use crate::server::LanguageServer;
use crate::session::ServerSession;
use crate::violations::Violations;

/// Maximum length of the arguments of a command, in bytes.
const MAX_ARGUMENTS: usize = 1 << 20;
/// Name of the request.
const EXECUTE: &str = "workspace/executeCommand";

/// A command of a server, to be executed by `LanguageServer::execute_command`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerCommand {
    /// The text for the user.
    pub title: String,
    name: String,
    arguments: Option<Value>,
    /// The only connection at which it may be executed; `None` for any.
    connection: Option<ConnectionId>,
}

impl ServerCommand {
    /// Reads a command; `None` if it has no name or its arguments are too long.
    pub(crate) fn of(command: &Value) -> Option<Self> {
        let arguments = command.get("arguments").filter(|it| it.is_array());
        if arguments.is_some_and(|it| it.to_string().len() > MAX_ARGUMENTS) {
            return None;
        }
        let title = text_member(command, "title").unwrap_or_default();
        Some(Self {
            arguments: arguments.cloned(),
            ..Self::without_arguments(title, text_member(command, "command")?)
        })
    }

    /// Creates a command from the text for the user and the name.
    pub fn without_arguments(title: String, name: String) -> Self {
        Self {
            title,
            name,
            arguments: None,
            connection: None,
        }
    }

    /// Restricts the command to a connection: another server may have a command of the same name.
    pub(crate) fn at(self, connection: &ConnectionId) -> Self {
        Self {
            connection: Some(connection.clone()),
            ..self
        }
    }

    /// Returns whether a provider executes the command.
    fn is_among(&self, options: &Value) -> bool {
        let commands = options.get("commands").and_then(Value::as_array);
        commands.is_some_and(|names| names.iter().any(|name| *name == self.name.as_str()))
    }

    fn shown_locations(&self, encoding: PositionEncoding) -> Option<Vec<Location>> {
        if !SHOW_LOCATIONS.contains(&self.name.as_str()) {
            return None;
        }
        let locations = self.arguments.as_ref()?.get(2)?.as_array()?;
        let locations = locations.iter().take(MAX_LOCATIONS);
        let locations = locations.filter_map(|item| read_location(item, encoding).flatten());
        Some(locations.collect())
    }

    /// Returns the name of the command, such as `rust-analyzer.runSingle`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Commands of clients that show locations: their arguments are a URI, a position and the locations.
const SHOW_LOCATIONS: &[&str] = &[SHOW_REFERENCES, "editor.action.showReferences"];
/// Maximum number of locations in the arguments of a command.
const MAX_LOCATIONS: usize = 10_000;

impl LanguageServer {
    /// Returns the locations that a command of a client shows; `None` if it is another command, or belongs to another
    /// server.
    pub fn shown_locations(&self, command: &ServerCommand) -> Option<Vec<Location>> {
        if !self.owns(command) {
            return None;
        }
        let encoding = self.connection().with(|session| session.encoding());
        command.shown_locations(encoding)
    }

    /// Returns whether the server executes the command.
    pub fn executes(&self, command: &ServerCommand) -> bool {
        let connection = self.connection();
        let is_offered = |options: &Value| command.is_among(options);
        self.owns(command) && connection.with(|it| it.offers_workspace(EXECUTE, is_offered))
    }

    /// Returns whether the command may be executed by this server.
    fn owns(&self, command: &ServerCommand) -> bool {
        let connection = command.connection.as_ref();
        connection.is_none_or(|connection| *connection == self.connection_id())
    }

    /// Asks the server to execute a command; `None` if the server does not execute a command of that
    /// name, such as one that an editor should execute, or if it belongs to another server. Edits arrive
    /// as `ServerEvent::EditRequested`.
    pub fn execute_command(&self, command: &ServerCommand) -> Option<Request<()>> {
        if !self.owns(command) {
            return None;
        }
        let mut params = json!({ "command": command.name });
        if let Some(arguments) = &command.arguments {
            params["arguments"] = arguments.clone();
        }
        let read = |_: &str, _: PositionEncoding, _: &mut Violations| Ok(());
        let is_offered = |session: &ServerSession| {
            session.offers_workspace(EXECUTE, |options| command.is_among(options))
        };
        self.ask_workspace(EXECUTE, params, is_offered, read)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ServerCommand;
    use crate::position::PositionEncoding;

    fn check(name: &str, arguments: Value, expected: Option<&[&str]>) {
        let command = json!({ "title": "2 references", "command": name, "arguments": arguments });
        let command = ServerCommand::of(&command).expect("a command");
        let locations = command.shown_locations(PositionEncoding::Utf16);
        let paths = locations.map(|locations| {
            let paths = locations
                .iter()
                .map(|it| it.path.as_path().display().to_string());
            paths.collect::<Vec<_>>()
        });
        let expected = expected.map(|paths| paths.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(paths, expected, "{command:?}");
    }

    #[test]
    fn locations_are_shown_by_commands_of_clients() {
        let at = json!({ "line": 0, "character": 0 });
        let range = json!({ "start": at, "end": at });
        let location = json!({ "uri": "file:///w/a.rs", "range": range });
        let arguments = json!(["file:///w/b.rs", at, [location, 7]]);
        check(
            "rust-analyzer.showReferences",
            arguments.clone(),
            Some(&["/w/a.rs"]),
        );
        check(
            "editor.action.showReferences",
            arguments.clone(),
            Some(&["/w/a.rs"]),
        );
        check("rust-analyzer.runSingle", arguments, None);
        check("rust-analyzer.showReferences", json!([1]), None);
    }
}
