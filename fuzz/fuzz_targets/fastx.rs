//! libFuzzer's way into [`gyrase_fuzz::fastx`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gyrase_fuzz::fastx(data));
