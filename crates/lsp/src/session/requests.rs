//! Requests of a server and their answers.
//!
//! Invariant: every request is answered, in every phase, and an unknown one with `MethodNotFound`.

use base::AbsPath;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::events::{MessageKind, ServerEvent};
use crate::message::{Payload, ResponseError};
use crate::session::ServerSession;
use crate::session::notifications::WireMessage;
use crate::uri::{file_uri, uri_path};
use crate::violations::Violation;

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
/// Maximum length of the parameters of a request, in bytes.
const MAX_PARAMS: usize = 1 << 20;
/// Maximum number of sections that one request may ask for.
const MAX_SECTIONS: usize = 1024;
/// Maximum number of files that an edit names.
const MAX_EDITED: usize = 10_000;

/// The answer to a request of a server.
#[derive(Debug, PartialEq)]
pub(crate) enum RequestAnswer {
    /// A result or an error, to be sent at once.
    Now(Result<Value, ResponseError>),
    /// The owner answers: an edit of files.
    Edit {
        label: Option<String>,
        paths: Vec<AbsPath>,
    },
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
            has_changed |= self.capabilities.register(id, method, register_options);
        }
        self.after_registrations(has_changed);
        Ok(Value::Null)
    }

    fn unregister(&mut self, params: &Payload) -> serde_json::Result<Value> {
        let wanted: WireUnregistrations = params.parse()?;
        let mut has_changed = false;
        for WireRegistration { id, method, .. } in &wanted.unregisterations {
            has_changed |= self.capabilities.unregister(id, method);
        }
        self.after_registrations(has_changed);
        Ok(Value::Null)
    }

    fn after_registrations(&mut self, has_changed: bool) {
        if has_changed {
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
        match params.parse::<Value>() {
            Ok(params) => {
                let label = params.get("label").and_then(Value::as_str);
                RequestAnswer::Edit {
                    label: label.map(str::to_owned),
                    paths: edited_paths(params.get("edit").unwrap_or(&Value::Null)),
                }
            }
            Err(error) => {
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

/// Returns the files that a workspace edit names, without duplicates.
fn edited_paths(edit: &Value) -> Vec<AbsPath> {
    let changes = edit.get("changes").and_then(Value::as_object);
    let changes = changes.into_iter().flat_map(|changes| changes.keys());
    let document_changes = edit.get("documentChanges").and_then(Value::as_array);
    let document_changes = document_changes.into_iter().flatten().flat_map(|change| {
        let document = change.pointer("/textDocument/uri");
        let members = ["uri", "oldUri", "newUri"];
        let members = members.into_iter().map(|name| change.get(name));
        std::iter::once(document).chain(members).flatten()
    });
    let uris = changes
        .map(String::as_str)
        .chain(document_changes.filter_map(Value::as_str));
    let mut paths: Vec<AbsPath> = uris.filter_map(uri_path).take(MAX_EDITED).collect();
    paths.sort();
    paths.dedup();
    paths
}
