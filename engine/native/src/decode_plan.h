// Runs the graph of one token: the whole graph in one go on ggml's own threads.
//
// The nodes are handed to ggml's CPU backend as one graph in which some are replaced by operations of
// ours, run by ggml's team as any other node is: before a layer's experts one that tells the store what
// was selected (all missing experts are asked for at once), then the products with routed experts, gate
// and up over one queue, resident experts first; and the products with always-used weights. So there is
// one team of threads and no graph splits, and what is not ours is stock's. Small nodes in a row (norms,
// routing weights, sums) run on one thread, without ggml's barrier after each.
#pragma once

#include <cstddef>
#include <deque>
#include <unordered_set>
#include <vector>

#include "decode_ops.h"
#include "streamed_model.h"

namespace gannet {

class DecodePlan {
  public:
    DecodePlan(StreamedModel& model, ggml_backend_t cpu);
    ~DecodePlan();
    DecodePlan(const DecodePlan&) = delete;
    DecodePlan& operator=(const DecodePlan&) = delete;

    // One token, experts that all have slots, types with a dot product: what run() takes.
    bool takes(ggml_cgraph* graph) const;
    ggml_status run(ggml_cgraph* graph);

  private:
    void build(ggml_cgraph* graph);
    void append_node(ggml_tensor* node);
    int append_experts(ggml_cgraph* graph, int i);
    bool append_dense(ggml_cgraph* graph, int i);
    bool takes_product(const ggml_tensor* node) const;
    void join_products(ggml_cgraph* graph, int i, DenseOp& op);
    void end_serial(SelectOp* select);
    void append_predict(std::uint32_t layer, const ggml_tensor* ids);
    void append(ggml_custom_op_t run, int n_tasks, void* op);

    StreamedModel& model_;
    ggml_backend_t cpu_;
    ggml_backend_t serial_;          // a CPU backend of one thread
    std::vector<std::byte> memory_;  // of context_, kept from token to token
    ggml_context* context_ = nullptr;
    ggml_cgraph* plan_ = nullptr;
    std::vector<ggml_tensor*> small_;              // nodes for the next serial op
    std::unordered_set<const ggml_tensor*> done_;  // nodes already computed with an earlier one
    LayerRun layer_;
    Lookahead lookahead_;
    std::deque<SelectOp> selects_;
    std::deque<PredictOp> predicts_;
    std::deque<ExpertOp> experts_;
    std::deque<DenseOp> dense_;
    std::deque<SerialOp> serials_;
};

}  // namespace gannet
