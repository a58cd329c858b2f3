//! Tests of Markdown documents.

use super::{BlockKind, InlineText, ListMarker, MAX_BLOCKS, MarkdownDocument, MarkdownError};

fn parse(text: &str) -> MarkdownDocument {
    MarkdownDocument::parse(text).expect("within limits")
}

/// Returns a text with its styles as marks: `*` strong, `/` emphasis, `~` struck, `` ` `` code, `<target>` a link.
fn marked(text: &InlineText) -> String {
    let mut shown = String::new();
    let mut at = 0;
    for span in &text.spans {
        shown.push_str(&text.text[at..span.range.start]);
        at = span.range.end;
        let style = span.style;
        let marks = [
            (style.is_strong, "*"),
            (style.is_emphasis, "/"),
            (style.is_struck, "~"),
            (style.is_code, "`"),
        ];
        let marks: String = marks
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, it)| *it)
            .collect();
        shown.push_str(&marks);
        shown.push_str(&text.text[span.range.clone()]);
        shown.extend(marks.chars().rev());
        if let Some(link) = style.link {
            shown.push_str(&format!("<{}>", text.links[link]));
        }
    }
    shown.push_str(&text.text[at..]);
    shown.replace('\n', "\\n")
}

/// Checks the blocks of a text, one per line: rows, containers, content.
fn check(text: &str, expected: &[&str]) {
    let document = parse(text);
    let lines = document.blocks().iter().map(|block| {
        let marker = match &block.marker {
            None => String::new(),
            Some(ListMarker::Bullet) => "- ".to_owned(),
            Some(ListMarker::Number(number)) => format!("{number}. "),
            Some(ListMarker::Task(is_done)) => format!("[{}] ", if *is_done { "x" } else { " " }),
            Some(ListMarker::Footnote(name)) => format!("^{name} "),
        };
        let content = match &block.kind {
            BlockKind::Heading {
                level,
                text,
                anchor,
            } => {
                format!("h{level} {} #{anchor}", marked(text))
            }
            BlockKind::Paragraph(text) => format!("p {}", marked(text)),
            BlockKind::Images(images) => {
                let images = images.iter().map(|it| {
                    let link = it.link.as_ref().map(|it| format!("<{it}>"));
                    format!("{}={}{}", it.alt, it.target, link.unwrap_or_default())
                });
                format!("img {}", images.collect::<Vec<_>>().join(" "))
            }
            BlockKind::Code { info, code } => format!("code {info}: {}", code.replace('\n', "\\n")),
            BlockKind::TableRow {
                cells,
                is_head,
                columns,
            } => {
                let cells: Vec<String> = cells.iter().map(marked).collect();
                let kind = if *is_head { "th" } else { "td" };
                format!("{kind} {} {:?}", cells.join("|"), columns.widths)
            }
            BlockKind::Rule => "hr".to_owned(),
            BlockKind::Html(html) => format!("html {}", html.replace('\n', "\\n")),
        };
        let (quotes, indent) = (">".repeat(block.quotes), "  ".repeat(block.indent));
        let rows = &block.rows;
        format!(
            "{}-{} {quotes}{indent}{marker}{content}",
            rows.start, rows.end
        )
    });
    let lines: Vec<String> = lines.collect();
    assert_eq!(lines, expected, "{text}");
}

#[test]
fn text_has_styles_and_links() {
    check(
        "# A **b** `c`\n\nx *y* ~~z~~ **[t](u \"v\") w**\nnext  \nline <https://a.b>\n",
        &[
            "0-1 h1 A *b* `c` #a-b-c",
            "2-5 p x /y/ ~z~ *t*<u>* w* next\\nline https://a.b<https://a.b>",
        ],
    );
}

#[test]
fn lists_are_flat_and_keep_their_marks() {
    check(
        "3. a\n4. b\n   - [x] c\n   - [ ] d\n\n     more\n\n-\n- e\n",
        &[
            "0-1   3. p a",
            "1-2   4. p b",
            "2-3     [x] p c",
            "3-4     [ ] p d",
            "5-6     p more",
            "7-8   - p ",
            "8-9   - p e",
        ],
    );
}

#[test]
fn quotes_code_rules_and_front_matter_are_blocks() {
    check(
        "---\na: b\n---\n> q\n> > r\n\n```rust,no_run\nfn a() {}\n\nb\n```\n\n***\n\n    indented\n",
        &[
            "0-3 code yaml: a: b",
            "3-4 >p q",
            "4-5 >>p r",
            "6-11 code rust,no_run: fn a() {}\\n\\nb",
            "12-13 hr",
            "14-15 code : indented",
        ],
    );
    check("```mermaid\na-->b\n```\n", &["0-3 code mermaid: a-->b"]);
}

#[test]
fn rows_of_a_table_know_its_columns() {
    check(
        "| a | b |\n|:-:|--:|\n| `c` | **dddd** |\n| e |\n",
        &[
            "0-1 th a|b [3, 4]",
            "2-3 td `c`|*dddd* [3, 4]",
            "3-4 td e| [3, 4]",
        ],
    );
}

#[test]
fn images_are_blocks_between_the_text() {
    check(
        "x ![a](a.png) [![b](b.svg)](c) y\n\n<p align=center><img src=\"d.png\"></p>\n\n<div>text</div>\n\na<br>b <kbd>K</kbd> <script>\n",
        &[
            "0-1 p x",
            "0-1 img a=a.png b=b.svg<c>",
            "0-1 p y",
            "2-3 img =d.png",
            "4-5 html <div>text</div>",
            "6-7 p a\\nb K `<script>`",
        ],
    );
}

#[test]
fn footnotes_and_equal_headings_can_be_addressed() {
    let text = "a[^1]\n\n# H\n\n# H\n\n[^1]: note\n";
    check(
        text,
        &[
            "0-1 p a[1]<#1>",
            "2-3 h1 H #h",
            "4-5 h1 H #h-1",
            "6-7   ^1 p note",
        ],
    );
    let document = parse(text);
    assert_eq!(document.block_of_anchor("H-1"), Some(2));
    assert_eq!(document.block_of_anchor("1"), Some(3));
    assert_eq!(document.block_of_anchor("x"), None);
}

#[test]
fn rows_and_positions_agree_in_both_directions() {
    let document = parse("# a\n\ntext\nmore\n\n- x\n- y\n");
    assert_eq!(document.position_of_row(0.0), (0, 0.0));
    assert_eq!(document.position_of_row(1.0), (0, 0.5));
    assert_eq!(document.position_of_row(2.0), (1, 0.0));
    assert_eq!(document.position_of_row(99.0), (3, 1.0));
    assert_eq!(document.position_of_row(-1.0), (0, 0.0));
    for row in 0..60 {
        let row = f64::from(row) / 10.0;
        let (ix, part) = document.position_of_row(row);
        assert!(
            (document.row_of_position(ix, part) - row).abs() < 1e-3,
            "{row}"
        );
    }
    assert!((parse("").row_of_position(3, 0.5)).abs() < f64::EPSILON);
    assert_eq!(parse("").position_of_row(4.0), (0, 0.0));
}

#[test]
fn an_edit_changes_only_its_blocks() {
    let before = parse("# a\n\nb\n\nc\n\nd\n");
    let after = parse("# a\n\nb\n\nnew\n\nc!\n\nd\n");
    assert_eq!(after.changed_blocks(&before), (2..3, 2));
    assert_eq!(before.changed_blocks(&before), (4..4, 0));
    let moved = parse("\n\n\n# a\n\nb\n\nc\n\nd\n");
    assert_eq!(moved.changed_blocks(&before), (4..4, 0));
    assert_eq!(parse("").changed_blocks(&before), (0..4, 0));
}

#[test]
fn hostile_texts_are_refused_or_cut() {
    let deep = format!("a\n{}", ">".repeat(1_000));
    assert_eq!(
        MarkdownDocument::parse(&deep),
        Err(MarkdownError::TooDeep(1))
    );
    let deep = "- ".repeat(1_000);
    assert_eq!(
        MarkdownDocument::parse(&deep),
        Err(MarkdownError::TooDeep(0))
    );
    let long = "x".repeat(6 << 20);
    let refused = MarkdownDocument::parse(&long).expect_err("refused");
    assert_eq!(
        refused.to_string(),
        "the text has 6.0 MB, and at most 5.0 MB are shown"
    );
    let many = parse(&"*\n".repeat(MAX_BLOCKS + 10));
    assert!(many.is_cut());
    assert!(many.blocks().len() <= MAX_BLOCKS);
    let wide = format!("|{}\n|{}\n", "a|".repeat(5_000), "-|".repeat(5_000));
    let wide = parse(&wide);
    let BlockKind::TableRow { cells, .. } = &wide.blocks()[0].kind else {
        panic!("a table");
    };
    assert_eq!(cells.len(), super::MAX_COLUMNS);
    for text in [
        "[".repeat(100_000),
        "*a_".repeat(100_000),
        "<a ".repeat(100_000),
        "`".repeat(99_999),
    ] {
        assert!(!parse(&text).blocks().is_empty());
    }
}
