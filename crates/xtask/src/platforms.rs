//! Checks that conditions on the operating system stay in the few modules that select an
//! implementation.
//!
//! Other code uses `base::Platform`, which tests and pictures choose freely, or the interface of a concern. Every file
//! with a condition is in a list with its concern; the table in ARCHITECTURE.md explains the concerns.

use std::collections::BTreeMap;

use crate::scan::{self, PieceKind};
use crate::tree;

/// List of the files with conditions.
const ALLOWED: &str = "crates/xtask/src/platforms.txt";
/// Names in conditions: the operating system, and the flag that selects the portable
/// implementations on Linux.
const CONDITIONS: [&str; 2] = ["target_os", "burin_portable"];

/// Returns the first line of `text` with a condition, counted from 1.
fn first_condition(text: &str) -> Option<usize> {
    let code = scan::without(text, &[PieceKind::Comment, PieceKind::Literal]);
    let mut lines = code.lines();
    let is_condition = |line: &str| scan::words(line).any(|word| CONDITIONS.contains(&word));
    lines.position(is_condition).map(|ix| ix + 1)
}

#[test]
fn conditions_on_the_system_stay_in_the_selecting_modules() {
    let mut found = BTreeMap::new();
    for source in tree::sources() {
        if let Some(line) = first_condition(&source.text) {
            found.insert(
                source.name,
                format!("line {line}; ask base::Platform, or the interface of the concern"),
            );
        }
    }
    tree::check_list(ALLOWED, &found, "which concern?");
}

#[test]
fn conditions_are_found_in_code_alone() {
    assert_eq!(
        first_condition("// target_os\nlet a = \"target_os\";"),
        None
    );
    assert_eq!(
        first_condition("a();\n#[cfg(target_os = \"linux\")]\nb();"),
        Some(2)
    );
    assert_eq!(
        first_condition("if cfg!(all(unix, burin_portable)) {}"),
        Some(1)
    );
    assert_eq!(first_condition("let target_oses = 1;"), None);
}

/// The crates that draw the window, and the file that writes the names of keys.
const WINDOW_CRATES: [&str; 7] = [
    "composer_panel",
    "editor",
    "git_panel",
    "pacing",
    "terminal_panel",
    "ui",
    "workbench",
];
const KEY_NAMES: &str = "crates/ui/src/key_hint.rs";

/// Returns whether a literal names a key in the notation of one system.
fn names_a_key(literal: &str) -> bool {
    let modifiers = [
        "Ctrl",
        "Cmd",
        "Alt+",
        "Shift+",
        "Super+",
        "\u{2318}",
        "\u{2325}",
        "\\u{2318}",
        "\\u{2325}",
    ];
    modifiers.iter().any(|modifier| literal.contains(modifier))
}

#[test]
fn texts_of_the_window_name_no_keys() {
    let mut problems = Vec::new();
    let sources = tree::sources();
    let sources = sources.iter().filter(|source| {
        source.is_production()
            && WINDOW_CRATES.contains(&source.crate_name())
            && source.name != KEY_NAMES
    });
    for source in sources {
        let pieces = scan::pieces(source.product());
        let literals = pieces
            .iter()
            .filter(|piece| piece.kind == PieceKind::Literal);
        for literal in literals.filter(|literal| names_a_key(literal.text)) {
            problems.push(format!(
                "{}:{} says {}",
                source.name, literal.line, literal.text
            ));
        }
    }
    assert!(
        problems.is_empty(),
        "\n{}\nShow the keys of the action: ui::keys_here, ui::keys_anywhere, KeyHint.\n",
        problems.join("\n")
    );
    assert!(names_a_key("\"Press Ctrl+K\"") && !names_a_key("\"Alternatives\""));
}
