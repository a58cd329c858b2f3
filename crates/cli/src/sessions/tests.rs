//! Lines and ages, and marks set on the command line.

use agent::record::{SessionMode, SessionRecord};
use agent::stored_parts;
use clap::Parser as _;
use host::TempFolder;

use super::*;

/// The command alone, for its arguments.
#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    command: SessionsCommand,
}

/// The outcome of a command line, and its output.
fn run(dirs: &Dirs, arguments: &[&str], input: &str) -> (Result<(), String>, String) {
    let arguments = std::iter::once("sessions").chain(arguments.iter().copied());
    let line = Line::try_parse_from(arguments).expect("arguments");
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut streams = Streams {
        input: &mut input.as_bytes(),
        output: &mut output,
        errors: &mut errors,
    };
    let done = line.command.run(dirs, &mut streams).map(drop);
    let text = String::from_utf8(output).expect("text") + &String::from_utf8_lossy(&errors);
    (done, text)
}

fn with_session() -> (TempFolder, Dirs) {
    let folder = TempFolder::new().expect("a folder");
    let dirs = Dirs::under(folder.path());
    dirs.create().expect("folders");
    let opened = Ledger::open(&ledger_path(&dirs), 1).expect("a ledger");
    let store = SessionStore::start(opened.ledger).expect("it starts");
    let records = [
        SessionRecord::Began {
            root: "/work".to_owned(),
            parent: None,
            forked_from: None,
            mode: SessionMode::Build,
            model: "demo".to_owned(),
        },
        SessionRecord::Prompted {
            turn: 1,
            parts: vec![stored_parts::text("Mend the roof")],
            is_steering: false,
        },
    ];
    let stored: Vec<Stored> = (0..)
        .zip(records)
        .map(|(seq, record)| Stored {
            seq,
            at_ms: 1,
            record,
        })
        .collect();
    block_on(store.create_session("s1", "/work", &stored)).expect("written");
    (folder, dirs)
}

fn check(dirs: &Dirs, arguments: &[&str], input: &str, expected: &str) {
    let (done, text) = run(dirs, arguments, input);
    assert_eq!(done, Ok(()), "{arguments:?}");
    assert!(text.contains(expected), "{arguments:?}: {text}");
}

#[test]
fn a_session_is_renamed_archived_and_deleted() {
    let (_folder, dirs) = with_session();
    check(&dirs, &["list"], "", "Mend the roof");
    check(
        &dirs,
        &["rename", "s1", " My roof\n"],
        "",
        "is now \"My roof\"",
    );
    check(&dirs, &["list"], "", "My roof");
    check(
        &dirs,
        &["export", "s1", "--format", "markdown"],
        "",
        "# My roof\n",
    );
    check(&dirs, &["archive", "s1"], "", "is archived");
    check(&dirs, &["list"], "", "1 archived session is hidden");
    check(&dirs, &["list", "--archived"], "", "My roof");
    check(&dirs, &["unarchive", "s1"], "", "no longer archived");
    check(&dirs, &["list", "--archived"], "", "no session is archived");
    check(&dirs, &["delete", "s1"], "n\n", "was not deleted");
    check(&dirs, &["delete", "s1"], "", "stays in the ledger file");
    check(&dirs, &["list"], "", "My roof");
    check(&dirs, &["delete", "s1"], "y\n", "is deleted");
    check(&dirs, &["list"], "", "no sessions yet");
    let (done, _) = run(&dirs, &["rename", "s1", "again"], "");
    assert!(done.is_err_and(|error| error.contains("there is no session s1")));
}

#[test]
fn a_blank_name_is_refused() {
    let (_folder, dirs) = with_session();
    let (done, _) = run(&dirs, &["rename", "s1", " "], "");
    assert!(done.is_err_and(|error| error.contains("is blank")));
}

#[test]
fn ages_are_told_in_the_unit_that_fits() {
    let ages = [5_000, 65_000, 7_300_000, 400_000_000].map(age);
    assert_eq!(ages, ["5 s", "1 min", "2 h", "4 days"]);
}

#[test]
fn no_sessions_are_no_error() {
    let none = ListedSessions {
        lines: Vec::new(),
        hidden: 0,
        is_archived: false,
    };
    assert!(list(&none, false).contains("no sessions yet"));
    assert_eq!(list(&none, true), "[]\n");
}
