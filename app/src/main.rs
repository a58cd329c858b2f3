//! The program `burin`: reads its arguments, wires the services, opens the windows.
//!
//! Must not know: anything a window does. Start at `main`; the arguments are in `arguments`.

mod agents;
mod arguments;
mod error;
mod second_start;
mod stalls;
mod tab;
#[cfg(test)]
mod walk;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use base::{AbsPath, LineFeeds, printable};
use host::{Dirs, HandoffReceiver, RealClock, RealFiles};
use project::{UnsavedTexts, WalkBackend};
use runtime::indexes::IndexRegistry;
use workbench::windows::{self, OpenRequest};
use workbench::{CodeIndex, Services, init};

use crate::arguments::StartupAction;
use crate::error::Error;
use crate::second_start::InstanceClaim;

fn main() -> ExitCode {
    if let Some(code) = runtime::answer_git() {
        return code;
    }
    // While there is nothing here yet that a sandbox must not see.
    runtime::prepare_sandbox();
    let asked = match arguments::read(std::env::args_os().skip(1)) {
        Ok(asked) => asked,
        Err(error) => return fail(&error.to_string()),
    };
    let paths = match asked {
        StartupAction::Help => return print_and_exit(arguments::HELP),
        StartupAction::Version => {
            return print_and_exit(concat!("burin ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        StartupAction::Open(paths) => paths,
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
    let handed = match second_start::claim_instance(&services, &paths) {
        InstanceClaim::First(handed) => handed,
        InstanceClaim::Other => return ExitCode::SUCCESS,
    };
    let request = arguments::resolve(&paths, &services.working_folder, services.files.as_ref());
    run(services, request, handed);
    ExitCode::SUCCESS
}

fn run(services: Services, request: OpenRequest, handed: Option<HandoffReceiver>) {
    pacing::application()
        .with_assets(ui::Assets)
        .run(move |cx| {
            gpui_kit::init(cx);
            ui::init(cx);
            if let Some(threshold) = stalls::threshold() {
                stalls::watch(threshold, services.clock.clone(), cx);
            }
            let files = services.files.clone();
            services.set(cx);
            let started = init(cx);
            windows::start(request, started.problems, cx);
            if let Some(journal) = started.journal {
                windows::listen(journal, cx);
            }
            if let Some(handed) = handed {
                second_start::listen(handed, files, cx);
            }
            cx.activate(true);
        });
}

/// Finds and creates the program's folders and wires the services of the windows. The engines of
/// agents and indexes start later, with their first use.
fn services() -> Result<Services, Error> {
    let dirs = Dirs::from_environment()?;
    dirs.create()?;
    let working_folder = std::env::current_dir().ok().and_then(AbsPath::new);
    let home = std::env::var_os("HOME").and_then(AbsPath::new);
    let unsaved = Arc::new(UnsavedTexts::default());
    let indexes = IndexRegistry::new(&dirs);
    let engines = agents::EngineServices::new(dirs.clone(), unsaved.clone(), indexes.clone());
    let engines = Arc::new(engines);
    Ok(Services {
        files: Arc::new(RealFiles),
        clock: Arc::new(RealClock::default()),
        ground: WalkBackend::Disk,
        working_folder: working_folder
            .or_else(|| home.clone())
            .unwrap_or_else(|| dirs.state.clone()),
        home,
        agents: Some(engines.clone()),
        tab: Some(engines),
        index: Some(Arc::new(move |root| -> Arc<dyn CodeIndex> {
            Arc::new(indexes.open_for_window(&root))
        })),
        unsaved,
        dirs,
    })
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
