//! Code lenses: commands of a server that belong to a part of a text, such as the test to run.

use base::{AbsPath, Span};
use serde_json::{Value, json};

use crate::answer::{AnswerError, Reading, parse_value, read_list};
use crate::command::ServerCommand;
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
#[derive(Clone, Debug, PartialEq)]
pub struct CodeLens {
    /// The part, in the request's text.
    pub span: Span,
    /// The command; `None` until `LanguageServer::resolve_code_lens`.
    pub command: Option<ServerCommand>,
    /// The lens as the server wrote it, if the server completes it on request.
    unresolved: Option<Value>,
}

impl LanguageServer {
    /// Asks for the lenses of the text that was passed on last, sorted by their places.
    pub fn code_lenses(&self, path: &AbsPath) -> Option<Request<Vec<CodeLens>>> {
        let method = "textDocument/codeLens";
        let params = |_: &RequestDocument| Some(json!({}));
        self.ask_document(method, path, params, |json, document, violations| {
            let resolve = document.options.get("resolveProvider");
            let offers_resolve = resolve == Some(&Value::Bool(true));
            let lenses = read_list::<_, MAX_LENSES>(json, violations, |item, violations| {
                read_lens(
                    item,
                    offers_resolve,
                    &mut Reading::new(document, violations),
                )
            });
            let mut lenses: Vec<CodeLens> = lenses?.into_iter().flatten().collect();
            // Stable: those of one part keep the order of the server.
            lenses.sort_by_key(|lens| lens.span.start);
            Ok(lenses)
        })
    }

    /// Asks for the command of a lens; `None` if the server has no more to say.
    pub fn resolve_code_lens(&self, lens: &CodeLens) -> Option<Request<Option<ServerCommand>>> {
        let item = lens.unresolved.clone()?;
        let read = |json: &str, _: PositionEncoding, _: &mut Violations| {
            let answer = parse_value(json)?;
            if !answer.is_object() && !answer.is_null() {
                return Err(AnswerError::new("neither an object nor null"));
            }
            Ok(answer.get("command").and_then(ServerCommand::of))
        };
        self.ask_workspace("codeLens/resolve", item, ServerSession::is_running, read)
    }
}

/// Reads a lens; `None` if it is malformed, `Some(None)` if it lies beyond the text or can have no command.
fn read_lens(
    item: &Value,
    offers_resolve: bool,
    reading: &mut Reading<'_>,
) -> Option<Option<CodeLens>> {
    let range = WireRange::of(item.get("range")?)?;
    let command = item.get("command").filter(|command| !command.is_null());
    let unresolved = (command.is_none() && offers_resolve).then(|| item.clone());
    let command = match command {
        Some(command) => Some(ServerCommand::of(command)?),
        None => None,
    };
    let span = reading.wire_span(range);
    let span = span.filter(|_| command.is_some() || unresolved.is_some());
    Some(span.map(|span| CodeLens {
        span,
        command,
        unresolved,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read_lens;
    use crate::answer::Reading;
    use crate::testing::{document, violations_of};

    /// Checks the name of the command, or whether the lens needs resolution.
    fn check(item: Value, expected: Option<Option<(Option<&str>, bool)>>) {
        let document = document("fn main() {}");
        let read = |it: &mut _| read_lens(&item, true, &mut Reading::new(&document, it));
        let (lens, _) = violations_of(read);
        let lens = lens.map(|lens| {
            lens.map(|lens| {
                let name = lens.command.map(|command| command.name().to_owned());
                (name, lens.unresolved.is_some())
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
