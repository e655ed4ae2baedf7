// Runs the graph of one token: the whole graph in one go on ggml's own threads.
//
// The nodes are handed to ggml's CPU backend as one graph in which some are replaced by operations of
// ours, run by ggml's team as any other node is: before a layer's experts one that tells the store what
// was selected (all missing experts are asked for at once), then the products with routed experts, gate
// and up over one queue, resident experts first; and the products with always-used weights. So there is
// one team of threads and no graph splits, and what is not ours is stock's.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
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
    const Lookahead& lookahead() const { return lookahead_; }
    ggml_status run(ggml_cgraph* graph);

  private:
    void build(ggml_cgraph* graph);
    int append_experts(ggml_cgraph* graph, int i);
    bool append_dense(ggml_tensor* node);
    void append_predict(std::uint32_t layer, const ggml_tensor* ids);
    void append(ggml_custom_op_t run, int n_tasks, void* op);

    StreamedModel& model_;
    ggml_backend_t cpu_;
    ggml_context* context_ = nullptr;
    ggml_cgraph* plan_ = nullptr;
    int capacity_ = 0;
    LayerRun layer_;
    Lookahead lookahead_;
    std::deque<SelectOp> selects_;
    std::deque<PredictOp> predicts_;
    std::deque<ExpertOp> experts_;
    std::deque<DenseOp> dense_;
};

}  // namespace gannet
