//! libFuzzer's way into [`gyrase_fuzz::taxonomy`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gyrase_fuzz::taxonomy(data));
