//! The file system view: everything read-only, writable paths mounted on top, the rest covered.
//!
//! The root stays in place and becomes read-only as a whole; this is irreversible, since no process
//! inside has the right to mount. Writable paths were copied before, with their original flags.
//! Invariant: steps proceed from the root downwards, so that no mount is covered by a later one.
//! Invariant: a protected path inside a writable one is a separate mount, and so is every folder
//! that leads to it: a mount point can be neither renamed nor removed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::plan::PlanBuilder;
use super::plan_encoding::{self, SetupOp};
use crate::granted::GrantedPaths;
use crate::links::trace;
use crate::lookup::{ResolvedPath, existing, find, find_own, identity, is_link};
use crate::protect::ProtectedPaths;
use crate::{Policy, SandboxError, SandboxLayer};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const HARMLESS: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// Folders that are private to every sandbox.
const PRIVATE: &[&str] = &["/tmp", "/var/tmp", "/run"];

/// Parts of the system inside a private folder.
const SYSTEM: &[&str] = &["/run/current-system", "/run/opengl-driver", "/run/wrappers"];

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/ptmx", "pts/ptmx"),
];

/// The folder of the empty file, the empty folder and the scratch changes: covered at the end, when
/// the process list is mounted there.
const BASE: &str = "/proc";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cover {
    /// An empty folder of the sandbox's own.
    Private,
    /// An empty and read-only folder or file.
    Hidden,
    /// The content on disk, with changes kept separately; put into the slot by `copy_scratch`.
    Scratch(u32),
    /// Copied into the slot before or after the root became read-only.
    Copied(u32),
}

#[derive(Clone, Debug)]
struct PlannedCover {
    found: ResolvedPath,
    cover: Cover,
}

/// Adds the mount steps; returns the paths that are writable afterwards.
pub(super) fn plan(
    builder: &mut PlanBuilder,
    policy: &Policy,
    granted: &GrantedPaths,
    protected: &ProtectedPaths,
) -> Result<Vec<ResolvedPath>, SandboxError> {
    builder.layer = SandboxLayer::Mounts;
    let roots = roots(granted, protected);
    let mut areas = granted.areas();
    areas.extend(protected.folders.iter().map(|found| found.path.clone()));
    let mut planned: Vec<PlannedCover> = Vec::new();
    for found in &protected.read_only {
        check_identity(builder, &found.path);
    }
    for found in &roots {
        check_identity(builder, &found.path);
        let slot = copy(builder, &found.path, HARMLESS, 0);
        let (found, cover) = (found.clone(), Cover::Copied(slot));
        planned.push(PlannedCover { found, cover });
    }
    let devices = copy_devices(builder);
    builder.step(SetupOp::Attributes, Path::new("/"), |step| {
        step.flags = plan_encoding::RECURSIVE;
        step.a = READ_ONLY | HARMLESS;
    });
    for found in readable(policy, &areas, protected) {
        let slot = copy(builder, &found.path, 0, 0);
        let cover = Cover::Copied(slot);
        planned.push(PlannedCover { found, cover });
    }
    let mut writable = roots.clone();
    writable.extend(cover(builder, policy, &areas, &mut planned));
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

/// Returns the writable paths if there are no mounts: those of the policy.
pub(super) fn writable_without_mounts(
    granted: &GrantedPaths,
    protected: &ProtectedPaths,
) -> Vec<ResolvedPath> {
    let mut writable = roots(granted, protected);
    writable.push(folder("/dev"));
    writable
}

fn folder(path: &str) -> ResolvedPath {
    ResolvedPath {
        path: PathBuf::from(path),
        is_folder: true,
    }
}

/// Returns the writable paths that are the disk itself.
fn roots(granted: &GrantedPaths, protected: &ProtectedPaths) -> Vec<ResolvedPath> {
    let mut roots = granted.writable.clone();
    for found in &protected.folders {
        if !roots.iter().any(|root| found.path.starts_with(&root.path)) {
            roots.push(found.clone());
        }
    }
    roots
}

/// Adds a step that checks that a path is still the same file.
fn check_identity(builder: &mut PlanBuilder, path: &Path) {
    if let Some((device, inode)) = identity(path) {
        builder.step(SetupOp::Same, path, |step| {
            (step.a, step.b) = (device, inode);
        });
    }
}

/// Returns the paths that stay visible inside a covered folder. In `areas` links are not followed.
fn readable(policy: &Policy, areas: &[PathBuf], protected: &ProtectedPaths) -> Vec<ResolvedPath> {
    let system = SYSTEM.iter().filter_map(|path| find(Path::new(path)));
    let named = policy
        .readable
        .iter()
        .filter_map(|path| find_own(path.as_path(), areas));
    let read_only = protected.read_only.iter().cloned();
    system.chain(named).chain(read_only).collect()
}

/// Recreates the link through which the user opened the workspace, if it lies in a folder that
/// starts empty.
fn link_workspace(builder: &mut PlanBuilder, policy: &Policy) {
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
            builder.step(SetupOp::Folder, folder, |step| step.a = 0o755);
            builder.make_optional();
        }
    }
    let target = builder.text(target.path.as_os_str());
    builder.step(SetupOp::Link, link, |step| step.other = target);
    builder.make_optional();
}

/// Plans the covers; returns which of them are writable. In `areas` links are not followed.
fn cover(
    builder: &mut PlanBuilder,
    policy: &Policy,
    areas: &[PathBuf],
    planned: &mut Vec<PlannedCover>,
) -> Vec<ResolvedPath> {
    let mut covers: Vec<PlannedCover> = Vec::new();
    let mut push = |found: ResolvedPath, cover: Cover| {
        if !covers.iter().any(|known| known.found == found) {
            covers.push(PlannedCover { found, cover });
        }
    };
    for found in PRIVATE.iter().filter_map(|path| find(Path::new(path))) {
        push(found, Cover::Private);
    }
    for found in existing(&policy.hidden) {
        let holds = |planned: &PlannedCover| planned.found.path.starts_with(&found.path);
        // Something is mounted inside it, which requires a folder of its own.
        let cover = if !planned.iter().any(holds) {
            Cover::Hidden
        } else if planned.iter().any(|one| one.found == found) {
            continue;
        } else {
            Cover::Private
        };
        push(found, cover);
    }
    for path in &policy.scratch {
        if can_be_made(path.as_path(), areas) {
            builder.caches.add(path.as_path());
        }
        let Some(found) = find_own(path.as_path(), areas) else {
            continue;
        };
        // These characters separate mount options.
        let text = found.path.to_string_lossy().into_owned();
        if found.is_folder && !text.contains([',', ':', '\\', '\u{fffd}']) {
            let slot = builder.slot();
            push(found, Cover::Scratch(slot));
        }
    }
    // Paths inside a folder that starts empty are invisible anyway, and have no mount point there.
    covers.sort_by_key(|cover| cover.found.path.components().count());
    let mut seen: Vec<PlannedCover> = planned.clone();
    covers.retain(|cover| {
        let is_kept = !is_out_of_sight(cover, &seen);
        if is_kept {
            seen.push(cover.clone());
        }
        is_kept
    });
    let is_writable = |cover: &&PlannedCover| cover.cover != Cover::Hidden;
    let writable = covers.iter().filter(is_writable);
    let writable = writable.map(|cover| cover.found.clone()).collect();
    planned.extend(covers);
    writable
}

/// Returns whether the nearest cover above hides the disk.
fn is_out_of_sight(cover: &PlannedCover, all: &[PlannedCover]) -> bool {
    let path = &cover.found.path;
    let above = all
        .iter()
        .filter(|other| other.found.path != *path && path.starts_with(&other.found.path));
    let nearest = above.max_by_key(|other| other.found.path.components().count());
    nearest.is_some_and(|nearest| matches!(nearest.cover, Cover::Private | Cover::Hidden))
}

/// Adds a step that copies the mounts at and below `path`, with the flags `set` and without
/// `clear`. Returns the slot of the copy.
fn copy(builder: &mut PlanBuilder, path: &Path, set: u64, clear: u64) -> u32 {
    let slot = builder.slot();
    copy_into(builder, path, slot, set, clear);
    slot
}

fn copy_into(builder: &mut PlanBuilder, path: &Path, slot: u32, set: u64, clear: u64) {
    builder.step(SetupOp::Copy, path, |step| {
        step.flags = plan_encoding::RECURSIVE;
        step.slot = slot;
        (step.a, step.b) = (set, clear);
    });
}

/// Adds steps that copy `DEVICES`; returns the path and the slot of each.
fn copy_devices(builder: &mut PlanBuilder) -> Vec<(PathBuf, u32)> {
    let mut devices = Vec::new();
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        let slot = builder.slot();
        builder.step(SetupOp::Copy, &path, |step| step.slot = slot);
        devices.push((path, slot));
    }
    devices
}

fn mount(builder: &mut PlanBuilder, kind: &str, path: &Path, options: &str, flags: u64) {
    let kind = builder.text(OsStr::new(kind));
    let options = builder.text(OsStr::new(options));
    builder.step(SetupOp::Mount, path, |step| {
        step.other = kind;
        step.options = options;
        step.a = flags;
    });
}

const USUAL: u64 = libc::MS_NOSUID | libc::MS_NODEV;

fn lay(
    builder: &mut PlanBuilder,
    policy: &Policy,
    planned: &[PlannedCover],
    devices: &[(PathBuf, u32)],
) {
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
    builder.step(SetupOp::File, &file, |_| {});
    builder.step(SetupOp::Folder, &empty, |step| step.a = 0o755);
    lay_devices(builder, devices, bytes);
    copy_scratch(builder, planned);
    for PlannedCover { found, cover } in planned {
        match cover {
            Cover::Private => mount(builder, "tmpfs", &found.path, &private, USUAL),
            Cover::Hidden => {
                let source = if found.is_folder { &empty } else { &file };
                let slot = copy(builder, source, READ_ONLY, 0);
                mount_slot(builder, found, slot, 0);
            }
            Cover::Scratch(slot) => mount_slot(builder, found, *slot, 0),
            Cover::Copied(slot) => mount_slot(builder, found, *slot, plan_encoding::MAKE_FOLDER),
        }
    }
}

fn mount_slot(builder: &mut PlanBuilder, found: &ResolvedPath, slot: u32, makes: u32) {
    let makes = match makes {
        0 => 0,
        _ if found.is_folder => plan_encoding::MAKE_FOLDER,
        _ => plan_encoding::MAKE_FILE,
    };
    builder.step(SetupOp::Place, &found.path, |step| {
        step.slot = slot;
        step.flags = makes;
    });
}

fn lay_devices(builder: &mut PlanBuilder, devices: &[(PathBuf, u32)], bytes: u64) {
    let options = format!("mode=755,size={bytes}");
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    mount(builder, "tmpfs", Path::new("/dev"), &options, flags);
    for (path, slot) in devices {
        let found = ResolvedPath {
            path: path.clone(),
            is_folder: false,
        };
        mount_slot(builder, &found, *slot, plan_encoding::MAKE_FILE);
    }
    for (path, target) in DEVICE_LINKS {
        let target = builder.text(OsStr::new(target));
        builder.step(SetupOp::Link, Path::new(path), |step| step.other = target);
    }
    let (terminals, shared) = (Path::new("/dev/pts"), Path::new("/dev/shm"));
    builder.step(SetupOp::Folder, terminals, |step| step.a = 0o755);
    builder.step(SetupOp::Folder, shared, |step| step.a = 0o1777);
    let options = "newinstance,ptmxmode=0666,mode=620";
    mount(
        builder,
        "devpts",
        terminals,
        options,
        libc::MS_NOSUID | libc::MS_NOEXEC,
    );
}

/// Mounts the scratch folders into their slots: as parts of one overlay per file system, since an
/// overlay costs as much as everything else together. Changes go into the base. If the kernel
/// cannot do it, the folders stay read-only, which is safe but less convenient.
fn copy_scratch(builder: &mut PlanBuilder, planned: &[PlannedCover]) {
    let mut layers: BTreeMap<u64, Vec<(&Path, u32)>> = BTreeMap::new();
    for PlannedCover { found, cover } in planned {
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
            builder.step(SetupOp::Folder, &path, |step| step.a = 0o755);
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
            builder.step(SetupOp::Copy, &merged.join(inside), |step| step.slot = slot);
            builder.make_optional();
        }
    }
}

/// Returns the common parent of all folders on the same file system; the first folder if there is
/// none.
fn common<'a>(device: u64, folders: &[(&'a Path, u32)]) -> &'a Path {
    let first = folders[0].0;
    let holds_all = |folder: &&Path| {
        folders.iter().all(|(path, _)| path.starts_with(folder))
            && identity(folder).is_some_and(|(its, _)| its == device)
    };
    first.ancestors().find(holds_all).unwrap_or(first)
}

/// The purpose of a mount inside a writable folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MountMode {
    /// Writable, but can be neither renamed nor removed.
    Pinned,
    Fixed,
    /// Writable although it lies inside a read-only path.
    Open,
}

/// Pins every folder that leads to a protected or covered path, and makes protected paths
/// read-only.
fn protect(
    builder: &mut PlanBuilder,
    roots: &[ResolvedPath],
    planned: &[PlannedCover],
    protected: &ProtectedPaths,
) {
    let mut mounts: BTreeMap<&Path, MountMode> = BTreeMap::new();
    let covered = planned.iter().map(|planned| (&*planned.found.path, None));
    let pins = protected
        .pins
        .iter()
        .map(|path| (&**path, Some(MountMode::Pinned)));
    let fixed = protected
        .fixed
        .iter()
        .map(|found| (&*found.path, Some(MountMode::Fixed)));
    let open = protected
        .open
        .iter()
        .map(|path| (&**path, Some(MountMode::Open)));
    for (path, kept) in covered.chain(pins).chain(fixed).chain(open) {
        let holds = |root: &&ResolvedPath| {
            path.starts_with(&root.path) && (kept.is_some() || path != root.path)
        };
        let length = |root: &&ResolvedPath| root.path.as_os_str().len();
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
            mounts.entry(folder).or_insert(MountMode::Pinned);
        }
        match kept {
            Some(kept) if path != root.path || kept == MountMode::Fixed => {
                mounts.insert(path, kept);
            }
            _ => {}
        }
    }
    if mounts.is_empty() {
        return;
    }
    // Each mount is attached before the next is taken.
    let slot = builder.slot();
    // A map is sorted by path, and a folder precedes its contents.
    for (path, kept) in mounts {
        let (set, clear) = match kept {
            MountMode::Pinned => (0, 0),
            MountMode::Fixed => (READ_ONLY, 0),
            MountMode::Open => (0, READ_ONLY),
        };
        copy_into(builder, path, slot, set, clear);
        builder.step(SetupOp::Place, path, |step| step.slot = slot);
    }
}

/// Returns whether a cover between a root and a path hides the disk.
fn is_covered(path: &Path, root: &Path, planned: &[PlannedCover]) -> bool {
    planned.iter().any(|planned| {
        let at = &planned.found.path;
        let is_between = at.starts_with(root) && at != root && path.starts_with(at) && path != at;
        is_between && matches!(planned.cover, Cover::Private | Cover::Hidden)
    })
}

/// Returns whether a missing cache folder can be created for the lifetime of the sandbox: only
/// where no listing shows it, and not through a link that a command could have created.
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
