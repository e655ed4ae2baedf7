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
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "decode_ops.h"
#include "ffn_op.h"
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
    int append(ggml_cgraph* graph, int i);
    int append_experts(ggml_cgraph* graph, int i);
    int append_ffn(ggml_cgraph* graph, int i);
    int append_products(ggml_cgraph* graph, int i);
    int twin_of(ggml_cgraph* graph, int i) const;
    ExpertOp::Product product_of(const ggml_tensor* node) const;
    bool append_dense(ggml_cgraph* graph, int i);
    bool takes_product(const ggml_tensor* node) const;
    void join_products(ggml_cgraph* graph, int i, DenseOp& op);
    void end_serial(SelectOp* select);
    void find_first(ggml_cgraph* graph);
    void predict_next(ggml_cgraph* graph, int i);
    const ggml_tensor* shared_expert(ggml_cgraph* graph, int i, std::uint32_t layer, const RouterSpec& router);
    void append_sites(const ggml_tensor* node);
    void append_predict(const Site& site);
    void append_op(ggml_custom_op_t run, int n_tasks, void* op);

    StreamedModel& model_;
    ggml_backend_t cpu_;
    ggml_backend_t serial_;          // a CPU backend of one thread
    std::vector<std::byte> memory_;  // of context_, kept from token to token
    ggml_context* context_ = nullptr;
    ggml_cgraph* plan_ = nullptr;
    std::vector<ggml_tensor*> small_;              // nodes for the next serial op
    std::unordered_set<const ggml_tensor*> done_;  // nodes already computed with an earlier one
    LayerRun layer_;
    std::vector<std::byte> scratch_;  // of FfnOp
    Site before_;                     // where the first streamed layer is predicted; its input is null: nowhere
    Site shared_;                     // the next such site behind a shared expert; `shared` is null: none
    // By layer: the shared expert's output as it was found first; an empty name: there is none.
    std::vector<std::optional<std::string>> shared_names_;
    Lookahead lookahead_;
    std::deque<SelectOp> selects_;
    std::deque<PredictOp> predicts_;
    std::deque<ExpertOp> experts_;
    std::deque<FfnOp> ffns_;
    std::deque<DenseOp> dense_;
    std::deque<SerialOp> serials_;
};

}  // namespace gannet
