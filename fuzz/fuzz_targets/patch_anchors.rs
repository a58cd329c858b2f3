//! The reader of one edit format takes any text, in any pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use patch::format::EditFormat;

fuzz_target!(|data: &[u8]| burin_fuzz::read(EditFormat::Anchors, data));
