//! The decoder of one wire's answers accepts any bytes, divided anywhere.
#![no_main]

use libfuzzer_sys::fuzz_target;
use router::wire::WireProtocol;

fuzz_target!(|data: &[u8]| burin_fuzz::sse::chat(WireProtocol::Anthropic, data));
