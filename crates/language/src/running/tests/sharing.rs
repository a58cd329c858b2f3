//! Worktrees that share servers.

use std::collections::BTreeSet;

use base::Span;
use host::{Files, RealClock, RealFiles, TempFolder};
use serde_json::{Value, json};
use settings::SettingsSource;
use text::{Buffer, EditOrigin, Timestamp};

use super::super::*;
use super::{is_alive, is_running};
use crate::InstalledServers;

/// Worktrees with a document each, and the servers of those that are open.
struct Worktrees {
    folder: TempFolder,
    pool: ServerPool,
}

/// An open worktree.
struct OpenWorktree {
    root: AbsPath,
    running: RunningServers,
    changed: Receiver<()>,
}

impl Worktrees {
    /// Creates the main worktree `0` of a repository and the linked ones `1` to `3`, and another repository `other`.
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            let parent = path.parent().expect("a parent");
            RealFiles.create_folder(&parent).expect("a folder");
            let written = RealFiles.write_private(&path, text.as_bytes());
            written.expect("written");
        };
        write("0/.git/HEAD", "");
        write("other/.git/HEAD", "");
        for name in ["1", "2", "3"] {
            write(&format!("0/.git/worktrees/{name}/commondir"), "../..\n");
            let link = format!("gitdir: ../0/.git/worktrees/{name}\n");
            write(&format!("{name}/.git"), &link);
        }
        let pool = ServerPool::default();
        Self { folder, pool }
    }

    /// Opens a worktree, and its document for a server with this id.
    fn open(&self, name: &str, server: &str) -> OpenWorktree {
        let root = self.folder.path().join(name);
        let script = test_support::data("language-server.sh");
        let definition = json!({
            "command": script.canonicalize().expect("the script"),
            "args": ["folders"],
            "languages": ["SQL"],
        });
        let text = json!({ "lsp": { "servers": { server: definition } } }).to_string();
        let layers = [(SettingsSource::User, "settings.json", text.as_str())];
        let (settings, problems) = settings::parse(&layers);
        assert_eq!(problems, []);
        let installed = InstalledServers::new(self.folder.path().join("servers"));
        let files: Arc<dyn Files> = Arc::new(RealFiles);
        let folder = root.clone();
        let open = move || FolderServers::open(files, folder, settings, installed, true);
        let (running, changed) = self.pool.start(RunningOptions {
            open: Box::new(open),
            logs: self.folder.path().join("logs"),
            clock: Arc::new(RealClock::default()),
        });
        let opened = OpenWorktree {
            root,
            running,
            changed,
        };
        let text = Snapshot::new("aé🙂b\n");
        opened.running.open_document(&opened.document(), &text);
        opened.wait_for_diagnostics();
        opened
    }

    /// The ids of the processes that servers had in all folders.
    fn pids(&self) -> Vec<String> {
        let lines = ["0", "1", "2", "3", "other"].map(|name| self.lines(name, "server-pids"));
        lines.concat()
    }

    /// The lines of a file that servers wrote in a folder.
    fn lines(&self, folder: &str, name: &str) -> Vec<String> {
        let path = self.folder.path().join(folder).join(name);
        let bytes = RealFiles.read(&path, 1 << 20).unwrap_or_default();
        let text = String::from_utf8(bytes).expect("text");
        text.lines().map(str::to_owned).collect()
    }

    fn living(&self) -> BTreeSet<String> {
        let pids = self.pids().into_iter();
        pids.filter(|pid| is_alive(pid, self.folder.path()))
            .collect()
    }
}

impl OpenWorktree {
    fn document(&self) -> AbsPath {
        self.root.join("a.sql")
    }

    fn wait(&self, mut is_done: impl FnMut(&RunningServers) -> bool) {
        while !is_done(&self.running) {
            self.changed.recv_blocking().expect("servers that live");
        }
    }

    fn wait_for_diagnostics(&self) {
        let document = self.document();
        self.wait(|running| !running.diagnostics(&document).is_empty());
        self.wait(|running| running.statuses().iter().all(|it| is_running(&it.state)));
    }

    /// Closes the worktree and waits until the threads that belong to it have ended.
    fn close(self) {
        let Self {
            running, changed, ..
        } = self;
        drop(running);
        while changed.recv_blocking().is_ok() {}
    }
}

/// A server of the built-in table whose process serves several worktrees.
const SHARED: &str = "tombi";

#[test]
fn four_worktrees_share_one_process() {
    let worktrees = Worktrees::new();
    let open = ["0", "1", "2", "3"].map(|name| worktrees.open(name, SHARED));
    assert_eq!(worktrees.pids().len(), 1);
    for worktree in &open {
        let statuses = worktree.running.statuses();
        let keys: Vec<_> = statuses
            .iter()
            .map(|it| (&it.key.root, it.documents))
            .collect();
        assert_eq!(keys, [(&worktree.root, 1)]);
    }
    // Three folders were announced to the server.
    let names = worktrees
        .lines("0", "server-folders")
        .into_iter()
        .map(|line| {
            let message: Value = serde_json::from_str(&line).expect("JSON");
            message["params"]["event"]["added"][0]["name"].clone()
        });
    assert_eq!(names.collect::<Vec<_>>(), ["1", "2", "3"]);
}

#[test]
fn a_shared_server_outlives_the_folder_in_which_it_started() {
    let worktrees = Worktrees::new();
    let [first, second] = ["0", "1"].map(|name| worktrees.open(name, SHARED));
    drop(first);
    let mut buffer = Buffer::new("aé🙂b\n");
    let document = second.document();
    second.running.open_document(&document, &buffer.snapshot());
    let change = buffer.replace(Span::from(0..1), "x", &EditOrigin::user(Timestamp(0)));
    second
        .running
        .change_document(&document, &change, &buffer.snapshot());
    second.wait_for_diagnostics();
    assert_eq!((worktrees.pids().len(), worktrees.living().len()), (1, 1));
    second.close();
    assert_eq!(worktrees.living(), BTreeSet::new());
}

#[test]
fn a_server_restarts_once_most_of_its_folders_are_gone() {
    let worktrees = Worktrees::new();
    let [first, second, third] = ["0", "1", "2"].map(|name| worktrees.open(name, SHARED));
    drop(second);
    assert_eq!(worktrees.pids().len(), 1);
    drop(third);
    first.wait(|_| worktrees.pids().len() == 2);
    first.wait_for_diagnostics();
    assert_eq!(worktrees.living().len(), 1);
}

#[test]
fn a_folder_restarts_what_it_shares() {
    let worktrees = Worktrees::new();
    let [first, _second] = ["0", "1"].map(|name| worktrees.open(name, SHARED));
    first.running.restart_shared();
    first.wait(|_| worktrees.pids().len() == 2);
    first.wait_for_diagnostics();
    // Both folders are announced as the server starts.
    assert_eq!(worktrees.lines("0", "server-folders").len(), 1);
}

#[test]
fn other_repositories_and_servers_for_one_folder_are_not_shared() {
    let worktrees = Worktrees::new();
    let _open = ["0", "other"].map(|name| worktrees.open(name, SHARED));
    assert_eq!(worktrees.pids().len(), 2);
    let worktrees = Worktrees::new();
    // Servers that only the settings know may mix folders.
    let _open = ["0", "1"].map(|name| worktrees.open(name, "own"));
    assert_eq!(worktrees.pids().len(), 2);
}
