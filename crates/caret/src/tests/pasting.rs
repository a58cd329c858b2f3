//! Copy, cut and paste.

use crate::clipboard::{Copied, PasteIndent, copy, cut, paste};
use crate::fixture::Fixture;

fn copied(marked: &str) -> Copied {
    Fixture::new(marked).with(copy).expect("something to copy")
}

#[track_caller]
fn check_paste(before: &str, copied: &Copied, indent: PasteIndent, after: &str) {
    let mut fixture = Fixture::new(before);
    let plan = fixture.with(|ctx| paste(ctx, copied, indent));
    fixture.apply(plan);
    assert_eq!(fixture.marked(), after);
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
    check_paste("ˇ-ˇ", &Copied::plain("x\ny\n"), PasteIndent::Keep, "xˇ-yˇ");
    check_paste(
        "ˇ\r\n",
        &Copied::plain("x\ny"),
        PasteIndent::Keep,
        "x\r\nyˇ\r\n",
    );
}

#[test]
fn whole_rows_go_above() {
    let row = copied("  aˇb\nc");
    check_paste("xˇy\nz", &row, PasteIndent::Keep, "  ab\nxˇy\nz");
    check_paste("«xˇ»y", &row, PasteIndent::Keep, "  ab\nˇy");
    check_paste("x\n    yˇ", &row, PasteIndent::Fit, "x\n    ab\n    yˇ");
    check_paste("{\nˇ}", &row, PasteIndent::Fit, "{\n    ab\nˇ}");
    let rows = copied("aˇ\nbˇ");
    check_paste("ˇx\nˇy", &rows, PasteIndent::Keep, "a\nˇx\nb\nˇy");
    check_paste("xˇ", &rows, PasteIndent::Keep, "a\nb\nxˇ");
}

#[test]
fn pasted_rows_fit_their_place() {
    let block = copied("    «if {\n        a\n\n    }ˇ»");
    check_paste("ˇ", &block, PasteIndent::Fit, "if {\n    a\n\n}ˇ");
    check_paste(
        "        ˇ",
        &block,
        PasteIndent::Fit,
        "        if {\n            a\n\n        }ˇ",
    );
    check_paste(
        "  x ˇ",
        &block,
        PasteIndent::Fit,
        "  x if {\n      a\n\n  }ˇ",
    );
    check_paste("ˇ", &block, PasteIndent::Keep, "if {\n        a\n\n    }ˇ");
    let whole = copied("«    if {\n        a\n    }ˇ»");
    check_paste("ˇ", &whole, PasteIndent::Fit, "if {\n    a\n}ˇ");
    let foreign = Copied::plain("if {\n        a\n    }");
    check_paste("  ˇ", &foreign, PasteIndent::Fit, "  if {\n      a\n  }ˇ");
    let python = Copied::plain("def f():\n    pass");
    check_paste(
        "    ˇ",
        &python,
        PasteIndent::Fit,
        "    def f():\n        passˇ",
    );
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
            Copied::from_parts(&text, Some(&metadata)),
            copied,
            "{marked}"
        );
        let other = format!("{text}x");
        assert_eq!(
            Copied::from_parts(&other, Some(&metadata)),
            Copied::plain(&other)
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
            Copied::from_parts("ä", Some(bad)),
            Copied::plain("ä"),
            "{bad}"
        );
    }
}
