//! Tests deletion.

use crate::command::Command::{self, Delete, DeleteRows};
use crate::fixture::{Fixture, check};
use crate::motion::Motion;

const BACKSPACE: Command = Delete(Motion::Left);

#[test]
fn one_character() {
    check("abˇ\ncˇ", BACKSPACE, "aˇ\nˇ");
    check("e\u{301}ˇx👩‍👩‍👧ˇ", BACKSPACE, "ˇxˇ");
    check("a\r\nˇb", BACKSPACE, "aˇb");
    check("ˇa", BACKSPACE, "ˇa");
    check("«abˇ»cˇd", BACKSPACE, "ˇd");
    check("ˇab\r\nˇ", Delete(Motion::Right), "ˇb\r\nˇ");
    check("aˇ\r\nb", Delete(Motion::Right), "aˇb");
    check("aˇ", Delete(Motion::Right), "aˇ");
    check("ˇ", BACKSPACE, "ˇ");
}

#[test]
fn indentation_goes_by_tab_stops() {
    check("        ˇa", BACKSPACE, "    ˇa");
    check("      ˇa", BACKSPACE, "    ˇa");
    check("  ˇ  a", BACKSPACE, "ˇ  a");
    check("\t  ˇa", BACKSPACE, "\tˇa");
    check("\tˇa", BACKSPACE, "ˇa");
    check("a    ˇb", BACKSPACE, "a   ˇb");
}

#[test]
fn pairs_go_together() {
    check("(ˇ)", BACKSPACE, "ˇ");
    check("\"ˇ\"", BACKSPACE, "ˇ");
    check("(ˇ]", BACKSPACE, "ˇ]");
    let mut fixture = Fixture::new("(ˇ)");
    fixture.options.auto_close = false;
    fixture.check(BACKSPACE, "ˇ)");
}

#[test]
fn word_deletion_takes_both_halves_of_an_empty_pair() {
    for motion in [Motion::WordLeft, Motion::SubwordLeft] {
        check("f(ˇ)", Delete(motion), "fˇ");
        check("\"ˇ\"", Delete(motion), "ˇ");
        check("a([ˇ])", Delete(motion), "a(ˇ)");
        check("f(aˇ)", Delete(motion), "f(ˇ)");
        check("f[ˇ)", Delete(motion), "fˇ)");
    }
    check("f(  ˇ)", Delete(Motion::WordLeft), "f(ˇ)");
    check("f( ˇ)", Delete(Motion::WordLeft), "fˇ");
    check("f(  ˇ)", Delete(Motion::SubwordLeft), "fˇ");
    check("  f([ˇ]) a", Delete(Motion::RowStart), "ˇ a");
    check("f(a[ˇ])", Delete(Motion::RowStart), "ˇ)");
    let mut fixture = Fixture::new("f(ˇ)");
    fixture.options.auto_close = false;
    fixture.check(Delete(Motion::WordLeft), "fˇ)");
}

#[test]
fn quotes_of_two_strings_are_no_pair() {
    check("\"a\"ˇ\"b\"", BACKSPACE, "\"aˇ\"b\"");
    check("\"\"\"ˇ\"\"\"", BACKSPACE, "\"\"ˇ\"\"");
    check("\"\"ˇ\"\"", BACKSPACE, "\"ˇ\"");
    check("«\"ˇ»\"", BACKSPACE, "ˇ\"");
}

#[test]
fn openers_of_several_characters_take_their_closer_along() {
    Fixture::new("a /*ˇ */")
        .language("Rust")
        .check(BACKSPACE, "a /ˇ");
    Fixture::new("<!--ˇ -->")
        .language("HTML")
        .check(BACKSPACE, "<!-ˇ");
}

#[test]
fn words_and_rows() {
    check("foo barˇ baz", Delete(Motion::WordLeft), "foo ˇ baz");
    check("foo   ˇbaz", Delete(Motion::WordLeft), "fooˇbaz");
    check("foo ˇbaz", Delete(Motion::WordLeft), "ˇbaz");
    check("ˇfoo bar", Delete(Motion::WordRight), "ˇ bar");
    check("aˇ   bar", Delete(Motion::WordRight), "aˇbar");
    check("a\r\nˇb", Delete(Motion::WordLeft), "aˇb");
    check("foo.barˇ.bazˇ", Delete(Motion::WordLeft), "foo.ˇ.ˇ");
    check("fooˇbarˇ", Delete(Motion::WordLeft), "ˇ");
    check("  abˇc", Delete(Motion::RowStart), "ˇc");
    check("a\nˇc", Delete(Motion::RowStart), "aˇc");
    check("aˇbc\nd", Delete(Motion::RowEnd), "aˇ\nd");
    check("aˇ\r\nd", Delete(Motion::RowEnd), "aˇd");
    check("a\nbˇc\nd", Delete(Motion::FileStart), "ˇc\nd");
    check("a\nbˇc\nd", Delete(Motion::FileEnd), "a\nbˇ");
}

#[test]
fn whole_rows() {
    check("abˇc\nde\nfg", DeleteRows, "deˇ\nfg");
    check("a\nbˇc", DeleteRows, "aˇ");
    check("ˇa", DeleteRows, "ˇ");
    check("ˇ", DeleteRows, "ˇ");
    check("a\nˇ", DeleteRows, "aˇ");
    check("ab\r\ncˇd\r\nef\r\n", DeleteRows, "ab\r\neˇf\r\n");
    check("«a\nbˇ»\ncd\neˇ\nf", DeleteRows, "cˇd\nfˇ");
    check("«a\nˇ»b", DeleteRows, "ˇb");
    check("aˇa\nb\ncˇc\nd", DeleteRows, "bˇ\ndˇ");
}
