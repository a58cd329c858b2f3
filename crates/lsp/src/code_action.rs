//! Code actions: fixes and refactorings for a part of a text.

use std::sync::Arc;

use base::{AbsPath, Span};
use serde_json::{Map, Value, json};

use crate::answer::{AnswerError, parse_value, read_list, text_member};
use crate::command::ServerCommand;
use crate::position::PositionEncoding;
use crate::range::range_value;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::session::ServerSession;
use crate::violations::{Violation, Violations};
use crate::workspace_edit::{OpenTexts, WorkspaceEdit, read_workspace_edit};

/// Name of the request.
const CODE_ACTION: &str = "textDocument/codeAction";
/// Maximum number of actions in one answer.
const MAX_ACTIONS: usize = 10_000;

/// A fix or refactoring. Apply the edit first, then execute the command.
#[derive(Clone, Debug)]
pub struct CodeAction {
    /// The text for the user.
    pub title: String,
    /// The kind, such as `quickfix` or `refactor.extract`.
    pub kind: Option<String>,
    /// Whether it is the best of the offered fixes.
    pub is_preferred: bool,
    /// The reason for which the action cannot be applied now, for the user.
    pub disabled_reason: Option<String>,
    /// The edit, which may only be known after `LanguageServer::resolve_code_action`.
    pub edit: Option<WorkspaceEdit>,
    /// A command to execute after the edit.
    pub command: Option<ServerCommand>,
    source: ActionSource,
}

/// The reason of a request, with its number in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActionTrigger {
    Invoked = 1,
    Automatic = 2,
}

/// The action as the server wrote it.
#[derive(Clone, Debug)]
struct ActionSource {
    item: Value,
    /// Whether the server completes actions on request.
    offers_resolve: bool,
    /// The texts at the time of the request.
    texts: Arc<OpenTexts>,
}

impl CodeAction {
    /// Returns whether the edit is unknown until `LanguageServer::resolve_code_action`.
    pub fn needs_resolve(&self) -> bool {
        self.edit.is_none() && self.command.is_none() && self.source.offers_resolve
    }
}

impl LanguageServer {
    /// Asks for the actions for a span of the text that was passed on last, and for the diagnostics
    /// in it. `only` restricts the kinds; empty means all.
    pub fn code_actions(
        &self,
        path: &AbsPath,
        span: Span,
        only: &[&str],
    ) -> Option<Request<Vec<CodeAction>>> {
        self.ask_for_actions(path, span, only, ActionTrigger::Invoked)
    }

    /// Asks as `code_actions` does, for a request that the user did not make: a server may then omit
    /// what takes long to find.
    pub fn automatic_code_actions(
        &self,
        path: &AbsPath,
        span: Span,
        only: &[&str],
    ) -> Option<Request<Vec<CodeAction>>> {
        self.ask_for_actions(path, span, only, ActionTrigger::Automatic)
    }

    fn ask_for_actions(
        &self,
        path: &AbsPath,
        span: Span,
        only: &[&str],
        trigger: ActionTrigger,
    ) -> Option<Request<Vec<CodeAction>>> {
        let (texts, diagnostics) = self.connection().with(|session| {
            let diagnostics = session.diagnostic_values(path, span);
            (Arc::new(session.open_texts()), diagnostics)
        });
        let params = |document: &RequestDocument| {
            let kind = trigger as u8;
            let mut context = json!({ "diagnostics": diagnostics, "triggerKind": kind });
            if !only.is_empty() {
                context["only"] = json!(only);
            }
            let range = range_value(&document.text, span, document.encoding);
            Some(json!({ "range": range, "context": context }))
        };
        self.ask_document(
            CODE_ACTION,
            path,
            params,
            move |json, document, violations| {
                let offers_resolve = document.offers_resolve();
                read_list::<_, MAX_ACTIONS>(json, violations, |item, violations| {
                    let source = ActionSource {
                        item: item.clone(),
                        offers_resolve,
                        texts: texts.clone(),
                    };
                    read_action(source, violations)
                })
            },
        )
    }

    /// Asks for the edit of an action; `None` if the server has no more.
    pub fn resolve_code_action(&self, action: &CodeAction) -> Option<Request<CodeAction>> {
        if !action.source.offers_resolve {
            return None;
        }
        let source = action.source.clone();
        let params = source.item.clone();
        let read = move |json: &str, _: PositionEncoding, violations: &mut Violations| {
            let mut source = source.clone();
            match (parse_value(json)?, source.item.as_object_mut()) {
                (Value::Object(answer), Some(item)) => item.extend(answer),
                (Value::Null, _) => {}
                _ => return Err(AnswerError::new("neither an object nor null")),
            }
            // An edit that cannot be read must not count as one that changes nothing.
            check_edit(&source)?;
            read_action(source, violations).ok_or_else(|| AnswerError::new("a member is missing"))
        };
        let method = "codeAction/resolve";
        self.ask_workspace(method, params, ServerSession::is_running, read)
    }
}

/// Returns an error if the action has an edit that cannot be read.
fn check_edit(source: &ActionSource) -> Result<(), AnswerError> {
    match source.item.get("edit") {
        Some(edit) => read_workspace_edit(&edit.to_string(), &source.texts).map(|_| ()),
        None => Ok(()),
    }
}

/// Reads a `CodeAction`, or a bare `Command`; `None` if it is malformed. An edit that cannot be read
/// disables the action.
fn read_action(source: ActionSource, violations: &mut Violations) -> Option<CodeAction> {
    let item: &Map<String, Value> = source.item.as_object()?;
    let title = item.get("title")?.as_str()?.to_owned();
    if item.get("command").is_some_and(Value::is_string) {
        let command = ServerCommand::of(&source.item)?;
        return Some(CodeAction {
            title,
            kind: None,
            is_preferred: false,
            disabled_reason: None,
            edit: None,
            command: Some(command),
            source: ActionSource {
                offers_resolve: false,
                ..source
            },
        });
    }
    let disabled = item.get("disabled").filter(|it| !it.is_null());
    let mut disabled_reason =
        disabled.map(|it| text_member(it, "reason").unwrap_or_else(|| "not possible here".into()));
    let edit = item.get("edit").filter(|it| !it.is_null());
    let edit = edit.map(|edit| read_workspace_edit(&edit.to_string(), &source.texts));
    let edit = match edit.transpose() {
        Ok(edit) => edit,
        Err(error) => {
            violations.count(Violation::MalformedItem, 1);
            disabled_reason.get_or_insert_with(|| format!("its edit is malformed: {error}"));
            None
        }
    };
    Some(CodeAction {
        title,
        kind: text_member(&source.item, "kind"),
        is_preferred: item.get("isPreferred") == Some(&Value::Bool(true)),
        disabled_reason,
        edit,
        command: item.get("command").and_then(ServerCommand::of),
        source,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{ActionSource, CodeAction, read_action};
    use crate::testing::violations_of;
    use crate::workspace_edit::OpenTexts;

    fn read(item: Value) -> (Option<CodeAction>, Vec<String>) {
        let source = ActionSource {
            item,
            offers_resolve: true,
            texts: Arc::new(OpenTexts::default()),
        };
        violations_of(|violations| read_action(source, violations))
    }

    #[test]
    fn a_bare_command_is_an_action() {
        let (action, _) = read(json!({ "title": "Run", "command": "run", "arguments": [1] }));
        let action = action.expect("an action");
        assert_eq!(action.command.as_ref().map(|it| it.name()), Some("run"));
        assert!(action.edit.is_none() && !action.needs_resolve());
    }

    #[test]
    fn an_action_may_have_an_edit_or_need_resolution() {
        let edit = json!({ "changes": { "file:///w/a.rs": [] } });
        let (action, _) = read(json!({
            "title": "Fix", "kind": "quickfix", "isPreferred": true, "edit": edit,
            "command": { "title": "c", "command": "run" },
        }));
        let action = action.expect("an action");
        assert_eq!(action.kind.as_deref(), Some("quickfix"));
        assert!(action.is_preferred && action.command.is_some() && !action.needs_resolve());
        assert_eq!(action.edit.expect("an edit").operations.len(), 1);
        let (action, _) = read(json!({ "title": "Extract", "data": 7 }));
        assert!(action.expect("an action").needs_resolve());
    }

    #[test]
    fn a_disabled_action_has_a_reason() {
        let (action, _) = read(json!({ "title": "x", "disabled": { "reason": "no selection" } }));
        let reason = action.expect("an action").disabled_reason;
        assert_eq!(reason.as_deref(), Some("no selection"));
        let edit = json!({ "changes": { "untitled:1": [] } });
        let (action, violations) = read(json!({ "title": "x", "edit": edit }));
        let reason = action
            .expect("an action")
            .disabled_reason
            .expect("a reason");
        assert_eq!(
            reason,
            r#"its edit is malformed: "untitled:1" is no local file"#
        );
        assert_eq!(violations, ["1 malformed item"]);
    }

    #[test]
    fn an_action_without_a_title_is_malformed() {
        assert!(read(json!({ "kind": "quickfix" })).0.is_none());
        assert!(read(json!(7)).0.is_none());
    }
}
