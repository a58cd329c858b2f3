//! Every prompt as a golden file, and every kind of response.
//!
//! `UPDATE_EXPECT` rewrites the golden files; read them before they are kept.

use base::Span;
use expect_test::expect_file;
use model::NextEditFormat;

use super::{ParsedResponse, PromptKind, control_tokens, edits, frame, prompt, read};
use crate::context::{ContextSnippet, EditContext, PastEdit, PromptWindow, SnippetReason};
use crate::samples::state;

const ALL: [NextEditFormat; 6] = [
    NextEditFormat::Zeta1,
    NextEditFormat::Zeta2,
    NextEditFormat::Zeta21,
    NextEditFormat::Sweep,
    NextEditFormat::Mercury,
    NextEditFormat::Instinct,
];

const TEXT: &str = "use crate::cart::Cart;

fn total(cart: &Cart) -> u64 {
    let mut sum = 0;
    for item in cart.items() {
        sum += item.priceˇ;
    }
    sum
}

fn main() {
    println!(\"{}\", total(&Cart::default()));
}
";

fn context(format: NextEditFormat, text: &str) -> EditContext {
    let state = state("rust", text);
    let mut window = PromptWindow::for_editor(&state, frame(format));
    window.before = Some(window.region().replace("item.price", "item"));
    let edit = |old: &str, new: &str, was_accepted| PastEdit {
        path: "src/cart.rs".to_owned(),
        diff: format!("@@ -1,1 +1,1 @@\n-{old}\n+{new}\n"),
        old: format!("{old}\n"),
        new: format!("{new}\n"),
        was_accepted,
    };
    let file = |path: &str, text: &str| ContextSnippet {
        path: path.to_owned(),
        text: text.to_owned(),
        why: SnippetReason::Definition,
    };
    EditContext {
        path: "src/main.rs".to_owned(),
        project: "shop".to_owned(),
        window,
        edits: vec![
            edit("struct Item;", "struct Item { price: u64 }", false),
            edit("a", "b", true),
        ],
        files: vec![
            file("src/cart.rs", "pub struct Cart;\n"),
            file("src/item.rs", "pub struct Item;\n"),
            file("src/cart.rs", "impl Cart {}\n"),
        ],
    }
}

#[test]
fn prompts_match_their_golden_files() {
    for format in ALL {
        let prompt = prompt(format, &context(format, TEXT)).expect("a prompt");
        let system = match &prompt.form {
            PromptKind::Chat { system, .. } => format!("{system}\n\u{241e}\n"),
            PromptKind::Raw | PromptKind::Edit => String::new(),
        };
        let name = format!("{format:?}").to_lowercase();
        let stops = prompt.stop.join("\u{241f}").replace('\n', "\\n");
        let file = format!("golden/{name}.txt");
        let told = format!("{system}{}\u{241e}\n{stops}\n", prompt.text);
        expect_file![file].assert_eq(&told);
    }
}

#[test]
fn a_chat_predicts_that_nothing_changes() {
    let format = NextEditFormat::Instinct;
    let prompt = prompt(format, &context(format, TEXT)).expect("a prompt");
    let PromptKind::Chat { prediction, .. } = prompt.form else {
        panic!("{:?}", prompt.form);
    };
    assert_eq!(prediction, region(format));
    assert_eq!(answered(format, &prediction), "nothing");
}

/// The text behind an answer about the region of `TEXT`, or a word why there is none.
fn answered(format: NextEditFormat, answer: &str) -> String {
    let window = context(format, TEXT).window;
    match read(format, &window, answer) {
        ParsedResponse::Edits(edits) => {
            let mut text = TEXT.replace('ˇ', "");
            for edit in edits.iter().rev() {
                assert_eq!(&text[edit.span.range()], edit.old.as_ref());
                text.replace_range(edit.span.range(), &edit.new);
            }
            text
        }
        ParsedResponse::Nothing => "nothing".to_owned(),
        ParsedResponse::Unreadable => "unreadable".to_owned(),
    }
}

fn region(format: NextEditFormat) -> String {
    context(format, TEXT).window.region().to_owned()
}

#[test]
fn a_rewritten_region_is_an_edit() {
    let expected = TEXT
        .replace('ˇ', "")
        .replace("item.price;", "item.price();");
    for format in ALL {
        let new = region(format).replace("item.price;", "item.price();");
        let body = match format {
            NextEditFormat::Zeta1 => {
                format!("<|editable_region_start|>\n{new}<|editable_region_end|>\n```")
            }
            NextEditFormat::Zeta2 => format!("{new}>>>>>>> UPDATED\n"),
            NextEditFormat::Zeta21 => {
                let asked = prompt(format, &context(format, TEXT)).expect("a prompt");
                let last = asked.text.matches("<|marker_").count();
                format!("<|marker_1|>{new}<|marker_{last}|><[end▁of▁sentence]>")
            }
            NextEditFormat::Sweep => format!("{new}<|file_sep|>next"),
            NextEditFormat::Mercury => format!("```rust\n{new}```"),
            NextEditFormat::Instinct => new.clone(),
        };
        assert_eq!(answered(format, &body), expected, "{format:?}");
    }
}

#[test]
fn an_unchanged_region_is_no_edit() {
    for format in ALL {
        if format != NextEditFormat::Zeta21 {
            assert_eq!(answered(format, &region(format)), "nothing", "{format:?}");
        }
    }
    assert_eq!(answered(NextEditFormat::Zeta2, "NO_EDITS\n"), "nothing");
    assert_eq!(
        answered(NextEditFormat::Zeta21, "<|marker_1|><|marker_1|>"),
        "nothing"
    );
    assert_eq!(answered(NextEditFormat::Mercury, "None"), "nothing");
}

#[test]
fn blank_and_malformed_responses_are_unreadable() {
    assert_eq!(answered(NextEditFormat::Zeta1, " \n"), "unreadable");
    assert_eq!(
        answered(NextEditFormat::Zeta21, "sure, here it is"),
        "unreadable"
    );
    assert_eq!(answered(NextEditFormat::Mercury, "```\n```"), "unreadable");
    assert_eq!(answered(NextEditFormat::Instinct, ""), "unreadable");
}

#[test]
fn control_tokens_in_user_text_are_harmless() {
    for format in ALL {
        let token = control_tokens(format)[0];
        let in_region = TEXT.replace("sum += ", &format!("\"{token}\"; sum += "));
        assert!(
            prompt(format, &context(format, &in_region)).is_none(),
            "{format:?}"
        );
        let mut shown = context(format, TEXT);
        let tokens: usize = control_tokens(format)
            .iter()
            .map(|token| {
                prompt(format, &shown)
                    .expect("a prompt")
                    .text
                    .matches(token)
                    .count()
            })
            .sum();
        shown.files[0].text = control_tokens(format).join(" ");
        shown.edits[0].diff = control_tokens(format).join(" ");
        shown.edits[0].new = control_tokens(format).join(" ");
        shown.path = "src/main.rs".to_owned();
        let text = prompt(format, &shown).expect("a prompt").text;
        let now: usize = control_tokens(format)
            .iter()
            .map(|token| text.matches(token).count())
            .sum();
        assert_eq!(now, tokens, "{format:?}: {text}");
    }
}

#[test]
fn hunks_are_separate_and_line_endings_stay() {
    let state = state("", "a\r\nb\r\nc\r\nd\r\ne\r\nˇ");
    let window = PromptWindow::for_editor(
        &state,
        crate::context::WindowLimits::Rows {
            above: 9,
            below: 0,
            around: 0,
        },
    );
    let found = edits(&window, "a1\nb\nc\nd\ne2\n");
    let shown: Vec<(Span, &str, &str)> = found
        .iter()
        .map(|edit| (edit.span, edit.old.as_ref(), edit.new.as_ref()))
        .collect();
    assert_eq!(
        shown,
        [(Span::from(1..1), "", "1"), (Span::from(13..13), "", "2")]
    );
    assert!(edits(&window, "a\nb\nc\nd\ne").is_empty());
}
