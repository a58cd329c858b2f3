//! The carets of a view: order, merging, and their way through edits.

use super::{Caret, Vim};
use crate::marks::PosMap;

impl Vim {
    /// Sorts the carets, and merges those at the same place. `primary` is the value of the primary
    /// caret.
    pub(super) fn merge_carets(&mut self, primary: Caret) {
        self.carets.sort_by_key(|caret| (caret.pos, caret.anchor));
        self.carets.dedup_by_key(|caret| (caret.pos, caret.anchor));
        let ix = self
            .carets
            .iter()
            .position(|caret| caret.pos == primary.pos && caret.anchor == primary.anchor);
        self.primary = ix.unwrap_or(0);
        self.active = self.primary;
    }

    /// Keeps the primary caret alone. Returns whether there were others.
    pub(super) fn drop_other_carets(&mut self) -> bool {
        if self.carets.len() == 1 {
            return false;
        }
        let primary = self.carets[self.primary];
        self.carets = vec![primary];
        self.primary = 0;
        self.active = 0;
        true
    }

    /// Moves what is not a mark through a change: all carets but `except`, the last selection and
    /// the starts of an insertion.
    pub(super) fn follow_elsewhere(&mut self, map: &PosMap, except: Option<usize>) {
        if self.carets.len() > 1 || except.is_none() {
            for (ix, caret) in self.carets.iter_mut().enumerate() {
                if Some(ix) != except {
                    caret.pos = map.moved(caret.pos);
                    caret.anchor = map.moved(caret.anchor);
                }
            }
        }
        if let Some(insert) = &mut self.insert {
            insert.follow(map);
        }
        if let Some(visual) = &mut self.visual {
            visual.anchor = map.nearest(visual.anchor);
            visual.head = map.nearest(visual.head);
        }
        if let Some(mark) = &mut self.exchange {
            mark.start = map.moved(mark.start);
            mark.end = map.moved(mark.end);
        }
        if let Some(saved) = &mut self.saved_line
            && map.moves_lines()
        {
            saved.row = map.nearest(crate::lines::Pos::new(saved.row, 0)).row;
        }
    }
}
