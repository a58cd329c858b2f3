//! The server of prompts: a private socket, and a token for each running call.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_channel::{Receiver, Sender};
use base::{AbsPath, LogErr};
use host::environment::Variable;
use host::{Error as HostError, ErrorReason, Files, RealFiles, private_socket};
use zeroize::Zeroizing;

use super::kind::PromptKind;
use super::wire::{ANSWERED, REFUSED, SOCKET, TOKEN, read_part, write_part};
use crate::error::Error;

/// Prompts that may wait for the user; the programs behind further ones wait, too.
const WAITING_PROMPTS: usize = 16;
/// Time in which a client sends its question.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(5);

/// A question of Git, ssh or a hook to the user.
#[derive(Debug)]
pub struct Prompt {
    /// The text, as the program wrote it. Foreign: to be made printable.
    pub text: String,
    /// The kind of the question.
    pub kind: PromptKind,
    /// Receives the answer. Dropping it refuses.
    pub reply: PromptReply,
    /// Closes once the program no longer waits, so that the question can be taken away.
    pub ended: Receiver<()>,
}

/// The way back of an answer.
pub struct PromptReply {
    stream: Option<UnixStream>,
    /// Held so that the number of the connection is forgotten.
    connection: OpenConnection,
}

impl fmt::Debug for PromptReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PromptReply")
            .field(&self.connection.id)
            .finish()
    }
}

impl PromptReply {
    /// Sends the answer to the program that asked. The program may have ended meanwhile.
    pub fn answer(mut self, answer: &Zeroizing<String>) {
        if let Some(mut stream) = self.stream.take() {
            let sent = stream
                .write_all(&[ANSWERED])
                .and_then(|()| write_part(&mut stream, answer.as_bytes()));
            // The program no longer needs the answer.
            sent.ok();
        }
    }
}

impl Drop for PromptReply {
    fn drop(&mut self) {
        if let Some(mut stream) = self.stream.take() {
            // The program may have ended meanwhile.
            stream.write_all(&[REFUSED]).ok();
        }
    }
}

/// Listens at a private socket for the prompts of the programs that this process runs.
pub struct PromptServer {
    shared: Arc<ServerShared>,
    program: AbsPath,
    listener: Option<JoinHandle<()>>,
}

struct ServerShared {
    socket: AbsPath,
    tokens: Mutex<BTreeSet<String>>,
    is_stopping: AtomicBool,
    /// Connections by number, so that they can be closed when the server ends.
    connections: Mutex<BTreeMap<u64, UnixStream>>,
}

/// An open connection; forgotten on drop.
struct OpenConnection {
    shared: Arc<ServerShared>,
    id: u64,
}

/// The permission of one running call to ask the user; withdrawn on drop.
pub(crate) struct PromptSession {
    server: Arc<PromptServer>,
    token: String,
}

impl fmt::Debug for PromptServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PromptServer")
            .field(&self.shared.socket)
            .finish()
    }
}

impl PromptServer {
    /// Listens at a socket in `folder`, which must be private to the user. `program` runs
    /// `askpass_client` with its arguments. The receiver yields the prompts.
    ///
    /// # Errors
    /// The socket cannot be created.
    pub fn start(
        folder: &AbsPath,
        program: AbsPath,
    ) -> Result<(Arc<Self>, Receiver<Prompt>), Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("askpass-{}-{count}", std::process::id());
        let socket = private_socket(folder, &name)?;
        if RealFiles.exists(&socket) {
            // Left by a process that had the same id.
            RealFiles.remove(&socket)?;
        }
        let failed = |error: io::Error| {
            let reason = ErrorReason::Other(error.to_string());
            HostError::new(&socket, "listen at", reason)
        };
        let listener = UnixListener::bind(socket.as_path()).map_err(failed)?;
        let shared = Arc::new(ServerShared {
            socket: socket.clone(),
            tokens: Mutex::new(BTreeSet::new()),
            is_stopping: AtomicBool::new(false),
            connections: Mutex::new(BTreeMap::new()),
        });
        let (sender, prompts) = async_channel::bounded(WAITING_PROMPTS);
        let listening = Arc::clone(&shared);
        let thread = thread::Builder::new().name("askpass".to_owned());
        let listener = thread.spawn(move || listen(&listener, &listening, &sender));
        let server = Self {
            shared,
            program,
            listener: Some(listener.map_err(failed)?),
        };
        Ok((Arc::new(server), prompts))
    }

    /// Permits the programs of one call to ask the user.
    pub(crate) fn session(self: &Arc<Self>) -> PromptSession {
        let token = fresh_token();
        self.shared.tokens().insert(token.clone());
        let server = Arc::clone(self);
        PromptSession { server, token }
    }
}

impl Drop for PromptServer {
    fn drop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::SeqCst);
        for stream in self.shared.connections().values() {
            // A closed connection has ended already.
            stream.shutdown(std::net::Shutdown::Both).ok();
        }
        // Wakes the listener, which then ends.
        let is_awake = UnixStream::connect(self.shared.socket.as_path()).is_ok();
        let listener = self.listener.take().filter(|_| is_awake);
        if listener.is_some_and(|listener| listener.join().is_err()) {
            base::never!("the thread of prompts panicked");
        }
        RealFiles.remove(&self.shared.socket).log_err();
    }
}

impl PromptSession {
    /// Returns the variables that make Git and ssh ask here.
    pub(crate) fn variables(&self) -> [Variable; 6] {
        let program: OsString = self.server.program.as_path().into();
        let socket: OsString = self.server.shared.socket.as_path().into();
        [
            ("GIT_ASKPASS".into(), program.clone()),
            ("SSH_ASKPASS".into(), program),
            ("SSH_ASKPASS_REQUIRE".into(), "force".into()),
            ("GCM_INTERACTIVE".into(), "auto".into()),
            (SOCKET.into(), socket),
            (TOKEN.into(), self.token.clone().into()),
        ]
    }
}

impl Drop for PromptSession {
    fn drop(&mut self) {
        self.server.shared.tokens().remove(&self.token);
    }
}

impl ServerShared {
    fn tokens(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connections(&self) -> MutexGuard<'_, BTreeMap<u64, UnixStream>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.shared.connections().remove(&self.id);
    }
}

/// Returns 256 bits that other programs cannot predict: the keys of each hasher come from the
/// system's random numbers.
fn fresh_token() -> String {
    let part = || RandomState::new().build_hasher().finish();
    format!(
        "{:016x}{:016x}{:016x}{:016x}",
        part(),
        part(),
        part(),
        part()
    )
}

fn listen(listener: &UnixListener, shared: &Arc<ServerShared>, prompts: &Sender<Prompt>) {
    for (id, stream) in (0..).zip(listener.incoming()) {
        if shared.is_stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else {
            continue;
        };
        let Ok(copy) = stream.try_clone() else {
            continue;
        };
        shared.connections().insert(id, copy);
        let shared = Arc::clone(shared);
        let connection = OpenConnection { shared, id };
        let prompts = prompts.clone();
        thread::spawn(move || {
            // A client that breaks off has no answer to wait for.
            serve(stream, connection, &prompts).ok();
        });
    }
}

/// Reads the question of a client and passes it on.
fn serve(
    mut stream: UnixStream,
    connection: OpenConnection,
    prompts: &Sender<Prompt>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(QUESTION_TIMEOUT))?;
    stream.set_write_timeout(Some(QUESTION_TIMEOUT))?;
    let token = read_part(&mut stream)?;
    let is_known =
        std::str::from_utf8(&token).is_ok_and(|token| connection.shared.tokens().contains(token));
    if !is_known {
        return stream.write_all(&[REFUSED]);
    }
    let hint = read_part(&mut stream)?;
    let text = read_part(&mut stream)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let kind = PromptKind::of(&text, &String::from_utf8_lossy(&hint));
    let mut watched = stream.try_clone()?;
    let reply = PromptReply {
        stream: Some(stream),
        connection,
    };
    // Refused if the receiver is gone: the prompt is dropped with the error.
    let (waiting, ended) = async_channel::bounded(1);
    let prompt = Prompt {
        text,
        kind,
        reply,
        ended,
    };
    if prompts.send_blocking(prompt).is_err() {
        return Ok(());
    }
    // The client sends nothing more; its end closes the connection.
    watched.set_read_timeout(None)?;
    let end = watched.read(&mut [0]);
    drop(waiting);
    end.map(drop)
}
