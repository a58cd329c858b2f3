//! Lists the conflicts of the repository. A text is opened; for another file the user chooses a side.
//!
//! Start at `show_conflicts`.

use base::AbsPath;
use git::Repository;
use git::conflict::{ConflictChoice, ConflictNames, StagedConflict};
use git::merge::ConflictKind;
use gpui_kit::{AppContext as _, Context, SharedString, Window};
use ui::ButtonStyle;

use super::{NOTICE, staging};
use crate::open_options::OpenOptions;
use crate::pickers::choices;
use crate::question::QuestionSpec;
use crate::workbench::Workbench;

/// The conflicts of a repository.
struct RepositoryConflicts {
    /// Root of the working tree.
    root: AbsPath,
    names: Option<ConflictNames>,
    conflicts: Vec<StagedConflict>,
}

/// Shows the conflicts of the window's repository in a list.
pub(super) fn show_conflicts(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(root) = workbench.root(cx) else {
        return workbench.tell(NOTICE, "Open a folder to see its conflicts.", window, cx);
    };
    let reading = cx.background_spawn(async move { read(&root) });
    cx.spawn_in(window, async move |this, cx| {
        let read = reading.await;
        let shown = this.update_in(cx, |this, window, cx| match read {
            Ok(read) if read.conflicts.is_empty() => {
                this.tell(NOTICE, "The repository has no conflicts.", window, cx);
            }
            Ok(read) => pick(this, read, window, cx),
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        shown.ok();
    })
    .detach();
}

fn read(folder: &AbsPath) -> Result<RepositoryConflicts, git::Error> {
    let repository = Repository::discover(folder)?;
    Ok(RepositoryConflicts {
        root: repository.workdir().clone(),
        names: repository.conflict_names(),
        conflicts: repository.conflicts()?,
    })
}

fn pick(
    workbench: &mut Workbench,
    read: RepositoryConflicts,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let rows = read.conflicts.iter();
    let rows = rows.map(|it| (it.path.to_string(), kind_text(it.kind)));
    let (rows, this) = (rows.collect(), cx.weak_entity());
    let picker = choices::conflicts(rows, move |index, window, cx| {
        let Some(conflict) = read.conflicts.get(index).cloned() else {
            return;
        };
        let (root, names, this) = (read.root.clone(), read.names.clone(), this.clone());
        // After this list has closed: a question may follow.
        window.defer(cx, move |window, cx| {
            this.update(cx, |this, cx| {
                if conflict.is_text() {
                    let path = root.join(conflict.path.to_path());
                    this.open_path(path, OpenOptions::lasting(), window, cx);
                } else {
                    ask(this, root, (conflict, names), window, cx);
                }
            })
            .ok();
        });
    });
    workbench.pick(picker, window, cx);
}

/// Asks for the side of a conflict, and resolves it.
fn ask(
    workbench: &mut Workbench,
    root: AbsPath,
    (conflict, names): (StagedConflict, Option<ConflictNames>),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let choices = conflict.choices();
    let mut answers: Vec<(SharedString, ButtonStyle)> = choices
        .iter()
        .map(|choice| (choice_text(*choice, names.as_ref()), ButtonStyle::Plain))
        .collect();
    answers.push(("Cancel".into(), ButtonStyle::Ghost));
    let spec = QuestionSpec {
        title: format!("Resolve {}", conflict.path).into(),
        detail: format!("Of this file, {}.", kind_text(conflict.kind)).into(),
        safest: answers.len() - 1,
        answers,
    };
    let answer = workbench.ask(spec, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        // Dismissing the question changes nothing.
        let Ok(answer) = answer.await else {
            return;
        };
        let Some(choice) = choices.get(answer).copied() else {
            return;
        };
        let chosen = this.update_in(cx, |_, window, cx| {
            staging::choose(root, conflict, choice, window, cx);
        });
        chosen.ok();
    })
    .detach();
}

fn choice_text(choice: ConflictChoice, names: Option<&ConflictNames>) -> SharedString {
    let name = |name: Option<&String>, unnamed: &str| {
        let name = name.map_or(unnamed, |name| name.as_str());
        ui::foreign::one_line(format!("Take {name}"))
    };
    match choice {
        ConflictChoice::Ours => name(names.map(|it| &it.ours), "ours"),
        ConflictChoice::Theirs => name(names.map(|it| &it.theirs), "theirs"),
        ConflictChoice::Base => "Take the Base".into(),
        ConflictChoice::Remove => "Remove the File".into(),
    }
}

/// Describes a conflict as a clause about its file.
fn kind_text(kind: ConflictKind) -> &'static str {
    match kind {
        ConflictKind::Content => "both sides changed the same lines",
        ConflictKind::Binary => "both sides changed the binary content",
        ConflictKind::BothAdded => "both sides added a version",
        ConflictKind::RemovedByThem => "their side removed it, ours changed it",
        ConflictKind::RemovedByUs => "our side removed it, theirs changed it",
        ConflictKind::BothRenamed => "both sides changed the name",
        ConflictKind::FileAndFolder => "one side has a folder instead",
        ConflictKind::Kind => "both sides changed the link, the submodule or the file type",
        ConflictKind::FolderMoved => "one side renamed its folder",
    }
}
