//! Callers or callees of a function, supertypes or subtypes of a type.
//!
//! Start at `HierarchyPicker::new`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::{AbsPath, LineFeeds, printable};
use gpui_kit::{App, AppContext as _, Context, SharedString, Task, WeakEntity, Window};
use lsp::{
    CallDirection, HierarchyCall, HierarchyItem, LanguageServer, ServerRange, TypeDirection,
};
use project::fuzzy::{self, CandidateKind};
use text::RowSpan;
use ui::picker::{AfterConfirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow};

use super::byte_offsets;
use crate::excerpt_rows::{expanded_rows, gather};
use crate::open_options::GoToPosition;
use crate::server_symbols::outline_kind;
use crate::workbench::Workbench;

/// Rows of context around a place when all places are edited as one text.
const AROUND: u32 = 3;

/// The relation of the listed symbols to the one at the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HierarchyRelation {
    /// The functions that call it, or those that it calls.
    Calls(CallDirection),
    /// The types from which it is derived, or those derived from it.
    Types(TypeDirection),
}

/// A symbol with the places that a choice of it shows.
#[derive(Clone, Debug)]
pub(crate) struct HierarchyRow {
    item: HierarchyItem,
    /// The file of all places.
    path: AbsPath,
    /// Never empty.
    places: Vec<ServerRange>,
    /// The name, for display.
    name: String,
}

/// A symbol whose relations are listed, with those from which the user came to it.
#[derive(Clone)]
pub(crate) struct HierarchySubject {
    pub(crate) server: LanguageServer,
    pub(crate) relation: HierarchyRelation,
    /// The last one is the symbol itself.
    pub(crate) trail: Vec<HierarchyItem>,
}

/// Picker delegate that lists related functions or types.
pub(crate) struct HierarchyPicker {
    workbench: WeakEntity<Workbench>,
    subject: HierarchySubject,
    rows: Vec<HierarchyRow>,
    /// The name of each row.
    names: Arc<Vec<String>>,
    /// Indices of the rows that match the query, with the matching bytes of their names.
    found: Vec<(usize, Vec<usize>)>,
}

impl HierarchyRelation {
    /// Returns the heading for the relations of a symbol.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Calls(CallDirection::Incoming) => "Incoming calls",
            Self::Calls(CallDirection::Outgoing) => "Outgoing calls",
            Self::Types(TypeDirection::Supertypes) => "Supertypes",
            Self::Types(TypeDirection::Subtypes) => "Subtypes",
        }
    }
}

impl HierarchyRow {
    /// Creates the row of a caller, with the places of its calls, or of a callee, with its definition.
    pub(crate) fn of_call(direction: CallDirection, call: HierarchyCall) -> Self {
        let row = Self::of_type(call.item);
        match direction {
            CallDirection::Incoming if !call.ranges.is_empty() => Self {
                places: call.ranges,
                ..row
            },
            CallDirection::Incoming | CallDirection::Outgoing => row,
        }
    }

    /// Creates the row of a symbol with its definition.
    pub(crate) fn of_type(item: HierarchyItem) -> Self {
        Self {
            path: item.location.path.clone(),
            places: vec![item.location.selection],
            name: printable(&item.name, LineFeeds::Escape).into_owned(),
            item,
        }
    }
}

impl HierarchyPicker {
    /// Creates the picker.
    pub(crate) fn new(
        workbench: WeakEntity<Workbench>,
        subject: HierarchySubject,
        rows: Vec<HierarchyRow>,
    ) -> Self {
        let names = rows.iter().map(|row| row.name.clone());
        Self {
            names: Arc::new(names.collect()),
            workbench,
            subject,
            rows,
            found: Vec::new(),
        }
    }

    fn found_row(&self, ix: usize) -> Option<&HierarchyRow> {
        let (index, _) = self.found.get(ix)?;
        self.rows.get(*index)
    }

    /// Returns the heading, such as "Incoming calls: main › run".
    fn title(&self) -> String {
        let names = self.subject.trail.iter().map(|item| {
            let name = printable(&item.name, LineFeeds::Escape);
            name.into_owned()
        });
        let names: Vec<String> = names.collect();
        format!(
            "{}: {}",
            self.subject.relation.title(),
            names.join(" \u{203a} ")
        )
    }
}

impl PickerDelegate for HierarchyPicker {
    type Found = Vec<(usize, Vec<usize>)>;

    fn name(&self) -> SharedString {
        self.subject.relation.title().into()
    }

    fn heading(&self) -> Option<SharedString> {
        Some(self.title().into())
    }

    fn placeholder(&self) -> SharedString {
        "Find by name".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let (names, query) = (self.names.clone(), query.to_owned());
        cx.background_spawn(async move {
            let kind = CandidateKind::Text;
            let never = AtomicBool::new(false);
            let ranked = fuzzy::rank(&query, &names, kind, names.len(), &never);
            let found = ranked.into_iter().map(|ranked| {
                let name = &names[ranked.index];
                let positions = fuzzy::positions(&query, name, kind);
                (ranked.index, byte_offsets(name, &positions))
            });
            found.collect()
        })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = found;
        0
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        let (Some(row), Some((_, matched))) = (self.found_row(ix), self.found.get(ix)) else {
            return PickerRow::default();
        };
        let path = self
            .workbench
            .read_with(cx, |workbench, cx| workbench.display_path(&row.path, cx));
        let line = row.places.first().map_or(0, |place| place.row().0) + 1;
        let place = format!("{}:{line}", path.unwrap_or_default());
        let is_call = matches!(self.subject.relation, HierarchyRelation::Calls(_));
        let count = match row.places.len() {
            count if is_call && count > 1 => format!("{count} calls"),
            _ => String::new(),
        };
        PickerRow::new(row.name.clone())
            .matches(matched.iter().copied())
            .start(super::symbols::icon(outline_kind(row.item.kind)))
            .detail(place)
            .end_text(count)
    }

    fn confirm(
        &mut self,
        ix: usize,
        kind: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let (Some(row), Some(workbench)) = (self.found_row(ix), self.workbench.upgrade()) else {
            return AfterConfirm::Stay;
        };
        match kind {
            ConfirmKind::Usual => {
                let (path, place) = (row.path.clone(), row.places.first().copied());
                workbench.update(cx, |workbench, cx| {
                    workbench.leave_place(cx);
                    let position = place.map(GoToPosition::StartOf);
                    workbench.open_at(path, position, false, window, cx);
                });
                AfterConfirm::Close
            }
            ConfirmKind::Other => {
                let mut subject = self.subject.clone();
                subject.trail.push(row.item.clone());
                workbench.update(cx, |workbench, cx| {
                    workbench.show_hierarchy(subject, window, cx);
                });
                AfterConfirm::Stay
            }
        }
    }

    fn confirm_all(&mut self, window: &mut Window, cx: &mut Context<Picker<Self>>) -> AfterConfirm {
        let listed = self.found.iter().filter_map(|(ix, _)| self.rows.get(*ix));
        let places = listed.flat_map(|row| {
            row.places.iter().map(|place| {
                let rows = RowSpan {
                    start: place.row(),
                    end: place.row() + 1,
                };
                (row.path.clone(), expanded_rows(rows, AROUND))
            })
        });
        let (title, files) = (self.title(), gather(places));
        // The window may be closing.
        self.workbench
            .update(cx, |workbench, cx| {
                workbench.open_excerpts(title, files, window, cx);
            })
            .ok();
        AfterConfirm::Close
    }

    fn footer(&self) -> Vec<FooterHint> {
        let further = match self.subject.relation {
            HierarchyRelation::Calls(CallDirection::Incoming) => "its callers",
            HierarchyRelation::Calls(CallDirection::Outgoing) => "what it calls",
            HierarchyRelation::Types(TypeDirection::Supertypes) => "its supertypes",
            HierarchyRelation::Types(TypeDirection::Subtypes) => "its subtypes",
        };
        vec![
            FooterHint::new(ui::picker::ConfirmOther, further),
            FooterHint::new(ui::picker::ConfirmAll, "edit all"),
        ]
    }
}
