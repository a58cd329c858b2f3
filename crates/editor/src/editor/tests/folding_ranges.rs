//! Tests folds of a scripted source.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use base::{Row, Span};
use gpui_kit::{Context, Entity, Subscription, Task, TestAppContext, VisualTestContext};
use lsp::{FoldingKind, FoldingRange};
use text::{Author, Edit, Snapshot};

use super::suggesting::{Heard, open_with_keys};
use crate::editor::folding::foldable_at;
use crate::editor::folding_ranges::ask;
use crate::{Editor, Fold, FoldAll, FoldingSource, LanguageSources};

type WaitingFolds = (Snapshot, async_channel::Sender<Option<Vec<FoldingRange>>>);

/// A source whose requests wait until the test answers them.
#[derive(Default)]
struct ScriptedFolds {
    requests: RefCell<Vec<WaitingFolds>>,
}

impl FoldingSource for ScriptedFolds {
    fn folds(
        &self,
        snapshot: &Snapshot,
        cx: &mut Context<Editor>,
    ) -> Task<Option<Vec<FoldingRange>>> {
        let (sender, receiver) = async_channel::bounded(1);
        let request = (snapshot.clone(), sender);
        self.requests.borrow_mut().push(request);
        cx.spawn(async move |_, _| receiver.recv().await.ok().flatten())
    }
}

/// A view with a scripted source.
struct Scene<'a> {
    editor: Entity<Editor>,
    source: Rc<ScriptedFolds>,
    cx: &'a mut VisualTestContext,
    _heard: (Heard, Subscription),
}

fn open<'a>(path: &str, marked: &str, cx: &'a mut TestAppContext) -> Scene<'a> {
    let (editor, heard, subscription, cx) = open_with_keys(path, marked, cx);
    let source = Rc::new(ScriptedFolds::default());
    editor.update(cx, |editor, cx| {
        editor.set_language_sources(LanguageSources {
            folds: Some(source.clone()),
            ..LanguageSources::default()
        });
        ask(editor, cx);
    });
    Scene {
        editor,
        source,
        cx,
        _heard: (heard, subscription),
    }
}

impl Scene<'_> {
    /// Answers the only request with folds from one row to another.
    fn answer(&mut self, rows: &[(u32, u32, Option<FoldingKind>)]) {
        let (text, sender) = self.source.requests.borrow_mut().pop().expect("a request");
        assert!(self.source.requests.borrow().is_empty(), "one request");
        let folds = rows.iter().map(|(first, last, kind)| FoldingRange {
            span: Span::new(text.row_end(Row(*first)), text.row_end(Row(*last))),
            kind: *kind,
        });
        let folds = folds.collect();
        sender.try_send(Some(folds)).expect("a request that waits");
        self.cx.run_until_parked();
    }

    fn refuse(&mut self) {
        let (_, sender) = self.source.requests.borrow_mut().pop().expect("a request");
        sender.try_send(None).expect("a request that waits");
        self.cx.run_until_parked();
    }

    fn rest(&mut self) {
        self.cx.executor().advance_clock(Duration::from_millis(300));
        self.cx.run_until_parked();
    }

    /// Inserts a text at the start, as another program does.
    fn insert(&mut self, text: &str) {
        let model = self
            .editor
            .read_with(self.cx, |editor, _| editor.model().clone());
        model.update(self.cx, |model, cx| {
            model.edit(&[Edit::new(Span::from(0..0), text)], Author::Disk, cx);
        });
        self.cx.run_until_parked();
    }

    /// Returns the rows that start a fold, each with its last row.
    fn foldable(&mut self) -> Vec<(u32, u32)> {
        self.editor.update(self.cx, |editor, cx| {
            editor.sync(cx);
            let rows = 0..editor.snapshot.row_count();
            let folds = rows.filter_map(|row| {
                let fold = foldable_at(editor, Row(row), cx)?;
                Some((row, editor.snapshot.point_at(fold.end).row.0))
            });
            folds.collect()
        })
    }

    fn folded(&mut self) -> Vec<(usize, usize)> {
        self.editor.update(self.cx, |editor, cx| {
            let spans = editor.view_state(cx).folds;
            spans.into_iter().collect()
        })
    }

    fn requests(&self) -> usize {
        self.source.requests.borrow().len()
    }
}

const TEXT: &str = "ˇbegin\none\nend\n  x\nbegin\ntwo\nend";

#[gpui_kit::test]
fn a_text_without_a_tree_folds_by_the_source(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", TEXT, cx);
    assert_eq!(scene.foldable(), [(2, 3)], "by indentation");
    scene.answer(&[(0, 1, None), (4, 5, None)]);
    assert_eq!(scene.foldable(), [(0, 1), (4, 5)]);
    scene.cx.dispatch_action(Fold);
    assert_eq!(scene.folded(), [(5, 9)]);
    scene.cx.dispatch_action(FoldAll);
    assert_eq!(scene.folded(), [(5, 9), (23, 27)]);
}

#[gpui_kit::test]
fn folds_follow_edits_and_are_asked_for_again_at_rest(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", TEXT, cx);
    scene.insert("new\n");
    // The answer is about the text before the edit.
    scene.answer(&[(0, 1, None)]);
    assert_eq!(scene.foldable(), [(1, 2)]);
    scene.insert("new\n");
    assert_eq!(scene.foldable(), [(2, 3)]);
    assert_eq!(scene.requests(), 0, "the text has not rested");
    scene.rest();
    scene.answer(&[(6, 7, None)]);
    assert_eq!(scene.foldable(), [(6, 7)]);
    scene.rest();
    assert_eq!(scene.requests(), 0, "the text is the same");
}

#[gpui_kit::test]
fn a_source_that_cannot_answer_yet_is_asked_again(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", TEXT, cx);
    scene.refuse();
    assert_eq!(scene.foldable(), [(2, 3)]);
    scene.editor.update(scene.cx, ask);
    scene.answer(&[(0, 2, None)]);
    assert_eq!(scene.foldable(), [(0, 2)]);
    scene.editor.update(scene.cx, ask);
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn beside_a_tree_only_folds_of_a_kind_count(cx: &mut TestAppContext) {
    let mut scene = open("/a.rs", "ˇ// region\nlet a;\nlet b;\nlet c;", cx);
    assert_eq!(scene.foldable(), []);
    scene.answer(&[(0, 1, Some(FoldingKind::Region)), (2, 3, None)]);
    assert_eq!(scene.foldable(), [(0, 1)]);
}
