//! Motions as pure functions of a text and a position.
//!
//! Each follows Vim's rules for the places it passes, which text objects and operators build on.
//! Start at `Motion`.

pub(crate) mod brackets;
pub(crate) mod find;
pub(crate) mod paragraphs;
pub(crate) mod sentences;
pub(crate) mod words;

use crate::lines::Pos;

/// A motion as typed, without its count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    Left {
        wraps: bool,
    },
    Right {
        wraps: bool,
    },
    Up,
    Down,
    /// Down by lines, to the first character that is no blank (`+`).
    DownToText,
    /// Up by lines, to the first character that is no blank (`-`).
    UpToText,
    /// Down by one line less than the count, to the first character (`_`).
    LineText,
    LineStart,
    FirstNonBlank,
    LineEnd,
    LastNonBlank,
    Cell,
    /// Middle of the line by cells (`gM`).
    LineMiddle,
    /// To a line, the last without a count (`G`).
    ToLine,
    /// To a line, the first without a count (`gg`).
    ToFirstLine,
    /// To the end of a line, the last without a count (`Ctrl-End`).
    ToLastEnd,
    /// To a byte of the text (`go`).
    ToByte,
    Find(CharFind),
    RepeatFind {
        is_reversed: bool,
    },
    Word {
        is_big: bool,
    },
    WordEnd {
        is_big: bool,
    },
    WordBack {
        is_big: bool,
    },
    WordBackEnd {
        is_big: bool,
    },
    Sentence {
        is_forward: bool,
    },
    Paragraph {
        is_forward: bool,
    },
    Section {
        is_forward: bool,
        to_end: bool,
    },
    Matching,
    Unmatched {
        bracket: char,
        is_forward: bool,
    },
    Comment {
        is_forward: bool,
    },
    Search(Box<SearchMotion>),
    RepeatSearch {
        is_reversed: bool,
    },
    /// To the next occurrence of the word at the caret (`*`).
    WordSearch {
        is_forward: bool,
        is_whole: bool,
    },
    Mark {
        name: char,
        to_line: bool,
        keeps_jumps: bool,
    },
    ScreenTop,
    ScreenMiddle,
    ScreenBottom,
    DisplayDown,
    DisplayUp,
    DisplayStart,
    DisplayFirstNonBlank,
    DisplayEnd,
    DisplayMiddle,
    FoldStart,
    FoldEnd,
    NextFold,
    PreviousFold,
    /// Down by lines, as `Ctrl-D` and `Ctrl-F` move.
    Scroll(ScrollMotion),
}

/// A search within a line (`f`, `t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CharFind {
    pub(crate) char: char,
    pub(crate) is_forward: bool,
    /// Whether to stop before the character.
    pub(crate) is_till: bool,
}

/// A search as typed after `/` or `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchMotion {
    pub(crate) is_forward: bool,
    /// The line as typed: pattern, offset, and further searches after `;`.
    pub(crate) line: String,
}

/// A motion by screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScrollMotion {
    HalfDown,
    HalfUp,
    PageDown,
    PageUp,
}

/// The text between the ends of a motion that an operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Without the character at the later end.
    Exclusive,
    /// With the character at the later end.
    Inclusive,
    /// All lines.
    Lines,
}

/// The column that a later vertical motion aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The column that the motion reached.
    Here,
    /// The one from before.
    Same,
    /// The ends of lines.
    LineEnd,
    Cell(u32),
}

/// The result of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) to: Pos,
    pub(crate) extent: Extent,
    pub(crate) aim: Aim,
    /// Whether an exclusive motion that ends at the start of a line may end in the line before.
    pub(crate) adjusts_end: bool,
    /// Whether a deletion over it always fills the register 1.
    pub(crate) uses_first_register: bool,
    /// Whether the place before is added to the jump list.
    pub(crate) is_jump: bool,
    /// Whether the count was too large: the caret moves, but the command fails.
    pub(crate) is_short: bool,
}

impl Moved {
    pub(crate) fn exclusive(to: Pos) -> Self {
        Self {
            to,
            extent: Extent::Exclusive,
            aim: Aim::Here,
            adjusts_end: true,
            uses_first_register: false,
            is_jump: false,
            is_short: false,
        }
    }

    pub(crate) fn inclusive(to: Pos) -> Self {
        Self {
            extent: Extent::Inclusive,
            ..Self::exclusive(to)
        }
    }

    pub(crate) fn lines(to: Pos) -> Self {
        Self {
            extent: Extent::Lines,
            ..Self::exclusive(to)
        }
    }

    pub(crate) fn aiming(self, aim: Aim) -> Self {
        Self { aim, ..self }
    }

    pub(crate) fn as_jump(self) -> Self {
        Self {
            is_jump: true,
            ..self
        }
    }

    /// A motion after which deletions always fill the register 1.
    pub(crate) fn to_first_register(self) -> Self {
        Self {
            uses_first_register: true,
            ..self
        }
    }
}
