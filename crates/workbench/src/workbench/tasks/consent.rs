//! The questions before a task runs: trust in the folder, new or changed files of tasks, and values.

use composer_panel::actions::TrustFolder;
use futures::channel::oneshot;
use gpui_kit::{AppContext as _, AsyncWindowContext, Context, WeakEntity, Window};
use tasks::{TaskError, TaskFile, TaskInput, TaskSet};
use ui::ButtonStyle;

use super::super::Workbench;
use super::prepare::{PreparedTask, TaskPermission};
use crate::pickers::task_input::TaskInputPicker;
use crate::question::QuestionSpec;

/// Asks everything that is open about a prepared task. Returns `None` if it does not run, which the user knows.
pub(super) async fn confirmed(
    this: &WeakEntity<Workbench>,
    prepared: Result<PreparedTask, TaskError>,
    cx: &mut AsyncWindowContext,
) -> Option<PreparedTask> {
    let mut prepared = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            let shown = this.update_in(cx, |this, window, cx| {
                this.report_error(error.to_string(), window, cx);
            });
            // The window may have been closed.
            shown.ok();
            return None;
        }
    };
    match &prepared.permission {
        TaskPermission::Granted => {}
        TaskPermission::Untrusted => {
            ask_for_trust(this, &prepared.label, cx).await;
            return None;
        }
        TaskPermission::Unconfirmed(files) => {
            let files = files.clone();
            if !ask_about_files(this, &prepared.set, &files, cx).await {
                return None;
            }
            allow(this, &prepared, files, cx).await?;
        }
    }
    for input in prepared.set.questions(&prepared.plan.tasks()) {
        let id = input.id.clone();
        let answer = this.update_in(cx, |this, window, cx| ask_value(this, input, window, cx));
        // The user may dismiss the question.
        let answer = answer.ok()?.await.ok()?;
        prepared.context.answers.push((id, answer));
    }
    Some(prepared)
}

/// Offers to trust the folder; the task runs once that is done.
async fn ask_for_trust(this: &WeakEntity<Workbench>, label: &str, cx: &mut AsyncWindowContext) {
    let spec = QuestionSpec {
        title: "Trust this folder?".into(),
        detail: format!(
            "The task \u{201c}{label}\u{201d} runs programs that the folder defines, with your permissions. Agents also \
             read the instructions of a trusted folder, and its language servers start."
        )
        .into(),
        answers: vec![
            ("Trust folder".into(), ButtonStyle::Primary),
            ("Cancel".into(), ButtonStyle::Plain),
        ],
        safest: 1,
    };
    let answer = this.update_in(cx, |this, window, cx| this.ask(spec, window, cx));
    let Ok(answer) = answer else {
        return;
    };
    if answer.await != Ok(0) {
        return;
    }
    let label = label.to_owned();
    let trusted = this.update_in(cx, |this, window, cx| {
        this.tasks.waiting = Some(label);
        let panel = this.agents.local.clone();
        panel.update(cx, |panel, cx| panel.trust_folder(&TrustFolder, window, cx));
    });
    // The window may have been closed.
    trusted.ok();
}

/// Asks whether files of tasks may run, with all their commands. Returns whether the user allows it.
async fn ask_about_files(
    this: &WeakEntity<Workbench>,
    set: &TaskSet,
    files: &[TaskFile],
    cx: &mut AsyncWindowContext,
) -> bool {
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    let commands: Vec<String> = files.iter().map(|file| set.commands_of(file)).collect();
    let spec = QuestionSpec {
        title: format!("Run the tasks in {}?", names.join(" and ")).into(),
        detail: format!(
            "The file is new, or changed since you allowed it. Its tasks run with your permissions:\n{}",
            commands.join("\n")
        )
        .into(),
        answers: vec![
            ("Allow and run".into(), ButtonStyle::Primary),
            ("Cancel".into(), ButtonStyle::Plain),
        ],
        safest: 1,
    };
    let answer = this.update_in(cx, |this, window, cx| this.ask(spec, window, cx));
    match answer {
        Ok(answer) => answer.await == Ok(0),
        Err(_) => false,
    }
}

/// Records that the user allowed the files; reports a failure and returns `None`.
async fn allow(
    this: &WeakEntity<Workbench>,
    prepared: &PreparedTask,
    files: Vec<TaskFile>,
    cx: &mut AsyncWindowContext,
) -> Option<()> {
    let trust = this.update(cx, |this, _| this.services.task_trust.clone());
    let trust = trust.ok()??;
    let root = prepared.context.root.clone();
    let recording = cx.background_spawn(async move {
        let mut files = files.iter();
        files.try_for_each(|file| trust.allow(&root, file))
    });
    match recording.await {
        Ok(()) => Some(()),
        Err(error) => {
            let shown = this.update_in(cx, |this, window, cx| {
                this.report_error(error.to_string(), window, cx);
            });
            // The window may have been closed.
            shown.ok();
            None
        }
    }
}

fn ask_value(
    workbench: &mut Workbench,
    input: TaskInput,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> oneshot::Receiver<String> {
    let (reply, answer) = oneshot::channel();
    let picker = TaskInputPicker::new(input, reply);
    let query = picker.query();
    workbench.pick_with(picker, &query, window, cx);
    answer
}
