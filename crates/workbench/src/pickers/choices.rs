//! Short lists to choose from: languages, line endings, indentation, encodings.

use composer_panel::ComposerPanel;
use editor::{DocumentModel, Editor};
use gpui_kit::{App, Context, Entity, SharedString, Task, WeakEntity, Window};
use project::fuzzy::{self, Kind};
use text::{Encoding, FileFormat, LineEnding};
use ui::picker::{After, Picker, PickerDelegate, PickerRow, Taken};

use super::byte_offsets;
use crate::workbench::Workbench;

/// One thing to choose.
#[derive(Clone, Debug)]
struct Choice {
    title: SharedString,
    detail: SharedString,
    is_current: bool,
}

type OnChosen = Box<dyn Fn(usize, &mut Window, &mut App)>;

/// Chooses one of a few things known beforehand.
pub(crate) struct Choices {
    name: SharedString,
    choices: Vec<Choice>,
    on_chosen: OnChosen,
    found: Vec<(usize, Vec<usize>)>,
}

impl Choices {
    fn new(
        name: &'static str,
        choices: Vec<Choice>,
        on_chosen: impl Fn(usize, &mut Window, &mut App) + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            choices,
            on_chosen: Box::new(on_chosen),
            found: Vec::new(),
        }
    }
}

impl PickerDelegate for Choices {
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
        // A few dozen short names: not worth a thread.
        let titles: Vec<&str> = self
            .choices
            .iter()
            .map(|choice| choice.title.as_ref())
            .collect();
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let ranked = fuzzy::rank(query, &titles, Kind::Text, titles.len(), &cancel);
        let marked = |index: usize| {
            byte_offsets(
                titles[index],
                &fuzzy::positions(query, titles[index], Kind::Text),
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
            row.end("now")
        } else {
            row
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: Taken,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> After {
        if let Some((index, _)) = self.found.get(ix) {
            (self.on_chosen)(*index, window, cx);
        }
        After::Close
    }
}

/// The languages; the first choice is plain text.
pub(crate) fn languages(document: Entity<DocumentModel>, cx: &App) -> Choices {
    let current = document.read(cx).language();
    let mut choices = vec![Choice {
        title: "Plain Text".into(),
        detail: "no highlighting".into(),
        is_current: current.is_none(),
    }];
    choices.extend(syntax::languages().iter().map(|language| Choice {
        title: language.name().into(),
        detail: language.extensions().join(", ").into(),
        is_current: current == Some(*language),
    }));
    Choices::new("Language of this text", choices, move |index, _, cx| {
        let language = index
            .checked_sub(1)
            .and_then(|index| syntax::languages().get(index).copied());
        document.update(cx, |document, cx| document.set_language(language, cx));
    })
}

/// The models that can answer an agent's prompt.
pub(crate) fn models(panel: Entity<ComposerPanel>, cx: &App) -> Choices {
    let current = panel.read(cx).model().to_owned();
    let lines = panel.read(cx).models().models.clone();
    let choices = lines.iter().map(|line| Choice {
        title: line.name.clone().into(),
        detail: line.about.clone().into(),
        is_current: line.id == current,
    });
    let choices = choices.collect();
    Choices::new("Model for this agent", choices, move |index, _, cx| {
        if let Some(line) = lines.get(index) {
            panel.update(cx, |panel, cx| panel.set_model(line.id.clone(), cx));
        }
    })
}

/// The turns of an agent, the latest first, to go back to what one found.
pub(crate) fn turns(panel: Entity<ComposerPanel>, agent: String, turns: u64) -> Choices {
    let choice = |turn: u64| Choice {
        title: format!("Before turn {turn}").into(),
        detail: match turn {
            1 => "as its worktree began".into(),
            turn => format!("as turn {} left it", turn - 1).into(),
        },
        is_current: false,
    };
    let choices = (1..=turns).rev().map(choice).collect();
    Choices::new("Take its files back to", choices, move |index, _, cx| {
        let turn = turns.saturating_sub(index as u64);
        panel.update(cx, |panel, cx| panel.restore(&agent, turn, cx));
    })
}

/// Line feeds, or carriage returns and line feeds.
pub(crate) fn line_endings(document: Entity<DocumentModel>, cx: &App) -> Choices {
    let current = document.read(cx).document().buffer().line_ending();
    let endings = [
        (LineEnding::Lf, "LF", "as on Linux and macOS"),
        (LineEnding::CrLf, "CRLF", "as on Windows"),
    ];
    let choice = |(ending, title, detail): (LineEnding, &'static str, &'static str)| Choice {
        title: title.into(),
        detail: detail.into(),
        is_current: ending == current,
    };
    Choices::new(
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

/// Tabs, or spaces of several widths.
pub(crate) fn indentations(editor: Entity<Editor>, cx: &App) -> Choices {
    let current = editor.read(cx).indentation();
    let mut options = Vec::new();
    for hard in [false, true] {
        options.extend([2, 3, 4, 8].map(|width| (hard, width)));
    }
    let choice = |(hard, width): &(bool, u32)| Choice {
        title: indentation_name(*hard, *width),
        detail: if *hard {
            "shown that wide".into()
        } else {
            "for each step".into()
        },
        is_current: (*hard, *width) == current,
    };
    let choices = options.iter().map(choice).collect();
    Choices::new("Indentation of this text", choices, move |index, _, cx| {
        if let Some((hard, width)) = options.get(index) {
            editor.update(cx, |editor, cx| editor.set_indentation(*hard, *width, cx));
        }
    })
}

/// `4 spaces`, `Tabs 8`.
pub(crate) fn indentation_name(hard: bool, width: u32) -> SharedString {
    if hard {
        format!("Tabs {width}").into()
    } else {
        format!("{width} spaces").into()
    }
}

/// Encodings in which the file is read once more.
pub(crate) fn reopen_encodings(
    document: Entity<DocumentModel>,
    workbench: WeakEntity<Workbench>,
    cx: &App,
) -> Choices {
    let encodings = Encoding::all();
    let current = document.read(cx).document().format();
    let choices = encoding_choices(&encodings, current);
    Choices::new(
        "Read the file again as",
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

/// Encodings in which the text is saved.
pub(crate) fn save_encodings(
    document: Entity<DocumentModel>,
    workbench: WeakEntity<Workbench>,
    cx: &App,
) -> Choices {
    let encodings = Encoding::all();
    let current = document.read(cx).document().format();
    let choices = encoding_choices(&encodings, current);
    Choices::new(
        "Save with this encoding",
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

fn encoding_choices(encodings: &[Encoding], current: FileFormat) -> Vec<Choice> {
    let choice = |encoding: &Encoding| Choice {
        title: encoding.name().into(),
        detail: SharedString::default(),
        is_current: *encoding == current.encoding,
    };
    encodings.iter().map(choice).collect()
}
