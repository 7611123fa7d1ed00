#[path = "../../../xtask/src/feel.rs"]
#[allow(dead_code, unreachable_pub)]
mod compare;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    if let Err(e) = compare::run(&path) {
        eprintln!("{e}");
    }
}
