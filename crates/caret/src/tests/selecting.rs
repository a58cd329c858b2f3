//! Tests multiple carets, occurrences, boxes and expanding of selections.

use base::ByteOffset;
use display::DisplayPoint;

use crate::clipboard::{PasteIndent, cut, paste};
use crate::column_box::ColumnBox;
use crate::command::Command::{
    AddCaretAbove, AddCaretBelow, BoxDown, BoxRight, BoxUp, CaretsAtRowEnds, CollapseCarets,
    Delete, ExpandSelection, Insert, Move, SelectAll, SelectAllOccurrences, SelectBetween,
    SelectBox, SelectInBrackets, SelectNextOccurrence, SelectPreviousOccurrence, SelectWord,
    ShrinkSelection, SkipOccurrence, SplitIntoRows, SwapEnds, ToggleCaret,
};
use crate::command::{Command, SelectionUnit};
use crate::fixture::{Fixture, check};
use crate::motion::Motion;

/// Runs commands in sequence and compares after each.
#[track_caller]
fn steps(before: &str, commands: &[(Command, &str)]) {
    let mut fixture = Fixture::new(before);
    for (command, after) in commands {
        fixture = fixture.check(command.clone(), after);
    }
}

#[test]
fn carets_are_added_above_and_below() {
    steps(
        "abc\nˇx\nabc",
        &[
            (AddCaretAbove, "ˇabc\nˇx\nabc"),
            (AddCaretBelow, "ˇabc\nˇx\nˇabc"),
        ],
    );
    steps(
        "abˇc\nx\nabc\n",
        &[
            (AddCaretBelow, "abˇc\nxˇ\nabc\n"),
            (AddCaretBelow, "abˇc\nxˇ\nabˇc\n"),
        ],
    );
    check("«abˇ»c\nabc", AddCaretBelow, "«abˇ»c\n«abˇ»c");
    check("a«ˇbc»\n\nabc", AddCaretBelow, "a«ˇbc»\nˇ\nabc");
    check("ˇa", AddCaretAbove, "ˇa");
    check("aˇ\n", AddCaretBelow, "aˇ\nˇ");
}

#[test]
fn occurrences() {
    steps(
        "foˇo food foo xfoo foo",
        &[
            (SelectNextOccurrence, "«fooˇ» food foo xfoo foo"),
            (SelectNextOccurrence, "«fooˇ» food «fooˇ» xfoo foo"),
            (SelectNextOccurrence, "«fooˇ» food «fooˇ» xfoo «fooˇ»"),
            (SelectNextOccurrence, "«fooˇ» food «fooˇ» xfoo «fooˇ»"),
            (Insert("a".into()), "aˇ food aˇ xfoo aˇ"),
        ],
    );
    steps(
        "«fooˇ» Foo food",
        &[(SelectNextOccurrence, "«fooˇ» Foo «fooˇ»d")],
    );
    steps(
        "foo fˇoo",
        &[
            (SelectNextOccurrence, "foo «fooˇ»"),
            (SelectNextOccurrence, "«fooˇ» «fooˇ»"),
        ],
    );
    steps(
        "a b a b aˇ",
        &[
            (SelectPreviousOccurrence, "a b a b «aˇ»"),
            (SelectPreviousOccurrence, "a b «aˇ» b «aˇ»"),
        ],
    );
    steps(
        "ˇa a a",
        &[
            (SelectNextOccurrence, "«aˇ» a a"),
            (SelectNextOccurrence, "«aˇ» «aˇ» a"),
            (SkipOccurrence, "«aˇ» a «aˇ»"),
        ],
    );
    check("fˇoo food foo", SelectAllOccurrences, "«fooˇ» food «fooˇ»");
    check(
        "«ˇfoo» food foo",
        SelectAllOccurrences,
        "«ˇfoo» «ˇfoo»d «ˇfoo»",
    );
    check("a ˇ b", SelectAllOccurrences, "a ˇ b");
    check(
        "«a\r\nˇ»b\r\na\r\nb",
        SelectAllOccurrences,
        "«a\r\nˇ»b\r\n«a\r\nˇ»b",
    );
    check("ˇ", SelectNextOccurrence, "ˇ");
}

#[test]
fn selections_are_split_and_collapsed() {
    check("«a\r\n\r\nbcˇ»d", SplitIntoRows, "«aˇ»\r\nˇ\r\n«bcˇ»d");
    check("«a\nbˇ»c\ndˇ", CaretsAtRowEnds, "aˇ\nbcˇ\ndˇ");
    steps(
        "«aˇ» «ˇb»",
        &[(CollapseCarets, "a «ˇb»"), (CollapseCarets, "a ˇb")],
    );
    check("«aˇ» «ˇb»", SwapEnds, "«ˇa» «bˇ»");
    check("aˇb", SelectAll, "«abˇ»");
    check(
        "foˇo ˇ",
        SelectWord,
        "«fooˇ» ˇ".replace("» ˇ", "»« ˇ»").as_str(),
    );
}

#[test]
fn pointers_select() {
    let between = |from, to, unit, keep_others| SelectBetween {
        from: ByteOffset(from),
        to: ByteOffset(to),
        unit,
        keep_others,
    };
    check(
        "ab cˇd\nef",
        between(1, 4, SelectionUnit::Character, false),
        "a«b cˇ»d\nef",
    );
    check(
        "ab cˇd\nef",
        between(4, 1, SelectionUnit::Word, false),
        "«ˇab cd»\nef",
    );
    check(
        "ab cd\nefˇ",
        between(1, 1, SelectionUnit::Word, false),
        "«abˇ» cd\nef",
    );
    check(
        "ab\ncd\neˇf",
        between(1, 4, SelectionUnit::Row, false),
        "«ab\ncd\nˇ»ef",
    );
    check(
        "ˇab cdˇ",
        between(3, 4, SelectionUnit::Character, true),
        "ˇab «cˇ»d",
    );
    check("ab ˇ", ToggleCaret(ByteOffset(1)), "aˇb ˇ");
    check("aˇb ˇ", ToggleCaret(ByteOffset(1)), "ab ˇ");
    check("aˇb", ToggleCaret(ByteOffset(1)), "aˇb");
}

#[test]
fn boxes_reach_past_row_ends() {
    let between = |from: (u32, u32), to: (u32, u32)| {
        SelectBox(ColumnBox {
            anchor: DisplayPoint::new(from.0, from.1),
            head: DisplayPoint::new(to.0, to.1),
        })
    };
    check(
        "ˇabcdef\nab\n\nabcdef",
        between((0, 2), (3, 4)),
        "ab«cdˇ»ef\nabˇ\n\nab«cdˇ»ef",
    );
    check(
        "ˇabcdef\nab\n\nabcdef",
        between((3, 4), (0, 2)),
        "ab«ˇcd»ef\nabˇ\n\nab«ˇcd»ef",
    );
    check("ˇab\n\nc", between((0, 10), (2, 12)), "abˇ\nˇ\ncˇ");
    steps(
        "aˇb\nabcd\n\nab",
        &[
            (BoxDown, "aˇb\naˇbcd\n\nab"),
            (BoxRight, "a«bˇ»\na«bˇ»cd\n\nab"),
            (BoxRight, "a«bˇ»\na«bcˇ»d\n\nab"),
            (BoxDown, "a«bˇ»\na«bcˇ»d\n\nab"),
            (BoxDown, "a«bˇ»\na«bcˇ»d\n\na«bˇ»"),
            (BoxUp, "a«bˇ»\na«bcˇ»d\n\nab"),
            (Move(Motion::Right), "abˇ\nabcˇd\n\nab"),
        ],
    );
}

#[test]
fn a_box_deletes_its_columns_and_joins_no_rows() {
    let select = |from: (u32, u32), to: (u32, u32)| {
        SelectBox(ColumnBox {
            anchor: DisplayPoint::new(from.0, from.1),
            head: DisplayPoint::new(to.0, to.1),
        })
    };
    let right = || Delete(Motion::Right);
    for delete in [right(), Delete(Motion::Left), Delete(Motion::WordRight)] {
        steps(
            "ˇabcdef\nab\n\nabcdef",
            &[
                (select((0, 2), (3, 4)), "ab«cdˇ»ef\nabˇ\n\nab«cdˇ»ef"),
                (delete, "abˇef\nabˇ\n\nabˇef"),
            ],
        );
    }
    steps(
        "ˇabcd\nab\n\nabc\nx",
        &[
            (select((0, 2), (3, 2)), "abˇcd\nabˇ\n\nabˇc\nx"),
            (right(), "abˇd\nabˇ\n\nabˇ\nx"),
            (right(), "abˇ\nabˇ\n\nabˇ\nx"),
            (right(), "abˇ\nabˇ\n\nabˇ\nx"),
        ],
    );
    let left = || Delete(Motion::Left);
    steps(
        "ˇab\r\n\r\nab",
        &[
            (select((0, 1), (2, 1)), "aˇb\r\n\r\naˇb"),
            (left(), "ˇb\r\n\r\nˇb"),
            (left(), "ˇb\r\n\r\nˇb"),
        ],
    );
    steps(
        "ˇab\n\nc",
        &[
            (select((0, 10), (2, 12)), "abˇ\nˇ\ncˇ"),
            (Delete(Motion::RowEnd), "abˇ\nˇ\ncˇ"),
            (Delete(Motion::WordLeft), "ˇ\nˇ\nˇ"),
            (Delete(Motion::WordLeft), "ˇ\nˇ\nˇ"),
        ],
    );
    // Several carets are not a box.
    check("abˇ\ncˇ\nd", right(), "abˇcˇd");
}

#[test]
fn cutting_a_box_keeps_the_short_rows() {
    let mut fixture = Fixture::new("ˇabcdef\nab\n\nabcdef");
    fixture.run(&SelectBox(ColumnBox {
        anchor: DisplayPoint::new(0, 2),
        head: DisplayPoint::new(3, 4),
    }));
    let (copied, plan) = fixture.with(cut).expect("something to cut");
    assert_eq!(copied.text(), "cd\ncd");
    fixture.apply(plan);
    assert_eq!(fixture.marked(), "abˇef\nabˇ\n\nabˇef");
    let plan = fixture.with(|ctx| paste(ctx, &copied, PasteIndent::Fit));
    fixture.apply(plan);
    assert_eq!(fixture.marked(), "abcdˇef\nabˇ\n\nabcdˇef");
    let (copied, _) = Fixture::new("«aˇ»b\ncˇ")
        .with(cut)
        .expect("something to cut");
    assert_eq!(copied.text(), "a");
}

#[test]
fn boxes_count_cells() {
    let between = |from: (u32, u32), to: (u32, u32)| {
        SelectBox(ColumnBox {
            anchor: DisplayPoint::new(from.0, from.1),
            head: DisplayPoint::new(to.0, to.1),
        })
    };
    check(
        "ˇ\tab\nabcdef\n文文文",
        between((0, 4), (2, 6)),
        "\t«abˇ»\nabcd«efˇ»\n文文«文ˇ»",
    );
}

#[test]
fn widening_and_back() {
    steps(
        "f(a, [bˇb])",
        &[
            (SelectInBrackets, "f(a, [«bbˇ»])"),
            (SelectInBrackets, "f(a, «[bb]ˇ»)"),
            (SelectInBrackets, "f(«a, [bb]ˇ»)"),
        ],
    );
    check("aˇ", SelectInBrackets, "aˇ");
    check("(ˇ)", SelectInBrackets, "(ˇ)");
    steps(
        "ab (foo bˇar) x\ny",
        &[
            (ExpandSelection, "ab (foo «barˇ») x\ny"),
            (ExpandSelection, "ab («foo barˇ») x\ny"),
            (ExpandSelection, "ab «(foo bar)ˇ» x\ny"),
            (ExpandSelection, "«ab (foo bar) xˇ»\ny"),
            (ExpandSelection, "«ab (foo bar) x\nyˇ»"),
            (ShrinkSelection, "«ab (foo bar) xˇ»\ny"),
            (ShrinkSelection, "ab «(foo bar)ˇ» x\ny"),
            (Move(Motion::Right), "ab (foo bar)ˇ x\ny"),
            (ShrinkSelection, "ab (foo bar)ˇ x\ny"),
        ],
    );
    steps("a", &[(ExpandSelection, "«aˇ»"), (ExpandSelection, "«aˇ»")]);
}
