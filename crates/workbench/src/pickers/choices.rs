//! Short lists of choices: languages, line endings, indentation, encodings.

pub(crate) mod repositories;

use composer_panel::agents::{AgentCommand, AgentOption, ExternalAgentEntry, ModelEntry};
use composer_panel::{
    ComposerPanel, HistoryChoice, HistoryOption, ModelTraits, RestoreRequest, effort_name,
};
use editor::{DocumentModel, Editor};
use git::BranchSummary;
use git_panel::ChangesPanel;
use gpui_kit::{App, Context, Entity, SharedString, Task, WeakEntity, Window};
use model::Effort;
use preview_view::PreviewKind;
use project::fuzzy::{self, CandidateKind};
use text::{Encoding, FileFormat, LineEnding};
use ui::foreign;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use super::byte_offsets;
use crate::indentation::indentation_name;
use crate::workbench::Workbench;

/// An entry of the list.
#[derive(Clone, Debug)]
struct ChoiceItem {
    title: SharedString,
    detail: SharedString,
    is_current: bool,
}

type OnChosen = Box<dyn Fn(usize, &mut Window, &mut App)>;

/// Picker delegate for a short, fixed list.
pub(crate) struct ChoicePicker {
    name: SharedString,
    choices: Vec<ChoiceItem>,
    on_chosen: OnChosen,
    found: Vec<(usize, Vec<usize>)>,
    row_lines: u8,
}

impl ChoicePicker {
    fn new(
        name: impl Into<SharedString>,
        choices: Vec<ChoiceItem>,
        on_chosen: impl Fn(usize, &mut Window, &mut App) + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            choices,
            on_chosen: Box::new(on_chosen),
            found: Vec::new(),
            row_lines: 1,
        }
    }

    /// Shows details below the titles.
    fn with_two_lines(self) -> Self {
        Self {
            row_lines: 2,
            ..self
        }
    }
}

impl PickerDelegate for ChoicePicker {
    type Found = Vec<(usize, Vec<usize>)>;

    fn name(&self) -> SharedString {
        self.name.clone()
    }

    fn placeholder(&self) -> SharedString {
        self.name.clone()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        // A few dozen short names do not justify a thread.
        let titles: Vec<&str> = self
            .choices
            .iter()
            .map(|choice| choice.title.as_ref())
            .collect();
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let ranked = fuzzy::rank(query, &titles, CandidateKind::Text, titles.len(), &cancel);
        let marked = |index: usize| {
            byte_offsets(
                titles[index],
                &fuzzy::positions(query, titles[index], CandidateKind::Text),
            )
        };
        Task::ready(
            ranked
                .into_iter()
                .map(|ranked| (ranked.index, marked(ranked.index)))
                .collect(),
        )
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = found;
        let is_whole = self.found.len() == self.choices.len();
        let current = self
            .found
            .iter()
            .position(|(index, _)| self.choices[*index].is_current);
        current.filter(|_| is_whole).unwrap_or(0)
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row_lines(&self) -> u8 {
        self.row_lines
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let Some((index, matched)) = self.found.get(ix) else {
            return PickerRow::default();
        };
        let choice = &self.choices[*index];
        let row = PickerRow::new(choice.title.clone())
            .matches(matched.iter().copied())
            .detail(choice.detail.clone())
            .prose();
        if choice.is_current {
            row.end_text("now")
        } else {
            row
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        if let Some((index, _)) = self.found.get(ix) {
            (self.on_chosen)(*index, window, cx);
        }
        AfterConfirm::Close
    }
}

/// Builds the list of the commands that agents run.
pub(crate) fn agent_commands(
    commands: &[AgentCommand],
    on_chosen: impl Fn(usize, &mut Window, &mut App) + 'static,
) -> ChoicePicker {
    let choices = commands.iter().map(|command| {
        let agent = match command.agent.as_str() {
            "" => "An agent",
            agent => agent,
        };
        ChoiceItem {
            title: foreign::one_line(format!("{agent}: {}", command.command)),
            detail: format!("{} \u{b7} {}", command.sandbox, command.folder.printable()).into(),
            is_current: false,
        }
    });
    ChoicePicker::new("Terminals of agents", choices.collect(), on_chosen).with_two_lines()
}

/// Builds the list of the conflicts of a repository: their paths, each with its reason.
pub(crate) fn conflicts(
    conflicts: Vec<(String, &'static str)>,
    on_chosen: impl Fn(usize, &mut Window, &mut App) + 'static,
) -> ChoicePicker {
    let choices = conflicts.into_iter().map(|(path, reason)| ChoiceItem {
        title: foreign::one_line(path),
        detail: reason.into(),
        is_current: false,
    });
    ChoicePicker::new("Conflicts", choices.collect(), on_chosen).with_two_lines()
}

/// Builds the list of branches to switch to; the branches of remotes come last.
pub(crate) fn branches(
    panel: Entity<ChangesPanel>,
    mut branches: Vec<BranchSummary>,
) -> ChoicePicker {
    branches.sort_by_key(|it| (it.is_remote, std::cmp::Reverse(it.committed_seconds)));
    let choices = branches.iter().map(|branch| ChoiceItem {
        title: foreign::one_line(branch.name.clone()),
        detail: if branch.is_remote {
            "of a remote".into()
        } else {
            SharedString::default()
        },
        is_current: branch.is_head,
    });
    let choices = choices.collect();
    ChoicePicker::new("Switch to a branch", choices, move |index, window, cx| {
        if let Some(branch) = branches.get(index) {
            // Git creates a local branch for that of a remote, by its name there.
            let local = branch.name.split_once('/').filter(|_| branch.is_remote);
            let name = local
                .map_or(branch.name.as_str(), |(_, name)| name)
                .to_owned();
            panel.update(cx, |panel, cx| panel.switch_to(name, window, cx));
        }
    })
}

/// Builds the list of ways to open a file: as text, then as previews, the suggested one first.
pub(crate) fn open_with(
    suggested: Option<PreviewKind>,
    current: Option<PreviewKind>,
    on_chosen: impl Fn(Option<PreviewKind>, &mut Window, &mut App) + 'static,
) -> ChoicePicker {
    let mut kinds = PreviewKind::ALL.map(Some).to_vec();
    kinds.sort_by_key(|kind| *kind != suggested);
    kinds.insert(0, None);
    let choices = kinds.iter().map(|kind| match kind {
        None => ChoiceItem {
            title: "Text".into(),
            detail: "edit the file".into(),
            is_current: current.is_none(),
        },
        Some(kind) => ChoiceItem {
            title: kind.name().into(),
            detail: if Some(*kind) == suggested {
                "suggested by its name".into()
            } else {
                SharedString::default()
            },
            is_current: Some(*kind) == current,
        },
    });
    let choices = choices.collect();
    ChoicePicker::new("Open with", choices, move |index, window, cx| {
        if let Some(kind) = kinds.get(index) {
            on_chosen(*kind, window, cx);
        }
    })
}

/// Builds the list of languages; the first is plain text.
pub(crate) fn languages(document: Entity<DocumentModel>, cx: &App) -> ChoicePicker {
    let current = document.read(cx).language();
    let mut choices = vec![ChoiceItem {
        title: "Plain Text".into(),
        detail: "no highlighting".into(),
        is_current: current.is_none(),
    }];
    choices.extend(syntax::languages().iter().map(|language| ChoiceItem {
        title: language.name().into(),
        detail: language.extensions().join(", ").into(),
        is_current: current == Some(*language),
    }));
    ChoicePicker::new("Language of this text", choices, move |index, _, cx| {
        let language = index
            .checked_sub(1)
            .and_then(|index| syntax::languages().get(index).copied());
        document.update(cx, |document, cx| document.set_language(language, cx));
    })
}

/// Builds the list of models for an agent's prompt.
pub(crate) fn models(panel: Entity<ComposerPanel>, cx: &App) -> ChoicePicker {
    let read = panel.read(cx);
    let current = read.model().to_owned();
    let lines = read.models().models.clone();
    let mut choices: Vec<ChoiceItem> = lines
        .iter()
        .map(|line| ChoiceItem {
            title: line.name.clone().into(),
            detail: model_detail(line, read.resend_text(line)).into(),
            is_current: line.id == current,
        })
        .collect();
    let efforts = read.efforts().to_vec();
    choices.extend(effort_choices(read, "Effort: "));
    let picker = ChoicePicker::new("Model for this agent", choices, move |index, _, cx| {
        let effort = index.checked_sub(lines.len());
        let effort = effort.and_then(|index| efforts.get(index).copied());
        panel.update(cx, |panel, cx| match (lines.get(index), effort) {
            (Some(line), _) => panel.choose_session_model(line.id.clone(), cx),
            (None, Some(effort)) => panel.set_effort(effort, cx),
            (None, None) => {}
        });
    });
    picker.with_two_lines()
}

/// Builds the list of histories that a model can get in the middle of a conversation.
pub(crate) fn histories(panel: Entity<ComposerPanel>, model: String, cx: &App) -> ChoicePicker {
    let options: Vec<HistoryOption> = panel.read(cx).history_options(&model);
    let choices = options.iter().map(|option| ChoiceItem {
        title: option.title.into(),
        detail: option.detail.clone().into(),
        is_current: false,
    });
    let choices = choices.collect();
    let picker = ChoicePicker::new(
        "History for this model",
        choices,
        move |index, window, cx| {
            let choice: Option<HistoryChoice> = options.get(index).map(|option| option.choice);
            if let Some(choice) = choice {
                panel.update(cx, |panel, cx| {
                    panel.switch_model(model.clone(), choice, window, cx);
                });
            }
        },
    );
    picker.with_two_lines()
}

/// Builds the list of efforts that the model of an agent's prompt takes.
pub(crate) fn efforts(panel: Entity<ComposerPanel>, cx: &App) -> ChoicePicker {
    let read = panel.read(cx);
    let (choices, efforts) = (effort_choices(read, ""), read.efforts().to_vec());
    ChoicePicker::new(
        "Effort for the next message",
        choices,
        move |index, _, cx| {
            if let Some(effort) = efforts.get(index) {
                panel.update(cx, |panel, cx| panel.set_effort(*effort, cx));
            }
        },
    )
}

fn effort_choices(panel: &ComposerPanel, prefix: &str) -> Vec<ChoiceItem> {
    let choice = |effort: &Effort| ChoiceItem {
        title: format!("{prefix}{}", effort_name(*effort)).into(),
        detail: "for the next message".into(),
        is_current: panel.effort() == Some(*effort),
    };
    panel.efforts().iter().map(choice).collect()
}

/// Describes a model: the price of sending the history again, place, strength, price, limits.
fn model_detail(model: &ModelEntry, resend: Option<String>) -> String {
    let traits = model.traits.as_ref().map(ModelTraits::line);
    let parts = [resend, Some(model.about.clone()), traits];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" \u{b7} ")
}

/// Builds the list of external agents. A missing one shows how to install it, and is installed first.
pub(crate) fn external_agents(
    agents: Vec<ExternalAgentEntry>,
    workbench: WeakEntity<Workbench>,
) -> ChoicePicker {
    let choices = agents.iter().map(|agent| ChoiceItem {
        title: agent.name.clone().into(),
        detail: match (&agent.install_command, agent.is_installed) {
            (_, true) => "starts in its own worktree".into(),
            (Some(_), false) => "not installed; choose it to see how to install it".into(),
            (None, false) => format!("not installed; {}", agent.advice).into(),
        },
        is_current: false,
    });
    let choices = choices.collect();
    ChoicePicker::new(
        "External agent for a new session",
        choices,
        move |index, window, cx| {
            if let Some(agent) = agents.get(index) {
                let (agent, workbench) = (agent.clone(), workbench.clone());
                // After this list has closed: another one, or a question, may follow.
                window.defer(cx, move |window, cx| {
                    workbench
                        .update(cx, |workbench, cx| {
                            workbench.choose_external_agent(agent, window, cx)
                        })
                        .ok();
                });
            }
        },
    )
}

/// Builds the list of this computer and other machines, each with its name and its address. `current` is the
/// machine whose agents are shown.
pub(crate) fn machines(
    machines: Vec<(String, String)>,
    current: Option<String>,
    workbench: WeakEntity<Workbench>,
) -> ChoicePicker {
    let own = ChoiceItem {
        title: "This computer".into(),
        detail: "the folder of this window".into(),
        is_current: current.is_none(),
    };
    let others = machines.iter().map(|(name, detail)| ChoiceItem {
        title: name.clone().into(),
        detail: detail.clone().into(),
        is_current: current.as_ref() == Some(name),
    });
    let choices = std::iter::once(own).chain(others).collect();
    ChoicePicker::new(
        "Machine of the agents",
        choices,
        move |index, window, cx| {
            let chosen = index.checked_sub(1).and_then(|index| machines.get(index));
            let chosen = chosen.map(|(name, _)| name.clone());
            let workbench = workbench.clone();
            // After this list has closed, which gives the focus back.
            window.defer(cx, move |window, cx| {
                workbench
                    .update(cx, |workbench, cx| {
                        workbench.use_machine(chosen.as_deref(), window, cx)
                    })
                    .ok();
            });
        },
    )
}

/// Builds the list of an external agent's options; choosing one lists its values.
pub(crate) fn agent_options(
    agent: &str,
    options: Vec<AgentOption>,
    workbench: WeakEntity<Workbench>,
) -> ChoicePicker {
    let choices = options.iter().map(|option| {
        let now = option.values.iter().find(|it| it.id == option.now);
        ChoiceItem {
            title: option.name.clone().into(),
            detail: now.map_or(option.now.clone(), |it| it.name.clone()).into(),
            is_current: false,
        }
    });
    let choices = choices.collect();
    ChoicePicker::new(
        format!("Options of {agent}"),
        choices,
        move |index, window, cx| {
            if let Some(option) = options.get(index) {
                let (option, workbench) = (option.clone(), workbench.clone());
                // After this list has closed: that of the values follows.
                window.defer(cx, move |window, cx| {
                    workbench
                        .update(cx, |workbench, cx| {
                            workbench.choose_agent_value(option, window, cx)
                        })
                        .ok();
                });
            }
        },
    )
}

/// Builds the list of the values of an external agent's option.
pub(crate) fn agent_values(panel: Entity<ComposerPanel>, option: AgentOption) -> ChoicePicker {
    let choices = option.values.iter().map(|value| ChoiceItem {
        title: value.name.clone().into(),
        detail: value.about.clone().into(),
        is_current: value.id == option.now,
    });
    let choices = choices.collect();
    ChoicePicker::new(option.name.clone(), choices, move |index, _, cx| {
        if let Some(value) = option.values.get(index) {
            panel.update(cx, |panel, cx| {
                panel.set_agent_option(&option.id, &value.id, cx);
            });
        }
    })
}

/// Builds the list of an agent's turns, latest first, for restoring the state before one.
pub(crate) fn turn_picker(panel: Entity<ComposerPanel>, agent: String, turns: u64) -> ChoicePicker {
    let choice = |turn: u64| ChoiceItem {
        title: format!("Before turn {turn}").into(),
        detail: match turn {
            1 => "as its worktree began".into(),
            turn => format!("as turn {} left it", turn - 1).into(),
        },
        is_current: false,
    };
    let choices = (1..=turns).rev().map(choice).collect();
    ChoicePicker::new("Take its files back to", choices, move |index, _, cx| {
        let turn = turns.saturating_sub(index as u64);
        panel.update(cx, |panel, cx| panel.restore(&agent, turn, cx));
    })
}

/// Maximum number of files that the confirmation of a restore lists.
const MAX_LISTED_FILES: usize = 40;

/// Builds the confirmation of a restore: the files stay, or go back. Below are the files, for
/// reading; choosing one restores nothing.
pub(crate) fn confirm_restore(
    panel: Entity<ComposerPanel>,
    request: &RestoreRequest,
) -> ChoicePicker {
    let count = request.files.len();
    let files = if count == 1 { "file" } else { "files" };
    let choice = |title: String, detail: String| ChoiceItem {
        title: title.into(),
        detail: detail.into(),
        is_current: false,
    };
    let mut choices = vec![
        choice("Leave the files as they are".to_owned(), String::new()),
        choice(
            format!("Restore {count} {files}"),
            "takes back this session's changes; those of others stay".to_owned(),
        ),
    ];
    let listed = request.files.iter().take(MAX_LISTED_FILES);
    choices.extend(listed.map(|(path, go, come)| {
        choice(format!("    {path}"), format!("\u{2212}{go} +{come} lines"))
    }));
    if count > MAX_LISTED_FILES {
        let more = format!("    and {} more", count - MAX_LISTED_FILES);
        choices.push(choice(more, String::new()));
    }
    let turn = request.turn;
    let title = format!("Restore the files to \u{201c}{}\u{201d}", request.message);
    ChoicePicker::new(title, choices, move |index, _, cx| {
        if index == 1 {
            panel.update(cx, |panel, cx| panel.restore_checkpoint(turn, cx));
        }
    })
}

/// Builds the list of line endings: LF and CRLF.
pub(crate) fn line_endings(document: Entity<DocumentModel>, cx: &App) -> ChoicePicker {
    let current = document.read(cx).document().buffer().line_ending();
    let endings = [
        (LineEnding::Lf, "LF", "as on Linux and macOS"),
        (LineEnding::CrLf, "CRLF", "as on Windows"),
    ];
    let choice = |(ending, title, detail): (LineEnding, &'static str, &'static str)| ChoiceItem {
        title: title.into(),
        detail: detail.into(),
        is_current: ending == current,
    };
    ChoicePicker::new(
        "Line ending of this text",
        endings.map(choice).to_vec(),
        move |index, _, cx| {
            if let Some((ending, _, _)) = endings.get(index) {
                document.update(cx, |document, cx| {
                    document.convert_line_endings(*ending, cx)
                });
            }
        },
    )
}

/// Builds the list of indentations: tabs, or spaces of several widths.
pub(crate) fn indentations(editor: Entity<Editor>, cx: &App) -> ChoicePicker {
    let current = editor.read(cx).indentation();
    let mut options = Vec::new();
    for hard in [false, true] {
        options.extend([2, 3, 4, 8].map(|width| (hard, width)));
    }
    let choice = |(hard, width): &(bool, u32)| ChoiceItem {
        title: indentation_name(*hard, *width),
        detail: if *hard {
            "shown that wide".into()
        } else {
            "for each step".into()
        },
        is_current: (*hard, *width) == current,
    };
    let choices = options.iter().map(choice).collect();
    ChoicePicker::new("Indentation of this text", choices, move |index, _, cx| {
        if let Some((hard, width)) = options.get(index) {
            editor.update(cx, |editor, cx| editor.set_indentation(*hard, *width, cx));
        }
    })
}

/// Builds the list of encodings for reopening the file.
pub(crate) fn reopen_encodings(
    document: Entity<DocumentModel>,
    workbench: WeakEntity<Workbench>,
    cx: &App,
) -> ChoicePicker {
    let encodings = Encoding::all();
    let current = document.read(cx).document().format();
    let choices = encoding_choices(&encodings, current);
    ChoicePicker::new(
        "Reopen the file with encoding",
        choices,
        move |index, window, cx| {
            if let Some(encoding) = encodings.get(index).copied() {
                let document = document.clone();
                workbench
                    .update(cx, |workbench, cx| {
                        workbench.reopen_as(document, encoding, window, cx)
                    })
                    .ok();
            }
        },
    )
}

/// Builds the list of encodings for saving the text.
pub(crate) fn save_encodings(
    document: Entity<DocumentModel>,
    workbench: WeakEntity<Workbench>,
    cx: &App,
) -> ChoicePicker {
    let encodings = Encoding::all();
    let current = document.read(cx).document().format();
    let choices = encoding_choices(&encodings, current);
    ChoicePicker::new(
        "Save the file with encoding",
        choices,
        move |index, window, cx| {
            let Some(encoding) = encodings.get(index).copied() else {
                return;
            };
            let format = document.read(cx).document().format();
            let format = FileFormat {
                encoding,
                bom: format.bom && encoding == format.encoding,
                ..format
            };
            document.update(cx, |document, cx| document.set_format(format, cx));
            let document = document.clone();
            workbench
                .update(cx, |workbench, cx| {
                    workbench.save_document(document, window, cx).detach()
                })
                .ok();
        },
    )
}

fn encoding_choices(encodings: &[Encoding], current: FileFormat) -> Vec<ChoiceItem> {
    let choice = |encoding: &Encoding| ChoiceItem {
        title: encoding.name().into(),
        detail: SharedString::default(),
        is_current: *encoding == current.encoding,
    };
    encodings.iter().map(choice).collect()
}
