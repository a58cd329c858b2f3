//! One request to a server: its progress, its patience, its end.

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

use super::answer::ForeignAnswer;
use super::error::{ForeignClass, ForeignError};
use super::guest::Guest;
use crate::child::Child;

/// How often a server may ask back before it answers.
const ROUNDS: u32 = 10;

/// A call of a tool.
#[derive(Debug)]
pub struct ForeignCall {
    /// The server.
    pub server: String,
    /// The server's own name for the tool.
    pub tool: String,
    /// What it is given.
    pub arguments: Map<String, Value>,
    /// How long it may take.
    pub patience: Patience,
    /// Where its progress is told. Bounded: who does not keep up misses some.
    pub progress: mpsc::Sender<Progress>,
    /// Becomes true when the person wants it to stop.
    pub stop: watch::Receiver<bool>,
}

/// How long a request may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Without a sign of life; each notice of progress begins it anew.
    pub idle: Duration,
    /// In all.
    pub total: Duration,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub done: f64,
    /// Of how much, where that is known.
    pub total: Option<f64>,
    /// What it does now.
    pub message: Option<String>,
}

/// A connection that is up.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) guest: Arc<Guest>,
    pub(super) child: Option<Arc<Child>>,
    /// Where it is told that the server wants the person to sign in, or to allow more than they did: its own words.
    pub(super) challenges: mpsc::Sender<String>,
}

/// What a request is bound to beside its content.
pub(super) struct Terms {
    /// What it is for: `the call of read_file`.
    pub(super) what: String,
    pub(super) patience: Patience,
    pub(super) progress: Option<mpsc::Sender<Progress>>,
    pub(super) stop: Option<watch::Receiver<bool>>,
}

/// What a stateless server is given when it asked back.
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

impl Terms {
    /// For a request that only looks something up.
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
    pub(super) async fn call(&self, call: ForeignCall) -> Result<ForeignAnswer, ForeignError> {
        let mut terms = Terms {
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
            ServerResult::CallToolResult(result) => Ok(ForeignAnswer::new(result)),
            ServerResult::EmptyResult(_) => Ok(ForeignAnswer::empty()),
            other => Err(self.nonsense(&terms, &other)),
        }
    }

    /// Asks, and answers what the server asks back, until there is a result.
    pub(super) async fn ask_through(
        &self,
        request: &(dyn Fn(Replies) -> ClientRequest + Send + Sync),
        terms: &mut Terms,
    ) -> Result<ServerResult, ForeignError> {
        let mut replies = Replies::default();
        for round in 0..ROUNDS {
            let wanted = match self.ask(request(replies), terms).await? {
                ServerResult::InputRequiredResult(wanted) => wanted,
                result => return Ok(result),
            };
            let requests = wanted.input_requests.unwrap_or_default();
            if requests.is_empty() {
                // It only wants to be asked again: not at once, and ever less often.
                sleep(Duration::from_millis(100 << round)).await;
            }
            replies = Replies {
                responses: self.replies(requests, terms).await?,
                state: wanted.request_state,
            };
        }
        let what = &terms.what;
        let text = format!("{} asked back {ROUNDS} times about {what}", self.name());
        Err(ForeignError::new(ForeignClass::Nonsense, text))
    }

    async fn replies(
        &self,
        requests: InputRequests,
        terms: &Terms,
    ) -> Result<Option<InputResponses>, ForeignError> {
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            let response = self.guest.fulfil(request).await.map_err(|error| {
                let (name, what, why) = (self.name(), &terms.what, error.message);
                let text = format!("{name} wants something for {what} that it does not get: {why}");
                ForeignError::new(ForeignClass::Failed, text)
            })?;
            responses.insert(key, response);
        }
        Ok((!responses.is_empty()).then_some(responses))
    }

    /// Sends one request and waits for its answer. Dropping the future tells the server to give it up.
    pub(super) async fn ask(
        &self,
        request: ClientRequest,
        terms: &mut Terms,
    ) -> Result<ServerResult, ForeignError> {
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_cancellable_request(request, options).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.failed(terms, error).await),
        };
        let (sender, mut progress) = mpsc::channel(16);
        let token = handle.progress_token.clone();
        self.guest.follow(token.clone(), sender);
        let mut open = Open {
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
                    let text = format!("{} was told to stop {}", self.name(), terms.what);
                    return Err(ForeignError::new(ForeignClass::Stopped, text));
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

    fn too_late(&self, terms: &Terms, was_idle: bool) -> ForeignError {
        let (name, what) = (self.name(), &terms.what);
        let text = match was_idle {
            true => {
                let seconds = terms.patience.idle.as_secs();
                format!("{name} gave no sign of life for {seconds} s during {what}")
            }
            false => {
                let seconds = terms.patience.total.as_secs();
                format!("{name} needed more than {seconds} s for {what}")
            }
        };
        ForeignError::new(ForeignClass::Timeout, text)
    }

    pub(super) async fn failed(&self, terms: &Terms, error: ServiceError) -> ForeignError {
        let server = &self.guest.server;
        let (name, what) = (self.name(), &terms.what);
        match error {
            ServiceError::McpError(error) => ForeignError::answered(server, what, &error),
            ServiceError::Timeout { .. } => self.too_late(terms, false),
            ServiceError::Cancelled { reason } => {
                let why = reason.unwrap_or_else(|| "no reason".to_owned());
                let text = format!("{name} gave up {what}: {why}");
                ForeignError::new(ForeignClass::Failed, text)
            }
            ServiceError::UnexpectedResponse => {
                let text = format!("{name} answered {what} with something that makes no sense");
                ForeignError::new(ForeignClass::Nonsense, text)
            }
            other => {
                if let Some(challenge) = challenge(&other) {
                    // One that waits already says as much.
                    self.challenges.try_send(challenge).ok();
                    let text = format!(
                        "{name} wants the person to sign in, or to allow more than they did, for {what}"
                    );
                    return ForeignError::new(ForeignClass::NeedsPerson, text);
                }
                let text = match &self.child {
                    Some(child) => child.obituary(&name).await,
                    None => format!("{name} cannot be reached: {}", causes(&other)),
                };
                ForeignError::new(ForeignClass::Gone, format!("{text} (during {what})"))
            }
        }
    }

    pub(super) fn nonsense(&self, terms: &Terms, result: &ServerResult) -> ForeignError {
        let found = serde_json::to_string(result).unwrap_or_default();
        let (name, what) = (self.name(), &terms.what);
        let found = crate::lines::excerpt(&found);
        let text = format!("{name} answered {what} with something else: {found}");
        ForeignError::new(ForeignClass::Nonsense, text)
    }

    pub(super) fn name(&self) -> String {
        format!("The server \"{}\"", self.guest.server)
    }
}

/// A request without its answer: when it is dropped, the server is told that nobody waits any more.
struct Open<'a> {
    connection: &'a Connection,
    id: Option<RequestId>,
    token: &'a rmcp::model::ProgressToken,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.connection.guest.unfollow(self.token);
        let Some(id) = self.id.take() else {
            return;
        };
        let params = CancelledNotificationParam::new(Some(id), Some("nobody waits".to_owned()));
        let notice = ClientNotification::from(CancelledNotification::new(params));
        let peer = self.connection.peer.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { peer.send_notification(notice).await });
        }
    }
}

/// Waits until it is to stop; for ever where nobody can say so.
async fn stopped(stop: &mut Option<watch::Receiver<bool>>) {
    if let Some(stop) = stop
        && stop.wait_for(|stop| *stop).await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// What a server said of signing in, where that is why it did not answer.
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

/// An error with what lies beneath it, without saying anything twice.
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
