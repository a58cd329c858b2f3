//! The change of an image, as a comparison of its two versions in a tab.
//!
//! An image has no lines, so that it is staged as a whole in the panel.

use base::AbsPath;
use git::changes::ChangeNote;
use git::merge::TreePath;
use git::staging::{FileDiff, Side};
use git_panel::DiffRequest;
use gpui_kit::{AppContext as _, Context, SharedString, Window};
use preview_view::{ComparedVersion, ImageComparison, PreviewKind, PreviewTab};

use crate::item::TabItem;
use crate::layout::TabOpenMode;
use crate::workbench::Workbench;

/// Returns whether a file is an image by its name, other than one that is edited as text.
pub(super) fn is_image(path: &TreePath) -> bool {
    let path = path.to_path();
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    name.is_some_and(|name| PreviewKind::by_default(&name).is_some())
}

/// Compares the versions of an image on a side of a repository, in a new tab.
pub(super) fn open(
    workbench: &mut Workbench,
    repository: AbsPath,
    path: TreePath,
    side: Side,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(panel) = workbench.git.panel().cloned() else {
        return;
    };
    let file = repository.join(path.to_path());
    let request = DiffRequest {
        path,
        side,
        buffer: None,
    };
    let diff = panel.read(cx).service().file_diff(&repository, request);
    cx.spawn_in(window, async move |this, cx| {
        let diff = diff.await;
        let shown = this.update_in(cx, |this, window, cx| match diff {
            Ok(diff) => match diff.note {
                Some(ChangeNote::TooLarge { .. }) => {
                    this.report_error("This image is too large to be compared", window, cx);
                }
                Some(ChangeNote::LfsPointer { .. }) => {
                    let text = "Git LFS stores this image, so its versions cannot be compared";
                    this.report_error(text, window, cx);
                }
                _ => show(this, file, versions(&diff), window, cx),
            },
            Err(failure) => this.report_error(failure.sentence, window, cx),
        });
        // The window may be gone by then.
        shown.ok();
    })
    .detach();
}

/// Returns the versions of a diff with the names that Git gives them.
fn versions(diff: &FileDiff) -> [ComparedVersion; 2] {
    let names: [SharedString; 2] = match diff.side {
        Side::Staged => ["HEAD".into(), "Index".into()],
        Side::Unstaged => ["Index".into(), "Working tree".into()],
    };
    let [before, after] = names;
    let before = ComparedVersion {
        name: before,
        bytes: diff.base_entry.is_some().then(|| diff.base.clone()),
    };
    let after = ComparedVersion {
        name: after,
        bytes: diff.work_entry.is_some().then(|| diff.work.clone()),
    };
    [before, after]
}

fn show(
    workbench: &mut Workbench,
    file: AbsPath,
    versions: [ComparedVersion; 2],
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.leave_place(cx);
    let view = cx.new(|cx| ImageComparison::new(file, versions, cx));
    let pane = workbench.layout.active_pane();
    let item = TabItem::Preview(PreviewTab::Comparison(view));
    workbench.add_item(item, pane, TabOpenMode::Lasting, window, cx);
    workbench.focus_active(window, cx);
}
