//! Tests folds of a scripted source.

use std::rc::Rc;

use base::{Row, Span};
use gpui_kit::TestAppContext;
use lsp::FoldingKind;
use text::{Author, Edit};

use super::scripted::{Scene, ScriptedAnnotations, annotation_scene};
use crate::editor::folding::foldable_at;
use crate::model::{AnnotationExtent, AnnotationSources};
use crate::{DiagnosticOrigin, DiagnosticSet, DocumentModel, Fold, FoldAll};

type Source = ScriptedAnnotations<Option<FoldingKind>>;

fn open<'a>(path: &str, marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let sources = |folds: Rc<Source>| AnnotationSources {
        folds: Some(folds),
        ..AnnotationSources::default()
    };
    annotation_scene(path, marked, sources, cx)
}

impl Scene<'_, Source> {
    /// Answers the only request with folds from one row to another.
    fn answer(&mut self, rows: &[(u32, u32, Option<FoldingKind>)]) {
        assert_eq!(self.requests(), 1, "one request");
        let text = self.source.text();
        let folds = rows.iter().map(|(first, last, kind)| {
            let span = Span::new(text.row_end(Row(*first)), text.row_end(Row(*last)));
            (span, *kind)
        });
        self.annotate(folds, AnnotationExtent::Whole);
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
    scene.insert(0, "new\n");
    // The answer is about the text before the edit.
    scene.answer(&[(0, 1, None)]);
    assert_eq!(scene.foldable(), [(1, 2)]);
    scene.insert(0, "new\n");
    assert_eq!(scene.foldable(), [(2, 3)]);
    assert_eq!(scene.requests(), 0, "the text has not rested");
    scene.rest(300);
    scene.answer(&[(6, 7, None)]);
    assert_eq!(scene.foldable(), [(6, 7)]);
    scene.rest(300);
    assert_eq!(scene.requests(), 0, "the text is the same");
}

#[gpui_kit::test]
fn a_source_that_cannot_answer_yet_is_asked_again(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", TEXT, cx);
    scene.refuse();
    assert_eq!(scene.foldable(), [(2, 3)]);
    scene.update_model(DocumentModel::retry_annotations);
    scene.answer(&[(0, 2, None)]);
    assert_eq!(scene.foldable(), [(0, 2)]);
    scene.update_model(DocumentModel::retry_annotations);
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn a_slow_answer_about_an_older_text_is_followed_by_a_request(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", TEXT, cx);
    scene.insert(0, "new\n");
    scene.rest(300);
    scene.answer(&[(0, 1, None)]);
    assert_eq!(scene.foldable(), [(1, 2)]);
    scene.answer(&[(1, 3, None)]);
    assert_eq!(scene.foldable(), [(1, 3)]);
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn a_text_whose_folds_were_deleted_folds_by_indentation(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", "ˇbegin\none\nend\n", cx);
    scene.answer(&[(0, 1, None)]);
    scene.update_model(|model, cx| {
        let edit = Edit::new(model.snapshot().full_span(), "a\n  b\nc");
        model.edit(&[edit], Author::Disk, cx);
    });
    scene.rest(300);
    scene.answer(&[]);
    assert_eq!(scene.foldable(), [(0, 1)]);
}

#[gpui_kit::test]
fn a_restarted_server_is_asked_again(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", TEXT, cx);
    scene.answer(&[(0, 1, None)]);
    scene.update_model(DocumentModel::forget_annotations);
    assert_eq!(scene.foldable(), [(2, 3)], "by indentation");
    scene.answer(&[(4, 5, None)]);
    assert_eq!(scene.foldable(), [(4, 5)]);
}

#[gpui_kit::test]
fn diagnostics_request_no_folds_while_the_text_is_edited(cx: &mut TestAppContext) {
    let mut scene = open("/a.txt", TEXT, cx);
    scene.answer(&[(0, 1, None)]);
    scene.insert(0, "new\n");
    scene.model.update(scene.cx, |model, cx| {
        let revision = model.snapshot().revision();
        model.set_diagnostics(
            DiagnosticOrigin::Servers,
            revision,
            DiagnosticSet::default(),
            cx,
        );
    });
    scene.cx.run_until_parked();
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn beside_a_tree_only_folds_of_a_kind_count(cx: &mut TestAppContext) {
    let mut scene = open("/a.rs", "ˇ// region\nlet a;\nlet b;\nlet c;", cx);
    assert_eq!(scene.foldable(), []);
    scene.answer(&[(0, 1, Some(FoldingKind::Region)), (2, 3, None)]);
    assert_eq!(scene.foldable(), [(0, 1)]);
}
