//! Tests indentation, comments and blanks.

use crate::command::Command::{
    self, DeleteTrailingSpace, Indent, IndentWithSpaces, IndentWithTabs, Outdent, Tab,
    ToggleBlockComment, ToggleLineComment,
};
use crate::fixture::{Fixture, check};

#[test]
fn rows_shift_by_a_step() {
    check("aˇ\nb", Indent, "    aˇ\nb");
    check("  aˇ", Indent, "    aˇ");
    check("«a\n\n  bˇ»\nc", Indent, "«    a\n\n    bˇ»\nc");
    check("«a\nˇ»b", Indent, "«    a\nˇ»b");
    Fixture::new("«a\n bˇ»")
        .hard_tabs()
        .check(Indent, "«\ta\n\t bˇ»");
    check("ˇ\n", Indent, "    ˇ\n");
    check("      aˇ", Outdent, "    aˇ");
    check("    aˇ\n\t\tˇb", Outdent, "aˇ\n\tˇb");
    check("\t  ˇb", Outdent, "\tˇb");
    check("aˇ", Outdent, "aˇ");
    check("«    a\r\n\r\n  bˇ»\r\n", Outdent, "«a\r\n\r\nbˇ»\r\n");
    check("  \tˇa", Outdent, "ˇa");
}

#[test]
fn tab_fills_up_to_the_stop() {
    check("aˇb", Tab, "a   ˇb");
    check("ˇ", Tab, "    ˇ");
    check("ab«cˇ»d", Tab, "ab  ˇd");
    check("文ˇ", Tab, "文  ˇ");
    check("ˇa\nbcˇ", Tab, "    ˇa\nbc  ˇ");
    Fixture::new("aˇb").hard_tabs().check(Tab, "a\tˇb");
    check("«a\nbˇ»", Tab, "«    a\n    bˇ»");
}

#[test]
fn tab_indents_a_row_that_is_selected_whole() {
    check("  «abcˇ»\nd", Tab, "  «  abcˇ»\nd");
    check("«  abcˇ»", Tab, "«    abcˇ»");
    check("«ˇab c»  \nd", Tab, "«ˇ    ab c»  \nd");
    check("«ab\nˇ»c", Tab, "«    ab\nˇ»c");
    check("«aˇ»\nb\n«cˇ»", Tab, "«    aˇ»\nb\n«    cˇ»");
    check("a «bˇ»", Tab, "a   ˇ");
    check("«aˇ» b", Tab, "    ˇ b");
    check("«  ˇ»\n", Tab, "«    ˇ»\n");
    Fixture::new("«aˇ»").hard_tabs().check(Tab, "«\taˇ»");
}

#[track_caller]
fn in_language(name: &str, before: &str, command: Command, after: &str) {
    Fixture::new(before).language(name).check(command, after);
}

#[test]
fn rows_are_commented_out_and_in() {
    in_language("Rust", "fˇoo", ToggleLineComment, "// fˇoo");
    in_language("Rust", "// fˇoo", ToggleLineComment, "fˇoo");
    in_language("Rust", "//fooˇ", ToggleLineComment, "fooˇ");
    in_language(
        "Rust",
        "  «a\n\n    bˇ»\nc",
        ToggleLineComment,
        "  «// a\n\n  //   bˇ»\nc",
    );
    in_language(
        "Rust",
        "  // «a\n\n  //   bˇ»\nc",
        ToggleLineComment,
        "  «a\n\n    bˇ»\nc",
    );
    in_language("Rust", "«// a\nbˇ»", ToggleLineComment, "«// // a\n// bˇ»");
    in_language(
        "Rust",
        "«\ta\n\t\tbˇ»\n",
        ToggleLineComment,
        "«\t// a\n\t// \tbˇ»\n",
    );
    in_language(
        "Python",
        "aˇ\r\nbˇ\r\n",
        ToggleLineComment,
        "# aˇ\r\n# bˇ\r\n",
    );
    in_language("Rust", "ˇ", ToggleLineComment, "// ˇ");
    in_language("CSS", "  a: bˇ;", ToggleLineComment, "  /* a: bˇ; */");
    in_language("CSS", "  /* a: bˇ; */", ToggleLineComment, "  a: bˇ;");
    check("aˇ", ToggleLineComment, "aˇ");
}

#[test]
fn selections_are_commented_out_and_in() {
    in_language("Rust", "a «bˇ» c", ToggleBlockComment, "a /* «bˇ» */ c");
    in_language("Rust", "a /* «bˇ» */ c", ToggleBlockComment, "a «bˇ» c");
    in_language("Rust", "a «/* b */ˇ» c", ToggleBlockComment, "a «bˇ» c");
    in_language("Rust", "a /*bˇ*/ c", ToggleBlockComment, "a bˇ c");
    in_language("Rust", "a ˇ", ToggleBlockComment, "a /* ˇ */");
    in_language(
        "Rust",
        "«aˇ» «ˇb»",
        ToggleBlockComment,
        "/* «aˇ» */ /* «ˇb» */",
    );
}

#[test]
fn blanks() {
    check(
        "a  \r\n \t\r\nbˇ  \nc\t",
        DeleteTrailingSpace,
        "a\r\n\r\nbˇ\nc",
    );
    check("a \r b \nˇ", DeleteTrailingSpace, "a \r b\nˇ");
    check("aˇ\n", DeleteTrailingSpace, "aˇ\n");
    check("\t  aˇ\n  \tb", IndentWithSpaces, "      aˇ\n    b");
    check("      ˇa\n   b\n    c", IndentWithTabs, "\t  ˇa\n   b\n\tc");
    check(
        "\ta\n«\tb\n\tcˇ»\n",
        IndentWithSpaces,
        "\ta\n«    b\n    cˇ»\n",
    );
}

#[test]
fn tab_jumps_to_the_indentation_of_a_blank_row() {
    in_language(
        "Rust",
        "fn a() {\n    if b {\nˇ\n    }\n}\n",
        Tab,
        "fn a() {\n    if b {\n        ˇ\n    }\n}\n",
    );
    in_language(
        "Rust",
        "fn a() {\n    ˇ\n}\n",
        Tab,
        "fn a() {\n        ˇ\n}\n",
    );
}

#[test]
fn code_within_other_code_has_its_own_comments() {
    in_language(
        "HTML",
        "<script>\nletˇ a = 1;\n</script>\n",
        ToggleLineComment,
        "<script>\n// letˇ a = 1;\n</script>\n",
    );
    in_language(
        "HTML",
        "<p>ˇ</p>\n",
        ToggleLineComment,
        "<!-- <p>ˇ</p> -->\n",
    );
}

#[test]
fn jsx_has_comments_of_its_own() {
    for language in ["TSX", "JavaScript"] {
        let toggle = |before: &str, after: &str| {
            in_language(language, before, ToggleLineComment, after);
            in_language(language, after, ToggleLineComment, before);
        };
        toggle(
            "const a = (\n  <div>\n    <p>hiˇ</p>\n  </div>\n);\n",
            "const a = (\n  <div>\n    {/* <p>hiˇ</p> */}\n  </div>\n);\n",
        );
        toggle(
            "const a = <div>\n  some teˇxt\n</div>;\n",
            "const a = <div>\n  {/* some teˇxt */}\n</div>;\n",
        );
        toggle(
            "const a = <>\n  {bˇ}\n</>;\n",
            "const a = <>\n  {/* {bˇ} */}\n</>;\n",
        );
        toggle(
            "const a = <div>\n  «<p/>\n  <b/>ˇ»\n</div>;\n",
            "const a = <div>\n  «{/* <p/>\n  <b/> */}ˇ»\n</div>;\n",
        );
        toggle(
            "const a = (\n  <img\n    alt=\"xˇ\"\n    b\n  />\n);\n",
            "const a = (\n  <img\n    /* alt=\"xˇ\" */\n    b\n  />\n);\n",
        );
        toggle(
            "const a = <div>\n  {list.map((b) => {\n    call(ˇb);\n    return <i/>;\n  })}\n</div>;\n",
            "const a = <div>\n  {list.map((b) => {\n    // call(ˇb);\n    return <i/>;\n  })}\n</div>;\n",
        );
        toggle(
            "const a = <b on={() => {\n  call(ˇ);\n}} />;\n",
            "const a = <b on={() => {\n  // call(ˇ);\n}} />;\n",
        );
        toggle("const a = <div>ˇ</div>;\n", "// const a = <div>ˇ</div>;\n");
        in_language(
            language,
            "const a = <p>one «twoˇ»</p>;\n",
            ToggleBlockComment,
            "const a = <p>one {/* «twoˇ» */}</p>;\n",
        );
    }
}

#[test]
fn comments_in_what_is_commented_out_stay_whole() {
    in_language(
        "HTML",
        "<p>a</p> <!-- note --> <b>ˇ</b>\n",
        ToggleLineComment,
        "<!-- <p>a</p> --> <!-- note --> <!-- <b>ˇ</b> -->\n",
    );
    in_language(
        "CSS",
        "/* a: bˇ; */ /* c: d; */",
        ToggleLineComment,
        "a: bˇ; c: d;",
    );
    in_language(
        "TSX",
        "const a = <div>\n  <p /* b */ />ˇ\n</div>;\n",
        ToggleLineComment,
        "const a = <div>\n  <p /* b */ />ˇ\n</div>;\n",
    );
}

#[test]
fn fenced_code_and_styles_have_the_comments_of_their_language() {
    in_language(
        "Markdown",
        "```rust\nlet aˇ = 1;\n```\n",
        ToggleLineComment,
        "```rust\n// let aˇ = 1;\n```\n",
    );
    in_language(
        "Markdown",
        "```jsx\n<div>\n  <p>ˇ</p>\n</div>\n```\n",
        ToggleLineComment,
        "```jsx\n<div>\n  {/* <p>ˇ</p> */}\n</div>\n```\n",
    );
    in_language(
        "HTML",
        "<style>\n  a { bˇ: c; }\n</style>\n",
        ToggleLineComment,
        "<style>\n  /* a { bˇ: c; } */\n</style>\n",
    );
    in_language(
        "Markdown",
        "some worˇds\n",
        ToggleLineComment,
        "<!-- some worˇds -->\n",
    );
}
