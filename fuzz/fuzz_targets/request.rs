#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| midfold_fuzz::request(data));
