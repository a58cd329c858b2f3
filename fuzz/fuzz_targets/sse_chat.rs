//! The reader of one wire's answers takes any bytes, in any pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use router::wire::Wire;

fuzz_target!(|data: &[u8]| burin_fuzz::sse::chat(Wire::Chat, data));
