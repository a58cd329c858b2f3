//! Tests of the whole engine: the complaints about other terminals, each with its tests, and hostile streams.

mod complaints;
mod hostile;
