//! What has ended is neither paused nor resumed: nothing of it is to come, and its revision stays.

use reveille::domain::{Caller, Span};

use crate::simulated::{ask, engine};

#[test]
fn what_has_ended_is_neither_paused_nor_resumed() {
    let (handle, clock) = engine(&["s"]);
    let asked = |query: &str| ask(&handle, &Caller::OPERATOR, query, false);
    let made = asked(
        "[(psi.scheduler/create {:session-id \"s\" :kind :message :message \"m\" :delay-ms 1000 \
          :durability :durable})]",
    );
    let id = made.split('"').find(|part| part.starts_with("sch-")).expect(&made);
    clock.advance(Span::from_millis(1_000));
    handle.run_due();
    handle.run_due();
    let shown = || {
        let shown = "[:psi.scheduler/status :psi.scheduler/revision :psi.scheduler/paused?]";
        asked(&format!("[{{[:psi.scheduler/schedule-id \"{id}\"] {shown}}}]"))
    };
    let before = shown();
    assert!(before.contains(":delivered"), "{before}");
    for name in ["pause", "resume"] {
        let refused = asked(&format!("[(psi.scheduler/{name} {{:schedule-id \"{id}\"}})]"));
        assert!(refused.contains("CONFLICT") && refused.contains("is delivered"), "{name}: {refused}");
        assert_eq!(shown(), before, "{name}");
    }
}
