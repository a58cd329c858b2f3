//! Runs a program to its end: streamed, bounded and cancellable.
//!
//! Invariant: when a function here returns, the program and its descendants are gone.
//! Invariant: a cancelled writer is asked to end first, so that Git removes its lock files.

use std::io::{ErrorKind, Read, Write};
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use host::process::{
    LaunchRequest, LiveProcess, OutputSink, ProcessExit, ProcessGroup, StartRequest, TerminalSize,
    spawn, start,
};

use crate::cancellation::Cancellation;
use crate::error::Error;

/// Time that a cancelled writer has to remove its lock files.
const GRACE: Duration = Duration::from_secs(2);
/// Time to wait for remaining output once a streamed program has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// Pieces of output that may wait; the program blocks while there are more.
const WAITING_PIECES: usize = 16;

/// The way a program is stopped when its call is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopMethod {
    /// At once: it holds no lock.
    Kill,
    /// With a request to end, and after two seconds at once.
    Terminate,
}

/// The end of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// It ended by itself.
    Ended(ProcessExit),
    /// The receiver of its output wanted no more.
    Stopped,
}

impl RunEnd {
    pub(crate) fn is_success(self) -> bool {
        matches!(self, Self::Stopped | Self::Ended(ProcessExit::Exited(0)))
    }
}

/// The terminal of a streamed program, such as a hook that prints colours.
#[derive(Clone, Debug)]
pub struct CallTerminal {
    /// Its size in cells.
    pub size: TerminalSize,
    /// Bytes typed by the user.
    pub input: Option<async_channel::Receiver<Vec<u8>>>,
}

/// Runs a program with separate outputs until it ends, `on_output` breaks, or the call is cancelled.
pub(crate) fn run(
    request: &StartRequest,
    input: &[u8],
    method: StopMethod,
    cancellation: &Cancellation,
    on_output: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    on_errors: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<RunEnd, Error> {
    if cancellation.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let live = start(request)?;
    let LiveProcess {
        input: mut stdin,
        output: mut stdout,
        errors: mut stderr,
        group,
    } = live;
    let group = Arc::new(group);
    let (running, ended) = mpsc::channel::<()>();
    let ended = Arc::new(Mutex::new(ended));
    let guard = {
        let group = Arc::clone(&group);
        cancellation.on_cancel(move || stop(&group, method, &ended))
    };
    let flow = thread::scope(|scope| {
        scope.spawn(move || {
            // A program may ignore its input; dropping the pipe ends it.
            stdin.write_all(input).ok();
        });
        scope.spawn(|| {
            read(&mut stderr, &mut |bytes| {
                on_errors(bytes);
                ControlFlow::Continue(())
            })
        });
        let flow = read(&mut stdout, on_output);
        if flow.is_break() {
            group.kill();
        }
        flow
    });
    let exit = wait(group.wait());
    drop(running);
    drop(guard);
    if cancellation.is_cancelled() {
        return Err(Error::Cancelled);
    }
    Ok(match flow {
        ControlFlow::Continue(()) => RunEnd::Ended(exit),
        ControlFlow::Break(()) => RunEnd::Stopped,
    })
}

/// Blocks until a future is ready. An executor would refuse to run within another one.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Wakes the thread that waits for a future.
struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Stops a group without blocking. `ended` closes when the program has ended.
fn stop(group: &Arc<ProcessGroup>, method: StopMethod, ended: &Arc<Mutex<mpsc::Receiver<()>>>) {
    if method == StopMethod::Kill {
        group.kill();
        return;
    }
    group.terminate();
    let (group, ended) = (Arc::clone(group), Arc::clone(ended));
    thread::spawn(move || {
        let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
            group.kill();
        }
    });
}

/// Passes everything that a pipe yields to `take` until its end, an error, or until `take` breaks.
fn read(pipe: &mut impl Read, take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match pipe.read(&mut chunk) {
            Ok(0) => return ControlFlow::Continue(()),
            Ok(count) => take(&chunk[..count])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return ControlFlow::Continue(()),
        }
    }
}

/// A message about a streamed program.
enum StreamMessage {
    Output(Vec<u8>),
    Ended(ProcessExit),
}

/// Runs a program whose two outputs are one stream, with a terminal if the request has one.
pub(crate) fn run_streamed(
    request: &LaunchRequest,
    typed: Option<async_channel::Receiver<Vec<u8>>>,
    cancellation: &Cancellation,
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<RunEnd, Error> {
    if cancellation.is_cancelled() {
        return Err(Error::Cancelled);
    }
    let (sender, messages) = mpsc::sync_channel(WAITING_PIECES);
    let output = sender.clone();
    let sink: OutputSink = Box::new(move |bytes| {
        // The receiver is gone once the program has ended.
        output.send(StreamMessage::Output(bytes.to_vec())).ok();
    });
    let process = Arc::new(spawn(request, sink)?);
    let stopped = Arc::clone(&process);
    let guard = cancellation.on_cancel(move || {
        let stopped = Arc::clone(&stopped);
        thread::spawn(move || stopped.stop(GRACE));
    });
    if let Some(typed) = typed {
        let process = Arc::downgrade(&process);
        thread::spawn(move || {
            while let Ok(bytes) = typed.recv_blocking() {
                let Some(process) = process.upgrade() else {
                    break;
                };
                process.write(bytes);
            }
        });
    }
    let exits = process.exit_receiver();
    thread::spawn(move || {
        let report = exits.recv_blocking();
        let exit = report.map_or(ProcessExit::Signalled(0), |report| report.exit);
        // The receiver waits for this message.
        sender.send(StreamMessage::Ended(exit)).ok();
    });
    let exit = receive(&messages, on_output);
    drop(guard);
    if cancellation.is_cancelled() {
        return Err(Error::Cancelled);
    }
    Ok(RunEnd::Ended(exit))
}

/// Passes on output until the program has ended and its output was read.
fn receive(
    messages: &mpsc::Receiver<StreamMessage>,
    on_output: &mut dyn FnMut(&[u8]),
) -> ProcessExit {
    let exit = loop {
        match messages.recv() {
            Ok(StreamMessage::Output(bytes)) => on_output(&bytes),
            Ok(StreamMessage::Ended(exit)) => break exit,
            Err(_) => return ProcessExit::Signalled(0),
        }
    };
    // A slow receiver may not have got everything yet; a process that escaped may hold the pipe.
    while let Ok(message) = messages.recv_timeout(DRAIN) {
        if let StreamMessage::Output(bytes) = message {
            on_output(&bytes);
        }
    }
    exit
}
