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
use super::error::{McpError, McpErrorKind, causes};
use super::event::CallProgress;
use crate::child::ChildProcess;

/// Maximum number of requests for input before a server's result.
const MAX_INPUT_ROUNDS: u32 = 10;

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
    pub timeouts: RequestTimeouts,
    /// Receives progress. Bounded: a slow receiver misses some.
    pub progress: mpsc::Sender<CallProgress>,
    /// Becomes true when the user stops the call.
    pub stop: watch::Receiver<bool>,
}

/// The timeouts of a request, which start when the request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTimeouts {
    /// Maximum time without progress; each progress notification restarts it.
    pub idle: Duration,
    /// Maximum time in total.
    pub total: Duration,
}

/// An open connection to a server.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) handler: Arc<McpClientHandler>,
    pub(super) child: Option<Arc<ChildProcess>>,
    /// Receives the server's challenge when it requires a sign-in or more scopes.
    pub(super) challenges: mpsc::Sender<String>,
}

/// The options of a request.
pub(super) struct RequestOptions {
    /// The purpose of the request, as a noun phrase: `the call of read_file`.
    pub(super) purpose: String,
    pub(super) timeouts: RequestTimeouts,
    pub(super) progress: Option<mpsc::Sender<CallProgress>>,
    pub(super) stop: Option<watch::Receiver<bool>>,
}

/// The input for a stateless server that requested it.
#[derive(Clone, Default)]
pub(super) struct Replies {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

impl Default for RequestTimeouts {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(120),
            total: Duration::from_secs(30 * 60),
        }
    }
}

impl RequestOptions {
    /// Returns the options of a request that only looks something up.
    pub(super) fn short(purpose: impl Into<String>) -> Self {
        let idle = Duration::from_secs(30);
        Self {
            purpose: purpose.into(),
            timeouts: RequestTimeouts { idle, total: idle },
            progress: None,
            stop: None,
        }
    }
}

impl Connection {
    /// Calls a tool and waits for its result. Fails on a timeout, a stop or a lost connection. On a
    /// timeout or a stop, the server receives a cancellation.
    pub(super) async fn call(&self, call: McpToolCall) -> Result<McpToolResult, McpError> {
        let mut options = RequestOptions {
            purpose: format!("the call of {}", call.tool),
            timeouts: call.timeouts,
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
        match self.ask_through(&request, &mut options).await? {
            ServerResult::CallToolResult(result) => Ok(McpToolResult::new(result)),
            ServerResult::EmptyResult(_) => Ok(McpToolResult::empty()),
            other => Err(self.invalid_response(&options, &other)),
        }
    }

    /// Sends a request, and answers the server's requests for input, until there is a result.
    /// `request` builds the request for each round. Fails after too many rounds.
    pub(super) async fn ask_through(
        &self,
        request: &(dyn Fn(Replies) -> ClientRequest + Send + Sync),
        options: &mut RequestOptions,
    ) -> Result<ServerResult, McpError> {
        let mut replies = Replies::default();
        for round in 0..MAX_INPUT_ROUNDS {
            let required = match self.ask(request(replies), options).await? {
                ServerResult::InputRequiredResult(required) => required,
                result => return Ok(result),
            };
            let requests = required.input_requests.unwrap_or_default();
            if requests.is_empty() {
                // The server only wants a retry: wait with exponential backoff.
                sleep(Duration::from_millis(100 << round)).await;
            }
            replies = Replies {
                responses: self.replies(requests, options).await?,
                state: required.request_state,
            };
        }
        let purpose = &options.purpose;
        let text = format!(
            "{} requested input {MAX_INPUT_ROUNDS} times for {purpose}",
            self.name()
        );
        Err(McpError::new(McpErrorKind::InvalidResponse, text))
    }

    /// Answers the server's requests for input, one after the other; `None` if there are none.
    /// Fails if one cannot be answered.
    async fn replies(
        &self,
        requests: InputRequests,
        options: &RequestOptions,
    ) -> Result<Option<InputResponses>, McpError> {
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            let response = self.handler.fulfil(request).await.map_err(|error| {
                let (name, purpose, why) = (self.name(), &options.purpose, error.message);
                let text =
                    format!("{name} requested input for {purpose} that it cannot get: {why}");
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
        options: &mut RequestOptions,
    ) -> Result<ServerResult, McpError> {
        let peer_options = PeerRequestOptions::no_options();
        let sent = self
            .peer
            .send_cancellable_request(request, peer_options)
            .await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.failed(options, error).await),
        };
        let (sender, mut progress) = mpsc::channel(16);
        let token = handle.progress_token.clone();
        self.handler.follow(token.clone(), sender);
        let mut in_flight = InFlightRequest {
            connection: self,
            id: Some(handle.id.clone()),
            token: &token,
        };
        let total = Instant::now() + options.timeouts.total;
        let mut idle = Instant::now() + options.timeouts.idle;
        loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    in_flight.id = None;
                    while let (Ok(step), Some(to)) = (progress.try_recv(), &options.progress) {
                        to.try_send(step).ok();
                    }
                    return match answer {
                        Ok(Ok(result)) => Ok(result),
                        Ok(Err(error)) => Err(self.failed(options, error).await),
                        Err(_) => Err(self.failed(options, ServiceError::TransportClosed).await),
                    };
                }
                () = stopped(&mut options.stop) => {
                    let text = format!("{} was stopped during {}", self.name(), options.purpose);
                    return Err(McpError::new(McpErrorKind::Stopped, text));
                }
                Some(step) = progress.recv() => {
                    idle = Instant::now() + options.timeouts.idle;
                    if let Some(to) = &options.progress {
                        to.try_send(step).ok();
                    }
                }
                () = sleep_until(idle.min(total)) => return Err(self.timed_out(options, idle < total)),
            }
        }
    }

    fn timed_out(&self, options: &RequestOptions, was_idle: bool) -> McpError {
        let (name, purpose) = (self.name(), &options.purpose);
        let text = if was_idle {
            let seconds = options.timeouts.idle.as_secs();
            format!("{name} made no progress for {seconds} s during {purpose}")
        } else {
            let seconds = options.timeouts.total.as_secs();
            format!("{name} needed more than {seconds} s for {purpose}")
        };
        McpError::new(McpErrorKind::Timeout, text)
    }

    /// Converts the failure of a request to an error that names server and purpose.
    pub(super) async fn failed(&self, options: &RequestOptions, error: ServiceError) -> McpError {
        let server = &self.handler.server;
        let (name, purpose) = (self.name(), &options.purpose);
        match error {
            ServiceError::McpError(error) => McpError::answered(server, purpose, &error),
            ServiceError::Timeout { .. } => self.timed_out(options, false),
            ServiceError::Cancelled { reason } => {
                let why = reason.unwrap_or_else(|| "no reason".to_owned());
                let text = format!("{name} gave up {purpose}: {why}");
                McpError::new(McpErrorKind::Failed, text)
            }
            ServiceError::UnexpectedResponse => {
                let text = format!("{name} answered {purpose} with an invalid response");
                McpError::new(McpErrorKind::InvalidResponse, text)
            }
            other => {
                if let Some(challenge) = challenge(&other) {
                    // A challenge that is already queued is sufficient.
                    self.challenges.try_send(challenge).ok();
                    let text = format!(
                        "{name} requires the user to sign in, or to grant more scopes, for {purpose}"
                    );
                    return McpError::new(McpErrorKind::NeedsUser, text);
                }
                let text = match &self.child {
                    Some(child) => child.exit_summary(&name).await,
                    None => format!("{name} cannot be reached: {}", causes(&other)),
                };
                McpError::new(
                    McpErrorKind::Disconnected,
                    format!("{text} (during {purpose})"),
                )
            }
        }
    }

    /// Returns the error for a response of the wrong kind.
    pub(super) fn invalid_response(
        &self,
        options: &RequestOptions,
        result: &ServerResult,
    ) -> McpError {
        let found = serde_json::to_string(result).unwrap_or_default();
        let (name, purpose) = (self.name(), &options.purpose);
        let found = crate::framing::excerpt(&found);
        let text = format!("{name} answered {purpose} with something else: {found}");
        McpError::new(McpErrorKind::InvalidResponse, text)
    }

    /// Returns the server as the subject of a sentence: `The server "files"`.
    pub(super) fn name(&self) -> String {
        format!("The server \"{}\"", self.handler.server)
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
        self.connection.handler.unfollow(self.token);
        let Some(id) = self.id.take() else {
            return;
        };
        let params = CancelledNotificationParam::new(
            Some(id),
            Some("the caller no longer waits".to_owned()),
        );
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
        if let Some(required) = cause.downcast_ref::<AuthRequiredError>() {
            return Some(required.www_authenticate_header.clone());
        }
        if let Some(required) = cause.downcast_ref::<InsufficientScopeError>() {
            return Some(required.www_authenticate_header.clone());
        }
        next = cause.source();
    }
    None
}
