//! Detects parses that make no progress: some grammars make tree-sitter loop over certain broken
//! texts.
//!
//! Source: tree-sitter-javascript's issue 322 describes one such loop; the TypeScript grammars
//! still have it. A working parser reads on from time to time, so one that does not for very long
//! is aborted.

use std::ops::ControlFlow;

use tree_sitter::{ParseState, Parser, Point, Tree};

use crate::layers::Progress;

/// Reason for a missing tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParseHalt {
    /// The caller cancelled the parse; the parser can continue.
    Stopped,
    /// The parse would never end. The parser must be reset.
    Stuck,
}

/// Maximum number of progress callbacks without reading further, whatever the text. The parser
/// calls back every hundred steps; recovering from errors takes some thousands of steps at one
/// offset.
const MAX_STALLED_STEPS: usize = 500;
/// Bytes that allow one more callback, because balancing the finished tree takes steps proportional
/// to its nodes without reading.
const BYTES_A_STEP: usize = 100;

/// Tracks the read position of a parser.
struct StallGuard {
    furthest: usize,
    standing: usize,
    most: usize,
}

impl StallGuard {
    fn is_stuck(&mut self, state: &ParseState) -> bool {
        let offset = state.current_byte_offset();
        if offset > self.furthest {
            self.furthest = offset;
            self.standing = 0;
        } else {
            self.standing += 1;
        }
        self.standing > self.most
    }
}

/// Parses `bytes` bytes returned by `read`, and aborts without progress.
pub(crate) fn parse<T: AsRef<[u8]>>(
    parser: &mut Parser,
    bytes: usize,
    read: &mut impl FnMut(usize, Point) -> T,
    old: Option<&Tree>,
    progress: Progress<'_>,
) -> Result<Tree, ParseHalt> {
    let mut headway = StallGuard {
        furthest: 0,
        standing: 0,
        most: MAX_STALLED_STEPS + bytes / BYTES_A_STEP,
    };
    let mut is_stuck = false;
    let mut forward = |state: &ParseState| {
        is_stuck = headway.is_stuck(state);
        if is_stuck {
            ControlFlow::Break(())
        } else {
            progress(state)
        }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut forward);
    let tree = parser.parse_with_options(read, old, Some(options));
    tree.ok_or(if is_stuck {
        ParseHalt::Stuck
    } else {
        ParseHalt::Stopped
    })
}
