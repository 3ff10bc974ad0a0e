//! Fuzzes signed webhook posts and their responses: id, timestamp, signature, clock difference and
//! body, separated by line breaks. A signed post verifies, and fails with one bit changed; a post
//! that verifies was signed. An endpoint prints and parses back; `Retry-After` gives the stated
//! wait, never a time in the past.

use std::net::{IpAddr, Ipv6Addr};

use reveille::adapter::outbound::{
    Endpoint, MessageId, Signed, SigningKey, check_address, retry_after, sign, verify,
};
use reveille::domain::{Moment, Span};
use reveille::limits;

use super::scene::moment;

/// The known keys. Two, as during a key rotation.
const KEYS: [&str; 2] =
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="];

/// Panics if one of these properties does not hold for `input`.
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

/// A post that verifies has a signature that we compute as well.
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
    // Timestamps too far in the past or the future are refused alike.
    let is_fresh = apart.unsigned_abs() <= limits::SIGNATURE_SECONDS.value;
    assert_eq!(verify(std::slice::from_ref(&key), signed, body, now).is_ok(), is_fresh, "{apart} s apart");
    let by_both = sign(&[other.clone(), key.clone()], id, sent.seconds(), body);
    let by_both = Signed { signature: &by_both, ..signed };
    assert_eq!(verify(std::slice::from_ref(&key), by_both, body, now).is_ok(), is_fresh, "by both");
    assert!(verify(&[other], signed, body, now).is_err(), "another key");
    // Change one bit of each part, at a place chosen by the body.
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

/// Flips one bit of one byte of an ASCII text; the result is ASCII too.
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
    // A printed endpoint omits the path, and is an endpoint itself.
    let told = Endpoint::parse(&endpoint.to_string()).expect("it is printed as one");
    let known = |it: &Endpoint| (it.scheme(), it.host().to_owned(), it.port(), it.address());
    assert_eq!(known(&told), known(&endpoint), "{endpoint}");
}

fn waits(text: &str) {
    let now = moment("2026-04-22T13:00:00Z");
    let wait = retry_after(text, now);
    if let Ok(seconds) = text.parse::<u64>()
        // `parse` accepts a plus sign, RFC 9110 does not.
        && !text.starts_with('+')
    {
        assert_eq!(wait, Some(Span::from_millis(seconds.saturating_mul(1_000))), "{text}");
    }
    if let Some(wait) = wait {
        // A date gives a second less to a client that asks a second later; a number of seconds
        // gives the same wait.
        let later =
            retry_after(text, Moment::new(now.seconds() + 1, 0).expect("in range")).expect("the same text");
        let less = Span::from_millis(wait.millis().saturating_sub(1_000));
        assert!(later == wait || later == less, "{text}: {wait:?} and {later:?}");
    }
}

/// An embedded IPv4 address is judged as if it stood alone; any accepted IPv6 address is a public
/// one.
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
