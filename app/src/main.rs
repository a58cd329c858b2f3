//! The program `burin`: reads its arguments, wires the services, opens the windows.
//!
//! Must not know: the contents of a window. Start at `main`; the arguments are in `arguments`.

mod agent_engines;
mod arguments;
mod crashes;
mod error;
mod git_service;
mod opened_urls;
mod repository_history;
mod rewriting;
mod second_start;
mod stalls;
mod tab;
mod task_trust;
mod terminals;
mod test_commands;
#[cfg(test)]
mod walk;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use async_channel::Receiver;
use background::EngineServices;
use base::{AbsPath, LineFeeds, Platform, printable};
use crash_report::CrashRecorder;
use gpui_kit::App;
use host::{Dirs, HandoffReceiver, ProgramFile, RealClock, RealFiles};
use language::RunningOptions;
use project::{UnsavedTexts, WalkBackend};
use runtime::indexes::IndexRegistry;
use runtime::language_servers::{TrustSource, folder_servers};
use workbench::services::RunningProgram;
use workbench::windows::{self, OpenRequest};
use workbench::{CodeIndex, Services, init};

use crate::arguments::StartupAction;
use crate::error::Error;
use crate::rewriting::RewriteService;
use crate::second_start::InstanceClaim;
use crate::tab::TabService;
use crate::task_trust::StoredTaskTrust;

fn main() -> ExitCode {
    if let Some(code) = host::process::guard_main() {
        return code;
    }
    if let Some(code) = host::environment::print_environment_main() {
        return code;
    }
    if let Some(code) = runtime::answer_askpass() {
        return code;
    }
    if let Some(code) = runtime::answer_git() {
        return code;
    }
    // Before this process holds anything that a sandbox must not see.
    runtime::prepare_sandbox();
    host::process::raise_file_limit();
    let asked = match arguments::read(std::env::args_os().skip(1)) {
        Ok(asked) => asked,
        Err(error) => return fail(&error.to_string()),
    };
    let open = match asked {
        StartupAction::Help => return print_and_exit(arguments::HELP),
        StartupAction::Version => {
            return print_and_exit(concat!("burin ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        StartupAction::ServeAgents => return agent_engines::serve(),
        StartupAction::Open(open) => open,
    };
    if let Some(sentence) = host::no_display() {
        return fail(&sentence);
    }
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn,gpui=error"))
        .init();
    base::set_reporter(|message| log::error!("{message}"));
    let services = match services() {
        Ok(services) => services,
        Err(error) => return fail(&error.to_string()),
    };
    let handed = match second_start::claim_instance(&services, &open) {
        InstanceClaim::First(handed) => handed,
        InstanceClaim::Other => return ExitCode::SUCCESS,
    };
    let request = arguments::resolve(
        &open.paths,
        &services.working_folder,
        services.files.as_ref(),
    );
    let shell_failure = host::environment::adopt_login_environment(&services.dirs);
    let crashes = crashes::record(&services.dirs);
    run(services, request, handed, shell_failure, crashes);
    ExitCode::SUCCESS
}

/// Opens the windows and blocks until the last one closes. `shell_failure` yields a sentence for the
/// user if the login shell's environment cannot be read.
fn run(
    services: Services,
    mut request: OpenRequest,
    handed: Option<HandoffReceiver>,
    shell_failure: Option<Receiver<String>>,
    crashes: CrashRecorder,
) {
    let application = pacing::application().with_assets(ui::Assets);
    let mut opened = opened_urls::register(Platform::CURRENT, &application);
    application.run(move |cx| {
        gpui_kit::init(cx);
        ui::init(Platform::CURRENT, cx);
        ui::follow_system_motion(cx);
        cx.set_app_identity("dev.burin.Burin", "Burin");
        if let Some(threshold) = stalls::threshold() {
            stalls::watch(threshold, services.clock.clone(), cx);
        }
        cx.on_app_quit(move |_| {
            crashes.conclude();
            async {}
        })
        .detach();
        let files = services.files.clone();
        services.set(cx);
        let started = init(cx);
        if let Some(opened) = &mut opened {
            opened.take_into(&mut request, files.as_ref());
        }
        windows::start(request, started.problems, cx);
        if let Some(journal) = started.journal {
            windows::listen(journal, cx);
        }
        if let Some(handed) = handed {
            second_start::listen(handed, files.clone(), cx);
        }
        if let Some(opened) = opened {
            opened.listen(files, cx);
        }
        if let Some(failure) = shell_failure {
            windows::report(failure, cx);
        }
        cx.activate(true);
    });
}

/// Finds or creates the program's folders and wires the services of the windows. The engines of
/// agents and indexes start later, on first use.
fn services() -> Result<Services, Error> {
    let dirs = Dirs::from_environment()?;
    dirs.check_format()?;
    dirs.create()?;
    let working_folder = std::env::current_dir().ok().and_then(AbsPath::new);
    let working_folder = working_folder.filter(|folder| is_chosen(Platform::CURRENT, folder));
    let home = std::env::var_os("HOME").and_then(AbsPath::new);
    let (home_folder, home_of_shells) = (home.clone(), home.clone());
    let probed = dirs.clone();
    let unsaved = Arc::new(UnsavedTexts::default());
    let indexes = IndexRegistry::new(&dirs);
    let engines = EngineServices::new(dirs.clone(), unsaved.clone(), indexes.clone());
    let engines = Arc::new(engines);
    let chosen = agent_engines::choose_engines(&dirs, &engines, &unsaved);
    Ok(Services {
        files: Arc::new(RealFiles),
        clock: Arc::new(RealClock::default()),
        ground: WalkBackend::Disk,
        working_folder: working_folder
            .or_else(|| home.clone())
            .unwrap_or_else(|| dirs.state.clone()),
        home,
        agents: Some(chosen.agents),
        machine_agents: Some(agent_engines::machine_agents(engines.clone())),
        tab: Some(Arc::new(TabService::new(engines.clone()))),
        git: Some(git_service::services(dirs.clone(), engines.clone())),
        rewrite: Some(Arc::new(RewriteService(engines))),
        index: Some(Arc::new(move |root| -> Arc<dyn CodeIndex> {
            Arc::new(indexes.open_for_window(&root))
        })),
        language_servers: Some(language_servers(dirs.clone())),
        install: install_program(home_folder),
        facts: Some(Arc::new(move || host::facts(&probed))),
        program: running_program(Platform::CURRENT),
        terminals: Some(terminals::services(
            dirs.clone(),
            home_of_shells,
            chosen.shells,
        )),
        history: Some(repository_history::services(dirs.clone())),
        tests: Some(test_commands::services(dirs.clone())),
        task_trust: Some(Arc::new(StoredTaskTrust::new(&dirs))),
        unsaved,
        dirs,
    })
}

/// Returns the function that prepares the language servers of a folder.
fn language_servers(dirs: Dirs) -> workbench::services::OpenLanguageServers {
    Arc::new(move |root| {
        let (dirs, root) = (dirs.clone(), root.clone());
        RunningOptions {
            logs: dirs.server_logs(),
            clock: Arc::new(RealClock::default()),
            open: Box::new(move || folder_servers(&dirs, &root, TrustSource::Stored).0),
        }
    })
}

/// Returns where to install this program as a command: in `/usr/local/bin`, which is on every user's path, or else in
/// the home folder. `None` if the program does not know its own path.
fn install_program(home: Option<AbsPath>) -> Option<workbench::services::InstallProgram> {
    let program = lasting_program()?;
    let common = AbsPath::new("/usr/local/bin");
    let own = home.map(|home| home.join(".local/bin"));
    let folders: Vec<AbsPath> = common.into_iter().chain(own).collect();
    Some(Arc::new(move || {
        host::link_command(&program, "burin", &folders)
    }))
}

/// Returns this program, which can be restarted after an update. `None` if it does not know its own path.
fn running_program(platform: Platform) -> Option<RunningProgram> {
    let file = ProgramFile::at(&RealFiles, lasting_program()?)?;
    Some(RunningProgram {
        file,
        restart: Arc::new(move |program: &AbsPath, cx: &mut App| {
            // macOS opens the bundle, which it knows.
            if platform == Platform::Linux {
                cx.set_restart_path(program.as_path().to_owned());
            }
            cx.restart();
        }),
    })
}

/// Returns the path of this program after it has ended. A program in an AppImage has its own path only while it runs, so
/// this is the path of the AppImage.
fn lasting_program() -> Option<AbsPath> {
    let program = host::own_program()?;
    let path = |variable: &str| std::env::var_os(variable).and_then(AbsPath::new);
    let is_mounted = path("APPDIR").is_some_and(|folder| program.is_within(&folder));
    if is_mounted {
        path("APPIMAGE")
    } else {
        Some(program)
    }
}

/// Returns whether a person or a program chose the working folder. The Finder and the Dock choose none: they start
/// programs in the root folder, without a terminal.
fn is_chosen(platform: Platform, folder: &AbsPath) -> bool {
    let has_terminal =
        || io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal();
    platform == Platform::Linux || folder.parent().is_some() || has_terminal()
}

fn print_and_exit(text: &str) -> ExitCode {
    // If standard output is closed, the text cannot be shown.
    io::stdout().write_all(text.as_bytes()).ok();
    ExitCode::SUCCESS
}

fn fail(sentence: &str) -> ExitCode {
    let sentence = printable(sentence, LineFeeds::Keep);
    writeln!(io::stderr(), "{sentence}").ok();
    ExitCode::FAILURE
}
