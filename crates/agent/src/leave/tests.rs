//! What modes forbid is tested where turns run; here is what they say.

use serde_json::{Value, json};

use super::{build_prompt, details, mode_note};
use crate::record::Mode;
use crate::tool::{Access, Call, Input};

#[track_caller]
fn check(command: Option<&str>, input: Value, expected: &str) {
    let call = Call {
        id: "c1".to_owned(),
        tool: "it".to_owned(),
        input: Input::Json(input),
        waits: false,
    };
    let access = Access {
        command: command.map(str::to_owned),
        title: "a title\u{1b}".to_owned(),
        ..Access::default()
    };
    assert_eq!(details(&call, &access), expected);
}

#[test]
fn a_person_decides_on_all_of_a_call() {
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
fn a_mode_is_told_where_it_begins() {
    assert_eq!(mode_note(Mode::Build, None), None);
    let told = mode_note(Mode::Build, Some(Mode::Plan)).expect("a note");
    assert!(told.contains("you may change files"), "{told}");
    let told = mode_note(Mode::Plan, None).expect("a note");
    assert!(told.contains(".burin/plans/"), "{told}");
    assert!(build_prompt(".burin/plans/a.md").contains("@.burin/plans/a.md"));
}
