//! Measures how often the frame of a key already shows the suggestion known by then, and the cost of that frame
//! compared with one without Tab, in a whole window with real shaping and no screen.
//!
//! The same keys go into two windows, one of which has Tab turned off. It is the time of the painting thread, so that
//! other programs do not count. Prints one line of JSON for each figure.
#![expect(
    clippy::print_stdout,
    reason = "a benchmark prints; it is not linked into the product"
)]

mod person;
mod world;

use person::{Key, Seen};
use world::{Models, World};

/// Number of unmeasured keys at the start of a run, which shape words that are not cached yet.
const FIRST: usize = 40;
/// Number of lines typed in each run.
const LINES: usize = 60;

fn main() {
    let local = run(Models::None);
    share("a suggestion of the local tier", &local, Key::Local);
    share("a suggestion that is typed through", &local, Key::Through);
    let withdrawn = local.iter().filter(|it| it.key == Some(Key::Withdrawn));
    println!(
        "{{\"name\": \"keys that end a suggestion that was typed through before all of it was\", \"value\": {}, \"unit\": \"keys\", \"n\": {}}}",
        withdrawn.count(),
        local.len()
    );
    cost("the local tier alone", &local);
    let model = run(Models::Known);
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
fn run(models: Models) -> Vec<Seen> {
    let mut with = World::open(models, world::Tab::On);
    let mut without = World::open(models, world::Tab::Off);
    let mut seen = Vec::new();
    for line in world::LINES.lines().cycle().take(LINES) {
        person::type_line(line, &mut with, &mut without, &mut seen);
    }
    seen.split_off(FIRST.min(seen.len()))
}

/// Prints the percentage of keys of a kind whose frame shows the expected suggestion.
fn share(what: &str, seen: &[Seen], key: Key) {
    let of_kind = seen.iter().filter(|seen| seen.key == Some(key));
    let count = of_kind.clone().count();
    let shown = of_kind.filter(|seen| seen.is_painted).count();
    let percent = shown as f64 * 100.0 / count.max(1) as f64;
    let name = format!("keys whose frame shows {what}");
    println!(
        "{{\"name\": \"{name}\", \"value\": {percent:.2}, \"unit\": \"%\", \"n\": {count}, \"least\": 100.0}}"
    );
}

/// Prints the time of a key's frame, and the part of it that Tab adds.
fn cost(what: &str, seen: &[Seen]) {
    let times = |time: fn(&Seen) -> Option<(f64, f64)>| {
        let mut times: Vec<f64> = seen.iter().filter_map(time).map(|(a, b)| a - b).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let whole = times(|seen| seen.took.map(|(with, _)| (with, 0.0)));
    let bare = times(|seen| seen.took.map(|(_, without)| (without, 0.0)));
    let more = times(|seen| seen.took);
    for (name, times, goals) in [
        ("key to scene with Tab", &whole, ("0.5", "2.0")),
        ("key to scene without Tab", &bare, ("null", "null")),
        ("of that for Tab", &more, ("null", "null")),
    ] {
        for (label, share, goal) in [("p50", 0.5, goals.0), ("p99", 0.99, goals.1)] {
            let at = ((times.len().saturating_sub(1)) as f64 * share) as usize;
            let value = times.get(at).copied().unwrap_or(f64::NAN);
            println!(
                "{{\"name\": \"{name} {label}, {what}\", \"value\": {value:.3}, \"unit\": \"ms\", \"n\": {}, \"goal\": {goal}}}",
                times.len()
            );
        }
    }
}
