//! Work brought from one tree into another: what the one has that its base has not, merged into what the other has.
//!
//! It is an operation of the other tree as any: all of it or nothing, and it can be taken back.

use crate::authored::{Author, Authored, Difference, Scope};

use super::plan::{Held, held_merged, whole};
use super::{Stuck, Undone, Write};

impl Authored {
    /// Brings everything that another tree changed since its base into this one. What this one changed stays; where
    /// both changed the same lines nothing is done. Both trees are looked at first; blocks on the disk.
    pub fn take_over(&mut self, from: &mut Authored) -> Result<Undone, Stuck> {
        from.observe(Scope::All, &Author::Disk)?;
        self.observe(Scope::All, &Author::Disk)?;
        let mut writes = Vec::new();
        let mut conflicts = Vec::new();
        for difference in from.differences() {
            match self.taken(from, &difference) {
                Ok(write) => writes.extend(write),
                Err(Stuck::Conflicts(more)) => conflicts.extend(more),
                Err(stuck) => return Err(stuck),
            }
        }
        match (conflicts.is_empty(), writes.is_empty()) {
            (false, _) => Err(Stuck::Conflicts(conflicts)),
            (true, true) => Err(Stuck::Nothing),
            (true, false) => self.operate(writes),
        }
    }

    fn taken(&mut self, from: &Authored, one: &Difference) -> Result<Option<Write>, Stuck> {
        let path = &one.path;
        let ours = self.known(path).cloned();
        if ours == one.after {
            return Ok(None);
        }
        let read = |version| -> Result<Held, Stuck> {
            let bytes = from.content(version).map_err(|why| whole(path, &why))?;
            Ok(Held {
                kind: version.kind,
                bytes,
            })
        };
        let to = match (&one.before, &one.after, &ours) {
            (before, after, ours) if before == ours => match after {
                Some(after) => Some(read(after)?),
                None => None,
            },
            (Some(base), Some(theirs), Some(ours)) => {
                let ours = Held {
                    kind: ours.kind,
                    bytes: self.content(ours).map_err(|why| whole(path, &why))?,
                };
                Some(held_merged(path, &read(base)?, &ours, &read(theirs)?)?)
            }
            (_, None, None) => None,
            _ => return Err(whole(path, "both made or removed it, each in another way")),
        };
        let to = match to {
            Some(held) => Some(self.keep_version(held.kind, &held.bytes)?),
            None => None,
        };
        Ok((to != ours).then(|| Write {
            path: path.clone(),
            from: ours,
            to,
            undoes: Vec::new(),
        }))
    }
}
