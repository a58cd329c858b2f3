//! What is kept of the windows between two runs.
//!
//! A border type: it is read from a file of our own that may be old or broken. What is not
//! understood is left out; the rest is used. Paths are kept in their text form, which loses no byte
//! (`base::path_text`). Must not know: gpui, how it gets to the disk.
//! Start at `SavedSession`.

use serde::{Deserialize, Serialize};

use crate::layout::SavedLayout;

/// All windows, the one used last at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedSession {
    /// The windows.
    #[serde(default)]
    pub windows: Vec<SavedWindow>,
    /// Folders opened lately, the newest first.
    #[serde(default)]
    pub recent_folders: Vec<String>,
    /// Commands chosen in the palette lately, the newest first.
    #[serde(default)]
    pub recent_commands: Vec<String>,
    /// Windows with folders that are not part of the session any more, the newest first: a folder that is opened again
    /// gets its tabs back.
    #[serde(default)]
    pub closed: Vec<SavedWindow>,
}

/// One window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedWindow {
    /// The folder that was open in it.
    #[serde(default)]
    pub folder: Option<String>,
    /// Whether it was opened for files of the command line alone.
    #[serde(default)]
    pub for_files: bool,
    /// Where it stood.
    #[serde(default)]
    pub bounds: Option<SavedBounds>,
    /// Its panes and tabs.
    #[serde(default)]
    pub layout: Option<SavedLayout<SavedItem>>,
    /// The project tree.
    #[serde(default)]
    pub tree: SavedTree,
    /// The panel for agents.
    #[serde(default)]
    pub agents: SavedDock,
    /// Files used lately in this folder, the newest first, counted from it.
    #[serde(default)]
    pub recent_files: Vec<String>,
}

/// Where a window stood on the screen, in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedBounds {
    /// From the left.
    pub x: f32,
    /// From the top.
    pub y: f32,
    /// Its width.
    pub width: f32,
    /// Its height.
    pub height: f32,
    /// Whether it filled the desktop.
    #[serde(default)]
    pub is_maximized: bool,
    /// Whether it filled the whole screen.
    #[serde(default)]
    pub is_full_screen: bool,
}

/// The project tree of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedTree {
    /// Whether it was shown.
    pub is_shown: bool,
    /// Its width in logical pixels.
    pub width: f32,
    /// The open folders, counted from the root.
    #[serde(default)]
    pub open: Vec<String>,
}

impl Default for SavedTree {
    fn default() -> Self {
        Self {
            is_shown: true,
            width: 240.0,
            open: Vec::new(),
        }
    }
}

/// A dock at the side of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedDock {
    /// Whether it was shown.
    pub is_shown: bool,
    /// Its width in logical pixels.
    pub width: f32,
}

impl Default for SavedDock {
    fn default() -> Self {
        Self {
            is_shown: false,
            width: 420.0,
        }
    }
}

/// What stood in a tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedItem {
    /// A text.
    Editor(SavedEditor),
    /// The search through the project.
    Search(SavedSearch),
}

/// A view of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedEditor {
    /// Its file; without one it was never saved.
    #[serde(default)]
    pub path: Option<String>,
    /// The document's name in the recovery journal, which finds text that has no file.
    #[serde(default)]
    pub document: Option<u64>,
    /// Selections as pairs of anchor and head, in bytes; the newest last.
    #[serde(default)]
    pub selections: Vec<(usize, usize)>,
    /// The byte at the top of the view.
    #[serde(default)]
    pub scroll: usize,
    /// Line heights from the top of its row to the top of the view.
    #[serde(default)]
    pub scroll_offset: f64,
    /// Folded spans, in bytes.
    #[serde(default)]
    pub folds: Vec<(usize, usize)>,
    /// Language chosen by hand.
    #[serde(default)]
    pub language: Option<String>,
}

/// A search through the project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedSearch {
    /// What was searched for.
    #[serde(default)]
    pub pattern: String,
    /// What it was to be replaced by.
    #[serde(default)]
    pub replacement: String,
    /// Globs of files to search.
    #[serde(default)]
    pub include: String,
    /// Globs of files to leave out.
    #[serde(default)]
    pub exclude: String,
    /// Whether the pattern is a regular expression.
    #[serde(default)]
    pub is_regex: bool,
    /// Whether capitals differ from small letters.
    #[serde(default)]
    pub is_case_sensitive: bool,
    /// Whether only whole words count.
    #[serde(default)]
    pub is_whole_word: bool,
}

/// How many recent folders are kept, and closed windows with folders.
const RECENT_FOLDERS: usize = 30;
/// How many commands that were chosen lately are kept.
const RECENT_COMMANDS: usize = 8;
/// How many windows that were opened for files of the command line come back.
const FILE_WINDOWS: usize = 2;

impl SavedWindow {
    /// The views of texts in its tabs.
    pub(crate) fn editors(&self) -> impl Iterator<Item = &SavedEditor> {
        let items = self.layout.iter().flat_map(SavedLayout::items);
        items.filter_map(|item| match item {
            SavedItem::Editor(editor) => Some(editor),
            SavedItem::Search(_) => None,
        })
    }
}

impl SavedSession {
    /// Reads a stored session. A broken one is an empty one; the sentence says why.
    pub(crate) fn read(stored: serde_json::Value) -> (Self, Option<String>) {
        match serde_json::from_value(stored) {
            Ok(session) => (session, None),
            Err(error) => {
                let sentence = format!("cannot restore the windows of the last session: {error}");
                (Self::default(), Some(sentence))
            }
        }
    }

    /// Takes out the stored window of a folder: the one of the session, else the one closed last.
    pub(crate) fn take_window(&mut self, folder: &str) -> Option<SavedWindow> {
        let is_it = |window: &SavedWindow| window.folder.as_deref() == Some(folder);
        match self.windows.iter().rposition(is_it) {
            Some(index) => Some(self.windows.remove(index)),
            None => self.take_closed(folder),
        }
    }

    /// Takes out the window of a folder that was closed last.
    pub(crate) fn take_closed(&mut self, folder: &str) -> Option<SavedWindow> {
        let is_it = |window: &SavedWindow| window.folder.as_deref() == Some(folder);
        let index = self.closed.iter().position(is_it)?;
        Some(self.closed.remove(index))
    }

    /// Keeps a window that leaves the session for when its folder is opened again.
    pub(crate) fn note_closed(&mut self, window: SavedWindow) {
        if window.folder.is_some() {
            self.closed.retain(|other| other.folder != window.folder);
            self.closed.insert(0, window);
            self.closed.truncate(RECENT_FOLDERS);
        }
    }

    /// Stores the windows that are open and those of the session that are not: windows that were opened for files of
    /// the command line come first, so that the others are in front when all come back.
    pub(crate) fn set_windows(&mut self, asleep: &[SavedWindow], open: Vec<SavedWindow>) {
        let is_open = |window: &&SavedWindow| {
            window.folder.is_some() && open.iter().any(|open| open.folder == window.folder)
        };
        let asleep = asleep.iter().filter(|window| !is_open(window)).cloned();
        let windows = asleep.chain(open.iter().cloned());
        let (mut for_files, others): (Vec<_>, Vec<_>) = windows.partition(|it| it.for_files);
        let surplus = for_files.len().saturating_sub(FILE_WINDOWS);
        for_files.drain(..surplus);
        for_files.extend(others);
        self.windows = for_files;
    }

    /// Puts a command at the front of those chosen lately.
    pub(crate) fn note_command(&mut self, action: &str) {
        note_recent(&mut self.recent_commands, action, RECENT_COMMANDS);
    }

    /// Puts a folder at the front of those opened lately.
    pub(crate) fn note_folder(&mut self, folder: &str) {
        note_recent(&mut self.recent_folders, folder, RECENT_FOLDERS);
    }
}

/// Puts `name` at the front of `list`, which keeps `kept` names.
pub(crate) fn note_recent(list: &mut Vec<String>, name: &str, kept: usize) {
    list.retain(|other| other != name);
    list.insert(0, name.to_owned());
    list.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::{SavedSession, note_recent};

    #[test]
    fn a_session_survives_the_disk_and_a_broken_one_is_said() {
        let mut session = SavedSession::default();
        session.note_folder("/a");
        session.note_folder("/b");
        session.note_folder("/a");
        let stored = serde_json::to_value(&session).expect("plain data");
        let (again, problem) = SavedSession::read(stored);
        assert_eq!((again, problem), (session, None));
        let (empty, problem) = SavedSession::read(serde_json::json!({ "windows": 3 }));
        assert_eq!(empty, SavedSession::default());
        assert!(problem.is_some_and(|p| p.contains("cannot restore")));
        let (partial, problem) =
            SavedSession::read(serde_json::json!({ "windows": [{}], "later": 1 }));
        assert_eq!((partial.windows.len(), problem), (1, None));
    }

    #[test]
    fn recent_names_stand_once_and_are_cut() {
        let mut list = Vec::new();
        for name in ["a", "b", "c", "a"] {
            note_recent(&mut list, name, 2);
        }
        assert_eq!(list, ["a", "c"]);
    }
}
