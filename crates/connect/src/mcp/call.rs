//! A single request to a server, with its progress, timeouts and cancellation.

use std::sync::Arc;
use std::time::Duration;

use rmcp::Peer;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientNotification, ClientRequest, InputRequests, InputResponses, RequestId, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RoleClient, ServiceError};
use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::answer::McpToolResult;
use super::client_handler::McpClientHandler;
use super::error::{McpError, McpErrorKind};
use crate::child::ChildProcess;

/// Maximum number of requests for input before a server's result.
const ROUNDS: u32 = 10;

/// A call of an MCP tool.
#[derive(Debug)]
pub struct McpToolCall {
    /// The name of the server.
    pub server: String,
    /// The server's own name for the tool.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
    /// The timeouts of the call.
    pub patience: Patience,
    /// Receives progress. Bounded: a slow receiver misses some.
    pub progress: mpsc::Sender<CallProgress>,
    /// Becomes true when the user stops the call.
    pub stop: watch::Receiver<bool>,
}

/// The timeouts of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Maximum time without progress; each progress notification restarts it.
    pub idle: Duration,
    /// Maximum time in total.
    pub total: Duration,
}

/// The progress of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProgress {
    /// The amount of completed work.
    pub done: f64,
    /// The total amount of work, if known.
    pub total: Option<f64>,
    /// A description of the current step.
    pub message: Option<String>,
}

/// An open connection to a server.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) guest: Arc<McpClientHandler>,
    pub(super) child: Option<Arc<ChildProcess>>,
    /// Receives the server's challenge when it requires a sign-in or more scopes.
    pub(super) challenges: mpsc::Sender<String>,
}

/// The options of a request.
pub(super) struct RequestOptions {
    /// The purpose of the request: `the call of read_file`.
    pub(super) what: String,
    pub(super) patience: Patience,
    pub(super) progress: Option<mpsc::Sender<CallProgress>>,
    pub(super) stop: Option<watch::Receiver<bool>>,
}

/// The input for a stateless server that requested it.
#[derive(Clone, Default)]
pub(super) struct Replies {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(120),
            total: Duration::from_secs(30 * 60),
        }
    }
}

impl RequestOptions {
    /// Returns the options of a request that only looks something up.
    pub(super) fn short(what: impl Into<String>) -> Self {
        let idle = Duration::from_secs(30);
        Self {
            what: what.into(),
            patience: Patience { idle, total: idle },
            progress: None,
            stop: None,
        }
    }
}

impl Connection {
    pub(super) async fn call(&self, call: McpToolCall) -> Result<McpToolResult, McpError> {
        let mut terms = RequestOptions {
            what: format!("the call of {}", call.tool),
            patience: call.patience,
            progress: Some(call.progress),
            stop: Some(call.stop),
        };
        let params = CallToolRequestParams::new(call.tool).with_arguments(call.arguments);
        let request = |replies: Replies| {
            let mut params = params.clone();
            params.input_responses = replies.responses;
            params.request_state = replies.state;
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        match self.ask_through(&request, &mut terms).await? {
            ServerResult::CallToolResult(result) => Ok(McpToolResult::new(result)),
            ServerResult::EmptyResult(_) => Ok(McpToolResult::empty()),
            other => Err(self.nonsense(&terms, &other)),
        }
    }

    /// Sends a request, and answers the server's requests for input, until there is a result.
    pub(super) async fn ask_through(
        &self,
        request: &(dyn Fn(Replies) -> ClientRequest + Send + Sync),
        terms: &mut RequestOptions,
    ) -> Result<ServerResult, McpError> {
        let mut replies = Replies::default();
        for round in 0..ROUNDS {
            let wanted = match self.ask(request(replies), terms).await? {
                ServerResult::InputRequiredResult(wanted) => wanted,
                result => return Ok(result),
            };
            let requests = wanted.input_requests.unwrap_or_default();
            if requests.is_empty() {
                // The server only wants a retry: wait with exponential backoff.
                sleep(Duration::from_millis(100 << round)).await;
            }
            replies = Replies {
                responses: self.replies(requests, terms).await?,
                state: wanted.request_state,
            };
        }
        let what = &terms.what;
        let text = format!("{} requested input {ROUNDS} times for {what}", self.name());
        Err(McpError::new(McpErrorKind::Nonsense, text))
    }

    async fn replies(
        &self,
        requests: InputRequests,
        terms: &RequestOptions,
    ) -> Result<Option<InputResponses>, McpError> {
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            let response = self.guest.fulfil(request).await.map_err(|error| {
                let (name, what, why) = (self.name(), &terms.what, error.message);
                let text = format!("{name} wants something for {what} that it does not get: {why}");
                McpError::new(McpErrorKind::Failed, text)
            })?;
            responses.insert(key, response);
        }
        Ok((!responses.is_empty()).then_some(responses))
    }

    /// Sends one request and waits for its response. Dropping the future cancels it on the server.
    pub(super) async fn ask(
        &self,
        request: ClientRequest,
        terms: &mut RequestOptions,
    ) -> Result<ServerResult, McpError> {
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_cancellable_request(request, options).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.failed(terms, error).await),
        };
        let (sender, mut progress) = mpsc::channel(16);
        let token = handle.progress_token.clone();
        self.guest.follow(token.clone(), sender);
        let mut open = InFlightRequest {
            connection: self,
            id: Some(handle.id.clone()),
            token: &token,
        };
        let total = Instant::now() + terms.patience.total;
        let mut idle = Instant::now() + terms.patience.idle;
        loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    open.id = None;
                    while let (Ok(step), Some(to)) = (progress.try_recv(), &terms.progress) {
                        to.try_send(step).ok();
                    }
                    return match answer {
                        Ok(Ok(result)) => Ok(result),
                        Ok(Err(error)) => Err(self.failed(terms, error).await),
                        Err(_) => Err(self.failed(terms, ServiceError::TransportClosed).await),
                    };
                }
                () = stopped(&mut terms.stop) => {
                    let text = format!("{} was asked to stop {}", self.name(), terms.what);
                    return Err(McpError::new(McpErrorKind::Stopped, text));
                }
                Some(step) = progress.recv() => {
                    idle = Instant::now() + terms.patience.idle;
                    if let Some(to) = &terms.progress {
                        to.try_send(step).ok();
                    }
                }
                () = sleep_until(idle.min(total)) => return Err(self.too_late(terms, idle < total)),
            }
        }
    }

    fn too_late(&self, terms: &RequestOptions, was_idle: bool) -> McpError {
        let (name, what) = (self.name(), &terms.what);
        let text = if was_idle {
            let seconds = terms.patience.idle.as_secs();
            format!("{name} made no progress for {seconds} s during {what}")
        } else {
            let seconds = terms.patience.total.as_secs();
            format!("{name} needed more than {seconds} s for {what}")
        };
        McpError::new(McpErrorKind::Timeout, text)
    }

    pub(super) async fn failed(&self, terms: &RequestOptions, error: ServiceError) -> McpError {
        let server = &self.guest.server;
        let (name, what) = (self.name(), &terms.what);
        match error {
            ServiceError::McpError(error) => McpError::answered(server, what, &error),
            ServiceError::Timeout { .. } => self.too_late(terms, false),
            ServiceError::Cancelled { reason } => {
                let why = reason.unwrap_or_else(|| "no reason".to_owned());
                let text = format!("{name} gave up {what}: {why}");
                McpError::new(McpErrorKind::Failed, text)
            }
            ServiceError::UnexpectedResponse => {
                let text = format!("{name} answered {what} with an invalid response");
                McpError::new(McpErrorKind::Nonsense, text)
            }
            other => {
                if let Some(challenge) = challenge(&other) {
                    // A challenge that is already queued is sufficient.
                    self.challenges.try_send(challenge).ok();
                    let text = format!(
                        "{name} requires the user to sign in, or to grant more scopes, for {what}"
                    );
                    return McpError::new(McpErrorKind::NeedsPerson, text);
                }
                let text = match &self.child {
                    Some(child) => child.exit_summary(&name).await,
                    None => format!("{name} cannot be reached: {}", causes(&other)),
                };
                McpError::new(McpErrorKind::Gone, format!("{text} (during {what})"))
            }
        }
    }

    pub(super) fn nonsense(&self, terms: &RequestOptions, result: &ServerResult) -> McpError {
        let found = serde_json::to_string(result).unwrap_or_default();
        let (name, what) = (self.name(), &terms.what);
        let found = crate::framing::excerpt(&found);
        let text = format!("{name} answered {what} with something else: {found}");
        McpError::new(McpErrorKind::Nonsense, text)
    }

    pub(super) fn name(&self) -> String {
        format!("The server \"{}\"", self.guest.server)
    }
}

/// A request in flight. Dropping it sends a cancellation to the server.
struct InFlightRequest<'a> {
    connection: &'a Connection,
    id: Option<RequestId>,
    token: &'a rmcp::model::ProgressToken,
}

impl Drop for InFlightRequest<'_> {
    fn drop(&mut self) {
        self.connection.guest.unfollow(self.token);
        let Some(id) = self.id.take() else {
            return;
        };
        let params = CancelledNotificationParam::new(Some(id), Some("no longer needed".to_owned()));
        let notice = ClientNotification::from(CancelledNotification::new(params));
        let peer = self.connection.peer.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { peer.send_notification(notice).await });
        }
    }
}

/// Waits for the stop signal; forever if there is no sender.
async fn stopped(stop: &mut Option<watch::Receiver<bool>>) {
    if let Some(stop) = stop
        && stop.wait_for(|stop| *stop).await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// Returns the server's challenge if a missing sign-in caused the error.
fn challenge(error: &ServiceError) -> Option<String> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = match error {
        ServiceError::TransportSend(error) => Some(error.error.as_ref()),
        other => Some(other),
    };
    while let Some(cause) = next {
        if let Some(wanted) = cause.downcast_ref::<AuthRequiredError>() {
            return Some(wanted.www_authenticate_header.clone());
        }
        if let Some(wanted) = cause.downcast_ref::<InsufficientScopeError>() {
            return Some(wanted.www_authenticate_header.clone());
        }
        next = cause.source();
    }
    None
}

/// Formats an error with its causes, without repetition.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        next = cause.source();
    }
    text
}
