//! The tools with scripted language servers.

use serde_json::{Value, json};

use super::*;
use crate::language::scripted::{ScriptedLanguage, errors};
use crate::language::{OfferedAction, SymbolLocation, TextChange};
use crate::tools::tests::{World, assert_says, call};

const TEXT: &str = "fn save() {}\n\nfn main() { save(); }\n";

/// A tree with `a.rs`, whose servers answer like this.
fn world(language: ScriptedLanguage) -> (World, Arc<ScriptedLanguage>) {
    let language = Arc::new(language);
    let world = World::with_language(language.clone());
    world.write("a.rs", TEXT);
    (world, language)
}

fn change(path: &str, old: Option<&str>, new: &str) -> TextChange {
    TextChange {
        path: path.to_owned(),
        old: old.map(str::to_owned),
        new: new.to_owned(),
    }
}

fn save_in_line_3() -> Value {
    json!({ "path": "a.rs", "line": 3, "symbol": "save" })
}

#[tokio::test]
async fn locations_are_listed_by_file_and_line() {
    let location = |path: &str, line, text: &str| SymbolLocation {
        path: path.to_owned(),
        line,
        text: text.to_owned(),
    };
    let (world, language) = world(ScriptedLanguage {
        locations: vec![
            location("b.rs", 9, "    save();"),
            location("/usr/lib/std.rs", 2, ""),
            location("a.rs", 1, "fn save() {}"),
            location("a.rs", 1, "fn save() {}"),
        ],
        ..ScriptedLanguage::default()
    });
    let answer = world.call("references", save_in_line_3()).await;
    let expected = "/usr/lib/std.rs:2:\na.rs:1: fn save() {}\nb.rs:9: save();\n";
    assert_eq!(answer.text(), expected);
    world.call("definition", save_in_line_3()).await;
    // A wrong line and a qualified name are understood.
    let near = json!({ "path": "a.rs", "line": 2, "symbol": "crate::save()" });
    assert!(world.call("definition", near).await.outcome.is_error());
    let near = json!({ "path": "a.rs", "line": 2, "symbol": "save()" });
    world.call("definition", near).await;
    let expected = [
        "References a.rs:3:13",
        "Definition a.rs:3:13",
        "Definition a.rs:3:13",
    ];
    assert_eq!(language.log(), expected);
}

#[tokio::test]
async fn a_long_list_says_how_many_were_left_out() {
    let location = |line| SymbolLocation {
        path: "a.rs".to_owned(),
        line,
        text: "x".repeat(300),
    };
    let (world, _) = world(ScriptedLanguage {
        locations: (1..=60).map(location).collect(),
        hover: Some("é".repeat(3000)),
        ..ScriptedLanguage::default()
    });
    let text = world.call("references", save_in_line_3()).await.text();
    assert!(text.ends_with("…\n(10 more were left out.)\n"), "{text}");
    let text = world.call("hover", save_in_line_3()).await.text();
    assert!(
        text.ends_with("é…\n(2000 more bytes were left out.)"),
        "{text}"
    );
}

#[tokio::test]
async fn empty_answers_are_no_errors() {
    let (world, _) = world(ScriptedLanguage::default());
    for (tool, input, expected) in [
        (
            "definition",
            save_in_line_3(),
            "Its server knows none for save; try grep.",
        ),
        (
            "hover",
            save_in_line_3(),
            "Its server says nothing about save.",
        ),
        (
            "code_action",
            json!({ "path": "a.rs", "line": 1 }),
            "The server offers no action there.",
        ),
        (
            "diagnostics",
            json!({}),
            "No file was read or changed yet; name some in `paths`.\n",
        ),
    ] {
        let answer = world.call(tool, input).await;
        assert_eq!(
            (answer.outcome, answer.text().as_str()),
            (CallOutcome::Ok, expected)
        );
    }
}

#[tokio::test]
async fn diagnostics_are_those_of_the_requested_files() {
    let report = || {
        let mut report = errors(&[("a.rs", &[(3, "bad")]), ("b.rs", &[(1, "far")])]);
        report.files[0].diagnostics.insert(
            0,
            FileDiagnostic {
                line: 1,
                is_error: false,
                message: "odd".to_owned(),
            },
        );
        let reason = "no language server serves it".to_owned();
        report.unreported.push(("c.txt".to_owned(), reason));
        report
    };
    let (world, language) = world(ScriptedLanguage::default());
    *language.reports.lock().expect("the reports") = [report(), report()].into();
    let answer = world
        .call("diagnostics", json!({ "paths": ["a.rs", "c.txt"] }))
        .await;
    assert_eq!(
        answer.text(),
        "a.rs:3: error: bad\na.rs:1: warning: odd\nc.txt is not checked: no language server serves it.\n"
    );
    let answer = world.call("diagnostics", json!({})).await;
    assert!(
        answer
            .text()
            .starts_with("a.rs:3: error: bad\nb.rs:1: error: far\n")
    );
    assert_eq!(language.log(), ["diagnostics a.rs c.txt", "diagnostics "]);
}

#[tokio::test]
async fn a_rename_changes_all_files_with_their_permission() {
    let new = TEXT.replace("save", "store");
    let (world, language) = world(ScriptedLanguage {
        changes: vec![
            change("a.rs", Some(TEXT), &new),
            change("b.rs", Some("save\r\n"), "store\r\n"),
            change("c.rs", None, "// new\n"),
        ],
        ..ScriptedLanguage::default()
    });
    world.write("b.rs", "save\r\n");
    let input = json!({ "path": "a.rs", "line": 3, "symbol": "save", "new_name": "store" });
    let tool = world.tool("rename");
    let planned = call("rename", input.clone());
    let planned = tool.planned_access(&planned, &world.context);
    let access = planned.expect("a plan").await.expect("access");
    let expected = ["a.rs", "b.rs", "c.rs"].map(|path| LockScope::Path(path.to_owned()));
    assert_eq!(access.writes, expected);
    assert_eq!(
        access.title,
        "rename save to store in 3 files: change a.rs, b.rs, c.rs"
    );
    assert_eq!(world.text("a.rs").as_deref(), Some(TEXT));
    let answer = world.call("rename", input).await;
    assert_eq!(answer.outcome, CallOutcome::Ok, "{}", answer.text());
    assert!(
        answer.text().contains("+fn store() {}\n"),
        "{}",
        answer.text()
    );
    assert_eq!(world.text("a.rs"), Some(new));
    assert_eq!(world.text("b.rs").as_deref(), Some("store\r\n"));
    assert_eq!(world.text("c.rs").as_deref(), Some("// new\n"));
    assert_eq!(
        language.log().last().map(String::as_str),
        Some("rename a.rs:3:13 store")
    );
}

#[tokio::test]
async fn a_rename_of_a_changed_file_changes_nothing() {
    let (world, _) = world(ScriptedLanguage {
        changes: vec![
            change("a.rs", Some(TEXT), "fn store() {}\n"),
            change("b.rs", Some("save\n"), "store\n"),
        ],
        ..ScriptedLanguage::default()
    });
    world.write("b.rs", "other\n");
    let input = json!({ "path": "a.rs", "line": 3, "symbol": "save", "new_name": "store" });
    let answer = world.call("rename", input).await;
    assert!(answer.outcome.is_error(), "{}", answer.text());
    assert_eq!(world.text("a.rs").as_deref(), Some(TEXT));
}

#[tokio::test]
async fn code_actions_are_listed_and_applied_by_title() {
    let action = |title: &str, is_preferred| OfferedAction {
        title: title.to_owned(),
        kind: "quickfix".to_owned(),
        is_preferred,
    };
    let (world, language) = world(ScriptedLanguage {
        actions: vec![action("Remove", false), action("Import `x`", true)],
        changes: vec![change("a.rs", Some(TEXT), "use x;\n")],
        ..ScriptedLanguage::default()
    });
    let input = json!({ "path": "a.rs", "line": 1, "end_line": 3 });
    let answer = world.call("code_action", input).await;
    assert_eq!(answer.text(), "Import `x` (quickfix)\nRemove (quickfix)\n");
    assert_eq!(world.text("a.rs").as_deref(), Some(TEXT));
    let input = json!({ "path": "a.rs", "line": 1, "title": "Import `x`" });
    let answer = world.call("code_action", input).await;
    assert_eq!(answer.outcome, CallOutcome::Ok, "{}", answer.text());
    assert_eq!(world.text("a.rs").as_deref(), Some("use x;\n"));
    assert_eq!(
        language.log(),
        ["actions a.rs:1-3", "action a.rs:1-1 Import `x`"]
    );
}

#[tokio::test]
pub(in crate::tools) async fn every_way_of_asking_servers_to_fail_says_what_to_do() {
    use CallOutcome::{InvalidArguments, ProviderError, UnexpectedEnvironment, UserAborted};
    let rename = json!({ "path": "a.rs", "line": 1, "symbol": "save", "new_name": "x" });
    let apply = json!({ "path": "a.rs", "line": 1, "title": "Import" });
    let inputs = [
        ("diagnostics", json!({ "paths": ["a.rs"] })),
        ("definition", save_in_line_3()),
        ("references", save_in_line_3()),
        ("hover", save_in_line_3()),
        ("rename", rename.clone()),
        ("code_action", json!({ "path": "a.rs", "line": 1 })),
        ("code_action", apply.clone()),
    ];
    let (broken, _) = world(ScriptedLanguage {
        failure: Some("the server crashed".to_owned()),
        ..ScriptedLanguage::default()
    });
    let (mut stopped, _) = world(ScriptedLanguage::default());
    let (_sender, stop) = tokio::sync::watch::channel(true);
    stopped.context.stop = stop;
    for (tool, input) in inputs {
        let answer = broken.call(tool, input.clone()).await;
        assert_says(&answer, ProviderError, "the server crashed");
        assert_says(&stopped.call(tool, input).await, UserAborted, "Stopped");
    }
    let (world, _) = world(ScriptedLanguage::default());
    let symbol =
        |symbol: &str, line: u32| json!({ "path": "a.rs", "line": line, "symbol": symbol });
    let symbol_at = |line: &str| json!({ "path": "a.rs", "line": line, "symbol": "save" });
    let cases = [
        (
            "diagnostics",
            json!({ "paths": [1] }),
            InvalidArguments,
            "list of strings",
        ),
        (
            "diagnostics",
            json!({ "paths": ["/etc/x"] }),
            UnexpectedEnvironment,
            "outside",
        ),
        (
            "definition",
            json!({}),
            InvalidArguments,
            "`path` is missing",
        ),
        (
            "definition",
            json!({ "path": "a.rs", "symbol": "x" }),
            InvalidArguments,
            "`line`",
        ),
        (
            "definition",
            symbol("save", 0),
            InvalidArguments,
            "counted from 1",
        ),
        ("definition", symbol(" ", 1), InvalidArguments, "is empty"),
        (
            "references",
            symbol_at("x"),
            InvalidArguments,
            "whole number",
        ),
        (
            "hover",
            json!({ "path": "a.rs" }),
            InvalidArguments,
            "`symbol` is missing",
        ),
        (
            "references",
            symbol("load", 1),
            UnexpectedEnvironment,
            "Read the file again",
        ),
        (
            "hover",
            json!({ "path": "b.rs", "line": 1, "symbol": "x" }),
            UnexpectedEnvironment,
            "There is no file b.rs",
        ),
        (
            "rename",
            save_in_line_3(),
            InvalidArguments,
            "`new_name` is missing",
        ),
        (
            "rename",
            json!({ "path": "a.rs", "line": 1, "symbol": "save", "new_name": " " }),
            InvalidArguments,
            "`new_name` is empty",
        ),
        (
            "rename",
            rename,
            UnexpectedEnvironment,
            "changes nothing there",
        ),
        (
            "code_action",
            apply,
            UnexpectedEnvironment,
            "changes nothing there",
        ),
        (
            "code_action",
            json!({ "path": "a.rs", "line": 3, "end_line": 1 }),
            InvalidArguments,
            "before `line`",
        ),
    ];
    for (tool, input, outcome, says) in cases {
        assert_says(&world.call(tool, input).await, outcome, says);
    }
}
