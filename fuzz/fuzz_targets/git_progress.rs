//! Any progress of a remote, in any pieces, gives the same reports.
#![no_main]

use git_program::{ProgressParser, RemoteReport};
use libfuzzer_sys::fuzz_target;

fn read(pieces: &[&[u8]]) -> Vec<RemoteReport> {
    let mut parser = ProgressParser::default();
    let found = pieces.iter().flat_map(|piece| parser.feed(piece));
    found.collect()
}

fuzz_target!(|data: &[u8]| {
    let found = read(&[data]);
    assert_eq!(read(&burin_fuzz::pieces(data)), found);
    for report in found {
        if let RemoteReport::Progress(progress) = report {
            assert!(!progress.stage.contains('\n'));
        }
    }
});
