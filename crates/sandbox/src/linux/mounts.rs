//! The view of the disk: everything read-only, what may be written put on top, the rest covered.
//!
//! The root stays where it is and becomes read-only as a whole; there is nothing to change back, since
//! nobody inside has the right to mount. What may be written was copied before, with the flags it had.
//! Invariant: steps go from the root downwards, so that nothing is covered by what comes later.
//! Invariant: what is protected within something writable is a mount of its own, and so is every folder
//! that leads to it: a mount can be neither renamed nor removed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::blob::{self, Kind};
use super::plan::{Builder, Found, find, identity};
use super::protect::Protected;
use crate::{Layer, Policy, Refused};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const HARMLESS: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// Folders that every sandbox has for itself.
const PRIVATE: &[&str] = &["/tmp", "/var/tmp", "/run"];

/// Beneath a private folder, but part of the system.
const SYSTEM: &[&str] = &["/run/current-system", "/run/opengl-driver", "/run/wrappers"];

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/ptmx", "pts/ptmx"),
];

/// Where the empty file and the empty folder lie, and what scratch folders write: covered at the end,
/// when the list of processes is mounted there.
const BASE: &str = "/proc";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cover {
    /// Empty, the sandbox's own.
    Private,
    /// Empty and unchangeable.
    Hidden,
    /// As on the disk, changes kept aside; put into the slot by `copy_scratch`.
    Scratch(u32),
    /// Copied into the slot before the root became read-only, or after.
    Copied(u32),
}

#[derive(Clone, Debug)]
struct Planned {
    found: Found,
    cover: Cover,
}

/// Adds the steps; the answer is what can be written afterwards.
pub(super) fn plan(
    builder: &mut Builder,
    policy: &Policy,
    workspace: &Found,
    protected: &Protected,
) -> Result<Vec<Found>, Refused> {
    builder.layer = Layer::Mounts;
    if let Some((device, inode)) = identity(&workspace.path) {
        builder.step(Kind::Same, &workspace.path, |step| {
            (step.a, step.b) = (device, inode);
        });
    }
    let roots = roots(policy, workspace, protected);
    let mut planned: Vec<Planned> = Vec::new();
    for found in &roots {
        let slot = copy(builder, &found.path, HARMLESS, 0);
        let (found, cover) = (found.clone(), Cover::Copied(slot));
        planned.push(Planned { found, cover });
    }
    let devices = copy_devices(builder);
    builder.step(Kind::Attributes, Path::new("/"), |step| {
        step.flags = blob::RECURSIVE;
        step.a = READ_ONLY | HARMLESS;
    });
    for found in readable(policy) {
        let slot = copy(builder, &found.path, 0, 0);
        let cover = Cover::Copied(slot);
        planned.push(Planned { found, cover });
    }
    let mut writable = roots.clone();
    writable.extend(cover(builder, policy, &mut planned));
    planned.sort_by_key(|planned| {
        let depth = planned.found.path.components().count();
        (depth, planned.found.path.clone(), planned.cover)
    });
    lay(builder, policy, &planned, &devices);
    protect(builder, &roots, protected);
    builder.check()?;
    writable.push(folder("/dev"));
    Ok(writable)
}

/// Without mounts of its own, what can be written is what the policy says.
pub(super) fn bare(policy: &Policy, workspace: &Found, protected: &Protected) -> Vec<Found> {
    let mut writable = roots(policy, workspace, protected);
    writable.push(folder("/dev"));
    writable
}

fn folder(path: &str) -> Found {
    Found {
        path: PathBuf::from(path),
        is_folder: true,
    }
}

/// What can be written and is the disk itself.
fn roots(policy: &Policy, workspace: &Found, protected: &Protected) -> Vec<Found> {
    let mut roots = vec![workspace.clone()];
    let writable = policy
        .writable
        .iter()
        .filter_map(|path| find(path.as_path()));
    for found in writable.chain(protected.folders.iter().cloned()) {
        if !roots.iter().any(|root| found.path.starts_with(&root.path)) {
            roots.push(found);
        }
    }
    roots
}

/// What is to be seen although something above it is covered.
fn readable(policy: &Policy) -> Vec<Found> {
    let system = SYSTEM.iter().filter_map(|path| find(Path::new(path)));
    let named = policy
        .readable
        .iter()
        .filter_map(|path| find(path.as_path()));
    system.chain(named).collect()
}

/// What covers the disk; the answer is which of it can be written.
fn cover(builder: &mut Builder, policy: &Policy, planned: &mut Vec<Planned>) -> Vec<Found> {
    let mut covers: Vec<Planned> = Vec::new();
    let mut push = |found: Found, cover: Cover| {
        if !covers.iter().any(|known| known.found == found) {
            covers.push(Planned { found, cover });
        }
    };
    for found in PRIVATE.iter().filter_map(|path| find(Path::new(path))) {
        push(found, Cover::Private);
    }
    for found in policy.hidden.iter().filter_map(|path| find(path.as_path())) {
        let holds = |planned: &Planned| planned.found.path.starts_with(&found.path);
        // Something has to be put down in it, for which it needs a folder of its own.
        let cover = match planned.iter().any(holds) {
            true if planned.iter().any(|one| one.found == found) => continue,
            true => Cover::Private,
            false => Cover::Hidden,
        };
        push(found, cover);
    }
    for found in policy
        .scratch
        .iter()
        .filter_map(|path| find(path.as_path()))
    {
        // The options of a mount are separated by these.
        let text = found.path.to_string_lossy().into_owned();
        if found.is_folder && !text.contains([',', ':', '\\', '\u{fffd}']) {
            let slot = builder.slot();
            push(found, Cover::Scratch(slot));
        }
    }
    // What lies in a folder that starts empty is not to be seen anyway, and has no place there.
    covers.sort_by_key(|cover| cover.found.path.components().count());
    let mut seen: Vec<Planned> = planned.clone();
    covers.retain(|cover| {
        let is_kept = !is_out_of_sight(cover, &seen);
        if is_kept {
            seen.push(cover.clone());
        }
        is_kept
    });
    let is_writable = |cover: &&Planned| cover.cover != Cover::Hidden;
    let writable = covers.iter().filter(is_writable);
    let writable = writable.map(|cover| cover.found.clone()).collect();
    planned.extend(covers);
    writable
}

/// Whether the nearest thing above a cover shows nothing of the disk.
fn is_out_of_sight(cover: &Planned, all: &[Planned]) -> bool {
    let path = &cover.found.path;
    let above = all
        .iter()
        .filter(|other| other.found.path != *path && path.starts_with(&other.found.path));
    let nearest = above.max_by_key(|other| other.found.path.components().count());
    nearest.is_some_and(|nearest| matches!(nearest.cover, Cover::Private | Cover::Hidden))
}

fn copy(builder: &mut Builder, path: &Path, set: u64, clear: u64) -> u32 {
    let slot = builder.slot();
    builder.step(Kind::Copy, path, |step| {
        step.flags = blob::RECURSIVE;
        step.slot = slot;
        (step.a, step.b) = (set, clear);
    });
    slot
}

fn copy_devices(builder: &mut Builder) -> Vec<(PathBuf, u32)> {
    let mut devices = Vec::new();
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        let slot = builder.slot();
        builder.step(Kind::Copy, &path, |step| step.slot = slot);
        devices.push((path, slot));
    }
    devices
}

fn mount(builder: &mut Builder, kind: &str, path: &Path, options: &str, flags: u64) {
    let kind = builder.text(OsStr::new(kind));
    let options = builder.text(OsStr::new(options));
    builder.step(Kind::Mount, path, |step| {
        step.other = kind;
        step.options = options;
        step.a = flags;
    });
}

const USUAL: u64 = libc::MS_NOSUID | libc::MS_NODEV;

fn lay(builder: &mut Builder, policy: &Policy, planned: &[Planned], devices: &[(PathBuf, u32)]) {
    let base = Path::new(BASE);
    let bytes = policy.limits.private_bytes;
    let private = format!("mode=1777,size={bytes}");
    mount(
        builder,
        "tmpfs",
        base,
        &format!("mode=755,size={bytes}"),
        USUAL,
    );
    let (file, empty) = (base.join("file"), base.join("empty"));
    builder.step(Kind::File, &file, |_| {});
    builder.step(Kind::Folder, &empty, |step| step.a = 0o755);
    lay_devices(builder, devices, bytes);
    copy_scratch(builder, planned);
    for Planned { found, cover } in planned {
        match cover {
            Cover::Private => mount(builder, "tmpfs", &found.path, &private, USUAL),
            Cover::Hidden => {
                let source = if found.is_folder { &empty } else { &file };
                let slot = copy(builder, source, READ_ONLY, 0);
                place(builder, found, slot, 0);
            }
            Cover::Scratch(slot) => place(builder, found, *slot, 0),
            Cover::Copied(slot) => place(builder, found, *slot, blob::MAKE_FOLDER),
        }
    }
}

fn place(builder: &mut Builder, found: &Found, slot: u32, makes: u32) {
    let makes = match makes {
        0 => 0,
        _ if found.is_folder => blob::MAKE_FOLDER,
        _ => blob::MAKE_FILE,
    };
    builder.step(Kind::Place, &found.path, |step| {
        step.slot = slot;
        step.flags = makes;
    });
}

fn lay_devices(builder: &mut Builder, devices: &[(PathBuf, u32)], bytes: u64) {
    let options = format!("mode=755,size={bytes}");
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    mount(builder, "tmpfs", Path::new("/dev"), &options, flags);
    for (path, slot) in devices {
        let found = Found {
            path: path.clone(),
            is_folder: false,
        };
        place(builder, &found, *slot, blob::MAKE_FILE);
    }
    for (path, target) in DEVICE_LINKS {
        let target = builder.text(OsStr::new(target));
        builder.step(Kind::Link, Path::new(path), |step| step.other = target);
    }
    let (terminals, shared) = (Path::new("/dev/pts"), Path::new("/dev/shm"));
    builder.step(Kind::Folder, terminals, |step| step.a = 0o755);
    builder.step(Kind::Folder, shared, |step| step.a = 0o1777);
    let options = "newinstance,ptmxmode=0666,mode=620";
    mount(
        builder,
        "devpts",
        terminals,
        options,
        libc::MS_NOSUID | libc::MS_NOEXEC,
    );
}

/// Puts the folders that seem writable into their slots: parts of one overlay for each file system, since
/// an overlay costs as much as everything else together. Changes go into the base. Where the kernel
/// cannot do it the folders stay read-only, which loses nothing but comfort.
fn copy_scratch(builder: &mut Builder, planned: &[Planned]) {
    let mut layers: BTreeMap<u64, Vec<(&Path, u32)>> = BTreeMap::new();
    for Planned { found, cover } in planned {
        if let Cover::Scratch(slot) = cover
            && let Some((device, _)) = identity(&found.path)
        {
            layers.entry(device).or_default().push((&found.path, *slot));
        }
    }
    for (device, folders) in layers {
        let lower = common(device, &folders);
        let [upper, work, merged] = ["upper", "work", "merged"].map(|name| {
            let path = Path::new(BASE).join(format!("{name}{device}"));
            builder.step(Kind::Folder, &path, |step| step.a = 0o755);
            path
        });
        let options = format!(
            "lowerdir={},upperdir={},workdir={},userxattr",
            lower.display(),
            upper.display(),
            work.display()
        );
        mount(builder, "overlay", &merged, &options, USUAL);
        builder.make_optional();
        for (path, slot) in folders {
            let inside = path.strip_prefix(lower).unwrap_or(path);
            builder.step(Kind::Copy, &merged.join(inside), |step| step.slot = slot);
            builder.make_optional();
        }
    }
}

/// The folder that holds all of these, on the same file system; the first of them when there is none.
fn common<'a>(device: u64, folders: &[(&'a Path, u32)]) -> &'a Path {
    let first = folders[0].0;
    let holds_all = |folder: &&Path| {
        folders.iter().all(|(path, _)| path.starts_with(folder))
            && identity(folder).is_some_and(|(its, _)| its == device)
    };
    first.ancestors().find(holds_all).unwrap_or(first)
}

/// Pins every folder that leads to something protected, and makes that itself read-only.
fn protect(builder: &mut Builder, roots: &[Found], protected: &Protected) {
    let mut mounts: BTreeMap<&Path, bool> = BTreeMap::new();
    let fixed = protected.fixed.iter().map(|found| (&*found.path, true));
    let pins = protected.pins.iter().map(|path| (&**path, false));
    for (path, is_fixed) in pins.chain(fixed) {
        let holds = |root: &&Found| path.starts_with(&root.path);
        let length = |root: &&Found| root.path.as_os_str().len();
        let Some(root) = roots.iter().filter(holds).max_by_key(length) else {
            continue;
        };
        let leading = path.ancestors().skip(1);
        for folder in
            leading.take_while(|folder| folder.starts_with(&root.path) && *folder != root.path)
        {
            mounts.entry(folder).or_insert(false);
        }
        if path != root.path || is_fixed {
            mounts.insert(path, is_fixed);
        }
    }
    // A map is in the order of paths, and a folder comes before what it holds.
    for (path, is_fixed) in mounts {
        let slot = copy(builder, path, if is_fixed { READ_ONLY } else { 0 }, 0);
        builder.step(Kind::Place, path, |step| step.slot = slot);
    }
}
