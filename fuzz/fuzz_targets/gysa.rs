//! libFuzzer's way into [`gyrase_fuzz::gysa`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gyrase_fuzz::gysa(data));
