//! Any text has blocks in the order of its rows, and a document differs from itself nowhere.
#![no_main]

use libfuzzer_sys::fuzz_target;
use preview::MarkdownDocument;

fuzz_target!(|text: &str| {
    let Ok(document) = MarkdownDocument::parse(text) else {
        return;
    };
    for pair in document.blocks().windows(2) {
        assert!(pair[0].rows.start <= pair[1].rows.start);
    }
    let count = document.blocks().len();
    assert_eq!(document.changed_blocks(&document), (count..count, 0));
    for row in 0..text.lines().count().min(1_000) {
        let (ix, part) = document.position_of_row(row as f64);
        assert!(ix < count.max(1) && (0.0..=1.0).contains(&part));
    }
});
