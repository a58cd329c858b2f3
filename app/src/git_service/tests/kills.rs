//! Changes of a repository that are killed at every system call that changes a file, in this program and in git.
//!
//! The calls of one complete change are recorded once; then the change is repeated in a fresh copy of the repository, each
//! time killed at another call. Afterwards the index is whole, no lock of ours is left, no content and no draft is lost, and
//! the change can be made. `BURIN_GIT_KILLS` is the number of calls at which each change is killed.
#![expect(
    clippy::disallowed_methods,
    reason = "a story starts and kills the program itself"
)]

mod calls;
mod operation;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use base::AbsPath;
use futures::executor::block_on;
use git::land::LOCK_MARK;
use git::merge::TreePath;
use git_panel::GitService as _;
use host::process::{ProcessRequest, run};
use host::{Files as _, RealFiles, TempFolder};

use self::calls::{BEGIN, Call, END, all_calls, marked_calls, sampled};
use self::operation::{MESSAGE, Operation, draft};
use super::{Fixture, finish, write_script};

/// Variables of the child process: the change that it makes, and the folder of its fixture.
const OPERATION: &str = "BURIN_TEST_GIT_CHANGE";
const FOLDER: &str = "BURIN_TEST_GIT_FOLDER";
/// The test that acts as the child process.
const CHILD: &str = "git_service::tests::kills::a_change_runs_to_its_end";

/// Rounds of calls before a change, which make more of each call than git does.
const ROUNDS: usize = 60;
/// The largest trace that is read, in bytes.
const MAX_TRACE: u64 = 64 << 20;

/// Runs as the child process, if the variables say so.
#[test]
fn a_change_runs_to_its_end() {
    let variables = (std::env::var(OPERATION), std::env::var(FOLDER));
    let (Ok(operation), Ok(folder)) = variables else {
        return;
    };
    let operation = Operation::named(&operation).expect("a change");
    let folder = AbsPath::new(folder).expect("absolute");
    let fixture = Fixture::at(&folder).expect("git");
    if operation.runs_git() {
        let access = fixture.service.folder.access(&fixture.root);
        let program = access.program(&fixture.service.folder);
        program.expect("a trusted folder");
    }
    raise_counts(&folder.join("counted"));
    let mark = |name: &str| assert!(!RealFiles.exists(&folder.join(name)));
    mark(BEGIN);
    operation.perform(&fixture);
    mark(END);
    std::process::exit(0);
}

/// Makes calls so that the numbers of those which follow identify them: git and other threads make fewer.
fn raise_counts(folder: &AbsPath) {
    let (one, two) = (folder.join("one"), folder.join("two"));
    std::fs::create_dir(folder.as_path()).expect("a folder");
    for _ in 0..ROUNDS {
        std::fs::write(one.as_path(), "-").expect("written");
        std::fs::rename(one.as_path(), two.as_path()).expect("renamed");
        RealFiles.rename(&two, &one).expect("renamed");
        std::fs::hard_link(one.as_path(), two.as_path()).expect("linked");
        std::fs::remove_file(two.as_path()).expect("removed");
        std::fs::create_dir(two.as_path()).expect("a folder");
        std::fs::remove_dir(two.as_path()).expect("removed");
        RealFiles.write_private(&two, b"-").expect("written");
        RealFiles.remove(&two).expect("removed");
    }
    std::fs::remove_dir_all(folder.as_path()).expect("removed");
}

/// Returns whether strace can trace a program here; else the test is reported as skipped.
#[track_caller]
fn has_strace() -> bool {
    let traced = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .stdin(Stdio::null())
        .output();
    let works = traced.is_ok_and(|output| output.status.success());
    if !works {
        test_support::skip("strace is not installed, or cannot trace here");
    }
    works
}

/// Returns the number of kills of each change.
fn kills() -> usize {
    let kills = std::env::var("BURIN_GIT_KILLS").ok();
    kills.and_then(|kills| kills.parse().ok()).unwrap_or(3)
}

/// Returns a copy of a repository in a memory file system, if there is one, trusted and with a draft.
fn copied(template: &Fixture) -> Fixture {
    let memory = TempFolder::inside(Path::new("/dev/shm"));
    let temporary = memory.or_else(|_| TempFolder::new()).expect("a folder");
    let mut copy = Fixture::at(temporary.path()).expect("git");
    copy._temporary = Some(temporary);
    let from = format!("{}/.", template.root);
    let to = copy.root.to_string();
    let request = ProcessRequest::new("cp", &copy.folder).with_arguments(["-a", &from, &to]);
    assert!(run(&request).expect("cp").is_success(), "not copied");
    copy.trust();
    let stored = copy.service.store_draft(&copy.root, MESSAGE.to_owned());
    block_on(stored).expect("stored");
    copy
}

/// Makes a change in a child process, with these options of strace; without any, it is not traced.
fn make(fixture: &Fixture, operation: Operation, strace: &[String]) -> Output {
    let program = std::env::current_exe().expect("the path of this program");
    let mut command = Command::new(&program);
    if !strace.is_empty() {
        command = Command::new("strace");
        command.args(strace).arg(&program);
    }
    command
        .args([CHILD, "--exact", "--nocapture", "--test-threads=1"])
        // Cargo lists folders there, through which the loader would search.
        .env_remove("LD_LIBRARY_PATH")
        .env(OPERATION, format!("{operation:?}"))
        .env(FOLDER, fixture.folder.as_path())
        // The trash of the desktop.
        .env("HOME", fixture.folder.as_path())
        .env("XDG_DATA_HOME", fixture.folder.join("data").as_path())
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

/// Returns the options of strace that trace all threads and programs into a file.
fn tracing(fixture: &Fixture) -> Vec<String> {
    let trace = fixture.folder.join("trace").to_string();
    ["-f", "-qq", "-y", "-o", &trace].map(String::from).to_vec()
}

fn trace_of(fixture: &Fixture) -> String {
    let trace = RealFiles.read(&fixture.folder.join("trace"), MAX_TRACE);
    String::from_utf8_lossy(&trace.expect("a trace")).into_owned()
}

fn folder_name(fixture: &Fixture) -> String {
    format!("{}/", fixture.folder)
}

/// A change with the entries of the index before and after it.
struct RecordedChange {
    operation: Operation,
    template: Fixture,
    before: String,
    after: String,
}

impl RecordedChange {
    /// Makes the change once; returns it with its calls.
    fn record(operation: Operation) -> (Self, Vec<Call>) {
        let template = operation.repository().expect("git");
        let copy = copied(&template);
        let before = copy.entries();
        let output = make(&copy, operation, &tracing(&copy));
        assert!(output.status.success(), "{operation:?}: {output:?}");
        let calls = marked_calls(&trace_of(&copy), &folder_name(&copy));
        let after = copy.entries();
        assert!(operation.is_done(&copy, &after), "{operation:?}");
        let change = Self {
            operation,
            template,
            before,
            after,
        };
        (change, calls)
    }

    /// Kills the change at a call; returns whether it came to the call.
    fn kill(&self, call: &Call) -> bool {
        let what = format!("{:?}, killed at {call}", self.operation);
        let copy = copied(&self.template);
        let options = [tracing(&copy), call.killing()].concat();
        let output = make(&copy, self.operation, &options);
        self.check(copy, &what);
        !output.status.success()
    }

    /// Kills git at a call; returns whether it came to the call.
    fn kill_git(&self, call: &Call) -> bool {
        let what = format!("git in {:?}, killed at {call}", self.operation);
        let copy = copied(&self.template);
        trace_git(&copy, self.operation, &call.killing());
        let (_, outcome) = finish(self.operation.start(&copy));
        if let Err(failure) = &outcome {
            assert!(failure.sentence.starts_with("git "), "{what}: {failure}");
        }
        self.check(copy, &what);
        outcome.is_err()
    }

    /// Checks what a killed change left, and makes it again.
    fn check(&self, copy: Fixture, what: &str) {
        let root = copy.root.clone();
        let copy = copy.over(&root);
        block_on(copy.service.repositories()).expect("a list");
        let lock = copy.read(".git/index.lock");
        assert_ne!(lock.as_deref(), Some(LOCK_MARK), "{what}: our lock is left");
        if self.operation.runs_git() {
            remove_locks(&copy);
        }
        assert_eq!(locks(&copy), Vec::<String>::new(), "{what}");
        copy.git(&["status", "--porcelain=v2"]);
        copy.assert_sound();
        let entries = copy.entries();
        let is_known = entries == self.before || entries == self.after;
        assert!(is_known, "{what}: {entries}");
        self.operation.assert_contents(&copy, what);
        let is_done = self.operation.is_done(&copy, &self.after);
        let has_draft = draft(&copy) == MESSAGE;
        let may_be_gone = is_done && self.operation == Operation::Commit;
        assert!(has_draft || may_be_gone, "{what}: the draft is lost");
        // Git alone knows if its rebase can go on.
        if !is_done && self.operation != Operation::ContinueRebase {
            let output = make(&copy, self.operation, &[]);
            assert!(output.status.success(), "{what}, again: {output:?}");
            assert!(self.operation.is_done(&copy, &self.after), "{what}, again");
        }
        let staged = copy
            .service
            .stage_files(&copy.root, vec![TreePath::from("spare")]);
        block_on(staged).expect("the index can be written");
        copy.git(&["rm", "--quiet", "--cached", "spare"]);
    }
}

/// Returns the locks in Git's folder.
fn locks(fixture: &Fixture) -> Vec<String> {
    let mut leftovers = fixture.leftovers();
    leftovers.retain(|name| name.ends_with(".lock"));
    leftovers
}

/// Removes the locks of a killed git, as its own messages ask the user to do.
fn remove_locks(fixture: &Fixture) {
    let git_dir = fixture.root.join(".git");
    for folder in [git_dir.clone(), git_dir.join("refs/heads")] {
        let listing = RealFiles.list(&folder).expect("a folder");
        let paths = listing.entries.into_iter().map(|entry| entry.path);
        for lock in paths.filter(|path| path.name().ends_with(".lock")) {
            RealFiles.remove(&lock).expect("removed");
        }
    }
}

#[test]
fn a_killed_change_is_before_or_after() {
    if !has_strace() || Fixture::new(&[]).is_none() {
        return;
    }
    let left = Mutex::new(Operation::ALL.to_vec());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let operation = left.lock().expect("no panic in between").pop();
                    let Some(operation) = operation else { break };
                    let (change, calls) = RecordedChange::record(operation);
                    assert!(calls.len() >= 3, "{operation:?}: {calls:?}");
                    let calls = sampled(calls, kills());
                    let killed = calls.iter().filter(|call| change.kill(call));
                    assert_killed(killed.count(), calls.len());
                }
            });
        }
    });
}

/// Makes the git of the service run under strace for the change. `options` are those of strace.
fn trace_git(fixture: &Fixture, operation: Operation, options: &[String]) {
    let command = match operation {
        Operation::Commit => "commit",
        _ => "rebase",
    };
    let (program, trace) = (&fixture.program, fixture.folder.join("trace"));
    let quoted = options.iter().map(|option| format!("'{option}'"));
    let options = quoted.collect::<Vec<_>>().join(" ");
    let script = format!(
        "case \" $* \" in *\" {command} \"*) exec strace -qq -y -o '{trace}' {options} '{program}' \"$@\";; esac\n\
         exec '{program}' \"$@\""
    );
    write_script(&fixture.folder.join("programs/git"), &script);
}

#[test]
fn a_killed_git_leaves_a_repository_that_works() {
    if !has_strace() || Fixture::new(&[]).is_none() {
        return;
    }
    for operation in [Operation::Commit, Operation::ContinueRebase] {
        let template = operation.repository().expect("git");
        let copy = copied(&template);
        let before = copy.entries();
        trace_git(&copy, operation, &[]);
        let (output, outcome) = finish(operation.start(&copy));
        outcome.unwrap_or_else(|failure| panic!("{operation:?}: {failure}\n{output}"));
        let calls = all_calls(&trace_of(&copy), &folder_name(&copy));
        assert!(calls.len() >= 10, "{operation:?}: {calls:?}");
        let change = RecordedChange {
            operation,
            template,
            before,
            after: copy.entries(),
        };
        let calls = sampled(calls, kills());
        let killed = calls.iter().filter(|call| change.kill_git(call));
        assert_killed(killed.count(), calls.len());
    }
}

/// Asserts that most runs came to the call at which they are killed: the number of a call may differ between two runs.
#[track_caller]
fn assert_killed(killed: usize, runs: usize) {
    assert!(killed * 2 > runs, "{killed} of {runs} runs were killed");
}
