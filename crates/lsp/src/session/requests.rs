//! Requests of a server and their answers.
//!
//! Invariant: every request is answered, in every phase, and an unknown one with `MethodNotFound`.

use base::AbsPath;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::answer::AnswerError;
use crate::events::{MessageKind, ServerEvent};
use crate::message::{Payload, ResponseError};
use crate::session::ServerSession;
use crate::session::notifications::WireMessage;
use crate::uri::file_uri;
use crate::violations::Violation;
use crate::watched_files::WATCHED_FILES;
use crate::workspace_edit::{WorkspaceEdit, read_workspace_edit};

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
/// Maximum length of the parameters of a request, in bytes.
const MAX_PARAMS: usize = 1 << 20;
/// Maximum number of sections that one request may ask for.
const MAX_SECTIONS: usize = 1024;

/// The answer to a request of a server.
#[derive(Debug)]
pub(crate) enum RequestAnswer {
    /// A result or an error, to be sent at once.
    Now(Result<Value, ResponseError>),
    /// The owner answers: an edit of files.
    Edit(WorkspaceEdit),
}

/// The parameters of `workspace/applyEdit`.
#[derive(Deserialize)]
struct WireEditParams<'a> {
    #[serde(default)]
    label: Value,
    #[serde(borrow, default)]
    edit: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireConfiguration {
    #[serde(default)]
    items: Vec<WireSection>,
}

#[derive(Deserialize)]
struct WireSection {
    #[serde(default)]
    section: Option<String>,
}

#[derive(Deserialize)]
struct WireRegistrations {
    #[serde(default)]
    registrations: Vec<WireRegistration>,
}

#[derive(Deserialize)]
struct WireUnregistrations {
    /// The name has this spelling in the protocol; some servers correct it.
    #[serde(alias = "unregistrations", default)]
    unregisterations: Vec<WireRegistration>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireRegistration {
    id: String,
    method: String,
    #[serde(default)]
    register_options: Value,
}

impl ServerSession {
    /// Answers a request of the server.
    pub(crate) fn answer(&mut self, method: &str, params: &Payload) -> RequestAnswer {
        if params.json().len() > MAX_PARAMS {
            self.violations.count(Violation::MalformedPayload, 1);
            let error = ResponseError::new(INVALID_PARAMS, "the parameters are too long");
            return RequestAnswer::Now(Err(error));
        }
        let answer = match method {
            "workspace/applyEdit" => return self.answer_edit(params),
            "workspace/configuration" => self.answer_configuration(params),
            "client/registerCapability" => self.register(params),
            "client/unregisterCapability" => self.unregister(params),
            "window/showMessageRequest" => self.show_message(params),
            "workspace/workspaceFolders" => Ok(folder_list(&self.folders)),
            "window/workDoneProgress/create" => Ok(Value::Null),
            "window/showDocument" => Ok(json!({ "success": false })),
            "workspace/diagnostic/refresh" => {
                self.events.push(ServerEvent::DiagnosticsRefresh);
                Ok(Value::Null)
            }
            "workspace/inlayHint/refresh" => {
                self.events.push(ServerEvent::InlayHintsRefresh);
                Ok(Value::Null)
            }
            "workspace/semanticTokens/refresh" => {
                self.events.push(ServerEvent::SemanticTokensRefresh);
                Ok(Value::Null)
            }
            "workspace/codeLens/refresh" => {
                self.events.push(ServerEvent::CodeLensRefresh);
                Ok(Value::Null)
            }
            // Nothing that such a request would refresh is kept.
            _ if method.starts_with("workspace/") && method.ends_with("/refresh") => {
                Ok(Value::Null)
            }
            _ => {
                let message = format!("{method} is not supported");
                return RequestAnswer::Now(Err(ResponseError::new(METHOD_NOT_FOUND, message)));
            }
        };
        RequestAnswer::Now(answer.map_err(|error| {
            self.violations.count(Violation::MalformedPayload, 1);
            ResponseError::new(INVALID_PARAMS, error.to_string())
        }))
    }

    fn answer_configuration(&self, params: &Payload) -> serde_json::Result<Value> {
        let wanted: WireConfiguration = params.parse()?;
        let sections = wanted.items.iter().take(MAX_SECTIONS);
        Ok(sections
            .map(|item| section(&self.configuration, item.section.as_deref()))
            .collect())
    }

    fn register(&mut self, params: &Payload) -> serde_json::Result<Value> {
        let wanted: WireRegistrations = params.parse()?;
        let mut has_changed = false;
        for WireRegistration {
            id,
            method,
            register_options,
        } in wanted.registrations
        {
            if method == WATCHED_FILES {
                let watchers = &mut self.file_watchers;
                watchers.register(id, &register_options, &mut self.violations);
            } else {
                has_changed |= self.capabilities.register(id, method, register_options);
            }
        }
        self.after_registrations(has_changed);
        Ok(Value::Null)
    }

    fn unregister(&mut self, params: &Payload) -> serde_json::Result<Value> {
        let wanted: WireUnregistrations = params.parse()?;
        let mut has_changed = false;
        for WireRegistration { id, method, .. } in &wanted.unregisterations {
            if method == WATCHED_FILES {
                self.file_watchers.unregister(id);
            } else {
                has_changed |= self.capabilities.unregister(id, method);
            }
        }
        self.after_registrations(has_changed);
        Ok(Value::Null)
    }

    fn after_registrations(&mut self, has_changed: bool) {
        if has_changed {
            self.drop_reports_of_gone_providers();
            self.announce_folders();
            self.announce_documents();
            self.events.push(ServerEvent::CapabilitiesChanged);
        }
    }

    /// Passes a question on as a text. No choice is offered to the user, so none is made.
    fn show_message(&mut self, params: &Payload) -> serde_json::Result<Value> {
        let message: WireMessage = params.parse()?;
        self.events.push(message.event(MessageKind::Shown));
        Ok(Value::Null)
    }

    fn answer_edit(&mut self, params: &Payload) -> RequestAnswer {
        let texts = self.open_texts();
        let edit = serde_json::from_str::<WireEditParams<'_>>(params.json())
            .map_err(AnswerError::from)
            .and_then(|params| {
                let edit = params.edit.map_or("null", RawValue::get);
                let label = params.label.as_str().map(str::to_owned);
                let edit = read_workspace_edit(edit, &texts)?;
                Ok(WorkspaceEdit { label, ..edit })
            });
        match edit {
            Ok(edit) => RequestAnswer::Edit(edit),
            Err(error) => {
                self.violations.count(Violation::MalformedPayload, 1);
                let error = ResponseError::new(INVALID_PARAMS, error.to_string());
                RequestAnswer::Now(Err(error))
            }
        }
    }
}

/// Returns the workspace folders in the form of the protocol.
pub(super) fn folder_list(folders: &[AbsPath]) -> Value {
    let folder = |path: &AbsPath| json!({ "uri": file_uri(path), "name": path.name() });
    folders.iter().map(folder).collect()
}

/// Returns a section of the configuration: the member of that name, or the value at that dotted path,
/// or everything without a name. `null` if there is none.
fn section(configuration: &Map<String, Value>, name: Option<&str>) -> Value {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Value::Object(configuration.clone());
    };
    if let Some(section) = configuration.get(name) {
        return section.clone();
    }
    let mut names = name.split('.');
    let first = names.next().and_then(|name| configuration.get(name));
    let section = names.try_fold(first, |section, name| Some(Some(section?.get(name)?)));
    section.flatten().cloned().unwrap_or_default()
}
