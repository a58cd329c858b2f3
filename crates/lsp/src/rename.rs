//! Renaming of a symbol.

use base::{AbsPath, ByteOffset, Span};
use serde_json::{Value, json};

use crate::answer::{AnswerError, Reading, parse_value, text_member};
use crate::hover::position_params;
use crate::range::WireRange;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::violations::Violations;
use crate::workspace_edit::{WorkspaceEdit, read_workspace_edit};

/// Name of the request.
const RENAME: &str = "textDocument/rename";

/// A symbol that can be renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameTarget {
    /// The name in the request's text; `None`: the identifier around the offset.
    pub span: Option<Span>,
    /// The text with which the input of the new name starts; `None`: the text of the span.
    pub placeholder: Option<String>,
}

impl LanguageServer {
    /// Returns whether the server renames symbols of a document.
    pub fn offers_rename(&self, path: &AbsPath) -> bool {
        let connection = self.connection();
        connection.with(|session| !session.document_options(RENAME, path).is_empty())
    }

    /// Asks whether the symbol at `offset` can be renamed, which the answer `None` denies. Returns
    /// `None` if the server renames without being asked first.
    pub fn prepare_rename(
        &self,
        path: &AbsPath,
        offset: ByteOffset,
    ) -> Option<Request<Option<RenameTarget>>> {
        let params = |document: &RequestDocument| {
            let prepares = document.options.get("prepareProvider") == Some(&Value::Bool(true));
            prepares.then(|| position_params(document, offset))?
        };
        let methods = (RENAME, "textDocument/prepareRename");
        self.ask_provider(methods, path, params, read_target)
    }

    /// Asks for the edit that gives the symbol at `offset` another name. The edit covers all files;
    /// nothing is changed yet.
    pub fn rename(
        &self,
        path: &AbsPath,
        offset: ByteOffset,
        new_name: &str,
    ) -> Option<Request<WorkspaceEdit>> {
        let texts = self.connection().with(|session| session.open_texts());
        let params = |document: &RequestDocument| {
            let mut params = position_params(document, offset)?;
            params["newName"] = json!(new_name);
            Some(params)
        };
        self.ask_document(RENAME, path, params, move |json, _, _| {
            read_workspace_edit(json, &texts)
        })
    }
}

/// Reads a range, a range with a placeholder, a default behaviour, or `null`.
fn read_target(
    json: &str,
    document: &RequestDocument,
    violations: &mut Violations,
) -> Result<Option<RenameTarget>, AnswerError> {
    let target = parse_value(json)?;
    if target.is_null() {
        return Ok(None);
    }
    if target.get("defaultBehavior").is_some() {
        let is_allowed = target["defaultBehavior"] == Value::Bool(true);
        return Ok(is_allowed.then_some(RenameTarget {
            span: None,
            placeholder: None,
        }));
    }
    let range = target.get("range").unwrap_or(&target);
    let range = WireRange::of(range).ok_or_else(|| AnswerError::new("no range"))?;
    let span = Reading::new(document, violations).wire_span(range);
    let placeholder = text_member(&target, "placeholder");
    Ok(span.map(|span| RenameTarget {
        span: Some(span),
        placeholder,
    }))
}

#[cfg(test)]
mod tests {
    use base::Span;
    use serde_json::{Value, json};

    use super::{RenameTarget, read_target};
    use crate::testing::{document, violations_of};

    fn check(answer: Value, expected: Option<(Option<Span>, Option<&str>)>) {
        let (target, _) = violations_of(|violations| {
            read_target(&answer.to_string(), &document("let é = 1"), violations).expect("an answer")
        });
        let expected = expected.map(|(span, placeholder)| RenameTarget {
            span,
            placeholder: placeholder.map(str::to_owned),
        });
        assert_eq!(target, expected, "{answer}");
    }

    #[test]
    fn a_target_is_a_range_with_or_without_placeholder() {
        let range =
            json!({ "start": { "line": 0, "character": 4 }, "end": { "line": 0, "character": 5 } });
        let span = Some(Span::from(4..6));
        check(range.clone(), Some((span, None)));
        check(
            json!({ "range": range, "placeholder": "e" }),
            Some((span, Some("e"))),
        );
        check(json!({ "defaultBehavior": true }), Some((None, None)));
        check(json!({ "defaultBehavior": false }), None);
        check(Value::Null, None);
        let (result, _) = violations_of(|it| read_target("7", &document(""), it));
        assert!(result.is_err());
    }
}
