//! Tests the life of a document: saving, disk changes, conflicts, hunks, journal.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base::{AbsPath, Span};
use gpui_kit::{Entity, TestAppContext};
use host::FakeFiles;
use project::{Binary, Document, DocumentState, SaveTarget, load};
use text::{Author, Edit, Snapshot};

use crate::fixture::environment_over;
use crate::{DocumentModel, ModelEvent};

fn path() -> AbsPath {
    AbsPath::new("/code/a.rs").unwrap()
}

/// Opens a document from a fake disk.
fn open(text: &str, cx: &mut TestAppContext) -> (Entity<DocumentModel>, Arc<FakeFiles>) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(base::Platform::Linux, cx);
    });
    let files = Arc::new(FakeFiles::new());
    files.folder(&AbsPath::new("/code").unwrap());
    files.write(&path(), text);
    let loaded = load(
        files.as_ref(),
        &path(),
        Binary::Refuse,
        &AtomicBool::new(false),
    )
    .unwrap();
    let environment = environment_over(files.clone());
    let model = cx.update(|cx| DocumentModel::open(Document::from_loaded(loaded), environment, cx));
    cx.run_until_parked();
    (model, files)
}

fn insert(model: &Entity<DocumentModel>, at: usize, text: &str, cx: &mut TestAppContext) {
    model.update(cx, |model, cx| {
        model.edit(&[Edit::new(Span::from(at..at), text)], Author::User, cx);
    });
}

#[gpui_kit::test]
async fn a_save_writes_the_text_and_tells(cx: &mut TestAppContext) {
    let (model, files) = open("fn a() {}\n", cx);
    let saved = Rc::new(RefCell::new(0));
    let count = saved.clone();
    let _subscription = cx.update(|cx| {
        cx.subscribe(&model, move |_, event: &ModelEvent, _| {
            *count.borrow_mut() += usize::from(matches!(event, ModelEvent::Saved));
        })
    });
    insert(&model, 0, "// x\n", cx);
    assert_eq!(
        model.read_with(cx, |model, _| model.document().state()),
        DocumentState::Dirty
    );
    let task = model.update(cx, |model, cx| model.save(SaveTarget::Own, cx));
    // Typing continues while the disk is busy.
    insert(&model, 0, "y", cx);
    task.await.unwrap();
    assert_eq!(files.content(&path()).unwrap(), b"// x\nfn a() {}\n");
    assert_eq!(
        model.read_with(cx, |model, _| model.document().state()),
        DocumentState::Dirty
    );
    assert_eq!(*saved.borrow(), 1);
}

#[gpui_kit::test]
async fn a_change_on_disk_is_followed_or_becomes_a_conflict(cx: &mut TestAppContext) {
    let (model, files) = open("one\ntwo\n", cx);
    files.write(&path(), "one\n2\n");
    model.update(cx, |model, cx| model.check_disk(cx)).await;
    assert_eq!(
        model.read_with(cx, |model, _| model.snapshot().to_string()),
        "one\n2\n"
    );
    model.update(cx, |model, cx| model.undo(cx));
    assert_eq!(
        model.read_with(cx, |model, _| model.snapshot().to_string()),
        "one\ntwo\n"
    );
    files.write(&path(), "1\n2\n");
    model.update(cx, |model, cx| model.check_disk(cx)).await;
    assert_eq!(
        model.read_with(cx, |model, _| model.document().state()),
        DocumentState::Conflict
    );
    model.update(cx, |model, cx| model.take_theirs(cx));
    assert_eq!(
        model.read_with(cx, |model, _| model.snapshot().to_string()),
        "1\n2\n"
    );
}

#[gpui_kit::test]
fn hunks_move_at_once_and_are_right_soon(cx: &mut TestAppContext) {
    let (model, _) = open("a\nb\nc\n", cx);
    model.update(cx, |model, cx| {
        model.set_head(Some(Snapshot::new("a\nB\nc\n")), cx)
    });
    cx.run_until_parked();
    let rows = |cx: &mut TestAppContext| {
        model.read_with(cx, |model, _| {
            model
                .hunks()
                .iter()
                .map(|hunk| (hunk.after.start.0, hunk.after.end.0))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(rows(cx), [(1, 2)]);
    insert(&model, 0, "new\n", cx);
    assert_eq!(rows(cx), [(2, 3)], "moved before anything was compared");
    cx.executor().advance_clock(Duration::from_secs(1));
    cx.run_until_parked();
    assert_eq!(rows(cx), [(0, 1), (2, 3)]);
}

#[gpui_kit::test]
fn whoever_keeps_a_journal_hears_of_everything(cx: &mut TestAppContext) {
    let (model, _) = open("a\n", cx);
    model.update(cx, |model, cx| {
        model.mutate(cx, |document| document.buffer_mut().set_recording(true))
    });
    let written = Rc::new(RefCell::new(Vec::new()));
    let journal = written.clone();
    let _subscription = cx.update(|cx| {
        cx.subscribe(&model, move |model, event: &ModelEvent, cx| {
            if matches!(event, ModelEvent::Edited(_)) {
                let operations = model.update(cx, |model, cx| {
                    model.mutate(cx, |document| document.buffer_mut().take_operations())
                });
                journal.borrow_mut().extend(operations);
            }
        })
    });
    insert(&model, 0, "b", cx);
    model.update(cx, |model, cx| model.undo(cx));
    insert(&model, 1, "c", cx);
    let mut again = text::Buffer::new("a\n");
    for operation in written.borrow().iter() {
        again.apply_operation(operation);
    }
    assert_eq!(
        again.snapshot().to_string(),
        model.read_with(cx, |model, _| model.snapshot().to_string())
    );
    assert!(written.borrow().len() >= 3);
}

#[gpui_kit::test]
fn the_tree_follows_the_text(cx: &mut TestAppContext) {
    let (model, _) = open("fn a() {}\n", cx);
    insert(&model, 3, "b", cx);
    cx.run_until_parked();
    model.read_with(cx, |model, _| {
        let (syntax, snapshot) = (model.syntax().unwrap(), model.snapshot());
        assert_eq!(syntax.revision(), snapshot.revision());
        assert_eq!(syntax.parsed_revision(), Some(snapshot.revision()));
        let keyword = syntax.highlights(&snapshot, Span::from(0..2));
        assert_eq!(keyword.len(), 1, "{keyword:?}");
    });
}

#[gpui_kit::test]
fn a_costly_parse_waits_for_a_pause(cx: &mut TestAppContext) {
    let (model, _) = open(&"fn a() {}\n".repeat(6_000), cx);
    let is_parsed = |cx: &mut TestAppContext| {
        cx.run_until_parked();
        model.read_with(cx, |model, _| {
            let parsed = model.syntax().unwrap().parsed_revision();
            parsed == Some(model.snapshot().revision())
        })
    };
    insert(&model, 3, "b", cx);
    assert!(is_parsed(cx), "the cost is not known yet");
    for _ in 0..3 {
        insert(&model, 3, "b", cx);
        assert!(!is_parsed(cx));
        cx.executor().advance_clock(Duration::from_millis(125));
    }
    cx.executor().advance_clock(Duration::from_secs(1));
    assert!(is_parsed(cx));
    model.update(cx, |model, cx| {
        let text = Edit::new(model.snapshot().full_span(), "fn a() {}\n");
        model.edit(&[text], Author::User, cx);
    });
    cx.executor().advance_clock(Duration::from_secs(1));
    insert(&model, 3, "b", cx);
    assert!(is_parsed(cx), "the text is short now");
}
