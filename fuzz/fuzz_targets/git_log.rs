//! Any output of `git log`, in any pieces, gives the same rows, and the graph takes them in any order.
#![no_main]

use git_program::{CommitGraph, LogParser, LogRow};
use libfuzzer_sys::fuzz_target;

fn read(pieces: &[&[u8]]) -> Vec<LogRow> {
    let mut parser = LogParser::default();
    let found = pieces.iter().flat_map(|piece| parser.feed(piece));
    found.collect()
}

fuzz_target!(|data: &[u8]| {
    let found = read(&[data]);
    assert_eq!(read(&burin_fuzz::pieces(data)), found);
    let mut graph = CommitGraph::default();
    for row in found {
        let placed = graph.place(&row.id, &row.parents);
        assert!(placed.lower.iter().all(|line| line.to < graph.width()));
    }
});
