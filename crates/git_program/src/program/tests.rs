//! Tests of the rules of every call, without a process.

use base::AbsPath;
use host::TempFolder;
use host::environment::Variable;

use super::environment::arguments;
use super::{CheckoutTrust, GitProgram, find_program};
use crate::call::GitCall;
use crate::error::Error;

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

fn program(environment: Vec<Variable>) -> GitProgram {
    let trust = CheckoutTrust::Trusted;
    GitProgram::new(path("/usr/bin/git"), path("/r"), environment, trust).expect("trusted")
}

#[test]
fn a_folder_without_trust_gets_no_program() {
    for (trust, is_tree) in [
        (CheckoutTrust::Untrusted, false),
        (CheckoutTrust::AgentTree, true),
    ] {
        let refused = GitProgram::new(path("/usr/bin/git"), path("/r"), Vec::new(), trust);
        let error = refused.map(drop).expect_err("no trust");
        assert_eq!(matches!(error, Error::AgentTree { .. }), is_tree);
        assert_eq!(matches!(error, Error::Untrusted { .. }), !is_tree);
    }
}

#[test]
fn variables_that_point_elsewhere_are_removed() {
    let variable = |name: &str, value: &str| -> Variable { (name.into(), value.into()) };
    let environment = vec![
        variable("GIT_DIR", "/elsewhere"),
        variable("GIT_ASKPASS", "/usr/bin/ksshaskpass"),
        variable("GIT_EDITOR", "vim"),
        variable("HOME", "/home/me"),
    ];
    let program = program(environment);
    let variables = program.variables(&GitCall::read("status"), None);
    let value = |name: &str| {
        let mut found = variables.iter().rev().filter(|(it, _)| it == name);
        found
            .next()
            .map(|(_, value)| value.to_string_lossy().into_owned())
    };
    assert_eq!(value("GIT_DIR"), None);
    assert_eq!(value("HOME").as_deref(), Some("/home/me"));
    assert_eq!(value("GIT_ASKPASS").as_deref(), Some(""));
    assert_eq!(value("GIT_EDITOR").as_deref(), Some(":"));
    assert_eq!(value("GIT_TERMINAL_PROMPT").as_deref(), Some("0"));
    assert_eq!(value("LC_ALL").as_deref(), Some("C"));
}

#[test]
fn only_reading_calls_do_without_locks() {
    let lock_free = "--no-optional-locks".into();
    assert!(arguments(&GitCall::read("status")).contains(&lock_free));
    let write = arguments(&GitCall::write("commit"));
    assert!(!write.contains(&lock_free));
    assert_eq!(write[0], "--no-pager");
    assert!(write.contains(&"core.quotePath=false".into()));
    assert_eq!(write.last().map(|it| it == "commit"), Some(true));
}

#[test]
fn programs_are_found_in_absolute_folders_alone() {
    let variables = |value: &str| -> Vec<Variable> { vec![("PATH".into(), value.into())] };
    let folder = TempFolder::new().expect("a folder");
    let inside = format!(".:{}:/bin:/usr/bin", folder.path());
    let found = find_program("sh", &variables(&inside)).expect("a shell");
    assert!(found.as_path().is_absolute() && !found.is_within(folder.path()));
    assert_eq!(find_program("sh", &variables(".")), None);
    assert_eq!(find_program("sh", &[]), None);
}
