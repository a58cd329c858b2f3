//! Parsing of input lines, exit codes, and the reported file changes.

use ::host::TempFolder;
use base::AbsPath;
use connect::acp::protocol::{PermissionChoice, PermissionChoiceKind, PromptStop};

use super::changes::FolderWatch;
use super::terminal_ui::choice;
use super::{exit_code, sign_in};

#[test]
fn a_line_at_the_terminal_is_a_choice() {
    let of = |id: &str, kind| PermissionChoice {
        id: id.to_owned(),
        name: id.to_owned(),
        kind,
    };
    let all = [
        of("once", PermissionChoiceKind::AllowOnce),
        of("ever", PermissionChoiceKind::AllowAlways),
        of("no", PermissionChoiceKind::RejectOnce),
    ];
    let check = |line: &str, choices: &[PermissionChoice], expected: Option<&str>| {
        assert_eq!(choice(line, choices).as_deref(), expected, "{line}");
    };
    check("Y", &all, Some("once"));
    check("always", &all, Some("ever"));
    check("", &all, Some("no"));
    check("what?", &all, Some("no"));
    check("yes", &all[1..2], Some("ever"));
    check("a", &all[..1], Some("once"));
    // If "no" is not a choice, the request is not allowed either.
    check("n", &all[..2], None);
    check("y", &all[2..], None);
}

#[test]
fn every_end_has_its_code() {
    let check = |end: PromptStop, code: u8| {
        let expect = std::process::ExitCode::from(code);
        assert_eq!(
            format!("{:?}", exit_code(&end)),
            format!("{expect:?}"),
            "{end:?}"
        );
    };
    check(PromptStop::Done, 0);
    check(PromptStop::Refused, 1);
    check(PromptStop::TooMany, 4);
    check(PromptStop::TooLong, 97);
    check(PromptStop::Failed(String::new()), 97);
    check(PromptStop::Stopped, 130);
}

#[test]
fn a_way_to_sign_in_may_come_with_facts() {
    let plain = sign_in("key").expect("a method");
    assert_eq!((plain.method.as_str(), plain.meta.len()), ("key", 0));
    let facts = sign_in(r#"gateway={"gateway":{"baseUrl":"http://x/?a=b"}}"#).expect("a method");
    assert_eq!(facts.method, "gateway");
    assert_eq!(facts.meta["gateway"]["baseUrl"], "http://x/?a=b");
    assert!(sign_in("gateway=3").is_err_and(|why| why.contains("is not a JSON object")));
}

#[tokio::test]
async fn changes_are_those_of_files_that_count() {
    let folder = TempFolder::new().expect("a folder");
    let real = folder.path().as_path().canonicalize().expect("a real path");
    let root = AbsPath::new(real).expect("absolute");
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        let above = path.parent().expect("a folder");
        ::host::Files::create_folder(&::host::RealFiles, &above).expect("a folder");
        ::host::Files::write_private(&::host::RealFiles, &path, text.as_bytes()).expect("a file");
    };
    for name in ["stays", "changes", "goes", ".hidden", "target/built"] {
        write(name, "before");
    }
    let mut changes = FolderWatch::before(&root).await;
    for name in ["changes", "src/comes", ".hidden", "target/more"] {
        write(name, "after");
    }
    ::host::Files::remove(&::host::RealFiles, &root.join("goes")).expect("it is there");
    let heard = [
        "changes",
        "src/comes",
        ".hidden",
        "goes",
        "passing.tmp",
        "src",
    ];
    changes.add_changes(
        heard
            .iter()
            .map(|name| root.join(name).as_path().to_owned())
            .collect(),
    );
    let found = changes.after().await;
    let paths = |names: &[&str]| {
        names
            .iter()
            .map(std::path::PathBuf::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(found.new, paths(&["src/comes"]));
    assert_eq!(found.changed, paths(&[".hidden", "changes"]));
    assert_eq!(found.gone, paths(&["goes"]));
    assert!(found.is_complete);
    let mut changes = FolderWatch::before(&root).await;
    changes.add_changes(Vec::new());
    assert!(!changes.after().await.is_complete);
}
