//! What comes with a signed post, and what comes back: id, timestamp, signature, the time between sender and receiver,
//! and the body, each behind a line break. Whatever is signed is believed, and not with one bit changed; whatever is
//! believed was signed. An endpoint prints and reads back; a wait is what it says, and never in the past.

use std::net::{IpAddr, Ipv6Addr};

use reveille::adapter::outside::{
    Endpoint, MessageId, Signed, SigningKey, check_address, retry_after, sign, verify,
};
use reveille::domain::{Moment, Span};
use reveille::limits;

use super::scene::moment;

/// The keys that are known; the second one is that of another endpoint while they are exchanged.
const KEYS: [&str; 2] =
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="];

/// Fails where one of that does not hold.
pub fn run(input: &[u8]) {
    let mut parts = input.splitn(5, |byte| *byte == b'\n');
    let mut part = || parts.next().unwrap_or_default();
    let [id, timestamp, signature, apart] = [part(), part(), part(), part()].map(String::from_utf8_lossy);
    let body = part();
    let signed = Signed { id: &id, timestamp: &timestamp, signature: &signature };
    believed(&signed, body);
    if let Some(id) = MessageId::of(&id) {
        signed_and_changed(&id, &apart, body);
    }
    for text in [&id, &timestamp, &signature] {
        endpoint(text);
        waits(text);
        let _ = SigningKey::parse(text);
    }
    if let Ok(octets) = <[u8; 16]>::try_from(body) {
        address(Ipv6Addr::from(octets));
    }
}

fn keys() -> [SigningKey; 2] {
    KEYS.map(|key| SigningKey::parse(key).expect("a key"))
}

/// What is believed bears a signature that we make ourselves.
fn believed(signed: &Signed<'_>, body: &[u8]) {
    let keys = keys();
    let seconds = signed.timestamp.parse().unwrap_or(0);
    let now = Moment::new(seconds, 0).unwrap_or(Moment::EPOCH);
    if verify(&keys, *signed, body, now).is_ok() {
        let id = MessageId::of(signed.id).expect("it was taken for an id");
        assert_eq!(id.as_str(), signed.id, "an id that is sent has nothing to encode");
        let ours = sign(&keys, &id, seconds, body);
        assert!(ours.split(' ').any(|ours| signed.signature.split(' ').any(|given| given == ours)));
    }
}

fn signed_and_changed(id: &MessageId, apart: &str, body: &[u8]) {
    let [key, other] = keys();
    let sent = moment("2026-04-22T13:00:00Z");
    let text = sign(std::slice::from_ref(&key), id, sent.seconds(), body);
    let timestamp = sent.seconds().to_string();
    let signed = Signed { id: id.as_str(), timestamp: &timestamp, signature: &text };
    let apart: i64 = apart.parse::<i32>().unwrap_or(0).into();
    let now = Moment::new(sent.seconds() + apart, 0).expect("in range");
    let is_fresh = apart.unsigned_abs() <= limits::SIGNATURE_SECONDS.value;
    assert_eq!(verify(std::slice::from_ref(&key), signed, body, now).is_ok(), is_fresh, "{apart} s apart");
    let by_both = sign(&[other.clone(), key.clone()], id, sent.seconds(), body);
    let by_both = Signed { signature: &by_both, ..signed };
    assert_eq!(verify(std::slice::from_ref(&key), by_both, body, now).is_ok(), is_fresh, "by both");
    assert!(verify(&[other], signed, body, now).is_err(), "another key");
    // One bit of each part, at a place that the body chooses.
    let place = body.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let mut changed = body.to_vec();
    changed.push(0);
    assert!(verify(std::slice::from_ref(&key), signed, &changed, now).is_err(), "a longer body");
    for (changed_id, changed_time, changed_signature) in [
        (change(id.as_str(), place), timestamp.clone(), text.clone()),
        (id.as_str().to_owned(), change(&timestamp, place), text.clone()),
        (id.as_str().to_owned(), timestamp.clone(), change(&text, place)),
    ] {
        let changed = Signed { id: &changed_id, timestamp: &changed_time, signature: &changed_signature };
        assert!(verify(std::slice::from_ref(&key), changed, body, now).is_err(), "{changed:?}");
    }
    if !body.is_empty() {
        let mut changed = body.to_vec();
        changed[place % body.len()] ^= 1 << (place % 8);
        assert!(verify(&[key], signed, &changed, now).is_err(), "a changed body");
    }
}

/// A text with one bit of one byte changed; it was ASCII and stays so.
fn change(text: &str, place: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = place % bytes.len();
    bytes[at] ^= 1 << (place % 7);
    String::from_utf8(bytes).expect("seven bits")
}

fn endpoint(text: &str) {
    let Ok(endpoint) = Endpoint::parse(text) else { return };
    assert!(endpoint.port() > 0 && !endpoint.host().is_empty(), "{endpoint}");
    assert_eq!(endpoint.address(), endpoint.host().parse::<IpAddr>().ok(), "an address is known as one");
    // What is told of an endpoint leaves the path out: the rest is that of an endpoint too.
    let told = Endpoint::parse(&endpoint.to_string()).expect("it is printed as one");
    let known = |it: &Endpoint| (it.scheme(), it.host().to_owned(), it.port(), it.address());
    assert_eq!(known(&told), known(&endpoint), "{endpoint}");
}

fn waits(text: &str) {
    let now = moment("2026-04-22T13:00:00Z");
    let wait = retry_after(text, now);
    if let Ok(seconds) = text.parse::<u64>()
        && !text.starts_with('+')
    {
        assert_eq!(wait, Some(Span::from_millis(seconds.saturating_mul(1_000))), "{text}");
    }
    if let Some(wait) = wait {
        // A date is the same date for somebody who asks a second later; seconds are counted from then on.
        let later =
            retry_after(text, Moment::new(now.seconds() + 1, 0).expect("in range")).expect("the same text");
        let less = Span::from_millis(wait.millis().saturating_sub(1_000));
        assert!(later == wait || later == less, "{text}: {wait:?} and {later:?}");
    }
}

/// An address that another one wraps is judged as if it stood alone, and what is let through is of the public internet,
/// whatever it may carry.
fn address(address: Ipv6Addr) {
    let [first, .., high, low] = address.segments();
    let [.., a, b, c, d] = address.octets();
    let inner = check_address(IpAddr::from([a, b, c, d]));
    for wrapped in [
        Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0x5efe, 0x808, 0x808),
    ] {
        assert_eq!(check_address(wrapped.into()), inner, "{wrapped}");
    }
    if check_address(address.into()).is_ok() {
        assert!(matches!(first, 0 | 0x64 | 0x2000..=0x3fff), "{address} is not of the public internet");
    }
}
