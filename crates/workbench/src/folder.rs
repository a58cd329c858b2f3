//! An open folder: its tree, its file list for the finder, its Git status, and its watcher.
//!
//! All disk access runs in the background and returns as an event. Must not know: windows, tabs,
//! how any of it is drawn.
//! Invariant: at most one Git refresh and one walk over the files run at a time; a change in the
//! meantime starts one more when it ends.
//! Start at `Folder::open`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::names::is_system_litter;
use base::{AbsPath, Revision, path_text};
use editor::DocumentModel;
use git::{Branch, FileStatus, Repository, Statuses};
use gpui_kit::{App, AppContext as _, Context, Entity, EventEmitter, Global, Task, WeakEntity};
use host::{FileKind, Files, WatchEvent, WatchRequest, Watcher};
use language::DocumentServer;
use project::search::Prefilter;
use project::{ListJob, ProjectTree, WalkBackend, WalkOptions, file_list};
use text::Snapshot;
use ui::ActiveSettings as _;

use crate::code_index::CodeIndex;
use crate::language_servers::LanguageServers;
use crate::services::Services;

/// A folder that is open in one or more windows.
pub struct OpenFolder {
    root: AbsPath,
    services: Services,
    tree: ProjectTree,
    branch: Option<Branch>,
    statuses: Option<Arc<Statuses>>,
    files: FileList,
    index: Option<Arc<dyn CodeIndex>>,
    language_servers: Entity<LanguageServers>,
    /// Texts newer than their files that wait for a pause in typing before the index reads them.
    unsaved: HashMap<AbsPath, Task<()>>,
    watcher: Option<Watcher>,
    git_refresh: Refresh,
    file_refresh: Refresh,
    /// The list of files before the watcher lost events. Language servers get both lists once there is a new one.
    before_rescan: Option<Arc<Vec<String>>>,
    _watch: Option<Task<()>>,
    _index_ticks: Option<Task<()>>,
}

/// The project's files, as paths relative to the folder, without ignored ones.
#[derive(Clone, Debug, Default)]
pub struct FileList {
    /// Their text forms (`base::path_text`), sorted.
    pub paths: Arc<Vec<String>>,
    /// Whether the first walk over the folder is complete.
    pub is_complete: bool,
}

/// A change in an open folder.
#[derive(Clone, Debug)]
pub enum FolderEvent {
    /// Rows of the tree were added, removed or changed.
    Tree,
    /// The branch or file statuses may have changed.
    Git,
    /// The list of files changed.
    Files,
    /// The status of the index changed.
    Index,
    /// These paths changed on disk.
    Changed(Vec<AbsPath>),
    /// Anything may have changed on disk.
    Rescan,
    /// A failure, as a message for the user.
    Problem(String),
}

impl EventEmitter<FolderEvent> for OpenFolder {}

/// A background job, and whether it must run again when it ends.
#[derive(Default)]
struct Refresh {
    running: Option<Task<()>>,
    again: bool,
    cancel: Arc<AtomicBool>,
}

/// Delay after a pause in typing before the index reads a text: it reads all of it each time.
const UNSAVED_DELAY: Duration = Duration::from_millis(700);

/// Minimum interval between two updates of the index status.
const INDEX_STATUS_INTERVAL: Duration = Duration::from_millis(250);

/// Time over which changes are gathered before Git and the file list are refreshed.
const GATHER: Duration = Duration::from_millis(150);

#[derive(Default)]
struct OpenFolders(HashMap<AbsPath, WeakEntity<OpenFolder>>);

impl Global for OpenFolders {}

impl OpenFolder {
    /// Opens the folder at `root`, spelled as it is stored, shared with other windows that have it
    /// open.
    pub fn open(root: AbsPath, cx: &mut App) -> Entity<Self> {
        let known = cx.default_global::<OpenFolders>().0.get(&root).cloned();
        if let Some(folder) = known.and_then(|folder| folder.upgrade()) {
            return folder;
        }
        let folder = cx.new(|cx| Self::new(root.clone(), cx));
        let open = &mut cx.default_global::<OpenFolders>().0;
        open.retain(|_, folder| folder.upgrade().is_some());
        open.insert(root, folder.downgrade());
        folder
    }

    fn new(root: AbsPath, cx: &mut Context<Self>) -> Self {
        let services = Services::of(cx);
        let (tree, job) = ProjectTree::new(root.clone());
        let mut this = Self {
            language_servers: LanguageServers::open(&root, cx),
            root,
            services,
            tree,
            branch: None,
            statuses: None,
            files: FileList::default(),
            index: None,
            unsaved: HashMap::new(),
            watcher: None,
            git_refresh: Refresh::default(),
            file_refresh: Refresh::default(),
            before_rescan: None,
            _watch: None,
            _index_ticks: None,
        };
        this.list([job], cx);
        this.open_index(cx);
        this.watch(cx);
        this.refresh_git(cx);
        this.refresh_files(cx);
        this
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &AbsPath {
        &self.root
    }

    /// Returns the name of the folder, for titles.
    pub fn name(&self) -> String {
        self.root.printable_name()
    }

    /// Returns the tree of files and folders.
    pub fn tree(&self) -> &ProjectTree {
        &self.tree
    }

    /// Returns the checked-out Git branch. Returns `None` outside of repositories and until the Git
    /// status is read.
    pub fn branch(&self) -> Option<&Branch> {
        self.branch.as_ref()
    }

    /// Returns the Git status of a file, or the most severe status inside a folder. Returns `None`
    /// if the file or folder is unchanged, or if the Git status is not read yet.
    pub fn status_of(&self, path: &AbsPath) -> Option<FileStatus> {
        self.statuses.as_ref()?.of(path)
    }

    /// Returns the list of all files for the finder, replaced after files were created or deleted.
    /// Empty, with `is_complete` false, until the first walk over the folder ends.
    pub fn files(&self) -> &FileList {
        &self.files
    }

    /// Sets the files on screen, which are always watched.
    pub fn set_visible(&self, paths: Vec<AbsPath>) {
        if let Some(watcher) = &self.watcher {
            watcher.set_visible(paths);
        }
    }

    /// Expands a folder of the tree; its entries are read in the background.
    pub fn expand(&mut self, folder: &AbsPath, cx: &mut Context<Self>) {
        let job = self.tree.open(folder);
        self.list(job, cx);
        cx.emit(FolderEvent::Tree);
    }

    /// Collapses a folder of the tree.
    pub fn collapse(&mut self, folder: &AbsPath, cx: &mut Context<Self>) {
        self.tree.close(folder);
        cx.emit(FolderEvent::Tree);
    }

    /// Collapses all folders of the tree.
    pub fn collapse_all(&mut self, cx: &mut Context<Self>) {
        self.tree.close_all();
        cx.emit(FolderEvent::Tree);
    }

    /// Expands the folders above `path`, reading them in the background.
    pub fn reveal(&mut self, path: &AbsPath, cx: &mut Context<Self>) {
        let jobs = self.tree.reveal(path);
        self.list(jobs, cx);
        cx.emit(FolderEvent::Tree);
    }

    /// Reads the tree, the file list, Git and the index again, in the background.
    pub fn refresh(&mut self, cx: &mut Context<Self>) {
        let jobs = self.tree.refresh_all();
        self.list(jobs, cx);
        self.refresh_git(cx);
        self.refresh_files(cx);
    }

    /// Refreshes the surroundings of `paths` after a change made by this process.
    pub fn touched(&mut self, paths: &[AbsPath], cx: &mut Context<Self>) {
        let jobs = self.tree.refresh(paths);
        self.list(jobs, cx);
        self.refresh_git(cx);
        self.refresh_files(cx);
    }

    fn list(&mut self, jobs: impl IntoIterator<Item = ListJob>, cx: &mut Context<Self>) {
        for job in jobs {
            let files = self.services.files.clone();
            cx.spawn(async move |this, cx| {
                let listed = cx
                    .background_spawn(async move { job.run(files.as_ref()) })
                    .await;
                let accepted = this.update(cx, |this, cx| {
                    if this.tree.accept(listed) {
                        cx.emit(FolderEvent::Tree);
                    }
                });
                accepted.ok();
            })
            .detach();
        }
    }

    /// Returns the prefilter for text search in the folder at `root`. Returns `None` unless a
    /// window has this folder open and its index is built.
    pub(crate) fn prefilter_of(root: &AbsPath, cx: &App) -> Option<Arc<dyn Prefilter>> {
        let open = cx.try_global::<OpenFolders>()?;
        let folder = open.0.get(root)?.upgrade()?;
        folder.read(cx).index.as_ref()?.prefilter()
    }

    /// Updates the index of the folder containing `path`: an open text became newer than its file,
    /// or stopped being so.
    pub(crate) fn note_unsaved(path: &AbsPath, newer: Option<Snapshot>, cx: &mut App) {
        for folder in Self::containing(path, cx) {
            folder.update(cx, |folder, cx| {
                folder.set_unsaved(path.clone(), newer.clone(), cx);
            });
        }
    }

    /// Keeps a text that is being edited from the index until `note_unsaved` is called again.
    pub(crate) fn put_off_unsaved(path: &AbsPath, cx: &mut App) {
        for folder in Self::containing(path, cx) {
            folder.update(cx, |folder, _| {
                folder.unsaved.remove(path);
            });
        }
    }

    /// Returns the open folders that contain `path`.
    fn containing(path: &AbsPath, cx: &App) -> Vec<Entity<Self>> {
        let Some(open) = cx.try_global::<OpenFolders>() else {
            return Vec::new();
        };
        let holding = open.0.iter().filter(|(root, _)| path.is_within(root));
        let holding = holding.filter_map(|(_, folder)| folder.upgrade());
        holding.collect()
    }

    /// Passes a text to the index: soon, unless it is edited again, or at once when its file is
    /// current.
    fn set_unsaved(&mut self, path: AbsPath, newer: Option<Snapshot>, cx: &mut Context<Self>) {
        let Some(index) = &self.index else {
            return;
        };
        let Some(newer) = newer else {
            self.unsaved.remove(&path);
            index.set_unsaved(path, None);
            return;
        };
        let typed = path.clone();
        let task = cx.spawn(async move |this, cx| {
            cx.background_executor().timer(UNSAVED_DELAY).await;
            let updated = this.update(cx, |this, _| {
                this.unsaved.remove(&path);
                if let Some(index) = &this.index {
                    index.set_unsaved(path, Some(newer));
                }
            });
            updated.ok();
        });
        self.unsaved.insert(typed, task);
    }

    /// Passes a document to the language servers of the innermost open folder that contains it, and to no others.
    pub(crate) fn serve_document(model: &Entity<DocumentModel>, cx: &mut App) {
        let Some(path) = model.read(cx).document().path().cloned() else {
            return;
        };
        let mut folders = Self::containing(&path, cx);
        folders.sort_by_key(|folder| folder.read(cx).root.as_path().components().count());
        let innermost = folders.pop();
        for folder in folders {
            let servers = folder.read(cx).language_servers.clone();
            servers.update(cx, |servers, _| servers.remove_document(model.entity_id()));
        }
        if let Some(folder) = innermost {
            let servers = folder.read(cx).language_servers.clone();
            servers.update(cx, |servers, cx| servers.add_document(model, cx));
        }
    }

    /// Returns the language servers of a document, and the path under which they know it; `None` if no open folder
    /// serves it.
    pub(crate) fn servers_of(
        model: &Entity<DocumentModel>,
        cx: &App,
    ) -> Option<(Entity<LanguageServers>, AbsPath)> {
        let path = model.read(cx).path()?;
        let folders = Self::containing(path, cx).into_iter();
        let mut servers = folders.map(|folder| folder.read(cx).language_servers.clone());
        servers.find_map(|servers| {
            let path = servers.read(cx).path_of(model.entity_id())?.clone();
            Some((servers, path))
        })
    }

    /// Calls `ask` with the connected servers of a document and the path under which they know it, after the present
    /// update: only then have the servers received the edit that led to `revision`. Yields `None` if the document has
    /// another revision by then, or if no open folder serves it.
    pub(crate) fn after_update<R: 'static>(
        model: &WeakEntity<DocumentModel>,
        revision: Revision,
        cx: &App,
        ask: impl FnOnce(&[DocumentServer], &AbsPath) -> Option<R> + 'static,
    ) -> Task<Option<R>> {
        let model = model.clone();
        cx.spawn(async move |cx| {
            cx.update(|cx| {
                let model = model.upgrade()?;
                let is_current = model.read(cx).snapshot().revision() == revision;
                let (servers, path) = Self::servers_of(&model, cx).filter(|_| is_current)?;
                let servers = servers.read(cx).servers_of(&path);
                ask(&servers, &path)
            })
        })
    }

    /// Returns the language servers of the folder.
    pub(crate) fn language_servers(&self) -> &Entity<LanguageServers> {
        &self.language_servers
    }

    /// Returns the index of the folder, if any.
    pub fn index(&self) -> Option<&Arc<dyn CodeIndex>> {
        self.index.as_ref()
    }

    fn open_index(&mut self, cx: &mut Context<Self>) {
        let Some(open) = self
            .services
            .index
            .as_ref()
            .filter(|_| cx.settings().search.index)
        else {
            return;
        };
        let index = open(self.root.clone());
        let ticks = index.changed();
        self.index = Some(index);
        self._index_ticks = Some(cx.spawn(async move |this, cx| {
            while ticks.recv().await.is_ok() {
                // A progress indicator need not be redrawn more often.
                let updated = this.update(cx, |_, cx| cx.emit(FolderEvent::Index));
                if updated.is_err() {
                    break;
                }
                cx.background_executor().timer(INDEX_STATUS_INTERVAL).await;
            }
        }));
    }

    fn watch(&mut self, cx: &mut Context<Self>) {
        let request = WatchRequest {
            root: self.root.clone(),
            ignore: Arc::new(is_unwatched),
        };
        match self.services.files.watch(request) {
            Ok(watcher) => {
                let events = watcher.events.clone();
                self.watcher = Some(watcher);
                self._watch = Some(cx.spawn(async move |this, cx| {
                    while let Ok(event) = events.recv().await {
                        let updated = this.update(cx, |this, cx| this.take_event(event, cx));
                        if updated.is_err() {
                            break;
                        }
                    }
                }));
            }
            Err(error) => cx.emit(FolderEvent::Problem(error.to_string())),
        }
    }

    fn take_event(&mut self, event: WatchEvent, cx: &mut Context<Self>) {
        match event {
            WatchEvent::Ready => {}
            WatchEvent::Changed(paths) => {
                let jobs = self.tree.refresh(&paths);
                self.list(jobs, cx);
                self.refresh_git(cx);
                self.note_changes(paths.clone(), cx);
                let (changed, known) = (paths.clone(), self.files.paths.clone());
                let servers = self.language_servers.clone();
                servers.update(cx, |servers, cx| servers.paths_changed(changed, known, cx));
                if let Some(index) = &self.index {
                    index.touch(paths.clone());
                }
                cx.emit(FolderEvent::Changed(paths));
            }
            WatchEvent::Rescan(_) => {
                let before = self.files.paths.clone();
                self.before_rescan.get_or_insert(before);
                self.refresh(cx);
                if let Some(index) = &self.index {
                    index.refresh();
                }
                cx.emit(FolderEvent::Rescan);
            }
            WatchEvent::Problem(sentence) => cx.emit(FolderEvent::Problem(sentence)),
        }
    }

    /// Reads the Git status in the background. If a read is already running, starts one more read
    /// when that read ends.
    pub fn refresh_git(&mut self, cx: &mut Context<Self>) {
        if self.git_refresh.running.is_some() {
            self.git_refresh.again = true;
            return;
        }
        let root = self.root.clone();
        self.git_refresh.running = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(GATHER).await;
            let read = cx.background_spawn(async move { read_git(&root) }).await;
            let updated = this.update(cx, |this, cx| {
                (this.branch, this.statuses) = read;
                this.git_refresh.running = None;
                cx.emit(FolderEvent::Git);
                if std::mem::take(&mut this.git_refresh.again) {
                    this.refresh_git(cx);
                }
            });
            updated.ok();
        }));
    }

    /// Walks the files again if one of `paths` was created or deleted. A file that was only written
    /// keeps its path.
    fn note_changes(&mut self, paths: Vec<AbsPath>, cx: &mut Context<Self>) {
        let (files, root) = (self.services.files.clone(), self.root.clone());
        let known = self.files.paths.clone();
        cx.spawn(async move |this, cx| {
            let check = async move {
                paths
                    .iter()
                    .any(|p| is_created_or_deleted(p, &root, &known, &*files))
            };
            if cx.background_spawn(check).await {
                this.update(cx, |this, cx| this.refresh_files(cx)).ok();
            }
        })
        .detach();
    }

    fn refresh_files(&mut self, cx: &mut Context<Self>) {
        if self.file_refresh.running.is_some() {
            self.file_refresh.again = true;
            return;
        }
        let (ground, root) = (self.services.ground.clone(), self.root.clone());
        let cancel = self.file_refresh.cancel.clone();
        let known = self.files.clone();
        let wait = if known.is_complete {
            GATHER
        } else {
            Duration::ZERO
        };
        self.file_refresh.running = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(wait).await;
            let found = cx
                .background_spawn(async move { walk(&ground, &root, &cancel, &known) })
                .await;
            let updated = this.update(cx, |this, cx| {
                if let Some(paths) = found {
                    this.files = FileList {
                        paths: Arc::new(paths),
                        is_complete: true,
                    };
                    cx.emit(FolderEvent::Files);
                }
                this.file_refresh.running = None;
                if std::mem::take(&mut this.file_refresh.again) {
                    this.refresh_files(cx);
                } else if let Some(before) = this.before_rescan.take() {
                    let after = this.files.paths.clone();
                    let servers = this.language_servers.clone();
                    servers.update(cx, |servers, cx| servers.files_rescanned(before, after, cx));
                }
            });
            updated.ok();
        }));
    }
}

impl Drop for OpenFolder {
    fn drop(&mut self) {
        self.file_refresh.cancel.store(true, Ordering::Relaxed);
    }
}

/// Walks the files; `None` if that fails or the result equals `known`, because writes to ignored
/// files also trigger a walk.
fn walk(
    ground: &WalkBackend,
    root: &AbsPath,
    cancel: &AtomicBool,
    known: &FileList,
) -> Option<Vec<String>> {
    let (found, _) = file_list(ground, root, &WalkOptions::default(), cancel).ok()?;
    let paths = found.iter().map(path_text);
    let mut paths: Vec<String> = paths.collect();
    // Sorted as text, for the lookup in `is_created_or_deleted`.
    paths.sort();
    let is_another = !known.is_complete || *known.paths != paths;
    is_another.then_some(paths)
}

/// Whether a change of `path` may change the list of files `known`, which must be sorted. `true`
/// for ignore files, for paths that exist and are not in the list, and for listed ones that are
/// gone. `false` outside of `root` and inside `.git`.
fn is_created_or_deleted(
    path: &AbsPath,
    root: &AbsPath,
    known: &[String],
    files: &dyn Files,
) -> bool {
    if matches!(path.name().as_str(), ".gitignore" | ".ignore") {
        return true;
    }
    let Some(relative) = path.relative_to(root).map(path_text) else {
        return false;
    };
    let relative = relative.as_str();
    if relative.starts_with(".git/") {
        return false;
    }
    let was_there = known
        .binary_search_by(|known| known.as_str().cmp(relative))
        .is_ok();
    match files.stat(path) {
        // A new folder may contain anything; changes inside a known one are reported per file.
        Ok(stat) => !was_there && matches!(stat.kind, FileKind::File | FileKind::Folder),
        Err(_) => was_there || known.iter().any(|k| Path::new(k).starts_with(relative)),
    }
}

type GitState = (Option<Branch>, Option<Arc<Statuses>>);

fn read_git(root: &AbsPath) -> GitState {
    // A folder without a repository is not an error; it has no status.
    let Ok(repository) = Repository::discover(root) else {
        return (None, None);
    };
    let statuses = repository.statuses().ok().map(Arc::new);
    (repository.branch(), statuses)
}

/// Returns whether to leave a folder unwatched: it has many changes that no feature needs.
fn is_unwatched(path: &Path, is_folder: bool) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let in_git = path.parent().is_some_and(|parent| parent.ends_with(".git"));
    is_system_litter(name.as_bytes())
        || is_folder
            && (matches!(name, "node_modules" | "target" | ".venv")
                || (in_git && name == "objects"))
}
