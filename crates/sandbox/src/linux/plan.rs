//! Turns a policy into a plan: the mounts, their order, and the other layers.
//!
//! Knows: the disk as it is now. Must not know: processes.
//! Invariant: every path in a plan is absolute and was free of links when it was looked up; process
//! 1 follows none.
#![expect(
    clippy::disallowed_methods,
    reason = "mounts are made of what the disk holds, whatever `host::Files` would show"
)]

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use base::AbsPath;
use base::names::widest_key;

use super::caches::CacheFolders;
use super::plan_encoding::{self, EncodedPlan};
use super::{filter, kernel, landlock, mounts, protocol};
use crate::granted::GrantedPaths;
use crate::lookup::{self, Guarded, ResolvedPath, workspace};
use crate::protect;
use crate::{Network, Policy, SandboxError, SandboxLayer};

/// The parts of a plan that the program keeps, to interpret reports and to answer notifications.
#[derive(Debug)]
pub(super) struct SandboxPlan {
    /// The encoded plan for process 1.
    pub(super) bytes: Vec<u8>,
    /// The layer and a description of each step.
    pub(super) labels: Vec<(SandboxLayer, String)>,
    /// Existing paths that cannot be changed from inside.
    pub(super) fixed: Vec<PathBuf>,
    /// Missing paths that must not be created.
    pub(super) absent: Vec<PathBuf>,
    /// Names that must not be created, by the folder's device and inode.
    pub(super) guarded: Guarded,
    /// Missing git folders that may be created.
    pub(super) fresh: Vec<PathBuf>,
    /// Git folders, in which no links may be created.
    pub(super) control: Vec<PathBuf>,
    /// The state of the protected names when the plan was made.
    names: Vec<NameSnapshot>,
    /// Cache folders created for this sandbox.
    pub(super) caches: CacheFolders,
}

/// The protected names of a folder, and which of them existed.
#[derive(Debug, PartialEq, Eq)]
struct NameSnapshot {
    folder: PathBuf,
    names: Vec<Vec<u8>>,
    /// Seconds and nanoseconds of the folder's last change.
    changed: Option<(i64, i64)>,
    found: Vec<Option<(u64, u64)>>,
}

impl NameSnapshot {
    fn of(folder: PathBuf, names: Vec<Vec<u8>>) -> Self {
        let mut seen = Self {
            changed: changed(&folder),
            found: Vec::new(),
            folder,
            names,
        };
        seen.found = seen.identities();
        seen
    }

    /// Returns the present device and inode of each name, in their order; `None` for a missing one.
    fn identities(&self) -> Vec<Option<(u64, u64)>> {
        let identity = |key: &Vec<u8>| {
            let name = if key.is_ascii() {
                OsStr::from_bytes(key).to_owned()
            } else {
                // The key need not be a name that the folder would show.
                let mut names = lookup::names(&self.folder).ok()?.into_iter();
                names.find(|name| *widest_key(name.as_bytes()) == **key)?
            };
            let facts = fs::symlink_metadata(self.folder.join(name)).ok()?;
            Some((facts.dev(), facts.ino()))
        };
        self.names.iter().map(identity).collect()
    }

    /// Returns whether the folder or, if it was changed, each of the names is still as it was
    /// found.
    fn is_current(&self) -> bool {
        changed(&self.folder) == self.changed || self.identities() == self.found
    }
}

/// Returns the time at which a folder was last changed, in seconds and nanoseconds; `None` if it
/// cannot be examined.
fn changed(folder: &Path) -> Option<(i64, i64)> {
    let facts = fs::symlink_metadata(folder).ok()?;
    Some((facts.ctime(), facts.ctime_nsec()))
}

impl SandboxPlan {
    /// Makes the plan of a sandbox; `is_warm` if it is to be a warm one.
    pub(super) fn new(policy: &Policy, is_warm: bool) -> Result<Self, SandboxError> {
        let workspace = workspace(policy)?;
        let mut builder = PlanBuilder::default();
        let granted = GrantedPaths::find(policy, &workspace);
        let protected = protect::find(policy, &granted);
        let has = |layer: SandboxLayer| !policy.without.contains(&layer);
        let has_mounts = has(SandboxLayer::Mounts) && has(SandboxLayer::Namespaces);
        let mut switches = Switches::of(policy, is_warm);
        limits(&mut builder, policy);
        let writable = if has_mounts {
            mounts::plan(&mut builder, policy, &granted, &protected)?
        } else {
            mounts::writable_without_mounts(&granted, &protected)
        };
        if has(SandboxLayer::Landlock) {
            landlock(&mut builder, &writable)?;
        }
        if has(SandboxLayer::Seccomp) {
            builder.blob.program = filter::program();
        }
        switches.set(plan_encoding::MOUNTS, has_mounts);
        let (user, group) = kernel::user_and_group();
        let head = &mut builder.blob.head;
        head.switches = switches.0;
        head.user = u64::from(user);
        head.group = u64::from(group);
        head.pid_max = pid_limit(policy).unwrap_or_default();
        if let Network::Hosts(hosts) = &policy.network {
            let [four, six] = crate::net::own_ports(hosts).map(|mut ports| {
                // The proxy itself listens there.
                ports.retain(|port| *port != super::PROXY_PORT);
                ports
            });
            head.set_ports(&four, &six);
        }
        Ok(Self {
            bytes: builder.blob.write(),
            labels: builder.labels,
            fixed: if has_mounts {
                let fixed = protected.read_only.into_iter().chain(protected.fixed);
                fixed.map(|found| found.path).collect()
            } else {
                Vec::new()
            },
            absent: protected.absent,
            guarded: protected.guarded,
            caches: builder.caches,
            fresh: protected.fresh,
            control: protected.control,
            names: protected
                .names
                .into_iter()
                .map(|(folder, names)| NameSnapshot::of(folder, names))
                .collect(),
        })
    }

    /// Returns whether the protected names are unchanged since the plan was made.
    pub(super) fn is_current(&self) -> bool {
        self.names.iter().all(NameSnapshot::is_current)
    }
}

struct Switches(u64);

impl Switches {
    fn of(policy: &Policy, is_warm: bool) -> Self {
        let has = |layer: SandboxLayer| !policy.without.contains(&layer);
        let mut switches = Self(0);
        let network = has(SandboxLayer::Network) && has(SandboxLayer::Namespaces);
        switches.set(plan_encoding::NAMESPACES, has(SandboxLayer::Namespaces));
        switches.set(plan_encoding::NETWORK, network);
        switches.set(plan_encoding::LANDLOCK, has(SandboxLayer::Landlock));
        switches.set(plan_encoding::SECCOMP, has(SandboxLayer::Seccomp));
        switches.set(plan_encoding::NO_NEW_PRIVS, has(SandboxLayer::NoNewPrivs));
        switches.set(plan_encoding::WARM, is_warm);
        let reaches = matches!(&policy.network, Network::Hosts(hosts) if !hosts.is_empty());
        switches.set(plan_encoding::PROXY, network && reaches);
        switches
    }

    fn set(&mut self, switch: u64, is_on: bool) {
        if is_on {
            self.0 |= switch;
        }
    }
}

/// Returns the namespace flags for `clone`.
pub(super) fn namespaces(policy: &Policy) -> u32 {
    let has = |layer: SandboxLayer| !policy.without.contains(&layer);
    if !has(SandboxLayer::Namespaces) {
        return 0;
    }
    let mut flags = filter::NEW_NAMESPACES;
    if !has(SandboxLayer::Mounts) {
        flags &= !(libc::CLONE_NEWNS as u32);
    }
    if !has(SandboxLayer::Network) {
        flags &= !(libc::CLONE_NEWNET as u32);
    }
    flags
}

fn limits(builder: &mut PlanBuilder, policy: &Policy) {
    if policy.without.contains(&SandboxLayer::Limits) {
        return;
    }
    let limits = &policy.limits;
    // Without a user namespace, all processes of the user would be counted.
    let is_counted = !policy.without.contains(&SandboxLayer::Namespaces);
    let processes = limits.processes.filter(|_| is_counted);
    let known = [
        // One byte: a limit of 0 would still pass the dump to a core-dump handler.
        (libc::RLIMIT_CORE, Some(1)),
        (libc::RLIMIT_NPROC, processes),
        (libc::RLIMIT_NOFILE, limits.open_files),
        (libc::RLIMIT_FSIZE, limits.file_bytes),
        (libc::RLIMIT_CPU, limits.cpu_seconds),
    ];
    for (resource, value) in known {
        if let Some(value) = value {
            builder.layer = SandboxLayer::Limits;
            let (a, b) = (u64::from(resource), value);
            builder.step(plan_encoding::SetupOp::Limit, Path::new("/"), |step| {
                step.a = a;
                step.b = b;
            });
        }
    }
}

/// Returns the limit on process ids in the sandbox's namespace; `None` if the user's limit applies,
/// or if a control group has to count.
pub(super) fn pid_limit(policy: &Policy) -> Option<u64> {
    let has = |layer: SandboxLayer| !policy.without.contains(&layer);
    let is_administrator = kernel::user_and_group().0 == 0;
    let most = policy.limits.processes?;
    let is_possible =
        is_administrator && has(SandboxLayer::Limits) && has(SandboxLayer::Namespaces);
    (is_possible && min_pid_max()? <= most).then_some(most)
}

/// Returns the minimum value of `pid_max` in a PID namespace; `None` if namespaces have no
/// `pid_max` of their own.
fn min_pid_max() -> Option<u64> {
    static MIN_PID_MAX: OnceLock<Option<u64>> = OnceLock::new();
    *MIN_PID_MAX.get_or_init(|| {
        let system = rustix::system::uname();
        let release = system.release().to_string_lossy();
        let mut numbers = release
            .split(|letter: char| !letter.is_ascii_digit())
            .map_while(|number| number.parse::<u32>().ok());
        // The first release with a `pid_max` per namespace.
        if (numbers.next()?, numbers.next()?) < (6, 14) {
            return None;
        }
        let possible = fs::read_to_string("/sys/devices/system/cpu/possible").ok()?;
        let last = possible.trim().rsplit(['-', ',']).next()?;
        let processors = 1 + last.parse::<u64>().ok()?;
        // The kernel's minimum: the reserved ids, and a share for each CPU.
        Some((8 * processors).max(301))
    })
}

/// Adds Landlock's rules for the writable paths. Fails with `SandboxError::Missing` if the kernel
/// has no Landlock or an older one than is needed.
fn landlock(builder: &mut PlanBuilder, writable: &[ResolvedPath]) -> Result<(), SandboxError> {
    let missing = |cause: io::Error| SandboxError::Missing {
        layer: SandboxLayer::Landlock,
        step: "asking the kernel for Landlock".to_owned(),
        cause,
        advice: advice(SandboxLayer::Landlock),
    };
    let version =
        landlock::version().map_err(|errno| missing(io::Error::from_raw_os_error(errno)))?;
    if version < landlock::OLDEST {
        return Err(missing(io::Error::other(format!(
            "version {version} of the kernel's Landlock is too old, {} is needed",
            landlock::OLDEST
        ))));
    }
    for found in writable {
        let rights = if found.is_folder && found.path == Path::new("/dev") {
            landlock::devices(version)
        } else if found.is_folder {
            landlock::folder(version)
        } else {
            landlock::file(version)
        };
        let path = builder.blob.text(found.path.as_os_str().as_bytes());
        builder.blob.rules.push((rights, path));
    }
    builder.blob.head.handled = landlock::handled(version);
    builder.blob.head.stream = landlock::file(version);
    Ok(())
}

/// A plan under construction.
#[derive(Debug)]
pub(super) struct PlanBuilder {
    pub(super) blob: EncodedPlan,
    pub(super) labels: Vec<(SandboxLayer, String)>,
    /// The layer of the steps added next.
    pub(super) layer: SandboxLayer,
    pub(super) caches: CacheFolders,
    slots: u32,
}

impl Default for PlanBuilder {
    fn default() -> Self {
        Self {
            blob: EncodedPlan::default(),
            labels: Vec::new(),
            layer: SandboxLayer::Mounts,
            caches: CacheFolders::default(),
            slots: 0,
        }
    }
}

impl PlanBuilder {
    /// Adds a step about a path.
    pub(super) fn step(
        &mut self,
        kind: plan_encoding::SetupOp,
        path: &Path,
        fill: impl FnOnce(&mut plan_encoding::SetupStep),
    ) {
        let text = self.text(path.as_os_str());
        let mut step = plan_encoding::SetupStep {
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

    /// Marks the last step as optional.
    pub(super) fn make_optional(&mut self) {
        if let Some(step) = self.blob.steps.last_mut() {
            step.flags |= plan_encoding::OPTIONAL;
        }
    }

    /// Adds a string and returns its offset; the string ends at its first NUL.
    pub(super) fn text(&mut self, text: &OsStr) -> u32 {
        self.blob.text(text.as_bytes())
    }

    /// Returns a slot for a mount that is taken now and attached later.
    pub(super) fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    /// Refuses a plan with more mounts than process 1 can hold.
    pub(super) fn check(&self) -> Result<(), SandboxError> {
        if self.slots as usize <= super::steps::SLOTS {
            return Ok(());
        }
        Err(SandboxError::Policy {
            reason: format!(
                "the policy needs {} mounts, more than the {} that can be had; name folders \
                 instead of the files in them",
                self.slots,
                super::steps::SLOTS
            ),
        })
    }
}

/// Explains a failure to the user.
pub(super) fn explain(plan: &SandboxPlan, stage: u32, errno: i32) -> SandboxError {
    use protocol::stage;
    let cause = io::Error::from_raw_os_error(errno);
    let (layer, step) = match stage {
        stage::CLONE => (SandboxLayer::Namespaces, "creating namespaces".to_owned()),
        stage::USERS => (SandboxLayer::Namespaces, "mapping the user".to_owned()),
        stage::LOOPBACK => (SandboxLayer::Network, "bringing up the loopback".to_owned()),
        stage::LANDLOCK => (
            SandboxLayer::Landlock,
            "restricting with Landlock".to_owned(),
        ),
        stage::SECCOMP => (SandboxLayer::Seccomp, "installing the filter".to_owned()),
        stage::NO_NEW_PRIVS => (SandboxLayer::NoNewPrivs, "setting no_new_privs".to_owned()),
        stage::CAPABILITIES => (SandboxLayer::NoNewPrivs, "dropping capabilities".to_owned()),
        stage::PROCESSES => (SandboxLayer::Mounts, "mounting /proc".to_owned()),
        stage::COUNTING => (
            SandboxLayer::Limits,
            "limiting the number of processes".to_owned(),
        ),
        other => match plan.labels.get(other as usize) {
            Some((layer, label)) => (*layer, label.clone()),
            None => {
                return SandboxError::Gone {
                    reason: format!("its process could not receive the command ({cause})"),
                };
            }
        },
    };
    SandboxError::Missing {
        layer,
        step,
        cause,
        advice: advice(layer),
    }
}

fn advice(layer: SandboxLayer) -> &'static str {
    match layer {
        SandboxLayer::Namespaces => {
            "user namespaces must be enabled: the administrator sets \
             user.max_user_namespaces above 0 and, where they exist, \
             kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0"
        }
        SandboxLayer::Mounts => {
            "Linux 5.12 or later and a /proc that is not partly covered are needed; in a \
             container, start it with an unmasked /proc"
        }
        SandboxLayer::Network => "the kernel must be built with network namespaces",
        SandboxLayer::Landlock => {
            "Linux 6.2 or later is needed, with landlock among the security modules that are \
             switched on at boot (lsm=landlock,...)"
        }
        SandboxLayer::Seccomp => {
            "Linux 5.19 or later is needed, built with seccomp filters, and no debugger or outer \
             sandbox that answers the filter's questions itself"
        }
        SandboxLayer::NoNewPrivs => "an outer sandbox forbids it; start Burin outside that sandbox",
        SandboxLayer::Limits => "raise the limit in the policy, or the hard limit of the session",
    }
}

/// Converts a path to an `AbsPath`.
pub(super) fn absolute(path: &Path) -> Option<AbsPath> {
    AbsPath::new(path)
}
