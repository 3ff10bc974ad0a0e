# `just` lists the recipes. The steps of the gate live in .ci/check, which CI calls too.

default:
    @just --list

# What a commit has to pass: format, clippy with warnings denied, tests
check:
    .ci/check

# What a clean clone has to pass besides, in CI: each feature alone, docs, figures, licences, real clients, the demo
clean:
    .ci/check clean

# Everything: what a clean clone has to pass, the fuzz targets, the instructions of the hot paths, the benchmark driver
full:
    .ci/check full

# The fuzz targets compile; `just fuzz TARGET` runs one
fuzz-check:
    .ci/check fuzz

# The program that makes the table of benchmarks; `just bench` runs it
peers:
    .ci/check peers

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

# The dashboard's script and style from `web/app/` into `web/built/`; `just pages --check` says whether they are up to date; needs node
pages *ARGS:
    cd tests/clients && npm install --no-package-lock --no-audit --no-fund
    cd tests/clients && node pages.mjs {{ ARGS }}

# The conformance suite of the Model Context Protocol, both wire shapes, and a table of what it says; needs node
mcp:
    cd tests/clients && npm install --no-package-lock --no-audit --no-fund
    cargo test --test clients -- --ignored mcp_

# Real agents with a scripted model, woken by what they asked for and in their own conversations, and windows of Claude Code and opencode; two
# gigabytes, needs node and tmux
agents:
    cd tests/clients && npm install --no-package-lock --no-audit --no-fund --no-save \
        opencode-ai@1.18.33 @zed-industries/codex-acp@0.16.0 @google/gemini-cli@0.61.0 @qwen-code/qwen-code@0.24.4 \
        @anthropic-ai/claude-code@2.1.330
    rm -f target/agents.jsonl
    AGENTS_RESULTS="$PWD/target/agents.jsonl" cargo test --test clients -- --ignored --nocapture agents_
    cd tests/clients && node matrix.mjs ../../target/agents.jsonl ../../docs/AGENTS.md

# Licences of everything that comes into the build
deny:
    .ci/check deny

# One table: Reveille, its peers, the machine's limit; `--quick` in two minutes, or by name: `just bench cron BullMQ`
bench *ARGS:
    cargo run --release --manifest-path benches/peers/Cargo.toml --package bench -- {{ ARGS }}

# Instructions of the hot paths against the baseline: `just count`, `just count --update`, `just count create`; needs valgrind
count *ARGS:
    cargo run --profile count -p reveille-count -- {{ ARGS }}

# Sizes, public items, import cycles, clones against their limits: `just figures`, `just figures --cycles --clones`, `just figures --json`
figures *ARGS:
    cargo run --quiet -p reveille-figures -- {{ ARGS }}

# The main job on real input, in ten seconds
demo:
    .ci/check demo

# Simulated worlds: `just sim 5000`, or `just sim SEEDS=5000`; says at its end how much happened, and one hash over it
sim SEEDS="2000" FIRST="1000":
    SEEDS={{ trim_start_match(SEEDS, "SEEDS=") }} FIRST={{ trim_start_match(FIRST, "FIRST=") }} \
        cargo test --release --all-features --test worlds laws_hold_in_seeded_worlds -- --nocapture

# One world again, step by step: `just replay 42`
replay SEED:
    SEED={{ trim_start_match(SEED, "SEED=") }} cargo test --release --all-features --test worlds -- --nocapture

# Look for bad input until stopped, or for so long: `just fuzz mcp -max_total_time=300`; needs cargo-fuzz and a C++ compiler
fuzz TARGET *ARGS:
    mkdir -p fuzz/work/{{ TARGET }}/new
    fuzz/corpus.py unpack {{ TARGET }} fuzz/work/{{ TARGET }}/corpus
    cargo fuzz run --sanitizer none {{ TARGET }} fuzz/work/{{ TARGET }}/new fuzz/work/{{ TARGET }}/corpus -- \
        -dict=fuzz/dictionaries/{{ TARGET }}.dict -max_len=4096 -timeout=10 {{ ARGS }}

# Plant faults in a copy of the program, one at a time, and say which test sees each; twenty minutes for all, `just planted NAME` for one
planted *NAMES:
    tests/planted/run {{ NAMES }}

# Every target in turn, so many seconds each: `just fuzz-all 300`, or `just fuzz-all SECONDS=300`
fuzz-all SECONDS="300":
    for target in $(cargo fuzz list); do \
        just fuzz "$target" -max_total_time={{ trim_start_match(SECONDS, "SECONDS=") }} || exit 1; \
    done

# Take what the last look has found into the corpus, and make that the smallest that covers the same
fuzz-keep TARGET:
    fuzz/corpus.py unpack {{ TARGET }} fuzz/work/{{ TARGET }}/corpus
    cargo fuzz run --sanitizer none {{ TARGET }} fuzz/work/{{ TARGET }}/corpus fuzz/work/{{ TARGET }}/new -- -merge=1 -max_len=4096
    cargo fuzz cmin --sanitizer none {{ TARGET }} fuzz/work/{{ TARGET }}/corpus -- -max_len=4096
    fuzz/corpus.py pack {{ TARGET }} fuzz/work/{{ TARGET }}/corpus

# The dashboard with a hundred thousand schedules in Chromium, in figures: `just dashboard-scale`, `just dashboard-scale 100000 60`,
# or with 64 channels that fail, `just dashboard-scale 100000 1 64`
dashboard-scale SCHEDULES="100000" MINUTES="1" CHANNELS="0":
    cargo build --release
    cd tests/clients && node dashboard_scale.mjs ../../target/release/reveille {{ SCHEDULES }} {{ MINUTES }} {{ CHANNELS }}

# Our dashboard beside bull-board with as many delayed jobs, in one Chromium; needs redis-server
dashboard-beside JOBS="100000":
    cargo build --release
    cd tests/clients && npm install --no-package-lock --no-audit --no-fund
    cd benches/peers/node && npm install --no-package-lock --no-audit --no-fund
    cd benches/peers/node && node bull_board.mjs ../../../target/release/reveille {{ JOBS }}

# Power cuts under the real daemon, and two controls that must lose: `just power 150`, or `just power CUTS=150`
power CUTS="150":
    CUTS={{ trim_start_match(CUTS, "CUTS=") }} cargo test --release --test blackbox storage::power:: -- --nocapture

# Faults of the real daemon. Each run is judged by the checker of histories; short ones are part of `cargo test`.

# A daemon killed again and again under load: `just kills KILLS=10000`
kills KILLS="300":
    KILLS={{ trim_start_match(KILLS, "KILLS=") }} cargo test --release --test blackbox storage::kills:: -- --nocapture

# The wall clock jumps: an hour, a second, ten years, to and fro; needs libfaketime, of the package faketime
clock:
    cargo test --test blackbox time::clock:: -- --nocapture

# A disk that is really full, and has room again; needs the right to mount a small one
disk-full:
    cargo test --test blackbox storage::disk_full:: -- --nocapture

# Flushes and writes that fail, once and for a while, and a slow disk; needs cc
disk-fails:
    cargo test --test blackbox storage::disk_fails:: -- --nocapture

# Bits flipped, files cut, zeroed and gone
damage:
    cargo test --test blackbox storage::damage:: -- --nocapture

# A daemon that is stopped for a while and goes on
stopped:
    cargo test --test blackbox time::stopped:: -- --nocapture

# Two daemons on one directory, many at once, and what dead ones left
two:
    cargo test --test blackbox process::two:: -- --nocapture

# Every policy for missed slots, by every kind of end, for seconds, minutes and days
restarts:
    cargo test --test blackbox time::restarts:: -- --nocapture

# A stop in the middle of work
shutdown:
    cargo test --test blackbox process::shutdown:: -- --nocapture

# Other processes that hold the database's lock: `just contention HOLDS=50`
contention HOLDS="4":
    HOLDS={{ trim_start_match(HOLDS, "HOLDS=") }} cargo test --test blackbox storage::contention:: -- --nocapture

# Clients that trickle, stay or do not read: `just slow-clients CLIENTS=2000`; two descriptors each
slow-clients CLIENTS="2000":
    ulimit -n 8192 && ROUNDS=45 CLIENTS={{ trim_start_match(CLIENTS, "CLIENTS=") }} \
        cargo test --release --test blackbox clients::slow_clients:: -- --nocapture

# The attacks of the first security review: `just attacks`, or on another program, `just attacks /path/to/reveille`
attacks BINARY="":
    {{ if BINARY == "" { "" } else { "REVEILLE_BINARY=" + BINARY } }} \
        cargo test --test blackbox attacks:: -- --nocapture

# A good session beside eight greedy ones: `just neighbour SECONDS=600`; the daemon is a release build
neighbour SECONDS="600":
    cargo build --release
    NEIGHBOUR_SECONDS={{ trim_start_match(SECONDS, "SECONDS=") }} REVEILLE_BINARY="$PWD/target/release/reveille" \
        cargo test --test blackbox attacks::neighbour:: -- --nocapture

# A year of two hundred schedules in thirty zones, as fast as the daemon answers: `just year-real DAYS=31`; needs cc
year-real DAYS="365":
    DAYS={{ trim_start_match(DAYS, "DAYS=") }} cargo test --release --test blackbox time::year:: -- --nocapture

# Steady work with kills and jumps of the clock, and what it costs: `just soak MINUTES=15`
soak MINUTES="15":
    MINUTES={{ trim_start_match(MINUTES, "MINUTES=") }} cargo test --release --test blackbox time::soak:: -- --nocapture

# What is wrong with a history, such as HISTORY_DIR=DIR keeps of each of these: `just check-history FILE`
check-history FILE PROMPT_MS="10000":
    cargo run --quiet -p reveille-checker -- --prompt-ms {{ PROMPT_MS }} {{ FILE }}
