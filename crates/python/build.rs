//! Lets the linker of macOS leave the names of Python to the interpreter that loads the module.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("macos") {
        for word in ["-undefined", "dynamic_lookup"] {
            println!("cargo::rustc-cdylib-link-arg={word}");
        }
    }
}
