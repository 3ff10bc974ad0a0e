//! The `reveille` binary. Everything is in the library's `app`.

use std::process::ExitCode;

fn main() -> ExitCode {
    reveille::app::run(std::env::args_os())
}
