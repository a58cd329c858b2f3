//! The socket of the background process: finding, starting and stopping the process.
//!
//! Invariant: each side checks that the other one belongs to the same user.
//! Invariant: whether a program was replaced is decided on the machine where it runs.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixListener as StdUnixListener;
use std::sync::atomic::{self, AtomicU64};
use std::time::Duration;

use base::AbsPath;
use host::{Clock as _, Dirs, Files as _, RealClock, RealFiles};
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;

use crate::Error;
use crate::connection::{read_message, write_message};
use crate::protocol::{
    ClientMessage, Hello, PROTOCOL, ProgramStamp, ServerMessage, ServiceRequest, ServiceStatus,
};

/// Name of the socket, without its ending.
pub(crate) const SOCKET: &str = "agents";
/// Name of the lock file of the running process.
pub(crate) const LOCK: &str = "agents.lock";
/// Name of the file that receives the output of the process.
const LOG: &str = "agents.log";

/// Time for the other side to say hello.
const HELLO_TIME: Duration = Duration::from_secs(5);
/// Time for a started process to listen, and pause between two looks.
const START_TIME: Duration = Duration::from_secs(15);
const START_PAUSE: Duration = Duration::from_millis(10);
/// Time for a process to be started, and for a replaced one to end before.
const READY_TIME: Duration = Duration::from_secs(40);

/// The program that becomes the background process.
#[derive(Clone, Debug)]
pub struct ServerProgram {
    /// Path of the program.
    pub path: AbsPath,
    /// The arguments that make it the background process.
    pub arguments: Vec<OsString>,
}

/// The background process of this user on this machine, running or not.
#[derive(Clone, Debug)]
pub(crate) struct LocalServer {
    pub(crate) dirs: Dirs,
    pub(crate) program: ServerProgram,
}

impl LocalServer {
    /// Connects to the process, and starts it if `is_needed`.
    pub(crate) async fn connect(
        &self,
        hello: &Hello,
        is_needed: bool,
    ) -> Result<(UnixStream, Hello), Error> {
        match connect(&socket(&self.dirs)?, hello).await {
            Err(Error::NotRunning) if is_needed => start(&self.program, &self.dirs, hello).await,
            done => done,
        }
    }

    /// Ends the process of `server`, to which the caller is connected, if its program file was replaced
    /// and it is idle and has no shell. Returns whether it ends.
    pub(crate) async fn end_replaced(&self, server: &Hello, hello: &Hello) -> Result<bool, Error> {
        let now = stamp(&self.program.path);
        if server.program.path != now.path || server.program == now {
            return Ok(false);
        }
        let (other, _) = connect(&socket(&self.dirs)?, hello).await?;
        let status: ServiceStatus = ask_over(other, ServiceRequest::Status).await?;
        // The caller and the connection that asked are clients too.
        if status.is_busy() || status.clients > 2 || !status.shells.is_empty() {
            return Ok(false);
        }
        ask_to_stop(&self.dirs, false).await
    }

    /// Starts the process if it does not run, and replaces an idle one whose program file was replaced.
    /// A process of another version stays: the client decides whether it can talk to it.
    pub(crate) async fn make_ready(&self) -> Result<(), Error> {
        let hello = client_hello();
        let ready = async {
            loop {
                let (stream, server) = match self.connect(&hello, true).await {
                    Err(error) if error.is_other_version() => return Ok(()),
                    done => done?,
                };
                match self.end_replaced(&server, &hello).await {
                    Ok(false) => return Ok(()),
                    Ok(true) | Err(Error::NotRunning) => drop(stream),
                    Err(error) => return Err(error),
                }
                tokio::time::sleep(START_PAUSE).await;
            }
        };
        let ready = tokio::time::timeout(READY_TIME, ready).await;
        ready.unwrap_or(Err(Error::NotRunning))
    }
}

/// Returns the path of the socket.
pub(crate) fn socket(dirs: &Dirs) -> Result<AbsPath, Error> {
    Ok(host::private_socket(&dirs.state, SOCKET)?)
}

/// Listens at a socket in a private folder.
pub(crate) fn bind_private(socket: &AbsPath) -> Result<StdUnixListener, Error> {
    let listener = StdUnixListener::bind(socket.as_path())?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Fails with `OtherUser` if the other side belongs to another user.
pub(crate) fn check_user(stream: &UnixStream) -> Result<(), Error> {
    let other = stream.peer_cred()?.uid();
    if host::process::is_own_user(other) {
        Ok(())
    } else {
        Err(Error::OtherUser)
    }
}

/// Returns a name that no other process and no other call has.
pub(crate) fn fresh_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, atomic::Ordering::Relaxed);
    let now = RealClock::default().wall_ms();
    format!("{}-{now}-{count}", std::process::id())
}

/// Returns the stamp of this program.
pub(crate) fn own_stamp() -> ProgramStamp {
    let program = host::own_program();
    program.map(|it| stamp(&it)).unwrap_or_default()
}

/// Returns the stamp of a program file as it is now.
pub(crate) fn stamp(program: &AbsPath) -> ProgramStamp {
    let modified = RealFiles.stat(program).map(|stat| stat.stamp.mtime_ns);
    ProgramStamp {
        path: program.to_string(),
        modified_ns: modified.map_or(0, |ns| u64::try_from(ns).unwrap_or_default()),
    }
}

/// Returns the hello of this program as a client.
pub(crate) fn client_hello() -> Hello {
    Hello {
        protocol: PROTOCOL,
        id: fresh_id(),
        program: own_stamp(),
    }
}

/// Connects to the running process. Fails with `NotRunning` if there is none.
pub(crate) async fn connect(socket: &AbsPath, hello: &Hello) -> Result<(UnixStream, Hello), Error> {
    let (mut stream, answer) = greet(socket, hello).await?;
    let checked = check_version(&answer);
    if checked.is_err() {
        // The other side waits for nothing any more.
        tokio::io::AsyncWriteExt::shutdown(&mut stream).await.ok();
    }
    checked.map(|()| (stream, answer))
}

/// Fails if the other side uses another version of the messages.
pub(crate) fn check_version(answer: &Hello) -> Result<(), Error> {
    match answer.protocol.cmp(&PROTOCOL) {
        Ordering::Less => Err(Error::OlderProcess),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(Error::NewerProcess),
    }
}

async fn greet(socket: &AbsPath, hello: &Hello) -> Result<(UnixStream, Hello), Error> {
    let stream = UnixStream::connect(socket.as_path()).await;
    let mut stream = stream.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Error::NotRunning,
        _ => error.into(),
    })?;
    check_user(&stream)?;
    let answer = tokio::time::timeout(HELLO_TIME, exchange_hello(&mut stream, hello)).await;
    let answer = answer.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    Ok((stream, answer))
}

/// Sends a hello and returns the answer.
async fn exchange_hello(stream: &mut UnixStream, hello: &Hello) -> Result<Hello, Error> {
    write_message(stream, hello).await?;
    // Without an answer it ends just now.
    read_message(stream).await?.ok_or(Error::NotRunning)
}

/// Starts the process from `program` and connects to it. Another program may start it at the same
/// time: one of both serves.
pub(crate) async fn start(
    program: &ServerProgram,
    dirs: &Dirs,
    hello: &Hello,
) -> Result<(UnixStream, Hello), Error> {
    let log = dirs.state.join(LOG);
    let ServerProgram { path, arguments } = program;
    host::process::start_detached(path, arguments, &dirs.state, &log)?;
    let socket = socket(dirs)?;
    let connected = async {
        loop {
            match connect(&socket, hello).await {
                Err(Error::NotRunning) => tokio::time::sleep(START_PAUSE).await,
                done => return done,
            }
        }
    };
    let connected = tokio::time::timeout(START_TIME, connected).await;
    connected.unwrap_or(Err(Error::NotRunning))
}

/// Asks the running process for its work. Returns `None` if no process is running.
pub async fn ask_status(dirs: &Dirs) -> Result<Option<ServiceStatus>, Error> {
    match ask(dirs, ServiceRequest::Status).await {
        Ok(mut status) => {
            let status: &mut ServiceStatus = &mut status;
            // The one that asks is not counted.
            status.clients = status.clients.saturating_sub(1);
            Ok(Some(status.clone()))
        }
        Err(Error::NotRunning) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Asks the running process to end, with its running sessions only if `with_sessions` is true.
/// Returns whether it ends. Fails with `NotRunning` if no process is running.
pub async fn ask_to_stop(dirs: &Dirs, with_sessions: bool) -> Result<bool, Error> {
    match ask(dirs, ServiceRequest::Stop { with_sessions }).await {
        Err(error) if with_sessions && error.is_other_version() => {
            terminate(dirs).await.map(|()| true)
        }
        done => done,
    }
}

/// Sends SIGTERM to the process that listens, whose messages are of another version.
async fn terminate(dirs: &Dirs) -> Result<(), Error> {
    let (stream, _) = greet(&socket(dirs)?, &client_hello()).await?;
    let process = stream.peer_cred()?.pid().ok_or(Error::NotRunning)?;
    Ok(host::process::terminate(process)?)
}

async fn ask<T: DeserializeOwned>(dirs: &Dirs, request: ServiceRequest) -> Result<T, Error> {
    let (stream, _) = connect(&socket(dirs)?, &client_hello()).await?;
    ask_over(stream, request).await
}

/// Sends one request over a connection and returns its result.
pub(crate) async fn ask_over<T: DeserializeOwned>(
    mut stream: UnixStream,
    request: ServiceRequest,
) -> Result<T, Error> {
    write_message(&mut stream, &ClientMessage::Ask { id: 0, request }).await?;
    while let Some(message) = read_message::<ServerMessage>(&mut stream).await? {
        if let ServerMessage::Result { result, .. } = message {
            let value = result.map_err(|why| Error::Unreadable(format!("{why:?}")))?;
            let value = serde_json::from_value(value);
            return value.map_err(|error| Error::Unreadable(error.to_string()));
        }
    }
    Err(Error::NotRunning)
}
