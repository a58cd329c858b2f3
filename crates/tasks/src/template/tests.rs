//! Values of variables, and texts that are none.

use base::AbsPath;

use super::{expand, input_ids, needs_caret, unknown_variables};
use crate::context::{TaskCaret, TaskContext};
use crate::definition::TaskDialect::{self, Burin, Literal, VsCode, Zed};

/// A window with a text whose name is hostile.
pub(crate) fn context(file: Option<&str>) -> TaskContext {
    let path = |path: &str| AbsPath::new(path).expect("absolute");
    TaskContext {
        root: path("/p"),
        file: file.map(path),
        caret: file.map(|_| TaskCaret {
            line: 12,
            column: 3,
            selection: "a \"b\" $(c)".to_owned(),
            symbol: Some("adds".to_owned()),
        }),
        home: Some(path("/home/me")),
        environment: vec![("X".to_owned(), "1 2".to_owned())],
        answers: vec![("name".to_owned(), "--all x".to_owned())],
        shell: "/bin/bash".to_owned(),
    }
}

#[track_caller]
fn check(dialect: TaskDialect, template: &str, expected: &str) {
    let expanded = expand(template, dialect, &context(Some("/p/src/a.test.rs")));
    let expanded = expanded.unwrap_or_else(|error| format!("error: {error}"));
    assert_eq!(expanded, expected, "{dialect:?} {template}");
}

#[test]
fn variables_of_visual_studio_code_have_their_values() {
    for (template, expected) in [
        ("${file}", "/p/src/a.test.rs"),
        ("${relativeFile}", "src/a.test.rs"),
        ("${relativeFileDirname}", "src"),
        ("${fileDirname}", "/p/src"),
        ("${fileBasename}", "a.test.rs"),
        ("${fileBasenameNoExtension}", "a.test"),
        ("${fileExtname}", ".rs"),
        ("${workspaceFolder}/x", "/p/x"),
        ("${workspaceFolder:p}", "/p"),
        ("${workspaceFolderBasename}", "p"),
        ("${cwd}", "/p"),
        ("${lineNumber}:${columnNumber}", "12:3"),
        ("${selectedText}", "a \"b\" $(c)"),
        ("${env:X}${env:MISSING}", "1 2"),
        ("${input:name}", "--all x"),
        ("${userHome}", "/home/me"),
        ("a${pathSeparator}b${/}c", "a/b/c"),
        ("$HOME $file $$", "$HOME $file $$"),
        ("a${", "a${"),
        (
            "${config:a.b}",
            "error: unknown variable ${config:a.b}; Burin has no settings that can be inserted",
        ),
        (
            "${HOME}",
            "error: unknown variable ${HOME}; write $NAME for a variable of the shell, or ${env:NAME} for one of the environment",
        ),
    ] {
        check(VsCode, template, expected);
    }
}

#[test]
fn variables_of_zed_have_their_values() {
    for (template, expected) in [
        ("$ZED_FILE:$ZED_ROW:$ZED_COLUMN", "/p/src/a.test.rs:12:3"),
        ("$ZED_RELATIVE_FILE $ZED_STEM", "src/a.test.rs a.test"),
        ("${ZED_SYMBOL}!", "adds!"),
        ("$ZED_WORKTREE_ROOT ${ZED_DIRNAME}", "/p /p/src"),
        (
            "${ZED_LINE:7}",
            "error: unknown variable ${ZED_LINE:7}; the variables of tasks are in docs/tasks.md",
        ),
        ("$HOME ${HOME} ${file}", "$HOME ${HOME} ${file}"),
    ] {
        check(Zed, template, expected);
    }
    let without = expand("${ZED_SYMBOL:none}", Zed, &context(None));
    assert_eq!(without.as_deref(), Ok("none"));
}

#[test]
fn own_files_know_short_names_and_both_other_forms() {
    for (template, expected) in [
        ("$file $line $symbol", "/p/src/a.test.rs 12 adds"),
        ("$root/$relativeFile", "/p/src/a.test.rs"),
        ("$selection", "a \"b\" $(c)"),
        ("${fileBasename} $ZED_STEM", "a.test.rs a.test"),
        ("$HOME $1 $? $$i", "$HOME $1 $? $i"),
        (
            "$symbl",
            "error: unknown variable $symbl; write $$ before the name of a variable of the shell",
        ),
    ] {
        check(Burin, template, expected);
    }
    check(Literal, "$file ${file}", "$file ${file}");
}

#[test]
fn missing_values_are_named() {
    let failure = |template: &str, file: Option<&str>| {
        let expanded = expand(template, Burin, &context(file));
        expanded.expect_err("no value").to_string()
    };
    assert_eq!(failure("$file", None), "$file needs an open file");
    assert_eq!(failure("$line", None), "$line needs a text with a caret");
    let no_answer = failure("${input:other}", None);
    assert_eq!(no_answer, "${input:other} has no value");
    let outside = expand("${relativeFile}", VsCode, &context(Some("/q/a.rs")));
    assert_eq!(outside.as_deref(), Ok("/q/a.rs"));
    let option = expand("${relativeFile}", VsCode, &context(Some("/p/-rf")));
    assert_eq!(option.as_deref(), Ok("./-rf"));
}

#[test]
fn uses_are_found_without_a_window() {
    assert_eq!(
        input_ids("${input:a} ${file} ${input:b}", VsCode),
        ["a", "b"]
    );
    assert!(needs_caret("--line=$line", Burin));
    assert!(!needs_caret("$file", Burin));
    let unknown = unknown_variables("${file} ${input:a} ${nonsense}", VsCode, &[]);
    assert_eq!(unknown.len(), 2, "{unknown:?}");
}
