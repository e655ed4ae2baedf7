// Counters the store and the plans keep, cumulative since construction. Declared once, here; the
// bindings list them by name from GANNET_COUNTERS. Relaxed atomics: each is right by itself.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace gannet {

#define GANNET_COUNTERS(X)                                             \
    X(tokens_prompt)      /* rows of prompts passed through */         \
    X(tokens_decoded)     /* single tokens passed through */           \
    X(lookups)            /* experts selected, distinct per ubatch */  \
    X(hits)               /* of these: whole in memory */              \
    X(late_hits)          /* of these: on their way */                 \
    X(misses)             /* of these: not there */                    \
    X(bytes_read)         /* expert bytes read from the drive */       \
    X(reads)              /* read requests */                          \
    X(read_ns)            /* sum of their durations */                 \
    X(stall_ns)           /* compute waited for a read */              \
    X(expert_ns)          /* in routed experts, stalls included */     \
    X(compute_ns)         /* in graphs, all of it */                   \
    X(predict_ns)         /* in the lookahead */                       \
    X(prefetch_issued)    /* predicted experts given a slot */         \
    X(prefetch_useful)    /* of these: then selected */                \
    X(prefetch_late)      /* of these: selected, still on their way */ \
    X(prefetch_wasted)    /* of these: evicted unused */               \
    X(prefetch_cancelled) /* of these: given up, partly read */        \
    X(evictions)          /* experts that left */                      \
    X(waves)              /* batches of experts a ubatch ran in */

constexpr std::uint32_t kMaxDistance = 4;  // layers that the lookahead can predict ahead

struct Counters {
    // By distance - 1: experts selected in layers that had been predicted, and those of them predicted.
    std::array<std::atomic<std::uint64_t>, kMaxDistance> selected{};
    std::array<std::atomic<std::uint64_t>, kMaxDistance> recalled{};
#define GANNET_DECLARE(name) std::atomic<std::uint64_t> name{0};
    GANNET_COUNTERS(GANNET_DECLARE)
#undef GANNET_DECLARE
};

inline std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
}

inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t n = 1) {
    counter.fetch_add(n, std::memory_order_relaxed);
}

// Adds the time it lives to a counter.
class Timed {
  public:
    explicit Timed(std::atomic<std::uint64_t>& counter) : counter_(counter), begin_(now_ns()) {}
    ~Timed() { count(counter_, now_ns() - begin_); }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

  private:
    std::atomic<std::uint64_t>& counter_;
    std::uint64_t begin_;
};

}  // namespace gannet
