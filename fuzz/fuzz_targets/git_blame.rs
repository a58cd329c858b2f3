//! Any output of `git blame --incremental`, in any pieces, gives the same lines in order.
#![no_main]

use git_program::{BlameParser, BlamedLines};
use libfuzzer_sys::fuzz_target;

fn read(pieces: &[&[u8]]) -> Vec<BlamedLines> {
    let mut parser = BlameParser::default();
    let found = pieces.iter().flat_map(|piece| parser.feed(piece));
    found.collect()
}

fuzz_target!(|data: &[u8]| {
    let found = read(&[data]);
    assert_eq!(read(&burin_fuzz::pieces(data)), found);
    for lines in found {
        assert!(lines.lines.start <= lines.lines.end);
    }
});
