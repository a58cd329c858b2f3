//! Requests of a server to the client: roots, forms and pages; never model requests.

#![expect(
    deprecated,
    reason = "servers still ask for roots and send logs, though the protocol is about to drop both"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::AbsPath;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode,
    ErrorData, FormElicitationCapability, Implementation, InputRequest, ListRootsResult,
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, Root, RootsCapabilities, ServerNotification, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::Value;
use tokio::sync::{broadcast, mpsc};

use super::event::{CallProgress, McpEvent};
use super::form::{ElicitationForm, Filled};
use super::user::{BrowserPage, McpUser};

/// A list that has changed on the server and has to be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListChange {
    Tools,
    Resources,
    Prompts,
}

/// The client side of a connection to one server.
pub(super) struct McpClientHandler {
    pub(super) server: String,
    pub(super) roots: Vec<AbsPath>,
    pub(super) user: Arc<dyn McpUser>,
    pub(super) events: broadcast::Sender<McpEvent>,
    /// Bounded: notices of a flooding server are dropped, but one of each kind is always queued.
    pub(super) changed: mpsc::Sender<ListChange>,
    /// Receivers of progress, by token.
    pub(super) followed: Mutex<HashMap<ProgressToken, mpsc::Sender<CallProgress>>>,
}

impl McpClientHandler {
    /// Registers `to` for the progress of a request.
    pub(super) fn follow(&self, token: ProgressToken, to: mpsc::Sender<CallProgress>) {
        self.followed().insert(token, to);
    }

    /// Ends the registration for the progress of a request.
    pub(super) fn unfollow(&self, token: &ProgressToken) {
        self.followed().remove(token);
    }

    fn followed(
        &self,
    ) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<CallProgress>>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a stateless server's request for input.
    pub(super) async fn fulfil(&self, request: InputRequest) -> Result<Value, ErrorData> {
        let value = match request {
            InputRequest::Elicitation(request) => {
                serde_json::to_value(self.elicit(request.params).await)
            }
            InputRequest::ListRoots(_) => serde_json::to_value(self.list()),
            InputRequest::CreateMessage(_) => return Err(no_sampling()),
            _ => return Err(ErrorData::invalid_request("unknown kind of request", None)),
        };
        value.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn elicit(&self, request: ElicitRequestParams) -> ElicitResult {
        match request {
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } => {
                let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                let form = ElicitationForm::new(message, &schema);
                match self.user.fill(&self.server, form.clone()).await {
                    Filled::Accepted(values) => {
                        let values = Value::Object(form.complete(values));
                        ElicitResult::new(ElicitationAction::Accept).with_content(values)
                    }
                    Filled::Declined => ElicitResult::new(ElicitationAction::Decline),
                    Filled::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
                }
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                let page = BrowserPage {
                    server: self.server.clone(),
                    url,
                    why: message,
                };
                let action = if self.user.open(page).await {
                    ElicitationAction::Accept
                } else {
                    ElicitationAction::Decline
                };
                ElicitResult::new(action)
            }
            _ => ElicitResult::new(ElicitationAction::Decline),
        }
    }

    fn list(&self) -> ListRootsResult {
        let root = |path: &AbsPath| Root::new(file_url(path)).with_name(path.name());
        ListRootsResult::new(self.roots.iter().map(root).collect())
    }

    fn note_change(&self, changed: ListChange) {
        // A full channel already contains this notice or an equivalent one.
        self.changed.try_send(changed).ok();
    }

    /// Handles a notification of a subscription: notes which list has changed. Ignores other
    /// notifications.
    pub(super) fn notified(&self, notice: &ServerNotification) {
        match notice {
            ServerNotification::ToolListChangedNotification(_) => {
                self.note_change(ListChange::Tools)
            }
            ServerNotification::ResourceListChangedNotification(_) => {
                self.note_change(ListChange::Resources);
            }
            ServerNotification::PromptListChangedNotification(_) => {
                self.note_change(ListChange::Prompts)
            }
            _ => {}
        }
    }
}

impl ClientHandler for McpClientHandler {
    fn get_info(&self) -> ClientConfig {
        let mut roots = RootsCapabilities::default();
        roots.list_changed = Some(false);
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(roots);
        capabilities.elicitation = Some(elicitation);
        let program = Implementation::new("burin", env!("CARGO_PKG_VERSION")).with_title("Burin");
        // The newest version with `initialize`; versions without it are requested explicitly.
        ClientConfig::new(capabilities, program)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(no_sampling())
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(self.list())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.elicit(request).await)
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let follower = self.followed().get(&progress.progress_token).cloned();
        if let Some(follower) = follower {
            let progress = CallProgress {
                done: progress.progress,
                total: progress.total,
                message: progress.message,
            };
            // A slow receiver misses some progress.
            follower.try_send(progress).ok();
        }
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let text = match message.data {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let is_error_message = !matches!(
            message.level,
            LoggingLevel::Debug | LoggingLevel::Info | LoggingLevel::Notice
        );
        let event = McpEvent::Message {
            server: self.server.clone(),
            is_error_message,
            text,
        };
        // There may be no receivers.
        self.events.send(event).ok();
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note_change(ListChange::Tools);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note_change(ListChange::Resources);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note_change(ListChange::Prompts);
    }
}

fn no_sampling() -> ErrorData {
    let text = "Burin does not let servers ask models";
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None)
}

/// Returns the URL of a folder; other than plain characters are escaped byte by byte.
fn file_url(path: &AbsPath) -> String {
    let mut url = "file://".to_owned();
    for byte in path.as_path().as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(char::from(*byte));
            }
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_an_address() {
        let check = |path: &str, url: &str| {
            assert_eq!(file_url(&AbsPath::new(path).expect("absolute")), url);
        };
        check("/home/ada/my work", "file:///home/ada/my%20work");
        check("/ü#?", "file:///%C3%BC%23%3F");
    }
}
