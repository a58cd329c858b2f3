//! The program's side of a seat: hears what becomes of its order, and ends it.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use base::AbsPath;

use super::caches::Made;
use super::group::Group;
use super::plan::{self, Plan};
use super::room::Room;
use super::watch::Tripwire;
use super::{kernel, launch, order, watch, wire};
use crate::net::Proxy;
use crate::{Denials, End, Finished, Layer, Network, Order, Policy, Refused};

/// A message, with the descriptors that came along.
pub(super) struct Heard {
    pub(super) numbers: [u32; 3],
    pub(super) files: Vec<OwnedFd>,
}

/// Waits for a message; `None` when the other end is gone.
pub(super) fn hear(socket: &OwnedFd) -> Option<Heard> {
    let mut bytes = [0; 12];
    let mut files = [-1; 8];
    let received = kernel::receive(socket.as_raw_fd(), &mut bytes, &mut files);
    let (1.., count) = received.ok()? else {
        return None;
    };
    Some(Heard {
        numbers: [0, 1, 2].map(|ix| wire::number(&bytes, ix)),
        files: files[..count]
            .iter()
            .map(|file| launch::owned(*file))
            .collect(),
    })
}

pub(super) fn gone(reason: &str) -> Refused {
    Refused::Gone {
        reason: reason.to_owned(),
    }
}

/// A seat that waits for its order, or has it.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) socket: Arc<OwnedFd>,
    /// The process that stands for all in it, once it is known.
    pub(super) process: Option<Arc<OwnedFd>>,
    pub(super) plan: Arc<Plan>,
    pub(super) denials: Denials,
    /// Keeps the room, or what belongs to a sandbox of its own.
    pub(super) keeps: Keeps,
}

/// What is to be let go when an order has ended.
#[derive(Debug, Default)]
pub(super) struct Keeps {
    pub(super) room: Option<Arc<Room>>,
    pub(super) _group: Option<Group>,
    pub(super) proxy: Option<Proxy>,
    pub(super) tripwire: Option<Tripwire>,
    /// Caches that go when the sandbox goes.
    pub(super) _made: Made,
    /// Tells about the sockets of the sandbox.
    pub(super) sockets: Option<Arc<OwnedFd>>,
}

impl Seat {
    /// Hands the order over and hears whether it runs.
    pub(super) fn run(mut self, policy: &Policy, order: Order) -> Result<Running, Refused> {
        let packed = order::Packed::new(policy, &order);
        let streams = &order.streams;
        packed
            .send(&self.socket, streams)
            .map_err(|errno| self.failed(errno))?;
        loop {
            let heard = hear(&self.socket).ok_or_else(|| gone("its first process was killed"))?;
            let [kind, stage, errno] = heard.numbers;
            match kind {
                wire::FAILED => return Err(refusal(&self.plan, &order, stage, errno as i32)),
                wire::STARTED => break,
                _ => self.settle(policy, heard)?,
            }
        }
        let process = self.process.clone();
        let process = process.ok_or_else(|| gone("its first process is not known"))?;
        let ender = Ender {
            process,
            socket: self.socket.clone(),
        };
        Ok(Running {
            seat: self,
            ender,
            without: policy.without.clone(),
            is_over: false,
        })
    }

    /// Too long to be sent, or nobody there.
    pub(super) fn failed(&self, errno: i32) -> Refused {
        // What was said before the end explains it better than the end.
        while let Some(heard) = hear(&self.socket) {
            if heard.numbers[0] == wire::FAILED {
                return plan::explain(&self.plan, heard.numbers[1], heard.numbers[2] as i32);
            }
        }
        gone(&io::Error::from_raw_os_error(errno).to_string())
    }

    /// Takes what comes along while a sandbox or a seat is put up.
    pub(super) fn settle(&mut self, policy: &Policy, heard: Heard) -> Result<(), Refused> {
        let [wire::READY, with, _] = heard.numbers else {
            return Ok(());
        };
        let mut files = heard.files.into_iter();
        let mut next = |what: u32| if with & what == 0 { None } else { files.next() };
        if let Some(listener) = next(wire::WITH_PROXY) {
            self.keeps.proxy = self.proxy(policy, listener)?;
        }
        if let Some(listener) = next(wire::WITH_PORT)
            && let Some(proxy) = &mut self.keeps.proxy
        {
            proxy.lead_on(listener.into()).map_err(no_proxy)?;
        }
        if let Some(sockets) = next(wire::WITH_SOCKETS) {
            self.keeps.sockets = Some(Arc::new(sockets));
        }
        if let Some(questions) = next(wire::WITH_QUESTIONS) {
            let sockets = self.keeps.sockets.clone();
            watch::answer(questions, self.plan.clone(), self.denials.clone(), sockets);
        }
        if let Some(process) = next(wire::WITH_PROCESS).map(Arc::new) {
            if self.keeps.room.is_none() {
                self.keeps.tripwire = Tripwire::set(&self.plan, &process, &self.denials);
            }
            self.process = Some(process);
        }
        Ok(())
    }

    fn proxy(&self, policy: &Policy, listener: OwnedFd) -> Result<Option<Proxy>, Refused> {
        let Network::Hosts(rules) = &policy.network else {
            return Ok(None);
        };
        let proxy = Proxy::start(listener.into(), rules, self.denials.clone());
        proxy.map(Some).map_err(no_proxy)
    }
}

fn no_proxy(cause: io::Error) -> Refused {
    Refused::Missing {
        layer: Layer::Network,
        step: "starting the proxy".to_owned(),
        cause,
        advice: "more threads or open files have to be allowed",
    }
}

fn refusal(plan: &Plan, order: &Order, stage: u32, errno: i32) -> Refused {
    let cause = io::Error::from_raw_os_error(errno);
    match stage {
        wire::stage::PROGRAM => Refused::Program {
            program: order.program.to_string_lossy().into_owned(),
            cause,
        },
        wire::stage::FOLDER => Refused::Folder {
            folder: order.folder.clone(),
            reason: format!("seen from inside the sandbox, {cause}"),
        },
        wire::stage::TERMINAL => Refused::Policy {
            reason: format!("its input cannot become its terminal: {cause}"),
        },
        _ => plan::explain(plan, stage, errno),
    }
}

/// See `crate::Running`.
#[derive(Debug)]
pub(crate) struct Running {
    seat: Seat,
    ender: Ender,
    without: BTreeSet<Layer>,
    is_over: bool,
}

impl Running {
    pub(crate) fn id(&self) -> u32 {
        process_number(self.ender.process.as_raw_fd()).unwrap_or_default()
    }

    pub(crate) fn fixed(&self) -> Vec<AbsPath> {
        let fixed = self.seat.plan.fixed.iter();
        fixed.filter_map(AbsPath::new).collect()
    }

    pub(crate) fn wait(mut self) -> Finished {
        let (status, is_alone) = loop {
            match hear(&self.seat.socket).map(|heard| heard.numbers) {
                Some([wire::ENDED, status, alone]) => break (status as i32, alone != 0),
                Some(_) => {}
                None => break (libc::SIGKILL, false),
            }
        };
        if !is_alone {
            self.ender.see_dead();
        }
        self.is_over = true;
        let end = match status & 0x7f {
            0 => End::Exit(status >> 8 & 0xff),
            signal => End::Signal(signal),
        };
        let mut denials = self.seat.denials.take();
        if let Some(room) = &self.seat.keeps.room {
            // Hosts are denied to a room, not to an order: whichever ends next tells of it.
            denials.extend(room.denials());
        }
        Finished {
            end,
            denials,
            without: std::mem::take(&mut self.without),
        }
    }

    pub(crate) fn ender(&self) -> Ender {
        self.ender.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            self.ender.end();
        }
    }
}

/// See `crate::Ender`.
#[derive(Clone, Debug)]
pub(crate) struct Ender {
    process: Arc<OwnedFd>,
    socket: Arc<OwnedFd>,
}

impl Ender {
    pub(crate) fn end(&self) {
        kernel::kill_by_descriptor(self.process.as_raw_fd(), libc::SIGKILL);
        self.see_dead();
    }

    pub(crate) fn signal(&self, signal: i32) {
        let message = [wire::SIGNAL, signal as u32, 0];
        // An order that has ended takes no signals.
        wire::say(self.socket.as_raw_fd(), message, &[]).unwrap_or_default();
    }

    /// The kernel ends process 1 of a namespace only when all others in it are dead.
    fn see_dead(&self) {
        while !kernel::wait_readable(self.process.as_raw_fd(), -1) {}
    }
}

/// The number of a process by its descriptor.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel's own words about a descriptor are no file of anybody's"
)]
fn process_number(descriptor: RawFd) -> Option<u32> {
    let facts = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    line.trim().parse().ok()
}
