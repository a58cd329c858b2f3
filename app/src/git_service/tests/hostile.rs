//! A hostile repository that the user does not trust: its configuration, attributes, hooks and nested repositories name
//! programs, of which none runs, and no other process starts either.
//!
//! The services are used in a child process under strace, which sees every process that starts. Afterwards the user's own git
//! runs the programs, so that a repository which is not hostile at all fails the test.
#![expect(
    clippy::disallowed_methods,
    reason = "the story starts the program itself"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use base::AbsPath;
use futures::executor::block_on;
use git::Repository;
use git::changes::{Change, ChangeGroup, ChangeKind};
use git::conflict::ConflictChoice;
use git::diff::{SideContent, TreeSide};
use git::merge::TreePath;
use git::staging::{LineSelection, Side};
use git_history::{BlameRequest, CommitCommand, HistoryError, HistoryService};
use git_panel::{DiffRequest, GitCommand, GitFailureKind, GitService as _, PushMode};
use git_program::{FetchRequest, LogQuery, PullOptions};
use host::{Files as _, RealFiles};

use super::commits::request;
use super::{Fixture, finish};

/// Variable of the child process: the folder of its fixture.
const FOLDER: &str = "BURIN_TEST_HOSTILE_FOLDER";
/// The test that acts as the child process.
const CHILD: &str = "git_service::tests::hostile::a_repository_is_used_without_trust";

/// Settings that make git run a command of the shell. The name of the trap follows the command.
const COMMANDS: &[(&str, &str)] = &[
    ("core.fsmonitor", "fsmonitor"),
    ("core.sshCommand", "ssh"),
    ("core.pager", "pager"),
    ("core.editor", "editor"),
    ("core.gitProxy", "proxy"),
    ("core.alternateRefsCommand", "alternates"),
    ("diff.external", "external"),
    ("diff.evil.textconv", "textconv"),
    ("filter.evil.clean", "clean"),
    ("filter.evil.smudge", "smudge"),
    ("merge.evil.driver", "merge"),
    ("interactive.diffFilter", "interactive"),
    ("sequence.editor", "sequence"),
    ("trailer.evil.command", "trailer"),
    ("gpg.ssh.defaultKeyCommand", "key"),
    ("remote.origin.uploadpack", "uploadpack"),
    ("remote.origin.receivepack", "receivepack"),
];

/// Settings with the path of a program.
const PROGRAMS: &[(&str, &str)] = &[
    ("core.askPass", "askpass"),
    ("gpg.program", "gpg"),
    ("gpg.ssh.program", "gpg-ssh"),
];

/// Hooks of which each is a trap.
const HOOKS: &[&str] = &[
    "pre-commit",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "post-index-change",
    "pre-push",
    "reference-transaction",
    "fsmonitor-watchman",
];

/// Traps that the user's own git walks into.
const FIRED: &[&str] = &[
    "alias",
    "clean",
    "external",
    "fsmonitor",
    "gpg",
    "hook",
    "remote",
    "ssh",
    "textconv",
];

/// The folder into which every trap writes, and the command that does it.
struct Traps {
    journal: AbsPath,
    command: AbsPath,
}

impl Traps {
    fn new(fixture: &Fixture) -> Self {
        let traps = Self {
            journal: fixture.folder.join("fired"),
            command: fixture.folder.join("trap"),
        };
        let script = format!("echo \"$1\" >> '{}'", traps.journal);
        fixture.install(&traps.command, &script);
        traps
    }

    /// Returns the traps that have fired.
    fn fired(&self) -> BTreeSet<String> {
        let journal = RealFiles.read(&self.journal, 1 << 20).unwrap_or_default();
        let journal = String::from_utf8_lossy(&journal).into_owned();
        journal.lines().map(str::to_owned).collect()
    }

    /// Plants the traps into a repository.
    fn plant(&self, fixture: &Fixture, root: &AbsPath) {
        let set = |name: &str, value: &str| {
            fixture.git_in(root, &["config", name, value]);
        };
        let command = |trap: &str| format!("{} {trap}", self.command);
        let program = |trap: &str| {
            let place = fixture.folder.join("traps").join(trap);
            fixture.install(&place, &format!("exec {} {trap}", self.command));
            place.to_string()
        };
        for hook in HOOKS {
            let script = format!("exec {} hook", self.command);
            fixture.install(&fixture.folder.join("hooks").join(hook), &script);
        }
        set("core.hooksPath", &fixture.folder.join("hooks").to_string());
        for (name, trap) in PROGRAMS {
            set(name, &program(trap));
        }
        set("alias.trapped", &format!("!{}", command("alias")));
        set("credential.helper", &format!("!{}", command("credential")));
        set("remote.origin.url", &format!("ext::{}", command("remote")));
        set("protocol.ext.allow", "always");
        set("submodule.sub.update", &format!("!{}", command("update")));
        set("filter.evil.required", "true");
        set("commit.gpgSign", "true");
        set("core.untrackedCache", "true");
        for (name, trap) in COMMANDS {
            set(name, &command(trap));
        }
    }
}

/// Creates the repository: a merge with conflicts, changes of every group, a submodule and a nested repository.
#[track_caller]
fn hostile() -> Option<(Fixture, Traps)> {
    let fixture = Fixture::new(&[])?;
    let (sub, nested) = (fixture.root.join("sub"), fixture.root.join("nested"));
    for inner in [&sub, &nested] {
        RealFiles.create_folder(inner).expect("a folder");
        fixture.git_in(inner, &["init", "--quiet", "--initial-branch=main"]);
        write_in(inner, "inside.txt", "1\n");
        fixture.git_in(inner, &["add", "inside.txt"]);
        fixture.git_in(inner, &["commit", "--quiet", "--message=inside"]);
    }
    let attributes = "*.evil filter=evil diff=evil merge=evil\n*.txt diff=evil merge=evil\n";
    fixture.write(".gitattributes", attributes);
    fixture.write(".gitignore", "/nested/\n");
    let modules = "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::sh\n\tupdate = none\n";
    fixture.write(".gitmodules", modules);
    let files = [
        ("both.txt", "base\n"),
        ("code.evil", "one\n"),
        ("gone.txt", "gone\n"),
        ("other", "1\n"),
        ("plain.txt", "1\n2\n3\n4\n"),
    ];
    fixture.commit_files(&files);
    fixture.git(&["switch", "--quiet", "--create", "topic"]);
    fixture.commit_files(&[("both.txt", "theirs\n")]);
    fixture.git(&["switch", "--quiet", "main"]);
    fixture.commit_files(&[("both.txt", "ours\n")]);
    let merged = fixture.try_git(&["merge", "--quiet", "topic"]);
    assert_eq!(merged, None, "the merge conflicts");
    fixture.write("code.evil", "two\n");
    fixture.write("other", "2\n");
    fixture.write("plain.txt", "one\n2\n3\nfour\n");
    fixture.write("new.txt", "text\n");
    RealFiles
        .remove(&fixture.root.join("gone.txt"))
        .expect("removed");
    write_in(&sub, "inside.txt", "2\n");
    fixture.write(".gitignore", "");
    let traps = Traps::new(&fixture);
    for root in [&sub, &nested, &fixture.root] {
        traps.plant(&fixture, root);
    }
    assert_eq!(traps.fired(), BTreeSet::new(), "no trap fires too early");
    Some((fixture, traps))
}

fn write_in(root: &AbsPath, name: &str, text: &str) {
    let written = RealFiles.write_private(&root.join(name), text.as_bytes());
    written.expect("a file");
}

/// Runs as the child process, if the variable says so.
#[test]
fn a_repository_is_used_without_trust() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let folder = AbsPath::new(folder).expect("absolute");
    let fixture = Fixture::at(&folder).expect("git");
    use_service(&fixture);
    use_history(&fixture);
    use_conflicts(&fixture);
    std::process::exit(0);
}

/// Uses everything that the panel of changes offers.
fn use_service(fixture: &Fixture) {
    let (service, root) = (&fixture.service, &fixture.root);
    let found = block_on(service.repositories()).expect("a list");
    assert_eq!(found.len(), 3, "{found:?}");
    for repository in &found {
        let root = &repository.root;
        let changes = block_on(service.changes(root)).expect("a status").entries;
        assert!(!changes.is_empty() || root.name() == "nested", "{root}");
        changes
            .iter()
            .for_each(|change| use_change(fixture, root, change));
        block_on(service.branches(root)).expect("a list");
        block_on(service.last_message(root)).expect("a message");
        block_on(service.draft(root)).expect("a draft");
    }
    for command in [
        GitCommand::Fetch(FetchRequest::default()),
        GitCommand::Pull(PullOptions::default()),
        GitCommand::Push(PushMode::Normal),
        GitCommand::StashPop,
        GitCommand::Continue,
        GitCommand::Skip,
        GitCommand::Abort,
    ] {
        let (_, refused) = finish(service.run(root, command));
        let refused = refused.expect_err("no trust");
        assert_eq!(refused.kind, GitFailureKind::Untrusted, "{refused}");
    }
    let (_, refused) = finish(service.commit(root, request("second")));
    assert_eq!(
        refused.expect_err("no trust").kind,
        GitFailureKind::Untrusted
    );
    let staged = block_on(service.stage_files(root, vec![TreePath::from("code.evil")]));
    let refused = staged.expect_err("it has a filter");
    assert_eq!(refused.kind, GitFailureKind::Untrusted, "{refused}");
}

/// Reads, stages and discards one change. Much of it is refused.
fn use_change(fixture: &Fixture, root: &AbsPath, change: &Change) {
    let service = &fixture.service;
    let paths = vec![change.path.clone()];
    let of_path = block_on(service.changes_of(root, paths.clone()));
    of_path.expect("a status");
    for side in [Side::Unstaged, Side::Staged] {
        for buffer in [None, Some(b"in the editor\n".to_vec())] {
            let request = DiffRequest {
                path: change.path.clone(),
                side,
                buffer,
            };
            let Ok(diff) = block_on(service.file_diff(root, request)) else {
                continue;
            };
            let all = LineSelection::of_all(&diff);
            let step = match side {
                Side::Unstaged => block_on(service.stage_lines(root, diff, all)),
                Side::Staged => block_on(service.unstage_lines(root, diff, all)),
            };
            if let Ok(step) = step {
                block_on(service.undo_staging(root, step)).expect("taken back");
            }
        }
    }
    if let Ok(step) = block_on(service.stage_files(root, paths.clone())) {
        block_on(service.undo_staging(root, step)).expect("taken back");
    }
    block_on(service.unstage_files(root, paths)).ok();
    // An untracked file would go to the trash of the desktop.
    if change.group == ChangeGroup::Unstaged && change.kind != ChangeKind::Added {
        block_on(service.discard_file(root, change.clone())).ok();
    }
}

/// Uses everything that the history offers.
fn use_history(fixture: &Fixture) {
    let open = crate::repository_history::services(fixture.dirs.clone());
    let history = open(&fixture.root);
    let running = history.log(LogQuery::default());
    let batches = std::iter::from_fn(|| running.items.recv_blocking().ok());
    let rows: Vec<_> = batches
        .flat_map(|batch| batch.expect("rows").rows)
        .collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in &rows {
        let page = block_on(history.commit(row.id.clone())).expect("a commit");
        for file in page.files {
            // The submodule has no text.
            block_on(history.versions(row.id.clone(), file)).ok();
        }
        block_on(history.commit_page(row.id.clone()));
    }
    block_on(history.head()).expect("a commit");
    let picked = history.run(rows[0].id.clone(), CommitCommand::CherryPick);
    let refused = block_on(picked).expect_err("no trust");
    assert_eq!(refused, HistoryError::Untrusted);
    let plan = block_on(history.undo_plan()).map(drop);
    assert_eq!(plan, Err(HistoryError::Untrusted));
    assert_eq!(blamed(&*history), Err(HistoryError::Untrusted));
    let repository = Repository::discover(&fixture.root).expect("a repository");
    let lines = repository.blame(Path::new("plain.txt")).expect("a blame");
    assert_eq!(lines.len(), 1);
}

fn blamed(history: &dyn HistoryService) -> Result<(), HistoryError> {
    let request = BlameRequest {
        path: "plain.txt".into(),
        content: None,
    };
    let running = history.blame(request);
    let answer = running.items.recv_blocking().expect("an answer");
    answer.map(drop)
}

/// Compares trees, and resolves the conflict as the editor does.
fn use_conflicts(fixture: &Fixture) {
    let repository = Repository::discover(&fixture.root).expect("a repository");
    let head = TreeSide::Revision("HEAD".to_owned());
    let paths = repository.changed_paths(&head, &TreeSide::WorkingTree);
    for changed in paths.expect("a comparison") {
        let content = repository.content_of(&TreeSide::WorkingTree, &changed.path);
        let needs_git = matches!(content, Ok(SideContent::NeedsProgram(_)));
        let has_filter = changed.path == TreePath::from("code.evil");
        assert_eq!(needs_git, has_filter, "{}", changed.path);
    }
    repository.statuses().expect("a status");
    assert!(repository.conflict_names().is_some());
    let both = fixture.root.join("both.txt");
    let at = || {
        let conflict = repository.conflict_at(&both).expect("readable");
        conflict.expect("a conflict")
    };
    let conflict = at();
    assert_eq!(repository.marker_size(&conflict.path), 7);
    repository.text_stages(&conflict).expect("readable");
    fixture.write("both.txt", "resolved\n");
    let resolved = repository.mark_resolved(&conflict, &RealFiles);
    let resolved = resolved.expect("resolved");
    let restored = repository.restore_conflict(&resolved, &RealFiles);
    restored.expect("taken back");
    fixture.write("both.txt", "ours\n");
    let chosen = repository.choose(&at(), ConflictChoice::Theirs, &RealFiles);
    chosen.expect("resolved");
}

/// Returns the programs that a trace of processes saw, and the processes that are no threads, without the traced program.
fn started(trace: &str) -> Vec<&str> {
    let is_process = |line: &&str| {
        let is_program = line.contains(" execve(") || line.contains(" execveat(");
        let is_fork = [" fork(", " vfork(", " clone(", " clone3("]
            .iter()
            .any(|call| line.contains(call));
        is_program || is_fork && !line.contains("CLONE_THREAD")
    };
    trace.lines().filter(is_process).skip(1).collect()
}

#[test]
fn an_untrusted_hostile_repository_starts_no_process() {
    let Some((fixture, traps)) = hostile() else {
        return;
    };
    let program = std::env::current_exe().expect("the path of this program");
    let trace = fixture.folder.join("trace");
    let calls = "trace=execve,execveat,fork,vfork,clone,clone3";
    let run = |mut command: Command| {
        command
            .args([CHILD, "--exact", "--nocapture", "--test-threads=1"])
            .env(FOLDER, fixture.folder.as_path())
            .stdin(Stdio::null())
            .output()
    };
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(trace.as_path());
    strace.args(["-e", calls]).arg(&program);
    let traced = run(strace).ok().filter(|output| output.status.success());
    if traced.is_some() {
        let trace = RealFiles.read(&trace, 1 << 24).expect("a trace");
        let trace = String::from_utf8_lossy(&trace).into_owned();
        assert!(trace.contains(" execve("), "it begins with the program");
        assert_eq!(started(&trace), Vec::<&str>::new());
    } else {
        let output = run(Command::new(&program)).expect("the program starts");
        assert!(output.status.success(), "{output:?}");
        test_support::skip_part("strace does not work, so only the traps are seen");
    }
    assert_eq!(traps.fired(), BTreeSet::new());
    assert_eq!(fixture.calls(), 0);
    // The user's own git walks into the traps; many of these calls fail.
    for arguments in [
        &["status"][..],
        &["add", "code.evil"][..],
        &["diff"][..],
        &["diff", "--no-ext-diff"][..],
        &["trapped"][..],
        &["hook", "run", "pre-commit"][..],
        &["fetch", "origin"][..],
        &["ls-remote", "ssh://host.invalid/r"][..],
        &["tag", "--sign", "--message=x", "x"][..],
    ] {
        fixture.try_git(arguments);
    }
    let fired = traps.fired();
    let expected = FIRED.iter().map(|trap| (*trap).to_owned());
    let missing: Vec<_> = expected.filter(|trap| !fired.contains(trap)).collect();
    assert_eq!(missing, Vec::<String>::new(), "these traps are none");
}

#[test]
fn processes_in_a_trace_are_found() {
    let trace = "1 execve(\"/program\", [], 0) = 0\n\
        1 clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 2\n\
        1 clone3({flags=CLONE_VM|CLONE_VFORK}, 88) = 3\n\
        3 execve(\"/bin/sh\", [], 0) = 0\n\
        1 vfork() = 4\n";
    let found = started(trace);
    assert_eq!(found.len(), 3, "{found:?}");
}
