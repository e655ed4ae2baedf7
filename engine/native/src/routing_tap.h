// Copies the routing of running graphs aside while somebody records it: what each token's routers
// selected, and what the lookahead had guessed of it.
//
// One record a token, of a size fixed at start(), little-endian:
//   uint32 graph, uint16 decoded, uint16 zero, uint16 selected[layers][used], uint16 guessed[layers][distances][used]
// with kNone where there is nothing. Only graphs that began after start() and ran to their end are kept.
//
// Threads: begin, selected and end by the one thread that leads a graph; the rest from anywhere. Off, each
// costs one relaxed load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "ggml.h"
#include "waiting_list.h"

namespace gannet {

class RoutingTap {
  public:
    static constexpr std::uint16_t kNone = 0xFFFF;

    RoutingTap(std::uint32_t n_layers, std::uint32_t n_experts) : n_layers_(n_layers), n_experts_(n_experts) {}

    // n_used: experts of a layer and token that are kept; distances: layers ahead of which guesses are.
    // At most `pending` bytes wait to be taken; tokens that would be more are counted and left out.
    void start(std::uint32_t n_used, std::uint32_t distances, std::uint64_t pending);
    void stop();
    // Whole records since the last call.
    std::vector<std::uint8_t> take();
    std::uint64_t dropped() const;
    std::size_t record_bytes() const;

    // ---- as a graph runs
    void begin(std::uint32_t n_tokens) {
        if (on_.load(std::memory_order_relaxed)) open(n_tokens);
    }
    // ids: [used, tokens], best first. guesses: by distance - 1 and rank, of the only token; null for none.
    // Where a layer computes fewer tokens than the graph has (the last one of a prompt), they are its last.
    void selected(std::uint32_t layer, const ggml_tensor* ids, const std::vector<std::vector<Predicted>>* guesses) {
        if (on_.load(std::memory_order_relaxed)) note(layer, ids, guesses);
    }
    void end(bool complete) {
        if (on_.load(std::memory_order_relaxed)) close(complete);
    }

  private:
    void open(std::uint32_t n_tokens);
    void note(std::uint32_t layer, const ggml_tensor* ids, const std::vector<std::vector<Predicted>>* guesses);
    void close(bool complete);

    const std::uint32_t n_layers_;
    const std::uint32_t n_experts_;
    std::atomic<bool> on_{false};

    mutable std::mutex mutex_;
    std::uint32_t n_used_ = 0;
    std::uint32_t distances_ = 0;
    std::uint64_t pending_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint32_t graph_ = 0;          // number of the graph being run
    std::uint32_t rows_ = 0;           // its tokens; 0 when none is being recorded
    std::vector<std::uint16_t> run_;   // its records
    std::vector<std::uint8_t> ready_;  // whole records, not taken yet
};

}  // namespace gannet
