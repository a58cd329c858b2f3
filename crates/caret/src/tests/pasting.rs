//! Tests copy, cut and paste.

use crate::clipboard::{CopiedText, PasteIndent, copy, cut, paste};
use crate::fixture::Fixture;

fn copied(marked: &str) -> CopiedText {
    Fixture::new(marked).with(copy).expect("something to copy")
}

#[track_caller]
fn check_paste(before: &str, copied: &CopiedText, indent: PasteIndent, after: &str) {
    let mut fixture = Fixture::new(before);
    let plan = fixture.with(|ctx| paste(ctx, copied, indent));
    fixture.apply(plan);
    assert_eq!(fixture.marked(), after);
}

/// Pastes with `PasteIndent::Fit` in a language.
#[track_caller]
fn check_fit(language: &str, before: &str, copied: &CopiedText, after: &str) {
    let mut fixture = Fixture::new(before).language(language);
    let plan = fixture.with(|ctx| paste(ctx, copied, PasteIndent::Fit));
    fixture.apply(plan);
    assert_eq!(fixture.marked(), after, "{language} {before:?}");
}

#[track_caller]
fn check_cut(before: &str, text: &str, after: &str) {
    let mut fixture = Fixture::new(before);
    let (copied, plan) = fixture.with(cut).expect("something to cut");
    fixture.apply(plan);
    assert_eq!(
        (copied.text().as_str(), fixture.marked().as_str()),
        (text, after)
    );
}

#[test]
fn what_is_copied() {
    assert_eq!(copied("a «bcˇ» d").text(), "bc");
    assert_eq!(copied("«aˇ» «bˇ»").text(), "a\nb");
    assert_eq!(copied("  aˇb\r\nc").text(), "  ab\r\n");
    assert_eq!(copied("aˇbˇ\ncˇ").text(), "ab\nc\n");
    assert!(Fixture::new("ˇ").with(copy).is_none());
    assert_eq!(copied("    «{\n    }ˇ»").pieces()[0].indent_cells, 4);
}

#[test]
fn what_is_cut() {
    check_cut("a «bcˇ» «ˇd»", "bc\nd", "a ˇ ˇ");
    check_cut("a\nbˇ\nc", "b\n", "a\nˇc");
    check_cut("a\r\nbˇ", "b\r\n", "aˇ");
    check_cut("aˇbˇ", "ab\n", "ˇ");
}

#[test]
fn pieces_go_to_their_carets() {
    let two = copied("«aˇ» «bcˇ»");
    check_paste("ˇ-«xˇ»", &two, PasteIndent::Keep, "aˇ-bcˇ");
    check_paste("ˇ", &two, PasteIndent::Keep, "a\nbcˇ");
    check_paste("ˇ-ˇ-ˇ", &two, PasteIndent::Keep, "a\nbcˇ-a\nbcˇ-a\nbcˇ");
    check_paste(
        "ˇ-ˇ",
        &CopiedText::plain("x\ny\n"),
        PasteIndent::Keep,
        "xˇ-yˇ",
    );
    check_paste(
        "ˇ\r\n",
        &CopiedText::plain("x\ny"),
        PasteIndent::Keep,
        "x\r\nyˇ\r\n",
    );
}

#[test]
fn whole_rows_go_above() {
    let row = copied("  aˇb\nc");
    check_paste("xˇy\nz", &row, PasteIndent::Keep, "  ab\nxˇy\nz");
    check_paste("«xˇ»y", &row, PasteIndent::Keep, "  ab\nˇy");
    check_fit("Rust", "x\n    yˇ", &row, "x\n    ab\n    yˇ");
    check_fit("Rust", "{\nˇ}", &row, "{\n    ab\nˇ}");
    let rows = copied("aˇ\nbˇ");
    check_paste("ˇx\nˇy", &rows, PasteIndent::Keep, "a\nˇx\nb\nˇy");
    check_paste("xˇ", &rows, PasteIndent::Keep, "a\nb\nxˇ");
}

#[test]
fn pasted_rows_fit_their_place() {
    let block = copied("    «if {\n        a\n\n    }ˇ»");
    check_fit("Rust", "ˇ", &block, "if {\n    a\n\n}ˇ");
    check_fit(
        "Rust",
        "        ˇ",
        &block,
        "        if {\n            a\n\n        }ˇ",
    );
    check_fit("Rust", "  x ˇ", &block, "  x if {\n      a\n\n  }ˇ");
    check_paste("ˇ", &block, PasteIndent::Keep, "if {\n        a\n\n    }ˇ");
    let foreign = CopiedText::plain("if {\n        a\n    }");
    check_fit("Rust", "  ˇ", &foreign, "  if {\n      a\n  }ˇ");
    let python = CopiedText::plain("def f():\n    pass");
    check_fit("Python", "    ˇ", &python, "    def f():\n        passˇ");
}

#[test]
fn rows_that_bring_their_indent_keep_it_at_column_zero() {
    let method = "    def m(self):\n        pass\n";
    for copied in [CopiedText::plain(method), copied(&format!("«{method}ˇ»"))] {
        let before = "class A:\n    x = 1\n\nˇ";
        check_fit(
            "Python",
            before,
            &copied,
            &format!("class A:\n    x = 1\n\n{method}ˇ"),
        );
        check_fit("Python", "ˇx = 1", &copied, &format!("{method}ˇx = 1"));
        check_fit("Python", "«    old\nˇ»y", &copied, &format!("{method}ˇy"));
        check_fit(
            "Python",
            "ˇ\nˇ\nˇ",
            &copied,
            &format!("{method}ˇ\n{method}ˇ\n{method}ˇ"),
        );
    }
    let stairs = CopiedText::plain("            a\n        b\n    c");
    check_fit("Rust", "ˇ", &stairs, "            a\n        b\n    cˇ");
    check_fit("Go", "ˇ", &CopiedText::plain("\t\ta\n\tb"), "\t\ta\n\tbˇ");
    check_fit(
        "Rust",
        "a\r\nˇ\r\n",
        &CopiedText::plain("    b {\r\n        c\r\n    }"),
        "a\r\n    b {\r\n        c\r\n    }ˇ\r\n",
    );
}

#[test]
fn no_row_moves_further_left_than_the_least_indented_one() {
    let stairs = CopiedText::plain("            a\n        b\n    c");
    check_fit("Rust", "  ˇ", &stairs, "        a\n    b\ncˇ");
    check_fit(
        "Rust",
        "x ˇ",
        &stairs,
        &format!("x {}a\n    b\ncˇ", " ".repeat(12)),
    );
    // The copy starts after the blanks of its first row, which is the deepest.
    let from_the_middle = copied("            «a\n        b\n    cˇ»");
    check_fit("Rust", "ˇ", &from_the_middle, "        a\n    b\ncˇ");
    let rows = copied("        aˇ\n    bˇ\n  cˇ");
    check_fit("Rust", "xˇ", &rows, "      a\n  b\nc\nxˇ");
}

#[test]
fn whole_rows_keep_their_indent_at_column_zero() {
    let row = copied("    def m(self): passˇ\n");
    check_fit(
        "Python",
        "class A:\nˇ\n",
        &row,
        "class A:\n    def m(self): pass\nˇ\n",
    );
    check_fit(
        "Python",
        "ˇx = 1\n",
        &row,
        "    def m(self): pass\nˇx = 1\n",
    );
    check_fit("Python", "xˇ = 1\n", &row, "def m(self): pass\nxˇ = 1\n");
}

#[test]
fn pasted_tabs_have_the_width_of_the_target() {
    let mut wide = Fixture::new("«\t\ta\n\tbˇ»").hard_tabs();
    wide.options.tab_width = 8;
    let copied = wide.with(copy).expect("something to copy");
    check_fit("Go", "ˇ", &copied, "\t\ta\n\tbˇ");
}

#[test]
fn languages_with_meaningful_blanks_paste_rows_unchanged() {
    let block = copied("    «a:\n        bˇ»");
    for language in ["Diff", "Make", "YAML", "Markdown"] {
        check_fit(language, "        ˇ", &block, "        a:\n        bˇ");
    }
    check_paste(
        "        ˇ",
        &block,
        PasteIndent::Fit,
        "        a:\n        bˇ",
    );
    let recipe = copied("«all:\n\tcc a.c\n\t\tcc b.cˇ»");
    check_fit("Make", "ˇ", &recipe, "all:\n\tcc a.c\n\t\tcc b.cˇ");
    check_fit("Make", "    ˇ", &recipe, "    all:\n\tcc a.c\n\t\tcc b.cˇ");
    let row = copied("\tcc a.cˇ\n");
    check_fit("Make", "x: yˇ\n", &row, "\tcc a.c\nx: yˇ\n");
}

#[test]
fn strings_and_comments_take_rows_as_they_were_copied() {
    let block = copied("    «a\n        bˇ»");
    let inside = "        a\n        bˇ";
    for (language, open, close) in [
        ("Python", "x = \"\"\"\n", "\n\"\"\"\n"),
        ("Rust", "/*\n", "\n*/\n"),
        ("Bash", "cat <<EOF\nx\n", "\nEOF\n"),
        ("JavaScript", "x = `\n", "\n`;\n"),
    ] {
        check_fit(
            language,
            &format!("{open}        ˇ{close}"),
            &block,
            &format!("{open}{inside}{close}"),
        );
    }
}

#[test]
fn metadata_brings_the_pieces_back() {
    for marked in [
        "«aˇ» «b\ncˇ»",
        "aˇ\nbˇ",
        "«äˇ»",
        "«a\nˇ»«bˇ»",
        "«\nˇ»«\nˇ»a",
    ] {
        let copied = copied(marked);
        let (text, metadata) = (copied.text(), copied.metadata());
        assert_eq!(
            CopiedText::from_parts(&text, Some(&metadata)),
            copied,
            "{marked}"
        );
        let other = format!("{text}x");
        assert_eq!(
            CopiedText::from_parts(&other, Some(&metadata)),
            CopiedText::plain(&other)
        );
    }
    for bad in [
        "",
        "burin-pieces 1",
        "burin-pieces 1;9 0 0",
        "burin-pieces 1;1 0",
        "burin-pieces 1;18446744073709551615 0 0;1 0 0",
        "x;1 0 0",
    ] {
        assert_eq!(
            CopiedText::from_parts("ä", Some(bad)),
            CopiedText::plain("ä"),
            "{bad}"
        );
    }
}
