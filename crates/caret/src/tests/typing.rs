//! Tests typed text and new rows.

use crate::command::Command::{self, Insert, InsertLiteral, Newline, NewlineAbove, NewlineBelow};
use crate::fixture::{Fixture, check};

fn typed(text: &str) -> Command {
    Insert(text.to_owned())
}

#[track_caller]
fn rust(before: &str, text: &str, after: &str) {
    Fixture::new(before)
        .language("Rust")
        .check(typed(text), after);
}

#[test]
fn text_goes_in_at_every_caret() {
    check("ˇaˇ\nˇ", typed("x"), "xˇaxˇ\nxˇ");
    check("«aˇ»b«ˇc»", typed("xy"), "xyˇbxyˇ");
    check("ˇ", typed("日本"), "日本ˇ");
    check("«aˇ»«bˇ»", InsertLiteral("(".into()), "(ˇ(ˇ");
    check("aˇ", typed("\u{301}"), "a\u{301}ˇ");
    check("ˇ\u{301}", typed("a"), "a\u{301}ˇ");
}

#[test]
fn brackets_and_quotes_close_themselves() {
    check("ˇ", typed("("), "(ˇ)");
    check("aˇ\nˇ b", typed("["), "a[ˇ]\n[ˇ] b");
    check("ˇa", typed("("), "(ˇa");
    check("fˇ)", typed("("), "f(ˇ))");
    check("ˇ", typed("\""), "\"ˇ\"");
    check("aˇ", typed("\""), "a\"ˇ");
    check("f(ˇ)", typed("\""), "f(\"ˇ\")");
    check("\"abˇ", typed("\""), "\"ab\"ˇ");
    check("\"ˇ\"", typed("\""), "\"\"ˇ");
    check("(ˇ)", typed(")"), "()ˇ");
    check("ˇ\"a\"", typed("\""), "\"ˇ\"a\"");
    check("\"a\\ˇ\"", typed("\""), "\"a\\\"ˇ\"");
    let mut fixture = Fixture::new("ˇ");
    fixture.options.auto_close = false;
    fixture.check(typed("("), "(ˇ");
}

#[test]
fn in_strings_and_comments_quotes_do_not_close() {
    rust("let a = ˇ;", "\"", "let a = \"ˇ\";");
    rust("// it ˇ", "\"", "// it \"ˇ");
    rust("let a = \"x ˇ y\";", "'", "let a = \"x 'ˇ y\";");
}

#[test]
fn selections_are_surrounded() {
    check("«abˇ» «ˇc»", typed("("), "(«abˇ») («ˇc»)");
    check("«abˇ» ˇc", typed("\""), "\"«abˇ»\" \"ˇc");
    check("«aˇ»", typed("x"), "xˇ");
    let mut fixture = Fixture::new("«aˇ»");
    fixture.options.auto_surround = false;
    fixture.check(typed("("), "(ˇ");
}

#[test]
fn a_quote_typed_over_a_quote_takes_its_place() {
    let javascript = |before: &str, text: &str, after: &str| {
        Fixture::new(before)
            .language("JavaScript")
            .check(typed(text), after);
    };
    javascript("a = «'ˇ»b'", "\"", "a = \"ˇb'");
    javascript("a = «ˇ\"»b«\"ˇ»", "`", "a = `ˇb`ˇ");
    javascript("a = 'b«'ˇ»", "'", "a = 'b'ˇ");
    javascript("«'ˇ» «bˇ»", "\"", "\"ˇ \"«bˇ»\"");
    javascript("«'a'ˇ»", "\"", "\"«'a'ˇ»\"");
    javascript("«'ˇ»", "(", "(«'ˇ»)");
    javascript("«(ˇ»", "\"", "\"«(ˇ»\"");
    check("«'ˇ»", typed("\""), "\"ˇ");
}

#[track_caller]
fn typed_in(language: &str, before: &str, text: &str, after: &str) {
    Fixture::new(before)
        .language(language)
        .check(typed(text), after);
}

#[test]
fn quotes_close_an_open_string_and_stand_alone_in_it() {
    check("say \"it is ˇ", typed("\""), "say \"it is \"ˇ");
    check("\"one\ntwo ˇ", typed("\""), "\"one\ntwo \"ˇ");
    check("\"one\n\ntwo ˇ", typed("\""), "\"one\n\ntwo \"ˇ\"");
    check("a \"b\" c ˇ", typed("\""), "a \"b\" c \"ˇ\"");
    check("don't say ˇ", typed("\""), "don't say \"ˇ\"");
    check("a\\ˇ", typed("\""), "a\\\"ˇ");
    typed_in("JavaScript", "a = \"it ˇ", "'", "a = \"it 'ˇ");
    typed_in("JavaScript", "a = \"it's ˇ", "\"", "a = \"it's \"ˇ");
    typed_in("JavaScript", "a = 'say ˇ", "\"", "a = 'say \"ˇ");
    typed_in("JavaScript", "a = b.c(/'/, ˇ)", "\"", "a = b.c(/'/, \"ˇ\")");
    typed_in("JavaScript", "a = `b ${ˇ} c`;", "'", "a = `b ${'ˇ'} c`;");
    typed_in("JavaScript", "a = `b\n  c ˇ`;", "`", "a = `b\n  c `ˇ;");
    typed_in("Python", "a = f\"b {ˇ}\"", "'", "a = f\"b {'ˇ'}\"");
    let markdown = "He said \"one\ntwo ˇ\n";
    typed_in("Markdown", markdown, "\"", "He said \"one\ntwo \"ˇ\n");
    let rust = "let a = \"b\n  c ˇ\";";
    typed_in("Rust", rust, "\"", "let a = \"b\n  c \"ˇ;");
}

#[test]
fn quotes_are_not_doubled_in_unclosed_strings_of_several_rows() {
    for (language, before, text) in [
        ("Rust", "fn a() {\n    let b = \"c\n    d ˇ", "\""),
        ("Rust", "fn a() {\n    let b = \"c\n    d ˇ\n}\n", "\""),
        ("JavaScript", "let a = `b\n  c ˇ", "`"),
        ("JavaScript", "let a = `b\n  c ˇ\n", "\""),
        ("Python", "def a():\n    \"\"\"b\n    c ˇ", "\""),
        ("Python", "def a():\n    \"\"\"b\n    c\n    \"\"ˇ\n", "\""),
        ("Python", "x = \"\"\"b\n\nc ˇ\n", "'"),
        ("Bash", "echo \"a\nb ˇ\n", "\""),
        ("Bash", "echo 'a\nb ˇ\n", "'"),
        ("Go", "package a\n\nvar b = `c\n\td ˇ\n", "`"),
        ("Ruby", "a = \"b\nc ˇ\n", "\""),
        ("TOML", "a = \"\"\"\nb ˇ\n", "\""),
        ("Markdown", "```rust\nfn a() {}\n\n``ˇ\n", "`"),
    ] {
        let after = before.replace('ˇ', &format!("{text}ˇ"));
        typed_in(language, before, text, &after);
    }
}

#[test]
fn several_quotes_close_themselves_too() {
    typed_in("Python", "a = \"\"ˇ", "\"", "a = \"\"\"ˇ\"\"\"");
    typed_in("Python", "a = f\"\"ˇ", "\"", "a = f\"\"\"ˇ\"\"\"");
    typed_in("Python", "a = \"\"\"b\"\"ˇ", "\"", "a = \"\"\"b\"\"\"ˇ");
    typed_in("Markdown", "``ˇ\n", "`", "```ˇ```\n");
    typed_in("Markdown", "a ˇ\n", "`", "a `ˇ`\n");
    typed_in("Markdown", "a `bˇ` c\n", "`", "a `b`ˇ c\n");
    typed_in("Markdown", "don't sayˇ\n", "'", "don't say'ˇ\n");
}

#[test]
fn a_closing_bracket_that_is_missing_goes_in() {
    check("f(g(ˇ)", typed(")"), "f(g()ˇ)");
    check("f(g(ˇ))", typed(")"), "f(g()ˇ)");
    check("f(g(ˇ)\n)", typed(")"), "f(g()ˇ\n)");
    check(":(\ng(ˇ)", typed(")"), ":(\ng()ˇ");
    check("[ˇ]", typed("]"), "[]ˇ");
    check("(«aˇ») «bˇ»", typed(")"), "()ˇ) )ˇ");
}

#[test]
fn a_closing_bracket_goes_back_to_its_opener() {
    check("  if {\n        ˇ", typed("}"), "  if {\n  }ˇ");
    check("if {\n    aˇ", typed("}"), "if {\n    a}ˇ");
    check("    ˇ", typed("}"), "    }ˇ");
    check("a(\n    b[\n        ˇ", typed(")"), "a(\n    b[\n)ˇ");
}

#[test]
fn new_rows_keep_the_indentation() {
    check("  abˇ", Newline, "  ab\n  ˇ");
    check("\tabˇcd", Newline, "\tab\n\tˇcd");
    check("  aˇ   b", Newline, "  a\n  ˇb");
    check("  «aˇ»b", Newline, "\n  ˇb");
    check("aˇ\r\nb", Newline, "a\r\nˇ\r\nb");
    check("    ˇ\nx", Newline, "\n    ˇ\nx");
    check("ˇ    a", Newline, "\nˇ    a");
    check("  ˇ  a", Newline, "\n  ˇ  a");
    check("ˇ", Newline, "\nˇ");
    check("aˇ\nbˇ", Newline, "a\nˇ\nb\nˇ");
}

#[test]
fn brackets_open_a_block() {
    check("  f {ˇ}", Newline, "  f {\n      ˇ\n  }");
    check("f(ˇ", Newline, "f(\n    ˇ");
    Fixture::new("f {ˇ }")
        .hard_tabs()
        .check(Newline, "f {\n\tˇ\n}");
    check("f {ˇ}\r\n", Newline, "f {\r\n    ˇ\r\n}\r\n");
    let mut fixture = Fixture::new("f {ˇ}");
    fixture.options.smart_indent = false;
    fixture.check(Newline, "f {\nˇ}");
    Fixture::new("fn a() {\n    if b {ˇ}\n}\n")
        .language("Rust")
        .check(Newline, "fn a() {\n    if b {\n        ˇ\n    }\n}\n");
}

#[test]
fn comments_and_lists_go_on() {
    let rust = |before: &str, after: &str| {
        Fixture::new(before).language("Rust").check(Newline, after);
    };
    rust("/// aˇ\nfn b() {}", "/// a\n/// ˇ\nfn b() {}");
    rust("    //! aˇb", "    //! a\n    //! ˇb");
    rust("/// a\n///ˇ\n", "/// a\nˇ\n");
    rust("/// a\n/// ˇ\n", "/// a\nˇ\n");
    rust("/**ˇ*/\n", "/**\n * ˇ\n */\n");
    rust("/**\n * aˇ\n */\n", "/**\n * a\n * ˇ\n */\n");
    let markdown = |before: &str, after: &str| {
        Fixture::new(before)
            .language("Markdown")
            .check(Newline, after);
    };
    markdown("- aˇ\n", "- a\n- ˇ\n");
    markdown("9. aˇ", "9. a\n10. ˇ");
    markdown("  * [x] aˇ", "  * [x] a\n  * [ ] ˇ");
    markdown("- a\n- ˇ", "- a\nˇ");
    markdown("> aˇ", "> a\n> ˇ");
    let mut fixture = Fixture::new("/// aˇ").language("Rust");
    fixture.options.continue_comments = false;
    fixture.check(Newline, "/// a\nˇ");
}

#[test]
fn rows_open_above_and_below() {
    check("  aˇb\nc", NewlineBelow, "  ab\n  ˇ\nc");
    check("  aˇb\nc", NewlineAbove, "  ˇ\n  ab\nc");
    check("ˇ", NewlineAbove, "ˇ\n");
    check("ˇ", NewlineBelow, "\nˇ");
    check("aˇ {\r\nb", NewlineBelow, "a {\r\n    ˇ\r\nb");
    check("«a\nbˇ»\n", NewlineBelow, "a\nb\nˇ\n");
}

#[test]
fn words_that_end_a_block_move_out() {
    let python = |before: &str, text: &str, after: &str| {
        Fixture::new(before)
            .language("Python")
            .check(typed(text), after);
    };
    python("if a:\n    b\n    elseˇ", ":", "if a:\n    b\nelse:ˇ");
    python("if a:\n    b\nelseˇ", ":", "if a:\n    b\nelse:ˇ");
    python("if a:\n    b\n    elseˇ", "x", "if a:\n    b\n    elsexˇ");
    python(
        "if a:\n    b\n    x elseˇ",
        ":",
        "if a:\n    b\n    x else:ˇ",
    );
    let ruby = |before: &str, after: &str| {
        Fixture::new(before).language("Ruby").check(Newline, after);
    };
    ruby("def a\n    b\n    endˇ\n", "def a\n    b\nend\nˇ\n");
}

#[test]
fn pasted_line_feeds_become_the_texts_own() {
    check(
        "a\r\nˇ",
        InsertLiteral("x\ny\r\n".into()),
        "a\r\nx\r\ny\r\nˇ",
    );
    check("  aˇ", typed("\n"), "  a\n  ˇ");
}
