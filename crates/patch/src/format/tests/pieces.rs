//! Tests that a text in pieces is parsed like the whole, and that no text makes a reader panic.

use super::*;

/// A random number generator (xorshift64*) with the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let value = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D);
        (value >> 33) as usize % bound
    }
}

/// Pieces of random texts: markers, headers, lines, ends.
const WORDS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "\r\n",
    " ",
    "+",
    "-",
    "@@",
    "@@ -1,2 +1,2 @@\n",
    "@@ -0,0 +1 @@\n",
    "```",
    "```rust\n",
    "````\n",
    "~~~\n",
    "```bash\n",
    "<source>\n",
    "<<<<<<< SEARCH\n",
    "<<<<< SEARCH\n",
    "=======\n",
    "=====\n",
    ">>>>>>> REPLACE\n",
    ">>>>> REPLACE\n",
    "*** Begin Patch\n",
    "*** End Patch\n",
    " *** End Patch\n",
    "*** Add File: a.rs\n",
    "*** Delete File: b\n",
    "*** Update File: c.rs\n",
    "*** Move to: d\n",
    "*** End of File\n",
    "*** Write File: e\n",
    "*** File: f\n",
    "replace 1#a\n",
    "delete 1#a..2#b\n",
    "before 3#c\n",
    "+x\n",
    "-y\n",
    " z\n",
    "--- a/x\n",
    "+++ b/x\n",
    "--- /dev/null\n",
    "+++ /dev/null\n",
    "diff --git a/x b/x\n",
    "new file mode 100644\n",
    "rename from x\n",
    "rename to y\n",
    "\\ No newline at end of file\n",
    "src/a.rs\n",
    "é",
    "\u{2028}",
    "\"a\\3\"",
    "text",
    "-- \n",
    "\t",
    "Binary files differ\n",
];

fn random_text(dice: &mut Dice) -> String {
    let count = dice.below(60);
    (0..count).map(|_| WORDS[dice.below(WORDS.len())]).collect()
}

fn in_pieces(format: EditFormat, text: &str, dice: &mut Dice) -> Vec<FormatEvent> {
    let mut reader = FormatReader::new(format);
    let mut events = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut cut = dice.below(rest.len().min(12)) + 1;
        while !rest.is_char_boundary(cut) {
            cut += 1;
        }
        let (piece, after) = rest.split_at(cut);
        events.extend(reader.feed(piece));
        rest = after;
    }
    events.extend(reader.finish());
    events
}

#[test]
fn pieces_make_the_whole() {
    for seed in 1..=4_000 {
        let mut dice = Dice(seed * 0x9E37_79B9);
        let text = random_text(&mut dice);
        for format in EditFormat::ALL {
            let mut whole = FormatReader::new(format);
            let mut events = whole.feed(&text);
            events.extend(whole.finish());
            let pieces = in_pieces(format, &text, &mut dice);
            assert_eq!(pieces, events, "seed {seed}, {}: {text:?}", format.name());
            assert_sound(format, &text, &events, seed);
        }
    }
}

/// Asserts the properties that hold for every text.
fn assert_sound(format: EditFormat, text: &str, events: &[FormatEvent], seed: u64) {
    let name = format.name();
    let is_inside = |source: &std::ops::Range<usize>| {
        source.start <= source.end && text.get(source.clone()).is_some()
    };
    let (mut open_file, mut open_hunk) = (false, false);
    for event in events {
        match event {
            FormatEvent::FileStarted { .. } => {
                assert!(!open_file, "seed {seed}, {name}: a file in a file");
                open_file = true;
            }
            FormatEvent::FileDone(_) | FormatEvent::FileDropped => {
                assert!(
                    open_file && !open_hunk,
                    "seed {seed}, {name}: the end of no file"
                );
                open_file = false;
            }
            FormatEvent::HunkStarted { .. } => {
                assert!(
                    open_file && !open_hunk,
                    "seed {seed}, {name}: a hunk nowhere"
                );
                open_hunk = true;
            }
            FormatEvent::HunkDone(hunk) => {
                assert!(
                    open_hunk && is_inside(&hunk.source),
                    "seed {seed}, {name}: {hunk:?}"
                );
                open_hunk = false;
            }
            FormatEvent::HunkDropped => {
                assert!(open_hunk, "seed {seed}, {name}: the end of no hunk");
                open_hunk = false;
            }
            FormatEvent::Line { .. } => assert!(open_file, "seed {seed}, {name}: a line nowhere"),
            FormatEvent::OperationDone(edit) => {
                assert!(
                    open_file && is_inside(&edit.source),
                    "seed {seed}, {name}: {edit:?}"
                );
            }
            FormatEvent::Problem(problem) => {
                assert!(
                    is_inside(&problem.source),
                    "seed {seed}, {name}: {problem:?}"
                );
            }
            FormatEvent::Shell(block) => assert!(is_inside(&block.source), "seed {seed}, {name}"),
        }
    }
    assert!(!open_file && !open_hunk, "seed {seed}, {name}: left open");
    let parsed = collect(events.to_vec());
    for file in &parsed.files {
        if let PatchOperation::Update { hunks, .. } = &file.change {
            for hunk in hunks
                .iter()
                .filter(|hunk| hunk.grain == crate::edit::Grain::Lines)
            {
                for text in [&hunk.old, &hunk.new] {
                    assert!(
                        text.is_empty() || text.ends_with('\n'),
                        "seed {seed}, {name}"
                    );
                }
            }
        }
    }
}

#[test]
fn lines_come_as_they_are_written() {
    let mut reader = FormatReader::new(EditFormat::SearchReplace);
    assert_eq!(reader.feed("a.rs\n```\n<<<<<<< SEA"), []);
    let path = "a.rs".to_owned();
    let started = [
        FormatEvent::FileStarted { path },
        FormatEvent::HunkStarted {
            row: None,
            context: Vec::new(),
        },
    ];
    assert_eq!(reader.feed("RCH\nfn"), started);
    let line = |side, text: &str| {
        let text = text.to_owned();
        FormatEvent::Line { side, text }
    };
    assert_eq!(
        reader.feed(" a() {\n====="),
        [line(HunkSide::Old, "fn a() {")]
    );
    assert_eq!(
        reader.feed("==\nfn b() {\n"),
        [line(HunkSide::New, "fn b() {")]
    );
    let done = reader.feed(">>>>>>> REPLACE\n");
    assert!(matches!(&done[..], [FormatEvent::HunkDone(hunk)] if hunk.new == "fn b() {\n"));
    assert!(matches!(&reader.finish()[..], [FormatEvent::FileDone(_)]));
}
