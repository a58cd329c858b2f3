//! Every control of ours has a role and a name, and what has none is found.

use gpui_kit::component::input::InputState;
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{
    AppContext as _, Context, Entity, IntoElement, ParentElement as _, Render, Styled as _,
    TestAppContext, Window, div,
};

use super::{needs_name, unnamed_in};
use crate::{
    Badge, Banner, Button, Checkbox, Divider, EmptyState, Icon, IconButton, Label, ListRow, Tab,
    TextField, Toggle, Tone, TreeRow,
};

/// One of each.
struct Gallery {
    field: Entity<InputState>,
}

impl Render for Gallery {
    fn render(&mut self, _: &mut Window, _: &mut Context<Self>) -> impl IntoElement {
        div()
            .size_full()
            .child(Button::new("button", "Land").on_click(|_, _, _| {}))
            .child(Button::new("dead", "Cannot").disabled(Some("there is nothing to land".into())))
            .child(IconButton::new("icon-button", Icon::Search, "Search").pressed(true))
            .child(Checkbox::new("checkbox", "Whole word", true))
            .child(Toggle::new("toggle", "Soft wrap", false))
            .child(
                ListRow::new("row", "main.rs")
                    .selected(true)
                    .child(Label::new("main.rs")),
            )
            .child(
                TreeRow::new("tree-row", "src", 1)
                    .expanded(Some(true))
                    .child(Label::new("src")),
            )
            .child(Tab::new("tab", "lib.rs").dirty(true).on_close(|_, _| {}))
            .child(TextField::new(&self.field, "Find"))
            .child(Banner::new("banner", Tone::Warning, "Changed on disk"))
            .child(Badge::new("3"))
            .child(Divider::horizontal())
            .child(EmptyState::new("Nothing here").icon(Icon::Folder))
    }
}

#[gpui_kit::test]
fn every_control_has_a_name(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(base::Platform::Linux, cx);
    });
    let window = cx.update(|cx| {
        gpui_kit::open_window(gpui_kit::WindowOptions::default(), cx, |window, cx| {
            cx.new(|cx| Gallery {
                field: cx.new(|cx| InputState::new(window, cx)),
            })
        })
        .map(|(window, _)| window)
        .unwrap()
    });
    cx.run_until_parked();
    let elements = cx
        .update_window(window, |_, window, _| window.elements())
        .unwrap();
    let names: Vec<&str> = elements
        .iter()
        .filter_map(|element| element.label())
        .collect();
    for name in [
        "Land",
        "Cannot",
        "Search",
        "Whole word",
        "Soft wrap",
        "main.rs",
        "src",
        "lib.rs, not saved",
        "Not saved; close lib.rs",
        "Find",
        "Changed on disk",
    ] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    for element in &elements {
        let role = element.role().map(|role| format!("{role:?}"));
        if let Some(role) = role.filter(|role| needs_name(role)) {
            assert!(
                element.label().is_some(),
                "{role} at {:?} has no name",
                element.path()
            );
        }
    }
}

#[test]
fn what_has_no_name_is_found() {
    let json = r#"{ "root": "a", "nodes": {
        "a": { "aria": { "role": "Window" } },
        "b": { "element_id": "save", "aria": { "role": "Button", "label": "Save" } },
        "c": { "element_id": "cross", "aria": { "role": "Button" } },
        "d": { "aria": { "role": "TextInput", "label": " " } },
        "e": { "aria": { "role": "Label" } }
    } }"#;
    assert_eq!(unnamed_in(json), ["Button (cross)", "TextInput ()"]);
}
