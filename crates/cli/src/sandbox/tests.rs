//! The command line of the sandbox, and reports as programs read them.

use ::sandbox::{DeniedAccess, Network, PathAccess, SandboxLayer};
use base::AbsPath;
use clap::Parser as _;
use host::{Dirs, FakeFiles};
use serde_json::json;

use super::report::{CommandEnd, SandboxReport};
use crate::command::{AgentArguments, CliCommand};

fn parse(arguments: &[&str]) -> Result<super::SandboxCommand, String> {
    let all = ["burin-agent", "sandbox"].iter().chain(arguments);
    let parsed = AgentArguments::try_parse_from(all).map_err(|error| error.to_string())?;
    match parsed.command {
        CliCommand::Sandbox(sandbox) => Ok(sandbox),
        _ => Err("another command".to_owned()),
    }
}

fn read(arguments: &[&str]) -> Result<::sandbox::Policy, String> {
    let root = AbsPath::new("/state").expect("an absolute path");
    parse(arguments)?.read(&FakeFiles::default(), &Dirs::under(&root))
}

#[test]
fn a_command_line_becomes_a_policy() {
    let policy = read(&[
        "--workspace",
        "/project",
        "--without",
        "landlock",
        "--allow-host",
        "crates.io",
        "--allow-host",
        "127.0.0.1:8080",
        "--",
        "sh",
        "-c",
        "true",
    ])
    .expect("a policy");
    assert_eq!(policy.workspace.to_string(), "/project");
    assert!(policy.without.contains(&SandboxLayer::Landlock));
    let Network::Hosts(hosts) = policy.network else {
        panic!("hosts");
    };
    let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    assert_eq!(hosts, ["crates.io", "127.0.0.1:8080"]);
    assert!(
        policy
            .hidden
            .iter()
            .any(|path| path.to_string() == "/state/state")
    );
}

#[test]
fn invalid_values_are_reported() {
    for (arguments, expected) in [
        (
            &["--without", "walls", "--", "true"][..],
            "there is no layer \"walls\"; the layers are namespaces,",
        ),
        (&["--allow-host", "evil%00.example", "--", "true"], "'%'"),
        (
            &["--policy", "/nowhere.json", "--", "true"],
            "/nowhere.json",
        ),
        (&["true"], "unexpected argument"),
        (&[], "required arguments"),
    ] {
        let error = read(arguments).expect_err("an error");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn a_report_is_json() {
    let mut report = SandboxReport {
        without: [SandboxLayer::Landlock].into(),
        end: CommandEnd::Signal(9),
        denials: vec![
            DeniedAccess::Path {
                path: AbsPath::new("/x").expect("absolute"),
                access: PathAccess::Write,
            },
            DeniedAccess::Host {
                host: "example.com".to_owned(),
                port: 443,
            },
            DeniedAccess::Call { name: "ptrace" },
        ],
        findings: Vec::new(),
    };
    let value = report.json();
    assert_eq!(value["code"], 137);
    assert_eq!(value["end"], json!({ "signal": 9 }));
    assert_eq!(value["without"], json!(["landlock"]));
    assert_eq!(
        value["layers"].as_array().map(Vec::len),
        Some(SandboxLayer::ALL.len() - 1)
    );
    assert_eq!(value["denials"][0]["access"], "write");
    assert_eq!(value["denials"][1]["host"], "example.com");
    assert_eq!(value["denials"][2]["name"], "ptrace");
    report.end = CommandEnd::Refused {
        sentence: "no".to_owned(),
        code: 125,
    };
    assert_eq!(report.json()["layers"], json!([]));
    assert_eq!(report.code(), 125);
}
