//! libFuzzer's way into [`gyrase_fuzz::exact_matches`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gyrase_fuzz::exact_matches(data));
