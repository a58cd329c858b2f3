//! The sources of a diff: the changes of a repository, two versions of its files, or two texts.

use std::sync::Arc;

use base::AbsPath;
use editor::DocumentModel;
use futures::future::{FutureExt as _, ready};
use git::diff::{ChangedPath, TreeComparison, TreeSide};
use git::merge::{EntryMode, TreePath};
use git::staging::{FileDiff, Side};
use git_panel::{CompareRequest, DiffRequest, GitAnswer, GitFailure, GitFailureKind};
use gpui_kit::{App, AppContext as _, AsyncWindowContext, Context, Entity, SharedString};
use text::encode;

use crate::documents::Documents;
use crate::workbench::Workbench;

/// Maximum number of files in one diff.
const MAX_FILES: usize = 300;

/// The place where lines of a diff are staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workbench::git_changes) struct StagingPlace {
    pub(in crate::workbench::git_changes) repository: AbsPath,
    pub(in crate::workbench::git_changes) side: Side,
}

/// The texts that a diff compares.
#[derive(Clone)]
pub(in crate::workbench::git_changes) enum DiffSource {
    /// The changes of a repository on one side, whose lines can be staged.
    Changes {
        place: StagingPlace,
        /// The file for which the diff was opened.
        around: TreePath,
    },
    /// Two versions of the files of a repository.
    Versions {
        repository: AbsPath,
        sides: TreeComparison,
        /// The names of both.
        names: [SharedString; 2],
    },
    /// Two texts.
    Texts(ComparedTexts),
}

/// Two texts to compare, of which the second can be edited.
#[derive(Clone)]
pub(in crate::workbench::git_changes) struct ComparedTexts {
    pub(in crate::workbench::git_changes) before: BeforeText,
    pub(in crate::workbench::git_changes) after: Entity<DocumentModel>,
    /// The names of both.
    pub(in crate::workbench::git_changes) names: [SharedString; 2],
}

/// The first of two texts.
#[derive(Clone)]
pub(in crate::workbench::git_changes) enum BeforeText {
    /// The text of the clipboard.
    Copied(Arc<str>),
    /// A document, as it is at each comparison.
    Document(Entity<DocumentModel>),
}

/// A file that a source lists.
pub(super) struct ListedFile {
    path: TreePath,
    old_path: Option<TreePath>,
}

impl ListedFile {
    /// Returns the file of a diff.
    pub(super) fn of(diff: &FileDiff) -> Self {
        Self {
            path: diff.path.clone(),
            old_path: diff.old_path.clone(),
        }
    }
}

/// A comparison of a file that was asked for.
pub(super) enum RequestedDiff {
    /// Git compares it.
    OfGit(GitAnswer<Arc<FileDiff>>),
    /// The texts themselves are compared, which are read on a background thread.
    OfTexts { path: TreePath, texts: ReadTexts },
}

/// Returns two texts, which takes time proportional to them.
type ReadTexts = Box<dyn FnOnce() -> [String; 2] + Send>;

impl RequestedDiff {
    /// Waits for the diff.
    pub(super) async fn answer(self, cx: &AsyncWindowContext) -> Result<Arc<FileDiff>, GitFailure> {
        match self {
            Self::OfGit(answer) => answer.await,
            Self::OfTexts { path, texts } => {
                let comparing = async move { Arc::new(diff_of_texts(&path, &texts())) };
                Ok(cx.background_spawn(comparing).await)
            }
        }
    }
}

/// Compares two texts. A change of line endings alone is none.
fn diff_of_texts(path: &TreePath, texts: &[String; 2]) -> FileDiff {
    let [base, work] = texts.each_ref().map(|text| {
        let bytes = text.replace("\r\n", "\n").into_bytes();
        Some((EntryMode::Plain, bytes))
    });
    FileDiff::of_contents(path, Side::Unstaged, base, work)
}

impl DiffSource {
    /// Returns the title of the tab.
    pub(super) fn title(&self) -> SharedString {
        match self {
            Self::Changes { place, .. } => match place.side {
                Side::Staged => "Staged changes".into(),
                Side::Unstaged => "Changes".into(),
            },
            Self::Versions { names, .. } | Self::Texts(ComparedTexts { names, .. }) => {
                let [before, after] = names;
                format!("{before} \u{2194} {after}").into()
            }
        }
    }

    /// Returns the names of the text before and of the one after.
    pub(super) fn names(&self) -> [SharedString; 2] {
        match self {
            Self::Changes { place, .. } => match place.side {
                Side::Staged => ["Last commit".into(), "Staged".into()],
                Side::Unstaged => ["Staged".into(), "Working tree".into()],
            },
            Self::Versions { names, .. } | Self::Texts(ComparedTexts { names, .. }) => {
                names.clone()
            }
        }
    }

    /// Returns the place where lines are staged; `None` if they are only compared.
    pub(in crate::workbench::git_changes) fn staging(&self) -> Option<&StagingPlace> {
        match self {
            Self::Changes { place, .. } => Some(place),
            Self::Versions { .. } | Self::Texts(_) => None,
        }
    }

    /// Returns whether a change in a repository can change the diff.
    pub(super) fn follows_repository(&self) -> bool {
        match self {
            Self::Changes { .. } => true,
            Self::Versions { sides, .. } => sides.is_live(),
            Self::Texts(_) => false,
        }
    }

    /// Returns whether the texts after are those of files, which can be edited.
    pub(super) fn is_editable(&self) -> bool {
        match self {
            Self::Changes { place, .. } => place.side == Side::Unstaged,
            Self::Versions { sides, .. } => sides.after == TreeSide::WorkingTree,
            Self::Texts(_) => true,
        }
    }

    /// Returns the sentence about an empty diff.
    pub(super) fn nothing(&self) -> &'static str {
        match self {
            Self::Changes { .. } => "There are no lines to compare in this change",
            Self::Versions { .. } => "No text differs between these versions",
            Self::Texts(_) => "Both texts are the same",
        }
    }

    /// Returns the reason why a text after the change cannot be edited.
    pub(super) fn read_only_reason(&self) -> String {
        match self {
            Self::Changes { .. } => "it is the version of the next commit".to_owned(),
            Self::Versions { names, .. } | Self::Texts(ComparedTexts { names, .. }) => {
                format!("it is the version of {}", names[1])
            }
        }
    }

    /// Returns the path of a file on this machine.
    pub(super) fn file(&self, workbench: &Workbench, path: &TreePath, cx: &App) -> AbsPath {
        match self {
            Self::Changes { place, .. } => place.repository.join(path.to_path()),
            Self::Versions { repository, .. } => repository.join(path.to_path()),
            Self::Texts(texts) => {
                let path = texts.after.read(cx).path().cloned();
                path.unwrap_or_else(|| workbench.services.dirs.cache.join("untitled"))
            }
        }
    }

    /// Lists the files to compare; of very many, those around the one for which the diff was opened.
    pub(super) fn files(&self, workbench: &Workbench, cx: &App) -> GitAnswer<Vec<ListedFile>> {
        let listed = |path: TreePath| ListedFile {
            path,
            old_path: None,
        };
        let Some(panel) = workbench.git.panel() else {
            let files = match self {
                Self::Texts(texts) => vec![listed(texts.path(cx))],
                Self::Changes { .. } | Self::Versions { .. } => Vec::new(),
            };
            return ready(Ok(files)).boxed();
        };
        let panel = panel.read(cx);
        match self {
            Self::Texts(texts) => ready(Ok(vec![listed(texts.path(cx))])).boxed(),
            Self::Changes { place, around } => {
                let mut paths = panel.changed_files(&place.repository, place.side);
                let at = paths.iter().position(|path| path == around).unwrap_or(0);
                paths.drain(..at.saturating_sub(MAX_FILES / 2));
                paths.truncate(MAX_FILES);
                ready(Ok(paths.into_iter().map(listed).collect())).boxed()
            }
            Self::Versions {
                repository, sides, ..
            } => {
                let files = panel.service().compared_files(repository, sides.clone());
                let listed = |file: ChangedPath| ListedFile {
                    path: file.path,
                    old_path: file.old_path,
                };
                let files = files.map(move |files| {
                    files.map(|files| {
                        let files = files.into_iter().take(MAX_FILES);
                        files.map(listed).collect::<Vec<_>>()
                    })
                });
                files.boxed()
            }
        }
    }

    /// Asks for the diff of a file, with its unsaved edits.
    pub(super) fn request(
        &self,
        workbench: &Workbench,
        file: ListedFile,
        cx: &Context<Workbench>,
    ) -> RequestedDiff {
        let ListedFile { path, old_path } = file;
        let is_editable = self.is_editable();
        let unsaved = |path: &TreePath| self.unsaved(workbench, path, cx);
        let service = workbench.git.panel().map(|it| it.read(cx).service());
        let answer = match (self, service) {
            (Self::Texts(texts), _) => {
                let texts = texts.reader(cx);
                return RequestedDiff::OfTexts { path, texts };
            }
            (Self::Changes { place, .. }, Some(service)) => {
                let buffer = is_editable.then(|| unsaved(&path)).flatten();
                let side = place.side;
                let request = DiffRequest { path, side, buffer };
                service.file_diff(&place.repository, request)
            }
            (
                Self::Versions {
                    repository, sides, ..
                },
                Some(service),
            ) => {
                let request = CompareRequest {
                    buffer: is_editable.then(|| unsaved(&path)).flatten(),
                    sides: sides.clone(),
                    path,
                    old_path,
                };
                service.compared_diff(repository, request)
            }
            (_, None) => {
                let failure = GitFailure {
                    sentence: "no repository is open".to_owned(),
                    kind: GitFailureKind::NoRepository,
                };
                ready(Err(failure)).boxed()
            }
        };
        RequestedDiff::OfGit(answer)
    }

    /// Returns the bytes that a save would write, if the file has unsaved edits.
    fn unsaved(&self, workbench: &Workbench, path: &TreePath, cx: &App) -> Option<Vec<u8>> {
        let document = Documents::of_path(&self.file(workbench, path, cx), cx)?;
        let document = document.read(cx).document();
        let unsaved = document.is_dirty().then(|| document.snapshot());
        encode(&unsaved?, &document.format()).ok()
    }
}

impl ComparedTexts {
    /// Returns the name by which the language of the texts is found.
    fn path(&self, cx: &App) -> TreePath {
        let path = self.after.read(cx).path();
        let name = path.map_or_else(|| "text".to_owned(), AbsPath::name);
        TreePath::new(name)
    }

    /// Returns a function that reads both texts as they are now.
    fn reader(&self, cx: &App) -> ReadTexts {
        let after = self.after.read(cx).snapshot();
        match &self.before {
            BeforeText::Copied(text) => {
                let text = text.clone();
                Box::new(move || [text.to_string(), after.to_string()])
            }
            BeforeText::Document(document) => {
                let before = document.read(cx).snapshot();
                Box::new(move || [before.to_string(), after.to_string()])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use git::merge::TreePath;

    use super::diff_of_texts;

    #[test]
    fn line_endings_alone_are_no_difference() {
        let texts = |before: &str, after: &str| [before.to_owned(), after.to_owned()];
        let path = TreePath::new("a.txt");
        let diff = diff_of_texts(&path, &texts("a\r\nb\r\n", "a\nb\n"));
        assert!(diff.hunks.is_empty());
        let diff = diff_of_texts(&path, &texts("a\r\nb\r\n", "a\nc\n"));
        assert_eq!(diff.hunks.len(), 1);
    }
}
