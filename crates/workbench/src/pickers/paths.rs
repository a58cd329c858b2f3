//! Opening and saving by typing a path: completes names, expands `~`, and needs no desktop file
//! dialog.

use base::{AbsPath, path_text};
use gpui_kit::{App, AppContext as _, Context, SharedString, Task, Window};
use host::FileKind;
use project::fuzzy::{self, CandidateKind};
use ui::picker::{AfterConfirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow};

use super::byte_offsets;
use crate::path_entry::{PathEntry, shorten};
use crate::services::Services;
use crate::target::{LineColumn, Target};

/// Purpose of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathPurpose {
    /// Opening a file; folders can be opened too.
    File,
    /// Opening a folder in the window.
    Folder,
    /// Saving under the path.
    NewFile,
}

/// Result of the picker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PathSelection {
    /// An existing file, with the line and column typed after it.
    File(Option<LineColumn>),
    /// A folder that exists.
    Folder,
    /// A file that does not exist yet.
    New,
}

/// A name in the listed folder.
#[derive(Clone, Debug)]
pub(crate) struct PathCandidate {
    path: AbsPath,
    /// Text form of the name, as it is typed.
    name: String,
    is_folder: bool,
    matched: Vec<usize>,
}

/// Listing of a folder for a query.
pub(crate) struct PathListing {
    entry: PathEntry,
    place: Option<LineColumn>,
    names: Vec<PathCandidate>,
    problem: Option<String>,
    is_folder_itself: bool,
    is_there: bool,
}

type OnChosen = Box<dyn Fn(AbsPath, PathSelection, &mut Window, &mut App)>;

/// Picker delegate for paths.
pub(crate) struct PathPicker {
    wanted: PathPurpose,
    services: Services,
    base: AbsPath,
    found: Option<PathListing>,
    on_chosen: OnChosen,
}

/// Maximum number of names shown.
const LIMIT: usize = 500;

impl PathPicker {
    /// Creates the picker for a purpose. Relative paths lie below `base`; `on_chosen` receives the
    /// confirmed path.
    pub(crate) fn new(
        wanted: PathPurpose,
        base: AbsPath,
        on_chosen: impl Fn(AbsPath, PathSelection, &mut Window, &mut App) + 'static,
        cx: &App,
    ) -> Self {
        Self {
            wanted,
            services: Services::of(cx),
            base,
            found: None,
            on_chosen: Box::new(on_chosen),
        }
    }

    /// Returns the completion in a row of the list; `None` if there is none.
    fn name_at(&self, ix: usize) -> Option<&PathCandidate> {
        self.found.as_ref()?.names.get(ix)
    }

    fn choose(
        &self,
        path: AbsPath,
        chosen: PathSelection,
        window: &mut Window,
        cx: &mut App,
    ) -> AfterConfirm {
        (self.on_chosen)(path, chosen, window, cx);
        AfterConfirm::Close
    }

    /// Returns the text to type for entering `folder`.
    fn typed_folder(&self, folder: &AbsPath) -> String {
        let short = shorten(folder, self.services.home.as_ref());
        if short.ends_with('/') {
            short
        } else {
            format!("{short}/")
        }
    }
}

fn list_candidates(
    wanted: PathPurpose,
    query: &str,
    base: &AbsPath,
    services: &Services,
) -> PathListing {
    let files = services.files.as_ref();
    let home = services.home.as_ref();
    let plain = PathEntry::read(query, base, home);
    // A colon may be part of a name: only if no such file exists is it a line and column.
    let target = Target::parse(query);
    let (entry, place) =
        if wanted == PathPurpose::File && target.place.is_some() && !files.exists(&plain.path()) {
            (PathEntry::read(&target.path, base, home), target.place)
        } else {
            (plain, None)
        };
    let path = entry.path();
    let stat = files.stat(&path);
    let (listed, problem) = match files.list(&entry.folder) {
        Ok(listing) => (
            listing.entries,
            listing.problems.first().map(ToString::to_string),
        ),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let wants_hidden = entry.wants_hidden();
    let mut names: Vec<PathCandidate> = listed
        .into_iter()
        .map(|entry| PathCandidate {
            name: path_text(entry.path.file_name()),
            is_folder: entry.kind == FileKind::Folder,
            path: entry.path,
            matched: Vec::new(),
        })
        .filter(|name| wanted != PathPurpose::Folder || name.is_folder)
        .filter(|name| wants_hidden || !name.name.starts_with('.'))
        .collect();
    names.sort_by_key(|name| (!name.is_folder, name.name.to_lowercase()));
    if !entry.partial.is_empty() {
        names = fitting(names, &entry.partial);
    }
    names.truncate(LIMIT);
    PathListing {
        is_folder_itself: entry.partial.is_empty(),
        is_there: stat.is_ok(),
        entry,
        place,
        names,
        problem,
    }
}

/// Sorts names with the typed prefix first, followed by names that contain its letters in order.
fn fitting(names: Vec<PathCandidate>, partial: &str) -> Vec<PathCandidate> {
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let texts: Vec<&str> = names.iter().map(|name| name.name.as_str()).collect();
    let mut ranked = fuzzy::rank(partial, &texts, CandidateKind::Text, LIMIT, &cancel);
    let lower = partial.to_lowercase();
    ranked.sort_by_key(|ranked| !texts[ranked.index].to_lowercase().starts_with(&lower));
    ranked
        .iter()
        .map(|ranked| {
            let name = names[ranked.index].clone();
            let matched = byte_offsets(
                &name.name,
                &fuzzy::positions(partial, &name.name, CandidateKind::Text),
            );
            PathCandidate { matched, ..name }
        })
        .collect()
}

impl PickerDelegate for PathPicker {
    type Found = PathListing;

    fn name(&self) -> SharedString {
        match self.wanted {
            PathPurpose::File => "Open a file or folder".into(),
            PathPurpose::Folder => "Open a folder".into(),
            PathPurpose::NewFile => "Save as".into(),
        }
    }

    fn heading(&self) -> Option<SharedString> {
        Some(self.name())
    }

    fn placeholder(&self) -> SharedString {
        "A path; ~ is your home folder".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let (wanted, query) = (self.wanted, query.to_owned());
        let (base, services) = (self.base.clone(), self.services.clone());
        cx.background_spawn(async move { list_candidates(wanted, &query, &base, &services) })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = Some(found);
        0
    }

    fn count(&self) -> usize {
        // When the user types a new name, Enter means that name and not a similar existing one.
        let Some(found) = self.found.as_ref() else {
            return 0;
        };
        let is_typing_name = self.wanted == PathPurpose::NewFile && !found.is_folder_itself;
        if is_typing_name && !found.names.iter().any(|name| name.is_folder) {
            0
        } else {
            found.names.len()
        }
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        let Some(name) = self.name_at(ix) else {
            return PickerRow::default();
        };
        let icon = if name.is_folder {
            ui::folder_icon(&name.name, false, cx)
        } else {
            ui::file_icon(&name.name, cx)
        };
        let row = PickerRow::new(name.name.clone())
            .start(icon)
            .matches(name.matched.iter().copied());
        if self.wanted == PathPurpose::NewFile && !name.is_folder {
            row.muted()
        } else {
            row
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        kind: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let (Some(name), Some(found)) = (self.name_at(ix).cloned(), &self.found) else {
            return AfterConfirm::Stay;
        };
        let typed = found.entry.path();
        let place = found.place;
        match (self.wanted, name.is_folder) {
            // The alternative key opens the typed folder, whichever row is selected.
            (PathPurpose::Folder | PathPurpose::File, true) if kind == ConfirmKind::Other => {
                self.choose(name.path, PathSelection::Folder, window, cx)
            }
            (PathPurpose::NewFile, _) if !found.is_folder_itself && kind == ConfirmKind::Usual => {
                self.choose(typed, PathSelection::New, window, cx)
            }
            (_, true) => {
                let query = self.typed_folder(&name.path);
                cx.spawn_in(window, async move |picker, cx| {
                    let entered = picker.update_in(cx, |picker, window, cx| {
                        picker.set_query(&query, window, cx)
                    });
                    entered.ok();
                })
                .detach();
                AfterConfirm::Stay
            }
            (_, false) => self.choose(name.path, PathSelection::File(place), window, cx),
        }
    }

    fn confirm_query(
        &mut self,
        _: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let Some(found) = &self.found else {
            return AfterConfirm::Stay;
        };
        let path = found.entry.path();
        match (self.wanted, found.is_folder_itself, found.is_there) {
            (PathPurpose::Folder, _, true) | (PathPurpose::File, true, true) => {
                self.choose(path, PathSelection::Folder, window, cx)
            }
            (PathPurpose::File, false, false) | (PathPurpose::NewFile, false, _) => {
                self.choose(path, PathSelection::New, window, cx)
            }
            (PathPurpose::File, false, true) => {
                let place = found.place;
                self.choose(path, PathSelection::File(place), window, cx)
            }
            _ => AfterConfirm::Stay,
        }
    }

    fn complete(&self, ix: usize) -> Option<String> {
        let name = self.name_at(ix)?;
        Some(if name.is_folder {
            self.typed_folder(&name.path)
        } else {
            shorten(&name.path, self.services.home.as_ref())
        })
    }

    fn nothing_found(&self, _: &str) -> SharedString {
        let Some(found) = &self.found else {
            return "Searching\u{2026}".into();
        };
        let name = &found.entry.partial;
        match (&found.problem, self.wanted, found.is_folder_itself) {
            (Some(problem), _, _) => problem.clone().into(),
            (None, PathPurpose::NewFile, false) => {
                format!("Enter saves as \u{201c}{name}\u{201d}").into()
            }
            (None, PathPurpose::File, false) => {
                format!("Enter starts a new file \u{201c}{name}\u{201d}").into()
            }
            (None, PathPurpose::Folder, _) => "Enter opens this folder".into(),
            (None, _, true) => "This folder is empty".into(),
        }
    }

    fn status(&self) -> Option<SharedString> {
        let found = self.found.as_ref()?;
        let problem = found.problem.clone().filter(|_| !found.names.is_empty());
        Some(
            problem
                .unwrap_or_else(|| self.services.display(&found.entry.folder))
                .into(),
        )
    }

    fn footer(&self) -> Vec<FooterHint> {
        let complete = FooterHint::new(ui::picker::Complete, "complete");
        match self.wanted {
            PathPurpose::Folder | PathPurpose::File => {
                vec![
                    complete,
                    FooterHint::new(ui::picker::ConfirmOther, "open the folder"),
                ]
            }
            PathPurpose::NewFile => vec![complete, FooterHint::new(ui::picker::Confirm, "save")],
        }
    }
}
