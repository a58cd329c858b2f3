//! Comparison of any two versions of the files, of two files, and of a text with the clipboard: the commands, and the
//! choice of what to compare.

use std::rc::Rc;

use base::AbsPath;
use git::diff::{TreeComparison, TreeSide};
use git_panel::NamedVersion;
use git_panel::actions::{CompareIndex, CompareVersions, CompareWorkingTree};
use gpui_kit::{Context, Div, InteractiveElement as _, SharedString, Stateful, Window};
use project::Binary;

use super::diff::{self, BeforeText, ComparedTexts, DiffSource};
use super::report_missing;
use crate::actions::file::{CompareWithClipboard, CompareWithFile};
use crate::documents::Documents;
use crate::pickers::commits::CommitPicker;
use crate::pickers::files::FileFinder;
use crate::workbench::{Workbench, history};

/// Key of the notices of this module.
const NOTICE: &str = "compare";

/// Work on a chosen version of a repository.
type VersionWork =
    Rc<dyn Fn(&mut Workbench, AbsPath, NamedVersion, &mut Window, &mut Context<Workbench>)>;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(|this, _: &CompareWorkingTree, window, cx| {
            let heading = "Compare the working tree with";
            compare_with(this, heading, TreeSide::WorkingTree, window, cx);
        }))
        .on_action(cx.listener(|this, _: &CompareIndex, window, cx| {
            let heading = "Compare what is staged with";
            compare_with(this, heading, TreeSide::Index, window, cx);
        }))
        .on_action(cx.listener(compare_versions))
        .on_action(cx.listener(compare_with_file))
        .on_action(cx.listener(compare_with_clipboard))
}

/// Shows the changes from a commit to another one, or to the working tree, of the repository around the window's folder.
pub(in crate::workbench) fn compare_commits(
    workbench: &mut Workbench,
    (before, after): (String, Option<String>),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(repository) = repository_of_folder(workbench, cx) else {
        return report_missing(workbench, window, cx);
    };
    let (after, name) = match after {
        Some(after) => {
            let name = history::short(&after).to_owned();
            (TreeSide::Revision(after), name)
        }
        None => (TreeSide::WorkingTree, name_of(&TreeSide::WorkingTree)),
    };
    let names = [history::short(&before).to_owned().into(), name.into()];
    let sides = TreeComparison {
        before: TreeSide::Revision(before),
        after,
    };
    open(workbench, (repository, sides), names, window, cx);
}

fn repository_of_folder(workbench: &Workbench, cx: &Context<Workbench>) -> Option<AbsPath> {
    let root = workbench.root(cx)?;
    let panel = workbench.git.panel()?.read(cx);
    Some(panel.repository_of(&root)?.0)
}

/// Returns the repository that is selected in the panel if that has the keyboard, or else that of the active file, the
/// one around the window's folder, or the panel's.
fn repository_here(
    workbench: &Workbench,
    window: &Window,
    cx: &Context<Workbench>,
) -> Option<AbsPath> {
    let panel = workbench.git.panel()?.read(cx);
    let current = panel.current_repository().cloned();
    if panel.has_focus(window, cx) {
        return current;
    }
    let path = workbench.active_item().and_then(|item| item.path(cx));
    let found = path.and_then(|path| panel.repository_of(&path));
    let found = found.map(|(repository, _)| repository);
    found
        .or_else(|| repository_of_folder(workbench, cx))
        .or(current)
}

fn name_of(side: &TreeSide) -> String {
    match side {
        TreeSide::Empty => "nothing".to_owned(),
        TreeSide::Revision(revision) => revision.clone(),
        TreeSide::Index => "Staged".to_owned(),
        TreeSide::WorkingTree => "Working tree".to_owned(),
    }
}

fn open(
    workbench: &mut Workbench,
    (repository, sides): (AbsPath, TreeComparison),
    names: [SharedString; 2],
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let source = DiffSource::Versions {
        repository,
        sides,
        names: names.map(ui::foreign::one_line),
    };
    diff::open(workbench, source, None, window, cx);
}

/// Asks for a version, and shows the changes from it to the index or to the working tree.
fn compare_with(
    workbench: &mut Workbench,
    heading: &'static str,
    after: TreeSide,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let work: VersionWork = Rc::new(move |this, repository, version, window, cx| {
        let names = [version.name.into(), name_of(&after).into()];
        let sides = TreeComparison {
            before: TreeSide::Revision(version.revision),
            after: after.clone(),
        };
        open(this, (repository, sides), names, window, cx);
    });
    choose(workbench, heading, None, work, window, cx);
}

/// Asks for two versions, and shows the changes between them.
fn compare_versions(
    workbench: &mut Workbench,
    _: &CompareVersions,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let work: VersionWork = Rc::new(|this, repository, before, window, cx| {
        let work: VersionWork = Rc::new(move |this, repository, after, window, cx| {
            let names = [before.name.clone().into(), after.name.into()];
            let sides = TreeComparison {
                before: TreeSide::Revision(before.revision.clone()),
                after: TreeSide::Revision(after.revision),
            };
            open(this, (repository, sides), names, window, cx);
        });
        let heading = "Compare: the version after";
        choose(this, heading, Some(repository), work, window, cx);
    });
    let heading = "Compare: the version before";
    choose(workbench, heading, None, work, window, cx);
}

/// Asks for a version of a repository, or of the current one.
fn choose(
    workbench: &mut Workbench,
    heading: &'static str,
    repository: Option<AbsPath>,
    work: VersionWork,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(panel) = workbench.git.panel().cloned() else {
        return report_missing(workbench, window, cx);
    };
    let repository = repository.or_else(|| repository_here(workbench, window, cx));
    let Some(repository) = repository else {
        return workbench.tell(NOTICE, "This folder has no Git repository", window, cx);
    };
    let reading = panel.read(cx).service().versions(&repository);
    cx.spawn_in(window, async move |this, cx| {
        let versions = reading.await;
        let shown = this.update_in(cx, |this, window, cx| match versions {
            Ok(versions) => pick(this, (heading, repository), versions, work, window, cx),
            Err(failure) => this.report_error(failure.sentence, window, cx),
        });
        // The window may be gone by then.
        shown.ok();
    })
    .detach();
}

fn pick(
    workbench: &mut Workbench,
    (heading, repository): (&'static str, AbsPath),
    versions: Vec<NamedVersion>,
    work: VersionWork,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let this = cx.weak_entity();
    let picker = CommitPicker::of_versions(heading, versions, move |version, window, cx| {
        let (this, repository, work) = (this.clone(), repository.clone(), work.clone());
        // After this list has closed: another one may follow.
        window.defer(cx, move |window, cx| {
            // The window may be closing.
            this.update(cx, |this, cx| work(this, repository, version, window, cx))
                .ok();
        });
    });
    workbench.pick(picker, window, cx);
}

/// Asks for a file of the folder, and compares it with the active text.
fn compare_with_file(
    workbench: &mut Workbench,
    _: &CompareWithFile,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(folder) = workbench.folder().cloned() else {
        let sentence = "Open a folder first: the other file is one of its files";
        return workbench.tell(NOTICE, sentence, window, cx);
    };
    let this = cx.weak_entity();
    let finder = FileFinder::new(folder, workbench, cx);
    let finder = finder.choosing("Compare a file with this text", move |path, window, cx| {
        let this = this.clone();
        // After this list has closed.
        window.defer(cx, move |window, cx| {
            // The window may be closing.
            this.update(cx, |this, cx| compare_file(this, path, window, cx))
                .ok();
        });
    });
    workbench.pick(finder, window, cx);
}

/// Compares a file with the active text.
fn compare_file(
    workbench: &mut Workbench,
    path: AbsPath,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let name = workbench.display_path(&path, cx);
    let opening = Documents::open(path, Binary::Refuse, cx);
    cx.spawn_in(window, async move |this, cx| {
        let opened = opening.await;
        let shown = this.update_in(cx, |this, window, cx| match opened {
            Ok(document) => {
                Documents::stop_waiting(&document, cx);
                let before = BeforeText::Document(document);
                compare_text(this, before, name.into(), window, cx);
            }
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        // The window may be gone by then.
        shown.ok();
    })
    .detach();
}

fn compare_with_clipboard(
    workbench: &mut Workbench,
    _: &CompareWithClipboard,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let copied = cx.read_from_clipboard().and_then(|item| item.text());
    match copied {
        Some(text) => {
            let before = BeforeText::Copied(text.into());
            compare_text(workbench, before, "Clipboard".into(), window, cx);
        }
        None => workbench.tell(NOTICE, "The clipboard has no text", window, cx),
    }
}

/// Shows the changes from another text to the active one.
fn compare_text(
    workbench: &mut Workbench,
    before: BeforeText,
    name: SharedString,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let after = workbench.active_item().and_then(|item| item.document(cx));
    let Some(after) = after else {
        let sentence = "Open the text with which to compare first";
        return workbench.tell(NOTICE, sentence, window, cx);
    };
    let path = after.read(cx).path().cloned();
    let after_name = match path {
        Some(path) => workbench.display_path(&path, cx),
        None => after.read(cx).document().title(),
    };
    let texts = ComparedTexts {
        before,
        after,
        names: [name, after_name.into()].map(ui::foreign::one_line),
    };
    diff::open(workbench, DiffSource::Texts(texts), None, window, cx);
}
