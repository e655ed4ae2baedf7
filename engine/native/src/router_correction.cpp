#include "router_correction.h"

#include <stdexcept>
#include <utility>

#include "cpu_library.h"
#include "ggml.h"

namespace gannet {
namespace {

thread_local std::vector<float> reduced;

}  // namespace

RouterCorrection::RouterCorrection(std::vector<float> up, const std::vector<float>& down, std::vector<float> bias,
                                   std::size_t width)
    : rank_(down.size() / width),
      width_(static_cast<std::int64_t>(width)),
      up_(std::move(up)),
      bias_(std::move(bias)),
      row_bytes_(ggml_row_size(kPackedRouter, width_)) {
    down_.resize(rank_ * row_bytes_);
    for (std::size_t r = 0; r < rank_; r++) {
        cpu_library()
            .type_traits(kPackedRouter)
            ->from_float(down.data() + r * width, down_.data() + r * row_bytes_, width_);
    }
}

void RouterCorrection::add(const RowKernel& kernel, const ReadyVector& x, std::int64_t width, std::int64_t first,
                           std::int64_t last, float* logits) const {
    if (width != width_) return;
    reduced.resize(rank_);
    if (rank_ > 0) {
        const auto rows = static_cast<std::int64_t>(rank_);
        multiply_rows(kernel, {down_.data(), row_bytes_, width_}, 0, rows, x, reduced.data());
    }
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(last); e++) {
        float sum = bias_[e];
        for (std::size_t r = 0; r < rank_; r++) sum += up_[e * rank_ + r] * reduced[r];
        logits[e] += sum;
    }
}

void RouterCorrections::set(std::uint32_t layer, std::uint32_t distance, std::vector<float> up,
                            const std::vector<float>& down, std::vector<float> bias, std::size_t width) {
    if (layer >= index_.n_layers() || distance == 0 || distance > kMaxDistance) {
        throw std::invalid_argument("a correction of a layer or distance that there is not");
    }
    const std::size_t n = index_.layers()[layer].n_experts;
    const std::size_t rank = up.size() / n;
    const bool whole = width > 0 && width % static_cast<std::size_t>(ggml_blck_size(kPackedRouter)) == 0;
    if (!whole || bias.size() != n || up.size() != n * rank || down.size() != rank * width) {
        throw std::invalid_argument("a correction whose sizes do not fit its layer");
    }
    parts_[layer * kMaxDistance + distance - 1] =
        std::make_unique<RouterCorrection>(std::move(up), down, std::move(bias), width);
}

}  // namespace gannet
