//! The target `manifest`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| notehost_fuzz::run(notehost_fuzz::manifest, input));
