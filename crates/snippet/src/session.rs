//! A session: the tab stops of an inserted snippet, filled in one after the other.
//!
//! Invariant: text that is typed in a tab stop belongs to it and to the tab stops around it.
//! Start at `SnippetSession::begin`.

use base::{Bias, ByteOffset, Span};
use text::{Change, Edit, Selection, SelectionSet, Snapshot};

use crate::expand::{Expansion, StopOccurrence};
use crate::transform::Transform;

/// The tab stops of a snippet that was inserted at one or more carets.
#[derive(Clone, Debug)]
pub struct SnippetSession {
    /// In the order in which they are visited, the final one last.
    stops: Vec<SessionStop>,
    /// Index of the tab stop that is being filled in.
    active: usize,
    /// The inserted texts.
    extents: Vec<Span>,
}

#[derive(Clone, Debug)]
struct SessionStop {
    number: u32,
    occurrences: Vec<SessionOccurrence>,
}

#[derive(Clone, Debug)]
struct SessionOccurrence {
    span: Span,
    inside: Vec<u32>,
    transform: Option<Transform>,
}

impl SnippetSession {
    /// Begins a session after the insertion of expansions of one snippet, each at its offset in the
    /// text after the insertion. Returns the selections of the first tab stop, and no session if
    /// that is the final one.
    ///
    /// `primary` is the index of the expansion with the primary caret.
    pub fn begin(
        expansions: &[(ByteOffset, Expansion)],
        primary: usize,
    ) -> (SelectionSet, Option<Self>) {
        let mut stops: Vec<SessionStop> = Vec::new();
        let mut extents = Vec::new();
        for (start, expansion) in expansions {
            extents.push(Span::new(*start, *start + expansion.text.len()));
            for stop in &expansion.stops {
                let occurrences = stop.occurrences.iter().map(|it| placed(it, *start));
                match stops.iter_mut().find(|known| known.number == stop.number) {
                    Some(known) => known.occurrences.extend(occurrences),
                    None => stops.push(SessionStop {
                        number: stop.number,
                        occurrences: occurrences.collect(),
                    }),
                }
            }
        }
        let session = Self {
            stops,
            active: 0,
            extents,
        };
        let selections = session.selections(primary);
        let goes_on = session.stops.len() > 1;
        (selections, goes_on.then_some(session))
    }

    /// Maps the tab stops through a change of the text.
    pub fn follow(&mut self, change: &Change) {
        let Some(active) = self.stops.get(self.active) else {
            return;
        };
        let around: Vec<u32> = active
            .occurrences
            .iter()
            .flat_map(|it| it.inside.iter().copied())
            .collect();
        let active_number = active.number;
        let is_behind_active = |ix: usize| ix > self.active;
        for (ix, stop) in self.stops.iter_mut().enumerate() {
            let grows = stop.number == active_number || around.contains(&stop.number);
            for occurrence in &mut stop.occurrences {
                occurrence.span = if grows {
                    grown(change, occurrence.span)
                } else if occurrence.span.is_empty() && is_behind_active(ix) {
                    Span::at(change.map(occurrence.span.start, Bias::Right))
                } else {
                    change.map_span(occurrence.span)
                };
            }
        }
        for extent in &mut self.extents {
            *extent = grown(change, *extent);
        }
    }

    /// Returns whether all selections are in the inserted texts; the session ends otherwise.
    pub fn contains(&self, selections: &SelectionSet) -> bool {
        let is_inside = |selection: &Selection| {
            let span = selection.span();
            let mut extents = self.extents.iter();
            extents.any(|extent| {
                !extent.is_empty() && extent.start <= span.start && span.end <= extent.end
            })
        };
        selections.iter().all(is_inside)
    }

    /// Returns whether the final tab stop is reached, which ends the session.
    pub fn is_at_end(&self) -> bool {
        self.active + 1 >= self.stops.len()
    }

    /// Returns the spans of the tab stops that are not being filled in and not empty.
    pub fn other_stops(&self) -> impl Iterator<Item = Span> {
        let others = self.stops.iter().enumerate();
        others
            .filter(|(ix, _)| *ix != self.active)
            .flat_map(|(_, stop)| stop.occurrences.iter().map(|it| it.span))
            .filter(|span| !span.is_empty())
    }

    /// Returns the edits that apply the transforms of the active tab stop to the text typed in it.
    pub fn transforms(&self, text: &Snapshot) -> Vec<Edit> {
        let Some(stop) = self.stops.get(self.active) else {
            return Vec::new();
        };
        let edits = stop.occurrences.iter().filter_map(|occurrence| {
            let transform = occurrence.transform.as_ref()?;
            let old = text.text(occurrence.span);
            let new = transform.apply(&old);
            (new != old).then(|| Edit::new(occurrence.span, new))
        });
        edits.collect()
    }

    /// Moves to the next tab stop and returns its selections.
    pub fn next_stop(&mut self) -> SelectionSet {
        self.active = (self.active + 1).min(self.stops.len().saturating_sub(1));
        self.selections(0)
    }

    /// Moves to the previous tab stop and returns its selections. Stays at the first one.
    pub fn previous_stop(&mut self) -> SelectionSet {
        self.active = self.active.saturating_sub(1);
        self.selections(0)
    }

    /// Returns the selections of the active tab stop; the `primary`th occurrence is the primary one.
    fn selections(&self, primary: usize) -> SelectionSet {
        let spans = self.stops.get(self.active).map(|stop| &stop.occurrences);
        let selections: Vec<Selection> = spans
            .into_iter()
            .flatten()
            .map(|it| Selection::new(it.span.start, it.span.end))
            .collect();
        let primary = primary.min(selections.len().saturating_sub(1));
        SelectionSet::new(selections, primary)
    }
}

fn placed(occurrence: &StopOccurrence, start: ByteOffset) -> SessionOccurrence {
    let range = &occurrence.range;
    SessionOccurrence {
        span: Span::new(start + range.start, start + range.end),
        inside: occurrence.inside.clone(),
        transform: occurrence.transform.clone(),
    }
}

/// Maps a span through a change; text that was inserted at its ends belongs to it.
fn grown(change: &Change, span: Span) -> Span {
    Span::new(
        change.map(span.start, Bias::Left),
        change.map(span.end, Bias::Right),
    )
}

#[cfg(test)]
mod tests;
