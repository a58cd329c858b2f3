//! The server: a thread of its own that answers requests as the script says.

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
    asked::Asked,
    body::{self, Ticks},
    engine::{Engine, Reply},
    frames::{Ending, Frames, Plan},
    rng::{self, Rng},
    script::{Fault, Script},
    seen::{Entry, Log, Seen, lock},
    socket::{Door, Fate},
    tokens,
    trouble::{Kind, Trouble},
    wire::{ErrorReply, Incoming, Route, Wire},
};

/// Larger requests are refused, in bytes.
const LARGEST: usize = 64 << 20;

/// A running server. It stops, and closes every connection, when this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Shared,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the handlers share.
#[derive(Clone, Debug)]
struct Shared {
    engine: Arc<Mutex<Engine>>,
    log: Log,
}

impl Server {
    /// Starts a server on a free port of loopback.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_at(script, 0)
    }

    /// Starts a server on this port of loopback; 0 is any free one.
    pub fn start_at(script: Script, port: u16) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        // A runtime of its own: clients may pause their clock or block their thread, and when it is
        // dropped, so is every connection.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let shared = Shared {
            engine: Arc::new(Mutex::new(Engine::new(script))),
            log: Log::new(),
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens, as the beginning of a URL, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, in the order in which they came.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.log.entries()
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.shared.log.clear();
    }

    /// Waits until the requests are as the test wants them. For ever, if they never are.
    pub async fn until(&self, mut test: impl FnMut(&[Seen]) -> bool) {
        let mut changes = self.shared.log.watch();
        loop {
            changes.mark_unchanged();
            if test(&self.seen()) || changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Goes on with another script. Answers that have begun go on as they were; attempts are counted anew.
    pub fn replace(&self, script: Script) {
        lock(&self.shared.engine).replace(script);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic over there has been printed, and there is nobody here to tell.
            thread.join().ok();
        }
    }
}

async fn serve(listener: std::net::TcpListener, shared: Shared, stopped: oneshot::Receiver<()>) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        // Only without a runtime, and this runs in one: nothing is served, and clients see it.
        Err(_) => return,
    };
    let service = axum::Router::new()
        .fallback(answer)
        .with_state(shared)
        .into_make_service_with_connect_info::<Fate>();
    tokio::select! {
        _ = axum::serve(Door(listener), service) => {}
        _ = stopped => {}
    }
}

async fn answer(
    State(shared): State<Shared>,
    ConnectInfo(fate): ConnectInfo<Fate>,
    request: Request<Body>,
) -> Response<Body> {
    let start = Instant::now();
    let (parts, body) = request.into_parts();
    let headers = headers_of(&parts.headers);
    let (bytes, problem) = match to_bytes(body, LARGEST)
        .await
        .map(|bytes| decode(&headers, &bytes))
    {
        Ok(Ok(bytes)) => (bytes, None),
        Ok(Err(problem)) => (Vec::new(), Some(problem)),
        Err(_) => (Vec::new(), Some(Trouble::new(Kind::TooLarge))),
    };
    let method = parts.method.as_str();
    let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
    let entry = shared.log.open(Seen {
        at: start.saturating_duration_since(shared.log.started()),
        method: method.to_owned(),
        path: parts.uri.to_string(),
        headers: headers.clone(),
        body: bytes.clone(),
        rule: None,
        status: 0,
        end: None,
    });
    let route = Route::of(method, path, &headers);
    let script = lock(&shared.engine).script();
    let exchange = Exchange {
        shared,
        entry,
        fate,
        start,
    };
    if let Some(description) = route.description(&script) {
        return exchange.json(200, &description);
    }
    let (Route::Answer(wire) | Route::CountTokens(wire)) = route else {
        let problem = format!("there is nothing at {method} {path}");
        return exchange.refuse(
            Wire::Chat,
            Trouble {
                message: Some(problem),
                ..Trouble::new(Kind::NotFound)
            },
            "",
        );
    };
    let body: Result<Value, Trouble> = match problem {
        Some(problem) => Err(problem),
        None => serde_json::from_slice(&bytes)
            .map_err(|error| Trouble::invalid(format!("the body is not JSON: {error}"))),
    };
    let asked = body.and_then(|body| {
        let incoming = Incoming {
            path,
            query,
            headers: &headers,
            body: &body,
        };
        exchange.read(wire, &incoming, script.strict)
    });
    match (asked, route) {
        (Err(trouble), _) => exchange.refuse(wire, trouble, ""),
        (Ok(asked), Route::CountTokens(_)) => {
            let count = tokens::of_bytes(asked.prompt_bytes());
            exchange.json(200, &wire.token_count(count))
        }
        (Ok(asked), _) => exchange.answer(asked).await,
    }
}

/// One request and what it is answered with.
struct Exchange {
    shared: Shared,
    entry: Entry,
    fate: Fate,
    start: Instant,
}

impl Exchange {
    fn read(&self, wire: Wire, incoming: &Incoming, is_strict: bool) -> Result<Asked, Trouble> {
        let engine = lock(&self.shared.engine);
        let is_signed = |signature: &str| engine.has_signed(signature);
        wire.read(incoming, is_strict.then_some(&is_signed))
    }

    async fn answer(self, asked: Asked) -> Response<Body> {
        let decision = lock(&self.shared.engine).decide(&asked, self.start);
        let wire = asked.wire;
        let headers = wire.limit_headers(decision.standing, time_of_day());
        let rule = decision.rule;
        match decision.outcome {
            Err(trouble) => {
                let mut response = self.refused(wire, trouble, &asked.model, rule);
                attach(&mut response, &headers);
                response
            }
            Ok(reply) => {
                if let Some(Fault::SlowFirstByte { ms }) =
                    reply.fault.as_ref().map(|seeded| &seeded.fault)
                {
                    tokio::time::sleep(Duration::from_millis(*ms)).await;
                }
                let mut response = self.reply(&asked, reply, rule);
                attach(&mut response, &headers);
                response
            }
        }
    }

    fn reply(self, asked: &Asked, mut reply: Reply, rule: Option<String>) -> Response<Body> {
        let wire = asked.wire;
        if let Some(seeded) = &reply.fault {
            seeded.fault.spoil(&mut reply.answer, asked);
        }
        let answer = &reply.answer;
        let mut frames = Frames::new(answer.rng.clone(), reply.pace);
        if asked.stream {
            wire.stream(asked, answer, &mut frames);
        } else {
            let whole = wire.whole(asked, answer, &mut frames);
            // All of it is written before any of it is sent.
            frames.raw(whole.to_string().into_bytes(), answer.usage.output);
        }
        let plan = Plan::new(
            frames.finish(),
            reply.pace,
            reply.first_byte,
            reply.fault.as_ref(),
            wire.error_event(answer),
        );
        self.entry.answered(200, rule);
        let mut response = Response::builder()
            .status(200)
            .header("content-type", wire.content_type(asked));
        if let Some(name) = wire.request_id_header() {
            response = response.header(name, format!("req_{}", answer.id));
        }
        if plan.pieces.is_empty() && plan.ending == Ending::Reset {
            self.fate.reset();
        }
        let ticks = Ticks {
            origin: self.shared.log.started(),
            length: Duration::from_millis(reply.pace.tick_ms),
        };
        let start = Instant::now();
        let body = body::send(plan, start, ticks, self.entry, self.fate);
        built(response.body(Body::from_stream(body)))
    }

    fn refused(
        self,
        wire: Wire,
        trouble: Trouble,
        model: &str,
        rule: Option<String>,
    ) -> Response<Body> {
        let id = Rng::of(&[rng::hash(model.as_bytes())]).word(24);
        let request_id = format!("req_{id}");
        let ErrorReply {
            status,
            headers,
            content_type,
            body,
        } = wire.refuse(&trouble, model, &request_id);
        self.entry.answered(status, rule);
        let mut response = Response::builder()
            .status(status)
            .header("content-type", content_type);
        if let Some(name) = wire.request_id_header() {
            response = response.header(name, request_id);
        }
        for (name, value) in &headers {
            response = response.header(name, value);
        }
        self.whole(response, body)
    }

    fn refuse(self, wire: Wire, trouble: Trouble, model: &str) -> Response<Body> {
        self.refused(wire, trouble, model, None)
    }

    fn json(self, status: u16, value: &Value) -> Response<Body> {
        self.entry.answered(status, None);
        let response = Response::builder()
            .status(status)
            .header("content-type", "application/json");
        self.whole(response, value.to_string().into_bytes())
    }

    fn whole(self, response: axum::http::response::Builder, bytes: Vec<u8>) -> Response<Body> {
        self.entry.ended(crate::seen::End::Finished);
        built(response.body(Body::from(bytes)))
    }
}

/// A response, or a plain 500 where the script's own headers cannot be sent.
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

/// The body without its compression.
fn decode(headers: &[(String, String)], bytes: &[u8]) -> Result<Vec<u8>, Trouble> {
    let encoding = headers.iter().find(|(name, _)| name == "content-encoding");
    match encoding.map(|(_, value)| value.as_str()) {
        None | Some("identity") => Ok(bytes.to_vec()),
        Some("zstd") => {
            let mut decoded = Vec::new();
            let unreadable = "the body is not zstd, though its header says so";
            let mut decoder = ruzstd::decoding::StreamingDecoder::new(bytes)
                .map_err(|_| Trouble::invalid(unreadable))?;
            io::Read::read_to_end(&mut decoder, &mut decoded)
                .map_err(|_| Trouble::invalid(unreadable))?;
            Ok(decoded)
        }
        Some(other) => Err(Trouble::invalid(format!(
            "the body's encoding {other:?} is not known here; send it plain or as zstd"
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
