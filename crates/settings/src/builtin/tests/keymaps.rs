//! The keymaps of both platforms reach the same actions, leave the system's keys alone, and can be
//! typed on other keyboard layouts.

use std::collections::{BTreeMap, BTreeSet};

use base::Platform;

use crate::builtin::keymap;
use crate::keymap::{BoundAction, Keymap, parse_keymap};
use crate::sections::KeymapBase;

/// Actions that have a key on Linux and need none on macOS, with the reason.
const LINUX_ONLY: [(&str, &str); 1] = [(
    "view::ShowMenu",
    "the menu bar is the system's, which opens it with Control-F2",
)];

/// Keys that macOS takes before any program sees them, and keys whose meaning is the same in all
/// programs. From "Mac keyboard shortcuts" (support.apple.com/102650), "Use macOS keyboard
/// shortcuts for input sources" and the defaults of System Settings, Keyboard, Keyboard Shortcuts.
const RESERVED: &[(&str, &str)] = &[
    ("cmd-space", "Spotlight"),
    ("cmd-alt-space", "search window of the Finder"),
    ("ctrl-space", "previous input source"),
    ("ctrl-alt-space", "next input source"),
    ("ctrl-cmd-space", "Character Viewer"),
    ("ctrl-cmd-d", "definition of the selected word"),
    ("ctrl-cmd-q", "lock the screen"),
    ("cmd-tab", "next program"),
    ("cmd-shift-tab", "previous program"),
    ("cmd-`", "next window of the program"),
    ("cmd-shift-`", "previous window of the program"),
    ("cmd-alt-escape", "force programs to quit"),
    ("cmd-shift-q", "log out"),
    ("cmd-alt-shift-q", "log out without a question"),
    ("cmd-alt-d", "show or hide the Dock"),
    ("cmd-alt-m", "minimize all windows of the program"),
    ("cmd-shift-/", "search in the menu Help"),
    ("cmd-shift-3", "screenshot of the screen"),
    ("cmd-shift-4", "screenshot of a part"),
    ("cmd-shift-5", "screenshot and recording"),
    ("ctrl-cmd-shift-3", "screenshot to the clipboard"),
    ("ctrl-cmd-shift-4", "screenshot of a part to the clipboard"),
    ("cmd-f5", "VoiceOver"),
    ("cmd-alt-f5", "accessibility shortcuts"),
    ("cmd-f1", "mirror displays"),
    ("ctrl-up", "Mission Control"),
    ("ctrl-down", "windows of the program"),
    ("ctrl-left", "space on the left"),
    ("ctrl-right", "space on the right"),
    ("ctrl-shift-up", "Mission Control, slowly"),
    ("ctrl-shift-down", "windows of the program, slowly"),
    ("ctrl-f1", "keyboard access"),
    ("ctrl-f2", "menu bar"),
    ("ctrl-f3", "Dock"),
    ("ctrl-f4", "next window"),
    ("ctrl-f5", "toolbar"),
    ("ctrl-f6", "floating window"),
    ("ctrl-f7", "keyboard navigation"),
    ("ctrl-f8", "status menus"),
    ("f11", "desktop"),
];

/// Keys that every program on macOS binds to the same command.
const CONVENTIONS: &[(&str, &str)] = &[
    ("cmd-h", "app::Hide"),
    ("cmd-alt-h", "app::HideOthers"),
    ("cmd-m", "app::Minimize"),
    ("cmd-q", "app::Quit"),
    ("cmd-,", "app::OpenSettings"),
    ("ctrl-cmd-f", "view::ToggleFullScreen"),
];

fn parsed(base: KeymapBase, platform: Platform) -> Keymap {
    let (name, text) = keymap(base, platform);
    let (keymap, problems) = parse_keymap(name, text);
    assert_eq!(problems, [], "{name}");
    keymap
}

/// Every binding as context, keys and action.
fn bindings(keymap: &Keymap) -> impl Iterator<Item = (Option<&str>, &str, String)> {
    keymap.blocks.iter().flat_map(|block| {
        block.bindings.iter().filter_map(|binding| {
            let BoundAction::Run { name, argument } = &binding.action else {
                return None;
            };
            let argument = argument.as_ref().map(ToString::to_string);
            let action = format!("{name} {}", argument.unwrap_or_default());
            let action = action.trim().to_owned();
            Some((block.context.as_deref(), binding.keys.as_str(), action))
        })
    })
}

/// The stroke with its modifiers sorted, so that spellings of one stroke are equal.
fn normal(stroke: &str) -> String {
    let (modifiers, key) = split(stroke);
    let mut modifiers: Vec<&str> = modifiers.split_terminator('-').collect();
    modifiers.sort_unstable();
    modifiers.push(key);
    modifiers.join("-")
}

/// The modifiers with their hyphens, and the key.
fn split(stroke: &str) -> (&str, &str) {
    let without_last =
        &stroke[..stroke.len() - stroke.chars().next_back().map_or(0, char::len_utf8)];
    stroke.split_at(without_last.rfind('-').map_or(0, |at| at + 1))
}

#[test]
fn every_action_with_a_key_on_linux_has_one_on_macos() {
    for base in KeymapBase::ALL {
        let actions = |platform| -> BTreeSet<String> {
            let keymap = parsed(*base, platform);
            bindings(&keymap).map(|(_, _, action)| action).collect()
        };
        let (linux, mac) = (actions(Platform::Linux), actions(Platform::MacOs));
        let missing = linux.difference(&mac);
        let missing: Vec<_> = missing
            .filter(|action| !LINUX_ONLY.iter().any(|(only, _)| only == action))
            .collect();
        assert!(
            missing.is_empty(),
            "{base:?}: without a key on macOS: {missing:?}"
        );
        assert!(linux.len() > 270, "{base:?}: {} actions", linux.len());
    }
}

#[test]
fn an_action_reaches_the_same_contexts_on_both() {
    for base in KeymapBase::ALL {
        let contexts = |platform| -> BTreeMap<String, BTreeSet<String>> {
            let keymap = parsed(*base, platform);
            let mut contexts = BTreeMap::<String, BTreeSet<String>>::new();
            for (context, _, action) in bindings(&keymap) {
                let context = context.unwrap_or_default().to_owned();
                contexts.entry(action).or_default().insert(context);
            }
            contexts
        };
        let (linux, mac) = (contexts(Platform::Linux), contexts(Platform::MacOs));
        for (action, wanted) in linux {
            let Some(found) = mac.get(&action) else {
                continue;
            };
            // A binding without a context serves every context.
            let missing: Vec<_> = wanted.difference(found).collect();
            assert!(
                missing.is_empty() || found.contains(""),
                "{base:?}: {action} has no key on macOS in {missing:?}"
            );
        }
    }
}

#[test]
fn the_systems_keys_stay_the_systems() {
    for base in KeymapBase::ALL {
        let keymap = parsed(*base, Platform::MacOs);
        for (context, keys, action) in bindings(&keymap) {
            let first = normal(keys.split(' ').next().unwrap_or_default());
            let reserved = RESERVED.iter().find(|(keys, _)| normal(keys) == first);
            assert_eq!(
                reserved, None,
                "{base:?}, {context:?}: {keys} runs {action}"
            );
            let common = CONVENTIONS.iter().find(|(keys, _)| normal(keys) == first);
            if let Some((_, meaning)) = common {
                assert_eq!(action, *meaning, "{base:?}, {context:?}: {keys}");
            }
        }
        for (keys, action) in CONVENTIONS {
            let is_bound =
                bindings(&keymap).any(|(_, bound, does)| bound == *keys && does == *action);
            assert!(is_bound, "{base:?}: {keys} does not run {action}");
        }
    }
}

/// A keyboard layout of macOS: its name, the characters that it types without Option, and the
/// toolkit's key equivalents, pairs of characters.
struct KeyboardLayout {
    name: &'static str,
    typed: Vec<char>,
    equivalents: BTreeMap<char, char>,
}

/// The layouts in `tests/data`.
fn layouts() -> Vec<KeyboardLayout> {
    let text = include_str!("../../../../../tests/data/keyboard/macos-layouts.txt");
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("# "))
        .collect();
    let layouts = lines.chunks(4).map(|lines| KeyboardLayout {
        name: lines[0],
        typed: lines[1].chars().chain(lines[2].chars()).collect(),
        equivalents: lines[3]
            .split_whitespace()
            .map(|pair| {
                let mut pair = pair.chars();
                (
                    pair.next().expect("a key"),
                    pair.next().expect("its equivalent"),
                )
            })
            .collect(),
    });
    layouts.collect()
}

impl KeyboardLayout {
    /// The keys after the toolkit has moved them to their equivalents.
    fn equivalent(&self, keys: &str) -> String {
        let strokes = keys.split(' ').map(|stroke| {
            let (modifiers, key) = split(stroke);
            let mut letters = key.chars();
            let moved = match (letters.next(), letters.next()) {
                (Some(letter), None) => self
                    .equivalents
                    .get(&letter)
                    .copied()
                    .unwrap_or(letter)
                    .to_string(),
                _ => key.to_owned(),
            };
            normal(&format!("{modifiers}{moved}"))
        });
        strokes.collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn all_keys_can_be_typed_on_five_layouts() {
    let layouts = layouts();
    assert_eq!(layouts.len(), 5);
    for base in KeymapBase::ALL {
        let keymap = parsed(*base, Platform::MacOs);
        for block in &keymap.blocks {
            assert!(block.use_key_equivalents, "{base:?}, {:?}", block.context);
        }
        for layout in &layouts {
            for (_, keys, action) in bindings(&keymap) {
                for stroke in layout.equivalent(keys).split(' ') {
                    let mut key = split(stroke).1.chars();
                    let (first, is_single) = (key.next().expect("a key"), key.next().is_none());
                    let is_typed = !is_single || layout.typed.contains(&first);
                    assert!(
                        is_typed,
                        "{base:?}: {} cannot type {stroke}, from {keys} for {action}",
                        layout.name
                    );
                }
            }
        }
    }
}

#[test]
fn key_equivalents_keep_different_keys_apart() {
    for base in KeymapBase::ALL {
        let keymap = parsed(*base, Platform::MacOs);
        for layout in &layouts() {
            // Keys of the window are lost where the text binds the same ones.
            for contexts in [vec![None, Some("Editor")], vec![Some("Composer && board")]] {
                let mut bound = BTreeMap::<String, (&str, String)>::new();
                let here = bindings(&keymap).filter(|(context, _, _)| contexts.contains(context));
                for (_, keys, action) in here {
                    let moved = layout.equivalent(keys);
                    let before = bound.insert(moved.clone(), (keys, action.clone()));
                    if let Some((other_keys, other)) = before {
                        assert!(
                            other == action || other_keys == keys,
                            "{base:?}, {}: {keys} ({action}) and {other_keys} ({other}) are both {moved}",
                            layout.name
                        );
                    }
                }
            }
        }
    }
}
