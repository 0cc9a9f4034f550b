//! How an addon is linked, on each system.

fn main() {
    napi_build::setup();
}
