//! Tests the documentation beside the completion list.

use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{TestAppContext, point, px};

use super::{Scene, item, open};
use crate::{CompletionItem, Documentation};

impl Scene<'_> {
    /// Returns the rendered documentation of the selected item.
    fn documentation(&mut self) -> Option<String> {
        self.cx.run_until_parked();
        self.editor.read_with(self.cx, |editor, cx| {
            let session = editor.completions.session.as_ref()?;
            let view = session.documentation.as_ref()?;
            let text = view.text.read(cx).rendered_text();
            Some(text.as_str().trim().to_owned())
        })
    }
}

fn documented(id: u64, label: &str, text: &str, is_markdown: bool) -> CompletionItem {
    let mut item = item(id, label);
    item.documentation = Some(Documentation {
        text: text.to_owned().into(),
        is_markdown,
    });
    item
}

#[gpui_kit::test]
fn documentation_of_the_selected_item_is_drawn(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_q");
    let items = vec![
        documented(0, "quark", "A particle.", false),
        item(1, "quick"),
    ];
    scene.answer(items, false);
    assert!(scene.is_drawn("completion-documentation"));
    scene.press("down");
    assert!(!scene.is_drawn("completion-documentation"));
}

#[gpui_kit::test]
fn documentation_is_rendered_as_markdown_unless_it_is_plain(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_q");
    let items = vec![
        documented(0, "quark", "A *small* particle.", true),
        documented(1, "quick", "Very *fast*.", false),
        documented(2, "quiet", "  ", true),
    ];
    scene.answer(items, false);
    assert_eq!(scene.rows(), "[quark] quick quiet");
    assert_eq!(scene.documentation().as_deref(), Some("A small particle."));
    scene.press("down");
    assert_eq!(scene.documentation().as_deref(), Some("Very *fast*."));
    scene.press("down");
    assert_eq!(scene.documentation(), None);
}

#[gpui_kit::test]
fn documentation_that_arrives_later_is_shown_from_its_top(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.source.can_resolve.set(true);
    scene.press("_q");
    scene.answer(vec![documented(0, "quark", "Short.", true)], false);
    scene.wait(30);
    let view = |scene: &mut Scene| {
        scene.editor.read_with(scene.cx, |editor, _| {
            let session = editor.completions.session.as_ref().expect("a list");
            let view = session.documentation.as_ref().expect("documentation");
            (view.text.entity_id(), view.scroll.clone())
        })
    };
    let (before, scroll) = view(&mut scene);
    scroll.set_offset(point(px(0.0), px(-5.0)));
    scene.press("_u");
    assert_eq!(view(&mut scene).0, before, "the same text stays");
    let long = "A *small* particle.\n\n".repeat(100);
    scene.resolve(|item| {
        item.documentation = Some(Documentation {
            text: long.into(),
            is_markdown: true,
        });
    });
    let (after, scroll) = view(&mut scene);
    assert_ne!(after, before);
    assert_eq!(scroll.offset().y, px(0.0));
    let height = scene.cx.update(|window, _| {
        let element = window.find("completion-documentation");
        element.bounds().size.height
    });
    assert!(px(0.0) < height && height < px(400.0), "{height:?}");
    assert!(scroll.max_offset().y > px(0.0), "it scrolls");
}
