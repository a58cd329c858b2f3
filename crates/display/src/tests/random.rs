//! Applies random operations; after each, the map must equal the naive model.

use std::sync::atomic::AtomicBool;

use base::{Bias, ByteOffset, Row, Span};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use text::{Buffer, Edit, EditOrigin, Timestamp};

use super::naive::Naive;
use super::set_inlays;
use crate::job::WrapJob;
use crate::{
    BlockId, BlockSpec, DisplayMap, DisplayOptions, DisplayRow, Inlay, InlayId, Placement,
};

const ATOMS: &[&str] = &[
    "a",
    "b",
    "word ",
    " ",
    "   ",
    "\t",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "漢",
    "字、",
    "é",
    "e\u{301}",
    "👩\u{200D}👩",
    "🇩🇪",
    "\u{1}",
    "(x)",
    "longer-words-here",
    "\u{200B}",
    "\u{301}",
    "ab cd ",
];

struct World {
    rng: StdRng,
    buffer: Buffer,
    map: DisplayMap,
    naive: Naive,
    jobs: Vec<WrapJob>,
    blocks: Vec<BlockId>,
    next_inlay: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let len = rng.random_range(0..60);
        let text = text(&mut rng, len);
        let options = options(&mut rng);
        let buffer = Buffer::new(&text);
        Self {
            map: DisplayMap::new(buffer.snapshot(), options),
            naive: Naive {
                options,
                folds: Vec::new(),
                inlays: Vec::new(),
                blocks: Vec::new(),
            },
            rng,
            buffer,
            jobs: Vec::new(),
            blocks: Vec::new(),
            next_inlay: 0,
        }
    }

    fn offset(&mut self) -> ByteOffset {
        let at = self.rng.random_range(0..=self.buffer.len().0);
        let snapshot = self.buffer.snapshot();
        let text = snapshot.to_string();
        ByteOffset(
            (0..=at)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .expect("0 is one"),
        )
    }

    fn span(&mut self) -> Span {
        let (a, b) = (self.offset(), self.offset());
        let mut span = Span::new(a, b);
        if self.rng.random_bool(0.6) && span.len() > 12 {
            let text = self.buffer.snapshot().to_string();
            let end = (span.start.0 + 8..).find(|at| text.is_char_boundary(*at));
            span.end = ByteOffset(end.expect("the end is one"));
        }
        span
    }

    fn step(&mut self) -> String {
        match self.rng.random_range(0..20) {
            0..=7 => self.edit(),
            8..=9 => self.fold(),
            10 => self.unfold(),
            11..=12 => self.inlays(),
            13..=14 => self.block(),
            15 => self.set_options(),
            16 => self.finish_wrapping(),
            17..=18 => self.job(),
            _ => {
                let first = self.rng.random_range(0..20);
                self.map.wrap_rows(DisplayRow(first), 5);
                format!("wrap rows from {first}")
            }
        }
    }

    fn edit(&mut self) -> String {
        let before = self.buffer.revision();
        let mut log = format!("edit {:?}", self.edit_buffer());
        while self.rng.random_bool(0.3) {
            log += &format!(" and {:?}", self.edit_buffer());
        }
        let change = self
            .buffer
            .changes_since(before)
            .expect("the log goes back so far");
        self.map.sync(&self.buffer.snapshot(), &change);
        self.naive.change(&change);
        log
    }

    fn edit_buffer(&mut self) -> Vec<Edit> {
        let mut places: Vec<ByteOffset> = (0..self.rng.random_range(1..4) * 2)
            .map(|_| self.offset())
            .collect();
        places.sort_unstable();
        let mut edits: Vec<Edit> = Vec::new();
        for pair in places.chunks(2) {
            let mut span = Span::new(pair[0], pair[1]);
            if self.rng.random_bool(0.5) {
                span.end = span.start;
            }
            // Edits may touch unless both insert at the same offset.
            let touches = |last: &Edit| {
                last.span.end > span.start
                    || last.span.end == span.start && (last.span.is_empty() || span.is_empty())
            };
            if edits.last().is_some_and(touches) {
                continue;
            }
            let len = self.rng.random_range(0..6);
            let mut text = text(&mut self.rng, len);
            if self.buffer.len().0 > 400 {
                text.clear();
            }
            edits.push(Edit { span, text });
        }
        self.buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        edits
    }

    fn fold(&mut self) -> String {
        let spans: Vec<Span> = (0..self.rng.random_range(1..4))
            .map(|_| self.span())
            .collect();
        self.map.fold(&spans);
        self.naive.fold(&spans, &self.buffer.snapshot());
        format!("fold {spans:?}")
    }

    fn unfold(&mut self) -> String {
        if self.rng.random_bool(0.2) {
            self.map.unfold_all();
            self.naive.folds.clear();
            return "unfold all".to_owned();
        }
        let span = self.span();
        self.map.unfold(span);
        let is_hit = |fold: &Span| fold.overlaps(span) || fold.contains(span.start);
        self.naive.folds.retain(|fold| !is_hit(fold));
        format!("unfold {span:?}")
    }

    fn inlays(&mut self) -> String {
        let mut add = Vec::new();
        for _ in 0..self.rng.random_range(0..4) {
            self.next_inlay += 1;
            let texts = [
                ": u32",
                "hint",
                "→",
                "a rather long ghost of a text",
                "漢字",
                "",
                "two\nrows",
                "\n",
                "ghost {\n\tof  some\n    rows and a long one\n}\n",
            ];
            add.push(Inlay {
                id: InlayId(self.next_inlay),
                at: self.offset(),
                bias: if self.rng.random_bool(0.5) {
                    Bias::Left
                } else {
                    Bias::Right
                },
                text: texts[self.rng.random_range(0..texts.len())].into(),
            });
        }
        let mut remove = Vec::new();
        if self.rng.random_bool(0.2) {
            self.naive.inlays.clear();
            set_inlays(&mut self.map, add.clone());
        } else {
            for inlay in &self.naive.inlays {
                if self.rng.random_bool(0.3) {
                    remove.push(inlay.id);
                }
            }
            self.naive
                .inlays
                .retain(|inlay| !remove.contains(&inlay.id));
            self.map.splice_inlays(&remove, add.clone());
        }
        let snapshot = self.buffer.snapshot();
        let clipped = add.iter().cloned().map(|mut inlay| {
            inlay.at = snapshot.clip(inlay.at, Bias::Left);
            inlay
        });
        self.naive
            .inlays
            .extend(clipped.filter(|inlay| !inlay.text.is_empty()));
        format!("inlays -{remove:?} +{add:?}")
    }

    fn block(&mut self) -> String {
        let heights = [0.0, 1.0, 0.5, 3.25, 17.3];
        let height = heights[self.rng.random_range(0..heights.len())];
        match self.rng.random_range(0..5) {
            0 if !self.blocks.is_empty() => {
                let ix = self.rng.random_range(0..self.blocks.len());
                let id = self.blocks.swap_remove(ix);
                self.map.remove_block(id);
                self.naive.remove_block(id);
                format!("remove {id:?}")
            }
            1 if !self.blocks.is_empty() => {
                let id = self.blocks[self.rng.random_range(0..self.blocks.len())];
                self.map.resize_block(id, height);
                self.naive.resize_block(id, height);
                format!("resize {id:?}")
            }
            _ => {
                let spec = BlockSpec {
                    row: Row(self
                        .rng
                        .random_range(0..self.buffer.snapshot().row_count() + 1)),
                    placement: if self.rng.random_bool(0.5) {
                        Placement::Above
                    } else {
                        Placement::Below
                    },
                    height,
                    priority: self.rng.random_range(0..2),
                };
                let id = self.map.insert_block(spec);
                self.naive.add_block(id, &spec, &self.buffer.snapshot());
                self.blocks.push(id);
                format!("block {spec:?}")
            }
        }
    }

    fn set_options(&mut self) -> String {
        self.naive.options = options(&mut self.rng);
        self.map.set_options(self.naive.options);
        format!("{:?}", self.naive.options)
    }

    /// Begins a job, or ends one that began some steps before.
    fn job(&mut self) -> String {
        if self.rng.random_bool(0.5)
            && let Some(job) = self.map.wrap_job()
        {
            self.jobs.push(job);
            return "begin a job".to_owned();
        }
        let Some(job) = self.jobs.pop() else {
            return "no job".to_owned();
        };
        let done = job.run(&AtomicBool::new(false)).expect("not cancelled");
        format!("accept {}", self.map.accept(done))
    }

    fn finish_wrapping(&mut self) -> String {
        let mut count = 0;
        while let Some(job) = self.map.wrap_job() {
            let done = job.run(&AtomicBool::new(false)).expect("not cancelled");
            assert!(
                self.map.accept(done),
                "an answer to the newest job is of use"
            );
            count += 1;
            assert!(count < 1000, "wrapping comes to an end");
        }
        assert!(!self.map.is_wrapping());
        format!("wrapped in {count} jobs")
    }
}

fn text(rng: &mut StdRng, atoms: usize) -> String {
    let flavour = rng.random_range(0..3);
    (0..atoms)
        .map(|_| match flavour {
            // Mostly long plain lines.
            0 if rng.random_bool(0.8) => ["x", "word ", "ab cd "][rng.random_range(0..3)],
            _ => ATOMS[rng.random_range(0..ATOMS.len())],
        })
        .collect()
}

fn options(rng: &mut StdRng) -> DisplayOptions {
    DisplayOptions {
        tab_width: rng.random_range(1..5),
        wrap: rng.random_bool(0.75).then(|| rng.random_range(1..24)),
    }
}

fn run(seed: u64, steps: usize) {
    let mut world = World::new(seed);
    let mut log = Vec::new();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.naive.check(&world.map, &world.buffer.snapshot());
        for _ in 0..steps {
            log.push(world.buffer.snapshot().to_string());
            let step = world.step();
            log.push(step);
            world.naive.check(&world.map, &world.buffer.snapshot());
        }
        world.finish_wrapping();
        world.naive.check(&world.map, &world.buffer.snapshot());
    }));
    if let Err(panic) = result {
        let tail = log.len().saturating_sub(5);
        panic!(
            "seed {seed}, step {}: {:#?}\ntext {:?}\nfolds {:?} options {:?}\n{:?}",
            log.len() / 2,
            &log[tail..],
            world.buffer.snapshot().to_string(),
            world.naive.folds,
            world.naive.options,
            panic.downcast_ref::<String>(),
        );
    }
}

/// `SEED` repeats one run, `ITERATIONS` sets the number of runs.
#[test]
fn random_steps_keep_the_map_equal_to_the_naive_model() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|value| value.parse().ok())
    };
    if let Some(seed) = number("SEED") {
        return run(seed, 60);
    }
    for seed in 0..number("ITERATIONS").unwrap_or(40) {
        run(seed, 60);
    }
}
