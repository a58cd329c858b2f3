//! Sandboxes from nothing, and rooms that are kept.
//!
//! A room has one seat ready at any time: putting the next one up happens while the last order runs.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use super::group::Group;
use super::plan::{self, Plan};
use super::running::{Keeps, Running, Seat, gone, hear};
use super::{kernel, launch, order, wire};
use crate::{Denials, Denied, Layer, Order, Policy, Refused};

/// Runs one order in a sandbox of its own.
pub(crate) fn start(policy: &Policy, order: Order) -> Result<Running, Refused> {
    open(policy, false)?.run(policy, order)
}

/// Has a sandbox opened, `is_room` when it is to be kept. What it says about it is still to be heard.
///
/// The disk is looked at while the kernel makes the namespaces; a policy that is refused then ends what was begun.
fn open(policy: &Policy, is_room: bool) -> Result<Seat, Refused> {
    let missing = |step: &str, errno: i32| Refused::Missing {
        layer: Layer::Namespaces,
        step: step.to_owned(),
        cause: io::Error::from_raw_os_error(errno),
        advice: "more processes and open files have to be allowed",
    };
    let ends = kernel::socket_pair().map_err(|errno| missing("a socket", errno))?;
    let [ours, theirs] = ends.map(launch::owned);
    let group = Group::new(policy);
    let counted = group.iter().flat_map(Group::counters);
    let mut files = vec![theirs.as_fd()];
    files.extend(counted.map(OwnedFd::as_fd));
    launch::open(plan::namespaces(policy), &files)
        .map_err(|errno| missing("the launcher", errno))?;
    // Held only where it runs, so that its end is heard.
    drop(theirs);
    let mut plan = Plan::new(policy, is_room)?;
    let made = std::mem::take(&mut plan.made);
    let file = order::memory_file(&plan.bytes);
    let file = file.map_err(|errno| missing("a file in memory", errno))?;
    let told = [wire::PLAN, plan.bytes.len() as u32, 0];
    let sent = wire::say(ours.as_raw_fd(), told, &[file.as_raw_fd()]);
    let seat = Seat {
        socket: Arc::new(ours),
        process: None,
        plan: Arc::new(plan),
        denials: Denials::default(),
        keeps: Keeps {
            _group: group,
            _made: made,
            ..Keeps::default()
        },
    };
    match sent {
        Ok(()) => Ok(seat),
        Err(errno) => Err(seat.failed(errno)),
    }
}

/// See `crate::Room`.
#[derive(Debug)]
pub(crate) struct Room {
    policy: Policy,
    /// Of the room as a whole; its own denials are those of the proxy.
    main: Seat,
    /// Seats that wait for an order, oldest first.
    ready: Mutex<VecDeque<Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    socket: OwnedFd,
    process: OwnedFd,
}

impl Room {
    pub(crate) fn open(policy: &Policy) -> Result<Self, Refused> {
        let mut main = open(policy, true)?;
        loop {
            let heard = hear(&main.socket).ok_or_else(|| gone("its first process was killed"))?;
            let [kind, stage, errno] = heard.numbers;
            match kind {
                wire::FAILED => return Err(plan::explain(&main.plan, stage, errno as i32)),
                _ => main.settle(policy, heard)?,
            }
            if main.process.is_some() {
                break;
            }
        }
        let room = Self {
            policy: policy.clone(),
            main,
            ready: Mutex::default(),
        };
        // A room that cannot seat anybody is refused now.
        let first = room.hear_seat()?;
        room.ready
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(first);
        Ok(room)
    }

    pub(crate) fn start(room: &Arc<Self>, order: Order) -> Result<Running, Refused> {
        let Waiting { socket, process } = room.take()?;
        let seat = Seat {
            socket: Arc::new(socket),
            process: Some(Arc::new(process)),
            plan: room.main.plan.clone(),
            denials: Denials::default(),
            keeps: Keeps {
                room: Some(room.clone()),
                sockets: room.main.keeps.sockets.clone(),
                ..Keeps::default()
            },
        };
        seat.run(&room.policy, order)
    }

    /// Takes a seat and has the next one made.
    fn take(&self) -> Result<Waiting, Refused> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = match ready.pop_front() {
            Some(waiting) => waiting,
            None => self.hear_seat()?,
        };
        let more = [wire::MORE, 0, 0];
        wire::say(self.main.socket.as_raw_fd(), more, &[])
            .map_err(|errno| gone(&io::Error::from_raw_os_error(errno).to_string()))?;
        Ok(waiting)
    }

    /// Whether the protected names are what they were when the room was opened.
    pub(crate) fn is_current(&self) -> bool {
        self.main.plan.is_current()
    }

    /// What was denied to the room as a whole since this was last asked.
    pub(super) fn denials(&self) -> Vec<Denied> {
        self.main.denials.take()
    }

    fn hear_seat(&self) -> Result<Waiting, Refused> {
        loop {
            let heard = hear(&self.main.socket).ok_or_else(|| gone("its room has ended"))?;
            let [kind, stage, errno] = heard.numbers;
            let mut files = heard.files.into_iter();
            match (kind, files.next(), files.next()) {
                (wire::FAILED, ..) => {
                    return Err(plan::explain(&self.main.plan, stage, errno as i32));
                }
                (wire::SEAT, Some(socket), Some(process)) => {
                    return Ok(Waiting { socket, process });
                }
                _ => {}
            }
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(process) = &self.main.process {
            kernel::kill_by_descriptor(process.as_raw_fd(), libc::SIGKILL);
            while !kernel::wait_readable(process.as_raw_fd(), -1) {}
        }
    }
}
