#include "routing_tap.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "expert_batch.h"
#include "telemetry.h"

namespace gannet {
namespace {

constexpr std::size_t kHead = 4;  // graph, decoded and zero, in units of 16 bits

}  // namespace

void RoutingTap::start(std::uint32_t n_used, std::uint32_t distances, std::uint64_t pending) {
    const std::lock_guard<std::mutex> lock(mutex_);
    n_used_ = n_used;
    distances_ = std::min(distances, kMaxDistance);
    pending_ = pending;
    dropped_ = 0;
    graph_ = 0;
    rows_ = 0;
    ready_.clear();
    on_.store(true, std::memory_order_relaxed);
}

void RoutingTap::stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    on_.store(false, std::memory_order_relaxed);
    rows_ = 0;
    run_ = {};
}

std::vector<std::uint8_t> RoutingTap::take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(ready_, {});
}

std::uint64_t RoutingTap::dropped() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return dropped_;
}

std::size_t RoutingTap::record_bytes() const {
    return 2 * (kHead + std::size_t{n_layers_} * n_used_ * (1 + distances_));
}

void RoutingTap::open(std::uint32_t n_tokens) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!on_.load(std::memory_order_relaxed)) return;
    const std::size_t record = record_bytes() / 2;
    rows_ = n_tokens;
    run_.assign(rows_ * record, kNone);
    for (std::uint32_t row = 0; row < rows_; row++) {
        std::uint16_t* head = run_.data() + row * record;
        std::memcpy(head, &graph_, sizeof graph_);
        head[2] = rows_ == 1 ? 1 : 0;
        head[3] = 0;
    }
    graph_++;
}

void RoutingTap::note(std::uint32_t layer, const ggml_tensor* ids, const std::vector<std::vector<Predicted>>* guesses) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto n = static_cast<std::uint32_t>(ids->ne[1]);
    if (n > rows_ || layer >= n_layers_) return;  // began before start(), or is not this model's
    const auto used = std::min(n_used_, static_cast<std::uint32_t>(ids->ne[0]));
    const std::size_t record = record_bytes() / 2;
    for (std::uint32_t t = 0; t < n; t++) {
        std::uint16_t* out = run_.data() + (rows_ - n + t) * record + kHead + layer * n_used_;
        for (std::uint32_t k = 0; k < used; k++) out[k] = static_cast<std::uint16_t>(selected_expert(ids, k, t));
    }
    if (guesses == nullptr || rows_ != 1) return;
    const std::size_t first = kHead + std::size_t{n_layers_} * n_used_ + std::size_t{layer} * distances_ * n_used_;
    for (std::size_t d = 0; d < std::min<std::size_t>(distances_, guesses->size()); d++) {
        std::uint16_t* out = run_.data() + first + d * n_used_;
        const std::size_t ranks = std::min<std::size_t>(n_used_, (*guesses)[d].size());
        for (std::size_t k = 0; k < ranks; k++) {
            out[k] = static_cast<std::uint16_t>((*guesses)[d][k].key % n_experts_);
        }
    }
}

void RoutingTap::close(bool complete) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::size_t bytes = run_.size() * sizeof(std::uint16_t);
    if (rows_ > 0 && complete) {
        if (ready_.size() + bytes <= pending_) {
            const auto* from = reinterpret_cast<const std::uint8_t*>(run_.data());
            ready_.insert(ready_.end(), from, from + bytes);
        } else {
            dropped_ += rows_;
        }
    }
    rows_ = 0;
}

}  // namespace gannet
