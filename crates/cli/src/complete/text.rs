//! The texts of a project: positions, file contents, and the list of files.

use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use autocomplete::EditorState;
use base::{AbsPath, ByteOffset, Row};
use host::Files;
use project::{WalkBackend, WalkOptions, file_list};
use syntax::{Budget, SyntaxSnapshot, SyntaxTree, language_for};
use text::{Buffer, Snapshot};

/// Largest file that is completed in, in bytes.
const MAX_TEXT_BYTES: u64 = 16 << 20;
/// The maximum number of project files, in order of name, that are read for similar contexts.
const MAX_PROJECT_FILES: usize = 4_000;
/// Largest of these files that is read, in bytes.
const MAX_PROJECT_FILE_BYTES: u64 = 256 << 10;
/// Assumed visible rows above and below the caret.
const ROWS: u32 = 30;

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CharPosition {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl FromStr for CharPosition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        text.split_once(':')
            .and_then(|(line, column)| {
                Some(Self {
                    line: number(line)?,
                    column: number(column)?,
                })
            })
            .ok_or_else(|| format!("\"{text}\" is not a position: write LINE:COLUMN, both from 1"))
    }
}

impl CharPosition {
    /// Returns the byte offset of the position in a text. Fails if the line or the column does not
    /// exist.
    pub(super) fn offset(self, text: &Snapshot) -> Result<ByteOffset, String> {
        let row = Row(self.line - 1);
        if row > text.last_row() {
            let rows = text.row_count();
            return Err(format!(
                "there is no line {}: the text has {rows}",
                self.line
            ));
        }
        let line = text.row_text(row);
        let mut starts = line.char_indices().map(|(at, _)| at).chain([line.len()]);
        let at = starts.nth(self.column as usize - 1);
        let at = at.ok_or_else(|| {
            let columns = line.chars().count() + 1;
            format!(
                "line {} has no column {}: its last is {columns}",
                self.line, self.column
            )
        })?;
        Ok(text.row_start(row) + at)
    }

    /// Returns the position of an offset.
    pub(super) fn of(offset: ByteOffset, text: &Snapshot) -> Self {
        let row = text.point_at(offset).row;
        let start = text.row_start(row);
        Self {
            line: row.0 + 1,
            column: text.char_count(base::Span::new(start, offset)) as u32 + 1,
        }
    }
}

/// A folder and the file system to read it with.
pub(super) struct Project<'a> {
    pub(super) root: AbsPath,
    files: &'a dyn Files,
}

impl<'a> Project<'a> {
    /// Creates the project of the folder `root`, which must be a real path.
    pub(super) fn new(root: AbsPath, files: &'a dyn Files) -> Self {
        Self { root, files }
    }

    /// Returns a file's path relative to the project's root, or the whole path of a file outside
    /// the root.
    pub(super) fn display_path(&self, path: &AbsPath) -> String {
        let below = path.relative_to(&self.root).unwrap_or(path.as_path());
        below.to_string_lossy().into_owned()
    }

    /// Reads a file of at most `most` bytes. Fails if the file is larger, missing or not UTF-8.
    pub(super) fn read(&self, path: &AbsPath, most: u64) -> Result<String, String> {
        let bytes = self
            .files
            .read(path, most)
            .map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|_| format!("{path} is not UTF-8 text"))
    }

    /// Returns the absolute path of a file of the project. `path` is absolute or relative to the
    /// root. Fails for a path outside the root. The file does not have to exist.
    pub(super) fn path(&self, path: &Path) -> Result<AbsPath, String> {
        let path = self.root.join(path);
        if path.is_within(&self.root) {
            Ok(path)
        } else {
            Err(format!(
                "{path} is outside {}; name a file of the project",
                self.root
            ))
        }
    }

    /// Reads a file into a buffer.
    pub(super) fn open(&self, path: &AbsPath) -> Result<Buffer, String> {
        Ok(Buffer::new(&self.read(path, MAX_TEXT_BYTES)?))
    }

    /// Returns the texts that continuations are taken from.
    pub(super) fn texts(&self) -> Vec<(AbsPath, String)> {
        let options = WalkOptions::default();
        let listed = file_list(
            &WalkBackend::Disk,
            &self.root,
            &options,
            &AtomicBool::new(false),
        );
        let paths = listed.map(|(paths, _)| paths).unwrap_or_default();
        let code = paths.iter().filter(|path| language_for(path, "").is_some());
        let texts = code.take(MAX_PROJECT_FILES).filter_map(|path| {
            let path = self.root.join(path);
            let text = self.read(&path, MAX_PROJECT_FILE_BYTES).ok()?;
            Some((path, text))
        });
        texts.collect()
    }
}

/// Parses a text in the language of its file name and first line.
fn parse_tree(path: &AbsPath, text: &Snapshot) -> Option<SyntaxSnapshot> {
    let language = language_for(path.as_path(), &text.row_text(Row(0)))?;
    language.prepare();
    let mut tree = SyntaxTree::new(language);
    // Even an unfinished tree is the best available.
    drop(tree.parse(text, &mut Budget::unlimited()));
    Some(tree.snapshot())
}

/// Returns the editor state of a text with the caret at a position.
pub(super) fn state(
    path: &AbsPath,
    text: &Snapshot,
    at: CharPosition,
) -> Result<EditorState, String> {
    let caret = at
        .offset(text)
        .map_err(|error| format!("{path}: {error}"))?;
    Ok(state_at(path, text, caret))
}

/// Returns the editor state of a text with the caret at an offset.
pub(super) fn state_at(path: &AbsPath, text: &Snapshot, caret: ByteOffset) -> EditorState {
    let row = text.point_at(caret).row;
    let syntax = parse_tree(path, text);
    let language = syntax.as_ref().map(SyntaxSnapshot::language);
    let tab = language.and_then(|language| language.config().tab);
    let indent = match tab {
        Some(tab) if tab.hard => "\t".to_owned(),
        Some(tab) => " ".repeat(tab.width as usize),
        None => "    ".to_owned(),
    };
    EditorState {
        path: Some(path.clone()),
        snapshot: text.clone(),
        syntax,
        language,
        caret,
        rows: (Row(row.0.saturating_sub(ROWS)), Row(row.0 + ROWS)),
        indent,
    }
}
