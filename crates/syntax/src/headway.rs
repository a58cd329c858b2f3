//! Parses that get nowhere: some grammars send tree-sitter round in circles over some broken texts.
//!
//! Source: tree-sitter-javascript's issue 322 describes one such circle; the TypeScript grammars still have it.
//! A parser that goes on reads further now and then, so one that does not for very long is given up.

use std::ops::ControlFlow;

use tree_sitter::{ParseState, Parser, Point, Tree};

use crate::layers::Progress;

/// Why there is no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Whoever waits for it stopped it; the parser can go on.
    Stopped,
    /// It would never have ended. The parser has to be reset.
    Stuck,
}

/// How often a parser may say that it still works without having read further, whatever the text. It says so every
/// hundred steps; recovering from errors takes some thousands of them at one place.
const MOST_STANDING: usize = 500;
/// So many bytes allow one more, as a finished tree is put in order without reading on, in steps by its nodes.
const BYTES_A_STEP: usize = 100;

/// Watches how far a parser has read.
struct Headway {
    furthest: usize,
    standing: usize,
    most: usize,
}

impl Headway {
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

/// Parses `bytes` bytes that `read` hands out by their offset, and gives up when it gets nowhere.
pub(crate) fn parse<T: AsRef<[u8]>>(
    parser: &mut Parser,
    bytes: usize,
    read: &mut impl FnMut(usize, Point) -> T,
    old: Option<&Tree>,
    progress: Progress<'_>,
) -> Result<Tree, Halt> {
    let mut headway = Headway {
        furthest: 0,
        standing: 0,
        most: MOST_STANDING + bytes / BYTES_A_STEP,
    };
    let mut is_stuck = false;
    let mut forward = |state: &ParseState| {
        is_stuck = headway.is_stuck(state);
        match is_stuck {
            true => ControlFlow::Break(()),
            false => progress(state),
        }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut forward);
    let tree = parser.parse_with_options(read, old, Some(options));
    tree.ok_or(match is_stuck {
        true => Halt::Stuck,
        false => Halt::Stopped,
    })
}
