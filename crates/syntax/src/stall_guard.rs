//! Detects parses that make no progress: some grammars make tree-sitter loop over certain broken
//! texts.
//!
//! Source: tree-sitter-javascript's issue 322 describes one such loop; the TypeScript grammars
//! still have it. A working parser reads on from time to time, so one that does not for very long
//! is aborted.

use std::ops::ControlFlow;

use base::{Work, count_work};
use tree_sitter::{ParseState, Parser, Point, Tree};

/// Callback that can stop a parse; called about every hundred steps.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(&ParseState) -> ControlFlow<()>;

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

/// Steps of a parser or a query between two progress callbacks.
pub(crate) const STEPS_A_CALLBACK: usize = 100;

/// Read position of a parser, and the number of callbacks without progress.
struct StallGuard {
    furthest: usize,
    stalled_steps: usize,
    max_stalled_steps: usize,
}

impl StallGuard {
    /// Records a progress callback. Returns whether too many in a row came without reading further.
    fn is_stuck(&mut self, state: &ParseState) -> bool {
        let offset = state.current_byte_offset();
        if offset > self.furthest {
            self.furthest = offset;
            self.stalled_steps = 0;
        } else {
            self.stalled_steps += 1;
        }
        self.stalled_steps > self.max_stalled_steps
    }
}

/// Parses a text with the language set in the parser. `bytes` is the length of the text, `read`
/// returns its bytes, and `old` is the shifted tree of an earlier version. Aborts with `Stuck` if
/// the parser makes no progress.
pub(crate) fn parse<T: AsRef<[u8]>>(
    parser: &mut Parser,
    bytes: usize,
    read: &mut impl FnMut(usize, Point) -> T,
    old: Option<&Tree>,
    progress: Progress<'_>,
) -> Result<Tree, ParseHalt> {
    let mut guard = StallGuard {
        furthest: 0,
        stalled_steps: 0,
        max_stalled_steps: MAX_STALLED_STEPS + bytes / BYTES_A_STEP,
    };
    let mut is_stuck = false;
    let mut forward = |state: &ParseState| {
        count_work(Work::ParserSteps, STEPS_A_CALLBACK);
        is_stuck = guard.is_stuck(state);
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
