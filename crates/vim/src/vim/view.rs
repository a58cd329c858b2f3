//! The state of a `Vim` for the host: selections to show, and changes that come from outside.

use base::{ByteOffset, Span};
use text::{Change, Selection, SelectionSet, Snapshot};

use super::prompt::PromptView;
use super::region::{self, BlockCells};
use super::{Caret, State, Vim, Want};
use crate::command::VisualShape;
use crate::globals::{InsertKey, VimGlobals};
use crate::lines::{Lines, Pos};
use crate::marks::PosMap;
use crate::pattern::{Pattern, PatternContext};
use crate::search::{self, SearchLine, SearchWay};

/// A caret to draw: the character it is on, or the place between characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaretView {
    /// Offset of the caret.
    pub offset: ByteOffset,
    /// Whether it covers the character at the offset; otherwise it is a bar before it.
    pub is_block: bool,
    /// Whether it is the one that the view follows.
    pub is_primary: bool,
}

impl Vim {
    /// Returns the command line, if one is open.
    pub fn prompt(&self) -> Option<PromptView<'_>> {
        Some(self.prompt.as_ref()?.view())
    }

    /// Returns the carets to draw, in order.
    pub fn carets(&self, text: &Snapshot, tab_width: u32) -> Vec<CaretView> {
        let lines = Lines::new(text.clone(), tab_width);
        let is_block = !matches!(self.state, State::Insert);
        let carets = self.carets.iter().enumerate();
        let view = |(ix, caret): (usize, &Caret)| CaretView {
            offset: lines.offset(lines.clamp(caret.pos, true)),
            is_block,
            is_primary: ix == self.primary,
        };
        carets.map(view).collect()
    }

    /// Returns the selections of the text: those of visual mode, with the characters at both ends,
    /// or the carets.
    pub fn selections(&self, text: &Snapshot, tab_width: u32) -> SelectionSet {
        let lines = Lines::new(text.clone(), tab_width);
        let (State::Visual(shape) | State::Select(shape)) = self.state else {
            let caret = |caret: &Caret| Selection::caret(lines.offset(caret.pos));
            return SelectionSet::new(self.carets.iter().map(caret).collect(), self.primary);
        };
        let mut selections = Vec::new();
        let mut primary = 0;
        for (ix, caret) in self.carets.iter().enumerate() {
            selections.extend(selected(&lines, caret, shape));
            if ix == self.primary {
                primary = selections.len().saturating_sub(1);
            }
        }
        SelectionSet::new(selections, primary)
    }

    /// Begins an insertion at the carets unless there is one, so that selections which the host sets next belong to it.
    /// A selection of select mode is part of it.
    pub fn begin_insertion(&mut self) {
        if !matches!(self.state, State::Insert | State::Replace { .. }) {
            self.pending.clear();
            self.prompt = None;
            self.state = State::Insert;
            self.restart_insertion();
        }
    }

    /// Sets the carets to selections that the host made, such as those of a mouse. Selected text
    /// begins visual mode, or select mode while inserting; an empty selection ends it.
    pub fn set_selections(&mut self, selections: &SelectionSet, text: &Snapshot, tab_width: u32) {
        let lines = Lines::new(text.clone(), tab_width);
        let is_text = selections.iter().any(|selection| !selection.is_empty());
        let is_inserting = matches!(self.state, State::Insert | State::Replace { .. });
        self.pending.clear();
        self.state = match (is_text, is_inserting) {
            (true, true) => State::Select(VisualShape::Chars),
            (true, false) => State::Visual(VisualShape::Chars),
            (false, true) => self.state,
            (false, false) => State::Normal,
        };
        let past_end = is_text || is_inserting;
        let caret = |selection: &Selection| {
            let (mut anchor, mut head) = (selection.anchor, selection.head);
            if !selection.is_empty() {
                let last = if anchor < head {
                    &mut head
                } else {
                    &mut anchor
                };
                *last = text.previous_grapheme(*last);
            }
            Caret {
                anchor: lines.clamp(lines.pos(anchor), true),
                pos: lines.clamp(lines.pos(head), past_end),
                want: Want::Here,
            }
        };
        self.carets = selections.iter().map(caret).collect();
        self.primary = selections.primary_ix();
        self.active = self.primary;
        if is_inserting && !is_text {
            self.restart_insertion();
        }
    }

    /// Moves carets, marks and lists through a change that another made.
    pub fn follow(&mut self, before: &Snapshot, after: &Snapshot, change: &Change, tab_width: u32) {
        let before = Lines::new(before.clone(), tab_width);
        let after = Lines::new(after.clone(), tab_width);
        let map = PosMap::new(&before, &after, change);
        self.is_emptied = false;
        self.marks.follow(&map);
        self.follow_elsewhere(&map, None);
        let past_end = !matches!(self.state, State::Normal);
        for caret in &mut self.carets {
            caret.pos = after.clamp(caret.pos, past_end);
            caret.anchor = after.clamp(caret.anchor, true);
        }
        let primary = self.carets[self.primary];
        self.merge_carets(primary);
    }

    /// Notes a completion that the host put in place of characters before the carets while
    /// inserting, so that `.` repeats it.
    pub fn note_completion(&mut self, removed: usize, text: &str) {
        if let Some(insert) = &mut self.insert {
            insert.note(InsertKey::Completion {
                removed,
                text: text.to_owned(),
            });
        }
    }

    /// Returns the match of the search that is being typed, to show it.
    pub fn incremental_match(&self, text: &Snapshot, globals: &VimGlobals) -> Option<Span> {
        let prompt = self.prompt.as_ref()?;
        let is_forward = match prompt.kind() {
            crate::command::CommandLineKind::SearchForward => true,
            crate::command::CommandLineKind::SearchBackward => false,
            crate::command::CommandLineKind::Ex => return None,
        };
        if !globals.options.incremental_search {
            return None;
        }
        let line = SearchLine::parse(prompt.text(), is_forward);
        if line.pattern.is_empty() {
            return None;
        }
        let replacement = globals
            .substitute
            .replacement
            .as_deref()
            .unwrap_or_default();
        let context = PatternContext::of(&globals.options, replacement);
        let pattern = Pattern::compile(&line.pattern, context).ok()?;
        let lines = Lines::new(text.clone(), globals.options.tab_width);
        let way = SearchWay {
            is_forward,
            wraps: globals.options.wrap_scan,
            by_end: false,
            accepts_here: false,
        };
        let from = self.carets[self.primary].pos;
        let found = search::find(&lines, &pattern, from, way, &line.pattern).ok()?;
        Some(found.span)
    }
}

/// The selections to show for one caret: one, or one for each line of a block.
fn selected(lines: &Lines, caret: &Caret, shape: VisualShape) -> Vec<Selection> {
    let (start, end) = region::ends(caret);
    let is_reversed = caret.pos < caret.anchor;
    let directed = |span: Span| {
        if is_reversed {
            Selection::new(span.end, span.start)
        } else {
            Selection::new(span.start, span.end)
        }
    };
    match shape {
        VisualShape::Chars => {
            let last = lines.offset(end);
            let behind = lines.text().next_grapheme(last);
            vec![directed(Span::new(lines.offset(start), behind))]
        }
        VisualShape::Lines => {
            let first = lines.text().row_start(base::Row(start.row));
            let behind = lines.text().row_start(base::Row(end.row + 1));
            vec![directed(Span::new(first, behind))]
        }
        VisualShape::Block => {
            let cells = BlockCells {
                to_ends: caret.want == Want::LineEnd,
                ..BlockCells::between(lines, start, end)
            };
            let part = |row: u32| {
                let line = lines.line(row);
                let part = super::block::BlockPart::of(&line, cells, lines.tab_width());
                directed(lines.span(Pos::new(row, part.from), Pos::new(row, part.to)))
            };
            (start.row..=end.row).map(part).collect()
        }
    }
}
