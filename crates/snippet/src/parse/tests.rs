//! Tests of the parser: constructs and malformed text.

use crate::{ExpansionOptions, Snippet};

/// Expands `body` without variables but `NAME` with the value `value`, and marks each tab stop:
/// `[1:text]`.
fn marked(body: &str) -> String {
    let variable = |name: &str| (name == "NAME").then(|| "value".to_owned());
    let expansion = Snippet::parse(body).expand(&ExpansionOptions {
        indent: "",
        indent_unit: "    ",
        line_ending: "\n",
        variable: &variable,
    });
    let stops = expansion.stops.iter();
    let ranges = stops.flat_map(|stop| stop.occurrences.iter().map(|it| (stop.number, &it.range)));
    // By offset; there, ranges that end come first, the inner one before the outer one.
    let mut marks: Vec<(usize, u8, usize, String)> = Vec::new();
    for (number, range) in ranges {
        if range.is_empty() {
            marks.push((range.start, 1, 0, format!("[{number}:]")));
        } else {
            marks.push((range.end, 0, usize::MAX - range.start, "]".to_owned()));
            marks.push((
                range.start,
                2,
                usize::MAX - range.end,
                format!("[{number}:"),
            ));
        }
    }
    marks.sort();
    let mut marked = String::new();
    let mut end = 0;
    for (at, _, _, mark) in marks {
        marked.push_str(&expansion.text[end..at]);
        marked.push_str(&mark);
        end = at;
    }
    marked + &expansion.text[end..]
}

fn check(body: &str, expected: &str) {
    assert_eq!(marked(body), expected, "{body}");
}

#[test]
fn tab_stops_are_found_with_their_defaults() {
    check("a$1b", "a[1:]b[0:]");
    check("a${1}b$0c", "a[1:]b[0:]c");
    check(
        "for ${1:i} in ${2:0}..$3 {$0}",
        "for [1:i] in [2:0]..[3:] {[0:]}",
    );
    check("${1:a${2:b}c}", "[1:a[2:b]c][0:]");
    check("${1|one,two\\, three|}", "[1:one][0:]");
}

#[test]
fn repeated_tab_stops_take_the_default() {
    check("$1 ${1:a} $1", "[1:a] [1:a] [1:a][0:]");
    check("${1:a $1 b}", "[1:a [1:] b][0:]");
    check("${1:x} ${1/x/y/}", "[1:x] [1:y][0:]");
}

#[test]
fn variables_take_their_value_or_their_default() {
    check("$NAME ${NAME} ${NAME:no}", "value value value[0:]");
    check("${OTHER:default} $OTHER.", "default .[0:]");
    check("${OTHER:${1:stop}}", "[1:stop][0:]");
    check("${NAME/(v)(.*)/$2${1:/upcase}/}", "alueV[0:]");
    check("${NAME/x/${1:-no match}/}", "no match[0:]");
    check("${NAME/(x)?/${1:?with:without}/}", "withoutvalue[0:]");
    check("${NAME/[ae]/_/g}", "v_lu_[0:]");
}

#[test]
fn escapes_stand_for_their_character_alone() {
    check(r"\$1 \} \\ \n \x", "$1 } \\ \\n \\x[0:]");
    check(r"${1:a\}b}", "[1:a}b][0:]");
}

#[test]
fn malformed_constructs_are_text() {
    check("$", "$[0:]");
    check("$ ${ ${1 ${1", "$ ${ ${1 ${1[0:]");
    check("${1:a ${2:b}", "${1:a [2:b][0:]");
    check("${1|a,b}", "${1|a,b}[0:]");
    check("${1/a}", "${1/a}[0:]");
    check("}", "}[0:]");
    check("$99999999999", "$99999999999[0:]");
}

#[test]
fn deep_and_repeating_snippets_stay_small() {
    let deep = "${1:".repeat(100_000);
    assert_eq!(marked(&deep).len(), deep.len() + "[0:]".len());
    let doubling: String = (1..60)
        .map(|number| format!("${{{number}:${}${}}}", number + 1, number + 1))
        .collect();
    assert!(marked(&(doubling + "${60:text}")).len() < 64 << 20);
}
