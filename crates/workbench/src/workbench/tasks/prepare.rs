//! Everything that is read before a task starts: the project, the state of the window, what the user allowed.

use std::sync::Arc;

use base::{AbsPath, ByteOffset, Platform, Span};
use gpui_kit::{AppContext as _, Context, Task};
use host::environment::{self, Recipient};
use syntax::SyntaxSnapshot;
use tasks::{TaskCaret, TaskContext, TaskError, TaskFile, TaskPlan, TaskSet};
use text::Snapshot;
use ui::{ActivePlatform as _, ActiveSettings as _};

use super::super::Workbench;
use crate::item::TabItem;
use crate::services::TaskTrust;

/// The state of the window when the user chose a task.
pub(super) struct StateSource {
    root: AbsPath,
    file: Option<AbsPath>,
    caret: Option<CaretSource>,
    home: Option<AbsPath>,
    platform: Platform,
    /// The shell of the settings.
    shell: Option<String>,
}

struct CaretSource {
    text: Snapshot,
    syntax: Option<SyntaxSnapshot>,
    head: ByteOffset,
    selection: String,
}

/// A task that is ready to run, as far as the user allows it.
pub(super) struct PreparedTask {
    pub(super) set: TaskSet,
    pub(super) plan: TaskPlan,
    pub(super) context: TaskContext,
    pub(super) label: String,
    pub(super) permission: TaskPermission,
}

/// The permission of the user to run a task.
pub(super) enum TaskPermission {
    /// The folder is not trusted.
    Untrusted,
    /// These files are new, or changed since they were allowed.
    Unconfirmed(Vec<TaskFile>),
    /// It may run.
    Granted,
}

impl StateSource {
    /// Takes the state of the window; `None` without a folder.
    pub(super) fn of(workbench: &Workbench, cx: &mut Context<Workbench>) -> Option<Self> {
        let root = workbench.root(cx)?;
        let item = workbench.active_item();
        let file = item.and_then(|item| item.path(cx));
        let editor = item.and_then(TabItem::editor).cloned();
        let caret = editor.map(|editor| {
            let model = editor.read(cx).model().clone();
            let (text, syntax) = {
                let model = model.read(cx);
                (model.snapshot(), model.syntax().cloned())
            };
            editor.update(cx, |editor, cx| CaretSource {
                text,
                syntax,
                head: editor.selections(cx).primary().head,
                selection: editor.selected_text(cx),
            })
        });
        Some(Self {
            root,
            file,
            caret,
            home: workbench.services.home.clone(),
            platform: cx.platform(),
            shell: cx.settings().terminal.shell.first().cloned(),
        })
    }

    /// Reads what takes time: the symbol at the caret, and the environment. Blocks.
    fn read(self) -> TaskContext {
        let variables = environment::variables(Recipient::Personal).into_iter();
        let variables = variables.filter_map(|(name, value)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            Some((name, value))
        });
        let shell = self.shell.unwrap_or_else(|| {
            let shell = environment::login_shell();
            shell.to_string_lossy().into_owned()
        });
        TaskContext {
            root: self.root,
            file: self.file,
            caret: self.caret.map(CaretSource::read),
            home: self.home,
            environment: variables.collect(),
            answers: Vec::new(),
            shell,
        }
    }
}

impl CaretSource {
    fn read(self) -> TaskCaret {
        let point = self.text.point_at(self.head);
        let start = self.text.row_start(point.row);
        let column = self.text.char_count(Span::new(start, self.head));
        let symbol = self.syntax.and_then(|syntax| {
            let around = syntax.shared_outline(&self.text).around(self.head);
            around.into_iter().next_back().map(|item| item.name)
        });
        TaskCaret {
            line: point.row.0 + 1,
            column: u32::try_from(column).unwrap_or(u32::MAX - 1) + 1,
            selection: self.selection,
            symbol,
        }
    }
}

/// Reads the project in the background and plans the task.
pub(super) fn prepare(
    workbench: &Workbench,
    source: StateSource,
    label: String,
    cx: &Context<Workbench>,
) -> Task<Result<PreparedTask, TaskError>> {
    let files = workbench.services.files.clone();
    let trust = workbench.services.task_trust.clone();
    cx.background_spawn(async move {
        let platform = source.platform;
        let context = source.read();
        let set = TaskSet::read(files.as_ref(), &context.root, platform);
        let plan = TaskPlan::new(&set, &label)?;
        let permission = permission(trust, &set, &plan, &context.root);
        Ok(PreparedTask {
            set,
            plan,
            context,
            label,
            permission,
        })
    })
}

fn permission(
    trust: Option<Arc<dyn TaskTrust>>,
    set: &TaskSet,
    plan: &TaskPlan,
    root: &AbsPath,
) -> TaskPermission {
    let Some(trust) = trust.filter(|trust| trust.is_trusted(root)) else {
        return TaskPermission::Untrusted;
    };
    let mut files = set.files_of(&plan.tasks());
    files.retain(|file| !trust.is_allowed(root, file));
    if files.is_empty() {
        TaskPermission::Granted
    } else {
        TaskPermission::Unconfirmed(files)
    }
}
