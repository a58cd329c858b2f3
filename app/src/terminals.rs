//! The programs in the terminals of a window: shells with their integration, saved terminals.
//!
//! Start at `service`. Nothing blocks the caller: each request runs on a thread of its own.

mod kept;
mod saved;

use std::ffi::OsString;
use std::fmt::Display;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::iter;
use std::sync::Arc;
use std::thread;

use background::BackgroundShells;
use base::AbsPath;
use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::{BoxFuture, FutureExt as _};
use host::environment::{self, Recipient, Variable};
use host::{Dirs, FileKind, Files as _, RealClock, RealFiles};
use settings::TerminalSettings;
use terminal::{
    ClipboardAccess, CursorShape, EmulatorOptions, ShellIntegration, ShellKind, TerminalSession,
    TerminalSpec, WakeUp, install_integration, integrate,
};
use terminal_panel::{
    ProgramLaunch, SavedPane, ServiceAnswer, TerminalProgram, TerminalService, TerminalServiceError,
};
use workbench::services::OpenTerminals;

/// Returns the function that makes the service for the terminals of a window. `shells` are those of the background process,
/// if it is used.
pub(crate) fn services(
    dirs: Dirs,
    home: Option<AbsPath>,
    shells: Option<Arc<BackgroundShells>>,
) -> OpenTerminals {
    Arc::new(move |root| {
        Arc::new(WindowTerminals {
            starter: ProgramStarter {
                dirs: dirs.clone(),
                home: home.clone(),
                root: root.cloned(),
            },
            shells: shells.clone().filter(|_| root.is_none_or(is_text)),
        })
    })
}

/// The terminals of one window.
struct WindowTerminals {
    starter: ProgramStarter,
    shells: Option<Arc<BackgroundShells>>,
}

/// Starts the programs of a window in this process.
#[derive(Clone)]
struct ProgramStarter {
    dirs: Dirs,
    home: Option<AbsPath>,
    root: Option<AbsPath>,
}

impl ProgramStarter {
    fn spec(&self, launch: ProgramLaunch) -> Result<TerminalSpec, host::Error> {
        spec(launch, &self.dirs, &[self.root.clone(), self.home.clone()])
    }

    fn start(
        &self,
        launch: ProgramLaunch,
        wake: WakeUp,
    ) -> Result<Arc<dyn TerminalProgram>, host::Error> {
        let spec = self.spec(launch)?;
        let session = TerminalSession::start(spec, Arc::new(RealClock::default()), wake)?;
        Ok(Arc::new(session))
    }

    /// Returns the file with the saved terminals.
    fn saved_file(&self) -> AbsPath {
        saved::file(&self.dirs, self.root.as_ref())
    }
}

impl TerminalService for WindowTerminals {
    fn open(&self, launch: ProgramLaunch, wake: WakeUp) -> ServiceAnswer<Arc<dyn TerminalProgram>> {
        let starter = self.starter.clone();
        match self.shells.clone().filter(|_| kept::may_be_kept(&launch)) {
            Some(shells) => answer("start the program", move || {
                block_on(kept::open(&shells, &starter, launch, wake))
            }),
            None => answer("start the program", move || starter.start(launch, wake)),
        }
    }

    fn end_shell(&self, id: String) {
        if let Some(shells) = &self.shells {
            kept::end(shells, id);
        }
    }

    fn existing_paths(&self, paths: Vec<AbsPath>) -> BoxFuture<'static, Vec<AbsPath>> {
        let existing = on_thread(move || {
            let is_file = |path: &AbsPath| {
                RealFiles
                    .stat(path)
                    .is_ok_and(|it| it.kind == FileKind::File)
            };
            paths.into_iter().filter(is_file).collect()
        });
        existing.map(Option::unwrap_or_default).boxed()
    }

    fn home_folder(&self) -> Option<AbsPath> {
        self.starter.home.clone()
    }

    fn host_name(&self) -> Option<String> {
        host::host_name()
    }

    fn time_of_day(&self) -> String {
        jiff::Zoned::now().strftime("%H:%M").to_string()
    }

    fn load_saved(&self) -> ServiceAnswer<Vec<SavedPane>> {
        let file = self.starter.saved_file();
        let loaded = answer("read the saved terminals", move || {
            saved::load(&RealFiles, &file)
        });
        match &self.shells {
            Some(shells) => kept::with_running(shells.list(self.starter.root.clone()), loaded),
            None => loaded.map(|panes| panes.map(kept::without_shells)).boxed(),
        }
    }

    fn save(&self, panes: Vec<SavedPane>) -> ServiceAnswer<()> {
        let file = self.starter.saved_file();
        answer("save the terminals", move || {
            saved::store(&RealFiles, &file, &panes)
        })
    }
}

/// Returns whether a path can be sent to another process.
fn is_text(path: &AbsPath) -> bool {
    path.as_path().to_str().is_some()
}

/// Runs a task that may block on a thread of its own. `purpose` completes "cannot …".
fn answer<T: Send + 'static, E: Display + Send + 'static>(
    purpose: &'static str,
    task: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> ServiceAnswer<T> {
    let result = on_thread(task);
    let result = result.map(move |result| {
        let reason = match result {
            Some(Ok(value)) => return Ok(value),
            Some(Err(error)) => error.to_string(),
            None => "the task ended early".to_owned(),
        };
        Err(TerminalServiceError(format!("cannot {purpose}: {reason}")))
    });
    result.boxed()
}

/// Yields the result of a task on a thread of its own; `None` if the thread cannot start or panics.
fn on_thread<T: Send + 'static>(
    task: impl FnOnce() -> T + Send + 'static,
) -> BoxFuture<'static, Option<T>> {
    let (sender, receiver) = oneshot::channel();
    let started = thread::Builder::new()
        .name("terminal request".to_owned())
        .spawn(move || {
            // The window may be gone by then.
            sender.send(task()).ok();
        });
    let is_started = started.is_ok();
    async move {
        if is_started {
            receiver.await.ok()
        } else {
            None
        }
    }
    .boxed()
}

/// Decides how a program starts. `folders` replace the folder of the launch, in order, if that does not exist any more.
fn spec(
    launch: ProgramLaunch,
    dirs: &Dirs,
    folders: &[Option<AbsPath>],
) -> Result<TerminalSpec, host::Error> {
    let ProgramLaunch {
        folder,
        program,
        settings,
        size,
        restored,
        output,
        colors: _,
        shell: _,
    } = launch;
    let is_shell = program.is_none();
    let mut variables = variables(&settings);
    let (program, arguments) = match program {
        Some(command) => {
            add_variables(&mut variables, command.variables);
            let arguments = command.arguments.into_iter().map(Into::into);
            (command.name.into(), arguments.collect())
        }
        None => shell(&settings),
    };
    let integration = is_shell && settings.shell_integration;
    let integration = match ShellKind::of(&program).filter(|_| integration) {
        Some(kind) => Some(integration_of(kind, dirs, &variables)?),
        None => None,
    };
    let mut folders = iter::once(&folder).chain(folders).flatten();
    let is_folder = |path: &&AbsPath| {
        RealFiles
            .stat(path)
            .is_ok_and(|it| it.kind == FileKind::Folder)
    };
    let folder = folders.find(is_folder).cloned();
    Ok(TerminalSpec {
        program,
        arguments,
        folder: folder.unwrap_or_else(|| dirs.state.clone()),
        variables,
        sandbox: None,
        emulator: EmulatorOptions {
            size,
            scrollback: settings.scrollback_lines,
            cursor_shape: cursor_shape(&settings),
            clipboard: ClipboardAccess::WriteAndRead,
            nonce: integration.as_ref().map(|it| it.nonce.clone()),
            host_name: host::host_name(),
        },
        integration,
        restored: restored.map(|text| (text.saved, text.notice)),
        output,
    })
}

/// Returns the shell of the settings with its arguments, otherwise the user's login shell.
fn shell(settings: &TerminalSettings) -> (OsString, Vec<OsString>) {
    match settings.shell.split_first() {
        Some((program, arguments)) => {
            let arguments = arguments.iter().map(Into::into).collect();
            (program.into(), arguments)
        }
        None => (environment::login_shell().into(), Vec::new()),
    }
}

/// Returns the environment of the user's own programs, with the variables of the settings.
fn variables(settings: &TerminalSettings) -> Vec<Variable> {
    let mut variables = environment::variables(Recipient::Personal);
    let given = &settings.env.0;
    variables.retain(|(name, _)| name.to_str().is_none_or(|name| !given.contains_key(name)));
    let given = given
        .iter()
        .filter(|(name, _)| environment::may_pass_on(name));
    variables.extend(given.map(|(name, value)| (name.into(), value.into())));
    variables
}

/// Sets the variables of a task, which may change those of the user.
fn add_variables(variables: &mut Vec<Variable>, added: Vec<(String, String)>) {
    let added = added.into_iter();
    for (name, value) in added.filter(|(name, _)| environment::may_pass_on(name)) {
        variables.retain(|(known, _)| *known != *name.as_str());
        variables.push((name.into(), value.into()));
    }
}

fn integration_of(
    kind: ShellKind,
    dirs: &Dirs,
    variables: &[Variable],
) -> Result<ShellIntegration, host::Error> {
    let folder = dirs.state.join("shell_integration");
    install_integration(&RealFiles, &folder)?;
    Ok(integrate(kind, &folder, nonce(), variables))
}

/// Returns a secret that programs in the terminal cannot guess: 32 hexadecimal digits.
fn nonce() -> String {
    // Each state has keys from the system's source of randomness.
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

fn cursor_shape(settings: &TerminalSettings) -> CursorShape {
    match settings.cursor_shape {
        settings::TerminalCursorShape::Block => CursorShape::Block,
        settings::TerminalCursorShape::Bar => CursorShape::Beam,
        settings::TerminalCursorShape::Underline => CursorShape::Underline,
    }
}

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use host::Dirs;
    use host::process::TerminalSize;
    use settings::Settings;
    use terminal_panel::ProgramLaunch;

    use super::spec;

    #[test]
    fn a_deleted_folder_is_replaced_by_the_windows_folder() {
        let temporary = tempfile::tempdir().expect("a folder");
        let root = AbsPath::new(temporary.path()).expect("absolute");
        let dirs = Dirs::under(&root.join("own"));
        let mut settings = Settings::builtin().terminal;
        settings.shell_integration = false;
        let start = |folder: &AbsPath| {
            let launch = ProgramLaunch {
                folder: Some(folder.clone()),
                program: None,
                settings: settings.clone(),
                size: TerminalSize {
                    rows: 24,
                    columns: 80,
                },
                colors: Vec::new(),
                shell: None,
                restored: None,
                output: None,
            };
            let folders = [None, Some(root.clone())];
            spec(launch, &dirs, &folders).expect("a program").folder
        };
        let inner = root.join("inner");
        std::fs::create_dir(&inner).expect("a folder");
        assert_eq!(start(&inner), inner);
        std::fs::remove_dir(&inner).expect("an empty folder");
        assert_eq!(start(&inner), root);
    }
}
