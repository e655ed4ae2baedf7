#include "router_graph.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_set>

namespace gannet {
namespace {

constexpr int kMaxSteps = 24;

bool is_vector(const ggml_tensor* t, std::int64_t n) {
    return t != nullptr && t->op == GGML_OP_NONE && t->ne[0] == n && ggml_nelements(t) == n && t->type == GGML_TYPE_F32;
}

const ggml_tensor* through_views(const ggml_tensor* t) {
    while (t != nullptr && (t->op == GGML_OP_RESHAPE || t->op == GGML_OP_VIEW || t->op == GGML_OP_CONT)) {
        t = t->view_src != nullptr ? t->view_src : t->src[0];
    }
    return t;
}

bool is_router(const ggml_tensor* t, std::int64_t n_experts) {
    return t->op == GGML_OP_MUL_MAT && t->src[0]->op == GGML_OP_NONE && t->src[0]->ne[1] == n_experts &&
           t->src[0]->ne[2] == 1;
}

Gating gating_of(const ggml_tensor* t, Gating before) {
    if (t->op == GGML_OP_UNARY && ggml_get_unary_op(t) == GGML_UNARY_OP_SIGMOID) return Gating::kSigmoid;
    if (t->op == GGML_OP_SQRT) return Gating::kSqrtSoftplus;
    return before;
}

bool is_norm(const ggml_tensor* t, std::int64_t width) {
    return t->op == GGML_OP_MUL && t->ne[0] == width && is_vector(t->src[1], width) &&
           (t->src[0]->op == GGML_OP_RMS_NORM || t->src[0]->op == GGML_OP_NORM);
}

void find_norm(RouterSpec& spec) {
    const ggml_tensor* x = through_views(spec.input);
    if (x == nullptr || x->op != GGML_OP_MUL) return;
    const std::int64_t width = spec.matrix->ne[0];
    if (is_vector(x->src[1], width)) spec.norm = x->src[1];
    if (is_norm(x, width) && x->src[0]->op == GGML_OP_RMS_NORM) spec.stream = through_views(x->src[0]->src[0]);
}

// The tensors that come from some others, as a walk along the graph finds them.
class Descendants {
  public:
    void add(const ggml_tensor* t) { found_.insert(t); }
    bool has(const ggml_tensor* t) const { return t != nullptr && found_.count(t) > 0; }
    bool is_one(const ggml_tensor* t) const {
        return std::any_of(std::begin(t->src), std::end(t->src), [this](const ggml_tensor* s) { return has(s); });
    }

  private:
    std::unordered_set<const ggml_tensor*> found_;
};

bool is_read_after(ggml_cgraph* graph, int i, int end, const ggml_tensor* t) {
    for (; i < end; i++) {
        const ggml_tensor* node = ggml_graph_node(graph, i);
        for (const ggml_tensor* s : node->src) {
            if (s != nullptr && through_views(s) == t) return true;
        }
    }
    return false;
}

// Does the gating keep the order of the logits? Sigmoid does, unless a bias is added to what it gives.
void simplify(RouterSpec& spec) {
    if (spec.select_bias == nullptr) spec.gating = Gating::kMonotonic;
}

}  // namespace

float gated(Gating gating, float logit) {
    if (gating == Gating::kSigmoid) return 1.0F / (1.0F + std::exp(-logit));
    if (gating == Gating::kSqrtSoftplus) return std::sqrt(std::log1p(std::exp(logit)));
    return logit;
}

bool find_router(const ggml_tensor* ids, std::int64_t n_experts, RouterSpec& out) {
    out = {};
    bool gated = false;
    const ggml_tensor* t = through_views(ids);
    const ggml_tensor* pending_bias = nullptr;
    for (int step = 0; t != nullptr && step < kMaxSteps; step++) {
        if (is_router(t, n_experts)) {
            out.matrix = t->src[0];
            out.input = t->src[1];
            (gated ? out.logit_bias : out.select_bias) = pending_bias;
            find_norm(out);
            simplify(out);
            return true;
        }
        if (t->op == GGML_OP_ADD && is_vector(t->src[1], n_experts)) pending_bias = t->src[1];
        const bool gate = t->op == GGML_OP_SOFT_MAX || t->op == GGML_OP_UNARY || t->op == GGML_OP_SQRT;
        if (gate && !gated) {
            out.gating = gating_of(t, out.gating);
            out.select_bias = pending_bias;
            pending_bias = nullptr;
            gated = true;
        }
        t = through_views(t->src[0]);
    }
    return false;
}

const ggml_tensor* find_shared_expert(ggml_cgraph* graph, int routed, const RouterSpec& router, int most) {
    if (router.stream == nullptr) return nullptr;
    Descendants of_routed;
    Descendants of_input;
    of_routed.add(ggml_graph_node(graph, routed));
    of_input.add(through_views(router.input));
    of_input.add(router.input);
    const int end = std::min(routed + 1 + most, ggml_graph_n_nodes(graph));
    for (int i = routed + 1; i < end; i++) {
        const ggml_tensor* node = ggml_graph_node(graph, i);
        const bool sum = node->op == GGML_OP_ADD && of_routed.has(node->src[0]) != of_routed.has(node->src[1]);
        if (sum) {
            const ggml_tensor* other = of_routed.has(node->src[0]) ? node->src[1] : node->src[0];
            const bool shared = of_input.has(other) && other->ne[0] == router.stream->ne[0];
            if (shared) return is_read_after(graph, i, end, router.stream) ? other : nullptr;
        }
        if (of_routed.is_one(node)) {
            of_routed.add(node);
        } else if (of_input.is_one(node)) {
            of_input.add(node);
        }
    }
    return nullptr;
}

const ggml_tensor* norm_weights(const ggml_tensor* normed) {
    return normed->src[1];
}

const ggml_tensor* find_norm_before(ggml_cgraph* graph, int end, const RouterSpec& router) {
    const ggml_tensor* last = nullptr;
    const ggml_tensor* last_but_one = nullptr;
    const ggml_tensor* own = through_views(router.input);
    for (int i = 0; i < end; i++) {
        const ggml_tensor* node = ggml_graph_node(graph, i);
        if (!is_norm(node, router.matrix->ne[0]) || node == own) continue;
        last_but_one = last;
        last = node;
    }
    return last_but_one != nullptr ? last_but_one : last;
}

}  // namespace gannet
