//! How long one tick takes.

fn main() {
    divan::main();
}
