//! The texts of modes. The engine's tests cover the calls that modes forbid.

use serde_json::{Value, json};

use super::{details, mode_note};
use crate::record::SessionMode;
use crate::tool::{CallInput, ToolAccess, ToolCall};

#[track_caller]
fn check(command: Option<&str>, input: Value, expected: &str) {
    let call = ToolCall {
        id: "c1".to_owned(),
        tool: "it".to_owned(),
        input: CallInput::Json(input),
        waits: false,
    };
    let access = ToolAccess {
        command: command.map(str::to_owned),
        title: "a title\u{1b}".to_owned(),
        ..ToolAccess::default()
    };
    assert_eq!(details(&call, &access), expected);
}

#[test]
fn permission_details_show_the_whole_call() {
    let command = "ls #\nrm victim.txt";
    check(Some(command), json!({ "command": command }), command);
    check(
        Some("ls"),
        json!({ "workdir": "sub", "command": ["ls"], "tty": true }),
        "ls\nworkdir: sub\ntty: true",
    );
    check(
        None,
        json!({ "path": ".git/hooks/pre-commit", "content": "#!/bin/sh\nrm -rf ~\n" }),
        "a title␛\npath: .git/hooks/pre-commit\ncontent:\n  #!/bin/sh\n  rm -rf ~\n  ",
    );
    check(
        None,
        json!({ "of\nit": [1, { "a": "b" }] }),
        "a title␛\nof␊it:\n  [\n    1,\n    {\n      \"a\": \"b\"\n    }\n  ]",
    );
    check(None, Value::Null, "a title␛");
}

#[test]
fn mode_note_is_given_when_a_mode_begins() {
    assert_eq!(mode_note(SessionMode::Build, None), None);
    let told = mode_note(SessionMode::Build, Some(SessionMode::Plan)).expect("a note");
    assert!(told.contains("you may change files"), "{told}");
    let told = mode_note(SessionMode::Plan, None).expect("a note");
    assert!(told.contains(".burin/plans/"), "{told}");
}
