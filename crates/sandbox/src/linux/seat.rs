//! A seat: where one order runs. Takes the order, executes it, sees its children out.
//!
//! Invariant: the order's program starts with the filter, without rights that come later, without a
//! capability, and with three descriptors.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::os::fd::RawFd;

use super::blob::{self, View};
use super::init::{Failure, at, fail};
use super::kernel::{self, Errno};
use super::wire::{self, stage};

/// How long an order may be that comes in the message itself; a longer one comes as a file.
pub(super) const INLINE: usize = 64 << 10;

/// Numbers before an order's strings.
pub(super) const NUMBERS: usize = 7;

/// Lives as a seat.
pub(super) fn serve(view: &View<'_>, socket: RawFd) -> ! {
    match prepare(view, socket).and_then(|seat| seat.run()) {
        Ok(status) => {
            let ended = [wire::ENDED, status as u32, 0];
            // With nobody to hear it there is nothing left to say.
            wire::say(socket, ended, &[]).unwrap_or_default();
            kernel::exit(0)
        }
        Err(failure) => fail(socket, failure),
    }
}

struct Seat {
    socket: RawFd,
    /// Readable when a child has ended.
    signals: RawFd,
    /// Landlock's rules, -1 without.
    rules: RawFd,
    /// Landlock's rights on the streams.
    stream: u64,
}

fn prepare(view: &View<'_>, socket: RawFd) -> Result<Seat, Failure> {
    let head = view.head;
    let rules = if head.has(blob::LANDLOCK) {
        at(stage::LANDLOCK, rules(view))?
    } else {
        -1
    };
    let signals = at(stage::PROCESSES, kernel::child_signals())?;
    if head.has(blob::NO_NEW_PRIVS) {
        let locked = kernel::control(libc::PR_SET_NO_NEW_PRIVS, 1, 0);
        at(stage::NO_NEW_PRIVS, locked)?;
    }
    let mut ready = [wire::READY, 0, 0];
    let mut questions = -1;
    if head.has(blob::SECCOMP) {
        questions = at(stage::SECCOMP, kernel::install_filter(view.program()))?;
        ready[1] = wire::WITH_QUESTIONS;
    }
    let files = [questions];
    let files = if questions < 0 { &[][..] } else { &files };
    at(stage::ORDER, wire::say(socket, ready, files))?;
    if questions >= 0 {
        kernel::close(questions);
    }
    Ok(Seat {
        socket,
        signals,
        rules,
        stream: head.stream,
    })
}

fn rules(view: &View<'_>) -> Result<RawFd, Errno> {
    let ruleset = kernel::landlock_create(Some(&view.head.handled))?;
    for ix in 0..view.head.rules as usize {
        let (rights, path) = view.rule(ix).ok_or(libc::EBADMSG)?;
        let beneath = kernel::open_path(libc::AT_FDCWD, path, libc::O_PATH)?;
        let allowed = kernel::landlock_allow(ruleset, rights, beneath);
        kernel::close(beneath);
        allowed?;
    }
    Ok(ruleset)
}

/// An order as it lies in memory.
struct Taken<'a> {
    counts: [usize; 3],
    is_terminal: bool,
    /// The folder, programs to try, arguments, environment: each ends in NUL.
    strings: &'a [u8],
    streams: [RawFd; 3],
}

impl Seat {
    fn run(&self) -> Result<i32, Failure> {
        let order = at(stage::ORDER, self.take())?;
        if self.rules >= 0 {
            for stream in order.streams {
                // Pipes and sockets have no rule and need none; opened anew, the others do.
                kernel::landlock_allow(self.rules, self.stream, stream).unwrap_or_default();
            }
            at(stage::LANDLOCK, kernel::landlock_restrict(self.rules))?;
            kernel::close(self.rules);
        }
        // Only now: who does without `no_new_privs` needs them for the filter and for Landlock.
        at(stage::CAPABILITIES, kernel::drop_capabilities_if_any())?;
        let program = self.execute(&order)?;
        for stream in order.streams {
            kernel::close(stream);
        }
        at(
            stage::ORDER,
            wire::say(self.socket, [wire::STARTED, 0, 0], &[]),
        )?;
        Ok(self.attend(program))
    }

    fn take(&self) -> Result<Taken<'static>, Errno> {
        let buffer = kernel::memory(INLINE)?;
        let mut files = [-1; 8];
        let (length, count) = kernel::receive(self.socket, buffer, &mut files)?;
        if length == 0 {
            kernel::exit(0);
        }
        let bytes: &'static [u8] = &buffer[..length];
        let number = |ix| wire::number(bytes, ix) as usize;
        if number(0) != wire::ORDER as usize || count < 3 {
            return Err(libc::EBADMSG);
        }
        let strings = match number(5) {
            0 => bytes.get(4 * NUMBERS..).unwrap_or_default(),
            long => kernel::map(files[3], long)?,
        };
        if let Some(file) = files.get(3).filter(|file| **file >= 0) {
            kernel::close(*file);
        }
        Ok(Taken {
            counts: [number(1), number(2), number(3)],
            is_terminal: number(4) != 0,
            strings,
            streams: [files[0], files[1], files[2]],
        })
    }

    fn execute(&self, order: &Taken<'_>) -> Result<i32, Failure> {
        let [programs, arguments, environment] = order.counts;
        let mut strings = order.strings;
        let pointers = at(
            stage::ORDER,
            kernel::pointers(programs + arguments + environment + 2),
        )?;
        let mut next = || -> Result<&CStr, Failure> {
            let string = CStr::from_bytes_until_nul(strings);
            let string = string.map_err(|_| (stage::ORDER, libc::EBADMSG))?;
            strings = &strings[string.count_bytes() + 1..];
            Ok(string)
        };
        let folder = next()?;
        let (tries, lists) = pointers.split_at_mut(programs);
        let (told, known) = lists.split_at_mut(arguments + 1);
        for place in tries.iter_mut() {
            *place = next()?.as_ptr();
        }
        for place in &mut told[..arguments] {
            *place = next()?.as_ptr();
        }
        for place in &mut known[..environment] {
            *place = next()?.as_ptr();
        }
        let stage = Cell::new(stage::ORDER);
        let stack = at(stage::ORDER, kernel::memory(64 << 10))?;
        let child = || enter(order, &stage, folder, tries, told, known);
        let spawned = kernel::spawn(stack, &child);
        at(stage.get(), spawned)
    }

    /// Waits for the program, and for all that is left to this process; passes signals on.
    fn attend(&self, program: i32) -> i32 {
        let mut bytes = [0; 12];
        let mut files = [-1; 8];
        loop {
            while let Some((child, status)) = kernel::reap() {
                if child == program {
                    return status;
                }
            }
            let [is_told, is_ended] = kernel::wait_for([self.socket, self.signals]);
            if is_told {
                let Ok((1.., _)) = kernel::receive(self.socket, &mut bytes, &mut files) else {
                    kernel::exit(0);
                };
                if wire::number(&bytes, 0) == wire::SIGNAL {
                    kernel::kill(-program, wire::number(&bytes, 1) as i32);
                }
            }
            if is_ended {
                kernel::drain(self.signals);
            }
        }
    }
}

/// In the new process: the last steps to the program. Comes back only when one fails.
fn enter(
    order: &Taken<'_>,
    stage: &Cell<u32>,
    folder: &CStr,
    programs: &[*const c_char],
    arguments: &[*const c_char],
    environment: &[*const c_char],
) -> Errno {
    let prepared = || -> Result<(), Errno> {
        stage.set(stage::ORDER);
        kernel::unblock_signals();
        kernel::new_session()?;
        for (number, stream) in order.streams.into_iter().enumerate() {
            kernel::duplicate(stream, number as RawFd)?;
        }
        stage.set(stage::TERMINAL);
        if order.is_terminal {
            kernel::take_terminal(0)?;
        }
        stage.set(stage::FOLDER);
        kernel::change_folder(folder)?;
        stage.set(stage::ORDER);
        kernel::close_from(3)
    };
    if let Err(errno) = prepared() {
        return errno;
    }
    stage.set(stage::PROGRAM);
    let mut failed = libc::ENOENT;
    for program in programs {
        match kernel::execute(*program, arguments, environment) {
            libc::ENOENT | libc::ENOTDIR => {}
            errno => failed = errno,
        }
    }
    failed
}
