//! Counts the idioms of languages: what follows the same few tokens in several packages.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use autocomplete::local::{
    IdiomContext, IdiomFollower, IdiomTable, MAX_FOLLOWERS, MAX_ORDER, each_idiom,
};
use packages::sources::Source;
use syntax::language_for;

use super::error::Error;
use super::projects::{Package, ProjectSet, packages};
use super::{IDIOMS, spread, write};

/// Least number of packages in which a token follows a context.
const MIN_PACKAGES: u32 = 5;

/// Least share of a context's followers.
const MIN_SHARE: f32 = 0.1;

/// Maximum number of contexts of one language, the most useful ones.
const MAX_CONTEXTS: usize = 11_000;

/// Maximum number of texts; their indices have 16 bits.
const MAX_TEXTS: usize = 60_000;

/// Longest text of a token, in bytes.
const MAX_TEXT_BYTES: usize = 40;

/// Occurrences of a pair that count in one package.
const MAX_COUNT: u32 = 60;

/// Files of which a package gives idioms; large packages would take long and dominate.
const MAX_BYTES: usize = 1_200_000;

/// A context by its hash, the token that follows it, and the white space between.
type Pair = (u32, u32, u8);

/// A token that follows a context, the white space before it, and its share.
type Follower = (u32, u8, f32);

/// Counts over packages.
#[derive(Default)]
struct LanguageCounts {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Number of packages, and of occurrences.
    pairs: HashMap<Pair, (u32, u32)>,
    contexts: HashMap<u32, u32>,
}

/// Counts of one package in one language.
#[derive(Default)]
struct PackageCounts {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
    pairs: HashMap<Pair, u32>,
    contexts: HashMap<u32, u32>,
}

/// Counts the packages of the fitting set and writes the table that ships.
pub(super) fn run(sources: &[Source], inputs: &Path) -> Result<(), Error> {
    write(Path::new(IDIOMS), &count_all(sources, inputs)?.to_bytes())
}

/// Reads the table that ships.
pub(super) fn read() -> Result<IdiomTable, Error> {
    Ok(IdiomTable::from_bytes(&super::read(Path::new(IDIOMS))?)?)
}

fn count_all(sources: &[Source], inputs: &Path) -> Result<IdiomTable, Error> {
    let packages = packages(sources, ProjectSet::Fitting);
    let mut languages: BTreeMap<&'static str, LanguageCounts> = BTreeMap::new();
    for part in packages.chunks(16) {
        for counts in spread(part, |package| count(package, inputs))? {
            for (language, counts) in counts? {
                languages.entry(language).or_default().add(counts);
            }
        }
    }
    let mut texts: Vec<String> = Vec::new();
    let mut contexts = Vec::new();
    let mut numbers: HashMap<String, u16> = HashMap::new();
    for (language, counts) in languages {
        let chosen = counts.chosen();
        eprintln!(
            "{language}: {} idioms of {} contexts",
            chosen.len(),
            counts.contexts.len()
        );
        for (hash, followers) in chosen {
            let mut row = [IdiomFollower {
                text: u16::MAX,
                ..IdiomFollower::default()
            }; MAX_FOLLOWERS];
            for (slot, (text, gap, share)) in row.iter_mut().zip(followers) {
                let text = &counts.texts[text as usize];
                let number = numbers.get(text).copied().or_else(|| {
                    let number = u16::try_from(texts.len()).ok()?;
                    (texts.len() < MAX_TEXTS).then(|| {
                        texts.push(text.clone());
                        numbers.insert(text.clone(), number);
                        number
                    })
                });
                let Some(text) = number else {
                    break;
                };
                *slot = IdiomFollower {
                    text,
                    gap,
                    share: (share * 250.0) as u8,
                };
            }
            contexts.push((hash, row));
        }
    }
    Ok(IdiomTable::new(texts, contexts))
}

/// Counts a package by language; TypeScript and JavaScript are one.
fn count(
    package: &Package<'_>,
    inputs: &Path,
) -> Result<BTreeMap<&'static str, PackageCounts>, Error> {
    let mut all: BTreeMap<&'static str, PackageCounts> = BTreeMap::new();
    let mut left = MAX_BYTES;
    for (path, text) in package.texts(inputs)? {
        let Some(language) = language_for(Path::new(&path), "").filter(|_| text.len() <= left)
        else {
            continue;
        };
        left -= text.len();
        let name = match language.name() {
            "TypeScript" | "TSX" => "JavaScript",
            name => name,
        };
        let counts = all.entry(name).or_default();
        each_idiom(&text, name, &mut |context, token, gap| {
            counts.add(context, token, gap);
        });
    }
    Ok(all)
}

fn number(texts: &mut Vec<String>, numbers: &mut HashMap<String, u32>, text: &str) -> u32 {
    if let Some(number) = numbers.get(text) {
        return *number;
    }
    let number = texts.len() as u32;
    texts.push(text.to_owned());
    numbers.insert(text.to_owned(), number);
    number
}

impl PackageCounts {
    fn add(&mut self, context: &IdiomContext, token: &str, gap: u8) {
        let is_short = token.len() <= MAX_TEXT_BYTES;
        let token = is_short.then(|| number(&mut self.texts, &mut self.numbers, token));
        for hash in context.hashes().into_iter().take(MAX_ORDER) {
            *self.contexts.entry(hash).or_default() += 1;
            if let Some(token) = token {
                *self.pairs.entry((hash, token, gap)).or_default() += 1;
            }
        }
    }
}

impl LanguageCounts {
    /// Adds a package. A context that is frequent in it counts no more than in others.
    fn add(&mut self, package: PackageCounts) {
        let weight = |hash: u32| {
            let count = package.contexts.get(&hash).copied().unwrap_or(1).max(1);
            MAX_COUNT as f32 / (count.max(MAX_COUNT)) as f32
        };
        // A hundredth is the unit, so that rare followers are not lost.
        let weighed = |count: u32, hash: u32| (100.0 * count as f32 * weight(hash)) as u32;
        for ((hash, token, gap), count) in &package.pairs {
            let text = &package.texts[*token as usize];
            let token = number(&mut self.texts, &mut self.numbers, text);
            let pair = self.pairs.entry((*hash, token, *gap)).or_default();
            *pair = (pair.0 + 1, pair.1 + weighed(*count, *hash));
        }
        for (hash, count) in &package.contexts {
            *self.contexts.entry(*hash).or_default() += weighed(*count, *hash);
        }
    }

    /// Returns the most useful contexts with their most frequent followers and their shares.
    fn chosen(&self) -> Vec<(u32, Vec<Follower>)> {
        let mut contexts: BTreeMap<u32, Vec<Follower>> = BTreeMap::new();
        for ((hash, token, gap), (packages, count)) in &self.pairs {
            let all = self.contexts.get(hash).copied().unwrap_or(1).max(1);
            let share = *count as f32 / all as f32;
            if *packages >= MIN_PACKAGES && share >= MIN_SHARE {
                let share = share.min(1.0);
                contexts
                    .entry(*hash)
                    .or_default()
                    .push((*token, *gap, share));
            }
        }
        let text = |token: u32| self.texts[token as usize].as_str();
        let mut ranked: Vec<(f32, u32, Vec<Follower>)> = Vec::new();
        for (hash, mut followers) in contexts {
            followers.sort_by(|a, b| {
                let by_text = || (text(a.0), a.1).cmp(&(text(b.0), b.1));
                b.2.total_cmp(&a.2).then_with(by_text)
            });
            followers.truncate(MAX_FOLLOWERS);
            let keys = |(token, _, share): &Follower| share * text(*token).len() as f32;
            let count = self.contexts.get(&hash).copied().unwrap_or(0);
            let worth = count as f32 * followers.iter().map(keys).sum::<f32>();
            ranked.push((worth, hash, followers));
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.truncate(MAX_CONTEXTS);
        ranked.into_iter().map(|(_, hash, it)| (hash, it)).collect()
    }
}

#[cfg(test)]
mod tests {
    use autocomplete::local::{IdiomContext, each_idiom};

    use super::{LanguageCounts, PackageCounts};

    #[test]
    fn the_same_packages_give_the_same_idioms() {
        // Hash maps iterate in another order each time.
        let chosen = || {
            let mut all = LanguageCounts::default();
            for package in 0..6 {
                let mut counts = PackageCounts::default();
                let rows = (0..40 + package).map(|row| {
                    let value = row % 7;
                    format!("let value_{value} = call_{}(value_{value});\n", row % 5)
                });
                let text: String = rows.collect();
                each_idiom(&text, "Rust", &mut |context, token, gap| {
                    counts.add(context, token, gap);
                });
                all.add(counts);
            }
            let name = |(text, gap, share): (u32, u8, f32)| {
                (all.texts[text as usize].clone(), gap, share.to_bits())
            };
            let chosen = all.chosen().into_iter();
            let chosen = chosen.map(|(hash, followers)| {
                let followers = followers.into_iter().map(name);
                (hash, followers.collect::<Vec<_>>())
            });
            chosen.collect::<Vec<_>>()
        };
        let first = chosen();
        assert!(first.len() > 20, "{first:?}");
        assert_eq!(first, chosen());
    }

    #[test]
    fn only_what_several_packages_share_is_an_idiom() {
        let mut all = LanguageCounts::default();
        for package in 0..6 {
            let mut counts = PackageCounts::default();
            let text = format!("if err != nil {{\n\treturn own_{package}\n}}\n");
            each_idiom(&text, "Go", &mut |context, token, gap| {
                counts.add(context, token, gap);
            });
            all.add(counts);
        }
        let mut context = IdiomContext::new("Go");
        context.push("err");
        context.push("!=");
        let hash = context.hashes()[1];
        let chosen = all.chosen();
        let found = chosen.iter().find(|(it, _)| *it == hash);
        let (_, followers) = found.expect("an idiom");
        assert_eq!(all.texts[followers[0].0 as usize], "nil");
        assert!((followers[0].2 - 1.0).abs() < 1e-6);
        let texts = chosen.iter().flat_map(|(_, followers)| followers);
        let mut texts = texts.map(|it| all.texts[it.0 as usize].as_str());
        assert!(!texts.any(|text| text.starts_with("own_")));
    }
}
