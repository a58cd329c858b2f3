//! Edits of several files as one transaction: applied, refused, reverted and undone.

use futures::FutureExt as _;
use gpui_kit::{Task, TestAppContext};
use host::{ErrorReason, FakeFiles, FakeOperation};
use lsp::{DocumentEdit, EditBasis, FileConflict, WorkspaceEdit, WorkspaceOperation};
use project::Binary;
use text::{Author, Edit};

use super::{Story, open, open_with, path};
use crate::TabItem;
use crate::documents::Documents;
use crate::error::Error;
use crate::file_operations::FileOperation;
use crate::refactoring::plan::PlannedFile;
use crate::refactoring::{
    AppliedEdit, CommitOptions, EditPlan, PlannedStep, commit, prepare, prepare_undo,
};
use crate::workbench::refactor::{ActionEffects, perform};

const SAVED: CommitOptions = CommitOptions {
    author: Author::User,
    saves: true,
};

/// Returns the result of a task, which must be done when nothing else runs.
fn result<T: 'static>(story: &mut Story, task: Task<T>) -> T {
    story.settle();
    task.now_or_never().expect("the task is done")
}

/// Plans to replace the first `from` by `to` in files.
fn plan(story: &mut Story, edits: &[(&str, &str, &str)]) -> EditPlan {
    let mut files = Vec::new();
    for (name, from, to) in edits {
        let loading = story
            .cx
            .update(|_, cx| Documents::open(path(name), Binary::Refuse, cx));
        story.cx.run_until_parked();
        let document = loading.now_or_never().expect("loaded").expect("a text");
        let text = story.cx.update(|_, cx| document.read(cx).snapshot());
        let start = text.to_string().find(from).expect("the old text");
        let span = base::Span::from(start..start + from.len());
        files.push(PlannedFile {
            document,
            path: path(name),
            text,
            edits: vec![Edit::new(span, *to)],
        });
    }
    EditPlan {
        files,
        steps: Vec::new(),
        needs_confirmation: false,
    }
}

fn apply(story: &mut Story, plan: EditPlan) -> Result<AppliedEdit, Error> {
    let task = story.cx.update(|_, cx| commit(plan, SAVED, cx));
    result(story, task)
}

fn undo(story: &mut Story, applied: AppliedEdit) -> Result<AppliedEdit, Error> {
    let task = story.cx.update(|_, cx| prepare_undo(applied, cx));
    let (plan, options) = result(story, task)?;
    let task = story.cx.update(|_, cx| commit(plan, options, cx));
    result(story, task)
}

fn move_file(from: &str, to: &str) -> PlannedStep {
    PlannedStep::Operation(FileOperation::Move {
        from: path(from),
        to: path(to),
    })
}

/// The rename of a function in two files.
const RENAME: [(&str, &str, &str); 2] = [
    ("/p/src/main.rs", "old();", "new();"),
    ("/p/src/deep/leaf.rs", "old", "new"),
];

#[gpui_kit::test]
fn open_and_closed_files_change_alike(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    let plan = plan(&mut story, &RENAME);
    let applied = apply(&mut story, plan).expect("applied");
    assert!(applied.files.iter().all(|file| file.is_saved));
    assert!(story.on_disk("/p/src/main.rs").contains("new();"));
    assert_eq!(story.on_disk("/p/src/deep/leaf.rs"), "// new leaf\n");
    // Each text has one undo step of its own.
    story.keys("ctrl-z");
    assert!(story.text().contains("old();"));
}

#[gpui_kit::test]
fn a_text_with_unsaved_edits_is_not_saved(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    story.input("// mine\n");
    let plan = plan(&mut story, &RENAME);
    let applied = apply(&mut story, plan).expect("applied");
    let saved: Vec<bool> = applied.files.iter().map(|file| file.is_saved).collect();
    assert_eq!(saved, [false, true]);
    assert!(story.text().starts_with("// mine\n") && story.text().contains("new();"));
    assert!(!story.on_disk("/p/src/main.rs").contains("new();"));
}

#[gpui_kit::test]
fn one_unwritable_file_of_many_reverts_all(cx: &mut TestAppContext) {
    const FILES: usize = 200;
    let names: Vec<String> = (0..FILES).map(|ix| format!("/p/src/f{ix}.txt")).collect();
    let files = FakeFiles::new();
    for name in &names {
        files.write(&path(name), "an old name\n");
    }
    let mut story = open_with(files, cx);
    story.open_file("f7.txt");
    let edits: Vec<(&str, &str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "old", "new"))
        .collect();
    let plan = plan(&mut story, &edits);
    story
        .files
        .fail(FakeOperation::Save, 150, ErrorReason::NoSpace);
    let error = apply(&mut story, plan).err().expect("refused");
    assert!(matches!(&error, Error::EditReverted { kept, .. } if kept.is_empty()));
    for name in &names {
        assert_eq!(story.on_disk(name), "an old name\n", "{name}");
    }
    assert_eq!(story.text(), "an old name\n");
    assert_eq!(story.tabs(), "[f7.txt]");
}

#[gpui_kit::test]
fn a_text_that_changed_since_refuses_the_whole_edit(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    let plan = plan(&mut story, &RENAME);
    story.input("x");
    let error = apply(&mut story, plan).err().expect("refused");
    assert!(matches!(error, Error::EditOutdated(_)));
    assert_eq!(story.on_disk("/p/src/deep/leaf.rs"), "// old leaf\n");
    assert!(story.text().contains("old();"));
}

#[gpui_kit::test(iterations = 5)]
fn an_edit_with_moved_and_created_files_is_undone_as_a_whole(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    let before = story.on_disk("/p/src/main.rs");
    let mut plan = plan(&mut story, &RENAME);
    plan.steps = vec![
        move_file("/p/src/main.rs", "/p/src/start.rs"),
        PlannedStep::Create {
            path: path("/p/src/new/mod.rs"),
            text: "mod x;\n".to_owned(),
        },
    ];
    let applied = apply(&mut story, plan).expect("applied");
    assert_eq!(story.tabs(), "[start.rs]");
    assert!(story.on_disk("/p/src/start.rs").contains("new();"));
    assert_eq!(story.on_disk("/p/src/new/mod.rs"), "mod x;\n");
    undo(&mut story, applied).expect("undone");
    assert_eq!(story.tabs(), "[main.rs]");
    assert_eq!(story.on_disk("/p/src/main.rs"), before);
    assert_eq!(story.on_disk("/p/src/deep/leaf.rs"), "// old leaf\n");
    assert_eq!(story.files.trashed(), [path("/p/src/new/mod.rs")]);
}

#[gpui_kit::test]
fn a_failing_operation_reverts_texts_and_earlier_operations(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    let before = story.on_disk("/p/src/main.rs");
    let mut plan = plan(&mut story, &RENAME);
    plan.steps = vec![
        move_file("/p/src/main.rs", "/p/src/start.rs"),
        move_file("/p/gone.rs", "/p/there.rs"),
    ];
    let error = apply(&mut story, plan).err().expect("refused");
    assert!(matches!(&error, Error::EditReverted { kept, .. } if kept.is_empty()));
    assert_eq!(story.tabs(), "[main.rs]");
    assert_eq!(story.on_disk("/p/src/main.rs"), before);
    assert_eq!(story.on_disk("/p/src/deep/leaf.rs"), "// old leaf\n");
}

#[gpui_kit::test]
fn what_changed_since_is_not_undone(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let plan = plan(&mut story, &RENAME);
    let applied = apply(&mut story, plan).expect("applied");
    story.open_file("leaf.rs");
    story.input("x");
    let error = undo(&mut story, applied).err().expect("refused");
    assert!(matches!(error, Error::EditedSince(_)));
    assert!(story.on_disk("/p/src/main.rs").contains("new();"));
}

fn check_operations(
    story: &mut Story,
    operations: Vec<WorkspaceOperation>,
    expected: Result<Vec<PlannedStep>, &str>,
) {
    let edit = WorkspaceEdit {
        label: None,
        operations,
    };
    let task = story.cx.update(|_, cx| prepare(edit, cx));
    let found = result(story, task);
    let found = found.map(|plan| plan.steps);
    let found = found.map_err(|error| error.to_string());
    assert_eq!(found, expected.map_err(str::to_owned));
}

#[gpui_kit::test]
fn existing_and_missing_files_are_treated_as_the_server_wants(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let create = |name: &str, conflict| WorkspaceOperation::Create {
        path: path(name),
        conflict,
        needs_confirmation: false,
    };
    let delete = |name: &str, is_recursive, ignores_missing| WorkspaceOperation::Delete {
        path: path(name),
        is_recursive,
        ignores_missing,
        needs_confirmation: false,
    };
    let trash = |name: &str| PlannedStep::Operation(FileOperation::Trash(path(name)));
    let created = |name: &str| PlannedStep::Create {
        path: path(name),
        text: String::new(),
    };
    let known = "/p/README.md";
    let mut check = |operation, expected| check_operations(&mut story, vec![operation], expected);
    check(
        create("/p/n", FileConflict::Fail),
        Ok(vec![created("/p/n")]),
    );
    check(create(known, FileConflict::Ignore), Ok(Vec::new()));
    check(
        create(known, FileConflict::Overwrite),
        Ok(vec![trash(known), created(known)]),
    );
    check(
        create(known, FileConflict::Fail),
        Err("cannot create /p/README.md: path exists"),
    );
    check(delete(known, false, false), Ok(vec![trash(known)]));
    check(delete("/p/n", false, true), Ok(Vec::new()));
    check(
        delete("/p/src", false, false),
        Err("nothing was changed: /p/src is not empty"),
    );
    check(delete("/p/src", true, false), Ok(vec![trash("/p/src")]));
}

#[gpui_kit::test]
fn an_edit_of_an_unknown_version_is_refused(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let edit = WorkspaceOperation::Edit(DocumentEdit {
        path: path("/p/README.md"),
        basis: EditBasis::UnknownVersion(7),
        edits: Vec::new(),
    });
    let sentence = "nothing was changed: /p/README.md has changed since the language server read it; try again";
    check_operations(&mut story, vec![edit], Err(sentence));
}

#[gpui_kit::test]
fn the_light_bulb_asks_for_the_code_actions(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    let editor = story.read(|workbench, _| {
        let editor = workbench.active_item().and_then(TabItem::editor);
        editor.cloned().expect("a text")
    });
    story.cx.update(|_, cx| {
        editor.update(cx, |_, cx| {
            cx.emit(editor::EditorEvent::CodeActionsRequested)
        });
    });
    story.settle();
    let reports = story.reports();
    assert_eq!(reports, ["No language server of this text runs"]);
}

#[gpui_kit::test]
fn an_action_without_an_effect_is_reported(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let workbench = story.workbench.clone();
    story.cx.update(|window, cx| {
        workbench.update(cx, |_, cx| {
            let effects = ActionEffects {
                title: "Fix".to_owned(),
                edit: None,
                command: None,
            };
            let performed = cx.spawn_in(window, async move |this, cx| {
                perform(&this, effects, |_| None, cx).await;
            });
            performed.detach();
        });
    });
    story.settle();
    let sentence = "The language server has no edit for this action";
    assert_eq!(story.reports(), [sentence]);
}
