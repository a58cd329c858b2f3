//! The table of results by class of corruption and language, for Burin, aider and codex.

use std::collections::BTreeMap;

use patch::format::EditFormat;

use crate::figure::Figure;
use crate::interleave::{Dice, Pairs, quantile};

use super::corrupt::{Corruption, Subject};
use super::peers::{Aider, Codex};
use super::truth::Edit;
use super::{LANGUAGES, Pool, Wanted, encode, keep, ours};

/// Maximum number of edits examined per case of a class; a rare class may get fewer cases than
/// requested.
const LOOK_AT: usize = 25;

/// The engine whose results are counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    /// Burin, given SEARCH/REPLACE blocks.
    OursBlocks,
    Aider,
    /// Burin, given a patch.
    OursPatch,
    Codex,
}

impl Who {
    const ALL: [Self; 4] = [Self::OursBlocks, Self::Aider, Self::OursPatch, Self::Codex];

    fn is_ours(self) -> bool {
        matches!(self, Self::OursBlocks | Self::OursPatch)
    }

    fn name(self) -> &'static str {
        match self {
            Self::OursBlocks => "blocks",
            Self::Aider => "aider",
            Self::OursPatch => "patch",
            Self::Codex => "codex",
        }
    }
}

#[derive(Clone, Default)]
struct Tally {
    ok: usize,
    wrong: usize,
    refused: usize,
    millis: Vec<f64>,
    /// CPU times in milliseconds, for Burin only.
    cpu_millis: Vec<f64>,
}

impl Tally {
    fn count(&self) -> usize {
        self.ok + self.wrong + self.refused
    }

    fn add(&mut self, other: &Self) {
        self.ok += other.ok;
        self.wrong += other.wrong;
        self.refused += other.refused;
        self.millis.extend(&other.millis);
        self.cpu_millis.extend(&other.cpu_millis);
    }

    /// Returns the percentages correct / silently wrong / refused, and the median time.
    fn cell(&self) -> String {
        let percent = |part: usize| 100.0 * part as f64 / self.count().max(1) as f64;
        let millis = quantile(self.millis.iter().copied(), 0.5);
        format!(
            "{:>5.1} /{:>5.1} /{:>5.1}  {millis:>6.2} ms",
            percent(self.ok),
            percent(self.wrong),
            percent(self.refused)
        )
    }
}

type Key = (usize, Corruption, Who);

struct Contest {
    aider: Aider,
    codex: Codex,
    dice: Dice,
    tallies: BTreeMap<Key, Tally>,
    /// Times of Burin and aider for the same blocks.
    pairs: Pairs,
}

pub(super) fn run(pool: &mut Pool, cases: usize, peers: usize) -> Result<Vec<Figure>, String> {
    let mut contest = Contest {
        aider: Aider::start()?,
        codex: Codex::find()?,
        dice: Dice::new(11),
        tallies: BTreeMap::new(),
        pairs: Pairs::default(),
    };
    for (language, (name, ends)) in LANGUAGES.iter().enumerate() {
        eprintln!("{name} …");
        let mut counts: BTreeMap<Corruption, usize> = BTreeMap::new();
        let mut looked_at = 0;
        pool.each(ends, |edit| {
            if !edit.is_of_lines() || edit.old.contains('\r') {
                return Ok(Wanted::More);
            }
            let missing: Vec<Corruption> = Corruption::ALL
                .into_iter()
                .filter(|class| counts.get(class).copied().unwrap_or(0) < cases)
                .collect();
            looked_at += 1;
            if missing.is_empty() || looked_at > LOOK_AT * cases {
                return Ok(Wanted::Nothing);
            }
            let subject = Subject::new(edit);
            for class in missing {
                let count = counts.entry(class).or_default();
                let with_peers = *count < peers;
                if contest.take(language, class, &subject, with_peers)? {
                    *count += 1;
                }
            }
            Ok(Wanted::More)
        })?;
    }
    contest.print();
    Ok(contest.figures())
}

impl Contest {
    /// Runs all four engines, or only Burin's, on one case. Returns false if the class does not
    /// apply to the edit.
    fn take(
        &mut self,
        language: usize,
        class: Corruption,
        subject: &Subject,
        with_peers: bool,
    ) -> Result<bool, String> {
        let Some((edit, block)) = class.of(subject, &mut self.dice) else {
            return Ok(false);
        };
        let blocks = [block];
        let Some(text) = encode::search_replace(&edit.path, &blocks) else {
            return Ok(false);
        };
        let patch = encode::apply_patch("file", &blocks);
        let mut order = Who::ALL;
        for ix in (1..order.len()).rev() {
            order.swap(ix, self.dice.below(ix + 1));
        }
        let (mut our_time, mut aiders_time) = (0.0, 0.0);
        for who in order {
            if !(with_peers || who.is_ours()) {
                continue;
            }
            let (got, millis, cpu_millis) = match who {
                Who::OursBlocks => {
                    let answer =
                        ours::apply(EditFormat::SearchReplace, &edit.path, &edit.old, &text);
                    our_time = answer.millis;
                    self.look(language, class, who, &edit, &text, &answer.text);
                    (answer.text.ok(), answer.millis, Some(answer.cpu_millis))
                }
                Who::OursPatch => {
                    let answer = ours::apply(EditFormat::ApplyPatch, "file", &edit.old, &patch);
                    self.look(language, class, who, &edit, &patch, &answer.text);
                    (answer.text.ok(), answer.millis, Some(answer.cpu_millis))
                }
                Who::Aider => {
                    let answer = self.aider.apply(&edit.path, &edit.old, &text)?;
                    aiders_time = answer.millis;
                    (answer.text, answer.millis, None)
                }
                Who::Codex => {
                    let answer = self.codex.apply(&edit.old, &patch)?;
                    (answer.text, answer.millis, None)
                }
            };
            let tally = self.tallies.entry((language, class, who)).or_default();
            match got {
                Some(new) if new == edit.new => tally.ok += 1,
                Some(_) => tally.wrong += 1,
                None => tally.refused += 1,
            }
            tally.millis.push(millis);
            tally.cpu_millis.extend(cpu_millis);
        }
        if with_peers {
            self.pairs.push(our_time, aiders_time);
        }
        Ok(true)
    }

    /// Stores every case that Burin gets wrong, and the first one that it refuses.
    fn look(
        &self,
        language: usize,
        class: Corruption,
        who: Who,
        edit: &Edit,
        text: &str,
        got: &Result<String, String>,
    ) {
        let kind = match got {
            Ok(new) if *new == edit.new => return,
            Ok(_) => "wrong",
            Err(_) if !class.is_clear() => return,
            Err(_) => "refused",
        };
        let tally = self.tallies.get(&(language, class, who));
        let number = tally.map_or(0, |tally| match kind {
            "wrong" => tally.wrong,
            _ => tally.refused,
        });
        if kind == "wrong" || number < 20 {
            let name = format!(
                "{kind}-{}-{}-{}-{number}",
                class.name(),
                LANGUAGES[language].0,
                who.name()
            );
            keep(
                &name,
                edit,
                text,
                got.as_ref().unwrap_or_else(|reason| reason),
            );
        }
    }

    fn print(&self) {
        let sum = |language: Option<usize>, class, who| {
            let mut sum = Tally::default();
            for ((of, at, by), tally) in &self.tallies {
                if language.is_none_or(|language| language == *of) && *at == class && *by == who {
                    sum.add(tally);
                }
            }
            sum
        };
        println!("percent byte-exact / silently wrong / refused, and the median time");
        println!("aider: its functions in one process; codex: a process for every patch");
        let languages = (0..LANGUAGES.len()).map(Some).chain([None]);
        for language in languages {
            let name = language.map_or("all languages", |language| LANGUAGES[language].0);
            println!("\n{name}");
            print!("{:<22}{:>6}", "", "n");
            for who in Who::ALL {
                print!("  {:<32}", who.name());
            }
            println!();
            for class in Corruption::ALL {
                print!(
                    "{:<22}{:>6}",
                    class.name(),
                    sum(language, class, Who::OursBlocks).count()
                );
                for who in Who::ALL {
                    print!("  {:<32}", sum(language, class, who).cell());
                }
                println!();
            }
        }
        println!();
    }

    fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let (mut times, mut cpu_times) = (Vec::new(), Vec::new());
        for class in Corruption::ALL {
            for who in Who::ALL {
                let mut tally = Tally::default();
                for ((_, at, by), other) in &self.tallies {
                    if *at == class && *by == who {
                        tally.add(other);
                    }
                }
                let is_ours = who.is_ours();
                let name = format!("edits {}, {}", class.name(), who.name());
                let n = tally.count();
                let failed = 100.0 * (n - tally.ok) as f64 / n.max(1) as f64;
                let most = (is_ours && class.is_clear()).then_some(2.0);
                figures.push(Figure::alone(
                    format!("{name} not exact"),
                    failed,
                    "%",
                    n,
                    most,
                ));
                let most = is_ours.then_some(0.0);
                let wrong = tally.wrong as f64;
                figures.push(Figure::alone(
                    format!("{name} wrong"),
                    wrong,
                    "edits",
                    n,
                    most,
                ));
                if is_ours {
                    times.extend(tally.millis);
                    cpu_times.extend(tally.cpu_millis);
                }
            }
        }
        for (clock, times) in [("", times), (", of the processor", cpu_times)] {
            for (name, share, most) in [("p50", 0.5, None), ("p99", 0.99, Some(2.0))] {
                let value = quantile(times.iter().copied(), share);
                let name = format!("edits {name} in process{clock}");
                figures.push(Figure::alone(name, value, "ms", times.len(), most));
            }
        }
        figures.push(Figure::against(
            "edits, the same blocks",
            "aider",
            &self.pairs,
            "ms",
            Some(1.0),
        ));
        figures
    }
}
