//! Commands of a session in the sandbox: in the room that is kept up for it, or in one of their own.

use std::ffi::OsString;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use host::process::{Bound, BoundStart, Bounds, Denial, End, Planted};
use sandbox::{Access, Denied, Ender, Order, Policy, Refused, Room, Running};

use super::lookout::Lookout;

/// Commands with one policy of their own.
pub(super) struct Fresh {
    pub(super) policy: Policy,
    pub(super) lookout: Arc<Lookout>,
    pub(super) variables: Vec<(OsString, OsString)>,
}

/// Commands in a room that is kept up.
pub(super) struct Warm {
    pub(super) room: Arc<Room>,
    pub(super) lookout: Arc<Lookout>,
    pub(super) variables: Vec<(OsString, OsString)>,
}

impl Bounds for Fresh {
    fn start(&self, start: BoundStart) -> Result<Box<dyn Bound>, String> {
        let order = order(start, &self.variables);
        started(&self.lookout, || sandbox::start(&self.policy, order))
    }
}

impl Bounds for Warm {
    fn start(&self, start: BoundStart) -> Result<Box<dyn Bound>, String> {
        let order = order(start, &self.variables);
        started(&self.lookout, || self.room.start(order))
    }
}

fn started(
    lookout: &Arc<Lookout>,
    start: impl FnOnce() -> Result<Running, Refused>,
) -> Result<Box<dyn Bound>, String> {
    lookout.begin();
    match start() {
        Ok(running) => Ok(Box::new(Started::of(running, lookout.clone()))),
        Err(refused) => {
            lookout.end(&[]);
            Err(refused.to_string())
        }
    }
}

fn order(start: BoundStart, more: &[(OsString, OsString)]) -> Order {
    let mut environment = start.variables;
    environment.extend(more.iter().cloned());
    Order {
        program: start.program,
        arguments: start.arguments,
        folder: start.folder,
        environment,
        streams: start.streams,
        terminal: start.has_terminal,
    }
}

/// A command that runs, or ran.
struct Started {
    id: u32,
    ender: Ender,
    running: Mutex<Option<Running>>,
    denials: Mutex<Vec<Denial>>,
    lookout: Arc<Lookout>,
    planted: Mutex<Vec<Planted>>,
    is_over: Mutex<bool>,
    ended: Condvar,
}

impl Started {
    fn of(running: Running, lookout: Arc<Lookout>) -> Self {
        Self {
            id: running.id(),
            ender: running.ender(),
            running: Mutex::new(Some(running)),
            denials: Mutex::default(),
            lookout,
            planted: Mutex::default(),
            is_over: Mutex::new(false),
            ended: Condvar::new(),
        }
    }
}

impl Bound for Started {
    fn id(&self) -> u32 {
        self.id
    }

    fn wait(&self) -> (End, usize) {
        let Some(running) = lock(&self.running).take() else {
            return (End::Signalled(0), 0);
        };
        let fixed = running.fixed();
        let finished = running.wait();
        *lock(&self.planted) = self.lookout.end(&fixed);
        let denials = finished.denials.iter().map(denial).collect();
        *lock(&self.denials) = denials;
        *lock(&self.is_over) = true;
        self.ended.notify_all();
        let end = match finished.end {
            sandbox::End::Exit(code) => End::Exited(code),
            sandbox::End::Signal(signal) => End::Signalled(signal),
        };
        (end, 0)
    }

    fn denials(&self) -> Vec<Denial> {
        lock(&self.denials).clone()
    }

    fn planted(&self) -> Vec<Planted> {
        lock(&self.planted).clone()
    }

    fn interrupt(&self) {
        self.ender.signal(INTERRUPT);
    }

    fn stop(&self, grace: Duration) {
        if grace > Duration::ZERO {
            self.ender.signal(END);
            let waited = self
                .ended
                .wait_timeout_while(lock(&self.is_over), grace, |is_over| !*is_over);
            drop(waited);
        }
        self.ender.end();
    }

    fn members(&self) -> Vec<u32> {
        match *lock(&self.is_over) {
            true => Vec::new(),
            false => vec![self.id],
        }
    }
}

/// As the terminal's Ctrl+C, and as a polite request to end; the numbers are the same everywhere.
const INTERRUPT: i32 = 2;
const END: i32 = 15;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn denial(denied: &Denied) -> Denial {
    match denied {
        Denied::Path { path, access } => match access {
            Access::Read => Denial::Read(path.clone()),
            Access::Write | Access::Create | Access::Remove => Denial::Write(path.clone()),
            Access::Connect => Denial::Connect(path.clone()),
        },
        Denied::Host { host, port } => Denial::Host(host.clone(), *port),
        Denied::Call { name } => Denial::Call((*name).to_owned()),
    }
}
