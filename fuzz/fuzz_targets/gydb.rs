//! libFuzzer's way into [`gyrase_fuzz::gydb`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gyrase_fuzz::gydb(data));
