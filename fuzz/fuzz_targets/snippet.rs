//! Any text is a snippet: its tab stops lie in its text, and its expansion is bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use snippet::{ExpansionOptions, Snippet};

fuzz_target!(|body: &str| {
    let expansion = Snippet::parse(body).expand(&ExpansionOptions {
        indent: "  ",
        indent_unit: "    ",
        line_ending: "\r\n",
        variable: &|name| (name.len() > 3).then(|| name.to_lowercase()),
    });
    for stop in &expansion.stops {
        for occurrence in &stop.occurrences {
            assert!(expansion.text.get(occurrence.range.clone()).is_some());
        }
    }
    assert_eq!(expansion.stops.last().map(|stop| stop.number), Some(0));
});
