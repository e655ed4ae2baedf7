// Reads a layer's router out of the graph that llama.cpp built, whatever the architecture.
//
// From the selected ids upstream: ids <- top-k <- [+ bias] <- softmax or sigmoid <- [+ bias] <-
// product of the router's matrix and x <- x = norm of the residual stream times its weights. What a
// graph does not have is absent; a graph that does not look like this has no router for us.
#pragma once

#include <cstdint>

#include "ggml.h"

namespace gannet {

enum class Gating : std::uint8_t { kMonotonic, kSigmoid, kSqrtSoftplus };

// A router's logit as its gating leaves it, for comparing experts: kMonotonic leaves it as it is.
float gated(Gating gating, float logit);

struct RouterSpec {
    const ggml_tensor* matrix = nullptr;       // [width, n_experts]
    const ggml_tensor* input = nullptr;        // x, the router's input in this graph
    const ggml_tensor* norm = nullptr;         // [width], weights of the norm that made x; may be null
    const ggml_tensor* stream = nullptr;       // what that norm was made of, the residual stream; may be null
    const ggml_tensor* logit_bias = nullptr;   // [n_experts], added before the gating; may be null
    const ggml_tensor* select_bias = nullptr;  // [n_experts], added after it, for the choice only; may be null
    Gating gating = Gating::kMonotonic;        // kMonotonic: does not change the order
};

// False when the graph upstream of `ids` is not understood.
bool find_router(const ggml_tensor* ids, std::int64_t n_experts, RouterSpec& out);

// What the layer adds to its routed experts' sum from the router's input, the shared expert's output:
// searched among the `most` nodes after index `routed`, that of a product with the layer's experts. nullptr
// when there is none, or when the stream is not there any more to be added to it.
const ggml_tensor* find_shared_expert(ggml_cgraph* graph, int routed, const RouterSpec& router, int most);

// The normed stream one layer, or else half a layer, before the router's own input, made by a norm with
// weights among the nodes before index `end`. nullptr when there is none.
const ggml_tensor* find_norm_before(ggml_cgraph* graph, int end, const RouterSpec& router);
// The weights of such a norm.
const ggml_tensor* norm_weights(const ggml_tensor* normed);

}  // namespace gannet
