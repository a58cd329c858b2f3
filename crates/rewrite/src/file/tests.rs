//! Tests that a request contains the file in the form of the answer.

use model::{ModelId, TokenCount};
use patch::edit::PatchOperation;
use patch::format::{EditFormat, parse};

use super::{FileRewrite, file_block};

/// Checks that `apply` reads the block as this text.
fn check(text: &str) {
    let parsed = parse(EditFormat::Whole, &file_block("src/a.rs", text));
    assert_eq!(parsed.problems, [], "{text:?}");
    let [file] = parsed.files.as_slice() else {
        panic!("{text:?}: {:?}", parsed.files);
    };
    assert_eq!(file.path, "src/a.rs");
    let expected = PatchOperation::Overwrite {
        text: text.to_owned(),
    };
    assert_eq!(file.change, expected);
}

#[test]
fn the_block_of_a_file_reads_as_its_text() {
    check("fn main() {}\n");
    check("fn main() {}");
    check("");
    check("/// ```\n/// ````text\n/// ````\n/// ```\nfn main() {}\n");
    check("one\r\ntwo\r\n");
}

#[test]
fn the_block_is_the_prediction_and_part_of_the_prompt() {
    let model = ModelId::parse("openai/gpt-4.1").expect("a model");
    let rewrite = FileRewrite::new("a.rs", "fn a() {}\n");
    let request = rewrite.request(model.clone(), "rename a to b", None);
    let prediction = request.usable_prediction().expect("a prediction");
    assert_eq!(prediction, "a.rs\n```\nfn a() {}\n```\n");
    let asked = format!("{:?}", request.messages);
    assert!(asked.contains("rename a to b"), "{asked}");
    assert!(asked.contains("fn a() {}"), "{asked}");
    let rewrite = FileRewrite::new("a.rs", &"x".repeat(300_000));
    let long = rewrite.request(model, "rename", None);
    assert!(long.max_output > TokenCount(100_000));
}
