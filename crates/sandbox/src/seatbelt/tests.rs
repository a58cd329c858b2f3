//! Tests of profiles as text.

use base::AbsPath;

use super::{ProfileContext, profile};
use crate::{Network, Policy, SandboxLayer, UserEnvironment};

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("an absolute path")
}

fn place() -> ProfileContext {
    ProfileContext {
        private: path("/private/var/folders/burin/run-1"),
        proxy: Some(4711),
    }
}

fn policy() -> Policy {
    let person = UserEnvironment {
        home: path("/Users/ada"),
        own: vec![path("/Users/ada/Library/Application Support/Burin")],
        environment: Vec::new(),
    };
    let mut policy = Policy::usual(path("/Users/ada/work (1)"), &person, &[".vscode", ".git"]);
    policy.hidden = vec![path("/Users/ada/.ssh")];
    policy.hidden.extend(person.own);
    policy
}

/// Returns the profile without its constant first part.
fn check(policy: &Policy, expected: &str) {
    let text = profile(policy, &place()).expect("a profile");
    let own = text.strip_prefix(super::BASE).expect("the base");
    assert_eq!(own, expected);
}

#[test]
fn the_usual_policy() {
    check(
        &policy(),
        r#"
; Reading: the disk, but for what is hidden and what all programs share.
(allow file-read*)
(deny file-read* file-write* (subpath "/private/tmp"))
(deny file-read* file-write* (subpath "/private/var/tmp"))
(deny file-read* file-write* (subpath "/private/var/run"))
(deny file-read* file-write* (subpath "/private/var/folders"))
(deny file-read* file-write* (subpath "/Volumes"))
(deny file-read* file-write* (subpath "/Users/ada/.ssh"))
(deny file-read* file-write* (subpath "/Users/ada/Library/Application Support/Burin"))
(allow file-read* (subpath "/Users/ada/work (1)"))
(allow file-read* (subpath "/private/var/folders/burin/run-1"))

; Writing.
(allow file-write* (subpath "/Users/ada/work (1)"))
(allow file-write* (subpath "/private/var/folders/burin/run-1"))
(deny file-write-setugid)

; What makes other programs run code.
(deny file-write* file-link (regex #"^/Users/ada/work \(1\)/\.[vV][sS][cC][oO][dD][eE](/|$)"))
(deny file-write* file-link (regex #"^/Users/ada/work \(1\)/\.[gG][iI][tT](/|$)"))
(deny file-write* file-link (regex #"^/Users/ada/work \(1\)/\.[gG][iI][tT](/|$)"))
(deny file-write-unlink (literal "/Users/ada/work (1)"))

; The network.
(allow network* (local unix-socket (subpath "/private/var/folders/burin/run-1")))
(allow network-outbound (remote unix-socket (subpath "/private/var/folders/burin/run-1")))
"#,
    );
}

#[test]
fn repositories_can_be_committed_to_but_not_configured() {
    let mut policy = policy();
    policy.hidden.clear();
    policy.protected.names.clear();
    policy.protected.repositories = vec![path("/Users/ada/work (1)/.git")];
    let text = profile(&policy, &place()).expect("a profile");
    for line in [
        r#"(allow file-write* (subpath "/Users/ada/work (1)/.git"))"#,
        r#"(deny file-write* file-link (subpath "/Users/ada/work (1)/.git/config"))"#,
        r#"(deny file-write* file-link (subpath "/Users/ada/work (1)/.git/config.worktree"))"#,
        r#"(deny file-write* file-link (subpath "/Users/ada/work (1)/.git/hooks"))"#,
        r#"(deny file-write* file-link (subpath "/Users/ada/work (1)/.git/info/attributes"))"#,
        // Renaming a parent folder would remove the protection.
        r#"(deny file-write-unlink (literal "/Users/ada/work (1)/.git"))"#,
        r#"(deny file-write-unlink (literal "/Users/ada/work (1)/.git/info"))"#,
        r#"(deny file-write-unlink (literal "/Users/ada/work (1)/.git/objects/info"))"#,
        r#"(deny file-write-unlink (literal "/Users/ada/work (1)"))"#,
    ] {
        assert_eq!(
            text.lines().filter(|found| *found == line).count(),
            1,
            "{line} in {text}"
        );
    }
    let allowed = text.find("(allow file-write*").expect("a rule");
    assert!(allowed < text.find("/.git/config\"").expect("a rule"));
    assert!(!text.contains(r"\.[gG][iI][tT]"), "{text}");
}

#[test]
fn hosts_are_reached_only_through_the_proxy() {
    let mut policy = policy();
    let rule = |policy: &Policy| -> Vec<String> {
        let text = profile(policy, &place()).expect("a profile");
        let (_, network) = text.split_once("; The network.\n").expect("rules");
        network.lines().skip(2).map(str::to_owned).collect()
    };
    policy.network = Network::Hosts(Vec::new());
    assert_eq!(rule(&policy), Vec::<String>::new());
    policy.network = Network::Hosts(vec!["crates.io".parse().expect("a host")]);
    assert_eq!(
        rule(&policy),
        [r#"(allow network-outbound (remote ip "localhost:4711"))"#]
    );
    let nowhere = ProfileContext {
        proxy: None,
        ..place()
    };
    let refused = profile(&policy, &nowhere)
        .expect_err("no proxy")
        .to_string();
    assert!(refused.contains("there is no proxy"), "{refused}");
    policy.without.insert(SandboxLayer::Network);
    assert_eq!(
        profile(&policy, &place())
            .expect("a profile")
            .lines()
            .rev()
            .take(2)
            .collect::<Vec<_>>(),
        ["(allow system-socket)", "(allow network*)"]
    );
}

#[test]
fn paths_cannot_inject_profile_rules() {
    let mut policy = policy();
    policy.protected.names.clear();
    policy.protected.repositories =
        vec![path(r#"/Users/ada/work (1)/x"))(allow default)(("/.git"#)];
    let text = profile(&policy, &place()).expect("a profile");
    assert!(
        text.contains(r#"(subpath "/Users/ada/work (1)/x\"))(allow default)((\"/.git")"#),
        "{text}"
    );
    policy.workspace = path("/Users/ada/a\nb");
    let refused = profile(&policy, &place())
        .expect_err("a line end")
        .to_string();
    assert!(
        refused.contains("cannot be expressed in a macOS sandbox profile"),
        "{refused}"
    );
    policy.workspace = path("/Users/ada/a\"b");
    policy.protected.names = vec![".vscode".to_owned()];
    assert!(profile(&policy, &place()).is_err());
}

#[test]
fn a_request_is_wrapped_in_the_launcher() {
    let stream =
        || std::os::fd::OwnedFd::from(std::os::unix::net::UnixStream::pair().expect("a pair").0);
    let order = crate::SpawnRequest {
        program: "sh".into(),
        arguments: vec!["-c".into(), "true".into()],
        folder: path("/Users/ada/work (1)"),
        environment: Vec::new(),
        streams: [stream(), stream(), stream()],
        terminal: false,
    };
    let order = super::wrap(&policy(), &place(), order).expect("an order");
    assert_eq!(order.program, super::LAUNCHER);
    assert_eq!(order.arguments[2..], ["--", "sh", "-c", "true"]);
    assert!(order.environment.iter().any(|(name, _)| name == "TMPDIR"));
}
