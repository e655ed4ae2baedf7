// The routed experts of one layer for one token, from the first product to the last, over one queue.
//
// gate and up, what lies between, down: each expert goes through them at its own pace, so that the
// experts in memory are computed to the end while the others are still being read. Work is cut into row
// chunks that the threads of ggml's team take as they come free. What lies between the products is
// ggml's own nodes, run on one expert's row at a time.
//
// The graph's allocator has given the memory of early nodes to later ones, which now run at the same
// time: everything but the results lives in memory of this file's own, the input in LayerRun's copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "decode_ops.h"

namespace gannet {

struct FfnOp {
    struct Rank {
        std::atomic<std::uint32_t> up_next{0};
        std::atomic<std::uint32_t> up_done{0};
        std::atomic<bool> activated{false};
        std::atomic<std::uint32_t> down_next{0};
    };
    struct Memory {  // of a node before the last product: a row for each rank
        const ggml_tensor* node = nullptr;
        std::size_t begin = 0;  // in scratch
        std::size_t row = 0;    // bytes
    };

    LayerRun* run = nullptr;
    std::vector<ExpertOp::Product> up;        // gate and up, in the order their parts are read
    std::vector<const ggml_tensor*> between;  // each of one row a rank
    ExpertOp::Product down;
    std::vector<Memory> memory;
    std::vector<std::byte>* scratch = nullptr;  // shared by all layers, which run in turn
    std::unique_ptr<Rank[]> ranks;

    // Whether node, between the products, can be run on one row at a time; `before`: the nodes it may take
    // rows of, which run with it.
    static bool takes(const ggml_tensor* node, const ggml_tensor* ids, const std::vector<const ggml_tensor*>& before);
    // Whether node is the product that ends what `first` began; known: the nodes between.
    static bool ends_with(const ggml_tensor* node, const ggml_tensor* first,
                          const std::vector<const ggml_tensor*>& known);
    // Lays out the scratch memory once all nodes are there.
    void prepare();

    static void compute(ggml_tensor*, int ith, int nth, void* self);
};

}  // namespace gannet
