//! Tests the target of every motion.

use base::{ByteOffset, Row};

use super::Motion;
use crate::command::Command::{Delete, Move, Select};
use crate::fixture::{Fixture, check};

#[track_caller]
fn moves(motion: Motion, places: &[&str]) {
    for pair in places.windows(2) {
        check(pair[0], Move(motion), pair[1]);
    }
}

#[test]
fn by_graphemes() {
    moves(
        Motion::Right,
        &[
            "ˇae\u{301}文\r\nb",
            "aˇe\u{301}文\r\nb",
            "ae\u{301}ˇ文\r\nb",
            "ae\u{301}文ˇ\r\nb",
            "ae\u{301}文\r\nˇb",
            "ae\u{301}文\r\nbˇ",
            "ae\u{301}文\r\nbˇ",
        ],
    );
    moves(
        Motion::Left,
        &["a👩‍👩‍👧\nˇb", "a👩‍👩‍👧ˇ\nb", "aˇ👩‍👩‍👧\nb", "ˇa👩‍👩‍👧\nb", "ˇa👩‍👩‍👧\nb"],
    );
    moves(Motion::Right, &["ˇ", "ˇ"]);
    check("a«bcˇ»d", Move(Motion::Left), "aˇbcd");
    check("a«ˇbc»d", Move(Motion::Right), "abcˇd");
    check("ˇaˇbˇ", Move(Motion::Right), "aˇbˇ");
    check("ˇab", Select(Motion::Right), "«aˇ»b");
    check("«aˇ»b", Select(Motion::Left), "ˇab");
    check("a«ˇb»", Select(Motion::Left), "«ˇab»");
}

#[test]
fn by_words() {
    moves(
        Motion::WordRight,
        &[
            "ˇlet x_y = a.b;\n  c",
            "letˇ x_y = a.b;\n  c",
            "let x_yˇ = a.b;\n  c",
            "let x_y =ˇ a.b;\n  c",
            "let x_y = aˇ.b;\n  c",
            "let x_y = a.ˇb;\n  c",
            "let x_y = a.bˇ;\n  c",
            "let x_y = a.b;ˇ\n  c",
            "let x_y = a.b;\nˇ  c",
            "let x_y = a.b;\n  cˇ",
            "let x_y = a.b;\n  cˇ",
        ],
    );
    moves(
        Motion::WordLeft,
        &[
            "ab  cd\r\n\r\n  ˇ",
            "ab  cd\r\n\r\nˇ  ",
            "ab  cd\r\nˇ\r\n  ",
            "ab  cdˇ\r\n\r\n  ",
            "ab  ˇcd\r\n\r\n  ",
            "ˇab  cd\r\n\r\n  ",
            "ˇab  cd\r\n\r\n  ",
        ],
    );
    moves(
        Motion::WordRight,
        &[
            "ˇcafe\u{301} naïve 日本語x",
            "cafe\u{301}ˇ naïve 日本語x",
            "cafe\u{301} naïveˇ 日本語x",
            "cafe\u{301} naïve 日本語xˇ",
        ],
    );
    moves(
        Motion::WordLeft,
        &["x cafe\u{301}ˇ", "x ˇcafe\u{301}", "ˇx cafe\u{301}"],
    );
    moves(Motion::WordRight, &["ˇ🙂🙂 a", "🙂🙂ˇ a"]);
    moves(Motion::WordRight, &["aˇ   \nb", "a   ˇ\nb"]);
    Fixture::new("a-b ˇ")
        .language("CSS")
        .check(Move(Motion::WordLeft), "ˇa-b ");
}

#[test]
fn by_parts_of_words() {
    moves(
        Motion::SubwordRight,
        &[
            "ˇfooBar_baz HTTPServer2x",
            "fooˇBar_baz HTTPServer2x",
            "fooBarˇ_baz HTTPServer2x",
            "fooBar_bazˇ HTTPServer2x",
            "fooBar_baz HTTPˇServer2x",
            "fooBar_baz HTTPServer2xˇ",
        ],
    );
    moves(
        Motion::SubwordLeft,
        &[
            "__fooBar_baz HTTPServerˇ",
            "__fooBar_baz HTTPˇServer",
            "__fooBar_baz ˇHTTPServer",
            "__fooBar_ˇbaz HTTPServer",
            "__fooˇBar_baz HTTPServer",
            "__ˇfooBar_baz HTTPServer",
            "ˇ__fooBar_baz HTTPServer",
        ],
    );
    check("fooˇBar", Delete(Motion::SubwordRight), "fooˇ");
    check("foo_barˇ", Delete(Motion::SubwordLeft), "foo_ˇ");
}

#[test]
fn along_a_row() {
    moves(
        Motion::RowStart,
        &["\t  abˇc", "\t  ˇabc", "ˇ\t  abc", "\t  ˇabc"],
    );
    moves(Motion::RowStart, &["aˇ\n", "ˇa\n", "ˇa\n"]);
    moves(Motion::RowEnd, &["ˇab\r\ncd", "abˇ\r\ncd", "abˇ\r\ncd"]);
    check("abcˇ", Select(Motion::RowStart), "«ˇabc»");
    moves(Motion::FileStart, &["ab\ncˇd", "ˇab\ncd"]);
    moves(Motion::FileEnd, &["aˇb\ncd\n", "ab\ncd\nˇ"]);
    check("aˇb\ncˇd", Move(Motion::FileEnd), "ab\ncdˇ");
    check("a\n  b\nˇc", Move(Motion::Row(Row(1))), "a\n  ˇb\nc");
    check("a\nˇb", Move(Motion::Row(Row(99))), "a\nˇb");
    check("abˇc", Select(Motion::Offset(ByteOffset(0))), "«ˇab»c");
    check(
        "ˇe\u{301}",
        Move(Motion::Offset(ByteOffset(1))),
        "ˇe\u{301}",
    );
    check("ˇa", Move(Motion::Offset(ByteOffset(99))), "aˇ");
}

#[test]
fn by_rows() {
    moves(Motion::Down, &["abˇcd\nx\n\nabcd", "abcd\nxˇ\n\nabcd"]);
    let mut fixture = Fixture::new("abcˇd\nx\n\nabcd\n");
    fixture
        .run(&Move(Motion::Down))
        .run(&Move(Motion::Down))
        .run(&Move(Motion::Down));
    assert_eq!(fixture.marked(), "abcd\nx\n\nabcˇd\n");
    fixture
        .run(&Move(Motion::Left))
        .run(&Move(Motion::Up))
        .run(&Move(Motion::Up))
        .run(&Move(Motion::Up));
    assert_eq!(fixture.marked(), "abˇcd\nx\n\nabcd\n");
    check("aˇb\nc", Move(Motion::Up), "ˇab\nc");
    check("ab\ncˇd", Move(Motion::Down), "ab\ncdˇ");
    check("a«bc\ndˇ»e\nf", Move(Motion::Up), "ˇabc\nde\nf");
    check("a«bc\ndˇ»e\nfg", Move(Motion::Down), "abc\nde\nfˇg");
    check("abˇ\ncd\n", Select(Motion::Down), "ab«\ncdˇ»\n");
    check("abˇ\r\ncd\r\n", Move(Motion::Down), "ab\r\ncdˇ\r\n");
}

#[test]
fn by_rows_over_tabs_and_wide_characters() {
    check("\taˇb\nabcdefgh", Move(Motion::Down), "\tab\nabcdeˇfgh");
    check("文字ˇx\nabcdef", Move(Motion::Down), "文字x\nabcdˇef");
    check("abcˇd\n文字文", Move(Motion::Down), "abcd\n文ˇ字文");
    check("abcˇd\n\tx", Move(Motion::Down), "abcd\nˇ\tx");
}

#[test]
fn by_wrapped_rows() {
    let fixture = || Fixture::new("abˇcd efgh ijkl\nxy").wrap(5);
    let after = fixture().check(Move(Motion::Down), "abcd efˇgh ijkl\nxy");
    let after = after.check(Move(Motion::Down), "abcd efgh ijˇkl\nxy");
    let after = after.check(Move(Motion::DisplayRowStart), "abcd efgh ˇijkl\nxy");
    after.check(Move(Motion::DisplayRowEnd), "abcd efgh ijklˇ\nxy");
    fixture().check(Move(Motion::RowEnd), "abcd efgh ijklˇ\nxy");
    fixture().check(Move(Motion::DisplayRowEnd), "abcdˇ efgh ijkl\nxy");
}

#[test]
fn ends_of_wrapped_rows_come_before_ends_of_rows() {
    let steps = |motion, wrap, places: &[&str]| {
        for pair in places.windows(2) {
            Fixture::new(pair[0])
                .wrap(wrap)
                .check(Move(motion), pair[1]);
        }
    };
    steps(
        Motion::DisplayRowStart,
        5,
        &[
            " bcd efˇgh ijkl\nxy",
            " bcd ˇefgh ijkl\nxy",
            " ˇbcd efgh ijkl\nxy",
            "ˇ bcd efgh ijkl\nxy",
            " ˇbcd efgh ijkl\nxy",
        ],
    );
    steps(
        Motion::DisplayRowEnd,
        5,
        &[
            "x\nabˇcd efgh ijkl\nxy",
            "x\nabcdˇ efgh ijkl\nxy",
            "x\nabcd efgh ijklˇ\nxy",
            "x\nabcd efgh ijklˇ\nxy",
        ],
    );
    steps(
        Motion::DisplayRowStart,
        80,
        &["\t  abˇc", "\t  ˇabc", "ˇ\t  abc", "\t  ˇabc"],
    );
    check("  abcˇ", Select(Motion::DisplayRowStart), "  «ˇabc»");
    moves(
        Motion::DisplayRowEnd,
        &["ˇab\r\ncd", "abˇ\r\ncd", "abˇ\r\ncd"],
    );
    moves(Motion::DisplayRowStart, &["a\n  ˇ\nb", "a\nˇ  \nb"]);
}

#[test]
fn ends_of_folded_rows_are_those_of_their_line() {
    let fixture = |text: &str| Fixture::new(text).fold("\n    b", ";\n");
    fixture("  fˇ {\n    b;\n} y\nz").check(Move(Motion::DisplayRowEnd), "  f {\n    b;\n} yˇ\nz");
    fixture("  f {\n    b;\n} yˇ\nz")
        .check(Move(Motion::DisplayRowStart), "  ˇf {\n    b;\n} y\nz");
}

#[test]
fn over_folds() {
    let fixture = |text: &str| Fixture::new(text).fold("{\n", "b\n");
    fixture("aˇb {\na\nb\n}\ncd").check(Move(Motion::Down), "ab {\na\nb\n}\ncˇd");
    fixture("ab {\na\nb\n}\ncˇd").check(Move(Motion::Up), "aˇb {\na\nb\n}\ncd");
    fixture("ab ˇ{\na\nb\n}\ncd").check(Move(Motion::Right), "ab {\na\nb\nˇ}\ncd");
    fixture("ab {\na\nb\nˇ}\ncd").check(Move(Motion::Left), "ab ˇ{\na\nb\n}\ncd");
}

#[test]
fn by_paragraphs_and_pages() {
    moves(
        Motion::ParagraphDown,
        &["ˇa\nb\n \n\nc\nd", "a\nb\nˇ \n\nc\nd", "a\nb\n \n\nc\ndˇ"],
    );
    moves(
        Motion::ParagraphUp,
        &[
            "a\n\nb\n\n\ncˇ",
            "a\n\nb\n\nˇ\nc",
            "a\nˇ\nb\n\n\nc",
            "ˇa\n\nb\n\n\nc",
        ],
    );
    let rows = "a\n".repeat(30);
    check(
        &format!("ˇ{rows}"),
        Move(Motion::PageDown),
        &format!("{}ˇ{}", "a\n".repeat(9), "a\n".repeat(21)),
    );
    check(
        &format!("{rows}ˇ"),
        Move(Motion::HalfPageUp),
        &format!("{}ˇ{}", "a\n".repeat(25), "a\n".repeat(5)),
    );
    check(
        &format!("aˇ\n{rows}"),
        Move(Motion::PageUp),
        &format!("ˇa\n{rows}"),
    );
    check("ˇa\nb", Move(Motion::PageDown), "a\nˇb");
}

#[test]
fn between_brackets() {
    moves(
        Motion::MatchingBracket,
        &["fˇ(a[b])", "f(a[b]ˇ)", "fˇ(a[b])"],
    );
    check("f(a[b])ˇ", Move(Motion::MatchingBracket), "fˇ(a[b])");
    check("f(aˇ x[b])", Move(Motion::MatchingBracket), "f(a x[b]ˇ)");
    check("aˇ", Move(Motion::MatchingBracket), "aˇ");
    check("fˇ(a)b", Select(Motion::MatchingBracket), "f«(a)ˇ»b");
    check("fˇ(a)b", Delete(Motion::MatchingBracket), "fˇb");
    check("f(aˇbc)b", Delete(Motion::MatchingBracket), "f(aˇ)b");
    Fixture::new("fˇ(\")\")")
        .language("Rust")
        .check(Move(Motion::MatchingBracket), "f(\")\"ˇ)");
}

/// Compares paragraph motions over many pieces of the rope with a row-by-row search.
#[test]
fn paragraphs_equal_a_naive_search() {
    let mut seed = 0x5eed_u64;
    println!("seed {seed}");
    let mut text = String::new();
    for _ in 0..3_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        text.push_str(
            ["\n", "a long enough row\n", " \t\r\n", "b\r\n", "\n"][(seed >> 60) as usize % 5],
        );
    }
    let fixture = Fixture::new(&text);
    let rows: Vec<&str> = text.split_inclusive('\n').collect();
    let starts: Vec<usize> = rows
        .iter()
        .scan(0, |at, row| Some(std::mem::replace(at, *at + row.len())))
        .collect();
    let is_blank = |row: usize| rows[row].trim().is_empty();
    fixture.with(|ctx| {
        for row in (0..rows.len()).step_by(7) {
            let text_at = (row..rows.len()).find(|row| !is_blank(*row));
            let down =
                text_at.and_then(|at| (at.max(row + 1)..rows.len()).find(|row| is_blank(*row)));
            let down = down.map_or(text.len(), |row| starts[row]);
            let head = ByteOffset(starts[row]);
            assert_eq!(
                super::horizontal::paragraph_down(ctx, head).0,
                down,
                "row {row}"
            );
            let text_at = (0..=row).rev().find(|row| !is_blank(*row));
            let up = text_at.and_then(|at| (0..at.min(row)).rev().find(|row| is_blank(*row)));
            let up = up.map_or(0, |row| starts[row]);
            assert_eq!(
                super::horizontal::paragraph_up(ctx, head).0,
                up,
                "row {row}"
            );
        }
    });
}
