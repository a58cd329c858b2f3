//! Tests of expansion: rows, indentation and choices.

use super::ExpansionOptions;
use crate::Snippet;

fn expand(body: &str, indent: &str, line_ending: &str) -> String {
    let options = ExpansionOptions {
        indent,
        indent_unit: "  ",
        line_ending,
        variable: &|name| (name == "ROWS").then(|| "a\n\tb".to_owned()),
    };
    Snippet::parse(body).expand(&options).text
}

#[test]
fn rows_take_the_indentation_of_the_caret() {
    assert_eq!(
        expand("if x {\n\t$0\n}", "    ", "\n"),
        "if x {\n      \n    }"
    );
    assert_eq!(expand("\ta\tb", "", "\n"), "  a\tb");
}

#[test]
fn rows_end_as_in_the_text() {
    assert_eq!(expand("a\nb\r\nc", "", "\r\n"), "a\r\nb\r\nc");
}

#[test]
fn values_of_several_rows_are_indented() {
    assert_eq!(expand("{$ROWS}", "  ", "\n"), "{a\n    b}");
}

#[test]
fn the_final_stop_comes_last_and_is_never_missing() {
    let numbers = |body: &str| -> Vec<u32> {
        let options = ExpansionOptions {
            indent: "",
            indent_unit: "",
            line_ending: "\n",
            variable: &|_| None,
        };
        let stops = Snippet::parse(body).expand(&options).stops;
        stops.iter().map(|stop| stop.number).collect()
    };
    assert_eq!(numbers("$2 $0 $1"), [1, 2, 0]);
    assert_eq!(numbers("a"), [0]);
}
