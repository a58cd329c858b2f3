//! The server: a thread that answers requests according to the script.

#[cfg(test)]
mod tests;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::{Duration, SystemTime},
};

use axum::{
    body::{Body, to_bytes},
    extract::{ConnectInfo, State},
    http::{HeaderMap, Request, Response},
};
use serde_json::Value;
use tokio::{net::TcpListener, sync::oneshot, time::Instant};

use crate::{
    api_error::{ApiError, ApiErrorKind},
    body::{self, Ticks},
    engine::{PacedReply, ScriptEngine},
    frames::{Frames, StreamEnding, StreamPlan},
    request::PromptRequest,
    request_log::{LoggedRequest, RequestLog, ResponseWatch, lock},
    rng::{self, Rng},
    script::{Script, ScriptedFault},
    socket::{BreakableListener, ResetFlag},
    tokens,
    wire::{ApiEndpoint, ErrorReply, Incoming},
    wire_format::WireFormat,
};

/// Maximum size of a request body, in bytes.
const MAX_BODY_LEN: usize = 64 << 20;

/// A scripted server on loopback that speaks the protocols of all providers, for tests. Dropping
/// this value stops the server and closes every connection.
#[derive(Debug)]
pub struct MockServer {
    address: SocketAddr,
    shared: MockServerState,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The state that the handlers share.
#[derive(Clone, Debug)]
struct MockServerState {
    engine: Arc<Mutex<ScriptEngine>>,
    log: RequestLog,
}

impl MockServer {
    /// Starts a server on a free port of loopback, on its own thread. An error means that no port
    /// could be opened.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_at(script, 0)
    }

    /// Starts a server on this port of loopback, on its own thread. Port 0 means any free port. An
    /// error means that the port could not be opened.
    pub fn start_at(script: Script, port: u16) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        // A runtime of its own: clients may pause their clock or block their thread, and when it is
        // dropped, so is every connection.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let shared = MockServerState {
            engine: Arc::new(Mutex::new(ScriptEngine::new(script))),
            log: RequestLog::new(),
        };
        let (stop, stopped) = oneshot::channel();
        let handlers = shared.clone();
        let thread = std::thread::Builder::new()
            .name("mockllm".to_owned())
            .spawn(move || runtime.block_on(serve(listener, handlers, stopped)))?;
        Ok(Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the server's base URL, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns copies of the requests since the log was last cleared, in order of arrival.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.shared.log.entries()
    }

    /// Clears the log of requests. The attempts that the script has counted are kept.
    pub fn forget(&self) {
        self.shared.log.clear();
    }

    /// Waits until `test` returns true for the requests so far; forever if it never does.
    pub async fn wait_until(&self, mut test: impl FnMut(&[LoggedRequest]) -> bool) {
        let mut changes = self.shared.log.watch();
        loop {
            changes.mark_unchanged();
            if test(&self.requests()) || changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Replaces the script. Running answers continue unchanged; attempts are counted from zero.
    pub fn replace(&self, script: Script) {
        lock(&self.shared.engine).replace(script);
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the server thread has already been printed.
            thread.join().ok();
        }
    }
}

async fn serve(
    listener: std::net::TcpListener,
    shared: MockServerState,
    stopped: oneshot::Receiver<()>,
) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        // Only without a runtime, and this runs in one: nothing is served, and clients see it.
        Err(_) => return,
    };
    let service = axum::Router::new()
        .fallback(answer)
        .with_state(shared)
        .into_make_service_with_connect_info::<ResetFlag>();
    tokio::select! {
        _ = axum::serve(BreakableListener(listener), service) => {}
        _ = stopped => {}
    }
}

async fn answer(
    State(shared): State<MockServerState>,
    ConnectInfo(reset): ConnectInfo<ResetFlag>,
    request: Request<Body>,
) -> Response<Body> {
    let start = Instant::now();
    let (parts, body) = request.into_parts();
    let headers = headers_of(&parts.headers);
    let (bytes, problem) = match to_bytes(body, MAX_BODY_LEN)
        .await
        .map(|bytes| decode(&headers, &bytes))
    {
        Ok(Ok(bytes)) => (bytes, None),
        Ok(Err(problem)) => (Vec::new(), Some(problem)),
        Err(_) => (Vec::new(), Some(ApiError::new(ApiErrorKind::TooLarge))),
    };
    let method = parts.method.as_str();
    let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
    let watch = shared.log.open(LoggedRequest {
        at: start.saturating_duration_since(shared.log.started()),
        method: method.to_owned(),
        path: parts.uri.to_string(),
        headers: headers.clone(),
        body: bytes.clone(),
        rule: None,
        status: 0,
        end: None,
    });
    let endpoint = ApiEndpoint::of(method, path, &headers);
    let script = lock(&shared.engine).script();
    let exchange = ServedExchange {
        shared,
        watch,
        reset,
        start,
    };
    if let Some(description) = endpoint.description(&script) {
        return exchange.json(200, &description);
    }
    let (ApiEndpoint::Answer(wire) | ApiEndpoint::CountTokens(wire)) = endpoint else {
        let problem = format!("there is nothing at {method} {path}");
        return exchange.refuse(
            WireFormat::Chat,
            ApiError {
                message: Some(problem),
                ..ApiError::new(ApiErrorKind::NotFound)
            },
            "",
        );
    };
    let body: Result<Value, ApiError> = match problem {
        Some(problem) => Err(problem),
        None => serde_json::from_slice(&bytes)
            .map_err(|error| ApiError::invalid(format!("the body is not JSON: {error}"))),
    };
    let request = body.and_then(|body| {
        let incoming = Incoming {
            path,
            query,
            headers: &headers,
            body: &body,
        };
        exchange.read(wire, &incoming, script.strict)
    });
    match (request, endpoint) {
        (Err(error), _) => exchange.refuse(wire, error, ""),
        (Ok(request), ApiEndpoint::CountTokens(_)) => {
            let count = tokens::of_bytes(request.prompt_bytes());
            exchange.json(200, &wire.token_count(count))
        }
        (Ok(request), _) => exchange.answer(request).await,
    }
}

/// One request and its response in progress.
struct ServedExchange {
    shared: MockServerState,
    watch: ResponseWatch,
    reset: ResetFlag,
    start: Instant,
}

impl ServedExchange {
    fn read(
        &self,
        wire: WireFormat,
        incoming: &Incoming,
        is_strict: bool,
    ) -> Result<PromptRequest, ApiError> {
        let engine = lock(&self.shared.engine);
        let is_signed = |signature: &str| engine.has_signed(signature);
        wire.read(incoming, is_strict.then_some(&is_signed))
    }

    async fn answer(self, request: PromptRequest) -> Response<Body> {
        let decision = lock(&self.shared.engine).decide(&request, self.start);
        let wire = request.wire;
        let headers = wire.limit_headers(decision.limit_headers, time_of_day());
        let rule = decision.rule;
        match decision.outcome {
            Err(error) => {
                let mut response = self.error_response(wire, error, &request.model, rule);
                attach(&mut response, &headers);
                response
            }
            Ok(reply) => {
                if let Some(ScriptedFault::SlowFirstByte { ms }) =
                    reply.fault.as_ref().map(|seeded| &seeded.fault)
                {
                    tokio::time::sleep(Duration::from_millis(*ms)).await;
                }
                let mut response = self.reply(&request, reply, rule);
                attach(&mut response, &headers);
                response
            }
        }
    }

    fn reply(
        self,
        request: &PromptRequest,
        mut reply: PacedReply,
        rule: Option<String>,
    ) -> Response<Body> {
        let wire = request.wire;
        if let Some(seeded) = &reply.fault {
            seeded.fault.corrupt_reply(&mut reply.answer, request);
        }
        let answer = &reply.answer;
        let mut frames = Frames::new(answer.rng.clone(), reply.pace);
        if request.stream {
            wire.stream(request, answer, &mut frames);
        } else {
            let whole = wire.full_body(request, answer, &mut frames);
            // All of it is written before any of it is sent.
            frames.raw(whole.to_string().into_bytes(), answer.usage.generated());
        }
        let plan = StreamPlan::new(
            frames.finish(),
            reply.pace,
            reply.first_byte,
            reply.fault.as_ref(),
            wire.error_event(answer),
        );
        self.watch.answered(200, rule);
        let mut response = Response::builder()
            .status(200)
            .header("content-type", wire.content_type(request));
        if let Some(name) = wire.request_id_header() {
            response = response.header(name, format!("req_{}", answer.id));
        }
        if plan.chunks.is_empty() && plan.ending == StreamEnding::Reset {
            self.reset.reset();
        }
        let ticks = Ticks {
            origin: self.shared.log.started(),
            length: Duration::from_millis(reply.pace.tick_ms),
        };
        let start = Instant::now();
        let body = body::send(plan, start, ticks, self.watch, self.reset);
        built(response.body(Body::from_stream(body)))
    }

    fn error_response(
        self,
        wire: WireFormat,
        error: ApiError,
        model: &str,
        rule: Option<String>,
    ) -> Response<Body> {
        let id = Rng::of(&[rng::hash(model.as_bytes())]).random_id(24);
        let request_id = format!("req_{id}");
        let ErrorReply {
            status,
            headers,
            content_type,
            body,
        } = wire.refuse(&error, model, &request_id);
        self.watch.answered(status, rule);
        let mut response = Response::builder()
            .status(status)
            .header("content-type", content_type);
        if let Some(name) = wire.request_id_header() {
            response = response.header(name, request_id);
        }
        for (name, value) in &headers {
            response = response.header(name, value);
        }
        self.full_response(response, body)
    }

    fn refuse(self, wire: WireFormat, error: ApiError, model: &str) -> Response<Body> {
        self.error_response(wire, error, model, None)
    }

    fn json(self, status: u16, value: &Value) -> Response<Body> {
        self.watch.answered(status, None);
        let response = Response::builder()
            .status(status)
            .header("content-type", "application/json");
        self.full_response(response, value.to_string().into_bytes())
    }

    fn full_response(
        self,
        response: axum::http::response::Builder,
        bytes: Vec<u8>,
    ) -> Response<Body> {
        self.watch
            .record_end(crate::request_log::ResponseEnd::Finished);
        built(response.body(Body::from(bytes)))
    }
}

/// Returns the response, or a plain 500 if the script's own headers are invalid.
fn built(response: Result<Response<Body>, axum::http::Error>) -> Response<Body> {
    response.unwrap_or_else(|error| {
        let mut response = Response::new(Body::from(format!("the script's headers: {error}")));
        *response.status_mut() = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}

fn attach(response: &mut Response<Body>, headers: &[(&'static str, String)]) {
    for (name, value) in headers {
        if let Ok(value) = value.parse() {
            response.headers_mut().entry(*name).or_insert(value);
        }
    }
}

fn headers_of(headers: &HeaderMap) -> Vec<(String, String)> {
    let texts = headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    texts.collect()
}

/// Decompresses the body.
fn decode(headers: &[(String, String)], bytes: &[u8]) -> Result<Vec<u8>, ApiError> {
    let encoding = headers.iter().find(|(name, _)| name == "content-encoding");
    match encoding.map(|(_, value)| value.as_str()) {
        None | Some("identity") => Ok(bytes.to_vec()),
        Some("zstd") => {
            let mut decoded = Vec::new();
            let unreadable = "the body is not zstd, though its header says so";
            let mut decoder = ruzstd::decoding::StreamingDecoder::new(bytes)
                .map_err(|_| ApiError::invalid(unreadable))?;
            io::Read::read_to_end(&mut decoder, &mut decoded)
                .map_err(|_| ApiError::invalid(unreadable))?;
            Ok(decoded)
        }
        Some(other) => Err(ApiError::invalid(format!(
            "the body's encoding {other:?} is not supported; send it plain or as zstd"
        ))),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "providers write the time of day into rate-limit headers; nothing else depends on it"
)]
fn time_of_day() -> SystemTime {
    SystemTime::now()
}
