//! The engine accepts any edit of any text, and its plan is sound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use patch::format::{EditFormat, parse};
use patch::{FileText, StaleGuard, plan};

fuzz_target!(|data: &[u8]| {
    // A byte for the format, then the file, a zero, and the edits.
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let format = EditFormat::ALL[usize::from(*first) % EditFormat::ALL.len()];
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let (file, edits) = text.split_once('\0').unwrap_or((text, text));
    for edit in parse(format, edits).files {
        let planned = plan(&FileText::new(file), &edit.change, StaleGuard::Off);
        let mut end = 0;
        for replacement in &planned.replacements {
            let (start, stop) = (replacement.span.start.0, replacement.span.end.0);
            assert!(end <= start && file.get(start..stop).is_some());
            assert!(planned.hunks[replacement.hunk].outcome.is_applied());
            end = stop;
        }
        planned.apply(file);
    }
});
