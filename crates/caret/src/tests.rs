//! Tests commands as cases: a text with carets, a command, and the resulting text with carets.

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
