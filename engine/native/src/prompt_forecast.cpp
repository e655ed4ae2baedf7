#include "prompt_forecast.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gannet {
namespace {

constexpr std::int64_t kSampledRows = 64;
constexpr std::uint32_t kDistance = 2;
// A wrong read delays a right one as long as the drive is what a prompt waits for.
constexpr double kBar = 0.95;

const ggml_tensor* unreshaped(const ggml_tensor* t) {
    while (t->op == GGML_OP_RESHAPE) t = t->src[0];
    return t;
}

float element(const ggml_tensor* vector, std::int64_t i) {
    return static_cast<const float*>(vector->data)[i];
}

}  // namespace

PromptForecast::PromptForecast(StreamedModel& model, ggml_backend_t cpu)
    : model_(model), cpu_(cpu), layers_(model.store().index().n_layers()) {}

void PromptForecast::begin(const ggml_cgraph* graph) {
    std::fill(layers_.begin(), layers_.end(), Layer{});
    auto* g = const_cast<ggml_cgraph*>(graph);
    for (int i = 0; i < ggml_graph_n_nodes(g); i++) {
        const ggml_tensor* node = ggml_graph_node(g, i);
        if (node->op != GGML_OP_MUL_MAT_ID || !model_.holds_experts(node->src[0])) continue;
        Layer& l = layers_[model_.part_of(node->src[0]).layer];
        if (l.rows > 0) continue;
        l.rows = node->src[2]->ne[1];
        l.n_used = static_cast<std::uint32_t>(node->src[2]->ne[0]);
        l.known = find_router(node->src[2], node->src[0]->ne[2], l.router);
    }
}

void PromptForecast::publish(std::uint32_t layer, const ggml_tensor* input, std::size_t room) {
    const Layer& here = layers_[layer];
    // What else the router saw may be gone from memory by now.
    if (!here.known || unreshaped(input) != unreshaped(here.router.input)) return;
    for (std::uint32_t d = 1; d <= kDistance && layer + d < layers_.size(); d++) {
        const Layer& ahead = layers_[layer + d];
        if (!ahead.known || !sample(here, ahead) || !score(ahead)) continue;
        chances(ahead, d);
        ask(layer + d, d, room);
    }
}

// Rows of this layer's router input, its norm's weights exchanged for those of the layer ahead. Where the
// layer ahead runs fewer rows they are the last ones: llama.cpp drops what no output needs.
bool PromptForecast::sample(const Layer& here, const Layer& ahead) {
    const ggml_tensor* x = here.router.input;
    const std::int64_t width = here.router.matrix->ne[0];
    if (x->type != GGML_TYPE_F32 || ahead.router.matrix->ne[0] != width) return false;
    if (ahead.rows > here.rows || (here.router.norm == nullptr) != (ahead.router.norm == nullptr)) return false;
    const std::int64_t n = std::min(ahead.rows, kSampledRows);
    rows_.resize(static_cast<std::size_t>(n * width));
    for (std::int64_t s = 0; s < n; s++) {
        const std::int64_t row = here.rows - ahead.rows + (s + 1) * ahead.rows / n - 1;
        const auto* from = reinterpret_cast<const float*>(static_cast<const std::byte*>(x->data) +
                                                          static_cast<std::size_t>(row) * x->nb[1]);
        float* to = rows_.data() + s * width;
        std::copy_n(from, width, to);
        if (here.router.norm == nullptr) continue;
        for (std::int64_t i = 0; i < width; i++) {
            const float w = element(here.router.norm, i);
            to[i] = std::abs(w) > 1e-6F ? to[i] / w * element(ahead.router.norm, i) : 0.0F;
        }
    }
    return true;
}

bool PromptForecast::score(const Layer& ahead) {
    const RouterSpec& router = ahead.router;
    const std::int64_t width = router.matrix->ne[0];
    const std::int64_t n_experts = router.matrix->ne[1];
    const auto n = static_cast<std::int64_t>(rows_.size()) / width;
    context_.resize(4 * ggml_tensor_overhead() + ggml_graph_overhead_custom(4, false));
    ggml_context* c = ggml_init({context_.size(), context_.data(), true});
    ggml_tensor* x = ggml_new_tensor_2d(c, GGML_TYPE_F32, width, n);
    x->data = rows_.data();
    ggml_tensor* product = ggml_mul_mat(c, const_cast<ggml_tensor*>(router.matrix), x);
    scores_.resize(static_cast<std::size_t>(n * n_experts));
    product->data = scores_.data();
    ggml_cgraph* graph = ggml_new_graph_custom(c, 4, false);
    ggml_build_forward_expand(graph, product);
    const bool fine = ggml_backend_graph_compute(cpu_, graph) == GGML_STATUS_SUCCESS;
    ggml_free(c);
    for (std::size_t i = 0; i < scores_.size(); i++) {
        const auto e = static_cast<std::int64_t>(i) % n_experts;
        const float bias = router.logit_bias == nullptr ? 0.0F : element(router.logit_bias, e);
        scores_[i] = gated(router.gating, scores_[i] + bias);
        if (router.select_bias != nullptr) scores_[i] += element(router.select_bias, e);
    }
    return fine;
}

// By expert: that at least one of the sampled rows selects it.
void PromptForecast::chances(const Layer& ahead, std::uint32_t distance) {
    const Likelihood likelihood(ahead.n_used);
    const auto n_experts = static_cast<std::size_t>(ahead.router.matrix->ne[1]);
    std::vector<double> none(n_experts, 1.0);
    order_.resize(n_experts);
    for (const float* row = scores_.data(); row < scores_.data() + scores_.size(); row += n_experts) {
        std::iota(order_.begin(), order_.end(), 0U);
        std::partial_sort(order_.begin(), order_.begin() + ahead.n_used, order_.end(),
                          [&](std::uint32_t a, std::uint32_t b) { return row[a] > row[b]; });
        for (std::uint32_t rank = 0; rank < ahead.n_used; rank++) {
            none[order_[rank]] *= 1.0 - likelihood.probability(distance, rank);
        }
    }
    chance_.resize(n_experts);
    std::transform(none.begin(), none.end(), chance_.begin(), [](double no) { return 1.0 - no; });
}

void PromptForecast::ask(std::uint32_t layer, std::uint32_t distance, std::size_t room) {
    std::iota(order_.begin(), order_.end(), 0U);
    const auto bar = [&](std::uint32_t e) { return chance_[e] >= kBar; };
    const auto end = std::partition(order_.begin(), order_.end(), bar);
    std::sort(order_.begin(), end, [&](std::uint32_t a, std::uint32_t b) { return chance_[a] > chance_[b]; });
    wanted_.clear();
    for (auto e = order_.begin(); e != end && wanted_.size() < room; ++e) {
        const Key key = layer * model_.store().index().n_experts() + *e;
        // The next layer's come first, all of them: the drive is in no hurry for the one after it.
        const double priority = chance_[*e] - distance;
        wanted_.push_back({key, layer, distance, 0, chance_[*e], priority, false});
    }
    model_.store().predict(wanted_.data(), wanted_.size(), kBar);
}

}  // namespace gannet
