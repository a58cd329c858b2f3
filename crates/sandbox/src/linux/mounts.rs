//! The view of the disk: everything read-only, what may be written put on top, the rest covered.
//!
//! The root stays where it is and becomes read-only as a whole; there is nothing to change back, since
//! nobody inside has the right to mount. What may be written was copied before, with the flags it had.
//! Invariant: steps go from the root downwards, so that nothing is covered by what comes later.
//! Invariant: what is protected within something writable is a mount of its own, and so is every folder
//! that leads to it: a mount can be neither renamed nor removed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use base::AbsPath;

use super::blob::{self, Kind};
use super::plan::{self, Builder, Found, find, find_own, identity, is_link};
use super::protect::Protected;
use crate::links::trace;
use crate::{Layer, Policy, Refused};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const HARMLESS: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// Folders that every sandbox has for itself.
const PRIVATE: &[&str] = &["/tmp", "/var/tmp", "/run"];

/// Beneath a private folder, but part of the system.
const SYSTEM: &[&str] = &["/run/current-system", "/run/opengl-driver", "/run/wrappers"];

/// From so many paths on it is quicker to read their folder.
const WORTH_READING: usize = 8;

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
    given: &[Found],
    protected: &Protected,
) -> Result<Vec<Found>, Refused> {
    builder.layer = Layer::Mounts;
    let roots = roots(given, protected);
    let mut planned: Vec<Planned> = Vec::new();
    for found in &roots {
        if let Some((device, inode)) = identity(&found.path) {
            builder.step(Kind::Same, &found.path, |step| {
                (step.a, step.b) = (device, inode);
            });
        }
        let slot = copy(builder, &found.path, HARMLESS, 0);
        let (found, cover) = (found.clone(), Cover::Copied(slot));
        planned.push(Planned { found, cover });
    }
    let devices = copy_devices(builder);
    builder.step(Kind::Attributes, Path::new("/"), |step| {
        step.flags = blob::RECURSIVE;
        step.a = READ_ONLY | HARMLESS;
    });
    for found in readable(policy, &roots) {
        let slot = copy(builder, &found.path, 0, 0);
        let cover = Cover::Copied(slot);
        planned.push(Planned { found, cover });
    }
    let mut writable = roots.clone();
    writable.extend(cover(builder, policy, &roots, &mut planned));
    planned.sort_by_key(|planned| {
        let depth = planned.found.path.components().count();
        (depth, planned.found.path.clone(), planned.cover)
    });
    lay(builder, policy, &planned, &devices);
    link_workspace(builder, policy);
    protect(builder, &roots, &planned, protected);
    builder.check()?;
    writable.push(folder("/dev"));
    Ok(writable)
}

/// Without mounts of its own, what can be written is what the policy says.
pub(super) fn bare(given: &[Found], protected: &Protected) -> Vec<Found> {
    let mut writable = roots(given, protected);
    writable.push(folder("/dev"));
    writable
}

fn folder(path: &str) -> Found {
    Found {
        path: PathBuf::from(path),
        is_folder: true,
    }
}

/// What the policy says can be written, the workspace first.
///
/// A command may have put a link where it could write: such a link does not decide what the next command can write.
pub(super) fn written(policy: &Policy, workspace: &Found) -> Vec<Found> {
    let mut roots = vec![workspace.clone()];
    let named = policy.writable.iter().map(|path| path.as_path().to_owned());
    let areas: Vec<PathBuf> = [workspace.path.clone()].into_iter().chain(named).collect();
    for path in &policy.writable {
        let Some(found) = find_own(path.as_path(), &areas) else {
            continue;
        };
        if !roots.iter().any(|root| found.path.starts_with(&root.path)) {
            roots.push(found);
        }
    }
    roots
}

/// What can be written and is the disk itself.
fn roots(given: &[Found], protected: &Protected) -> Vec<Found> {
    let mut roots = given.to_vec();
    for found in &protected.folders {
        if !roots.iter().any(|root| found.path.starts_with(&root.path)) {
            roots.push(found.clone());
        }
    }
    roots
}

/// What is to be seen although something above it is covered.
fn readable(policy: &Policy, roots: &[Found]) -> Vec<Found> {
    let areas: Vec<PathBuf> = roots.iter().map(|root| root.path.clone()).collect();
    let system = SYSTEM.iter().filter_map(|path| find(Path::new(path)));
    let named = policy
        .readable
        .iter()
        .filter_map(|path| find_own(path.as_path(), &areas));
    system.chain(named).collect()
}

/// The name by which the person reached the workspace, where that lies in a folder which starts empty.
fn link_workspace(builder: &mut Builder, policy: &Policy) {
    let given = policy.workspace.as_path();
    let is_private = PRIVATE.iter().any(|folder| given.starts_with(folder));
    let mut prefixes: Vec<&Path> = given.ancestors().collect();
    prefixes.reverse();
    let link = prefixes.into_iter().find(|path| is_link(path));
    let (true, Some(link)) = (is_private, link) else {
        return;
    };
    let (Some(target), Some(above)) = (find(link), link.parent()) else {
        return;
    };
    for folder in above.ancestors().collect::<Vec<_>>().into_iter().rev() {
        if PRIVATE
            .iter()
            .any(|private| folder.starts_with(private) && folder != Path::new(private))
        {
            builder.step(Kind::Folder, folder, |step| step.a = 0o755);
            builder.make_optional();
        }
    }
    let target = builder.text(target.path.as_os_str());
    builder.step(Kind::Link, link, |step| step.other = target);
    builder.make_optional();
}

/// What covers the disk; the answer is which of it can be written.
fn cover(
    builder: &mut Builder,
    policy: &Policy,
    roots: &[Found],
    planned: &mut Vec<Planned>,
) -> Vec<Found> {
    let areas: Vec<PathBuf> = roots.iter().map(|root| root.path.clone()).collect();
    let mut covers: Vec<Planned> = Vec::new();
    let mut push = |found: Found, cover: Cover| {
        if !covers.iter().any(|known| known.found == found) {
            covers.push(Planned { found, cover });
        }
    };
    for found in PRIVATE.iter().filter_map(|path| find(Path::new(path))) {
        push(found, Cover::Private);
    }
    for found in there(&policy.hidden) {
        let holds = |planned: &Planned| planned.found.path.starts_with(&found.path);
        // Something has to be put down in it, for which it needs a folder of its own.
        let cover = match planned.iter().any(holds) {
            true if planned.iter().any(|one| one.found == found) => continue,
            true => Cover::Private,
            false => Cover::Hidden,
        };
        push(found, cover);
    }
    for path in &policy.scratch {
        if can_be_made(path.as_path(), &areas) {
            builder.made.add(path.as_path());
        }
        let Some(found) = find_own(path.as_path(), &areas) else {
            continue;
        };
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

/// Those of many paths that are there. A folder that holds several of them is read once instead of asked for each.
fn there(paths: &[AbsPath]) -> Vec<Found> {
    let mut folders: BTreeMap<&Path, (usize, Option<BTreeSet<OsString>>)> = BTreeMap::new();
    for above in paths.iter().filter_map(|path| path.as_path().parent()) {
        folders.entry(above).or_default().0 += 1;
    }
    for (folder, (count, listing)) in &mut folders {
        if *count >= WORTH_READING {
            // A folder that may be entered and not read is asked for each.
            let names = plan::names(folder).map(|names| names.into_iter().collect());
            *listing = match names {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => None,
                names => Some(names.unwrap_or_default()),
            };
        }
    }
    let may_be_there = |path: &&Path| {
        let listing = path.parent().and_then(|above| folders.get(above));
        match (listing, path.file_name()) {
            (Some((_, Some(names))), Some(name)) => names.contains(name),
            _ => true,
        }
    };
    let paths = paths.iter().map(AbsPath::as_path);
    paths.filter(may_be_there).filter_map(find).collect()
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
    copy_into(builder, path, slot, set, clear);
    slot
}

fn copy_into(builder: &mut Builder, path: &Path, slot: u32, set: u64, clear: u64) {
    builder.step(Kind::Copy, path, |step| {
        step.flags = blob::RECURSIVE;
        step.slot = slot;
        (step.a, step.b) = (set, clear);
    });
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

/// What a mount within something writable is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// It can be written, and neither renamed nor removed.
    Pinned,
    Fixed,
    /// It can be written although it lies in something fixed.
    Open,
}

/// Pins every folder that leads to something protected or covered, and makes what is protected read-only.
fn protect(builder: &mut Builder, roots: &[Found], planned: &[Planned], protected: &Protected) {
    let mut mounts: BTreeMap<&Path, Kept> = BTreeMap::new();
    let covered = planned.iter().map(|planned| (&*planned.found.path, None));
    let pins = protected
        .pins
        .iter()
        .map(|path| (&**path, Some(Kept::Pinned)));
    let fixed = protected
        .fixed
        .iter()
        .map(|found| (&*found.path, Some(Kept::Fixed)));
    let open = protected
        .open
        .iter()
        .map(|path| (&**path, Some(Kept::Open)));
    for (path, kept) in covered.chain(pins).chain(fixed).chain(open) {
        let holds =
            |root: &&Found| path.starts_with(&root.path) && (kept.is_some() || path != root.path);
        let length = |root: &&Found| root.path.as_os_str().len();
        let Some(root) = roots.iter().filter(holds).max_by_key(length) else {
            continue;
        };
        if kept.is_some() && is_covered(path, &root.path, planned) {
            continue;
        }
        let leading = path.ancestors().skip(1);
        for folder in
            leading.take_while(|folder| folder.starts_with(&root.path) && *folder != root.path)
        {
            mounts.entry(folder).or_insert(Kept::Pinned);
        }
        match kept {
            Some(kept) if path != root.path || kept == Kept::Fixed => {
                mounts.insert(path, kept);
            }
            _ => {}
        }
    }
    if mounts.is_empty() {
        return;
    }
    // Each is put down before the next is taken.
    let slot = builder.slot();
    // A map is in the order of paths, and a folder comes before what it holds.
    for (path, kept) in mounts {
        let (set, clear) = match kept {
            Kept::Pinned => (0, 0),
            Kept::Fixed => (READ_ONLY, 0),
            Kept::Open => (0, READ_ONLY),
        };
        copy_into(builder, path, slot, set, clear);
        builder.step(Kind::Place, path, |step| step.slot = slot);
    }
}

/// Whether something between a root and a path shows nothing of the disk.
fn is_covered(path: &Path, root: &Path, planned: &[Planned]) -> bool {
    planned.iter().any(|planned| {
        let at = &planned.found.path;
        let is_between = at.starts_with(root) && at != root && path.starts_with(at) && path != at;
        is_between && matches!(planned.cover, Cover::Private | Cover::Hidden)
    })
}

/// Whether a cache that is not there yet can be made for the time of the sandbox: where no listing shows it, and no link
/// leads there that a command could have made.
fn can_be_made(path: &Path, areas: &[PathBuf]) -> bool {
    let is_unseen = path
        .components()
        .any(|part| part.as_os_str().as_bytes().starts_with(b"."));
    let is_private = PRIVATE.iter().any(|folder| path.starts_with(folder));
    let links = trace(Path::new("/"), path).links;
    let mut links = links.iter();
    let is_planted = links.any(|link| areas.iter().any(|area| link.starts_with(area)));
    is_unseen && !is_private && !is_planted && !is_link(path)
}
