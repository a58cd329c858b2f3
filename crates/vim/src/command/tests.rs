//! Tests of reading commands.

use super::{Action, NormalCommand, ObjectKind, Operator, Parse, ParseContext, VisualShape, parse};
use crate::key::Key;
use crate::motion::Motion;
use crate::object::TextObject;

const NORMAL: ParseContext = ParseContext {
    visual: None,
    tilde_operator: false,
    replace_with_register: false,
    is_recording: false,
};

fn read(keys: &str) -> Parse {
    parse(&Key::parse(keys, '\\'), NORMAL)
}

#[track_caller]
fn command(keys: &str) -> NormalCommand {
    match read(keys) {
        Parse::Command(command) => *command,
        other => panic!("{keys}: {other:?}"),
    }
}

#[test]
fn counts_multiply_and_registers_go_anywhere() {
    let found = command("2\"a3d4w");
    assert_eq!((found.register, found.count), (Some('a'), Some(24)));
    let found = command("2d\"b3w");
    assert_eq!((found.register, found.count), (Some('b'), Some(6)));
    assert_eq!(command("10x").count, Some(10));
    assert_eq!(command("0").action, Action::Motion(Motion::LineStart));
}

#[test]
fn doubled_operators_take_lines() {
    for keys in ["dd", "gUU", "gUgU", "gcc", "==", "yss)", "g??"] {
        assert_eq!(command(keys).action, Action::WholeLines, "{keys}");
    }
    assert_eq!(
        command("zF").action,
        Action::Fold(super::FoldAction::CreateLines)
    );
}

#[test]
fn shapes_are_forced_between_operator_and_motion() {
    let found = command("dVw");
    assert_eq!(found.force, Some(VisualShape::Lines));
    assert_eq!(found.operator, Some(Operator::Delete));
}

#[test]
fn objects_follow_operators_only() {
    let object = Action::Object {
        kind: ObjectKind::Text(TextObject::Word { is_big: false }),
        is_around: false,
    };
    assert_eq!(command("ciw").action, object);
    assert_eq!(read("ci"), Parse::Incomplete);
    assert_eq!(read("diz"), Parse::Invalid);
}

#[test]
fn unfinished_commands_wait() {
    for keys in [
        "", "\"", "\"a", "3", "d", "d2", "f", "g", "ysiw", "cs(", "ysiwtem", "f<C-k>a",
    ] {
        assert_eq!(read(keys), Parse::Incomplete, "{keys}");
    }
}

#[test]
fn unknown_commands_are_invalid() {
    for keys in ["dx", "d<Esc>", "\"<Esc>", "f<Esc>", "gz", "zZ", "ds5"] {
        assert_eq!(read(keys), Parse::Invalid, "{keys}");
    }
}
