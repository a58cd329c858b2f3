//! Tests of scripts.
