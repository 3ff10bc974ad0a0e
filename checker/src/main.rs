//! Checks a history of events, one per line of JSON, from a file or standard input, and lists its
//! violations.
//!
//! `cargo run -p reveille-checker -- [--prompt-ms N] [FILE]`. Exit codes: 0 no violation, 1 violations,
//! 2 invalid command or history.

use std::fmt;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use reveille_checker::{Bounds, Span, check_within, read};

fn main() -> ExitCode {
    match run(std::env::args().skip(1), io::stdin(), &mut io::stdout()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            // If stderr is closed, the exit code still reports the error.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the report; returns whether the history has no violation.
pub(crate) fn run(
    mut arguments: impl Iterator<Item = String>,
    mut input: impl Read,
    output: &mut impl Write,
) -> Result<bool, Box<dyn std::error::Error>> {
    let (mut bounds, mut file) = (Bounds::default(), None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--prompt-ms" => {
                let number = arguments.next().and_then(|text| text.parse().ok()).ok_or(Usage)?;
                bounds.prompt = Span::from_millis(number);
            }
            "-" => {}
            option if option.starts_with('-') => return Err(Usage.into()),
            _ if file.is_some() => return Err(Usage.into()),
            path => file = Some(path.to_owned()),
        }
    }
    let mut text = String::new();
    match &file {
        Some(path) => text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?,
        None => drop(input.read_to_string(&mut text)?),
    }
    let report = check_within(&read(&text)?, bounds);
    writeln!(output, "{report}")?;
    Ok(report.is_clean())
}

/// The arguments are invalid.
#[derive(Debug)]
struct Usage;

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("usage: check_history [--prompt-ms N] [FILE]; without FILE, from standard input")
    }
}

impl std::error::Error for Usage {}
