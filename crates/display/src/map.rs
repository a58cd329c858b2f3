//! The display map: keeps the layers in sync with the buffer, the folds, the inlays and the blocks.

use std::sync::atomic::AtomicBool;

use base::{Bias, ByteOffset, Span};
use text::{Change, PlacedMark, Snapshot, SpanSet};

use crate::block::{BlockId, BlockMark, BlockSpec, height_in_parts};
use crate::fold;
use crate::fold::FoldMark;
use crate::inlay::{Inlay, InlayId, InlayMark};
use crate::job::{PendingWrapJob, WrapDone, WrapJob};
use crate::limits::{JOB_BYTES, JOB_ITEMS, JOINED_MARKS, JOINED_SPLICES, SYNC_BYTES};
use crate::position::{DisplayOptions, DisplayRow};
use crate::shown_text::DirtySpan;
use crate::snapshot::DisplaySnapshot;
use crate::wrap::{DisplayRowEdit, LineReplacement, WrapOptions, wrap_lines};

/// The layers between one buffer and one view of it: inlays, folds, tabs, wraps and blocks. The
/// methods of the map change it. Queries use its snapshot.
pub struct DisplayMap {
    /// Current state of all layers.
    state: DisplaySnapshot,
    inlays: SpanSet<InlayMark>,
    blocks: SpanSet<BlockMark>,
    /// The background job handed out last.
    outstanding: Option<PendingWrapJob>,
    /// Counter for ids of folds, blocks and jobs, and ages of inlays.
    next_id: u64,
}

/// Reason for an update.
#[derive(Clone, Copy)]
enum UpdateCause {
    /// The text was edited.
    Text,
    /// Folds or inlays changed.
    Marks,
}

impl DisplayMap {
    /// Creates a map without folds, inlays or blocks. Cheap for any text length.
    pub fn new(buffer: Snapshot, options: DisplayOptions) -> Self {
        Self {
            state: DisplaySnapshot::new(buffer, options),
            inlays: SpanSet::new(),
            blocks: SpanSet::new(),
            outstanding: None,
            next_id: 0,
        }
    }

    /// Returns the current snapshot; cheap, and usable on any thread.
    pub fn snapshot(&self) -> DisplaySnapshot {
        self.state.clone()
    }

    /// Returns the tab width and wrap width in force.
    pub fn options(&self) -> DisplayOptions {
        self.state.options
    }

    /// Applies an edit: `buffer` is the text after `change`, which begins at the map's revision.
    pub fn sync(&mut self, buffer: &Snapshot, change: &Change) {
        let now = self.state.buffer().revision();
        if buffer.revision() == now {
            return;
        }
        if change.before != now || change.after != buffer.revision() {
            base::never!("display map at {now:?} was given the change {change:?}");
            let state = DisplaySnapshot::new(buffer.clone(), self.state.options);
            *self = Self {
                state,
                inlays: SpanSet::new(),
                blocks: SpanSet::new(),
                outstanding: None,
                next_id: self.next_id,
            };
            return;
        }
        self.state.folds.map(change);
        self.inlays.map(change);
        self.blocks.map(change);
        let dirty: Vec<DirtySpan> = change
            .splices
            .iter()
            .map(|splice| DirtySpan {
                old: splice.old,
                new: splice.new,
            })
            .collect();
        self.follow(buffer, &dirty, UpdateCause::Text);
    }

    /// Changes tab width or wrapping. Wrapped rows keep their old breaks until jobs or `wrap_rows`
    /// wrap them again. Turning wrapping off takes effect at once.
    pub fn set_options(&mut self, options: DisplayOptions) {
        let before = std::mem::replace(&mut self.state.options, options);
        if before == options {
            return;
        }
        self.outstanding = None;
        self.state.long_lines = Default::default();
        if options.wrap.is_some() {
            self.state.wrap.grow_stale();
        } else if before.wrap.is_some() {
            let edit = self.state.wrap.unwrap_all();
            self.place_blocks(&[edit]);
            let broken = self.state.shown.broken_lines();
            let rows = self.state.wrap.break_lines(&broken, &self.state.shown);
            self.place_blocks(&rows);
        }
    }

    /// Returns the next lines to wrap in the background, and makes earlier jobs outdated. Returns
    /// `None` if all lines are wrapped, or wrapping is off.
    pub fn wrap_job(&mut self) -> Option<WrapJob> {
        let options = self.wrap_options()?;
        let DisplaySnapshot { shown, wrap, .. } = &self.state;
        let stale = wrap.stale_lines(0, JOB_ITEMS)?;
        let limit = shown.line_at_shown(shown.line_span(stale.start).shown.start + JOB_BYTES);
        let job = WrapJob {
            id: self.next_id,
            shown: shown.clone(),
            lines: stale.start..stale.end.min(limit).max(stale.start + 1),
            options,
            generation: wrap.generation(),
        };
        self.next_id += 1;
        self.outstanding = Some(PendingWrapJob::new(&job));
        Some(job)
    }

    /// Applies wrapped lines. Returns `false` if they were outdated and had no effect. In both
    /// cases, request the next job afterwards.
    pub fn accept(&mut self, done: WrapDone) -> bool {
        let generation = self.state.wrap.generation();
        let outstanding = self
            .outstanding
            .take_if(|job| job.id == done.id && job.generation == generation);
        let Some(outstanding) = outstanding else {
            return false;
        };
        let replacements = outstanding.replacements(&done);
        let is_useful = !replacements.is_empty();
        self.replace_rows(replacements);
        is_useful
    }

    /// Returns whether lines wait to be wrapped in the background.
    pub fn is_wrapping(&self) -> bool {
        self.state.options.wrap.is_some() && self.state.wrap.stale_lines(0, 1).is_some()
    }

    /// Immediately wraps lines that are about to be shown, up to a bounded number of bytes. Returns
    /// `true` if rows may have moved.
    pub fn wrap_rows(&mut self, first: DisplayRow, count: u32) -> bool {
        let Some(options) = self.wrap_options() else {
            return false;
        };
        let DisplaySnapshot { shown, wrap, .. } = &self.state;
        let last_line = wrap.row(first.0.saturating_add(count)).line;
        let mut line = wrap.row(first.0).line;
        let mut budget = SYNC_BYTES;
        let mut replacements = Vec::new();
        let never = AtomicBool::new(false);
        while let Some(stale) = wrap.stale_lines(line, 1)
            && stale.start <= last_line
        {
            line = stale.start + 1;
            let Some(rest) = budget.checked_sub(shown.line_span(stale.start).shown.len()) else {
                continue;
            };
            budget = rest.saturating_sub(1);
            let lines = stale.start..line;
            let generation = wrap.generation();
            if let Some(items) = wrap_lines(shown, lines.clone(), options, generation, &never) {
                replacements.push(LineReplacement {
                    old_lines: lines,
                    items,
                });
            }
        }
        if replacements.is_empty() {
            return false;
        }
        self.replace_rows(replacements);
        true
    }

    /// Returns the options for wrapping, with rows of at least one cell; `None` if lines are not
    /// wrapped.
    fn wrap_options(&self) -> Option<WrapOptions> {
        Some(WrapOptions {
            cells: self.state.options.wrap?.max(1),
            tab_width: self.state.options.tab_width,
        })
    }

    /// Updates all layers after the marks.
    fn follow(&mut self, buffer: &Snapshot, dirty: &[DirtySpan], cause: UpdateCause) {
        let options = self.wrap_options();
        let joined = self.joined(dirty, cause);
        let dirty = joined.as_ref().map_or(dirty, std::slice::from_ref);
        let state = &mut self.state;
        let lines = state.shown.sync(buffer, dirty, &state.folds, &self.inlays);
        if let Some(outstanding) = &mut self.outstanding {
            outstanding.edit(&lines);
        }
        state.long_lines = state
            .long_lines
            .after(&lines, &state.shown, state.options.tab_width);
        let rows = state.wrap.edit(&lines, &state.shown, options);
        self.place_blocks(&rows);
    }

    /// Joins the dirty spans of an unwrapped text, if deriving everything between them is cheaper.
    fn joined(&self, dirty: &[DirtySpan], cause: UpdateCause) -> Option<DirtySpan> {
        let (first, last) = (dirty.first()?, dirty.last()?);
        let is_plain = self.state.folds.is_empty() && self.inlays.is_empty();
        let is_many = match cause {
            _ if is_plain => dirty.len() > JOINED_SPLICES,
            UpdateCause::Text => false,
            UpdateCause::Marks => dirty.len() > JOINED_MARKS,
        };
        (is_many && self.state.options.wrap.is_none()).then(|| DirtySpan {
            old: first.old.union(last.old),
            new: first.new.union(last.new),
        })
    }

    fn replace_rows(&mut self, replacements: Vec<LineReplacement>) {
        let rows = self.state.wrap.replace(replacements);
        self.place_blocks(&rows);
    }

    fn place_blocks(&mut self, rows: &[DisplayRowEdit]) {
        let state = &mut self.state;
        state
            .blocks
            .sync(rows, &self.blocks, &state.shown, &state.wrap);
    }

    /// Returns an id that this map has not used yet; ids increase.
    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

/// Folds. Adding one costs the size of the hidden text and `log n`; removing grows with the number of folds.
impl DisplayMap {
    /// Folds spans; empty ones are ignored, equal ones are stored once.
    pub fn fold(&mut self, spans: &[Span]) {
        let buffer = self.state.buffer().clone();
        let mut marks: Vec<PlacedMark<FoldMark>> = Vec::new();
        let mut sorted = spans.to_vec();
        sorted.sort_by_key(|span| (span.start, span.end));
        sorted.dedup();
        for span in sorted {
            let span = fold::hidden(span, &buffer);
            let is_known = self
                .state
                .folds
                .from(span.start.0)
                .take_while(|other| other.span.start == span.start)
                .any(|other| other.span == span);
            if !span.is_empty() && !is_known {
                let mark = FoldMark { id: self.new_id() };
                marks.push(PlacedMark { span, mark });
            }
        }
        let dirty = dirty(marks.iter().map(|placed| placed.span), &buffer);
        self.state.folds.insert(marks);
        self.follow(&buffer, &dirty, UpdateCause::Marks);
    }

    /// Removes every fold that overlaps the span, or that hides the byte at an empty span.
    pub fn unfold(&mut self, span: Span) {
        let folds = self.state.folds.touching(span).into_iter();
        let mut ids: Vec<u64> = folds
            .filter(|fold| fold.span.overlaps(span) || fold.span.contains(span.start))
            .map(|fold| fold.mark.id)
            .collect();
        ids.sort_unstable();
        if !ids.is_empty() {
            self.remove_folds(|fold| ids.binary_search(&fold.mark.id).is_ok());
        }
    }

    /// Removes all folds at once.
    pub fn unfold_all(&mut self) {
        self.remove_folds(|_| true);
    }

    /// Returns the spans of all folds, by start, outer ones first.
    pub fn folds(&self) -> Vec<Span> {
        fold::spans(self.state.folds.all())
    }

    /// Removes the folds for which `is_unwanted` holds, and updates all layers.
    fn remove_folds(&mut self, is_unwanted: impl Fn(&PlacedMark<FoldMark>) -> bool) {
        let removed = self.state.folds.retain(|fold| !is_unwanted(fold));
        let buffer = self.state.buffer().clone();
        let dirty = dirty(removed.iter().map(|placed| placed.span), &buffer);
        self.follow(&buffer, &dirty, UpdateCause::Marks);
    }
}

/// Inlays. Adding one costs `log n`; removing grows with the number of inlays.
impl DisplayMap {
    /// Removes the inlays with the ids in `remove`, ignoring unknown ids, and adds those in `add`.
    /// Inlays at the same offset keep their insertion order.
    pub fn splice_inlays(&mut self, remove: &[InlayId], add: Vec<Inlay>) {
        if remove.is_empty() {
            return self.add_inlays(Vec::new(), add);
        }
        let mut remove = remove.to_vec();
        remove.sort_unstable();
        self.replace_inlays(|id| remove.binary_search(&id).is_ok(), add);
    }

    /// Returns all inlays with their current offsets, sorted. The cost grows with their number.
    pub fn inlay_offsets(&self) -> Vec<(InlayId, ByteOffset)> {
        let inlays = self.inlays.from(0);
        inlays
            .map(|inlay| (inlay.mark.id, inlay.span.start))
            .collect()
    }

    /// Removes the inlays whose ids `is_unwanted` accepts, adds those in `add`, and updates all
    /// layers.
    fn replace_inlays(&mut self, is_unwanted: impl Fn(InlayId) -> bool, add: Vec<Inlay>) {
        let removed = self.inlays.retain(|inlay| !is_unwanted(inlay.mark.id));
        self.add_inlays(removed, add);
    }

    fn add_inlays(&mut self, removed: Vec<PlacedMark<InlayMark>>, add: Vec<Inlay>) {
        let buffer = self.state.buffer().clone();
        let mut spans: Vec<Span> = removed.iter().map(|inlay| inlay.span).collect();
        let mut marks = Vec::new();
        for inlay in &add {
            let age = self.new_id();
            marks.extend(InlayMark::to_mark(inlay, age, &buffer));
        }
        spans.extend(marks.iter().map(|inlay| inlay.span));
        self.inlays.insert(marks);
        let dirty = dirty(spans.into_iter(), &buffer);
        self.follow(&buffer, &dirty, UpdateCause::Marks);
    }
}

/// Blocks. Inserting one costs `log n`; finding one by its id grows with the number of blocks.
impl DisplayMap {
    /// Inserts a block between two rows and returns its id. The block follows the text of its row.
    pub fn insert_block(&mut self, spec: BlockSpec) -> BlockId {
        let id = BlockId(self.new_id());
        let placed = BlockMark::to_mark(&spec, id, self.state.buffer());
        let at = placed.span.start;
        self.blocks.insert(vec![placed]);
        self.place_blocks_at(vec![at]);
        id
    }

    /// Removes a block; an unknown id is ignored.
    pub fn remove_block(&mut self, id: BlockId) {
        self.remove_blocks(&[id]);
    }

    /// Removes several blocks at once. Ignores unknown ids.
    pub fn remove_blocks(&mut self, ids: &[BlockId]) {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        let removed = self
            .blocks
            .retain(|block| ids.binary_search(&block.mark.id).is_err());
        self.place_blocks_at(removed.iter().map(|block| block.span.start).collect());
    }

    /// Sets the height of a block, in line heights. Ignores an unknown id.
    pub fn resize_block(&mut self, id: BlockId, height: f32) {
        let removed = self.blocks.retain(|block| block.mark.id != id);
        let offsets = removed.iter().map(|block| block.span.start).collect();
        let resized = removed.into_iter().map(|mut block| {
            block.mark.height = height_in_parts(height);
            block
        });
        self.blocks.insert(resized.collect());
        self.place_blocks_at(offsets);
    }

    /// Recomputes the blocks of the lines that show these offsets.
    fn place_blocks_at(&mut self, offsets: Vec<ByteOffset>) {
        let DisplaySnapshot { shown, wrap, .. } = &self.state;
        let mut lines: Vec<u32> = offsets.into_iter().map(|at| shown.line_at(at)).collect();
        lines.sort_unstable();
        lines.dedup();
        let edits = lines.into_iter().map(|line| {
            let rows = wrap.first_row(line)..wrap.first_row(line + 1);
            DisplayRowEdit {
                lines: line..line + 1,
                old_rows: rows.clone(),
                new_rows: rows,
            }
        });
        let edits: Vec<DisplayRowEdit> = edits.collect();
        self.place_blocks(&edits);
    }
}

/// Dirty spans of a text that did not change itself: sorted, overlapping ones joined.
fn dirty(spans: impl Iterator<Item = Span>, buffer: &Snapshot) -> Vec<DirtySpan> {
    // A fold or inlay that would split a line ending begins before the ending.
    let mut spans: Vec<Span> = spans
        .map(|span| Span::new(buffer.clip(span.start, Bias::Left), span.end))
        .collect();
    spans.sort_by_key(|span| span.start);
    let mut dirty: Vec<DirtySpan> = Vec::new();
    for span in spans {
        match dirty.last_mut() {
            Some(last) if span.start <= last.old.end => {
                let joined = last.old.union(span);
                *last = DirtySpan {
                    old: joined,
                    new: joined,
                };
            }
            _ => dirty.push(DirtySpan {
                old: span,
                new: span,
            }),
        }
    }
    dirty
}
