//! Opening and saving by typing a path: completes names, knows `~`, needs no service of the desktop.

use base::{AbsPath, path_text};
use gpui_kit::{App, AppContext as _, Context, SharedString, Task, Window};
use host::FileKind;
use project::fuzzy::{self, Kind};
use ui::picker::{After, FooterHint, Picker, PickerDelegate, PickerRow, Taken};

use super::byte_offsets;
use crate::path_entry::{PathEntry, shorten};
use crate::services::Services;
use crate::target::{Place, Target};

/// What the path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// To open a file; a folder can be opened too.
    File,
    /// To open a folder.
    Folder,
    /// To save under it.
    NewFile,
}

/// What was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Chosen {
    /// A file, with the place typed behind it.
    File(Option<Place>),
    /// A folder.
    Folder,
    /// A file that is not there yet.
    New,
}

/// A name in the folder at hand.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    path: AbsPath,
    /// In its text form, as it is typed.
    name: String,
    is_folder: bool,
    matched: Vec<usize>,
}

/// What one look at a folder found.
pub(crate) struct Found {
    entry: PathEntry,
    place: Option<Place>,
    names: Vec<Name>,
    problem: Option<String>,
    is_folder_itself: bool,
    is_there: bool,
}

type OnChosen = Box<dyn Fn(AbsPath, Chosen, &mut Window, &mut App)>;

/// Chooses a path.
pub(crate) struct Paths {
    wanted: Wanted,
    services: Services,
    base: AbsPath,
    found: Option<Found>,
    on_chosen: OnChosen,
}

/// Names shown at most.
const LIMIT: usize = 500;

impl Paths {
    pub(crate) fn new(
        wanted: Wanted,
        base: AbsPath,
        on_chosen: impl Fn(AbsPath, Chosen, &mut Window, &mut App) + 'static,
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

    fn name_at(&self, ix: usize) -> Option<&Name> {
        self.found.as_ref()?.names.get(ix)
    }

    fn choose(&self, path: AbsPath, chosen: Chosen, window: &mut Window, cx: &mut App) -> After {
        (self.on_chosen)(path, chosen, window, cx);
        After::Close
    }

    /// The typed path as it would be written to go into `folder`.
    fn typed_folder(&self, folder: &AbsPath) -> String {
        let short = shorten(folder, self.services.home.as_ref());
        if short.ends_with('/') {
            short
        } else {
            format!("{short}/")
        }
    }
}

fn look(wanted: Wanted, query: &str, base: &AbsPath, services: &Services) -> Found {
    let files = services.files.as_ref();
    let home = services.home.as_ref();
    let plain = PathEntry::read(query, base, home);
    // A colon may belong to a name: only what is not there is read as a place.
    let target = Target::parse(query);
    let (entry, place) =
        if wanted == Wanted::File && target.place.is_some() && !files.exists(&plain.path()) {
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
    let mut names: Vec<Name> = listed
        .into_iter()
        .map(|entry| Name {
            name: path_text(entry.path.file_name()),
            is_folder: entry.kind == FileKind::Folder,
            path: entry.path,
            matched: Vec::new(),
        })
        .filter(|name| wanted != Wanted::Folder || name.is_folder)
        .filter(|name| wants_hidden || !name.name.starts_with('.'))
        .collect();
    names.sort_by_key(|name| (!name.is_folder, name.name.to_lowercase()));
    if !entry.partial.is_empty() {
        names = fitting(names, &entry.partial);
    }
    names.truncate(LIMIT);
    Found {
        is_folder_itself: entry.partial.is_empty(),
        is_there: stat.is_ok(),
        entry,
        place,
        names,
        problem,
    }
}

/// Names that begin with what was typed come first, then those that hold its letters in order.
fn fitting(names: Vec<Name>, partial: &str) -> Vec<Name> {
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let texts: Vec<&str> = names.iter().map(|name| name.name.as_str()).collect();
    let mut ranked = fuzzy::rank(partial, &texts, Kind::Text, LIMIT, &cancel);
    let lower = partial.to_lowercase();
    ranked.sort_by_key(|ranked| !texts[ranked.index].to_lowercase().starts_with(&lower));
    ranked
        .iter()
        .map(|ranked| {
            let name = names[ranked.index].clone();
            let matched = byte_offsets(
                &name.name,
                &fuzzy::positions(partial, &name.name, Kind::Text),
            );
            Name { matched, ..name }
        })
        .collect()
}

impl PickerDelegate for Paths {
    type Found = Found;

    fn name(&self) -> SharedString {
        match self.wanted {
            Wanted::File => "Open a file or folder".into(),
            Wanted::Folder => "Open a folder".into(),
            Wanted::NewFile => "Save as".into(),
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
        cx.background_spawn(async move { look(wanted, &query, &base, &services) })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = Some(found);
        0
    }

    fn count(&self) -> usize {
        // While a new name is typed, Enter means that name and not the one that looks like it.
        let Some(found) = self.found.as_ref() else {
            return 0;
        };
        let is_typing_name = self.wanted == Wanted::NewFile && !found.is_folder_itself;
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
        if self.wanted == Wanted::NewFile && !name.is_folder {
            row.muted()
        } else {
            row
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        taken: Taken,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> After {
        let (Some(name), Some(found)) = (self.name_at(ix).cloned(), &self.found) else {
            return After::Stay;
        };
        let typed = found.entry.path();
        let place = found.place;
        match (self.wanted, name.is_folder) {
            // The other key means the folder that was typed, whatever row is chosen.
            (Wanted::Folder | Wanted::File, true) if taken == Taken::Other => {
                self.choose(name.path, Chosen::Folder, window, cx)
            }
            (Wanted::NewFile, _) if !found.is_folder_itself && taken == Taken::Usual => {
                self.choose(typed, Chosen::New, window, cx)
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
                After::Stay
            }
            (_, false) => self.choose(name.path, Chosen::File(place), window, cx),
        }
    }

    fn confirm_query(
        &mut self,
        _: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> After {
        let Some(found) = &self.found else {
            return After::Stay;
        };
        let path = found.entry.path();
        match (self.wanted, found.is_folder_itself, found.is_there) {
            (Wanted::Folder, _, true) | (Wanted::File, true, true) => {
                self.choose(path, Chosen::Folder, window, cx)
            }
            (Wanted::File, false, false) | (Wanted::NewFile, false, _) => {
                self.choose(path, Chosen::New, window, cx)
            }
            (Wanted::File, false, true) => {
                let place = found.place;
                self.choose(path, Chosen::File(place), window, cx)
            }
            _ => After::Stay,
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
            (None, Wanted::NewFile, false) => {
                format!("Enter saves as \u{201c}{name}\u{201d}").into()
            }
            (None, Wanted::File, false) => {
                format!("Enter starts a new file \u{201c}{name}\u{201d}").into()
            }
            (None, Wanted::Folder, _) => "Enter opens this folder".into(),
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
        let complete = FooterHint::new("Tab", "complete");
        match self.wanted {
            Wanted::Folder | Wanted::File => {
                vec![complete, FooterHint::new("Ctrl+Enter", "open the folder")]
            }
            Wanted::NewFile => vec![complete, FooterHint::new("Enter", "save")],
        }
    }
}
