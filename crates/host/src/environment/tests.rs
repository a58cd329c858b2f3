//! Tests of the variables that are passed on and withheld.

use super::{Recipient, is_allowed, withhold};
use crate::process::{ProcessEnvironment, ProcessRequest, run};
use crate::reexec::{is_reexec, reexec_test};
use base::AbsPath;

/// Variables with secrets, as programs and users name them, and those of the desktop session.
const SECRETS: &str = include_str!("secrets.txt");

#[test]
fn secrets_are_never_passed_on() {
    for name in SECRETS.lines() {
        assert!(!is_allowed(name, "x", Recipient::Foreign), "{name}");
    }
    for name in [
        "DATABASE_URL",
        "GITHUB_TOKEN",
        "OPENAI_API_KEY",
        "VAULT_TOKEN",
    ] {
        assert!(!is_allowed(name, "x", Recipient::Personal), "{name}");
    }
}

#[test]
fn variables_of_the_loader_are_never_passed_on() {
    for name in [
        "DYLD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "DYLD_FRAMEWORK_PATH",
    ] {
        for recipient in [
            Recipient::Foreign,
            Recipient::Personal,
            Recipient::KeyCommand,
        ] {
            assert!(!is_allowed(name, "x", recipient), "{name}");
        }
        assert!(super::is_loader_variable(name));
    }
    assert!(!super::is_loader_variable("MY_DYLD_PATH"));
}

#[test]
fn common_variables_are_passed_on() {
    for name in [
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "TERM",
        "XDG_CACHE_HOME",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "GOPATH",
        "JAVA_HOME",
        "NVM_DIR",
        "VIRTUAL_ENV",
        "GIT_AUTHOR_NAME",
        "SSL_CERT_FILE",
        "TMPDIR",
        "__CF_USER_TEXT_ENCODING",
        "DEVELOPER_DIR",
        "SDKROOT",
        "HOMEBREW_PREFIX",
        "HOMEBREW_CACHE",
    ] {
        for recipient in [
            Recipient::Foreign,
            Recipient::Personal,
            Recipient::KeyCommand,
        ] {
            assert!(is_allowed(name, "x", recipient), "{name}");
        }
    }
    assert!(is_allowed(
        "SSH_AUTH_SOCK",
        "/run/agent",
        Recipient::Personal
    ));
    assert!(is_allowed("OP_SESSION_home", "x", Recipient::KeyCommand));
}

#[test]
fn addresses_with_a_password_are_not_passed_on() {
    for (address, is_passed) in [
        ("http://proxy.example:3128", true),
        ("http://ada:secret@proxy.example:3128", false),
        ("ada:secret@proxy.example", false),
    ] {
        for name in [
            "HTTPS_PROXY",
            "GOPROXY",
            "PIP_INDEX_URL",
            "npm_config_registry",
        ] {
            let passed = is_allowed(name, address, Recipient::Foreign);
            assert_eq!(passed, is_passed, "{name}={address}");
        }
    }
}

#[test]
fn withheld_variables_reach_no_child() {
    let all = [
        Recipient::Foreign,
        Recipient::Personal,
        Recipient::KeyCommand,
    ];
    // No other test uses this name.
    assert!(all.iter().all(|it| is_allowed("GUIX_PROFILE", "x", *it)));
    withhold(["GUIX_PROFILE".to_owned()]);
    assert!(all.iter().all(|it| !is_allowed("GUIX_PROFILE", "x", *it)));
}

#[test]
fn a_child_process_receives_no_secrets() {
    let test = "environment::tests::a_child_process_receives_no_secrets";
    if is_reexec() {
        for recipient in [Recipient::Foreign, Recipient::Personal] {
            let root = AbsPath::new("/").expect("absolute");
            let mut request = ProcessRequest::new("env", &root);
            if recipient == Recipient::Personal {
                request.environment = ProcessEnvironment::Allowed(recipient);
            }
            let seen = run(&request).expect("a child").text();
            assert!(
                seen.contains("PATH=") && seen.contains("CARGO_HOME=/kept"),
                "{seen}"
            );
            assert!(!seen.contains("s3cret"), "{seen}");
        }
        return;
    }
    let session = ["SSH_AUTH_SOCK", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS"];
    let secrets = SECRETS.lines().filter(|name| !session.contains(name));
    let mut variables: Vec<_> = secrets.map(|name| (name, "s3cret")).collect();
    variables.push(("CARGO_HOME", "/kept"));
    reexec_test(test, &["env"], &variables).expect("`env` runs a program");
}
