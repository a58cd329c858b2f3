//! The tests of closed files: the folder is read once, then the files that change.
//!
//! Invariant: at most `MAX_FILES` files are read, each up to `MAX_BYTES`, in the background.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{AbsPath, text_path};
use gpui_kit::{AppContext as _, Context, Entity, Task};
use host::Files;
use project::ManifestReader;
use test_runner::{FileTests, TestProject, discover_in_text, may_have_tests};

use super::session::WindowTests;
use crate::folder::{FolderEvent, OpenFolder};

/// Maximum number of files that are read.
const MAX_FILES: usize = 20_000;
/// Maximum length of a file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The search for tests in the folder.
#[derive(Default)]
pub(super) struct FolderScan {
    progress: ScanProgress,
    cancel: Arc<AtomicBool>,
    /// Reads the whole folder.
    whole: Option<Task<()>>,
    /// Reads files that changed.
    changed: Option<Task<()>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ScanProgress {
    /// The tests of closed files are not wanted yet.
    #[default]
    Idle,
    /// The list of files is not complete, or they are being read.
    Waiting,
    Complete,
}

impl FolderScan {
    /// Returns whether the tests of all files are known.
    pub(super) fn is_complete(&self) -> bool {
        self.progress == ScanProgress::Complete
    }
}

impl Drop for FolderScan {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

/// Reads manifests and finds projects.
pub(super) struct DiskManifests(Arc<dyn Files>);

/// Returns a reader of the manifests on a file system.
pub(super) fn manifest_reader(files: &Arc<dyn Files>) -> DiskManifests {
    DiskManifests(files.clone())
}

impl DiskManifests {
    /// Returns the project of a file. Blocks on the disk.
    pub(super) fn project(&self, file: &AbsPath, root: &AbsPath) -> Option<Arc<TestProject>> {
        TestProject::of_file(file, root, self).map(Arc::new)
    }
}

impl ManifestReader for DiskManifests {
    fn read(&self, path: &AbsPath) -> Option<String> {
        let bytes = self.0.read(path, MAX_BYTES).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn exists(&self, path: &AbsPath) -> bool {
        self.0.exists(path)
    }
}

/// The files to read in the background.
struct ScanJob {
    reader: DiskManifests,
    root: AbsPath,
    paths: Vec<AbsPath>,
    cancel: Arc<AtomicBool>,
}

impl ScanJob {
    /// Returns the files with their tests; `None` for those without.
    fn run(&self) -> Vec<(AbsPath, Option<FileTests>)> {
        // Files of a kind in one folder have the same project.
        let mut projects: HashMap<(AbsPath, String), Option<Arc<TestProject>>> = HashMap::new();
        let mut found = Vec::new();
        for path in &self.paths {
            if self.cancel.load(Ordering::Relaxed) {
                break;
            }
            let extension = path.as_path().extension().unwrap_or_default();
            let folder = path.parent().unwrap_or_else(|| self.root.clone());
            let key = (folder, extension.to_string_lossy().into_owned());
            let project = projects
                .entry(key)
                .or_insert_with(|| self.reader.project(path, &self.root));
            let tests = project.as_ref().and_then(|it| self.tests_of(path, it));
            found.push((path.clone(), tests));
        }
        found
    }

    fn tests_of(&self, path: &AbsPath, project: &Arc<TestProject>) -> Option<FileTests> {
        let text = self.reader.read(path)?;
        // Most files of Rust have no tests.
        if !text.to_ascii_lowercase().contains("test") && !text.contains("it(") {
            return None;
        }
        Some(FileTests {
            file: path.clone(),
            project: project.clone(),
            items: discover_in_text(&text, path, project.framework),
        })
    }
}

impl WindowTests {
    /// Finds the tests of all files of the folder, unless they are known or searched already.
    pub(crate) fn scan_folder(&mut self, cx: &mut Context<Self>) {
        if self.scan.progress == ScanProgress::Idle {
            self.scan.progress = ScanProgress::Waiting;
            self.read_folder(cx);
        }
    }

    /// Reads the whole folder once the list of its files is complete.
    fn read_folder(&mut self, cx: &mut Context<Self>) {
        let files = self.folder.read(cx).files().clone();
        if !files.is_complete || self.scan.whole.is_some() {
            return;
        }
        let root = self.root.clone();
        let reader = manifest_reader(&self.files);
        let cancel = self.scan.cancel.clone();
        let found = cx.background_spawn(async move {
            let paths = files.paths.iter().map(|path| text_path(path));
            let paths = paths.filter(|path| may_have_tests(path)).take(MAX_FILES);
            let job = ScanJob {
                paths: paths.map(|path| root.join(path)).collect(),
                reader,
                root,
                cancel,
            };
            job.run()
        });
        self.scan.whole = Some(cx.spawn(async move |this, cx| {
            let found = found.await;
            // The window may have been closed.
            this.update(cx, |this, cx| {
                this.scan.progress = ScanProgress::Complete;
                this.take_files(found, cx);
                this.scan_ended(cx);
            })
            .ok();
        }));
    }

    /// Follows the files of the folder.
    pub(super) fn folder_event(
        &mut self,
        _: Entity<OpenFolder>,
        event: &FolderEvent,
        cx: &mut Context<Self>,
    ) {
        match event {
            FolderEvent::Files if self.scan.progress == ScanProgress::Waiting => {
                self.read_folder(cx);
            }
            FolderEvent::Changed(paths) if self.scan.is_complete() => {
                let has_tests = |path: &&AbsPath| {
                    let relative = path.relative_to(&self.root);
                    relative.is_some_and(may_have_tests)
                };
                let paths: Vec<AbsPath> = paths.iter().filter(has_tests).cloned().collect();
                if !paths.is_empty() {
                    self.read_changed(paths, cx);
                }
            }
            _ => {}
        }
    }

    fn read_changed(&mut self, paths: Vec<AbsPath>, cx: &mut Context<Self>) {
        let job = ScanJob {
            reader: manifest_reader(&self.files),
            root: self.root.clone(),
            paths,
            cancel: self.scan.cancel.clone(),
        };
        let before = self.scan.changed.take();
        let found = cx.background_spawn(async move { job.run() });
        self.scan.changed = Some(cx.spawn(async move |this, cx| {
            // One change after the other, so that the latest wins.
            if let Some(before) = before {
                before.await;
            }
            let found = found.await;
            // The window may have been closed.
            this.update(cx, |this, cx| this.take_files(found, cx)).ok();
        }));
    }

    /// Takes the tests of files; those of open texts are known better.
    fn take_files(&mut self, found: Vec<(AbsPath, Option<FileTests>)>, cx: &mut Context<Self>) {
        for (path, tests) in found {
            let open = self.models_of(&path, cx);
            if open.iter().any(|(_, revision)| revision.is_some()) {
                continue;
            }
            match tests {
                Some(tests) => {
                    self.state.set_file(tests);
                    self.state.mark_stale(&path);
                }
                None => self.state.remove_file(&path),
            }
        }
        cx.notify();
    }
}
