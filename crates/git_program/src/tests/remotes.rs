//! Remotes over a local path and over servers that refuse, prompts included.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Mutex;
use std::thread;

use base::AbsPath;
use host::{Files, RealFiles};

use super::Fixture;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::operation::OperationOutcome;
use crate::progress::RemoteReport;
use crate::push::{PushRejection, PushRequest};
use crate::remote::{FetchRequest, PullJoin, PullOptions};

/// A repository with a bare one beside it as `origin`.
fn with_origin() -> Option<(Fixture, AbsPath)> {
    let fixture = Fixture::new()?;
    let origin = fixture.folder.path().join("origin.git");
    let path = origin.to_string();
    fixture.run(&["init", "--quiet", "--bare", "--initial-branch=main", &path]);
    fixture.run(&["remote", "add", "origin", &path]);
    fixture.commit("a", "one\n", "first");
    Some((fixture, origin))
}

fn push_request() -> PushRequest {
    PushRequest {
        remote: "origin".to_owned(),
        refspecs: vec!["main".to_owned()],
        set_upstream: true,
        with_lease: false,
        follow_tags: false,
    }
}

fn fetch_of(fixture: &Fixture, address: &str) -> Result<(), Error> {
    fixture.run(&["remote", "add", "there", address]);
    let request = FetchRequest {
        remote: Some("there".to_owned()),
        ..FetchRequest::default()
    };
    fixture
        .git
        .fetch(&request, &Cancellation::default(), &mut |_| {})
}

#[test]
fn a_diverged_push_is_refused_without_a_fetch() {
    let Some((fixture, origin)) = with_origin() else {
        return;
    };
    let cancellation = Cancellation::default();
    let push = |request: &PushRequest| {
        fixture
            .git
            .push(request, &cancellation, &mut |_| {})
            .expect("a push")
    };
    assert_eq!(push(&push_request()).first_rejection(), None);
    // Somebody else pushes.
    let clone = fixture.folder.path().join("clone");
    let clone_path = clone.to_string();
    fixture.run(&["clone", "--quiet", &origin.to_string(), &clone_path]);
    fixture.run(&[
        "-C",
        &clone_path,
        "-c",
        "user.name=c",
        "-c",
        "user.email=c@d",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "theirs",
    ]);
    fixture.run(&["-C", &clone_path, "push", "--quiet"]);
    fixture.commit("a", "two\n", "ours");
    let refused = push(&push_request());
    let reason = refused.first_rejection().map(|(_, reason)| reason);
    assert_eq!(reason, Some(PushRejection::NonFastForward));
    let forced = PushRequest {
        with_lease: true,
        ..push_request()
    };
    let reason = push(&forced).first_rejection().map(|(_, reason)| reason);
    assert_eq!(reason, Some(PushRejection::StaleLease));
    let pull = PullOptions {
        join: PullJoin::Rebase,
        ..PullOptions::default()
    };
    let pulled = fixture
        .git
        .pull(&pull, &cancellation, &mut |_| {})
        .expect("a pull");
    assert_eq!(pulled, OperationOutcome::Done);
    assert_eq!(push(&push_request()).first_rejection(), None);
}

#[test]
fn the_words_of_a_refusing_remote_are_kept() {
    let Some((fixture, origin)) = with_origin() else {
        return;
    };
    fixture.hook("pre-receive", "echo 'Tickets are missing.'; exit 1");
    let hook = fixture.root.join(".git/hooks/pre-receive");
    let target = origin.join("hooks/pre-receive");
    if RealFiles.exists(&target) {
        RealFiles.remove(&target).expect("removed");
    }
    RealFiles
        .create_folder(&origin.join("hooks"))
        .expect("a folder");
    RealFiles.rename(&hook, &target).expect("moved");
    let pushed = fixture
        .git
        .push(&push_request(), &Cancellation::default(), &mut |_| {});
    let outcome = pushed.expect("a refusal is a result");
    let reason = outcome.first_rejection().map(|(_, reason)| reason);
    assert_eq!(reason, Some(PushRejection::RemoteHook));
    assert!(
        outcome
            .remote_lines
            .iter()
            .any(|line| line == "Tickets are missing."),
        "{outcome:?}"
    );
}

#[test]
fn the_own_hook_before_a_push_is_named() {
    let Some((fixture, _)) = with_origin() else {
        return;
    };
    fixture.hook("pre-push", "echo no >&2; exit 1");
    let pushed = fixture
        .git
        .push(&push_request(), &Cancellation::default(), &mut |_| {});
    assert!(
        matches!(&pushed, Err(Error::HookFailed(failure)) if failure.hook == "pre-push"),
        "{pushed:?}"
    );
}

#[test]
fn a_clone_reports_its_progress() {
    let Some((fixture, _)) = with_origin() else {
        return;
    };
    let folder = fixture.folder.path().join("cloned");
    let reports = Mutex::new(Vec::new());
    // A local path would be copied without the protocol.
    let address = format!("file://{}", fixture.root);
    let cancellation = Cancellation::default();
    let cloned = fixture
        .git
        .clone_repository(&address, &folder, &cancellation, &mut |report| {
            reports.lock().expect("no panic").push(report);
        });
    cloned.expect("a clone");
    let reports = reports.into_inner().expect("no panic");
    let is_received = |report: &RemoteReport| matches!(report, RemoteReport::Progress(progress) if progress.stage == "Receiving objects" && progress.is_finished);
    assert!(reports.iter().any(is_received), "{reports:?}");
    let refused =
        fixture
            .git
            .clone_repository("--upload-pack=x", &folder, &cancellation, &mut |_| {});
    assert!(matches!(refused, Err(Error::BadName { .. })));
}

#[test]
fn a_server_without_a_listener_is_unreachable() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let ended = fetch_of(&fixture, &format!("http://127.0.0.1:{port}/r.git"));
    match ended {
        Err(Error::Failed { message, .. }) if message.contains("remote-http") => {
            test_support::skip_part("this git has no HTTP");
        }
        other => assert!(matches!(other, Err(Error::Unreachable { .. })), "{other:?}"),
    }
}

#[test]
fn a_login_without_a_user_is_refused_at_once() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else {
                return;
            };
            // The request ends before the answer is sent.
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
                request.push(byte[0]);
            }
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).ok();
        }
    });
    let ended = fetch_of(&fixture, &format!("http://127.0.0.1:{port}/r.git"));
    match ended {
        Err(Error::Failed { message, .. }) if message.contains("remote-http") => {
            test_support::skip_part("this git has no HTTP");
        }
        other => assert!(
            matches!(other, Err(Error::Authentication { .. })),
            "{other:?}"
        ),
    }
}

#[test]
fn an_ssh_that_refuses_is_reported() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.run(&[
        "config",
        "core.sshCommand",
        "echo 'me@h: Permission denied (publickey).' >&2; exit 255; :",
    ]);
    let ended = fetch_of(&fixture, "ssh://me@host.invalid/r.git");
    assert!(
        matches!(ended, Err(Error::Authentication { .. })),
        "{ended:?}"
    );
}
