// DecodePlan, WavePlan and ExpertBatch against ggml's CPU backend with all weights in memory.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "decode_plan.h"
#include "graph_rig.h"
#include "model_on_disk.h"
#include "prompt_forecast.h"
#include "wave_plan.h"

using namespace gannet;

namespace {

constexpr std::int64_t kWidth = 256;
constexpr std::int64_t kExperts = 16;
constexpr int kUsed = 4;
constexpr std::uint32_t kLayers = 2;
constexpr const char* kParts[] = {"gate", "up", "down"};

std::string tensor_name(std::uint32_t layer, const char* part) {
    return "blk." + std::to_string(layer) + ".ffn_" + part + "_exps.weight";
}

// The weights of a small model: quantized experts in memory for the reference, and in a file.
struct Weights {
    Context context = make_context(64 << 20);
    std::vector<ggml_tensor*> experts;  // layer * 3 + part
    std::vector<ggml_tensor*> routers;
    std::vector<ggml_tensor*> norms;
    ggml_tensor* dense;  // of a layer before the first one with experts, and of the shared expert
    bool extended;       // the graph has both of them
    bool odd = false;    // something lies between the products that is run on all experts at once
    std::vector<LayerSpec> layers;
    TempFile file{1};

    explicit Weights(ggml_type type, bool extended = false)
        : dense(floats(context.get(), random_floats(kWidth * kWidth, 60, 0.05F), kWidth, kWidth)), extended(extended) {
        std::ofstream out(file.path(), std::ios::binary);
        out << "unaligned";
        std::uint64_t at = 9;
        for (std::uint32_t l = 0; l < kLayers; l++) {
            LayerSpec layer{l, kExperts, {}};
            for (int p = 0; p < 3; p++) {
                ggml_tensor* w = ggml_new_tensor_3d(context.get(), type, kWidth, kWidth, kExperts);
                ggml_set_name(w, tensor_name(l, kParts[p]).c_str());
                const std::vector<float> values = random_floats(kWidth * kWidth * kExperts, 10 * l + unsigned(p), 0.1F);
                ggml_quantize_chunk(type, values.data(), w->data, 0, kWidth * kExperts, kWidth, nullptr);
                out.write(static_cast<const char*>(w->data), static_cast<std::streamsize>(ggml_nbytes(w)));
                layer.parts.push_back({w->name, 0, at, w->nb[2]});
                at += ggml_nbytes(w);
                experts.push_back(w);
            }
            layers.push_back(layer);
            routers.push_back(floats(context.get(), random_floats(kWidth * kExperts, 70 + l), kWidth, kExperts));
            norms.push_back(floats(context.get(), random_floats(kWidth, 80 + l), kWidth));
        }
    }
};

// Streamed: the same file, its experts in our buffer type.
struct Streamed {
    std::unique_ptr<StreamedModel> model;
    Context context = make_context(1 << 20, true);
    std::vector<ggml_tensor*> experts;
    std::unique_ptr<ggml_backend_buffer, void (*)(ggml_backend_buffer_t)> buffer{nullptr, ggml_backend_buffer_free};

    Streamed(const Weights& w, std::uint32_t slots, std::uint32_t lookahead = 1) {
        ModelSettings settings;
        settings.store.cache_bytes = slots * kLayers * 4 * (w.experts[0]->nb[2] + 8192);
        settings.store.cache_bytes = slots == 0 ? 0 : settings.store.cache_bytes;
        settings.store.io_threads = 3;
        settings.lookahead = lookahead;
        model = std::make_unique<StreamedModel>(std::vector<std::string>{w.file.path()}, w.layers,
                                                std::vector<TensorPlace>{}, settings);
        for (const ggml_tensor* t : w.experts) {
            experts.push_back(ggml_new_tensor_3d(context.get(), t->type, kWidth, kWidth, kExperts));
            ggml_set_name(experts.back(), t->name);
        }
        buffer.reset(ggml_backend_alloc_ctx_tensors_from_buft(context.get(), model->expert_type()));
        REQUIRE(buffer != nullptr);
    }
};

struct Graph {
    Context context = make_context(64 << 20);
    ggml_cgraph* graph = ggml_new_graph(context.get());
    ggml_tensor* result = nullptr;

    std::vector<float> values() const {
        const auto* p = static_cast<const float*>(result->data);
        return {p, p + ggml_nelements(result)};
    }
};

// An expert layer as llama.cpp builds it.
ggml_tensor* layer(ggml_context* c, const Weights& w, ggml_tensor* const* experts, std::uint32_t l, ggml_tensor* x) {
    const std::int64_t n = x->ne[1];
    ggml_tensor* cur = ggml_mul(c, ggml_rms_norm(c, x, 1e-6F), w.norms[l]);
    ggml_tensor* scores = ggml_soft_max(c, ggml_mul_mat(c, w.routers[l], cur));
    ggml_tensor* ids = ggml_argsort_top_k(c, scores, kUsed);
    ggml_tensor* weights = ggml_get_rows(c, ggml_reshape_3d(c, scores, 1, kExperts, n), ids);
    cur = ggml_reshape_3d(c, cur, kWidth, 1, n);
    ggml_tensor* up = ggml_mul_mat_id(c, experts[1], cur, ids);
    ggml_tensor* gate = ggml_mul_mat_id(c, experts[0], cur, ids);
    ggml_tensor* between = ggml_swiglu_split(c, gate, up);
    if (w.odd) between = ggml_rms_norm(c, between, 1e-6F);
    ggml_tensor* down = ggml_mul_mat_id(c, experts[2], between, ids);
    down = ggml_mul(c, down, weights);
    ggml_tensor* sum = ggml_view_2d(c, down, kWidth, n, down->nb[2], 0);
    for (int k = 1; k < kUsed; k++) {
        const auto at = static_cast<std::size_t>(k) * down->nb[1];
        sum = ggml_add(c, sum, ggml_view_2d(c, down, kWidth, n, down->nb[2], at));
    }
    if (w.extended) sum = ggml_add(c, sum, ggml_mul_mat(c, w.dense, ggml_reshape_2d(c, cur, kWidth, n)));
    return ggml_add(c, sum, x);
}

// A layer without experts.
ggml_tensor* dense_layer(ggml_context* c, const Weights& w, ggml_tensor* x) {
    return ggml_add(c, x, ggml_mul_mat(c, w.dense, ggml_mul(c, ggml_rms_norm(c, x, 1e-6F), w.norms[1])));
}

// n_outputs: rows that the last layer is left with; 0: all.
Graph build(const Weights& w, const std::vector<ggml_tensor*>& experts, std::int64_t n_tokens, unsigned seed,
            std::int64_t n_outputs = 0) {
    Graph g;
    ggml_context* c = g.context.get();
    ggml_tensor* x = floats(c, random_floats(static_cast<std::size_t>(kWidth * n_tokens), seed), kWidth, n_tokens);
    if (w.extended) x = dense_layer(c, w, x);
    for (std::uint32_t l = 0; l < kLayers; l++) {
        if (n_outputs > 0 && l + 1 == kLayers) {
            const auto skipped = static_cast<std::size_t>(n_tokens - n_outputs);
            x = ggml_cont(c, ggml_view_2d(c, x, kWidth, n_outputs, x->nb[1], skipped * x->nb[1]));
        }
        x = layer(c, w, experts.data() + l * 3, l, x);
    }
    g.result = x;
    ggml_build_forward_expand(g.graph, x);
    return g;
}

std::vector<float> reference(const Weights& w, ggml_backend_t cpu, std::int64_t n_tokens, unsigned seed) {
    const Graph g = build(w, w.experts, n_tokens, seed);
    REQUIRE(ggml_backend_graph_compute(cpu, g.graph) == GGML_STATUS_SUCCESS);
    return g.values();
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

template <typename Plan>
ggml_status run(Plan& plan, const Weights& w, const Streamed& s, std::int64_t n_tokens, unsigned seed,
                std::vector<float>& out) {
    const Graph g = build(w, s.experts, n_tokens, seed);
    const ggml_status status = plan.run(g.graph);
    out = g.values();
    return status;
}

const ggml_tensor* first_experts(const Graph& g) {
    for (int i = 0; i < ggml_graph_n_nodes(g.graph); i++) {
        const ggml_tensor* node = ggml_graph_node(g.graph, i);
        if (node->op == GGML_OP_MUL_MAT_ID) return node;
    }
    return nullptr;
}

// Experts of the last layer that are in memory once nothing more is read, the cache emptied before the forecast
// that is made in the first layer.
std::vector<std::uint32_t> forecast(const Weights& w, ggml_backend_t cpu, std::int64_t n_tokens, std::int64_t n_outputs,
                                    std::size_t room) {
    const Streamed s(w, 16);
    const Graph g = build(w, s.experts, n_tokens, 3, n_outputs);
    WavePlan plan(*s.model, cpu);
    REQUIRE(plan.run(g.graph) == GGML_STATUS_SUCCESS);
    ExpertStore& store = s.model->store();
    store.resize(0);
    store.resize(1U << 30);
    store.begin_prompt(static_cast<std::uint32_t>(n_tokens));
    PromptForecast made(*s.model, cpu);
    made.begin(g.graph);
    made.publish(0, first_experts(g)->src[1], room);
    while (store.queued_prefetch() > 0) std::this_thread::yield();
    std::vector<std::uint32_t> there;
    const std::vector<std::uint8_t> resident = store.resident();
    for (std::uint32_t e = 0; e < kExperts; e++) {
        if (resident[kExperts * (kLayers - 1) + e] != 0) there.push_back(e);
    }
    return there;
}

}  // namespace

TEST_CASE("a prompt's forecast reads what the next layer will surely use, and no more than there is room for") {
    const Cpu cpu = make_cpu();
    const Weights w(GGML_TYPE_Q8_0);
    CHECK(forecast(w, cpu.get(), 130, 0, 16).size() == 16);
    CHECK(forecast(w, cpu.get(), 130, 0, 3).size() <= 3 + 2);  // two slots are never given back
    CHECK(forecast(w, cpu.get(), 130, 1, 16).size() <= 2);     // what one row will choose is not certain
}

TEST_CASE("a prompt that is given up ends in the layer it is in, and the next one is right") {
    const Cpu cpu = make_cpu();
    const Weights w(GGML_TYPE_Q4_K);
    const Streamed s(w, 16);
    WavePlan plan(*s.model, cpu.get());
    Counters& counters = s.model->counters();
    std::vector<float> got;
    cpu_library().set_abort_callback(
        cpu.get(), [](void* c) { return static_cast<Counters*>(c)->lookups.load() > 0; }, &counters);
    CHECK(run(plan, w, s, 130, 3, got) == GGML_STATUS_ABORTED);
    const std::uint64_t first_layer = counters.lookups.load();
    CHECK(first_layer <= kExperts);
    cpu_library().set_abort_callback(cpu.get(), nullptr, nullptr);
    REQUIRE(run(plan, w, s, 130, 3, got) == GGML_STATUS_SUCCESS);
    CHECK(counters.lookups.load() > 2 * first_layer);
    CHECK(same_bits(got, reference(w, cpu.get(), 130, 3)));
}

TEST_CASE("a token through the decode plan is stock's to the bit, whatever the cache holds") {
    const Cpu cpu = make_cpu(2);
    for (const ggml_type type : {GGML_TYPE_Q4_K, GGML_TYPE_Q8_0, GGML_TYPE_Q6_K}) {
        const Weights w(type);
        for (const std::uint32_t slots : {4U, 16U}) {
            const Streamed s(w, slots);
            DecodePlan plan(*s.model, cpu.get());
            for (unsigned token = 0; token < 6; token++) {
                std::vector<float> got;
                REQUIRE(plan.takes(build(w, s.experts, 1, token).graph));
                REQUIRE(run(plan, w, s, 1, token, got) == GGML_STATUS_SUCCESS);
                CHECK(same_bits(got, reference(w, cpu.get(), 1, token)));
            }
            CHECK(s.model->counters().lookups.load() == 6 * kLayers * kUsed);
        }
    }
}

TEST_CASE("what lies between the products and cannot be run expert by expert is left to ggml") {
    const Cpu cpu = make_cpu(2);
    Weights w(GGML_TYPE_Q4_K);
    w.odd = true;
    const Streamed s(w, 4);
    DecodePlan plan(*s.model, cpu.get());
    for (unsigned token = 0; token < 6; token++) {
        std::vector<float> got;
        REQUIRE(run(plan, w, s, 1, token, got) == GGML_STATUS_SUCCESS);
        CHECK(same_bits(got, reference(w, cpu.get(), 1, token)));
    }
}

TEST_CASE("with a shared expert and a layer before the first, every layer is predicted and no result changes") {
    const Cpu cpu = make_cpu(2);
    const Weights w(GGML_TYPE_Q4_K, true);
    for (const std::uint32_t distance : {0U, 1U, 2U}) {
        const Streamed s(w, 4, distance);
        DecodePlan plan(*s.model, cpu.get());
        for (unsigned token = 0; token < 6; token++) {
            std::vector<float> got;
            REQUIRE(run(plan, w, s, 1, token, got) == GGML_STATUS_SUCCESS);
            CHECK(same_bits(got, reference(w, cpu.get(), 1, token)));
        }
        const Counters& counters = s.model->counters();
        CHECK(counters.selected[0].load() == (distance > 0 ? 6 * kLayers * kUsed : 0));
        CHECK(counters.selected[1].load() == (distance > 1 ? 6 * kUsed : 0));
    }
}

TEST_CASE("a prompt in waves is stock's to the bit, from two slots a layer to all experts") {
    const Cpu cpu = make_cpu();
    for (const ggml_type type : {GGML_TYPE_Q4_K, GGML_TYPE_Q8_0}) {
        const Weights w(type);
        for (const std::uint32_t slots : {0U, 3U, 16U}) {
            const Streamed s(w, slots);
            WavePlan plan(*s.model, cpu.get());
            for (const std::int64_t n : {1, 7, 130}) {
                std::vector<float> got;
                REQUIRE(run(plan, w, s, n, 3, got) == GGML_STATUS_SUCCESS);
                CHECK(same_bits(got, reference(w, cpu.get(), n, 3)));
            }
        }
    }
}

TEST_CASE("a cache below one token's set leaves the token to the waves") {
    const Cpu cpu = make_cpu();
    const Weights w(GGML_TYPE_Q8_0);
    const Streamed s(w, 0);
    const DecodePlan plan(*s.model, cpu.get());
    CHECK_FALSE(plan.takes(build(w, s.experts, 1, 0).graph));
    CHECK_FALSE(plan.takes(build(w, s.experts, 5, 0).graph));
    CHECK_FALSE(plan.takes(build(w, w.experts, 1, 0).graph));
}

TEST_CASE("a prompt of one layer's worth of slots reads each distinct expert once") {
    const Cpu cpu = make_cpu();
    const Weights w(GGML_TYPE_Q8_0);
    const Streamed s(w, 16);
    WavePlan plan(*s.model, cpu.get());
    std::vector<float> got;
    REQUIRE(run(plan, w, s, 130, 3, got) == GGML_STATUS_SUCCESS);
    CHECK(s.model->counters().reads.load() == s.model->counters().lookups.load() * 3);
}

TEST_CASE("a read that fails ends the token or the prompt with an error, and the next one is right") {
    const Cpu cpu = make_cpu();
    Weights w(GGML_TYPE_Q8_0);
    std::ifstream in(w.file.path(), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    const auto cut = w.layers[1].parts[2].offset + w.layers[1].parts[2].bytes;  // only expert 0 is left of it
    for (const std::uint32_t slots : {0U, 16U}) {
        const Streamed s(w, slots);
        DecodePlan decode(*s.model, cpu.get());
        WavePlan waves(*s.model, cpu.get());
        std::vector<float> got;
        w.file.shorten(cut);
        const ggml_status status = slots == 0 ? run(waves, w, s, 40, 5, got) : run(decode, w, s, 1, 5, got);
        CHECK(status == GGML_STATUS_FAILED);
        CHECK(s.model->store().take_error().find("blk.1.ffn_down_exps.weight") != std::string::npos);
        {
            std::ofstream out(w.file.path(), std::ios::binary);
            out << whole;
        }
        REQUIRE(run(waves, w, s, 40, 5, got) == GGML_STATUS_SUCCESS);
        CHECK(same_bits(got, reference(w, cpu.get(), 40, 5)));
        if (slots > 0) {
            REQUIRE(run(decode, w, s, 1, 5, got) == GGML_STATUS_SUCCESS);
            CHECK(same_bits(got, reference(w, cpu.get(), 1, 5)));
        }
        CHECK(s.model->store().take_error().empty());
    }
}

TEST_CASE("a cache made tiny between two tokens changes no result") {
    const Cpu cpu = make_cpu();
    const Weights w(GGML_TYPE_Q4_K);
    const Streamed s(w, 16);
    DecodePlan decode(*s.model, cpu.get());
    WavePlan waves(*s.model, cpu.get());
    for (unsigned token = 0; token < 6; token++) {
        s.model->store().resize(token % 2 == 0 ? 1U << 30 : 0);
        std::vector<float> got;
        const bool takes = decode.takes(build(w, s.experts, 1, token).graph);
        CHECK(takes == (token % 2 == 0));
        if (takes)
            REQUIRE(run(decode, w, s, 1, token, got) == GGML_STATUS_SUCCESS);
        else
            REQUIRE(run(waves, w, s, 1, token, got) == GGML_STATUS_SUCCESS);
        CHECK(same_bits(got, reference(w, cpu.get(), 1, token)));
    }
}

TEST_CASE("several experts' products in one batch are the whole node's rows") {
    const Cpu cpu = make_cpu();
    const Weights w(GGML_TYPE_Q4_K);
    const Context context = make_context();
    ggml_context* c = context.get();
    const std::int64_t n = 20;
    ggml_tensor* x = ggml_new_tensor_3d(c, GGML_TYPE_F32, kWidth, 1, n);
    fill(x, random_floats(kWidth * n, 4));
    ggml_tensor* ids = ggml_new_tensor_2d(c, GGML_TYPE_I32, 2, n);
    for (int t = 0; t < n; t++) {
        static_cast<std::int32_t*>(ids->data)[2 * t] = t % 5;
        static_cast<std::int32_t*>(ids->data)[2 * t + 1] = 5 + t % 3;
    }
    ggml_tensor* node = ggml_mul_mat_id(c, w.experts[0], x, ids);
    ggml_cgraph* graph = ggml_new_graph(c);
    ggml_build_forward_expand(graph, node);
    REQUIRE(ggml_backend_graph_compute(cpu.get(), graph) == GGML_STATUS_SUCCESS);
    const auto* data = static_cast<const float*>(node->data);
    const std::vector<float> whole(data, data + ggml_nelements(node));
    std::memset(node->data, 0, ggml_nbytes(node));
    ExpertBatch batch(cpu.get());
    batch.begin(node);
    CHECK(batch.rows_of(0) == 4);
    CHECK(batch.rows_of(9) == 0);
    for (std::uint32_t e = 0; e < 8; e++) {
        batch.add(e, static_cast<const std::byte*>(w.experts[0]->data) + e * w.experts[0]->nb[2]);
        if (e % 3 == 2) REQUIRE(batch.run() == GGML_STATUS_SUCCESS);
    }
    REQUIRE(batch.run() == GGML_STATUS_SUCCESS);
    CHECK(batch.rows() == 0);
    CHECK(same_bits(whole, {data, data + ggml_nelements(node)}));
}
