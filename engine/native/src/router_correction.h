// What a fit on recorded tokens adds to a router that is applied some layers early.
//
// A matrix of low rank and a bias for each layer and distance (engine/lookahead/fit.py): logits += up * (down * x)
// + bias, with x the residual stream as a norm without weights leaves it. A few percent of the router's own work.
// It moves guesses only: what is computed never depends on it.
//
// Threads: set() before anything computes; enable() from anywhere, between tokens; the rest from any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "expert_index.h"
#include "row_kernel.h"
#include "telemetry.h"

namespace gannet {

constexpr ggml_type kPackedRouter = GGML_TYPE_Q8_0;  // what the lookahead keeps its routers in

class RouterCorrection {
  public:
    // up: [n_experts, rank], down: [rank, width], bias: [n_experts], row after row; width: a multiple of 32.
    RouterCorrection(std::vector<float> up, const std::vector<float>& down, std::vector<float> bias, std::size_t width);

    // Adds to the logits of the experts first..last-1; `x` is `width` values in the type that kernel takes.
    void add(const RowKernel& kernel, const ReadyVector& x, std::int64_t width, std::int64_t first, std::int64_t last,
             float* logits) const;

  private:
    std::size_t rank_;
    std::int64_t width_;
    std::vector<float> up_;
    std::vector<float> bias_;
    std::vector<std::byte> down_;  // rows of kPackedRouter
    std::size_t row_bytes_;
};

class RouterCorrections {
  public:
    explicit RouterCorrections(const ExpertIndex& index) : index_(index), parts_(index.n_layers() * kMaxDistance) {}

    // Throws std::invalid_argument for a layer, distance or sizes that are not the model's.
    void set(std::uint32_t layer, std::uint32_t distance, std::vector<float> up, const std::vector<float>& down,
             std::vector<float> bias, std::size_t width);
    void enable(bool on) { on_.store(on, std::memory_order_relaxed); }
    // nullptr: none, or not enabled.
    const RouterCorrection* find(std::uint32_t layer, std::uint32_t distance) const {
        return on_.load(std::memory_order_relaxed) ? parts_[layer * kMaxDistance + distance - 1].get() : nullptr;
    }

  private:
    const ExpertIndex& index_;
    std::vector<std::unique_ptr<RouterCorrection>> parts_;  // by layer and distance
    std::atomic<bool> on_{false};
};

}  // namespace gannet
