//! Any output of `git status` and `git diff-tree` gives at most as many entries as it has fields.
#![no_main]

use git_program::{parse_raw_changes, parse_reflog, parse_status, undo_plan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let fields = data.split(|byte| *byte == 0).count();
    let report = parse_status(data);
    assert!(report.entries.len() + report.unknown <= fields);
    assert!(parse_raw_changes(data).len() <= fields);
    undo_plan(&parse_reflog(data));
});
