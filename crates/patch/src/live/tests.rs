//! Tests that previews show partial hunks and end as the plan does.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::*;

fn hunk(old: &str, new: &str) -> PatchHunk {
    PatchHunk {
        old: old.to_owned(),
        new: new.to_owned(),
        grain: Grain::Lines,
        occurrences: Occurrences::One,
        context: Vec::new(),
        row: None,
        at_end: false,
        in_order: false,
        source: 0..0,
    }
}

/// A text to which the emitted edits are applied.
struct Screen(String);

impl Screen {
    fn take(&mut self, progress: LiveProgress) -> Option<Row> {
        for edit in progress.edits {
            self.0.replace_range(edit.span.range(), &edit.text);
        }
        progress.row
    }
}

const TEXT: &str = "fn a() {\n    one;\n    two;\n}\n\nfn b() {\n    one;\n}\n";

#[test]
fn the_place_is_known_as_soon_as_it_is_unique() {
    let file = FileText::new(TEXT);
    let mut live = LiveFile::new(&file, StaleGuard::Off);
    live.begin_hunk(hunk("", ""));
    assert_eq!(live.push(HunkSide::Old, "    one;\n").row, None);
    assert_eq!(live.push(HunkSide::Old, "    tw").row, None);
    assert_eq!(live.push(HunkSide::Old, "o;\n").row, Some(Row(1)));
}

#[test]
fn new_lines_appear_as_they_come() {
    let file = FileText::new(TEXT);
    let mut live = LiveFile::new(&file, StaleGuard::Off);
    let mut screen = Screen(TEXT.to_owned());
    live.begin_hunk(hunk("", ""));
    screen.take(live.push(HunkSide::Old, "    one;\n    two;\n"));
    screen.take(live.end_old());
    assert_eq!(screen.0, TEXT);
    screen.take(live.push(HunkSide::New, "    one;\n    thr"));
    assert_eq!(screen.0, TEXT);
    screen.take(live.push(HunkSide::New, "ee;\n"));
    assert_eq!(screen.0, TEXT.replace("two", "three"));
    screen.take(live.finish_hunk(hunk("    one;\n    two;\n", "    one;\n    three;\n")));
    assert_eq!(screen.0, TEXT.replace("two", "three"));
    assert!(live.plan().is_complete());
}

#[test]
fn what_turns_out_wrong_is_taken_back() {
    let file = FileText::new(TEXT);
    let mut live = LiveFile::new(&file, StaleGuard::Off);
    let mut screen = Screen(TEXT.to_owned());
    live.begin_hunk(hunk("", ""));
    screen.take(live.push(HunkSide::Both, "    two;\n"));
    screen.take(live.push(HunkSide::New, "    three;\n"));
    assert_eq!(screen.0, TEXT.replace("two;\n", "two;\n    three;\n"));
    screen.take(live.push(HunkSide::Both, "lost\n"));
    screen.take(live.finish_hunk(hunk("    two;\nlost\n", "    two;\n    three;\nlost\n")));
    assert_eq!(screen.0, TEXT);
    assert!(!live.plan().is_complete());
}

/// Feeds random hunks in random pieces: the preview ends as the plan does, and is consistent in
/// between.
#[test]
fn the_end_is_the_plan() {
    const LINES: [&str; 6] = ["a\n", "  b\n", "c \n", "\n", "d\n", "  e\n"];
    for seed in 0..300 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut some = |most: usize| -> Vec<&str> {
            let count = random.random_range(0..most);
            (0..count)
                .filter_map(|_| LINES.choose(&mut random).copied())
                .collect()
        };
        let text = some(16).concat();
        let hunks: Vec<(Vec<&str>, Vec<&str>)> = (0..3).map(|_| (some(4), some(4))).collect();
        let file = FileText::new(&text);
        let mut live = LiveFile::new(&file, StaleGuard::Off);
        let mut screen = Screen(text.clone());
        for (old, new) in &hunks {
            live.begin_hunk(hunk("", ""));
            let lines = old
                .iter()
                .map(|line| (HunkSide::Old, *line))
                .chain(new.iter().map(|line| (HunkSide::New, *line)));
            let mut lines: Vec<(HunkSide, &str)> = lines.collect();
            if seed % 3 == 0 {
                // Mixes old and new lines as in a patch.
                lines.sort_by_key(|(_, line)| line.len());
            }
            let (mut whole_old, mut whole_new) = (String::new(), String::new());
            for (side, line) in lines {
                if side == HunkSide::Old {
                    &mut whole_old
                } else {
                    &mut whole_new
                }
                .push_str(line);
                let cut = random.random_range(0..=line.len());
                screen.take(live.push(side, &line[..cut]));
                screen.take(live.push(side, &line[cut..]));
            }
            screen.take(live.finish_hunk(hunk(&whole_old, &whole_new)));
            assert_eq!(screen.0, live.plan().apply(&text), "seed {seed}");
        }
    }
}
