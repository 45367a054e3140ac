//! libFuzzer's way into [`gyrase_fuzz::candidates`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gyrase_fuzz::candidates(data));
