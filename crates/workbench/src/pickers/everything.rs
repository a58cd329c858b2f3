//! Search Everywhere: files by name, symbols, code by meaning, and the text of all files.
//!
//! Files, symbols and code by meaning are listed at once; text matches and symbols of language
//! servers are added when found. Start at `Everything::search`.

mod matches;
mod preview;
mod search;
mod servers;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{AbsPath, LogErr as _, text_path};
use editor::DocumentModel;
use gpui_kit::{
    AnyElement, App, AppContext as _, Context, Entity, IntoElement as _, ParentElement as _,
    SharedString, Styled as _, Subscription, Task, WeakEntity, Window, div,
};
use matches::{
    EverythingMatch, EverythingScope, EverythingSection, FILE_SYMBOLS, FoundPlace, SourceMatches,
    ordered, still_fitting,
};
use preview::Preview;
use search::{MIN_QUERY_CHARS, TextSearchInput, ask_index, find_text, last_part, search_reranked};
use text::Snapshot;
use ui::picker::{AfterConfirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow};
use ui::{Icon, dp};

use crate::code_index::CodeIndex;
use crate::documents::Documents;
use crate::excerpt_rows::{expanded_rows, gather};
use crate::finder::find_files;
use crate::folder::OpenFolder;
use crate::open_options::GoToPosition;
use crate::pickers::follow_files;
use crate::server_symbols::{AskSymbols, folder_symbols};
use crate::services::Services;
use crate::target::{LineColumn, Target};
use crate::workbench::Workbench;

/// Pause in typing before the text of files is searched.
const REST: Duration = Duration::from_millis(90);
/// Pause in typing before results are reranked, which may cost money.
const LONG_REST: Duration = Duration::from_millis(350);
/// Minimum window width for the preview, in pixels.
const WIDE: f32 = 1080.0;
/// Rows of context around a result when the results are edited as one text.
const AROUND: u32 = 2;
/// Height of the preview, in pixels.
const HEIGHT: f32 = 12.0 * 28.0 + 8.0;

/// Picker delegate that searches files, symbols, code by meaning and text.
pub(crate) struct EverythingPicker {
    root: AbsPath,
    folder: Entity<OpenFolder>,
    index: Option<Arc<dyn CodeIndex>>,
    workbench: WeakEntity<Workbench>,
    recent: Arc<Vec<String>>,
    shown: SearchView,
    cancel: Arc<AtomicBool>,
    /// The last text query and its results; matching results of an older query are shown in the
    /// meantime.
    text: Option<(String, Vec<FoundPlace>)>,
    searching: Option<Task<()>>,
    text_cancel: Arc<AtomicBool>,
    /// Asks the folder's language servers for symbols.
    ask_servers: AskSymbols,
    /// The last query to the servers and its results; matching results of an older query are shown in the meantime.
    served: Option<(String, Vec<FoundPlace>)>,
    asking: Option<Task<()>>,
    /// The rows before the last search, of which the selected one stays selected.
    earlier: Vec<EverythingMatch>,
    looked: RerankOutcome,
    preview: Preview,
    previewing: Option<Task<()>>,
    /// Set at the first search.
    files_followed: Option<Subscription>,
}

/// Results shown for a query.
#[derive(Default)]
pub(crate) struct SearchView {
    query: String,
    rows: Vec<EverythingMatch>,
    /// Row index at which each section begins.
    sections: Vec<(usize, EverythingSection)>,
    /// The line and column in a file that the query names.
    place: Option<LineColumn>,
    /// Whether the results by meaning are reranked.
    is_second: bool,
}

/// State of reranking the results by meaning.
#[derive(Default)]
struct RerankOutcome {
    /// The last query that was or is being reranked.
    query: String,
    /// Whether the file list changed since.
    is_old: bool,
    /// The reranked results; `None` until they arrive, or if the user has already selected a row.
    places: Option<Vec<FoundPlace>>,
    /// Cause of failure, if reranking failed.
    failed: Option<String>,
    looking: Option<Task<()>>,
}

impl EverythingPicker {
    /// Creates the picker of a folder, with the recent files of the window.
    pub(crate) fn new(
        folder: Entity<OpenFolder>,
        workbench: &Workbench,
        cx: &mut Context<Workbench>,
    ) -> Self {
        let root = folder.read(cx).root().clone();
        let ask_servers = folder_symbols(folder.clone());
        Self {
            recent: Arc::new(workbench.files_by_use(&root, cx)),
            index: folder.read(cx).index().cloned(),
            root,
            folder,
            workbench: cx.weak_entity(),
            shown: SearchView::default(),
            cancel: Arc::default(),
            text: None,
            searching: None,
            text_cancel: Arc::default(),
            ask_servers,
            served: None,
            asking: None,
            earlier: Vec::new(),
            looked: RerankOutcome::default(),
            preview: Preview::default(),
            previewing: None,
            files_followed: None,
        }
    }

    /// Searches the text of files after a pause in typing; the next refresh adds the results.
    fn look_into_text(
        &mut self,
        scope: EverythingScope,
        query: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) {
        let key = format!("{scope:?} {query}");
        if self.text.as_ref().is_some_and(|(known, _)| *known == key) {
            return;
        }
        self.text_cancel.store(true, Ordering::Relaxed);
        self.text_cancel = Arc::default();
        self.searching = None;
        let limit = scope.max_rows(EverythingSection::Text);
        if limit == 0 || query.chars().count() < MIN_QUERY_CHARS {
            self.text = None;
            return;
        }
        let services = Services::of(cx);
        let searched = TextSearchInput {
            ground: services.ground,
            root: self.root.clone(),
            unsaved: Documents::unsaved_texts(cx),
            sieve: self.index.as_ref().and_then(|index| index.prefilter()),
        };
        let (query, cancel) = (query.to_owned(), self.text_cancel.clone());
        self.searching = Some(cx.spawn_in(window, async move |picker, cx| {
            cx.background_executor().timer(REST).await;
            let found = cx
                .background_spawn(async move { find_text(&query, searched, limit + 1, &cancel) })
                .await;
            picker
                .update_in(cx, |picker, window, cx| {
                    let delegate = picker.delegate_mut();
                    delegate.text = Some((key, found));
                    delegate.searching = None;
                    picker.refresh(window, cx);
                })
                .log_err();
        }));
    }

    /// Reranks the results by meaning after a longer pause in typing. The next refresh shows the
    /// new order, unless the user has selected a row in the meantime.
    fn start_rerank(
        &mut self,
        scope: EverythingScope,
        asked: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) {
        let key = format!("{scope:?} {asked}");
        let is_same = self.looked.query == key;
        if is_same && !self.looked.is_old {
            return;
        }
        // If the file list changed, the old order stays until the new one arrives, because the user
        // may have selected a row in it.
        let places = self.looked.places.take().filter(|_| is_same);
        self.looked = RerankOutcome {
            query: key.clone(),
            places,
            ..RerankOutcome::default()
        };
        let Some(index) = self.index.clone() else {
            return;
        };
        let asked = asked.to_owned();
        self.looked.looking = Some(cx.spawn_in(window, async move |picker, cx| {
            cx.background_executor().timer(LONG_REST).await;
            let found = cx
                .background_spawn(async move { search_reranked(index.as_ref(), &asked, scope) })
                .await;
            let (places, failed) = match found {
                Some((places, None)) => (Some(places), None),
                Some((_, failed)) => (None, failed),
                None => (None, None),
            };
            picker
                .update_in(cx, |picker, window, cx| {
                    let is_untouched = picker.selected().is_none_or(|row| row == 0);
                    let looked = &mut picker.delegate_mut().looked;
                    if looked.query != key {
                        return;
                    }
                    looked.looking = None;
                    if looked.places.is_none() && places.is_none() && failed.is_none() {
                        return;
                    }
                    if is_untouched {
                        looked.places = places;
                    }
                    looked.failed = failed;
                    picker.refresh(window, cx);
                })
                .log_err();
        }));
    }

    /// Marks the text results and the reranking as stale after the file list changed: both are
    /// requested again, and shown in the meantime.
    fn mark_stale(&mut self) {
        self.looked.is_old = true;
        if let Some((key, _)) = &mut self.text {
            key.clear();
        }
    }

    fn read_preview(&mut self, ix: usize, window: &Window, cx: &mut Context<Picker<Self>>) {
        self.previewing = None;
        let Some(found) = self.shown.rows.get(ix) else {
            self.preview = Preview::default();
            return;
        };
        if f32::from(window.viewport_size().width) < WIDE {
            return;
        }
        let (shown, path) = (
            found.path().to_owned(),
            self.root.join(text_path(found.path())),
        );
        let meant = match found {
            EverythingMatch::Place(place) => Some(place.rows),
            EverythingMatch::File(_) => None,
        };
        if !self.preview.is_of(&shown, meant) {
            // The preview on screen belongs to the previously selected row.
            self.preview = Preview::of(shown.clone(), meant);
        }
        let text = match open_text(&path, cx) {
            Some(snapshot) => preview::PreviewText::Open(snapshot),
            None => preview::PreviewText::OnDisk(Services::of(cx).files),
        };
        self.previewing = Some(cx.spawn(async move |picker, cx| {
            let read = cx
                .background_spawn(async move { preview::read(&path, shown, meant, text) })
                .await;
            // The picker may have been closed in the meantime.
            picker
                .update(cx, |picker, cx| {
                    picker.delegate_mut().preview = read;
                    cx.notify();
                })
                .ok();
        }));
    }

    /// Replaces the way to ask the language servers.
    #[cfg(test)]
    pub(crate) fn set_servers(&mut self, ask: AskSymbols) {
        self.ask_servers = ask;
    }

    /// Returns the path and the text of the first row of the preview.
    #[cfg(test)]
    pub(crate) fn previewed(&self) -> (String, Option<String>) {
        self.preview.first_line()
    }

    /// Returns the text of a row, or an empty string for a row that is not listed.
    #[cfg(test)]
    pub(crate) fn row_text(&self, ix: usize) -> String {
        match self.shown.rows.get(ix) {
            Some(EverythingMatch::File(file)) => file.path.clone(),
            Some(EverythingMatch::Place(place)) => {
                let row = place.rows.start.0 + 1;
                format!("{}, {}:{row}", place.title, place.path)
            }
            None => String::new(),
        }
    }

    /// Returns the position to go to in a chosen file: the one typed after its name, or the match.
    /// Returns `None` if nothing was typed there.
    fn goal_of(&self, found: &EverythingMatch) -> Option<GoToPosition> {
        match found {
            EverythingMatch::File(_) => self.shown.place.map(GoToPosition::Place),
            EverythingMatch::Place(place) => {
                if let Some(range) = place.range {
                    return Some(GoToPosition::StartOf(range));
                }
                let (start, end) = place.columns.unwrap_or((0, 0));
                Some(GoToPosition::InRow {
                    row: place.rows.start,
                    start,
                    end,
                })
            }
        }
    }
}

impl PickerDelegate for EverythingPicker {
    type Found = SearchView;

    fn name(&self) -> SharedString {
        "Search".into()
    }

    fn placeholder(&self) -> SharedString {
        "Search files, symbols, meaning, text".into()
    }

    fn search(
        &mut self,
        query: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        if self.files_followed.is_none() {
            self.files_followed = Some(follow_files(&self.folder, Self::mark_stale, window, cx));
        }
        self.cancel.store(true, Ordering::Relaxed);
        self.cancel = Arc::default();
        if query.trim_start().starts_with(FILE_SYMBOLS) {
            self.show_symbols(query, window, cx);
        }
        let (scope, asked) = EverythingScope::parse(query);
        let (asked, query) = (asked.to_owned(), query.to_owned());
        self.look_into_text(scope, &asked, window, cx);
        self.look_into_servers(scope, &asked, window, cx);
        self.start_rerank(scope, &asked, window, cx);
        let looked = self.looked.places.clone();
        let text = self
            .text
            .as_ref()
            .map_or_else(Vec::new, |(_, found)| found.clone());
        let served = self.served.as_ref();
        let served = served.map_or_else(Vec::new, |(_, found)| found.clone());
        let (cancel, recent) = (self.cancel.clone(), self.recent.clone());
        let files = self.folder.read(cx).files().paths.clone();
        let index = self.index.clone();
        cx.background_spawn(async move {
            let target = Target::parse(&asked);
            let most = if asked.is_empty() {
                // With an empty query, only recently used files are shown.
                40
            } else {
                scope.max_rows(EverythingSection::Files)
            };
            let files = match scope {
                EverythingScope::All => find_files(&target.path, &files, &recent, most, &cancel),
                _ => Vec::new(),
            };
            if asked.is_empty() && scope == EverythingScope::All {
                let rows = files.into_iter().map(EverythingMatch::File).collect();
                return SearchView {
                    query,
                    rows,
                    place: target.place,
                    ..SearchView::default()
                };
            }
            let known = index.map(|index| ask_index(index.as_ref(), &asked, scope));
            let (symbols, meaning) = known.unwrap_or_default();
            let is_second = looked.is_some();
            let meaning = looked.unwrap_or(meaning);
            let sources = SourceMatches {
                files,
                symbols,
                served: still_fitting(served, last_part(&asked)),
                meaning,
                text: still_fitting(text, &asked),
            };
            let (rows, sections) = ordered(&asked, scope, sources);
            SearchView {
                query,
                rows,
                sections,
                place: target.place,
                is_second,
            }
        })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.earlier = std::mem::replace(&mut self.shown, found).rows;
        if self.shown.rows.is_empty() {
            self.previewing = None;
            self.preview = Preview::default();
        }
        0
    }

    fn kept_row(&self, ix: usize) -> usize {
        // The first row stays the best one.
        let selected = self.earlier.get(ix).filter(|_| ix > 0);
        let is_selected = |row: &EverythingMatch| selected.is_some_and(|it| it.is_same(row));
        let row = self.shown.rows.iter().position(is_selected);
        row.unwrap_or(ix)
    }

    fn count(&self) -> usize {
        self.shown.rows.len()
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        match self.shown.rows.get(ix) {
            Some(EverythingMatch::File(file)) => super::files::row(file, cx),
            Some(EverythingMatch::Place(place)) => row_of(place),
            None => PickerRow::default(),
        }
    }

    fn sections(&self) -> Vec<(usize, SharedString)> {
        let title = |section: EverythingSection| match section {
            EverythingSection::Meaning if self.shown.is_second => {
                "Meaning, after a second look".into()
            }
            section => section.title().into(),
        };
        let titles = self.shown.sections.iter();
        titles
            .map(|(row, section)| (*row, title(*section)))
            .collect()
    }

    fn selected(&mut self, ix: usize, window: &mut Window, cx: &mut Context<Picker<Self>>) {
        self.read_preview(ix, window, cx);
    }

    fn confirm(
        &mut self,
        ix: usize,
        kind: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let Some(found) = self.shown.rows.get(ix) else {
            return AfterConfirm::Stay;
        };
        let (path, position) = (self.root.join(text_path(found.path())), self.goal_of(found));
        self.workbench
            .update(cx, |workbench, cx| {
                workbench.open_at(path, position, kind == ConfirmKind::Other, window, cx);
            })
            .ok();
        AfterConfirm::Close
    }

    fn confirm_all(&mut self, window: &mut Window, cx: &mut Context<Picker<Self>>) -> AfterConfirm {
        let places = self.shown.rows.iter().filter_map(|found| match found {
            EverythingMatch::Place(place) => {
                let rows = match place.section {
                    EverythingSection::Text => expanded_rows(place.rows, AROUND),
                    _ => place.rows,
                };
                Some((self.root.join(text_path(&place.path)), rows))
            }
            EverythingMatch::File(_) => None,
        });
        let files = gather(places);
        if files.is_empty() {
            return AfterConfirm::Stay;
        }
        let title = format!(
            "\u{201c}{}\u{201d}",
            EverythingScope::parse(&self.shown.query).1
        );
        self.workbench
            .update(cx, |workbench, cx| {
                workbench.open_excerpts(title, files, window, cx);
            })
            .ok();
        AfterConfirm::Close
    }

    fn complete_query(&self, query: &str) -> Option<String> {
        Some(EverythingScope::next(query))
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        let (scope, asked) = EverythingScope::parse(query);
        if asked.is_empty() {
            return match scope {
                EverythingScope::All => "This folder has no files".into(),
                EverythingScope::Symbols => "Type the name of a function or type".into(),
                EverythingScope::Meaning => {
                    "Ask what the code is about: \u{201c}where are sessions stored\u{201d}".into()
                }
                EverythingScope::Text => "Type the text to look for".into(),
            };
        }
        if self.searching.is_some() || self.asking.is_some() {
            return "Searching\u{2026}".into();
        }
        match (scope, &self.index) {
            (EverythingScope::Meaning, None) => "This folder has no index".into(),
            _ => "No results".into(),
        }
    }

    fn status(&self) -> Option<SharedString> {
        if let Some(sentence) = &self.looked.failed {
            return Some(format!("Reranking failed: {sentence}").into());
        }
        let hint = crate::index_status::pending_hint(&self.index.as_ref()?.status())?;
        Some(hint.into())
    }

    fn footer(&self) -> Vec<FooterHint> {
        let next = match EverythingScope::parse(&self.shown.query).0 {
            EverythingScope::All => "only symbols",
            EverythingScope::Symbols => "only meaning",
            EverythingScope::Meaning => "only text",
            EverythingScope::Text => "everything",
        };
        vec![
            FooterHint::new(ui::picker::Complete, next),
            FooterHint::new(ui::picker::ConfirmAll, "edit all"),
            FooterHint::new(ui::picker::ConfirmOther, "to the side"),
        ]
    }

    fn preview(
        &self,
        _: usize,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Option<AnyElement> {
        if f32::from(window.viewport_size().width) < WIDE {
            return None;
        }
        let shown = self.preview.render(cx);
        Some(div().h(dp(HEIGHT)).child(shown).into_any_element())
    }
}

fn row_of(place: &FoundPlace) -> PickerRow {
    let icon = match (place.section, place.kind) {
        (EverythingSection::Text, _) => Icon::TextCursor,
        (_, Some(kind)) => super::symbols::icon(kind),
        (_, None) => Icon::FileText,
    };
    let location = format!("{}:{}", place.path, place.rows.start.0 + 1);
    let detail = match &place.container {
        Some(container) => format!("{container} \u{b7} {location}"),
        None => location,
    };
    PickerRow::new(place.title.clone())
        .start(icon)
        .matches(place.matched.iter().copied())
        .detail(detail)
}

/// Returns the text of an open file.
fn open_text(path: &AbsPath, cx: &App) -> Option<Snapshot> {
    let open: Entity<DocumentModel> = Documents::of_path(path, cx)?;
    Some(open.read(cx).snapshot())
}
