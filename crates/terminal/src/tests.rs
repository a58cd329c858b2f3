//! Tests of the whole engine: the complaints about other terminals, each with its tests.

mod complaints;
