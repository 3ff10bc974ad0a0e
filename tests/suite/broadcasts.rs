//! Broadcasts over a simulated courier: what they count as, and a channel that is named twice.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::edn::read;
use reveille::limits;

use crate::channel_tools::Scene;
use crate::simulated::token;

#[test]
fn a_channel_that_a_broadcast_names_twice_gets_the_message_once() {
    let scene = Scene::new();
    let done = scene.call(&token("s"), "channels.broadcast", "{:providers [\"ops\" \"ops\"] :message \"m\"}");
    assert!(done.contains(":sent 1") && done.contains("it is named more than once"), "{done}");
    assert_eq!(scene.desk.texts(), ["m"]);
}

/// Each message of a broadcast is one that the session creates.
#[test]
fn a_broadcast_counts_as_many_messages_as_it_sends() {
    let scene = Scene::new();
    let names = ["ops", "broken", "a", "b", "c", "d", "e"];
    let args = format!("{{:providers {names:?} :message \"m\"}}").replace(',', " ");
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let call = || scene.service.call_tool("channels.broadcast", &token("s"), &args, Notation::Edn);
    let (mut admitted, mut refused) = (0, 0);
    while let Ok(answer) = call() {
        let text = answer.expect("there is the tool").value.to_string();
        let too_many = text.matches("creates-per-minute").count();
        (admitted, refused) = (admitted + names.len() - too_many, refused + too_many);
        assert!(admitted <= 10_000, "no rate holds it back");
    }
    assert_eq!(admitted as u64, limits::CREATES_PER_MINUTE.value);
    assert!((1..7).contains(&refused), "{refused} of the last broadcast");
}
