//! A missing layer refuses the command with a sentence, and nothing runs; if the user omits the
//! layer, the command runs and the omission is recorded.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use sandbox::{SandboxError, SandboxLayer};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::policies::{inside, usual};
use crate::scene::{Ground, Kind, has};

/// The removed feature, and the layers that may be reported as missing then.
const MISSING: &[(&str, &[SandboxLayer])] = &[
    ("user namespaces", &[SandboxLayer::Namespaces]),
    (
        "mnt namespaces",
        &[SandboxLayer::Namespaces, SandboxLayer::Mounts],
    ),
    ("pid namespaces", &[SandboxLayer::Namespaces]),
    ("ipc namespaces", &[SandboxLayer::Namespaces]),
    ("uts namespaces", &[SandboxLayer::Namespaces]),
    (
        "net namespaces",
        &[SandboxLayer::Network, SandboxLayer::Namespaces],
    ),
    ("call landlock", &[SandboxLayer::Landlock]),
    ("call seccomp", &[SandboxLayer::Seccomp]),
    (
        "call mount",
        &[SandboxLayer::Mounts, SandboxLayer::Namespaces],
    ),
];

#[test]
fn an_incomplete_sandbox_is_refused() {
    if let Ok(missing) = std::env::var("BX_MISSING") {
        return with_it_missing(&missing);
    }
    let mut failures = Vec::new();
    let mut count = 0;
    for (missing, _) in MISSING {
        let name = "layers::an_incomplete_sandbox_is_refused";
        let myself = std::env::current_exe().expect("myself");
        let test = [name, "--exact", "--nocapture"];
        let mut command = match missing.strip_suffix(" namespaces") {
            Some(kind) if has("unshare") => {
                let mut command = Command::new("unshare");
                let script = format!(
                    "echo 0 > /proc/sys/user/max_{kind}_namespaces || exit 77; exec \"$@\""
                );
                command
                    .args(["-Ur", "/bin/sh", "-c", &script, "sh"])
                    .arg(&myself);
                command
            }
            Some(_) => {
                test_support::skip_part(format_args!("no unshare to remove {missing}"));
                continue;
            }
            None => Command::new(&myself),
        };
        let done = command
            .args(test)
            .env("BX_MISSING", missing)
            .output()
            .expect("a program");
        if done.status.code() == Some(77) {
            test_support::skip_part(format_args!(
                "this machine does not let {missing} be removed"
            ));
            continue;
        }
        count += 1;
        if !done.status.success() {
            let text = String::from_utf8_lossy(&done.stdout).into_owned()
                + &String::from_utf8_lossy(&done.stderr);
            failures.push(format!("{missing}: {text}"));
        }
    }
    println!("{count} layers taken away, {} not refused", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn with_it_missing(missing: &str) {
    let ground = Ground::new("layers");
    let scene = ground.scene(Kind::NoGit);
    let (_, layers) = MISSING
        .iter()
        .find(|(name, _)| *name == missing)
        .expect("a known one");
    if let Some(call) = missing.strip_prefix("call ") {
        take_away(call);
    }
    let mut policy = usual(&scene);
    let patience = Duration::from_secs(20);
    let run = |policy: &_| inside(policy, &scene, "/bin/sh", &["-c", "touch ran"], patience);
    let refused = match run(&policy) {
        Ok(left) => panic!("it ran and ended with {}", left.code),
        Err(refused) => refused,
    };
    assert!(!scene.base.join("work/ran").exists());
    let sentence = refused.to_string();
    let SandboxError::Missing { layer, .. } = refused else {
        panic!("another refusal: {sentence}");
    };
    println!("{missing}: {sentence}");
    assert!(layers.contains(&layer), "{layer} is said to be missing");
    assert!(
        sentence.contains(&format!("--without {layer}")),
        "{sentence}"
    );
    // The user's decision.
    if matches!(layer, SandboxLayer::Landlock | SandboxLayer::Network) {
        policy.without.insert(layer);
        match run(&policy) {
            Ok(left) => assert_eq!(left.code, 0, "{}", left.output),
            Err(refused) => panic!("refused all the same: {refused}"),
        }
        assert!(scene.base.join("work/ran").exists());
    }
}

/// Makes some system calls unavailable from here on.
fn take_away(call: &str) {
    let numbers: &[i64] = match call {
        "landlock" => &[
            libc::SYS_landlock_create_ruleset,
            libc::SYS_landlock_add_rule,
            libc::SYS_landlock_restrict_self,
        ],
        "seccomp" => &[libc::SYS_seccomp],
        "mount" => &[
            libc::SYS_mount,
            libc::SYS_move_mount,
            libc::SYS_open_tree,
            libc::SYS_mount_setattr,
        ],
        other => panic!("{other}"),
    };
    let rules: BTreeMap<i64, Vec<_>> = numbers.iter().map(|number| (*number, Vec::new())).collect();
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS as u32),
        std::env::consts::ARCH.try_into().expect("a known machine"),
    );
    let program: BpfProgram = filter.expect("a filter").try_into().expect("a program");
    seccompiler::apply_filter_all_threads(&program).expect("a filter in place");
}
