//! A supervisor: receives one request, executes it, and reaps its children.
//!
//! Invariant: the program starts with the filter, without capabilities, unable to gain privileges,
//! and with three descriptors.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::os::fd::RawFd;

use super::init::{Failure, at, fail};
use super::kernel::{self, Errno, ReapResult};
use super::plan_encoding::{self, PlanView};
use super::protocol::{self, stage};

/// Maximum size in bytes of a request sent in the message itself; a longer one is sent as a file.
pub(super) const INLINE: usize = 64 << 10;

/// Numbers before a request's strings.
pub(super) const NUMBERS: usize = 7;

/// Runs as a supervisor.
pub(super) fn serve(view: &PlanView<'_>, socket: RawFd) -> ! {
    match prepare(view, socket).and_then(|supervisor| supervisor.run()) {
        Ok((status, is_alone)) => {
            let ended = [protocol::ENDED, status as u32, u32::from(is_alone)];
            // If this fails, no receiver is left.
            protocol::send(socket, ended, &[]).unwrap_or_default();
            kernel::exit(0)
        }
        Err(failure) => fail(socket, failure),
    }
}

struct Supervisor {
    socket: RawFd,
    /// Readable when a child has ended.
    signals: RawFd,
    /// Landlock's ruleset, -1 without.
    rules: RawFd,
    /// Landlock's rights on the streams.
    stream: u64,
    /// Whether it is process 1 of a namespace, so that orphans are reparented to it.
    has_namespace: bool,
}

/// Builds the Landlock ruleset, installs the filter, and sends the program the descriptors that it
/// needs. Fails with the stage and its errno.
fn prepare(view: &PlanView<'_>, socket: RawFd) -> Result<Supervisor, Failure> {
    let head = view.head;
    let rules = if head.has(plan_encoding::LANDLOCK) {
        at(stage::LANDLOCK, rules(view))?
    } else {
        -1
    };
    let signals = at(stage::PROCESSES, kernel::child_signals())?;
    if head.has(plan_encoding::NO_NEW_PRIVS) {
        let locked = kernel::control(libc::PR_SET_NO_NEW_PRIVS, 1, 0);
        at(stage::NO_NEW_PRIVS, locked)?;
    }
    let process = at(stage::PROCESSES, kernel::own_pidfd())?;
    if head.has(plan_encoding::SECCOMP) {
        let questions = at(stage::SECCOMP, kernel::install_filter(view.program()))?;
        let ready = [
            protocol::READY,
            protocol::WITH_NOTIFICATIONS | protocol::WITH_PROCESS,
            0,
        ];
        at(
            stage::REQUEST,
            protocol::send(socket, ready, &[questions, process]),
        )?;
        kernel::close(questions);
    } else {
        let ready = [protocol::READY, protocol::WITH_PROCESS, 0];
        at(stage::REQUEST, protocol::send(socket, ready, &[process]))?;
    }
    kernel::close(process);
    Ok(Supervisor {
        socket,
        signals,
        rules,
        stream: head.stream,
        has_namespace: head.has(plan_encoding::NAMESPACES),
    })
}

/// Returns the descriptor of a Landlock ruleset with the rules of the plan.
fn rules(view: &PlanView<'_>) -> Result<RawFd, Errno> {
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

/// A request as it lies in memory.
struct ReceivedRequest<'a> {
    counts: [usize; 3],
    is_terminal: bool,
    /// The folder, programs to try, arguments, environment: each ends in NUL.
    strings: &'a [u8],
    streams: [RawFd; 3],
}

impl Supervisor {
    /// Receives a request, starts its command and waits for the end. Returns the status as of
    /// `waitpid`, and whether no process is left. Fails with the stage and its errno.
    fn run(&self) -> Result<(i32, bool), Failure> {
        let request = at(stage::REQUEST, self.receive_request())?;
        if self.rules >= 0 {
            for stream in request.streams {
                // Pipes and sockets have no rule and need none; files and terminals do when they
                // are reopened.
                kernel::landlock_allow(self.rules, self.stream, stream).unwrap_or_default();
            }
            at(stage::LANDLOCK, kernel::landlock_restrict(self.rules))?;
            kernel::close(self.rules);
        }
        // Done only now: without `no_new_privs`, the filter and Landlock require capabilities.
        at(stage::CAPABILITIES, kernel::drop_capabilities_if_any())?;
        let program = self.execute(&request)?;
        for stream in request.streams {
            kernel::close(stream);
        }
        at(
            stage::REQUEST,
            protocol::send(self.socket, [protocol::STARTED, 0, 0], &[]),
        )?;
        Ok(self.supervise(program))
    }

    /// Waits for a request. Exits this process if the socket is closed; fails with `EBADMSG` for
    /// another message.
    fn receive_request(&self) -> Result<ReceivedRequest<'static>, Errno> {
        let buffer = kernel::memory(INLINE)?;
        let mut files = [-1; 8];
        let (length, count) = kernel::receive(self.socket, buffer, &mut files)?;
        if length == 0 {
            kernel::exit(0);
        }
        let bytes: &'static [u8] = &buffer[..length];
        let number = |ix| protocol::number(bytes, ix) as usize;
        if number(0) != protocol::REQUEST as usize || count < 3 {
            return Err(libc::EBADMSG);
        }
        let strings = match number(5) {
            0 => bytes.get(4 * NUMBERS..).unwrap_or_default(),
            long => kernel::map(files[3], long)?,
        };
        if let Some(file) = files.get(3).filter(|file| **file >= 0) {
            kernel::close(*file);
        }
        Ok(ReceivedRequest {
            counts: [number(1), number(2), number(3)],
            is_terminal: number(4) != 0,
            strings,
            streams: [files[0], files[1], files[2]],
        })
    }

    /// Starts the command in a new process and returns the id of that process. Fails with the stage
    /// and its errno, also those of the new process before it executes the program.
    fn execute(&self, request: &ReceivedRequest<'_>) -> Result<i32, Failure> {
        let [programs, arguments, environment] = request.counts;
        let mut strings = request.strings;
        let pointers = at(
            stage::REQUEST,
            kernel::pointers(programs + arguments + environment + 2),
        )?;
        let mut next = || -> Result<&CStr, Failure> {
            let string = CStr::from_bytes_until_nul(strings);
            let string = string.map_err(|_| (stage::REQUEST, libc::EBADMSG))?;
            strings = &strings[string.count_bytes() + 1..];
            Ok(string)
        };
        let folder = next()?;
        let (tries, lists) = pointers.split_at_mut(programs);
        let (argv, envp) = lists.split_at_mut(arguments + 1);
        for place in tries.iter_mut() {
            *place = next()?.as_ptr();
        }
        for place in &mut argv[..arguments] {
            *place = next()?.as_ptr();
        }
        for place in &mut envp[..environment] {
            *place = next()?.as_ptr();
        }
        let stage = Cell::new(stage::REQUEST);
        let stack = at(stage::REQUEST, kernel::memory(64 << 10))?;
        let child = || enter(request, &stage, folder, tries, argv, envp);
        let spawned = kernel::spawn(stack, &child);
        at(stage.get(), spawned)
    }

    /// Waits for the program and for all orphans, and forwards signals. Returns the program's
    /// status, and whether no process is left: orphans are reparented to process 1, so without
    /// children the namespace is otherwise empty.
    fn supervise(&self, program: i32) -> (i32, bool) {
        let mut ended = None;
        let mut bytes = [0; 12];
        let mut files = [-1; 8];
        loop {
            loop {
                match (kernel::reap(), ended) {
                    (ReapResult::Ended(child, status), _) if child == program => {
                        ended = Some(status)
                    }
                    (ReapResult::Ended(..), _) => {}
                    (ReapResult::None, Some(status)) => return (status, self.has_namespace),
                    (ReapResult::Running, Some(status)) => return (status, false),
                    (_, None) => break,
                }
            }
            let [is_told, is_ended] = kernel::wait_for([self.socket, self.signals]);
            if is_told {
                let Ok((1.., _)) = kernel::receive(self.socket, &mut bytes, &mut files) else {
                    kernel::exit(0);
                };
                if protocol::number(&bytes, 0) == protocol::SIGNAL {
                    kernel::kill(-program, protocol::number(&bytes, 1) as i32);
                }
            }
            if is_ended {
                kernel::drain(self.signals);
            }
        }
    }
}

/// Performs the last steps in the new process; returns only if one fails.
fn enter(
    request: &ReceivedRequest<'_>,
    stage: &Cell<u32>,
    folder: &CStr,
    programs: &[*const c_char],
    arguments: &[*const c_char],
    environment: &[*const c_char],
) -> Errno {
    let prepared = || -> Result<(), Errno> {
        stage.set(stage::REQUEST);
        kernel::unblock_signals();
        kernel::new_session()?;
        for (number, stream) in request.streams.into_iter().enumerate() {
            kernel::duplicate(stream, number as RawFd)?;
        }
        stage.set(stage::TERMINAL);
        if request.is_terminal {
            kernel::take_terminal(0)?;
        }
        stage.set(stage::FOLDER);
        kernel::change_folder(folder)?;
        stage.set(stage::REQUEST);
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
