//! Tests that `packaging/setup.sh` refuses outdated tools with advice.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tree;

/// A folder with scripts that imitate the programs of a machine; removed on drop.
struct FakeMachine(PathBuf);

impl FakeMachine {
    fn new(name: &str, programs: &[(&str, &str)]) -> Self {
        let folder =
            std::env::temp_dir().join(format!("burin-setup-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let machine = Self(folder);
        for (program, answer) in programs {
            machine.add(program, &format!("#!/bin/sh\n{answer}\n"));
        }
        machine
    }

    fn add(&self, program: &str, script: &str) {
        let path = self.0.join(program);
        std::fs::write(&path, script).expect("a program");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    }

    /// Runs the script there; returns whether it succeeded, and its standard error.
    fn set_up(&self) -> (bool, String) {
        let script = tree::root().join("packaging/setup.sh");
        let path = format!("{}:/usr/bin:/bin", self.0.display());
        let output = Command::new(Path::new("/bin/bash"))
            .arg(script)
            .env_clear()
            .env("PATH", path)
            .env("HOME", &self.0)
            .output()
            .expect("bash");
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }
}

impl Drop for FakeMachine {
    fn drop(&mut self) {
        // If this fails, only a temporary folder remains.
        std::fs::remove_dir_all(&self.0).ok();
    }
}

const MAC: [(&str, &str); 5] = [
    ("uname", "echo Darwin"),
    ("cargo", ""),
    ("rustc", "echo 'rustc 1.98.1 (abc 2026-08-01)'"),
    ("sw_vers", "echo 12.7.6"),
    ("xcode-select", ""),
];

fn mac_with(name: &str, changed: &[(&str, &str)]) -> (bool, String) {
    let programs = MAC.map(|(program, answer)| {
        let other = changed.iter().find(|(changed, _)| *changed == program);
        (program, other.map_or(answer, |(_, answer)| *answer))
    });
    FakeMachine::new(name, &programs).set_up()
}

#[test]
fn setup_accepts_a_mac_that_is_new_enough() {
    assert_eq!(mac_with("new", &[]), (true, String::new()));
    let nightly = [
        ("rustc", "echo 'rustc 1.100.0-nightly (abc 2026-11-01)'"),
        ("sw_vers", "echo 26.1"),
    ];
    assert_eq!(mac_with("nightly", &nightly), (true, String::new()));
}

#[test]
fn setup_says_what_a_mac_lacks() {
    for (name, changed, expected) in [
        (
            "rust",
            ("rustc", "echo 'rustc 1.97.0 (abc 2026-06-01)'"),
            "Rust 1.97.0 is too old: Burin needs 1.98 or newer on macOS. Run: rustup update stable",
        ),
        (
            "system",
            ("sw_vers", "echo 11.7.10"),
            "macOS 11.7.10 is too old: Burin needs macOS 12.0 or newer",
        ),
        (
            "tools",
            ("xcode-select", "exit 2"),
            "Run: xcode-select --install",
        ),
    ] {
        let (is_ready, said) = mac_with(name, &[changed]);
        assert!(!is_ready && said.contains(expected), "{name}: {said}");
    }
}

#[test]
fn manifest_and_workflow_name_the_same_versions() {
    let manifest = std::fs::read_to_string(tree::root().join("Cargo.toml")).expect("a manifest");
    let value = |key: &str| {
        let mut lines = manifest.lines();
        let line = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.map(|line| line.trim_end_matches('"').to_owned())
    };
    assert_eq!(value("rust-version"), value("linux-rust"));
    assert!(value("macos-rust").is_some());
    let workflow = tree::root().join(".github/workflows/ci.yml");
    let workflow = std::fs::read_to_string(workflow).expect("a workflow");
    let macos = value("macos").expect("the oldest macOS");
    assert!(workflow.contains(&format!("MACOSX_DEPLOYMENT_TARGET: \"{macos}\"")));
    assert!(workflow.contains(&format!("minos {}", macos.replace('.', r"\."))));
}

#[test]
fn the_window_opens_the_issues_of_the_manifest() {
    let read = |path: &str| std::fs::read_to_string(tree::root().join(path)).expect("a file");
    let manifest = read("Cargo.toml");
    let mut lines = manifest.lines();
    let issues = lines.find_map(|line| line.strip_prefix("issues = "));
    let issues = issues.expect("the address of the issues");
    let help = read("crates/workbench/src/workbench/help.rs");
    assert!(
        help.contains(&format!("const ISSUES: &str = {issues};")),
        "{issues}"
    );
}
