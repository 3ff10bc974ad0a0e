# `just` lists the recipes. The steps of the gate live in .ci/check, which CI calls too.

default:
    @just --list

# The whole gate: what has to pass before a commit
check:
    .ci/check

# The tests, as the README runs them
test:
    .ci/check test

# Format and clippy, warnings denied
lint:
    .ci/check fmt lint

# No feature at all, then each feature alone
features:
    .ci/check features

# The crate's pages, warnings denied
docs:
    .ci/check docs

# Real clients: Clojure, nbb, audits of GraphQL over HTTP and MCP, graphql-ws, graphql-sse, an agent; needs clojure and node
clients:
    .ci/check clients

# The conformance suite of the Model Context Protocol, both wire shapes, and a table of what it says; needs node
mcp:
    cd tests/clients && npm install --no-package-lock --no-audit --no-fund
    cargo test --test clients -- --ignored mcp_

# Three real agents with a scripted model, each woken by what it asked for; half a gigabyte to install, needs node
agents:
    cd tests/clients && npm install --no-package-lock --no-audit --no-fund --no-save \
        opencode-ai@1.18.33 @zed-industries/codex-acp@0.16.0
    cargo test --test clients -- --ignored --nocapture agents_

# Licences of everything that comes into the build
deny:
    .ci/check deny

# One table: Reveille, its peers, the machine's limit; `--quick` in two minutes, or by name: `just bench cron BullMQ`
bench *ARGS:
    cargo run --release --manifest-path benches/peers/Cargo.toml --package bench -- {{ ARGS }}

# Instructions of the hot paths against the baseline: `just count`, `just count --update`, `just count create`; needs valgrind
count *ARGS:
    cargo run --profile count -p reveille-count -- {{ ARGS }}

# The main job on real input, in ten seconds
demo:
    .ci/check demo

# Simulated worlds: `just sim 5000`, or `just sim SEEDS=5000`
sim SEEDS="2000":
    SEEDS={{ trim_start_match(SEEDS, "SEEDS=") }} cargo test --release --all-features --test worlds

# One world again, step by step: `just replay 42`
replay SEED:
    SEED={{ trim_start_match(SEED, "SEED=") }} cargo test --release --all-features --test worlds -- --nocapture

# Look for bad input until stopped, or for so long: `just fuzz mcp -max_total_time=300`; needs cargo-fuzz and a nightly toolchain
fuzz TARGET *ARGS:
    mkdir -p fuzz/work/{{ TARGET }}
    cargo +nightly fuzz run --sanitizer none {{ TARGET }} fuzz/work/{{ TARGET }} fuzz/corpus/{{ TARGET }} -- \
        -dict=fuzz/dictionaries/{{ TARGET }}.dict -max_len=4096 -timeout=10 {{ ARGS }}

# Plant faults in a copy of the program, one at a time, and say which test sees each; an hour for all, `just planted NAME` for one
planted *NAMES:
    tests/planted/run {{ NAMES }}

# Every target in turn, so many seconds each: `just fuzz-all 300`, or `just fuzz-all SECONDS=300`
fuzz-all SECONDS="300":
    for target in $(cargo +nightly fuzz list); do \
        just fuzz "$target" -max_total_time={{ trim_start_match(SECONDS, "SECONDS=") }} || exit 1; \
    done

# Take what the last look has found into the corpus, and make that the smallest that covers the same
fuzz-keep TARGET:
    cargo +nightly fuzz run --sanitizer none {{ TARGET }} fuzz/corpus/{{ TARGET }} fuzz/work/{{ TARGET }} -- -merge=1 -max_len=4096
    cargo +nightly fuzz cmin --sanitizer none {{ TARGET }} fuzz/corpus/{{ TARGET }} -- -max_len=4096

# Power cuts under the real daemon, and two controls that must lose: `just power 150`, or `just power CUTS=150`
power CUTS="150":
    CUTS={{ trim_start_match(CUTS, "CUTS=") }} cargo test --release --test blackbox power -- --nocapture
