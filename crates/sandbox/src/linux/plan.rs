//! From a policy to a plan: which mounts, in which order, with which walls.
//!
//! Knows: the disk as it is now. Must not know: processes.
//! Invariant: every path in a plan is absolute and was without links when it was looked up; process 1
//! follows none.
#![expect(
    clippy::disallowed_methods,
    reason = "mounts are made of what the disk holds, whatever `host::Files` would show"
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use base::AbsPath;

use super::blob::{self, Blob};
use super::caches::Made;
use super::{filter, kernel, mounts, protect, wall, wire};
use crate::links::trace;
use crate::{Layer, Network, Policy, Refused};

/// What the program keeps of a plan, to read reports and to answer questions.
#[derive(Debug)]
pub(super) struct Plan {
    /// For process 1.
    pub(super) bytes: Vec<u8>,
    /// For each step its layer, and what it does in words.
    pub(super) labels: Vec<(Layer, String)>,
    /// What is there and cannot be changed from inside.
    pub(super) fixed: Vec<PathBuf>,
    /// What is not there and has to stay away.
    pub(super) absent: Vec<PathBuf>,
    /// Names that are not to come into being, by the folder's device and inode.
    pub(super) guarded: Guarded,
    /// Git folders that are not there and can be made.
    pub(super) fresh: Vec<PathBuf>,
    /// Git folders, in which nobody makes links.
    pub(super) control: Vec<PathBuf>,
    /// What the protected names were when the plan was made.
    names: Vec<NamesSeen>,
    /// Caches that were made for it.
    pub(super) made: Made,
}

/// Protected names of a folder, and which of them were there.
#[derive(Debug, PartialEq, Eq)]
struct NamesSeen {
    folder: PathBuf,
    names: Vec<Vec<u8>>,
    /// Seconds and nanoseconds of the folder's last change.
    changed: Option<(i64, i64)>,
    found: Vec<Option<(u64, u64)>>,
}

impl NamesSeen {
    fn of(folder: PathBuf, names: Vec<Vec<u8>>) -> Self {
        let mut seen = Self {
            changed: changed(&folder),
            found: Vec::new(),
            folder,
            names,
        };
        seen.found = seen.look();
        seen
    }

    fn look(&self) -> Vec<Option<(u64, u64)>> {
        let name = |name: &Vec<u8>| {
            let path = self.folder.join(OsStr::from_bytes(name));
            let facts = fs::symlink_metadata(path).ok()?;
            Some((facts.dev(), facts.ino()))
        };
        self.names.iter().map(name).collect()
    }

    fn is_current(&self) -> bool {
        changed(&self.folder) == self.changed || self.look() == self.found
    }
}

fn changed(folder: &Path) -> Option<(i64, i64)> {
    let facts = fs::symlink_metadata(folder).ok()?;
    Some((facts.ctime(), facts.ctime_nsec()))
}

/// Folders by device and inode, each with the names in it that stay as they are, in lower case.
pub(super) type Guarded = BTreeMap<(u64, u64), Vec<Vec<u8>>>;

/// A path that was looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) is_folder: bool,
}

/// The path with its links followed; `None` when it is not there, or not for us.
pub(super) fn find(path: &Path) -> Option<Found> {
    fs::symlink_metadata(path).ok()?;
    let path = fs::canonicalize(path).ok()?;
    let is_folder = fs::metadata(&path).ok()?.is_dir();
    Some(Found { path, is_folder })
}

/// A path with the links to it followed as far as it is there; what is missing is kept as it is.
pub(super) fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| {
        let real = fs::canonicalize(above).ok()?;
        Some(real.join(path.strip_prefix(above).ok()?))
    });
    there.unwrap_or_else(|| path.to_owned())
}

/// The same for a path that no link leads to which a command could have made: links below `roots` are not followed.
pub(super) fn find_own(path: &Path, roots: &[PathBuf]) -> Option<Found> {
    let trace = trace(Path::new("/"), path);
    let is_planted = |link: &PathBuf| roots.iter().any(|root| link.starts_with(root));
    match trace.links.iter().any(is_planted) {
        true => None,
        false => find(path),
    }
}

/// Device and inode of a path.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    let facts = fs::metadata(path).ok()?;
    Some((facts.dev(), facts.ino()))
}

/// Names in a folder.
pub(super) fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect()
}

/// The target of a link itself, whether anything is there or not.
pub(super) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_symlink())
}

impl Plan {
    /// Plans a sandbox; `is_room` when it is to be kept.
    pub(super) fn new(policy: &Policy, is_room: bool) -> Result<Self, Refused> {
        let workspace = workspace(policy)?;
        let mut builder = Builder::default();
        let roots = mounts::written(policy, &workspace);
        let protected = protect::find(policy, &roots);
        let has = |layer: Layer| !policy.without.contains(&layer);
        let has_mounts = has(Layer::Mounts) && has(Layer::Namespaces);
        let mut switches = Switches::of(policy, is_room);
        limits(&mut builder, policy);
        let writable = if has_mounts {
            mounts::plan(&mut builder, policy, &roots, &protected)?
        } else {
            mounts::bare(&roots, &protected)
        };
        if has(Layer::Landlock) {
            landlock(&mut builder, &writable)?;
        }
        if has(Layer::Seccomp) {
            builder.blob.program = filter::program();
        }
        switches.set(blob::MOUNTS, has_mounts);
        let (user, group) = kernel::user_and_group();
        let head = &mut builder.blob.head;
        head.switches = switches.0;
        head.user = u64::from(user);
        head.group = u64::from(group);
        head.highest = numbered(policy).unwrap_or_default();
        if let Network::Hosts(hosts) = &policy.network {
            let [four, six] = crate::net::own_ports(hosts);
            head.set_ports(&four, &six);
        }
        Ok(Self {
            bytes: builder.blob.write(),
            labels: builder.labels,
            fixed: match has_mounts {
                true => protected
                    .fixed
                    .into_iter()
                    .map(|found| found.path)
                    .collect(),
                false => Vec::new(),
            },
            absent: protected.absent,
            guarded: protected.guarded,
            made: builder.made,
            fresh: protected.fresh,
            control: protected.control,
            names: protected
                .names
                .into_iter()
                .map(|(folder, names)| NamesSeen::of(folder, names))
                .collect(),
        })
    }

    /// Whether the protected names are what they were when this was made.
    pub(super) fn is_current(&self) -> bool {
        self.names.iter().all(NamesSeen::is_current)
    }
}

/// The folder to work in, without links, and nothing that would be the whole machine.
fn workspace(policy: &Policy) -> Result<Found, Refused> {
    let given = &policy.workspace;
    let refused = |reason: String| Refused::Policy { reason };
    let path = fs::canonicalize(given)
        .map_err(|error| refused(format!("the workspace {given} cannot be opened: {error}")))?;
    if !path.is_dir() {
        return Err(refused(format!("the workspace {given} is not a folder")));
    }
    let system = [
        "/proc", "/sys", "/dev", "/usr", "/etc", "/bin", "/sbin", "/lib", "/boot",
    ];
    let is_system = system.iter().any(|folder| {
        path.starts_with(folder) && !path.starts_with("/dev/shm/") && path != Path::new("/dev/shm")
    });
    if is_system || path.parent().is_none() {
        return Err(refused(format!(
            "{} belongs to the system and cannot be a workspace; open the folder of a project",
            path.display()
        )));
    }
    Ok(Found {
        path,
        is_folder: true,
    })
}

struct Switches(u64);

impl Switches {
    fn of(policy: &Policy, is_room: bool) -> Self {
        let has = |layer: Layer| !policy.without.contains(&layer);
        let mut switches = Self(0);
        let network = has(Layer::Network) && has(Layer::Namespaces);
        switches.set(blob::NAMESPACES, has(Layer::Namespaces));
        switches.set(blob::NETWORK, network);
        switches.set(blob::LANDLOCK, has(Layer::Landlock));
        switches.set(blob::SECCOMP, has(Layer::Seccomp));
        switches.set(blob::NO_NEW_PRIVS, has(Layer::NoNewPrivs));
        switches.set(blob::ROOM, is_room);
        let reaches = matches!(&policy.network, Network::Hosts(hosts) if !hosts.is_empty());
        switches.set(blob::PROXY, network && reaches);
        switches
    }

    fn set(&mut self, switch: u64, is_on: bool) {
        if is_on {
            self.0 |= switch;
        }
    }
}

/// The new namespaces of a policy, as `clone` is told of them.
pub(super) fn namespaces(policy: &Policy) -> u32 {
    let has = |layer: Layer| !policy.without.contains(&layer);
    if !has(Layer::Namespaces) {
        return 0;
    }
    let mut flags = filter::NEW_NAMESPACES;
    if !has(Layer::Mounts) {
        flags &= !(libc::CLONE_NEWNS as u32);
    }
    if !has(Layer::Network) {
        flags &= !(libc::CLONE_NEWNET as u32);
    }
    flags
}

fn limits(builder: &mut Builder, policy: &Policy) {
    if policy.without.contains(&Layer::Limits) {
        return;
    }
    let limits = &policy.limits;
    // Without a namespace of users the processes of the whole user would be counted.
    let is_counted = !policy.without.contains(&Layer::Namespaces);
    let processes = limits.processes.filter(|_| is_counted);
    let known = [
        // One byte: none at all would still be handed to a program that gathers them.
        (libc::RLIMIT_CORE, Some(1)),
        (libc::RLIMIT_NPROC, processes),
        (libc::RLIMIT_NOFILE, limits.open_files),
        (libc::RLIMIT_FSIZE, limits.file_bytes),
        (libc::RLIMIT_CPU, limits.cpu_seconds),
    ];
    for (resource, value) in known {
        if let Some(value) = value {
            builder.layer = Layer::Limits;
            let (a, b) = (u64::from(resource), value);
            builder.step(blob::Kind::Limit, Path::new("/"), |step| {
                step.a = a;
                step.b = b;
            });
        }
    }
}

/// How many processes the numbers of the sandbox's own namespace are limited to; `None` where its user is limited as
/// such, or where a control group has to count.
pub(super) fn numbered(policy: &Policy) -> Option<u64> {
    let has = |layer: Layer| !policy.without.contains(&layer);
    let is_administrator = kernel::user_and_group().0 == 0;
    let most = policy.limits.processes?;
    let is_possible = is_administrator && has(Layer::Limits) && has(Layer::Namespaces);
    (is_possible && least_highest()? <= most).then_some(most)
}

/// The least that the highest number of a namespace of processes can be set to; `None` where namespaces have none of
/// their own.
fn least_highest() -> Option<u64> {
    static LEAST: OnceLock<Option<u64>> = OnceLock::new();
    *LEAST.get_or_init(|| {
        let system = rustix::system::uname();
        let release = system.release().to_string_lossy();
        let mut numbers = release
            .split(|letter: char| !letter.is_ascii_digit())
            .map_while(|number| number.parse::<u32>().ok());
        // The release that gave every namespace its own.
        if (numbers.next()?, numbers.next()?) < (6, 14) {
            return None;
        }
        let possible = fs::read_to_string("/sys/devices/system/cpu/possible").ok()?;
        let last = possible.trim().rsplit(['-', ',']).next()?;
        let processors = 1 + last.parse::<u64>().ok()?;
        // The first numbers are never given twice, and each processor has its share.
        Some((8 * processors).max(301))
    })
}

fn landlock(builder: &mut Builder, writable: &[Found]) -> Result<(), Refused> {
    let missing = |cause: io::Error| Refused::Missing {
        layer: Layer::Landlock,
        step: "asking the kernel for Landlock".to_owned(),
        cause,
        advice: advice(Layer::Landlock),
    };
    let version = wall::version().map_err(|errno| missing(io::Error::from_raw_os_error(errno)))?;
    if version < wall::OLDEST {
        return Err(missing(io::Error::other(format!(
            "version {version} of the kernel's Landlock is too old, {} is needed",
            wall::OLDEST
        ))));
    }
    for found in writable {
        let rights = match found.is_folder {
            true if found.path == Path::new("/dev") => wall::devices(version),
            true => wall::folder(version),
            false => wall::file(version),
        };
        let path = builder.blob.text(found.path.as_os_str().as_bytes());
        builder.blob.rules.push((rights, path));
    }
    builder.blob.head.handled = wall::handled(version);
    builder.blob.head.stream = wall::file(version);
    Ok(())
}

/// A plan being made.
#[derive(Debug)]
pub(super) struct Builder {
    pub(super) blob: Blob,
    pub(super) labels: Vec<(Layer, String)>,
    /// The layer that the next steps belong to.
    pub(super) layer: Layer,
    pub(super) made: Made,
    slots: u32,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            blob: Blob::default(),
            labels: Vec::new(),
            layer: Layer::Mounts,
            made: Made::default(),
            slots: 0,
        }
    }
}

impl Builder {
    /// Adds a step about a path.
    pub(super) fn step(
        &mut self,
        kind: blob::Kind,
        path: &Path,
        fill: impl FnOnce(&mut blob::Step),
    ) {
        let text = self.text(path.as_os_str());
        let mut step = blob::Step {
            kind,
            flags: 0,
            path: text,
            other: text,
            options: text,
            slot: 0,
            a: 0,
            b: 0,
        };
        fill(&mut step);
        self.blob.steps.push(step);
        let label = format!("{kind:?} {}", path.display()).to_lowercase();
        self.labels.push((self.layer, label));
    }

    /// The last step may fail.
    pub(super) fn make_optional(&mut self) {
        if let Some(step) = self.blob.steps.last_mut() {
            step.flags |= blob::OPTIONAL;
        }
    }

    pub(super) fn text(&mut self, text: &OsStr) -> u32 {
        self.blob.text(text.as_bytes())
    }

    /// A slot for a mount that is taken now and put down later.
    pub(super) fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    /// A plan with more mounts than process 1 can hold is refused rather than cut.
    pub(super) fn check(&self) -> Result<(), Refused> {
        if self.slots as usize <= super::steps::SLOTS {
            return Ok(());
        }
        Err(Refused::Policy {
            reason: format!(
                "the policy needs {} mounts, more than the {} that can be had; name folders \
                 instead of the files in them",
                self.slots,
                super::steps::SLOTS
            ),
        })
    }
}

/// What a failure means, in words for the person.
pub(super) fn explain(plan: &Plan, stage: u32, errno: i32) -> Refused {
    use wire::stage;
    let cause = io::Error::from_raw_os_error(errno);
    let (layer, step) = match stage {
        stage::CLONE => (Layer::Namespaces, "new namespaces".to_owned()),
        stage::USERS => (Layer::Namespaces, "mapping the user".to_owned()),
        stage::LOOPBACK => (Layer::Network, "switching the loopback on".to_owned()),
        stage::LANDLOCK => (Layer::Landlock, "restricting with Landlock".to_owned()),
        stage::SECCOMP => (Layer::Seccomp, "installing the filter".to_owned()),
        stage::NO_NEW_PRIVS => (Layer::NoNewPrivs, "setting no_new_privs".to_owned()),
        stage::CAPABILITIES => (Layer::NoNewPrivs, "dropping capabilities".to_owned()),
        stage::PROCESSES => (Layer::Mounts, "a list of processes of its own".to_owned()),
        stage::COUNTING => (Layer::Limits, "limiting the number of processes".to_owned()),
        other => match plan.labels.get(other as usize) {
            Some((layer, label)) => (*layer, label.clone()),
            None => {
                return Refused::Gone {
                    reason: format!("its process could not take the order ({cause})"),
                };
            }
        },
    };
    Refused::Missing {
        layer,
        step,
        cause,
        advice: advice(layer),
    }
}

fn advice(layer: Layer) -> &'static str {
    match layer {
        Layer::Namespaces => {
            "user namespaces have to be allowed: the administrator sets \
             user.max_user_namespaces above 0 and, where they exist, \
             kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0"
        }
        Layer::Mounts => {
            "Linux 5.12 or later and a /proc that is not partly covered are needed; in a \
             container, start it with an unmasked /proc"
        }
        Layer::Network => "the kernel has to be built with network namespaces",
        Layer::Landlock => {
            "Linux 6.2 or later is needed, with landlock among the security modules that are \
             switched on at boot (lsm=landlock,...)"
        }
        Layer::Seccomp => {
            "Linux 5.19 or later is needed, built with seccomp filters, and no debugger or outer \
             sandbox that answers the filter's questions itself"
        }
        Layer::NoNewPrivs => "an outer sandbox forbids it; start outside of that",
        Layer::Limits => "raise the limit in the policy, or the hard limit of the session",
    }
}

/// The path as the rest of the program writes paths.
pub(super) fn absolute(path: &Path) -> Option<AbsPath> {
    AbsPath::new(path)
}
