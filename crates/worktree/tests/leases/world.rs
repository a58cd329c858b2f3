//! A repository and a state folder in a temporary folder, with helpers to run Git.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base::AbsPath;
use worktree::{Lease, LeaseRequest, MountPrivilege, PoolSettings, TreeBackend, WorktreePool};

pub(super) struct World {
    folder: tempfile::TempDir,
    pub(super) settings: PoolSettings,
}

/// Whether this build mounts overlays, given the privilege.
pub(super) const HAS_OVERLAYS: bool = cfg!(all(target_os = "linux", not(burin_portable)));

/// The backends that this process can use on any file system.
pub(super) fn backends() -> Vec<TreeBackend> {
    let mut backends = vec![TreeBackend::Copy, TreeBackend::Fill];
    if worktree::current_privilege() != MountPrivilege::Plain {
        backends.push(TreeBackend::Overlay);
    }
    if !HAS_OVERLAYS {
        backends.push(TreeBackend::CloneTree);
    }
    backends
}

/// A request for one lease that ends with this process.
pub(super) const ONE: LeaseRequest = LeaseRequest {
    count: 1,
    is_kept: false,
    with_changes: false,
};

impl World {
    /// A repository with a few files of every kind, committed.
    pub(super) fn new() -> Self {
        let world = Self::bare();
        let main_repo = world.main_repo();
        write(&main_repo.join("readme.md"), "# One\n");
        write(&main_repo.join("src/main.rs"), "fn main() {}\n");
        write(&main_repo.join("src/deep/er/lib.rs"), "pub fn f() {}\n");
        write(&main_repo.join("run.sh"), "#!/bin/sh\n");
        write(&main_repo.join("with space/ü.txt"), "x\n");
        write(
            &main_repo.join(".gitignore"),
            "target\n.env\nnode_modules/\n",
        );
        make_executable(&main_repo.join("run.sh"));
        std::os::unix::fs::symlink("src/main.rs", main_repo.join("link")).unwrap();
        git(&main_repo, ["add", "--all"]);
        git(&main_repo, ["commit", "--quiet", "--message=one"]);
        world
    }

    /// A repository without a commit.
    pub(super) fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("hub")).unwrap();
        let mut settings = PoolSettings::defaults();
        settings.first_port = 21_000 + u16::try_from(std::process::id() % 400).unwrap() * 16;
        let world = Self { folder, settings };
        let main_repo = world.main_repo();
        git(&main_repo, ["init", "--quiet", "--initial-branch=main"]);
        git(&main_repo, ["config", "user.name", "Person"]);
        git(&main_repo, ["config", "user.email", "person@localhost"]);
        world
    }

    pub(super) fn by(mut self, backend: TreeBackend) -> Self {
        self.settings.backend = Some(backend);
        self
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(super) fn main_repo(&self) -> PathBuf {
        self.path().join("hub")
    }

    pub(super) fn state(&self) -> AbsPath {
        AbsPath::new(self.path().join("state")).unwrap()
    }

    /// Makes the pool believe that its volume folds case and normal forms.
    pub(super) fn fold_names(&self) {
        let path = self.state().join("worktrees/rungs.json");
        self.pool().backend_support().unwrap();
        let mut known = read(path.as_path());
        for rule in ["folds_case", "normalizes"] {
            let told = format!("\"{rule}\": true");
            known = known.replace(&format!("\"{rule}\": false"), &told);
            assert!(known.contains(&told), "{known}");
        }
        write(path.as_path(), &known);
    }

    pub(super) fn pool(&self) -> WorktreePool {
        self.pool_of(&self.main_repo())
    }

    pub(super) fn pool_of(&self, main_repo: &Path) -> WorktreePool {
        let main_repo = AbsPath::new(main_repo).unwrap();
        WorktreePool::open(&main_repo, &self.state(), self.settings.clone()).unwrap()
    }

    /// A fingerprint of everything that leasing must not change.
    pub(super) fn fingerprint(&self) -> String {
        let main_repo = self.main_repo();
        let mut text = git(
            &main_repo,
            ["for-each-ref", "refs/heads", "refs/tags", "refs/remotes"],
        );
        text.push_str(&git(&main_repo, ["status", "--porcelain", "--ignored"]));
        for name in [".git/config", ".git/HEAD", ".git/index"] {
            text.push_str(&format!("{:?}", fs::read(main_repo.join(name)).ok()));
        }
        let mut hooks: Vec<_> = fs::read_dir(main_repo.join(".git/hooks"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        hooks.sort();
        text.push_str(&format!("{hooks:?}"));
        text
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Mounts would prevent the removal of the folder.
        unmount_below(&self.path());
    }
}

/// The monitor program: the examples are built beside the tests.
pub(super) fn monitor() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let program = own.parent().unwrap().parent().unwrap();
    let program = program.join("examples/answer_git");
    assert!(
        program.is_file(),
        "{} is built with tests",
        program.display()
    );
    program
}

pub(super) fn unmount_below(folder: &Path) {
    for place in mounts_below(folder).iter().rev() {
        Command::new("umount")
            .arg("-l")
            .arg(place)
            .status()
            .unwrap();
    }
}

/// The mount points below a folder.
pub(super) fn mounts_below(folder: &Path) -> Vec<PathBuf> {
    if !HAS_OVERLAYS {
        return Vec::new();
    }
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let places = table.lines().filter_map(|line| line.split(' ').nth(4));
    places
        .map(PathBuf::from)
        .filter(|place| place.starts_with(folder))
        .collect()
}

pub(super) fn one(pool: &WorktreePool) -> Lease {
    pool.lease(ONE).unwrap().remove(0)
}

pub(super) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(super) fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

pub(super) fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs Git in a folder and returns its output; it must succeed.
pub(super) fn git<T: AsRef<OsStr>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = T>,
) -> String {
    try_git(folder, arguments).unwrap_or_else(|said| panic!("in {}: {said}", folder.display()))
}

pub(super) fn try_git<T: AsRef<OsStr>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = T>,
) -> Result<String, String> {
    let done = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    if done.status.success() {
        Ok(String::from_utf8(done.stdout).unwrap())
    } else {
        Err(String::from_utf8(done.stderr).unwrap())
    }
}

/// Runs Git with `input` and returns its output.
pub(super) fn pipe(folder: &Path, words: &[&str], input: &str) -> String {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = Command::new("git")
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// Adds files to the index alone, in exactly this spelling, whatever the volume makes of it.
pub(super) fn stage(main_repo: &Path, paths: &[&str]) {
    let blob = pipe(main_repo, &["hash-object", "-w", "--stdin"], "x\n");
    let mut words: Vec<String> = [
        "-c",
        "core.ignorecase=false",
        "-c",
        "core.precomposeunicode=false",
        "update-index",
        "--add",
    ]
    .map(str::to_owned)
    .into();
    for path in paths {
        let entry = format!("100644,{},{path}", blob.trim());
        words.extend(["--cacheinfo".to_owned(), entry]);
    }
    git(main_repo, words);
}

/// Commits all changes of a lease.
pub(super) fn commit(root: &Path, message: &str) -> String {
    git(root, ["add", "--all"]);
    git(root, ["commit", "--quiet", "--message", message]);
    git(root, ["rev-parse", "HEAD"]).trim().to_owned()
}

/// Every file below a folder except `.git`, with its content and kind.
pub(super) fn tree(root: &Path) -> Vec<String> {
    fn walk(folder: &Path, root: &Path, lines: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let kind = entry.file_type().unwrap();
            if name == ".git" {
            } else if kind.is_dir() {
                walk(&path, root, lines);
            } else if kind.is_symlink() {
                lines.push(format!(
                    "{name} -> {}",
                    fs::read_link(&path).unwrap().display()
                ));
            } else {
                use std::os::unix::fs::PermissionsExt;
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o100;
                lines.push(format!("{name} {mode:o} {:?}", fs::read(&path).unwrap()));
            }
        }
    }
    let mut lines = Vec::new();
    walk(root, root, &mut lines);
    lines.sort();
    lines
}
