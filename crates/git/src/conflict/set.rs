//! The conflicts in a text, their sides and their resolutions.
//!
//! The state of a conflict follows from the text at its place, so that undo, redo and edits by hand
//! need no bookkeeping.
//! Invariant: conflicts are in text order and do not overlap.
//! Start at `ConflictSet::read`.

use std::ops::Range;

use base::{ByteOffset, Span};
use text::{Change, Edit, Snapshot};

use super::marker_text::{BlockSides, MARKER_SIZE, MarkedText, MarkerBlock, without_ending};
use super::proposal::{MergeProposal, propose};
use super::stages::{ConflictNames, TextStages};
use crate::merge::{ConflictLines, MergeRegion, merge_bytes};

/// The resolution of one conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConflictResolution {
    /// The lines of our side.
    Ours,
    /// The lines of their side.
    Theirs,
    /// The lines of our side, then those of their side.
    OursThenTheirs,
    /// The lines of their side, then those of our side.
    TheirsThenOurs,
    /// The lines of the merge base.
    Base,
    /// Another text without markers.
    Edited,
}

/// One conflict in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextConflict {
    span: Span,
    /// Text of each side, with the line endings of the text around it.
    ours: String,
    theirs: String,
    /// `None` if neither the index nor the markers tell it.
    base: Option<String>,
    lines: Option<ConflictLines>,
    proposal: Option<MergeProposal>,
    /// Marker lines without endings. Lines that a side contains as well are left out.
    markers: Vec<String>,
    /// Whether the first of `markers` begins the block.
    is_first_known: bool,
    /// The line ending of the text around it.
    ending: &'static str,
    resolution: Option<ConflictResolution>,
}

/// The conflicts in one text, whose places follow edits.
#[derive(Clone, Debug)]
pub struct ConflictSet {
    names: ConflictNames,
    conflicts: Vec<TextConflict>,
    stages: Option<TextStages>,
    marker_size: usize,
}

impl TextConflict {
    /// Returns the place of the conflict: its markers with all between them, or the text that
    /// resolved it.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Returns the resolution; `None` while the text has markers.
    pub fn resolution(&self) -> Option<ConflictResolution> {
        self.resolution
    }

    /// Returns the lines of the conflict in the versions of the index. `None` if it was found by its
    /// markers alone.
    pub fn lines(&self) -> Option<&ConflictLines> {
        self.lines.as_ref()
    }

    /// Returns the text that a resolution puts in place of the conflict. `None` for `Edited`, and
    /// for an unknown base.
    pub fn text_of(&self, resolution: ConflictResolution) -> Option<String> {
        match resolution {
            ConflictResolution::Ours => Some(self.ours.clone()),
            ConflictResolution::Theirs => Some(self.theirs.clone()),
            ConflictResolution::OursThenTheirs => Some(self.joined(&self.ours, &self.theirs)),
            ConflictResolution::TheirsThenOurs => Some(self.joined(&self.theirs, &self.ours)),
            ConflictResolution::Base => self.base.clone(),
            ConflictResolution::Edited => None,
        }
    }

    /// Returns a text that keeps both changes, if they fit together.
    pub fn proposal(&self) -> Option<&MergeProposal> {
        self.proposal.as_ref()
    }

    /// Returns whether a resolution puts `text` in place of the conflict.
    fn is_text_of(&self, resolution: ConflictResolution, text: &str) -> bool {
        match resolution {
            ConflictResolution::Ours => text == self.ours,
            ConflictResolution::Theirs => text == self.theirs,
            ConflictResolution::OursThenTheirs => self.is_joined(text, &self.ours, &self.theirs),
            ConflictResolution::TheirsThenOurs => self.is_joined(text, &self.theirs, &self.ours),
            ConflictResolution::Base => self.base.as_deref() == Some(text),
            ConflictResolution::Edited => false,
        }
    }

    /// Returns two texts in a row, on separate lines.
    fn joined(&self, one: &str, two: &str) -> String {
        format!("{one}{}{two}", self.ending_between(one, two))
    }

    /// Returns whether a text is `joined(one, two)`.
    fn is_joined(&self, text: &str, one: &str, two: &str) -> bool {
        let rest = text.strip_prefix(one);
        let rest = rest.and_then(|rest| rest.strip_prefix(self.ending_between(one, two)));
        rest == Some(two)
    }

    fn ending_between(&self, one: &str, two: &str) -> &'static str {
        let is_open = !one.is_empty() && !one.ends_with('\n') && !two.is_empty();
        if is_open { self.ending } else { "" }
    }

    /// Returns whether the text still has the first marker at the start of the conflict, which is
    /// then open. Reads one line, so that typing in a long conflict is cheap.
    fn is_begun(&self, text: &Snapshot) -> bool {
        let Some(marker) = self.markers.first().filter(|_| self.is_first_known) else {
            return false;
        };
        let end = (self.span.start + marker.len()).min(self.span.end);
        text.text(Span::new(self.span.start, end)) == marker.as_str()
    }

    /// Returns the resolution that `text` in place of the conflict means; `None` if it has markers.
    fn resolution_by(&self, text: &str) -> Option<ConflictResolution> {
        use ConflictResolution as R;
        let choices = [
            R::Ours,
            R::Theirs,
            R::OursThenTheirs,
            R::TheirsThenOurs,
            R::Base,
        ];
        let is_text = |it: &R| self.is_text_of(*it, text);
        let is_marker = |line: &str| self.markers.iter().any(|it| it == without_ending(line));
        match choices.into_iter().find(is_text) {
            Some(choice) => Some(choice),
            None if text.split_inclusive('\n').any(is_marker) => None,
            None => Some(R::Edited),
        }
    }
}

impl ConflictSet {
    /// Finds the conflicts in a text. `stages` are the sides in the index, if there are any; blocks
    /// that quote markers from them are no conflicts. Without `names`, the labels of the first
    /// markers name the sides. Takes time in proportion to the texts.
    pub fn read(
        text: &str,
        stages: Option<TextStages>,
        names: Option<ConflictNames>,
        marker_size: usize,
    ) -> Self {
        let marked = MarkedText::new(text, marker_size);
        let blocks = blocks_of(&marked, text, stages.as_ref());
        let names = names.unwrap_or_else(|| names_in(text, blocks.first()));
        let conflicts = blocks.into_iter().map(|(block, region)| {
            let is_last = block.span.end == text.len();
            conflict_of(text, &block, region, stages.as_ref().filter(|_| is_last))
        });
        Self {
            names,
            conflicts: conflicts.collect(),
            stages,
            marker_size,
        }
    }

    /// Finds the conflicts in a text by its markers alone.
    pub fn of_markers(text: &str, names: Option<ConflictNames>) -> Self {
        Self::read(text, None, names, MARKER_SIZE)
    }

    /// Returns the names of the sides.
    pub fn names(&self) -> &ConflictNames {
        &self.names
    }

    /// Returns the versions of the text in the index, if it has them.
    pub fn stages(&self) -> Option<&TextStages> {
        self.stages.as_ref()
    }

    /// Returns all conflicts in text order, resolved ones included.
    pub fn conflicts(&self) -> &[TextConflict] {
        &self.conflicts
    }

    /// Returns the number of conflicts that are not resolved.
    pub fn remaining(&self) -> usize {
        let is_open = |it: &&TextConflict| it.resolution.is_none();
        self.conflicts.iter().filter(is_open).count()
    }

    /// Returns the index of the conflict at an offset, or else of the next one, or else of the last.
    pub fn at(&self, offset: ByteOffset) -> Option<usize> {
        let next = self
            .conflicts
            .partition_point(|it| it.span.end <= offset && it.span.start < offset);
        let last = self.conflicts.len().checked_sub(1)?;
        Some(next.min(last))
    }

    /// Returns the index of the first open conflict that begins behind an offset, wrapping around.
    pub fn next(&self, offset: ByteOffset) -> Option<usize> {
        let is_open = |ix: &usize| self.conflicts[*ix].resolution.is_none();
        let mut all = 0..self.conflicts.len();
        let behind = |ix: &usize| self.conflicts[*ix].span.start > offset;
        let found = all.clone().find(|ix| is_open(ix) && behind(ix));
        found.or_else(|| all.find(is_open))
    }

    /// Returns the index of the last open conflict that begins before an offset, wrapping around.
    pub fn previous(&self, offset: ByteOffset) -> Option<usize> {
        let is_open = |ix: &usize| self.conflicts[*ix].resolution.is_none();
        let mut all = (0..self.conflicts.len()).rev();
        let before = |ix: &usize| self.conflicts[*ix].span.start < offset;
        let found = all.clone().find(|ix| is_open(ix) && before(ix));
        found.or_else(|| all.find(is_open))
    }

    /// Returns the edit that resolves one conflict. `None` if there is no such conflict or the
    /// resolution has no text.
    pub fn edit(&self, index: usize, resolution: ConflictResolution) -> Option<Edit> {
        let conflict = self.conflicts.get(index)?;
        Some(Edit::new(conflict.span, conflict.text_of(resolution)?))
    }

    /// Returns the edits that resolve all open conflicts in the same way.
    pub fn edits_for_all(&self, resolution: ConflictResolution) -> Vec<Edit> {
        let open = self.conflicts.iter().enumerate();
        let open = open.filter(|(_, it)| it.resolution.is_none());
        open.filter_map(|(ix, _)| self.edit(ix, resolution))
            .collect()
    }

    /// Maps the conflicts through a change of the text, which is `after` now. Returns whether the
    /// resolution of one changed.
    pub fn follow(&mut self, change: &Change, after: &Snapshot) -> bool {
        let mut is_changed = false;
        for conflict in &mut self.conflicts {
            let before = conflict.span;
            conflict.span = mapped(before, change);
            let is_touched = change
                .splices
                .iter()
                .any(|splice| splice.old.start <= before.end && before.start <= splice.old.end);
            let is_open = conflict.resolution.is_none();
            if is_touched && !(is_open && conflict.is_begun(after)) {
                let resolution = conflict.resolution_by(&after.text(conflict.span));
                is_changed |= resolution != conflict.resolution;
                conflict.resolution = resolution;
            }
        }
        is_changed
    }

    /// Returns the first byte of a conflict that the text still has, or of another block of markers
    /// that the index does not have. Takes time in proportion to the text.
    pub fn markers_left(&self, text: &str) -> Option<ByteOffset> {
        let open = self.conflicts.iter().find(|it| it.resolution.is_none());
        if let Some(conflict) = open {
            return Some(conflict.span.start);
        }
        let marked = MarkedText::new(text, self.marker_size);
        let blocks = blocks_of(&marked, text, self.stages.as_ref());
        let first = blocks.first();
        first.map(|(block, _)| ByteOffset(block.span.start))
    }
}

/// A conflict of the versions in the index.
#[derive(Clone)]
struct StagedRegion {
    base: String,
    ours: String,
    theirs: String,
    lines: ConflictLines,
}

/// Returns the blocks of a text that are conflicts, with their lines in the index if it has them.
fn blocks_of(
    marked: &MarkedText<'_>,
    text: &str,
    stages: Option<&TextStages>,
) -> Vec<(MarkerBlock, Option<StagedRegion>)> {
    let regions = stages.map(conflicted_regions).unwrap_or_default();
    let (mut blocks, mut next, mut end) = (Vec::new(), 0, 0);
    for first in marked.starts() {
        if marked.start_of(first) < end {
            continue;
        }
        let known = (next..regions.len()).find_map(|ix| {
            let region: &StagedRegion = &regions[ix];
            let sides = BlockSides {
                base: &region.base,
                ours: &region.ours,
                theirs: &region.theirs,
            };
            Some((ix, marked.block_of(first, sides)?))
        });
        let found = match known {
            Some((ix, block)) => {
                next = ix + 1;
                Some((block, Some(regions[ix].clone())))
            }
            None => {
                let block = marked.block_at(first);
                let block = block.filter(|it| !is_quoted(&text[it.span.clone()], stages));
                block.map(|block| (block, None))
            }
        };
        if let Some((block, region)) = found {
            end = block.span.end;
            blocks.push((block, region));
        }
    }
    blocks
}

/// Returns the conflicts that a merge of the stages has.
fn conflicted_regions(stages: &TextStages) -> Vec<StagedRegion> {
    let base = stages.base.as_deref().unwrap_or_default();
    let merged = merge_bytes(
        base.as_bytes(),
        stages.ours.as_bytes(),
        stages.theirs.as_bytes(),
    );
    // Lines of a text are text, so nothing is replaced.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let regions = merged.regions.iter().filter_map(|region| match region {
        MergeRegion::Clean(_) => None,
        MergeRegion::Conflicted {
            base,
            ours,
            theirs,
            lines,
        } => Some(StagedRegion {
            base: text(base),
            ours: text(ours),
            theirs: text(theirs),
            lines: lines.clone(),
        }),
    });
    regions.collect()
}

/// Returns whether a side contains the whole block, markers included.
fn is_quoted(block: &str, stages: Option<&TextStages>) -> bool {
    let lines = |text: &str| text.replace("\r\n", "\n");
    stages.is_some_and(|stages| {
        let block = lines(block);
        [&stages.ours, &stages.theirs]
            .into_iter()
            .any(|side| lines(side).contains(&block))
    })
}

/// Builds the conflict of a block. `last` are the stages if the block ends the text.
fn conflict_of(
    text: &str,
    block: &MarkerBlock,
    region: Option<StagedRegion>,
    last: Option<&TextStages>,
) -> TextConflict {
    let is_crlf = text[block.span.clone()].contains("\r\n");
    let staged = region.as_ref().map(|it| with_endings(&it.base, is_crlf));
    let base = match &block.base {
        Some(span) => Some(text[span.clone()].to_owned()),
        None => staged,
    };
    // Git ends the last line of each side, so that a marker can follow.
    let side = |span: &Range<usize>, stage: Option<&str>| {
        let lines = &text[span.clone()];
        let is_ended = stage.is_none_or(|stage| stage.is_empty() || stage.ends_with('\n'));
        let lines = if is_ended {
            lines
        } else {
            without_ending(lines)
        };
        lines.to_owned()
    };
    let ours = side(&block.ours, last.map(|it| &*it.ours));
    let theirs = side(&block.theirs, last.map(|it| &*it.theirs));
    let base_stage = last.and_then(|it| it.base.as_deref());
    let base = base.map(|base| match base_stage {
        Some(stage) if !stage.is_empty() && !stage.ends_with('\n') => {
            without_ending(&base).to_owned()
        }
        _ => base,
    });
    let is_in_side = |line: &str| {
        let sides = [Some(&ours), Some(&theirs), base.as_ref()];
        let mut lines = sides.into_iter().flatten().flat_map(|it| it.lines());
        lines.any(|it| it == line)
    };
    let markers = block.markers.iter().map(|span| &text[span.clone()]);
    let markers: Vec<String> = markers
        .filter(|line| !is_in_side(line))
        .map(str::to_owned)
        .collect();
    let begin = block.markers.first().map(|span| &text[span.clone()]);
    let is_first_known = begin.is_some() && markers.first().map(String::as_str) == begin;
    TextConflict {
        span: Span::from(block.span.clone()),
        proposal: propose(base.as_deref(), &ours, &theirs),
        ours,
        theirs,
        base,
        lines: region.map(|it| it.lines),
        markers,
        is_first_known,
        ending: if is_crlf { "\r\n" } else { "\n" },
        resolution: None,
    }
}

/// Returns the names after the markers of the first block.
fn names_in(text: &str, first: Option<&(MarkerBlock, Option<StagedRegion>)>) -> ConflictNames {
    let label = |marker: Option<&Range<usize>>, unnamed: &str| {
        let line = marker.map_or("", |span| &text[span.clone()]);
        let label = line.split_once(' ').map(|(_, label)| label);
        let label = label.filter(|label| !label.is_empty());
        label.unwrap_or(unnamed).to_owned()
    };
    let markers = first.map(|(block, _)| block.markers.as_slice());
    let markers = markers.unwrap_or_default();
    ConflictNames {
        ours: label(markers.first(), "ours"),
        theirs: label(markers.last(), "theirs"),
    }
}

fn with_endings(text: &str, is_crlf: bool) -> String {
    if is_crlf && !text.contains("\r\n") {
        text.replace('\n', "\r\n")
    } else {
        text.to_owned()
    }
}

/// Maps the place of a conflict. A place that a resolution emptied takes the text that is inserted
/// there, so that undo gives it back.
fn mapped(span: Span, change: &Change) -> Span {
    let fills = |splice: &text::Splice| splice.old == span;
    match change.splices.iter().find(|splice| fills(splice)) {
        Some(splice) => splice.new,
        None => change.map_span(span),
    }
}
