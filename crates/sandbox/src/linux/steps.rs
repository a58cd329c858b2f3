//! Performs the steps of a plan in process 1.
//!
//! Invariant: no link is followed: if a path that was free of links when the plan was made has one
//! now, another program changed it, and the step fails.

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::init::Failure;
use super::kernel::{self, Errno};
use super::plan_encoding::{self, PlanView, SetupOp, SetupStep};

/// Maximum number of mounts that are held between copying and attaching.
pub(super) const SLOTS: usize = 256;

/// Performs every step; a failure carries the step's index in the plan.
pub(super) fn run(view: &PlanView<'_>) -> Result<(), Failure> {
    let mut slots = [-1; SLOTS];
    for ix in 0..view.head.steps as usize {
        let failure = |errno| (ix as u32, errno);
        let step = view.step(ix).ok_or(failure(libc::EBADMSG))?;
        match run_one(view, step, &mut slots) {
            Err(errno) if step.flags & plan_encoding::OPTIONAL == 0 => return Err(failure(errno)),
            _ => {}
        }
    }
    Ok(())
}

/// Performs one step. `slots` holds the copied mounts that are not attached yet, -1 for none.
fn run_one(view: &PlanView<'_>, step: SetupStep, slots: &mut [RawFd; SLOTS]) -> Result<(), Errno> {
    let path = view.text(step.path).ok_or(libc::EBADMSG)?;
    let other = view.text(step.other).ok_or(libc::EBADMSG)?;
    let slot = slots.get_mut(step.slot as usize).ok_or(libc::EBADMSG)?;
    match step.kind {
        SetupOp::Same => with(path, |file| {
            let is_same = kernel::identity(file)? == (step.a, step.b);
            if is_same { Ok(()) } else { Err(libc::ESTALE) }
        }),
        SetupOp::Attributes => with(path, |file| {
            let mut attributes = step.attributes();
            attributes.propagation = libc::MS_PRIVATE;
            kernel::set_attributes(file, attributes)
        }),
        SetupOp::Copy => with(path, |file| {
            let tree = kernel::copy_tree(file, step.flags & plan_encoding::RECURSIVE != 0)?;
            *slot = tree;
            let mut attributes = step.attributes();
            // Later mounts of the machine must not appear inside.
            attributes.propagation = libc::MS_PRIVATE;
            kernel::set_attributes(tree, attributes)
        }),
        SetupOp::Place => place_mount(step, path, slot),
        SetupOp::Mount => {
            let options = view.text(step.options).ok_or(libc::EBADMSG)?;
            kernel::mount(other, path, step.a, options)
        }
        SetupOp::Folder => {
            kernel::make_folder(path, step.a as u32)?;
            // Sets the exact mode, regardless of the umask.
            kernel::change_mode(path, step.a as u32)
        }
        SetupOp::File => make_file(path),
        SetupOp::Link => kernel::make_link(other, path),
        SetupOp::Limit => kernel::set_limit(step.a as u32, step.b),
    }
}

/// Opens a path as a handle without following links, passes it to `run`, and closes it.
fn with(path: &CStr, run: impl FnOnce(RawFd) -> Result<(), Errno>) -> Result<(), Errno> {
    let file = kernel::open_path(libc::AT_FDCWD, path, libc::O_PATH | libc::O_NOFOLLOW)?;
    let result = run(file);
    kernel::close(file);
    result
}

/// Attaches the slot's mount at a path and empties the slot; does nothing for an empty slot. A
/// missing path is created if the step's flags say so.
fn place_mount(step: SetupStep, path: &CStr, slot: &mut RawFd) -> Result<(), Errno> {
    if *slot < 0 {
        // The optional mount for this slot did not exist.
        return Ok(());
    }
    let makes = plan_encoding::MAKE_FOLDER | plan_encoding::MAKE_FILE;
    let mut placed = with(path, |target| kernel::place_tree(*slot, target));
    if placed == Err(libc::ENOENT) && step.flags & makes != 0 {
        make_parents(path, step.flags & plan_encoding::MAKE_FILE != 0)?;
        placed = with(path, |target| kernel::place_tree(*slot, target));
    }
    kernel::close(*slot);
    *slot = -1;
    placed
}

/// Creates an empty file; an existing file stays. Fails if a link is at the path.
fn make_file(path: &CStr) -> Result<(), Errno> {
    let file = kernel::open(path, libc::O_WRONLY | libc::O_CREAT | libc::O_NOFOLLOW)?;
    kernel::close(file);
    Ok(())
}

/// Creates every parent folder of the path, and the path itself.
fn make_parents(path: &CStr, is_file: bool) -> Result<(), Errno> {
    let bytes = path.to_bytes_with_nul();
    let mut buffer = [0_u8; libc::PATH_MAX as usize];
    let copy = buffer.get_mut(..bytes.len()).ok_or(libc::ENAMETOOLONG)?;
    copy.copy_from_slice(bytes);
    for ix in 1..copy.len() {
        if copy[ix] != b'/' {
            continue;
        }
        copy[ix] = 0;
        if let Ok(folder) = CStr::from_bytes_until_nul(copy) {
            match kernel::make_folder(folder, 0o755) {
                Ok(()) | Err(libc::EEXIST | libc::EROFS) => {}
                Err(errno) => return Err(errno),
            }
        }
        copy[ix] = b'/';
    }
    if is_file {
        make_file(path)
    } else {
        kernel::make_folder(path, 0o755)
    }
}
