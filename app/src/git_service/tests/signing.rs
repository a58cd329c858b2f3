//! Programs that sign commits: they ask, want a terminal or hang. Without a signature nothing is committed.

use base::AbsPath;
use futures::executor::block_on;
use git_panel::{GitFailureKind, GitService as _};
use git_program::{PromptKind, find_program};
use host::process::{ProcessRequest, run};
use host::{Files as _, RealFiles};

use super::answers::{answering, connect};
use super::commits::{request, staged};
use super::{Fixture, finish};

const PASSPHRASE: &str = "s3cret";

/// Makes the commits of a repository signed by a program with this script.
fn sign_with(fixture: &Fixture, script: &str) {
    let program = fixture.folder.join("signer");
    fixture.install(&program, script);
    fixture.git(&["config", "gpg.program", &program.to_string()]);
    fixture.git(&["config", "commit.gpgSign", "true"]);
}

/// Creates a key with a passphrase by which commits are signed; `None`, with the test reported as skipped, without OpenSSH.
#[track_caller]
fn ssh_key(fixture: &Fixture) -> Option<AbsPath> {
    let key = fixture.folder.join("key");
    let place = key.to_string();
    let Some(program) = find_program("ssh-keygen", &fixture.environment) else {
        test_support::skip("needs ssh-keygen of OpenSSH");
        return None;
    };
    let arguments = [
        "-q", "-t", "ed25519", "-N", PASSPHRASE, "-C", "a", "-f", &place,
    ];
    let request = ProcessRequest::new(program.as_path(), &fixture.folder);
    let created = run(&request.with_arguments(arguments)).expect("ssh-keygen");
    assert!(created.is_success(), "no key");
    fixture.git(&["config", "gpg.format", "ssh"]);
    fixture.git(&["config", "user.signingKey", &place]);
    fixture.git(&["config", "commit.gpgSign", "true"]);
    Some(key)
}

#[test]
fn a_key_asks_for_its_passphrase_and_signs() {
    let Some(fixture) = staged() else {
        return;
    };
    let Some(key) = ssh_key(&fixture) else {
        return;
    };
    connect(&fixture);
    let before = fixture.snapshot();
    let commit = || fixture.commit("second");
    for answer in [None, Some("a wrong one")] {
        let (outcome, kinds) = answering(&fixture, |_| answer, commit);
        let failure = outcome.expect_err("no passphrase");
        assert_eq!(failure.kind, GitFailureKind::SigningFailed, "{failure}");
        assert!(
            failure.sentence.contains("could not be signed"),
            "{failure}"
        );
        assert!(!failure.sentence.contains("a wrong one"), "{failure}");
        assert_eq!(kinds, [PromptKind::Passphrase]);
        assert_eq!(fixture.snapshot(), before);
    }
    let (outcome, kinds) = answering(&fixture, |_| Some(PASSPHRASE), commit);
    outcome.expect("a signed commit");
    assert_eq!(kinds, [PromptKind::Passphrase]);
    let public = RealFiles.read(&fixture.folder.join("key.pub"), 1 << 10);
    let public = String::from_utf8_lossy(&public.expect("a key")).into_owned();
    let signers = fixture.folder.join("signers");
    let written = RealFiles.write_private(&signers, format!("a@example.org {public}").as_bytes());
    written.expect("a file");
    let signers = format!("gpg.ssh.allowedSignersFile={signers}");
    let verdict = fixture.git(&["-c", &signers, "log", "-1", "--format=%G?"]);
    assert_eq!(verdict, "G", "signed by {key}");
}

#[test]
fn a_signing_program_asks_through_the_window() {
    let Some(fixture) = staged() else {
        return;
    };
    connect(&fixture);
    // It does what gpg does with a pinentry program.
    sign_with(
        &fixture,
        "pin=$(\"$SSH_ASKPASS\" 'Enter PIN for the key: ') || exit 2\n\
         test \"$pin\" = s3cret || exit 2\n\
         printf '\\n[GNUPG:] SIG_CREATED D\\n' >&2\n\
         printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nabc\\n-----END PGP SIGNATURE-----\\n'",
    );
    let before = fixture.snapshot();
    let commit = || fixture.commit("second");
    let (outcome, kinds) = answering(&fixture, |_| None, commit);
    let failure = outcome.expect_err("refused");
    assert_eq!(failure.kind, GitFailureKind::SigningFailed, "{failure}");
    assert_eq!(kinds, [PromptKind::Passphrase]);
    assert_eq!(fixture.snapshot(), before);
    let (outcome, kinds) = answering(&fixture, |_| Some(PASSPHRASE), commit);
    outcome.expect("a signed commit");
    assert_eq!(kinds, [PromptKind::Passphrase]);
    let signed = fixture.git(&["cat-file", "commit", "HEAD"]);
    assert!(
        signed.contains("gpgsig -----BEGIN PGP SIGNATURE-----"),
        "{signed}"
    );
}

#[test]
fn a_signing_program_that_wants_a_terminal_is_named() {
    let Some(fixture) = staged() else {
        return;
    };
    sign_with(
        &fixture,
        "echo 'gpg: signing failed: Inappropriate ioctl for device' >&2; exit 2",
    );
    let before = fixture.snapshot();
    let failure = fixture.commit("second").expect_err("no signature");
    assert_eq!(failure.kind, GitFailureKind::SigningFailed, "{failure}");
    assert!(
        failure.sentence.contains("Inappropriate ioctl"),
        "{failure}"
    );
    assert_eq!(fixture.snapshot(), before);
}

#[test]
fn a_signing_program_that_hangs_ends_with_cancel() {
    let Some(fixture) = staged() else {
        return;
    };
    // Opening the pipe waits for the test.
    let pipe = fixture.folder.join("pipe");
    let create = ProcessRequest::new("mkfifo", &fixture.folder).with_arguments([pipe.as_path()]);
    assert!(run(&create).expect("mkfifo").is_success(), "no pipe");
    sign_with(
        &fixture,
        &format!("echo waiting > '{pipe}'\nexec sleep 1000"),
    );
    let before = fixture.snapshot();
    let committing = fixture.service.commit(&fixture.root, request("second"));
    assert_eq!(first_line(&pipe), "waiting\n");
    (committing.cancel)();
    let failure = block_on(committing.outcome).expect_err("cancelled");
    assert_eq!(failure.kind, GitFailureKind::Cancelled);
    assert_eq!(fixture.snapshot(), before);
    fixture.git(&["config", "commit.gpgSign", "false"]);
    let (_, outcome) = finish(fixture.service.commit(&fixture.root, request("second")));
    outcome.expect("the repository is free");
}

/// Reads a named pipe until its other end is closed.
#[expect(
    clippy::disallowed_methods,
    reason = "the border to files refuses pipes"
)]
fn first_line(pipe: &AbsPath) -> String {
    std::fs::read_to_string(pipe.as_path()).expect("a line")
}
