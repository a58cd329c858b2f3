//! Tests links in views with a scripted source.

use std::rc::Rc;
use std::sync::Arc;

use base::Span;
use gpui_kit::{Modifiers, MouseButton, TestAppContext};
use lsp::{DocumentLink, LinkTarget};
use settings::MultiCursorModifier;

use super::scripted::{Scene, ScriptedAnnotations, annotation_scene};
use crate::model::{AnnotationExtent, AnnotationSources};
use crate::{DocumentModel, EditorEvent};

type Source = ScriptedAnnotations<Arc<DocumentLink>>;

fn scene<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let sources = |links: Rc<Source>| AnnotationSources {
        links: Some(links),
        ..AnnotationSources::default()
    };
    annotation_scene("/a.rs", marked, sources, cx)
}

impl Scene<'_, Source> {
    /// Returns the pixel of a byte in the first row.
    fn pixel(&mut self, byte: u32) -> gpui_kit::Point<gpui_kit::Pixels> {
        self.editor.read_with(self.cx, |editor, _| {
            let geometry = editor.geometry.as_ref().expect("a layout");
            let x = geometry.x_of(byte) + gpui_kit::px(geometry.advance / 2.0);
            gpui_kit::point(x, geometry.y_of(0.5))
        })
    }

    fn hover(&mut self, byte: u32, modifiers: Modifiers) {
        let position = self.pixel(byte);
        self.cx
            .simulate_mouse_move(position, None::<MouseButton>, modifiers);
        self.cx.run_until_parked();
    }

    /// Returns the address of the clicked link, or `definition` for a request of one.
    fn click(&mut self, byte: u32, modifiers: Modifiers) -> Vec<String> {
        let position = self.pixel(byte);
        self.heard.take();
        self.cx.simulate_click(position, modifiers);
        self.cx.run_until_parked();
        let events = self.heard.take().into_iter();
        let clicked = events.filter_map(|event| match event {
            EditorEvent::LinkClicked(link) => match &link.target {
                LinkTarget::Web(address) => Some(address.clone()),
                target => panic!("{target:?}"),
            },
            EditorEvent::DefinitionRequested => Some("definition".to_owned()),
            _ => None,
        });
        clicked.collect()
    }

    fn answer(&mut self, links: &[(usize, usize, &str)]) {
        let links = links.iter().map(|(start, end, address)| {
            let span = Span::from(*start..*end);
            let target = LinkTarget::Web((*address).to_owned());
            (span, Arc::new(DocumentLink { span, target }))
        });
        self.annotate(links, AnnotationExtent::Whole);
    }

    /// Returns the underlined text.
    fn underlined(&mut self) -> Option<String> {
        self.editor.read_with(self.cx, |editor, _| {
            let span = editor.link.span()?;
            Some(editor.snapshot.text(span).into_owned())
        })
    }
}

#[gpui_kit::test]
fn the_link_under_the_pointer_is_underlined_and_opened(cx: &mut TestAppContext) {
    let mut scene = scene("ˇsee foo bar", cx);
    let secondary = scene.cx.update(|_, cx| Modifiers::secondary_key(cx));
    scene.hover(5, Modifiers::none());
    assert_eq!(scene.requests(), 0, "no key is held");
    scene.hover(5, secondary);
    assert_eq!(scene.underlined(), None);
    scene.answer(&[(4, 7, "https://foo"), (4, 11, "https://foobar")]);
    assert_eq!(scene.underlined().as_deref(), Some("foo"));
    scene.hover(9, secondary);
    assert_eq!(scene.underlined().as_deref(), Some("foo bar"));
    assert_eq!(scene.requests(), 0, "the links are known");
    scene.hover(1, secondary);
    assert_eq!(scene.underlined(), None);

    assert_eq!(scene.click(5, secondary), ["https://foo"]);
    assert_eq!(scene.text(), "ˇsee foo bar");
    assert_eq!(scene.click(1, secondary), ["definition"]);
    assert_eq!(scene.click(5, Modifiers::none()), [""; 0]);
}

#[gpui_kit::test]
fn a_released_key_ends_the_underline(cx: &mut TestAppContext) {
    let mut scene = scene("ˇsee foo", cx);
    let secondary = scene.cx.update(|_, cx| Modifiers::secondary_key(cx));
    scene.hover(5, secondary);
    scene.answer(&[(4, 7, "https://foo")]);
    assert_eq!(scene.underlined().as_deref(), Some("foo"));
    scene.cx.simulate_modifiers_change(Modifiers::none());
    scene.cx.run_until_parked();
    assert_eq!(scene.underlined(), None);
    scene.cx.simulate_modifiers_change(secondary);
    scene.cx.run_until_parked();
    assert_eq!(scene.underlined().as_deref(), Some("foo"));
    scene.cx.simulate_input("x");
    scene.hover(6, secondary);
    assert_eq!(scene.underlined().as_deref(), Some("foo"));
}

#[gpui_kit::test]
fn the_other_key_follows_links_if_the_settings_say_so(cx: &mut TestAppContext) {
    let mut scene = scene("ˇsee foo", cx);
    let secondary = scene.cx.update(|_, cx| Modifiers::secondary_key(cx));
    scene.editor.update(scene.cx, |editor, _| {
        editor.settings.multi_cursor_modifier = MultiCursorModifier::Secondary;
    });
    scene.hover(5, secondary);
    assert_eq!(scene.requests(), 0);
    scene.hover(5, Modifiers::alt());
    scene.answer(&[(4, 7, "https://foo")]);
    assert_eq!(scene.click(5, Modifiers::alt()), ["https://foo"]);
}

#[gpui_kit::test]
fn a_lost_focus_ends_the_underline(cx: &mut TestAppContext) {
    let mut scene = scene("ˇsee foo", cx);
    scene.cx.update(|window, _| window.activate_window());
    scene.cx.run_until_parked();
    let secondary = scene.cx.update(|_, cx| Modifiers::secondary_key(cx));
    scene.hover(5, secondary);
    scene.answer(&[(4, 7, "https://foo")]);
    assert_eq!(scene.underlined().as_deref(), Some("foo"));
    scene.cx.update(|window, cx| window.blur(cx));
    scene.cx.run_until_parked();
    assert_eq!(scene.underlined(), None, "the release goes elsewhere");
    // A view without the focus.
    scene.hover(6, secondary);
    assert_eq!(scene.underlined().as_deref(), Some("foo"));
    scene.cx.deactivate_window();
    scene.cx.run_until_parked();
    assert_eq!(scene.underlined(), None);
}

#[gpui_kit::test]
fn a_source_without_links_is_not_asked_at_each_move(cx: &mut TestAppContext) {
    let mut scene = scene("ˇsee foo", cx);
    let secondary = scene.cx.update(|_, cx| Modifiers::secondary_key(cx));
    scene.hover(5, secondary);
    scene.refuse();
    scene.hover(6, secondary);
    scene.hover(5, secondary);
    assert_eq!(scene.requests(), 0);
    scene.update_model(DocumentModel::retry_annotations);
    scene.answer(&[(4, 7, "https://foo")]);
    assert_eq!(scene.underlined().as_deref(), Some("foo"));
}
