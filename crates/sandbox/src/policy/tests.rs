//! Tests of policies as data: the effect of a file, and variables that are never inherited.

use std::ffi::OsString;

use base::AbsPath;

use super::{Network, Policy, PolicyFile, SandboxLayer, UserEnvironment};

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("an absolute path")
}

fn usual() -> Policy {
    let person = UserEnvironment {
        home: path("/home/ada"),
        own: vec![path("/home/ada/.local/state/burin")],
        environment: [
            ("PATH", "/usr/bin"),
            ("GITHUB_TOKEN", "ghp"),
            ("LC_ALL", "C"),
        ]
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .into(),
    };
    Policy::usual(path("/home/ada/work"), &person, &[".vscode"])
}

#[test]
fn the_default_policy_hides_secrets_and_denies_the_network() {
    let policy = usual();
    assert!(policy.hidden.contains(&path("/home/ada/.ssh")));
    assert!(
        policy
            .hidden
            .contains(&path("/home/ada/.local/state/burin"))
    );
    assert_eq!(policy.network, Network::None);
    let names: Vec<_> = policy.environment.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["PATH", "LC_ALL"]);
}

#[test]
fn a_file_adds_to_a_policy() {
    let mut policy = usual();
    let text = r#"{"writable": ["~/notes"], "hosts": [{"host": "crates.io"}],
        "environment": [["PATH", "/bin"]], "without": ["landlock"]}"#;
    let file = PolicyFile::parse(text).expect("a policy");
    file.apply(&mut policy, &path("/home/ada")).expect("paths");
    assert_eq!(policy.writable, [path("/home/ada/notes")]);
    assert!(matches!(&policy.network, Network::Hosts(hosts) if hosts.len() == 1));
    assert!(policy.environment.contains(&("PATH".into(), "/bin".into())));
    assert!(policy.without.contains(&SandboxLayer::Landlock));
}

#[test]
fn invalid_policy_files_are_reported() {
    let wrong = PolicyFile::parse(r#"{"writeable": []}"#).expect_err("a word that is not known");
    assert!(wrong.to_string().contains("writeable"), "{wrong}");
    let file = PolicyFile::parse(r#"{"hidden": ["secrets"]}"#).expect("a policy");
    let wrong = file
        .apply(&mut usual(), &path("/home/ada"))
        .expect_err("a relative path");
    assert!(wrong.to_string().contains("\"secrets\""), "{wrong}");
}

#[test]
fn layers_have_names() {
    for layer in SandboxLayer::ALL {
        assert_eq!(SandboxLayer::named(layer.name()), Some(layer));
    }
    assert_eq!(SandboxLayer::named("walls"), None);
}
