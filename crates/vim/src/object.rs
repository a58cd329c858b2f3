//! Text objects as pure functions of a text and a selection.
//!
//! Start at `TextObject::select`.

mod argument;
mod block;
mod indent;
mod paragraph;
mod quote;
mod sentence;
mod tag;
mod word;

use crate::lines::{Lines, Pos};
use crate::motion::Extent;

pub(crate) use tag::enclosing as enclosing_tag;

/// A text object that the text alone determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextObject {
    Word {
        is_big: bool,
    },
    Sentence,
    Paragraph,
    Block {
        open: char,
        close: char,
    },
    Quote(char),
    Tag,
    Argument,
    /// Lines of at least the indentation at the caret; around, with the line above.
    Indent,
    /// The whole text.
    Entire,
}

/// The selection that an object starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectRequest {
    /// The fixed end of a visual selection; `None` for an operator.
    pub(crate) anchor: Option<Pos>,
    pub(crate) head: Pos,
    /// Whether the visual selection is by lines.
    pub(crate) is_lines: bool,
    pub(crate) count: u32,
    pub(crate) is_around: bool,
}

impl ObjectRequest {
    /// The fixed end, if more than a character is selected.
    fn extended(&self) -> Option<Pos> {
        self.anchor.filter(|anchor| *anchor != self.head)
    }
}

/// The ends of an object. The head is the later end, unless a selection grows to the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selected {
    pub(crate) anchor: Pos,
    pub(crate) head: Pos,
    pub(crate) extent: Extent,
    /// Whether a selection by lines stays one.
    pub(crate) keeps_shape: bool,
}

impl Selected {
    pub(crate) fn new(anchor: Pos, head: Pos, extent: Extent) -> Self {
        Self {
            anchor,
            head,
            extent,
            keeps_shape: false,
        }
    }

    fn inclusive(anchor: Pos, head: Pos) -> Self {
        Self::new(anchor, head, Extent::Inclusive)
    }

    fn exclusive(anchor: Pos, head: Pos) -> Self {
        Self::new(anchor, head, Extent::Exclusive)
    }

    fn lines(first: u32, last: u32) -> Self {
        Self::new(Pos::new(first, 0), Pos::new(last, 0), Extent::Lines)
    }
}

impl TextObject {
    /// Returns the object, or where the caret goes if there is none here.
    pub(crate) fn select(self, lines: &Lines, request: &ObjectRequest) -> Result<Selected, Pos> {
        let selected = match self {
            TextObject::Word { is_big } => return word::select(lines, request, is_big),
            TextObject::Sentence => sentence::select(lines, request),
            TextObject::Paragraph => paragraph::select(lines, request),
            TextObject::Block { open, close } => block::select(lines, request, open, close),
            TextObject::Quote(quote) => quote::select(lines, request, quote),
            TextObject::Tag => tag::select(lines, request),
            TextObject::Argument => argument::select(lines, request),
            TextObject::Indent => Some(indent::select(lines, request)),
            TextObject::Entire => Some(entire(lines, request)),
        };
        selected.ok_or(request.head)
    }
}

/// The whole text; inside, without blank lines at its ends.
fn entire(lines: &Lines, request: &ObjectRequest) -> Selected {
    let (mut first, mut last) = (0, lines.last());
    if !request.is_around {
        while first < last && lines.is_blank(first) {
            first += 1;
        }
        while last > first && lines.is_blank(last) {
            last -= 1;
        }
    }
    Selected::lines(first, last)
}

#[cfg(test)]
mod tests;
