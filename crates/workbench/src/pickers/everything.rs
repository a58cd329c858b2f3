//! One search for everything: files by name, symbols, what code is about, and the text of all files.
//!
//! Files, symbols and meaning answer at once; the text of files comes in below them when it is found.
//! Start at `Everything::search`.

mod found;
mod look;
mod preview;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{AbsPath, LogErr as _, text_path};
use editor::DocumentModel;
use gpui_kit::{
    AnyElement, App, AppContext as _, Context, Entity, IntoElement as _, ParentElement as _,
    SharedString, Styled as _, Subscription, Task, WeakEntity, Window, div,
};
use text::Snapshot;
use ui::picker::{After, FooterHint, Picker, PickerDelegate, PickerRow, Taken};
use ui::{Icon, dp};

use crate::code_index::CodeIndex;
use crate::documents::Documents;
use crate::finder::find_files;
use crate::folder::Folder;
use crate::pickers::follow_files;
use crate::services::Services;
use crate::target::{Place, Target};
use crate::workbench::{Goal, Workbench, around, gather};
use found::{Found, FoundPlace, Scope, Section, Sources, ordered, still_fitting};
use look::{LEAST_TEXT, Searched, ask_index, ask_twice, find_text};
use preview::Preview;

/// How long typing must rest before the text of files is searched.
const REST: Duration = Duration::from_millis(90);
/// How long before somebody looks a second time, which may cost something.
const LONG_REST: Duration = Duration::from_millis(350);
/// Below this width of the window there is no room for a preview, in pixels.
const WIDE: f32 = 1080.0;
/// Rows around a place when the results are edited as one text.
const AROUND: u32 = 2;
/// Height of the preview.
const HEIGHT: f32 = 12.0 * 28.0 + 8.0;

/// Searches files, symbols, meaning and text.
pub(crate) struct Everything {
    root: AbsPath,
    folder: Entity<Folder>,
    index: Option<Arc<dyn CodeIndex>>,
    workbench: WeakEntity<Workbench>,
    recent: Arc<Vec<String>>,
    shown: Shown,
    cancel: Arc<AtomicBool>,
    /// The query whose text was found, and the rows; those of an older one stand in meanwhile, as far as they fit.
    text: Option<(String, Vec<FoundPlace>)>,
    searching: Option<Task<()>>,
    text_cancel: Arc<AtomicBool>,
    looked: Looked,
    preview: Preview,
    previewing: Option<Task<()>>,
    /// From the first search on.
    files_followed: Option<Subscription>,
}

/// What is shown for a query.
#[derive(Default)]
pub(crate) struct Shown {
    query: String,
    rows: Vec<Found>,
    /// Where each begins.
    sections: Vec<(usize, Section)>,
    /// The place in a file that the query names.
    place: Option<Place>,
    /// Whether the places by meaning are in the order of a second look.
    is_second: bool,
}

/// What a second look at the places by meaning says.
#[derive(Default)]
struct Looked {
    /// The query that was looked at last, or is.
    query: String,
    /// Whether files came or went since.
    is_old: bool,
    /// The places, once they are there and stand still under the person's hand.
    places: Option<Vec<FoundPlace>>,
    /// Why there are none.
    failed: Option<String>,
    looking: Option<Task<()>>,
}

impl Everything {
    pub(crate) fn new(
        folder: Entity<Folder>,
        workbench: &Workbench,
        cx: &mut Context<Workbench>,
    ) -> Self {
        let root = folder.read(cx).root().clone();
        Self {
            recent: Arc::new(workbench.files_by_use(&root, cx)),
            index: folder.read(cx).index().cloned(),
            root,
            folder,
            workbench: cx.weak_entity(),
            shown: Shown::default(),
            cancel: Arc::default(),
            text: None,
            searching: None,
            text_cancel: Arc::default(),
            looked: Looked::default(),
            preview: Preview::default(),
            previewing: None,
            files_followed: None,
        }
    }

    /// Searches the text of files after a rest; the rows come in with the next refresh.
    fn look_into_text(
        &mut self,
        scope: Scope,
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
        let limit = scope.most(Section::Text);
        if limit == 0 || query.chars().count() < LEAST_TEXT {
            self.text = None;
            return;
        }
        let services = Services::of(cx);
        let searched = Searched {
            ground: services.ground,
            root: self.root.clone(),
            unsaved: Documents::unsaved_texts(cx),
            sieve: self.index.as_ref().and_then(|index| index.sieve()),
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

    /// Looks a second time at the places by meaning after a longer rest. The new order comes with the next refresh,
    /// unless somebody has chosen a row of the old one meanwhile.
    fn look_again(
        &mut self,
        scope: Scope,
        asked: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) {
        let key = format!("{scope:?} {asked}");
        let is_same = self.looked.query == key;
        if is_same && !self.looked.is_old {
            return;
        }
        // With other files the old order stands until the new one is there: somebody may have chosen a row of it.
        let places = self.looked.places.take().filter(|_| is_same);
        self.looked = Looked {
            query: key.clone(),
            places,
            ..Looked::default()
        };
        let Some(index) = self.index.clone() else {
            return;
        };
        let asked = asked.to_owned();
        self.looked.looking = Some(cx.spawn_in(window, async move |picker, cx| {
            cx.background_executor().timer(LONG_REST).await;
            let found = cx
                .background_spawn(async move { ask_twice(index.as_ref(), &asked, scope) })
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

    /// The text rows and the second look are of the files as they were: both are asked for anew, and stand in
    /// meanwhile.
    fn doubt(&mut self) {
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
            Found::Place(place) => Some(place.rows),
            Found::File(_) => None,
        };
        if !self.preview.is_of(&shown, meant) {
            // The preview on screen belongs to the row that was selected before.
            self.preview = Preview::of(shown.clone(), meant);
        }
        let text = match open_text(&path, cx) {
            Some(snapshot) => preview::Text::Open(snapshot),
            None => preview::Text::OnDisk(Services::of(cx).files),
        };
        self.previewing = Some(cx.spawn(async move |picker, cx| {
            let read = cx
                .background_spawn(async move { preview::read(&path, shown, meant, text) })
                .await;
            // The picker may be closed meanwhile.
            picker
                .update(cx, |picker, cx| {
                    picker.delegate_mut().preview = read;
                    cx.notify();
                })
                .ok();
        }));
    }

    /// The path and the first row of the preview.
    #[cfg(test)]
    pub(crate) fn previewed(&self) -> (String, Option<String>) {
        self.preview.words()
    }

    /// What a row says.
    #[cfg(test)]
    pub(crate) fn words(&self, ix: usize) -> String {
        match self.shown.rows.get(ix) {
            Some(Found::File(file)) => file.path.clone(),
            Some(Found::Place(place)) => {
                let row = place.rows.start.0 + 1;
                format!("{}, {}:{row}", place.title, place.path)
            }
            None => String::new(),
        }
    }

    fn goal_of(&self, found: &Found) -> Option<Goal> {
        match found {
            Found::File(_) => self.shown.place.map(Goal::Place),
            Found::Place(place) => {
                let (start, end) = place.columns.unwrap_or((0, 0));
                Some(Goal::InRow {
                    row: place.rows.start,
                    start,
                    end,
                })
            }
        }
    }
}

impl PickerDelegate for Everything {
    type Found = Shown;

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
            self.files_followed = Some(follow_files(&self.folder, Self::doubt, window, cx));
        }
        self.cancel.store(true, Ordering::Relaxed);
        self.cancel = Arc::default();
        let (scope, asked) = Scope::parse(query);
        let (asked, query) = (asked.to_owned(), query.to_owned());
        self.look_into_text(scope, &asked, window, cx);
        self.look_again(scope, &asked, window, cx);
        let looked = self.looked.places.clone();
        let text = self
            .text
            .as_ref()
            .map_or_else(Vec::new, |(_, found)| found.clone());
        let (cancel, recent) = (self.cancel.clone(), self.recent.clone());
        let files = self.folder.read(cx).files().paths.clone();
        let index = self.index.clone();
        cx.background_spawn(async move {
            let target = Target::parse(&asked);
            let most = match asked.is_empty() {
                // With nothing typed, the files used lately are all there is to show.
                true => 40,
                false => scope.most(Section::Files),
            };
            let files = match scope {
                Scope::All => find_files(&target.path, &files, &recent, most, &cancel),
                _ => Vec::new(),
            };
            if asked.is_empty() && scope == Scope::All {
                let rows = files.into_iter().map(Found::File).collect();
                return Shown {
                    query,
                    rows,
                    place: target.place,
                    ..Shown::default()
                };
            }
            let known = index.map(|index| ask_index(index.as_ref(), &asked, scope));
            let (symbols, meaning) = known.unwrap_or_default();
            let is_second = looked.is_some();
            let meaning = looked.unwrap_or(meaning);
            let sources = Sources {
                files,
                symbols,
                meaning,
                text: still_fitting(text, &asked),
            };
            let (rows, sections) = ordered(&asked, scope, sources);
            Shown {
                query,
                rows,
                sections,
                place: target.place,
                is_second,
            }
        })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.shown = found;
        if self.shown.rows.is_empty() {
            self.previewing = None;
            self.preview = Preview::default();
        }
        0
    }

    fn count(&self) -> usize {
        self.shown.rows.len()
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        match self.shown.rows.get(ix) {
            Some(Found::File(file)) => super::files::row(file, cx),
            Some(Found::Place(place)) => row_of(place),
            None => PickerRow::default(),
        }
    }

    fn sections(&self) -> Vec<(usize, SharedString)> {
        let title = |section: Section| match section {
            Section::Meaning if self.shown.is_second => "Meaning, after a second look".into(),
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
        taken: Taken,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> After {
        let Some(found) = self.shown.rows.get(ix) else {
            return After::Stay;
        };
        let (path, goal) = (self.root.join(text_path(found.path())), self.goal_of(found));
        self.workbench
            .update(cx, |workbench, cx| {
                workbench.open_goal(path, goal, taken == Taken::Other, window, cx);
            })
            .ok();
        After::Close
    }

    fn confirm_all(&mut self, window: &mut Window, cx: &mut Context<Picker<Self>>) -> After {
        let places = self.shown.rows.iter().filter_map(|found| match found {
            Found::Place(place) => {
                let rows = match place.section {
                    Section::Text => around(place.rows, AROUND),
                    _ => place.rows,
                };
                Some((self.root.join(text_path(&place.path)), rows))
            }
            Found::File(_) => None,
        });
        let files = gather(places);
        if files.is_empty() {
            return After::Stay;
        }
        let title = format!("\u{201c}{}\u{201d}", Scope::parse(&self.shown.query).1);
        self.workbench
            .update(cx, |workbench, cx| {
                workbench.open_excerpts(title, files, window, cx);
            })
            .ok();
        After::Close
    }

    fn complete_query(&self, query: &str) -> Option<String> {
        Some(Scope::next(query))
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        let (scope, asked) = Scope::parse(query);
        if asked.is_empty() {
            return match scope {
                Scope::All => "This folder has no files".into(),
                Scope::Symbols => "Type the name of a function or type".into(),
                Scope::Meaning => {
                    "Ask what the code is about: \u{201c}where are sessions stored\u{201d}".into()
                }
                Scope::Text => "Type the text to look for".into(),
            };
        }
        if self.searching.is_some() {
            return "Searching\u{2026}".into();
        }
        match (scope, &self.index) {
            (Scope::Symbols | Scope::Meaning, None) => "This folder has no index".into(),
            _ => "Nothing fits".into(),
        }
    }

    fn status(&self) -> Option<SharedString> {
        if let Some(sentence) = &self.looked.failed {
            return Some(format!("No second look: {sentence}").into());
        }
        let hint = crate::index_status::hint(&self.index.as_ref()?.status())?;
        Some(hint.into())
    }

    fn footer(&self) -> Vec<FooterHint> {
        let next = match Scope::parse(&self.shown.query).0 {
            Scope::All => "only symbols",
            Scope::Symbols => "only meaning",
            Scope::Meaning => "only text",
            Scope::Text => "everything",
        };
        vec![
            FooterHint::new("Tab", next),
            FooterHint::new("Alt+Enter", "edit all"),
            FooterHint::new("Ctrl+Enter", "to the side"),
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
        (Section::Text, _) => Icon::TextCursor,
        (_, Some(kind)) => super::symbols::icon(kind),
        (_, None) => Icon::FileText,
    };
    let detail = format!("{}:{}", place.path, place.rows.start.0 + 1);
    PickerRow::new(place.title.clone())
        .start(icon)
        .matches(place.matched.iter().copied())
        .detail(detail)
}

/// The text of a file that is open.
fn open_text(path: &AbsPath, cx: &App) -> Option<Snapshot> {
    let open: Entity<DocumentModel> = Documents::of_path(path, cx)?;
    Some(open.read(cx).snapshot())
}
