//! The handle of a language server.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use gen_lsp_types::{
    ClientInfo as WireClientInfo, ExitNotification, InitializeParams, InitializeRequest,
    Notification as _, Request as _, ShutdownRequest, WorkspaceFoldersInitializeParams,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use text::{Change, Snapshot};

use crate::capabilities::client_capabilities;
use crate::connection::{Connection, ConnectionActivity, ConnectionId};
use crate::diagnostics::{DocumentDiagnostics, UnopenedDiagnostic};
use crate::error::{EndReason, RequestError};
use crate::events::ServerEvents;
use crate::life::OutgoingKind;
use crate::log::MessageLog;
use crate::message::{self, Payload};
use crate::probe::ProbeRequest;
use crate::progress::Progress;
use crate::pull::{PullQueue, PullRequest};
use crate::session::{ServerSession, read_unopened, workspace_folder};
use crate::uri::file_uri;

/// Maximum length of the answer to `initialize`, in bytes.
const MAX_INITIALIZE_RESULT: usize = 1 << 20;

/// The description of a connection.
pub struct ServerOptions {
    /// The name and version of this client.
    pub client: ClientInfo,
    /// The process whose end makes the server exit; `None` if the server cannot see it, such as
    /// from another namespace of process ids.
    pub process_id: Option<u32>,
    /// The folders that the server works on; the first is also the root for old servers.
    pub folders: Vec<AbsPath>,
    /// Options for `initialize`, omitted if empty.
    pub initialization_options: Map<String, Value>,
    /// The configuration that the server is sent, and may ask for by section. A section is a member
    /// of this map, or a dotted path into it.
    pub configuration: Map<String, Value>,
    /// Receives every message.
    pub log: Option<Arc<dyn MessageLog>>,
}

/// The name and version of a client.
#[derive(Clone, Debug)]
pub struct ClientInfo {
    /// The name of the program.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The name and version of a server, as it gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ServerInfo {
    /// The name of the program.
    #[serde(default)]
    pub name: Option<String>,
    /// Its version.
    #[serde(default)]
    pub version: Option<String>,
}

/// A language server behind a pair of pipes. Cheap to clone; when the last clone is dropped, the
/// server's input is closed. No method blocks unless it has a timeout.
#[derive(Clone)]
pub struct LanguageServer {
    inner: Arc<ServerInner>,
    /// The folder whose symbols this handle finds; `None` for those of all folders.
    folder: Option<AbsPath>,
}

struct ServerInner {
    connection: Arc<Connection>,
    options: ServerOptions,
}

impl LanguageServer {
    /// Starts the threads that read and write. `input` is the server's standard input, `output` its
    /// standard output. Sends nothing.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn connect(
        options: ServerOptions,
        input: impl Write + Send + 'static,
        output: impl Read + Send + 'static,
    ) -> io::Result<(Self, ServerEvents)> {
        let session = ServerSession::new(options.folders.clone(), options.configuration.clone());
        let (connection, events) = Connection::start(session, options.log.clone(), input, output)?;
        let inner = Arc::new(ServerInner {
            connection,
            options,
        });
        let folder = None;
        Ok((Self { inner, folder }, ServerEvents::of(events)))
    }

    /// Returns a handle for one of the server's folders: symbols of its other folders are omitted.
    pub fn for_folder(&self, folder: &AbsPath) -> Self {
        Self {
            inner: self.inner.clone(),
            folder: Some(folder.clone()),
        }
    }

    /// Adds a folder to those that the server works on. Has no effect if it is one of them.
    pub fn add_folder(&self, folder: &AbsPath) {
        let connection = &self.inner.connection;
        connection.with(|session| session.add_folder(folder));
    }

    /// Removes a folder from those that the server works on. Close its documents before.
    pub fn remove_folder(&self, folder: &AbsPath) {
        let connection = &self.inner.connection;
        connection.with(|session| session.remove_folder(folder));
    }

    /// Returns the folders of the server whose symbols this handle omits.
    pub(crate) fn other_folders(&self) -> Vec<AbsPath> {
        let Some(own) = &self.folder else {
            return Vec::new();
        };
        self.inner.connection.with(|session| {
            let folders = session.folders().iter();
            folders.filter(|it| !it.is_within(own)).cloned().collect()
        })
    }

    /// Returns the folder whose symbols this handle finds.
    pub(crate) fn folder(&self) -> Option<&AbsPath> {
        self.folder.as_ref()
    }

    /// Sends `initialize`, waits for the answer, and sends `initialized`, the configuration, and the
    /// documents that were opened before.
    ///
    /// # Errors
    /// The server refused, ended, or did not answer in time; it is then of no use.
    pub fn initialize(&self, timeout: Duration) -> Result<ServerInfo, RequestError> {
        let connection = &self.inner.connection;
        let folders = connection.with(|session| session.announce_first_folders());
        let params = self.inner.options.initialize_params(&folders);
        let pending = connection.request::<InitializeRequest>(OutgoingKind::Initialize, &params)?;
        let (capabilities, info) = read_initialize_result(&pending.wait(timeout)?)?;
        connection.with(|session| session.initialized(capabilities));
        Ok(info)
    }

    /// Asks the server to shut down, waits for the answer, sends `exit`, and closes the server's
    /// input. The caller then waits for the process and ends its group.
    ///
    /// # Errors
    /// The server refused, ended, or did not answer in time. `exit` was sent and the input was closed
    /// all the same.
    pub fn shutdown(&self, timeout: Duration) -> Result<(), RequestError> {
        let connection = &self.inner.connection;
        let pending = connection.request::<ShutdownRequest>(OutgoingKind::Shutdown, &());
        let answer = pending.and_then(|pending| pending.wait(timeout));
        connection.with(|session| {
            if session.begin(OutgoingKind::Exit) {
                let method = const { ExitNotification::METHOD.as_str() };
                session.push(message::notification(method, &()));
            }
        });
        connection.close_input();
        answer.map(|_| ())
    }

    /// Ends the connection without waiting for the server: requests under way fail, and
    /// `ServerEvent::Ended` follows. Has no effect on a connection that has ended.
    pub fn disconnect(&self) {
        self.inner.connection.finish(EndReason::ShutDown);
    }

    /// Opens a document, or opens it anew. The server is sent the text if it wants documents of this
    /// kind, now or once it registers for them.
    pub fn open_document(&self, path: &AbsPath, language_id: &str, text: &Snapshot) {
        let connection = &self.inner.connection;
        connection.with(|session| session.open(path, language_id, text));
    }

    /// Passes an edit of a buffer on. `change` leads from the text of the previous call to `text`; if
    /// it does not, the whole text is sent. Has no effect on a document that is not open.
    pub fn change_document(&self, path: &AbsPath, change: &Change, text: &Snapshot) {
        let connection = &self.inner.connection;
        connection.with(|session| session.change(path, change, text));
    }

    /// Passes on a text whose differences from the previous one are not known. Has no effect on a
    /// document that is not open.
    pub fn replace_document(&self, path: &AbsPath, text: &Snapshot) {
        let connection = &self.inner.connection;
        connection.with(|session| session.replace(path, text));
    }

    /// Announces that a document was saved, if the server wants to know.
    pub fn save_document(&self, path: &AbsPath) {
        self.inner.connection.with(|session| session.save(path));
    }

    /// Closes a document. Its pushed diagnostics stay until the server replaces them, as diagnostics of a file; pulled
    /// ones are forgotten.
    pub fn close_document(&self, path: &AbsPath) {
        self.inner.connection.with(|session| {
            session.keep_report(path);
            session.close(path);
        });
    }

    /// Returns the diagnostics of an open document, pushed and pulled; `None` before the first report
    /// and after the end of the server.
    pub fn diagnostics(&self, path: &AbsPath) -> Option<DocumentDiagnostics> {
        self.inner
            .connection
            .with(|session| session.diagnostics(path))
    }

    /// Takes the documents that are not open and whose diagnostics were replaced since the last call, each with whether
    /// there are any now.
    pub fn take_unopened_changes(&self) -> Vec<(AbsPath, bool)> {
        let connection = &self.inner.connection;
        connection.with(|session| session.take_unopened_changes())
    }

    /// Returns the diagnostics about a document that is not open: pushed, or pulled for the whole workspace, without
    /// duplicates. The time grows with their number, so call it in the background.
    pub fn unopened_diagnostics(&self, path: &AbsPath) -> Vec<UnopenedDiagnostic> {
        let connection = &self.inner.connection;
        let (params, kept, encoding) = connection.with(|session| {
            let (params, kept) = session.unopened(path);
            (params, kept, session.encoding())
        });
        let mut found = kept;
        for params in params {
            let mut items = read_unopened(&params, encoding);
            items.retain(|item| !found.contains(item));
            found.append(&mut items);
        }
        found
    }

    /// Returns whether the server now offers to be asked for the diagnostics of an open document.
    pub fn offers_pull_diagnostics(&self, path: &AbsPath) -> bool {
        self.inner
            .connection
            .with(|session| session.offers_pull(path))
    }

    /// Returns whether an edit of an open document may change the diagnostics of others.
    pub fn diagnoses_across_files(&self, path: &AbsPath) -> bool {
        self.inner
            .connection
            .with(|session| session.diagnoses_across_files(path))
    }

    /// Asks for the diagnostics of a document; `None` if it is not open or the server does not offer
    /// it. Several requests may be under way.
    pub fn pull_diagnostics(&self, path: &AbsPath) -> Option<PullRequest> {
        PullRequest::send(&self.inner.connection, path)
    }

    /// Asks for the diagnostics of many documents, a limited number of them at once.
    pub fn pull_all(&self, paths: impl IntoIterator<Item = AbsPath>) -> PullQueue {
        PullQueue::send(&self.inner.connection, paths)
    }

    /// Sends a definition request that serves as a probe of whether the server has finished its work; `None` if
    /// the document is not open or the server does not offer it.
    pub fn probe(&self, path: &AbsPath) -> Option<ProbeRequest> {
        ProbeRequest::send(&self.inner.connection, path)
    }

    /// Returns the capabilities of the server as JSON for display: those in the answer to `initialize` under
    /// `capabilities`, those registered later under `registered`.
    pub fn capabilities(&self) -> Value {
        self.inner
            .connection
            .with(|session| session.capabilities_json())
    }

    /// Returns the method of the latest request to the server; `None` before the first.
    pub fn last_request(&self) -> Option<&'static str> {
        self.inner.connection.with(|session| session.last_request)
    }

    /// Returns the work of the server that is under way.
    pub fn progress(&self) -> Vec<Progress> {
        self.inner.connection.with(|session| session.progress())
    }

    /// Returns the activity of the connection, from which a watchdog sees whether the server hangs.
    pub fn activity(&self) -> ConnectionActivity {
        self.inner.connection.activity()
    }

    /// Returns whether the server has reported any work since its start.
    pub fn has_progressed(&self) -> bool {
        let connection = &self.inner.connection;
        connection.with(|session| session.has_progressed())
    }

    /// Returns the identity of the connection, which does not keep it open.
    pub fn connection_id(&self) -> ConnectionId {
        ConnectionId::of(&self.inner.connection)
    }

    /// Returns whether the server is initialized and takes requests.
    pub fn is_running(&self) -> bool {
        self.connection().with(|session| session.is_running())
    }

    /// Returns the connection.
    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.inner.connection
    }

    /// Returns why no message arrives any more; `None` while the connection works.
    pub fn end_reason(&self) -> Option<EndReason> {
        self.inner.connection.end_reason()
    }

    /// Returns the tolerated violations of the protocol, one phrase for each kind, such as
    /// "3 malformed messages".
    pub fn violations(&self) -> Vec<String> {
        let connection = &self.inner.connection;
        connection.with(|session| session.violations.phrases())
    }
}

impl Drop for ServerInner {
    fn drop(&mut self) {
        self.connection.close_input();
    }
}

impl ServerOptions {
    #[expect(
        deprecated,
        reason = "servers before version 3.6 know no workspace folders"
    )]
    fn initialize_params(&self, folders: &[AbsPath]) -> InitializeParams {
        let uri = |path: &AbsPath| file_uri(path).into();
        // Some servers fail on options that are null.
        let has_options = !self.initialization_options.is_empty();
        let options = Value::Object(self.initialization_options.clone());
        InitializeParams {
            process_id: self.process_id.and_then(|id| i32::try_from(id).ok()),
            client_info: Some(WireClientInfo {
                name: self.client.name.clone(),
                version: Some(self.client.version.clone()),
            }),
            root_uri: folders.first().map(uri),
            capabilities: client_capabilities(),
            initialization_options: has_options.then_some(options),
            workspace_folders_initialize_params: WorkspaceFoldersInitializeParams {
                workspace_folders: Some(
                    folders
                        .iter()
                        .map(workspace_folder)
                        .collect::<Vec<_>>()
                        .into(),
                ),
            },
            ..Default::default()
        }
    }
}

/// Reads the answer to `initialize`. Only the capabilities must be an object.
fn read_initialize_result(
    payload: &Payload,
) -> Result<(Map<String, Value>, ServerInfo), RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct WireInitializeResult {
        capabilities: Map<String, Value>,
        #[serde(default)]
        server_info: Value,
    }
    let malformed = |detail: String| RequestError::Malformed {
        method: const { InitializeRequest::METHOD.as_str() },
        detail,
    };
    if payload.json().len() > MAX_INITIALIZE_RESULT {
        return Err(malformed("it is too long".to_owned()));
    }
    let result: WireInitializeResult = payload
        .parse()
        .map_err(|error| malformed(error.to_string()))?;
    let info = serde_json::from_value(result.server_info).unwrap_or_default();
    Ok((result.capabilities, info))
}

#[cfg(test)]
mod tests;
