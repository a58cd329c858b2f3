//! The steps of a plan, done by process 1 on its way into the sandbox.
//!
//! Invariant: no link is followed: a path that was without links when the plan was made and has one now
//! was changed by somebody, and the step fails.

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::blob::{self, Kind, Step, View};
use super::init::Failure;
use super::kernel::{self, Errno};

/// Mounts that are taken before they are put down.
pub(super) const SLOTS: usize = 256;

/// Does every step; the number of the one that failed is its place in the plan.
pub(super) fn run(view: &View<'_>) -> Result<(), Failure> {
    let mut slots = [-1; SLOTS];
    for ix in 0..view.head.steps as usize {
        let failure = |errno| (ix as u32, errno);
        let step = view.step(ix).ok_or(failure(libc::EBADMSG))?;
        match run_one(view, step, &mut slots) {
            Err(errno) if step.flags & blob::OPTIONAL == 0 => return Err(failure(errno)),
            _ => {}
        }
    }
    Ok(())
}

fn run_one(view: &View<'_>, step: Step, slots: &mut [RawFd; SLOTS]) -> Result<(), Errno> {
    let path = view.text(step.path).ok_or(libc::EBADMSG)?;
    let other = view.text(step.other).ok_or(libc::EBADMSG)?;
    let slot = slots.get_mut(step.slot as usize).ok_or(libc::EBADMSG)?;
    match step.kind {
        Kind::Same => with(path, |file| {
            let is_same = kernel::identity(file)? == (step.a, step.b);
            if is_same { Ok(()) } else { Err(libc::ESTALE) }
        }),
        Kind::Attributes => with(path, |file| {
            let mut attributes = step.attributes();
            attributes.propagation = libc::MS_PRIVATE;
            kernel::set_attributes(file, attributes)
        }),
        Kind::Copy => with(path, |file| {
            let tree = kernel::copy_tree(file, step.flags & blob::RECURSIVE != 0)?;
            *slot = tree;
            let mut attributes = step.attributes();
            // What is mounted on the machine later is not to appear inside.
            attributes.propagation = libc::MS_PRIVATE;
            kernel::set_attributes(tree, attributes)
        }),
        Kind::Place => place(step, path, slot),
        Kind::Mount => {
            let options = view.text(step.options).ok_or(libc::EBADMSG)?;
            kernel::mount(other, path, step.a, options)
        }
        Kind::Folder => {
            kernel::make_folder(path, step.a as u32)?;
            // The mode as told, whatever the mask for new files is.
            kernel::change_mode(path, step.a as u32)
        }
        Kind::File => make_file(path),
        Kind::Link => kernel::make_link(other, path),
        Kind::Limit => kernel::set_limit(step.a as u32, step.b),
    }
}

fn with(path: &CStr, run: impl FnOnce(RawFd) -> Result<(), Errno>) -> Result<(), Errno> {
    let file = kernel::open_path(libc::AT_FDCWD, path, libc::O_PATH | libc::O_NOFOLLOW)?;
    let result = run(file);
    kernel::close(file);
    result
}

fn place(step: Step, path: &CStr, slot: &mut RawFd) -> Result<(), Errno> {
    if *slot < 0 {
        // What was to be put here could be done without, and was not there.
        return Ok(());
    }
    let makes = blob::MAKE_FOLDER | blob::MAKE_FILE;
    let mut placed = with(path, |target| kernel::place_tree(*slot, target));
    if placed == Err(libc::ENOENT) && step.flags & makes != 0 {
        make_way(path, step.flags & blob::MAKE_FILE != 0)?;
        placed = with(path, |target| kernel::place_tree(*slot, target));
    }
    kernel::close(*slot);
    *slot = -1;
    placed
}

fn make_file(path: &CStr) -> Result<(), Errno> {
    let file = kernel::open(path, libc::O_WRONLY | libc::O_CREAT | libc::O_NOFOLLOW)?;
    kernel::close(file);
    Ok(())
}

/// Makes every folder that leads to the path, and the path itself.
fn make_way(path: &CStr, is_file: bool) -> Result<(), Errno> {
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
