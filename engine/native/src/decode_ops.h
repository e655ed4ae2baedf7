// The operations a decode graph gets from us: select, routed experts, always-used weights, small nodes.
//
// Each is run by every thread of ggml's team at once (select by one) and shares work through an atomic
// queue of row chunks; ggml's barrier between nodes orders them. All are for a single token.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "ggml-backend.h"
#include "lookahead.h"
#include "row_kernel.h"
#include "streamed_model.h"

namespace gannet {

// Of the layer whose experts are being run: written by select, read by the products after the barrier.
struct LayerRun {
    StreamedModel* model = nullptr;
    Lookahead* lookahead = nullptr;
    std::uint32_t layer = 0;
    bool holding = false;
    std::atomic<bool> failed{false};    // a read failed: the rest of the graph does nothing
    std::vector<std::uint32_t> chosen;  // by rank
    std::vector<std::int32_t> slots;    // by rank, pinned
    std::vector<std::uint32_t> order;   // ranks, those already in memory first

    std::vector<float> input;      // a copy of what the experts take, if their op wants one
    std::size_t input_width = 0;   // floats
    const Site* scored = nullptr;  // where the lookahead has scores that are not published

    void release();
    // Hands on what was scored, by one thread.
    void publish();
    // The input row that the expert of this rank takes: its own, or one for all.
    const float* input_row(std::uint32_t rank) const {
        return input.data() + rank % (input.size() / input_width) * input_width;
    }
    void fail(const char* why);  // from any thread
};

struct SelectOp {
    LayerRun* run = nullptr;
    std::uint32_t layer = 0;
    const ggml_tensor* ids = nullptr;
    const ggml_tensor* input = nullptr;  // to be copied; null: not wanted

    void select() const;

  private:
    void keep_input() const;
};

// Scores the experts of the next layers; the next op of ours publishes them.
struct PredictOp {
    LayerRun* run = nullptr;
    Site site;

    static void compute(ggml_tensor*, int ith, int nth, void* self);
};

// One or two products (up and gate) of the selected experts with the same input.
struct ExpertOp {
    struct Product {
        const ggml_tensor* node = nullptr;
        std::uint32_t part = 0;
        RowKernel kernel;
    };
    LayerRun* run = nullptr;
    std::vector<Product> products;
    std::atomic<std::uint32_t> next{0};

    static void compute(ggml_tensor*, int ith, int nth, void* self);
};

// Products of always-used weights of one type with the same input.
struct DenseOp {
    LayerRun* run = nullptr;
    std::vector<const ggml_tensor*> products;
    RowKernel kernel;
    std::atomic<std::uint32_t> next{0};

    static void compute(ggml_tensor*, int ith, int nth, void* self);
};

// Small nodes of ggml's own one after another on one thread: a barrier after each costs more than it.
struct SerialOp {
    LayerRun* run = nullptr;
    ggml_backend_t cpu = nullptr;  // a CPU backend of one thread
    ggml_cgraph* graph = nullptr;  // null: none
    SelectOp* select = nullptr;    // to be done after them; null: none

    static void compute(ggml_tensor*, int ith, int nth, void* self);
};

}  // namespace gannet
