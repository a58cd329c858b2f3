//! The menus of both platforms, with the keys that the system shows beside them.

use std::collections::BTreeSet;

use base::Platform;
use gpui_kit::{
    Action, App, AsKeystroke as _, KeyBinding, KeyContext, Keymap, OwnedMenu, OwnedMenuItem,
    TestAppContext,
};
use settings::{KeymapBase, Settings};

use super::{is_offered, menus, title_case};
use crate::configuration::base_keymap;

/// Binds a base keymap as the program does on `platform`.
fn bind(platform: Platform, base: KeymapBase, cx: &mut App) {
    gpui_kit::init(cx);
    ui::init(platform, cx);
    let mut settings = Settings::default();
    settings.keymap.base = base;
    let (name, text) = base_keymap(&settings, platform);
    let (keymap, problems) = settings::parse_keymap(name, text);
    assert_eq!(problems, []);
    assert_eq!(ui::install_keymaps(&[keymap], cx), []);
}

/// The binding that the toolkit shows in a native menu: the first one for the text, or else the
/// first one.
fn shown<'a>(action: &'a dyn Action, keymap: &'a Keymap) -> Option<&'a KeyBinding> {
    let mut context = KeyContext::new_with_defaults(gpui_kit::OperatingSystem::Mac);
    for name in ["Workspace", "Pane", "Editor"] {
        context.add(name);
    }
    let is_here = |binding: &&KeyBinding| {
        let predicate = binding.predicate();
        predicate.is_none_or(|predicate| predicate.eval(std::slice::from_ref(&context)))
    };
    let here = keymap.bindings_for_action(action).find(is_here);
    let binding = here.or_else(|| keymap.bindings_for_action(action).next())?;
    (binding.keystrokes().len() == 1).then_some(binding)
}

fn owned(platform: Platform) -> Vec<OwnedMenu> {
    menus(platform)
        .into_iter()
        .map(|menu| menu.owned())
        .collect()
}

/// The items of a menu as lines, with keys where the menu shows some.
fn lines(menu: &OwnedMenu, keymap: &Keymap) -> Vec<String> {
    let line = |item: &OwnedMenuItem| match item {
        OwnedMenuItem::Separator => "\u{2014}".to_owned(),
        OwnedMenuItem::Submenu(menu) => format!("{} \u{25b8}", menu.name),
        OwnedMenuItem::SystemMenu(menu) => format!("{} \u{25b8}", menu.name),
        OwnedMenuItem::Action { name, action, .. } => {
            let keys = shown(action.as_ref(), keymap);
            let keys = keys.map(|keys| ui::keys_text(keys, Platform::MacOs));
            keys.map_or_else(|| name.clone(), |keys| format!("{name} {keys}"))
        }
    };
    menu.items.iter().map(line).collect()
}

fn actions(menus: &[OwnedMenu]) -> Vec<(&str, &dyn Action)> {
    let items = menus.iter().flat_map(|menu| &menu.items);
    let actions = items.filter_map(|item| match item {
        OwnedMenuItem::Action { name, action, .. } => Some((name.as_str(), action.as_ref())),
        _ => None,
    });
    actions.collect()
}

#[gpui_kit::test]
fn the_menus_of_macos_have_its_items_and_keys(cx: &mut TestAppContext) {
    cx.update(|cx| {
        bind(Platform::MacOs, KeymapBase::VsCode, cx);
        let menus = owned(Platform::MacOs);
        let names: Vec<&str> = menus.iter().map(|menu| menu.name.as_ref()).collect();
        let expected = "Burin File Edit Selection View Go Agents Terminal Window Help";
        assert_eq!(names.join(" "), expected);
        let keymap = cx.key_bindings();
        let keymap = keymap.borrow();
        assert_eq!(
            lines(&menus[0], &keymap),
            [
                "About Burin",
                "\u{2014}",
                "Settings\u{2026} \u{2318},",
                "Key Bindings\u{2026}",
                "Theme\u{2026}",
                "\u{2014}",
                "Install burin Command",
                "\u{2014}",
                "Services \u{25b8}",
                "\u{2014}",
                "Hide Burin \u{2318}H",
                "Hide Others \u{2325}\u{2318}H",
                "Show All",
                "\u{2014}",
                "Quit Burin \u{2318}Q",
            ]
        );
        let all: Vec<String> = menus.iter().flat_map(|menu| lines(menu, &keymap)).collect();
        for wanted in [
            "New Text \u{2318}N",
            "Save As\u{2026} \u{21e7}\u{2318}S",
            "Close Tab \u{2318}W",
            "Undo \u{2318}Z",
            "Redo \u{21e7}\u{2318}Z",
            "Paste \u{2318}V",
            // Not F3, which the keymap names first.
            "Find Next \u{2318}G",
            "Commands\u{2026} \u{21e7}\u{2318}P",
            "Reveal in Finder",
            "Full Screen \u{2303}\u{2318}F",
            "Minimize \u{2318}M",
            // Keys of the board and of the project tree are none of the menus.
            "Land Accepted Changes",
            "Collapse All Folders",
        ] {
            assert!(all.iter().any(|line| line == wanted), "{wanted}: {all:#?}");
        }
    });
}

#[gpui_kit::test]
fn about_and_quit_are_only_in_the_menu_of_the_program(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        let menus = owned(Platform::MacOs);
        for name in ["app::About", "app::Quit", "app::OpenSettings"] {
            let with: Vec<&str> = menus
                .iter()
                .filter(|menu| {
                    let menu = std::slice::from_ref(*menu);
                    actions(menu)
                        .iter()
                        .any(|(_, action)| action.name() == name)
                })
                .map(|menu| menu.name.as_ref())
                .collect();
            assert_eq!(with, ["Burin"], "{name}");
        }
        let linux = owned(Platform::Linux);
        assert!(linux.iter().all(|menu| menu.name.as_ref() != "Burin"));
        for name in ["app::About", "app::Quit", "app::OpenSettings"] {
            let is_there = actions(&linux)
                .iter()
                .any(|(_, action)| action.name() == name);
            assert!(is_there, "{name} on Linux");
        }
    });
}

#[gpui_kit::test]
fn every_group_of_commands_has_items(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        let group = |name: &str| name.split("::").next().unwrap_or_default().to_owned();
        for platform in [Platform::Linux, Platform::MacOs] {
            let menus = owned(platform);
            let found: BTreeSet<String> = actions(&menus)
                .iter()
                .map(|(_, action)| group(action.name()))
                .collect();
            let wanted: BTreeSet<String> = [
                "agents",
                "app",
                "editor",
                "excerpts",
                "file",
                "git",
                "go",
                "help",
                "inline_edit",
                "language",
                "pane",
                "preview",
                "project_search",
                "project_tree",
                "snippets",
                "suggestions",
                "tasks",
                "terminal",
                "tests",
                "view",
            ]
            .map(str::to_owned)
            .into();
            assert_eq!(found, wanted, "{platform:?}");
            for (name, action) in actions(&menus) {
                assert!(!name.trim().is_empty(), "{}", action.name());
                assert!(
                    is_offered(action.name(), platform),
                    "{name} on {platform:?}"
                );
            }
        }
    });
}

#[gpui_kit::test]
fn the_key_beside_an_item_runs_it(cx: &mut TestAppContext) {
    for base in KeymapBase::ALL {
        let app = cx.new_app();
        app.update(|cx| {
            bind(Platform::MacOs, *base, cx);
            let menus = owned(Platform::MacOs);
            let keymap = cx.key_bindings();
            let keymap = keymap.borrow();
            let mut count = 0;
            for (name, action) in actions(&menus) {
                let Some(binding) = shown(action, &keymap) else {
                    continue;
                };
                count += 1;
                let stroke = binding.keystrokes()[0].as_keystroke().clone();
                let modifiers = &stroke.modifiers;
                // Without a modifier, the menu would take a key of the text.
                assert!(
                    modifiers.platform
                        || modifiers.control
                        || modifiers.alt
                        || stroke.key.starts_with('f') && stroke.key.len() > 1,
                    "{base:?}: {name} has the bare key {stroke:?}"
                );
                let mut context = KeyContext::default();
                context.add("Editor");
                let (found, _) =
                    keymap.bindings_for_input(std::slice::from_ref(&stroke), &[context]);
                let first = found.first().map(|binding| binding.action());
                assert!(
                    first.is_some_and(|first| first.partial_eq(action)),
                    "{base:?}: {name} shows {stroke:?}, which runs {:?}",
                    first.map(Action::name)
                );
            }
            assert!(count > 40, "{base:?}: {count} items with keys");
        });
    }
}

#[gpui_kit::test]
fn a_changed_keymap_changes_the_menus(cx: &mut TestAppContext) {
    cx.update(|cx| {
        bind(Platform::MacOs, KeymapBase::VsCode, cx);
        let own = r#"[{ "bindings": { "cmd-alt-shift-s": "file::Save" } }]"#;
        let mut settings = Settings::default();
        settings.keymap.base = KeymapBase::VsCode;
        let (name, text) = base_keymap(&settings, Platform::MacOs);
        let keymaps = [(name, text), ("keymap.json", own)];
        let keymaps = keymaps.map(|(name, text)| settings::parse_keymap(name, text).0);
        assert_eq!(ui::install_keymaps(&keymaps, cx), []);
        let keymap = cx.key_bindings();
        let keymap = keymap.borrow();
        let file = &owned(Platform::MacOs)[1];
        let lines = lines(file, &keymap);
        let wanted = "Save \u{2325}\u{21e7}\u{2318}S";
        assert!(lines.iter().any(|line| line == wanted), "{lines:#?}");
    });
}

#[test]
fn items_are_capitalized_as_on_macos() {
    let check = |name: &str, expect: &str| assert_eq!(title_case(name), expect);
    check("Reveal file in tree", "Reveal File in Tree");
    check("Save as\u{2026}", "Save As\u{2026}");
    check("Zoom in", "Zoom In");
    check("Install burin command", "Install burin Command");
    check("Open source of the line", "Open Source of the Line");
}
