//! Dispatches the requests of an editor to the engine.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol as acp;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::{ConnectionTo, Dispatch, Responder, schema as v1};
use agent_client_protocol::{Agent, Client};
use base::{AbsPath, LogErr};
use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use super::editor::{EditorAbilities, EditorClient, refusal};
use super::{AgentBackend, HistoryReplay, OpenedSession, RequestRefusal, SessionRequest};
use crate::acp::v1 as convert;
use crate::acp::wire::{self, InvalidLines};
use crate::error::Error;
use crate::mcp::{
    OAuthClient as SignedClient, ServerEntry, ServerFingerprint, ServerOrigin, ServerTransport,
};
use crate::variables::Variables;

/// A pending response to a request.
type Answering<A> = BoxFuture<'static, Result<A, RequestRefusal>>;

/// The response to a request that opens a session, with the opened session.
type Opening<A> = Result<(A, OpenedSession), RequestRefusal>;

/// The state of a connection.
struct AgentServer {
    backend: Arc<dyn AgentBackend>,
    abilities: Mutex<EditorAbilities>,
    reported: Arc<Mutex<HashSet<(String, String)>>>,
    /// Open sessions, with whether a turn is running.
    open: Mutex<HashMap<String, bool>>,
}

/// Serves an editor, as `crate::acp::agent::serve` describes.
pub(super) async fn serve(
    engine: Arc<dyn AgentBackend>,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), Error> {
    let incoming = wire::incoming(input, InvalidLines::Answered);
    let (outgoing, written) = wire::outgoing(output);
    let transport = acp::Lines::new(outgoing, incoming);
    let server = Arc::new(AgentServer {
        backend: engine,
        abilities: Mutex::default(),
        reported: Arc::default(),
        open: Mutex::default(),
    });
    let dispatcher = server.clone();
    let receive = async move |dispatch: Dispatch, editor: ConnectionTo<Client>| {
        match dispatch {
            Dispatch::Request(message, responder) => {
                let (method, params) = message.into_parts();
                dispatcher
                    .clone()
                    .on_request(&method, params, responder, editor);
            }
            Dispatch::Notification(message) => {
                let (method, params) = message.into_parts();
                dispatcher.on_notification(&method, params).await;
            }
            Dispatch::Response(result, router) => return router.route_with_result(result),
        }
        Ok(())
    };
    let ended = Agent
        .v1()
        .name("burin-agent")
        .on_receive_dispatch(receive, acp::on_receive_dispatch!())
        .connect_to(transport)
        .await;
    server.close_sessions().await;
    // The last messages must be written before we return.
    written.await.log_err();
    ended.map_err(|error| {
        Error::Disconnected(format!(
            "the connection to the editor broke: {}",
            error.message
        ))
    })
}

impl AgentServer {
    /// Handles a request. Responses are computed in separate tasks, so that the connection is not
    /// blocked.
    fn on_request(
        self: Arc<Self>,
        method: &str,
        params: Value,
        responder: Responder,
        connection: ConnectionTo<Client>,
    ) {
        let editor = EditorClient {
            connection,
            abilities: *self
                .abilities
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
            reported: self.reported.clone(),
        };
        match method {
            "initialize" => with(params, responder, |params, responder| {
                reply(responder, Ok(self.initialize(params)));
            }),
            "authenticate" => with(params, responder, |wanted, responder| {
                let wanted: v1::AuthenticateRequest = wanted;
                let text = format!(
                    "signing in is not required; unknown method {}",
                    wanted.method_id
                );
                reply::<()>(responder, Err(RequestRefusal::Invalid(text)));
            }),
            "session/new" => with(params, responder, |params, responder| {
                spawn_opening(responder, self.new_session(params, editor.clone()), editor);
            }),
            "session/load" => with(params, responder, |params, responder| {
                spawn_opening(responder, self.load(params, editor.clone()), editor);
            }),
            "session/resume" => with(params, responder, |params, responder| {
                spawn_opening(responder, self.resume(params, editor.clone()), editor);
            }),
            "session/list" => with(params, responder, |params, responder| {
                spawn(responder, self.list(params));
            }),
            "session/close" => with(params, responder, |params, responder| {
                spawn(responder, self.close(params));
            }),
            "session/prompt" => with(params, responder, |params, responder| {
                spawn(responder, self.prompt(params));
            }),
            "session/set_mode" => with(params, responder, |params, responder| {
                spawn(responder, self.set_mode(params));
            }),
            "session/set_config_option" => with(params, responder, |params, responder| {
                spawn(responder, self.set_option(params, editor));
            }),
            _ => {
                let text = format!("unknown method {method}");
                let error = acp::Error::new(acp::ErrorCode::METHOD_NOT_FOUND, text);
                responder.respond_with_error(error).log_err();
            }
        }
    }

    async fn on_notification(&self, method: &str, params: Value) {
        if method != "session/cancel" {
            return;
        }
        if let Ok(cancel) = serde_json::from_value::<v1::CancelNotification>(params) {
            self.backend.cancel(cancel.session_id.to_string()).await;
        }
    }

    fn initialize(&self, hello: v1::InitializeRequest) -> v1::InitializeResponse {
        let able = hello.client_capabilities;
        let session = able.session.unwrap_or_default();
        let abilities = EditorAbilities {
            reads: able.fs.read_text_file,
            writes: able.fs.write_text_file,
            notices: session.notices.is_some(),
            compaction: session.compaction.is_some(),
            truths: session
                .config_options
                .is_some_and(|it| it.boolean.is_some()),
        };
        *self
            .abilities
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = abilities;
        let identity = self.backend.identity();
        let prompt = v1::PromptCapabilities::new()
            .image(identity.sees)
            .embedded_context(true);
        let more = v1::SessionAdditionalDirectoriesCapabilities::new();
        let session = v1::SessionCapabilities::new()
            .list(v1::SessionListCapabilities::new())
            .resume(v1::SessionResumeCapabilities::new())
            .close(v1::SessionCloseCapabilities::new())
            .additional_directories(identity.roams.then_some(more));
        let able = v1::AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(prompt)
            .mcp_capabilities(v1::McpCapabilities::new().http(true))
            .session_capabilities(session);
        let program =
            v1::Implementation::new(identity.name, identity.version).title(identity.title);
        v1::InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(able)
            .agent_info(program)
    }

    async fn new_session(
        self: Arc<Self>,
        request: v1::NewSessionRequest,
        editor: EditorClient,
    ) -> Opening<v1::NewSessionResponse> {
        let wanted = session_request(
            request.cwd,
            request.additional_directories,
            request.mcp_servers,
            request.meta,
        )?;
        let opened = self.backend.open(wanted, editor.clone()).await?;
        self.opened(&opened.session);
        let (modes, options) = session_state(&opened, &editor);
        let response = v1::NewSessionResponse::new(opened.session.clone())
            .modes(modes)
            .config_options(options);
        Ok((response, opened))
    }

    async fn load(
        self: Arc<Self>,
        request: v1::LoadSessionRequest,
        editor: EditorClient,
    ) -> Opening<v1::LoadSessionResponse> {
        let id = request.session_id.to_string();
        let wanted = session_request(
            request.cwd,
            request.additional_directories,
            request.mcp_servers,
            request.meta,
        )?;
        self.forget_calls(&id);
        let reopening = self.reopen(id, wanted, HistoryReplay::All, editor.clone());
        let (mut opened, modes, options) = reopening.await?;
        // The response ends the replay; the editor chose the session's id, so it accepts updates
        // before it.
        for update in std::mem::take(&mut opened.after) {
            editor.send_update(&opened.session, update);
        }
        let response = v1::LoadSessionResponse::new()
            .modes(modes)
            .config_options(options);
        Ok((response, opened))
    }

    async fn resume(
        self: Arc<Self>,
        request: v1::ResumeSessionRequest,
        editor: EditorClient,
    ) -> Opening<v1::ResumeSessionResponse> {
        let id = request.session_id.to_string();
        let wanted = session_request(
            request.cwd,
            request.additional_directories,
            request.mcp_servers,
            request.meta,
        )?;
        let (opened, modes, options) = self
            .reopen(id, wanted, HistoryReplay::Nothing, editor)
            .await?;
        let response = v1::ResumeSessionResponse::new()
            .modes(modes)
            .config_options(options);
        Ok((response, opened))
    }

    /// Reopens a stored session, and returns its modes and options too.
    async fn reopen(
        &self,
        id: String,
        wanted: SessionRequest,
        replay: HistoryReplay,
        editor: EditorClient,
    ) -> Result<(OpenedSession, Modes, Options), RequestRefusal> {
        let reopening = self.backend.reopen(id, wanted, replay, editor.clone());
        let opened = reopening.await?;
        self.opened(&opened.session);
        let (modes, options) = session_state(&opened, &editor);
        Ok((opened, modes, options))
    }

    /// Lists the stored sessions of a folder or of all; fails as the engine does.
    async fn list(
        self: Arc<Self>,
        request: v1::ListSessionsRequest,
    ) -> Result<v1::ListSessionsResponse, RequestRefusal> {
        let listed = self.backend.list(request.cwd, request.cursor).await?;
        let sessions = listed
            .sessions
            .into_iter()
            .map(convert::session_info)
            .collect();
        Ok(v1::ListSessionsResponse::new(sessions).next_cursor(listed.cursor))
    }

    fn close(
        self: Arc<Self>,
        request: v1::CloseSessionRequest,
    ) -> Answering<v1::CloseSessionResponse> {
        let id = request.session_id.to_string();
        let known = self.require_open(&id);
        Box::pin(async move {
            known?;
            self.backend.cancel(id.clone()).await;
            self.backend.close(id.clone()).await?;
            self.open().remove(&id);
            self.forget_calls(&id);
            Ok(v1::CloseSessionResponse::new())
        })
    }

    fn prompt(self: Arc<Self>, request: v1::PromptRequest) -> Answering<v1::PromptResponse> {
        let id = request.session_id.to_string();
        let begun = self.begin_turn(&id).map(|()| {
            let pieces = request
                .prompt
                .into_iter()
                .filter_map(convert::from_content_block)
                .collect();
            // Called here and not in the future, so that a cancellation that follows finds the
            // turn.
            self.backend.prompt(id.clone(), pieces)
        });
        Box::pin(async move {
            let ended = begun?.await;
            if let Some(runs) = self.open().get_mut(&id) {
                *runs = false;
            }
            let reason = convert::stop_reason(ended?)
                .map_err(|error| RequestRefusal::Failed(error.to_string()))?;
            Ok(v1::PromptResponse::new(reason))
        })
    }

    /// Marks that a turn of a session runs. Fails with `NotFound` if the session is not open, and
    /// with `Invalid` if a turn runs already.
    fn begin_turn(&self, id: &str) -> Result<(), RequestRefusal> {
        self.require_open(id)?;
        if self.open().insert(id.to_owned(), true) == Some(true) {
            let text = "a turn of this session runs already; wait for its end, or cancel it";
            return Err(RequestRefusal::Invalid(text.to_owned()));
        }
        Ok(())
    }

    fn set_mode(
        self: Arc<Self>,
        request: v1::SetSessionModeRequest,
    ) -> Answering<v1::SetSessionModeResponse> {
        let id = request.session_id.to_string();
        let mode = request.mode_id.to_string();
        let set = self
            .require_open(&id)
            .map(|()| self.backend.set_mode(id, mode));
        Box::pin(async move {
            set?.await?;
            Ok(v1::SetSessionModeResponse::new())
        })
    }

    fn set_option(
        self: Arc<Self>,
        request: v1::SetSessionConfigOptionRequest,
        editor: EditorClient,
    ) -> Answering<v1::SetSessionConfigOptionResponse> {
        let id = request.session_id.to_string();
        let option = request.config_id.to_string();
        let chosen = convert::chosen(request.value)
            .ok_or_else(|| RequestRefusal::Invalid("unknown kind of value".to_owned()));
        let set = self.require_open(&id).and(chosen);
        let set = set.map(|chosen| self.backend.set_option(id, option, chosen));
        Box::pin(async move {
            let mut options = set?.await?;
            editor.keep_known(&mut options);
            let options = options.into_iter().map(convert::option).collect();
            Ok(v1::SetSessionConfigOptionResponse::new(options))
        })
    }

    /// Cancels and closes all sessions after the editor disconnected, since their updates are no
    /// longer visible.
    async fn close_sessions(&self) {
        let open: Vec<_> = self.open().drain().map(|(id, _)| id).collect();
        for id in open {
            self.backend.cancel(id.clone()).await;
            if let Err(refusal) = self.backend.close(id).await {
                log::debug!("a session did not close: {refusal:?}");
            }
        }
    }

    /// Resets the reported calls of a session, since its conversation is sent again.
    fn forget_calls(&self, session: &str) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.retain(|(of, _)| of != session);
    }

    fn opened(&self, session: &str) {
        self.open().insert(session.to_owned(), false);
    }

    /// Fails with `NotFound` if the session is not open.
    fn require_open(&self, session: &str) -> Result<(), RequestRefusal> {
        if self.open().contains_key(session) {
            Ok(())
        } else {
            let text = format!("there is no open session {session}; open or load one first");
            Err(RequestRefusal::NotFound(text))
        }
    }

    /// Locks the open sessions: by id, whether a turn runs.
    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<String, bool>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parses the parameters, or responds with the parse error.
fn with<P: DeserializeOwned>(params: Value, responder: Responder, then: impl FnOnce(P, Responder)) {
    match serde_json::from_value(params) {
        Ok(params) => then(params, responder),
        Err(error) => {
            let error = acp::Error::new(acp::ErrorCode::INVALID_PARAMS, error.to_string());
            responder.respond_with_error(error).log_err();
        }
    }
}

fn spawn<A: Serialize + Send + 'static>(
    responder: Responder,
    answer: impl Future<Output = Result<A, RequestRefusal>> + Send + 'static,
) {
    tokio::spawn(async move { reply(responder, answer.await) });
}

/// Sends the response to a request that opens a session, and then its pending updates: the editor
/// knows the session only after the response.
fn spawn_opening<A: Serialize + Send + 'static>(
    responder: Responder,
    opening: impl Future<Output = Opening<A>> + Send + 'static,
    editor: EditorClient,
) {
    tokio::spawn(async move {
        match opening.await {
            Ok((answer, opened)) => {
                reply(responder, Ok(answer));
                for update in opened.after {
                    editor.send_update(&opened.session, update);
                }
            }
            Err(refusal) => reply::<A>(responder, Err(refusal)),
        }
    });
}

fn reply<A: Serialize>(responder: Responder, answer: Result<A, RequestRefusal>) {
    let sent = match answer.map(serde_json::to_value) {
        Ok(Ok(value)) => responder.respond(value),
        Ok(Err(error)) => responder.respond_with_internal_error(error),
        Err(refused) => responder.respond_with_error(refusal(refused)),
    };
    // An editor that has disconnected does not need it.
    sent.log_err();
}

/// A session's modes in protocol form.
type Modes = Option<v1::SessionModeState>;
/// A session's options in protocol form.
type Options = Option<Vec<v1::SessionConfigOption>>;

/// Returns the modes and options of a session in protocol form, without options that the editor
/// cannot show. No options at all give `None`.
fn session_state(opened: &OpenedSession, editor: &EditorClient) -> (Modes, Options) {
    let mut options = opened.options.clone();
    editor.keep_known(&mut options);
    let options: Vec<_> = options.into_iter().map(convert::option).collect();
    let modes = opened.modes.clone().map(convert::mode_state);
    (modes, (!options.is_empty()).then_some(options))
}

/// Converts an editor's request for a session. Makes `folder` absolute, from the current folder,
/// and drops servers that cannot be converted. Fails with `Invalid` if `folder` cannot be made
/// absolute.
fn session_request(
    folder: PathBuf,
    more: Vec<PathBuf>,
    servers: Vec<v1::McpServer>,
    meta: Option<v1::Meta>,
) -> Result<SessionRequest, RequestRefusal> {
    // The protocol requires absolute paths, but small clients pass `.` for the folder they started
    // us in.
    let whole = std::path::absolute(&folder).ok();
    let Some(root) = whole.and_then(AbsPath::new) else {
        let text = format!("cwd must be an absolute path, not \"{}\"", folder.display());
        return Err(RequestRefusal::Invalid(text));
    };
    Ok(SessionRequest {
        folder: root.as_path().to_owned(),
        more,
        servers: servers
            .into_iter()
            .filter_map(|it| server(it, &root))
            .collect(),
        meta: meta.map_or(Value::Null, Value::Object),
    })
}

/// Converts an editor's server to an entry; `None` for an unsupported transport.
fn server(server: v1::McpServer, root: &AbsPath) -> Option<ServerEntry> {
    let written = serde_json::to_value(&server).ok()?;
    let (name, reach) = match server {
        v1::McpServer::Stdio(it) => {
            let variables = it.env.into_iter().map(|it| (it.name, it.value));
            let reach = ServerTransport::Process {
                command: it.command.display().to_string(),
                arguments: it.args,
                environment: variables.collect::<Variables>(),
                folder: root.clone(),
            };
            (it.name, Ok(reach))
        }
        v1::McpServer::Http(it) => {
            let headers = it.headers.into_iter().map(|it| (it.name, it.value));
            let headers = headers.collect::<BTreeMap<_, _>>();
            (
                it.name,
                Ok(ServerTransport::Http {
                    url: it.url,
                    headers,
                    client: SignedClient::default(),
                }),
            )
        }
        v1::McpServer::Sse(it) => {
            let why = "it uses the old HTTP+SSE transport, which is not supported";
            (it.name, Err(Error::Configuration(why.to_owned())))
        }
        _ => return None,
    };
    Some(ServerEntry {
        fingerprint: ServerFingerprint::of(&name, &written),
        written,
        name,
        origin: ServerOrigin::User,
        is_disabled: false,
        startup: None,
        reach,
    })
}
