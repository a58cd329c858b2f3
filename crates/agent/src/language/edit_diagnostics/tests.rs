//! Errors before and after edits, with scripted reports.

use std::sync::Arc;

use host::{FakeClock, FakeFiles};

use super::super::scripted::{ScriptedLanguage, errors};
use super::*;
use crate::tools::tests::context_of;

/// A tree with `/r/a.rs` and `/r/b.rs`.
struct World {
    language: Arc<ScriptedLanguage>,
    diagnostics: EditDiagnostics,
    context: ToolContext,
}

impl World {
    fn new(reports: Vec<DiagnosticsAnswer>) -> Self {
        let files = Arc::new(FakeFiles::new());
        for path in ["/r/a.rs", "/r/b.rs"] {
            files.write(&base::AbsPath::new(path).expect("absolute"), "x\n");
        }
        let language = Arc::new(ScriptedLanguage::default());
        *language.reports.lock().expect("the reports") = reports.into();
        Self {
            diagnostics: EditDiagnostics::new(language.clone()),
            language,
            context: context_of(files, Arc::new(FakeClock::at(0)), "/r"),
        }
    }

    /// Edits a file and returns the added text.
    async fn edit(&self, path: &str, result: ToolResult) -> Option<String> {
        let access = ToolAccess {
            writes: vec![LockScope::Path(path.to_owned())],
            ..ToolAccess::default()
        };
        let before = result.text();
        let run = Box::pin(std::future::ready(result));
        let result = self.diagnostics.report(&access, &self.context, run).await;
        let text = result.text();
        let added = text.strip_prefix(&before).expect("the result comes first");
        let added = added.strip_prefix('\n').unwrap_or(added);
        (!added.is_empty()).then(|| added.to_owned())
    }
}

/// Checks the text after one edit of `a.rs` between two reports.
async fn check(before: DiagnosticsAnswer, after: DiagnosticsAnswer, expected: Option<&str>) {
    let world = World::new(vec![before, after]);
    let added = world.edit("a.rs", ToolResult::ok("edited")).await;
    assert_eq!(added.as_deref(), expected);
    assert_eq!(
        world.language.log(),
        ["diagnostics a.rs", "diagnostics a.rs"]
    );
}

#[tokio::test]
async fn new_and_resolved_errors_follow_an_edit() {
    check(
        errors(&[("a.rs", &[(1, "old")]), ("b.rs", &[])]),
        errors(&[("a.rs", &[(2, "new\n  in two lines")]), ("b.rs", &[(7, "far")])]),
        Some(
            "2 new errors:\na.rs:2: new in two lines\nb.rs:7: far\n1 error resolved:\na.rs:1: old\n",
        ),
    )
    .await;
}

#[tokio::test]
async fn an_error_that_moved_is_not_new() {
    check(
        errors(&[("a.rs", &[(1, "old")])]),
        errors(&[("a.rs", &[(9, "old")])]),
        None,
    )
    .await;
    // A second error with the same message is new.
    check(
        errors(&[("a.rs", &[(1, "old")])]),
        errors(&[("a.rs", &[(1, "old"), (3, "old")])]),
        Some("1 new error:\na.rs:3: old\n"),
    )
    .await;
}

#[tokio::test]
async fn errors_without_a_report_before_are_marked() {
    check(
        errors(&[]),
        errors(&[("a.rs", &[(1, "bad")]), ("b.rs", &[(1, "unrelated")])]),
        Some("1 error, perhaps older than this edit:\na.rs:1: bad\n"),
    )
    .await;
}

#[tokio::test]
async fn the_first_report_after_an_edit_is_no_baseline() {
    let world = World::new(vec![
        errors(&[]),
        errors(&[]),
        // The servers have started before the second edit.
        errors(&[("a.rs", &[(1, "bad")])]),
        errors(&[("a.rs", &[(1, "bad")])]),
        errors(&[]),
        errors(&[("a.rs", &[])]),
    ]);
    assert_eq!(world.edit("a.rs", ToolResult::ok("one")).await, None);
    let added = world.edit("a.rs", ToolResult::ok("two")).await;
    let expected = "1 error, perhaps older than this edit:\na.rs:1: bad\n";
    assert_eq!(added.as_deref(), Some(expected));
    let added = world.edit("a.rs", ToolResult::ok("three")).await;
    assert_eq!(added.as_deref(), Some("1 error resolved:\na.rs:1: bad\n"));
}

#[tokio::test]
async fn a_late_report_counts_for_the_next_edit() {
    let world = World::new(vec![
        errors(&[("a.rs", &[])]),
        // The report about the first edit comes too late, and again before the second one.
        errors(&[]),
        errors(&[("a.rs", &[(1, "bad")])]),
        errors(&[("a.rs", &[(1, "bad")])]),
    ]);
    assert_eq!(world.edit("a.rs", ToolResult::ok("one")).await, None);
    let added = world.edit("a.rs", ToolResult::ok("two")).await;
    assert_eq!(added.as_deref(), Some("1 new error:\na.rs:1: bad\n"));
}

#[tokio::test]
async fn every_error_of_a_created_file_is_new() {
    let world = World::new(vec![errors(&[])]);
    let access = ToolAccess {
        writes: vec![LockScope::Path("c.rs".to_owned())],
        ..ToolAccess::default()
    };
    let reports = errors(&[("c.rs", &[(1, "bad")])]);
    let files = world.context.sources.files.clone();
    let create = Box::pin(async move {
        let path = base::AbsPath::new("/r/c.rs").expect("absolute");
        files.write_private(&path, b"x\n").expect("a file");
        ToolResult::ok("created")
    });
    world
        .language
        .reports
        .lock()
        .expect("the reports")
        .push_back(reports);
    let result = world
        .diagnostics
        .report(&access, &world.context, create)
        .await;
    assert_eq!(result.text(), "created\n1 new error:\nc.rs:1: bad\n");
}

#[tokio::test]
async fn a_failed_edit_and_failed_servers_add_nothing() {
    let reports = || vec![errors(&[("a.rs", &[])]), errors(&[("a.rs", &[(1, "bad")])])];
    let world = World::new(reports());
    let failed = ToolResult::new(CallOutcome::UnexpectedEnvironment, "no");
    assert_eq!(world.edit("a.rs", failed).await, None);
    let mut world = World::new(reports());
    let language = Arc::new(ScriptedLanguage {
        failure: Some("down".to_owned()),
        ..ScriptedLanguage::default()
    });
    world.diagnostics = EditDiagnostics::new(language);
    assert_eq!(world.edit("a.rs", ToolResult::ok("edited")).await, None);
}

#[tokio::test]
async fn long_lists_are_cut() {
    let many: Vec<String> = (0..12).map(|number| format!("bad {number}")).collect();
    let many: Vec<(u32, &str)> = many.iter().map(|text| (1, text.as_str())).collect();
    let world = World::new(vec![errors(&[("a.rs", &[])]), errors(&[("a.rs", &many)])]);
    let added = world.edit("a.rs", ToolResult::ok("edited")).await;
    let added = added.expect("errors");
    assert!(added.starts_with("12 new errors:\n"), "{added}");
    assert!(added.ends_with("a.rs:1: bad 9\n(and 2 more)\n"), "{added}");
}
