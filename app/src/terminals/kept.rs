//! The shells of a window that the background process keeps.
//!
//! Start at `open`. Without the process, a shell starts in the window.

use std::sync::Arc;

use agent_service::Error as ServiceError;
use background::{
    BackgroundShells, KeptShell, LaunchedIntegration, RestoredText, ShellConnection, ShellEvent,
    ShellInput, ShellLaunch, ShellSender,
};
use futures::future::{BoxFuture, FutureExt as _};
use host::RealClock;
use host::process::{ProcessExit, TerminalSize};
use terminal::{ClipboardAccess, EmulatorOptions, SavedTerminal, TerminalSpec, WakeUp};
use terminal_panel::{
    AttachedInput, AttachedProgram, KeptShellLink, ProgramLaunch, SavedPane, ServiceAnswer,
    TerminalProgram,
};

use super::{ProgramStarter, cursor_shape, is_text};

/// The reason why a shell cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    /// The program or the folder does not exist.
    #[error(transparent)]
    Host(#[from] host::Error),
    /// The background process refused.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

/// Returns whether the background process may keep a program: it is a shell, and no task reads its output.
pub(super) fn may_be_kept(launch: &ProgramLaunch) -> bool {
    launch.program.is_none() && launch.output.is_none()
}

/// Attaches to the shell of an earlier window, or starts one: in the background process, or in this one.
pub(super) async fn open(
    shells: &Arc<BackgroundShells>,
    starter: &ProgramStarter,
    launch: ProgramLaunch,
    wake: WakeUp,
) -> Result<Arc<dyn TerminalProgram>, OpenError> {
    if let Some(id) = launch.shell.clone() {
        match shells.attach(id.clone()).await {
            Ok(Some(connection)) if !connection.has_ended => {
                return Ok(show(shells, id, connection, &launch, wake));
            }
            Ok(_) => {}
            Err(error) => log::warn!("a shell is not reached: {error}"),
        }
    }
    let is_kept = launch.settings.keep_running;
    let request = if is_kept {
        shell_launch(starter, &launch)?
    } else {
        None
    };
    let Some(request) = request else {
        return Ok(starter.start(launch, wake)?);
    };
    let id = match shells.start(request).await {
        Ok(id) => id,
        Err(ServiceError::Unavailable(why)) => {
            log::warn!("a shell runs in the window: {why}");
            return Ok(starter.start(launch, wake)?);
        }
        Err(error) => return Err(error.into()),
    };
    match shells.attach(id.clone()).await? {
        Some(connection) => Ok(show(shells, id, connection, &launch, wake)),
        None => {
            let why = "the background process ended the shell".to_owned();
            Err(ServiceError::Failed(why).into())
        }
    }
}

/// Returns the request that starts a shell; `None` if its folder cannot be sent.
fn shell_launch(
    starter: &ProgramStarter,
    launch: &ProgramLaunch,
) -> Result<Option<ShellLaunch>, host::Error> {
    let TerminalSpec {
        program,
        arguments,
        folder,
        variables,
        integration,
        ..
    } = starter.spec(launch.clone())?;
    if !is_text(&folder) {
        return Ok(None);
    }
    Ok(Some(ShellLaunch {
        root: starter.root.clone(),
        program,
        arguments,
        folder,
        variables,
        integration: integration.map(|it| LaunchedIntegration {
            nonce: it.nonce,
            arguments: it.arguments,
            variables: it.variables,
        }),
        size: (launch.size.rows, launch.size.columns),
        scrollback: launch.settings.scrollback_lines,
        colors: launch.colors.clone(),
        restored: launch.restored.as_ref().map(|text| RestoredText {
            saved: text.saved.to_bytes(),
            notice: text.notice.clone(),
        }),
    }))
}

/// Ends a shell of the background process.
pub(super) fn end(shells: &BackgroundShells, id: String) {
    // The request is sent by the call; its result is not needed.
    drop(shells.end(id));
}

/// Shows a shell in a terminal of this window.
fn show(
    shells: &Arc<BackgroundShells>,
    id: String,
    connection: ShellConnection,
    launch: &ProgramLaunch,
    wake: WakeUp,
) -> Arc<dyn TerminalProgram> {
    let options = EmulatorOptions {
        size: launch.size,
        scrollback: launch.settings.scrollback_lines,
        cursor_shape: cursor_shape(&launch.settings),
        clipboard: ClipboardAccess::WriteAndRead,
        nonce: connection.nonce.clone(),
        host_name: host::host_name(),
    };
    let sender = connection.sender();
    sender.send(ShellInput::Colors(launch.colors.clone()));
    let (ended, shells) = (id.clone(), shells.clone());
    let link = KeptShellLink {
        id,
        clock: Arc::new(RealClock::default()),
        send: Box::new(move |input| send(&sender, input)),
        end: Box::new(move || end(&shells, ended.clone())),
    };
    let program = Arc::new(AttachedProgram::of_shell(options, link));
    program.connect(wake);
    let mut follower = ShellFollower {
        read: 0,
        restored: connection.restored.clone(),
    };
    let shown = Arc::downgrade(&program);
    connection.follow(move |event| {
        // A terminal that was closed shows nothing.
        if let Some(program) = shown.upgrade() {
            follower.note(&program, event);
        }
    });
    program
}

fn send(sender: &ShellSender, input: AttachedInput) {
    match input {
        AttachedInput::Typed(bytes) | AttachedInput::Reply(bytes) => {
            sender.send(ShellInput::Typed(bytes));
        }
        AttachedInput::Resize(TerminalSize { rows, columns }) => {
            sender.send(ShellInput::Resize { rows, columns });
        }
        // A shell of the user has no agent.
        AttachedInput::TakeOver | AttachedInput::GiveBack => {}
    }
}

/// Passes the events of a shell on to its terminal.
struct ShellFollower {
    /// Number of bytes of output that the terminal has.
    read: u64,
    /// The text above the output, until it is shown.
    restored: Option<RestoredText>,
}

impl ShellFollower {
    fn note(&mut self, program: &AttachedProgram, event: ShellEvent) {
        match event {
            // The connection was made anew.
            ShellEvent::Attached { .. } => {}
            ShellEvent::Size(rows, columns) => {
                program.set_output_size(TerminalSize { rows, columns });
                self.show_restored(program);
            }
            ShellEvent::Output {
                offset,
                bytes,
                is_backlog,
            } => {
                if offset > self.read {
                    program.skip(offset - self.read);
                }
                self.read = offset + bytes.len() as u64;
                program.feed(&bytes, is_backlog);
            }
            ShellEvent::CaughtUp { modes } => {
                self.show_restored(program);
                program.note_caught_up(&modes);
            }
            ShellEvent::Processes(count) => program.note_processes(count),
            ShellEvent::Ended(Some(code)) => program.end(ProcessExit::Exited(code)),
            ShellEvent::Ended(None) => program.end(ProcessExit::TimedOut),
        }
    }

    fn show_restored(&mut self, program: &AttachedProgram) {
        if let Some(RestoredText { saved, notice }) = self.restored.take()
            && let Ok(saved) = SavedTerminal::from_bytes(&saved)
        {
            program.show_saved(&saved, &notice);
        }
    }
}

/// Adds the shells that run without a window to the saved terminals: a window that was killed may not have saved them.
pub(super) fn with_running(
    running: BoxFuture<'static, Vec<KeptShell>>,
    loaded: ServiceAnswer<Vec<SavedPane>>,
) -> ServiceAnswer<Vec<SavedPane>> {
    async move {
        let mut panes = loaded.await?;
        add_unsaved(&mut panes, running.await);
        Ok(panes)
    }
    .boxed()
}

fn add_unsaved(panes: &mut Vec<SavedPane>, running: Vec<KeptShell>) {
    let mut tab = panes.iter().map(|pane| pane.tab + 1).max().unwrap_or(0);
    for shell in running {
        let id = Some(shell.id);
        if shell.is_attached || panes.iter().any(|pane| pane.shell == id) {
            continue;
        }
        panes.push(SavedPane {
            tab,
            name: None,
            editor: None,
            terminal: SavedTerminal {
                rows: Vec::new(),
                columns: 80,
                folder: Some(shell.folder),
                title: None,
                commands: Vec::new(),
            },
            shell: id,
        });
        tab += 1;
    }
}

/// Returns saved terminals for a program that does not use the background process.
pub(super) fn without_shells(mut panes: Vec<SavedPane>) -> Vec<SavedPane> {
    panes.iter_mut().for_each(|pane| pane.shell = None);
    panes
}

#[cfg(test)]
mod tests {
    use base::AbsPath;

    use super::*;

    fn shell(id: &str, is_attached: bool) -> KeptShell {
        KeptShell {
            id: id.to_owned(),
            root: None,
            program: "bash".to_owned(),
            folder: AbsPath::new("/p").expect("absolute"),
            age_s: 1,
            is_busy: false,
            is_attached,
            has_ended: false,
        }
    }

    #[test]
    fn shells_that_no_window_has_get_a_tab() {
        let mut panes = Vec::new();
        add_unsaved(&mut panes, vec![shell("a", false)]);
        let running = vec![shell("a", false), shell("b", true), shell("c", false)];
        add_unsaved(&mut panes, running);
        let tabs: Vec<_> = panes
            .iter()
            .map(|pane| (pane.tab, pane.shell.as_deref()))
            .collect();
        assert_eq!(tabs, [(0, Some("a")), (1, Some("c"))]);
        let panes = without_shells(panes);
        assert!(panes.iter().all(|pane| pane.shell.is_none()));
    }
}
