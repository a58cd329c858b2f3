//! Code lenses: commands of a server that belong to a part of a text, such as the test to run.

use base::{AbsPath, Span};
use serde_json::{Value, json};

use crate::answer::{AnswerError, Reading, parse_value, read_list};
use crate::command::ServerCommand;
use crate::connection::ConnectionId;
use crate::position::PositionEncoding;
use crate::range::WireRange;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::session::ServerSession;
use crate::violations::Violations;

/// Maximum number of lenses in one answer.
const MAX_LENSES: usize = 5_000;

/// A command that belongs to a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLens {
    /// The part, in the request's text.
    pub span: Span,
    /// The command.
    pub command: LensCommand,
}

/// The command of a lens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LensCommand {
    /// A command with its title.
    Known(ServerCommand),
    /// A command that the server names on request: see `LanguageServer::resolve_lens`.
    Unresolved(UnresolvedLens),
}

/// A lens without a command, as its server wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedLens {
    item: Value,
    connection: ConnectionId,
}

impl LanguageServer {
    /// Asks for the lenses of the text that was passed on last, sorted by their places.
    pub fn code_lenses(&self, path: &AbsPath) -> Option<Request<Vec<CodeLens>>> {
        let method = "textDocument/codeLens";
        let params = |_: &RequestDocument| Some(json!({}));
        let connection = self.connection_id();
        self.ask_document(method, path, params, move |json, document, violations| {
            let provider = (&connection, document.offers_resolve());
            let lenses = read_list::<_, MAX_LENSES>(json, violations, |item, violations| {
                read_lens(item, provider, &mut Reading::new(document, violations))
            });
            let mut lenses: Vec<CodeLens> = lenses?.into_iter().flatten().collect();
            // Stable: those of one part keep the order of the server.
            lenses.sort_by_key(|lens| lens.span.start);
            Ok(lenses)
        })
    }

    /// Asks for the command of a lens, which may have none; `None` if it is a lens of another server.
    pub fn resolve_lens(&self, lens: &UnresolvedLens) -> Option<Request<Option<ServerCommand>>> {
        let connection = self.connection_id();
        if lens.connection != connection {
            return None;
        }
        let read = move |json: &str, _: PositionEncoding, _: &mut Violations| {
            let answer = parse_value(json)?;
            if !answer.is_object() && !answer.is_null() {
                return Err(AnswerError::new("neither an object nor null"));
            }
            let command = answer.get("command").and_then(ServerCommand::of);
            Ok(command.map(|command| command.at(&connection)))
        };
        let (method, item) = ("codeLens/resolve", lens.item.clone());
        self.ask_workspace(method, item, ServerSession::is_running, read)
    }
}

/// Reads a lens; `None` if it is malformed, `Some(None)` if it lies beyond the text or can have no command.
fn read_lens(
    item: &Value,
    (connection, offers_resolve): (&ConnectionId, bool),
    reading: &mut Reading<'_>,
) -> Option<Option<CodeLens>> {
    let range = WireRange::of(item.get("range")?)?;
    let command = match item.get("command").filter(|command| !command.is_null()) {
        Some(command) => Some(LensCommand::Known(
            ServerCommand::of(command)?.at(connection),
        )),
        None => offers_resolve.then(|| {
            LensCommand::Unresolved(UnresolvedLens {
                item: item.clone(),
                connection: connection.clone(),
            })
        }),
    };
    let span = reading.wire_span(range);
    Some(
        span.zip(command)
            .map(|(span, command)| CodeLens { span, command }),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{LensCommand, read_lens};
    use crate::answer::Reading;
    use crate::connection::ConnectionId;
    use crate::testing::{document, violations_of};

    /// Checks the name of the command, or whether the lens needs resolution.
    fn check(item: Value, expected: Option<Option<(Option<&str>, bool)>>) {
        let document = document("fn main() {}");
        let provider = (&ConnectionId::default(), true);
        let read = |it: &mut _| read_lens(&item, provider, &mut Reading::new(&document, it));
        let (lens, _) = violations_of(read);
        let lens = lens.map(|lens| {
            lens.map(|lens| match lens.command {
                LensCommand::Known(command) => (Some(command.name().to_owned()), false),
                LensCommand::Unresolved(_) => (None, true),
            })
        });
        let expected =
            expected.map(|lens| lens.map(|(name, open)| (name.map(str::to_owned), open)));
        assert_eq!(lens, expected, "{item}");
    }

    #[test]
    fn a_lens_has_a_command_or_needs_resolution() {
        let range = |line: u32| json!({ "start": { "line": line, "character": 3 }, "end": { "line": line, "character": 7 } });
        let command = json!({ "title": "Run", "command": "run", "arguments": [1] });
        let lens = |line: u32| json!({ "range": range(line), "command": command });
        check(lens(0), Some(Some((Some("run"), false))));
        check(lens(9), Some(None));
        check(
            json!({ "range": range(0), "data": 1 }),
            Some(Some((None, true))),
        );
        check(
            json!({ "range": range(0), "command": { "title": "x" } }),
            None,
        );
        check(json!({ "command": command }), None);
    }
}
