//! What a server may ask of us: the roots, a form, a page; never a model.

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

use super::call::Progress;
use super::form::{Filled, Form};
use super::people::{Page, Person};
use super::server::Event;

/// What a server tells has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    Tools,
    Resources,
    Prompts,
}

/// Our side of a connection to one server.
pub(super) struct Guest {
    pub(super) server: String,
    pub(super) roots: Vec<AbsPath>,
    pub(super) person: Arc<dyn Person>,
    pub(super) events: broadcast::Sender<Event>,
    /// Bounded: a server that floods it loses notices, but one of each kind is always still there to be read.
    pub(super) changed: mpsc::Sender<Changed>,
    /// Calls that want to hear of their progress.
    pub(super) followed: Mutex<HashMap<ProgressToken, mpsc::Sender<Progress>>>,
}

impl Guest {
    /// Lets `to` hear of the progress of a request.
    pub(super) fn follow(&self, token: ProgressToken, to: mpsc::Sender<Progress>) {
        self.followed().insert(token, to);
    }

    pub(super) fn unfollow(&self, token: &ProgressToken) {
        self.followed().remove(token);
    }

    fn followed(
        &self,
    ) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<Progress>>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers what a stateless server wants to know before it goes on.
    pub(super) async fn fulfil(&self, request: InputRequest) -> Result<Value, ErrorData> {
        let value = match request {
            InputRequest::Elicitation(request) => {
                serde_json::to_value(self.elicit(request.params).await)
            }
            InputRequest::ListRoots(_) => serde_json::to_value(self.list()),
            InputRequest::CreateMessage(_) => return Err(no_sampling()),
            _ => return Err(ErrorData::invalid_request("not known here", None)),
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
                let form = Form::new(message, &schema);
                match self.person.fill(&self.server, form.clone()).await {
                    Filled::Accepted(values) => {
                        let values = Value::Object(form.complete(values));
                        ElicitResult::new(ElicitationAction::Accept).with_content(values)
                    }
                    Filled::Declined => ElicitResult::new(ElicitationAction::Decline),
                    Filled::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
                }
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                let page = Page {
                    server: self.server.clone(),
                    url,
                    why: message,
                };
                let action = match self.person.open(page).await {
                    true => ElicitationAction::Accept,
                    false => ElicitationAction::Decline,
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

    fn heard(&self, changed: Changed) {
        // A full channel holds this notice or one that asks for the same.
        self.changed.try_send(changed).ok();
    }

    /// A notice that came by way of a subscription.
    pub(super) fn notified(&self, notice: &ServerNotification) {
        match notice {
            ServerNotification::ToolListChangedNotification(_) => self.heard(Changed::Tools),
            ServerNotification::ResourceListChangedNotification(_) => {
                self.heard(Changed::Resources);
            }
            ServerNotification::PromptListChangedNotification(_) => self.heard(Changed::Prompts),
            _ => {}
        }
    }
}

impl ClientHandler for Guest {
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
        // The newest version that begins with `initialize`; those without are asked for by name.
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
            let progress = Progress {
                done: progress.progress,
                total: progress.total,
                message: progress.message,
            };
            // Who does not keep up misses some.
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
        let is_complaint = !matches!(
            message.level,
            LoggingLevel::Debug | LoggingLevel::Info | LoggingLevel::Notice
        );
        let said = Event::Said {
            server: self.server.clone(),
            is_complaint,
            text,
        };
        // Nobody may be listening.
        self.events.send(said).ok();
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard(Changed::Tools);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard(Changed::Resources);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard(Changed::Prompts);
    }
}

fn no_sampling() -> ErrorData {
    let text = "Burin does not let servers ask models";
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None)
}

/// The address of a folder: what is not a plain letter is escaped byte by byte.
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
