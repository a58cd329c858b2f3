//! Measures how often the frame of a key already shows the suggestion known by then, and the cost of that frame
//! compared with one without Tab.
//!
//! The same keys go into two windows, one of which has Tab turned off. It is the time of the painting thread, so that
//! other programs do not count.

use workbench::target::LineColumn;

use crate::person::{self, Key, Seen};
use crate::printed::{Figure, Goal, quantile};
use crate::project_folder::EditedFile;
use crate::world::{Models, Tab, World};

/// Number of unmeasured keys at the start of a run, which shape words that are not cached yet.
const FIRST: usize = 40;
/// Number of lines typed in each run.
const LINES: usize = 60;

/// The typed lines, repeated: similar to lines of the project, with a few different words.
pub(crate) const TYPED: &str = include_str!("lines.txt");
/// The edited file, and the text around the caret.
const BEFORE: &str = include_str!("../../src/prediction.rs");
const PLACE: &str = "\nfn typed(&mut self, cx: &mut Context<Self>) {\n    ";

pub(crate) fn run() {
    let local = type_all(Models::None);
    share("a suggestion of the local tier", &local, Key::Local);
    share("a suggestion that is typed through", &local, Key::Through);
    let withdrawn = local.iter().filter(|it| it.key == Some(Key::Withdrawn));
    let figure = Figure {
        name: "keys that end a suggestion that was typed through before all of it was",
        value: withdrawn.count() as f64,
        unit: "keys",
        n: local.len(),
    };
    figure.print(Goal::None);
    cost("the local tier alone", &local);
    let model = type_all(Models::Known);
    share(
        "a model's suggestion that is typed through",
        &model,
        Key::Through,
    );
    share(
        "a model's suggestion, behind a motion there and back",
        &model,
        Key::Back,
    );
    share("what was asked for ahead, behind Tab", &model, Key::Taken);
    cost("a model that answers at once", &model);
}

/// Types lines into a window with Tab and into one without.
fn type_all(models: Models) -> Vec<Seen> {
    let text = format!("{BEFORE}{PLACE}\n}}\n");
    let file = EditedFile {
        name: "typed.rs",
        text: &text,
        place: LineColumn {
            line: (BEFORE.matches('\n').count() + PLACE.matches('\n').count() + 1) as u32,
            column: 5,
        },
    };
    let mut with = World::open(models, Tab::On, &file);
    let mut without = World::open(models, Tab::Off, &file);
    let mut seen = Vec::new();
    for line in TYPED.lines().cycle().take(LINES) {
        person::type_line(line, &mut with, &mut without, &mut seen);
    }
    seen.split_off(FIRST.min(seen.len()))
}

/// Prints the percentage of keys of a kind whose frame shows the expected suggestion.
fn share(what: &str, seen: &[Seen], key: Key) {
    let of_kind = seen.iter().filter(|seen| seen.key == Some(key));
    let count = of_kind.clone().count();
    let shown = of_kind.filter(|seen| seen.is_painted).count();
    let figure = Figure {
        name: &format!("keys whose frame shows {what}"),
        value: shown as f64 * 100.0 / count.max(1) as f64,
        unit: "%",
        n: count,
    };
    figure.print(Goal::AtLeast(100.0));
}

/// Prints the time of a key's frame, and the part of it that Tab adds.
fn cost(what: &str, seen: &[Seen]) {
    let times = |time: fn((f64, f64)) -> f64| -> Vec<f64> {
        seen.iter().filter_map(|seen| seen.took.map(time)).collect()
    };
    for (name, times, goals) in [
        (
            "key to scene with Tab",
            times(|(with, _)| with),
            [Goal::AtMost(0.5), Goal::AtMost(2.0)],
        ),
        (
            "key to scene without Tab",
            times(|(_, without)| without),
            [Goal::None; 2],
        ),
        (
            "of that for Tab",
            times(|(with, without)| with - without),
            [Goal::None; 2],
        ),
    ] {
        for ((label, share), goal) in [("p50", 0.5), ("p99", 0.99)].into_iter().zip(goals) {
            let figure = Figure {
                name: &format!("{name} {label}, {what}"),
                value: quantile(&times, share),
                unit: "ms",
                n: times.len(),
            };
            figure.print(goal);
        }
    }
}
