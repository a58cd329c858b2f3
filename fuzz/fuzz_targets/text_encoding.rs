//! Text that was read from a file's bytes and may be written back gives the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use text::{Buffer, decode, encode};

fuzz_target!(|data: &[u8]| {
    let decoded = decode(data);
    if decoded.read_only.is_some() {
        return;
    }
    let buffer = Buffer::new(&decoded.text);
    let written = encode(&buffer.snapshot(), &decoded.format).expect("it was read in this encoding");
    assert_eq!(written, data);
});
