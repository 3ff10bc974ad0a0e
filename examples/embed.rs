//! The scheduler embedded in a program: start it, schedule a message, receive the delivery.

use std::io::{self, Write};

use reveille::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reveille = Reveille::start()?;
    let deliveries = reveille.deliveries();
    reveille.create("in 1 second").message("Check whether the build finished.")?;
    let Delivery { session, text, .. } = deliveries.recv()?;
    writeln!(io::stdout(), "delivered into session {session}: {text}")?;
    Ok(())
}
