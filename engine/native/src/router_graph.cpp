#include "router_graph.h"

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

void find_norm(RouterSpec& spec) {
    const ggml_tensor* x = through_views(spec.input);
    if (x == nullptr || x->op != GGML_OP_MUL) return;
    const std::int64_t width = spec.matrix->ne[0];
    if (is_vector(x->src[1], width)) spec.norm = x->src[1];
}

// Does the gating keep the order of the logits? Sigmoid does, unless a bias is added to what it gives.
void simplify(RouterSpec& spec) {
    if (spec.select_bias == nullptr) spec.gating = Gating::kMonotonic;
}

}  // namespace

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

}  // namespace gannet
