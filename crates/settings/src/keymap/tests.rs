//! Keymaps are parsed, and mistakes are reported with their position.

use base::Platform;
use serde_json::json;

use super::{BoundAction, check_keystroke, parse_keymap};
use crate::builtin::keymap;
use crate::sections::KeymapBase;

#[test]
fn bindings_are_read() {
    let text = r#"[
  { "context": "Editor && !menu", "bindings": {
      "ctrl-p": "go::FindFile",
      "ctrl-k  z": ["editor::Fold", { "level": 2 }],
      "x": null,
  } },
  { "bindings": { "ctrl--": ["view::ZoomOut"] } },
]"#;
    let (keymap, problems) = parse_keymap("keymap.json", text);
    assert_eq!(problems, []);
    let block = &keymap.blocks[0];
    assert_eq!(block.context.as_deref(), Some("Editor && !menu"));
    assert_eq!(block.bindings[1].keys, "ctrl-k z");
    assert_eq!(block.bindings[1].place, (4, 7));
    assert_eq!(
        block.bindings[1].action,
        BoundAction::Run {
            name: "editor::Fold".to_owned(),
            argument: Some(json!({ "level": 2 }))
        }
    );
    assert_eq!(block.bindings[2].action, BoundAction::Nothing);
    assert_eq!(keymap.blocks[1].bindings[0].keys, "ctrl--");
}

#[test]
fn problems_are_reported() {
    let text = r#"[
  { "contxt": "Editor", "bindings": {
      "ctl-p": "a::B",
      "ctrl-entr": "a::B",
      "ctrl-a": "Undo",
      "ctrl-b": 3,
      "": "a::B",
      "ctrl-c": ["a::B", 1, 2],
      "ctrl-d": "a::B"
  } },
  7
]"#;
    let (keymap, problems) = parse_keymap("keymap.json", text);
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "keymap.json:2:5: unknown key \"contxt\" in a keymap; did you mean \"context\"?",
            "keymap.json:3:7: unknown modifier \"ctl\" in \"ctl-p\"; did you mean \"ctrl\"?",
            "keymap.json:4:7: unknown key \"entr\" in \"ctrl-entr\"; did you mean \"enter\"?",
            "keymap.json:5:17: \"Undo\" is not an action; write namespace::Action",
            "keymap.json:6:17: expected an action such as \"editor::Undo\", found a number",
            "keymap.json:7:7: a binding needs a key",
            "keymap.json:8:17: expected [\"namespace::Action\", argument]",
            "keymap.json:11:3: expected { \"context\", \"bindings\" }, found a number",
        ]
    );
    assert_eq!(keymap.blocks[0].bindings.len(), 1, "what is right is taken");
    assert_eq!(parse_keymap("keymap.json", "{").1.len(), 1);
    assert_eq!(parse_keymap("keymap.json", "").1, []);
}

#[test]
fn keystrokes() {
    for good in [
        "a",
        "-",
        "ctrl--",
        "f12",
        "ctrl-shift-alt-cmd-up",
        "secondary-,",
        "é",
        "ctrl-\\",
    ] {
        assert_eq!(check_keystroke(good), Ok(()), "{good}");
    }
    for bad in ["f36", "ctrl-f0", "strg-a", "ctrl-zz", "ctrl-"] {
        assert!(check_keystroke(bad).is_err(), "{bad}");
    }
}

#[test]
fn our_keymaps_have_no_mistakes_and_no_key_twice() {
    for base in KeymapBase::ALL {
        for system in [Platform::Linux, Platform::MacOs] {
            let (name, text) = keymap(*base, system);
            let (keymap, problems) = parse_keymap(name, text);
            assert_eq!(problems, [], "{name}");
            let count: usize = keymap.blocks.iter().map(|block| block.bindings.len()).sum();
            assert!(count > 150, "{name} has {count} bindings");
            for block in &keymap.blocks {
                let mut keys: Vec<&str> = block
                    .bindings
                    .iter()
                    .map(|binding| binding.keys.as_str())
                    .collect();
                // A key that begins a chord cannot also do something by itself without a wait.
                for key in &keys {
                    let chord = keys
                        .iter()
                        .find(|other| other.starts_with(&format!("{key} ")));
                    assert_eq!(chord, None, "{name}: {key} also begins a chord");
                }
                keys.sort_unstable();
                let twice = keys.windows(2).find(|pair| pair[0] == pair[1]);
                assert_eq!(twice, None, "{name}, {:?}", block.context);
            }
        }
    }
}
