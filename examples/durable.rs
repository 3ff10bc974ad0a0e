//! A durable schedule that survives its process: start the program, kill it while it waits, start it again.

use std::io::{self, Write};
use std::sync::mpsc;

use reveille::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (sender, deliveries) = mpsc::channel();
    // A callback, because a run that is due at once is delivered before `start` returns.
    let listener = move |_: &SessionId, message: &Message| {
        // The receiver exists as long as `main`, so no message is lost by ignoring the error.
        let _ = sender.send(message.text());
    };
    let reveille = Reveille::builder().sqlite("state").on_delivery(listener).start()?;
    // On the second start the schedule is there already, with its session.
    if reveille.schedules().is_empty() {
        // It is on disk when this returns.
        reveille.create("in 2 seconds").durable().message("Check whether the build finished.")?;
        writeln!(io::stdout(), "scheduled at {}", reveille.handle().now().wall)?;
    }
    let text = deliveries.recv()?;
    writeln!(io::stdout(), "delivered at {}: {text}", reveille.handle().now().wall)?;
    Ok(())
}
