//! The questions of Git, ssh and hooks, on their way to the window.
//!
//! The server of questions starts with the first use of the git program. An answer is passed on and kept nowhere.

use std::sync::{Arc, OnceLock};

use async_channel::{Receiver, Sender};
use base::{AbsPath, LogErr as _};
use git_panel::GitPrompt;
use git_program::{Error as ProgramError, Prompt, PromptServer};
use host::{Dirs, Files as _, RealFiles, link_command};

use super::queues::run_on_thread;

/// Questions that wait for the window; the programs that ask further ones wait, too.
const WAITING: usize = 16;

/// Passes questions on to a window.
pub(super) struct PromptForwarder {
    /// The folder of the socket and of the link that Git and ssh run.
    folder: AbsPath,
    server: OnceLock<Option<Arc<PromptServer>>>,
    sender: Sender<GitPrompt>,
    prompts: Receiver<GitPrompt>,
}

impl PromptForwarder {
    pub(super) fn new(dirs: &Dirs) -> Self {
        let (sender, prompts) = async_channel::bounded(WAITING);
        Self {
            folder: dirs.state.join("askpass"),
            server: OnceLock::new(),
            sender,
            prompts,
        }
    }

    /// Returns the questions. All receivers share them.
    pub(super) fn prompts(&self) -> Receiver<GitPrompt> {
        self.prompts.clone()
    }

    /// Returns the server of questions; `None` if it cannot start: then a program that asks gets no answer.
    pub(super) fn server(&self) -> Option<Arc<PromptServer>> {
        let server = self.server.get_or_init(|| self.start().log_err());
        server.clone()
    }

    fn start(&self) -> Result<Arc<PromptServer>, ProgramError> {
        // Below the state folder, which is private to the user.
        RealFiles.create_folder(&self.folder)?;
        let program = host::own_program().ok_or_else(|| ProgramError::Failed {
            command: "askpass".to_owned(),
            message: "the path of this program is unknown".to_owned(),
        })?;
        let folders = [self.folder.clone()];
        let link = link_command(&program, runtime::ASKPASS_PROGRAM, &folders)?;
        self.listen(link)
    }

    /// Listens for questions, which Git and ssh ask by running `program`.
    fn listen(&self, program: AbsPath) -> Result<Arc<PromptServer>, ProgramError> {
        let (server, prompts) = PromptServer::start(&self.folder, program)?;
        let sender = self.sender.clone();
        run_on_thread(move || {
            while let Ok(prompt) = prompts.recv_blocking() {
                if sender.send_blocking(shown(prompt)).is_err() {
                    return;
                }
            }
        });
        Ok(server)
    }

    /// Makes Git and ssh ask by running another program than this one.
    #[cfg(test)]
    pub(super) fn ask_through(&self, program: AbsPath) {
        RealFiles.create_folder(&self.folder).expect("a folder");
        let server = self.listen(program).expect("a socket");
        let is_first = self.server.set(Some(server)).is_ok();
        assert!(is_first, "the server of questions runs already");
    }
}

fn shown(prompt: Prompt) -> GitPrompt {
    let Prompt {
        text,
        kind,
        reply,
        ended,
    } = prompt;
    GitPrompt {
        text,
        kind,
        reply: Box::new(move |answer| reply.answer(&answer)),
        ended,
    }
}
