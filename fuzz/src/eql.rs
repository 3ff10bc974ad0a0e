//! Fuzzes graph queries. Over a toy world, a valid query prints and parses back. Over a scheduler,
//! the answer that is written directly equals the one that is built as a value.

#[path = "../../tests/suite/toy.rs"]
mod toy;

use reveille::domain::Caller;
use reveille::edn::{Caps, Value, read};
use reveille::graph::eql::WriteOutcome;
use reveille::service::{Service, failed, reply};

use super::scene::{Scene, callers};

/// An answer may quote the request in errors, and may be as long as the graph's limits allow.
const ROOMY: Caps = Caps { bytes_max: 1 << 28, depth_max: 512, digits_max: u16::MAX, forms_max: u32::MAX };

/// Panics if one of these properties does not hold for `input`.
pub fn run(input: &[u8]) {
    toy::replay(input);
    for caller in callers() {
        for is_lenient in [false, true] {
            agrees(input, &caller, is_lenient);
        }
    }
}

fn agrees(input: &[u8], caller: &Caller, is_lenient: bool) {
    // Two engines, because a request may change something.
    let (writing, building) = (Service::new(Scene::new().handle), Service::new(Scene::new().handle));
    let prepared = match writing.prepare(caller, input) {
        Ok(prepared) => prepared,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut text = String::new();
    let written = writing.answer(caller, &prepared, is_lenient, &mut text);
    let written = written.map(|written| match written {
        WriteOutcome::Failed(failure) => Value::Map(failed(&prepared.boundary, &failure)).to_string(),
        WriteOutcome::Done => text,
    });
    let built = building.run(caller, &prepared, is_lenient);
    let built = built.map(|answer| Value::Map(reply(&prepared.boundary, answer)).to_string());
    let read = |text: &String| read(text.as_bytes(), &ROOMY).expect("an answer is EDN");
    assert_eq!(written.as_ref().map(read), built.as_ref().map(read), "two ways");
}
