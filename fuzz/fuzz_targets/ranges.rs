//! libFuzzer's way into [`gyrase_fuzz::ranges`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gyrase_fuzz::ranges(data));
