//! Tests that every rule of a profile is needed: without it, the result of a case changes.

use std::collections::BTreeSet;

use super::evaluator::{Object, Question, Rule, is_allowed, is_denied, needed_rules};
use super::{context, path, reader, repository_paths};
use crate::seatbelt::{ProfilePaths, profile};
use crate::{Network, Policy, UserEnvironment};

/// A question, and whether it is allowed.
type Case = (Question, bool);

fn policy() -> Policy {
    let user = UserEnvironment {
        home: path("/Users/ada"),
        own: Vec::new(),
        environment: Vec::new(),
    };
    let mut policy = Policy::usual(path("/Users/ada/work"), &user, &[]);
    let hosts = ["crates.io", "localhost:8080", "127.0.0.1:9090"];
    let hosts = hosts.map(|host| host.parse().expect("a host"));
    policy.network = Network::Hosts(hosts.into());
    policy
}

fn paths() -> ProfilePaths {
    let mut paths = repository_paths();
    paths.readable.push(path("/Users/ada/work/vendor"));
    paths
}

fn rules() -> Vec<Rule> {
    let text = profile(&policy(), &paths(), &context()).expect("a profile");
    reader::read(&text).unwrap_or_else(|problem| panic!("{problem} in {text}"))
}

fn path_cases() -> Vec<Case> {
    let allowed = [
        ("file-read-data", "/usr/lib/libSystem.dylib"),
        ("file-test-existence", "/usr/lib/libSystem.dylib"),
        ("file-map-executable", "/usr/lib/libSystem.dylib"),
        (
            "file-read-data",
            "/Applications/Xcode.app/Contents/Developer/usr/lib/libxcrun.dylib",
        ),
        ("file-read-data", "/opt/homebrew/bin/git"),
        ("file-read-data", "/usr/local/bin/git"),
        ("file-read-metadata", "/private/var/select/developer_dir"),
        ("file-read-metadata", "/private/var/folders/zz"),
        ("file-read-data", "/private/tmp/tool/bin/cc"),
        ("file-write-create", "/private/var/folders/zz/zy/T/b-run/x"),
        ("file-write-create", "/Users/ada/work/src/new"),
        ("file-write-unlink", "/Users/ada/work/src/old"),
        ("file-write-data", "/Users/ada/work/.git/index"),
        ("file-write-data", "/Users/ada/work/.git/modules/lib/index"),
        ("file-write-data", "/dev/null"),
        ("file-read-data", "/dev/urandom"),
        ("file-ioctl", "/dev/dtracehelper"),
        ("file-read-data", "/dev/fd"),
        ("file-write-data", "/dev/fd/1"),
        ("file-ioctl", "/dev/ptmx"),
        ("file-ioctl", "/dev/ttys003"),
    ];
    let denied = [
        ("file-read-data", "/private/tmp/other"),
        ("file-read-data", "/System/Volumes/Data/private/tmp/other"),
        ("file-read-data", "/private/var/tmp/other"),
        ("file-read-data", "/private/var/run/docker.sock"),
        ("file-read-data", "/private/var/folders/aa/x"),
        ("file-read-data", "/private/var/folders/zz"),
        ("file-read-data", "/Volumes/Other/x"),
        ("file-read-data", "/dev/rdisk0"),
        ("file-read-data", "/dev/ttys003"),
        ("file-write-data", "/dev/ttys003"),
        ("file-write-data", "/private/tmp/tool/bin/cc"),
        ("file-write-data", "/Users/ada/work/vendor/x"),
        ("file-read-data", "/Users/ada/.ssh/id_ed25519"),
        (
            "file-read-data",
            "/System/Volumes/Data/Users/ada/.ssh/id_ed25519",
        ),
        (
            "file-read-data",
            "/Users/ada/Library/Keychains/login.keychain-db",
        ),
        ("file-read-data", "/Users/ada/work/secret/key"),
        ("file-write-data", "/Users/ada/work/secret/key"),
        ("file-write-create", "/Users/ada/work/.vscode"),
        ("file-write-create", "/Users/ada/work/.VSCode/tasks.json"),
        ("file-write-data", "/Users/ada/work/.git/config"),
        ("file-write-create", "/Users/ada/work/.git/con\u{fb01}g"),
        ("file-write-create", "/Users/ada/work/.git/info/attributes"),
        ("file-write-create", "/Users/ada/work/.git/modules/new/HEAD"),
        ("file-write-create", "/Users/ada/x"),
        ("file-link", "/Users/ada/work/a"),
        ("file-clone", "/Users/ada/work/a"),
        ("file-write-setugid", "/Users/ada/work/a"),
        // Folders that lead to a protected path.
        ("file-write-unlink", "/Users/ada/work"),
        ("file-write-unlink", "/Users/ada/work/.git"),
        ("file-write-unlink", "/Users/ada/work/.git/info"),
        ("file-write-unlink", "/Users/ada/work/.git/objects"),
        ("file-write-unlink", "/Users/ada/work/.git/objects/info"),
        ("file-write-unlink", "/Users/ada/work/.git/modules/lib"),
        ("file-write-unlink", "/private/var/folders/zz/zy/T/b-run"),
    ];
    let case = |(operation, at): (&'static str, &str), is_allowed| {
        (Question::path(operation, at), is_allowed)
    };
    let allowed = allowed.map(|one| case(one, true));
    allowed
        .into_iter()
        .chain(denied.map(|one| case(one, false)))
        .collect()
}

fn other_cases() -> Vec<Case> {
    let named = |name: &str| Object::GlobalName(format!("com.apple.{name}"));
    let socket = |domain: &str, protocol: &str| Object::Socket(domain.into(), protocol.into());
    let private = || "/private/var/folders/zz/zy/T/b-run/s".to_owned();
    let address = |host: &str, port| Object::Address(host.to_owned(), port);
    let mut cases = vec![
        ("process-exec", Object::Path("/bin/sh".into()), true),
        ("process-fork", Object::Nothing, true),
        ("signal", Object::OwnProcess, true),
        ("signal", Object::OtherProcess, false),
        ("process-info-pidinfo", Object::OwnProcess, true),
        ("process-info-pidinfo", Object::OtherProcess, false),
        ("sysctl-read", Object::Name("hw.ncpu".into()), true),
        (
            "sysctl-write",
            Object::Name("kern.grade_cputype".into()),
            true,
        ),
        (
            "sysctl-write",
            Object::Name("kern.tcsm_enable".into()),
            true,
        ),
        ("sysctl-write", Object::Name("kern.hostname".into()), false),
        (
            "iokit-open",
            Object::Name("RootDomainUserClient".into()),
            true,
        ),
        (
            "iokit-open",
            Object::Name("IOSurfaceRootUserClient".into()),
            false,
        ),
        ("ipc-posix-sem", Object::Name("mp-x".into()), true),
        (
            "ipc-posix-shm-write-create",
            Object::Name("/__KMP_REGISTERED_LIB_9".into()),
            true,
        ),
        (
            "ipc-posix-shm-write-create",
            Object::Name("/other".into()),
            false,
        ),
        (
            "ipc-posix-shm-read-data",
            Object::Name("apple.cfprefs.501v1".into()),
            true,
        ),
        ("user-preference-read", Object::Nothing, true),
        ("user-preference-write", Object::Nothing, false),
        ("pseudo-tty", Object::Nothing, true),
        (
            "file-write-data",
            Object::OwnTerminal("/dev/ttys009".into()),
            true,
        ),
        (
            "mach-lookup",
            Object::LocalName("com.apple.cfprefsd.agent".into()),
            true,
        ),
        ("system-socket", socket("AF_UNIX", "0"), true),
        ("system-socket", socket("AF_SYSTEM", "2"), true),
        ("system-socket", socket("AF_SYSTEM", "1"), false),
        ("network-bind", Object::LocalSocket(private()), true),
        ("network-inbound", Object::LocalSocket(private()), true),
        ("network-outbound", Object::RemoteSocket(private()), true),
        (
            "network-outbound",
            Object::RemoteSocket("/private/var/run/docker.sock".into()),
            false,
        ),
        (
            "network-outbound",
            Object::RemoteSocket("/Users/ada/work/s".into()),
            false,
        ),
        ("network-outbound", address("127.0.0.1", 4711), true),
        ("network-outbound", address("127.0.0.1", 8080), true),
        // Only one of the two addresses of `localhost` is granted: the proxy reaches it.
        ("network-outbound", address("127.0.0.1", 9090), false),
        ("network-outbound", address("127.0.0.1", 5432), false),
        ("network-outbound", address("140.82.121.4", 443), false),
        ("network-bind", address("127.0.0.1", 8000), false),
        ("lsopen", Object::Nothing, false),
        ("appleevent-send", Object::Nothing, false),
        ("job-creation", Object::Nothing, false),
        ("mach-register", Object::Nothing, false),
        ("file-mount", Object::Path("/Users/ada/work".into()), false),
    ];
    for name in [
        "system.logger",
        "logd",
        "system.notification_center",
        "system.opendirectoryd.libinfo",
        "system.opendirectoryd.membership",
        "bsd.dirhelper",
        "PowerManagement.control",
        "cfprefsd.daemon",
        "cfprefsd.agent",
        "trustd.agent",
    ] {
        cases.push(("mach-lookup", named(name), true));
    }
    // Launch services, Apple events, keychain, pasteboard, window server, other programs' events.
    for name in [
        "coreservices.launchservicesd",
        "lsd.mapdb",
        "lsd.open",
        "coreservices.appleevents",
        "SecurityServer",
        "securityd.xpc",
        "pasteboard.1",
        "windowserver.active",
        "distributed_notifications@Uv3",
        "tccd",
        "xpc.launchd.domain.user",
    ] {
        cases.push(("mach-lookup", named(name), false));
    }
    let case = |(operation, object, is_allowed)| (Question { operation, object }, is_allowed);
    cases.into_iter().map(case).collect()
}

fn holds(rules: &[Rule], (question, expected): &Case) -> bool {
    if *expected {
        is_allowed(rules, question)
    } else {
        is_denied(rules, question)
    }
}

#[test]
fn every_rule_is_needed() {
    let rules = rules();
    let cases: Vec<Case> = path_cases().into_iter().chain(other_cases()).collect();
    let mut needed: BTreeSet<usize> = BTreeSet::new();
    for case in &cases {
        assert!(holds(&rules, case), "{case:?}");
        needed.extend(needed_rules(&rules, &case.0));
    }
    for (ix, rule) in rules.iter().enumerate() {
        assert!(needed.contains(&ix), "nothing changes without {rule:?}");
    }
}

#[test]
fn without_the_network_layer_only_the_network_is_open() {
    let mut policy = policy();
    policy.without.insert(crate::SandboxLayer::Network);
    let text = profile(&policy, &paths(), &context()).expect("a profile");
    let rules = reader::read(&text).expect("a profile");
    let address = Object::Address("140.82.121.4".to_owned(), 443);
    let call = Question {
        operation: "network-outbound",
        object: address,
    };
    assert!(is_allowed(&rules, &call));
    let resolver = "/private/var/run/mDNSResponder".to_owned();
    for (operation, object, expected) in [
        ("network-bind", Object::Address("0.0.0.0".into(), 80), true),
        (
            "network-outbound",
            Object::RemoteSocket(resolver.clone()),
            true,
        ),
        ("file-read-data", Object::Path(resolver), true),
        (
            "file-read-data",
            Object::Path("/private/var/run/resolv.conf".into()),
            true,
        ),
        // Sockets of other programs lead out of the sandbox.
        (
            "network-outbound",
            Object::RemoteSocket("/private/var/run/docker.sock".into()),
            false,
        ),
        (
            "network-outbound",
            Object::RemoteSocket("/Users/ada/work/s".into()),
            false,
        ),
        (
            "network-outbound",
            Object::RemoteSocket("/private/var/folders/zz/zy/T/b-run/s".into()),
            true,
        ),
    ] {
        let case = (Question { operation, object }, expected);
        assert!(holds(&rules, &case), "{case:?}");
    }
    for case in path_cases() {
        assert!(holds(&rules, &case), "{case:?}");
    }
}
