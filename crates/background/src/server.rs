//! The background process: offers the engines of this process to other programs of the same user.
//!
//! Invariant: one server runs for a state folder; it holds a lock beside its socket.
//! Invariant: it ends by itself after `BackgroundOptions::idle_time` without a client and without a
//! session that works or waits for the user, and without a command in a shell. A shell without a command ends after the
//! same time.
//! Start at `BackgroundServer::open`.

mod client_memory;
mod outbox;
mod served_client;
mod served_stream;

use std::os::unix::net::UnixListener as StdUnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::AbsPath;
use host::{Dirs, FileLock, Files as _, RealClock, RealFiles};
use project::UnsavedTexts;
use runtime::indexes::IndexRegistry;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use crate::engines::EngineServices;
use crate::launch::{LOCK, own_stamp};
use crate::protocol::{Hello, PROTOCOL, ServiceStatus};
use crate::shells::KeptShells;
use crate::{Error, launch};

use client_memory::ClientMemory;

/// The usual time without clients and without work after which the process ends.
pub const IDLE_TIME: Duration = Duration::from_secs(600);
/// Number of looks for work within the idle time.
const IDLE_LOOKS: u32 = 20;
/// Time for running sessions to stop when the process ends.
const STOP_TIME: Duration = Duration::from_secs(10);

/// The parameters of the background process.
pub struct BackgroundOptions {
    /// The folders of the user.
    pub dirs: Dirs,
    /// Time without clients and without work after which the process ends.
    pub idle_time: Duration,
}

/// The background process of a user.
pub struct BackgroundServer {
    state: Arc<BackgroundState>,
    listener: StdUnixListener,
    socket: AbsPath,
    idle_time: Duration,
    _lock: FileLock,
}

/// The state that connections share.
struct BackgroundState {
    engines: Arc<EngineServices>,
    shells: KeptShells,
    unsaved: Arc<UnsavedTexts>,
    hello: Hello,
    memory: ClientMemory,
    clients: AtomicUsize,
    /// Notified when the process is to end.
    end: Notify,
}

/// Runs the background process until it is idle for long, a client stops it, or it gets SIGINT or
/// SIGTERM. Fails with `RunsAlready` if another process serves these folders.
pub fn serve(dirs: &Dirs, idle_time: Duration) -> Result<(), Error> {
    let server = BackgroundServer::open(BackgroundOptions {
        dirs: dirs.clone(),
        idle_time,
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let stopped = async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        server.run(stopped).await
    })
}

impl BackgroundServer {
    /// Opens the socket in the user's state folder. Fails with `RunsAlready` if another process
    /// serves this folder.
    pub fn open(options: BackgroundOptions) -> Result<Self, Error> {
        let BackgroundOptions { dirs, idle_time } = options;
        dirs.create()?;
        let socket = launch::socket(&dirs)?;
        let lock = RealFiles.lock(&dirs.state.join(LOCK))?;
        let lock = lock.ok_or(Error::RunsAlready)?;
        // This process holds the lock, so any socket of that name is stale.
        match RealFiles.remove(&socket) {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        let listener = launch::bind_private(&socket)?;
        let unsaved = Arc::new(UnsavedTexts::default());
        let indexes = IndexRegistry::new(&dirs);
        let engines = EngineServices::new(dirs, unsaved.clone(), indexes);
        let id = launch::fresh_id();
        let state = Arc::new(BackgroundState {
            engines: Arc::new(engines),
            shells: KeptShells::new(id.clone(), Arc::new(RealClock::default())),
            unsaved,
            hello: Hello {
                protocol: PROTOCOL,
                id,
                program: own_stamp(),
            },
            memory: ClientMemory::default(),
            clients: AtomicUsize::new(0),
            end: Notify::new(),
        });
        Ok(Self {
            state,
            listener,
            socket,
            idle_time,
            _lock: lock,
        })
    }

    /// Serves clients until the process is idle for long, a client stops it, or `stopped` resolves.
    /// Running sessions and shells are stopped before it returns. Must be called on a tokio runtime.
    pub async fn run(self, stopped: impl Future<Output = ()>) -> Result<(), Error> {
        let listener = UnixListener::from_std(self.listener.try_clone()?)?;
        self.state.engines.run_automations(Duration::ZERO);
        tokio::pin!(stopped);
        let mut ticks = tokio::time::interval(self.idle_time / IDLE_LOOKS);
        let mut idle_looks = 0;
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        idle_looks = 0;
                        self.serve(stream);
                    }
                    // The limit of open files passes; the next connection is tried again.
                    Err(error) => log::warn!("a program could not connect: {error}"),
                },
                () = self.state.end.notified() => break,
                () = &mut stopped => break,
                _ = ticks.tick() => {
                    let is_connected = self.state.is_connected();
                    self.state.shells.end_unused(is_connected, IDLE_LOOKS).await;
                    idle_looks = if self.state.is_busy().await { 0 } else { idle_looks + 1 };
                    if idle_looks > IDLE_LOOKS {
                        break;
                    }
                }
            }
        }
        // At the same time: neither takes from the time of the other.
        tokio::join!(
            self.state.engines.stop_sessions(STOP_TIME),
            self.state.shells.end_all()
        );
        Ok(())
    }

    fn serve(&self, stream: UnixStream) {
        let state = self.state.clone();
        tokio::spawn(async move {
            state.clients.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = served_client::serve(&state, stream).await {
                log::warn!("a connection ended: {error}");
            }
            state.clients.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

impl Drop for BackgroundServer {
    fn drop(&mut self) {
        // An error is harmless: the next server takes over a socket that stays.
        RealFiles.remove(&self.socket).ok();
    }
}

impl BackgroundState {
    async fn status(&self) -> ServiceStatus {
        ServiceStatus {
            pid: std::process::id(),
            clients: self.clients.load(Ordering::Relaxed),
            sessions: self.engines.open_sessions().await,
            shells: self.shells.list().await,
        }
    }

    /// Whether a program is connected, which may have a window.
    fn is_connected(&self) -> bool {
        self.clients.load(Ordering::Relaxed) > 0
    }

    async fn is_busy(&self) -> bool {
        let status = self.status().await;
        status.clients > 0 || status.is_busy() || self.engines.has_automations()
    }
}
