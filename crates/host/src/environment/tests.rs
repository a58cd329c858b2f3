//! What passes, and what does not.

use super::{Recipient, is_allowed, withhold};
use crate::again::{is_again, run_again};
use crate::process::{Environment, Request, run};
use base::AbsPath;

/// Variables that hold secrets, as programs and people name them, and those that lead to the person's session.
const SECRETS: &str = include_str!("secrets.txt");

#[test]
fn secrets_of_any_name_stay_with_us() {
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
fn everyday_tools_find_their_way() {
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
fn an_address_is_passed_on_without_a_password_only() {
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
fn what_settings_call_a_key_is_withheld_from_everybody() {
    let all = [
        Recipient::Foreign,
        Recipient::Personal,
        Recipient::KeyCommand,
    ];
    // No other test looks at this one.
    assert!(all.iter().all(|it| is_allowed("GUIX_PROFILE", "x", *it)));
    withhold(["GUIX_PROFILE".to_owned()]);
    assert!(all.iter().all(|it| !is_allowed("GUIX_PROFILE", "x", *it)));
}

#[test]
fn a_child_is_started_without_our_secrets() {
    let test = "environment::tests::a_child_is_started_without_our_secrets";
    if is_again() {
        for recipient in [Recipient::Foreign, Recipient::Personal] {
            let root = AbsPath::new("/").expect("absolute");
            let mut request = Request::new("env", &root);
            if recipient == Recipient::Personal {
                request.environment = Environment::Allowed(recipient);
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
    run_again(test, &["env"], &variables).expect("`env` runs a program");
}
