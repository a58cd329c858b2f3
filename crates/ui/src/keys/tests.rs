//! Keymaps are bound over the kit's keys, and mistakes are told with their place.

use gpui_kit::TestAppContext;
use settings::parse_keymap;

use super::install_keymaps;

gpui_kit::actions!(keys_test, [One, Two]);

#[gpui_kit::test]
fn mistakes_have_a_place_and_the_rest_is_bound(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(cx);
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
        let problems = install_keymaps(&[keymap.clone()], cx);
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
