//! Commands as cases: a text with its carets, a command, the text and its carets after it.

mod casing;
mod deleting;
mod folded;
mod indenting;
mod names;
mod pasting;
mod random;
mod row_order;
mod selecting;
mod typing;
