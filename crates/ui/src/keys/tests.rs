//! Keymaps are bound over the kit's keys, and mistakes are reported with their position.

use base::Platform;
use gpui_kit::{Action, KeyContext, Keystroke, TestAppContext};
use settings::parse_keymap;

use super::{as_reported, install_keymaps};

gpui_kit::actions!(keys_test, [One, Two]);

#[gpui_kit::test]
fn mistakes_have_a_place_and_the_rest_is_bound(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(base::Platform::Linux, cx);
        let kit = cx.key_bindings().borrow().bindings().count();
        let text = r#"[
  { "context": "Editor && (", "bindings": { "ctrl-1": "keys_test::One" } },
  { "bindings": {
      "ctrl-1": "keys_test::One",
      "ctrl-2": "keys_test::Tow",
      "ctrl-3": ["keys_test::Two", { "x": 1 }],
      "ctrl-4": null,
  } },
]"#;
        let (keymap, problems) = parse_keymap("keymap.json", text);
        assert_eq!(problems, []);
        let problems = install_keymaps(std::slice::from_ref(&keymap), cx);
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(shown[0].starts_with("keymap.json:2:16: this context cannot be read"), "{shown:?}");
        assert_eq!(
            shown[1],
            "keymap.json:5:7: there is no action \"keys_test::Tow\"; did you mean \"keys_test::Two\"?"
        );
        let bound = cx.key_bindings().borrow().bindings().count();
        assert!(bound >= kit + 2, "{bound} after {kit}");
        install_keymaps(&[keymap], cx);
        assert_eq!(cx.key_bindings().borrow().bindings().count(), bound, "a reload adds nothing");
    });
}

#[test]
fn shifted_signs_are_bound_as_they_are_reported() {
    assert_eq!(as_reported("ctrl-shift-["), Some("ctrl-{".to_owned()));
    assert_eq!(
        as_reported("ctrl-k ctrl-shift-\\"),
        Some("ctrl-k ctrl-|".to_owned())
    );
    assert_eq!(as_reported("ctrl-shift--"), Some("ctrl-_".to_owned()));
    assert_eq!(as_reported("shift-alt-1"), Some("alt-!".to_owned()));
    assert_eq!(as_reported("ctrl-shift-p"), None);
    assert_eq!(as_reported("ctrl--"), None);
    assert_eq!(
        as_reported("shift-f1"),
        None,
        "a key with a name is not a sign"
    );
    assert_eq!(as_reported("shift-enter"), None);
}

gpui_kit::actions!(keys_test_two, [Three]);

#[gpui_kit::test]
fn hints_show_keys_as_written(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(base::Platform::Linux, cx);
        let text = r#"[{ "bindings": { "ctrl-shift-[": "keys_test_two::Three" } }]"#;
        let problems = install_keymaps(&[parse_keymap("keymap.json", text).0], cx);
        assert_eq!(problems, []);
        let keymap = cx.key_bindings();
        let keymap = keymap.borrow();
        let last = keymap
            .bindings_for_action(&Three)
            .next_back()
            .map(|binding| crate::keys_text(binding, base::Platform::Linux));
        assert_eq!(last.as_deref(), Some("Ctrl+Shift+["));
    });
}

gpui_kit::actions!(keys_test_three, [Land, Next]);

#[gpui_kit::test]
fn native_menus_find_the_preferred_key_of_a_text_first(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(Platform::MacOs, cx);
        let text = r#"[
  { "bindings": { "f3": "keys_test_three::Next", "cmd-g": "keys_test_three::Next" } },
  { "context": "Board", "bindings": { "l": "keys_test_three::Land" } }
]"#;
        let problems = install_keymaps(&[parse_keymap("keymap.json", text).0], cx);
        assert_eq!(problems, []);
        let keymap = cx.key_bindings();
        let keymap = keymap.borrow();
        let first = |action: &dyn Action| {
            let binding = keymap.bindings_for_action(action).next();
            binding.map(|binding| crate::keys_text(binding, Platform::MacOs).to_string())
        };
        assert_eq!(first(&Next).as_deref(), Some("\u{2318}G"));
        // A menu shows no keys of several strokes.
        assert_eq!(first(&Land).as_deref(), Some("\u{238b} \u{238b}"));
        let mut board = KeyContext::default();
        board.add("Board");
        let stroke = Keystroke::parse("l").expect("a key");
        let (found, _) = keymap.bindings_for_input(&[stroke], &[board]);
        let runs = found.first().map(|binding| binding.action());
        assert!(runs.is_some_and(|action| action.partial_eq(&Land)));
    });
}
