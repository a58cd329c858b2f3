//! Scenes: a home with secrets, a workspace, neighbours and listeners, created to be attacked and
//! discarded.

use std::ffi::OsString;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use base::AbsPath;

/// The content of every secret.
pub(crate) const SECRET: &str = "S3CRET-4711-0815";

/// The location of the workspace and its relation to git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Plain,
    Linked,
    NoGit,
    Symlinked,
    Temporary,
}

pub(crate) const KINDS: [Kind; 5] = [
    Kind::Plain,
    Kind::Linked,
    Kind::NoGit,
    Kind::Symlinked,
    Kind::Temporary,
];

/// Files of the home folder that give access to other systems.
pub(crate) const SECRETS: &[&str] = &[
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".gnupg/secring.gpg",
    ".netrc",
    ".docker/config.json",
    ".kube/config",
    ".npmrc",
    ".git-credentials",
    ".config/gh/hosts.yml",
    ".config/gcloud/credentials.db",
    ".local/share/keyrings/login.keyring",
    ".mozilla/firefox/logins.json",
    ".bash_history",
    ".pypirc",
    ".cargo/credentials.toml",
    ".claude/.credentials.json",
];

/// Scenes of one program never share a number, even in different folders: abstract names are
/// machine-wide.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A temporary folder outside the folders that are private to every sandbox.
pub(crate) struct Ground {
    path: PathBuf,
    temporary: PathBuf,
}

impl Ground {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("bx-{name}-{}", std::process::id());
        // A killed test left its folder, and process ids are reused.
        Self::remove(&name);
        let path = places()
            .map(|place| place.join(&name))
            .find(|path| fs::create_dir_all(path).is_ok())
            .expect("a folder to write to");
        let temporary = PathBuf::from("/tmp").join(&name);
        fs::create_dir_all(&temporary).expect("a temporary folder");
        for path in [&path, &temporary] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
        }
        let ground = Self { path, temporary };
        for kind in KINDS {
            build(&ground.template(kind), kind);
        }
        ground
    }

    /// Removes the leftovers of a folder of this name that was not dropped.
    pub(crate) fn remove(name: &str) {
        for place in places().chain(["/tmp".into()]) {
            fs::remove_dir_all(place.join(name)).ok();
        }
    }

    fn root(&self, kind: Kind) -> &Path {
        match kind {
            Kind::Temporary => &self.temporary,
            _ => &self.path,
        }
    }

    fn template(&self, kind: Kind) -> PathBuf {
        self.root(kind).join(format!("{kind:?}"))
    }

    /// Creates a new scene.
    pub(crate) fn scene(&self, kind: Kind) -> Scene {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let base = self.root(kind).join(format!("s{number}"));
        copy(&self.template(kind), &base);
        if kind == Kind::Linked {
            let pointer = format!("gitdir: {}/hub/.git/worktrees/work\n", base.display());
            fs::write(base.join("work/.git"), pointer).expect("a pointer");
            let back = format!("{}/work/.git\n", base.display());
            fs::write(base.join("hub/.git/worktrees/work/gitdir"), back).expect("a pointer back");
        }
        fs::create_dir(base.join("run")).expect("a folder of sockets");
        Scene::open(base, kind, number)
    }
}

/// Candidate parent folders, best first.
fn places() -> impl Iterator<Item = PathBuf> {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let given = std::env::var_os("BX_GROUND").map(PathBuf::from);
    [given, Some("/var/lib".into()), home, Some(target)]
        .into_iter()
        .flatten()
}

impl Drop for Ground {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.path).ok();
        fs::remove_dir_all(&self.temporary).ok();
    }
}

/// One scene, with all its listeners and processes.
pub(crate) struct Scene {
    pub(crate) base: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) number: usize,
    pub(crate) tcp: TcpListener,
    pub(crate) tcp6: Option<TcpListener>,
    pub(crate) udp: UdpSocket,
    pub(crate) stream: UnixListener,
    pub(crate) datagram: UnixDatagram,
    pub(crate) abstracted: UnixListener,
    pub(crate) victim: Child,
    /// A name in the shared folders that is not in use.
    pub(crate) shared: String,
    /// Kept open without close-on-exec.
    _leaked: OwnedFd,
    variables: Vec<(OsString, OsString)>,
}

impl Scene {
    fn open(base: PathBuf, kind: Kind, number: usize) -> Self {
        let tcp = TcpListener::bind("0.0.0.0:0").expect("a listener");
        let tcp6 = TcpListener::bind("[::1]:0").ok();
        let udp = UdpSocket::bind("0.0.0.0:0").expect("a socket");
        let stream = UnixListener::bind(base.join("run/s")).expect("a listener");
        let datagram = UnixDatagram::bind(base.join("run/d")).expect("a socket");
        let shared = format!("bx-{}-{number}", std::process::id());
        let name = SocketAddr::from_abstract_name(&shared).expect("a name");
        let abstracted = UnixListener::bind_addr(&name).expect("a listener");
        for listener in [&tcp].into_iter().chain(&tcp6) {
            listener.set_nonblocking(true).expect("a listener");
        }
        udp.set_nonblocking(true).expect("a socket");
        stream.set_nonblocking(true).expect("a listener");
        datagram.set_nonblocking(true).expect("a socket");
        abstracted.set_nonblocking(true).expect("a listener");
        let secret = fs::File::open(base.join("home/.ssh/id_ed25519")).expect("a secret");
        let leaked = rustix::io::dup(&secret).expect("a descriptor");
        let victim = Command::new("/bin/sleep")
            .arg("1000")
            .env("VICTIM_TOKEN", SECRET)
            .current_dir(base.join("home"))
            .stdin(secret)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a victim");
        // Planted in the shared folders, for the control run to find.
        for folder in ["/tmp", "/var/tmp", "/dev/shm"] {
            fs::write(format!("{folder}/{shared}-secret"), SECRET).ok();
        }
        let mut scene = Self {
            base,
            kind,
            number,
            tcp,
            tcp6,
            udp,
            stream,
            datagram,
            abstracted,
            victim,
            shared,
            _leaked: leaked,
            variables: Vec::new(),
        };
        scene.variables = scene.name_everything();
        scene
    }

    fn name_everything(&self) -> Vec<(OsString, OsString)> {
        let port = |listener: &TcpListener| listener.local_addr().map_or(1, |at| at.port());
        let own = UdpSocket::bind("0.0.0.0:0")
            .and_then(|socket| {
                socket
                    .connect("192.0.2.1:9")
                    .and_then(|()| socket.local_addr())
            })
            .map_or("127.0.0.1".to_owned(), |at| at.ip().to_string());
        let numbers = [
            ("P", port(&self.tcp).to_string()),
            ("P6", self.tcp6.as_ref().map_or(1, port).to_string()),
            (
                "U",
                self.udp.local_addr().map_or(1, |at| at.port()).to_string(),
            ),
            ("I", own),
            ("A", self.shared.clone()),
            ("T", self.shared.clone()),
            ("V", self.victim.id().to_string()),
            ("F", self._leaked.as_raw_fd().to_string()),
        ];
        let paths = [
            ("B", self.base.clone()),
            ("W", self.work().as_path().to_owned()),
            ("HOME", self.base.join("home")),
            ("O", self.base.join("outside")),
            ("X", self.base.join("canary.sh")),
        ];
        let numbers = numbers.map(|(name, value)| (name.into(), value.into()));
        let paths = paths.map(|(name, value)| (name.into(), value.into()));
        let mut all: Vec<(OsString, OsString)> = numbers.into_iter().chain(paths).collect();
        all.push(("PATH".into(), PATH.into()));
        all.push(("GIT_CONFIG_NOSYSTEM".into(), "1".into()));
        all
    }

    /// Returns the environment of the attempts.
    pub(crate) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// Returns the workspace as the user names it.
    pub(crate) fn work(&self) -> AbsPath {
        let name = match self.kind {
            Kind::Symlinked => "link",
            _ => "work",
        };
        AbsPath::new(self.base.join(name)).expect("an absolute path")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // Leftovers of control runs.
        for process in crate::effects::survivors(&self.shared) {
            if let Some(process) = rustix::process::Pid::from_raw(process) {
                rustix::process::kill_process(process, rustix::process::Signal::KILL).ok();
            }
        }
        let left = |kind: &str| fs::read_to_string(format!("/proc/sysvipc/{kind}"));
        let is_left = ["shm", "msg", "sem"]
            .iter()
            .any(|kind| left(kind).is_ok_and(|table| table.lines().count() > 1));
        for (flag, key) in [("-M", 0x4711000), ("-Q", 0x4712000), ("-S", 0x4713000)] {
            if !is_left {
                break;
            }
            let key = format!("{:#x}", key + self.number);
            let removed = Command::new("ipcrm")
                .args([flag, &key])
                .stderr(Stdio::null())
                .status();
            removed.ok();
        }
        self.victim.kill().ok();
        self.victim.wait().ok();
        for folder in ["/tmp", "/var/tmp", "/dev/shm"] {
            for end in ["", "-secret"] {
                let path = format!("{folder}/{}{end}", self.shared);
                fs::remove_file(&path).ok();
                fs::remove_dir_all(&path).ok();
            }
        }
        fs::remove_dir_all(&self.base).ok();
    }
}

/// The search path for programs, inside and outside.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Returns whether a program is available to this user.
pub(crate) fn has(program: &str) -> bool {
    PATH.split(':')
        .any(|folder| Path::new(folder).join(program).exists())
}

/// Runs git as the user does.
pub(crate) fn git(folder: &Path, home: &Path, arguments: &[&str]) -> std::process::Output {
    Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", PATH)
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .output()
        .expect("git")
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("written");
}

fn build(base: &Path, kind: Kind) {
    let home = base.join("home");
    for secret in SECRETS {
        put(&home.join(secret), SECRET);
    }
    put(&home.join("state/ledger.db"), SECRET);
    put(
        &home.join(".gitconfig"),
        "[user]\n name = Ada\n email = ada@example.org\n[init]\n defaultBranch = main\n[gc]\n auto = 0\n\
         [maintenance]\n auto = false\n",
    );
    put(&home.join(".bashrc"), "# mine\n");
    put(&home.join(".local/bin/tool"), "#!/bin/sh\n");
    put(&base.join("outside/file.txt"), "outside\n");
    put(&base.join("outside/folder/inner.txt"), "outside\n");
    put(&base.join("outside/empty"), "");
    put(
        &base.join("other/.git/config"),
        "[core]\n\trepositoryformatversion = 0\n",
    );
    put(&base.join("other/.git/hooks/pre-commit.sample"), "");
    put(&base.join("other/file.txt"), "other\n");
    let canary = base.join("canary.sh");
    put(
        &canary,
        "#!/bin/sh\necho fired >> \"$(dirname \"$0\")/fired\"\ncat 2>/dev/null\nexit 0\n",
    );
    fs::set_permissions(&canary, fs::Permissions::from_mode(0o755)).expect("permissions");
    put(
        &base.join("template/hooks/pre-commit.sample"),
        "#!/bin/sh\n",
    );
    put(&base.join("template/info/exclude"), "");
    let work = match kind {
        Kind::Linked => base.join("hub"),
        _ => base.join("work"),
    };
    put(&work.join("src/main.rs"), "fn main() {}\n");
    put(&work.join("README.md"), "# Work\n");
    put(&work.join("a.txt"), "one\n");
    if kind != Kind::NoGit {
        let template = format!("--template={}", base.join("template").display());
        for arguments in [
            &["init", "-q", &template][..],
            &["add", "."],
            &["commit", "-qm", "first"],
        ] {
            let done = git(&work, &home, arguments);
            assert!(done.status.success(), "{arguments:?}: {done:?}");
        }
    }
    match kind {
        Kind::Linked => {
            let done = git(&work, &home, &["worktree", "add", "-q", "../work"]);
            assert!(done.status.success(), "{done:?}");
        }
        Kind::Symlinked => symlink("work", base.join("link")).expect("a link"),
        Kind::Plain | Kind::NoGit | Kind::Temporary => {}
    }
}

/// Copies a tree; links stay links.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a listing") {
        let entry = entry.expect("an entry");
        let there = to.join(entry.file_name());
        let kind = entry.file_type().expect("a kind");
        if kind.is_symlink() {
            symlink(fs::read_link(entry.path()).expect("a link"), there).expect("a link");
        } else if kind.is_dir() {
            copy(&entry.path(), &there);
        } else {
            fs::copy(entry.path(), there).expect("copied");
        }
    }
}
