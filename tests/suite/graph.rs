//! The scheduler's graph: its declarations are sound.

use reveille::graph::attr;
use reveille::graph::registry::RegistryFault;

#[test]
fn every_declaration_is_sound() {
    let faults: Vec<RegistryFault> = attr::registry().err().unwrap_or_default();
    assert_eq!(faults, []);
}
