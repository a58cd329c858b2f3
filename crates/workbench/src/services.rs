//! What the window needs from outside: the disk, the clock, the program's own folders.
//!
//! Handed in at the start, so that tests bring their own. Start at `Services`.

use std::sync::Arc;

use base::AbsPath;
use gpui_kit::{App, Global};
use host::{Clock, Dirs, Files};
use project::{Ground, Unsaved};

/// The world as the windows see it; one for the whole program.
#[derive(Clone)]
pub struct Services {
    /// Files and folders.
    pub files: Arc<dyn Files>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The program's own folders.
    pub dirs: Dirs,
    /// What walks and searches go over.
    pub ground: Ground,
    /// The user's home folder, for paths written with `~`.
    pub home: Option<AbsPath>,
    /// What runs agents; without it their panel says what is missing.
    pub agents: Option<Arc<dyn composer_panel::Agents>>,
    /// The models that complete and predict edits; without them Tab does by itself.
    pub tab: Option<Arc<dyn crate::tab_models::TabModels>>,
    /// Opens the index of a folder; without it there is none.
    pub index: Option<crate::code_index::OpenIndex>,
    /// Where it is told which open texts are not saved, for agents.
    pub unsaved: Arc<Unsaved>,
    /// The folder from which relative paths count.
    pub working_folder: AbsPath,
}

struct Handle(Services);

impl Global for Handle {}

impl Services {
    /// Makes them known to every window.
    pub fn set(self, cx: &mut App) {
        cx.set_global(Handle(self));
    }

    /// The services of this program.
    pub fn of(cx: &App) -> Self {
        cx.global::<Handle>().0.clone()
    }

    /// Where it is told which texts are not saved.
    pub(crate) fn unsaved(cx: &App) -> &Unsaved {
        &cx.global::<Handle>().0.unsaved
    }

    /// The text form of a path, with `~` for the home folder: to show, and to type.
    pub fn display(&self, path: &AbsPath) -> String {
        crate::path_entry::shorten(path, self.home.as_ref())
    }
}
