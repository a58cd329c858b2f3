//! Tab in a window: what is offered in the text at hand, and why nothing is.

mod around;
mod gate;
