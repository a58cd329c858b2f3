//! Detects renames: by identical bytes, by the same file name, by the most common lines.
//!
//! Similarity is computed as in git, so that both detect the same renames.

use std::collections::HashMap;
use std::sync::Arc;

use super::content::is_binary;
use super::{ObjectEntry, TreePath};

/// Similarity of identical files.
const ALL: u64 = 60_000;
/// Minimum similarity of a rename: half of the bytes.
const MIN_SIMILARITY: u64 = ALL / 2;
/// Minimum similarity of files that share a unique file name.
const MIN_SIMILARITY_BY_NAME: u64 = ALL * 3 / 4;
/// Above this number of pairs, files are compared by name and by whole content only.
const MAX_PAIRS: usize = 1_000_000;
/// Number of most similar sources kept for each new file.
const CANDIDATES: usize = 4;
/// Longer runs without a line feed are hashed in pieces of this many bytes.
const PIECE: u32 = 64;

/// A file on one side of a rename.
#[derive(Clone, Debug)]
pub(super) struct RenameFile {
    pub(super) path: TreePath,
    pub(super) entry: ObjectEntry,
    /// Whether the rename of this file matters; for other files only exact renames are detected.
    pub(super) is_wanted: bool,
}

/// Reads the content of an entry.
pub(super) type Read<'a, E> = &'a dyn Fn(&ObjectEntry) -> Result<Arc<[u8]>, E>;

/// Returns pairs of removed and added paths, each path at most once.
pub(super) fn find<E>(
    gone: &[RenameFile],
    new: &[RenameFile],
    read: Read<'_, E>,
) -> Result<Vec<(TreePath, TreePath)>, E> {
    let mut search = RenameSearch {
        gone,
        new,
        read,
        prints: HashMap::new(),
        of_new: vec![None; new.len()],
        is_used: vec![false; gone.len()],
    };
    search.by_bytes();
    search.by_last_name()?;
    search.by_similarity()?;
    let pairs = search.of_new.iter().zip(new).filter_map(|(source, new)| {
        let source = (*source)?;
        Some((gone[source].path.clone(), new.path.clone()))
    });
    Ok(pairs.collect())
}

struct RenameSearch<'a, E> {
    gone: &'a [RenameFile],
    new: &'a [RenameFile],
    read: Read<'a, E>,
    prints: HashMap<super::ObjectId, Arc<ContentFingerprint>>,
    of_new: Vec<Option<usize>>,
    is_used: Vec<bool>,
}

impl<E> RenameSearch<'_, E> {
    fn pair(&mut self, source: usize, target: usize) {
        self.of_new[target] = Some(source);
        self.is_used[source] = true;
    }

    fn by_bytes(&mut self) {
        let mut sources: HashMap<_, Vec<usize>> = HashMap::new();
        for (ix, file) in self.gone.iter().enumerate() {
            sources.entry(file.entry.id).or_default().push(ix);
        }
        let empty = super::ObjectId::of_blob(b"");
        for (target, file) in self.new.iter().enumerate() {
            if file.entry.id == empty {
                continue;
            }
            let alike = sources.get(&file.entry.id).into_iter().flatten();
            let free = alike
                .copied()
                .filter(|source| !self.is_used[*source] && self.is_same_kind(*source, target));
            let best = free.max_by_key(|source| {
                let is_same_name = self.gone[*source].path.name() == file.path.name();
                (is_same_name, std::cmp::Reverse(*source))
            });
            if let Some(source) = best {
                self.pair(source, target);
            }
        }
    }

    /// Pairs files whose name, without folders, occurs once among the open sources and once among
    /// the open targets, if they are similar enough. Fails if `read` does.
    fn by_last_name(&mut self) -> Result<(), E> {
        let mut sources: HashMap<&[u8], Vec<usize>> = HashMap::new();
        let mut targets: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for source in self.open_sources() {
            sources
                .entry(self.gone[source].path.name())
                .or_default()
                .push(source);
        }
        for target in self.open_targets() {
            targets
                .entry(self.new[target].path.name())
                .or_default()
                .push(target);
        }
        let alone = sources.iter().filter_map(|(name, sources)| {
            let ([source], [target]) = (sources.as_slice(), targets.get(name)?.as_slice()) else {
                return None;
            };
            Some((*source, *target))
        });
        let mut alone: Vec<(usize, usize)> = alone.collect();
        alone.sort_unstable();
        for (source, target) in alone {
            if self.similarity(source, target)? >= MIN_SIMILARITY_BY_NAME {
                self.pair(source, target);
            }
        }
        Ok(())
    }

    /// Pairs the open sources and targets by similarity, the most similar first and the same name
    /// first among equals; does nothing for more than `MAX_PAIRS` combinations. Fails if `read`
    /// does.
    fn by_similarity(&mut self) -> Result<(), E> {
        let (sources, targets) = (self.open_sources(), self.open_targets());
        if sources.len().saturating_mul(targets.len()) > MAX_PAIRS {
            return Ok(());
        }
        let mut all = Vec::new();
        for target in targets {
            let mut best = Vec::new();
            for source in &sources {
                let similarity = self.similarity(*source, target)?;
                if similarity >= MIN_SIMILARITY {
                    let is_same_name =
                        self.gone[*source].path.name() == self.new[target].path.name();
                    best.push((similarity, is_same_name, *source, target));
                }
            }
            best.sort_by_key(|(similarity, name, source, _)| {
                (std::cmp::Reverse((*similarity, *name)), *source)
            });
            best.truncate(CANDIDATES);
            all.extend(best);
        }
        all.sort_by_key(|(similarity, name, ..)| std::cmp::Reverse((*similarity, *name)));
        for (_, _, source, target) in all {
            if self.of_new[target].is_none() && !self.is_used[source] {
                self.pair(source, target);
            }
        }
        Ok(())
    }

    /// Returns the indices in `gone` of the wanted regular files that have no target yet.
    fn open_sources(&self) -> Vec<usize> {
        let open = |ix: &usize| {
            let file = &self.gone[*ix];
            !self.is_used[*ix] && file.is_wanted && file.entry.mode.is_file()
        };
        (0..self.gone.len()).filter(open).collect()
    }

    /// Returns the indices in `new` of the regular files that have no source yet.
    fn open_targets(&self) -> Vec<usize> {
        let open = |ix: &usize| self.of_new[*ix].is_none() && self.new[*ix].entry.mode.is_file();
        (0..self.new.len()).filter(open).collect()
    }

    /// Returns whether two entries have the same mode or are both regular files. `source` is an
    /// index in `gone`, `target` one in `new`.
    fn is_same_kind(&self, source: usize, target: usize) -> bool {
        let (one, two) = (self.gone[source].entry.mode, self.new[target].entry.mode);
        one == two || one.is_file() && two.is_file()
    }

    /// Returns the similarity of two files, from 0 to `ALL`. `source` is an index in `gone`,
    /// `target` one in `new`. Fails if `read` does.
    fn similarity(&mut self, source: usize, target: usize) -> Result<u64, E> {
        let source = self.fingerprint(&self.gone[source].entry)?;
        let target = self.fingerprint(&self.new[target].entry)?;
        Ok(source.similarity(&target))
    }

    /// Returns the fingerprint of an entry's content, which is read only once. Fails if `read`
    /// does.
    fn fingerprint(&mut self, entry: &ObjectEntry) -> Result<Arc<ContentFingerprint>, E> {
        if let Some(print) = self.prints.get(&entry.id) {
            return Ok(print.clone());
        }
        let print = Arc::new(ContentFingerprint::of(&(self.read)(entry)?));
        self.prints.insert(entry.id, print.clone());
        Ok(print)
    }
}

/// Number of bytes of a file in lines of each hash.
struct ContentFingerprint {
    size: u64,
    lines: HashMap<u32, u64>,
}

impl ContentFingerprint {
    fn of(bytes: &[u8]) -> Self {
        let is_text = !is_binary(bytes);
        let mut lines: HashMap<u32, u64> = HashMap::new();
        let (mut one, mut two, mut count) = (0_u32, 0_u32, 0_u32);
        let mut add = |one: u32, two: u32, count: u32| {
            let hash = one.wrapping_add(two.wrapping_mul(0x61)) % 107_927;
            *lines.entry(hash).or_default() += u64::from(count);
        };
        for (ix, byte) in bytes.iter().enumerate() {
            if is_text && *byte == b'\r' && bytes.get(ix + 1) == Some(&b'\n') {
                continue;
            }
            let before = one;
            one = (one << 7) ^ (two >> 25);
            two = (two << 7) ^ (before >> 25);
            one = one.wrapping_add(u32::from(*byte));
            count += 1;
            if count >= PIECE || *byte == b'\n' {
                add(one, two, count);
                (one, two, count) = (0, 0, 0);
            }
        }
        if count > 0 {
            add(one, two, count);
        }
        Self {
            size: bytes.len() as u64,
            lines,
        }
    }

    /// Returns the bytes in common lines as a share of the longer file, from 0 to `ALL`. Always 0
    /// if one is empty or their sizes alone rule out `MIN_SIMILARITY`.
    fn similarity(&self, target: &ContentFingerprint) -> u64 {
        let longer = self.size.max(target.size);
        let shorter = self.size.min(target.size);
        if shorter == 0 || longer * (ALL - MIN_SIMILARITY) < (longer - shorter) * ALL {
            return 0;
        }
        let common: u64 = self
            .lines
            .iter()
            .map(|(hash, count)| target.lines.get(hash).map_or(0, |other| *count.min(other)))
            .sum();
        common * ALL / longer
    }
}

#[cfg(test)]
mod tests;
