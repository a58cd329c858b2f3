//! How sessions are opened for an editor: where they work, what they are given, who judges their calls.

use std::path::PathBuf;
use std::sync::Arc;

use agent::context::Skills;
use agent::engine::{self, Start};
use agent::hooks::Hooks;
use agent::record::Mode;
use base::AbsPath;
use connect::acp::agent::{Editor, Opened, Refusal, Replay, Wanted};
use connect::acp::words::{SlashCommand, Update};
use connect::mcp::ServerEntry;
use host::{Dirs, Files as _, RealFiles};

use super::live::{Live, Made, said};
use super::teller::Teller;
use super::{follow, options, replay};
use crate::confined::Confinement;
use crate::crew::{self, Crew};
use crate::foreign::Waiting;
use crate::house;
use crate::workshop::{self, Model};

/// What sessions are made of.
#[derive(Clone)]
pub(super) struct Shop {
    /// What they share.
    pub(super) crew: Arc<Crew>,
    /// Our own folders.
    pub(super) dirs: Dirs,
    /// The models that can be asked, as they were found when the program began.
    pub(super) models: Vec<Model>,
    /// The model that sessions begin with.
    pub(super) default: String,
    /// Whether calls that would be asked for are allowed.
    pub(super) allows_asked: bool,
    /// What the person says about the sandbox.
    pub(super) confinement: Confinement,
}

/// A session that is open, and the task that passes on what it tells.
pub(super) struct Open {
    pub(super) live: Arc<Live>,
    pub(super) follower: tokio::task::JoinHandle<()>,
}

/// A session that is to be opened again.
pub(super) struct Reopening {
    pub(super) id: String,
    pub(super) how: Replay,
    /// How it stood, where it was open until now.
    pub(super) before: Option<Standing>,
}

/// How a session stands.
pub(super) struct Standing {
    pub(super) root: AbsPath,
    pub(super) model: String,
    pub(super) mode: Mode,
}

/// Where a session works, and what is found there.
struct Place {
    root: AbsPath,
    hooks: Option<Arc<Hooks>>,
    slash: Vec<SlashCommand>,
    /// What the person has to know, in sentences.
    notes: Vec<String>,
}

impl Shop {
    /// Begins a session.
    pub(super) async fn open(
        self,
        wanted: Wanted,
        editor: Editor,
    ) -> Result<(Opened, Open), Refusal> {
        let (model, mode) = (self.default.clone(), Mode::Build);
        let folder = absolute(&wanted.folder)?;
        let (mut place, is_copy) = self.clone().begin_in(folder, model.clone()).await?;
        let start = self.start(&mut place, model, mode, &wanted.servers).await;
        let opened = engine::start(start.clone());
        let made = self.made(&opened, &place, is_copy, &start);
        let open = begin(made, opened, Teller::new(place.root.clone()), editor);
        Ok(self.opened(open, place, wanted))
    }

    /// Opens a session that is remembered, in its own folder.
    pub(super) async fn reopen(
        self,
        reopening: Reopening,
        wanted: Wanted,
        editor: Editor,
    ) -> Result<(Opened, Open), Refusal> {
        let Reopening { id, how, before } = reopening;
        let (now, is_written) = self.clone().stands(&id, before).await?;
        let is_copy = now.root.is_within(&self.dirs.state);
        let mut place = self.clone().look(now.root).await?;
        if RealFiles.canonicalize(&absolute(&wanted.folder)?).ok() != Some(place.root.clone()) {
            place.notes.push(format!(
                "this session works in {}, where it began",
                place.root
            ));
        }
        let start = self
            .start(&mut place, now.model, now.mode, &wanted.servers)
            .await;
        let (opened, updates, teller) = match is_written {
            true => self.resumed(start.clone(), id, &place).await?,
            false => {
                let opened = engine::start_as(id.into(), start.clone());
                (opened, Vec::new(), Teller::new(place.root.clone()))
            }
        };
        let made = self.made(&opened, &place, is_copy, &start);
        let open = begin(made, opened, teller, editor);
        if how == Replay::All {
            updates.into_iter().for_each(|it| open.live.tell(it));
        }
        Ok(self.opened(open, place, wanted))
    }

    /// Opens a session from its records; what it tells of its past, and the teller that goes on from there.
    async fn resumed(
        &self,
        start: Start,
        id: String,
        place: &Place,
    ) -> Result<(engine::Opened, Vec<Update>, Teller), Refusal> {
        let opened = engine::resume(start, &id).await;
        let opened = opened.map_err(Refusal::Failed)?;
        // After it was opened: what it mended of its past is told with the rest.
        let store = self.crew.store().clone();
        let past = blocking(move || replay::read(&store, &id)).await?;
        let past = past.map_err(Refusal::Failed)?;
        let (updates, teller) = replay::told(&past, Teller::new(place.root.clone()));
        Ok((opened, updates, teller))
    }

    /// How a session stands that was there before, and whether anything of it is written down: nothing is before the
    /// first prompt, and then it is as it was when it was open.
    async fn stands(self, id: &str, before: Option<Standing>) -> Result<(Standing, bool), Refusal> {
        let lines = blocking(move || self.crew.store().sessions(usize::MAX)).await?;
        let mut lines = lines.map_err(Refusal::Failed)?.into_iter();
        match (lines.find(|line| line.id == id), before) {
            (Some(line), _) => {
                let now = Standing {
                    root: absolute(&PathBuf::from(&line.root))?,
                    model: line.wanted,
                    mode: line.mode,
                };
                Ok((now, true))
            }
            (None, Some(before)) => Ok((before, false)),
            (None, None) => Err(Refusal::NotThere(format!("there is no session {id}"))),
        }
    }

    /// Looks at the folder that a new session is wanted in, or at the sample project where its model needs that.
    async fn begin_in(self, folder: AbsPath, model: String) -> Result<(Place, bool), Refusal> {
        let dirs = self.dirs.clone();
        let wanted = folder.clone();
        let ground = blocking(move || workshop::ground_of(&model, wanted, &dirs)).await?;
        let ground = ground.map_err(Refusal::Failed)?;
        let is_copy = ground != folder;
        let mut place = self.look(ground).await?;
        if is_copy {
            place.notes.push(format!(
                "the demo model works on a sample project in {}; nothing in {folder} is changed",
                place.root
            ));
        }
        Ok((place, is_copy))
    }

    /// Looks at a folder.
    async fn look(self, folder: AbsPath) -> Result<Place, Refusal> {
        let looked = blocking(move || {
            let root = RealFiles.canonicalize(&folder);
            let root = root.map_err(|error| Refusal::Invalid(error.to_string()))?;
            let how = "use `burin-agent run --trust-hooks` once";
            let (hooks, notes) = house::hooks_of(&self.dirs, &root, how);
            let skills = Skills::find(&RealFiles, &root, true, Some(&self.dirs.config));
            Ok(Place {
                hooks,
                slash: options::commands(&skills),
                notes,
                root,
            })
        });
        looked.await?
    }

    async fn start(
        &self,
        place: &mut Place,
        model: String,
        mode: Mode,
        servers: &[ServerEntry],
    ) -> Start {
        let wanted = crew::Wanted {
            root: place.root.clone(),
            model,
            mode,
            allows_asked: self.allows_asked,
            has_person: true,
            budget: None,
            effort: None,
            hooks: place.hooks.clone(),
            confinement: self.confinement.clone(),
            ground: None,
            servers: servers.to_vec(),
            waiting: Waiting::default(),
        };
        let (start, notices) = self.crew.start(wanted).await;
        place.notes.extend(notices);
        start
    }

    fn made(&self, opened: &engine::Opened, place: &Place, is_copy: bool, start: &Start) -> Made {
        Made {
            id: opened.id.as_ref().to_owned(),
            root: place.root.clone(),
            is_copy,
            slash: place.slash.clone(),
            models: self.models.clone(),
            commands: opened.commands.clone(),
            model: start.model.clone(),
            mode: start.mode,
        }
    }

    fn opened(&self, open: Open, place: Place, wanted: Wanted) -> (Opened, Open) {
        let mut notes = place.notes;
        notes.extend(unused_folders(&wanted.more));
        let mut after = vec![Update::Commands(place.slash)];
        after.extend(notes.into_iter().map(|text| note(&open.live.editor, text)));
        let opened = Opened {
            session: open.live.id.clone(),
            modes: Some(options::modes(open.live.mode())),
            options: open.live.options(),
            after,
        };
        (opened, open)
    }
}

/// Begins to pass on what a session tells.
fn begin(made: Made, opened: engine::Opened, teller: Teller, editor: Editor) -> Open {
    let live = Arc::new(Live::new(made, editor));
    let follower = tokio::spawn(follow::follow(live.clone(), opened.events, teller));
    Open { live, follower }
}

fn unused_folders(more: &[PathBuf]) -> Option<String> {
    let names: Vec<String> = more.iter().map(|it| it.display().to_string()).collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("a session works below one folder; these are not part of it: {names}")
    })
}

/// Something that the person has to know: a notice where the editor shows them, else a text of the agent.
fn note(editor: &Editor, text: String) -> Update {
    match editor.abilities().notices {
        true => Update::Notice {
            is_warning: true,
            text,
        },
        false => said(&format!("{text}\n\n")),
    }
}

/// A path of the editor's.
fn absolute(folder: &std::path::Path) -> Result<AbsPath, Refusal> {
    AbsPath::new(folder)
        .ok_or_else(|| Refusal::Invalid(format!("{} is no absolute path", folder.display())))
}

/// Does something that waits for the disk.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Refusal::Failed(format!("it broke off: {error}")))
}
