//! Tests code lenses with a scripted source.

use std::rc::Rc;
use std::sync::Arc;

use base::{Row, Span};
use gpui_kit::{Modifiers, TestAppContext, point, px};
use lsp::ServerCommand;

use super::scripted::{Scene, ScriptedAnnotations, annotation_scene};
use crate::model::{AnnotationExtent, AnnotationSources, DocumentModel};
use crate::{EditorEvent, RunCodeLens};

type Source = ScriptedAnnotations<Arc<ServerCommand>>;

fn scene<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let sources = |lenses: Rc<Source>| AnnotationSources {
        lenses: Some(lenses),
        ..AnnotationSources::default()
    };
    annotation_scene("/a.rs", marked, sources, cx)
}

impl Scene<'_, Source> {
    /// Takes the titles of the lenses that were run, and the refusals.
    fn heard(&mut self) -> Vec<String> {
        let events = self.heard.take().into_iter();
        let heard = events.filter_map(|event| match event {
            EditorEvent::LensClicked(command) => Some(command.title.clone()),
            EditorEvent::Refused(sentence) => Some(sentence),
            _ => None,
        });
        heard.collect()
    }

    fn turn_on(&mut self) {
        self.editor.update(self.cx, |editor, cx| {
            editor.settings.code_lens = true;
            cx.notify();
        });
        self.cx.run_until_parked();
        self.rest(50);
    }

    fn answer(&mut self, lenses: &[(usize, &str)]) {
        let lenses = lenses.iter().map(|(at, title)| {
            let command = ServerCommand::without_arguments((*title).to_owned(), "run".to_owned());
            (Span::from(*at..*at), Arc::new(command))
        });
        self.annotate(lenses, AnnotationExtent::Whole);
    }

    /// Returns the titles above each row that has lenses, sorted by rows.
    fn shown(&mut self) -> Vec<(u32, String)> {
        self.cx.run_until_parked();
        self.editor.update(self.cx, |editor, cx| {
            let display = editor.display(cx).clone();
            let blocks = display.blocks_in(0.0..display.total_height());
            assert_eq!(blocks.len(), editor.lenses.blocks().len());
            let mut shown: Vec<(u32, String)> = blocks
                .iter()
                .map(|block| {
                    let titles = editor.lenses.titles_of(block.id).join(" | ");
                    (display.buffer_row(block.before).0.0, titles)
                })
                .collect();
            shown.sort();
            shown
        })
    }
}

#[gpui_kit::test]
fn lenses_are_off_until_they_are_wanted(cx: &mut TestAppContext) {
    let mut scene = scene("ˇfn a() {}\nfn b() {}\n", cx);
    assert_eq!(scene.requests(), 0);
    scene.turn_on();
    scene.answer(&[(3, "1 reference"), (3, "Run"), (13, "2 references")]);
    let shown = [(0, "1 reference | Run"), (1, "2 references")];
    assert_eq!(
        scene.shown(),
        shown.map(|(row, titles)| (row, titles.to_owned()))
    );
}

#[gpui_kit::test]
fn lenses_follow_edits_and_equal_ones_stay(cx: &mut TestAppContext) {
    let mut scene = scene("ˇfn a() {}\nfn b() {}\n", cx);
    scene.turn_on();
    scene.answer(&[(3, "A"), (13, "B")]);
    let blocks = |scene: &mut Scene<'_, Source>| {
        scene
            .editor
            .read_with(scene.cx, |editor, _| editor.lenses.blocks())
    };
    let before = blocks(&mut scene);
    scene.cx.simulate_keystrokes("enter");
    assert_eq!(scene.shown(), [(1, "A".to_owned()), (2, "B".to_owned())]);
    scene.rest(300);
    scene.answer(&[(4, "A"), (14, "C")]);
    assert_eq!(scene.shown(), [(1, "A".to_owned()), (2, "C".to_owned())]);
    let after = blocks(&mut scene);
    assert_eq!(before[0], after[0], "an equal lens stays");
    assert_ne!(before[1], after[1]);
    scene.update_model(DocumentModel::forget_annotations);
    assert_eq!(scene.shown(), []);
}

#[gpui_kit::test]
fn a_click_runs_a_lens(cx: &mut TestAppContext) {
    let mut scene = scene("fn a() {}\nˇfn b() {}\n", cx);
    scene.turn_on();
    scene.answer(&[(13, "Run")]);
    let position = scene.editor.read_with(scene.cx, |editor, _| {
        let geometry = editor.geometry.as_ref().expect("a layout");
        point(geometry.x_of(0) + px(6.0), geometry.y_of(1.5))
    });
    scene.cx.simulate_click(position, Modifiers::none());
    scene.cx.run_until_parked();
    assert_eq!(scene.heard(), ["Run"]);
    assert_eq!(scene.text(), "fn a() {}\nˇfn b() {}\n");
}

#[gpui_kit::test]
fn the_action_runs_the_lens_of_the_row(cx: &mut TestAppContext) {
    let mut scene = scene("fn a() {}\nfn b() {ˇ}\n", cx);
    scene.turn_on();
    scene.answer(&[(13, "Run"), (13, "Debug")]);
    scene.cx.dispatch_action(RunCodeLens);
    assert_eq!(scene.heard(), ["Run"]);
    scene.cx.simulate_keystrokes("up");
    scene.cx.dispatch_action(RunCodeLens);
    assert_eq!(scene.heard(), ["No code lens belongs to this line"]);
    let row = scene
        .editor
        .update(scene.cx, |editor, cx| editor.caret_point(cx).row);
    assert_eq!(row, Row(0));
}
