#include "lookahead.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cpu_library.h"

namespace gannet {
namespace {

constexpr ggml_type kPacked = GGML_TYPE_Q8_0;

thread_local std::vector<float> unnormed;
thread_local ReadyVector vector;

std::vector<float> floats_of(const ggml_tensor* t) {
    if (t == nullptr) return {};
    const auto* p = static_cast<const float*>(t->data);
    return {p, p + ggml_nelements(t)};
}

float gated(Gating gating, float logit) {
    if (gating == Gating::kSigmoid) return 1.0F / (1.0F + std::exp(-logit));
    if (gating == Gating::kSqrtSoftplus) return std::sqrt(std::log1p(std::exp(logit)));
    return logit;
}

}  // namespace

Lookahead::Lookahead(ExpertStore& store, std::uint32_t distance, double bar)
    : store_(store), distance_(std::min(distance, kMaxDistance)), bar_(bar), layers_(store.index().n_layers()) {}

void Lookahead::learn(std::uint32_t layer, const RouterSpec& router, std::uint32_t n_used) {
    const ggml_to_float_t to_float = ggml_get_type_traits(router.matrix->type)->to_float;
    const std::int64_t width = router.matrix->ne[0];
    const bool is_float = router.matrix->type == GGML_TYPE_F32;
    if ((!is_float && to_float == nullptr) || width % ggml_blck_size(kPacked) != 0) return;
    Layer& l = layers_[layer];
    if (!RowKernel::find(kPacked, l.kernel)) return;
    l.width = width;
    l.n_experts = static_cast<std::uint32_t>(router.matrix->ne[1]);
    l.n_used = std::min(n_used, l.n_experts);
    l.gating = router.gating;
    l.logit_bias = floats_of(router.logit_bias);
    l.select_bias = floats_of(router.select_bias);
    l.row_bytes = ggml_row_size(kPacked, width);
    l.scores.assign(kMaxDistance, std::vector<float>(l.n_experts));
    l.guesses.resize(kMaxDistance);
    if (!likelihood_) likelihood_.emplace(std::max(1U, l.n_used));
    const std::vector<float> norm = floats_of(router.norm);
    for (const float w : norm) l.inverse_norm.push_back(std::abs(w) > 1e-6F ? 1.0F / w : 0.0F);
    l.matrix.resize(l.row_bytes * l.n_experts);
    std::vector<float> row(static_cast<std::size_t>(width));
    for (std::uint32_t e = 0; e < l.n_experts; e++) {
        const auto* source = static_cast<const std::byte*>(router.matrix->data) + e * router.matrix->nb[1];
        if (is_float) {
            std::copy_n(reinterpret_cast<const float*>(source), width, row.data());
        } else {
            to_float(source, row.data(), width);
        }
        for (std::size_t i = 0; i < norm.size(); i++) row[i] *= norm[i];
        cpu_library().type_traits(kPacked)->from_float(row.data(), l.matrix.data() + e * l.row_bytes, width);
    }
}

void Lookahead::score(std::uint32_t layer, const float* x, int ith, int nth) {
    const Layer& here = layers_[layer];
    const float* v = x;
    if (!here.inverse_norm.empty()) {
        unnormed.resize(static_cast<std::size_t>(here.width));
        for (std::size_t i = 0; i < unnormed.size(); i++) unnormed[i] = x[i] * here.inverse_norm[i];
        v = unnormed.data();
    }
    vector.set(here.kernel, v, here.width);
    for (std::uint32_t d = 1; d <= distance_ && layer + d < layers_.size(); d++) {
        Layer& l = layers_[layer + d];
        if (l.matrix.empty() || l.width != here.width) continue;
        const std::int64_t first = std::int64_t{l.n_experts} * ith / nth;
        const std::int64_t last = std::int64_t{l.n_experts} * (ith + 1) / nth;
        float* out = l.scores[d - 1].data();
        multiply_rows(l.kernel, {l.matrix.data(), l.row_bytes, l.width}, first, last, vector, out);
        for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(last); e++) {
            const float logit = out[e] + (l.logit_bias.empty() ? 0.0F : l.logit_bias[e]);
            out[e] = gated(l.gating, logit) + (l.select_bias.empty() ? 0.0F : l.select_bias[e]);
        }
    }
}

void Lookahead::publish(std::uint32_t layer) {
    const double bar = bar_ >= 0.0 ? bar_ : likelihood_->bar(store_.idle_share());
    for (std::uint32_t d = 1; d <= distance_ && layer + d < layers_.size(); d++) {
        Layer& l = layers_[layer + d];
        if (l.matrix.empty() || l.width != layers_[layer].width) continue;
        guess(layer + d, d);
        store_.predict(l.guesses[d - 1].data(), l.guesses[d - 1].size(), bar);
    }
}

// The best-scored experts of a layer, in order, with what is known of such guesses.
void Lookahead::guess(std::uint32_t layer, std::uint32_t distance) {
    Layer& l = layers_[layer];
    const std::vector<float>& score = l.scores[distance - 1];
    std::vector<std::uint32_t>& best = best_;
    best.resize(l.n_experts);
    std::iota(best.begin(), best.end(), 0U);
    std::partial_sort(best.begin(), best.begin() + l.n_used, best.end(),
                      [&](std::uint32_t a, std::uint32_t b) { return score[a] > score[b]; });
    l.guesses[distance - 1].clear();
    for (std::uint32_t rank = 0; rank < l.n_used; rank++) {
        const Key key = layer * store_.index().n_experts() + best[rank];
        const double probability = likelihood_->probability(distance, rank);
        const double priority = likelihood_->priority(distance, rank, distance - 1);
        l.guesses[distance - 1].push_back({key, layer, distance, rank, probability, priority, false});
    }
}

void Lookahead::judge(std::uint32_t layer, const std::uint32_t* chosen, std::size_t n) {
    Layer& l = layers_[layer];
    for (std::size_t d = 0; d < l.guesses.size(); d++) {
        std::vector<Predicted>& guesses = l.guesses[d];
        if (guesses.empty()) continue;
        Counters& counters = store_.counters();
        count(counters.selected[d], n);
        for (const Predicted& g : guesses) {
            const std::uint32_t expert = g.key % store_.index().n_experts();
            const bool right = std::find(chosen, chosen + n, expert) != chosen + n;
            if (right) count(counters.recalled[d]);
            if (!g.resident) likelihood_->resolved(g.distance, g.rank, right);
        }
        guesses.clear();
    }
}

}  // namespace gannet
