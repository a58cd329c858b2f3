//! The decoders of fill-in-the-middle answers accept any bytes, divided anywhere.
#![no_main]

use libfuzzer_sys::fuzz_target;
use router::wire::FimWire;

fuzz_target!(|data: &[u8]| {
    for wire in [FimWire::Infill, FimWire::Ollama] {
        burin_fuzz::sse::gap(wire, data);
    }
});
