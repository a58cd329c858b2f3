//! Tests of registers.

use super::{CaretSlot, RegisterShape, RegisterText, Registers};

const ONLY: CaretSlot = CaretSlot { ix: 0, count: 1 };

fn chars(text: &str) -> RegisterText {
    RegisterText::new(text, RegisterShape::Chars)
}

fn lines(text: &str) -> RegisterText {
    RegisterText::new(text, RegisterShape::Lines)
}

#[test]
fn upper_case_appends_and_lines_win() {
    let mut registers = Registers::default();
    registers.write('a', ONLY, chars("x"));
    registers.write('A', ONLY, chars("y"));
    assert_eq!(registers.read('a', ONLY), Some(chars("xy")));
    registers.write('A', ONLY, lines("z"));
    assert_eq!(registers.read('a', ONLY), Some(lines("xy\nz")));
    registers.write('A', ONLY, chars("w"));
    assert_eq!(registers.read('a', ONLY), Some(lines("xy\nz\nw")));
}

#[test]
fn deletions_shift_the_numbered_registers() {
    let mut registers = Registers::default();
    for text in ["a", "b", "c"] {
        registers.write_numbered(ONLY, lines(text));
    }
    let read = |name| registers.read(name, ONLY).map(|text| text.text);
    assert_eq!(read('1').as_deref(), Some("c"));
    assert_eq!(read('3').as_deref(), Some("a"));
    assert_eq!(read('"').as_deref(), Some("c"));
}

#[test]
fn each_caret_reads_its_own_text() {
    let mut registers = Registers::default();
    for (ix, text) in ["a", "b"].into_iter().enumerate() {
        registers.write('0', CaretSlot { ix, count: 2 }, chars(text));
    }
    let second = CaretSlot { ix: 1, count: 2 };
    assert_eq!(registers.read('0', second), Some(chars("b")));
    assert_eq!(registers.read('0', ONLY), Some(chars("a\nb")));
}

#[test]
fn another_clipboard_text_replaces_the_register() {
    let mut registers = Registers::default();
    let block = RegisterText::new("a\nb", RegisterShape::Block(1));
    let flat = registers.write_mirrored('+', ONLY, block.clone());
    assert_eq!(flat, "a\nb");
    assert_eq!(registers.read_mirrored('+', ONLY, &flat), block);
    assert_eq!(registers.read_mirrored('+', ONLY, "x\n"), lines("x"));
}
