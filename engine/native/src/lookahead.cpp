#include "lookahead.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cpu_library.h"

namespace gannet {
namespace {

thread_local std::vector<float> stream;
thread_local ReadyVector vector;

std::vector<float> floats_of(const ggml_tensor* t) {
    if (t == nullptr) return {};
    const auto* p = static_cast<const float*>(t->data);
    return {p, p + ggml_nelements(t)};
}

std::vector<float> inverse_of(const std::vector<float>& norm) {
    std::vector<float> inverse;
    for (const float w : norm) inverse.push_back(std::abs(w) > 1e-6F ? 1.0F / w : 0.0F);
    return inverse;
}

// The stream as a norm without weights leaves it: x with the norm's weights taken out again.
const float* without_norm(const float* x, const std::vector<float>& inverse_norm) {
    if (inverse_norm.empty()) return x;
    stream.resize(inverse_norm.size());
    for (std::size_t i = 0; i < stream.size(); i++) stream[i] = x[i] * inverse_norm[i];
    return stream.data();
}

// The same of a stream that no norm has seen yet, and what will be added to it.
const float* normed_sum(const float* x, const float* added, std::int64_t width) {
    stream.resize(static_cast<std::size_t>(width));
    float squares = 0.0F;
    for (std::size_t i = 0; i < stream.size(); i++) {
        stream[i] = x[i] + added[i];
        squares += stream[i] * stream[i];
    }
    const float scale = squares > 0.0F ? std::sqrt(static_cast<float>(width) / squares) : 0.0F;
    for (float& v : stream) v *= scale;
    return stream.data();
}

const float* floats_at(const ggml_tensor* t) {
    return static_cast<const float*>(t->data);
}

}  // namespace

Lookahead::Lookahead(ExpertStore& store, std::uint32_t distance, double bar)
    : store_(store), distance_(std::min(distance, kMaxDistance)), bar_(bar), layers_(store.index().n_layers()) {
    for (Layer& l : layers_) l.guesses.fill(Guesses(kMaxDistance));
}

void Lookahead::learn(std::uint32_t layer, const RouterSpec& router, std::uint32_t n_used) {
    const ggml_to_float_t to_float = ggml_get_type_traits(router.matrix->type)->to_float;
    const std::int64_t width = router.matrix->ne[0];
    const bool is_float = router.matrix->type == GGML_TYPE_F32;
    if ((!is_float && to_float == nullptr) || width % ggml_blck_size(kPackedRouter) != 0) return;
    Layer& l = layers_[layer];
    if (!RowKernel::find(kPackedRouter, l.kernel)) return;
    l.width = width;
    l.n_experts = static_cast<std::uint32_t>(router.matrix->ne[1]);
    l.n_used = std::min(n_used, l.n_experts);
    l.gating = router.gating;
    l.logit_bias = floats_of(router.logit_bias);
    l.select_bias = floats_of(router.select_bias);
    l.row_bytes = ggml_row_size(kPackedRouter, width);
    l.scores.fill(std::vector<float>(l.n_experts));
    const std::vector<float> norm = floats_of(router.norm);
    l.inverse_norm = inverse_of(norm);
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
        cpu_library().type_traits(kPackedRouter)->from_float(row.data(), l.matrix.data() + e * l.row_bytes, width);
    }
}

void Lookahead::learn_before(const ggml_tensor* norm) {
    before_inverse_norm_ = inverse_of(floats_of(norm));
}

template <typename F>
void Lookahead::for_each_target(const Site& site, F visit) {
    for (std::uint32_t d = 1; d <= distance_ && site.first + d <= layers_.size(); d++) {
        const Layer& l = layers_[site.first + d - 1];
        if (!l.matrix.empty() && l.width == site.input->ne[0]) visit(site.first + d - 1, d);
    }
}

void Lookahead::score(const Site& site, int ith, int nth) {
    const float* x = floats_at(site.input);
    const float* v = x;
    if (site.source == Source::kRouter) v = without_norm(x, layers_[site.first - 1].inverse_norm);
    if (site.source == Source::kBefore) v = without_norm(x, before_inverse_norm_);
    if (site.source == Source::kShared) v = normed_sum(x, floats_at(site.shared), site.input->ne[0]);
    bool ready = false;
    for_each_target(site, [&](std::uint32_t layer, std::uint32_t distance) {
        Layer& l = layers_[layer];
        if (!ready) vector.set(l.kernel, v, l.width);
        ready = true;
        const std::int64_t first = std::int64_t{l.n_experts} * ith / nth;
        const std::int64_t last = std::int64_t{l.n_experts} * (ith + 1) / nth;
        float* out = l.scores[distance - 1].data();
        multiply_rows(l.kernel, {l.matrix.data(), l.row_bytes, l.width}, first, last, vector, out);
        const RouterCorrection* missing = correction(site, layer, distance);
        if (missing != nullptr) missing->add(l.kernel, vector, l.width, first, last, out);
        for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(last); e++) {
            const float logit = out[e] + (l.logit_bias.empty() ? 0.0F : l.logit_bias[e]);
            out[e] = gated(l.gating, logit) + (l.select_bias.empty() ? 0.0F : l.select_bias[e]);
        }
    });
}

// Fitted on what routers see, so of no use to other sources.
const RouterCorrection* Lookahead::correction(const Site& site, std::uint32_t layer, std::uint32_t distance) const {
    if (site.source != Source::kRouter || corrections_ == nullptr) return nullptr;
    return corrections_->find(layer, distance);
}

void Lookahead::publish(const Site& site) {
    for_each_target(site, [&](std::uint32_t layer, std::uint32_t distance) {
        guess(layer, distance, site.source);
        hand_over(layer, distance, site.source);
    });
}

// The best-scored experts of a layer, in order.
void Lookahead::guess(std::uint32_t layer, std::uint32_t distance, Source source) {
    const Layer& l = layers_[layer];
    const std::vector<float>& score = l.scores[distance - 1];
    std::vector<std::uint32_t>& best = best_;
    best.resize(l.n_experts);
    std::iota(best.begin(), best.end(), 0U);
    const std::uint32_t n = width_ > 0 ? std::min(width_, l.n_experts) : l.n_used;
    std::partial_sort(best.begin(), best.begin() + n, best.end(),
                      [&](std::uint32_t a, std::uint32_t b) { return score[a] > score[b]; });
    fill(layer, distance, source, best.data(), n);
}

// Guesses by rank, with what is known of such guesses.
void Lookahead::fill(std::uint32_t layer, std::uint32_t distance, Source source, const std::uint32_t* best,
                     std::size_t n) {
    const Likelihood& known = likelihood(source, layers_[layer].n_used);
    std::vector<Predicted>& guesses = layers_[layer].guesses[static_cast<std::size_t>(source)][distance - 1];
    guesses.clear();
    for (std::uint32_t rank = 0; rank < n; rank++) {
        const Key key = layer * store_.index().n_experts() + best[rank];
        const double probability = known.probability(distance, rank);
        const double priority = known.priority(distance, rank, distance - 1);
        guesses.push_back({key, layer, distance, rank, probability, priority, false});
    }
}

void Lookahead::hand_over(std::uint32_t layer, std::uint32_t distance, Source source) {
    std::vector<Predicted>& guesses = layers_[layer].guesses[static_cast<std::size_t>(source)][distance - 1];
    const double bar = bar_ >= 0.0 ? bar_ : likelihood(source, layers_[layer].n_used).bar(store_.idle_share());
    store_.predict(guesses.data(), guesses.size(), bar);
}

Likelihood& Lookahead::likelihood(Source source, std::size_t n_used) {
    std::optional<Likelihood>& known = likelihoods_[static_cast<std::size_t>(source)];
    if (!known) known.emplace(std::max(1U, static_cast<std::uint32_t>(n_used)));
    return *known;
}

void Lookahead::judge(std::uint32_t layer, const std::uint32_t* chosen, std::size_t n) {
    Layer& l = layers_[layer];
    const auto right = [&](const Predicted& g) {
        return std::find(chosen, chosen + n, g.key % store_.index().n_experts()) != chosen + n;
    };
    for (std::uint32_t d = 0; d < kMaxDistance; d++) {
        const std::vector<Predicted>* latest = nullptr;  // what knew most
        for (const Source source : {Source::kRepeat, Source::kBefore, Source::kRouter, Source::kShared}) {
            const std::vector<Predicted>& guesses = l.guesses[static_cast<std::size_t>(source)][d];
            if (guesses.empty()) continue;
            latest = &guesses;
            Likelihood& known = likelihood(source, n);
            for (const Predicted& g : guesses) {
                if (!g.resident) known.resolved(g.distance, g.rank, right(g));
            }
        }
        if (latest == nullptr) continue;
        count(store_.counters().selected[d], n);
        count(store_.counters().recalled[d],
              static_cast<std::uint64_t>(std::count_if(latest->begin(), latest->end(), right)));
        for (Guesses& guesses : l.guesses) guesses[d].clear();
    }
    l.last.assign(chosen, chosen + n);
}

void Lookahead::repeat(std::uint32_t layer) {
    for (std::uint32_t d = 1; d <= distance_ && layer + d < layers_.size(); d++) {
        const Layer& l = layers_[layer + d];
        const bool routed = knows(layer) && knows(layer + d) && l.width == layers_[layer].width;
        if (routed || l.last.empty()) continue;
        layers_[layer + d].n_used = static_cast<std::uint32_t>(l.last.size());
        fill(layer + d, d, Source::kRepeat, l.last.data(), l.last.size());
        hand_over(layer + d, d, Source::kRepeat);
    }
}

}  // namespace gannet
