//! Measurements of one long line: cell positions every few kilobytes.
//!
//! The cells of a stretch depend on its starting cell only up to its first tab, so two stretches
//! can be added, and an edit changes only the stretches it touches.
//! Invariant: stretches cover the line from its start without gaps, up to the measured end.
//! Invariant: a stretch begins at a character whose width does not depend on the previous one.

use std::cmp::Ordering;
use std::ops::Range;

use sum_tree::{Item, SeekTarget, SumTree, Summary};

use super::{Ruler, Strip};
use crate::cells::{Meter, has_fixed_width};
use crate::limits::STRETCH_BYTES;
use crate::shown_text::{LineEdit, ShownText};

#[derive(Clone)]
pub(super) struct Stretches {
    tree: SumTree<TabStretch>,
}

/// Bytes and cells of a run of text.
#[derive(Clone, Copy, Debug, Default)]
struct TabStretch {
    bytes: usize,
    /// Cells before its first tab.
    lead: u32,
    /// Cells behind its first tab, if it has one.
    behind_tab: Option<u32>,
}

impl TabStretch {
    /// Returns the end cell for a stretch beginning at `cell`.
    fn end_cell(&self, cell: u32, tab_width: u32) -> u32 {
        let lead = cell.saturating_add(self.lead);
        match self.behind_tab {
            None => lead,
            Some(cells) => next_stop(lead, tab_width).saturating_add(cells),
        }
    }
}

/// Returns the cell of the first tab stop after `cell`.
fn next_stop(cell: u32, tab_width: u32) -> u32 {
    cell.saturating_add(tab_width - cell % tab_width)
}

impl Item for TabStretch {
    type Summary = TabStretch;

    fn summary(&self, _: u32) -> TabStretch {
        *self
    }
}

impl Summary for TabStretch {
    /// Tab width, in cells.
    type Context<'a> = u32;

    fn zero(_: u32) -> Self {
        Self::default()
    }

    fn add_summary(&mut self, next: &Self, tab_width: u32) {
        self.bytes += next.bytes;
        match self.behind_tab {
            // Behind a tab all cells count from a tab stop.
            Some(cells) => self.behind_tab = Some(next.end_cell(cells, tab_width)),
            None => {
                self.lead = self.lead.saturating_add(next.lead);
                self.behind_tab = next.behind_tab;
            }
        }
    }
}

struct StretchSeek(usize);

impl SeekTarget<'_, TabStretch, TabStretch> for StretchSeek {
    fn cmp(&self, place: &TabStretch, _: u32) -> Ordering {
        self.0.cmp(&place.bytes)
    }
}

struct AtCell(u32);

impl SeekTarget<'_, TabStretch, TabStretch> for AtCell {
    fn cmp(&self, place: &TabStretch, tab_width: u32) -> Ordering {
        self.0.cmp(&place.end_cell(0, tab_width))
    }
}

impl Stretches {
    pub(super) fn new(tab_width: u32) -> Self {
        Self {
            tree: SumTree::new(tab_width),
        }
    }

    /// Returns the measured length of the line, in bytes and cells.
    pub(super) fn measured(&self, tab_width: u32) -> (usize, u32) {
        let whole = self.tree.summary();
        (whole.bytes, whole.end_cell(0, tab_width))
    }

    /// The nearest known place at or before a byte of the line.
    pub(super) fn before_byte(&self, column: usize, tab_width: u32) -> (usize, u32) {
        let (start, _, _) =
            self.tree
                .find::<TabStretch, _>(tab_width, &StretchSeek(column), sum_tree::Bias::Right);
        (start.bytes, start.end_cell(0, tab_width))
    }

    /// The nearest known place at or before a cell.
    pub(super) fn before_cell(&self, cell: u32, tab_width: u32) -> (usize, u32) {
        let (start, _, _) =
            self.tree
                .find::<TabStretch, _>(tab_width, &AtCell(cell), sum_tree::Bias::Right);
        (start.bytes, start.end_cell(0, tab_width))
    }

    /// Measures on until a byte of the line is near.
    pub(super) fn extend_to_byte(&mut self, ruler: &Ruler<'_>, strip: &Strip, column: usize) {
        let measured = self.tree.summary().bytes;
        if measured + STRETCH_BYTES < column {
            self.extend(ruler, strip, |bytes, _| bytes + STRETCH_BYTES < column);
        }
    }

    /// Measures on until a cell is near.
    pub(super) fn extend_to_cell(&mut self, ruler: &Ruler<'_>, strip: &Strip, cell: u32) {
        let (_, measured) = self.measured(ruler.tab_width);
        if measured <= cell {
            self.extend(ruler, strip, |_, end_cell| end_cell <= cell);
        }
    }

    /// Measures on stretch by stretch, until `is_wanted` rejects the measured bytes and cells of
    /// the line, or to the end of its shown bytes.
    fn extend(&mut self, ruler: &Ruler<'_>, strip: &Strip, is_wanted: impl Fn(usize, u32) -> bool) {
        let tab_width = ruler.tab_width;
        let (start, mut cell) = self.measured(tab_width);
        let mut bytes = start;
        let range = strip.line_start + start..strip.shown.end;
        let mut more = Vec::new();
        measure(ruler.shown, range, tab_width, |stretch| {
            bytes += stretch.bytes;
            cell = stretch.end_cell(cell, tab_width);
            more.push(stretch);
            is_wanted(bytes, cell)
        });
        self.tree.extend(more, tab_width);
    }

    /// Returns the stretches that remain after an edit within the line, which is now at `line` of
    /// `shown`.
    pub(super) fn after(
        &self,
        edit: &LineEdit,
        shown: &ShownText,
        line: Range<usize>,
        tab_width: u32,
    ) -> Option<Self> {
        let old_measured = self.tree.summary().bytes;
        let mut cursor = self.tree.cursor::<TabStretch>(tab_width);
        // A new stretch may not directly follow a stretch that ends where the edit begins.
        let mut tree = cursor.slice(&StretchSeek(edit.prefix), sum_tree::Bias::Left);
        let kept = tree.summary().bytes;
        if old_measured <= edit.prefix {
            return Some(Self { tree });
        }
        let new_len = line.len();
        let suffix_start = edit.old_len.checked_sub(edit.suffix)?;
        let _found = cursor.seek_forward(&StretchSeek(suffix_start + 1), sum_tree::Bias::Left);
        cursor.next();
        let tail_start = cursor.start().bytes;
        let tail = cursor.suffix();
        if tail.is_empty() {
            return Some(Self { tree });
        }
        let new_tail_start = new_len.checked_sub(edit.old_len - tail_start)?;
        let range = line.start + kept..line.start + new_tail_start;
        let mut between = Vec::new();
        measure(shown, range, tab_width, |stretch| {
            between.push(stretch);
            true
        });
        tree.extend(between, tab_width);
        tree.append(tail, tab_width);
        Some(Self { tree })
    }
}

/// Cuts a range of the shown text into stretches, until `emit` stops.
fn measure(
    shown: &ShownText,
    range: Range<usize>,
    tab_width: u32,
    mut emit: impl FnMut(TabStretch) -> bool,
) {
    let mut gauge = StretchMeter::new(tab_width);
    let mut prior = '\0';
    for chunk in shown.chunks(range) {
        let mut rest = chunk.text;
        while !rest.is_empty() {
            if gauge.stretch.bytes >= STRETCH_BYTES {
                let starts = rest
                    .chars()
                    .next()
                    .is_some_and(|ch| has_fixed_width(prior, ch));
                if starts && !emit(gauge.finish()) {
                    return;
                }
            }
            let room = STRETCH_BYTES.saturating_sub(gauge.stretch.bytes).max(1);
            let cut = (room.min(rest.len())..rest.len())
                .find(|ix| rest.is_char_boundary(*ix))
                .unwrap_or(rest.len());
            let (part, after) = rest.split_at(cut);
            gauge.pass(part);
            prior = part.chars().next_back().unwrap_or(prior);
            rest = after;
        }
    }
    if gauge.stretch.bytes > 0 {
        emit(gauge.finish());
    }
}

/// Measures one stretch after another.
struct StretchMeter {
    stretch: TabStretch,
    meter: Meter,
    tab_width: u32,
}

impl StretchMeter {
    fn new(tab_width: u32) -> Self {
        Self {
            stretch: TabStretch::default(),
            meter: Meter::new(0, tab_width),
            tab_width,
        }
    }

    fn pass(&mut self, text: &str) {
        self.stretch.bytes += text.len();
        let mut rest = text;
        if self.stretch.behind_tab.is_none()
            && let Some(tab) = rest.find('\t')
        {
            self.meter.advance_text(&rest[..tab]);
            self.stretch.lead = self.meter.cell;
            self.stretch.behind_tab = Some(0);
            self.meter = Meter::new(0, self.tab_width);
            rest = &rest[tab + 1..];
        }
        self.meter.advance_text(rest);
    }

    fn finish(&mut self) -> TabStretch {
        let mut stretch = std::mem::take(&mut self.stretch);
        match &mut stretch.behind_tab {
            Some(cells) => *cells = self.meter.cell,
            None => stretch.lead = self.meter.cell,
        }
        self.meter = Meter::new(0, self.tab_width);
        stretch
    }
}
