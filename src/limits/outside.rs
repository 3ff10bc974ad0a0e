//! The bounds of what goes outside: webhooks, channels, programs.

use super::declare::{Limit, limits};

limits! { OF_OUTSIDE:
    /// Longest URL of an endpoint.
    ENDPOINT_BYTES = 2_048 "bytes" as "endpoint-bytes";
    /// Longest body of a post to an endpoint. Source: Standard Webhooks 1.0, below 20 KB.
    WEBHOOK_BYTES = 20_480 "bytes" as "webhook-bytes";
    /// How long connecting to an endpoint may take, TLS included.
    WEBHOOK_CONNECT_MS = 10_000 "ms" as "webhook-connect-ms";
    /// How long a post may take, from resolving the host name to the head of the response. Source:
    /// Standard Webhooks 1.0, 15–30 s.
    WEBHOOK_MS = 20_000 "ms" as "webhook-ms";
    /// Longest head of an endpoint's response.
    WEBHOOK_HEAD_BYTES = 16_384 "bytes" as "webhook-head-bytes";
    /// Shortest key that posts are signed with. Source: Standard Webhooks 1.0.
    SIGNING_KEY_BYTES_MIN = 24 "bytes" as "signing-key-bytes-min";
    /// Longest key that posts are signed with. Source: Standard Webhooks 1.0.
    SIGNING_KEY_BYTES = 64 "bytes" as "signing-key-bytes";
    /// Largest difference between the time of a signed post and the receiver's clock. Source:
    /// reliability S17, ±5 min.
    SIGNATURE_SECONDS = 300 "s" as "signature-seconds";
    /// Signatures of one post that are verified, and keys that one endpoint may have; two keys are
    /// in use while keys are rotated.
    SIGNATURES = 8 "signatures" as "signatures";
    /// Longest id of a signed post: a run's id fits even if every byte of its schedule's id is
    /// escaped.
    MESSAGE_ID_BYTES = 512 "bytes" as "message-id-bytes";
    /// Longest delay of the next attempt that the receiver behind a channel may ask for, at least
    /// as long as our own longest wait between attempts.
    RETRY_AFTER_MS = 86_400_000 "ms" as "retry-after-ms";
    /// Deliveries to channels at the same time; one more waits, which counts as no attempt.
    OUTSIDE_IN_FLIGHT = 256 "deliveries" as "outside-in-flight";
    /// How many of the deliveries to channels only those of operators' schedules may be.
    OUTSIDE_RESERVE = 16 "deliveries" as "outside-reserve";
    /// Deliveries of one session, and of the fresh sessions that come from it, on their way outside at a time. Those of
    /// operators' schedules do not count.
    OUTSIDE_OF_SESSION = 16 "deliveries" as "outside-of-session";
    /// Deliveries on their way through one channel at a time.
    OUTSIDE_OF_CHANNEL = 64 "deliveries" as "outside-of-channel";
    /// How many of the deliveries through one channel only those of operators' schedules may be.
    OUTSIDE_CHANNEL_RESERVE = 8 "deliveries" as "outside-channel-reserve";
    /// Channels in one configuration.
    CHANNELS = 64 "channels" as "channels";
    /// Sessions that the events of one channel may have open, by source or by event.
    CHANNEL_SESSIONS = 256 "sessions" as "channel-sessions";
    /// How long an external program may run.
    PROGRAM_MS = 20_000 "ms" as "program-ms";
    /// Bytes that are retained of each of an external program's two outputs; the rest is read and
    /// discarded.
    PROGRAM_OUTPUT_BYTES = 16_384 "bytes" as "program-output-bytes";
    /// How long the outputs of an external program are still read after it has ended; a descendant
    /// that left its process group may hold them open.
    PROGRAM_DRAIN_MS = 100 "ms" as "program-drain-ms";
}
