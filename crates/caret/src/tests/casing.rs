//! Tests changes of case and of the spelling of names.

use crate::command::Command::{
    CamelCase, KebabCase, LowerCase, PascalCase, ScreamingSnakeCase, SnakeCase, TitleCase,
    ToggleCase, UpperCase,
};
use crate::fixture::check;

#[test]
fn capitals() {
    check("a«bcˇ»d", UpperCase, "a«BCˇ»d");
    check("«ˇStraße»", UpperCase, "«ˇSTRASSE»");
    check("FOˇO bar", LowerCase, "fooˇ bar");
    check("fˇoˇo", UpperCase, "FOOˇ");
    check("«it's a äb-cˇ»", TitleCase, "«It's A Äb-Cˇ»");
    check("«aBßˇ»", ToggleCase, "«AbSSˇ»");
    check("a  ˇ  b", UpperCase, "a  ˇ  b");
    check("aˇ bˇ", UpperCase, "Aˇ Bˇ");
}

#[test]
fn names() {
    for name in [
        "fooBarBaz",
        "foo_bar_baz",
        "FooBarBaz",
        "foo-bar-baz",
        "FOO_BAR_BAZ",
        "foo bar baz",
    ] {
        let marked = format!("«{name}ˇ»");
        check(&marked, SnakeCase, "«foo_bar_bazˇ»");
        check(&marked, CamelCase, "«fooBarBazˇ»");
        check(&marked, PascalCase, "«FooBarBazˇ»");
        check(&marked, KebabCase, "«foo-bar-bazˇ»");
        check(&marked, ScreamingSnakeCase, "«FOO_BAR_BAZˇ»");
    }
    check(
        "« HTTPServer2\r\n  __aB;ˇ»",
        SnakeCase,
        "« http_server2\r\n  __a_b;ˇ»",
    );
    check("fooˇBar baz", SnakeCase, "foo_barˇ baz");
    check("« ;ˇ»", SnakeCase, "« ;ˇ»");
}
