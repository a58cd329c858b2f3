//! Steps through the versions of a file, or of its lines, in one tab: the commits are those of the list from which the first
//! one was opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use git_history::actions::git::{NewerVersion, OlderVersion};
use git_history::{CommitPage, HistoryError, HistoryService, VersionPair};
use git_program::{ChangeLetter, CommittedChange};
use gpui_kit::{AppContext as _, Context, Task, Window};

use super::{NOTICE, service_or_tell, short, versions};
use crate::layout::ItemId;
use crate::workbench::Workbench;

/// A tab with a version of a file, and the other versions.
pub(super) struct SteppedVersions {
    item: ItemId,
    /// The commits, the newest first.
    commits: Vec<String>,
    /// The place of the shown commit.
    at: usize,
    names: FileNames,
    /// Reads the next version. Dropping it keeps the shown one.
    reading: Option<Task<()>>,
}

/// The names of a file around a commit, which differ if the commit renamed it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileNames {
    before: PathBuf,
    after: PathBuf,
}

impl FileNames {
    fn of(change: &CommittedChange) -> Self {
        let renamed = change.source.as_ref();
        let renamed = renamed.filter(|_| change.letter == ChangeLetter::Renamed);
        Self {
            before: renamed.map_or(&change.path, |(path, _)| path).clone(),
            after: change.path.clone(),
        }
    }
}

/// The direction of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VersionStep {
    Older,
    Newer,
}

impl VersionStep {
    /// Returns the sentence about a step beyond the list.
    fn end(self) -> &'static str {
        match self {
            Self::Older => "This is the oldest version in the list",
            Self::Newer => "This is the newest version in the list",
        }
    }
}

/// The version to which a step leads.
#[derive(Clone, Debug)]
struct StepTarget {
    /// The place of its commit.
    at: usize,
    id: String,
    /// The name of the file before or after the commit.
    name: PathBuf,
}

impl SteppedVersions {
    /// Returns the version to which a step leads; `None` beyond the list.
    fn target(&self, step: VersionStep) -> Option<StepTarget> {
        let (at, name) = match step {
            VersionStep::Older => (self.at.checked_add(1)?, &self.names.before),
            VersionStep::Newer => (self.at.checked_sub(1)?, &self.names.after),
        };
        Some(StepTarget {
            at,
            id: self.commits.get(at)?.clone(),
            name: name.clone(),
        })
    }
}

/// Remembers the versions of the file that a tab shows; the shown one is that of a commit with its change.
pub(super) fn remember(
    workbench: &mut Workbench,
    item: ItemId,
    commits: Vec<String>,
    (id, change): (&str, &CommittedChange),
) {
    let items = workbench.layout.items();
    let stepped = &mut workbench.history.stepped;
    stepped.retain(|it| it.item != item && items.contains(&it.item));
    if let Some(at) = commits.iter().position(|commit| commit == id) {
        stepped.push(SteppedVersions {
            item,
            commits,
            at,
            names: FileNames::of(change),
            reading: None,
        });
    }
}

pub(super) fn show_older(
    workbench: &mut Workbench,
    _: &OlderVersion,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    step(workbench, VersionStep::Older, window, cx);
}

pub(super) fn show_newer(
    workbench: &mut Workbench,
    _: &NewerVersion,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    step(workbench, VersionStep::Newer, window, cx);
}

/// Shows the version beside the one in the active tab.
fn step(
    workbench: &mut Workbench,
    step: VersionStep,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(service) = service_or_tell(workbench, window, cx) else {
        return;
    };
    let active = workbench.layout.active_item();
    let mut stepped = workbench.history.stepped.iter();
    let Some(shown) = stepped.find(|it| Some(it.item) == active) else {
        let sentence = "Open a version from the history of a file first";
        return workbench.tell(NOTICE, sentence, window, cx);
    };
    let item = shown.item;
    let Some(target) = shown.target(step) else {
        return workbench.tell(NOTICE, step.end(), window, cx);
    };
    let reading = cx.spawn_in(window, async move |this, cx| {
        let read = read(service, &target).await;
        let (change, pair) = match read {
            Ok(version) => version,
            Err(error) => {
                let sentence = base::sentence(&error.to_string());
                let told = this.update_in(cx, |this, window, cx| {
                    this.report_error(sentence, window, cx);
                });
                // The window may be gone by then.
                told.ok();
                return;
            }
        };
        let path = pair.path.clone();
        let version = async move { versions::compare(pair) };
        let version = cx.background_spawn(version).await;
        let shown = this.update_in(cx, |this, window, cx| {
            if arrive(this, item, &target, &change) {
                versions::show(this, (path, version), &target.id, Some(item), window, cx);
            }
        });
        // The window may be gone by then.
        shown.ok();
    });
    let mut stepped = workbench.history.stepped.iter_mut();
    if let Some(shown) = stepped.find(|it| it.item == item) {
        // A step in progress ends here: the latest key counts.
        shown.reading = Some(reading);
    }
}

/// Notes the version that a tab shows next. Returns false if the tab was closed.
fn arrive(
    workbench: &mut Workbench,
    item: ItemId,
    target: &StepTarget,
    change: &CommittedChange,
) -> bool {
    if workbench.item(item).is_none() {
        return false;
    }
    let mut stepped = workbench.history.stepped.iter_mut();
    let Some(shown) = stepped.find(|it| it.item == item) else {
        return false;
    };
    shown.at = target.at;
    shown.names = FileNames::of(change);
    true
}

/// Reads the change of the file by the commit of a step.
async fn read(
    service: Arc<dyn HistoryService>,
    target: &StepTarget,
) -> Result<(CommittedChange, VersionPair), HistoryError> {
    let page = service.commit(target.id.clone()).await?;
    let change = change_of(&page, &target.name).cloned().ok_or_else(|| {
        let name = base::path_text(&target.name);
        let sentence = format!("commit {} did not change {name}", short(&target.id));
        HistoryError::Failed(sentence)
    })?;
    let pair = service.versions(target.id.clone(), change.clone()).await?;
    Ok((change, pair))
}

/// Returns the change of a file that has this name before or after a commit.
fn change_of<'p>(page: &'p CommitPage, name: &Path) -> Option<&'p CommittedChange> {
    let is_after = |change: &&CommittedChange| change.path == name;
    let is_before = |change: &&CommittedChange| {
        let source = change.source.as_ref();
        source.is_some_and(|(path, _)| path == name)
    };
    let files = &page.files;
    let found = files.iter().find(is_after);
    found.or_else(|| files.iter().find(is_before))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use git_history::CommitPage;
    use git_program::{ChangeLetter, CommitDetails, CommitPerson, CommittedChange};

    use super::{FileNames, change_of};

    fn change(path: &str, source: Option<&str>, letter: ChangeLetter) -> CommittedChange {
        CommittedChange {
            path: path.into(),
            letter,
            modes: [0o100_644; 2],
            ids: [String::new(), String::new()],
            source: source.map(|source| (source.into(), 90)),
        }
    }

    fn page(files: Vec<CommittedChange>) -> CommitPage {
        let person = CommitPerson {
            name: String::new(),
            address: String::new(),
            seconds: 0,
        };
        CommitPage {
            details: CommitDetails {
                id: String::new(),
                parents: Vec::new(),
                author: person.clone(),
                committer: person,
                refs: Vec::new(),
                message: String::new(),
            },
            files,
        }
    }

    #[test]
    fn a_renamed_file_is_found_by_both_names() {
        let renamed = change("new", Some("old"), ChangeLetter::Renamed);
        let other = change("other", None, ChangeLetter::Modified);
        let page = page(vec![other, renamed.clone()]);
        for name in ["new", "old"] {
            assert_eq!(change_of(&page, Path::new(name)), Some(&renamed));
        }
        assert_eq!(change_of(&page, Path::new("none")), None);
        let names = FileNames::of(&renamed);
        assert_eq!((names.before, names.after), ("old".into(), "new".into()));
    }

    #[test]
    fn a_copied_file_has_no_earlier_name() {
        let copied = change("new", Some("old"), ChangeLetter::Copied);
        let names = FileNames::of(&copied);
        assert_eq!(names.before, Path::new("new"));
    }
}
