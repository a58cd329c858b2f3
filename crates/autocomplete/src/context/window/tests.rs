//! Prompt windows by rows, tokens and gaps.

use base::{ByteOffset, Row};

use super::{PromptWindow, WindowLimits};
use crate::samples::state;

fn lines(from: u32, to: u32) -> String {
    (from..to).map(|line| format!("line {line}\n")).collect()
}

#[test]
fn rows_above_and_below_are_whole() {
    let text = lines(0, 10).replace("line 5", "liˇne 5");
    let frame = WindowLimits::Rows {
        above: 1,
        below: 2,
        around: 1,
    };
    let window = PromptWindow::for_editor(&state("", &text), frame);
    assert_eq!(window.text, lines(3, 9));
    assert_eq!(window.region(), lines(4, 8));
    assert_eq!(
        (window.before_region(), window.after_region()),
        ("line 3\n", "line 8\n")
    );
    assert_eq!(window.row, Row(4));
    assert_eq!(window.marked("|"), lines(4, 8).replace("line 5", "li|ne 5"));
}

#[test]
fn the_window_covers_whole_syntax_nodes() {
    let text = "fn a() {\n    one();\n}\n\nfn b() {\n    twoˇ();\n    three();\n}\n\nfn c() {}\n";
    let frame = WindowLimits::Tokens {
        editable: 14,
        around: 8,
    };
    let window = PromptWindow::for_editor(&state("rust", text), frame);
    assert_eq!(window.region(), "fn b() {\n    two();\n    three();\n}\n");
    assert!(window.text.len() <= 14 * 3 + 8 * 3);
}

#[test]
fn a_gap_begins_at_a_row_and_keeps_its_caret() {
    let text = format!("{}let ˇ = 1;\n{}", lines(0, 400), lines(0, 400));
    let state = state("", &text);
    let frame = WindowLimits::Gap {
        before: 100,
        behind: 50,
    };
    let window = PromptWindow::for_editor(&state, frame);
    assert!(window.text.starts_with("line ") && window.text.ends_with('\n'));
    assert!(window.before_region().ends_with("let ") && window.after_region().starts_with(" = 1;"));
    assert!(window.before_region().len() <= 300 && window.after_region().len() <= 150);
    assert_eq!(window.start + window.caret, state.caret);
}

#[test]
fn a_gap_begins_at_a_nearby_definition() {
    let body = "    x();\n".repeat(40);
    let text = format!("fn a() {{\n{body}}}\n\nfn b() {{\n{body}    ˇ\n}}\n");
    let frame = WindowLimits::Gap {
        before: 160,
        behind: 50,
    };
    let window = PromptWindow::for_editor(&state("rust", &text), frame);
    assert!(window.text.starts_with("fn b()"), "{}", window.text);
}

#[test]
fn nothing_panics_at_the_ends() {
    for text in ["", "ˇ", "ä", "\n", "ä\r\nöˇ"] {
        for frame in [
            WindowLimits::Gap {
                before: 1,
                behind: 1,
            },
            WindowLimits::Rows {
                above: 3,
                below: 3,
                around: 3,
            },
            WindowLimits::Tokens {
                editable: 1,
                around: 1,
            },
        ] {
            let window = PromptWindow::for_editor(&state("rust", text), frame);
            assert!(window.editable.end <= window.text.len());
            assert!(window.editable.contains(&window.caret) || window.caret == window.editable.end);
            assert!(window.start <= ByteOffset(text.len()));
        }
    }
}
