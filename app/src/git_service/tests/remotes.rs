//! Remotes that refuse, redirect, drop the line or ask: each call ends in a sentence, and the repository is as it was.

mod http;
mod ssh;

use git_panel::{GitCommand, GitFailure, GitFailureKind, GitService as _, PushMode};
use git_program::{FetchRequest, PromptKind, PullOptions, PushRejection};
use host::{Files as _, RealFiles};

use self::http::{HttpReply, serve};
use self::ssh::SshServer;
use super::answers::{answering, connect};
use super::commits::staged;
use super::{Fixture, finish};

fn fetch() -> GitCommand {
    GitCommand::Fetch(FetchRequest {
        remote: Some("there".to_owned()),
        ..FetchRequest::default()
    })
}

fn pull() -> GitCommand {
    GitCommand::Pull(PullOptions {
        source: Some(("there".to_owned(), "main".to_owned())),
        ..PullOptions::default()
    })
}

fn add_remote(fixture: &Fixture, address: &str) {
    fixture.git(&["remote", "add", "there", address]);
}

/// Runs a command that must fail and change nothing.
#[track_caller]
fn refused(fixture: &Fixture, command: GitCommand) -> GitFailure {
    let before = fixture.snapshot();
    let what = format!("{command:?}");
    let (output, outcome) = finish(fixture.service.run(&fixture.root, command));
    let Err(failure) = outcome else {
        panic!("{what} worked: {output}");
    };
    assert!(!failure.sentence.is_empty(), "{what}");
    assert_eq!(fixture.snapshot(), before, "{what}: {failure}");
    failure
}

#[test]
fn servers_that_refuse_or_break_off_are_named() {
    let Some(fixture) = staged() else {
        return;
    };
    connect(&fixture);
    add_remote(&fixture, "http://127.0.0.1:1/r.git");
    let replies = [
        (HttpReply::Status("403 Forbidden"), "403"),
        (HttpReply::Status("500 Internal Server Error"), "500"),
        (HttpReply::Nothing, "127.0.0.1"),
        (HttpReply::HalfAnAnswer, "127.0.0.1"),
        (HttpReply::RedirectAround, "redirect"),
        (HttpReply::RedirectTo("http://127.0.0.1:1"), "127.0.0.1"),
        (
            HttpReply::Status("401 Unauthorized"),
            "refused the credentials",
        ),
    ];
    for (reply, words) in replies {
        let address = format!("http://127.0.0.1:{}/r.git", serve(reply));
        fixture.git(&["remote", "set-url", "there", &address]);
        for command in [fetch(), pull(), GitCommand::Push(PushMode::Normal)] {
            let what = format!("{reply:?}, {command:?}");
            let (failure, kinds) = answering(&fixture, |_| None, || refused(&fixture, command));
            if failure.sentence.contains("remote-http") {
                return test_support::skip("this git has no HTTP");
            }
            assert!(failure.sentence.contains(words), "{what}: {failure}");
            let (kind, asked) = match reply {
                HttpReply::RedirectTo(_) => (GitFailureKind::Unreachable, false),
                HttpReply::Status("401 Unauthorized") => (GitFailureKind::Authentication, true),
                _ => (GitFailureKind::Other, false),
            };
            assert_eq!(failure.kind, kind, "{what}: {failure}");
            assert_eq!(kinds.contains(&PromptKind::Username), asked, "{what}");
        }
    }
}

#[test]
fn a_wrong_login_is_refused_without_being_shown() {
    let Some(fixture) = staged() else {
        return;
    };
    connect(&fixture);
    let port = serve(HttpReply::Status("401 Unauthorized"));
    add_remote(&fixture, &format!("http://127.0.0.1:{port}/r.git"));
    let answer = |prompt: &git_panel::GitPrompt| match prompt.kind {
        PromptKind::Username => Some("me"),
        _ => Some("s3cret"),
    };
    let (failure, kinds) = answering(&fixture, answer, || refused(&fixture, fetch()));
    if failure.sentence.contains("remote-http") {
        return test_support::skip("this git has no HTTP");
    }
    assert_eq!(failure.kind, GitFailureKind::Authentication, "{failure}");
    assert_eq!(kinds, [PromptKind::Username, PromptKind::Password]);
    assert!(!failure.sentence.contains("s3cret"), "{failure}");
}

#[test]
fn a_remote_whose_hook_refuses_is_quoted() {
    let Some(fixture) = staged() else {
        return;
    };
    let origin = fixture.folder.join("origin.git");
    RealFiles.create_folder(&origin).expect("a folder");
    fixture.git_in(&origin, &["init", "--quiet", "--bare"]);
    let script = "echo 'Tickets are missing.'; exit 1";
    fixture.install(&origin.join("hooks/pre-receive"), script);
    add_remote(&fixture, &origin.to_string());
    let failure = refused(&fixture, GitCommand::Push(PushMode::Normal));
    let rejected = GitFailureKind::Rejected(PushRejection::RemoteHook);
    assert_eq!(failure.kind, rejected, "{failure}");
    assert!(
        failure.sentence.contains("Tickets are missing."),
        "{failure}"
    );
    fixture.hook("pre-push", "echo not on a Friday >&2; exit 1");
    let failure = refused(&fixture, GitCommand::Push(PushMode::Normal));
    assert!(failure.sentence.contains("not on a Friday"), "{failure}");
    assert!(matches!(failure.kind, GitFailureKind::HookFailed(_)));
}

#[test]
fn a_key_of_ssh_asks_for_its_passphrase() {
    let Some(fixture) = staged() else {
        return;
    };
    let Some(server) = SshServer::start(&fixture) else {
        return;
    };
    connect(&fixture);
    add_remote(&fixture, &server.address(&fixture.root));
    server.name_programs(&fixture);
    fixture.git(&["config", "core.sshCommand", &server.command("yes")]);
    let (failure, kinds) = answering(&fixture, |_| None, || refused(&fixture, fetch()));
    assert_eq!(failure.kind, GitFailureKind::Authentication, "{failure}");
    assert_eq!(kinds, [PromptKind::Passphrase]);

    let answer = |_: &git_panel::GitPrompt| Some(ssh::PASSPHRASE);
    let (outcome, kinds) = answering(&fixture, answer, || {
        finish(fixture.service.run(&fixture.root, fetch())).1
    });
    assert_eq!(outcome.expect("fetched").sentence, "Fetched");
    assert_eq!(kinds, [PromptKind::Passphrase]);
    let branch = fixture.git(&["rev-parse", "refs/remotes/there/main"]);
    assert_eq!(branch, fixture.git(&["rev-parse", "main"]));

    // The server's process for the connection dies in the middle.
    let cut = "kill -9 $PPID;";
    fixture.git(&["config", "remote.there.uploadpack", cut]);
    let (failure, _) = answering(&fixture, answer, || refused(&fixture, fetch()));
    assert!(failure.sentence.contains("127.0.0.1"), "{failure}");
}

#[test]
fn an_unknown_host_is_asked_about_and_refused() {
    let Some(fixture) = staged() else {
        return;
    };
    let Some(server) = SshServer::start(&fixture) else {
        return;
    };
    connect(&fixture);
    server.forget_host();
    add_remote(&fixture, &server.address(&fixture.root));
    fixture.git(&["config", "core.sshCommand", &server.command("ask")]);
    for answer in [None, Some("no")] {
        let (failure, kinds) = answering(&fixture, |_| answer, || refused(&fixture, fetch()));
        assert_eq!(failure.kind, GitFailureKind::Authentication, "{failure}");
        let words = "Host key verification failed";
        assert!(failure.sentence.contains(words), "{failure}");
        assert_eq!(kinds, [PromptKind::HostKey]);
    }
}
