//! The user's sandbox settings, and how they are stored.

use super::*;
use crate::sandbox_policy::saved_policy::SandboxSettings;
use host::{Files as _, RealFiles};

mod read_only;

fn dirs(folder: &host::TempFolder) -> Dirs {
    let at = |name: &str| folder.path().join(name);
    Dirs {
        config: at("config"),
        state: at("state"),
        cache: at("cache"),
    }
}

fn kept_of(dirs: &Dirs) -> (SandboxSettings, Vec<String>) {
    let project = AbsPath::new("/work/project").expect("absolute");
    SandboxSettings::of(&Permissions::read(dirs), &project)
}

fn host_of(name: &str) -> Denial {
    Denial::Host(name.to_owned(), 443)
}

#[test]
fn grants_apply_to_similar_commands() {
    let folder = host::TempFolder::new().expect("a folder");
    let dirs = dirs(&folder);
    RealFiles.create_folder(&dirs.config).expect("a folder");
    let path = dirs.config.join("permissions.json");
    let before = b"{ // mine\n \"permissions\": { \"deny\": [\"Bash(rm:*)\"], } }\n";
    RealFiles.write_private(&path, before).expect("written");
    let (mut kept, problems) = kept_of(&dirs);
    assert!(problems.is_empty(), "{problems:?}");
    let denials = [host_of("index.crates.io"), Denial::Call("bpf".to_owned())];
    kept.grant("cargo fetch --locked", &denials).expect("kept");
    let (kept, problems) = kept_of(&dirs);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(
        kept.granted("cargo fetch"),
        [host_of("index.crates.io")],
        "what cannot be given is not kept"
    );
    assert!(kept.granted("cargo build").is_empty());
    assert!(kept.granted("curl example.com").is_empty());
    let text = RealFiles.read(&path, 1 << 20).expect("read");
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(
        text.contains("Bash(rm:*)") && text.contains("// mine"),
        "the rest stays: {text}"
    );
    let other = AbsPath::new("/work/other").expect("absolute");
    let (kept, _) = SandboxSettings::of(&Permissions::read(&dirs), &other);
    assert!(kept.granted("cargo fetch").is_empty(), "of one project");
}

#[test]
fn the_sandbox_is_on_where_the_file_is_not_understood() {
    let folder = host::TempFolder::new().expect("a folder");
    let dirs = dirs(&folder);
    RealFiles.create_folder(&dirs.config).expect("a folder");
    let path = dirs.config.join("permissions.json");
    for (text, is_off) in [
        ("{ \"sandbox\": { \"off\": true } }", true),
        ("{ \"sandbox\": { \"off\": true, // so\n } }", true),
        ("{ \"sandbox\": { \"off\": true }, ", false),
        (
            "{ \"sandbox\": { \"off\": false }, \"sandbox\": { \"off\": true } }",
            false,
        ),
    ] {
        RealFiles
            .write_private(&path, text.as_bytes())
            .expect("written");
        assert_eq!(kept_of(&dirs).0.is_off(), is_off, "{text}");
    }
}

#[test]
fn unreadable_settings_are_reported_and_grant_nothing() {
    let folder = host::TempFolder::new().expect("a folder");
    let dirs = dirs(&folder);
    RealFiles.create_folder(&dirs.config).expect("a folder");
    let path = dirs.config.join("permissions.json");
    let wrong = br#"{ "sandbox": { "of": true } }"#;
    RealFiles.write_private(&path, wrong).expect("written");
    let (kept, problems) = kept_of(&dirs);
    assert!(!kept.is_off());
    let [problem] = &problems[..] else {
        panic!("{problems:?}");
    };
    assert!(problem.contains("unknown field `of`"), "{problem}");
}

#[test]
fn grants_widen_the_policy_by_exactly_themselves() {
    let folder = host::TempFolder::new().expect("a folder");
    let dirs = dirs(&folder);
    let person = policy_user(&dirs);
    let policy = Policy::usual(folder.path().clone(), &person, &[]);
    let file = folder.path().join("not/there/yet");
    let wide = widen_policy(
        &policy,
        &[
            Denial::Write(file),
            host_of("a.example"),
            host_of("b.example"),
        ],
    );
    assert_eq!(wide.writable, [folder.path().clone()]);
    let Network::Hosts(hosts) = &wide.network else {
        panic!("{:?}", wide.network);
    };
    let names: Vec<_> = hosts.iter().map(|rule| rule.host.as_str()).collect();
    assert_eq!(names, ["a.example", "b.example"]);
    assert_eq!(hosts[0].ports, [443]);
    assert_eq!(policy.hidden, wide.hidden);
}
