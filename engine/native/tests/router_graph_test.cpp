#include "router_graph.h"

#include <doctest/doctest.h>

#include "graph_rig.h"

using namespace gannet;

namespace {

constexpr std::int64_t kWidth = 32;
constexpr std::int64_t kExperts = 8;
constexpr int kUsed = 2;

// The start of an expert layer as llama.cpp builds it, up to the router's product.
struct Layer {
    Context context = make_context(1 << 20, true);
    ggml_context* c = context.get();
    ggml_tensor* residual = ggml_new_tensor_2d(c, GGML_TYPE_F32, kWidth, 3);
    ggml_tensor* norm = ggml_new_tensor_1d(c, GGML_TYPE_F32, kWidth);
    ggml_tensor* matrix = ggml_new_tensor_2d(c, GGML_TYPE_F32, kWidth, kExperts);
    ggml_tensor* bias = ggml_new_tensor_1d(c, GGML_TYPE_F32, kExperts);
    ggml_tensor* x = ggml_mul(c, ggml_rms_norm(c, residual, 1e-6F), norm);
    ggml_tensor* logits = ggml_mul_mat(c, matrix, x);
    RouterSpec found;

    bool find(ggml_tensor* scores) { return find_router(ggml_argsort_top_k(c, scores, kUsed), kExperts, found); }
};

}  // namespace

TEST_CASE("softmax routing is read with its matrix, its input and the norm before it") {
    Layer l;
    REQUIRE(l.find(ggml_soft_max(l.c, l.logits)));
    CHECK(l.found.matrix == l.matrix);
    CHECK(l.found.input == l.x);
    CHECK(l.found.norm == l.norm);
    CHECK(l.found.logit_bias == nullptr);
    CHECK(l.found.select_bias == nullptr);
    CHECK(l.found.gating == Gating::kMonotonic);
}

TEST_CASE("a bias on what a sigmoid gives decides the choice, so both are read") {
    Layer l;
    REQUIRE(l.find(ggml_add(l.c, ggml_sigmoid(l.c, l.logits), l.bias)));
    CHECK(l.found.select_bias == l.bias);
    CHECK(l.found.logit_bias == nullptr);
    CHECK(l.found.gating == Gating::kSigmoid);
}

TEST_CASE("a sigmoid without a bias keeps the order of the logits") {
    Layer l;
    REQUIRE(l.find(ggml_sigmoid(l.c, l.logits)));
    CHECK(l.found.gating == Gating::kMonotonic);
}

TEST_CASE("the square root of a softplus is known with its bias") {
    Layer l;
    ggml_tensor* gated = ggml_sqrt(l.c, ggml_softplus(l.c, l.logits));
    REQUIRE(l.find(ggml_add(l.c, gated, l.bias)));
    CHECK(l.found.gating == Gating::kSqrtSoftplus);
    CHECK(l.found.select_bias == l.bias);
}

TEST_CASE("a bias on the logits is read, before a softmax or with none") {
    Layer before;
    REQUIRE(before.find(ggml_soft_max(before.c, ggml_add(before.c, before.logits, before.bias))));
    CHECK(before.found.logit_bias == before.bias);
    CHECK(before.found.select_bias == nullptr);
    Layer alone;
    REQUIRE(alone.find(ggml_add(alone.c, alone.logits, alone.bias)));
    CHECK((alone.found.logit_bias == alone.bias || alone.found.select_bias == alone.bias));
    CHECK(alone.found.gating == Gating::kMonotonic);
}

TEST_CASE("choice among the experts of chosen groups is seen through") {
    Layer l;
    ggml_context* c = l.c;
    ggml_tensor* scores = ggml_add(c, ggml_sigmoid(c, l.logits), l.bias);
    ggml_tensor* by_group = ggml_reshape_3d(c, scores, kExperts / 4, 4, 3);
    ggml_tensor* groups = ggml_argsort_top_k(c, ggml_reshape_2d(c, ggml_sum_rows(c, by_group), 4, 3), 2);
    ggml_tensor* of_groups = ggml_get_rows(c, by_group, groups);
    ggml_tensor* kept = ggml_set_rows(c, ggml_dup(c, by_group), of_groups, groups);
    REQUIRE(l.find(ggml_reshape_2d(c, kept, kExperts, 3)));
    CHECK(l.found.matrix == l.matrix);
    CHECK(l.found.select_bias == l.bias);
    CHECK(l.found.gating == Gating::kSigmoid);
}

TEST_CASE("a router without a norm of its own before it has none") {
    Layer l;
    l.logits = ggml_mul_mat(l.c, l.matrix, l.residual);
    REQUIRE(l.find(ggml_soft_max(l.c, l.logits)));
    CHECK(l.found.norm == nullptr);
    CHECK(l.found.input == l.residual);
}

namespace {

// The rest of an expert layer: routed experts, with a shared one beside them where there is one.
struct Ffn : Layer {
    ggml_tensor* routed = nullptr;
    ggml_tensor* shared = nullptr;
    ggml_cgraph* graph = nullptr;

    explicit Ffn(bool with_shared, bool stream_lives = true) {
        ggml_tensor* ids = ggml_argsort_top_k(c, ggml_soft_max(c, logits), kUsed);
        REQUIRE(find_router(ids, kExperts, found));
        ggml_tensor* experts = ggml_new_tensor_3d(c, GGML_TYPE_F32, kWidth, kWidth, kExperts);
        routed = ggml_mul_mat_id(c, experts, ggml_reshape_3d(c, x, kWidth, 1, 3), ids);
        ggml_tensor* sum = ggml_add(c, ggml_view_2d(c, routed, kWidth, 3, routed->nb[2], 0),
                                    ggml_view_2d(c, routed, kWidth, 3, routed->nb[2], routed->nb[1]));
        if (with_shared) {
            ggml_tensor* w = ggml_new_tensor_2d(c, GGML_TYPE_F32, kWidth, kWidth);
            shared = ggml_mul_mat(c, w, ggml_silu(c, ggml_mul_mat(c, w, x)));
            sum = ggml_add(c, sum, shared);
        }
        if (stream_lives) sum = ggml_add(c, sum, residual);
        graph = ggml_new_graph(c);
        ggml_build_forward_expand(graph, ids);
        ggml_build_forward_expand(graph, sum);
    }
    int place(const ggml_tensor* t) const {
        for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
            if (ggml_graph_node(graph, i) == t) return i;
        }
        return -1;
    }
};

}  // namespace

TEST_CASE("a shared expert is found by where it comes from and what it is added to") {
    const Ffn with(true);
    CHECK(with.found.stream == with.residual);
    CHECK(find_shared_expert(with.graph, with.place(with.routed), with.found, 64) == with.shared);
    const Ffn without(false);
    CHECK(find_shared_expert(without.graph, without.place(without.routed), without.found, 64) == nullptr);
    CHECK(find_shared_expert(with.graph, with.place(with.routed), with.found, 2) == nullptr);
}

TEST_CASE("a stream whose memory may be somebody else's by then is not added to") {
    const Ffn ffn(true, false);
    CHECK(find_shared_expert(ffn.graph, ffn.place(ffn.routed), ffn.found, 64) == nullptr);
}

TEST_CASE("the norm a layer before a router is found, and else the nearest") {
    Layer l;
    ggml_tensor* weights = ggml_new_tensor_1d(l.c, GGML_TYPE_F32, kWidth);
    ggml_tensor* narrow = ggml_new_tensor_1d(l.c, GGML_TYPE_F32, kWidth / 2);
    ggml_tensor* half = ggml_new_tensor_2d(l.c, GGML_TYPE_F32, kWidth / 2, 3);
    ggml_tensor* start = ggml_new_tensor_2d(l.c, GGML_TYPE_F32, kWidth, 3);
    ggml_tensor* first = ggml_mul(l.c, ggml_rms_norm(l.c, start, 1e-6F), weights);
    ggml_tensor* second = ggml_mul(l.c, ggml_rms_norm(l.c, first, 1e-6F), weights);
    REQUIRE(l.find(ggml_soft_max(l.c, l.logits)));
    ggml_cgraph* graph = ggml_new_graph(l.c);
    CHECK(find_norm_before(graph, 0, l.found) == nullptr);
    ggml_build_forward_expand(graph, first);
    CHECK(find_norm_before(graph, ggml_graph_n_nodes(graph), l.found) == first);
    ggml_build_forward_expand(graph, ggml_mul(l.c, ggml_rms_norm(l.c, half, 1e-6F), narrow));
    ggml_build_forward_expand(graph, second);
    ggml_build_forward_expand(graph, l.logits);
    CHECK(find_norm_before(graph, ggml_graph_n_nodes(graph), l.found) == first);
    CHECK(norm_weights(first) == weights);
}

TEST_CASE("a graph that is not understood gives no router, not a wrong one") {
    Layer l;
    CHECK_FALSE(find_router(ggml_new_tensor_2d(l.c, GGML_TYPE_I32, kUsed, 3), kExperts, l.found));
    CHECK_FALSE(find_router(nullptr, kExperts, l.found));
    ggml_tensor* ids = ggml_argsort_top_k(l.c, ggml_soft_max(l.c, l.logits), kUsed);
    CHECK_FALSE(find_router(ids, kExperts + 1, l.found));
    ggml_tensor* deep = l.logits;
    for (int i = 0; i < 40; i++) deep = ggml_scale(l.c, deep, 1.0F);
    CHECK_FALSE(l.find(deep));
}
