//! Diagnostics of the sources, shown in the combined text.
//!
//! Must not know: how diagnostics are drawn. Start at `Excerpts::show_diagnostics`.

use base::{ByteOffset, Span};
use gpui_kit::{AppContext as _, Context};
use lsp::Diagnostic;

use super::Excerpts;
use super::placement::ExcerptPlacement;
use crate::model::{DiagnosticOrigin, DiagnosticSet, PlacedDiagnostic};

/// Maximum number of diagnostics in all excerpts.
const MAX_SHOWN: usize = 5_000;

impl Excerpts {
    /// Replaces the diagnostics of the combined text by those of the sources. A later call cancels an earlier one that
    /// is not done.
    pub(super) fn show_diagnostics(&mut self, cx: &mut Context<Self>) {
        let mut placed = Vec::new();
        for place in &self.places {
            let source = self.sources[place.source].read(cx);
            let found = source.diagnostics_in(place.from).into_iter();
            placed.extend(found.filter_map(|it| within_excerpt(it, place)));
            if placed.len() > MAX_SHOWN {
                placed.truncate(MAX_SHOWN);
                break;
            }
        }
        let shown = self.shown.clone();
        let revision = shown.read(cx).snapshot().revision();
        self._diagnosing = Some(cx.spawn(async move |_, cx| {
            let items = cx.background_spawn(async move {
                let items = placed.into_iter().map(|it| Diagnostic {
                    span: it.span,
                    ..(*it.diagnostic).clone()
                });
                DiagnosticSet::new(items.collect())
            });
            let items = items.await;
            shown.update(cx, |shown, cx| {
                shown.set_diagnostics(DiagnosticOrigin::Servers, revision, items, cx)
            });
        }));
    }
}

/// Moves a diagnostic of a source into the combined text; `None` if it only touches the excerpt.
fn within_excerpt(placed: PlacedDiagnostic, place: &ExcerptPlacement) -> Option<PlacedDiagnostic> {
    let start = placed.span.start.max(place.from.start);
    let end = placed.span.end.min(place.from.end);
    if end < start || (start == end && !placed.span.is_empty()) {
        return None;
    }
    let shift = |offset: ByteOffset| place.at.start + (offset.0 - place.from.start.0);
    Some(PlacedDiagnostic {
        span: Span::new(shift(start), shift(end)),
        diagnostic: placed.diagnostic,
    })
}
