//! Stored state of the windows between runs.
//!
//! A border type: read from Burin's own file, which may be old or broken. Entries that cannot be
//! parsed are dropped; the rest is used. Paths are stored in their text form, which is lossless
//! (`base::path_text`). Must not know: gpui, how it is written to disk.
//! Start at `SavedSession`.

use preview_view::SavedPreview;
use serde::{Deserialize, Serialize};

use crate::layout::SavedLayout;

/// All windows, the most recently used one last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedSession {
    /// Windows of the session.
    #[serde(default)]
    pub windows: Vec<SavedWindow>,
    /// Recently opened folders, newest first.
    #[serde(default)]
    pub recent_folders: Vec<String>,
    /// Commands recently run from the palette, newest first.
    #[serde(default)]
    pub recent_commands: Vec<String>,
    /// Closed windows with folders, newest first: reopening a folder restores its tabs.
    #[serde(default)]
    pub closed: Vec<SavedWindow>,
    /// Whether the program ended in order to start again: the next start restores all windows.
    #[serde(default)]
    pub is_restart: bool,
}

/// Stored state of one window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedWindow {
    /// The open folder, if any.
    #[serde(default)]
    pub folder: Option<String>,
    /// Whether it was opened only for files from the command line.
    #[serde(default)]
    pub for_files: bool,
    /// Position and size on the screen.
    #[serde(default)]
    pub bounds: Option<SavedBounds>,
    /// Panes and tabs of the window.
    #[serde(default)]
    pub layout: Option<SavedLayout<SavedItem>>,
    /// State of the project tree.
    #[serde(default)]
    pub tree: SavedTree,
    /// State of the agents panel.
    #[serde(default)]
    pub agents: SavedDock,
    /// State of the terminals.
    #[serde(default)]
    pub terminals: SavedTerminals,
    /// Recently used files, newest first, relative to the folder.
    #[serde(default)]
    pub recent_files: Vec<String>,
}

/// Position and size of a window on the screen, in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedBounds {
    /// Distance from the left edge.
    pub x: f32,
    /// Distance from the top edge.
    pub y: f32,
    /// Width of the window.
    pub width: f32,
    /// Height of the window.
    pub height: f32,
    /// Whether the window was maximized.
    #[serde(default)]
    pub is_maximized: bool,
    /// Whether the window was in full screen.
    #[serde(default)]
    pub is_full_screen: bool,
}

/// State of the project tree of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedTree {
    /// Whether the tree was shown.
    pub is_shown: bool,
    /// Width in logical pixels.
    pub width: f32,
    /// Expanded folders, relative to the root.
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

/// State of a dock at the side of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedDock {
    /// Whether the dock was shown.
    pub is_shown: bool,
    /// Width in logical pixels.
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

/// State of the terminals below the panes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedTerminals {
    /// Whether they were shown.
    pub is_shown: bool,
    /// Height in logical pixels.
    pub height: f32,
}

impl Default for SavedTerminals {
    fn default() -> Self {
        Self {
            is_shown: false,
            height: 280.0,
        }
    }
}

/// Stored content of a tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedItem {
    /// A view of one text.
    Editor(SavedEditor),
    /// The project search panel.
    Search(SavedSearch),
    /// A terminal.
    Terminal(SavedTerminalTab),
    /// A preview.
    Preview(SavedPreview),
}

/// Stored tab of a terminal, whose text is stored with the other terminals of the folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedTerminalTab {
    /// The number of the terminal among those of the folder.
    pub id: u64,
}

/// Stored state of a text view.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedEditor {
    /// Path of the file; `None` for an untitled text.
    #[serde(default)]
    pub path: Option<String>,
    /// Key of the document in the recovery journal, which identifies text without a file.
    #[serde(default)]
    pub document: Option<u64>,
    /// Selections as pairs of anchor and head, in bytes; the newest last.
    #[serde(default)]
    pub selections: Vec<(usize, usize)>,
    /// Byte offset at the top of the view.
    #[serde(default)]
    pub scroll: usize,
    /// Line heights between the top of that row and the top of the view.
    #[serde(default)]
    pub scroll_offset: f64,
    /// Folded spans, in bytes.
    #[serde(default)]
    pub folds: Vec<(usize, usize)>,
    /// Language selected by the user.
    #[serde(default)]
    pub language: Option<String>,
}

/// Stored state of a project search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedSearch {
    /// Search pattern, as typed.
    #[serde(default)]
    pub pattern: String,
    /// Replacement text, as typed.
    #[serde(default)]
    pub replacement: String,
    /// Globs of files to include.
    #[serde(default)]
    pub include: String,
    /// Globs of files to exclude.
    #[serde(default)]
    pub exclude: String,
    /// Whether the pattern is a regular expression.
    #[serde(default)]
    pub is_regex: bool,
    /// Whether the search is case-sensitive.
    #[serde(default)]
    pub is_case_sensitive: bool,
    /// Whether only whole words match.
    #[serde(default)]
    pub is_whole_word: bool,
}

/// Number of recent folders, and of closed windows with folders, to keep.
const RECENT_FOLDERS: usize = 30;
/// Number of recent commands to keep.
const RECENT_COMMANDS: usize = 8;
/// Number of windows opened for files from the command line to restore.
const FILE_WINDOWS: usize = 2;

impl SavedWindow {
    /// Iterates over the stored text views in the tabs.
    pub(crate) fn editors(&self) -> impl Iterator<Item = &SavedEditor> {
        let items = self.layout.iter().flat_map(SavedLayout::items);
        items.filter_map(|item| match item {
            SavedItem::Editor(editor) => Some(editor),
            SavedItem::Search(_) | SavedItem::Terminal(_) | SavedItem::Preview(_) => None,
        })
    }
}

impl SavedSession {
    /// Parses a stored session. A broken one becomes an empty session, with a message about the
    /// cause.
    pub(crate) fn read(stored: serde_json::Value) -> (Self, Option<String>) {
        match serde_json::from_value(stored) {
            Ok(session) => (session, None),
            Err(error) => {
                let sentence = format!("cannot restore the windows of the last session: {error}");
                (Self::default(), Some(sentence))
            }
        }
    }

    /// Removes and returns the stored window of a folder: the window in the session, else the most
    /// recently closed one. Returns `None` if there is neither. `folder` is in the text form of
    /// paths.
    pub(crate) fn take_window(&mut self, folder: &str) -> Option<SavedWindow> {
        let is_it = |window: &SavedWindow| window.folder.as_deref() == Some(folder);
        match self.windows.iter().rposition(is_it) {
            Some(index) => Some(self.windows.remove(index)),
            None => self.take_closed(folder),
        }
    }

    /// Removes and returns the most recently closed window of a folder, or `None` if there is no
    /// such window.
    pub(crate) fn take_closed(&mut self, folder: &str) -> Option<SavedWindow> {
        let is_it = |window: &SavedWindow| window.folder.as_deref() == Some(folder);
        let index = self.closed.iter().position(is_it)?;
        Some(self.closed.remove(index))
    }

    /// Stores a window that leaves the session, so that its folder can be reopened. Drops a window
    /// without a folder.
    pub(crate) fn note_closed(&mut self, window: SavedWindow) {
        if window.folder.is_some() {
            self.closed.retain(|other| other.folder != window.folder);
            self.closed.insert(0, window);
            self.closed.truncate(RECENT_FOLDERS);
        }
    }

    /// Stores the open windows and those of the session that are not open. Windows opened for files
    /// from the command line come first, so that the others are in front after restoring.
    pub(crate) fn set_windows(&mut self, unopened: &[SavedWindow], open: Vec<SavedWindow>) {
        let is_open = |window: &&SavedWindow| {
            window.folder.is_some() && open.iter().any(|open| open.folder == window.folder)
        };
        let unopened = unopened.iter().filter(|window| !is_open(window)).cloned();
        let windows = unopened.chain(open.iter().cloned());
        let (mut for_files, others): (Vec<_>, Vec<_>) = windows.partition(|it| it.for_files);
        let surplus = for_files.len().saturating_sub(FILE_WINDOWS);
        for_files.drain(..surplus);
        for_files.extend(others);
        self.windows = for_files;
    }

    /// Moves a command to the front of the recent commands.
    pub(crate) fn note_command(&mut self, action: &str) {
        note_recent(&mut self.recent_commands, action, RECENT_COMMANDS);
    }

    /// Moves a folder to the front of the recent folders.
    pub(crate) fn note_folder(&mut self, folder: &str) {
        note_recent(&mut self.recent_folders, folder, RECENT_FOLDERS);
    }
}

/// Moves `name` to the front of `list`, adding it if necessary, and cuts the list to `kept` names.
pub(crate) fn note_recent(list: &mut Vec<String>, name: &str, kept: usize) {
    list.retain(|other| other != name);
    list.insert(0, name.to_owned());
    list.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::{SavedSession, note_recent};

    #[test]
    fn a_session_round_trips_and_a_broken_one_is_reported() {
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
